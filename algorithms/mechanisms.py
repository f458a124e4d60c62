"""The randomised mechanisms: every draw of noise in this package happens here.

Each takes what it protects, a sensitivity, an epsilon and a ``numpy.random.Generator``, so that the calls of a training
run can be recorded and replayed on a neighbouring table. What it returns is epsilon-differentially private.

- The sensitivity is the largest change of what is protected between neighbouring tables, which differ by one record
  added or removed, unless said otherwise; of scores, the largest change of any of them. It is positive.
- The epsilon is the budget of all that is returned, in (0, inf]; ``epsilon=inf`` is the noise-free limit.
- A sensitivity or an epsilon that is not positive is a ``ValueError``.

Selections pay half where scores are **monotone**: where an added record raises no score, or lowers none (counts, the
max operator, count-weighted impurities, sums of squared errors). All candidates then move the same way by at most the
sensitivity, so that their differences, which are all that a selection looks at, move by the sensitivity and not by
twice as much, and the 2 in the exponent goes. For the exponential mechanism: a record multiplies every weight by a
factor from 1 to exp(epsilon), and so their sum. For permute-and-flip: it moves what the noise of a candidate must
exceed by at most the sensitivity, which changes that probability by a factor of at most exp(epsilon). See Dwork & Roth
(2014, section 3.3) for noisy maxima of counts. It does not hold where a record is replaced: one score may rise while
another falls.

Numpy's generator is made for experiments. Floating-point Laplace noise can leak through its low-order bits (Mironov,
2012); do not release a model of real people's data with it. With a `secure.SecureGenerator` in its place the same laws
are drawn from by OpenDP.
"""

from __future__ import annotations

import math

import numpy as np

from algorithms import opendp_noise
from algorithms.opendp_noise import is_secure


def laplace(value, sensitivity, epsilon, rng):
    """Add Laplace noise of scale ``sensitivity / epsilon`` to a number (Dwork et al., 2006).

    Examples
    --------
    >>> laplace(3.0, 1.0, np.inf, np.random.default_rng(0))
    3.0
    """
    if not (sensitivity > 0 and epsilon > 0):
        raise ValueError("laplace: sensitivity and epsilon must be positive")
    if epsilon == np.inf:
        return value
    if is_secure(rng):
        return opendp_noise.noisy_number(value, sensitivity, epsilon)
    return value + rng.laplace(0.0, sensitivity / epsilon)


def laplace_vector(values, sensitivity, epsilon, rng):
    """Add independent Laplace noise to each entry of a vector of shape (c,), whose change is measured in the L1 norm.

    Examples
    --------
    >>> laplace_vector(np.array([3, 1]), 1.0, np.inf, np.random.default_rng(0))
    array([3., 1.])
    """
    if not (sensitivity > 0 and epsilon > 0):
        raise ValueError("laplace: sensitivity and epsilon must be positive")
    if epsilon == np.inf:
        return values.astype(np.float64)
    if is_secure(rng):
        return opendp_noise.noisy_numbers(values, sensitivity, epsilon)
    return values + rng.laplace(0.0, sensitivity / epsilon, values.shape)


def sup_norm_vector(values, sensitivity, epsilon, rng):
    """Add noise to a vector whose entries may all change together: the K-norm mechanism of the maximum norm.

    Source: Hardt & Talwar (2010); Awan & Slavković (2021) for regression. The vector has at least one entry; of the
    generator one gamma variate and m uniform numbers are taken; of a ``SecureGenerator``, epsilon must be at least
    2^-25.

    Notes
    -----
    The noise x has a density in proportion to exp(-epsilon max|x_i| / sensitivity): a change of every entry by at most
    the sensitivity changes the maximum by no more. It is a point drawn evenly from the cube [-1, 1]^m, times a radius
    of Gamma(m + 1). The standard deviation of an entry is ``sup_norm_spread(m) * sensitivity / epsilon``; independent
    Laplace noise, whose sensitivity is m times as large where all entries change, has √2 m instead: for large m 2.4
    times more.

    Examples
    --------
    >>> sup_norm_vector(np.array([3.0, 1.0]), 1.0, np.inf, np.random.default_rng(0))
    array([3., 1.])
    """
    if not (sensitivity > 0 and epsilon > 0):
        raise ValueError("sup_norm_vector: sensitivity and epsilon must be positive")
    if epsilon == np.inf:
        return values.copy()
    if is_secure(rng):
        return opendp_noise.noisy_together(values, sensitivity, epsilon)
    radius = rng.standard_gamma(len(values) + 1.0) * (sensitivity / epsilon)
    return values + radius * (2.0 * rng.random(values.shape) - 1.0)


def sup_norm_spread(m):
    """Return the standard deviation of an entry of ``sup_norm_vector`` of m, where sensitivity and epsilon are 1.

    Examples
    --------
    >>> sup_norm_spread(1), round(sup_norm_spread(14), 3)
    (1.4142135623730951, 8.944)
    """
    return float(np.sqrt((m + 1) * (m + 2) / 3))  # E[Gamma(m + 1)²] = (m + 1)(m + 2), that of the cube is 1/3


def mix_bits(key):
    """Return 64 bits that look random but are a function of a 64-bit key (the finaliser of SplitMix64)."""
    key = (int(key) + 0x9E3779B97F4A7C15) % 2**64
    key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    key = (key ^ (key >> 27)) * 0x94D049BB133111EB % 2**64
    return np.uint64(key ^ (key >> 31))


def uniform_of(key):
    """Return a number in (0, 1) that is a function of a 64-bit key, evenly spread over the keys."""
    return (np.float64(mix_bits(key) >> np.uint64(12)) + 0.5) * 2.0**-52


def laplace_of(key, value, sensitivity, epsilon):
    """Add Laplace noise that is a function of a key: for answers that are given only when somebody asks.

    The key is a uint64 that names the answer; drawn at random once, or mixed from a key that was. The same answer
    always gets the same noise, so that asking again tells nothing new; different keys give independent noise.

    Examples
    --------
    >>> laplace_of(np.uint64(7), 3.0, 1.0, 0.5) == laplace_of(np.uint64(7), 3.0, 1.0, 0.5) != 3.0
    True
    """
    if not (sensitivity > 0 and epsilon > 0):
        raise ValueError("laplace_of: sensitivity and epsilon must be positive")
    if epsilon == np.inf:
        return value
    u = uniform_of(key)
    noise = math.log(2.0 * u) if u < 0.5 else -math.log(2.0 * (1.0 - u))
    return value + noise * (sensitivity / epsilon)


def exponential(quality, measure, sensitivity, epsilon, rng, monotone=False):
    """Draw a candidate with probability proportional to ``measure * exp(epsilon * quality / (2 * sensitivity))``.

    Returns its index (McSherry & Talwar, 2007). Without noise, one of the best is drawn in proportion to its measure.
    One uniform number is taken, whatever epsilon is; with a ``SecureGenerator`` OpenDP draws.

    Parameters
    ----------
    quality : float array of shape (r,)
        Score of each candidate, larger is better; at least one.
    measure : float array of shape (r,)
        Base measure, for example the length of an interval; non-negative, not all zero, which is a ``ValueError``. It
        is trusted to be public.
    monotone : bool, default=False
        An added record raises no score, or lowers none: the exponent is ``epsilon * quality / sensitivity``.

    Examples
    --------
    >>> exponential(np.array([0.0, 2.0]), np.ones(2), 1.0, np.inf, np.random.default_rng(0))
    1
    """
    if not (sensitivity > 0 and epsilon > 0):
        raise ValueError("exponential: sensitivity and epsilon must be positive")
    if monotone:
        sensitivity = 0.5 * sensitivity  # all weights move one way
    if epsilon < np.inf and is_secure(rng):
        return opendp_noise.weighed_choice(quality, measure, sensitivity, epsilon)
    possible = np.flatnonzero(measure > 0)
    if not len(possible):
        raise ValueError("exponential: no candidate with a positive measure")
    below_best = quality[possible] - quality[possible].max()  # at most 0: exp may underflow to 0 but never overflows
    with np.errstate(over="ignore", invalid="ignore"):
        share = np.exp(below_best * (epsilon / (2.0 * sensitivity)))  # without noise the best have all
    weight = measure[possible] * np.where(below_best == 0, 1.0, share)
    reached = np.cumsum(weight)
    drawn = np.searchsorted(reached, rng.random() * reached[-1], side="right")
    return int(possible[min(drawn, np.flatnonzero(weight)[-1])])  # the last stands in if rounding leaves it unreached


def permute_and_flip(quality, sensitivity, epsilon, rng, monotone=False):
    """Draw a candidate by permute-and-flip, in its form ``argmax(quality + Exponential(2 * sensitivity / epsilon))``.

    Returns its index (McKenna & Sheldon, 2020; Ding et al., 2021, for this form). There must be a candidate, of which a
    larger score is better; without noise, one of the best is drawn evenly. One exponential number is taken for each;
    with a ``SecureGenerator`` OpenDP draws. Where scores are monotone (an added record raises none, or lowers none),
    the noise is ``Exponential(sensitivity / epsilon)``.

    Examples
    --------
    >>> permute_and_flip(np.array([0.0, 2.0]), 1.0, np.inf, np.random.default_rng(0))
    1
    """
    if not (sensitivity > 0 and epsilon > 0):
        raise ValueError("permute_and_flip: sensitivity and epsilon must be positive")
    if quality.shape[0] == 0:
        raise ValueError("permute_and_flip: no candidate")
    if monotone:
        sensitivity = 0.5 * sensitivity  # all scores move one way
    if epsilon < np.inf and is_secure(rng):
        return opendp_noise.flipped_choice(quality, sensitivity, epsilon)
    noise = rng.standard_exponential(len(quality))
    scores = quality + 2.0 * sensitivity / epsilon * noise
    best = np.flatnonzero(scores == scores.max())
    return int(best[noise[best].argmax()])
