"""Exact chances of a mean of further runs, whatever the distribution of the runs.

The one fact used: n runs and m further ones of the same code and the same rows can be exchanged. The n runs cut the
range of the metric into n + 1 gaps, and every way to spread m further runs over the gaps has the same chance, one in
C(n + m, m) (Wilks 1941; Fligner and Wolfe 1976). No further run exceeds the upper end of its gap, where that of the
last gap is the bound of the metric. So the mean of the m upper ends bounds the mean of the m further runs, and its
distribution can be counted. For an infinite m it is the bound of Gaffke (2005) on a mean.

Of a metric bounded by 1, a mean of m runs near 1 leaves none of them much room. "All m lie above what K of our n reach"
has the chance C(m + K, m) / C(n + m, m); that and the versions for "at least J of the m" are parts of what is counted
here, so that no correction for the thresholds looked at is needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

_STEPS = 10_240  # of the grid of sums; ends of gaps are rounded away from our runs, which only makes chances larger
_MOST_FURTHER = 100  # counts of more would overflow


class HighestMean:
    """How high the mean of m further runs may come, by our n runs, at least one, and the top of the metric.

    The top is infinite where there is none. Beyond 100 further runs nothing is counted and every chance is 1.

    Examples
    --------
    >>> ours = HighestMean([0.8, 0.9, 0.7], n_further=2, top=1.0)
    >>> ours.chance_at_least(0.98)  # both above all three of ours: 1 / C(5, 2)
    0.1
    >>> HighestMean([0.8, 0.9, 0.7], n_further=1, top=math.inf).chance_at_least(5.0)  # the highest of four
    0.25
    """

    def __init__(self, values: Sequence[float] | np.ndarray, n_further: int, top: float):
        self.values = np.sort(np.asarray(values, dtype=np.float64))
        self.n_further, self.top = n_further, top

    def chance_at_least(self, least: float) -> float:
        """Return the chance, at most, that the mean is at least so high; 1 up to the mean of our own runs."""
        if least > self.top:
            return 0.0
        if least <= self.values.mean() or self.n_further > _MOST_FURTHER:
            return 1.0
        if least > self._ends[-1]:
            return self._chance_beyond
        step = math.floor(round((least - self._bottom) / self._step_size, 6))
        return float(self._tail[min(step, len(self._tail) - 1)])

    def find_end(self, level: float) -> float:
        """Return the value that the mean exceeds with so small a chance; the top of the metric if there is none."""
        if self.n_further > _MOST_FURTHER or self._chance_beyond >= level:
            return self.top
        small = np.flatnonzero(self._tail < level)
        if not len(small):
            return self.top
        return min(self.top, float(self._bottom + small[0] * self._step_size))

    @property
    def _bottom(self) -> float:
        return float(self.values[0])

    @cached_property
    def _ends(self) -> np.ndarray:
        """The upper ends of the gaps, those at infinity left out."""
        return np.append(self.values, self.top) if math.isfinite(self.top) else self.values

    @cached_property
    def _step_size(self) -> float:
        """Of the grid, on the scale of a mean."""
        return (float(self._ends[-1]) - self._bottom) / (self._steps_of_run * self.n_further)

    @property
    def _steps_of_run(self) -> int:
        return max(64, _STEPS // self.n_further)

    @property
    def _chance_beyond(self) -> float:
        """The chance that some run falls into a gap without end."""
        return 0.0 if math.isfinite(self.top) else self.n_further / (len(self.values) + self.n_further)

    @cached_property
    def _tail(self) -> np.ndarray:
        """The chance that the sum of the ends is at least each step of the grid."""
        ways = np.zeros((self.n_further + 1, self._steps_of_run * self.n_further + 1))
        ways[0, 0] = 1.0
        for end in self._ends:
            step = math.ceil(round((end - self._bottom) / (self._step_size * self.n_further), 6))
            for j in range(1, self.n_further + 1):
                n_sums = (j - 1) * self._steps_of_run + 1  # of one end less: no sum is larger
                ways[j, step : step + n_sums] += ways[j - 1, :n_sums]
        total = math.comb(len(self.values) + self.n_further, self.n_further)
        return np.cumsum(ways[-1, ::-1])[::-1] / total + self._chance_beyond
