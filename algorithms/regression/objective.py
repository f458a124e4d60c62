"""The objective of least squares as a polynomial in the weights, and its private release.

Written out, Σ (y - zᵀw)² = c + bᵀw + wᵀMw with M = Σ z zᵀ, b = -2 Σ y z and c = Σ y². So all that a regression needs to
know of any number of rows are d² + d coefficients, and with enough noise on these the whole model is private: the
functional mechanism (Zhang, Zhang, Xiao, Yang, Winslett, 2012).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dsyrk

from algorithms.mechanisms import laplace
from algorithms.native import compiled

_FEW_LINES = 64  # of a block; BLAS is faster where there are more
_TILE = 1024  # columns of a block whose products are summed before they are added to those of the others


class Objective(NamedTuple):
    """Coefficients of c + bᵀw + wᵀMw."""

    M: np.ndarray  #: float64 (d, d): quadratic coefficients, symmetric
    b: np.ndarray  #: float64 (d,): linear coefficients
    c: float  #: the constant; the minimum does not depend on it: it is never released
    n: int  #: rows


class Noise(NamedTuple):
    """What a part of the coefficients is released with.

    Parameters
    ----------
    sensitivity : float or array
        What ``laplace`` is told about each coefficient of the part; one number, or an array that broadcasts to its
        shape. It is the L1 sensitivity of all coefficients that share a budget.
    epsilon : float or array
        The budget of each coefficient, likewise.
    """

    sensitivity: float | np.ndarray
    epsilon: float | np.ndarray

    @property
    def scale(self) -> float:
        """Scale of the Laplace noise, the largest if the coefficients differ; 0 without noise."""
        return float(np.max(np.divide(self.sensitivity, self.epsilon)))


def objective_of(blocks: Iterable[np.ndarray], n_regressors: int) -> Objective:
    """Sum up the objective over blocks of rows.

    Parameters
    ----------
    blocks : iterable of float64 arrays of shape (d + 1, m)
        Regressors of m rows, and their target in the last line.
    n_regressors : int
        Number of regressors d.

    Returns
    -------
    Objective

    Examples
    --------
    >>> objective_of([np.array([[1.0, 2.0], [3.0, 5.0]])], 1)
    Objective(M=array([[5.]]), b=array([-26.]), c=34.0, n=2)
    """
    gram, n = np.zeros((n_regressors + 1, n_regressors + 1)), 0
    for block in blocks:
        gram += sum_products(block)  # with the target as one more line, this gives M, b and c
        n += block.shape[1]
    M, b = gram[:-1, :-1], gram[-1, :-1]
    return Objective(np.tril(M) + np.tril(M, -1).T, -2 * b, float(gram[-1, -1]), n)


def sum_products(block: np.ndarray) -> np.ndarray:
    """Return the sums of the products of each two lines of a block; those above the diagonal mean nothing."""
    return _sum_few_products(block) if len(block) <= _FEW_LINES else dsyrk(1.0, block.T, trans=True).T


@compiled
def _sum_few_products(block):
    """Sum every fourth column of a tile by itself, then the four sums: the order in which the kernel adds."""
    n_lines, n_columns = block.shape
    products = np.zeros((n_lines, n_lines))
    for start in range(0, n_columns, _TILE):
        sums = np.zeros((4, n_lines, n_lines))
        for k in range(start, min(start + _TILE, n_columns)):
            sums[(k - start) % 4] += np.outer(block[:, k], block[:, k])
        products += (sums[0] + sums[1]) + (sums[2] + sums[3])
    return np.tril(products)


def assemble_coefficients(released: np.ndarray, n_regressors: int) -> tuple[np.ndarray, np.ndarray]:
    """Return M, averaged with its transpose, and b of coefficients that are laid out along the last axis."""
    d = n_regressors
    M = released[..., : d * d].reshape(*released.shape[:-1], d, d)
    return (M + M.swapaxes(-1, -2)) / 2, released[..., d * d :]


def lay_out_coefficients(
    objective: Objective, quadratic: Noise, linear: Noise
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lay the coefficients out in the order in which their noise is drawn: M row by row, then b.

    Algorithms whose scales agree so draw the same noise from the same seed, however they group the coefficients.

    Returns
    -------
    values, sensitivity, epsilon : float64 arrays of shape (d² + d,)
        The exact coefficients, not to be released, and what each is released with.
    """
    shapes = objective.M.shape, objective.b.shape
    return (
        np.concatenate([objective.M.ravel(), objective.b]),
        _one_for_each(quadratic.sensitivity, linear.sensitivity, shapes),
        _one_for_each(quadratic.epsilon, linear.epsilon, shapes),
    )


def _one_for_each(quadratic, linear, shapes) -> np.ndarray:
    parts = [np.broadcast_to(value, shape).ravel() for value, shape in zip((quadratic, linear), shapes, strict=True)]
    return np.concatenate(parts).astype(np.float64)


@compiled
def add_noise(values, sensitivity, epsilon, rng):
    """Add Laplace noise to each of some values, with a sensitivity and an epsilon of its own.

    Privacy: if all values share one budget epsilon, and the sensitivity bounds the L1 change of all of them,
    epsilon-differentially private; if parts have budgets and sensitivities of their own, the budgets add up.
    """
    noisy = np.empty(values.shape[0])
    for i in range(values.shape[0]):
        noisy[i] = laplace(values[i], sensitivity[i], epsilon[i], rng)
    return noisy
