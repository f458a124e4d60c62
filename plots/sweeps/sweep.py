"""A sweep: every combination of the values of some axes, what of it varies, and its results.

Results come setting by setting: all metrics go to ``table.csv``, those shown are kept.
"""

from __future__ import annotations

import csv
import hashlib
import math
import re
import shutil
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TextIO

import numpy as np
import pandas as pd

from datasets import catalogue
from documents.search_path import name_chosen
from experiments.cells.cell import Cell, format_canonical
from experiments.cells.grid import are_numbers
from experiments.config import estimators
from experiments.config.paper import Paper
from experiments.config.setting import drop_entries
from experiments.judge.words import name_setting
from experiments.stats import mean_interval, median_interval
from experiments.store.summaries import MetricSummary, SettingSummary
from plots.labels import label_name, label_value

_LABELS = {"dataset": "data set"}
_NAMED = 3  # as many data sets or algorithms stand in a name; of more, their number does
_LONGEST_PART = 40


@dataclass(frozen=True)
class Sweep:
    """What was asked for on the command line."""

    #: The values of ``dataset``, ``algorithm``, ``epsilon`` and what else was given, ``params.<name>`` and
    #: ``protocol.<name>``, as from `grid.order_values`.
    axes: Mapping[str, list]
    settings: list[list[Cell]]  #: the cells of every combination, in the order of `itertools.product` of the axes
    metrics: Sequence[str] = ()  #: those that are to be shown; none for the usual ones

    @property
    def repeats(self) -> int:
        """Runs of every setting."""
        return len(self.settings[0])

    @property
    def varying(self) -> list[str]:
        """The axes with several values."""
        return [name for name, values in self.axes.items() if len(values) > 1]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each axis has."""
        return tuple(map(len, self.axes.values()))

    def find_setting(self, number: int) -> dict[str, Any]:
        """Return the values of the axes in the setting of that number."""
        places = np.unravel_index(number, self.shape)
        return {name: values[i] for (name, values), i in zip(self.axes.items(), places, strict=True)}

    def number_settings(self, names: Iterable[str]) -> np.ndarray:
        """Return the numbers of all settings as an array along all axes that vary, in the order of their ``names``."""
        names, axes = list(names), list(self.axes)
        order = [axes.index(name) for name in [*names, *(name for name in axes if name not in names)]]
        numbers = np.arange(len(self.settings)).reshape(self.shape).transpose(order)
        return numbers.reshape([len(self.axes[name]) for name in names])

    @cached_property
    def paper(self) -> Paper:
        """The sweep as a study without print, for all that labels names."""
        study = {"dataset": self.axes["dataset"], "algorithm": self.axes["algorithm"]}
        labels = _LABELS | {name: name_chosen(name) for name in self.axes["algorithm"]}
        described = {"number": "sweep", "title": "A sweep", "studies": {"sweep": study}, "labels": labels}
        return Paper.model_validate(described)

    @property
    def identity(self) -> str:
        """SHA-256 of its settings in any order and of its metrics, whatever the code and the number of repeats."""
        asked = sorted({cells[0].repeats([0])[0].identity for cells in self.settings})
        asked += [f"metrics {','.join(self.metrics)}"] if self.metrics else []
        return hashlib.sha256("\0".join(asked).encode()).hexdigest()

    @property
    def automatic_name(self) -> str:
        """A readable name: data sets, algorithms, and the names of what else varies."""
        parts = [_join_values(self.axes["dataset"], "data-sets"), _join_values(self.axes["algorithm"], "algorithms")]
        parts += [_shorten_name(name) for name in self.varying if name not in ("dataset", "algorithm")]
        return re.sub(r"[^\w.+-]+", "_", "-".join(parts)).lstrip(".")

    def label_axis(self, name: str) -> str:
        """Return the readable name of an axis."""
        return label_name(self.paper, _shorten_name(name))

    def label_setting(self, values: Mapping[str, Any]) -> str:
        """Return values of some axes as text."""
        return name_setting({_shorten_name(name): value for name, value in values.items()}, self.paper.labels)

    def name_setting(self, number: int) -> str:
        """Return the setting of a number by what varies; of one that is alone its data set and algorithm."""
        setting = self.find_setting(number)
        return self.label_setting({name: setting[name] for name in self.varying or ["dataset", "algorithm"]})

    def describe_fixed(self) -> str:
        """Return what does not vary, as a heading has it."""
        fixed = {name: values[0] for name, values in self.axes.items() if len(values) == 1}
        if not any(map(estimators.takes_epsilon, self.axes["algorithm"])):
            fixed.pop("epsilon", None)
        runs = "1 run" if self.repeats == 1 else f"{self.repeats} repeats"
        return ", ".join(filter(None, [self.label_setting({**fixed, **self._list_other_protocol()}), runs]))

    def describe_varying(self) -> str:
        """Return what varies, in words; of many values, how many there are. Nothing of one setting."""
        words = []
        for name in self.varying:
            texts = [label_value(self.paper, value) for value in self.axes[name]]
            is_short = len(texts) <= _NAMED
            words.append(f"{self.label_axis(name)} ({', '.join(texts) if is_short else f'{len(texts)} values'})")
        return ", ".join(words)

    def _list_other_protocol(self) -> dict[str, Any]:
        """Return options of the protocol that were given one value beside the lists, if it is not the usual one."""
        changed = self.settings[0][0].protocol.list_changed()
        return drop_entries({f"protocol.{name}": value for name, value in changed.items()}, self.axes)


def find_numeric_axis(sweep: Sweep) -> str | None:
    """Return the axis along which lines are drawn: ε if it varies, else the first of numbers; None if there is none."""
    if "epsilon" in sweep.varying:
        return "epsilon"
    for name in sweep.varying:
        if are_numbers(sweep.axes[name]) and all(map(math.isfinite, sweep.axes[name])):
            return name
    return None


def _shorten_name(name: str) -> str:
    return name.removeprefix("params.").removeprefix("protocol.")


def _join_values(values: Sequence[Any], what: str) -> str:
    joined = "-".join(map(str, values))
    return joined if len(values) <= _NAMED and len(joined) <= _LONGEST_PART else f"{len(values)}-{what}"


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
