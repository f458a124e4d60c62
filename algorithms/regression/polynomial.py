"""What all private polynomial regressors share: everything but how they divide their budget."""

from __future__ import annotations

import math
from copy import copy
from typing import NamedTuple

import numpy as np

from algorithms.accounting.faults import TARGET_IN_ITS_OWN_UNIT
from algorithms.base import PaperOrSound, PrivateRegressor
from algorithms.encoding.domain import Domain
from algorithms.encoding.scalings import SCALINGS
from algorithms.parameters import ParameterError, check_choice, check_flag, parameter, with_parameters
from algorithms.regression.budget import Budget
from algorithms.regression.design import TARGET_SCALINGS, Design
from algorithms.regression.moments import SoundBudget
from algorithms.regression.monomials import Monomials
from algorithms.regression.objective import Objective, objective_of
from algorithms.regression.repair import REPAIRS, minimise_objective
from algorithms.released.document import Origin
from algorithms.released.regression import ReleasedRegression


class Summary(NamedTuple):
    """All that ``fit`` needs to know of the rows, whatever epsilon is: exact, so not to be released.

    Parameters
    ----------
    objective : Objective
        The exact objective.
    design : Design
        The regressors that it is about, and their domain.
    clipped : dict
        How many values lay outside the declared bounds, by column.
    columns : array of shape (p,) or None
        Names of the columns of X, if it had any.
    leaves_out : bool
        Whether records that cannot be used were left out, as a release asks for, or would have been refused.
    """

    objective: Objective
    design: Design
    clipped: dict
    columns: np.ndarray | None
    leaves_out: bool


@with_parameters
class PrivatePolynomialRegressor(PaperOrSound, PrivateRegressor):
    """Base of the private polynomial regressors.

    A subclass says in ``_printed_budget`` and ``_sound_budget`` how it divides its epsilon. Both variants release M and
    b with noise and minimise what comes out; "sound" releases each distinct moment once, within tight bounds, and is
    calibrated for a record added or removed, see ``algorithms.regression.moments``.

    Parameters
    ----------
    epsilon : float
        Budget, from 1e-100 to 1e100; inf is least squares without noise.
    variant : {"paper", "sound"}
        "paper" is the algorithm as printed; "sound" is the same with each distinct moment released once, tight bounds
        and noise of the maximum norm, see ``algorithms.regression.moments``. The catalogue's sound ones also have
        another ``repair``, "tikhonov".
    scaling : {"box", "unit", "ball", "signed_ball"}
        Where the declared bounds are mapped: "box" to [-1, 1], target included (paper 3), "unit" to [0, 1], target
        included; "ball" to [0, 1/√p] for p attributes and to [0, 1] for the target (paper 1); "signed_ball" to the same
        for the attributes and to [-1, 1] for the target (the functional mechanism's authors).
    fit_intercept : bool
        Whether the constant is a monomial, too. The papers do not have it.
    repair : {"none", "ridge", "trim", "ridge+trim", "fm_code", "tikhonov"}
        What is done if the noisy objective has no minimum, see ``algorithms.regression.repair.minimise_objective``.

    Attributes
    ----------
    coef_ : float64 array of shape (d,)
        Weight of each monomial of the scaled attributes, for the scaled target.
    monomials_ : list of str
        Names of the monomials, such as "AT²·V"; "1" is the constant.
    noise_scales_ : dict
        Scale of the Laplace noise on the "quadratic" and on the "linear" coefficients, before the quadratic ones are
        averaged with their mirror images; the largest where the coefficients of a part differ, 0 without noise. Of the
        sound variant that of Laplace noise with the same variance.
    privacy_ : Privacy
        What was claimed and what was spent.
    """

    draws_only_noise = True
    scaling: str = parameter("box", check_choice, comes_last=True, choices=SCALINGS)
    fit_intercept: bool = parameter(False, check_flag, comes_last=True)
    repair: str = parameter("ridge+trim", check_choice, comes_last=True, choices=REPAIRS)

    degree = 1
    target_scaling = "declared"

    def fit(self, X, y):
        """Fit the weights to rows X and targets y, in their own unit, and return the regressor.

        Rows, errors and warnings are those of ``training_rows``. A parameter that cannot work, for instance a degree
        with too many monomials, is a ``ParameterError``; unless in a release, a category that the domain does not know
        or a missing value is a ``DomainError``, too.
        """
        return self.fit_summary(self.summarise(X, y))

    def summarise(self, X, y) -> Summary:
        """Read the rows once; the summary fits any estimator of the same design, whatever its epsilon.

        Parameters, errors and warnings are those of ``fit``: a summary for a release is made by an estimator that has
        ``noise="opendp"``, too.

        Examples
        --------
        >>> from algorithms import Continuous, DiffLRRegressor, Domain, FunctionalMechanismRegressor
        >>> domain = Domain((Continuous("x", 0, 10),), Continuous("y", 0, 20))
        >>> summary = FunctionalMechanismRegressor(domain=domain).summarise([[0], [4], [10]], [0, 8, 20])
        >>> for epsilon in (1e6, 1e9):
        ...     model = DiffLRRegressor(epsilon, repair="none", domain=domain, random_state=0).fit_summary(summary)
        ...     print(model.coef_.round(3))
        [1.]
        [1.]
        """
        reader = copy(self)  # a summary is no fit: what was learnt before stays
        rows = reader.training_rows(X, y)
        self.check_parameters(len(reader.domain_.features))
        design = self.design(reader.domain_)
        objective = objective_of(design.blocks(rows), len(design.monomials))
        columns = getattr(reader, "feature_names_in_", None)
        return Summary(objective, design, rows.clipped, columns, self._leaves_out())

    def fit_summary(self, summary: Summary):
        """Fit the weights to rows that were read before, here or in an estimator of the same design and domain.

        Raises
        ------
        ParameterError
            If a parameter has a value that cannot work, or the summary is of another design or domain.
        """
        design = summary.design
        self.check_parameters(len(design.domain.features))
        if self._leaves_out() and not summary.leaves_out:
            raise ParameterError("the summary was made for an experiment: summarise the rows with noise='opendp', too")
        if design != self.design(design.domain) or self.domain not in (None, design.domain):
            raise ParameterError("the summary was made with another domain, degree, scaling or intercept")
        self.domain_ = design.domain
        self._note_clipped(summary.clipped)
        self.n_features_in_ = len(self.domain_.features)
        if summary.columns is not None:
            self.feature_names_in_ = summary.columns
        budget = self.budget(design)
        rng = self.generator(self.seed())
        M, b = budget.assemble(budget.add_noise(*budget.lay_out(summary.objective), rng))
        self.noise_scales_ = scales = budget.scales
        self.coef_ = minimise_objective(M, b, self.repair, self._scale_of_ridge(budget), scales["linear"])
        self.monomials_ = list(design.names)
        is_short_of_noise = design.target_scaling == "none" and math.isfinite(self.epsilon)
        faults = (TARGET_IN_ITS_OWN_UNIT,) if is_short_of_noise else ()
        self.privacy_ = self.account(self.epsilon, budget.ledger, faults, neighbours=budget.ledger.neighbours)
        return self

    def predict(self, X) -> np.ndarray:
        """Predict the targets of rows, in their unit, but maybe beyond their bounds: float64 array of shape (n,)."""
        rows = self.rows(X)
        design = self.design(self.domain_)
        predicted, filled = np.empty(len(rows)), 0
        for block in design.blocks(rows):
            scaled = self.coef_ @ block
            predicted[filled : filled + len(scaled)] = design.in_unit_of_target(scaled)
            filled += len(scaled)
        return predicted

    def _released(self, origin: Origin) -> ReleasedRegression:
        powers = self.design(self.domain_).monomials.exponents
        return ReleasedRegression(origin, self.coef_.copy(), powers.copy(), self.scaling)

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        super().check_parameters(n_features)
        self._monomials(n_features)

    def _monomials(self, n_features: int) -> Monomials:
        return Monomials(n_features, self.degree, self.fit_intercept)

    def design(self, domain: Domain) -> Design:
        """Return the regressors that a domain gives: what a summary of rows depends on, beside the rows."""
        return Design(domain, self.degree, self.scaling, self.fit_intercept, self.target_scaling)

    def budget(self, design: Design) -> Budget | SoundBudget:
        """Return what is released of a design, and how the budget is divided over it."""
        return self._sound_budget(design) if self.variant == "sound" else self._printed_budget(design)

    def _scale_of_ridge(self, budget: Budget | SoundBudget) -> float:
        """Return the scale of the noise on M that a ridge follows."""
        return budget.scales["quadratic"]

    def _printed_budget(self, design: Design) -> Budget:
        """Divide the budget as printed."""
        raise TypeError(f"{type(self).__name__} does not say how it divides its budget")

    def _sound_budget(self, design: Design) -> SoundBudget:
        """Divide the budget of the sound variant."""
        raise TypeError(f"{type(self).__name__} does not say how it divides its budget")


@with_parameters
class OfAnyDegree(PrivatePolynomialRegressor):
    """One that paper 3 has: of any degree, with a target that it may have left in its own unit.

    Parameters
    ----------
    degree : int
        Largest degree of a monomial, at least 1; 2,000 monomials at most.
    target_scaling : {"declared", "none"}
        "none" leaves the target in its own unit and the noise as it is: a reading of paper 3, whose sensitivities need
        a target in [-1, 1]. It is not private: b then moves max |y| times as far, and costs as much.
    """

    degree: int = parameter(1)
    target_scaling: str = parameter("declared", check_choice, comes_last=True, is_reading=True, choices=TARGET_SCALINGS)
