"""What all private estimators share: how they read rows, and what they tell scikit-learn about themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from algorithms.accounting.events import ADDED_OR_REMOVED, Event
from algorithms.accounting.faults import Fault
from algorithms.accounting.privacy import Privacy
from algorithms.accounting.trust import EXPERIMENT, RELEASE
from algorithms.encoding.cells import DomainError, show_cells
from algorithms.encoding.clipping import choose_clipping
from algorithms.encoding.columns import as_frame
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Nominal
from algorithms.encoding.rows import Rows
from algorithms.fitting import FittedAtOnce
from algorithms.input_checks import as_one_column, as_table, check_content, with_declared_columns
from algorithms.opendp_noise import SecureGenerator
from algorithms.parameters import (
    ParameterError,
    check_choice,
    check_declared,
    check_epsilon,
    check_readings,
    parameter,
    with_parameters,
)
from algorithms.released.document import Origin, Release, ReleaseError


@with_parameters
class PrivateEstimator(FittedAtOnce):
    """Base of the private estimators: all that one draws comes from ``generator``.

    Parameters
    ----------
    domain : Domain or None
        Public description of the columns and of what is to be predicted; None infers it from the rows, warns, and is
        not private.
    random_state : int, RandomState or None
        Source of all randomness; in a release, of what may be public alone. None draws anew in each fit and process.

    Attributes
    ----------
    domain_ : Domain
        The domain in use: the given one, or one inferred from the rows.
    clipped_ : dict
        How many training values lay outside the declared bounds, by column: exact, so not set in a release, with
        ``noise="opendp"``.
    small_parameters : mapping
        Fact of the class: parameters of a model that is small enough to be audited; those that the class lacks do not
        count.
    reads_numbers : bool
        Fact of the class: whether it learns from columns of numbers, too.
    draws_only_noise : bool
        Fact of the class: whether noise is all that is random, so that every seed gives the same model at
        ``epsilon=inf``.

    Notes
    -----
    Suites that are about every estimator read these facts, its mixins and ``list_variants``, and have no lists of
    classes: ``algorithms.all_estimators`` finds a new one.

    In a release nothing about the training rows raises, warns or is printed, and a table without rows will do: all that
    is seen is the model. Records with a missing value, one that cannot be read, a category or label that was not
    declared, or a wrong number of cells are left out, each by itself (``algorithms.encoding.cells``). So adding or
    removing a record adds or removes at most one row of what is trained on, and replacing one replaces, adds or removes
    at most one. All three cost what the account says: one removed never costs more than one replaced. Where that costs
    twice as much, as a record that leaves and one that comes, this is plain; where it costs less,
    ``regression.budget.price_part`` and ``regression.moments`` say why. ``Domain.problems`` tells the curator before.
    Rows to predict are not protected: there the same values are errors, but for those beyond the bounds, which are
    clipped.
    """

    small_parameters: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {"n_estimators": 2, "max_depth": 2, "max_features": 2}
    )
    reads_numbers: ClassVar[bool] = True
    draws_only_noise: ClassVar[bool] = False

    noise = "numpy"
    domain: Domain | None = parameter(None, comes_last=True)
    random_state: int | np.random.RandomState | None = parameter(None, comes_last=True)
    domain_: Domain
    privacy_: Privacy

    @classmethod
    def list_variants(cls) -> list[dict[str, Any]]:
        """Return the parameters of each variant of the algorithm; one without any where it has no variants."""
        return [{}]

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        check_declared(self)

    def read_rows(self, X) -> np.ndarray:
        """Turn what ``predict`` is given into numbers, as in ``fit``: float64 array of shape (n, k)."""
        return self.rows(X).matrix()

    def rows(self, X) -> Rows:
        """Check what ``predict`` is given, to be turned into numbers block by block."""
        check_is_fitted(self, "domain_")
        X = as_frame(X)
        check_content(X, type(self).__name__)
        X = self._check_table(X, reset=False)
        return self.domain_.rows(X, clip=choose_clipping(len(X)))

    def seed(self) -> np.random.SeedSequence:
        """Return the root of all that a seed decides in one ``fit``: drawn from ``random_state``.

        In a release that is what may be public, and nothing of the noise or of a record's part. Without a
        ``random_state`` it has 128 bits of the operating system, too many to try, and others in each fit and in each
        process: numpy's global state is the same in all that are forked, and noise that two models share protects
        neither.

        Raises
        ------
        ParameterError
            If ``random_state`` is that global state, or ``numpy.random``, which stands for it.
        """
        if self.random_state is None:
            return np.random.SeedSequence()
        state = check_random_state(self.random_state)
        if state is check_random_state(None):
            raise ParameterError(
                "random_state must not be numpy's global state, which forked processes share: None draws anew in each"
            )
        return np.random.SeedSequence(state.randint(2**31 - 1))

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
        """Return the account of a fit, with what it says of its noise.

        A domain that is not public is a fault.

        Parameters
        ----------
        claimed_epsilon : float
            The epsilon that was asked for; infinite where none is claimed.
        ledger : accounting.events.Event
            Everything that was spent.
        faults : tuple of accounting.faults.Fault
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
            raise NotFittedError(
                f"{type(self).__name__} has no account of a fit that ended: there is nothing to release"
            )
        if not self.privacy_.is_sound:
            raise ReleaseError(f"{type(self).__name__} must not leave: {self._reason_to_stay()}")
        if self.public_parameters() != self.fitted_parameters_:
            raise ReleaseError(
                f"{type(self).__name__} must not leave: its parameters are not those that it was fitted by"
            )
        domain = Domain.from_mapping(self.domain_.to_mapping())  # what was looked up in the other stays behind
        parameters = dict(self.fitted_parameters_)
        return self._released(Origin(type(self).__name__, parameters, domain, self.privacy_.as_dict()))

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Read the signature of the constructor once: each fit, clone and comparison asks for it."""
        return super()._get_param_names()

    def _released(self, origin: Origin) -> Release:
        """Return what was paid for, in a form that holds nothing else."""
        raise ReleaseError(f"{type(self).__name__} does not say what may leave of it")

    def _reason_to_stay(self) -> str:
        """Say why a model is not sound, and what would help."""
        if self.privacy_.faults:
            return f"its account has faults: {', '.join(fault.name for fault in self.privacy_.faults)}"
        if math.isinf(self.privacy_.claimed_epsilon):
            return "no epsilon is claimed"
        if self.privacy_.keeps_claim and self.privacy_.data_faults:
            return f"its domain is not public: {'; '.join(fault.why for fault in self.privacy_.data_faults)}"
        if self.privacy_.keeps_claim:
            return "a seed decides its noise; fit it with noise='opendp'"
        return "it spends more than it claims"

    def training_rows(self, X, y) -> Rows:
        """Check what ``fit`` is given, to be turned into numbers block by block; sets ``domain_``.

        What a former fit has learnt is forgotten: the domain is no longer that of its rows.

        Parameters
        ----------
        X : DataFrame, array or sequence of records of shape (n, k)
            Rows, columns as the domain declares them.
        y : array-like of shape (n,)
            What is to be predicted, as the domain declares it.

        Returns
        -------
        Rows
            The target is the last column. In a release, records that cannot be used are left out.

        Raises
        ------
        DomainError
            For a number of columns that the domain does not know, or a domain that does not declare the target.
        ValueError
            If X or y has another shape; without rows, unless in a release.

        Warns
        -----
        PrivacyLeakWarning
            If no domain was given.
        """
        self.forget()
        if self.domain is not None:
            self._check_target(getattr(self.domain, "target", None))
        X, y = self._checked_pair(X, y)
        self.domain_ = self.domain or self._inferred_domain(X, y)
        return self._encoded_domain().rows(X, y, leave_out=self._leaves_out(), clip=choose_clipping(len(X)))

    def _check_target(self, target) -> None:
        """Raise a ``DomainError`` if the target of a domain is none that can be predicted."""
        raise TypeError(f"{type(self).__name__} does not say what it predicts")

    def _inferred_domain(self, X, y) -> Domain:
        """Return a domain that is taken from the rows, with a warning."""
        raise TypeError(f"{type(self).__name__} does not say what it predicts")

    def _encoded_domain(self) -> Domain:
        """Return the domain by which training rows become numbers, once it is known."""
        return self.domain_

    def _encode_training_rows(self, X, y) -> np.ndarray:
        """Turn what ``fit`` is given into numbers, the target last; sets ``clipped_``, but not in a release."""
        rows = self.training_rows(X, y)
        matrix = rows.matrix()
        self._note_clipped(rows.clipped)
        return matrix

    def _note_clipped(self, clipped: dict[str, int]) -> None:
        if not self._leaves_out():
            self.clipped_ = dict(clipped)

    def _leaves_out(self) -> bool:
        """Tell whether records that cannot be used are left out: in a release whose domain was declared."""
        return self.is_secure() and self.domain is not None

    def _check_table(self, X, reset: bool):
        """Check shape and names of a table as scikit-learn does; no value is looked at."""
        table = as_table(X)
        likeness = X if hasattr(X, "columns") else table
        if isinstance(table, Sequence):  # whose records may be of any length: each is judged by itself, when it is read
            likeness = np.empty((0, self._n_cells(table) if reset else self.n_features_in_))
        validate_data(self, likeness, reset=reset, skip_check_array=True)
        return table

    def _n_cells(self, records: Sequence) -> int:
        if self.domain is not None:
            return len(self.domain.features)
        return len(records[0]) if isinstance(records[0], Sequence | np.ndarray) else 1

    def _checked_pair(self, X, y):
        """Check the rows of ``fit`` and the shape of their target."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X, y = as_frame(X), as_one_column(as_frame(y), warn=not self._leaves_out())
        if self._leaves_out():
            X = with_declared_columns(X, self.domain)
        else:
            check_content(X, type(self).__name__)
            check_content(y, type(self).__name__)
        X = self._check_table(X, reset=True)
        check_consistent_length(X, y)
        return X, y

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags


@with_parameters
class SpendsEpsilon(PrivateEstimator):
    """An estimator that claims an epsilon, and whose noise OpenDP can draw.

    Parameters
    ----------
    epsilon : float
        Budget, from 1e-100 to 1e100; inf is the same without noise.
    noise : {"numpy", "opendp"}
        What draws the noise: "opendp" is for a release, see ``algorithms.opendp_noise``.
    """

    epsilon: float = parameter(1.0, lambda name, epsilon: check_epsilon(epsilon), is_positional=True)
    noise: str = parameter("numpy", comes_last=True)


@with_parameters
class PaperOrSound(SpendsEpsilon):
    """An estimator with a variant as its paper has it, faults included, and a sound one.

    Parameters
    ----------
    variant : {"paper", "sound"}
        "paper" is the algorithm as printed, faults included; "sound" is epsilon-differentially private for one record
        added or removed, given a public domain.
    """

    variant: str = parameter("paper", check_choice, choices=("paper", "sound"))

    @classmethod
    def list_variants(cls) -> list[dict[str, Any]]:
        """Return the parameters of the printed variant and of the sound one."""
        return [{"variant": "paper"}, {"variant": "sound"}]

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        super().check_parameters(n_features)
        if self.variant == "sound":
            check_readings(self)


class LabelledEstimator(PrivateEstimator):
    """Base of what learns from rows with class labels: the private classifiers, and the samplers.

    Attributes
    ----------
    classes_ : array of shape (c,)
        The declared class labels, sorted.
    """

    def read_training_rows(self, X, y) -> tuple[np.ndarray, np.ndarray]:
        """Turn what ``fit`` is given into numbers; sets ``domain_``, ``classes_`` and, but in a release, ``clipped_``.

        Parameters, errors and warnings are those of ``training_rows``; unless in a release, a category or class label
        that the domain does not know or a missing value is a DomainError, too.

        Returns
        -------
        matrix : float64 array of shape (n, k)
            Rows as ``Domain.encode`` returns them; in a release, those that can be used.
        labels : int array of shape (n,)
            Position of each label in ``classes_``.
        """
        return self.split_target(self._encode_training_rows(X, y))

    def split_target(self, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the columns and the target of encoded training rows, as ``read_training_rows`` does."""
        return matrix[:, :-1], matrix[:, -1].astype(np.int64)

    def _check_target(self, target) -> None:
        if not isinstance(target, Nominal):
            raise DomainError("the domain of a classifier must declare its class labels: target=Nominal(...)")
        target.labels()

    def _inferred_domain(self, X, y) -> Domain:
        check_classification_targets(y)
        return Domain.infer(X, y)

    def _encoded_domain(self) -> Domain:
        self.classes_ = self.domain_.target.labels()
        return replace(self.domain_, target=Nominal(self.domain_.target.name, tuple(self.classes_.tolist())))


class PrivateClassifier(ClassifierMixin, LabelledEstimator):
    """Base of the private classifiers."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # with a finite budget a small table is mostly noise
        return tags


class ClassifierByShares(PrivateClassifier):
    """Base of those that predict the class with the largest share."""

    def predict_proba(self, X) -> np.ndarray:
        """Return the share of each class: float64 array of shape (n, c)."""
        raise TypeError(f"{type(self).__name__} does not say what share a class has")

    def predict(self, X) -> np.ndarray:
        """Return the class with the largest share, the first in ``classes_`` on a tie."""
        shares = self.predict_proba(X)  # first, so that an unfitted classifier says so
        return self.classes_[np.argmax(shares, axis=1)]


class PrivateRegressor(RegressorMixin, PrivateEstimator):
    """Base of the private regressors: inside, the target is scaled to [0, 1] by its declared bounds."""

    def read_training_rows(self, X, y) -> tuple[np.ndarray, np.ndarray]:
        """Turn what ``fit`` is given into numbers; sets ``domain_`` and, but in a release, ``clipped_``.

        Parameters, errors and warnings are those of ``training_rows``; unless in a release, a category that the domain
        does not know or a missing value is a DomainError, too.

        Returns
        -------
        matrix : float64 array of shape (n, k)
            Rows as ``Domain.encode`` returns them.
        target : float64 array of shape (n,)
            Target, clipped to its declared bounds and scaled to [0, 1].
        """
        return self.split_target(self._encode_training_rows(X, y))

    def split_target(self, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the columns and the target of encoded training rows, as ``read_training_rows`` does."""
        bounds = self.domain_.target
        return matrix[:, :-1], (matrix[:, -1] - bounds.lower) / (bounds.upper - bounds.lower)

    def _check_target(self, target) -> None:
        if not isinstance(target, Continuous):
            raise DomainError("the domain of a regressor must declare the bounds of its target: target=Continuous(...)")

    def _inferred_domain(self, X, y) -> Domain:
        domain = Domain.infer(X, y, classification=False)
        if isinstance(domain.target, Continuous):
            return domain
        raise ValueError(
            f"{type(self).__name__} needs a target of numbers, got {show_cells(domain.target.categories)}: use a "
            "classifier for class labels, or turn the target into numbers"
        )

    def in_unit_of_target(self, shares: np.ndarray) -> np.ndarray:
        """Turn predictions on the scale [0, 1] into the unit of the target."""
        bounds = self.domain_.target
        return bounds.lower + shares * (bounds.upper - bounds.lower)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # with a finite budget a small table is mostly noise
        return tags
