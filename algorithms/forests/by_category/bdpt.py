"""BDPT: a greedy tree of categories, a rival of PrivaTree (Vos et al., arXiv 2305.15394, 2023).

The text that BDPT comes from was not at hand. What is followed is the program that PrivaTree's authors compared with
(github.com/tudelft-cda-lab/PrivaTree, commit c3d33ae), described here in our words.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from algorithms.accounting.events import Event, Sequential, Spent, Unpaid
from algorithms.accounting.faults import BDPT_GROUPS_FROM_ROWS, BDPT_SENSITIVITY_OF_A_COUNT, Fault
from algorithms.encoding.features import Continuous
from algorithms.forests.by_category.splits import number_categories, score_categories, split_by_category
from algorithms.forests.engine.candidates import class_counts
from algorithms.forests.engine.scores import GINI, mean_gini_sensitivity, score_sensitivity
from algorithms.forests.engine.tree import plant_tree, take_nodes
from algorithms.forests.forest import BinsWhereSound, FullTree, NominalColumns, PrivateForestClassifier, label_leaf
from algorithms.mechanisms import exponential, laplace
from algorithms.native import compiled
from algorithms.parameters import check_choice, check_count, parameter, with_parameters


class BDPTPlan(NamedTuple):
    """What the tree may spend."""

    max_depth: int
    level_epsilon: float
    count_epsilon: np.ndarray  #: float64 (max_depth + 1,): of the counts of each level, at last those of a leaf
    is_sound: bool


@compiled
def grow_tree(plan, table, rows, rng):
    """Grow the tree: every node above the last level is split, whatever its rows."""
    growth = plant_tree(table, rows)
    ends = number_categories(table)
    i = 0
    while i < len(growth.nodes):
        counts = class_counts(growth, i)
        node = growth.nodes[i]
        if node.depth == plan.max_depth or ends[-1] == 0:  # columns of no category: numbers of no rows
            label_leaf(growth, i, counts, plan.count_epsilon[node.depth], rng)
        else:
            scores = score_categories(growth, table, i, ends, counts)
            if plan.is_sound:
                drawn = exponential(scores, np.ones(ends[-1]), 2.0, plan.level_epsilon, rng, True)
            else:
                drawn = draw_as_programmed(node, scores, counts.sum(), plan, rng)
            node.epsilon += plan.level_epsilon
            split_by_category(growth, table, i, ends, drawn)
        i += 1
    return take_nodes(growth)


def draw_as_programmed(node, scores, n_rows, plan, rng):
    """Draw a split by the mean impurity of its children, with the sensitivity of the noisy number of rows."""
    epsilon = plan.count_epsilon[node.depth]
    node.noisy_count = max(laplace(n_rows, 1.0, epsilon, rng), 1.0)
    node.epsilon += epsilon
    sensitivity = mean_gini_sensitivity(node.noisy_count)
    return exponential(scores / max(n_rows, 1.0), np.ones(scores.shape[0]), sensitivity, plan.level_epsilon, rng)


def find_groups(values: np.ndarray, first_values: np.ndarray) -> np.ndarray:
    """Return the group of each value: the last that begins at or below it, the first for what lies below all.

    Examples
    --------
    >>> find_groups(np.array([0.0, 3.9, 4.0, 100.0]), np.array([1.0, 4.0, 9.0]))
    array([0, 0, 1, 2])
    """
    return np.maximum(np.searchsorted(first_values, values, side="right") - 1, 0)


@with_parameters
class BDPTClassifier(FullTree, BinsWhereSound, NominalColumns, PrivateForestClassifier):
    """BDPT, one greedy tree of categories that claims epsilon-differential privacy.

    Parameters
    ----------
    n_merged : int
        Neighbouring distinct values of a column of numbers that become a category, at least 1; variant "paper" alone.
    n_bins : int
        Public equal-width bins of a column of numbers, each a category, at least 2; variant "sound" alone.
    unwritten : {"left_out", "zero"}
        Reading of a slip of the program, in variant "paper": where the number of distinct values of a column of numbers
        is a multiple of ``n_merged``, the array in which it looks up rows to be predicted ends in a number that it
        never wrote. "zero" is what that mostly is: rows are then found in groups that they are not in, by their order.

    Attributes
    ----------
    first_values_ : list
        The smallest value of each group of a column of numbers, as an array, in variant "paper": values of the rows.
        None for other columns, and in variant "sound".
    ends_in_zero_ : list of bool
        Whether the reading "zero" bears on a column.

    Notes
    -----
    Half of epsilon is divided evenly by the d levels of splits; the other half pays for counts, of which level i has a
    share in proportion to the cube root of 2^i, leaves being level d. A split sends one category of a column left and
    the rest right, and may come again below. It is drawn by the exponential mechanism over minus the Gini impurities of
    the children, weighted by their share of the rows, with the sensitivity 1 - (n / (n + 1))² - (1 / (n + 1))² for the
    noisy number n of rows of the node, at least 1. The label of a leaf is the largest of its noisy class counts.

    A value between two groups, which no training row has, belongs to the lower one, as in the program. Of equal counts
    the program takes the second class, ours the first, which matters without noise only.

    Privacy: variant "paper" is **not** epsilon-differentially private; ``privacy_`` lists its faults. The groups of a
    column of numbers begin at values of the rows, and one record more moves all that are above. The sensitivity is that
    of a node with as many rows as the noisy count says, which may be too many, as in PrivaTree. Without columns of
    numbers the second fault alone remains.

    Variant "sound" is, with pure epsilon: categories are declared or public bins, and the exponential mechanism takes
    the impurities times the number of rows, whose sensitivity is 2 whatever that number, so that nothing is to be
    counted but the classes of a leaf, which get all of the second half. No score rises with an added record: the
    exponent goes without its 2. A record is in one node of each level, so that a path costs d splits and a leaf,
    epsilon in all. The grown tree may be published.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1))), Nominal("y", ("no", "yes")))
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 25, ["no", "no", "yes", "yes"] * 25
    >>> tree = BDPTClassifier(8.0, max_depth=1, variant="sound", domain=domain, random_state=0).fit(X, y)
    >>> tree.predict([[0, 1], [1, 0]])
    array(['no', 'yes'], dtype='<U3')
    >>> tree.privacy_.keeps_claim, tree.privacy_.accounted_epsilon
    (True, 8.0)
    """

    n_bins = 10
    n_merged: int = parameter(5, check_count)
    unwritten: str = parameter("left_out", check_choice, choices=("left_out", "zero"), is_reading=True)

    def _learn_bins(self, matrix: np.ndarray) -> None:
        self.first_values_, self.ends_in_zero_ = [], []
        for feature, values in zip(self.domain_.features, matrix.T, strict=True):
            is_grouped = self.variant == "paper" and isinstance(feature, Continuous)
            distinct = np.unique(values) if is_grouped else None
            # the smallest of each group of neighbouring values; the last group may have fewer of them
            self.first_values_.append(distinct[:: self.n_merged] if is_grouped else None)
            self.ends_in_zero_.append(is_grouped and self.unwritten == "zero" and len(distinct) % self.n_merged == 0)

    def _put_into_bins(self, matrix: np.ndarray) -> np.ndarray:
        binned = super()._put_into_bins(matrix)
        if self._n_bins() is not None:
            return binned
        binned = binned.copy(order="F")
        for j, first_values in enumerate(self.first_values_):
            if first_values is not None:
                binned[:, j] = find_groups(matrix[:, j], first_values)
        return binned

    def _bin_rows_to_predict(self, matrix: np.ndarray) -> np.ndarray:
        binned = self._put_into_bins(matrix)
        for j in np.flatnonzero(self.ends_in_zero_):
            binned[:, j] = find_groups(matrix[:, j], np.append(self.first_values_[j], 0.0))  # which is not in order
        return binned

    def _make_plan(self) -> BDPTPlan:
        half, is_sound = float(self.epsilon) / 2, self.variant == "sound"
        shares = np.cbrt(2.0) ** np.arange(self.max_depth + 1)
        if is_sound:
            shares[:-1] = 0.0  # leaves alone are counted
        return BDPTPlan(
            max_depth=self.max_depth,
            level_epsilon=half / self.max_depth,
            count_epsilon=np.where(shares > 0, half, 0.0) * (shares / shares.sum()),
            is_sound=is_sound,
        )

    def _bind_grower(self, table):
        return partial(grow_tree, self._make_plan())

    def _ledger_and_faults(self, table) -> tuple[Event, tuple[Fault, ...]]:
        plan = self._make_plan()
        *of_nodes, of_leaf = plan.count_epsilon.tolist()
        leaf = Spent("laplace", "class counts of a leaf", of_leaf, 1.0)
        if plan.is_sound:
            split = Spent("exponential, monotone", "category", plan.level_epsilon, score_sensitivity(GINI, 0))
            levels = Sequential("split level", (split,), plan.max_depth)
            return self._compose_trees(Sequential("tree", (levels, leaf)), table), ()
        counts = tuple(Spent("laplace", f"number of rows on level {i}", of_nodes[i], 1.0) for i in range(len(of_nodes)))
        unpaid = Unpaid("category, with a sensitivity that may be too small")
        faults = (BDPT_SENSITIVITY_OF_A_COUNT,)
        if has_numbers := any(isinstance(feature, Continuous) for feature in self.domain_.features):
            faults = (BDPT_GROUPS_FROM_ROWS, *faults)
        groups = (Unpaid("groups of numbers"),) if has_numbers else ()
        tree = Sequential("tree", (*groups, *counts, Sequential("split level", (unpaid,), plan.max_depth), leaf))
        return self._compose_trees(tree, table), faults
