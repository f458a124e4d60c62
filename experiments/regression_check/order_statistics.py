"""What further runs of unchanged code may give, exactly and whatever their distribution.

Accuracies under noise have several modes and R² has tails without end, so that an interval of so many standard errors
says little about one false alarm in ten million. Everything here rests on one fact only: n runs and m further ones of
the same code can be exchanged, every order of all n + m values has the same chance.

A band is the range between two of the n values, and what is asked of it is the median of the m further ones. That the
median lies above the j-th largest of n means that at least half of the m do, which is a matter of order alone and has a
hypergeometric chance. Equal values only make it smaller.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.stats import binom, hypergeom

from experiments.errors import BadInput

FALSE_ALARMS = 1e-4
"""The chance that a check of all papers raises any alarm although nothing has changed but the random numbers."""

MOST_TESTS = 1000
"""Bands and claims of all papers together, at most. Each gets an equal part of the false alarms (union bound), used or
not, so that the bands of one paper do not depend on those of another."""

LEVEL = FALSE_ALARMS / MOST_TESTS
POWER = 0.9
_ROUNDING = 1e-9


class Band(NamedTuple):
    """The range in which the median of further runs is accepted."""

    n: int  #: runs that it was made from
    median: float  #: of these
    low: float  #: the ends, both accepted
    high: float
    detects: float  #: the median of further runs leaves it nine times in ten if all are shifted by this, up or down

    def measure_excess(self, value: float) -> float:
        """Return how far a median lies outside, with its sign; 0 inside. Rounding is no way out of a narrow band.

        Examples
        --------
        >>> band = Band(200, 0.5, 0.4, 0.6, 0.1)
        >>> round(band.measure_excess(0.65), 3), band.measure_excess(0.6 + 1e-12), round(band.measure_excess(0.3), 3)
        (0.05, 0.0, -0.1)
        """
        end = min(max(value, self.low), self.high)
        return 0.0 if math.isclose(value, end, rel_tol=_ROUNDING, abs_tol=1e-12) else value - end


def make_band(values: Sequence[float] | np.ndarray, n_further: int) -> Band:
    """Return the band of some runs, a value of each, for the median of further ones; BadInput if these are too few.

    Examples
    --------
    >>> band = make_band(range(200), 21)
    >>> band.low, band.high
    (9.0, 190.0)
    """
    numbers = np.sort(np.asarray(values, dtype=np.float64))
    n = len(numbers)
    outer = _find_rank(n, n_further, LEVEL / 2)
    if not outer:
        raise BadInput(f"{n} runs are too few for a band of the median of {n_further}; take more of either")
    inner = _find_rank(n, n_further, 1 - POWER)
    low, high = numbers[outer - 1], numbers[n - outer]
    detects = max(high - numbers[inner - 1], numbers[n - inner] - low)
    return Band(n, *map(float, (np.median(numbers), low, high, detects)))


@cache
def _find_rank(n: int, n_further: int, level: float) -> int:
    """Return the largest j such that the median of further runs exceeds the j-th largest of n with this chance at most.

    At least k of the further runs exceed it if k of them stand among the first k + j - 1 of all. 0 if there is no j.
    """
    k, j = (n_further + 1) // 2, 0
    while j < n and hypergeom.sf(k - 1, n + n_further, n_further, k + j) <= level:
        j += 1
    return j


@cache
def most_against(n: int, n_further: int, too_many: int, level: float) -> int:
    """Return how many of n runs may speak against something if few further ones are to do so, -1 if there is none.

    Whatever the share of all runs that speak against it, the chance that no more than the returned number of n runs do,
    and at least ``too_many`` further ones, which would speak too loud, is below the level.

    Examples
    --------
    >>> most_against(200, 21, 11, 1e-7), most_against(200, 21, 3, 1e-7)
    (13, -1)
    """
    share = np.linspace(0, 1, 10_001)
    loud = binom.sf(too_many - 1, n_further, share)
    allowed = -1
    while allowed < n and (binom.cdf(allowed + 1, n, share) * loud).max() <= level:
        allowed += 1
    return allowed
