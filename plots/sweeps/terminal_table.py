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
from plots.sweeps.arrangement import BEST, INCOMPLETE, SweepCell, SweepTable
from plots.sweeps.collector import SweepResults

_MOST_ROWS = 40
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
    rows = table.rows[:_MOST_ROWS]
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
