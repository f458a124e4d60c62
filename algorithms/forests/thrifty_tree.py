"""The thrifty tree: one private decision tree that pays for a question only as much as the question needs. Ours.

A forest divides its rows, or its budget, over its trees; a single tree keeps both. This one saves, too: where a node
has many errors, a small part of the budget finds a good question all the same, so that most of it is left for the nodes
below, which have few. How deep a branch goes follows from what is left and from how many errors, counted with noise, a
question could still mend. All that it decides by has been paid for, so that the whole tree may be published.

Its constants were chosen by mean accuracy on the seven classification sets of ``conf/paper/benchmark.yaml``, epsilon
from 0.1 to 5, with splits that no published study uses (seeds from 1000; on Adult, within the rows to train on). The
choice is flat: half or twice as much of any of them costs less than a point on average.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from algorithms.accounting.events import Event, Sequential, Spent
from algorithms.accounting.faults import Fault
from algorithms.forests.engine.candidates import (
    below_scores,
    by_value_score,
    class_counts,
    count_by_code,
    public_split,
    public_splits,
)
from algorithms.forests.engine.scores import GINI, MAX_OPERATOR
from algorithms.forests.engine.tree import plant_tree, split_by_kind, take_nodes, unused_features
from algorithms.forests.forest import PrivateForestClassifier, draw_label
from algorithms.jit import compiled
from algorithms.mechanisms import laplace, permute_and_flip
from algorithms.parameters import check_count

ENOUGH = 50.0
"""What a question, or a count, is worth: its epsilon times the errors of the node that it is asked for."""

TOO_FEW = 25.0
"""A node with fewer errors than this, times the epsilon that it has left, is a leaf."""

ROOT_SHARE, COUNT_SHARE, QUESTION_SHARE = 0.05, 0.1, 0.5
"""Of epsilon: the count of the root. Of what is left: the most that a count below the root, or a question, may cost."""


class ThriftyPlan(NamedTuple):
    """What the tree may spend."""

    max_depth: int
    epsilon: float
    root_epsilon: float  # of the count of the root
    enough: float  # infinite without noise


@compiled
def grow_tree(plan, table, rows, rng):
    """Grow the tree: count the errors of a node; ask a question if it may pay, else draw a label with all that is left.

    The root is asked a question whatever its count, since a tree that asks nothing need not be grown.
    """
    growth = plant_tree(table, rows)
    i = 0
    while i < growth.n_nodes[0]:
        counts = class_counts(growth, i)
        left = count_errors(growth, i, counts, plan, rng)
        node = growth.nodes[i]
        unused = unused_features(growth, i, table.codes.shape[0])
        is_worth_asking = i == 0 or node.noisy_count > max(TOO_FEW / left, 1.0 / node.epsilon)
        if node.depth == plan.max_depth or unused.shape[0] == 0 or not is_worth_asking:
            draw_label(growth, i, counts, left, rng)
        else:
            epsilon = min(plan.enough / max(node.noisy_count, 1.0), QUESTION_SHARE * left)
            feature, code = draw_question(growth, table, i, unused, counts, epsilon, rng)
            node.epsilon += epsilon
            growth = split_by_kind(growth, table, i, feature, code, float(code))
        i += 1
    return take_nodes(growth)


@compiled
def count_errors(growth, i, counts, plan, rng):
    """Count with noise the records of a node that are not of its largest class; returns what the node has left.

    An added record changes that number by 0 or 1: it adds 1 to the records and 0 or 1 to the largest class.
    """
    node = growth.nodes[i]
    if i == 0:
        left, epsilon = plan.epsilon, plan.root_epsilon
    else:
        left = plan.epsilon - paid_above(growth, i) if plan.epsilon < np.inf else np.inf
        errors_above = growth.nodes[growth.parents[i]].noisy_count
        epsilon = min(plan.enough / max(errors_above, 1.0), COUNT_SHARE * left)
    largest = 0
    for count in counts:
        largest = max(largest, count)
    node.noisy_count = laplace(float(counts.sum() - largest), 1.0, epsilon, rng)
    node.epsilon = epsilon
    return left - epsilon if left < np.inf else left


@compiled
def paid_above(growth, i):
    """Return what the nodes above node ``i`` have paid."""
    paid = 0.0
    above = growth.parents[i]
    while above >= 0:
        paid += growth.nodes[above].epsilon
        above = growth.parents[above]
    return paid


@compiled
def draw_question(growth, table, i, features, totals, epsilon, rng):
    """Draw one of all public splits of some features by permute-and-flip, see `question_score`."""
    ends = public_splits(table, features)
    quality = np.empty(ends[-1])
    n = float(totals.sum())
    for j, feature in enumerate(features):
        counts = count_by_code(growth, table, i, feature)
        if table.is_continuous[feature]:
            largest, gini = below_scores(MAX_OPERATOR, counts, totals), below_scores(GINI, counts, totals)
            for cut in range(largest.shape[0]):
                quality[ends[j] + cut] = question_score(largest[cut], gini[cut], n)
        else:
            quality[ends[j]] = question_score(by_value_score(MAX_OPERATOR, counts), by_value_score(GINI, counts), n)
    return public_split(features, ends, permute_and_flip(quality, 1.0, epsilon, rng, True))


@compiled
def question_score(largest, gini, n):
    """Score a split by the mean of the max operator and of the Gini index, the latter as n (1 + sum p^2) / 2.

    The max operator stands out best of noise, but sees no difference between splits that leave the largest class of
    every child the same; the Gini index does. Each grows by 0 to 1 with an added record, and so does their mean: it is
    monotone, with sensitivity 1.

    Parameters
    ----------
    largest, gini : float
        Scores of the split, ``scores.MAX_OPERATOR`` and ``scores.GINI``.
    n : float
        Number of records of the node.
    """
    return 0.5 * largest + 0.25 * gini + 0.5 * n


class ThriftyTreeClassifier(PrivateForestClassifier):
    """One differentially private decision tree that spends on every question only what it needs.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget of the tree, in (0, inf]; inf grows the noise-free tree.
    max_depth : int, default=12
        Levels of splits at most, at least 1. Branches end where the budget does, mostly before.
    n_bins : int, default=32
        Public equal-width bins of a continuous column, between which it is cut; at least 2.
    domain : Domain or None, default=None
        Public description of the columns and classes; None infers it from the rows, warns, and is not private.
    noise : {"numpy", "opendp"}, default="numpy"
        What draws the noise: "opendp" is for a release, see ``algorithms.opendp_noise``.
    random_state : int, RandomState or None, default=None
        Source of all randomness; in a release, of what may be public alone.

    Notes
    -----
    A node first counts its errors, the records that are not of its largest class, with Laplace noise. It is a leaf if
    they are fewer than 25 / (what is left of epsilon), or than the noise of the count. Otherwise permute-and-flip draws
    a split among all nominal features that the path has not used up, a child for every category, and all public cuts of
    continuous ones, for 50 / errors, at most half of what is left; the count in each child costs 50 / errors, at most a
    tenth of what is left. A leaf spends all that is left on its label, by permute-and-flip over the class counts.

    Privacy: epsilon-differentially private for one record added or removed, given a public domain. A node with a budget
    of e left spends, by induction, e on the records below it: a leaf e on its label; any other node c + s on its count
    and its split, and e - c - s in each of its children, which hold disjoint records. What it spends follows from
    results that are released with noise, never from the records, and no path spends more than epsilon. Counts, numbers
    of errors and scores are monotone with sensitivity 1, so that both selections go without the 2 in their exponent.
    The grown tree, noisy numbers included, may be published.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1))), Nominal("y", ("no", "yes")))
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 25, ["no", "no", "yes", "yes"] * 25
    >>> tree = ThriftyTreeClassifier(epsilon=1.0, domain=domain, random_state=0).fit(X, y)
    >>> tree.predict([[0, 1], [1, 0]])
    array(['no', 'yes'], dtype='<U3')
    >>> tree.privacy_.keeps_claim, tree.privacy_.accounted_epsilon
    (True, 1.0)
    """

    n_estimators, n_jobs = 1, None

    def __init__(self, epsilon=1.0, *, max_depth=12, n_bins=32, domain=None, noise="numpy", random_state=None):
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.n_bins = n_bins
        self.domain = domain
        self.noise = noise
        self.random_state = random_state

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        super().check_parameters(n_features)
        check_count("n_bins", self.n_bins, lowest=2)

    def _n_bins(self) -> int:
        return self.n_bins

    def _sampling_rule(self) -> str:
        return "all"

    def _make_plan(self) -> ThriftyPlan:
        epsilon = float(self.epsilon)
        enough = math.inf if math.isinf(epsilon) else ENOUGH
        return ThriftyPlan(self.max_depth, epsilon, ROOT_SHARE * epsilon, enough)

    def _bind_grower(self, table):
        return partial(grow_tree, self._make_plan())

    def _ledger_and_faults(self, table) -> tuple[Event, tuple[Fault, ...]]:
        plan = self._make_plan()
        rest = plan.epsilon if math.isinf(plan.epsilon) else plan.epsilon - plan.root_epsilon
        root = Spent("laplace", "number of errors of the root", plan.root_epsilon, 1.0)
        below = Spent(
            "laplace and permute_and_flip, monotone",
            "splits and counts of a path, and its label with the rest",
            rest,
            1.0,
        )
        return self._compose_trees(Sequential("any path", (root, below)), table), ()
