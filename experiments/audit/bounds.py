"""Bounds of ε from counts: how far apart must two probabilities be, given how often an event was seen on either side?

An algorithm that is ε-differentially private gives every event on neighbouring tables probabilities p and q with
p <= e^ε q. Seen k times in n trainings on one table and l times in n on the other, the event bounds p from below and q
from above (Clopper and Pearson, 1934; they hold whatever p, q and n are), and log(p / q) bounds ε from below.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta

FALSE_ALARMS = 1e-3
"""Largest chance that any of the bounds of one algorithm, in all its pairs and both directions, exceeds its true ε."""
ROUNDING = 1e-9


def exceeds(epsilon: float, limit: float) -> bool:
    """Return whether an ε is larger than a limit, such as a claim, by more than rounding."""
    return epsilon > limit * (1 + ROUNDING)


def bound_probability_below(k: ArrayLike, n: int, alpha: float) -> np.ndarray:
    """Bound from below the probability of what was seen k times of n: the bound exceeds it with a chance of at most
    ``alpha``.

    Examples
    --------
    >>> round(float(bound_probability_below(10, 10, 0.05)), 4), float(bound_probability_below(0, 10, 0.05))
    (0.7411, 0.0)
    """
    k = np.asarray(k)
    return np.where(k > 0, beta.ppf(alpha, np.maximum(k, 1), n - k + 1), 0.0)


def bound_probability_above(k: ArrayLike, n: int, alpha: float) -> np.ndarray:
    """Bound a probability from above; see `bound_probability_below`.

    Examples
    --------
    >>> round(float(bound_probability_above(0, 10, 0.05)), 4)
    0.2589
    """
    k = np.asarray(k)
    return np.where(k < n, beta.ppf(1 - alpha, k + 1, np.maximum(n - k, 1)), 1.0)


def bound_epsilon_by_counts(k: ArrayLike, other: ArrayLike, n: int, alpha: float) -> Any:
    """Bound ε from below by how often an event was seen in n trainings on each of two neighbouring tables.

    Parameters
    ----------
    k, other : int or array
        Counts on the table where it is more likely, and on the other one. The bound is 0 where they tell nothing.
    n : int
        Trainings on each.
    alpha : float
        Chance that the bound is wrong; half of it goes to each of the two probabilities.

    Examples
    --------
    >>> round(float(bound_epsilon_by_counts(500, 180, 1000, 0.05)), 3)
    0.825
    >>> float(bound_epsilon_by_counts(180, 500, 1000, 0.05))
    0.0
    """
    p, q = bound_probability_below(k, n, alpha / 2), bound_probability_above(other, n, alpha / 2)
    return np.log(np.maximum(p / q, 1.0))


def find_largest_bound(n: int, alpha: float) -> float:
    """Return the largest bound that n trainings on each table can give: an event seen always there and never here.

    Examples
    --------
    >>> round(find_largest_bound(10_000, 1e-4), 2)
    6.92
    """
    return float(bound_epsilon_by_counts(n, 0, n, alpha))


def bound_epsilon_by_guesses(correct: int, guesses: int, alpha: float) -> float:
    """Bound ε from below by guesses at which of independently included records were there, after a single training.

    Of ``guesses``, ``correct`` were right; records without a guess do not count. The bound is wrong with a chance of
    ``alpha``.

    Notes
    -----
    If training is ε-differentially private for one record added or removed, the number of right guesses is dominated by
    Binomial(guesses, e^ε / (1 + e^ε)), given which records were guessed at (Steinke, Nasr, Jagielski: Privacy auditing
    with one (1) training run, NeurIPS 2023, the main theorem with δ = 0). So a bound of the share of right guesses from
    below, by Clopper and Pearson, is e^ε / (1 + e^ε) for the ε that bounds the true one.

    Examples
    --------
    >>> round(bound_epsilon_by_guesses(731, 1000, 0.05), 3), bound_epsilon_by_guesses(500, 1000, 0.05)
    (0.881, 0.0)
    """
    share = float(bound_probability_below(correct, guesses, alpha)) if guesses else 0.0
    return math.log(share / (1 - share)) if share > 0.5 else 0.0
