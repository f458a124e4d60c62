"""The few statistics that verdicts and claims need: intervals, a sign test, ranks over sets.

Every function but the last two takes plain sequences of repeats of one protocol: independent runs on the same rows. Of
those two, `compare_over_datasets` takes one number of each data set, `nemenyi_difference` only how many there are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.stats import binom, studentized_range
from scipy.stats import t as student

#: Two-sided level of every interval, and the error rate of every verdict and of a paper's claims together.
LEVEL = 0.95
ALPHA = 1 - LEVEL

#: Weight of the pseudo-observation at zero, where each data set has weight 1, and draws from the posterior: a share of
#: 0.95 of so many has a standard error of 0.001.
_PRIOR_WEIGHT = 0.5
_POSTERIOR_DRAWS = 50_000


@dataclass(frozen=True)
class Interval:
    """A mean or median with an interval around it; ``low`` and ``high`` are NaN where there are too few values."""

    n: int
    center: float
    low: float
    high: float


#: The bounds of a metric without any.
_NO_BOUNDS = (-math.inf, math.inf)


def mean_interval(values: Sequence[float] | np.ndarray, bounds: tuple[float, float] = _NO_BOUNDS) -> Interval:
    """Return the mean and its 95 % t-interval, which stays inside of the ``bounds`` of the metric.

    An end that would leave them is made on a scale that has none, and brought back: of the logarithm of the distance
    from the one bound that there is, of the log odds between two (the delta method). The other end stays.

    Examples
    --------
    >>> interval = mean_interval([1.0, 2.0, 3.0])
    >>> interval.center, round(interval.low, 3), round(interval.high, 3)
    (2.0, -0.484, 4.484)
    >>> interval = mean_interval([1.0, 2.0, 3.0], bounds=(0.0, math.inf))
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.578, 4.484)
    """
    numbers = np.asarray(values, dtype=np.float64)
    n = len(numbers)
    mean = float(numbers.mean()) if n else math.nan
    if n < 2:
        return Interval(n, mean, math.nan, math.nan)
    # equal values must give exactly 0: a rounded mean would leave 1e-17
    spread = 0.0 if np.ptp(numbers) == 0 else float(numbers.std(ddof=1))
    half = _t_quantile(n - 1) * spread * math.sqrt(1 / n)
    return Interval(n, mean, *_stay_inside(mean, half, *bounds))


def _stay_inside(mean: float, half: float, lowest: float, highest: float) -> tuple[float, float]:
    """Return the ends of an interval of a mean with a half-width between two bounds, each of which may be infinite."""
    low, high, below, above = mean - half, mean + half, mean - lowest, highest - mean
    if min(below, above) <= 0:  # all values are the bound
        return low, high
    if low < lowest:
        low = lowest + _keep_away(below, half, highest - lowest)
    if high > highest:
        high = highest - _keep_away(above, half, highest - lowest)
    return low, high


def _keep_away(distance: float, half: float, span: float) -> float:
    """Return how far an end stays from a bound that it would cross, of an interval of a mean at some distance from it.

    >>> round(_keep_away(2.0, 3.0, math.inf), 3), round(_keep_away(2.0, 3.0, 1e9), 3)
    (0.446, 0.446)
    """
    if math.isinf(span):
        return distance * math.exp(-half / distance)
    share = distance / span
    return span / (1 + (1 / share - 1) * math.exp(half / (distance * (1 - share))))


def median_interval(values: Sequence[float] | np.ndarray) -> Interval:
    """Return the median and its 95 % interval between two order statistics, whatever the distribution; NaN gives NaN.

    Fewer than six values have no such interval: even their smallest and largest miss the median too often.

    Examples
    --------
    >>> median_interval([1.0, 2.0, 3.0, 4.0, 5.0, -1e9])
    Interval(n=6, center=2.5, low=-1000000000.0, high=5.0)
    """
    numbers = np.sort(np.asarray(values, dtype=np.float64))
    n = len(numbers)
    if not n or math.isnan(numbers[-1]):
        return Interval(n, math.nan, math.nan, math.nan)
    rank = _find_median_rank(n)
    ends = (numbers[rank - 1], numbers[n - rank]) if rank else (math.nan, math.nan)
    return Interval(n, float((numbers[(n - 1) // 2] + numbers[n // 2]) / 2), *map(float, ends))


#: What may stand for the repeats of one setting: the values that a paper's ``center`` may have.
CENTERS = ("mean", "median")


def center_interval(
    center: str, values: Sequence[float] | np.ndarray, bounds: tuple[float, float] = _NO_BOUNDS
) -> Interval:
    """Return the mean or the median with its 95 % interval, inside of the ``bounds`` of the metric."""
    return median_interval(values) if center == "median" else mean_interval(values, bounds)


@cache
def _find_median_rank(n: int) -> int:
    """Return which of n values, counted from either end, is an end of the interval of their median; 0 if none is."""
    return int(binom.ppf(ALPHA / 2, n, 0.5))


@cache
def _t_quantile(degrees_of_freedom: int) -> float:
    return float(student.ppf((1 + LEVEL) / 2, degrees_of_freedom))


def sign_p(differences: Sequence[float] | np.ndarray) -> float:
    """Return the one-sided p-value of the sign test that more than half of all differences are above zero.

    It speaks of the median and does not mind how large a few differences are. One of exactly zero is not above it.

    Examples
    --------
    >>> sign_p([0.1, 0.2, 1e9]), sign_p([0.1, 0.2, -1e9]), sign_p([0.0, 0.0])
    (0.125, 0.5, 1.0)
    """
    numbers = np.asarray(differences, dtype=np.float64)
    return float(binom.sf(int((numbers > 0).sum()) - 1, len(numbers), 0.5))


@dataclass(frozen=True)
class PairPosterior:
    """What the data sets say of a pair of algorithms: three probabilities that sum to 1.

    Each is the posterior probability that, on further data sets, the first one is most likely ``better`` than the
    second by more than a margin, most likely practically ``equal`` to it, or most likely ``worse``.
    """

    better: float
    equal: float
    worse: float


def compare_over_datasets(differences: Sequence[float] | np.ndarray, margin: float) -> PairPosterior:
    """Return the Bayesian signed-rank test of a pair of algorithms, with a region of practical equivalence.

    A difference of each data set, at least one, is the score of the first algorithm less that of the second, more is
    better; what is not beyond the margin counts as equal.

    Notes
    -----
    From Benavoli, Corani, Demsar and Zaffalon, "Time for a change" (JMLR 18(77), 2017), with the prior of the code that
    they published with it. The data sets are draws from an unknown distribution of differences z_1, ..., z_n; its prior
    is a Dirichlet process, which is as much as a pseudo-observation z_0 = 0 of weight 1/2. So the posterior of the
    distribution is: weights w ~ Dirichlet(1/2, 1, ..., 1) on z_0, ..., z_n. For one draw of w,

        better = sum of w_i w_j over all i, j with z_i + z_j > 2 margin,
        worse = the same with z_i + z_j < -2 margin, equal = 1 - better - worse:

    where the mean of the differences on two data sets lies. What is returned is the share of 50,000 draws, from a fixed
    seed, in which each of the three is the largest. It depends on no other algorithm, and is not adjusted for how many
    pairs are compared. One data set can never reach 0.95 for better or worse.

    Examples
    --------
    >>> compare_over_datasets([0.001, -0.002, 0.0], 0.01)
    PairPosterior(better=0.0, equal=1.0, worse=0.0)
    >>> posterior = compare_over_datasets([0.05, 0.04, 0.09, -0.03], 0.01)
    >>> round(posterior.better, 2), round(posterior.equal, 2), round(posterior.worse, 2)
    (0.94, 0.01, 0.05)
    """
    values, weights = np.concatenate([[0.0], differences]), _draw_weights(len(differences))
    sums = values[:, None] + values
    better = ((weights @ (sums > 2 * margin)) * weights).sum(axis=1)
    worse = ((weights @ (sums < -2 * margin)) * weights).sum(axis=1)
    largest = np.argmax([better, 1 - better - worse, worse], axis=0)
    return PairPosterior(*(np.bincount(largest, minlength=3) / _POSTERIOR_DRAWS).tolist())


@cache
def _draw_weights(n: int) -> np.ndarray:
    """Return draws from the posterior of the weights of the pseudo-observation and of ``n`` data sets."""
    concentrations = np.concatenate([[_PRIOR_WEIGHT], np.ones(n)])
    return np.random.default_rng(0).dirichlet(concentrations, size=_POSTERIOR_DRAWS)


@cache
def nemenyi_difference(n_algorithms: int, n_datasets: int) -> float:
    """Return the critical difference of mean ranks of the Nemenyi test at 5 %; NaN where nothing is compared.

    If all algorithms were alike, some two of their mean ranks would differ by as much in 5 % of benchmarks. Unlike
    `compare_over_datasets` it depends on who else is in the pool.

    Notes
    -----
    Demsar, "Statistical comparisons of classifiers over multiple data sets" (JMLR 7, 2006), section 3.2.2:
    ``q sqrt(k (k + 1) / (6 N))``, with q the 95 % quantile of the studentised range over sqrt(2). It takes ranks from 1
    to k on each data set; where a rank is a mean over several epsilons, which vary less, it is on the safe side.

    Examples
    --------
    >>> round(nemenyi_difference(5, 30), 3), nemenyi_difference(5, 0)
    (1.114, nan)
    """
    if n_algorithms < 2 or not n_datasets:
        return math.nan
    quantile = float(studentized_range.ppf(LEVEL, n_algorithms, math.inf)) / math.sqrt(2)
    return quantile * math.sqrt(n_algorithms * (n_algorithms + 1) / (6 * n_datasets))
