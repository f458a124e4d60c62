"""scikit-learn's metrics, by the names of its scorers: what is known of them, and what they ask of a model.

A scorer says that more is better, and no more than that: the ranges are those of scikit-learn's documentation. Whether
one needs probabilities, or two classes, is found by asking it. An error may be called by its own name, too:
``neg_root_mean_squared_error`` is the negative of ``root_mean_squared_error``, or ``rmse``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from experiments.metrics.metric import POINT, Margin, Metric, MetricRange, make_error, make_share

_AVERAGES = ("macro", "micro", "weighted")
_PER_CENT = ("balanced_accuracy", "top_k_accuracy", "precision", "recall", "f1")
_SHARES = {
    *("balanced_accuracy", "top_k_accuracy", "average_precision", "roc_auc"),
    *("roc_auc_ovr", "roc_auc_ovr_weighted", "roc_auc_ovo", "roc_auc_ovo_weighted"),
    *("precision", "recall", "f1", "jaccard"),
    *(f"{name}_{average}" for name in ("precision", "recall", "f1", "jaccard") for average in _AVERAGES),
}
_SKILLS = ("d2_log_loss_score", "d2_brier_score")  # 1 is perfect, 0 as good as the shares of the classes
_RATIOS = ("positive_likelihood_ratio",)
_LOSSES = ("log_loss", "brier_score", "negative_likelihood_ratio")
CLASSIFICATION = frozenset(
    {*_SHARES, *_SKILLS, *_RATIOS, "matthews_corrcoef", *_LOSSES, *(f"neg_{name}" for name in _LOSSES)}
)
"""Names of metrics of classes."""

_ERRORS = (
    *("mean_squared_error", "root_mean_squared_error", "mean_absolute_error", "median_absolute_error", "max_error"),
    *("mean_absolute_percentage_error", "mean_squared_log_error", "root_mean_squared_log_error"),
    *("mean_poisson_deviance", "mean_gamma_deviance"),
)
_SHORT = {
    "rmse": "root_mean_squared_error",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
}
_EXPLAINED = ("explained_variance", "d2_absolute_error_score")
REGRESSION = frozenset({*_ERRORS, *(f"neg_{name}" for name in _ERRORS), *_SHORT, *_EXPLAINED})
"""Names of metrics of numbers."""

_TOLD_OF_ALL_CLASSES = ("log_loss", "brier_score", "d2_log_loss_score", "d2_brier_score", "top_k_accuracy")
"""Metrics that must know of the classes without a row among those that are scored."""


def find_scikit_learn(name: str) -> Metric | None:
    """Return what is known of a metric of scikit-learn; None if it has none of this name.

    Examples
    --------
    >>> find_scikit_learn("roc_auc_ovr").range, find_scikit_learn("rmse").is_error
    (MetricRange(low=0.0, high=1.0), True)
    >>> find_scikit_learn("neg_log_loss").range, find_scikit_learn("accurracy")
    (MetricRange(low=-inf, high=0.0), None)
    """
    if name in _SHARES:
        return make_share(name, is_in_per_cent=name.startswith(_PER_CENT))
    if name == "matthews_corrcoef":
        return Metric(name, MetricRange(-1.0, 1.0), Margin(POINT))
    if name in _SKILLS or name in _EXPLAINED:
        return Metric(name, MetricRange(-math.inf, 1.0), Margin(POINT, floor=0.0))
    if name in _RATIOS:
        return Metric(name, MetricRange(0.0, math.inf))
    if name in CLASSIFICATION or name in REGRESSION:
        return Metric(name, MetricRange(-math.inf, 0.0)) if name.startswith("neg_") else make_error(name)
    return None


class Needs(NamedTuple):
    """What a metric asks of a model and of a data set."""

    probabilities: bool
    two_classes: bool


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

    Parameters
    ----------
    classes : array of shape (n_classes,)
        The declared classes, ascending.
    predicted : array of shape (n,)
        The class of each row.
    shares : float64 array of shape (n, n_classes) or None
        Probabilities of the classes, if the model gives them.
    """

    def __init__(self, classes: np.ndarray, predicted: np.ndarray, shares: np.ndarray | None):
        self.classes_ = classes
        self.predicted = predicted
        self.shares = shares

    def predict(self, X: object) -> np.ndarray:
        """Return the class of each row."""
        return self.predicted

    @available_if(lambda self: self.shares is not None)
    def predict_proba(self, X: object) -> np.ndarray:
        """Return the probabilities of the classes."""
        assert self.shares is not None  # else there is no such method
        return self.shares


class FittedRegressor(RegressorMixin, BaseEstimator):
    """What a fitted model said of some rows, where a scorer would ask the model.

    Parameters
    ----------
    predicted : float64 array of shape (n,)
        The target of each row.
    """

    def __init__(self, predicted: np.ndarray):
        self.predicted = predicted

    def predict(self, X: object) -> np.ndarray:
        """Return the target of each row."""
        return self.predicted


Fitted = FittedClassifier | FittedRegressor


def score_by_name(name: str, model: Fitted, actual: np.ndarray) -> float:
    """Return a metric of scikit-learn of what a model said.

    Parameters
    ----------
    name : str
        A name that `find_scikit_learn` knows.
    model : FittedClassifier or FittedRegressor
        What was said.
    actual : array of shape (n,)
        What is so.

    Raises
    ------
    ValueError
        If it is not defined of these rows: it says why.

    Examples
    --------
    >>> score_by_name("rmse", FittedRegressor(np.array([1.0, 2.0])), np.array([1.0, 5.0]))
    2.1213203435596424
    """
    from sklearn.metrics import get_scorer, get_scorer_names  # slow to import, and most runs ask for none

    name = _SHORT.get(name, name)
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
