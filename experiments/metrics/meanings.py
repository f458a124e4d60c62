"""What each metric is, in a phrase."""

from __future__ import annotations

import inspect

from experiments.metrics.find import LEAKS, find_metric
from experiments.metrics.metric import STANDARD_ERROR, Metric
from experiments.metrics.own import find_own, import_function
from experiments.metrics.scikit_learn import CLASSIFICATION, REGRESSION

ALWAYS = {
    "accuracy": "share of the rows whose class is predicted",
    "precision_<class>": "share of the rows predicted to be of a class that are of it",
    "recall_<class>": "share of the rows of a class that are predicted to be of it",
    "mse": "mean squared error, in the square of the target's unit",
    "unit_mse": "the same of a target scaled to [0, 1] by its declared bounds",
    "r2": "share of the target's variance that is explained; 0 is no better than its mean",
}
"""What is measured of every cell, by name."""
_AVERAGES = {
    "macro": "mean over the classes",
    "micro": "counts of all classes taken together",
    "weighted": "mean over the classes, weighted by their rows",
    "ovr": "each class against the rest, mean over the classes",
    "ovr_weighted": "each class against the rest, weighted by their rows",
    "ovo": "each pair of classes, mean over the pairs",
    "ovo_weighted": "each pair of classes, weighted by their rows",
}
_MEANINGS = {
    "precision": "share of the rows predicted to be positive that are",
    "recall": "share of the positive rows that are predicted to be",
    "f1": "harmonic mean of precision and recall",
    "jaccard": "rows rightly predicted to be of a class, of all that are or are predicted to be",
    "balanced_accuracy": "mean of the recalls of all classes",
    "matthews_corrcoef": "correlation of classes and predicted classes; 0 is chance",
    "top_k_accuracy": "share of the rows whose class is among the two most probable ones",
    "average_precision": "mean precision over all thresholds of a probability",
    "roc_auc": "chance that a positive row has a larger probability than a negative one",
    "log_loss": "mean of minus the logarithm of the probability of the true class",
    "brier_score": "mean squared distance of the probabilities from the true class",
    "d2_log_loss_score": "share of the log loss of the classes' shares that is saved",
    "d2_brier_score": "share of the Brier score of the classes' shares that is saved",
    "positive_likelihood_ratio": "recall divided by the share of negative rows predicted to be positive",
    "negative_likelihood_ratio": "share of positive rows missed, divided by the share of negative rows found",
    "mean_squared_error": "mean of the squared errors",
    "root_mean_squared_error": "root of the mean squared error, in the target's unit",
    "rmse": "root of the mean squared error, in the target's unit",
    "mean_absolute_error": "mean size of the errors, in the target's unit",
    "mae": "mean size of the errors, in the target's unit",
    "median_absolute_error": "median size of the errors, in the target's unit",
    "max_error": "size of the largest error, in the target's unit",
    "mean_absolute_percentage_error": "mean size of the errors as shares of the target",
    "mape": "mean size of the errors as shares of the target",
    "mean_squared_log_error": "mean squared error of the logarithm of one plus the target",
    "root_mean_squared_log_error": "root of the mean squared error of that logarithm",
    "mean_poisson_deviance": "deviance of a Poisson model, for targets from 0",
    "mean_gamma_deviance": "deviance of a gamma model, for targets above 0",
    "explained_variance": "share of the variance explained, whatever the mean of the errors",
    "d2_absolute_error_score": "share of the absolute error of the median that is saved",
}


def explain_meaning(name: str) -> str:
    """Return what a metric is, in a phrase.

    Examples
    --------
    >>> explain_meaning("f1_macro")
    'harmonic mean of precision and recall, mean over the classes'
    >>> explain_meaning("recall_acc")
    'share of the rows of acc that are predicted to be of it'
    >>> explain_meaning("neg_log_loss")
    'minus the mean of minus the logarithm of the probability of the true class'
    """
    if own := find_own(name):
        return _read_first_sentence(own.target)
    if name in ALWAYS or name in _MEANINGS:
        return ALWAYS.get(name) or _MEANINGS[name]
    if name.startswith("neg_") and name in CLASSIFICATION | REGRESSION:
        return f"minus the {explain_meaning(name.removeprefix('neg_'))}"
    if name.endswith(STANDARD_ERROR) and find_metric(name) != Metric(name):
        return f"standard error over folds of {name.removesuffix(STANDARD_ERROR)}"
    for average, words in _AVERAGES.items():
        base = name.removesuffix(f"_{average}")
        if base != name and base in _MEANINGS and name in CLASSIFICATION:
            return f"{_MEANINGS[base]}, {words}"
    return _explain_of_class(name)


def _explain_of_class(name: str) -> str:
    kind, _, label = name.partition("_")
    if label and f"{kind}_<class>" in ALWAYS:
        return ALWAYS[f"{kind}_<class>"].replace("a class", label)
    return "what rows leak that an algorithm releases" if name in LEAKS else ""


def _read_first_sentence(target: str) -> str:
    text = inspect.getdoc(import_function(target)) or "its function says nothing of itself"
    sentence = " ".join(text.split("\n\n")[0].split()).rstrip(".")
    return sentence.removeprefix("Return ").removeprefix("the ")
