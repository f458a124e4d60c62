"""Cuts of continuous features, drawn from the intervals between the values that a node holds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from algorithms.forests.engine.candidates import below_scores, count_by_present_code
from algorithms.forests.engine.tree import BELOW
from algorithms.jit import compiled, uncounted
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


@compiled
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
    weight : int or None
        Base measure of an interval, see ``WEIGHTS``. None is for forests without continuous features: Numba leaves out
        all that follows.

    Returns
    -------
    Split
        ``NO_SPLIT`` where no feature has two values in the node.
    """
    if weight is None:
        return NO_SPLIT
    growth, table, rng = uncounted((growth, table, rng))
    n_most = 0
    for feature in features:
        n_most += min(table.n_codes[feature], growth.runs[i, -1] - growth.runs[i, 0])
    scores, places = np.empty((2, n_most)), np.empty((3, n_most), dtype=np.int64)
    quality, measure, owner, codes, codes_above = scores[0], scores[1], places[0], places[1], places[2]
    n = 0
    for feature in features:
        present, counts = count_by_present_code(growth, table, i, feature)
        first = table.first_level[feature]
        unit = table.width[feature] if weight == RELATIVE else 1.0
        split_scores = below_scores(score, counts, totals)
        for j in range(split_scores.shape[0]):
            quality[n], owner[n], codes[n], codes_above[n] = split_scores[j], feature, present[j], present[j + 1]
            length = table.levels[first + present[j + 1]] - table.levels[first + present[j]]
            measure[n] = 1.0 if weight == UNIT else length / unit
            n += 1
    if n == 0:
        return NO_SPLIT
    j = exponential(quality[:n], measure[:n], sensitivity, epsilon, rng, False)
    growth.nodes[i].epsilon += epsilon
    first = table.first_level[owner[j]]
    low, high = table.levels[first + codes[j]], table.levels[first + codes_above[j]]
    cut = low + rng.random() * (high - low)
    return Split(quality[j], owner[j], BELOW, codes[j], cut if cut < high else low)
