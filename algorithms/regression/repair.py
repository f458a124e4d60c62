"""The minimum of a noisy quadratic objective, which need not have one."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


class Repair(NamedTuple):
    """What is done to the quadratic coefficients before they are inverted.

    Parameters
    ----------
    ridge : float
        What is added to the diagonal, in standard deviations of the noise.
    trim : bool
        Whether negative eigenvalues are dropped, too.
    smallest : float or None
        Eigenvalues no larger than this are dropped; None: than ``TOLERANCE`` times the largest.
    tikhonov : bool
        Whether the weights are shrunk as far as the noise of the equations that they solve asks for.
    """

    ridge: float
    trim: bool
    smallest: float | None = None
    tikhonov: bool = False


REPAIRS = {
    "none": Repair(0, trim=False),
    "ridge": Repair(4, trim=False),
    "trim": Repair(0, trim=True),
    "ridge+trim": Repair(4, trim=True),
    "fm_code": Repair(5, trim=True, smallest=1e-8),
    "tikhonov": Repair(0, trim=True, tikhonov=True),
}
TOLERANCE = 1e-12
"""Eigenvalues no larger than this share of the largest one (in absolute value) count as zero.

It is the square of ``tol`` in scikit-learn's LinearRegression, whose singular values are the roots of our eigenvalues.
"""


def minimise_objective(
    M: np.ndarray, b: np.ndarray, repair: str, noise_scale: float, linear_scale: float | None = None
) -> np.ndarray:
    """Return the weights that minimise bᵀw + wᵀMw once it is repaired.

    Parameters
    ----------
    M : float64 array of shape (d, d)
        Quadratic coefficients, symmetric.
    b : float64 array of shape (d,)
        Linear coefficients.
    repair : {"none", "ridge", "trim", "ridge+trim", "fm_code", "tikhonov"}
        "ridge" adds λ = 4 √2 ``noise_scale`` to the diagonal of M, four standard deviations of the noise. "trim" keeps
        the eigenvectors of positive eigenvalues and minimises in their span. "none" returns the point where the
        gradient is zero, a saddle if M is indefinite. "fm_code" is "ridge+trim" as in the published code of the
        functional mechanism: five standard deviations, and eigenvalues up to 10⁻⁸ dropped. "tikhonov" trims, and
        shrinks what the noise covers; see the notes. Whatever the repair, an eigenvector of eigenvalue zero gets no
        weight, so that of all minima the shortest is returned.
    noise_scale : float
        Scale of the Laplace noise on the entries of M, the largest if they differ; 0 if there is none.
    linear_scale : float or None, default=None
        The same for b; None is ``noise_scale``.

    Returns
    -------
    float64 array of shape (d,)

    Notes
    -----
    Reads nothing but what was released: costs no privacy. Source: Zhang, Zhang, Xiao, Yang, Winslett (2012), section 6.

    "tikhonov" takes the noisy equations 2Mw + b = 0 for what they are, true but for noise. With standard deviations σ_M
    and σ_b of the entries, weights of length 1 leave an error of variance v = 4σ_M² + σ_b² in each equation. Weights
    that are normal with variance 1/d, of length about 1, then have the posterior mean -(4M² + d v I)⁻¹ 2M b: along an
    eigenvector of eigenvalue μ a ridge of d v / 4μ, which hardly touches what stands out of the noise and takes down
    what does not, while a ridge on all of M takes from all the same. The length 1 is no estimate: in the box, where
    the regressors of degree 1 fill [-1, 1]^d, weights whose predictions stay within [-1, 1] are no longer than that. In
    the ball, and for higher degrees, it is a convention.

    Examples
    --------
    >>> M, b = np.diag([2.0, -1.0]), np.array([-4.0, 1.0])
    >>> minimise_objective(M, b, "trim", 0.0).round(9) + 0.0
    array([1., 0.])
    >>> minimise_objective(M, b, "none", 0.0).round(9)
    array([1. , 0.5])
    """
    ridge, trim, smallest, tikhonov = REPAIRS[repair]
    values, vectors = np.linalg.eigh(M + ridge * math.sqrt(2) * noise_scale * np.eye(len(M)))
    smallest = TOLERANCE * np.abs(values).max() if smallest is None else smallest
    kept = (values if trim else np.abs(values)) > smallest
    values, vectors = values[kept], vectors[:, kept]
    if tikhonov:
        of_b = noise_scale if linear_scale is None else linear_scale
        values = values + len(M) * (2 * noise_scale * (noise_scale / values) + of_b / 2 * (of_b / values))
    return vectors @ ((b @ vectors) / (-2 * values))
