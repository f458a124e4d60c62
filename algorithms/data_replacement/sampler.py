"""Samplers: what releases other rows in place of the training rows.

They follow imbalanced-learn: ``fit_resample(X, y)`` returns the released rows and their labels. Released rows are
numbers: a category stands there as its place in the declared order, from 1, and noise may leave it between two places.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import pandas as pd

from algorithms.accounting.events import Event, Sequential, Unpaid
from algorithms.accounting.faults import SCALE_FROM_ROWS, Fault, copied_rows, exact_labels
from algorithms.base import LabelledEstimator
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Nominal
from algorithms.parameters import check_choice, parameter, with_parameters


def number_categories(matrix: np.ndarray, domain: Domain) -> np.ndarray:
    """Count categories from 1, as papers do, where ``Domain.encode`` counts from 0.

    Examples
    --------
    >>> from algorithms import Continuous
    >>> domain = Domain((Nominal("safety", ("low", "high")), Continuous("x", 0, 9)))
    >>> number_categories(np.array([[0.0, 2.5], [1.0, 7.0]]), domain)
    array([[1. , 2.5],
           [2. , 7. ]])
    """
    return matrix + [isinstance(feature, Nominal) for feature in domain.features]


class Sampler(LabelledEstimator):
    """Base of the samplers: a subclass implements ``_replace_rows`` and ``_claim_and_ledger``.

    Attributes
    ----------
    privacy_ : accounting.privacy.Privacy
        What is claimed of the released rows and labels, and what was spent.
    """

    def fit_resample(self, X, y):
        """Release rows in place of the training rows X and their class labels y.

        Rows, errors and warnings are those of ``read_training_rows``; a parameter out of its range is a
        ``ParameterError``.

        Returns
        -------
        released : DataFrame or float64 array of shape (m, k)
            As X: a frame for a frame; columns in the order of the domain, categories as their place in it, from 1.
        labels : array of shape (m,)
            Their class labels.
        """
        matrix, labels = self.read_training_rows(X, y)
        self.check_parameters(matrix.shape[1])
        released, released_labels = self._replace_rows(matrix, labels, self.generator(self.seed()))
        self.privacy_ = self.account(*self._claim_and_ledger())
        if isinstance(X, pd.DataFrame):
            released = pd.DataFrame(released, columns=self.domain_.names)
        return released, self.classes_[released_labels]

    def _replace_rows(self, matrix: np.ndarray, labels: np.ndarray, rng) -> tuple[np.ndarray, np.ndarray]:
        """Return the released rows and the positions of their labels, given the training rows as the domain encodes."""
        raise TypeError(f"{type(self).__name__} does not say what it releases")

    def _claim_and_ledger(self) -> tuple[float, Event, tuple[Fault, ...]]:
        """Return the epsilon that is claimed, what was spent, and the steps that the claim does not cover."""
        raise TypeError(f"{type(self).__name__} does not say what its release costs")


@with_parameters
class HasScale(LabelledEstimator):
    """A sampler, or what is trained on its rows, whose noise has a unit.

    Parameters
    ----------
    scale : {None, "standard"}
        Unit of the noise for each attribute: that of the attribute itself, as printed, or its standard deviation in the
        training rows.
    """

    scale: str | None = parameter(None, check_choice, comes_last=True, choices=("standard", None))


class NoisyCopies(HasScale, Sampler):
    """Base of the samplers that release copies of training rows with Gaussian noise.

    A subclass says which rows are copied (``_source_rows``) and how large the noise is (``noise_scale``).

    Attributes
    ----------
    scale_ : float64 array of shape (k,)
        The unit of the noise of each attribute: its standard deviation in the training rows, or 1.
    sample_indices_ : int64 array of shape (m,)
        Position of the training row that each released row is a copy of: exact, so not to be released.
    """

    SOURCES: ClassVar[tuple[str, str]]
    """Where the paper copies rows, and where it copies their labels."""

    def _replace_rows(self, matrix: np.ndarray, labels: np.ndarray, rng) -> tuple[np.ndarray, np.ndarray]:
        rows = number_categories(matrix, self.domain_)
        self.scale_ = rows.std(axis=0) if self.scale == "standard" else np.ones(rows.shape[1])
        self.sample_indices_ = self._source_rows(labels, rng)
        noise = rng.standard_normal((len(self.sample_indices_), rows.shape[1]))
        return rows[self.sample_indices_] + self.noise_scale * self.scale_ * noise, labels[self.sample_indices_]

    def _source_rows(self, labels: np.ndarray, rng) -> np.ndarray:
        """Return the position of the training row behind each row that is to be released."""
        raise TypeError(f"{type(self).__name__} does not say which rows it copies")

    @property
    def noise_scale(self) -> float:
        """Standard deviation of the noise, in the unit of each attribute."""
        raise TypeError(f"{type(self).__name__} does not say how large its noise is")

    def _claim_and_ledger(self) -> tuple[float, Event, tuple[Fault, ...]]:
        steps = (Unpaid("training rows with Gaussian noise"), Unpaid("their labels"))
        copied, labelled = self.SOURCES
        faults = (copied_rows(copied), exact_labels(labelled))
        if self.scale == "standard":
            return math.inf, Sequential("release", (*steps, Unpaid("standard deviations"))), (*faults, SCALE_FROM_ROWS)
        return math.inf, Sequential("release", steps), faults
