"""The tables of a sweep as text: rows and columns from what varies, the best of each column marked.

On the terminal what is missing, and the files to open, stand below them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np
import pandas as pd
from rich.markup import escape

from experiments.metrics.find import is_error
from experiments.questions.exhibits.series import NOTHING_PRINTED
from plots.labels import label_metric, label_name, label_names, label_values, scale_value
from plots.pages.terminal import make_parts, open_console
from plots.series import count_decimals, describe_point
from plots.sweeps.sweep import Sweep, find_numeric_axis
from plots.sweeps.sweep_run import SweepRun
from plots.text_table import format_latex, format_markdown, format_mean

BEST, INCOMPLETE = "*", "!"  #: the signs behind a mean
WIDTH = 80  #: how many characters of a line a table takes, if it can
_GAP = 2
_NEGLIGIBLE = 1e-6  # what is smaller than this part of the largest mean is as good as zero
_MOST_ROWS = 1000  # rows of a table as text: more are for machines, which read ``table.csv``


class SweepCell(NamedTuple):
    """A cell of a table as text: a mean, the half-width of its interval, the sign behind both, and what is missing."""

    ours: str
    band: str
    sign: str
    note: str

    @property
    def text(self) -> str:
        """The mean with its interval."""
        return f"{self.ours} {self.band}".rstrip()

    @property
    def marked(self) -> str:
        """The text with its sign."""
        return self.text + self.sign


class SweepTable(NamedTuple):
    """A table of a sweep: its metric, which is empty where the columns are metrics, and what its cells and signs are.

    ``heads`` are of the names of rows; ``rows`` have these names and the cells.
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

    def count_rest(self) -> list[str]:
        """Return how many rows only the file has; nothing if it is none."""
        return [f"{self.n_left_out} more rows are in table.csv"] if self.n_left_out else []


def arrange_tables(run: SweepRun) -> list[SweepTable]:
    """Return the tables of a sweep: one for each metric, or one whose columns are metrics.

    Of the possible layouts the first is taken that a terminal has room for.
    """
    arranged = [_arrange(run, rows, columns) for rows, columns in _list_layouts(run.sweep)]
    for tables in arranged:
        if max((table.measure_width() for table in tables), default=0) <= WIDTH:
            return tables
    return arranged[0]


def format_as_markdown(run: SweepRun, tables: Sequence[SweepTable]) -> str:
    """Return the tables, and below them what is missing."""
    parts = [f"**{run.sweep.title}**"]
    for table in tables:
        body = []
        for names, cells in table.rows:
            body.append([*names, *(cell.marked.replace(BEST, f"\\{BEST}") for cell in cells)])  # a star is no emphasis
        parts += [table.describe(), format_markdown([*table.heads, *table.columns], body), *table.count_rest()]
    return "\n\n".join([*parts, *run.list_incomplete()]) + "\n"


def format_as_latex(run: SweepRun, tables: Sequence[SweepTable]) -> str:
    """Return the tables, one environment for each; what is missing stands in their captions."""
    parts = []
    for table in tables:
        body = []
        for names, cells in table.rows:
            signs = ["^{*}" if cell.sign == BEST else cell.sign for cell in cells]
            entries = [format_mean(cell.ours, cell.band, sign) for cell, sign in zip(cells, signs, strict=True)]
            body.append([*names, *entries])
        title = f"{run.sweep.title}; {table.describe()}"
        note = "; ".join([*table.count_rest(), *filter(None, [run.describe_shortfall()])])
        parts.append(format_latex(title, [*table.heads, *table.columns], body, note, max(len(table.heads), 1)))
    return "\n".join(parts)


def _list_layouts(sweep: Sweep) -> list[tuple[list[str], str | None]]:
    """Return the axes of rows and of columns of each possible layout, the best first.

    Columns are ε, else data sets or numbers; without any of these they are metrics: None.
    """
    varying = sweep.varying
    alternatives = list(filter(_is_alternative, varying))
    wanted = ["epsilon", "dataset"] if alternatives else ["epsilon"]
    numeric = find_numeric_axis(sweep)
    wanted += [numeric] if numeric and len(alternatives) > 1 else []
    wanted += [name for name in varying if name.startswith("protocol.") and alternatives]
    columns = [name for name in dict.fromkeys(wanted) if name in varying]
    columns += ["algorithm"] if columns and "algorithm" in varying else []
    ordered = sorted(varying, key=lambda name: (_is_alternative(name), name.startswith("params.")))
    layouts: list[tuple[list[str], str | None]] = []
    layouts += [([other for other in ordered if other != name], name) for name in columns if len(varying) > 1]
    return layouts or [(ordered, None)]


def _is_alternative(name: str) -> bool:
    """Return whether the values of an axis are alternatives to choose from; data sets and ε are none."""
    return name == "algorithm" or name.startswith("params.")


def _arrange(run: SweepRun, rows: list[str], columns: str | None) -> list[SweepTable]:
    """Return the tables of a layout; the best is looked for over alternatives in the rows, else over the columns."""
    sweep, of_columns = run.sweep, [columns] if columns else []
    compared = list(filter(_is_alternative, rows)) or list(filter(_is_alternative, of_columns))
    others = label_names(sweep, (name for name in rows if name not in compared))
    group = f"column at each {' and '.join(others)}" if others else "column"
    names = [list(row) for row in product(*(label_values(sweep, name, sweep.axes[name]) for name in rows))]
    settings = sweep.number_settings([*rows, *of_columns]).reshape(len(names), -1)[:_MOST_ROWS]
    cells = {label_metric(sweep, metric): _make_cells(run, metric, settings, compared) for metric in sweep.shown}
    if columns is None:
        heads, body = list(cells), [list(chain.from_iterable(line)) for line in zip(*cells.values(), strict=True)]
        cells = {"": body}
    else:
        heads = _name_columns(sweep, columns)
        group = "row" if compared == of_columns else group
    tables = []
    for title, body in cells.items():
        signs = {cell.sign for line in body for cell in line}
        words = ["one run each" if sweep.repeats == 1 else "mean ± half-width of its 95 % interval"]
        words += [f"{BEST} best of each {group}"] if BEST in signs else []
        words += [f"{INCOMPLETE} incomplete"] if INCOMPLETE in signs else []
        lines = list(zip(names, body, strict=False))  # the first of many
        tables.append(
            SweepTable(title, "; ".join(words), label_names(sweep, rows), heads, lines, len(names) - len(lines))
        )
    return tables


def _name_columns(sweep: Sweep, axis: str) -> list[str]:
    names = label_values(sweep, axis, sweep.axes[axis])
    if axis in ("dataset", "algorithm"):
        return names
    return [name if name == "no noise" else f"{label_name(sweep, axis)} = {name}" for name in names]


def _make_cells(run: SweepRun, metric: str, settings: np.ndarray, compared: list[str]) -> list[list[SweepCell]]:
    """Return the cells of a metric: those of the settings with these numbers, in rows and columns."""
    sweep, numbers = run.sweep, run.select(metric)
    means = numbers["mean"].to_numpy().reshape(sweep.shape)
    decimals = _count_decimals(metric, means)
    complete = np.where(run.n_measured.reshape(sweep.shape) < sweep.repeats, math.nan, means)
    is_best = _find_best(metric, complete, decimals, tuple(list(sweep.axes).index(name) for name in compared))
    points = numbers.assign(**NOTHING_PRINTED, note="", digits=decimals.ravel(), is_best=is_best.ravel())
    cells = []
    for of_row in settings:
        line = []
        for point in points.iloc[of_row].to_dict("records"):
            note = f"{point['n_measured']} of {sweep.repeats} runs" if point["n_measured"] < sweep.repeats else ""
            text = describe_point(point, "mean", point["digits"])
            sign = BEST if point["is_best"] else INCOMPLETE if note else ""
            line.append(SweepCell(text["ours"], text["band"], sign, note))
        cells.append(line)
    return cells


def _count_decimals(metric: str, means: np.ndarray) -> np.ndarray:
    """Return how many decimals are shown of each mean: of errors every data set, the first axis, has its own size."""
    decimals = np.empty(means.shape, dtype=np.int64)
    for of_set, shown in zip(means, decimals, strict=True):
        large = of_set[np.abs(of_set) > _NEGLIGIBLE * np.nanmax(np.abs(of_set), initial=0.0)]
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


def print_sweep(run: SweepRun, tables: Sequence[SweepTable], paths: Sequence[Path], stream: TextIO) -> None:
    """Print the tables of a sweep under what is the same in all, if there are any; what is missing, and its files."""
    console, incomplete = open_console(stream), run.list_incomplete()
    if tables:
        console.print(escape(run.sweep.title), style="bold")
    for table in tables:
        console.print()
        console.print(escape(table.describe()), style="dim")
        rows = table.rows[:_MOST_PRINTED]
        # with room for a sign, so that numbers stand below one another
        cells = [[cell.text + (cell.sign or " ") for cell in line] for _, line in rows]
        columns = [f"{column} " for column in table.columns]
        for part in make_parts(table.heads, columns, list(_blank_repeats(rows)), cells, console.width, _colour_sign):
            console.print(part)
        if n_hidden := len(table.rows) - len(rows) + table.n_left_out:
            console.print(f"... and {n_hidden} more rows: table.md and table.csv beside the picture have them")
    for line in incomplete[:_MOST_LINES]:
        console.print(escape(line), style="bold red", soft_wrap=True)
    if len(incomplete) > _MOST_LINES:
        console.print(f"INCOMPLETE: {len(incomplete) - _MOST_LINES} more settings", style="bold red")
    for path in paths:
        is_below = path.is_relative_to(Path.cwd())
        console.print(f"  {escape(str(path.relative_to(Path.cwd()) if is_below else path))}", soft_wrap=True)


def _blank_repeats(rows: Sequence[tuple[list[str], list]]) -> Iterator[list[str]]:
    """Yield the names of rows, without those that are the same as in the row before."""
    before: list[str] = []
    for names, _ in rows:
        n_same = 0
        while n_same < len(names) - 1 and names[: n_same + 1] == before[: n_same + 1]:
            n_same += 1
        yield [""] * n_same + names[n_same:]
        before = names


def _colour_sign(text: str) -> str:
    return f"[{_STYLES[text[-1]]}]{escape(text)}[/]" if text[-1] in _STYLES else escape(text)
