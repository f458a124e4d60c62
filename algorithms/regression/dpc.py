"""DPC-on-PR of paper 3 (Xie & Yang, 2022): more noise on the coefficients that have to do with sensitive attributes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from algorithms.accounting.events import Sequential
from algorithms.encoding.domain import Domain
from algorithms.mechanisms import sup_norm_spread
from algorithms.parameters import ParameterError, check_choice, check_number, parameter, with_parameters
from algorithms.regression.budget import ENTRY_OF_B, ENTRY_OF_M, Budget, part_sensitivities, price_part
from algorithms.regression.design import Design
from algorithms.regression.moments import MomentGroup, Moments, SoundBudget
from algorithms.regression.objective import Noise
from algorithms.regression.polynomial import OfAnyDegree


@with_parameters
class DPCRegressor(OfAnyDegree):
    """Polynomial least squares with more noise on the coefficients of sensitive attributes.

    Parameters
    ----------
    gamma : float
        γ = ε_s / ε_n in (0, 1]: how much smaller the budget of a sensitive coefficient is; 1 is the functional
        mechanism. The paper does not print its own.
    sensitive : list or tuple of str, or None
        Names of the sensitive attributes, at least one; None is the first attribute of the domain.
    ridge : {"larger", "smaller"}
        Which of the two scales of noise on M the ridge of the repair follows. The paper has no repair.

    Notes
    -----
    An entry of M or b is sensitive if a monomial that it belongs to contains a sensitive attribute. With d monomials
    Δ = 2(d² + 2d): every one of the d² entries of M changes by at most 2, of the d of b by at most 4. Δ_n is the sum
    of these over the entries that are not sensitive, and η = Δ_n/Δ. Then ε_n = ε / (η + γ(1 - η)), ε_s = γ ε_n, and the
    noise is Lap(Δ/ε_n) or Lap(Δ/ε_s).

    Privacy: given a public domain variant "paper" is epsilon-differentially private for neighbours that differ by one
    record replaced: the log-ratio of densities is at most Σ |change| / scale ≤ Δ_n ε_n/Δ + (Δ - Δ_n) ε_s/Δ =
    η ε_n + (1 - η) ε_s = ε. So a group is a release of sensitivity Δ_n that costs η ε_n, and the costs add up. For one
    record added or removed half of epsilon is spent. That the attribute is sensitive is public, and all of a record
    is protected by the same ε.

    Variant "sound" is epsilon-differentially private for one record added or removed: the distinct coefficients without
    sensitive attributes are one release, the others another, with budgets that make the noise of the latter 1/γ times
    as large. Replacing a record costs twice epsilon in scaling "box", epsilon in "ball", at most twice in
    "signed_ball".

    Examples
    --------
    >>> from algorithms import Continuous, Domain
    >>> domain = Domain((Continuous("age", 0, 10), Continuous("x", 0, 10)), Continuous("y", 0, 20))
    >>> X, y = [[i % 7, i % 11] for i in range(100_000)], [2 * (i % 11) for i in range(100_000)]
    >>> model = DPCRegressor(1.0, sensitive=["age"], domain=domain, random_state=0).fit(X, y)
    >>> model.predict([[5, 1], [5, 9]]).round(1)
    array([ 2., 18.])
    >>> print(*model.privacy_.ledger.to_lines(), sep="\\n")
    objective, on the same rows, costs 1
      laplace: coefficients without sensitive attributes (sensitivity 6) costs 0.5455
      laplace: coefficients with sensitive attributes (sensitivity 10) costs 0.4545
    """

    gamma: float = parameter(0.5, check_number, above=0, highest=1)
    sensitive: Sequence[str] | None = parameter(None)
    ridge: str = parameter("larger", check_choice, choices=("larger", "smaller"), is_reading=True)

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        super().check_parameters(n_features)
        _check_names(self.sensitive)
        if isinstance(self.domain, Domain):
            self._sensitive_positions(self.domain.names)

    def _printed_budget(self, design: Design) -> Budget:
        monomials = design.monomials.containing(self._sensitive_positions(design.domain.names))
        of_M, of_b = monomials[:, np.newaxis] | monomials, monomials
        total = sum(part_sensitivities(len(monomials)))
        of_sensitive = ENTRY_OF_M * np.count_nonzero(of_M) + ENTRY_OF_B * np.count_nonzero(of_b)
        eta = 1 - of_sensitive / total
        epsilon_n = float(self.epsilon) / (eta + self.gamma * (1 - eta))
        epsilon_s = self.gamma * epsilon_n
        groups = [
            ("coefficients without sensitive attributes", epsilon_n, total - of_sensitive, ~of_b),
            ("coefficients with sensitive attributes", epsilon_s, of_sensitive, of_b),
        ]
        spent, farther = [], design.largest_target - 1
        for what, epsilon, part, members in groups:
            if part:
                times = 1 + ENTRY_OF_B * np.count_nonzero(members) * farther / part
                spent.append(price_part(what, part / total * epsilon, part, times))
        quadratic, linear = (Noise(total, np.where(group, epsilon_s, epsilon_n)) for group in (of_M, of_b))
        return Budget(quadratic, linear, Sequential("objective", tuple(spent)))

    def _scale_of_ridge(self, budget: Budget | SoundBudget) -> float:
        if self.ridge == "larger":
            return super()._scale_of_ridge(budget)
        assert isinstance(budget, Budget)  # "sound" has no readings
        return float(np.min(np.divide(budget.quadratic.sensitivity, budget.quadratic.epsilon)))

    def _sound_budget(self, design: Design) -> SoundBudget:
        moments = Moments.of(design)
        monomials = design.monomials.containing(self._sensitive_positions(design.domain.names))
        is_sensitive = np.empty(len(moments.bounds), dtype=bool)
        is_sensitive[moments.of_M], is_sensitive[moments.of_b] = monomials[:, np.newaxis] | monomials, monomials
        groups = [
            MomentGroup(
                "coefficients without sensitive attributes", ~is_sensitive, sup_norm_spread(np.sum(~is_sensitive))
            ),
            MomentGroup(
                "coefficients with sensitive attributes",
                is_sensitive,
                self.gamma * sup_norm_spread(np.sum(is_sensitive)),
            ),
        ]
        present = [group for group in groups if group.members.any()]
        unit = float(self.epsilon) / sum(group.epsilon for group in present)
        return SoundBudget(moments, tuple(group._replace(epsilon=group.epsilon * unit) for group in present))

    def _sensitive_positions(self, attributes: Sequence[str]) -> list[int]:
        """Positions of the sensitive attributes among all."""
        if self.sensitive is None:
            return [0]
        if not set(self.sensitive) <= set(attributes):
            raise ParameterError(f"sensitive must be among {', '.join(attributes)}, got {self.sensitive!r}")
        return [attributes.index(name) for name in self.sensitive]


def _check_names(sensitive) -> None:
    if sensitive is None:
        return
    is_list = isinstance(sensitive, Sequence) and not isinstance(sensitive, str) and len(sensitive) > 0
    if not is_list or not all(isinstance(name, str) for name in sensitive):
        raise ParameterError(f"sensitive must be a list of attributes, at least one, or None, got {sensitive!r}")
