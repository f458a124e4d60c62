"""Which rows of the long table answer a study, and how many of them there ought to be.

A study is plain data (see ``conf/paper``): lists of data sets, algorithms, parameters and ε whose
combinations, times the paper's repeats, are its cells. Rows are told apart by the names of the studies that
they belong to, so that two studies may differ in what neither has as an axis (the number of trees, the split).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product
from numbers import Real

import numpy as np
import pandas as pd

from experiments.errors import BadInput
from experiments.stats import CENTERS


class PaperError(BadInput):
    """A paper's description contradicts itself; the message says where."""


def study_of(paper: Mapping, item: Mapping) -> Mapping:
    """Return the study that a table, figure or claim names, with its name under ``name``.

    Raises
    ------
    PaperError
        If the paper has no such study.

    Examples
    --------
    >>> study_of({"studies": {"floor": {"dataset": ["car"]}}}, {"id": "table-1", "study": "floor"})
    {'dataset': ['car'], 'name': 'floor'}
    """
    studies = paper.get("studies") or {}
    if item.get("study") not in studies:
        raise PaperError(
            f"{item.get('id')}: study {item.get('study')!r} is not in the paper; it has: {', '.join(studies) or 'none'}"
        )
    return dict(studies[item["study"]]) | {"name": item["study"]}


def center_of(paper: Mapping, item: Mapping, metric: str) -> str:
    """Return what stands for the repeats of a setting in a table, figure or claim: ``mean`` or ``median``.

    The item's own ``center`` comes first, then the paper's ``center: {metric: ...}``, then the mean.

    Raises
    ------
    PaperError
        For anything else.

    Examples
    --------
    >>> paper = {"center": {"r2": "median"}}
    >>> center_of(paper, {}, "r2"), center_of(paper, {}, "mse"), center_of(paper, {"center": "mean"}, "r2")
    ('median', 'mean', 'mean')
    """
    center = item.get("center") or (paper.get("center") or {}).get(metric, "mean")
    if center not in CENTERS:
        raise PaperError(f"{item.get('id')}: center {center!r} is not one of {', '.join(CENTERS)}")
    return center


def axes(study: Mapping, where: Mapping | None = None) -> dict[str, list]:
    """Return the values of every axis of a study, under the names of the long table's columns.

    Parameters
    ----------
    study : mapping
        A study of a paper.
    where : mapping, optional
        Column to value or list of values: the part of the study that is meant.

    Raises
    ------
    PaperError
        If ``where`` names an axis or a value that the study does not have.

    Examples
    --------
    >>> study = {"dataset": ["car"], "algorithm": "rdt", "epsilon": [1.0], "params": {"max_depth": [3, 4]}}
    >>> axes(study, {"params.max_depth": 4})
    {'dataset': ['car'], 'algorithm': ['rdt'], 'params.max_depth': [4], 'epsilon': [1.0]}
    """
    found = {name: _as_list(study[name]) for name in ("dataset", "algorithm") if name in study}
    found |= {f"params.{name}": _as_list(values) for name, values in (study.get("params") or {}).items()}
    found["epsilon"] = [float(value) for value in _as_list(study.get("epsilon", math.inf))]
    for name, wanted in (where or {}).items():
        kept = [value for value in found.get(name, ()) if any(same(value, one) for one in _as_list(wanted))]
        if not kept:
            raise PaperError(f"the study has no {name} = {wanted!r}; it has {name}: {found.get(name, 'nothing')}")
        found[name] = kept
    return found


def axis(study: Mapping, name: str, where: Mapping | None = None) -> list:
    """Return the values of one axis, in the study's order.

    Raises
    ------
    PaperError
        If the study has no such axis.
    """
    found = axes(study, where)
    if name not in found:
        raise PaperError(f"the study has no axis {name!r}; it has: {', '.join(found)}")
    return found[name]


def settings(study: Mapping, by: list[str], where: Mapping | None = None) -> list[tuple]:
    """Return every combination of the values of the axes ``by``, in the study's order."""
    return list(product(*(axis(study, name, where) for name in by)))


def size(study: Mapping, repeats: int, where: Mapping | None = None) -> int:
    """Return the number of cells, repeats included."""
    return repeats * math.prod(len(values) for values in axes(study, where).values())


def setting_key(point: Iterable) -> tuple[str, ...]:
    """Return values of axes in a form that compares equal however they were stored.

    Examples
    --------
    >>> setting_key((3, 0.1, "adult")) == setting_key((3.0, 0.1 + 1e-17, "adult"))
    True
    """
    return tuple(
        f"{float(value):.9g}" if isinstance(value, Real) and not isinstance(value, bool) else str(value)
        for value in point
    )


def matches(column: pd.Series, value) -> np.ndarray:
    """Return which entries of a column are ``value``; numbers may have gone through text."""
    if isinstance(value, bool | str) or value is None:
        # a column that mixes kinds reads back from a file as text
        return column.isna().to_numpy() if value is None else (column.astype(str) == str(value)).to_numpy()
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    return np.isclose(numbers, float(value), rtol=1e-9, atol=0)


def same(one, other) -> bool:
    """Return whether two values of an axis are the same setting, as `matches` tells of a column.

    Examples
    --------
    >>> same("0.1", 0.1), same(3, 3.0), same(True, "True"), same(None, 0.1)
    (True, True, True, False)
    """
    if other is None or pd.isna(one):
        return other is None and bool(pd.isna(one))
    if isinstance(other, bool | str):
        return str(one) == str(other)
    try:
        return math.isclose(float(one), float(other), rel_tol=1e-9)
    except (TypeError, ValueError):  # a word, or nothing, is no number
        return False


def setting_words(setting: Mapping) -> str:
    """Return a setting as a reason names it.

    Examples
    --------
    >>> setting_words({"dataset": "car", "params.max_depth": 3.0, "epsilon": math.inf})
    'car, max_depth = 3, no noise'
    """
    return ", ".join(_words(name, value) for name, value in setting.items())


def _words(name: str, value) -> str:
    if name in ("dataset", "algorithm"):
        return str(value)
    if name == "epsilon" and math.isinf(value):
        return "no noise"
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return f"{name.removeprefix('params.')} = {format(value, 'g') if is_number else value}"


def _as_list(values) -> list:
    return list(values) if isinstance(values, list | tuple) else [values]
