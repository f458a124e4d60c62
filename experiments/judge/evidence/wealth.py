"""Testing by betting: how rich a gambler gets who bets that a mean is above zero.

He starts with 1 and stakes a share of what he has on every run. If the mean is at most zero, his wealth is expected to
fall or to stay, whatever the distribution; so it ever reaches 1/α with probability at most α (Ville 1939), and one may
look at it after every run without paying for the look. All that is assumed is that runs are independent and that no
gain lies below a bound that is known beforehand. A collapse that has not been seen yet is therefore allowed for, as no
t-test does: n equal gains of c, on a scale on which a run may lose 1, make nobody richer than (1 + c)^n.

The share is not known that wins most. He divides his money among seventeen gamblers with fixed shares, half of it to
the boldest, and his wealth is the sum of theirs. It does not depend on the order of the runs.

References
----------
Waudby-Smith and Ramdas (2024): Estimating means of bounded random variables by betting. J. R. Stat. Soc. B 86(1).
Shafer (2021): Testing by betting. J. R. Stat. Soc. A 184(2).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

_HALVINGS = np.arange(17) / 2
_SHARES = 2.0**-_HALVINGS
"""Shares of the largest stake that cannot be lost twice: from all of it to a 256th."""
_MONEY = 1 / ((np.arange(17) + 1) * (np.arange(17) + 2))
_LOG_MONEY = np.log(_MONEY / _MONEY.sum())
_HOPE = 3.0
"""Standard errors by which the runs to come may be better than those so far."""


def compute_log_wealth(gains: np.ndarray, most_lost: float = 1.0) -> np.ndarray:
    """Return the natural logarithm of the wealth after each run of a gambler who bets that the mean gain is above zero.

    Gains of shape (..., n), a row for each bet, give (..., n + 1): the first is 0, before any run. The most that a run
    can lose is known before; ValueError if a gain lies below ``-most_lost``.

    Examples
    --------
    >>> compute_log_wealth(np.full(3, 1.0)).round(2)
    array([0.  , 0.55, 1.14, 1.75])
    """
    shares = np.asarray(gains, dtype=np.float64) / most_lost
    if (shares < -1 - 1e-9).any():
        raise ValueError(f"a run lost {-shares.min() * most_lost:g}, more than the {most_lost:g} that it can lose")
    wealth = np.zeros((*shares.shape[:-1], len(_SHARES), shares.shape[-1] + 1))
    np.cumsum(_grow_at_all_shares(np.maximum(shares, -1.0)), axis=-1, out=wealth[..., 1:])
    return np.logaddexp.reduce(wealth + _LOG_MONEY[:, np.newaxis], axis=-2)


def project_log_wealth(gains: np.ndarray, most_lost: float = 1.0, *, n_made: int, n_runs: int) -> np.ndarray:
    """Return the logarithm of the wealth that each bet may hope for after more runs than the first ``n_made``.

    To what each of the seventeen gamblers has after the first runs comes what he would win if all others were like
    these, but better by three standard errors of their mean: as well as can be expected. It is a forecast, good to tell
    where more runs are in vain, and proves nothing. It is infinite where fewer than two runs were made.

    Examples
    --------
    >>> even, better = np.array([0.2, -0.2] * 20), np.array([0.3, -0.1] * 20)
    >>> project_log_wealth(np.array([even, better]), n_made=40, n_runs=80).round(1)
    array([1.9, 9.1])
    """
    if n_made < 2:
        return np.full(np.shape(gains)[:-1], math.inf)
    shares = np.maximum(np.asarray(gains, dtype=np.float64)[..., :n_made] / most_lost, -1.0)
    hoped = shares + _HOPE * shares.std(axis=-1, ddof=1, keepdims=True) / math.sqrt(n_made)
    made, growth = _grow_at_all_shares(shares).sum(axis=-1), _grow_at_all_shares(hoped).mean(axis=-1)
    return np.logaddexp.reduce(made + (n_runs - n_made) * growth + _LOG_MONEY, axis=-1)


def project_sign_wealth(signs: np.ndarray, *, n_made: int, n_runs: int) -> np.ndarray:
    """Return what `project_log_wealth` returns of gains that are +1 or -1.

    It depends on nothing but how many of the runs gained, so that papers with many claims ask for the same forecasts.

    Examples
    --------
    >>> float(project_sign_wealth(np.array([1.0, -1.0, 1.0, 1.0]), n_made=4, n_runs=8).round(2))
    2.37
    """
    n_gained = (np.asarray(signs)[..., :n_made] > 0).sum(axis=-1)
    forecasts = [_project_gained(int(gained), n_made, n_runs) for gained in n_gained.flat]
    return np.array(forecasts).reshape(n_gained.shape)


@lru_cache(maxsize=10_000)
def _project_gained(n_gained: int, n_made: int, n_runs: int) -> float:
    signs = np.repeat([1.0, -1.0], [n_gained, n_made - n_gained])
    return float(project_log_wealth(signs, n_made=n_made, n_runs=n_runs))


def _grow_at_all_shares(gains: np.ndarray) -> np.ndarray:
    """Return the logarithm by which each run multiplies what each gambler has: shape (..., 17, n)."""
    with np.errstate(divide="ignore"):  # who stakes all of it may lose all of it
        return np.log1p(_SHARES[:, np.newaxis] * gains[..., np.newaxis, :])


def sign_gains(gains: np.ndarray, rounding: float = 1e-12) -> np.ndarray:
    """Return +1 for each gain above zero and -1 for all others: bets that most runs gain.

    Examples
    --------
    >>> sign_gains(np.array([0.2, 0.0, -3.0]))
    array([ 1., -1., -1.])
    """
    return np.where(np.asarray(gains) > rounding, 1.0, -1.0)


def average_log_wealth(log_wealth: np.ndarray) -> float:
    """Return the logarithm of the average wealth of several gamblers: proof that at least one of them is right.

    Examples
    --------
    >>> round(average_log_wealth(np.log([1.0, 3.0])), 4) == round(math.log(2), 4)
    True
    """
    return float(np.logaddexp.reduce(log_wealth)) - math.log(len(log_wealth))
