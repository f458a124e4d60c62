"""What is measured of every prediction: of classes accuracy, precision and recall, of numbers errors and R²."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from algorithms.encoding.features import Continuous


def number_classes(labels: Iterable, values: np.ndarray) -> np.ndarray:
    """Return the position of each value among the declared classes, -1 for what is none of them.

    Examples
    --------
    >>> number_classes(["low", "high"], np.array(["high", "low", "none"]))
    array([ 1,  0, -1])
    """
    distinct, inverse = np.unique(values.astype(str), return_inverse=True)
    position = {str(label): i for i, label in enumerate(labels)}
    return np.array([position.get(value, -1) for value in distinct], dtype=np.int64)[inverse]


def score_classes(labels: Sequence, actual: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Return the accuracy, and the precision and recall of each class, as shares in [0, 1].

    Classes are given by their position among the declared labels; -1 is none of them. The precision of a class never
    predicted, and the recall of one without rows, are NaN.

    Examples
    --------
    >>> score_classes(["a", "b"], np.array([0, 0, 1]), np.array([0, -1, 0]))
    {'accuracy': 0.3333333333333333, 'precision_a': 0.5, 'recall_a': 0.5, 'precision_b': nan, 'recall_b': 0.0}
    """
    hits = np.bincount(actual[predicted == actual], minlength=len(labels))
    n_predicted = np.bincount(predicted[predicted >= 0], minlength=len(labels))
    n_actual = np.bincount(actual, minlength=len(labels))
    metrics = {"accuracy": float(hits.sum() / len(predicted))}
    for i, label in enumerate(labels):
        metrics[f"precision_{label}"] = float(hits[i] / n_predicted[i]) if n_predicted[i] else math.nan
        metrics[f"recall_{label}"] = float(hits[i] / n_actual[i]) if n_actual[i] else math.nan
    return metrics


def score_numbers(target: Continuous, actual: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Return the mean squared error, the same of a target scaled to [0, 1], and the coefficient of determination.

    Examples
    --------
    >>> score_numbers(Continuous("y", 0, 10), np.array([0.0, 2.0]), np.array([1.0, 2.0]))
    {'mse': 0.5, 'unit_mse': 0.005, 'r2': 0.5}
    """
    errors = actual - predicted
    spread = actual - actual.mean()
    mse, variance = float(errors @ errors / len(errors)), float(spread @ spread / len(errors))
    unit_mse = mse / (target.upper - target.lower) ** 2
    return {"mse": mse, "unit_mse": unit_mse, "r2": 1 - mse / variance if variance else math.nan}
