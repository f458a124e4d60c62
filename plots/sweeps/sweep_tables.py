"""The tables of a sweep as text: rows and columns from what varies, the best of each column marked.

On the terminal what is missing, and the files to open, stand below them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from experiments.metrics.find import is_error
from experiments.questions.exhibits.series import NOTHING_PRINTED
from plots.labels import label_metric, label_values, scale_value
from plots.pages.terminal import make_table, open_console, split_columns
from plots.series import count_decimals, describe_point
from plots.sweeps.sweep import Sweep, SweepResults, find_numeric_axis

BEST, INCOMPLETE = "*", "!"  #: the signs behind a mean
WIDTH = 80  #: how many characters of a line a table takes, if it can
_GAP = 2
_NEGLIGIBLE = 1e-6  # what is smaller than this part of the largest mean is as good as zero
_MOST_ROWS = 1000  # rows of a table as text: more are for machines, which read ``table.csv``


class SweepCell(NamedTuple):
    """A cell of a table as text: a mean, the half-width of its interval, and what is to be said of it."""

    ours: str
    band: str
    is_best: bool
    note: str

    @property
    def text(self) -> str:
        """The mean with its interval."""
        return f"{self.ours} {self.band}".rstrip()

    @property
    def sign(self) -> str:
        """What stands behind it."""
        return BEST if self.is_best else INCOMPLETE if self.note else ""

    @property
    def marked(self) -> str:
        """The text with its sign."""
        return self.text + self.sign


class SweepTable(NamedTuple):
    """A table of a sweep: its metric, which is empty where the columns are metrics, and what its cells and signs are.

    ``heads`` say what the names of a row are; ``rows`` have these names and the cells.
    """

    title: str
    words: str
    heads: list[str]
    columns: list[str]
    rows: list[tuple[list[str], list[SweepCell]]]
    n_left_out: int

    def describe(self) -> str:
        """Return what it shows, what its cells are, and what its signs mean."""
        return ": ".join(filter(None, [self.title, self.words]))

    def measure_width(self) -> int:
        """Return how many characters wide it is."""
        lines = [[*self.heads, *self.columns]]
        lines += [[*names, *(cell.marked for cell in cells)] for names, cells in self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return sum(widths) + _GAP * (len(widths) - 1)


def arrange_tables(results: SweepResults) -> list[SweepTable]:
    """Return the tables of a sweep: one for each metric, or one whose columns are metrics.

    Of the possible layouts the first is taken that a terminal has room for.
    """
    arranged = [layout.arrange(results) for layout in _list_layouts(results.sweep)]
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
            layouts.append(_Layout(sweep, rows, name))
    return layouts or [_Layout(sweep, sorted(varying, key=_order_row), None)]


def _is_alternative(name: str) -> bool:
    """Return whether the values of an axis are alternatives to choose from; data sets and ε are none."""
    return name == "algorithm" or name.startswith("params.")


def _order_row(name: str) -> tuple[bool, bool]:
    return _is_alternative(name), name.startswith("params.")


@dataclass(frozen=True)
class _Layout:
    """Which axes the rows are of, in order, and which the columns; None for metrics."""

    sweep: Sweep
    rows: list[str]
    columns: str | None

    @property
    def compared(self) -> list[str]:
        """The axes over which the best is looked for: alternatives in the rows, else those in the columns."""
        in_rows = list(filter(_is_alternative, self.rows))
        return in_rows or [name for name in [self.columns] if name and _is_alternative(name)]

    def arrange(self, results: SweepResults) -> list[SweepTable]:
        paper, arranged = self.sweep.paper, {}
        for metric in results.metrics:
            arranged[metric] = self._arrange_cells(results, metric)
        if self.columns is None:
            rows = [list(line) for line in zip(*arranged.values(), strict=True)]
            return [self._make_table("", [label_metric(paper, metric) for metric in arranged], rows)]
        names = label_values(paper, self.columns, self.sweep.axes[self.columns])
        if self.columns not in ("dataset", "algorithm"):
            axis = self.sweep.label_axis(self.columns)
            names = [name if name == "no noise" else f"{axis} = {name}" for name in names]
        tables = []
        for metric, cells in arranged.items():
            rows = [cells[start : start + len(names)] for start in range(0, len(cells), len(names))]
            tables.append(self._make_table(label_metric(paper, metric), names, rows))
        return tables

    def _make_table(self, title: str, columns: list[str], cells: list[list[SweepCell]]) -> SweepTable:
        sweep = self.sweep
        values = [label_values(sweep.paper, name, sweep.axes[name]) for name in self.rows]
        names = [list(row) for row in product(*values)]
        rows = list(zip(names[:_MOST_ROWS], cells, strict=True))
        words = ["one run each" if sweep.repeats == 1 else "mean ± half-width of its 95 % interval"]
        shown = [cell for line in cells for cell in line]
        words += [f"{BEST} best of each {self._name_group()}"] if any(cell.is_best for cell in shown) else []
        words += [f"{INCOMPLETE} incomplete"] if any(cell.note for cell in shown) else []
        heads = list(map(sweep.label_axis, self.rows))
        return SweepTable(title, "; ".join(words), heads, columns, rows, len(names) - len(rows))

    def _name_group(self) -> str:
        """Return what the best is marked of."""
        if self.compared == [self.columns]:
            return "row"
        others = [self.sweep.label_axis(name) for name in self.rows if name not in self.compared]
        return f"column at each {' and '.join(others)}" if others else "column"

    def _arrange_cells(self, results: SweepResults, metric: str) -> list[SweepCell]:
        """Return the cells of a metric, row by row."""
        sweep, numbers = self.sweep, results.numbers[metric]
        means = numbers["mean"].to_numpy().reshape(sweep.shape)
        decimals = _count_decimals(metric, means)
        complete = np.where(results.n_measured.reshape(sweep.shape) < sweep.repeats, math.nan, means)
        axes = tuple(list(sweep.axes).index(name) for name in self.compared)
        said = {"metric": metric, "note": "", "digits": decimals.ravel(), "n_measured": results.n_measured}
        is_best = _find_best(metric, complete, decimals, axes).ravel()
        points = numbers.assign(**NOTHING_PRINTED, **said, is_best=is_best)
        order = sweep.number_settings(filter(None, [*self.rows, self.columns])).ravel()
        n_cells = _MOST_ROWS * (len(sweep.axes[self.columns]) if self.columns else 1)
        cells = []
        for point in points.iloc[order[:n_cells]].to_dict("records"):
            note = f"{point['n_measured']} of {sweep.repeats} runs" if point["n_measured"] < sweep.repeats else ""
            text = describe_point(point, "mean", point["digits"])
            cells.append(SweepCell(text["ours"], text["band"], point["is_best"], note))
        return cells


def _count_decimals(metric: str, means: np.ndarray) -> np.ndarray:
    """Return how many decimals are shown of each mean: of errors every data set, the first axis, has its own size."""
    decimals = np.empty(means.shape, dtype=np.int64)
    for own, shown in zip(means, decimals, strict=True):
        large = own[np.abs(own) > _NEGLIGIBLE * np.nanmax(np.abs(own), initial=0.0)]
        shown[...] = count_decimals(pd.DataFrame({"metric": metric, "mean": [math.nan, *large], "decimals": math.nan}))
    return decimals


def _find_best(metric: str, means: np.ndarray, decimals: np.ndarray, compared: tuple[int, ...]) -> np.ndarray:
    """Return where the best of several means stands along some axes; nowhere where two are shown as equal."""
    if not compared or math.prod(means.shape[axis] for axis in compared) < 2:
        return np.zeros(means.shape, dtype=bool)
    rounded = np.rint(scale_value(metric, means) * 10.0**decimals)
    scores = np.where(np.isnan(rounded), -math.inf, -rounded if is_error(metric) else rounded)
    is_highest = (scores == scores.max(axis=compared, keepdims=True)) & np.isfinite(scores)
    several = np.isfinite(scores).sum(axis=compared, keepdims=True) > 1
    return is_highest & several & (is_highest.sum(axis=compared, keepdims=True) == 1)


_MOST_PRINTED = 40
_MOST_LINES = 20  # settings that are named as incomplete
_STYLES = {BEST: "bold green", INCOMPLETE: "bold red"}


def print_sweep(results: SweepResults, tables: Sequence[SweepTable], paths: Sequence[Path]) -> None:
    """Print the tables of a sweep to stdout, what is missing of it, and its files."""
    console = open_console(sys.stdout)
    console.print(escape(results.sweep.describe_fixed()), style="bold")
    for table in tables:
        console.print()
        console.print(escape(table.describe()), style="dim")
        for part in _make_parts(table, console.width):
            console.print(part)
        n_hidden = max(len(table.rows) - _MOST_PRINTED, 0) + table.n_left_out
        if n_hidden:
            console.print(f"... and {n_hidden} more rows: table.md and table.csv beside the picture have them")
    _print_end(results, paths, console)


def print_shortfall(results: SweepResults, paths: Sequence[Path]) -> None:
    """Print to stderr what is missing of a sweep, and its files."""
    _print_end(results, paths, open_console(sys.stderr))


def _print_end(results: SweepResults, paths: Sequence[Path], console: Console) -> None:
    lines = results.list_incomplete()
    for line in lines[:_MOST_LINES]:
        console.print(escape(line), style="bold red", soft_wrap=True)
    if len(lines) > _MOST_LINES:
        console.print(f"INCOMPLETE: {len(lines) - _MOST_LINES} more settings", style="bold red")
    for path in paths:
        is_below = path.is_relative_to(Path.cwd())
        console.print(f"  {escape(str(path.relative_to(Path.cwd()) if is_below else path))}", soft_wrap=True)


def _blank_repeats(rows: Sequence[tuple[list[str], list[SweepCell]]]) -> Iterator[list[str]]:
    """Yield the names of rows, without those that are the same as in the row before."""
    before: list[str] = []
    for names, _ in rows:
        n_same = 0
        while n_same < len(names) - 1 and names[: n_same + 1] == before[: n_same + 1]:
            n_same += 1
        yield [""] * n_same + names[n_same:]
        before = names


def _make_parts(table: SweepTable, width: int) -> Iterator[Table]:
    """Yield a table in parts, where it has more columns than the terminal is wide."""
    rows = table.rows[:_MOST_PRINTED]
    names, lines = list(_blank_repeats(rows)), [cells for _, cells in rows]
    texts = [[cell.text + (cell.sign or " ") for cell in cells] for cells in lines]
    lengths = [max(map(cell_len, column)) for column in zip(table.columns, *texts, strict=True)]
    heads = [max(map(cell_len, column)) for column in zip(table.heads, *names, strict=True)]
    for columns in split_columns(lengths, width - sum(heads) - 2 * max(len(heads) - 1, 0)):
        part = make_table()
        for head in table.heads:
            part.add_column(escape(head), overflow="fold")
        for column in table.columns[columns]:
            part.add_column(f"{escape(column)} ", justify="right", no_wrap=True)
        for own, cells in zip(names, lines, strict=True):
            part.add_row(*map(escape, own), *map(_format_cell, cells[columns]))
        yield part


def _format_cell(cell: SweepCell) -> str:
    """Return a cell in the colour of its sign, with room for one, so that numbers stand below one another."""
    return f"[{_STYLES[cell.sign]}]{escape(cell.marked)}[/]" if cell.sign else f"{escape(cell.text)} "
