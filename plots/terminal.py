"""The summary on the terminal: paper, ours, verdict."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from experiments.judge.verdict import NOT_REPRODUCED, REPRODUCED
from plots.labels import interval, label, metric_label, number, setting
from plots.tables.grid_table import corner, grid_cells

_COLOURS = {REPRODUCED: "green", NOT_REPRODUCED: "red"}


def show(
    paper: Mapping,
    numbers: pd.DataFrame,
    claims: list[dict],
    notes: list[str],
    paths: list[Path],
    grids: Sequence[dict] = (),
) -> None:
    """Print every printed number and claim with its verdict to stderr, some tables, and where the files are."""
    console = Console(stderr=True)
    if not console.is_terminal:
        console = Console(file=sys.stderr, width=110)
    if len(numbers):
        console.print(_numbers_table(paper, numbers))
    for grid in grids:
        console.print(_grid_table(paper, grid["item"], grid["frame"]))
    if claims:
        console.print(_claims_table(claims))
    for note in notes:
        console.print(escape(note), style="bold red" if note.startswith("INCOMPLETE") else None, highlight=False)
    for path in paths:
        console.print(f"  {escape(str(path))}", highlight=False, soft_wrap=True)


def _numbers_table(paper: Mapping, numbers: pd.DataFrame) -> Table:
    table = Table(title="Printed numbers", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("setting")
    table.add_column("paper", justify="right", no_wrap=True)
    table.add_column("ours (95 % interval)", justify="right", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for row in numbers.to_dict("records"):
        ours = number(row["metric"], row["mean"], row["decimals"])
        band = interval(row["metric"], row["ci_low"], row["ci_high"], row["decimals"])
        printed = number(row["metric"], row["printed"], row["decimals"])
        table.add_row(
            escape(describe(paper, row)),
            printed,
            f"{ours} ({band})" if band else ours,
            str(row["n"]) if row["n"] == row["n_expected"] else f"{row['n']} of {row['n_expected']}",
            _coloured(row["verdict"]),
        )
    return table


def _grid_table(paper: Mapping, item: Mapping, series: pd.DataFrame) -> Table:
    columns, rows, cells = grid_cells(paper, item, series)
    table = Table(title=escape(item["title"]), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(corner(paper, item, " / "))
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for name, line in zip(rows, cells, strict=True):
        table.add_row(name, *(f"{cell['ours']} {cell['band']}".rstrip() for cell in line))
    return table


def describe(paper: Mapping, row: Mapping) -> str:
    """Return what a printed number is a number of, in words."""
    where = setting(paper, row)
    if row["statistic"] == "exact":
        return f"{where}: {row['metric']}"
    if row["statistic"] == "some":
        return f"{label(paper, row['algorithm'])}: setting not said; ours: the nearest"
    if row["statistic"] == "max":
        return f"{where}: maximum"
    return f"{where}, {label(paper, row['algorithm'])}: {metric_label(paper, row['metric'])}"


def _claims_table(claims: list[dict]) -> Table:
    table = Table(title="Claims", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("claim")
    table.add_column("p (Holm)", justify="right", no_wrap=True)
    table.add_column("verdict")
    for claim in claims:
        p = "" if claim["p_adjusted"] is None else f"{claim['p_adjusted']:.2g}"
        verdict = f"{_coloured(claim['verdict'])} [dim]({escape(claim['reason'])})[/dim]"
        table.add_row(escape(claim["text"]), p, verdict)
    return table


def _coloured(verdict: str) -> str:
    colour = _COLOURS.get(verdict, "yellow")
    return f"[{colour}]{verdict}[/{colour}]"
