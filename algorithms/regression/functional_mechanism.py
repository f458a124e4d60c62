"""The functional mechanism (Zhang, Zhang, Xiao, Yang, Winslett; PVLDB 5(11), 2012), with monomials as in paper 3."""

from __future__ import annotations

from typing import ClassVar

from algorithms.parameters import check_choice
from algorithms.regression.budget import Budget, part_sensitivities, price_part
from algorithms.regression.design import Design
from algorithms.regression.moments import SoundBudget, in_one_group
from algorithms.regression.objective import Noise
from algorithms.regression.polynomial import PrivatePolynomialRegressor

SENSITIVITIES = {
    "coefficients": lambda d: sum(part_sensitivities(d)),
    "with_constant": lambda d: sum(part_sensitivities(d)) + 2,
}
"""Readings of Δ for d monomials."""


class FunctionalMechanismRegressor(PrivatePolynomialRegressor):
    """Least squares with Laplace noise on every coefficient of the objective: FM, and FM-on-PR of paper 3.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget, in (0, inf]; inf is least squares without noise.
    degree : int, default=1
        Largest degree of a monomial, at least 1; 2,000 monomials at most.
    scaling : {"box", "unit", "ball"}, default="box"
        Where the declared bounds are mapped: "box" to [-1, 1], target included (paper 3), "unit" to [0, 1], target
        included; "ball" to [0, 1/√p] for p attributes and to [0, 1] for the target (paper 1).
    target_scaling : {"declared", "none"}, default="declared"
        "none" leaves the target in its own unit and the noise as it is: a reading of paper 3, whose sensitivities need
        a target in [-1, 1]. It is not private: b then moves max |y| times as far, and costs as much.
    fit_intercept : bool, default=False
        Whether the constant is a monomial, too. The papers do not have it.
    sensitivity : {"coefficients", "with_constant"}, default="coefficients"
        With d monomials, "coefficients" is Δ = 2 (d² + 2d), as in paper 3; "with_constant" is Δ = 2 (d + 1)², as in the
        original, which counts the constant Σ y², too.
    repair : {"none", "ridge", "trim", "ridge+trim", "fm_code", "tikhonov"}, default="ridge+trim"
        What is done if the noisy objective has no minimum, see ``algorithms.regression.repair.minimise_objective``.
        "fm_code", with ``fit_intercept=True`` and otherwise the defaults, is what the original's published code does
        (the catalogue's ``fm_code``).
    variant : {"paper", "sound"}, default="paper"
        "paper" is the algorithm as printed; "sound" is the same with each distinct moment released once, tight bounds
        and noise of the maximum norm, see ``algorithms.regression.moments``. The catalogue's ``fm_sound`` also
        has another ``repair``, "tikhonov".
    domain : Domain or None, default=None
        Public bounds and categories, target included; None infers them from the rows, warns, and is not private.
    noise : {"numpy", "opendp"}, default="numpy"
        What draws the noise: "opendp" is for a release, see ``algorithms.opendp_noise``.
    random_state : int, RandomState or None, default=None
        Source of all randomness; in a release, of what may be public alone.

    Notes
    -----
    Every coefficient + Lap(Δ/ε). No regressor and no target is larger than 1 in absolute value, so the coefficients of
    one record have an absolute sum of at most d² (quadratic) and 2d (linear).

    Privacy: given a public domain variant "paper" is epsilon-differentially private for neighbours that differ by one
    record replaced, which is what the factor 2 of Δ is for. For one record added or removed half of epsilon is spent.

    Variant "sound" is epsilon-differentially private for one record added or removed, all coefficients being one
    release: with m distinct ones, in the box noise of standard deviation √((m + 1)(m + 2)/3)/ε on each of M and twice
    that on each of b; in the ball p^(-k/2) times as much, k being the degree in the p attributes. Replacing a record
    costs twice epsilon in scaling "box", epsilon in "ball".

    Examples
    --------
    >>> from algorithms import Continuous, Domain
    >>> domain = Domain((Continuous("x", 0, 10),), Continuous("y", 0, 20))
    >>> X, y = [[i % 11] for i in range(100_000)], [2 * (i % 11) for i in range(100_000)]
    >>> model = FunctionalMechanismRegressor(epsilon=1.0, domain=domain, random_state=0).fit(X, y)
    >>> model.predict([[1], [9]]).round(1)
    array([ 2., 18.])
    """

    READINGS: ClassVar = PrivatePolynomialRegressor.READINGS | {"sensitivity": "coefficients"}

    def __init__(
        self,
        epsilon=1.0,
        *,
        degree=1,
        scaling="box",
        target_scaling="declared",
        fit_intercept=False,
        sensitivity="coefficients",
        repair="ridge+trim",
        variant="paper",
        domain=None,
        noise="numpy",
        random_state=None,
    ):
        self.epsilon = epsilon
        self.degree = degree
        self.scaling = scaling
        self.target_scaling = target_scaling
        self.fit_intercept = fit_intercept
        self.sensitivity = sensitivity
        self.repair = repair
        self.variant = variant
        self.domain = domain
        self.noise = noise
        self.random_state = random_state

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        check_choice("sensitivity", self.sensitivity, SENSITIVITIES)
        super().check_parameters(n_features)

    def _printed_budget(self, design: Design) -> Budget:
        d, epsilon = len(design.monomials), float(self.epsilon)
        delta, (_, of_b) = SENSITIVITIES[self.sensitivity](d), part_sensitivities(d)
        noise, times = Noise(delta, epsilon), 1 + of_b * (design.largest_target - 1) / delta
        return Budget(noise, noise, price_part("quadratic and linear coefficients", epsilon, delta, times))

    def _sound_budget(self, design: Design) -> SoundBudget:
        return in_one_group(design, float(self.epsilon))
