"""Is a mean above zero? A one-sided test of paired runs that may be looked at several times.

The runs are looked at when there are 20 (or as many as the paper makes anyway), 40, 80, 160, ... of them. Each look has
a share of the level that is fixed beforehand, and a p-value is paid for with the share of its look. So the shares need
not know how looks depend on each other, and further runs may always be made.

A t-test is wrong where runs are skewed: of few runs with a long tail it finds gains that are not there. So the p-value
is the larger one of Student's and of Hall's, whose cubic corrects for the skewness; the skewness is taken to be worse
than seen, by half of its standard error where every comparison must be proven, by a whole one where any of several may
decide. (Where a worse one would make the cubic say more, as of large gains, it is taken to be what makes it say least.)
And the variance is not taken to be smaller than the metric can show: twenty equal accuracies may hide a test row that
is rarely wrong.

`make calibrate` measures what comes of that; its table stands in ``docs/calibration.md``. A collapse that no run has
shown cannot be allowed for by a test that proves anything in so few runs: `describe_unseen` says which.

References
----------
Hall (1992): On the removal of skewness by transformation. J. R. Stat. Soc. B 54(1), 221-228.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr
from scipy.stats import binom

LEAST_RUNS = 20
"""With fewer nothing is proven: a skewness cannot be told from fewer."""

EACH, ANY = 0.5, 1.0
"""Standard errors by which a skewness is taken to be worse than seen: where every comparison must be proven, and where
any of several may decide."""

_FIRST_SHARES = (0.35, 0.25, 0.20, 0.10)
_OPTIMISM = 2.0
"""Standard errors by which the runs to come may be better than those so far."""
_LEAST_SKEWNESS = 1e-4

ROUNDING = 1e-12
"""What is left of an effect of exactly zero after a sum of floats."""


class Look(NamedTuple):
    """A number of runs after which a verdict is looked for."""

    n: int
    #: Of the level, what may be spent on it.
    share: float


def list_looks(first: int, most: int) -> list[Look]:
    """Return the looks from ``first`` runs on, or 20 if that is more, each at twice as many, up to ``most``.

    All shares together, of ever so many looks, are 1. So a higher ``most`` changes no look before it.

    Examples
    --------
    >>> [(look.n, look.share) for look in list_looks(10, 320)]
    [(20, 0.35), (40, 0.25), (80, 0.2), (160, 0.1), (320, 0.05)]
    >>> [look.n for look in list_looks(100, 399)], list_looks(10, 10)
    ([100, 200], [])
    """
    looks: list[Look] = []
    n = max(first, LEAST_RUNS)
    while n <= most:
        place = len(looks)
        share = _FIRST_SHARES[place] if place < len(_FIRST_SHARES) else _FIRST_SHARES[-1] / 2 ** (place - 3)
        looks.append(Look(n, share))
        n *= 2
    return looks


def find_step(values: np.ndarray, otherwise: float | np.ndarray) -> np.ndarray:
    """Return the smallest difference of two values along the last axis that are not equal; ``otherwise`` without any.

    Of accuracies it is one test row, or a few. It is what a run that has not been seen may differ by at least.

    Examples
    --------
    >>> find_step(np.array([[0.90, 0.92, 0.90, 0.95], [0.9, 0.9, 0.9, 0.9]]), 0.01).round(6).tolist()
    [0.02, 0.01]
    """
    ordered = np.sort(np.round(values, 12), axis=-1)
    with np.errstate(invalid="ignore"):  # of two that are infinite
        gaps = np.diff(ordered, axis=-1)
    least = gaps.min(axis=-1, where=(gaps > 0) & np.isfinite(gaps), initial=math.inf)
    return np.where(np.isfinite(least), least, otherwise)


class GainMoments(NamedTuple):
    """What the test of a mean asks of some runs; arrays where several sets of as many runs are tested at once."""

    mean: np.ndarray
    #: Divided by the number of runs.
    variance: np.ndarray
    skewness: np.ndarray


def find_moments(gains: np.ndarray) -> GainMoments:
    """Return the moments of runs along the last axis.

    Examples
    --------
    >>> moments = find_moments(np.array([0.0, 0.0, 3.0]))
    >>> float(moments.mean), float(moments.variance), round(float(moments.skewness), 3)
    (1.0, 2.0, 0.707)
    """
    is_one = np.ptp(gains, axis=-1) == 0  # a rounded mean would leave 1e-17
    mean = np.where(is_one, gains[..., 0], gains.mean(axis=-1))
    deviations = gains - mean[..., np.newaxis]
    squares = deviations * deviations
    variance = squares.mean(axis=-1)
    third = (squares * deviations).mean(axis=-1)
    return GainMoments(mean, variance, np.divide(third, variance**1.5, out=np.zeros_like(third), where=variance > 0))


def compute_p(n: int, moments: GainMoments, step: float | np.ndarray, caution: float) -> np.ndarray:
    """Return p of the hypothesis that a mean is at most zero, from the moments of n runs, at least two."""
    mean, variance, skewness = moments
    if not any(getattr(one, "ndim", 0) for one in (mean, variance, skewness, step)):
        one = float(mean), float(variance), float(skewness), float(step)
        if math.isfinite(sum(one)):
            with suppress(ArithmeticError):  # what is divided by zero or too large is worked out below
                return _compute_p_of_one(n, *one, caution)
    floored = np.maximum(variance * n / (n - 1) + np.square(step) / n, step * np.abs(mean) / 2)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        size = mean / np.sqrt(floored)
        size = np.where(np.isnan(size), 0.0, size)[()]  # runs that are all zero have no size
        worse = skewness - caution * math.sqrt(6 / n)
        turn = np.where(size > 0, -4.5 / size - 2.25 / (n * size**3), -math.inf)  # where the cubic is least, or beyond
        worse = np.minimum(-_LEAST_SKEWNESS, np.maximum(worse, turn))
        hall = math.sqrt(n) * (((1 + worse * size / 3) ** 3 - 1) / worse + worse / (6 * n))
    return stdtr(n - 1, -np.minimum(math.sqrt(n) * size, hall))


def _compute_p_of_one(n: int, mean: float, variance: float, skewness: float, step: float, caution: float) -> np.ndarray:
    """Return the same in plain numbers, in a third of the time: a verdict asks for thousands."""
    size = mean / math.sqrt(max(variance * n / (n - 1) + step * step / n, step * abs(mean) / 2))
    worse = skewness - caution * math.sqrt(6 / n)
    if size > 0:
        worse = max(worse, -4.5 / size - 2.25 / (n * size**3))
    worse = min(-_LEAST_SKEWNESS, worse)
    hall = math.sqrt(n) * (((1 + worse * size / 3) ** 3 - 1) / worse + worse / (6 * n))
    return stdtr(n - 1, -min(math.sqrt(n) * size, hall))


class GainsByMean(NamedTuple):
    """Gains of n runs, at least two, as the test of a mean knows them; arrays where several sets are tested at once.

    Examples
    --------
    >>> gains = GainsByMean.of(np.random.default_rng(0).normal(0.02, 0.03, 20), 0.001)
    >>> round(float(gains.find_p(EACH)), 4), round(float(gains.negate().find_p(EACH)), 4)
    (0.0225, 0.9886)
    >>> round(float(gains.find_optimistic_p(40)), 6)
    4e-06
    """

    n: int
    moments: GainMoments
    step: float | np.ndarray

    @classmethod
    def of(cls, gains: np.ndarray, step: float | np.ndarray) -> GainsByMean:
        """Return what is known of runs along the last axis."""
        return cls(gains.shape[-1], find_moments(gains), step)

    def negate(self) -> GainsByMean:
        """Return the same of what they lose."""
        mean, variance, skewness = self.moments
        return self._replace(moments=GainMoments(-mean, variance, -skewness))

    def find_p(self, caution: float) -> np.ndarray:
        """Return p of the hypothesis that the mean gain is at most zero."""
        return compute_p(self.n, self.moments, self.step, caution)

    def find_optimistic_p(self, most: int) -> np.ndarray:
        """Return the p that may be hoped for after ``most`` runs: all like these, but better by two of their errors.

        It tells where more runs are in vain, and proves nothing.
        """
        hoped = self.moments.mean + _OPTIMISM * np.sqrt(self.moments.variance / max(self.n - 1, 1))
        return compute_p(most, self.moments._replace(mean=hoped), self.step, EACH)


class GainsByMedian(NamedTuple):
    """The same for the sign test, whose hypothesis is that at most half of all runs gain. A run without gain is none.

    Examples
    --------
    >>> gains = GainsByMedian.of(np.array([0.2, 3.0, 0.1, -7.0]))
    >>> float(gains.find_p(EACH)), float(gains.negate().find_p(EACH)), round(float(gains.find_optimistic_p(20)), 6)
    (0.3125, 0.9375, 1e-06)
    """

    n: int
    n_won: np.ndarray
    n_lost: np.ndarray

    @classmethod
    def of(cls, gains: np.ndarray) -> GainsByMedian:
        """Return what is known of runs along the last axis."""
        return cls(gains.shape[-1], (gains > ROUNDING).sum(axis=-1), (gains < -ROUNDING).sum(axis=-1))

    def negate(self) -> GainsByMedian:
        """Return the same of what they lose."""
        return self._replace(n_won=self.n_lost, n_lost=self.n_won)

    def find_p(self, caution: float) -> np.ndarray:
        """Return p; signs have no skewness to be cautious of."""
        return binom.sf(self.n_won - 1, self.n, 0.5)

    def find_optimistic_p(self, most: int) -> np.ndarray:
        """Return what `GainsByMean.find_optimistic_p` does."""
        share = np.minimum(1.0, self.n_won / self.n + _OPTIMISM * 0.5 / math.sqrt(self.n))
        return binom.sf(np.ceil(share * most) - 1, most, 0.5)


def find_mean_interval(values: np.ndarray, step: float, level: float = 0.95) -> tuple[float, float]:
    """Return between which means the test decides nothing, at a level that both sides share; NaN of less than two runs.

    Examples
    --------
    >>> low, high = find_mean_interval(np.random.default_rng(0).normal(0.02, 0.03, 20), 0.001)
    >>> round(low, 4), round(high, 4)
    (0.0004, 0.0268)
    """
    if len(values) < 2:
        return math.nan, math.nan
    return _find_end(values, step, (1 - level) / 2), -_find_end(-values, step, (1 - level) / 2)


def _find_end(values: np.ndarray, step: float, tail: float) -> float:
    """Return the largest mean that is too small for some runs, at a level of ``tail``."""
    mean, *spread = find_moments(values)

    def is_too_small(below: float) -> bool:
        return bool(compute_p(len(values), GainMoments(np.asarray(below), *spread), step, EACH) <= tail)

    low, high = 0.0, max(math.sqrt(spread[0]), step)
    if not high:
        return float(mean)
    while not is_too_small(high) and high < 1e300:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if is_too_small(middle) else (middle, high)
    return float(mean) - high


def find_proven(p_values: Sequence[float], level: float) -> set[int]:
    """Return which of several hypotheses are rejected, with a chance of at most ``level`` that any is so wrongly.

    By Holm's rule (1979), which needs not know how they depend on each other.

    Examples
    --------
    >>> sorted(find_proven([0.001, 0.03, 0.02], 0.05)), find_proven([0.02, 0.03, 0.04], 0.05)
    ([0, 1, 2], set())
    """
    proven: set[int] = set()
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[place] > level / (len(p_values) - rank):
            break
        proven.add(place)
    return proven


def describe_unseen(n: int) -> str:
    """Return what some runs may not have shown: what happens so rarely that none of them had to show it.

    Examples
    --------
    >>> describe_unseen(60)
    'a collapse in fewer than 1 of 20 runs would not have been seen'
    """
    return f"a collapse in fewer than 1 of {max(round(n / 3), 1):,} runs would not have been seen"
