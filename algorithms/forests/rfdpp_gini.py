"""RFDPP-Gini: random forests of CART trees with noise (Li, Chen, Liu, An, Li, Li; Computer Engineering 2020 46(1))."""

from __future__ import annotations

import math
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from algorithms.accounting import faults
from algorithms.accounting.events import Event, Sequential, Spent, Unpaid
from algorithms.accounting.faults import Fault
from algorithms.forests.engine.candidates import (
    below_scores,
    class_counts,
    count_by_code,
    draw_features,
    equals_scores,
    is_pure,
)
from algorithms.forests.engine.depth import Reach, after_count, count_cost, count_rows
from algorithms.forests.engine.intervals import NO_SPLIT, Split, draw_interval
from algorithms.forests.engine.scores import GINI, score_sensitivity
from algorithms.forests.engine.tree import BELOW, EQUALS, plant_tree, split_in_two, take_nodes
from algorithms.forests.forest import PrivateForestClassifier, TwoVariants, draw_label, label_leaf
from algorithms.jit import compiled
from algorithms.mechanisms import exponential, laplace
from algorithms.parameters import check_choice, check_count


class RFDPPGiniPlan(NamedTuple):
    """What one tree may spend and how it splits."""

    max_depth: int
    reach: Reach  # how deep a sound tree may be, and its budget
    max_features: int
    count_epsilon: float
    split_epsilon: float
    leaf_epsilon: float
    one_draw: bool  # one exponential mechanism over the intervals of all continuous features together
    relative_length: bool  # interval lengths as shares of the public range


@compiled
def grow_as_printed(plan, table, rows, rng):
    """Grow one tree as printed: Algorithm 3, step 3."""
    growth = plant_tree(table, rows)
    all_features = np.arange(table.codes.shape[0])
    i = 0
    while i < growth.n_nodes[0]:
        counts = class_counts(growth, i)
        node = growth.nodes[i]
        split = NO_SPLIT
        if node.depth < plan.max_depth:
            node.exact = True  # purity, nominal splits and the last comparison are decided without noise
            if not is_pure(counts):
                node.noisy_count = laplace(float(counts.sum()), 1.0, plan.count_epsilon, rng)  # (2), never used
                node.epsilon += plan.count_epsilon
                features = draw_features(all_features, plan.max_features, rng)  # (3)
                split = best_continuous(growth, table, i, features[table.is_continuous[features]], counts, plan, rng)
                split = best_nominal(growth, table, i, features[~table.is_continuous[features]], counts, split)
        if split.feature >= 0:
            growth = split_in_two(growth, table, i, split.feature, split.decides, split.code, split.cut)
        else:
            label_leaf(growth, i, counts, plan.leaf_epsilon, rng)  # (1)
        i += 1
    return take_nodes(growth)


@compiled
def best_continuous(growth, table, i, features, totals, plan, rng):
    """Draw a cut of the continuous features by the exponential mechanism over intervals: step (5)."""
    best = NO_SPLIT
    epsilon = plan.split_epsilon / (features.shape[0] + 1)  # one share is kept for the nominal features
    if plan.one_draw:
        return draw_interval(growth, table, i, features, totals, GINI, 2.0, epsilon, plan.relative_length, rng)
    for j in range(features.shape[0]):
        feature = features[j : j + 1]
        split = draw_interval(growth, table, i, feature, totals, GINI, 2.0, epsilon, plan.relative_length, rng)
        if split.score > best.score:
            best = split
    return best


@compiled
def best_nominal(growth, table, i, features, totals, best):
    """Take the best "value against the rest" if it beats the best so far, both exactly: step (6)."""
    n = totals.sum()
    for feature in features:
        counts = count_by_code(growth, table, i, feature)
        scores = equals_scores(GINI, counts, totals)
        for code in range(scores.shape[0]):
            n_equal = counts[code].sum()
            if scores[code] > best.score and 0 < n_equal < n:
                best = Split(scores[code], feature, EQUALS, code, float(code))
    return best


@compiled
def grow_sound(plan, table, rows, rng):
    """Grow one tree with every step paid: one exponential mechanism over all public cuts, no purity test."""
    growth = plant_tree(table, rows)
    all_features = np.arange(table.codes.shape[0])
    levels = count_rows(growth, plan.reach, rng)
    epsilon = after_count(plan.reach) / (levels + 1)
    i = 0
    while i < growth.n_nodes[0]:
        counts = class_counts(growth, i)
        node = growth.nodes[i]
        if node.depth == levels:
            draw_label(growth, i, counts, epsilon, rng)
        else:
            features = draw_features(all_features, plan.max_features, rng)
            split = draw_public_cut(growth, table, i, features, counts, epsilon, rng)
            node.epsilon += epsilon
            growth = split_in_two(growth, table, i, split.feature, split.decides, split.code, split.cut)
        i += 1
    return take_nodes(growth)


@compiled
def draw_public_cut(growth, table, i, features, totals, epsilon, rng):
    """Draw one of all (feature, public cut) pairs of some features by the exponential mechanism."""
    ends = np.zeros(features.shape[0] + 1, dtype=np.int64)
    for j, feature in enumerate(features):
        ends[j + 1] = ends[j] + table.n_codes[feature] - table.is_continuous[feature]
    quality = np.empty(ends[-1])
    for j, feature in enumerate(features):
        counts = count_by_code(growth, table, i, feature)
        if table.is_continuous[feature]:
            quality[ends[j] : ends[j + 1]] = below_scores(GINI, counts, totals)
        else:
            quality[ends[j] : ends[j + 1]] = equals_scores(GINI, counts, totals)
    drawn = exponential(quality, np.ones(ends[-1]), 2.0, epsilon, rng, True)
    j = np.searchsorted(ends, drawn, side="right") - 1
    code = drawn - ends[j]
    decides = BELOW if table.is_continuous[features[j]] else EQUALS
    return Split(quality[drawn], features[j], decides, code, float(code))


class RFDPPGiniClassifier(TwoVariants, PrivateForestClassifier):
    """RFDPP-Gini, a forest of CART trees that claims epsilon-differential privacy.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget B of the whole forest, in (0, inf]; inf grows the noise-free forest.
    n_estimators : int, default=25
        Number of trees T, at least 1.
    max_depth : int, default=5
        Depth d at which growing stops, at least 1; the sound variant may stop before.
    max_features : int or None, default=None
        Number m of features drawn at each node, from 1 to the number of features; None is the base-2 logarithm of the
        number of features, rounded up (Algorithm 2).
    variant : {"paper", "sound"}, default="paper"
        "paper" is the algorithm as printed, faults included; "sound" is epsilon-differentially private for one record
        added or removed, given a public domain.
    domain : Domain or None, default=None
        Public description of the columns and classes; None infers it from the rows, warns, and is not private.
    continuous : {"one_draw", "per_feature"}, default="one_draw"
        Reading of step (5): one exponential mechanism over the intervals of all continuous features, or one for each.
    interval_length : {"raw", "relative"}, default="raw"
        Reading of the size of an interval: in the unit of its column, or as a share of the column's public range.
    tree_budget : {"divided", "whole"}, default="divided"
        Whether the budget is divided by the number of trees, as printed, or each tree spends all of it.
    level_budget : {"divided", "whole"}, default="divided"
        Whether a tree's budget is divided by its levels, as printed, or each level spends all of it.
    leaf : {"noisy_counts", "whole_budget", "exact"}, default="noisy_counts"
        Noise on the class counts of a leaf: from the level's half, as printed; from the whole B; or none.
    sampling : {None, "bootstrap", "disjoint", "all"}, default=None
        Rows of a tree. None is "bootstrap" for the paper's variant and "disjoint" for the sound one. Trees on disjoint
        rows spend B each; those on all rows share it. The sound variant refuses "bootstrap".
    n_bins : int, default=32
        Public equal-width bins of a continuous column in the sound variant, at least 2.
    n_jobs : int or None, default=None
        Threads that grow trees.
    noise : {"numpy", "opendp"}, default="numpy"
        What draws the noise: "opendp" is for a release, see ``algorithms.opendp_noise``.
    random_state : int, RandomState or None, default=None
        Source of all randomness; in a release, of what may be public alone.

    Notes
    -----
    Privacy: variant "paper" is **not** differentially private (nominal splits, the final comparison and the purity
    test read the rows without noise, intervals end at values of the rows); ``privacy_`` lists its faults. Variant
    "sound" is, with pure epsilon: each tree counts its rows with noise and grows as many levels as they last, see
    ``engine.depth``, at most d; each level draws one of all public cuts of its features, and
    permute-and-flip draws the labels. An added record never raises the count-weighted Gini index and never lowers a
    class count, so that both selections go without the 2 in their exponent.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1))), Nominal("y", ("no", "yes")))
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 25, ["no", "no", "yes", "yes"] * 25
    >>> forest = RFDPPGiniClassifier(epsilon=20.0, max_depth=1, max_features=2, variant="sound", n_estimators=3,
    ...                              domain=domain, random_state=0).fit(X, y)
    >>> forest.predict([[0, 1], [1, 0]])
    array(['no', 'yes'], dtype='<U3')
    >>> forest.privacy_.keeps_claim, forest.privacy_.accounted_epsilon
    (True, 20.0)
    """

    READINGS: ClassVar = {
        "continuous": "one_draw",
        "interval_length": "raw",
        "tree_budget": "divided",
        "level_budget": "divided",
        "leaf": "noisy_counts",
    }

    def __init__(
        self,
        epsilon=1.0,
        *,
        n_estimators=25,
        max_depth=5,
        max_features=None,
        variant="paper",
        domain=None,
        continuous="one_draw",
        interval_length="raw",
        tree_budget="divided",
        level_budget="divided",
        leaf="noisy_counts",
        sampling=None,
        n_bins=32,
        n_jobs=None,
        noise="numpy",
        random_state=None,
    ):
        self.epsilon = epsilon
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_features = max_features
        self.variant = variant
        self.domain = domain
        self.continuous = continuous
        self.interval_length = interval_length
        self.tree_budget = tree_budget
        self.level_budget = level_budget
        self.leaf = leaf
        self.sampling = sampling
        self.n_bins = n_bins
        self.n_jobs = n_jobs
        self.noise = noise
        self.random_state = random_state

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        check_choice("continuous", self.continuous, ("one_draw", "per_feature"))
        check_choice("interval_length", self.interval_length, ("raw", "relative"))
        check_choice("tree_budget", self.tree_budget, ("divided", "whole"))
        check_choice("level_budget", self.level_budget, ("divided", "whole"))
        check_choice("leaf", self.leaf, ("noisy_counts", "whole_budget", "exact"))
        check_count("n_bins", self.n_bins, lowest=2)
        super().check_parameters(n_features)

    def _n_bins(self) -> int | None:
        return self.n_bins if self.variant == "sound" else None

    def _make_plan(self, n_features: int) -> RFDPPGiniPlan:
        """Divide the budget: section 3.2.1 of the paper."""
        per_tree = self._tree_epsilon() if self.tree_budget == "divided" else float(self.epsilon)
        per_level = per_tree / (self.max_depth + 1) if self.level_budget == "divided" else per_tree
        half = per_level / 2
        return RFDPPGiniPlan(
            max_depth=self.max_depth,
            reach=Reach(self._tree_epsilon(), 2.0, self.max_depth),
            max_features=self.max_features or max(1, math.ceil(math.log2(n_features))),
            count_epsilon=half,
            split_epsilon=half,
            leaf_epsilon={"noisy_counts": half, "whole_budget": float(self.epsilon)}.get(self.leaf, math.inf),
            one_draw=self.continuous == "one_draw",
            relative_length=self.interval_length == "relative",
        )

    def _bind_grower(self, table):
        rule = grow_sound if self.variant == "sound" else grow_as_printed
        return partial(rule, self._make_plan(table.codes.shape[0]))

    def _ledger_and_faults(self, table) -> tuple[Event, tuple[Fault, ...]]:
        plan = self._make_plan(table.codes.shape[0])
        if self.variant == "sound":
            return self._compose_trees(self._sound_tree(plan.reach), table), ()
        leaf = Spent("laplace", "class counts of a leaf", plan.leaf_epsilon, 1.0)
        split = Spent("exponential", "interval or cut", plan.split_epsilon, score_sensitivity(GINI, 0))
        count = Spent("laplace", "number of records of a node", plan.count_epsilon, 1.0)
        unpaid = Unpaid("purity, nominal splits and the final comparison")
        level = Sequential("split level", (count, split, unpaid), self.max_depth)
        ledger = self._compose_trees(Sequential("tree", (level, leaf)), table)
        return ledger, self._faults(table)

    def _sound_tree(self, reach: Reach) -> Event:
        """Return what a sound tree of the full depth costs; one of fewer levels costs as much, in larger parts."""
        per_level = after_count(reach) / (reach.most + 1)
        split = Spent("exponential, monotone", "public cut", per_level, score_sensitivity(GINI, 0))
        leaf = Spent("permute_and_flip, monotone", "label of a leaf", per_level, 1.0)
        return Sequential("tree", (count_cost(reach), Sequential("split level", (split,), reach.most), leaf))

    def _faults(self, table) -> tuple[Fault, ...]:
        present = [faults.RFDPP_EXACT_PURITY, faults.RFDPP_EXACT_COMPARISON, faults.RFDPP_UNUSED_COUNT]
        if self._sampling_rule() == "bootstrap":
            present.append(faults.RFDPP_BOOTSTRAP)
        if table.is_continuous.any():
            present.append(faults.RFDPP_INTERVAL_ENDS)
        if not table.is_continuous.all():
            present.append(faults.RFDPP_EXACT_NOMINAL_SPLITS)
        if self.leaf == "exact":
            present.append(faults.RFDPP_EXACT_LEAVES)
        if self.tree_budget == "whole" or self.level_budget == "whole" or self.leaf == "whole_budget":
            present.append(faults.RFDPP_BUDGET_SPENT_TWICE)
        return tuple(present)
