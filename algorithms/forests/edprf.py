"""eDPRF: permute-and-flip forests (Wang, Qiu, Zhao, Zou, Wang; Journal of Software 2025 36(7)), and its tree pfDPDT."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from algorithms.accounting.events import Event, Sequential, Spent, Unpaid
from algorithms.accounting.faults import EDPRF_BOOTSTRAP, PFDPDT_EXACT_PURITY, Fault
from algorithms.base import PaperOrSound
from algorithms.forests.engine.candidates import by_value_score, class_counts, count_by_code, is_pure
from algorithms.forests.engine.depth import (
    Reach,
    after_count,
    average_children,
    count_cost,
    count_rows,
    left_over,
    stack_levels,
)
from algorithms.forests.engine.lazy import GrownOnDemand, is_left_to_key, leave_to_key, public_cuts
from algorithms.forests.engine.scores import GINI, score_sensitivity
from algorithms.forests.engine.tree import plant_tree, split_by_value, take_nodes, unused_features
from algorithms.forests.forest import ManyTrees, NominalColumns, OneTree, PrivateForestClassifier, label_leaf
from algorithms.mechanisms import exponential, permute_and_flip
from algorithms.native import compiled
from algorithms.parameters import ParameterError, check_choice, parameter, with_parameters


class PFDPDTPlan(NamedTuple):
    """What one tree may spend and how it chooses."""

    max_depth: int  #: levels of nodes, the root being the first
    reach: Reach  #: how deep a sound tree may be, and its budget
    split_epsilon: (
        np.ndarray
    )  # float64 (max_depth, max_depth): row i is for a tree of i levels of splits, level by level
    leaf_epsilon: np.ndarray  #: the same of a leaf: all that its path has left
    split_flips: bool  #: permute-and-flip chooses the feature, else the exponential mechanism
    leaf_flips: bool  #: permute-and-flip chooses the label, else Laplace noise on the class counts
    count_share: float  #: share of a leaf's budget that pays for its noisy class counts
    is_sound: bool  #: no exact test of purity; scores are drawn by as monotone ones


@compiled
def grow_tree(plan, table, rows, rng):
    """Grow one tree, pfDPDT."""
    growth = plant_tree(table, rows)
    levels = count_rows(growth, plan.reach, rng) if plan.is_sound else plan.max_depth - 1
    split_epsilon, leaf_epsilon = plan.split_epsilon[levels], plan.leaf_epsilon[levels]
    i = 0
    while i < len(growth.nodes):
        counts = class_counts(growth, i)
        node = growth.nodes[i]
        unused = unused_features(growth, i, table.codes.shape[0])
        is_last = unused.shape[0] == 0 or node.depth == levels
        node.exact = not is_last and not plan.is_sound  # whether one label only is left is read without noise
        if is_last or (not plan.is_sound and is_pure(counts)):
            draw_label(growth, i, counts, plan, leaf_epsilon[node.depth], rng)
        elif is_left_to_key(growth, counts, rng):
            # Without rows all scores are equal: what lies below is drawn when somebody asks, see ``engine.lazy``.
            leave_to_key(node, levels - node.depth, leaf_epsilon[node.depth], rng)
        else:
            feature = draw_feature(growth, table, i, unused, plan, split_epsilon[node.depth], rng)
            split_by_value(growth, table, i, feature)
        i += 1
    return take_nodes(growth)


def draw_feature(growth, table, i, unused, plan, epsilon, rng):
    """Draw one of all unused features by its Gini score."""
    quality = np.array([by_value_score(GINI, count_by_code(growth, table, i, feature)) for feature in unused])
    growth.nodes[i].epsilon += epsilon
    if plan.split_flips:
        return unused[permute_and_flip(quality, 2.0, epsilon, rng, plan.is_sound)]
    return unused[exponential(quality, np.ones(unused.shape[0]), 2.0, epsilon, rng, plan.is_sound)]


def draw_label(growth, i, counts, plan, epsilon, rng):
    """Draw the label of a leaf by its class counts; its budget is all that its path has left."""
    node = growth.nodes[i]
    if plan.leaf_flips:
        node.label = permute_and_flip(counts, 1.0, epsilon, rng, plan.is_sound)
        node.epsilon += epsilon
    else:
        label_leaf(growth, i, counts, plan.count_share * epsilon, rng)


def level_budgets(epsilon: float, max_depth: int, level_budget: str = "harmonic") -> tuple[np.ndarray, np.ndarray]:
    """Divide the budget of a tree over its levels: equations (17) and (18).

    Parameters
    ----------
    epsilon : float
        Budget of the tree, in (0, inf].
    max_depth : int
        Levels of nodes, the root being the first.
    level_budget : {"harmonic", "uniform"}
        "uniform" gives every level the same instead of equation (17).

    Returns
    -------
    split_epsilon, leaf_epsilon : float64 arrays of shape (max_depth,)
        What a split costs at each level, in proportion to 1 / (max_depth - i + 1) for level i = 1, ..., max_depth; and
        what a leaf has there: all that the splits above it have left.

    Examples
    --------
    >>> split, leaf = level_budgets(1.0, 3)
    >>> split.round(2), leaf.round(2)
    (array([0.18, 0.27, 0.55]), array([1.  , 0.82, 0.55]))
    """
    shares = 1 / np.arange(max_depth, 0, -1) if level_budget == "harmonic" else np.ones(max_depth)
    split = epsilon * shares / shares.sum()
    return split, left_over(epsilon, split)


@with_parameters
class PFDPDTClassifier(PaperOrSound, OneTree, GrownOnDemand, NominalColumns, PrivateForestClassifier):
    """pfDPDT, one decision tree whose splits and labels are chosen by permute-and-flip.

    Parameters
    ----------
    max_depth : int
        treeDepth, the number of levels of nodes with the root being the first, at least 1 (a leaf); the sound variant
        may take fewer.
    split : {"permute_and_flip", "exponential"}
        Mechanism that chooses the feature; "exponential" is that of the "tradition" trees of the ablation.
    leaf : {"permute_and_flip", "noisy_counts"}
        Mechanism that chooses a label; "noisy_counts" (Laplace noise on the class counts) is that of the "tradition".
    level_budget : {"harmonic", "uniform"}
        How the budget of a tree is divided over its levels: as equation 17 says, or evenly, which is a reading of the
        "tradition". The sound variant has no readings.
    count_share : {"all", "half", "by_class"}
        What the noisy counts of a leaf's classes get of its budget: all of it; half, the other half standing for a
        noisy number of the node's rows that decides nothing here; or, for each count, one part in as many as there are
        classes. The last two are readings of the "tradition", and only for noisy counts.

    Attributes
    ----------
    plan_ : Plan
        The depth of the trees, and the budget of each of their levels.

    Notes
    -----
    Level i of treeDepth spends epsilon / (treeDepth - i + 1), divided by the sum of these, on a split; a leaf has all
    that is left (eq. 17 and 18), so that every path costs epsilon. All unused features are candidates, scored by the
    count-weighted Gini index (sensitivity 2); a split makes a child for every public category, or bin, and uses the
    feature up. Labels are scored by their counts (sensitivity 1).

    Privacy: variant "paper" is **not** differentially private: whether a node holds one label only is read without
    noise. (The text makes children only for the values seen, too; here they come from the public domain.) With
    ``sampling="bootstrap"`` a record may be drawn twice. Variant "sound" has no such test: each tree
    counts its rows with noise and takes as many levels as they last, at most treeDepth, see ``engine.depth``. Its
    two choices go without the 2 in their exponent: an added record raises no Gini score and lowers no count. Below a
    node without rows every feature and every label is equally good, whatever the depth: such a node is not grown, its
    key stands for all that would be drawn there. Predictions are those of the full tree. Such a tree shows where there
    are no rows and is not to be published; in a release the full one is grown.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1))), Nominal("y", ("no", "yes")))
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 25, ["no", "no", "yes", "yes"] * 25
    >>> tree = PFDPDTClassifier(epsilon=5.0, max_depth=2, variant="sound", domain=domain, random_state=0).fit(X, y)
    >>> tree.predict([[0, 1], [1, 0]])
    array(['no', 'yes'], dtype='<U3')
    >>> tree.privacy_.keeps_claim, tree.privacy_.accounted_epsilon
    (True, 5.0)
    """

    split: str = parameter("permute_and_flip", check_choice, choices=("permute_and_flip", "exponential"))
    leaf: str = parameter("permute_and_flip", check_choice, choices=("permute_and_flip", "noisy_counts"))
    level_budget: str = parameter("harmonic", check_choice, choices=("harmonic", "uniform"), is_reading=True)
    count_share: str = parameter("all", check_choice, choices=("all", "half", "by_class"), is_reading=True)

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        super().check_parameters(n_features)
        if self.count_share != "all" and self.leaf != "noisy_counts":
            raise ParameterError(f"count_share={self.count_share!r} is for leaf='noisy_counts', got leaf={self.leaf!r}")

    def _tree_epsilon(self) -> float:
        """Return what one tree may spend."""
        return float(self.epsilon)

    def _bind_grower(self, table):
        is_sound = self.variant == "sound"
        reach = Reach(self._tree_epsilon(), average_children(self.domain_, self.n_bins), self.max_depth - 1)
        epsilon = after_count(reach) if is_sound else reach.epsilon
        self.n_cuts_ = public_cuts(table)
        self.plan_ = PFDPDTPlan(
            self.max_depth,
            reach,
            *stack_levels([level_budgets(epsilon, n + 1, self.level_budget) for n in range(self.max_depth)]),
            split_flips=self.split == "permute_and_flip",
            leaf_flips=self.leaf == "permute_and_flip",
            count_share={"all": 1.0, "half": 0.5, "by_class": 1 / table.n_classes}[self.count_share],
            is_sound=is_sound,
        )
        return partial(grow_tree, self.plan_)

    def _ledger_and_faults(self, table) -> tuple[Event, tuple[Fault, ...]]:
        plan = self.plan_
        *levels, last = range(self.max_depth)
        split_epsilon, leaf_epsilon = plan.split_epsilon[last], plan.leaf_epsilon[last]
        how = ", monotone" if plan.is_sound else ""
        splits = [
            Spent(self.split + how, f"feature at level {level + 1}", split_epsilon[level], score_sensitivity(GINI, 0))
            for level in levels
        ]
        spent = plan.count_share * leaf_epsilon[last]
        leaf = Spent(self.leaf + (how if plan.leaf_flips else ""), "label of a leaf", spent, 1.0)
        if plan.is_sound:
            return self._compose_trees(Sequential("longest path", (count_cost(plan.reach), *splits, leaf)), table), ()
        unpaid = Unpaid("whether a node holds one label only")
        return self._compose_trees(Sequential("longest path", (*splits, leaf, unpaid)), table), (PFDPDT_EXACT_PURITY,)


@with_parameters
class EDPRFClassifier(ManyTrees, PFDPDTClassifier):
    """eDPRF, a forest of pfDPDT trees on disjoint parts of the rows, each with the whole budget.

    Parameters
    ----------
    epsilon : float
        Budget of the forest and of each tree, from 1e-100 to 1e100; inf grows the noise-free forest.
    sampling : {"disjoint", "all", "bootstrap"}
        Rows of a tree. Trees on disjoint rows spend epsilon each; those on all rows, or on as many drawn with
        replacement, share it. "bootstrap" is a reading of the "tradition": a forest as it was before this paper. The
        sound variant refuses it.

    Notes
    -----
    Every record goes to a tree that is drawn without looking at it, so that the trees' costs do not add up
    (Theorem 4); the trees vote. For the rest see `PFDPDTClassifier`.

    Privacy: variant "paper" is **not** differentially private: whether a node holds one label only is read without
    noise. Variant "sound" is, with pure epsilon, for one record added or removed, given a public domain;
    `PFDPDTClassifier` says why.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1))), Nominal("y", ("no", "yes")))
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 25, ["no", "no", "yes", "yes"] * 25
    >>> forest = EDPRFClassifier(epsilon=5.0, n_estimators=3, max_depth=2, domain=domain, random_state=0)
    >>> forest.fit(X, y).predict([[0, 1], [1, 0]])
    array(['no', 'yes'], dtype='<U3')
    """

    sampling: str = parameter("disjoint", comes_last=True)

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        super().check_parameters(n_features)
        allowed = ("disjoint", "all") + (("bootstrap",) if self.variant == "paper" else ())
        check_choice("sampling", self.sampling, allowed)

    def _sampling_rule(self) -> str:
        return self.sampling

    def _tree_epsilon(self) -> float:
        return float(self.epsilon) / (1 if self.sampling == "disjoint" else self.n_estimators)

    def _ledger_and_faults(self, table) -> tuple[Event, tuple[Fault, ...]]:
        ledger, faults = super()._ledger_and_faults(table)
        return ledger, (*faults, EDPRF_BOOTSTRAP) if self.sampling == "bootstrap" else faults
