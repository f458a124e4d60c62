"""scikit-learn's metrics, by the names of its scorers: what is known of them.

A scorer says that more is better, and no more than that: the ranges are those of scikit-learn's documentation. What
they ask of a model, `experiments.metrics.scoring` finds. An error may be called by its own name, too:
``neg_root_mean_squared_error`` is the negative of ``root_mean_squared_error``, or ``rmse``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

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
SHORT = {
    "rmse": "root_mean_squared_error",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
}
"""Shorter names of errors, with the ones that they stand for."""
_EXPLAINED = {
    "explained_variance": "share of the variance explained, whatever the mean of the errors",
    "d2_absolute_error_score": "share of the absolute error of the median that is saved",
}
_NEGATIVE = {f"neg_{name}": f"minus the {meaning}" for name, meaning in (_LOSSES | _ERRORS).items()}
_OF_CLASSES = _SHARES | _CORRELATIONS | _SKILLS | _RATIOS | _LOSSES
_OF_NUMBERS = _ERRORS | _EXPLAINED | {name: _ERRORS[long] for name, long in SHORT.items()}
_MEANINGS = _OF_CLASSES | _OF_NUMBERS | _NEGATIVE
CLASSIFICATION = frozenset({*_OF_CLASSES, *(f"neg_{name}" for name in _LOSSES)})  #: names of metrics of classes
REGRESSION = frozenset({*_OF_NUMBERS, *(f"neg_{name}" for name in _ERRORS)})  #: names of metrics of numbers


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
