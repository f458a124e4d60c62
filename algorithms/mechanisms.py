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

import numpy as np
from numba import types

from algorithms import opendp_noise
from algorithms.jit import compiled


@compiled
def _add_laplace(value, sensitivity, epsilon, rng):
    return value + rng.laplace(0.0, sensitivity / epsilon)


_noisy_number = opendp_noise.unless_secure(_add_laplace, opendp_noise.noisy_number, types.float64)


@compiled
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
    return _noisy_number(value, sensitivity, epsilon, rng)


@compiled
def _add_laplace_to_each(values, sensitivity, epsilon, rng):
    noisy = np.empty(values.shape[0])
    for i in range(values.shape[0]):
        noisy[i] = _add_laplace(float(values[i]), sensitivity, epsilon, rng)
    return noisy


_noisy_numbers = opendp_noise.unless_secure(_add_laplace_to_each, opendp_noise.noisy_numbers, types.float64[::1])


@compiled
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
    return _noisy_numbers(values, sensitivity, epsilon, rng)


@compiled
def _add_sup_norm(values, sensitivity, epsilon, rng):
    noisy = values.copy()
    radius = rng.standard_gamma(values.shape[0] + 1.0) * (sensitivity / epsilon)
    for i in range(values.shape[0]):
        noisy[i] += radius * (2.0 * rng.random() - 1.0)
    return noisy


_noisy_together = opendp_noise.unless_secure(_add_sup_norm, opendp_noise.noisy_together, types.float64[::1])


@compiled
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
    return _noisy_together(values, sensitivity, epsilon, rng)


def sup_norm_spread(m):
    """Return the standard deviation of an entry of ``sup_norm_vector`` of m, where sensitivity and epsilon are 1.

    Examples
    --------
    >>> sup_norm_spread(1), round(sup_norm_spread(14), 3)
    (1.4142135623730951, 8.944)
    """
    return float(np.sqrt((m + 1) * (m + 2) / 3))  # E[Gamma(m + 1)²] = (m + 1)(m + 2), that of the cube is 1/3


@compiled
def mix_bits(key):
    """Return 64 bits that look random but are a function of a 64-bit key (the finaliser of SplitMix64)."""
    key = np.uint64(key) + np.uint64(0x9E3779B97F4A7C15)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


@compiled
def uniform_of(key):
    """Return a number in (0, 1) that is a function of a 64-bit key, evenly spread over the keys."""
    return (np.float64(mix_bits(key) >> np.uint64(12)) + 0.5) * 2.0**-52


@compiled
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
    noise = np.log(2.0 * u) if u < 0.5 else -np.log(2.0 * (1.0 - u))
    return value + noise * (sensitivity / epsilon)


@compiled
def _draw_by_weight(quality, measure, sensitivity, epsilon, rng):
    best = -np.inf
    for i in range(quality.shape[0]):
        if measure[i] > 0 and quality[i] > best:
            best = quality[i]
    weight = np.empty(quality.shape[0])
    total = 0.0
    for i in range(quality.shape[0]):
        # Scores relative to the best one are at most 0: exp may underflow to 0 but never overflows.
        if quality[i] == best:
            weight[i] = measure[i]
        elif epsilon == np.inf or measure[i] <= 0:
            weight[i] = 0.0
        else:
            weight[i] = measure[i] * np.exp((quality[i] - best) * (epsilon / (2.0 * sensitivity)))
        total += weight[i]
    if not total > 0:
        raise ValueError("exponential: no candidate with a positive measure")
    threshold = rng.random() * total
    chosen = -1
    reached = 0.0
    for i in range(quality.shape[0]):
        if weight[i] > 0:
            chosen = i  # the last possible candidate stands in if rounding leaves the threshold unreached
            reached += weight[i]
            if reached > threshold:
                break
    return chosen


_weighed_choice = opendp_noise.unless_secure(_draw_by_weight, opendp_noise.weighed_choice, types.int64)


@compiled
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
        sensitivity = 0.5 * sensitivity
    if epsilon == np.inf:  # nothing to hide
        return _draw_by_weight(quality, measure, sensitivity, epsilon, rng)
    return _weighed_choice(quality, measure, sensitivity, epsilon, rng)


@compiled
def _draw_by_flips(quality, sensitivity, epsilon, rng):
    scale = 2.0 * sensitivity / epsilon
    chosen = 0
    best = -np.inf
    best_noise = -1.0
    for i in range(quality.shape[0]):
        noise = rng.standard_exponential()
        score = quality[i] + scale * noise
        if score > best or (score == best and noise > best_noise):
            chosen, best, best_noise = i, score, noise
    return chosen


_flipped_choice = opendp_noise.unless_secure(_draw_by_flips, opendp_noise.flipped_choice, types.int64)


@compiled
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
        sensitivity = 0.5 * sensitivity
    if epsilon == np.inf:
        return _draw_by_flips(quality, sensitivity, epsilon, rng)
    return _flipped_choice(quality, sensitivity, epsilon, rng)
