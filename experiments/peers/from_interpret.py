"""Peers of the package interpret: DP-EBM, differentially private boosting of additive models."""

from __future__ import annotations

import math

import numpy as np

from algorithms.encoding.features import Nominal
from algorithms.parameters import ParameterError, check_count, check_number
from experiments.peers.base import Peer, PeerRegressor, PeerWithProbabilities


class _DPEBM(Peer):
    """interpret's DP-EBM: noisy additive models, boosted by random cuts, one attribute at a time.

    It claims an (epsilon, delta), not an epsilon, so there is no ``privacy_``: the ledgers of this project have no
    delta.
    """

    def __init__(self, epsilon=1.0, *, delta=1e-7, max_rounds=300, domain=None, random_state=None):
        super().__init__(epsilon, domain=domain, random_state=random_state)
        self.delta = delta
        self.max_rounds = max_rounds

    def check_parameters(self, n_features):
        """Check the parameters; DP-EBM has no run without noise, and its classes are two."""
        super().check_parameters(n_features)
        if math.isinf(self.epsilon):
            raise ParameterError("epsilon must be finite: DP-EBM has no run without noise")
        check_number("delta", self.delta, above=0, below=1)
        check_count("max_rounds", self.max_rounds)

    def _fit_ebm(self, matrix: np.ndarray, target: np.ndarray, n_classes: int | None) -> None:
        parameters = {"delta": float(self.delta), "max_rounds": int(self.max_rounds), "n_classes": n_classes}
        self._fit("dp_ebm", matrix, target, n_categories=self._count_categories(), **parameters)

    def _lay_out(self, matrix: np.ndarray) -> np.ndarray:
        return self._scale_numbers(matrix)


class DPEBMClassifier(_DPEBM, PeerWithProbabilities):
    """interpret's ``DPExplainableBoostingClassifier``, for two classes.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget, above 0 and finite.
    delta : float, default=1e-7
        In (0, 1); should be less than one by the number of rows.
    max_rounds : int, default=300
        Rounds of boosting over all attributes, at least 1.
    domain : Domain
        Declared columns and class labels.
    random_state : int, RandomState or None, default=None
        Seed of its generator.

    Notes
    -----
    Privacy: (epsilon, delta) for one record added or removed, as the package claims; its compiled code was not read
    here. It would list the categories and classes that occur in the rows; public rows of a weight of 1e-9, one for
    each category, make that list public.

    The package: H. Nori, R. Caruana, Z. Bu, J. H. Shen, J. Kulkarni, "Accuracy, interpretability, and differential
    privacy via explainable boosting", ICML 2021.

    Raises
    ------
    ParameterError
        If there are more than two classes.
    BadInput
        At ``fit`` and ``predict``, if `.venv-peers` is missing.
    PeerError
        If interpret refuses, or its process dies.
    """

    def check_parameters(self, n_features):
        """Check the parameters, and that there are two classes."""
        super().check_parameters(n_features)
        target = getattr(self.domain or getattr(self, "domain_", None), "target", None)
        if isinstance(target, Nominal) and len(target.categories) > 2:
            raise ParameterError(
                f"Only binary classification is supported. DP-EBM has two classes, {target.name!r} has "
                f"{len(target.categories)}: take a method for more, such as MSTClassifier (mst_boosting)"
            )

    def fit(self, X, y):
        """Fit in the other environment."""
        matrix, labels = self.read_training_rows(X, y)
        self.check_parameters(matrix.shape[1])
        self._fit_ebm(matrix, labels, len(self.classes_))
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class DPEBMRegressor(_DPEBM, PeerRegressor):
    """interpret's ``DPExplainableBoostingRegressor``.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget, above 0 and finite.
    delta : float, default=1e-7
        In (0, 1); should be less than one by the number of rows.
    max_rounds : int, default=300
        Rounds of boosting over all attributes, at least 1.
    domain : Domain
        Declared columns and bounds of the target.
    random_state : int, RandomState or None, default=None
        Seed of its generator.

    Notes
    -----
    Privacy: (epsilon, delta) for one record added or removed, as the package claims; its compiled code was not read
    here.

    Source and errors: as for `DPEBMClassifier`.
    """

    def fit(self, X, y):
        """Fit in the other environment."""
        matrix, target = self.read_training_rows(X, y)
        self.check_parameters(matrix.shape[1])
        self._fit_ebm(matrix, target, None)
        return self
