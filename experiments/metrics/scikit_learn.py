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

from experiments.metrics.metric import POINT, Margin, Metric, MetricRange, make_error, make_share, make_skill

_POSITIVE = {
    "precision": "share of the rows predicted to be positive that are",
    "recall": "share of the positive rows that are predicted to be",
    "f1": "harmonic mean of precision and recall",
    "jaccard": "rows rightly predicted to be of a class, of all that are or are predicted to be",
}
_AVERAGES = {
    "macro": "mean over the classes",
    "micro": "counts of all classes taken together",
    "weighted": "mean over the classes, weighted by their rows",
}
_AREA = {"roc_auc": "chance that a positive row has a larger probability than a negative one"}
_PAIRINGS = {
    "ovr": "each class against the rest, mean over the classes",
    "ovr_weighted": "each class against the rest, weighted by their rows",
    "ovo": "each pair of classes, mean over the pairs",
    "ovo_weighted": "each pair of classes, weighted by their rows",
}


def _extend(meanings: Mapping[str, str], ways: Mapping[str, str]) -> dict[str, str]:
    """Return what metrics of two classes are, and how several ways extend them to more."""
    extended = dict(meanings)
    for name, meaning in meanings.items():
        for way, words in ways.items():
            extended[f"{name}_{way}"] = f"{meaning}, {words}"
    return extended


_SHARES = {
    "balanced_accuracy": "mean of the recalls of all classes",
    "top_k_accuracy": "share of the rows whose class is among the two most probable ones",
    "average_precision": "mean precision over all thresholds of a probability",
    **_extend(_AREA, _PAIRINGS),
    **_extend(_POSITIVE, _AVERAGES),
}
_PER_CENT = ("balanced_accuracy", "top_k_accuracy", "precision", "recall", "f1")
_CORRELATIONS = {"matthews_corrcoef": "correlation of classes and predicted classes; 0 is chance"}
_SKILLS = {  # 1 is perfect, 0 as good as the shares of the classes
    "d2_log_loss_score": "share of the log loss of the classes' shares that is saved",
    "d2_brier_score": "share of the Brier score of the classes' shares that is saved",
}
_RATIOS = {"positive_likelihood_ratio": "recall divided by the share of negative rows predicted to be positive"}
_LOSSES = {
    "log_loss": "mean of minus the logarithm of the probability of the true class",
    "brier_score": "mean squared distance of the probabilities from the true class",
    "negative_likelihood_ratio": "share of positive rows missed, divided by the share of negative rows found",
}
_ERRORS = {
    "mean_squared_error": "mean of the squared errors",
    "root_mean_squared_error": "root of the mean squared error, in the target's unit",
    "mean_absolute_error": "mean size of the errors, in the target's unit",
    "median_absolute_error": "median size of the errors, in the target's unit",
    "max_error": "size of the largest error, in the target's unit",
    "mean_absolute_percentage_error": "mean size of the errors as shares of the target",
    "mean_squared_log_error": "mean squared error of the logarithm of one plus the target",
    "root_mean_squared_log_error": "root of the mean squared error of that logarithm",
    "mean_poisson_deviance": "deviance of a Poisson model, for targets from 0",
    "mean_gamma_deviance": "deviance of a gamma model, for targets above 0",
}
_SHORT = {
    "rmse": "root_mean_squared_error",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
}
_EXPLAINED = {
    "explained_variance": "share of the variance explained, whatever the mean of the errors",
    "d2_absolute_error_score": "share of the absolute error of the median that is saved",
}
_NEGATIVE = {f"neg_{name}": f"minus the {meaning}" for name, meaning in (_LOSSES | _ERRORS).items()}
_OF_CLASSES = _SHARES | _CORRELATIONS | _SKILLS | _RATIOS | _LOSSES
_OF_NUMBERS = _ERRORS | _EXPLAINED | {name: _ERRORS[long] for name, long in _SHORT.items()}
_MEANINGS = _OF_CLASSES | _OF_NUMBERS | _NEGATIVE
CLASSIFICATION = frozenset({*_OF_CLASSES, *(f"neg_{name}" for name in _LOSSES)})  #: names of metrics of classes
REGRESSION = frozenset({*_OF_NUMBERS, *(f"neg_{name}" for name in _ERRORS)})  #: names of metrics of numbers

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
    if name not in _MEANINGS:
        return None
    meaning = _MEANINGS[name]
    if name in _SHARES:
        return make_share(name, meaning, is_in_per_cent=name.startswith(_PER_CENT))
    if name in _CORRELATIONS:
        return Metric(name, MetricRange(-1.0, 1.0), Margin(POINT), meaning=meaning)
    if name in _SKILLS or name in _EXPLAINED:
        return make_skill(name, meaning)
    if name in _RATIOS:
        return Metric(name, MetricRange(0.0, math.inf), meaning=meaning)
    if name in _NEGATIVE:
        return Metric(name, MetricRange(-math.inf, 0.0), meaning=meaning)
    return make_error(name, meaning)


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
    """Return a metric that `find_scikit_learn` knows, of what a model said and what is so.

    Where it is not defined of these rows, a ValueError says why.

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
