"""Closed-form laws of the discrete mechanisms: the log-probability of every outcome, without a draw.

They are derived from the definition of each mechanism and share no code with its sampler.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp

Law = Callable[[np.ndarray, float, float], np.ndarray]
"""(scores or counts (t, r), sensitivity, epsilon) -> log-probabilities (t, r) of each of r outcomes on each of t
tables."""


def exponential_law(
    quality: np.ndarray, sensitivity: float, epsilon: float, measure: np.ndarray | None = None
) -> np.ndarray:
    """Return the law of the exponential mechanism: the softmax of ``epsilon * quality / (2 * sensitivity)``.

    ``sensitivity`` and ``epsilon`` are positive and finite, here and below. ``measure``, a base measure of shape (r,),
    is 1 for each candidate if None; where it is 0, log-probabilities are -inf.

    Examples
    --------
    >>> np.exp(exponential_law(np.array([[0.0, math.log(3)]]), 0.5, 1.0)).round(9)
    array([[0.25, 0.75]])
    """
    exponent = np.asarray(quality) * (epsilon / (2 * sensitivity))
    if measure is not None:
        with np.errstate(divide="ignore"):
            exponent = exponent + np.log(measure)
    return exponent - logsumexp(exponent, axis=1, keepdims=True)


def permute_and_flip_law(quality: np.ndarray, sensitivity: float, epsilon: float) -> np.ndarray:
    """Return the law of permute-and-flip.

    Notes
    -----
    Candidate i is accepted with p_i = exp(ε (q_i - max q) / 2Δ) when its turn comes. Let candidates arrive at
    independent uniform times: of those before time t none is accepted with probability Π (1 - t p_j), so that i is
    drawn with p_i ∫ Π_{j ≠ i} (1 - t p_j) dt over [0, 1]. The largest of q_i + Exponential(2Δ/ε) has the same law: put
    t = exp(-ε (x - max q) / 2Δ) into ∫ f_i(x) Π F_j(x) dx. The integrand is a polynomial of degree r - 1, which Gauss
    and Legendre integrate exactly; all of its terms are positive, so nothing cancels.

    Examples
    --------
    >>> np.exp(permute_and_flip_law(np.array([[0.0, math.log(2)]]), 0.5, 1.0)).round(9)  # 1/2 (1 - 1/2), and the rest
    array([[0.25, 0.75]])
    """
    quality = np.asarray(quality)
    log_p = (quality - quality.max(axis=1, keepdims=True)) * (epsilon / (2 * sensitivity))
    t, weight = _unit_quadrature(math.ceil(quality.shape[1] / 2))
    rejected = 1 - t * np.exp(log_p)[:, :, np.newaxis]
    chances = []
    for i in range(quality.shape[1]):
        others_rejected = np.delete(rejected, i, axis=1).prod(axis=1)
        chances.append(others_rejected @ weight)
    return log_p + np.log(np.stack(chances, axis=1))


def noisy_maximum_law(counts: np.ndarray, sensitivity: float, epsilon: float) -> np.ndarray:
    """Return the law of the largest of some whole numbers, each with Laplace noise of scale ``sensitivity / epsilon``.

    Notes
    -----
    Outcome i has probability ∫ f_i Π_{j ≠ i} F_j. Between whole numbers no density or distribution function has a kink.
    Below the smallest count the integrand is one exponential; above the largest it is a polynomial in exp(-x / scale),
    integrated as in `permute_and_flip_law`; between neighbouring whole numbers it is smooth, and 32 nodes leave an
    error far below rounding for scales from 1/10.

    Examples
    --------
    >>> np.exp(noisy_maximum_law(np.array([[0, 2]]), 1.0, 1.0)).round(9)  # 1/2 (1 + 2/2) exp(-2), and the rest
    array([[0.13533528, 0.86466472]])
    """
    rate = epsilon / sensitivity
    return np.log([_noisy_maximum_probabilities(row, rate) for row in np.asarray(counts)])


def _noisy_maximum_probabilities(counts: np.ndarray, rate: float) -> np.ndarray:
    """Return the probability that each count is the largest, integrated below, above and between the counts."""
    r, lowest, highest = len(counts), counts.min(), counts.max()
    below = np.full(r, 0.5**r * math.exp(rate * (r * lowest - counts.sum())) / r)
    t, weight = _unit_quadrature(math.ceil(r / 2))
    half = np.exp(-rate * (highest - counts))[:, np.newaxis] / 2
    outside = below + _integrate_largest(half, 1 - half * t, weight)
    if lowest == highest:
        return outside
    u, weight = _unit_quadrature(32)
    x = (np.arange(lowest, highest)[:, np.newaxis] + u).ravel()  # unit steps
    distance = x - counts[:, np.newaxis]
    tail = np.exp(-rate * np.abs(distance)) / 2
    reached = np.where(distance < 0, tail, 1 - tail)
    return outside + _integrate_largest(tail, reached, np.tile(weight, highest - lowest) * rate)


def _integrate_largest(density: np.ndarray, reached: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Integrate, for each i, its density times the chance that all others are smaller."""
    integrals = []
    for i in range(len(density)):
        others_smaller = np.delete(reached, i, axis=0).prod(axis=0)
        integrals.append((density[i] * others_smaller) @ weight)
    return np.stack(integrals)


def _unit_quadrature(n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Gauss and Legendre's nodes and weights on [0, 1], exact for polynomials up to degree 2 n - 1."""
    node, weight = np.polynomial.legendre.leggauss(n_nodes)
    return (node + 1) / 2, weight / 2


LAWS: dict[str, Law] = {
    "exponential": exponential_law,
    "permute_and_flip": permute_and_flip_law,
    "laplace_vector": noisy_maximum_law,
}
"""The law of each mechanism, by its name in ``algorithms.mechanisms``; of a noisy vector its largest entry is seen."""
