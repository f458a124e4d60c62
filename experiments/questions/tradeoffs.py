"""Two metrics of the same cells against each other, as a parameter goes through its values: a curve for each method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import itemgetter

import numpy as np
import pandas as pd

from experiments.config.paper import Paper
from experiments.config.study import Curve, PaperError
from experiments.store.results import Runs
from experiments.store.study_rows import select_rows

_STEPS = 101


def select_points(paper: Paper, user: str, curve: Curve, table: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Return the cells of a curve that have several metrics: ``value`` (on its axis), ``repeat``, the metrics."""
    study = paper.study(curve.study, user)
    columns = ["value", "repeat", *metrics]
    points = select_rows(table, study, metrics[0], curve.where)
    for metric in metrics[1:]:
        rows = select_rows(table, study, metric, curve.where)
        if points.empty or rows.empty:
            return pd.DataFrame(columns=columns)
        points = points[points["key"].isin(rows["key"])]
    return points.rename(columns={curve.along: "value"})[columns].reset_index(drop=True)


def check_curve(paper: Paper, user: str, curve: Curve) -> None:
    """Check that a curve runs along one axis of its study, all others fixed; PaperError if it does not."""
    study = paper.study(curve.study, user)
    open_axes = [name for name in study.varying_axes(curve.where) if name != curve.along]
    if open_axes or curve.along not in study.axes():
        raise PaperError(f"{user}: a curve along {curve.along} must fix {', '.join(open_axes) or 'no more'}")


def join_points(of_metric: Sequence[Runs], of_equal: Sequence[Runs], metric: str, equal: str) -> pd.DataFrame:
    """Return both metrics of each repeat that has both at all points of a curve."""
    points = []
    for one, two in zip(of_metric, of_equal, strict=True):
        points.append(pd.DataFrame({"repeat": one.repeats, metric: one.values, equal: two.values}))
    joined = pd.concat(points)
    joined = joined[np.isfinite(joined[[metric, equal]]).all(axis=1)]
    return joined[joined.groupby("repeat")["repeat"].transform("size") == len(points)]


def compare_at_equal(curves: Sequence[pd.DataFrame], equal: str, metric: str) -> pd.DataFrame:
    """Compare curves where all have the same of one metric, ``equal``: the mean of another over the range they share.

    There is a row for each repeat in which all curves, as from `select_points`, share a range, and a column for the
    mean of each. Between its points a curve is a straight line, so of a bent curve there must be many: chords lie
    inside of the bend, farther where points are farther apart.

    Examples
    --------
    >>> rising = pd.DataFrame({"repeat": 0, "leak": [0.0, 1.0], "accuracy": [0.5, 0.9]})
    >>> flat = pd.DataFrame({"repeat": 0, "leak": [0.5, 2.0], "accuracy": [0.6, 0.6]})
    >>> compare_at_equal([rising, flat], "leak", "accuracy").round(3).to_numpy()
    array([[0.8, 0.6]])
    """
    repeats = set(curves[0]["repeat"]).intersection(*map(itemgetter("repeat"), curves[1:]))
    means = {}
    for repeat in sorted(repeats):
        low, high, parts = -math.inf, math.inf, []
        for curve in curves:
            part = curve[curve["repeat"] == repeat].sort_values(equal, kind="stable")
            low, high = max(low, part[equal].min()), min(high, part[equal].max())
            parts.append(part)
        if low < high:
            along = np.linspace(low, high, _STEPS)
            means[repeat] = [np.interp(along, part[equal], part[metric]).mean() for part in parts]
    return pd.DataFrame.from_dict(means, orient="index", columns=range(len(curves)), dtype=np.float64)
