"""Printed sensitivities and budgets of the objective of least squares (paper 3, sections 3.2.1 and 3.2.3).

Written out, the squared errors of one record are y² - 2 y zᵀw + wᵀ z zᵀ w, with d regressors z and a target y in
[-1, 1]. What noise is added to are the entries of z zᵀ (part g), those of -2 y z (part h) and, in algorithm 1, y².
Neighbouring tables differ in one record, which the paper's factor 2 is for: one record takes the place of another.
"""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
from scipy.integrate import quad
from scipy.stats import laplace

from algorithms.regression.budget import part_sensitivities
from algorithms.regression.repair import minimise_objective
from experiments.statements.finding import Finding

_LEVELS = {1: 9, 2: 5, 3: 3}
"""Of each number of regressors, how many values of each number of a record are tried."""


def objective_changes_by(is_bound: bool = False) -> Finding:
    """Decide whether the sensitivity of the objective is the printed Δ_f = 2 (2d + d²), or at most that.

    Whether y² is counted or not. For more regressors than are tried no record moves it by more, which follows from
    |z_i z_j - z'_i z'_j| <= 2, with at most 1 where i = j, from |2 y z_i - 2 y' z'_i| <= 4 and |y² - y'²| <= 1 <= d.
    """
    shares = {d: _find_largest_change(d) / sum(part_sensitivities(d)) for d in _LEVELS}
    said = ", ".join(f"{100 * share:.3g} % with d = {d}" for d, share in shares.items())
    holds = max(shares.values()) <= 1 and (is_bound or min(shares.values()) >= 1)
    return Finding(holds, f"of what is printed are reached, and never more: {said}")


def objective_changes_by_less() -> Finding:
    """Decide whether the printed Δ_f could be smaller, with any number of regressors.

    What is on the diagonal of z zᵀ is a square: it moves by at most 1, where the formula has 2. So d can be taken off.
    """
    shares = {d: _find_largest_change(d, with_constant=False) / sum(part_sensitivities(d)) for d in _LEVELS}
    said = ", ".join(f"{100 * share:.3g} % with d = {d}" for d, share in shares.items())
    proof = "squares move by at most 1, not by 2, so that 2 (2d + d²) - d is enough for all d"
    return Finding(max(shares.values()) < 1, f"of what is printed are reached: {said}; {proof}")


def parts_add_up() -> Finding:
    """Decide whether Δ_f = Δ_g + Δ_h as printed: 2 (2d + d²) = 2d² + 4d, for each number of regressors up to 1,000."""
    largest = 1000
    wrong = [n for n in range(1, largest + 1) if 2 * (2 * n + n**2) != sum(part_sensitivities(n))]
    return Finding(not wrong, f"2d² + 4d = 2 (2d + d²), tried up to d = {largest:,}")


def quadratic_part_moves_more(d: str) -> Finding:
    """Decide whether Δ_g = 2d² is above Δ_h = 4d with the numbers of regressors of the paper's three data sets."""
    sizes = list(map(int, d.split(",")))
    said = []
    for n in sizes:
        of_g, of_h = part_sensitivities(n)
        said.append(f"{of_g:.0f} against {of_h:.0f} with d = {n}")
    smallest = next(n for n in range(1, 100) if part_sensitivities(n)[0] > part_sensitivities(n)[1])
    holds = all(n >= smallest for n in sizes)
    return Finding(holds, f"{', '.join(said)}; Δ_g/Δ_h = d/2, above 1 from d = {smallest}")


def betas_are_in_range(d: int, value1: float, value2: float, value3: float) -> Finding:
    """Decide whether the upper end of β is Δ_g, as the text says of equation 14, and value2 lies between both ends."""
    of_g, _ = part_sensitivities(d)
    holds = value1 == of_g and value3 < value2 < value1
    return Finding(holds, f"Δ_g = 2 · {d}² = {of_g:.0f}; {value3:g} < {value2:g} < {value1:g}")


def beta_makes_fm(d: int, printed: float, with_constant: bool = False) -> Finding:
    """Decide whether the printed β, a whole number, gives both parts of the objective the noise that FM gives them.

    FM's noise on each coefficient has the scale Δ_f/ε. The part g has Δ_g/ε_g with ε_g = ε β/Δ_g, so that both are
    alike at β = Δ_g²/Δ_f. Δ_f is the sum of the parts, with 2 more where the constant y² counts, too.
    """
    of_g, of_h = part_sensitivities(d)
    whole = of_g + of_h + 2 * with_constant
    beta = of_g**2 / whole
    noise_of_g, noise_of_h = of_g**2 / printed, of_h / (1 - printed / of_g)
    scales = f"noise of scale {noise_of_g:.1f} and {noise_of_h:.1f}, FM has {whole:.0f}"
    said = f"Δ_g²/Δ_f = {beta:.1f}; at ε = 1 β = {printed:g} gives g and h {scales}"
    return Finding(printed in (math.floor(beta), round(beta)), said)


def mean_of_r2_is_finite(repair: str) -> Finding:
    """Decide whether the mean of R² over the noise is finite, under a repair of an objective without a minimum.

    With one regressor the weight is w = -b/2m, m with its noise as it is repaired, and R² falls as w² grows. Laplace
    noise puts m near 0 with a density above 0, so that the mean of w² over all m farther from 0 than some step doubles
    whenever the step is halved: it has no limit. With more regressors the smallest eigenvalue of M plays the part of m.
    """
    m, scale, b = 10.0, 1.0, 10.0
    ridge = _find_ridge(repair, scale)

    def integrate(step: float) -> float:
        def square(noisy: float) -> float:
            (weight,) = minimise_objective(np.array([[noisy]]), np.array([b]), repair, scale)
            return weight**2 * laplace.pdf(noisy - m, scale=scale)

        # down to a step from where the repaired coefficient is 0, on the side that every repair keeps
        edges = [-ridge + step * 2.0**k for k in range(60) if step * 2.0**k < 50 * scale + m]
        parts = [quad(square, low, high)[0] for low, high in pairwise(edges)]
        return float(sum(parts))

    far, near = integrate(2.0**-30), integrate(2.0**-31)
    growth = near / far
    said = f"the mean of w² grows {growth:.3g}-fold where values of m half as near to 0 are counted, too"
    return Finding(growth < 1.01, said)


def _find_ridge(repair: str, scale: float) -> float:
    """Return what a repair adds to the one coefficient of M."""
    (weight,) = minimise_objective(np.array([[100.0]]), np.array([-2.0]), repair, scale)
    return float(1 / weight - 100.0)


def _find_largest_change(d: int, with_constant: bool = True) -> float:
    """Return the largest L1 distance of the coefficients of two records of d regressors and a target."""
    levels = np.linspace(-1, 1, _LEVELS[d])
    records = np.array(list(product(levels, repeat=d + 1)))
    z, y = records[:, :d], records[:, d:]
    products = (z[:, :, np.newaxis] * z[:, np.newaxis, :]).reshape(len(records), -1)
    parts = [products, -2 * y * z, y**2] if with_constant else [products, -2 * y * z]
    coefficients = np.hstack(parts)
    return max(float(np.abs(coefficients - of_record).sum(axis=1).max()) for of_record in coefficients)
