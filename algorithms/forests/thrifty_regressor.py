"""The thrifty tree for numbers: one private regression tree that looks closer with every question. Ours.

As in `algorithms.forests.thrifty_tree`, one tree has all rows and the whole budget, and a question costs only what it
needs. What a regression adds is a scale. Noise that hides a record whose target may lie anywhere between the public
bounds drowns the differences that are left after a few questions, which are much smaller. So every node looks through a
window around where its records are already known to lie, as wide as they are known to spread; what lies beyond counts
as its edge. The noise shrinks with the window, so that the budget that is worth a question in the root is worth one in
every node with as many records.

Its constants were chosen by the logarithm of the squared error on the sets for regression that ``conf/tuning.yaml``
allows, at most 10,000 rows of each, epsilon from 0.1 to 5, with seeds from 1000; the number of bins with all rows, too.
Of those tried by halves and twice as much, the window of a look matters most (13 to 21 % of the error on average), then
what is enough (4 to 11 %); the window of a question and the shares of epsilon matter by 6 % at most.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from algorithms.accounting.events import Event
from algorithms.accounting.faults import Fault
from algorithms.forests.engine.candidates import (
    below_scores,
    by_value_score,
    public_split,
    public_splits,
    sum_by_class,
)
from algorithms.forests.engine.scores import MAX_OPERATOR
from algorithms.forests.engine.tree import plant_tree, rows_of, split_by_kind, take_nodes
from algorithms.forests.forest import OneTree, PrivateForestRegressor
from algorithms.forests.thrifty_tree import ThriftyTrees, features_to_ask, paid_above
from algorithms.mechanisms import laplace_vector, permute_and_flip
from algorithms.native import compiled
from algorithms.parameters import check_count, parameter, with_parameters

ENOUGH = 50.0
"""What a look or a question is worth: its epsilon times the records of the node. A node with less in all is a leaf."""

ROOT_SHARE, LOOK_SHARE, QUESTION_SHARE = 0.1, 0.15, 0.4
"""Of epsilon: the first look. Of what is left: the most that a look below the root, or a question, may cost."""

WINDOW, QUESTION_WINDOW = 1.75, 0.4
"""Half of the window of a look, and of a question, in spreads."""

DISTANCE, UNSURE = 1.4, 0.5
"""How far from its parent's, in spreads, the centre of a node is expected; and by how much of it its spread differs."""

LEAST_SPREAD = 1e-4
"""So that a window never closes."""

GRID = 2.0**20
"""Places of records to one side of a centre, where they are rounded to: their sums are exact, of up to 2^32 records."""


class View(NamedTuple):
    """What is known of the targets of a node, all of it paid for: on the scale [0, 1]."""

    n: float  #: noisy number of records
    centre: float  #: about their mean
    variance: float  #: of the error that noise leaves in the centre
    spread: float  #: about their mean distance from it


@compiled
def grow_tree(plan, table, rows, rng):
    """Grow the tree: look at a node; ask a question if it has enough records, else look again with all that is left."""
    growth = plant_tree(table, rows)
    views = []
    i = 0
    while i < len(growth.nodes):
        node = growth.nodes[i]
        if i == 0:
            above, left, epsilon = View(0.0, 0.5, 0.0, 0.5 / WINDOW), plan.epsilon, plan.root_epsilon
        else:
            above = views[growth.parents[i]]
            left = plan.epsilon - paid_above(growth, i) if plan.epsilon < np.inf else np.inf
            epsilon = min(plan.enough / max(above.n, 1.0), LOOK_SHARE * left)
        view = look_closer(growth, table, i, above, square(DISTANCE * above.spread), epsilon, rng)
        views.append(view)
        node.noisy_count, node.epsilon = view.n, epsilon
        left = left - epsilon if left < np.inf else left
        unused = features_to_ask(growth, i, table.codes.shape[0], plan, rng)
        if node.depth == plan.max_depth or unused.shape[0] == 0 or view.n <= ENOUGH / left:
            node.value = min(max(look_closer(growth, table, i, view, 0.0, left, rng).centre, 0.0), 1.0)
            node.epsilon += left
        else:
            epsilon = min(plan.enough / view.n, QUESTION_SHARE * left)
            feature, code = draw_question(growth, table, i, unused, view, epsilon, rng)
            node.epsilon += epsilon
            split_by_kind(growth, table, i, feature, code, float(code))
        i += 1
    return take_nodes(growth)


def look_closer(growth, table, i, known, moved, epsilon, rng):
    """Look at a node through the window of what is known, with noise; returns what is known then.

    A record adds 1 in all, to three sums: how far its target is above the centre, how far below, and what is left to
    1, all in halves of the window. ``moved`` is the variance of where the centre may be from where it is known to be.
    """
    enough = max(known.n, 1.0) * epsilon / ENOUGH  # where there is more, a wider window, which cuts off less, is better
    half = min(WINDOW * known.spread * math.sqrt(max(enough, 1.0)), 1.0)
    sums = laplace_vector(sum_distances(growth, table, i, known.centre, half), 1.0, epsilon, rng)
    n = sums.sum()
    above, below = sums[0] / max(n, 1.0), sums[1] / max(n, 1.0)
    mean, distance = min(max(above - below, -1.0), 1.0), min(max(above + below, 0.0), 1.0)
    noise = square(2.0 * half / (max(n, 1.0) * epsilon))  # the variance of both: two Laplace numbers each
    centre, variance = weigh_up(known.centre, known.variance + moved, known.centre + half * mean, noise)
    spread, _ = weigh_up(known.spread, square(UNSURE * known.spread), half * distance, noise)
    return View(n, centre, variance, max(spread, LEAST_SPREAD))


def square(number):
    """Return the square of a number: the power of 2 may be rounded another way."""
    return number * number


def sum_distances(growth, table, i, centre, half):
    """Sum over the records of a node how far they are above a centre, how far below, and the rest to 1 of each."""
    targets = table.targets
    sums = np.zeros(3)
    for row in rows_of(growth, i):
        distance = place_in_window(targets[row], centre, half)
        sums[0] += max(distance, 0.0)
        sums[1] += max(-distance, 0.0)
        sums[2] += 1.0 - abs(distance)
    return sums


def place_in_window(target, centre, half):
    """Return how far a target is above a centre, in halves of a window: in [-1, 1], at whose ends it is cut off.

    It is a multiple of 2^-20, so that sums have no rounding: a record moves them by what it adds, in whatever order.
    """
    return np.rint(min(max((target - centre) / half, -1.0), 1.0) * GRID) / GRID


def weigh_up(expected, expected_variance, seen, variance):
    """Return the mean of what was expected and what is seen, weighted by how sure both are, and its variance."""
    if variance == 0.0:
        return seen, 0.0
    share = expected_variance / (expected_variance + variance)
    return expected + share * (seen - expected), share * variance


def draw_question(growth, table, i, features, view, epsilon, rng):
    """Draw one of all public splits of some features by permute-and-flip.

    The score of a split is the max operator over two classes, above the centre and below it, between which a record is
    shared that is near the centre: the larger of the two, summed over the children.
    """
    ends = public_splits(table, features)
    quality = np.empty(ends[-1])
    for j, feature in enumerate(features):
        shares = sum_shares(growth, table, i, feature, view.centre, min(QUESTION_WINDOW * view.spread, 1.0))
        if table.is_continuous[feature]:
            quality[ends[j] : ends[j + 1]] = below_scores(MAX_OPERATOR, shares, sum_by_class(shares))
        else:
            quality[ends[j]] = by_value_score(MAX_OPERATOR, shares)
    return public_split(features, ends, permute_and_flip(quality, 1.0, epsilon, rng, True))


def sum_shares(growth, table, i, feature, centre, half):
    """Sum the shares of the records of a node, above a centre and below it, by code of a feature: shape (codes, 2)."""
    shares = np.zeros((table.n_codes[feature], 2))
    column, targets = table.codes[feature], table.targets
    for row in rows_of(growth, i):
        distance = place_in_window(targets[row], centre, half)
        shares[column[row], 0] += 0.5 + 0.5 * distance
        shares[column[row], 1] += 0.5 - 0.5 * distance
    return shares


@with_parameters
class ThriftyTreesRegressor(ThriftyTrees, PrivateForestRegressor):
    """Thrifty trees for numbers.

    Parameters
    ----------
    n_bins : int
        Public equal-width bins of a continuous column, between which it is cut; at least 2.
    """

    GROW, CONSTANTS = staticmethod(grow_tree), (ROOT_SHARE, ENOUGH)
    n_bins: int = parameter(96, check_count, lowest=2)

    def _n_bins(self) -> int:
        return self.n_bins

    def _asks_half(self) -> bool:
        # Noise makes trees differ enough: half of the features makes errors larger then, see ``thrifty_forest``.
        return super()._asks_half() and math.isinf(self.epsilon)

    def _ledger_and_faults(self, table) -> tuple[Event, tuple[Fault, ...]]:
        below = "splits and sums of distances of a path, and its leaf with the rest"
        mechanism = "laplace and permute_and_flip, monotone"
        return self._any_path(table, "sums of distances in the root", mechanism, below), ()


@with_parameters
class ThriftyTreeRegressor(ThriftyTreesRegressor, OneTree):
    """One differentially private regression tree that spends on every question only what it needs.

    Parameters
    ----------
    epsilon : float
        Budget of the tree, from 1e-100 to 1e100; inf grows the noise-free tree, whose leaves predict rounded means.

    Notes
    -----
    Targets are scaled to [0, 1] by their public bounds. A node first looks through the window of its parent, the
    parent's centre plus and minus 1.75 of its spreads: with targets put into the window and scaled to [-1, 1], it
    releases with Laplace noise the sums of their positive parts, of their negative parts, and of 1 less their absolute
    values. The three add up to the number of records; the first two tell the mean and the mean distance, which are
    weighed up with those of the parent by the variance of the noise and become the node's centre and spread. A look
    costs 50 / records (of the parent, with noise), at most 15 % of what is left of epsilon.

    A node is a leaf if its records are at most 50 / (what is left). It spends all that is left on a second look through
    its own window, and predicts the centre that it has then. Otherwise permute-and-flip draws a split among all nominal
    features that the path has not used up, a child for every category, and all public cuts of continuous ones, for
    50 / records, at most 40 % of what is left. A record counts u as above the centre and 1 - u as below it, u rising
    from 0 to 1 within 0.4 spreads around the centre; the score is the sum over the children of the larger of the two
    counts. Differences of means stand out best by it: with n records it differs between a good and a useless split in
    proportion to n and to the difference, where the squared error, of the same sensitivity, has its square.

    Privacy: epsilon-differentially private for one record added or removed, given a public domain.

    1. A look at e is e-differentially private: in a given window a record adds three numbers to the three sums that are
       at least 0 and add up to 1, so that these have sensitivity 1 in L1, and `laplace_vector` is told so. In floating
       point, too: places in a window are rounded to multiples of 2^-20 before anything is added up, so that all sums
       of up to 2^32 records, here and in 2, are multiples of 2^-21 that float64 holds exactly.
    2. A question at e is e-differentially private: around a given centre an added record adds u to one count of one
       child and 1 - u to the other, both from 0 to 1. The larger of the two, and so the score of every split, grows by
       0 to 1: scores are monotone with sensitivity 1, and the selection goes without the 2 in its exponent.
    3. Windows, centres, budgets, and whether a node is a leaf, follow from what was released above and in the node, and
       from the public domain, never from the records.
    4. A node with a budget of e left spends, by induction, e on the records below it: a leaf c on its first look and
       e - c on the second; any other c + s on its look and its split, and e - c - s in each of its children, which hold
       disjoint records. No path spends more than epsilon.

    The grown tree, noisy numbers included, may be published.

    Examples
    --------
    >>> from algorithms import Continuous, Domain
    >>> domain = Domain((Continuous("x", 0, 10),), Continuous("y", 0, 100))
    >>> X, y = [[i % 10 + 0.5] for i in range(5000)], [(i % 10 - 5) ** 2 for i in range(5000)]
    >>> tree = ThriftyTreeRegressor(epsilon=1.0, domain=domain, random_state=0).fit(X, y)
    >>> tree.predict([[0.5], [5.5]]).round()
    array([25.,  0.])
    >>> tree.privacy_.keeps_claim, tree.privacy_.accounted_epsilon
    (True, 1.0)
    """
