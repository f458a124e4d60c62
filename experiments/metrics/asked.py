"""What a cell measures beside what is measured always: the metrics that somebody asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.errors import one_line
from experiments.metrics.own import find_own
from experiments.metrics.scikit_learn import (
    CLASSIFICATION,
    Fitted,
    FittedClassifier,
    Needs,
    find_needs,
    score_by_name,
)
from experiments.metrics.scores import number_classes


def score_asked(names: Sequence[str], model: Fitted, actual: np.ndarray) -> tuple[dict[str, float], dict[str, str]]:
    """Return metrics that were asked for, by name, and why those are undefined, as NaN, that are, in one line each.

    Labels are texts; the last of the declared classes in the order of the alphabet is the positive one.

    Examples
    --------
    >>> said = FittedClassifier(np.array(["a", "b"]), np.array(["a", "a"]))
    >>> score_asked(["balanced_accuracy"], said, np.array(["a", "b"]))
    ({'balanced_accuracy': 0.5}, {})
    """
    metrics, reasons = {}, {}
    if isinstance(model, FittedClassifier):
        model = model.sort_classes()
    for name in names:
        metrics[name] = math.nan
        try:
            metrics[name] = _score(name, model, actual)
        except Exception as error:  # a metric may be anybody's, and the others are worth keeping
            reasons[name] = one_line(error)
    return metrics, reasons


def _score(name: str, model: Fitted, actual: np.ndarray) -> float:
    if own := find_own(name):
        return own.score(model, actual)
    if isinstance(model, FittedClassifier):
        # positions compare faster than text, and 1 is then the positive class, as scorers of two classes take it
        predicted, actual = (number_classes(model.classes_, labels) for labels in (model.predicted, actual))
        model = FittedClassifier(np.arange(len(model.classes_)), predicted, model.shares)
    return score_by_name(name, model, actual)


def collect_shares(estimator: Any, rows: Any, classes: np.ndarray) -> np.ndarray | None:
    """Return the probabilities that a fitted model gives, a column for each declared class; None if it has none."""
    if not hasattr(estimator, "predict_proba"):
        return None
    given = np.asarray(estimator.predict_proba(rows), dtype=np.float64)
    shares = np.zeros((len(given), len(classes)))
    for column, place in zip(given.T, number_classes(classes, np.asarray(estimator.classes_)), strict=True):
        if place >= 0:
            shares[:, place] = column
    return shares


def ask_needs(name: str) -> Needs:
    """Return what a metric that is asked for needs of a model and of a data set.

    Examples
    --------
    >>> ask_needs("neg_log_loss").probabilities, ask_needs("rmse").probabilities
    (True, False)
    """
    if own := find_own(name):
        return own.asks
    return find_needs(name) if name in CLASSIFICATION else Needs(probabilities=False, two_classes=False)
