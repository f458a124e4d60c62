"""The sound release: each distinct moment of the rows once, within its own bound, with noise of the maximum norm.

An entry of M is a sum over the records of a product of monomials, and entries whose products are the same monomial are
the same number: it is released once. The scaled attributes and target of a record lie in [-1, 1] (with "unit" in
[0, 1], in the ball in [0, 1/√p] and [0, 1], or with a sign [-1, 1]), so a record adds

- at most 1 in absolute value to a moment Σ z_i z_j (in the ball p^(-k/2), k being the degree of the product), and
- at most 2 to -2 Σ y z_i (in the ball 2 p^(-k/2), k being the degree of z_i).

The record with all attributes and its target at their upper bounds attains all of these at once. In units of these
bounds, then, no number of a group changes by more than 1 where a record is added or removed, all of them by exactly 1
in the worst case: the maximum norm of the change is 1, which is tight for every group and for all groups together, as
one record attains them all. `sup_norm_vector` releases a group of m numbers with noise of standard deviation
√((m + 1)(m + 2) / 3) / ε. In L1, which Laplace noise needs, the same change is m, so that its noise is √2 m / ε.

Where a record is replaced, a number changes by the width of its range: 2 if the monomial can be negative; 1 if it
cannot, as an even power or a product of these in [-1, 1]; 0 for the constant, the number of rows. Two records attain
a width of 2: upper bounds, and the same with an attribute of odd power at its lower bound, that attribute alone, or for
b the target alone. So replacing costs twice ε in the box (less for x² alone, where there is one attribute) and ε
where nothing is negative. It never costs less than ε, which is what a record costs that leaves and has no successor:
every group has a square of an attribute or an entry of b among its numbers.

Nothing else of the rows is read: not their number (with ``fit_intercept`` it is an entry of M, and has noise as all
have), not Σ y², which the minimum does not depend on. Bounds, degrees and budgets are public.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from algorithms.accounting.events import ADDED_OR_REMOVED, Event, Sequential, Spent
from algorithms.encoding.scalings import IN_BALL, SIGNED_TARGET
from algorithms.mechanisms import sup_norm_spread, sup_norm_vector
from algorithms.native import compiled
from algorithms.regression.budget import share_of_first
from algorithms.regression.design import Design
from algorithms.regression.objective import Objective


class Moments(NamedTuple):
    """The numbers that are released: the distinct moments, then the entries of b.

    Parameters
    ----------
    of_M : int64 array of shape (d, d)
        Which number each entry of M is.
    of_b : int64 array of shape (d,)
        Which number each entry of b is.
    bounds : float64 array of shape (m,)
        The most in absolute value that a record adds to each number.
    widths : float64 array of shape (m,)
        The most that replacing a record changes each number, in units of its bound.

    Examples
    --------
    >>> from algorithms import Continuous, Domain
    >>> domain = Domain((Continuous("x", 0, 10),), Continuous("y", 0, 1))
    >>> moments = Moments.of(Design(domain, 2, "box", constant=False))  # x², x³, x⁴; y x, y x²
    >>> moments.of_M
    array([[0, 1],
           [1, 2]])
    >>> moments.bounds, moments.widths
    (array([1., 1., 1., 2., 2.]), array([1., 2., 1., 2., 2.]))
    """

    of_M: np.ndarray
    of_b: np.ndarray
    bounds: np.ndarray
    widths: np.ndarray

    @classmethod
    def of(cls, design: Design) -> Moments:
        """Return the moments of a design, with their bounds."""
        of_M, powers = design.monomials.squares, design.monomials.exponents
        first = np.unique(of_M, return_index=True)[1]
        of_b = len(first) + np.arange(len(powers))
        i, j = np.unravel_index(first, of_M.shape)
        powers = np.concatenate([powers[i] + powers[j], powers])
        is_of_b = np.arange(len(powers)) >= len(first)
        largest = 1 / math.sqrt(powers.shape[1]) if design.scaling in IN_BALL else 1.0
        bounds = np.where(is_of_b, 2.0, 1.0) * largest ** powers.sum(axis=1)
        may_be_odd = (powers % 2).any(axis=1) & (design.scaling == "box")
        has_sign = may_be_odd | (is_of_b & (design.scaling in SIGNED_TARGET))
        widths = np.where(has_sign, 2.0, np.where(is_of_b | powers.any(axis=1), 1.0, 0.0))
        return cls(of_M, of_b, bounds, widths)

    @property
    def is_of_b(self) -> np.ndarray:
        """Which numbers are entries of b: bool array of shape (m,)."""
        return np.arange(len(self.bounds)) >= self.of_b[0]


@compiled
def add_noise_by_group(values, group, epsilons, rng):
    """Add the noise of `sup_norm_vector` to each group of some values, whose sensitivity is 1."""
    noisy = np.empty(values.shape[0])
    for k in range(epsilons.shape[0]):
        members = np.flatnonzero(group == k)
        noisy[members] = sup_norm_vector(values[members], 1.0, epsilons[k], rng)
    return noisy


class MomentGroup(NamedTuple):
    """Numbers that share a budget.

    Parameters
    ----------
    purpose : str
        What they are, for the ledger.
    members : bool array of shape (m,)
        Which numbers.
    epsilon : float
        Their budget.
    """

    purpose: str
    members: np.ndarray
    epsilon: float


class SoundBudget(NamedTuple):
    """How a sound variant divides its epsilon: the counterpart of `algorithms.regression.budget.Budget`."""

    moments: Moments  #: what is released
    groups: tuple[MomentGroup, ...]  #: every number is in one of them

    add_noise = staticmethod(add_noise_by_group)
    """Adds the noise to what ``lay_out`` returns."""

    @property
    def ledger(self) -> Event:
        """Groups on the same rows: their budgets add up."""
        spent = []
        for purpose, members, epsilon in self.groups:
            replaced = float(self.moments.widths[members].max())
            spent.append(Spent("sup_norm_vector", purpose, epsilon, 1.0, ADDED_OR_REMOVED, replaced))
        return Sequential("objective, in units of the bounds", tuple(spent))

    @property
    def scales(self) -> dict[str, float]:
        """Scale of Laplace noise with the same variance, on the "quadratic" and on the "linear" coefficients."""
        deviations = np.empty(len(self.moments.bounds))
        for _, members, epsilon in self.groups:
            deviations[members] = self.moments.bounds[members] * (sup_norm_spread(np.count_nonzero(members)) / epsilon)
        scales, is_of_b = deviations / math.sqrt(2), self.moments.is_of_b
        return {"quadratic": float(scales[~is_of_b].max()), "linear": float(scales[is_of_b].max())}

    def lay_out(self, objective: Objective) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the exact numbers in units of their bounds, and what ``add_noise`` is told of them.

        Returns
        -------
        values : float64 array of shape (m,)
            The numbers, not to be released.
        group : int64 array of shape (m,)
            The group of each.
        epsilons : float64 array of shape (g,)
            The budget of each group.
        """
        values, group = np.empty(len(self.moments.bounds)), np.empty(len(self.moments.bounds), dtype=np.int64)
        values[self.moments.of_M], values[self.moments.of_b] = objective.M, objective.b
        for k, moment_group in enumerate(self.groups):
            group[moment_group.members] = k
        epsilons = np.array([moment_group.epsilon for moment_group in self.groups])
        return values / self.moments.bounds, group, epsilons

    def assemble(self, released: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return M and b of released numbers, laid out along the last axis."""
        numbers = released * self.moments.bounds
        return numbers[..., self.moments.of_M], numbers[..., self.moments.of_b]

    def log_ratio(self, released: np.ndarray, objective: Objective, other: Objective) -> np.ndarray:
        """Return how much likelier (as a logarithm) the other objective makes each of some releases."""
        distances = [np.abs(released - self.lay_out(exact)[0]) for exact in (objective, other)]
        total = np.zeros(released.shape[:-1])
        for _, members, epsilon in self.groups:
            here, there = (distance[..., members].max(axis=-1) for distance in distances)
            total += epsilon * (here - there)
        return total


def in_one_group(design: Design, epsilon: float) -> SoundBudget:
    """Give all numbers one budget."""
    moments = Moments.of(design)
    everything = MomentGroup("distinct moments and linear coefficients", np.full(len(moments.bounds), True), epsilon)
    return SoundBudget(moments, (everything,))


def in_moments_and_linear(design: Design, epsilon: float, share: float) -> SoundBudget:
    """Give the distinct moments a share of the budget, in (0, 1), and the linear coefficients the rest."""
    moments = Moments.of(design)
    quadratic = MomentGroup("distinct moments", ~moments.is_of_b, epsilon * share)
    linear = MomentGroup("linear coefficients", moments.is_of_b, epsilon * (1 - share))
    return SoundBudget(moments, (quadratic, linear))


def share_of_moments(design: Design, rule: str) -> float:
    """Return the share of the distinct moments by a rule of division, see ``algorithms.regression.budget``.

    Parameters
    ----------
    design : Design
        The regressors.
    rule : {"proportional", "sqrt", "optimal"}
        With n_i the entries of M or b, and Δ_i the standard deviation of their noise at ε_i = 1 (in the ball its root
        mean square), part i gets a share in proportion to Δ_i, √Δ_i or (n_i Δ_i²)^(1/3); the last has the least noise
        energy, Σ n_i (Δ_i/ε_i)².

    Examples
    --------
    >>> from algorithms import Continuous, Domain
    >>> domain = Domain((Continuous("x", 0, 10), Continuous("z", 0, 10)), Continuous("y", 0, 1))
    >>> round(share_of_moments(Design(domain, 1, "box", constant=False), "optimal"), 3)  # Δ = √(20/3) and 2 · 2
    0.485
    """
    moments = Moments.of(design)
    places = moments.of_M.ravel(), moments.of_b
    counts = [len(np.unique(of)) for of in places]
    deltas = [
        sup_norm_spread(n) * float(np.sqrt((moments.bounds[of] ** 2).mean()))
        for n, of in zip(counts, places, strict=True)
    ]
    return share_of_first([len(of) for of in places], deltas, rule)
