"""What came out of a sweep: all metrics of all settings. ``table.csv`` keeps it; all that is shown is made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from datasets import catalogue
from experiments.cells.cell import Cell, format_canonical
from experiments.errors import BadInput
from experiments.store.summaries import MetricSummary, summarise_metric, tabulate
from plots.runs.run_folder import DIGITS, name_damage
from plots.sweeps.sweep import Sweep, describe_fixed, make_sweep

REMEDY = "running the sweep again writes it (its cells are kept)"
_NUMBERS = ["mean", "std", "ci_low", "ci_high", "n", "n_expected"]
_USUAL = {"classification": ("accuracy",), "regression": ("r2", "mse")}  # what is shown by task where nobody says what
_INTERNAL = ("beta", "sampling_ratio", "monomials")
_NOT_IN_TABLE = "fit_seconds"  # it differs from run to run, and equal sweeps give equal files


@dataclass(frozen=True)
class SweepRun:
    """A sweep, and a row for each metric of each setting: number of the setting, metric and numbers, as `tabulate`."""

    sweep: Sweep
    table: pd.DataFrame

    @cached_property
    def n_measured(self) -> np.ndarray:
        """How many repeats of each setting have a result."""
        first = self.table.drop_duplicates("setting")
        return self.sweep.repeats - (first["n_expected"] - first["n"]).to_numpy()

    @property
    def others(self) -> list[str]:
        """Metrics that were measured and are not shown."""
        return [name for name in self.table["metric"].unique() if name not in self.sweep.shown]

    def select(self, metric: str) -> pd.DataFrame:
        """Return a row for each setting: the numbers of a metric, NaN and 0 without any, and ``n_measured``."""
        found = self.table[self.table["metric"] == metric].set_index("setting")[_NUMBERS]
        nothing = {"n": 0, "n_expected": self.sweep.repeats}
        numbers = found.reindex(range(len(self.n_measured))).fillna(nothing).astype(dict.fromkeys(nothing, int))
        return numbers.assign(metric=metric, n_measured=self.n_measured)

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

    def format_csv(self) -> str:
        """Return the table with the values of the axes of its settings."""
        columns = {}
        places = np.unravel_index(self.table["setting"], self.sweep.shape)
        for (name, values), of_rows in zip(self.sweep.axes.items(), places, strict=True):
            columns[name] = np.array([_format_value(value) for value in values], dtype=object)[of_rows]
        frame = pd.concat([pd.DataFrame(columns, index=self.table.index), self.table[["metric", *_NUMBERS]]], axis=1)
        return frame.to_csv(index=False, float_format=f"%.{DIGITS}g", lineterminator="\n")


def read_table(path: Path, sweep: Sweep) -> pd.DataFrame:
    """Read what `SweepRun.format_csv` gave; BadInput if the file is not there, or not as it was written."""
    if not path.is_file():
        raise BadInput(f"{path} is missing; {REMEDY}")
    axes = list(sweep.axes)
    with name_damage(path, REMEDY):
        texts = dict.fromkeys([*axes, "metric"], str)
        frame = pd.read_csv(path, dtype=texts, keep_default_na=False, na_values={name: [""] for name in _NUMBERS})
        # two values of an axis may be one text, 1 and "1": then the metrics begin anew
        is_first = frame[axes].ne(frame[axes].shift()).any(axis=1) | (frame["metric"] == frame["metric"].iloc[0])
        if is_first.sum() != np.prod(sweep.shape):
            raise ValueError(f"it has {is_first.sum()} settings and not {np.prod(sweep.shape)}")
        return frame[["metric", *_NUMBERS]].assign(setting=is_first.cumsum() - 1)


def tabulate_settings(
    settings: Sequence[Sequence[Cell]],
    summaries: Sequence[Sequence[MetricSummary]],
    asked: Sequence[str] = (),
    first: int = 0,
) -> tuple[pd.DataFrame, list[str]]:
    """Return what a run's table has of some settings, the number of the first being given, and the metrics to show.

    A setting without a result has those metrics that would be shown, without a number.
    """
    rows: list[Sequence[MetricSummary]] = []
    shown: dict[str, None] = {}
    for cells, of_setting in zip(settings, summaries, strict=True):
        chosen = _choose_shown(cells[0].dataset, [one.metric for one in of_setting], asked)
        kept = [one for one in of_setting if one.metric != _NOT_IN_TABLE]
        rows.append(kept or [summarise_metric(name, (), len(cells)) for name in chosen])
        shown |= dict.fromkeys(chosen)
    return tabulate(rows, first), list(shown)


def make_run(
    axes: Mapping[str, list], settings: Sequence[Sequence[Cell]], parts: Sequence[tuple[pd.DataFrame, list[str]]]
) -> SweepRun:
    """Return a run from what `tabulate_settings` gave of all settings, one part after the other."""
    shown = list(dict.fromkeys(chain.from_iterable(of_part for _, of_part in parts)))
    sweep = make_sweep(axes, len(settings[0]), describe_fixed(axes, settings[0]), shown)
    return SweepRun(sweep, pd.concat([table for table, _ in parts], ignore_index=True))


def _choose_shown(dataset: str, found: Sequence[str], asked: Sequence[str]) -> Sequence[str]:
    """Return which metrics of a setting are shown: those asked for, else the usual, else all of one without these."""
    wanted = asked or _USUAL[catalogue.read_entry(dataset).task]
    if not found or set(found) & set(wanted):
        return wanted
    kept = [name for name in found if name != _NOT_IN_TABLE]
    return [name for name in kept if not _is_internal(name)] or kept or wanted


def _is_internal(metric: str) -> bool:
    return metric in _INTERNAL or metric.startswith("noise_scale_")


def _format_value(value: Any) -> str:
    return format_canonical(value) if value is None or isinstance(value, list | dict) else str(value)
