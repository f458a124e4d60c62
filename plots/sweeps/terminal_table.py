"""A sweep on the terminal: its tables, what is missing, and the files to open."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from plots.pages.terminal import make_table, open_console, split_columns
from plots.sweeps.arrangement import BEST, INCOMPLETE, SweepTable, TableCell
from plots.sweeps.collector import SweepResults
from plots.sweeps.sweep import Sweep

_MOST_ROWS = 40
_MOST_LINES = 20
"""Settings that are named as incomplete."""
_STYLES = {BEST: "bold green", INCOMPLETE: "bold red"}


def print_sweep(results: SweepResults, tables: Sequence[SweepTable], paths: Sequence[Path]) -> None:
    """Print the tables of a sweep to stdout, what is missing of it, and its files."""
    console = open_console(sys.stdout)
    console.print(escape(results.sweep.describe_fixed()), style="bold")
    for table in tables:
        console.print()
        console.print(escape(describe_table(results.sweep, table)), style="dim")
        for part in _make_parts(table, console.width):
            console.print(part)
        n_hidden = max(len(table.rows) - _MOST_ROWS, 0) + table.n_left_out
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


def describe_table(sweep: Sweep, table: SweepTable) -> str:
    """Return what a table shows, what its cells are, and what its signs mean."""
    return ": ".join(filter(None, [table.title, describe_cells(sweep, table)]))


def describe_cells(sweep: Sweep, table: SweepTable) -> str:
    """Return what the cells of a table are, and what its signs mean."""
    words = ["one run each" if sweep.repeats == 1 else "mean ± half-width of its 95 % interval"]
    words += [f"{BEST} best of each {table.best_of}"] if table.best_of else []
    is_short = any(cell.note for _, cells in table.rows for cell in cells)
    words += [f"{INCOMPLETE} incomplete"] if is_short else []
    return "; ".join(words)


def blank_repeats(rows: Sequence[tuple[list[str], list[TableCell]]]) -> Iterator[list[str]]:
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
    rows = table.rows[:_MOST_ROWS]
    names = list(blank_repeats(rows))
    texts = [[_pad_sign(cell) for cell in cells] for _, cells in rows]
    lengths = [max(map(cell_len, column)) for column in zip(table.columns, *texts, strict=True)]
    heads = [max(map(cell_len, column)) for column in zip(table.heads, *names, strict=True)]
    for columns in split_columns(lengths, width - sum(heads) - 2 * max(len(heads) - 1, 0)):
        part = make_table()
        for head in table.heads:
            part.add_column(escape(head), overflow="fold")
        for column in table.columns[columns]:
            part.add_column(f"{escape(column)} ", justify="right", no_wrap=True)
        for row_names, (_, cells), line in zip(names, rows, texts, strict=True):
            shown = zip(cells[columns], line[columns], strict=True)
            part.add_row(*map(escape, row_names), *(_colour_cell(cell, text) for cell, text in shown))
        yield part


def _pad_sign(cell: TableCell) -> str:
    """Return a cell with room for a sign, so that numbers stand below one another."""
    return cell.marked if cell.marked != cell.text else f"{cell.text} "


def _colour_cell(cell: TableCell, text: str) -> str:
    sign = text[-1]
    return f"[{_STYLES[sign]}]{escape(text)}[/]" if sign in _STYLES and cell.marked == text else escape(text)
