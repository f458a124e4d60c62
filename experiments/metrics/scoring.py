"""What scikit-learn's scorers give of what a model said, and what they ask of it: found by asking them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from experiments.metrics.metric import Needs
from experiments.metrics.scikit_learn import SHORT

_TOLD_OF_ALL_CLASSES = ("log_loss", "brier_score", "d2_log_loss_score", "d2_brier_score", "top_k_accuracy")
"""Metrics that must know of the classes without a row among those that are scored."""


@cache
def find_needs(name: str) -> Needs:
    """Return what a metric of classes needs, found by asking its scorer.

    Examples
    --------
    >>> find_needs("f1_macro"), find_needs("roc_auc")
    (Needs(probabilities=False, two_classes=False), Needs(probabilities=True, two_classes=True))
    """
    return Needs(
        probabilities=not _can_score(name, n_classes=2, has_shares=False),
        two_classes=not _can_score(name, n_classes=3, has_shares=True),
    )


def _can_score(name: str, n_classes: int, has_shares: bool) -> bool:
    actual, shares = np.tile(np.arange(n_classes), 3), np.tile(np.eye(n_classes), (3, 1))
    model = FittedClassifier(np.arange(n_classes), actual, shares if has_shares else None)
    try:
        score_by_name(name, model, actual)
    except (ValueError, AttributeError):  # what is not so when two classes are scored with all that a model can give
        return False
    return True


class FittedClassifier(ClassifierMixin, BaseEstimator):
    """What a fitted model said of some rows, where a scorer would ask the model.

    That is the class of each row and, if the model gives them, the shares, (n, n_classes): probabilities of the
    declared classes.
    """

    def __init__(self, classes: np.ndarray, predicted: np.ndarray, shares: np.ndarray | None = None):
        self.classes_ = classes
        self.predicted = predicted
        self.shares = shares

    def sort_classes(self) -> FittedClassifier:
        """Return the same with the classes in the order of the alphabet, as scikit-learn has them."""
        order = np.argsort(self.classes_)
        shares = None if self.shares is None else self.shares[:, order]
        return FittedClassifier(self.classes_[order], self.predicted, shares)

    def predict(self, X: object) -> np.ndarray:
        """Return the class of each row."""
        return self.predicted

    @available_if(lambda self: self.shares is not None)
    def predict_proba(self, X: object) -> np.ndarray:
        """Return the probabilities of the classes."""
        assert self.shares is not None  # else there is no such method
        return self.shares


class FittedRegressor(RegressorMixin, BaseEstimator):
    """The same of a regression."""

    def __init__(self, predicted: np.ndarray):
        self.predicted = predicted

    def predict(self, X: object) -> np.ndarray:
        """Return the target of each row."""
        return self.predicted


Fitted = FittedClassifier | FittedRegressor


def score_by_name(name: str, model: Fitted, actual: np.ndarray) -> float:
    """Return a metric of scikit-learn, of what a model said and what is so.

    Where it is not defined of these rows, a ValueError says why.

    Examples
    --------
    >>> score_by_name("rmse", FittedRegressor(np.array([1.0, 2.0])), np.array([1.0, 5.0]))
    2.1213203435596424
    """
    from sklearn.metrics import get_scorer, get_scorer_names  # slow to import, and most runs ask for none

    name = SHORT.get(name, name)
    is_turned = name not in get_scorer_names()  # an error by its own name
    score = get_scorer(f"neg_{name}" if is_turned else name)
    told: Mapping[str, np.ndarray] = {}
    if isinstance(model, FittedClassifier) and name.removeprefix("neg_") in _TOLD_OF_ALL_CLASSES:
        told = {"labels": model.classes_}
    value = score_quietly(score, model, actual, told)
    return -value if is_turned else value


def score_quietly(score: Callable, model: Fitted, actual: np.ndarray, told: Mapping[str, object]) -> float:
    """Return what a scorer gives, without its warnings: what it does not define it gives as NaN, or raises."""
    with warnings.catch_warnings(), config_context(enable_metadata_routing=bool(told)):
        warnings.simplefilter("ignore")
        return float(score(model, np.empty((len(actual), 0)), actual, **told))
