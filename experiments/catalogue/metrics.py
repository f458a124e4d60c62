"""``describe metric=NAME`` and ``list metrics``: what can be measured, and what must be known of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from algorithms.installation import PROGRAM
from documents.yaml_files import shorten_path
from experiments.catalogue.screen import format_command, format_field, hang_text
from experiments.catalogue.uses import name_example_on
from experiments.errors import BadInput
from experiments.metrics.find import ALWAYS, ask_needs, find_metric, list_available
from experiments.metrics.metric import POINT, STANDARD_ERROR, Metric
from experiments.metrics.own import find_own, find_own_file, list_own
from experiments.metrics.scikit_learn import REGRESSION

_EXAMPLE = {"classification": "car", "regression": "daily_demand"}
_OF_TWO_CLASSES = "mushroom"
GROUPS = {
    "always": "measured of every cell",
    "classification": "of classes, by scikit-learn's names; measured where they are asked for",
    "regression": "of numbers, by scikit-learn's names; measured where they are asked for",
    "own": "yours: from folders that you added",
}
"""Groups of metrics in their order, each with what its members have in common."""


def describe_metric(name: str) -> str:
    """Return what is known of a metric, as text of at most 80 columns; BadInput if there is none of that name.

    Examples
    --------
    >>> print(describe_metric("log_loss"))
    log_loss: mean of minus the logarithm of the probability of the true class
    Whose      scikit-learn's, of classes; measured where it is asked for
    Range      from 0; less is better
    Margin     5 % of it is no difference, unless a paper's resolution says
               otherwise
    Needs      probabilities: an algorithm without them is refused
    Folds      log_loss_se is its standard error over folds (protocol.folds=5)
    Run        dp-replica dataset=car algorithm=thrifty epsilon=1 metrics=log_loss
    """
    metric = find_metric(name)
    if not metric.meaning:
        known = [*ALWAYS, *list_available("classification"), *list_available("regression")]
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"`{PROGRAM} list metrics` says what there is"
        raise BadInput(f"there is no metric {name!r}; {hint}")
    fields = {
        "Whose": _describe_origin(name),
        "Range": _describe_range(metric),
        "Margin": f"{_describe_margin(metric)} is no difference, unless a paper's resolution says otherwise",
        "Needs": _describe_needs(name),
        "Folds": f"{name}{STANDARD_ERROR} is its standard error over folds (protocol.folds=5)",
    }
    if name.endswith(STANDARD_ERROR):
        del fields["Folds"]
    lines = hang_text("", f"{name}: {metric.meaning}")
    for label, text in fields.items():
        lines += format_field(label, text) if text else []
    return "\n".join([*lines, *_give_example(name)])


def list_metric_rows(tasks: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the metrics of some tasks, or all, those of a group together.

    Examples
    --------
    >>> [row["name"] for row in list_metric_rows(["regression"])][:4]
    ['mse', 'unit_mse', 'r2', 'd2_absolute_error_score']
    """
    rows = []
    for name, meaning in ALWAYS.items():
        task = "regression" if name in ("mse", "unit_mse", "r2") else "classification"
        rows.append({"name": name, "group": "always", "what": meaning, "task": task})
    for task in ("classification", "regression"):
        for name in list_available(task):
            if name not in list_own():
                rows.append({"name": name, "group": task, "what": find_metric(name).meaning, "task": task})
    for name in list_own():
        metric = find_own(name)
        rows.append(
            {"name": name, "group": "own", "what": find_metric(name).meaning, "task": metric.task if metric else ""}
        )
    return [row for row in rows if not tasks or row["task"] in tasks]


def _describe_origin(name: str) -> str:
    if metric := find_own(name):
        file = find_own_file(name)
        return f"yours: {metric.target}, of {_name_target(metric.task)}, in {shorten_path(file) if file else name}"
    for task in _EXAMPLE:
        if name in list_available(task):
            return f"scikit-learn's, of {_name_target(task)}; measured where it is asked for"
    return "measured of every cell"


def _name_target(task: str) -> str:
    return "classes" if task == "classification" else "numbers"


def _describe_range(metric: Metric) -> str:
    low, high = metric.range
    if math.isinf(low) and math.isinf(high):
        limits = "no bounds"
    elif math.isinf(low):
        limits = f"at most {high:g}"
    else:
        limits = f"from {low:g}" if math.isinf(high) else f"{low:g} to {high:g}"
    unit = ", printed in per cent" if metric.is_in_per_cent else ""
    return f"{limits}{unit}; {'less' if metric.is_error else 'more'} is better"


def _describe_margin(metric: Metric) -> str:
    margin = metric.margin
    if margin.is_share:
        return f"{100 * margin.size:g} % of it"
    points = "1 point" if margin.size == POINT else f"{100 * margin.size:g} points"
    size = points if metric.is_in_per_cent else f"{margin.size:g}"
    return f"{size}, or all below {margin.floor:g}," if math.isfinite(margin.floor) else size


def _describe_needs(name: str) -> str:
    needs = ask_needs(name)
    words = ["probabilities: an algorithm without them is refused"] if needs.probabilities else []
    words += ["two classes, of which the last of the alphabet is the positive one"] if needs.two_classes else []
    return "; ".join(words)


def _give_example(name: str) -> list[str]:
    metric = find_own(name)
    is_of_numbers = metric.task == "regression" if metric else name in REGRESSION or name in ("mse", "unit_mse", "r2")
    dataset = _EXAMPLE["regression" if is_of_numbers else "classification"]
    if not is_of_numbers and ask_needs(name).two_classes:
        dataset = _OF_TWO_CLASSES
    if "<" in name:
        return []
    folds = " protocol.folds=5" if name.endswith(STANDARD_ERROR) else ""
    return format_command("Run", f"{name_example_on(dataset)}{folds} metrics={name}")
