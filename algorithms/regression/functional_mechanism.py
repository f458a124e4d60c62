"""The functional mechanism (Zhang, Zhang, Xiao, Yang, Winslett; PVLDB 5(11), 2012), with monomials as in paper 3."""

from __future__ import annotations

from algorithms.parameters import check_choice, parameter, with_parameters
from algorithms.regression.budget import Budget, part_sensitivities, price_part
from algorithms.regression.design import Design
from algorithms.regression.moments import SoundBudget, in_one_group
from algorithms.regression.objective import Noise
from algorithms.regression.polynomial import OfAnyDegree

SENSITIVITIES = {
    "coefficients": lambda d: sum(part_sensitivities(d)),
    "with_constant": lambda d: sum(part_sensitivities(d)) + 2,
}
"""Readings of Δ for d monomials."""


@with_parameters
class FunctionalMechanismRegressor(OfAnyDegree):
    """Least squares with Laplace noise on every coefficient of the objective: FM, and FM-on-PR of paper 3.

    Parameters
    ----------
    sensitivity : {"coefficients", "with_constant"}
        With d monomials, "coefficients" is Δ = 2 (d² + 2d), as in paper 3; "with_constant" is Δ = 2 (d + 1)², as in the
        original, which counts the constant Σ y², too.
    repair : {"none", "ridge", "trim", "ridge+trim", "fm_code", "tikhonov"}
        What is done if the noisy objective has no minimum, see ``algorithms.regression.repair.minimise_objective``.
        "fm_code", with ``fit_intercept=True`` and otherwise the defaults, is what the original's published code does
        (the catalogue's ``fm_code``).

    Notes
    -----
    Every coefficient + Lap(Δ/ε). No regressor and no target is larger than 1 in absolute value, so the coefficients of
    one record have an absolute sum of at most d² (quadratic) and 2d (linear).

    Privacy: given a public domain variant "paper" is epsilon-differentially private for neighbours that differ by one
    record replaced, which is what the factor 2 of Δ is for. For one record added or removed half of epsilon is spent.

    Variant "sound" is epsilon-differentially private for one record added or removed, all coefficients being one
    release: with m distinct ones, in the box noise of standard deviation √((m + 1)(m + 2)/3)/ε on each of M and twice
    that on each of b; in the ball p^(-k/2) times as much, k being the degree in the p attributes. Replacing a record
    costs twice epsilon in scaling "box", epsilon in "ball", at most twice in "signed_ball".

    Examples
    --------
    >>> from algorithms import Continuous, Domain
    >>> domain = Domain((Continuous("x", 0, 10),), Continuous("y", 0, 20))
    >>> X, y = [[i % 11] for i in range(100_000)], [2 * (i % 11) for i in range(100_000)]
    >>> model = FunctionalMechanismRegressor(epsilon=1.0, domain=domain, random_state=0).fit(X, y)
    >>> model.predict([[1], [9]]).round(1)
    array([ 2., 18.])
    """

    sensitivity: str = parameter("coefficients", check_choice, choices=SENSITIVITIES, is_reading=True)

    def _printed_budget(self, design: Design) -> Budget:
        d, epsilon = len(design.monomials), float(self.epsilon)
        delta, (_, of_b) = SENSITIVITIES[self.sensitivity](d), part_sensitivities(d)
        noise, times = Noise(delta, epsilon), 1 + of_b * (design.largest_target - 1) / delta
        return Budget(noise, noise, price_part("quadratic and linear coefficients", epsilon, delta, times))

    def _sound_budget(self, design: Design) -> SoundBudget:
        return in_one_group(design, float(self.epsilon))
