"""How far a reading is from what is printed, what of that is noise, and how sure it is.

Our mean of n repeats misses what it estimates by s²/n on average, squared, so that the root mean square of "ours minus
printed" is too large for a noisy reading even if it is the paper's own code. That part is subtracted. The print's own
noise, s²/m of means over m runs, stays in it: every reading carries the same.

Uncertainty is that of our repeats, by a bootstrap of them: the same draws for all targets and all readings, since
repeat r has the same split everywhere. The print is taken as it is.

The readings that cannot be told from the best are a model confidence set:
Hansen, Lunde and Nason, "The model confidence set", Econometrica 79(2), 2011. Of all models the one is dropped that is
worst beside the average of those that are left, as long as a test says that they are not all equally good. What stays
contains the best with the level of the test, however many there were: the luck of the best of many is paid for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from experiments.stats import ALPHA

N_DRAWS = 2000
_ROUNDING = 1e-12
"""What is left of a spread of exactly zero after a sum of floats, as a share of the losses."""
_CLEARLY = 2.5
"""Standard errors that a bound lies away: two readings whose bounds part differ by 3.5 of their difference or more."""


@dataclass(frozen=True)
class Errors:
    """What a reading gave, beside what is printed."""

    #: Float64 array of shape (n_targets, n_repeats): ours minus what is printed; of orderings, by how much they come
    #: out as claimed. No columns where cells are missing; NaN where a metric is undefined.
    values: np.ndarray
    is_of_orderings: bool
    #: Runs whose mean a printed number is, at least 1.
    printed_repeats: int

    @property
    def n_repeats(self) -> int:
        """Repeats that there are."""
        return self.values.shape[1]

    @property
    def is_defined(self) -> bool:
        """Whether there is a distance at all."""
        return self.n_repeats > 0 and not np.isnan(self.values).any()

    @property
    def loss(self) -> float:
        """The mean squared distance without our own noise, below zero by chance; of orderings the share that is off."""
        if not self.is_defined:
            return math.nan
        if self.is_of_orderings:
            return float(np.mean(self.values.mean(axis=1) <= 0))
        return float(np.mean(self.values.mean(axis=1) ** 2 - self._own_variances))

    @property
    def distance(self) -> float:
        """The root mean square distance without our own noise, at least 0; of orderings the share that is off."""
        return self._to_distance(self.loss)

    @property
    def uncorrected(self) -> float:
        """The distance with our own noise in it."""
        if self.is_of_orderings or not self.is_defined:
            return self.loss
        return float(np.sqrt(np.mean(self.values.mean(axis=1) ** 2)))

    @property
    def noise_floor(self) -> float:
        """The uncorrected distance that noise alone leaves if this is the paper's code: rms of s²(1/n + 1/m)."""
        if self.is_of_orderings or not self.is_defined or self.n_repeats < 2:
            return math.nan
        of_print = self._own_variances * self.n_repeats / self.printed_repeats
        return float(np.sqrt(np.mean(self._own_variances + of_print)))

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest loss that few repeats clearly leave room for.

        Of numbers, 2.5 standard errors around the loss, as if targets were independent. Of orderings, the share that
        every repeat has the wrong way round, and the share that not every repeat has the right way round.
        """
        if self.is_of_orderings:
            is_wrong = self.values <= 0
            return float(np.mean(is_wrong.all(axis=1))), float(np.mean(is_wrong.any(axis=1)))
        means, variances = self.values.mean(axis=1), self._own_variances
        error = np.sqrt(np.mean(4 * means**2 * variances + 2 * variances**2) / len(means))
        return float(self.loss - _CLEARLY * error), float(self.loss + _CLEARLY * error)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the distance, from the bootstrap; NaN of a single repeat."""
        if not self.is_defined or self.n_repeats < 2:
            return math.nan, math.nan
        low, high = np.quantile(self.resample_loss(), [ALPHA / 2, 1 - ALPHA / 2])
        return self._to_distance(float(low)), self._to_distance(float(high))

    def resample_loss(self) -> np.ndarray:
        """Return the loss around its value, as other repeats would have it, of each draw of the bootstrap.

        The draws spread too little where repeats are few: they are widened as a t-interval is.
        """
        means = self.values @ draw_weights(self.n_repeats)
        losses = np.mean(means <= 0, axis=0) if self.is_of_orderings else np.mean(means**2, axis=0)
        n = self.n_repeats  # too little by the variance of few, and as that is estimated
        widened = math.sqrt(n / (n - 1)) * float(student.ppf(1 - ALPHA / 2, n - 1) / norm.ppf(1 - ALPHA / 2))
        around = self.loss + (losses - losses.mean()) * widened
        return np.clip(around, 0, 1) if self.is_of_orderings else around

    def select(self, targets: Sequence[int]) -> Errors:
        """Return what it gave for some of the targets."""
        return replace(self, values=self.values[list(targets)])

    @property
    def _own_variances(self) -> np.ndarray:
        """The variance of each of our means; 0 of a single repeat, of which nothing is known."""
        if self.n_repeats < 2:
            return np.zeros(len(self.values))
        return self.values.var(axis=1, ddof=1) / self.n_repeats

    def _to_distance(self, loss: float) -> float:
        return loss if self.is_of_orderings or math.isnan(loss) else math.sqrt(max(loss, 0.0))


@cache
def draw_weights(n_repeats: int) -> np.ndarray:
    """Return how often each draw of the bootstrap takes each repeat (a row), as shares: the same for every reading."""
    counts = np.random.default_rng(0).multinomial(n_repeats, [1 / n_repeats] * n_repeats, size=N_DRAWS)
    return counts.T / n_repeats


def compute_set_p_values(losses: np.ndarray, resampled: np.ndarray) -> np.ndarray:
    """Return the p-value with which each model belongs to the set of the best, from losses: the smaller the better.

    Resampled are the same of bootstrap draws, one row for all models. Models with a p-value of at least α are the set
    of level 1 - α. That of the last one left is 1.

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal([1.0, 1.0, 9.0], 0.1, size=(500, 3))
    >>> compute_set_p_values(np.array([1.0, 1.05, 9.0]), draws).round(1)
    array([1. , 0.7, 0. ])
    """
    p_values, p_so_far = np.ones(len(losses)), 0.0
    left = np.arange(len(losses))
    spread = resampled - resampled.mean(axis=0)
    while len(left) > 1:
        behind = losses[left] - losses[left].mean()
        around = spread[:, left] - spread[:, left].mean(axis=1, keepdims=True)
        errors = np.sqrt(np.mean(around**2, axis=0))
        errors[errors <= _ROUNDING * np.abs(losses[left]).max()] = 0.0
        statistic = _divide(behind, errors)
        worst = int(np.argmax(statistic))
        p = float(np.mean(_divide(around, errors).max(axis=1) >= statistic[worst]))
        p_so_far = max(p_so_far, p)
        p_values[left[worst]] = p_so_far
        left = np.delete(left, worst)
    return p_values


def _divide(distances: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Return distances in units of their errors; without any error, the sign decides."""
    scaled = np.divide(distances, errors, out=np.zeros_like(distances), where=errors > 0)
    is_certain = (errors == 0) & (np.abs(distances) > _ROUNDING)
    return np.where(is_certain, np.copysign(np.inf, distances), scaled)
