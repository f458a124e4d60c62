"""Metrics by name: what is known of one, which a data set has, and which need more than a model or a data set gives.

A name is looked for among the files of metrics first, then among scikit-learn's, then among those that are always
measured. What an algorithm publishes of its own noise has no range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from datasets import catalogue
from documents import search_path
from experiments.errors import BadInput, suggest_name
from experiments.metrics.metric import (
    STANDARD_ERROR,
    TWENTIETH,
    UNBOUNDED,
    Margin,
    Metric,
    MetricRange,
    Needs,
    make_error,
    make_share,
    make_skill,
)
from experiments.metrics.own import find_own, list_own
from experiments.metrics.scikit_learn import CLASSIFICATION, REGRESSION, find_scikit_learn

LEAKS = (
    *("membership_auc", "membership_advantage", "calibrated_auc", "calibrated_tpr_1", "calibrated_tpr_01"),
    *("calibrated_auc_copied", "relinked", "interval_50", "interval_95"),
)
"""Metrics of a release; the last four are of noisy copies only."""
ALWAYS = {
    "accuracy": "share of the rows whose class is predicted",
    "precision_<class>": "share of the rows predicted to be of a class that are of it",
    "recall_<class>": "share of the rows of a class that are predicted to be of it",
    "mse": "mean squared error, in the square of the target's unit",
    "unit_mse": "the same of a target scaled to [0, 1] by its declared bounds",
    "r2": "share of the target's variance that is explained; 0 is no better than its mean",
}
"""What is measured of every cell, by name: what it is, in a phrase."""
_PUBLISHED = ("noise_scale_quadratic", "noise_scale_linear", "beta", "monomials")


def find_metric(name: str) -> Metric:
    """Return what is known of a metric; of one that nobody knows, that it has no range.

    Examples
    --------
    >>> find_metric("relinked").range, find_metric("mse").is_error, find_metric("recall_acc").is_in_per_cent
    (MetricRange(low=0.0, high=1.0), True, True)
    >>> find_metric("accuracy_se").range, find_metric("accuracy_se").is_in_per_cent
    (MetricRange(low=0.0, high=1.0), True)
    >>> find_metric("log_loss").is_error, find_metric("neg_log_loss").is_error, find_metric("roc_auc").is_in_per_cent
    (True, False, False)
    >>> find_metric("recall_acc").meaning
    'share of the rows of acc that are predicted to be of it'
    """
    return _find(name, search_path.list_added())


def is_in_per_cent(name: str) -> bool:
    """Return whether papers print this metric in per cent (it is a fraction in files all the same)."""
    return find_metric(name).is_in_per_cent


def is_error(name: str) -> bool:
    """Return whether less of a metric is better."""
    return find_metric(name).is_error


@cache
def _find(name: str, added: tuple[Path, ...]) -> Metric:
    """Return what is known of a metric; the folders are those that are looked into."""
    if own := find_own(name):
        return own.describe(name)
    if known := find_scikit_learn(name):
        return known
    base, (kind, underscore, label) = name.removesuffix(STANDARD_ERROR), name.partition("_")
    if base != name and find_metric(base) != Metric(base):
        return _describe_standard_error(name, find_metric(base))
    if name == "accuracy":
        return make_share(name, ALWAYS[name], is_in_per_cent=True)
    if kind in ("precision", "recall") and underscore:
        of_class = ALWAYS.get(name) or ALWAYS[f"{kind}_<class>"].replace("a class", label or "a class")
        return make_share(name, of_class, is_in_per_cent=True)
    if name in LEAKS:
        limits = UNBOUNDED if name == "membership_advantage" else MetricRange(0.0, 1.0)
        return Metric(name, limits, meaning="what rows leak that an algorithm releases")
    if name == "r2":
        return make_skill(name, ALWAYS[name])
    return make_error(name, ALWAYS[name]) if name in ALWAYS else Metric(name)


def _describe_standard_error(name: str, base: Metric) -> Metric:
    """Return what is known of the standard error over folds of a metric; twice it is about what an interval adds."""
    limits = MetricRange(0.0, base.range.reach or math.inf)
    margin = TWENTIETH if base.margin.is_share else Margin(base.margin.size / 2)
    meaning = f"standard error over folds of {base.name}"
    return Metric(name, limits, margin, is_error=True, is_in_per_cent=base.is_in_per_cent, meaning=meaning)


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
    own = [name for name in list_own() if (found := find_own(name)) and found.task == task]
    return [*own, *sorted(CLASSIFICATION if task == "classification" else REGRESSION)]


def select_extra(dataset: str, asked: Sequence[str]) -> tuple[str, ...]:
    """Return those of the metrics that are asked for that a cell on a data set has only if it is asked for them.

    It is BadInput if the data set has no such metric.

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


def ask_needs(name: str) -> Needs:
    """Return what a metric that is asked for needs of a model and of a data set."""
    if own := find_own(name):
        return own.asks
    if name not in CLASSIFICATION:
        return Needs(probabilities=False, two_classes=False)
    from experiments.metrics.scoring import find_needs  # scikit-learn is slow to import, and most metrics need nothing

    return find_needs(name)


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
