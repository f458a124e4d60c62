"""Two metrics of the same cells against each other, as a parameter goes through its values: a curve for each method.

A *curve* is plain data: a ``study``, ``where`` (one setting of all but one axis) and ``along`` (that axis).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from experiments.config.selection import PaperError, axes, size, study_of
from experiments.errors import suggestion
from experiments.store.study_rows import rows_of_study

_KEYS = ("study", "where", "along")
_STEPS = 101


def points(paper: Mapping, item: Mapping, curve: Mapping, table: pd.DataFrame, metrics: list[str]) -> pd.DataFrame:
    """Return the cells of a curve that have all of several metrics.

    Returns
    -------
    DataFrame
        ``value`` (of the axis ``along``), ``repeat``, and the metrics.
    """
    study = study_of(paper, curve | {"id": item["id"]})
    found = [rows_of_study(table, study, metric, curve.get("where")) for metric in metrics]
    if any(rows.empty for rows in found):
        return pd.DataFrame(columns=["value", "repeat", *metrics])
    kept = found[0][found[0]["key"].isin(set.intersection(*(set(rows["key"]) for rows in found)))]
    kept = kept.rename(columns={curve["along"]: "value"})[["value", "repeat", *metrics]]
    return kept.reset_index(drop=True)


def expected(paper: Mapping, item: Mapping, curve: Mapping) -> int:
    """Return how many cells a curve should have, repeats included."""
    study = study_of(paper, curve | {"id": item["id"]})
    return size(study, int(paper["repeats"]), curve.get("where"))


def check(paper: Mapping, item: Mapping, curve: Mapping) -> None:
    """Check that a curve is one: of a study, along one of its axes, all others fixed.

    Raises
    ------
    PaperError
        If it is not.
    """
    for key in curve:
        if key not in _KEYS:
            raise PaperError(f"{item['id']}: a curve knows no {key!r}; {suggestion(key, _KEYS)}")
    for key in ("study", "along"):
        if key not in curve:
            raise PaperError(f"{item['id']}: a curve needs {key}")
    study = study_of(paper, curve | {"id": item["id"]})
    found = axes(study, curve.get("where"))
    open_axes = [name for name, values in found.items() if len(values) > 1 and name != curve["along"]]
    if open_axes or curve["along"] not in found:
        raise PaperError(f"{item['id']}: a curve along {curve['along']} must fix {', '.join(open_axes) or 'no more'}")


def at_equal(curves: list[pd.DataFrame], equal: str, metric: str) -> np.ndarray:
    """Compare curves where both have the same of one metric: the mean of the other over the range that they share.

    Parameters
    ----------
    curves : list of DataFrame
        As from `points`.
    equal, metric : str
        What is held equal, and what is compared. Between its points a curve is a straight line.

    Returns
    -------
    float64 array of shape (r, c)
        For each repeat in which all curves share a range: the mean of each.

    Examples
    --------
    >>> one = pd.DataFrame({"repeat": 0, "leak": [0.0, 1.0], "accuracy": [0.5, 0.9]})
    >>> other = pd.DataFrame({"repeat": 0, "leak": [0.5, 2.0], "accuracy": [0.6, 0.6]})
    >>> at_equal([one, other], "leak", "accuracy").round(3)
    array([[0.8, 0.6]])
    """
    repeats = sorted(set.intersection(*(set(curve["repeat"]) for curve in curves)))
    rows = []
    for repeat in repeats:
        parts = [curve[curve["repeat"] == repeat].sort_values(equal, kind="stable") for curve in curves]
        low, high = max(part[equal].min() for part in parts), min(part[equal].max() for part in parts)
        if low < high:
            along = np.linspace(low, high, _STEPS)
            rows.append([np.interp(along, part[equal], part[metric]).mean() for part in parts])
    return np.array(rows, dtype=np.float64).reshape(-1, len(curves))
