"""DiffPETs: extremely randomised trees with noise (Li, Chen, Xie; Computer Engineering 2020 46(2))."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from algorithms.accounting import faults
from algorithms.accounting.events import Event, Sequential, Spent, Unpaid
from algorithms.accounting.faults import Fault
from algorithms.forests.engine.candidates import (
    class_counts,
    count_within,
    draw_below,
    draw_features,
    draw_present_code,
    is_pure,
    split_score,
    sum_targets,
    sum_within,
)
from algorithms.forests.engine.depth import Reach, after_count, count_cost, count_rows
from algorithms.forests.engine.intervals import Split
from algorithms.forests.engine.scores import (
    CODES,
    GINI,
    SSE_SENSITIVITY,
    score_sensitivity,
    squared_error_score,
)
from algorithms.forests.engine.tree import BELOW, EQUALS, plant_tree, rows_of, split_in_two, take_nodes
from algorithms.forests.forest import (
    PrivateForestClassifier,
    PrivateForestRegressor,
    TwoVariants,
    draw_label,
    label_leaf,
)
from algorithms.mechanisms import exponential, laplace, laplace_vector
from algorithms.native import compiled
from algorithms.parameters import check_choice, check_number, parameter, with_parameters

NUMBERS_OF_FEATURES = {"sqrt": math.isqrt, "half": lambda n_features: max(n_features // 2, 1), "all": int}
"""Readings of K, which is not printed: what it is for a number of features."""

VALUE, RECORD, PUBLIC = 0, 1, 2
CUTS = {"value": VALUE, "record": RECORD}

COUNTS, DRAWN, RATIO, MEAN, PARTS = range(5)
"""What a leaf has noise on. Classes: each class count, or, sound, the choice of the label. Numbers: the sum and the
number of the targets, or their mean, or, sound, the sums of y and of 1 - y, to which a record adds 1 together."""


class DiffPETsPlan(NamedTuple):
    """What one tree may spend, how it splits and what its leaves hold."""

    max_depth: int  #: levels of splits
    reach: Reach  #: how deep a sound tree may be, and its budget
    max_features: int  #: K
    epsilon: float  #: of each mechanism in a node
    leaf_epsilon: float
    sensitivity: float  #: of the split score
    monotone: bool  #: the score is drawn by as one that an added record never raises
    cut: int  #: VALUE, RECORD or PUBLIC: where cuts come from
    is_regression: bool
    score: int  #: classes: a code of ``scores``
    mean_variance: bool  #: regression: the score is the mean squared error instead of the sum
    leaf: int  #: COUNTS, DRAWN, RATIO, MEAN or PARTS
    error_threshold: float  #: regression: mean squared error up to which a node is a leaf


@compiled
def grow_as_printed(plan, table, rows, rng):
    """Grow one tree as printed: Algorithm 2."""
    growth = plant_tree(table, rows)
    all_features = np.arange(table.codes.shape[0])
    i = 0
    while i < len(growth.nodes):
        node = growth.nodes[i]
        node.exact = node.depth < plan.max_depth  # the stop condition and the values present are read without noise
        node.noisy_count = laplace(float(rows_of(growth, i).shape[0]), 1.0, plan.epsilon, rng)
        node.epsilon += plan.epsilon
        if node.depth == plan.max_depth or is_settled(growth, table.targets, i, plan):  # line 1
            finish_leaf(growth, table.targets, i, plan, plan.leaf_epsilon, rng)  # line 2
        else:
            features = draw_features(all_features, plan.max_features, rng)  # line 4
            split = draw_split(growth, table, i, features, plan, plan.epsilon, rng)  # lines 5 and 6
            split_in_two(growth, table, i, split.feature, split.decides, split.code, split.cut)  # line 7
        i += 1
    return take_nodes(growth)


@compiled
def grow_sound(plan, table, rows, rng):
    """Grow one tree with every step paid: public cuts, no stop but the depth."""
    growth = plant_tree(table, rows)
    all_features = np.arange(table.codes.shape[0])
    levels = count_rows(growth, plan.reach, rng)
    epsilon = after_count(plan.reach) / (levels + 1)
    i = 0
    while i < len(growth.nodes):
        if growth.nodes[i].depth == levels:
            finish_leaf(growth, table.targets, i, plan, epsilon, rng)
        else:
            features = draw_features(all_features, plan.max_features, rng)
            split = draw_split(growth, table, i, features, plan, epsilon, rng)
            split_in_two(growth, table, i, split.feature, split.decides, split.code, split.cut)
        i += 1
    return take_nodes(growth)


def is_settled(growth, targets, i, plan):
    """Tell whether a node need not be split: one class only, or little error. Reads the rows exactly."""
    if not plan.is_regression:
        return is_pure(class_counts(growth, i))
    n = rows_of(growth, i).shape[0]
    total, squares = sum_targets(growth, targets, i)
    mean = total / n if n > 0 else 0.0
    return n == 0 or squares / n - mean * mean <= plan.error_threshold + 1e-12  # equal targets leave rounding


def draw_split(growth, table, i, features, plan, epsilon, rng):
    """Draw one random cut for each feature, then one of these splits by the exponential mechanism."""
    n = features.shape[0]
    quality, cuts, codes, counts = np.empty(n), np.empty(n), np.empty(n, dtype=np.int64), class_counts(growth, i)
    total, squares = sum_targets(growth, table.targets, i) if plan.is_regression else (0.0, 0.0)
    for j, feature in enumerate(features):
        if plan.cut == RECORD:
            codes[j] = draw_code_of_record(growth, table, i, feature, rng)
            cuts[j] = table.levels[table.first_level[feature] + codes[j]]
        else:
            codes[j], cuts[j] = draw_cut(growth, table, i, feature, plan.cut, rng)
        lowest = 0 if table.is_continuous[feature] else codes[j]
        if plan.is_regression:
            n_left, sum_left = sum_within(growth, table, i, feature, lowest, codes[j])
            quality[j] = squared_error_score(counts[0], total, n_left, sum_left, squares)
            quality[j] /= counts[0] if plan.mean_variance and counts[0] > 0 else 1
        else:
            left = count_within(growth, table, i, feature, lowest, codes[j])
            quality[j] = split_score(plan.score, left, counts)
    j = exponential(quality, np.ones(n), plan.sensitivity, epsilon, rng, plan.monotone)
    growth.nodes[i].epsilon += epsilon
    return Split(quality[j], features[j], BELOW if table.is_continuous[features[j]] else EQUALS, codes[j], cuts[j])


def draw_code_of_record(growth, table, i, feature, rng):
    """Draw a record of node ``i``; returns its code of a feature."""
    rows = rows_of(growth, i)
    return table.codes[feature, rows[draw_below(rows.shape[0], rng)]]


def draw_cut(growth, table, i, feature, where, rng):
    """Draw a cut of a feature: a value that the node holds, or any of the public range.

    Returns the largest code on the left (the only one, for a nominal feature) and the value that raw values are
    compared with.
    """
    first = table.first_level[feature]
    levels = table.levels[first : first + table.n_codes[feature]]
    if where == PUBLIC and table.is_continuous[feature]:
        cut = table.lower[feature] + rng.random() * table.width[feature]
        return np.searchsorted(levels, cut, side="right") - 1, cut
    if where == PUBLIC:
        code = draw_below(table.n_codes[feature], rng)
    else:
        code = draw_present_code(growth, table, i, feature, rng)
    return code, levels[code]


def finish_leaf(growth, targets, i, plan, epsilon, rng):
    """Make a node a leaf: the largest noisy class count, or a noisy mean."""
    if not plan.is_regression:
        counts = class_counts(growth, i)
        if plan.leaf == DRAWN:
            draw_label(growth, i, counts, epsilon, rng)
        else:
            label_leaf(growth, i, counts, epsilon, rng)
        return
    n = rows_of(growth, i).shape[0]
    total, _ = sum_targets(growth, targets, i)
    node = growth.nodes[i]
    node.epsilon += epsilon
    if plan.leaf == MEAN:
        value = laplace(total / n if n > 0 else 0.5, 2.0, epsilon, rng)
    elif plan.leaf == PARTS:
        sums = np.array([total, n - total])
        below, above = laplace_vector(sums, 1.0, epsilon, rng)
        value = below / (below + above) if below + above > 0 else 0.5
    else:
        noisy_sum = laplace(total, 1.0, epsilon / 2, rng)
        noisy_n = laplace(float(n), 1.0, epsilon / 2, rng)
        value = noisy_sum / noisy_n if noisy_n != 0 else 0.5
    node.value = min(max(value, 0.0), 1.0)


@with_parameters
class _DiffPETs(TwoVariants):
    """What the classifier and the regressor share: dividing the budget, and what it was spent on.

    Parameters
    ----------
    n_estimators : int
        Number of trees t, at least 1.
    max_depth : int
        Height h of a tree, at least 1 (the paper takes half the number of features).
    max_features : int, {"sqrt", "half", "all"} or None
        Number K of features drawn at each node, not printed: from 1 to the number of features; or its square root, its
        half, both rounded down, or all of it. None is "sqrt" for classes and "all" for numbers, as usual for extremely
        randomised trees.
    levels : {"with_root", "below_root"}
        Reading of the height: h levels of nodes, the root being the first, as printed (it is built with h = 1, and
        Algorithm 2 stops at h); or h levels of splits with the leaves below them, which fits the h + 1 shares.
    share_of : {"mechanism", "level"}
        Reading of the share epsilon_2: what each of a level's two mechanisms gets, as in Algorithm 2, line 6; or what
        the two share, as section 2.2 may be understood.
    cut : {"value", "record"}
        Reading of "a random value of a feature": each value that the node holds has the same chance, or each of its
        records, so that frequent values come more often.
    """

    max_features: int | str | None = parameter(None)
    levels: str = parameter("with_root", check_choice, choices=("with_root", "below_root"), is_reading=True)
    share_of: str = parameter("mechanism", check_choice, choices=("mechanism", "level"), is_reading=True)
    cut: str = parameter("value", check_choice, choices=CUTS, is_reading=True)
    leaf: str

    def check_max_features(self, n_features: int) -> None:
        """Raise ``ParameterError`` unless it is a number of features, the name of one, or None."""
        if self.max_features not in NUMBERS_OF_FEATURES:
            super().check_max_features(n_features)

    def _count_features(self, n_features: int, usual: str) -> int:
        """Return K; None is what is ``usual`` for extremely randomised trees."""
        wanted = self.max_features or usual
        return NUMBERS_OF_FEATURES[wanted](n_features) if wanted in NUMBERS_OF_FEATURES else int(wanted)

    def _levels_of_splits(self) -> int:
        return self.max_depth - (self.levels == "with_root")

    def _mechanism_epsilon(self) -> float:
        """Divide the budget: Algorithm 1, lines 1 and 2."""
        share = self._tree_epsilon() / (2 * (self.max_depth + 1))
        return share / 2 if self.share_of == "level" else share

    def _make_reach(self) -> Reach:
        return Reach(self._tree_epsilon(), 2.0, self.max_depth)

    def _bind_grower(self, table):
        plan = self._make_plan(table)
        if self.variant == "paper":
            return partial(grow_as_printed, plan)
        leaf, least = PARTS if plan.is_regression else DRAWN, self._least_sensitivity(0)
        return partial(grow_sound, plan._replace(sensitivity=least, monotone=True, cut=PUBLIC, leaf=leaf))

    def _ledger_and_faults(self, table) -> tuple[Event, tuple[Fault, ...]]:
        plan = self._make_plan(table)
        if self.variant == "sound":
            return self._compose_trees(self._sound_tree(plan), table), ()
        split = self._split_cost(plan, len(table.labels))
        leaf = self._leaf_cost(plan)
        count = Spent("laplace", "number of records of a node", plan.epsilon, 1.0)
        unpaid = Unpaid("stop condition, and the values present that cuts are drawn from")
        level = Sequential("split level", (count, split, unpaid), plan.max_depth)
        tree = Sequential("tree", (level, Sequential("leaf level", (count, *leaf))))
        return self._compose_trees(tree, table), self._faults()

    def _split_cost(self, plan: DiffPETsPlan, n_rows: int) -> Spent:
        """Return what the choice of a split costs: more than it is told, if the sensitivity it is told is too small."""
        too_small = max(self._least_sensitivity(n_rows) / plan.sensitivity, 1.0)
        return Spent("exponential", "one of K random cuts", plan.epsilon * too_small, plan.sensitivity * too_small)

    def _sound_tree(self, plan: DiffPETsPlan) -> Event:
        """Return what a sound tree of the full height costs; one of fewer levels costs as much, in larger parts."""
        per_level = after_count(plan.reach) / (plan.reach.most + 1)
        split = Spent("exponential, monotone", "one of K random cuts", per_level, self._least_sensitivity(0))
        mechanism, what = (
            ("laplace", "sums of y and 1 - y in a leaf")
            if plan.is_regression
            else ("permute_and_flip, monotone", "label of a leaf")
        )
        leaf = Spent(mechanism, what, per_level, 1.0)
        splits = Sequential("split level", (split,), plan.reach.most)
        return Sequential("tree", (count_cost(plan.reach), splits, leaf))

    def _faults(self) -> tuple[Fault, ...]:
        present = [faults.DIFFPETS_EXACT_STOP, faults.DIFFPETS_CUTS_FROM_ROWS, faults.DIFFPETS_UNUSED_COUNT]
        if self._sampling_rule() == "bootstrap":
            present.append(faults.DIFFPETS_BOOTSTRAP)
        if self.leaf == "count":
            present.append(faults.DIFFPETS_EXACT_LEAVES)
        return tuple(present)


@with_parameters
class DiffPETsClassifier(_DiffPETs, PrivateForestClassifier):
    """DiffPETs for classes, a forest of extremely randomised trees that claims epsilon-differential privacy.

    Parameters
    ----------
    leaf : {"count", "class_counts"}
        Reading of "N = Noise(|D|)", Algorithm 2, line 2: Laplace noise on the number of records of a leaf only, as
        printed, so that its label is the exact majority; or on every class count.
    criterion : {"gini", "information_gain"}
        Split score. The paper sets information gain aside for its sensitivity (section 2.3.1).
    gain_sensitivity : {"natural", "binary"}
        Sensitivity of information gain in bits for n records: ln(n + 1) + 1 / ln 2 as printed, which is too small, or
        log2(n + 1) + 1 / ln 2. Only information gain has it.

    Notes
    -----
    A tree gets B / t and a mechanism B / (2 t (h + 1)): each node pays for its number of records, and for its split; or
    for its class counts, if leaves have noise on these. A cut is a value that occurs in the node, each with the same
    chance: "value against the rest" for a nominal feature, "at most the value" for a continuous one. The score is the
    count-weighted Gini index (eq. 5).

    Privacy: variant "paper" is **not** differentially private (the stop condition, the values to cut at and, as
    printed, the labels of leaves are read from the rows without noise, and rows repeat); ``privacy_`` lists its
    faults. Variant "sound" is, with pure epsilon: each tree counts its rows with noise and takes as many levels as they
    last, at most h, see ``engine.depth``; cuts are drawn from the public ranges, every node is split down to the last
    level, and permute-and-flip draws the labels. An added record never raises the score and never lowers a class count,
    so that both selections go without the 2 in their exponent.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1))), Nominal("y", ("no", "yes")))
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 25, ["no", "no", "yes", "yes"] * 25
    >>> forest = DiffPETsClassifier(epsilon=50.0, max_depth=2, max_features=2, variant="sound", n_estimators=3,
    ...                             domain=domain, random_state=0).fit(X, y)
    >>> forest.predict([[0, 1], [1, 0]])
    array(['no', 'yes'], dtype='<U3')
    >>> forest.privacy_.keeps_claim, forest.privacy_.accounted_epsilon
    (True, 50.0)
    """

    leaf: str = parameter("count", check_choice, choices=("count", "class_counts"), is_reading=True)
    criterion: str = parameter("gini", check_choice, choices=("gini", "information_gain"), is_reading=True)
    gain_sensitivity: str = parameter("natural", check_choice, choices=("natural", "binary"), is_reading=True)

    def _make_plan(self, table) -> DiffPETsPlan:
        epsilon = self._mechanism_epsilon()
        return DiffPETsPlan(
            max_depth=self._levels_of_splits(),
            reach=self._make_reach(),
            max_features=self._count_features(len(table.codes), "sqrt"),
            epsilon=epsilon,
            leaf_epsilon=epsilon if self.leaf == "class_counts" else math.inf,
            sensitivity=self._printed_sensitivity(len(table.labels)),
            monotone=False,
            cut=CUTS[self.cut],
            is_regression=False,
            score=CODES[self.criterion],
            mean_variance=False,
            leaf=COUNTS,
            error_threshold=0.0,
        )

    def _printed_sensitivity(self, n_rows: int) -> float:
        """Return the sensitivity that the exponential mechanism is told (section 2.3.1)."""
        if self.criterion == "information_gain" and self.gain_sensitivity == "natural":
            return math.log(n_rows + 1) + 1 / math.log(2)
        return self._least_sensitivity(n_rows)

    def _least_sensitivity(self, n_rows: int) -> float:
        return score_sensitivity(CODES[self.criterion], n_rows)

    def _faults(self) -> tuple[Fault, ...]:
        if self.criterion != "information_gain":
            return super()._faults()
        too_small = (faults.DIFFPETS_GAIN_SENSITIVITY,) if self.gain_sensitivity == "natural" else ()
        return (*super()._faults(), faults.DIFFPETS_SENSITIVITY_FROM_ROWS, *too_small)

    def _leaf_cost(self, plan: DiffPETsPlan) -> tuple[Event, ...]:
        if self.leaf == "count":
            return (Unpaid("majority class of a leaf"),)
        return (Spent("laplace", "class counts of a leaf", plan.leaf_epsilon, 1.0),)


@with_parameters
class DiffPETsRegressor(_DiffPETs, PrivateForestRegressor):
    """DiffPETs for numbers, a forest of extremely randomised trees that claims epsilon-differential privacy.

    Parameters
    ----------
    leaf : {"sum_and_count", "mean"}
        Reading of "the sensitivity of the mean is 2" (section 2.3.2): sum and number of a leaf's targets "get noise
        each", of half the budget since they have sensitivity 1 each and 2 together, and are divided; or the exact mean
        gets noise of scale 2 / epsilon. Both are clipped to the bounds.
    criterion : {"sum", "mean"}
        Reading of "variance" as the score of a split: the squared errors around the means of the two sides, summed, or
        divided by the number of records as in eq. (7). The mean of records in [0, 1] is so small beside the printed
        sensitivity that the choice is then all but even.
    variance_sensitivity : float
        Sensitivity that the exponential mechanism is told, above 0: 2 as printed (section 2.3.3); 1 is enough for the
        sum.
    error_threshold : float
        Mean squared error, at least 0, of the target scaled to [0, 1], up to which a node is a leaf; not printed.

    Notes
    -----
    Budget and cuts are those of `DiffPETsClassifier`. The target is scaled to [0, 1] by its declared bounds in
    both variants (the text does not say by which); a leaf without records predicts the middle. The sound variant tells
    the exponential mechanism the sensitivity 1, which is that of the summed squared errors. Its leaves hold the sums of
    y and of 1 - y with Laplace noise; a record of target y moves them by y + (1 - y) = 1 together: both for one
    epsilon.

    Privacy: variant "paper" is **not** differentially private; ``privacy_`` lists its faults. Variant "sound" is, with
    pure epsilon, for one record added or removed, given a public domain; `DiffPETsClassifier` says why.

    Examples
    --------
    >>> from algorithms import Continuous, Domain
    >>> domain = Domain((Continuous("x", 0, 1),), Continuous("y", 0, 10))
    >>> X, y = [[0.1], [0.9]] * 50, [2.0, 8.0] * 50
    >>> forest = DiffPETsRegressor(epsilon=float("inf"), max_depth=9, domain=domain, random_state=0).fit(X, y)
    >>> forest.predict([[0.1], [0.9]])
    array([2., 8.])
    """

    leaf: str = parameter("sum_and_count", check_choice, choices=("sum_and_count", "mean"), is_reading=True)
    criterion: str = parameter("sum", check_choice, choices=("sum", "mean"), is_reading=True)
    variance_sensitivity: float = parameter(2.0, check_number, above=0, is_reading=True)
    error_threshold: float = parameter(0.0, check_number, lowest=0, is_reading=True)

    def _make_plan(self, table) -> DiffPETsPlan:
        epsilon = self._mechanism_epsilon()
        return DiffPETsPlan(
            max_depth=self._levels_of_splits(),
            reach=self._make_reach(),
            max_features=self._count_features(len(table.codes), "all"),
            epsilon=epsilon,
            leaf_epsilon=epsilon,
            sensitivity=float(self.variance_sensitivity),
            monotone=False,
            cut=CUTS[self.cut],
            is_regression=True,
            score=GINI,  # of no classes
            mean_variance=self.criterion == "mean",
            leaf=MEAN if self.leaf == "mean" else RATIO,
            error_threshold=float(self.error_threshold),
        )

    def _least_sensitivity(self, n_rows: int) -> float:
        return SSE_SENSITIVITY

    def _leaf_cost(self, plan: DiffPETsPlan) -> tuple[Event, ...]:
        if self.leaf == "mean":
            return (Spent("laplace", "mean of a leaf", plan.leaf_epsilon, 2.0),)
        half = plan.leaf_epsilon / 2
        return (
            Spent("laplace", "sum of the targets of a leaf", half, 1.0),
            Spent("laplace", "number of records of a leaf", half, 1.0),
        )
