"""Settings: the values of the axes of a study that name one group of cells.

Values may have gone through a CSV file, where a column that mixes kinds is text and 3 may read back as 3.0: they are
compared by what they mean.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from itertools import starmap
from numbers import Real
from typing import Any


def make_setting_key(values: Iterable) -> tuple[str, ...]:
    """Return values of axes in a form that compares equal however they were stored.

    Examples
    --------
    >>> make_setting_key((3, 0.1, "adult")) == make_setting_key(("3.0", 0.1 + 1e-17, "adult"))
    True
    """
    return tuple(map(_format_alike, values))


def is_same_value(value: Any, other: Any) -> bool:
    """Return whether two values of an axis are the same setting, as `study_rows.match_column` tells of a column.

    Examples
    --------
    >>> is_same_value("0.1", 0.1), is_same_value(3, 3.0), is_same_value(True, "True"), is_same_value(None, 0.1)
    (True, True, True, False)
    """
    is_missing = value is None or (isinstance(value, Real) and math.isnan(value))
    if other is None or is_missing:
        return other is None and is_missing
    if isinstance(other, bool | str):
        return str(value) == str(other)
    try:
        return math.isclose(float(value), float(other), rel_tol=1e-9)
    except (TypeError, ValueError):  # a word, or nothing, is no number
        return False


def is_among(value: Any, others: Iterable) -> bool:
    """Return whether a value of an axis is the same setting as one of others."""
    return any(is_same_value(value, other) for other in others)


def keep_entries(mapping: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the entries of a mapping that have one of these names, in the order of the names.

    Examples
    --------
    >>> keep_entries({"epsilon": 1.0, "dataset": "car", "n": 3}, ["dataset", "epsilon"])
    {'dataset': 'car', 'epsilon': 1.0}
    """
    return {name: mapping[name] for name in names}


def drop_entries(mapping: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    """Return the entries of a mapping that have none of these names, in the order of the mapping."""
    return {name: value for name, value in mapping.items() if name not in names}


def describe_setting(setting: Mapping) -> str:
    """Return a setting as files of bands name it, whose texts never change; readers see `judge.words.name_setting`.

    Examples
    --------
    >>> describe_setting({"dataset": "car", "params.max_depth": 3.0, "params.scale": None, "epsilon": math.inf})
    'car, max_depth = 3, scale = none, no noise'
    """
    return ", ".join(starmap(_describe_value, setting.items()))


def _describe_value(name: str, value: Any) -> str:
    if name in ("dataset", "algorithm"):
        return str(value)
    if name == "epsilon" and math.isinf(value):
        return "no noise"
    text = "none" if value is None else format(value, "g") if _is_number(value) else value
    return f"{name.removeprefix('params.')} = {text}"


def _format_alike(value: Any) -> str:
    if isinstance(value, bool):
        return str(value)
    try:
        return f"{float(value):.9g}"
    except (TypeError, ValueError):  # a word, or nothing
        return str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
