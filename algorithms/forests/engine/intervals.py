"""Cuts of continuous features, drawn from the intervals between the values that a node holds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from algorithms.forests.engine.candidates import below_scores, count_by_present_code
from algorithms.forests.engine.tree import BELOW
from algorithms.mechanisms import exponential


class Split(NamedTuple):
    """A candidate split and its exact score."""

    score: float
    feature: int
    decides: int
    code: int
    cut: float


NO_SPLIT = Split(-np.inf, -1, BELOW, 0, 0.0)

LENGTH, RELATIVE, UNIT = 0, 1, 2
WEIGHTS = {"length": LENGTH, "relative": RELATIVE, "unit": UNIT}
"""Base measures of an interval: its length in the unit of its column, as a share of the column's public range, or 1."""


def draw_interval(growth, table, i, features, totals, score, sensitivity, epsilon, weight, rng):
    """Draw an interval between neighbouring values present in the node, then a cut evenly inside it.

    The exponential mechanism runs over the intervals of all the given features together. The ends of the outermost
    intervals are values of the rows: this is how the papers print it, and it is not private.

    Parameters
    ----------
    features : int64 array
        Continuous features.
    totals : float64 array of shape (c,)
        Records of the node by class.
    score : int
        Which score, see ``scores``.
    sensitivity : float
        Its sensitivity.
    epsilon : float
        Budget of the draw; it is booked on the node if a draw takes place.
    weight : int
        Base measure of an interval, see ``WEIGHTS``.

    Returns
    -------
    Split
        ``NO_SPLIT`` where no feature has two values in the node.
    """
    intervals, quality, measure = [], [], []
    for feature in features:
        present, counts = count_by_present_code(growth, table, i, feature)
        levels = table.levels[table.first_level[feature] + present]
        unit = table.width[feature] if weight == RELATIVE else 1.0
        for j, split_score in enumerate(below_scores(score, counts, totals)):
            intervals.append((feature, present[j], levels[j], levels[j + 1]))
            quality.append(split_score)
            measure.append(1.0 if weight == UNIT else (levels[j + 1] - levels[j]) / unit)
    if not intervals:
        return NO_SPLIT
    drawn = exponential(np.array(quality), np.array(measure), sensitivity, epsilon, rng, False)
    growth.nodes[i].epsilon += epsilon
    feature, code, low, high = intervals[drawn]
    cut = low + rng.random() * (high - low)
    return Split(quality[drawn], feature, BELOW, code, cut if cut < high else low)
