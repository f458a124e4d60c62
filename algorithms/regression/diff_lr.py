"""Diff-LR: linear regression whose objective is released in two parts (Zheng & Zou, 2016), as paper 1 describes it."""

from __future__ import annotations

from algorithms.parameters import check_choice, parameter, with_parameters
from algorithms.regression.budget import PROPORTIONS, Budget, in_two_parts, share_of_quadratic
from algorithms.regression.design import Design
from algorithms.regression.moments import SoundBudget, in_moments_and_linear, share_of_moments
from algorithms.regression.polynomial import PrivatePolynomialRegressor


@with_parameters
class DiffLRRegressor(PrivatePolynomialRegressor):
    """Linear least squares that gives the quadratic and the linear coefficients budgets of their own.

    Parameters
    ----------
    split : {"proportional", "sqrt", "optimal"}
        How the budget is divided: with n_i coefficients of sensitivity Δ_i, part i gets a share in proportion to Δ_i
        (the functional mechanism exactly), to √Δ_i, or to (n_i Δ_i²)^(1/3), which has the least noise energy, see
        ``algorithms.regression.budget.share_of_quadratic``.
    fit_intercept : bool
        Whether there is a constant; it counts as a regressor.

    Notes
    -----
    With d regressors the quadratic part has n = d² and Δ = 2d², the linear part n = d and Δ = 4d. Part i gets ε_i, with
    Σ ε_i = ε, and noise Lap(Δ_i/ε_i) on each coefficient.

    Privacy: given a public domain variant "paper" is epsilon-differentially private for neighbours that differ by one
    record replaced, which is what the factor 2 of Δ is for. For one record added or removed half of epsilon is spent.

    Variant "sound" is epsilon-differentially private for one record added or removed: the distinct entries of M are one
    release, b is another, and ``split`` divides by what these cost, see
    ``algorithms.regression.moments.share_of_moments``. Replacing a record costs twice epsilon in scaling "box",
    epsilon in "ball", at most twice in "signed_ball".

    The original's own rule was not available: it gives more to the part of larger sensitivity, as all three do.

    Examples
    --------
    >>> from algorithms import Continuous, Domain
    >>> domain = Domain((Continuous("x", 0, 10),), Continuous("y", 0, 20))
    >>> X, y = [[i % 11] for i in range(100_000)], [2 * (i % 11) for i in range(100_000)]
    >>> model = DiffLRRegressor(epsilon=1.0, domain=domain, random_state=0).fit(X, y)
    >>> model.predict([[1], [9]]).round(1)
    array([ 2., 18.])
    """

    split: str = parameter("optimal", check_choice, choices=PROPORTIONS)

    def _printed_budget(self, design: Design) -> Budget:
        d = len(design.monomials)
        return in_two_parts(float(self.epsilon), d, share_of_quadratic(d, self.split))

    def _sound_budget(self, design: Design) -> SoundBudget:
        return in_moments_and_linear(design, float(self.epsilon), share_of_moments(design, self.split))
