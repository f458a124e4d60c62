"""The summary on the terminal: paper, ours, verdict."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from experiments.config.paper import Paper
from plots.labels import TONES, format_interval, format_number, label_result
from plots.pages.summary import summarise_run
from plots.run_folder import PaperRun
from plots.tables.grid import GridTable, describe_center

_COLOURS = {"good": "green", "equal": "cyan", "mixed": "magenta", "bad": "red", "open": "yellow", "none": "dim"}
"""Of the terminal, by tone of a verdict."""
_MOST_COLUMNS = 4
"""Of a table beside the names of its rows: more would leave no room for these."""


def print_summary(run: PaperRun, paths: Sequence[Path], grids: Sequence[tuple[GridTable, pd.DataFrame]] = ()) -> None:
    """Print to stderr what came out, every printed number and claim with its verdict, some tables, and the files."""
    console = Console(stderr=True)
    if not console.is_terminal:
        console = Console(file=sys.stderr, width=110)
    console.print(escape(summarise_run(run)), style="bold", highlight=False)
    if len(run.numbers):
        console.print(_make_numbers_table(run.paper, run.numbers))
    for part, frame in grids:
        for table in _make_grid_tables(run.paper, part, frame):
            console.print(table)
    if run.claims:
        console.print(_make_claims_table(run.paper, run.claims))
    for note in run.write_notes():
        console.print(escape(note), style="bold red" if note.startswith("INCOMPLETE") else None, highlight=False)
    for path in paths:
        console.print(f"  {escape(str(path))}", highlight=False, soft_wrap=True)


def _make_table(title: str) -> Table:
    return Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)


def _make_numbers_table(paper: Paper, numbers: pd.DataFrame) -> Table:
    table = _make_table("Printed numbers")
    table.add_column("setting")
    for name in ("paper", "our mean (95 % interval)", "n"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for row in numbers.to_dict("records"):
        ours = format_number(row["metric"], row["mean"], row["decimals"])
        interval = format_interval(row["metric"], row["ci_low"], row["ci_high"], row["decimals"])
        table.add_row(
            escape(label_result(paper, row)),
            format_number(row["metric"], row["printed"], row["decimals"]),
            f"{ours} ({interval})" if interval else ours,
            format_count(row),
            _colour_verdict(row["verdict"]),
        )
    return table


def format_count(row: Mapping[str, Any]) -> str:
    """Return how many repeats a number has, and how many there should be if some are missing.

    Examples
    --------
    >>> format_count({"n": 3, "n_expected": 10}), format_count({"n": 10, "n_expected": 10})
    ('3 of 10', '10')
    """
    return str(row["n"]) if row["n"] == row["n_expected"] else f"{row['n']} of {row['n_expected']}"


def _make_grid_tables(paper: Paper, part: GridTable, frame: pd.DataFrame) -> Iterator[Table]:
    """Yield the table of a grid, in parts where it has more columns than a terminal is wide."""
    grid = part.arrange(paper, frame, " / ")
    title = f"{escape(part.title)} [dim]({describe_center(frame)})[/dim]"
    for first in range(0, len(grid.columns), _MOST_COLUMNS):
        columns = slice(first, first + _MOST_COLUMNS)
        table = _make_table(title if first == 0 else f"{escape(part.title)} [dim](continued)[/dim]")
        table.add_column(grid.corner)
        for column in grid.columns[columns]:
            table.add_column(column, justify="right", no_wrap=True)
        for name, line in zip(grid.rows, grid.cells, strict=True):
            table.add_row(name, *(f"{cell['ours']} {cell['band']}".rstrip() for cell in line[columns]))
        yield table


def _make_claims_table(paper: Paper, claims: Sequence[Mapping[str, Any]]) -> Table:
    table = _make_table("Claims")
    table.add_column("claim")
    table.add_column("whose")
    table.add_column("repeats", justify="right", no_wrap=True)
    table.add_column("verdict")
    for claim in claims:
        repeats = "" if claim["repeats"] is None else str(claim["repeats"])
        verdict = f"{_colour_verdict(claim['verdict'])} [dim]({escape(claim['reason'])})[/dim]"
        speaker = paper.speaker_of(paper.claims_by_id[claim["id"]])
        table.add_row(escape(claim["text"]), speaker, repeats, verdict)
    return table


def _colour_verdict(verdict: str) -> str:
    colour = _COLOURS[TONES[verdict]]
    return f"[{colour}]{verdict}[/{colour}]"
