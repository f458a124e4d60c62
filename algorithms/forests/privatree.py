"""PrivaTree: one tree of a fixed depth (Vos, Vos, Li, Erkin, Verwer; arXiv 2305.15394, 2023).

The paper's main text was not at hand. What is followed: its appendix (``privatree_appendix.pdf``), and what the
authors' program does (github.com/tudelft-cda-lab/PrivaTree, commit c3d33ae), described here in our words. An older
state of it, 2aff7a0 of the day of the second arXiv version, chose splits by noisy histograms, as the abstract says:
that is the reading ``splits="histograms"``.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from algorithms.accounting.events import Event, Sequential, Spent, Unpaid
from algorithms.accounting.faults import (
    PRIVATREE_BUDGET_FROM_ROWS,
    PRIVATREE_BUDGET_SPENT_TWICE,
    PRIVATREE_EXACT_STOP,
    PRIVATREE_QUANTILES,
    PRIVATREE_SENSITIVITY_OF_A_COUNT,
    Fault,
)
from algorithms.encoding.features import Continuous, Feature
from algorithms.forests.engine.candidates import (
    below_scores,
    best_groups,
    class_counts,
    count_by_code,
    is_pure,
    sum_by_class,
)
from algorithms.forests.engine.depth import COUNT_SHARE
from algorithms.forests.engine.intervals import NO_SPLIT, Split
from algorithms.forests.engine.scores import GINI, mean_gini_sensitivity, score_sensitivity, side_score
from algorithms.forests.engine.table import Table, make_table
from algorithms.forests.engine.tree import AMONG, BELOW, plant_tree, split_in_two, take_nodes
from algorithms.forests.forest import FullTree, PrivateForestClassifier, check_two_groups, draw_label
from algorithms.forests.rfdpp_gini import add_noise
from algorithms.mechanisms import laplace, permute_and_flip
from algorithms.native import compiled
from algorithms.parameters import check_choice, check_count, check_number, parameter, with_parameters

MOST_FOR_LEAVES = 0.5
"""The largest part of epsilon that leaves get, however few the rows."""


class PrivaTreePlan(NamedTuple):
    """What the tree may spend."""

    max_depth: int
    epsilon: float
    count_epsilon: float  #: of the number of rows, which only a sound tree pays for
    leaves_need: float  #: budget of a leaf, times the number of rows


def share_budget(plan, n_rows):
    """Return what a leaf has, and what the split of each level: corollary 4 of the appendix, at most a half."""
    if plan.epsilon == np.inf:
        return np.inf, np.inf
    left = plan.epsilon - plan.count_epsilon
    leaf = min(MOST_FOR_LEAVES * left, plan.leaves_need / max(n_rows, 1.0))
    return leaf, (left - leaf) / plan.max_depth


@compiled
def grow_as_programmed(plan, table, rows, rng):
    """Grow the tree as the program does: draw a cut at every node above the last level, whatever its rows."""
    growth = plant_tree(table, rows)
    leaf_epsilon, level_epsilon = share_budget(plan, float(rows.shape[0]))
    growth.nodes[0].exact = True  # the number of rows has no noise
    i = 0
    while i < len(growth.nodes):
        counts = class_counts(growth, i)
        node = growth.nodes[i]
        if node.depth == plan.max_depth:
            draw_label(growth, i, counts, leaf_epsilon, rng)
        else:
            n = float(counts.sum())
            node.noisy_count = max(laplace(n, 1.0, 0.5 * level_epsilon, rng), 1.0)
            quality = score_cuts(growth, table, i, counts) / max(n, 1.0)
            drawn = permute_and_flip(quality, mean_gini_sensitivity(node.noisy_count), 0.5 * level_epsilon, rng)
            node.epsilon += level_epsilon
            split_at(growth, table, i, drawn)
        i += 1
    return take_nodes(growth)


@compiled
def grow_sound(plan, table, rows, rng):
    """Grow the tree with every step paid: its rows are counted with noise, and cuts are scored by weighted impurity."""
    growth = plant_tree(table, rows)
    root = growth.nodes[0]
    root.noisy_count = laplace(float(rows.shape[0]), 1.0, plan.count_epsilon, rng)
    root.epsilon += plan.count_epsilon
    leaf_epsilon, level_epsilon = share_budget(plan, root.noisy_count)
    i = 0
    while i < len(growth.nodes):
        counts = class_counts(growth, i)
        if growth.nodes[i].depth == plan.max_depth:
            draw_label(growth, i, counts, leaf_epsilon, rng)
        else:
            drawn = permute_and_flip(score_cuts(growth, table, i, counts), 2.0, level_epsilon, rng, True)
            growth.nodes[i].epsilon += level_epsilon
            split_at(growth, table, i, drawn)
        i += 1
    return take_nodes(growth)


def score_cuts(growth, table, i, totals):
    """Score every public cut of every column by minus its Gini impurity, times the rows of the node.

    Codes up to the cut go left, all of them at the last one, which divides nothing.
    """
    scores = []
    for feature in range(table.n_codes.shape[0]):
        scores.extend(below_scores(GINI, count_by_code(growth, table, i, feature), totals))
        scores.append(side_score(GINI, totals))
    return np.array(scores)


def split_at(growth, table, i, number):
    """Split node ``i`` at the cut of a number, as `score_cuts` counts them."""
    ends = np.cumsum(table.n_codes)
    feature = np.searchsorted(ends, number, side="right")
    code = number - (ends[feature] - table.n_codes[feature])
    split_in_two(growth, table, i, feature, BELOW, code, value_of(table, feature, code))


def value_of(table, feature, code):
    """Return the value behind a code of a column: of a continuous one the cut that is its upper end."""
    return table.levels[table.first_level[feature] + code]


@compiled
def grow_by_histograms(plan, table, rows, rng):
    """Grow the tree as the older program does: take the best split of noisy histograms, stop by the exact rows."""
    growth = plant_tree(table, rows)
    leaf_epsilon, level_epsilon = share_budget(plan, float(rows.shape[0]))
    i = 0
    while i < len(growth.nodes):
        counts = class_counts(growth, i)
        node = growth.nodes[i]
        node.exact = i == 0 or node.depth < plan.max_depth  # purity, and the number of rows
        split = NO_SPLIT
        if node.depth < plan.max_depth and not is_pure(counts):
            split = best_split(growth, table, i, level_epsilon, rng)
            node.epsilon += level_epsilon * table.n_codes.shape[0]
        if split.feature < 0:
            draw_label(growth, i, counts, leaf_epsilon, rng)
        else:
            split_in_two(growth, table, i, split.feature, split.decides, split.code, split.cut)
        i += 1
    return take_nodes(growth)


def best_split(growth, table, i, epsilon, rng):
    """Return the best split of all columns by histograms that have noise for ``epsilon`` each."""
    best = NO_SPLIT
    for feature in range(table.n_codes.shape[0]):
        counts = count_by_code(growth, table, i, feature).astype(np.float64)
        noisy = np.floor(add_noise(counts, epsilon, rng) + 0.5)  # whole numbers, as geometric noise would leave
        totals = sum_by_class(noisy)
        n = max(totals.sum(), 1.0)
        if table.is_continuous[feature]:
            scores = below_scores(GINI, noisy, totals)
            code = np.argmax(scores)
            score, decides, cut = scores[code], BELOW, value_of(table, feature, code)
        else:
            score, code = best_groups(GINI, noisy)
            decides, cut = AMONG, float(code)
        if score / n > best.score:
            best = Split(score / n, feature, decides, code, cut)
    return best


SCORES, HISTOGRAMS = "scores", "histograms"
EQUAL_WIDTH, QUANTILES = "equal_width", "quantiles"
GROWERS = {
    ("paper", SCORES): grow_as_programmed,
    ("paper", HISTOGRAMS): grow_by_histograms,
    ("sound", SCORES): grow_sound,
}


def find_worst_error(n_classes: int) -> float:
    """Return the largest expected error of permute-and-flip, times epsilon, over all counts of so many classes.

    It is the maximum over p of 2 log(1/p) (1 - (1 - (1 - p)^K) / (K p)), for sensitivity 1: proof of corollary 4 of the
    appendix, after McKenna and Sheldon (2020, proposition 4).

    Examples
    --------
    >>> round(float(find_worst_error(2)) * math.e, 9)  # of two classes it is p log(1/p)
    1.0
    """
    k = max(n_classes, 2)

    def gain(p):
        return 2 * math.log(p) * (1 - (1 - (1 - p) ** k) / (k * p))

    return -minimize_scalar(gain, bounds=(0, 1), method="bounded", options={"xatol": 1e-9}).fun


def place_cuts(feature: Feature, values: np.ndarray, n_bins: int, cuts: str) -> np.ndarray:
    """Return the values of a continuous column at which it may be cut, ascending; none of a nominal one.

    Parameters
    ----------
    feature : Feature
        The column.
    values : float64 array of shape (n,)
        Its values in the training rows, at which only quantiles look.
    n_bins : int
        Bins, at least 2, between which there are at most ``n_bins - 1`` cuts. A value that equals a cut is below it.
    cuts : {"equal_width", "quantiles"}
        Which bins: of equal width, or of equally many rows.

    Examples
    --------
    >>> place_cuts(Continuous("age", 0, 80), np.array([20.0, 20.0, 30.0, 70.0]), 4, "equal_width")
    array([20., 40., 60.])
    >>> place_cuts(Continuous("age", 0, 80), np.array([20.0, 20.0, 30.0, 70.0]), 4, "quantiles")
    array([20., 25., 40.])
    """
    if not isinstance(feature, Continuous):
        return np.empty(0)
    if cuts == EQUAL_WIDTH:
        return np.linspace(feature.lower, feature.upper, n_bins + 1)[1:-1]
    if not len(values):
        return np.empty(0)
    of_rows = np.unique(np.quantile(values, np.linspace(0, 1, n_bins + 1)[1:-1]))
    return of_rows[of_rows < feature.upper]


@with_parameters
class PrivaTreeClassifier(FullTree, PrivateForestClassifier):
    """PrivaTree, one binary tree of a fixed depth that claims epsilon-differential privacy.

    Parameters
    ----------
    max_error : float
        E_max of the appendix, above 0: the share of the rows that labels may get wrong because of noise, in expectation
        and at worst. Leaves get the budget that takes, at most half of epsilon.
    n_bins : int
        Bins of a continuous column, between which it is cut; at least 2. A value that equals a cut is below it.
    splits : {"scores", "histograms"}
        Reading of how a split is chosen. "scores": permute-and-flip draws one of all cuts of all columns by their Gini
        impurity; a nominal column is cut by the position of its categories. "histograms": the program of October 2023
        takes the best split of class counts that have noise, categories ordered by their noisy share of a class.
    cuts : {"equal_width", "quantiles"}
        Reading of the bins: public ones of equal width, or quantiles of the training rows without noise, which is the
        tables' PrivaTree*.

    Notes
    -----
    A leaf has the smaller of epsilon / 2 and 2^d C / (n E_max) for n rows (corollary 4 of the appendix; C is
    ``find_worst_error``), and permute-and-flip draws its label by its class counts. What is left is divided evenly by
    the levels. Of a level half pays for the number n of rows of the node, at least 1 with its noise, and half for
    permute-and-flip over minus the Gini impurities of the cuts, with the sensitivity 1 - (n / (n + 1))² - (1 / (n +
    1))² for that noisy n. The cuts of a column have one among them that leaves everything on the left.

    Ours is Laplace noise where the program has geometric noise, rounded to whole numbers in its histograms, and
    bounds from the domain where it takes them from the training rows. The older program draws quantiles with noise,
    which cost it as much as another level; the reading "histograms" does not.

    Privacy: variant "paper" is **not** epsilon-differentially private; ``privacy_`` lists its faults. The sensitivity
    that it takes is that of a node with as many rows as the noisy count says. Where the count comes out too
    large, the noise on the scores is too small: of two cuts in a node of one record, the chances are 1/2 each; a second
    record makes them 0.53 and 0.47 at any epsilon, however small, a loss of 0.057, and every level on which the two
    stay together loses as much again. The cuts and the label of a tree of depth 4 lose 0.235 at epsilon 0.01 and 0.289
    at 0.1, more than epsilon up to 0.48, and with 16 levels up to 1.5. And the exact number of rows divides the budget:
    where leaves have just less than half of epsilon, a record more makes every wrong label likelier, by up to epsilon /
    2 in all, beside the epsilon / 2 of the leaf that it joins; with what a cut loses that is 1.014 at epsilon 1 of
    1,178 rows, by an event that hardly ever happens (``tests/test_privatree.py`` has the exact laws). With the noisy
    counts, which the tree here keeps and the program's does not, the loss has no bound. In the reading "histograms"
    every column's histogram costs what the level has, as each holds all records of the node, and pure nodes are seen
    without noise. The reading "quantiles" cuts continuous columns at values of the rows.

    Variant "sound" is, with pure epsilon: a twentieth of epsilon pays for the number of rows, once, which divides the
    rest; permute-and-flip draws among the same cuts with all that a level has, by the impurity times the number of
    rows, whose sensitivity is 2 whatever that number. No score rises with an added record and no class count falls, so
    that both selections go without the 2 in their exponent. A record is in one node of each level: a path costs the
    count, d splits and a label, which add up to epsilon whatever the count said. The grown tree may be published.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1))), Nominal("y", ("no", "yes")))
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 25, ["no", "no", "yes", "yes"] * 25
    >>> tree = PrivaTreeClassifier(8.0, max_depth=1, variant="sound", domain=domain, random_state=0).fit(X, y)
    >>> tree.predict([[0, 1], [1, 0]])
    array(['no', 'yes'], dtype='<U3')
    >>> tree.privacy_.keeps_claim, tree.privacy_.accounted_epsilon
    (True, 8.0)
    """

    max_error: float = parameter(0.01, check_number, above=0)
    n_bins: int = parameter(10, check_count, lowest=2)
    splits: str = parameter(SCORES, check_choice, choices=(SCORES, HISTOGRAMS), is_reading=True)
    cuts: str = parameter(EQUAL_WIDTH, check_choice, choices=(EQUAL_WIDTH, QUANTILES), is_reading=True)

    def _lay_out_rows(self, matrix: np.ndarray, target: np.ndarray) -> Table:
        columns = zip(self.domain_.features, matrix.T, strict=True)
        cuts = [place_cuts(feature, values, self.n_bins, self.cuts) for feature, values in columns]
        return make_table(matrix, self.domain_, target, cuts=cuts)

    def _make_plan(self, table) -> PrivaTreePlan:
        epsilon = float(self.epsilon)
        return PrivaTreePlan(
            max_depth=self.max_depth,
            epsilon=epsilon,
            count_epsilon=COUNT_SHARE * epsilon if self.variant == "sound" else 0.0,
            leaves_need=2**self.max_depth * find_worst_error(table.n_classes) / float(self.max_error),
        )

    def _bind_grower(self, table):
        if self.splits == HISTOGRAMS:
            check_two_groups(self.domain_, "splits='histograms'", "splits='scores'")
        return partial(GROWERS[self.variant, self.splits], self._make_plan(table))

    def _ledger_and_faults(self, table) -> tuple[Event, tuple[Fault, ...]]:
        plan, is_sound = self._make_plan(table), self.variant == "sound"
        n_rows = float(self.trees_[0]["noisy_count"][0]) if is_sound else len(table.labels)
        leaf_epsilon, level_epsilon = share_budget(plan, n_rows)
        first, level, faults = self._level_and_faults(table, plan, level_epsilon)
        leaf = Spent("permute_and_flip, monotone", "label of a leaf", leaf_epsilon, 1.0)
        before = (first,)
        if self.cuts == QUANTILES and table.is_continuous.any():
            before, faults = (first, Unpaid("quantiles of the continuous columns")), (*faults, PRIVATREE_QUANTILES)
        tree = Sequential("tree", (*before, Sequential("split level", level, plan.max_depth), leaf))
        return self._compose_trees(tree, table), faults

    def _level_and_faults(self, table, plan, epsilon) -> tuple[Event, tuple[Event, ...], tuple[Fault, ...]]:
        """Return what the number of rows costs, and the split of a level; and which steps are not covered."""
        if self.variant == "sound":
            split = Spent("permute_and_flip, monotone", "public cut", epsilon, score_sensitivity(GINI, 0))
            return Spent("laplace", "number of rows of the tree", plan.count_epsilon, 1.0), (split,), ()
        n_rows = Unpaid("number of rows, which divides the budget")
        if self.splits == HISTOGRAMS:
            of_column = Spent("laplace", "class counts of a column", epsilon, 1.0)
            level = (Sequential("column", (of_column,), table.codes.shape[0]), Unpaid("purity"))
            return n_rows, level, (PRIVATREE_BUDGET_FROM_ROWS, PRIVATREE_BUDGET_SPENT_TWICE, PRIVATREE_EXACT_STOP)
        count = Spent("laplace", "number of rows of a node", epsilon / 2, 1.0)
        level = (count, Unpaid("public cut, with a sensitivity that may be too small"))
        return n_rows, level, (PRIVATREE_BUDGET_FROM_ROWS, PRIVATREE_SENSITIVITY_OF_A_COUNT)
