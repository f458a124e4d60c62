"""DiffPRFs, with the s: private random forests with continuous features (Mu, Ding, Song, Lu, 2016), after paper 2.

It is the descendant of DiffPRF, without the s, which stands in ``diffprf.py``.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from algorithms.accounting import faults
from algorithms.accounting.events import Event, Sequential, Spent, Unpaid
from algorithms.accounting.faults import Fault
from algorithms.forests.engine.candidates import (
    below_scores,
    by_value_score,
    class_counts,
    count_by_code,
    draw_features,
    public_split,
    public_splits,
)
from algorithms.forests.engine.depth import (
    Reach,
    after_count,
    average_children,
    count_cost,
    count_rows,
    left_over,
    stack_levels,
)
from algorithms.forests.engine.intervals import LENGTH, NO_SPLIT, Split, draw_interval
from algorithms.forests.engine.lazy import GrownOnDemand, is_left_to_key, leave_to_key, public_cuts
from algorithms.forests.engine.scores import CODES, score_sensitivity
from algorithms.forests.engine.tree import BELOW, plant_tree, split_by_kind, take_nodes, unused_features
from algorithms.forests.forest import BinsWhereSound, PrivateForestClassifier, TwoVariants, draw_label, label_leaf
from algorithms.mechanisms import exponential, laplace
from algorithms.native import compiled
from algorithms.parameters import ParameterError, check_choice, parameter, with_parameters


class DiffPRFsPlan(NamedTuple):
    """What one tree may spend and how it splits."""

    max_depth: int
    max_features: int
    count_epsilon: np.ndarray  #: float64 (max_depth + 1,): half of each level
    split_epsilon: np.ndarray  #: the other half, as for a leaf
    leaf_epsilon: np.ndarray
    score: int
    sensitivity: float
    stops_below_noise: bool


class SoundPlan(NamedTuple):
    """What one tree of the sound variant may spend and how it splits."""

    max_depth: int
    reach: Reach
    max_features: int
    split_epsilon: (
        np.ndarray
    )  #: float64 (max_depth + 1, max_depth + 1): row i is for a tree of i levels, level by level
    leaf_epsilon: np.ndarray  #: the same of a leaf: all that the splits above it have left
    score: int
    sensitivity: float


@compiled
def grow_as_printed(plan, table, rows, rng):
    """Grow one tree: noisy count, stop if it is small, else cut the continuous features and draw a feature."""
    growth = plant_tree(table, rows)
    n_features = table.codes.shape[0]
    i = 0
    while i < len(growth.nodes):
        counts = class_counts(growth, i)
        node = growth.nodes[i]
        node.noisy_count = laplace(counts.sum(), 1.0, plan.count_epsilon[node.depth], rng)
        node.epsilon += plan.count_epsilon[node.depth]
        split = NO_SPLIT
        if node.depth < plan.max_depth and node.noisy_count > 0:  # no other node is large: half of those without rows
            unused = unused_features(growth, i, n_features)
            if unused.shape[0] > 0 and is_large(node, table, unused, plan):
                features = draw_features(unused, plan.max_features, rng)
                split = draw_feature(growth, table, i, features, counts, plan, rng)
        if split.feature < 0:
            label_leaf(growth, i, counts, plan.leaf_epsilon[growth.nodes[i].depth], rng)
        else:
            split_by_kind(growth, table, i, split.feature, split.code, split.cut)
        i += 1
    return take_nodes(growth)


def is_large(node, table, unused, plan):
    """Tell whether a class count of a child would stand out of its noise: N / (v c) > sqrt(2) / epsilon.

    v is the largest number of children that an unused feature gives. The text has a node stop at "<", which differs
    only without noise: there a node without records is a leaf, too. Under the other reading N > 0 is enough.
    """
    if not plan.stops_below_noise:
        return node.noisy_count > 0
    n_children = np.where(table.is_continuous, 2, table.n_codes)[unused].max()
    return node.noisy_count / (n_children * table.n_classes) > np.sqrt(2.0) / plan.count_epsilon[node.depth]


def draw_feature(growth, table, i, features, totals, plan, rng):
    """Draw a cut for each continuous feature, then one of all features, both by the exponential mechanism."""
    n_features = features.shape[0]
    share = plan.split_epsilon[growth.nodes[i].depth] / (table.is_continuous[features].sum() + 1)
    score, sensitivity = plan.score, plan.sensitivity
    has_rows = totals.sum() > 0  # without rows, no nominal feature scores above 0
    quality, measure, cuts = np.zeros(n_features), np.ones(n_features), np.zeros(n_features)
    codes = np.zeros(n_features, dtype=np.int64)
    for j in range(n_features):
        if table.is_continuous[features[j]]:
            alone = features[j : j + 1]
            split = draw_interval(growth, table, i, alone, totals, score, sensitivity, share, LENGTH, rng)
            quality[j], codes[j], cuts[j] = split.score, split.code, split.cut
            measure[j] = split.feature >= 0  # a feature with one value in the node cannot be drawn
        elif has_rows:
            quality[j] = by_value_score(score, count_by_code(growth, table, i, features[j]))
    if measure.sum() == 0:
        return NO_SPLIT
    j = exponential(quality, measure, sensitivity, share, rng, False)
    growth.nodes[i].epsilon += share
    return Split(quality[j], features[j], BELOW, codes[j], cuts[j])


@compiled
def grow_sound(plan, table, rows, rng):
    """Grow one tree with every step paid: public cuts, no stop but the last level, and no count in its nodes."""
    growth = plant_tree(table, rows)
    n_features = table.codes.shape[0]
    levels = count_rows(growth, plan.reach, rng)
    split_epsilon, leaf_epsilon = plan.split_epsilon[levels], plan.leaf_epsilon[levels]
    i = 0
    while i < len(growth.nodes):
        counts = class_counts(growth, i)
        node = growth.nodes[i]
        unused = unused_features(growth, i, n_features)
        if node.depth == levels or unused.shape[0] == 0:
            draw_label(growth, i, counts, leaf_epsilon[node.depth], rng)
        elif is_left_to_key(growth, counts, rng):
            # Without rows all scores are equal: what lies below is drawn when somebody asks, see ``engine.lazy``.
            leave_to_key(node, levels - node.depth, leaf_epsilon[node.depth], rng)
        else:
            features = draw_features(unused, plan.max_features, rng)
            split = draw_public_split(growth, table, i, features, counts, plan, split_epsilon[node.depth], rng)
            split_by_kind(growth, table, i, split.feature, split.code, split.cut)
        i += 1
    return take_nodes(growth)


def draw_public_split(growth, table, i, features, totals, plan, epsilon, rng):
    """Draw one of the features, a continuous one with a public cut, by one exponential mechanism.

    The cuts of a feature share a measure of 1, so that no feature comes more often for having more of them.
    """
    ends = public_splits(table, features)
    quality, measure = np.empty(ends[-1]), np.ones(ends[-1])
    for j, feature in enumerate(features):
        counts = count_by_code(growth, table, i, feature)
        if table.is_continuous[feature]:
            quality[ends[j] : ends[j + 1]] = below_scores(plan.score, counts, totals)
            measure[ends[j] : ends[j + 1]] = 1.0 / (ends[j + 1] - ends[j])
        else:
            quality[ends[j]] = by_value_score(plan.score, counts)
    growth.nodes[i].epsilon += epsilon
    drawn = exponential(quality, measure, plan.sensitivity, epsilon, rng, True)
    feature, code = public_split(features, ends, drawn)
    return Split(quality[drawn], feature, BELOW, code, float(code))


@with_parameters
class DiffPRFsClassifier(TwoVariants, BinsWhereSound, GrownOnDemand, PrivateForestClassifier):
    """DiffPRFs, a private random forest that takes continuous features without binning them.

    Parameters
    ----------
    max_depth : int
        Depth d at which growing stops, at least 1; the sound variant may stop before.
    max_features : int or None
        Features drawn at each node, from 1 to the number of features; None is the square root of their number,
        rounded up.
    criterion : {None, "information_gain", "max", "gini"}
        Split score: DiffPRFs-IG, DiffPRFs-Max, or the count-weighted Gini index. None is information gain for the
        paper's variant and the max operator for the sound one, which refuses information gain: one record may change
        it by the logarithm of the number of rows, and that number is private.
    stop_below : {"noise", "zero"}
        A node is a leaf if its noisy count, shared out to the classes of its children, is below the noise (as printed:
        with a small budget this makes the root a leaf, and the forest predicts the largest class), or only if the
        noisy count is not positive.

    Notes
    -----
    Every tree gets B / T, every level B / (T (d + 1)): half for the noisy count of the node, half for its split or its
    leaf. With n continuous features among the drawn ones, each of the n cuts and the choice of the feature get a share
    of 1 / (n + 1). A nominal feature makes a child for every category and is used up; a continuous one makes two and
    may come back.

    Privacy: the epsilon-differential privacy claimed for the printed algorithm does not hold: rows are drawn with
    replacement, and cuts lie between values of the rows. ``privacy_`` lists the faults. With the max operator or Gini
    and without continuous features, the accounted epsilon is finite.

    Variant "sound" is epsilon-differentially private. Each tree counts its rows with noise and takes as many levels as
    they last, at most d, see ``engine.depth``; a count in every node, as printed, costs half of every
    level and was worth less. The rest of the budget is divided over the levels, a leaf has all that the splits above
    it have left. One exponential mechanism chooses among the drawn features and the public cuts of continuous ones,
    permute-and-flip draws the labels, both without the 2 in their exponent: an added record lowers no count and no
    score of the max operator, and raises none of Gini. Below a node without rows all choices are equally good; it is
    not grown, its key stands for what would be drawn there. Predictions are those of the full tree. Such a tree
    shows where there are no rows and is not to be published; in a release the full one is grown.

    The original text was not available; the rule is what paper 2 and DiffPRF (Patil & Singh, 2014) say of it.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1))), Nominal("y", ("no", "yes")))
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 25, ["no", "no", "yes", "yes"] * 25
    >>> forest = DiffPRFsClassifier(epsilon=200.0, max_depth=2, n_estimators=3, domain=domain, random_state=0).fit(X, y)
    >>> forest.predict([[0, 1], [1, 0]])
    array(['no', 'yes'], dtype='<U3')
    >>> sound = DiffPRFsClassifier(epsilon=9.0, variant="sound", domain=domain, random_state=0).fit(X, y)
    >>> sound.privacy_.keeps_claim
    True
    """

    n_estimators = 25
    max_features: int | None = parameter(None)
    criterion: str | None = parameter(None, check_choice, choices=(None, *CODES))
    stop_below: str = parameter("noise", check_choice, choices=("noise", "zero"), is_reading=True)

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        super().check_parameters(n_features)
        if self.variant == "sound" and self._split_criterion() == "information_gain":
            raise ParameterError(
                "criterion must be 'max' or 'gini' in the sound variant, since the sensitivity of information gain "
                "depends on the number of rows, which is private"
            )

    def _split_criterion(self) -> str:
        return self.criterion or ("information_gain" if self.variant == "paper" else "max")

    def _make_plan(self, table) -> DiffPRFsPlan:
        n_features, n_rows = table.codes.shape
        score = CODES[self._split_criterion()]
        half = self._tree_epsilon() * self._level_shares(self.max_depth) / 2
        return DiffPRFsPlan(
            max_depth=self.max_depth,
            max_features=self.max_features or math.ceil(math.sqrt(n_features)),
            count_epsilon=half,
            split_epsilon=half,
            leaf_epsilon=half,
            score=score,
            sensitivity=score_sensitivity(score, n_rows),
            stops_below_noise=self.stop_below == "noise",
        )

    def _sound_plan(self, table) -> SoundPlan:
        """Divide what the count of the rows leaves; a leaf has what the splits above it have left."""
        reach = Reach(self._tree_epsilon(), self._average_children(), self.max_depth)
        epsilon = after_count(reach)
        splits = [epsilon * self._level_shares(levels) for levels in range(self.max_depth + 1)]
        split_epsilon, leaf_epsilon = stack_levels([(split, left_over(epsilon, split)) for split in splits])
        return SoundPlan(
            max_depth=self.max_depth,
            reach=reach,
            max_features=self.max_features or math.ceil(math.sqrt(table.codes.shape[0])),
            split_epsilon=split_epsilon,
            leaf_epsilon=leaf_epsilon,
            score=CODES[self._split_criterion()],
            sensitivity=score_sensitivity(CODES[self._split_criterion()], 0),
        )

    def _bind_grower(self, table):
        if self.variant == "paper":
            return partial(grow_as_printed, self._make_plan(table))
        self.n_cuts_ = public_cuts(table)
        return partial(grow_sound, self._sound_plan(table))

    def _average_children(self) -> float:
        return average_children(self.domain_)

    def _level_shares(self, levels: int) -> np.ndarray:
        """Return the part of a tree's budget that each level has, the root first: float64 array (levels + 1,)."""
        return np.full(levels + 1, 1 / (levels + 1))

    def _sound_tree(self, plan: SoundPlan) -> Event:
        """Return what a sound tree of the full depth costs; one of fewer levels costs as much, in larger parts."""
        splits = [
            Spent("exponential, monotone", f"feature, or cut, at level {depth}", epsilon, plan.sensitivity)
            for depth, epsilon in enumerate(plan.split_epsilon[-1, :-1])
        ]
        leaf = Spent("permute_and_flip, monotone", "label of a leaf", plan.leaf_epsilon[-1, -1], 1.0)
        return Sequential("tree", (count_cost(plan.reach), *splits, leaf))

    def _ledger_and_faults(self, table) -> tuple[Event, tuple[Fault, ...]]:
        if self.variant == "sound":
            return self._compose_trees(self._sound_tree(self._sound_plan(table)), table), ()
        plan = self._make_plan(table)
        present, unpaid = [], []
        if self._sampling_rule() == "bootstrap":
            present.append(faults.DIFFPRFS_BOOTSTRAP)
        if table.is_continuous.any():
            present.append(faults.DIFFPRFS_INTERVAL_ENDS)
            unpaid.append(Unpaid("smallest and largest value present, between which cuts are drawn"))
        if self._split_criterion() == "information_gain":
            present.append(faults.DIFFPRFS_SENSITIVITY_FROM_ROWS)
            unpaid.append(Unpaid("number of rows, which sets the sensitivity of information gain"))
        levels = []
        for depth in range(self.max_depth + 1):
            count = Spent("laplace", "number of records of a node", plan.count_epsilon[depth], 1.0)
            what = "cuts of continuous features and the feature" if table.is_continuous.any() else "feature"
            split = Spent("exponential", what, plan.split_epsilon[depth], plan.sensitivity)
            leaf = Spent("laplace", "class counts of a leaf", plan.leaf_epsilon[depth], 1.0)
            last = depth == self.max_depth
            levels.append(Sequential("leaf level" if last else f"level {depth}", (count, leaf if last else split)))
        return self._compose_trees(Sequential("tree", (*levels, *unpaid)), table), tuple(present)
