"""What all private polynomial regressors share: everything but how they divide their budget."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from algorithms.accounting import REPLACED, Event, Privacy
from algorithms.base import PrivateRegressor
from algorithms.domain import Domain
from algorithms.parameters import ParameterError, check_choice, check_epsilon
from algorithms.regression.design import Design
from algorithms.regression.minimum import REPAIRS, minimise
from algorithms.regression.objective import Noise, Objective, objective_of, perturbed


class Budget(NamedTuple):
    """How an algorithm divides its epsilon.

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


class Summary(NamedTuple):
    """All that ``fit`` needs to know of the rows, whatever epsilon is: exact, so not to be released.

    Parameters
    ----------
    objective : Objective
        The exact objective.
    design : Design
        The regressors that it is about.
    domain : Domain
        The domain in use.
    clipped : dict
        How many values lay outside the declared bounds, by column.
    columns : array of shape (p,) or None
        Names of the columns of X, if it had any.
    """

    objective: Objective
    design: Design
    domain: Domain
    clipped: dict
    columns: np.ndarray | None


class PrivatePolynomialRegressor(PrivateRegressor):
    """Base of the private polynomial regressors.

    A subclass has the parameters ``scaling``, ``fit_intercept`` and ``repair`` and says in ``_budget`` how it divides
    its epsilon.

    Attributes
    ----------
    coef_ : float64 array of shape (d,)
        Weight of each monomial of the scaled attributes, for the scaled target.
    monomials_ : list of str
        Names of the monomials, such as "AT²·V"; "1" is the constant.
    privacy_ : Privacy
        What was claimed and what was spent.
    """

    degree = 1

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
            For a category or number of columns that the domain does not know, or missing values.
        """
        return self.fit_summary(self.summarise(X, y))

    def summarise(self, X, y) -> Summary:
        """Read the rows once; the summary fits any estimator of the same design, whatever its epsilon.

        Parameters, errors and warnings are those of ``fit``.

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
        self._check_parameters()
        matrix, target = self.read_training_rows(X, y)
        design = self._design(self.domain_)
        objective = objective_of(design.blocks(matrix, target), len(design.monomials))
        return Summary(objective, design, self.domain_, self.clipped_, getattr(self, "feature_names_in_", None))

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
        self._check_parameters()
        if summary.design != self._design(summary.domain) or self.domain not in (None, summary.domain):
            raise ParameterError("the summary was made with another domain, degree, scaling or fit_intercept")
        self.domain_, self.clipped_ = summary.domain, dict(summary.clipped)
        self.n_features_in_ = len(self.domain_.features)
        vars(self).pop("feature_names_in_", None)  # a former fit may have seen named columns
        if summary.columns is not None:
            self.feature_names_in_ = summary.columns
        budget = self._budget(len(summary.design.monomials))
        rng = np.random.default_rng(self.seed())
        M, b = perturbed(summary.objective, budget.quadratic, budget.linear, rng)
        self.coef_ = minimise(M, b, self.repair, budget.quadratic.scale)
        self.monomials_ = summary.design.monomials.names(self.domain_.names)
        self.privacy_ = Privacy.under(self.domain_, self.epsilon, budget.ledger, neighbours=REPLACED)
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
        matrix = self.read_rows(X)
        design = self._design(self.domain_)
        scaled = np.concatenate([self.coef_ @ block for block in design.blocks(matrix)])
        return self.in_unit_of_target(design.share_of_target(scaled))

    def _design(self, domain: Domain) -> Design:
        return Design(domain.features, self.degree, self.scaling, bool(self.fit_intercept))

    def _check_parameters(self) -> None:
        """Raise ``ParameterError`` for a parameter that cannot work whatever the rows."""
        check_epsilon(self.epsilon)
        check_choice("fit_intercept", self.fit_intercept, (True, False))
        check_choice("repair", self.repair, REPAIRS)

    def _budget(self, n_monomials: int) -> Budget:
        """Divide the budget over the coefficients of an objective of so many monomials."""
        raise NotImplementedError
