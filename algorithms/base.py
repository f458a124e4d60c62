"""What all private estimators share: how they read rows, and what they tell scikit-learn about themselves."""

from __future__ import annotations

import math
import secrets

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array, check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from algorithms.accounting import ADDED_OR_REMOVED, Event, Fault, Privacy
from algorithms.domain import Continuous, Domain, DomainError, Nominal, Rows
from algorithms.parameters import check_choice
from algorithms.released.document import Origin, Release, ReleaseError
from algorithms.secure import SecureGenerator
from algorithms.trust import EXPERIMENT, RELEASE


class PrivateEstimator(BaseEstimator):
    """Base of the private estimators: a subclass has the parameters ``epsilon``, ``domain`` and ``random_state``.

    It has ``noise``, too, if it can be released; all that it draws comes from ``generator``.

    Attributes
    ----------
    domain_ : Domain
        The domain in use: the given one, or one inferred from the rows.
    clipped_ : dict
        How many training values lay outside the declared bounds, by column: exact, so not to be released.
    """

    noise = "numpy"

    def read_rows(self, X) -> np.ndarray:
        """Turn what ``predict`` is given into numbers, as in ``fit``: float64 array of shape (n, k)."""
        return self.rows(X).matrix()

    def rows(self, X) -> Rows:
        """Check what ``predict`` is given, to be turned into numbers block by block."""
        check_is_fitted(self)
        return self.domain_.rows(self._checked(X, reset=False))

    def seed(self) -> np.random.SeedSequence:
        """Return the root of all that a seed decides in one ``fit``: drawn from ``random_state``.

        In a release that is what may be public, and nothing of the noise or of a record's part. Without a
        ``random_state`` it has 128 bits of the operating system, too many to try.
        """
        if self.is_secure() and self.random_state is None:
            return np.random.SeedSequence(secrets.randbits(128))
        return np.random.SeedSequence(check_random_state(self.random_state).randint(2**31 - 1))

    def is_secure(self) -> bool:
        """Tell whether OpenDP draws the noise: if ``noise`` says so and there is any, which ``epsilon=inf`` has not.

        Raises
        ------
        ParameterError
            If ``noise`` is neither "numpy" nor "opendp".
        """
        return check_choice("noise", self.noise, ("numpy", "opendp")) == "opendp" and self.epsilon != np.inf

    def generator(self, seed: np.random.SeedSequence) -> np.random.Generator:
        """Return what draws: a numpy generator, of the kind that has OpenDP draw the noise where that is asked for.

        Raises
        ------
        ParameterError
            If ``noise`` is neither "numpy" nor "opendp".
        ImportError
            If OpenDP is asked for and not installed.
        """
        return SecureGenerator(np.random.PCG64(seed)) if self.is_secure() else np.random.default_rng(seed)

    def account(
        self,
        claimed_epsilon: float,
        ledger: Event,
        faults: tuple[Fault, ...] = (),
        *,
        neighbours: str = ADDED_OR_REMOVED,
    ) -> Privacy:
        """Return the account of a fit, with what it says of its noise; a domain that is not public is a fault.

        Parameters
        ----------
        claimed_epsilon : float
            The epsilon that was asked for; infinite where none is claimed.
        ledger : accounting.Event
            Everything that was spent.
        faults : tuple of accounting.Fault
            Steps that the claim does not cover.
        neighbours : str
            Which tables count as neighbours in the claim, a constant of ``algorithms.accounting``.
        """
        trust = RELEASE if self.is_secure() else EXPERIMENT
        return Privacy.under(self.domain_, claimed_epsilon, ledger, faults, neighbours=neighbours, trust=trust)

    def release(self) -> Release:
        """Return what may leave of this model: what was paid for, what is public, and nothing else.

        The fitted estimator is to stay where the rows are. A release has ``predict``, ``to_json`` and ``save``, and
        ``algorithms.load_release`` reads it where nothing of the training is installed but numpy and pandas.

        Raises
        ------
        ReleaseError
            If this fit is not sound: the message says why.
        NotFittedError
            If there was none.

        Examples
        --------
        >>> from algorithms import Domain, Nominal, ThriftyTreeClassifier
        >>> domain = Domain((Nominal("a", (0, 1)),), Nominal("y", ("no", "yes")))
        >>> X, y = [[0], [1]] * 500, ["no", "yes"] * 500
        >>> released = ThriftyTreeClassifier(epsilon=5.0, domain=domain, noise="opendp").fit(X, y).release()
        >>> released.predict([[0], [1]])
        array(['no', 'yes'], dtype='<U3')
        """
        if not hasattr(self, "privacy_"):  # a sampler has no ``fit`` that scikit-learn could look for
            raise NotFittedError(f"{type(self).__name__} has seen no rows: there is nothing to release")
        if not self.privacy_.is_sound:
            raise ReleaseError(f"{type(self).__name__} must not leave: {self._reason_to_stay()}")
        private = {"domain", "random_state", "n_jobs"}
        parameters = {name: value for name, value in self.get_params(deep=False).items() if name not in private}
        domain = Domain.from_mapping(self.domain_.to_mapping())  # what was looked up in the other stays behind
        return self._released(Origin(type(self).__name__, parameters, domain, self.privacy_.as_dict()))

    def _released(self, origin: Origin) -> Release:
        """Return what was paid for, in a form that holds nothing else."""
        raise ReleaseError(f"{type(self).__name__} does not say what may leave of it")

    def _reason_to_stay(self) -> str:
        """Say why a model is not sound, and what would help."""
        if self.privacy_.faults:
            return f"its account has faults: {', '.join(fault.name for fault in self.privacy_.faults)}"
        if math.isinf(self.privacy_.claimed_epsilon):
            return "no epsilon is claimed"
        if self.privacy_.keeps_claim:
            return "a seed decides its noise; fit it with noise='opendp'"
        return "it spends more than it claims"

    def _checked(self, X, reset: bool):
        """Check shape and names of X as scikit-learn does, without forcing categories into numbers."""
        if not hasattr(X, "columns"):
            X = check_array(X, dtype=None, ensure_all_finite="allow-nan", estimator=self)
        elif len(X) == 0:
            raise ValueError(f"{type(self).__name__} needs at least one row, got 0 samples")
        validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def _checked_pair(self, X, y):
        """Check the rows of ``fit`` and the shape of their target."""
        X = self._checked(X, reset=True)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        return X, y

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags


class LabelledEstimator(PrivateEstimator):
    """Base of what learns from rows with class labels: the private classifiers, and the samplers.

    Attributes
    ----------
    classes_ : array of shape (c,)
        The declared class labels, sorted.
    """

    def read_training_rows(self, X, y) -> tuple[np.ndarray, np.ndarray]:
        """Turn what ``fit`` is given into numbers; sets ``domain_``, ``classes_`` and ``clipped_``.

        Parameters
        ----------
        X : DataFrame or array of shape (n, k)
            Rows, columns as the domain declares them.
        y : array of shape (n,)
            Class labels.

        Returns
        -------
        matrix : float64 array of shape (n, k)
            Rows as ``Domain.encode`` returns them.
        labels : int array of shape (n,)
            Position of each label in ``classes_``.

        Raises
        ------
        DomainError
            For a category, class label or number of columns that the domain does not know, or missing values.

        Warns
        -----
        PrivacyLeakWarning
            If no domain was given.
        """
        X, y = self._checked_pair(X, y)
        if self.domain is None:
            check_classification_targets(y)
            self.domain_ = Domain.infer(X, y)
        elif isinstance(getattr(self.domain, "target", None), Nominal):
            self.domain_ = self.domain
        else:
            raise DomainError("the domain of a classifier must declare its class labels: target=Nominal(...)")
        target = self.domain_.target
        self.classes_ = np.unique(np.array(target.categories))
        labels, _ = Nominal(target.name, tuple(self.classes_.tolist())).encode(y)
        matrix, self.clipped_ = self.domain_.encode(X)
        return matrix, labels


class PrivateClassifier(ClassifierMixin, LabelledEstimator):
    """Base of the private classifiers."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # with a finite budget a small table is mostly noise
        return tags


class PrivateRegressor(RegressorMixin, PrivateEstimator):
    """Base of the private regressors: inside, the target is scaled to [0, 1] by its declared bounds."""

    def training_rows(self, X, y) -> Rows:
        """Check what ``fit`` is given, to be turned into numbers block by block; sets ``domain_``.

        Parameters
        ----------
        X : DataFrame or array of shape (n, k)
            Rows, columns as the domain declares them.
        y : array of shape (n,)
            Target, in its own unit.

        Returns
        -------
        Rows
            The target is the last column.

        Raises
        ------
        DomainError
            For a number of columns that the domain does not know, or a domain without bounds of the target.

        Warns
        -----
        PrivacyLeakWarning
            If no domain was given.
        """
        X, y = self._checked_pair(X, y)
        if self.domain is None:
            self.domain_ = Domain.infer(X, y, classification=False)
        elif isinstance(getattr(self.domain, "target", None), Continuous):
            self.domain_ = self.domain
        else:
            raise DomainError("the domain of a regressor must declare the bounds of its target: target=Continuous(...)")
        return self.domain_.rows(X, y)

    def read_training_rows(self, X, y) -> tuple[np.ndarray, np.ndarray]:
        """Turn what ``fit`` is given into numbers; sets ``domain_`` and ``clipped_``.

        Parameters, errors and warnings are those of ``training_rows``; a category that the domain does not know or a
        missing value is a DomainError, too.

        Returns
        -------
        matrix : float64 array of shape (n, k)
            Rows as ``Domain.encode`` returns them.
        target : float64 array of shape (n,)
            Target, clipped to its declared bounds and scaled to [0, 1].
        """
        rows = self.training_rows(X, y)
        matrix, self.clipped_ = rows.matrix(), rows.clipped
        bounds = self.domain_.target
        return matrix[:, :-1], (matrix[:, -1] - bounds.lower) / (bounds.upper - bounds.lower)

    def in_unit_of_target(self, shares: np.ndarray) -> np.ndarray:
        """Turn predictions on the scale [0, 1] into the unit of the target."""
        bounds = self.domain_.target
        return bounds.lower + shares * (bounds.upper - bounds.lower)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # with a finite budget a small table is mostly noise
        return tags
