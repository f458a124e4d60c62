"""The exact law of PrivaTree on pairs of neighbouring tables, as its program has it (paper 6).

Written from what the program does and apart from the estimator. A column has two categories, and two cuts: one between
them, and one below which everything lies. There are two classes. The program learns classes and categories from the
rows, and stops with an error where there is one class only: so both are in all tables here, unless they are declared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations_with_replacement

import numpy as np

from experiments.statements.finding import Finding
from experiments.statements.leaf_errors import find_largest_product
from experiments.statements.pfdpdt_law import permute_and_flip

Cells = tuple[tuple[int, int], tuple[int, int]]
"""Of each category, the number of records of each class."""

_SHARE_OF_LEAVES = 0.5  # of so few records: Corollary 4 asks for more, which the program caps
_TAIL = 60
_EMPTY = (0, 0)


def law_of_cuts(cells: Sequence[tuple[int, int]], epsilon: float) -> np.ndarray:
    """Return the chances of both cuts in a node, over all values of its noisy number of rows.

    Of each category the records of each class are given, and the ε of the level: half pays for the number of rows, with
    geometric noise and at least 1, half for permute-and-flip over minus the impurities, with the sensitivity of a node
    that has that many rows. Of two candidates permute-and-flip takes the worse one if it comes first and is accepted.
    """
    n, half = sum(map(sum, cells)), epsilon / 2
    both = [tuple(map(sum, zip(*cells, strict=True)))]
    ahead = _mean_impurity(both) - _mean_impurity(cells)  # of the cut between the categories, which is never worse
    counts = np.arange(1, n + math.ceil(_TAIL / half))
    chances = np.exp(-half * np.abs(counts - n)) * math.tanh(half / 2)
    chances[0] = 1 - chances[1:].sum()  # all that would be less
    sensitivities = 1 - (counts / (counts + 1)) ** 2 - (1 / (counts + 1)) ** 2
    below_all = float(chances @ np.exp(-half * ahead / (2 * sensitivities))) / 2
    return np.array([1 - below_all, below_all])


def tree_keeps_epsilon(epsilon: float, max_depth: int = 4, most_records: int = 3, declared: bool = False) -> Finding:
    """Decide whether trees cost ε at most, on every pair of neighbouring tables of up to so many records.

    The program takes tables with both classes and both categories only; with ``declared`` ones every table is taken.
    """
    worst, where = 0.0, None
    for fewer, more in _list_neighbours(most_records):
        if declared or _has_all(fewer):
            loss = find_loss(fewer, more, epsilon, max_depth)
            if loss > worst:
                worst, where = loss, (fewer, more)
    if where is None:
        return Finding(True, f"no table of fewer than {most_records} records has both classes and categories")
    pair = " and ".join(map(_describe, where))
    found = f"of tables with up to {most_records} records the worst are {pair}"
    return Finding(worst <= epsilon * (1 + 1e-9), f"{found}: a loss of {worst:.3f} where {epsilon:g} is claimed")


def find_loss(fewer: Cells, more: Cells, epsilon: float, max_depth: int) -> float:
    """Return the largest log-ratio of the chances of a tree with its labels on two small tables."""
    of_leaves = _SHARE_OF_LEAVES * epsilon
    of_level = (epsilon - of_leaves) / max_depth

    @cache
    def cut(cells: Cells) -> np.ndarray:
        return np.log(law_of_cuts(cells, of_level))

    def label(cells: Cells) -> np.ndarray:
        counts = list(map(float, np.sum(cells, axis=0)))
        return np.log(list(permute_and_flip((0, 1), counts, 0.5, of_leaves).values()))  # one-sided: half of 1

    return max(_find_worst(one, other, max_depth, cut, label) for one, other in ((fewer, more), (more, fewer)))


def _find_worst(one: Cells, other: Cells, levels: int, cut: Callable, label: Callable) -> float:
    """Return how much likelier some tree is on the one node than on the other, as a logarithm."""
    if one == other:
        return 0.0
    if levels == 0:
        return float(np.max(label(one) - label(other)))
    between, below_all = cut(one) - cut(other)
    apart = _find_worst((one[0], _EMPTY), (other[0], _EMPTY), levels - 1, cut, label)
    apart += _find_worst((_EMPTY, one[1]), (_EMPTY, other[1]), levels - 1, cut, label)
    together = _find_worst(one, other, levels - 1, cut, label)
    return max(float(between) + apart, float(below_all) + together)


def number_of_rows_keeps_epsilon(epsilon: float, max_depth: int = 4, max_error: float = 0.01) -> Finding:
    """Decide whether a tree costs ε at most on just so many rows that leaves have less than half of it.

    All rows but one are of the first class, and all but one of the first category; a record of the other category and
    class joins. Event: the root divides the categories, and all leaves have the other class. A record more lowers the
    budget of leaves, so that the wrong label of the large one becomes likelier by its share in the number of rows.
    """
    need = 2**max_depth * find_largest_product(2) / max_error  # of a leaf, times the number of rows
    n = math.ceil(need / (_SHARE_OF_LEAVES * epsilon))
    laws = []
    for cells in (((n - 2, 1), (1, 0)), ((n - 2, 1), (1, 1))):
        of_leaves = need / sum(map(sum, cells))
        of_root = math.log(law_of_cuts(cells, (epsilon - of_leaves) / max_depth)[0])
        behind = sum(max(0, first - second) for first, second in cells)
        laws.append(of_root - of_leaves * behind)  # and as often as not where no class leads; other leaves are empty
    loss = abs(laws[1] - laws[0])
    met = f"the chance of one tree, exp({laws[0]:.2f}) on {n:,} rows, becomes exp({laws[1]:.2f}) with one more"
    return Finding(loss <= epsilon * (1 + 1e-9), f"{met}: a loss of {loss:.3f} where {epsilon:g} is claimed")


def _list_neighbours(most_records: int) -> Iterator[tuple[Cells, Cells]]:
    """Yield every table of at least one record with one that has one record more."""
    kinds = [(category, label) for category in (0, 1) for label in (0, 1)]
    for n in range(1, most_records):
        for records in combinations_with_replacement(kinds, n):
            for added in kinds:
                yield _count(records), _count((*records, added))


def _count(records: Sequence[tuple[int, int]]) -> Cells:
    first, second = ((records.count((category, 0)), records.count((category, 1))) for category in (0, 1))
    return first, second


def _has_all(cells: Cells) -> bool:
    """Tell whether both classes and both categories are there."""
    return all(map(sum, cells)) and all(map(sum, zip(*cells, strict=True)))


def _describe(cells: Cells) -> str:
    """Return a table in words: the categories and labels of its records."""
    words = [
        f"{category}{label}"
        for category, row in zip("01", cells, strict=True)
        for label, n in zip("ab", row, strict=True)
        for _ in range(n)
    ]
    return "{" + ", ".join(words) + "}"


def _mean_impurity(sides: Sequence[tuple[int, ...]]) -> float:
    n = sum(map(sum, sides))
    return sum(sum(side) - sum(count**2 for count in side) / sum(side) for side in sides if sum(side)) / max(n, 1)
