"""How deep a tree of a sound variant grows: as deep as its rows last.

The printed algorithms stop where a node holds one class only, which reads the rows without noise, or grow to their
depth whatever the number of rows: then most leaves are empty, and the label of an empty leaf is a matter of chance. A
sound tree counts its rows once, with noise, for a small part of its budget, and takes only as many levels as leave
enough rows to a leaf. The other way, a noisy count at every node (as DiffPRF has it), takes half of every level: with
10 trees on disjoint rows, the classification sets and budgets of ``conf/paper/benchmark.yaml``, it was more than seven
points worse on average.

Both constants were set once, on splits of those sets that no published study uses (seeds from 1000; on Adult, within
the rows to train on). Twenty rows instead of five cost RFDPP-Gini and DiffPETs less than half a point on average, eDPRF
four points.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from algorithms.accounting.events import Event, Spent
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Nominal
from algorithms.forests.engine.tree import rows_of
from algorithms.mechanisms import laplace

COUNT_SHARE = 0.05
"""Part of the budget of a tree that pays for the number of its rows."""

ROWS_OF_A_LEAF = 5.0
"""Rows that a leaf should have on average, times the budget of the tree."""


class Reach(NamedTuple):
    """What is public of how deep a tree may grow."""

    epsilon: float  #: budget of the tree, the count included
    n_children: float  #: of a split, on average
    most: int  #: levels of splits that were asked for


def count_rows(growth, reach, rng):
    """Count the rows of a tree with noise; returns how many levels of splits they last.

    The root bears the noisy number and pays for it: ``COUNT_SHARE`` of the budget (sensitivity 1). The tree may spend
    the rest, whatever its depth: both see the same rows, so that their costs add up to the budget.
    """
    root = growth.nodes[0]
    epsilon = COUNT_SHARE * reach.epsilon
    root.noisy_count = laplace(float(rows_of(growth, 0).shape[0]), 1.0, epsilon, rng)
    root.epsilon += epsilon
    return affordable_levels(reach, root.noisy_count)


def affordable_levels(reach, n_rows):
    """Return how many levels leave ``ROWS_OF_A_LEAF / epsilon`` of so many rows to a leaf: from 1 to those asked for.

    Examples
    --------
    >>> [affordable_levels(Reach(epsilon=1.0, n_children=2.0, most=5), n) for n in (-3.0, 12.0, 40.0, 1e6)]
    [1, 1, 3, 5]
    """
    n_leaves = max(n_rows, 1.0) * reach.epsilon / ROWS_OF_A_LEAF
    levels = min(reach.most, 1)
    while levels < reach.most and reach.n_children ** (levels + 1) <= n_leaves:
        levels += 1
    return levels


def after_count(reach):
    """Return what the count leaves of the budget of a tree."""
    return reach.epsilon * (1.0 - COUNT_SHARE)


def count_cost(reach: Reach) -> Event:
    """Return the entry of the count in the ledger of a tree."""
    return Spent("laplace", "number of rows of the tree", COUNT_SHARE * reach.epsilon, 1.0)


def left_over(epsilon: float, split_epsilon: np.ndarray) -> np.ndarray:
    """Return what each level has left for its leaves: the budget but for the splits above it.

    Examples
    --------
    >>> left_over(1.0, np.array([0.25, 0.25, 0.5]))
    array([1.  , 0.75, 0.5 ])
    """
    if math.isinf(epsilon):
        return np.full(len(split_epsilon), math.inf)
    return epsilon - np.concatenate([[0.0], np.cumsum(split_epsilon)[:-1]])


def stack_levels(budgets: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Stack what trees of 0, 1, 2, ... levels of splits spend on a split, and on a leaf, of each level.

    Parameters
    ----------
    budgets : list of (array, array)
        Both arrays of the tree with i levels of splits have i + 1 entries, the root's first.

    Returns
    -------
    split_epsilon, leaf_epsilon : float64 arrays of shape (levels + 1, levels + 1)
        A row for each tree, filled up with NaN.
    """
    tables = np.full((2, len(budgets), len(budgets)), np.nan)
    for levels, of_splits_and_leaves in enumerate(budgets):
        tables[:, levels, : levels + 1] = of_splits_and_leaves
    return tables[0], tables[1]


def average_children(domain: Domain, n_bins: int = 2) -> float:
    """Return how many children a split by a column has on average: one for each category, or bin of a continuous one.

    At least 2: a column of one category divides nothing.
    """
    n_children = [len(f.categories) if isinstance(f, Nominal) else n_bins for f in domain.features]
    return max(float(np.mean(n_children)), 2.0)
