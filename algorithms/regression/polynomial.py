"""What all private polynomial regressors share: everything but how they divide their budget."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np

from algorithms.accounting.faults import TARGET_IN_ITS_OWN_UNIT
from algorithms.base import PrivateRegressor
from algorithms.encoding.domain import Domain
from algorithms.parameters import ParameterError, check_choice, check_epsilon, check_flag, check_readings
from algorithms.regression.budget import Budget
from algorithms.regression.design import SCALINGS, TARGET_SCALINGS, Design
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


class PrivatePolynomialRegressor(PrivateRegressor):
    """Base of the private polynomial regressors.

    A subclass has the parameters ``variant``, ``scaling``, ``fit_intercept`` and ``repair`` and says in
    ``_printed_budget`` and ``_sound_budget`` how it divides its epsilon. Both variants release M and b with noise and
    minimise what comes out; "sound" releases each distinct moment once, within tight bounds, and is calibrated for a
    record added or removed, see ``algorithms.regression.moments``.

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

    degree = 1
    target_scaling = "declared"

    READINGS: ClassVar[Mapping] = {"target_scaling": "declared"}
    """Parameters that stand for readings of the text, with their most literal value; "sound" accepts no other."""

    def fit(self, X, y):
        """Fit the weights.

        Parameters
        ----------
        X : DataFrame or array of shape (n, p)
            Rows, columns as the domain declares them.
        y : array of shape (n,)
            Target, in its own unit.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            If a parameter has a value that cannot work, for instance a degree with too many monomials.
        DomainError
            For a number of columns that the domain does not know; unless in a release, for a category that it does not
            know, or missing values.
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
        rows = self.training_rows(X, y)
        self.check_parameters(len(self.domain_.features))
        design = self.design(self.domain_)
        objective = objective_of(design.blocks(rows), len(design.monomials))
        columns = getattr(self, "feature_names_in_", None)
        return Summary(objective, design, rows.clipped, columns, self._leaves_out())

    def fit_summary(self, summary: Summary):
        """Fit the weights to rows that were read before.

        Parameters
        ----------
        summary : Summary
            What ``summarise`` returned, here or in an estimator of the same design and domain. It stays as it is.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            If a parameter has a value that cannot work, or the summary is of another design or domain.
        """
        vars(self).pop("privacy_", None)  # the account of a former fit says nothing of this one
        design = summary.design
        self.check_parameters(len(design.domain.features))
        if self._leaves_out() and not summary.leaves_out:
            raise ParameterError("the summary was made for an experiment: summarise the rows with noise='opendp', too")
        if design != self.design(design.domain) or self.domain not in (None, design.domain):
            raise ParameterError("the summary was made with another domain, degree, scaling or intercept")
        self.domain_ = design.domain
        self._note_clipped(summary.clipped)
        self.n_features_in_ = len(self.domain_.features)
        vars(self).pop("feature_names_in_", None)  # a former fit may have seen named columns
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
        """Predict the target.

        Parameters
        ----------
        X : DataFrame or array of shape (n, p)
            Rows; values beyond the declared bounds are clipped.

        Returns
        -------
        float64 array of shape (n,)
            Predictions in the unit of the target; they may lie beyond its bounds.
        """
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
        check_epsilon(self.epsilon)
        check_choice("scaling", self.scaling, SCALINGS)
        check_choice("target_scaling", self.target_scaling, TARGET_SCALINGS)
        check_flag("fit_intercept", self.fit_intercept)
        check_choice("repair", self.repair, REPAIRS)
        if check_choice("variant", self.variant, ("paper", "sound")) == "sound":
            check_readings(self, self.READINGS)
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
