"""RFDPP-Gini: random forests of CART trees with noise (Li, Chen, Liu, An, Li, Li; Computer Engineering 2020 46(1))."""

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
    best_groups,
    by_value_score,
    class_counts,
    count_by_code,
    divides_rows,
    draw_features,
    equals_scores,
    is_pure,
    public_split,
    sum_by_class,
)
from algorithms.forests.engine.depth import Reach, after_count, count_cost, count_rows
from algorithms.forests.engine.intervals import NO_SPLIT, WEIGHTS, Split, draw_interval
from algorithms.forests.engine.predictor import add_values
from algorithms.forests.engine.scores import CODES, GINI, score_sensitivity, side_score
from algorithms.forests.engine.tree import (
    AMONG,
    BELOW,
    BY_VALUE,
    EQUALS,
    add_up,
    plant_tree,
    split_by_value,
    split_in_two,
    take_nodes,
    unused_features,
)
from algorithms.forests.forest import (
    BinsWhereSound,
    PrivateForestClassifier,
    TwoVariants,
    check_two_groups,
    draw_label,
    label_leaf,
)
from algorithms.mechanisms import exponential, laplace, laplace_vector
from algorithms.native import compiled
from algorithms.parameters import ParameterError, check_choice, check_number, parameter, with_parameters

LEAVES = ("noisy_counts", "whole_budget", "exact")
NOMINAL_SPLITS = {"one_vs_rest": None, "per_value": BY_VALUE, "two_groups": AMONG}
ON_COUNTS, ON_SCORES = 1, 2
NOMINAL_NOISE = {"none": None, "counts": ON_COUNTS, "gini": ON_SCORES}


class RFDPPGiniPlan(NamedTuple):
    """What one tree may spend and how it splits."""

    max_depth: int
    reach: Reach  #: how deep a sound tree may be, and its budget
    max_features: int
    count_epsilon: float
    split_epsilon: float
    leaf_epsilon: float
    score: int
    sensitivity: float
    one_draw: bool  #: one exponential mechanism over the intervals of all continuous features together
    two_calls: bool  #: a second exponential mechanism, over the features, takes the place of the comparison
    weight: int  #: of an interval
    nominal_split: int | None  #: how a split by a nominal feature decides; None sends one value left
    nominal_noise: int | None
    min_gini: float | None  #: below, a node is a leaf
    min_samples: float  #: the same of its noisy count
    keeps_shares: bool  #: leaves say the share of the second class, besides a label


@compiled
def grow_as_printed(plan, table, rows, rng):
    """Grow one tree as printed: Algorithm 3, step 3."""
    growth = plant_tree(table, rows)
    i = 0
    while i < len(growth.nodes):
        counts = class_counts(growth, i)
        node = growth.nodes[i]
        split = NO_SPLIT
        if node.depth < plan.max_depth:
            node.exact = True  # purity, and by the reading nominal splits and the last comparison, see no noise
            if not is_pure_enough(counts, plan.min_gini):
                node.noisy_count = laplace(counts.sum(), 1.0, plan.count_epsilon, rng)  # (2)
                node.epsilon += plan.count_epsilon
                if node.noisy_count >= plan.min_samples:
                    split = best_split(growth, table, i, counts, plan, rng)
        if split.feature < 0:
            end_in_leaf(growth, i, counts, plan, rng)  # (1)
        elif split.decides == BY_VALUE:
            split_by_value(growth, table, i, split.feature)
        else:
            split_in_two(growth, table, i, split.feature, split.decides, split.code, split.cut)
        i += 1
    return take_nodes(growth)


def is_pure_enough(counts, min_gini):
    """Tell whether at most one class is present or, by the reading that has a least Gini index, it is below."""
    if min_gini is None:
        return is_pure(counts)
    return is_pure(counts) or -side_score(GINI, counts) < min_gini * counts.sum()


def end_in_leaf(growth, i, counts, plan, rng):
    """Label a leaf; where trees average their shares, it says that of the second class, too."""
    noisy = label_leaf(growth, i, counts, plan.leaf_epsilon, rng)
    if plan.keeps_shares:
        first, second = max(noisy[0], 0.0), max(noisy[1], 0.0)
        growth.nodes[i].value = second / (first + second) if first + second > 0 else 0.5


def best_split(growth, table, i, totals, plan, rng):
    """Draw features and take their best split: steps (3) to (6)."""
    left = unused_features(growth, i, table.codes.shape[0])  # all, unless values have children of their own
    features = draw_features(left, plan.max_features, rng)  # (3)
    continuous, nominal = features_of_kind(table, features, True), features_of_kind(table, features, False)
    share = plan.split_epsilon / (continuous.shape[0] + 1)  # one is kept for the nominal features
    if plan.two_calls:
        return draw_feature(growth, table, i, continuous, nominal, totals, share, plan, rng)
    best = best_continuous(growth, table, i, continuous, totals, share, plan, rng)
    return best_nominal(growth, table, i, nominal, best, share, plan, rng)


def features_of_kind(table, features, is_continuous):
    """Return those of some features that are continuous, or those that are not."""
    return features[table.is_continuous[features] == is_continuous]


def draw_feature(growth, table, i, continuous, nominal, totals, epsilon, plan, rng):
    """Draw one of the features by a second exponential mechanism, as DiffP-C4.5 and DiffPRFs do.

    A continuous feature stands there with the cut that the first one drew, a nominal one with its best split, which is
    found without noise as in step (6). What step (5) keeps for the nominal features pays.
    """
    splits = draw_cuts(growth, table, i, continuous, totals, epsilon, plan, rng)
    for j in range(nominal.shape[0]):
        splits.append(best_nominal(growth, table, i, nominal[j : j + 1], NO_SPLIT, epsilon, plan, rng))
    splits = [split for split in splits if split.feature >= 0]
    if not splits:
        return NO_SPLIT
    quality = np.array([split.score for split in splits])
    growth.nodes[i].epsilon += epsilon
    return splits[exponential(quality, np.ones(quality.shape[0]), plan.sensitivity, epsilon, rng, False)]


def best_continuous(growth, table, i, features, totals, epsilon, plan, rng):
    """Draw a cut of the continuous features by the exponential mechanism over intervals: step (5)."""
    best = NO_SPLIT
    for split in draw_cuts(growth, table, i, features, totals, epsilon, plan, rng):
        if split.score > best.score:
            best = split
    return best


def draw_cuts(growth, table, i, features, totals, epsilon, plan, rng):
    """Draw a cut of all continuous features together, or one of each."""
    cuts = []
    score, sensitivity = plan.score, plan.sensitivity
    n_together = max(features.shape[0], 1) if plan.one_draw else 1
    for j in range(0, features.shape[0], n_together):
        some = features[j : j + n_together]
        cuts.append(draw_interval(growth, table, i, some, totals, score, sensitivity, epsilon, plan.weight, rng))
    return cuts


def best_nominal(growth, table, i, features, best, epsilon, plan, rng):
    """Take the best split of the nominal features if it beats the best so far: step (6).

    With noise, all public splits of all features compete, those with an empty side too, and epsilon pays for all of
    them. Noisy class counts of one feature are disjoint (sensitivity 1), those of several share epsilon. Of noisy
    scores only the best is told, and an added record moves all of them one way: a noisy maximum, which needs noise for
    one score only (Dwork and Roth, 2014, section 3.3).
    """
    is_paid = plan.nominal_noise is not None  # then the rows are not looked at again
    if is_paid and features.shape[0] > 0:
        growth.nodes[i].epsilon += epsilon
    for feature in features:
        counts = count_by_code(growth, table, i, feature).astype(np.float64)
        counts = noisy_counts(counts, plan.nominal_noise, epsilon / features.shape[0], rng)
        decides, scores, codes = nominal_scores(counts, plan.score, plan.nominal_split)
        scores = noisy_scores(scores, plan.nominal_noise, plan.sensitivity, epsilon, rng)
        for j in range(scores.shape[0]):
            if scores[j] > best.score and (is_paid or divides_rows(counts, decides, codes[j])):
                best = Split(scores[j], feature, decides, codes[j], float(codes[j]))
    return best


def noisy_counts(counts, nominal_noise, epsilon, rng):
    """Return the records by code and class, with noise by the reading that has it here."""
    return add_noise(counts, epsilon, rng) if nominal_noise == ON_COUNTS else counts


def noisy_scores(scores, nominal_noise, sensitivity, epsilon, rng):
    """Return the scores of splits, with noise by the reading that has it here."""
    return laplace_vector(scores, sensitivity, epsilon, rng) if nominal_noise == ON_SCORES else scores


def add_noise(counts, epsilon, rng):
    """Add noise to the records by code and class; what falls below 0 is 0."""
    return np.maximum([laplace_vector(of_code, 1.0, epsilon, rng) for of_code in counts], 0.0)


def nominal_scores(counts, score, nominal_split):
    """Score the splits of a nominal feature from its records by code and class.

    Returns
    -------
    decides : int
        How a node decides by them.
    scores : float64 array of shape (splits,)
    codes : int64 array of shape (splits,)
        The value on the left, the sum of 2^j over the values j there, or 0 where every value has a child.
    """
    if nominal_split is None:
        return EQUALS, equals_scores(score, counts, sum_by_class(counts)), np.arange(counts.shape[0])
    best, code = (by_value_score(score, counts), 0) if nominal_split == BY_VALUE else best_groups(score, counts)
    return nominal_split, np.array([best]), np.array([code])


@compiled
def grow_sound(plan, table, rows, rng):
    """Grow one tree with every step paid: one exponential mechanism over all public cuts, no purity test."""
    growth = plant_tree(table, rows)
    all_features = np.arange(table.codes.shape[0])
    levels = count_rows(growth, plan.reach, rng)
    epsilon = after_count(plan.reach) / (levels + 1)
    i = 0
    while i < len(growth.nodes):
        counts = class_counts(growth, i)
        node = growth.nodes[i]
        if node.depth == levels:
            draw_label(growth, i, counts, epsilon, rng)
        else:
            features = draw_features(all_features, plan.max_features, rng)
            split = draw_public_cut(growth, table, i, features, counts, epsilon, rng)
            node.epsilon += epsilon
            split_in_two(growth, table, i, split.feature, split.decides, split.code, split.cut)
        i += 1
    return take_nodes(growth)


def draw_public_cut(growth, table, i, features, totals, epsilon, rng):
    """Draw one of all (feature, public cut) pairs of some features by the exponential mechanism."""
    ends = add_up(table.n_codes[features] - table.is_continuous[features])
    quality = np.empty(ends[-1])
    for j, feature in enumerate(features):
        counts = count_by_code(growth, table, i, feature)
        score_splits = below_scores if table.is_continuous[feature] else equals_scores
        quality[ends[j] : ends[j + 1]] = score_splits(GINI, counts, totals)
    drawn = exponential(quality, np.ones(ends[-1]), 2.0, epsilon, rng, True)
    feature, code = public_split(features, ends, drawn)
    return Split(quality[drawn], feature, BELOW if table.is_continuous[feature] else EQUALS, code, float(code))


@with_parameters
class RFDPPGiniClassifier(TwoVariants, BinsWhereSound, PrivateForestClassifier):
    """RFDPP-Gini, a forest of CART trees that claims epsilon-differential privacy.

    Parameters
    ----------
    max_depth : int
        Depth d at which growing stops, at least 1; the sound variant may stop before.
    max_features : int or None
        Number m of features drawn at each node, from 1 to the number of features; None is the base-2 logarithm of the
        number of features, rounded up (Algorithm 2).
    criterion : {"gini", "information_gain", "max"}
        What splits are scored by; the others are what section 5 compares the Gini index with.
    nominal_split : {"one_vs_rest", "per_value", "two_groups"}
        Reading of a split by a nominal feature: a value against the rest (sections 2.3 and 2.4, Algorithm 1, two
        children in Algorithm 3); a child for each value, which uses the feature up (Algorithm 2, step 3); or two groups
        of values, as CART makes them elsewhere, of columns of at most 53 categories.
    nominal_noise : {"none", "counts", "gini"}
        Reading of how nominal features are chosen: without noise, as step (6) says; or with Laplace noise, as sections
        1, 3.2.1 and 5 say, on class counts or on Gini indices, from the share that step (5) keeps for them.
    continuous : {"one_draw", "per_feature"}
        Reading of step (5): one exponential mechanism over the intervals of all continuous features, or one for each.
    calls : {"one", "two"}
        How often a node calls the exponential mechanism: once, for the cut of its continuous features, as printed; or
        a second time to draw among all features, each with its cut or its best split, as DiffP-C4.5 and DiffPRFs do
        (section 1), which needs ``nominal_noise="none"``. What step (5) keeps for nominal features pays for it.
    interval_weight : {"length", "relative", "unit"}
        Reading of the size of an interval: its length in the unit of its column; its share of the column's public
        range; or 1 for each.
    min_samples : float or None
        At least 0: a node with a noisy count below is a leaf. Algorithm 1 has such a threshold and gives no number;
        None is none.
    min_gini : float
        A node whose Gini index, read without noise, is below is a leaf, from 0 to 1: Algorithm 1 again.
    tree_budget : {"divided", "whole"}
        Whether the budget is divided by the number of trees, as printed, or each tree spends all of it.
    level_budget : {"divided", "whole"}
        Whether a tree's budget is divided by its levels, as printed, or each level spends all of it.
    leaf : {"noisy_counts", "whole_budget", "exact"}
        Noise on the class counts of a leaf: from the level's half, as printed; from the whole B; or none.
    votes : {"labels", "shares"}
        Whether a tree votes for a class, as printed, or trees average the shares of the classes in their leaves, noise
        included; of two classes only.

    Notes
    -----
    The third stop of Algorithm 3, "budget exhausted", needs no test: d levels of splits and a leaf spend what a tree
    has (section 3.2.1).

    Privacy: variant "paper" is **not** differentially private under any reading (the purity test reads the rows without
    noise, intervals end at values of the rows; by the reading nominal splits and the final comparison have no noise,
    either); ``privacy_`` lists its faults. Variant
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

    n_estimators = 25
    max_features: int | None = parameter(None)
    criterion: str = parameter("gini", check_choice, choices=CODES, is_reading=True)
    nominal_split: str = parameter("one_vs_rest", check_choice, choices=NOMINAL_SPLITS, is_reading=True)
    nominal_noise: str = parameter("none", check_choice, choices=NOMINAL_NOISE, is_reading=True)
    continuous: str = parameter("one_draw", check_choice, choices=("one_draw", "per_feature"), is_reading=True)
    calls: str = parameter("one", check_choice, choices=("one", "two"), is_reading=True)
    interval_weight: str = parameter("length", check_choice, choices=WEIGHTS, is_reading=True)
    min_samples: float | None = parameter(None, check_number, lowest=0, is_reading=True)
    min_gini: float = parameter(0.0, check_number, lowest=0, highest=1, is_reading=True)
    tree_budget: str = parameter("divided", check_choice, choices=("divided", "whole"), is_reading=True)
    level_budget: str = parameter("divided", check_choice, choices=("divided", "whole"), is_reading=True)
    leaf: str = parameter("noisy_counts", check_choice, choices=LEAVES, is_reading=True)
    votes: str = parameter("labels", check_choice, choices=("labels", "shares"), is_reading=True)

    def _make_plan(self, table) -> RFDPPGiniPlan:
        """Divide the budget: section 3.2.1 of the paper."""
        n_features, n_rows = table.codes.shape
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
            score=CODES[self.criterion],
            sensitivity=score_sensitivity(CODES[self.criterion], n_rows),
            one_draw=self.continuous == "one_draw",
            two_calls=self.calls == "two",
            weight=WEIGHTS[self.interval_weight],
            nominal_split=NOMINAL_SPLITS[self.nominal_split],
            nominal_noise=NOMINAL_NOISE[self.nominal_noise],
            min_gini=float(self.min_gini) or None,
            min_samples=-math.inf if self.min_samples is None else float(self.min_samples),
            keeps_shares=self.votes == "shares",
        )

    def predict_proba(self, X) -> np.ndarray:
        """Return the share of trees that vote for each class, or the mean share in their leaves: float64 (n, c)."""
        if self.votes == "labels":
            return super().predict_proba(X)
        matrix = self.read_rows(X)
        second = self._sum_over_trees(matrix, 1, add_values)[:, 0] / len(self.trees_)
        return np.column_stack([1.0 - second, second])

    def _bind_grower(self, table):
        rule = grow_sound if self.variant == "sound" else grow_as_printed
        if self.votes == "shares" and table.n_classes != 2:
            raise ParameterError("votes='shares' is for two classes")
        if self.calls == "two" and self.nominal_noise != "none":
            raise ParameterError("calls='two' draws a nominal feature as it draws any other: set nominal_noise='none'")
        if self.nominal_split == "two_groups":
            check_two_groups(self.domain_, "nominal_split='two_groups'", "nominal_split='one_vs_rest'")
        return partial(rule, self._make_plan(table))

    def _ledger_and_faults(self, table) -> tuple[Event, tuple[Fault, ...]]:
        plan = self._make_plan(table)
        if self.variant == "sound":
            return self._compose_trees(self._sound_tree(plan.reach), table), ()
        leaf = Spent("laplace", "class counts of a leaf", plan.leaf_epsilon, 1.0)
        count = Spent("laplace", "number of records of a node", plan.count_epsilon, 1.0)
        if self._has_exact_splits():
            unpaid = Unpaid(f"purity, nominal splits{'' if plan.two_calls else ' and the final comparison'}")
        else:
            unpaid = Unpaid("purity and the final comparison" if table.is_continuous.any() else "purity")
        level = Sequential("split level", (count, *self._split_costs(plan, table), unpaid), self.max_depth)
        ledger = self._compose_trees(Sequential("tree", (level, leaf)), table)
        return ledger, self._faults(table)

    def _has_exact_splits(self) -> bool:
        """Return whether nominal splits are found without noise: groups are where only their Gini index has noise."""
        return self.nominal_noise == "none" or (self.nominal_noise, self.nominal_split) == ("gini", "two_groups")

    def _split_costs(self, plan: RFDPPGiniPlan, table) -> list[Event]:
        """Return what a split costs: whatever the number n of continuous features drawn, n shares and one more."""
        if self.nominal_noise == "none" or table.is_continuous.all():
            what = "interval or cut, then a feature" if plan.two_calls else "interval or cut"
            return [Spent("exponential", what, plan.split_epsilon, plan.sensitivity)]
        n = min(int(table.is_continuous.sum()), plan.max_features)
        share = plan.split_epsilon / (n + 1)
        on_counts = plan.nominal_noise == ON_COUNTS
        what = "class counts of nominal features" if on_counts else "best score of a nominal split, a noisy maximum"
        nominal = Spent("laplace", what, share, 1.0 if on_counts else plan.sensitivity)
        return [Spent("exponential", "interval or cut", n * share, plan.sensitivity), nominal] if n else [nominal]

    def _sound_tree(self, reach: Reach) -> Event:
        """Return what a sound tree of the full depth costs; one of fewer levels costs as much, in larger parts."""
        per_level = after_count(reach) / (reach.most + 1)
        split = Spent("exponential, monotone", "public cut", per_level, score_sensitivity(GINI, 0))
        leaf = Spent("permute_and_flip, monotone", "label of a leaf", per_level, 1.0)
        return Sequential("tree", (count_cost(reach), Sequential("split level", (split,), reach.most), leaf))

    def _faults(self, table) -> tuple[Fault, ...]:
        present = [faults.RFDPP_EXACT_PURITY]
        if self.calls == "one" and (self._has_exact_splits() or table.is_continuous.any()):
            present.append(faults.RFDPP_EXACT_COMPARISON)
        if self.min_samples is None:
            present.append(faults.RFDPP_UNUSED_COUNT)
        if self.min_gini > 0:
            present.append(faults.RFDPP_EXACT_THRESHOLD)
        if self.criterion == "information_gain":
            present.append(faults.RFDPP_SENSITIVITY_FROM_ROWS)
        if self._sampling_rule() == "bootstrap":
            present.append(faults.RFDPP_BOOTSTRAP)
        if table.is_continuous.any():
            present.append(faults.RFDPP_INTERVAL_ENDS)
        if self._has_exact_splits() and not table.is_continuous.all():
            present.append(faults.RFDPP_EXACT_NOMINAL_SPLITS)
        if self.leaf == "exact":
            present.append(faults.RFDPP_EXACT_LEAVES)
        if self.tree_budget == "whole" or self.level_budget == "whole" or self.leaf == "whole_budget":
            present.append(faults.RFDPP_BUDGET_SPENT_TWICE)
        return tuple(present)
