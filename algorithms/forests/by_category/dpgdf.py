"""DPGDF: a greedy tree of nominal columns, a rival of PrivaTree (Vos et al., arXiv 2305.15394, 2023).

The paper that DPGDF comes from was not at hand. What is followed is the program that PrivaTree's authors compared with
(github.com/tudelft-cda-lab/PrivaTree, commit c3d33ae), described here in our words.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from algorithms.accounting.events import Event, Sequential, Spent, Unpaid
from algorithms.accounting.faults import DPGDF_SENSITIVITY_OF_A_LEAF, Fault
from algorithms.forests.by_category.splits import (
    number_categories,
    read_split,
    score_categories,
    split_by_category,
)
from algorithms.forests.engine.candidates import class_counts
from algorithms.forests.engine.scores import mean_gini_sensitivity
from algorithms.forests.engine.tree import plant_tree, take_nodes
from algorithms.forests.forest import FullTree, PrivateForestClassifier, draw_label
from algorithms.mechanisms import exponential, permute_and_flip
from algorithms.native import compiled
from algorithms.parameters import ParameterError, check_choice, parameter, with_parameters

FLIPS, WEIGHTS = "permute_and_flip", "exponential"

LEAST_SENSITIVITY = 1e-300
"""Instead of a sensitivity that would be 0 because a class leads by far: no weight of another label is more than 0."""


class DPGDFPlan(NamedTuple):
    """What the tree may spend, and how it draws."""

    max_depth: int
    level_epsilon: float
    leaf_epsilon: float
    weighs: bool  #: splits by the exponential mechanism, instead of permute-and-flip
    is_sound: bool


@compiled
def grow_tree(plan, table, rows, rng):
    """Grow the tree: every node above the last level is split, as long as its path has left a split unused."""
    growth = plant_tree(table, rows)
    ends = number_categories(table)
    i = 0
    while i < len(growth.nodes):
        counts = class_counts(growth, i)
        splits = unused_splits(growth, i, ends)
        if growth.nodes[i].depth == plan.max_depth or splits.shape[0] == 0:
            end_in_leaf(growth, i, counts, plan, rng)
        else:
            scores = score_categories(growth, table, i, ends, counts)[splits] / max(counts.sum(), 1.0)
            number = splits[draw_split(scores, plan, rng)]
            growth.nodes[i].epsilon += plan.level_epsilon
            split_by_category(growth, table, i, ends, number)
        i += 1
    return take_nodes(growth)


def unused_splits(growth, i, ends):
    """Return the numbers of the splits that no node above node ``i`` has."""
    is_used = np.zeros(ends[-1], dtype=np.bool_)
    above = growth.parents[i]
    while above >= 0:
        is_used[read_split(growth, ends, above)] = True
        above = growth.parents[above]
    return np.flatnonzero(~is_used)


def draw_split(scores, plan, rng):
    """Draw one of some splits by its score."""
    sensitivity = mean_gini_sensitivity(1.0)
    if plan.weighs:
        return exponential(scores, np.ones(scores.shape[0]), sensitivity, plan.level_epsilon, rng)
    return permute_and_flip(scores, sensitivity, plan.level_epsilon, rng)


def end_in_leaf(growth, i, counts, plan, rng):
    """Label a leaf: by its class counts, or as the program does."""
    if plan.is_sound:
        draw_label(growth, i, counts, plan.leaf_epsilon, rng)
    else:
        draw_label_by_lead(growth, i, counts, plan.leaf_epsilon, rng)


def draw_label_by_lead(growth, i, counts, epsilon, rng):
    """Draw the label of a leaf with a sensitivity of its own rows, as the program does: that costs no finite epsilon.

    The classes of most rows have a score of 1, the others of 0. The sensitivity is exp(-epsilon j), where the class of
    most rows has j more than the next one.
    """
    scores = (counts == counts.max()).astype(np.float64)
    second, most = np.sort(np.append(counts, 0.0))[-2:]  # of one class, the next one has none
    lead = most - second
    sensitivity = max(math.exp(-lead * epsilon), LEAST_SENSITIVITY) if lead > 0 else 1.0
    growth.nodes[i].label = exponential(scores, np.ones(scores.shape[0]), sensitivity, epsilon, rng, True)
    growth.nodes[i].epsilon += epsilon


@with_parameters
class DPGDFClassifier(FullTree, PrivateForestClassifier):
    """DPGDF, one greedy tree of nominal columns that claims epsilon-differential privacy.

    Columns of numbers are not looked at: a domain has to have a nominal one.

    Parameters
    ----------
    max_depth : int
        Levels of splits d, from 1 to 16. A branch has all of them, whatever its rows, unless it has used every split
        before. The tables have 4.
    mechanism : {"permute_and_flip", "exponential"}
        Reading of how a split is drawn: as the program does, or as the algorithm is told elsewhere.

    Notes
    -----
    Half of epsilon is divided evenly by the d levels, half pays for the label of a leaf. A split sends one category of
    a column left and the rest right; a path has each of them once. It is drawn by minus the Gini impurities of the
    children, weighted by their share of the rows, whose sensitivity is 0.5 for any number of classes. The label is
    drawn by the exponential mechanism over whether a class has the most rows, with the sensitivity exp(-j epsilon / 2)
    where it has j rows more than the next class.

    Raises ``ParameterError`` where no column of the domain is nominal.

    Privacy: variant "paper" is **not** differentially private, because of its leaves; ``privacy_`` says so. A
    sensitivity of the rows at hand is no bound on what their neighbours change, and smooth as it is, an exponential
    mechanism divides by it. With e = epsilon / 2, the odds of the larger of two classes are exp(e exp(j e)), so that
    one more record multiplies them by a factor that grows without bound with j: at e = 0.5 the loss of a leaf is 0.49
    from a tie to a lead of one, 2.4 from a lead of four to five, 48 from ten to eleven (``tests/test_dpgdf.py`` has the
    exact law).

    Variant "sound" is, with pure epsilon: the same splits, whose sensitivity is right, and permute-and-flip over the
    class counts of a leaf, which no added record lowers, so that it goes without the 2 in its exponent. A record is in
    one node of each level: a path costs d splits and a label, epsilon in all, or less where splits run out, which the
    domain alone decides. The grown tree may be published.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1))), Nominal("y", ("no", "yes")))
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 25, ["no", "no", "yes", "yes"] * 25
    >>> tree = DPGDFClassifier(40.0, max_depth=1, variant="sound", domain=domain, random_state=0).fit(X, y)
    >>> tree.predict([[0, 1], [1, 0]])
    array(['no', 'yes'], dtype='<U3')
    >>> tree.privacy_.keeps_claim, tree.privacy_.accounted_epsilon
    (True, 40.0)
    """

    reads_numbers = False
    mechanism: str = parameter(FLIPS, check_choice, choices=(FLIPS, WEIGHTS), is_reading=True)

    def _n_bins(self) -> int:
        return 1  # for columns of numbers, which no split asks for

    def _make_plan(self) -> DPGDFPlan:
        half = float(self.epsilon) / 2
        return DPGDFPlan(
            max_depth=self.max_depth,
            level_epsilon=half / self.max_depth,
            leaf_epsilon=half,
            weighs=self.mechanism == WEIGHTS,
            is_sound=self.variant == "sound",
        )

    def _bind_grower(self, table):
        if table.is_continuous.all():
            raise ParameterError("DPGDFClassifier leaves numbers out, and needs a nominal column: this domain has none")
        return partial(grow_tree, self._make_plan())

    def _ledger_and_faults(self, table) -> tuple[Event, tuple[Fault, ...]]:
        plan = self._make_plan()
        levels = min(plan.max_depth, int(table.n_codes[~table.is_continuous].sum()))  # a path has each split once
        split = Spent(self.mechanism, "category against the rest", plan.level_epsilon, mean_gini_sensitivity(1.0))
        leaf = Spent("permute_and_flip, monotone", "label of a leaf", plan.leaf_epsilon, 1.0)
        if not plan.is_sound:
            leaf = Unpaid("label of a leaf, with a sensitivity of its rows")
        tree = Sequential("tree", (Sequential("split level", (split,), levels), leaf))
        return self._compose_trees(tree, table), () if plan.is_sound else (DPGDF_SENSITIVITY_OF_A_LEAF,)
