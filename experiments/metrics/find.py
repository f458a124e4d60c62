"""Metrics by name: what is known of one, which a data set has, and which need more than a model or a data set gives.

A name is looked for among the files of metrics first, then among those that are always measured, then among
scikit-learn's. What an algorithm publishes of its own noise has no range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from datasets import catalogue
from documents import search_path
from experiments.errors import BadInput, suggest_name
from experiments.metrics.asked import ask_needs
from experiments.metrics.metric import (
    POINT,
    STANDARD_ERROR,
    TWENTIETH,
    Margin,
    Metric,
    MetricRange,
    make_error,
    make_share,
)
from experiments.metrics.own import find_own, list_own
from experiments.metrics.scikit_learn import CLASSIFICATION, REGRESSION, find_scikit_learn

LEAKS = (
    *("membership_auc", "membership_advantage", "calibrated_auc", "calibrated_tpr_1", "calibrated_tpr_01"),
    *("calibrated_auc_copied", "relinked", "interval_50", "interval_95"),
)
"""Metrics of a release; the last four are of noisy copies only."""
_UNBOUNDED_LEAKS = ("membership_advantage",)
_ERRORS = ("mse", "unit_mse")
_PUBLISHED = ("noise_scale_quadratic", "noise_scale_linear", "beta", "monomials")


def find_metric(name: str) -> Metric:
    """Return what is known of a metric; of one that nobody knows, that it has no range.

    Examples
    --------
    >>> find_metric("relinked").range, find_metric("mse").is_error, find_metric("recall_acc").is_in_per_cent
    (MetricRange(low=0.0, high=1.0), True, True)
    >>> find_metric("accuracy_se").range, find_metric("accuracy_se").is_in_per_cent
    (MetricRange(low=0.0, high=1.0), True)
    """
    return _find(name, search_path.list_added())


def is_in_per_cent(name: str) -> bool:
    """Return whether papers print this metric in per cent (it is a fraction in files all the same).

    Examples
    --------
    >>> is_in_per_cent("accuracy"), is_in_per_cent("recall_acc"), is_in_per_cent("roc_auc"), is_in_per_cent("mse")
    (True, True, False, False)
    """
    return find_metric(name).is_in_per_cent


def is_error(name: str) -> bool:
    """Return whether less of a metric is better.

    Examples
    --------
    >>> is_error("mse"), is_error("log_loss"), is_error("neg_log_loss"), is_error("accuracy")
    (True, True, False, False)
    """
    return find_metric(name).is_error


@cache
def _find(name: str, added: tuple[Path, ...]) -> Metric:
    """Return what is known of a metric; the folders are those that are looked into."""
    if own := find_own(name):
        return own.describe(name)
    base = name.removesuffix(STANDARD_ERROR)
    if base != name and find_metric(base) != Metric(base):
        return _describe_standard_error(name, find_metric(base))
    if name in ("accuracy", "sampling_ratio") or name.startswith(("precision_", "recall_")):
        return make_share(name, is_in_per_cent=True) if name != "sampling_ratio" else Metric(name)
    if name in LEAKS and name not in _UNBOUNDED_LEAKS:
        return Metric(name, MetricRange(0.0, 1.0))
    if name == "r2":
        return Metric(name, MetricRange(-math.inf, 1.0), Margin(POINT, floor=0.0))
    if name in _ERRORS:
        return make_error(name)
    return find_scikit_learn(name) or Metric(name)


def _describe_standard_error(name: str, base: Metric) -> Metric:
    """Return what is known of the standard error over folds of a metric; twice it is about what an interval adds."""
    limits = MetricRange(0.0, base.range.reach or math.inf)
    margin = TWENTIETH if base.margin.is_share else Margin(base.margin.size / 2)
    return Metric(name, limits, margin, is_error=True, is_in_per_cent=base.is_in_per_cent)


def list_measured(dataset: str) -> list[str]:
    """Return the names of the metrics that every cell on a data set may have, whether they are asked for or not.

    Examples
    --------
    >>> list_measured("car")[:3], "r2" in list_measured("diamonds")
    (['accuracy', 'precision_unacc', 'recall_unacc'], True)
    """
    entry = catalogue.read_entry(dataset)
    if entry.task == "regression":
        return ["mse", "unit_mse", "r2", *_PUBLISHED]
    names = ["accuracy"]
    for label in entry.domain.target.categories:
        names += [f"precision_{label}", f"recall_{label}"]
    return [*names, "sampling_ratio", *LEAKS]


def list_available(task: str) -> list[str]:
    """Return the names of the metrics that can be asked for of a task: scikit-learn's, and those that have files.

    Examples
    --------
    >>> "f1_macro" in list_available("classification"), "f1_macro" in list_available("regression")
    (True, False)
    """
    own = []
    for name in list_own():
        found = find_own(name)
        if found and found.task == task:
            own.append(name)
    return [*own, *sorted(CLASSIFICATION if task == "classification" else REGRESSION)]


def select_extra(dataset: str, asked: Sequence[str]) -> tuple[str, ...]:
    """Return those of the metrics that are asked for that a cell has only if it is asked for them.

    Parameters
    ----------
    dataset : str
        On which they are measured.
    asked : sequence of str
        Names of metrics.

    Raises
    ------
    BadInput
        If the data set has no such metric.

    Examples
    --------
    >>> select_extra("car", ["recall_acc", "f1_macro"])
    ('f1_macro',)
    """
    entry, measured = catalogue.read_entry(dataset), list_measured(dataset)
    available, extra = list_available(entry.task), set()
    for name in asked:
        base = name.removesuffix(STANDARD_ERROR)
        if name in measured or base in measured:
            continue
        known = next((one for one in (name, base) if one in available), None)
        if known is None:
            raise BadInput(
                f"metrics: {dataset!r} has no metric {name!r}; {_explain_unknown(name, entry.task, measured)}"
            )
        _check_classes(dataset, known, len(entry.domain.target.categories) if entry.task == "classification" else 0)
        extra.add(known)
    return tuple(sorted(extra))


def _explain_unknown(name: str, task: str, measured: Sequence[str]) -> str:
    other = "regression" if task == "classification" else "classification"
    if name in list_available(other):
        return f"it is one of a {other}, and this is a {task}"
    return suggest_name(name, [*measured, *list_available(task)])


def _check_classes(dataset: str, name: str, n_classes: int) -> None:
    if n_classes > 2 and ask_needs(name).two_classes:
        similar = [other for other in list_available("classification") if other.startswith(f"{name}_")]
        instead = f"; take {' or '.join(similar)}" if similar else ""
        raise BadInput(f"metrics: {name!r} is defined for two classes, and {dataset!r} has {n_classes}{instead}")


def read_names(given: Sequence) -> list[str]:
    """Return the names of the metrics that are asked for, in one list whatever the commas stand between.

    Raises
    ------
    BadInput
        If there is something else than names.

    Examples
    --------
    >>> read_names([["rmse", "mae"]]), read_names(["rmse", "mae"])
    (['rmse', 'mae'], ['rmse', 'mae'])
    """
    names: list = []
    for part in given:
        names += part if isinstance(part, list) else [part]
    for name in names:
        if not isinstance(name, str):
            raise BadInput(f"metrics: write names, such as metrics=[f1_macro,balanced_accuracy], got {name!r}")
    return list(dict.fromkeys(names))
