"""What the repeats of a setting say together: mean and median of each metric, with their intervals."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TextIO

import numpy as np
import pandas as pd

from experiments.cells.cell import Cell, format_json
from experiments.config.setting import keep_entries
from experiments.metrics.find import find_metric, list_measured
from experiments.metrics.metric import STANDARD_ERROR
from experiments.stats import mean_interval, median_interval
from experiments.store.long_table import order_metric
from experiments.store.record import Record


class MetricSummary(NamedTuple):
    """One metric of a setting, over the repeats that have it; NaN is what does not exist, as the spread of one."""

    metric: str
    mean: float
    std: float
    ci_low: float  #: ends of the 95 % interval of the mean
    ci_high: float
    n: int  #: repeats in which it is defined
    n_expected: int  #: of all repeats those in which it could be: without those that are done and have none
    median: float
    median_low: float
    median_high: float


def summarise_setting(
    cells: Sequence[Cell], records: Mapping[str, Record], asked: Collection[str] = ()
) -> list[MetricSummary]:
    """Return the metrics of a setting, the first metrics first, from its cells and all records by key.

    They are those that are asked for, and their standard errors over folds. Where nothing is asked for, that is what is
    measured always, without precision and recall of each class: what else a cell was asked for by another command does
    not show. The time of a fit is the last. A setting without a result has none.
    """
    found = [records[cell.key].measured for cell in cells if cell.key in records]
    measured = [one for one in found if one]
    values: dict[str, list[float]] = defaultdict(list)
    for one in measured:
        for name, value in one.metrics.items():
            values[name].append(value)
    usual = (name for name in list_measured(cells[0].dataset) if not name.startswith(("precision_", "recall_")))
    wanted, summaries = set(asked) or {"fit_seconds", *usual}, []
    for name in [*sorted(values, key=order_metric), *(["fit_seconds"] if measured else [])]:
        if {name, name.removesuffix(STANDARD_ERROR)} & wanted:
            runs = values.get(name) or [one.fit_seconds for one in measured]
            summaries.append(summarise_metric(name, runs, len(cells), len(measured)))
    return summaries


def summarise_metric(name: str, values: Sequence[float], n_cells: int, n_measured: int = 0) -> MetricSummary:
    """Return the summary of a metric, from its values in those cells of a setting that have it.

    >>> one = summarise_metric("accuracy", [0.5, 0.75, np.nan], n_cells=4, n_measured=3)
    >>> one.mean, one.n, one.n_expected
    (0.625, 2, 3)
    """
    numbers = np.array(values, dtype=np.float64)
    numbers = numbers[~np.isnan(numbers)]
    spread = float(numbers.std(ddof=1)) if len(numbers) > 1 else np.nan
    mean, median = mean_interval(numbers, find_metric(name).range), median_interval(numbers)
    of_mean = mean.center, spread, mean.low, mean.high, mean.n, n_cells - max(n_measured - mean.n, 0)
    return MetricSummary(name, *of_mean, median.center, median.low, median.high)


def tabulate(summaries: Iterable[Sequence[MetricSummary]], first: int = 0) -> pd.DataFrame:
    """Return a row for each metric of settings: the number of the ``setting``, from ``first`` on, and its summary."""
    rows = [(number, *one) for number, metrics in enumerate(summaries, first) for one in metrics]
    return pd.DataFrame(rows, columns=["setting", *MetricSummary._fields])


def write_json_lines(cells: Sequence[Cell], summaries: Sequence[MetricSummary], stream: TextIO | None = None) -> None:
    """Write one JSON object for each metric of a setting.

    It has ``key, dataset, algorithm, params, epsilon, metric, mean, std, ci95, median, median_ci95, n``. An interval is
    a pair of numbers, for the mean or the median of further runs on these rows; what does not exist (the spread of one
    repeat, the interval of a median of fewer than six, the precision of a class never predicted) is null.
    """
    first = cells[0]
    head = {"key": first.setting_key, **keep_entries(vars(first), ["dataset", "algorithm", "params", "epsilon"])}
    for one in summaries:
        numbers = {
            **{"mean": one.mean, "std": one.std, "ci95": _pair_ends(one.ci_low, one.ci_high)},
            **{"median": one.median, "median_ci95": _pair_ends(one.median_low, one.median_high), "n": one.n},
        }
        print(format_json({**head, "metric": one.metric, **numbers}), file=stream or sys.stdout)


def _pair_ends(low: float, high: float) -> list[float] | None:
    return None if np.isnan(low) else [low, high]
