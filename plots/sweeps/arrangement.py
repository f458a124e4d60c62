"""The tables of a sweep as text: rows and columns from what varies, the best of each column marked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from experiments.metrics.find import is_error
from plots.labels import label_metric, label_values, scale_value
from plots.series import NOTHING_PRINTED, count_decimals
from plots.sweeps.collector import SweepResults
from plots.sweeps.sweep import Sweep, find_numeric_axis
from plots.tables.grid import describe_cell

BEST, INCOMPLETE = "*", "!"
"""The signs behind a mean."""
WIDTH = 80
"""How many characters of a line a table takes, if it can."""
_GAP = 2
_NEGLIGIBLE = 1e-6
"""What is smaller than this part of the largest mean is as good as zero."""
_MOST_ROWS = 1000
"""Rows of a table as text: more are for machines, which read ``table.csv``."""


@dataclass(frozen=True)
class TableCell:
    """A cell of a table as text: a mean with the half-width of its interval, and what is to be said of it."""

    text: str
    is_best: bool
    note: str

    @property
    def marked(self) -> str:
        """The text with its sign."""
        return self.text + (BEST if self.is_best else INCOMPLETE if self.note else "")


@dataclass(frozen=True)
class SweepTable:
    """A table of a sweep.

    Parameters
    ----------
    title : str
        The metric that all cells are of, readable; empty where the columns are metrics.
    columns_of : str
        The axis of the columns; empty where these are metrics.
    heads : list of str
        What the names of the rows are.
    columns : list of str
        The names of the columns.
    rows : list of (list of str, list of TableCell)
        The names of a row, and its cells.
    n_left_out : int
        How many rows more there are.
    best_of : str
        What the best is marked of; empty where nothing is marked.
    """

    title: str
    columns_of: str
    heads: list[str]
    columns: list[str]
    rows: list[tuple[list[str], list[TableCell]]]
    n_left_out: int
    best_of: str

    def measure_width(self) -> int:
        """Return how many characters wide it is."""
        lines = [
            [*self.heads, *self.columns],
            *([*names, *(cell.marked for cell in cells)] for names, cells in self.rows),
        ]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return sum(widths) + _GAP * (len(widths) - 1)


@dataclass(frozen=True)
class _Layout:
    """Which axes the rows are of, in order, and which the columns; None for metrics."""

    rows: list[str]
    columns: str | None

    @property
    def compared(self) -> list[str]:
        """The axes over which the best is looked for: alternatives in the rows, else those in the columns."""
        in_rows = list(filter(_is_alternative, self.rows))
        return in_rows or [name for name in [self.columns] if name and _is_alternative(name)]

    def name_group(self, sweep: Sweep) -> str:
        """Return what the best is marked of."""
        if self.compared == [self.columns]:
            return "row"
        others = [sweep.label_axis(name) for name in self.rows if name not in self.compared]
        return f"column at each {' and '.join(others)}" if others else "column"


def arrange_tables(results: SweepResults) -> list[SweepTable]:
    """Return the tables of a sweep: one for each metric, or one whose columns are metrics.

    Of the possible layouts the first is taken that a terminal has room for.
    """
    layouts = _list_layouts(results.sweep)
    arranged = [_arrange_layout(results, layout) for layout in layouts]
    for tables in arranged:
        if max(table.measure_width() for table in tables) <= WIDTH:
            return tables
    return arranged[0]


def _list_layouts(sweep: Sweep) -> list[_Layout]:
    """Return the possible layouts, the best first: ε along the top, else data sets or numbers."""
    varying = sweep.varying
    alternatives = list(filter(_is_alternative, varying))
    wanted = ["epsilon", "dataset"] if alternatives else ["epsilon"]
    numeric = find_numeric_axis(sweep)
    wanted += [numeric] if numeric and len(alternatives) > 1 else []
    wanted += [name for name in varying if name.startswith("protocol.") and alternatives]
    columns = [name for name in dict.fromkeys(wanted) if name in varying]
    columns += ["algorithm"] if columns and "algorithm" in varying else []
    layouts = []
    for name in columns:
        if rows := sorted((other for other in varying if other != name), key=_order_row):
            layouts.append(_Layout(rows, name))
    return layouts or [_Layout(sorted(varying, key=_order_row), None)]


def _is_alternative(name: str) -> bool:
    """Return whether the values of an axis are alternatives to choose from; data sets and ε are none."""
    return name == "algorithm" or name.startswith("params.")


def _order_row(name: str) -> tuple[bool, bool]:
    return _is_alternative(name), name.startswith("params.")


def _arrange_layout(results: SweepResults, layout: _Layout) -> list[SweepTable]:
    metrics = results.metrics
    if layout.columns is None:
        columns = [_arrange_cells(results, metric, layout) for metric in metrics]
        cells = [list(line) for line in zip(*(column[0] for column in columns), strict=True)]
        heads = [label_metric(results.sweep.paper, metric) for metric in metrics]
        return [_make_table(results, layout, "", heads, cells, any(has_best for _, has_best in columns))]
    tables = []
    names = label_values(results.sweep.paper, layout.columns, results.sweep.axes[layout.columns])
    for metric in metrics:
        flat, has_best = _arrange_cells(results, metric, layout)
        cells = [flat[start : start + len(names)] for start in range(0, len(flat), len(names))]
        tables.append(_make_table(results, layout, metric, names, cells, has_best))
    return tables


def _make_table(
    results: SweepResults,
    layout: _Layout,
    metric: str,
    columns: list[str],
    cells: list[list[TableCell]],
    has_best: bool,
) -> SweepTable:
    sweep = results.sweep
    values = [label_values(sweep.paper, name, sweep.axes[name]) for name in layout.rows]
    names = [list(row) for row in product(*values)][:_MOST_ROWS]
    n_rows = math.prod(map(len, values))
    axis = sweep.label_axis(layout.columns) if layout.columns else ""
    is_numeric = layout.columns not in (None, "dataset", "algorithm")
    heads = list(map(sweep.label_axis, layout.rows))
    shown = [f"{axis} = {name}" if is_numeric and name != "no noise" else name for name in columns]
    rows = list(zip(names, cells, strict=True))
    title = label_metric(sweep.paper, metric) if metric else ""
    return SweepTable(title, axis, heads, shown, rows, n_rows - len(rows), layout.name_group(sweep) if has_best else "")


def _arrange_cells(results: SweepResults, metric: str, layout: _Layout) -> tuple[list[TableCell], bool]:
    """Return the cells of a metric in the order of a layout, and whether one is the best."""
    sweep, axes = results.sweep, list(results.sweep.axes)
    inner = [layout.columns] if layout.columns else []
    order = [axes.index(name) for name in [*(name for name in axes if name not in sweep.varying), *layout.rows, *inner]]
    numbers = {name: values.transpose(order) for name, values in results.numbers[metric].items()}
    lacks = (results.n_measured < sweep.repeats).transpose(order)
    decimals = _count_decimals(sweep, metric, results.numbers[metric]["mean"]).transpose(order)
    compared = tuple(order.index(axes.index(name)) for name in layout.compared)
    is_best = _find_best(metric, numbers["mean"], lacks, decimals, compared)
    n_cells = _MOST_ROWS * (len(sweep.axes[layout.columns]) if layout.columns else 1)
    columns = [values.ravel()[:n_cells].tolist() for values in numbers.values()]
    measured = results.n_measured.transpose(order).ravel()[:n_cells].tolist()
    cells = []
    shown = zip(zip(*columns, strict=True), is_best.ravel(), decimals.ravel(), measured, strict=False)
    for point, best, digits, n in shown:
        note = f"{n} of {sweep.repeats} runs" if n < sweep.repeats else ""
        cells.append(_make_cell(metric, dict(zip(numbers, point, strict=True)), int(digits), bool(best), note))
    return cells, bool(is_best.any())


def _count_decimals(sweep: Sweep, metric: str, means: np.ndarray) -> np.ndarray:
    """Return how many decimals are shown of each mean: of errors every data set has a size of its own."""
    axis = list(sweep.axes).index("dataset")
    decimals = np.empty(means.shape, dtype=np.int64)
    for place in range(means.shape[axis]):
        own = means.take(place, axis).ravel()
        own = own[np.abs(own) > _NEGLIGIBLE * np.nanmax(np.abs(own), initial=0.0)]
        frame = pd.DataFrame({"metric": [metric, *[metric] * len(own)], "mean": [math.nan, *own], "decimals": math.nan})
        decimals[(slice(None),) * axis + (place,)] = count_decimals(frame)
    return decimals


def _make_cell(metric: str, point: dict[str, Any], decimals: int, is_best: bool, note: str) -> TableCell:
    described = describe_cell({**NOTHING_PRINTED, **point, "metric": metric, "note": note}, "mean", decimals)
    return TableCell(f"{described['ours']} {described['band']}".rstrip(), is_best, note)


def _find_best(
    metric: str, means: np.ndarray, lacks: np.ndarray, decimals: np.ndarray, compared: Sequence[int]
) -> np.ndarray:
    """Return where the best of several complete means stands along some axes; nowhere where two are shown as equal."""
    rounded = np.where(lacks, math.nan, np.rint(scale_value(metric, means) * 10.0**decimals))
    if not compared or math.prod(means.shape[axis] for axis in compared) < 2:
        return np.zeros(means.shape, dtype=bool)
    scores = np.where(np.isnan(rounded), -math.inf, -rounded if is_error(metric) else rounded)
    is_highest = (scores == scores.max(axis=tuple(compared), keepdims=True)) & np.isfinite(scores)
    several = np.isfinite(scores).sum(axis=tuple(compared), keepdims=True) > 1
    return is_highest & several & (is_highest.sum(axis=tuple(compared), keepdims=True) == 1)
