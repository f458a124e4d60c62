"""DiffPRFs: private random forests with continuous features (Mu, Ding, Song, Lu, 2016), as paper 2 describes it."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from algorithms.accounting import Event, Fault, Sequential, Spent, Unpaid
from algorithms.compiled import compiled
from algorithms.forests.candidates import by_value_score, class_counts, count_by_code, draw_features
from algorithms.forests.forest import PrivateForestClassifier, label_leaf
from algorithms.forests.intervals import NO_SPLIT, Split, draw_interval
from algorithms.forests.scores import CODES, sensitivity
from algorithms.forests.tree import BELOW, plant, released, split_by_value, split_in_two, unused_features
from algorithms.mechanisms import exponential, laplace
from algorithms.parameters import check_choice


class Plan(NamedTuple):
    """What one tree may spend and how it splits."""

    max_depth: int
    max_features: int
    count_epsilon: np.ndarray  # float64 (max_depth + 1,): half of each level
    split_epsilon: np.ndarray  # the other half, as for a leaf
    leaf_epsilon: np.ndarray
    score: int
    sensitivity: float
    stops_below_noise: bool


@compiled
def grow(plan, table, rows, rng):
    """Grow one tree: noisy count, stop if it is small, else cut the continuous features and draw a feature."""
    growth = plant(table, rows)
    n_features = table.codes.shape[0]
    i = 0
    while i < growth.n_nodes[0]:
        counts = class_counts(growth, i)
        node = growth.nodes[i]
        node.noisy_count = laplace(float(counts.sum()), 1.0, plan.count_epsilon[node.depth], rng)
        node.epsilon += plan.count_epsilon[node.depth]
        unused = unused_features(growth, i, n_features)
        split = NO_SPLIT
        if node.depth < plan.max_depth and unused.shape[0] > 0 and is_large(node, table, unused, plan):
            features = draw_features(unused, plan.max_features, rng)
            split = draw_feature(growth, table, i, features, counts, plan, rng)
        if split.feature < 0:
            label_leaf(growth, i, counts, plan.leaf_epsilon[growth.nodes[i].depth], rng)
        elif table.is_continuous[split.feature]:
            growth = split_in_two(growth, table, i, split.feature, BELOW, split.code, split.cut)
        else:
            growth = split_by_value(growth, table, i, split.feature)
        i += 1
    return released(growth)


@compiled
def is_large(node, table, unused, plan):
    """Tell whether a class count of a child would stand out of its noise: N / (v c) > sqrt(2) / epsilon.

    v is the largest number of children that an unused feature gives. The text has a node stop at "<", which differs
    only without noise: there a node without records is a leaf, too. Under the other reading N > 0 is enough.
    """
    if not plan.stops_below_noise:
        return node.noisy_count > 0
    n_children = 0
    for feature in unused:
        n_children = max(n_children, 2 if table.is_continuous[feature] else table.n_codes[feature])
    return node.noisy_count / (n_children * table.n_classes) > np.sqrt(2.0) / plan.count_epsilon[node.depth]


@compiled
def draw_feature(growth, table, i, features, totals, plan, rng):
    """Draw a cut for each continuous feature, then one of all features, both by the exponential mechanism."""
    n_features = features.shape[0]
    share = plan.split_epsilon[growth.nodes[i].depth] / (table.is_continuous[features].sum() + 1)
    quality = np.empty(n_features)
    measure = np.ones(n_features)
    codes = np.zeros(n_features, dtype=np.int64)
    cuts = np.zeros(n_features)
    for j in range(n_features):
        if table.is_continuous[features[j]]:
            one = features[j : j + 1]
            split = draw_interval(growth, table, i, one, totals, plan.score, plan.sensitivity, share, False, rng)
            quality[j], codes[j], cuts[j] = split.score, split.code, split.cut
            measure[j] = split.feature >= 0  # a feature with one value in the node cannot be drawn
        else:
            quality[j] = by_value_score(plan.score, count_by_code(growth, table, i, features[j]))
    if measure.sum() == 0:
        return NO_SPLIT
    j = exponential(quality, measure, plan.sensitivity, share, rng)
    growth.nodes[i].epsilon += share
    return Split(quality[j], features[j], BELOW, codes[j], cuts[j])


class DiffPRFsClassifier(PrivateForestClassifier):
    """DiffPRFs, a private random forest that takes continuous features without binning them.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget B of the whole forest, in (0, inf]; inf grows the noise-free forest.
    n_estimators : int, default=25
        Number of trees T, at least 1.
    max_depth : int, default=5
        Depth d at which growing stops, at least 1.
    max_features : int or None, default=None
        Features drawn at each node, from 1 to the number of features; None is the square root of their number,
        rounded up.
    criterion : {"information_gain", "max", "gini"}, default="information_gain"
        Split score: DiffPRFs-IG, DiffPRFs-Max, or the count-weighted Gini index.
    stop_below : {"noise", "zero"}, default="noise"
        A node is a leaf if its noisy count, shared out to the classes of its children, is below the noise (as printed:
        with a small budget this makes the root a leaf, and the forest predicts the largest class), or only if the
        noisy count is not positive.
    domain : Domain or None, default=None
        Public description of the columns and classes; None infers it from the rows, warns, and is not private.
    n_jobs : int or None, default=None
        Threads that grow trees.
    random_state : int, RandomState or None, default=None
        Source of all randomness.

    Notes
    -----
    Every tree gets B / T, every level B / (T (d + 1)): half for the noisy count of the node, half for its split or its
    leaf. With n continuous features among the drawn ones, each of the n cuts and the choice of the feature get a share
    of 1 / (n + 1). A nominal feature makes a child for every category and is used up; a continuous one makes two and
    may come back.

    Privacy: claimed epsilon-differential privacy does not hold: rows are drawn with replacement, and cuts lie between
    values of the rows. ``privacy_`` lists the faults. With the max operator or Gini and without continuous
    features, the accounted epsilon is finite.

    The original text was not available; the rule is what paper 2 and DiffPRF (Patil & Singh, 2014) say of it.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1))), Nominal("y", ("no", "yes")))
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 25, ["no", "no", "yes", "yes"] * 25
    >>> forest = DiffPRFsClassifier(epsilon=200.0, max_depth=2, n_estimators=3, domain=domain, random_state=0).fit(X, y)
    >>> forest.predict([[0, 1], [1, 0]])
    array(['no', 'yes'], dtype='<U3')
    """

    def __init__(
        self,
        epsilon=1.0,
        *,
        n_estimators=25,
        max_depth=5,
        max_features=None,
        criterion="information_gain",
        stop_below="noise",
        domain=None,
        n_jobs=None,
        random_state=None,
    ):
        self.epsilon = epsilon
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_features = max_features
        self.criterion = criterion
        self.stop_below = stop_below
        self.domain = domain
        self.n_jobs = n_jobs
        self.random_state = random_state

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        super().check_parameters(n_features)
        check_choice("criterion", self.criterion, CODES)
        check_choice("stop_below", self.stop_below, ("noise", "zero"))

    def _plan(self, table) -> Plan:
        n_features, n_rows = table.codes.shape
        half = float(self.epsilon) / self.n_estimators * self._level_shares() / 2
        return Plan(
            max_depth=self.max_depth,
            max_features=self.max_features or math.ceil(math.sqrt(n_features)),
            count_epsilon=half,
            split_epsilon=half,
            leaf_epsilon=half,
            score=CODES[self.criterion],
            sensitivity=sensitivity(CODES[self.criterion], n_rows),
            stops_below_noise=self.stop_below == "noise",
        )

    def _grower(self, table):
        return partial(grow, self._plan(table))

    def _level_shares(self) -> np.ndarray:
        """Return the part of a tree's budget that each level has, the root first: float64 array (max_depth + 1,)."""
        return np.full(self.max_depth + 1, 1 / (self.max_depth + 1))

    def _account(self, table) -> tuple[Event, tuple[Fault, ...]]:
        plan = self._plan(table)
        faults, unpaid = [BOOTSTRAP], []
        if table.is_continuous.any():
            faults.append(INTERVAL_ENDS)
            unpaid.append(Unpaid("smallest and largest value present, between which cuts are drawn"))
        if self.criterion == "information_gain":
            faults.append(ROW_NUMBER)
            unpaid.append(Unpaid("number of rows, which sets the sensitivity of information gain"))
        levels = []
        for depth in range(self.max_depth + 1):
            count = Spent("laplace", "number of records of a node", plan.count_epsilon[depth], 1.0)
            what = "cuts of continuous features and the feature" if table.is_continuous.any() else "feature"
            split = Spent("exponential", what, plan.split_epsilon[depth], plan.sensitivity)
            leaf = Spent("laplace", "class counts of a leaf", plan.leaf_epsilon[depth], 1.0)
            last = depth == self.max_depth
            levels.append(Sequential("leaf level" if last else f"level {depth}", (count, leaf if last else split)))
        return self._composed(Sequential("tree", (*levels, *unpaid)), table), tuple(faults)


FORESTS = "Patil & Singh (2014) and Mu et al. (2016), as later papers tell it: "
BOOTSTRAP = Fault("bootstrap", "a record drawn twice moves a count by 2, not 1", FORESTS + "rows with replacement")
INTERVAL_ENDS = Fault(
    "interval ends from the rows",
    "the intervals end at values that occur in the rows",
    FORESTS + "intervals between the values of a continuous feature",
)
ROW_NUMBER = Fault(
    "sensitivity from the rows",
    "the sensitivity of information gain is taken from the number of rows",
    FORESTS + "log2(N + 1) + 1 / ln 2 for N rows; paper 1, section 2.3.1, has it alike",
)
