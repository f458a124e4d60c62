"""Splits of one category against the rest, of all columns that are not continuous, numbered one after the other."""

from __future__ import annotations

import numpy as np

from algorithms.forests.engine.candidates import count_by_code, equals_scores
from algorithms.forests.engine.scores import GINI
from algorithms.forests.engine.tree import EQUALS, add_up, split_in_two


def number_categories(table):
    """Number the categories of all columns, of which a continuous one has none.

    Returns
    -------
    int64 array of shape (k + 1,)
        Categories ``ends[j]``, ..., ``ends[j + 1] - 1`` are those of column j.
    """
    return add_up(np.where(table.is_continuous, 0, table.n_codes))


def score_categories(growth, table, i, ends, totals):
    """Score every category against the rest by minus the Gini impurity of the children, times the rows of the node."""
    quality = np.empty(ends[-1])
    for j in range(table.n_codes.shape[0]):
        if not table.is_continuous[j]:
            quality[ends[j] : ends[j + 1]] = equals_scores(GINI, count_by_code(growth, table, i, j), totals)
    return quality


def read_split(growth, ends, i):
    """Return the number of the category that node ``i`` is split by."""
    node = growth.nodes[i]
    return ends[node.feature] + np.int64(node.cut)


def split_by_category(growth, table, i, ends, number):
    """Send a numbered category left, and the rest right."""
    j = np.searchsorted(ends, number, side="right") - 1
    code = number - ends[j]
    split_in_two(growth, table, i, j, EQUALS, code, float(code))
