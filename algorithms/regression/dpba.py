"""DPBA-on-PR of paper 3 (Xie & Yang, 2022): the quadratic and the linear coefficients have budgets of their own."""

from __future__ import annotations

import math

from algorithms.parameters import ParameterError, check_choice, check_number, parameter, with_parameters
from algorithms.regression.budget import Budget, in_two_parts, part_sensitivities, share_of_quadratic
from algorithms.regression.design import Design
from algorithms.regression.moments import SoundBudget, in_moments_and_linear, share_of_moments
from algorithms.regression.polynomial import OfAnyDegree, Summary

VALUES = ("value1", "value2", "value3")
"""The names of the values of β that the paper compares."""


def is_quadratic_larger(d: int) -> bool:
    """Return whether the quadratic part has the larger sensitivity of the two: β divides the budget of the larger."""
    of_M, of_b = part_sensitivities(d)
    return of_M > of_b


def find_beta(name: str, d: int) -> float:
    """Return a named value of β for d monomials, see the notes of `DPBARegressor`.

    Examples
    --------
    >>> [find_beta(name, 54) for name in VALUES]
    [5832.0, 5771.0, 5621.0]
    """
    smaller, larger = sorted(part_sensitivities(d))
    equal, like_fm = larger**2 / (larger + smaller), larger**2 / (larger + smaller + 2)
    between = equal + (larger - equal) / math.sqrt(2)
    # as whole as printed, but not where that would move a tenth of the budget and more
    is_whole = is_quadratic_larger(d)
    values = (larger, round(between), math.floor(like_fm)) if is_whole else (larger, between, like_fm)
    return float(dict(zip(VALUES, values, strict=True))[name])


@with_parameters
class DPBARegressor(OfAnyDegree):
    """Polynomial least squares that gives the quadratic coefficients a share of the budget that is set by β.

    Parameters
    ----------
    beta : {"value1", "value2", "value3"}, float or None
        The quadratic part gets ε_g = ε β / Δ_g, for β in (0, Δ_g], but neither part less than ``least_share``. The
        names are the values that the paper compares; see the notes. None where ``share`` is given.
    share : float, "optimal" or None
        ε_g / ε itself, in (0, 1); "optimal" has the least noise energy, see
        ``algorithms.regression.budget.share_of_quadratic``. None where ``beta`` is given.
    least_share : float
        What β leaves each part of ε at least, in [1e-9, 0.5): at β = Δ_g the linear part would have no budget, so no
        finite noise. The paper does not say what it did.

    Attributes
    ----------
    beta_ : float
        β in use, a number whatever was given: where ``share`` was, the one that gives it. Not of variant "sound", which
        has another Δ_g.

    Notes
    -----
    With d monomials Δ_g = 2d² and Δ_h = 4d; ε_g + ε_h = ε; noise Lap(Δ_g/ε_g) on each entry of M, Lap(Δ_h/ε_h) on each
    of b. The paper prints its β for d = 54 only:

    - value1 = 5832 is Δ_g. It leaves the linear part nothing, which no mechanism can do: ``least_share`` here.
    - value3 = 5621, "the same as FM", is ⌊Δ_g² / (2(d + 1)²)⌋, a budget in proportion to the sensitivities if the
      constant Σ y² counts, too.
    - value2 = 5771 lies between them and its formula is lost. b + (Δ_g - b)/√2 with b = Δ_g²/(Δ_g + Δ_h) is 5770.995
      for d = 54; it is rounded to the nearest whole number, as only that gives what is printed. Many other formulas
      do, too, so that this one is no evidence.

    Algorithm 3 tells two cases apart, Δ_g > Δ_h and the rest, d ≤ 2, whose line is lost. As "the larger part gets more"
    asks for, β then divides the budget of the linear part: ε_h = ε β / Δ_h, with the same values of Δ_h for Δ_g, and
    not as whole numbers, which would be as coarse as β itself: for d = 1 value3 would leave g nothing.

    Privacy: given a public domain variant "paper" is epsilon-differentially private for neighbours that differ by one
    record replaced, which is what the factor 2 of Δ is for. For one record added or removed half of epsilon is spent.

    Variant "sound" is epsilon-differentially private for one record added or removed: the distinct entries of M are one
    release, b is another. The share of M is as printed, β/Δ_g or ``share``, but that "optimal" has the least energy of
    the noise that is drawn, see ``algorithms.regression.moments.share_of_moments``. Replacing a record costs twice
    epsilon in scaling "box", epsilon in "ball", at most twice in "signed_ball". The catalogue's
    ``dpba_sound`` has ``share="optimal"`` in place of ``beta``.

    Examples
    --------
    >>> from algorithms import Continuous, Domain
    >>> domain = Domain((Continuous("x", 0, 10),), Continuous("y", 0, 100))
    >>> X, y = [[i % 11] for i in range(100_000)], [(i % 11) ** 2 for i in range(100_000)]
    >>> model = DPBARegressor(1.0, degree=2, fit_intercept=True, domain=domain, random_state=0).fit(X, y)
    >>> model.predict([[3], [9]]).round()
    array([ 9., 81.])
    >>> print(model.privacy_.ledger.to_lines()[1])
      laplace: quadratic coefficients (sensitivity 18) costs 0.8889
    """

    beta: str | float | None = parameter("value2")
    share: str | float | None = parameter(None)
    least_share: float = parameter(1e-4, check_number, lowest=1e-9, below=0.5)

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        super().check_parameters(n_features)
        if self.beta is None and self.share is None:
            raise ParameterError("beta must be set where share is not, got None")
        self._quadratic_share(len(self._monomials(n_features)))
        if self.beta is not None and self.share is not None:
            raise ParameterError(f"beta must be None where share is set, got {self.beta!r}")

    def fit_summary(self, summary: Summary):
        """Fit the weights to rows that were read before; as in the base class."""
        super().fit_summary(summary)
        if self.variant == "paper":
            d = len(self.coef_)
            self.beta_ = self._beta_in_use(d) if self.share is None else self._beta_of_share(d)
        return self

    def _printed_budget(self, design: Design) -> Budget:
        d = len(design.monomials)
        return in_two_parts(float(self.epsilon), d, self._quadratic_share(d), design.largest_target)

    def _sound_budget(self, design: Design) -> SoundBudget:
        is_optimal = self.share == "optimal"  # for what is released here, not for what is printed
        share = share_of_moments(design, "optimal") if is_optimal else self._quadratic_share(len(design.monomials))
        return in_moments_and_linear(design, float(self.epsilon), share)

    def _quadratic_share(self, d: int) -> float:
        """Share of the quadratic part as printed."""
        if isinstance(self.share, str):
            return share_of_quadratic(d, check_choice("share", self.share, ("optimal",)))
        if self.share is not None:
            return check_number("share", self.share, above=0, below=1)
        of_larger = self._beta_in_use(d) / max(part_sensitivities(d))
        of_larger = min(max(of_larger, self.least_share), 1 - self.least_share)
        return of_larger if is_quadratic_larger(d) else 1 - of_larger

    def _beta_in_use(self, d: int) -> float:
        if isinstance(self.beta, str):
            return find_beta(check_choice("beta", self.beta, VALUES), d)
        return check_number("beta", self.beta, above=0, highest=max(part_sensitivities(d)))

    def _beta_of_share(self, d: int) -> float:
        share, larger = self._quadratic_share(d), max(part_sensitivities(d))
        return share * larger if is_quadratic_larger(d) else (1 - share) * larger
