"""What a cell measures beside what is measured always: the metrics that somebody asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.errors import one_line
from experiments.metrics.own import find_own
from experiments.metrics.scikit_learn import (
    CLASSIFICATION,
    Fitted,
    FittedClassifier,
    FittedRegressor,
    Needs,
    find_needs,
    score_by_name,
)
from experiments.metrics.scores import number_classes


@dataclass(frozen=True)
class Predictions:
    """What a fitted model says of the rows that are scored, and what is so.

    Parameters
    ----------
    actual, predicted : array of shape (n,)
        Labels as text, or numbers.
    classes : array of str of shape (n_classes,) or None
        The declared classes; None of a regression.
    shares : float64 array of shape (n, n_classes) or None
        Probabilities of the classes in this order, if the model gives them.
    """

    actual: np.ndarray
    predicted: np.ndarray
    classes: np.ndarray | None = None
    shares: np.ndarray | None = None

    def sort_classes(self) -> Predictions:
        """Return the same with classes in the order of the alphabet, as scikit-learn has them: the last is positive."""
        if self.classes is None:
            return self
        order = np.argsort(self.classes)
        shares = None if self.shares is None else self.shares[:, order]
        return Predictions(self.actual, self.predicted, self.classes[order], shares)


def score_asked(names: Sequence[str], said: Predictions) -> tuple[dict[str, float], dict[str, str]]:
    """Return metrics that were asked for, and why those are undefined that are.

    Parameters
    ----------
    names : sequence of str
        Of scikit-learn's metrics, or of metrics that have files.
    said : Predictions
        Of one model.

    Returns
    -------
    metrics : dict
        The value of each; NaN where it is undefined.
    reasons : dict
        By name, why scikit-learn or the metric's function does not define it, in one line.

    Examples
    --------
    >>> said = Predictions(np.array(["a", "b"]), np.array(["a", "a"]), np.array(["a", "b"]))
    >>> score_asked(["balanced_accuracy"], said)
    ({'balanced_accuracy': 0.5}, {})
    """
    said, metrics, reasons = said.sort_classes(), {}, {}
    for name in names:
        metrics[name] = math.nan
        try:
            metrics[name] = _score(name, said)
        except Exception as error:  # a metric may be anybody's, and the others are worth keeping
            reasons[name] = one_line(error)
    return metrics, reasons


def _score(name: str, said: Predictions) -> float:
    if own := find_own(name):
        return own.score(_stand_in(said), said.actual)
    if said.classes is None:
        return score_by_name(name, FittedRegressor(said.predicted), said.actual)
    # positions compare faster than text, and 1 is then the positive class, as scorers of two classes take it
    predicted, actual = (number_classes(said.classes, labels) for labels in (said.predicted, said.actual))
    return score_by_name(name, FittedClassifier(np.arange(len(said.classes)), predicted, said.shares), actual)


def _stand_in(said: Predictions) -> Fitted:
    if said.classes is None:
        return FittedRegressor(said.predicted)
    return FittedClassifier(said.classes, said.predicted, said.shares)


def collect_shares(estimator: Any, rows: Any, classes: np.ndarray) -> np.ndarray | None:
    """Return the probabilities that a fitted model gives, with a column for each declared class; None if it has none.

    Parameters
    ----------
    estimator : estimator
        Fitted, with ``classes_``.
    rows : DataFrame or array
        What it is asked about.
    classes : array of str of shape (n_classes,)
        The declared classes.
    """
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
