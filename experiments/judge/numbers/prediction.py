"""What the mean of m further runs of a setting may be, given our n: the null of every verdict on a printed number.

Prediction intervals are how replications are judged (Patil, Peng and Leek 2016). Ours has two parts.

- **Studentised bootstrap** (Mojirsheibani 1998; Hall 1992 of skewness): T = (mean of m - mean of n) / (spread of n),
  with both samples drawn from our runs. One pseudo-observation of our spread keeps T finite where a resample has none.
  Of each side the wider one is taken, that of T or of Student's t: the mean ± t·s·sqrt(1/n + 1/m).
- **Exact chances** (`order_chance`), which use that a metric is bounded. Whatever they exclude is excluded, and nothing
  lies beyond the bounds. Towards an end where the metric has no bound, and where our runs have a long tail (their
  skewness exceeds 1.5), they alone count: of a mean that one wild run decides, a bootstrap of ten runs knows nothing.

Runs that all agree have no spread to resample: they predict their own value, and only the exact chances speak of
another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

import numpy as np
from scipy.stats import norm, skew
from scipy.stats import t as student

from experiments.judge.numbers.order_chance import HighestMean
from experiments.metrics.metric import MetricRange
from experiments.stats import ALPHA, Interval

_DRAWS = 9_999
_BATCHES = 9  # so that a thousand runs are not drawn ten thousand times at once
_FEW = 128  # runs: how often each is drawn is then kept for the next prediction
_LONG_TAIL = 1.5
_ROUNDING = 1e-9


class Prediction:
    """The predictive distribution of the mean of m further runs, by our n runs, at least two, and the metric's bounds.

    Examples
    --------
    >>> ours = Prediction([0.78, 0.79, 0.80, 0.81, 0.82], n_further=5, bounds=MetricRange(0.0, 1.0))
    >>> interval = ours.interval()
    >>> round(interval.low, 3), round(interval.high, 3), ours.chance_of(0.80), ours.chance_of(0.99) < 0.01
    (0.772, 0.828, 1.0, True)
    """

    def __init__(self, values: Sequence[float] | np.ndarray, n_further: int, bounds: MetricRange):
        self.values = np.sort(np.asarray(values, dtype=np.float64))
        self.n_further, self.bounds = n_further, bounds

    @property
    def n(self) -> int:
        """Number of our runs."""
        return len(self.values)

    @cached_property
    def center(self) -> float:
        """Our mean."""
        return float(self.values.mean())

    @cached_property
    def spread(self) -> float:
        """The standard deviation of our runs; exactly 0 if all agree."""
        return 0.0 if np.ptp(self.values) == 0 else float(self.values.std(ddof=1))

    def interval(self) -> Interval:
        """Return the interval that holds the mean of the further runs with 95 %."""
        low, high = self.differences(ALPHA / 2)
        if not self.spread:
            return Interval(self.n, self.center, self.center, self.center)
        low = max(self.center + low, -self._lowest.find_end(ALPHA / 2), self.bounds.low)
        high = min(self.center + high, self._highest.find_end(ALPHA / 2), self.bounds.high)
        return Interval(self.n, self.center, low, high)

    def differences(self, tail: float) -> tuple[float, float]:
        """Return between which values the further mean less ours lies, each end missed with a chance of ``tail``."""
        if not self.spread:
            return 0.0, 0.0
        rank = round(tail * (_DRAWS + 1)) - 1
        reach = float(student.ppf(1 - tail, self.n - 1)) * self._standard_error
        low = min(self._draws[rank - 1], -reach) if self._is_bootstrapped_below else -math.inf
        high = max(self._draws[-rank], reach) if self._is_bootstrapped_above else math.inf
        return self.spread * float(low), self.spread * float(high)

    def chance_of(self, value: float, slack: float = 0.0) -> float:
        """Return the two-sided chance of a mean at least as far out as a value that may be off by ``slack``."""
        above, below = self.chance_at_least(value - slack), self.chance_at_most(value + slack)
        return min(1.0, 2 * min(above, below))

    def chance_at_least(self, value: float) -> float:
        """Return the chance of a mean at least so high."""
        exact = self._highest.chance_at_least(value)
        if not self.spread or not self._is_bootstrapped_above:
            return exact
        return min(exact, self._approximate((value - self.center) / self.spread, self._draws))

    def chance_at_most(self, value: float) -> float:
        """Return the chance of a mean at most so high."""
        exact = self._lowest.chance_at_least(-value)
        if not self.spread or not self._is_bootstrapped_below:
            return exact
        return min(exact, self._approximate((self.center - value) / self.spread, -self._draws[::-1]))

    def exact_chance(self, value: float) -> float:
        """Return the exact one-sided chance, at most, of a mean at least as far out."""
        return min(self._highest.chance_at_least(value), self._lowest.chance_at_least(-value))

    @cached_property
    def floor(self) -> float:
        """The half-width that is left with endless repeats of ours: z·s/sqrt(m), the print's own noise."""
        return float(norm.ppf(1 - ALPHA / 2)) * self.spread / math.sqrt(self.n_further)

    @property
    def is_exhausted(self) -> bool:
        """Whether more repeats of ours would narrow a t-interval by less than 5 % of its floor."""
        reach = float(student.ppf(1 - ALPHA / 2, self.n - 1)) * self._standard_error
        return reach <= 1.05 * float(norm.ppf(1 - ALPHA / 2)) / math.sqrt(self.n_further)

    @property
    def _standard_error(self) -> float:
        return math.sqrt(1 / self.n + 1 / self.n_further)

    def _approximate(self, distance: float, draws: np.ndarray) -> float:
        n_as_far = len(draws) - np.searchsorted(draws, distance - _ROUNDING)
        return float(max(student.sf(distance / self._standard_error, self.n - 1), (1 + n_as_far) / (1 + _DRAWS)))

    @cached_property
    def _draws(self) -> np.ndarray:
        """T of every draw, ascending: a function of our runs alone, whatever their order."""
        values, n = self.values - self.center, self.n
        draws = []
        for ours, theirs in _count_draws(n, self.n_further) if n <= _FEW else _draw_counts(n, self.n_further):
            mean = ours @ values / n
            variance = (ours @ values**2 - n * mean**2 + self.spread**2) / n  # their n - 1 degrees, and one of ours
            draws.append((theirs @ values / self.n_further - mean) / np.sqrt(variance))
        return np.sort(np.concatenate(draws))

    @property
    def _is_bootstrapped_above(self) -> bool:
        return math.isfinite(self.bounds.high) or self._skewness <= _LONG_TAIL

    @property
    def _is_bootstrapped_below(self) -> bool:
        return math.isfinite(self.bounds.low) or self._skewness >= -_LONG_TAIL

    @cached_property
    def _skewness(self) -> float:
        return float(skew(self.values))

    @cached_property
    def _highest(self) -> HighestMean:
        return HighestMean(self.values, self.n_further, self.bounds.high)

    @cached_property
    def _lowest(self) -> HighestMean:
        """Of the values with the other sign."""
        return HighestMean(-self.values, self.n_further, -self.bounds.low)


@lru_cache(maxsize=4)
def _count_draws(n: int, n_further: int) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    return tuple(_draw_counts(n, n_further))


def _draw_counts(n: int, n_further: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield how often each of n runs is drawn into samples of n, and of ``n_further``: arrays of (draws, n)."""
    rng = np.random.default_rng(0)
    for _ in range(_BATCHES):
        counts = []
        for size in (n, n_further):
            drawn = rng.integers(0, n, (_DRAWS // _BATCHES, size)) + n * np.arange(_DRAWS // _BATCHES)[:, None]
            counts.append(np.bincount(drawn.ravel(), minlength=n * len(drawn)).reshape(-1, n).astype(np.float64))
        yield counts[0], counts[1]
