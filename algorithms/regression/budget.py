"""How a budget is divided over the coefficients of the objective, given how far one record can move them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algorithms.accounting.events import REPLACED, Event, Sequential, Spent
from algorithms.regression.objective import Noise, Objective, add_noise, assemble_coefficients, lay_out_coefficients

ENTRY_OF_M = 2.0
ENTRY_OF_B = 4.0
"""Largest change of a coefficient when a record is replaced: no regressor and no target exceeds 1 in absolute value, so
an entry z_i z_j of M lies in [-1, 1], an entry -2 y z_i of b in [-2, 2]."""

PROPORTIONS = {"proportional": (0, 1), "sqrt": (0, 1 / 2), "optimal": (1 / 3, 2 / 3)}
"""Rules of division: part i gets a share in proportion to n_i^a Δ_i^b, (a, b) given here."""


class Budget(NamedTuple):
    """How an algorithm as printed divides its epsilon: Laplace noise on every entry of M and b.

    Parameters
    ----------
    quadratic, linear : Noise
        What the coefficients of M and b are released with.
    ledger : Event
        The same for the account.
    """

    quadratic: Noise
    linear: Noise
    ledger: Event

    add_noise = staticmethod(add_noise)
    """Adds the noise to what ``lay_out`` returns."""

    @property
    def scales(self) -> dict[str, float]:
        """Scale of the noise on the "quadratic" and on the "linear" coefficients, the largest if they differ."""
        return {"quadratic": self.quadratic.scale, "linear": self.linear.scale}

    def lay_out(self, objective: Objective) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the exact numbers that are released, and what ``add_noise`` is told of them."""
        return lay_out_coefficients(objective, self.quadratic, self.linear)

    def assemble(self, released: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return M and b of released numbers, laid out along the last axis: n = d² + d of them, so d = ⌊√n⌋."""
        return assemble_coefficients(released, math.isqrt(released.shape[-1]))

    def log_ratio(self, released: np.ndarray, objective: Objective, other: Objective) -> np.ndarray:
        """Return how much likelier (as a logarithm) the other objective makes each of some releases.

        As if no entry of M had been averaged: of the averaged entries, which are all that anybody sees.
        """
        M, b = self.assemble(released)
        released = np.concatenate([M.reshape(*b.shape[:-1], -1), b], axis=-1)
        (values, sensitivity, epsilon), (of_other, _, _) = self.lay_out(objective), self.lay_out(other)
        return (np.abs(released - values) - np.abs(released - of_other)) @ (epsilon / sensitivity)


def price_part(purpose: str, epsilon: float, sensitivity: float, times: float = 1.0) -> Spent:
    """Return the account of some coefficients whose sensitivity is meant for one record replaced.

    Each is a sum over the records, and what a record adds is no larger in absolute value than half of the most that two
    records can differ by. So a record that is added or removed moves the coefficients by half of the sensitivity, and
    costs half. The number of rows, which it changes, too, is read by no step, but that with ``fit_intercept`` it is an
    entry of M, and has noise as all have.

    Where a record can move the coefficients ``times`` as far as the sensitivity says that the noise was drawn for, that
    is what they cost.
    """
    moved = sensitivity * times
    return Spent("laplace", purpose, epsilon * times, moved, REPLACED, moved / 2)


def part_sensitivities(n_regressors: int) -> tuple[float, float]:
    """Return the L1 sensitivities of M and b, one record replaced: Δ_g = 2d² and Δ_h = 4d.

    Examples
    --------
    >>> part_sensitivities(54)
    (5832.0, 216.0)
    """
    return ENTRY_OF_M * n_regressors**2, ENTRY_OF_B * n_regressors


def share_of_quadratic(n_regressors: int, rule: str) -> float:
    """Return the share of the budget that M gets.

    Parameters
    ----------
    n_regressors : int
        Number of regressors d: M has d² coefficients, b has d.
    rule : {"proportional", "sqrt", "optimal"}
        With n_i coefficients of sensitivity Δ_i, part i gets a share in proportion to Δ_i (all coefficients get the
        same noise: the functional mechanism), to √Δ_i, or to (n_i Δ_i²)^(1/3).

    Returns
    -------
    float
        In (0, 1).

    Notes
    -----
    "optimal" minimises the energy of the noise, Σ n_i 2(Δ_i/ε_i)² for Σ ε_i = ε: a multiplier μ of the constraint gives
    4 n_i Δ_i²/ε_i³ = μ, so ε_i ∝ (n_i Δ_i²)^(1/3).

    Examples
    --------
    >>> [round(share_of_quadratic(3, rule), 3) for rule in PROPORTIONS]
    [0.6, 0.551, 0.654]
    """
    return share_of_first((n_regressors**2, n_regressors), part_sensitivities(n_regressors), rule)


def share_of_first(sizes: Sequence[float], deltas: Sequence[float], rule: str) -> float:
    """Return the share of the first of two parts, whose numbers of coefficients and sensitivities are given."""
    a, b = PROPORTIONS[rule]
    first, second = (n**a * delta**b for n, delta in zip(sizes, deltas, strict=True))
    return first / (first + second)


def in_two_parts(epsilon: float, n_regressors: int, share: float, largest_target: float = 1.0) -> Budget:
    """Divide a budget between M and b.

    Parameters
    ----------
    epsilon : float
        Budget, in (0, inf].
    n_regressors : int
        Number of regressors.
    share : float
        What part of it M gets, in (0, 1).
    largest_target : float, default=1.0
        The largest absolute value of a target: b moves so many times as far as Δ_h says, and costs as much.

    Returns
    -------
    Budget
        Noise Lap(Δ_g/ε_g) for M and Lap(Δ_h/ε_h) for b, ε_g + ε_h = ε.

    Examples
    --------
    >>> print(*in_two_parts(1.0, 3, 0.75).ledger.to_lines(), sep="\\n")
    objective, on the same rows, costs 1
      laplace: quadratic coefficients (sensitivity 18) costs 0.75
      laplace: linear coefficients (sensitivity 12) costs 0.25
    """
    of_M, of_b = part_sensitivities(n_regressors)
    quadratic, linear = Noise(of_M, epsilon * share), Noise(of_b, epsilon * (1 - share))
    ledger = Sequential(
        "objective",
        (
            price_part("quadratic coefficients", quadratic.epsilon, quadratic.sensitivity),
            price_part("linear coefficients", linear.epsilon, linear.sensitivity, largest_target),
        ),
    )
    return Budget(quadratic, linear, ledger)
