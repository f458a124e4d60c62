"""What the repeats of a setting say together: mean and median of each metric, with their intervals."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TextIO

import numpy as np

from experiments.cells.cell import Cell, format_json
from experiments.metrics.find import list_measured
from experiments.metrics.metric import STANDARD_ERROR
from experiments.stats import Interval, mean_interval, median_interval
from experiments.store.long_table import order_metric
from experiments.store.record import Record


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """One metric of a setting, over the repeats that have it."""

    metric: str
    mean: Interval
    median: Interval
    std: float | None  #: None of fewer than two


@dataclass(frozen=True, slots=True)
class SettingSummary:
    """What is known of a setting."""

    cells: list[Cell]  #: its repeats, as they were asked for
    n_measured: int  #: how many of them have a result
    metrics: list[MetricSummary]  #: the first metrics first; the time of a fit is the last


def summarise_setting(cells: list[Cell], records: Mapping[str, Record]) -> SettingSummary:
    """Return the summary of a setting, from its cells and all records by key."""
    found = [records[cell.key].measured for cell in cells if cell.key in records]
    measured = [one for one in found if one]
    values = _collect_metrics([one.metrics for one in measured])
    if measured:
        values["fit_seconds"] = [one.fit_seconds for one in measured]
    return SettingSummary(cells, len(measured), [_summarise_metric(name, each) for name, each in values.items()])


def keep_metrics(setting: SettingSummary, asked: Collection[str]) -> SettingSummary:
    """Return the summary with the metrics that are asked for, and their standard errors over folds.

    Where nothing is asked for, that is what is measured always, without precision and recall of each class: what else
    a cell was asked for by another command does not show.
    """
    wanted = set(asked) or {"fit_seconds", *_list_usual(setting.cells[0].dataset)}
    kept = [one for one in setting.metrics if {one.metric, one.metric.removesuffix(STANDARD_ERROR)} & wanted]
    return replace(setting, metrics=kept)


def _list_usual(dataset: str) -> list[str]:
    return [name for name in list_measured(dataset) if not name.startswith(("precision_", "recall_"))]


def _collect_metrics(measured: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """Return the values of each metric, those of cells that have it, the first metrics first."""
    values = {}
    kinds = set(map(tuple, measured))  # the names of most cells are the same
    for name in sorted(set(chain.from_iterable(kinds)), key=order_metric):
        values[name] = [metrics[name] for metrics in measured if name in metrics]
    return values


def _summarise_metric(name: str, values: list[float]) -> MetricSummary:
    numbers = np.array(values)
    numbers = numbers[~np.isnan(numbers)]
    spread = float(numbers.std(ddof=1)) if len(numbers) > 1 else None
    return MetricSummary(name, mean_interval(numbers), median_interval(numbers), spread)


def write_json_lines(setting: SettingSummary, stream: TextIO | None = None) -> None:
    """Write one JSON object for each metric of a setting.

    It has ``key, dataset, algorithm, params, epsilon, metric, mean, std, ci95, median, median_ci95, n``. An interval is
    a pair of numbers, for the mean or the median of further runs on these rows; what does not exist (the spread of one
    repeat, the interval of a median of fewer than six, the precision of a class never predicted) is null.
    """
    first = setting.cells[0]
    head = {
        "key": first.setting_key,
        "dataset": first.dataset,
        "algorithm": first.algorithm,
        "params": first.params,
        "epsilon": first.epsilon,
    }
    for one in setting.metrics:
        mean, median = one.mean, one.median
        numbers = {
            **{"mean": mean.center, "std": one.std, "ci95": _pair_ends(mean)},
            **{"median": median.center, "median_ci95": _pair_ends(median), "n": mean.n},
        }
        print(format_json({**head, "metric": one.metric, **numbers}), file=stream or sys.stdout)


def _pair_ends(interval: Interval) -> list[float] | None:
    return None if np.isnan(interval.low) else [interval.low, interval.high]
