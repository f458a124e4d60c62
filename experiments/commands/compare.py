"""``do=compare``: what changed from one store to another, by how much, and whether that is beyond noise."""

from __future__ import annotations

import sys

import pandas as pd
from rich.markup import escape

from experiments.commands.row_output import read_output, read_page, write_rows
from experiments.comparisons.changes import APART, ONLY_IN_A, ONLY_IN_B
from experiments.errors import BadInput, print_to_stderr
from experiments.python_api.comparing import compare
from experiments.python_api.pages import write_page
from experiments.python_api.results import load_results
from experiments.request import SweepRequest

_MOST_SHOWN = 200


def run_command(request: SweepRequest) -> int:
    """Compare two stores; returns the exit code."""
    page, output = read_page(request.config), read_output(request.config["output"])
    folders = [request.config[name] for name in ("before", "after")]
    if None in folders:
        raise BadInput("name two folders of results: compare before after")
    frames = [load_results(str(folder), outdated=request.read_flag("outdated")) for folder in folders]
    if metrics := request.values.get("metrics"):
        frames = [frame[frame["metric"].isin(list(metrics))] for frame in frames]
    changes = compare(*frames)
    if changes.empty:
        print_to_stderr("neither folder has a result that counts: outdated=true takes those of other code, too")
        return 1
    if page:
        write_page(changes, page, a=str(folders[0]), b=str(folders[1]))
        print_to_stderr(f"{len(changes):,} comparisons are in {page}")
    elif output == "table":
        _print_table(changes)
    else:
        write_rows(changes, output)
    return int(changes["verdict"].isin([APART, ONLY_IN_A, ONLY_IN_B]).all())


def _print_table(changes: pd.DataFrame) -> None:
    """Print a line for each setting and metric, those that changed most surely first."""
    from plots.frames.changes import count_changes, describe_change, order_changes  # matplotlib is slow to import
    from plots.pages.terminal import make_table, open_console

    lines = [describe_change(row) for row in order_changes(changes).to_dict("records")]
    table, console = make_table(), open_console(sys.stdout)
    for name in ("setting", "metric", "n", "a", "b", "change"):
        table.add_column(name, overflow="fold", justify="left" if name in ("setting", "metric") else "right")
    table.add_column("")
    for line in lines[:_MOST_SHOWN]:
        table.add_row(*map(escape, [line[name] for name in ("setting", "metric", "n", "a", "b", "change", "verdict")]))
    console.print(escape(count_changes(changes)), style="bold")
    console.print(table)
    if len(lines) > _MOST_SHOWN:
        console.print(f"... and {len(lines) - _MOST_SHOWN:,} more: choose some metrics, or output=csv has all")
