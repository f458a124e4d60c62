"""eDPRF: permute-and-flip forests (Wang, Qiu, Zhao, Zou, Wang; Journal of Software 2025 36(7)), and its tree pfDPDT."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from algorithms.accounting.events import Event, Sequential, Spent, Unpaid
from algorithms.accounting.faults import EDPRF_BOOTSTRAP, PFDPDT_EXACT_PURITY, Fault
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
from algorithms.forests.forest import NominalColumns, PrivateForestClassifier, label_leaf
from algorithms.jit import compiled, inlined, uncounted
from algorithms.mechanisms import exponential, permute_and_flip
from algorithms.parameters import check_choice, check_readings


class PFDPDTPlan(NamedTuple):
    """What one tree may spend and how it chooses."""

    max_depth: int  # levels of nodes, the root being the first
    reach: Reach  # how deep a sound tree may be, and its budget
    split_epsilon: (
        np.ndarray
    )  # float64 (max_depth, max_depth): row i is for a tree of i levels of splits, level by level
    leaf_epsilon: np.ndarray  # the same of a leaf: all that its path has left
    split_flips: bool  # permute-and-flip chooses the feature, else the exponential mechanism
    leaf_flips: bool  # permute-and-flip chooses the label, else Laplace noise on the class counts
    is_sound: bool  # no exact test of purity; scores are drawn by as monotone ones


@compiled
def grow_tree(plan, table, rows, rng):
    """Grow one tree, pfDPDT."""
    table, rows, rng = uncounted((table, rows, rng))
    growth = plant_tree(table, rows)
    levels = count_rows(growth, plan.reach, rng) if plan.is_sound else plan.max_depth - 1
    split_epsilon, leaf_epsilon = plan.split_epsilon[levels], plan.leaf_epsilon[levels]
    i = 0
    while i < growth.n_nodes[0]:
        tree = uncounted(growth)
        counts = class_counts(tree, i)
        node = tree.nodes[i]
        unused = unused_features(tree, i, table.codes.shape[0])
        is_last = unused.shape[0] == 0 or node.depth == levels
        node.exact = not is_last and not plan.is_sound  # whether one label only is left is read without noise
        if is_last or (not plan.is_sound and is_pure(counts)):
            draw_label(tree, i, counts, plan, leaf_epsilon[node.depth], rng)
        elif is_left_to_key(tree, counts, rng):
            # Without rows all scores are equal: what lies below is drawn when somebody asks, see ``forests.keys``.
            leave_to_key(node, levels - node.depth, leaf_epsilon[node.depth], rng)
        else:
            feature = draw_feature(tree, table, i, unused, plan, split_epsilon[node.depth], rng)
            growth = split_by_value(growth, table, i, feature)
        i += 1
    return take_nodes(growth)


@inlined
def draw_feature(growth, table, i, unused, plan, epsilon, rng):
    """Draw one of all unused features by its Gini score."""
    quality = np.empty(unused.shape[0])
    for j in range(unused.shape[0]):
        quality[j] = by_value_score(GINI, count_by_code(growth, table, i, unused[j]))
    growth.nodes[i].epsilon += epsilon
    if plan.split_flips:
        return unused[permute_and_flip(quality, 2.0, epsilon, rng, plan.is_sound)]
    return unused[exponential(quality, np.ones(unused.shape[0]), 2.0, epsilon, rng, plan.is_sound)]


@inlined
def draw_label(growth, i, counts, plan, epsilon, rng):
    """Draw the label of a leaf by its class counts, with all the budget that its path has left."""
    node = growth.nodes[i]
    if plan.leaf_flips:
        node.label = permute_and_flip(counts, 1.0, epsilon, rng, plan.is_sound)
        node.epsilon += epsilon
    else:
        label_leaf(growth, i, counts, epsilon, rng)


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


class PFDPDTClassifier(GrownOnDemand, NominalColumns, PrivateForestClassifier):
    """pfDPDT, one decision tree whose splits and labels are chosen by permute-and-flip.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget of the tree, in (0, inf]; inf grows the noise-free tree.
    max_depth : int, default=5
        treeDepth, the number of levels of nodes with the root being the first, at least 1 (a leaf); the sound variant
        may take fewer.
    variant : {"paper", "sound"}, default="paper"
        "paper" is the algorithm as printed, faults included; "sound" is epsilon-differentially private for one record
        added or removed, given a public domain.
    split : {"permute_and_flip", "exponential"}, default="permute_and_flip"
        Mechanism that chooses the feature; "exponential" is that of the "tradition" trees of the ablation.
    leaf : {"permute_and_flip", "noisy_counts"}, default="permute_and_flip"
        Mechanism that chooses a label; "noisy_counts" (Laplace noise on the class counts) is that of the "tradition".
    level_budget : {"harmonic", "uniform"}, default="harmonic"
        How the budget of a tree is divided over its levels: as equation 17 says, or evenly, which is a reading of the
        "tradition". The sound variant has no readings.
    n_bins : int, default=5
        Public equal-width bins of a continuous column, at least 2.
    domain : Domain or None, default=None
        Public description of the columns and classes; None infers it from the rows, warns, and is not private.
    noise : {"numpy", "opendp"}, default="numpy"
        What draws the noise: "opendp" is for a release, see ``algorithms.opendp_noise``.
    random_state : int, RandomState or None, default=None
        Source of all randomness; in a release, of what may be public alone.

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

    READINGS: ClassVar = {"level_budget": "harmonic"}
    n_estimators, n_jobs = 1, None

    def __init__(
        self,
        epsilon=1.0,
        *,
        max_depth=5,
        variant="paper",
        split="permute_and_flip",
        leaf="permute_and_flip",
        level_budget="harmonic",
        n_bins=5,
        domain=None,
        noise="numpy",
        random_state=None,
    ):
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.variant = variant
        self.split = split
        self.leaf = leaf
        self.level_budget = level_budget
        self.n_bins = n_bins
        self.domain = domain
        self.noise = noise
        self.random_state = random_state

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        super().check_parameters(n_features)
        check_choice("split", self.split, ("permute_and_flip", "exponential"))
        check_choice("leaf", self.leaf, ("permute_and_flip", "noisy_counts"))
        check_choice("level_budget", self.level_budget, ("harmonic", "uniform"))
        if check_choice("variant", self.variant, ("paper", "sound")) == "sound":
            check_readings(self, self.READINGS)

    def _sampling_rule(self) -> str:
        return "all"

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
        leaf = Spent(self.leaf + (how if plan.leaf_flips else ""), "label of a leaf", leaf_epsilon[last], 1.0)
        if plan.is_sound:
            return self._compose_trees(Sequential("longest path", (count_cost(plan.reach), *splits, leaf)), table), ()
        unpaid = Unpaid("whether a node holds one label only")
        return self._compose_trees(Sequential("longest path", (*splits, leaf, unpaid)), table), (PFDPDT_EXACT_PURITY,)


class EDPRFClassifier(PFDPDTClassifier):
    """eDPRF, a forest of pfDPDT trees on disjoint parts of the rows, each with the whole budget.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget of the forest and of each tree, in (0, inf]; inf grows the noise-free forest.
    n_estimators : int, default=10
        Number of trees T, at least 1.
    max_depth : int, default=5
        treeDepth, the number of levels of nodes with the root being the first, at least 1.
    variant : {"paper", "sound"}, default="paper"
        As in `PFDPDTClassifier`.
    split : {"permute_and_flip", "exponential"}, default="permute_and_flip"
        As in `PFDPDTClassifier`.
    leaf : {"permute_and_flip", "noisy_counts"}, default="permute_and_flip"
        As in `PFDPDTClassifier`.
    level_budget : {"harmonic", "uniform"}, default="harmonic"
        As in `PFDPDTClassifier`.
    sampling : {"disjoint", "all", "bootstrap"}, default="disjoint"
        Rows of a tree. Trees on disjoint rows spend epsilon each; those on all rows, or on as many drawn with
        replacement, share it. "bootstrap" is a reading of the "tradition": a forest as it was before this paper. The
        sound variant refuses it.
    n_bins : int, default=5
        Public equal-width bins of a continuous column, at least 2.
    domain : Domain or None, default=None
        Public description of the columns and classes; None infers it from the rows, warns, and is not private.
    n_jobs : int or None, default=None
        Threads that grow trees.
    noise : {"numpy", "opendp"}, default="numpy"
        What draws the noise: "opendp" is for a release, see ``algorithms.opendp_noise``.
    random_state : int, RandomState or None, default=None
        Source of all randomness; in a release, of what may be public alone.

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
    >>> forest = EDPRFClassifier(epsilon=5.0, n_estimators=3, max_depth=2, domain=domain, random_state=0).fit(X, y)
    >>> forest.predict([[0, 1], [1, 0]])
    array(['no', 'yes'], dtype='<U3')
    """

    def __init__(
        self,
        epsilon=1.0,
        *,
        n_estimators=10,
        max_depth=5,
        variant="paper",
        split="permute_and_flip",
        leaf="permute_and_flip",
        level_budget="harmonic",
        sampling="disjoint",
        n_bins=5,
        domain=None,
        n_jobs=None,
        noise="numpy",
        random_state=None,
    ):
        super().__init__(
            epsilon,
            max_depth=max_depth,
            variant=variant,
            split=split,
            leaf=leaf,
            level_budget=level_budget,
            n_bins=n_bins,
            domain=domain,
            noise=noise,
            random_state=random_state,
        )
        self.n_estimators = n_estimators
        self.sampling = sampling
        self.n_jobs = n_jobs

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        allowed = ("disjoint", "all") + (("bootstrap",) if self.variant == "paper" else ())
        check_choice("sampling", self.sampling, allowed)
        super().check_parameters(n_features)

    def _sampling_rule(self) -> str:
        return self.sampling

    def _tree_epsilon(self) -> float:
        return float(self.epsilon) / (1 if self.sampling == "disjoint" else self.n_estimators)

    def _ledger_and_faults(self, table) -> tuple[Event, tuple[Fault, ...]]:
        ledger, faults = super()._ledger_and_faults(table)
        return ledger, (*faults, EDPRF_BOOTSTRAP) if self.sampling == "bootstrap" else faults
