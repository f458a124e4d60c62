"""The readings that cannot be told from the best: a model confidence set.

Hansen, Lunde and Nason, "The model confidence set", Econometrica 79(2), 2011. Of all models the one is dropped that is
worst beside the average of those that are left, as long as a test says that they are not all equally good. What stays
contains the best with the level of the test, however many there were: the luck of the best of many is paid for.
"""

from __future__ import annotations

import numpy as np


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


_ROUNDING = 1e-12
"""What is left of a spread of exactly zero after a sum of floats, as a share of the losses."""


def _divide(distances: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Return distances in units of their errors; without any error, the sign decides."""
    scaled = np.divide(distances, errors, out=np.zeros_like(distances), where=errors > 0)
    is_certain = (errors == 0) & (np.abs(distances) > _ROUNDING)
    return np.where(is_certain, np.copysign(np.inf, distances), scaled)
