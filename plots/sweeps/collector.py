"""The results of a sweep as they come, setting by setting: all metrics go to ``table.csv``, those shown are kept."""

from __future__ import annotations

import csv
import math
import shutil
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np
import pandas as pd

from datasets import catalogue
from experiments.cells.cell import format_canonical
from experiments.stats import mean_interval, median_interval
from experiments.store.summaries import MetricSummary, SettingSummary
from plots.sweeps.sweep import Sweep

_NUMBERS = ["mean", "ci_low", "ci_high", "n", "n_expected"]
_USUAL = {"classification": ("accuracy",), "regression": ("r2", "mse")}  # what is shown by task where nobody says what
_INTERNAL = ("fit_seconds", "beta", "sampling_ratio", "monomials")
_NOT_IN_TABLE = "fit_seconds"  # it differs from run to run, and equal sweeps give equal files


@dataclass(frozen=True)
class SweepResults:
    """What is shown of a sweep."""

    sweep: Sweep
    #: By metric, a row for each setting: mean, ci_low, ci_high, n and n_expected; NaN and 0 where there is none.
    numbers: dict[str, pd.DataFrame]
    n_measured: np.ndarray  #: how many repeats of each setting have a result
    others: list[str]  #: metrics that were measured and are not shown

    @property
    def metrics(self) -> list[str]:
        """The metrics that are shown."""
        return list(self.numbers)

    @property
    def is_partial(self) -> bool:
        """Whether a setting has fewer runs than were asked for."""
        return bool((self.n_measured < self.sweep.repeats).any())

    def list_incomplete(self) -> list[str]:
        """Return the settings that have fewer runs than were asked for, each with how many it has."""
        repeats, lines = self.sweep.repeats, []
        for number in np.flatnonzero(self.n_measured < repeats).tolist():
            name = self.sweep.name_setting(number)
            lines.append(f"INCOMPLETE: {name}: {self.n_measured[number]} of {repeats} runs")
        return lines

    def describe_shortfall(self) -> str:
        """Return how many runs are missing; nothing if none is."""
        n, expected = int(self.n_measured.sum()), self.n_measured.size * self.sweep.repeats
        return f"INCOMPLETE: {n} of {expected} runs" if n < expected else ""


class ResultCollector:
    """Takes the summaries of settings one by one, in their order; a file keeps the rows of all metrics meanwhile."""

    def __init__(self, sweep: Sweep, file: TextIO) -> None:
        self._sweep, self._file = sweep, file
        self._rows = csv.writer(file, lineterminator="\n")
        self._rows.writerow([*sweep.axes, "metric", "mean", "std", "ci_low", "ci_high", "n", "n_expected"])
        self._kept: dict[str, array] = {}  # by metric that is shown: settings, each with its numbers
        self._n_measured = array("q")
        self._found: dict[str, None] = {}

    def take(self, setting: SettingSummary) -> None:
        """Take the summary of the next setting."""
        number = len(self._n_measured)
        self._n_measured.append(setting.n_measured)
        self._found |= dict.fromkeys(one.metric for one in setting.metrics)
        self._show_more(setting)
        values = list(map(_format_value, self._sweep.find_setting(number).values()))
        for one in self._fill_up(setting):
            n_expected = len(setting.cells) - max(setting.n_measured - one.mean.n, 0)  # without those undefined
            if one.metric != _NOT_IN_TABLE:
                self._rows.writerow([*values, one.metric, *_format_numbers(one), one.mean.n, n_expected])
            if one.metric in self._kept:
                numbers = one.mean.center, one.mean.low, one.mean.high, one.mean.n, n_expected
                self._kept[one.metric].extend((number, *numbers))

    def copy_table(self, stream: TextIO) -> None:
        """Write the table of all metrics, as CSV."""
        self._file.seek(0)
        shutil.copyfileobj(self._file, stream)

    def arrange(self) -> SweepResults:
        """Return what is shown of all that was taken."""
        empty = {"n": 0, "n_expected": self._sweep.repeats}
        numbers = {}
        for metric, kept in self._kept.items():
            rows = np.array(kept).reshape(-1, 1 + len(_NUMBERS))
            frame = pd.DataFrame(rows[:, 1:], index=rows[:, 0].astype(int), columns=_NUMBERS)
            numbers[metric] = (
                frame.reindex(range(len(self._n_measured))).fillna(empty).astype(dict.fromkeys(empty, int))
            )
        others = [name for name in self._found if name not in self._kept]
        return SweepResults(self._sweep, numbers, np.array(self._n_measured, dtype=np.int64), others)

    def _show_more(self, setting: SettingSummary) -> None:
        """Show the metrics that were asked for; else the usual ones, or all of a setting that has none of these."""
        found = [one.metric for one in setting.metrics]
        wanted = self._list_wanted(setting)
        if found and not set(found) & set(wanted):
            wanted = [name for name in found if not _is_internal(name)] or found
        for name in wanted:
            self._kept.setdefault(name, array("d"))

    def _list_wanted(self, setting: SettingSummary) -> Sequence[str]:
        return self._sweep.metrics or _USUAL[catalogue.read_entry(setting.cells[0].dataset).task]

    def _fill_up(self, setting: SettingSummary) -> list[MetricSummary]:
        """Return the metrics of a setting; of one without results those that are wanted, each without a number."""
        nothing = mean_interval(()), median_interval(()), None
        return setting.metrics or [MetricSummary(name, *nothing) for name in self._list_wanted(setting)]


def _is_internal(metric: str) -> bool:
    return metric in _INTERNAL or metric.startswith("noise_scale_")


def _format_value(value: Any) -> str:
    return format_canonical(value) if value is None or isinstance(value, list | dict) else str(value)


def _format_numbers(one: MetricSummary) -> list[str]:
    numbers = one.mean.center, one.std, one.mean.low, one.mean.high
    return ["" if number is None or math.isnan(number) else f"{number:.10g}" for number in numbers]
