"""The exact law of PrivaTree on pairs of neighbouring tables, as its program has it (paper 6).

Written from what the program does and apart from the estimator. A column has two categories, and two cuts: one between
them, and one below which everything lies. There are two classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from experiments.judge.statements.finding import Finding
from experiments.judge.statements.leaf_errors import find_largest_product
from experiments.judge.statements.pfdpdt_law import permute_and_flip

_SHARE_OF_LEAVES = 0.5  # of so few records: Corollary 4 asks for more, which the program caps
_TAIL = 60
_CUTS = ("between", "below all")


def law_of_cuts(cells: Sequence[tuple[int, int]], epsilon: float) -> np.ndarray:
    """Return the chances of both cuts in a node, over all values of its noisy number of rows.

    Of each category the records of each class are given, and the ε of the level: half pays for the number of rows, with
    geometric noise and at least 1, half for permute-and-flip over minus the impurities, with the sensitivity of a node
    that has that many rows.
    """
    n, half = sum(map(sum, cells)), epsilon / 2
    both = [tuple(map(sum, zip(*cells, strict=True)))]
    scores = [-_mean_impurity(cells), -_mean_impurity(both)]
    counts = np.arange(1, n + math.ceil(_TAIL / half))
    chances = np.exp(-half * np.abs(counts - n)) * math.tanh(half / 2)
    chances[0] = 1 - chances[1:].sum()  # all that would be less
    law = np.zeros(2)
    for count, chance in zip(counts.tolist(), chances, strict=True):
        sensitivity = 1 - (count / (count + 1)) ** 2 - (1 / (count + 1)) ** 2
        drawn = permute_and_flip(_CUTS, scores, sensitivity, half)
        law += chance * np.array([drawn[cut] for cut in _CUTS])
    return law


def tree_keeps_epsilon(epsilon: float, max_depth: int = 4) -> Finding:
    """Decide whether a path and its label cost ε at most, on a record, and with one of another category and class.

    On the path every cut has everything on its left: the two stay together, and every level shows the second one anew.
    """
    one, two = ((1, 0), (0, 0)), ((1, 0), (0, 1))
    of_leaves = _SHARE_OF_LEAVES * epsilon
    chances = []
    for cells, counts in ((one, [1.0, 0.0]), (two, [1.0, 1.0])):
        of_path = law_of_cuts(cells, (epsilon - of_leaves) / max_depth)[1] ** max_depth
        chances.append(of_path * permute_and_flip((0, 1), counts, 0.5, of_leaves)[0])  # one-sided: half of 1
    loss = abs(math.log(chances[0] / chances[1]))
    went = f"a path and its label have a chance of {chances[0]:.4f} on a record, of {chances[1]:.4f} on two"
    return Finding(loss <= epsilon * (1 + 1e-9), f"{went}: a loss of {loss:.3f} where {epsilon:g} is claimed")


def number_of_rows_keeps_epsilon(epsilon: float, max_depth: int = 4, max_error: float = 0.01) -> Finding:
    """Decide whether a tree costs ε at most on just so many rows that leaves have less than half of it.

    All rows are of the first class and category, but one of the other category; a record of that category and the other
    class joins. Event: the root divides the categories, and all leaves have the other class. A record more lowers the
    budget of leaves, so that the wrong label of the large one becomes likelier by its share in the number of rows.
    """
    need = 2**max_depth * find_largest_product(2) / max_error  # of a leaf, times the number of rows
    n = math.ceil(need / (_SHARE_OF_LEAVES * epsilon))
    laws = []
    for cells in (((n - 1, 0), (1, 0)), ((n - 1, 0), (1, 1))):
        of_leaves = need / sum(map(sum, cells))
        of_root = math.log(law_of_cuts(cells, (epsilon - of_leaves) / max_depth)[0])
        behind = sum(max(0, first - second) for first, second in cells)
        laws.append(of_root - of_leaves * behind)  # and as often as not where no class leads; other leaves are empty
    loss = abs(laws[1] - laws[0])
    met = f"the chance of one tree, exp({laws[0]:.2f}) on {n:,} rows, becomes exp({laws[1]:.2f}) with one more"
    return Finding(loss <= epsilon * (1 + 1e-9), f"{met}: a loss of {loss:.3f} where {epsilon:g} is claimed")


def _mean_impurity(sides: Sequence[tuple[int, ...]]) -> float:
    n = sum(map(sum, sides))
    return sum(sum(side) - sum(count**2 for count in side) / sum(side) for side in sides if sum(side)) / max(n, 1)
