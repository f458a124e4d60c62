"""Run cells and name what failed: what several commands share."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pandas as pd

from experiments.cells.cell import Cell
from experiments.config import estimators

from experiments.config.papers import paper_names
from experiments.config.paths import ROOT
from experiments.errors import BadInput
from experiments.run.executors import Executor
from experiments.run.runner import Outcome, run_cells
from experiments.store.database import Store
from experiments.store.long_table import long_table
from experiments.store.record import Record
from experiments.config.data import explain_missing

_SHOWN = 20


def run_studies(asked: Mapping[str, list[Cell]], options: argparse.Namespace) -> tuple[pd.DataFrame, int]:
    """Run cells by study, as a paper's are run; return the long table, and 1 where some have no result."""
    folder, where = ROOT / Path(options.results).expanduser(), Executor(jobs=options.jobs)
    outcome, skipped, records = run_and_collect([cell for found in asked.values() for cell in found], folder, where)
    return long_table(asked, records), name_failures(outcome, skipped, options.results)


def parsed(module: str, arguments: list[str], **more: str) -> argparse.Namespace:
    """Read the command line that they share: which papers, where the results are, how many cells at once.

    ``more`` are options of one of them, with their help.
    """
    parser = argparse.ArgumentParser(f"python -m experiments.{module}")
    parser.add_argument("papers", nargs="*", default=paper_names(), help="numbers of papers; all if none is given")
    parser.add_argument("--results", default="results", help="folder of the store, relative to the checkout")
    parser.add_argument("--jobs", type=int, default=-1, help="cells at once; -1 is one for each core")
    for name, meaning in more.items():
        parser.add_argument(f"--{name}", help=meaning)
    return parser.parse_args(arguments)


def exit_with(command: Callable[[list[str]], int]) -> None:
    """Run such a command and exit with its code, 2 for bad input."""
    try:
        sys.exit(command(sys.argv[1:]))
    except KeyboardInterrupt:
        print("everything finished so far is kept; run the same command again to go on", file=sys.stderr)
        sys.exit(130)
    except BadInput as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)


def run_and_collect(cells: list[Cell], folder: Path, executor: Executor) -> tuple[Outcome, dict, dict[str, Record]]:
    """Run cells; returns also those that were skipped, by reason, and all records by key."""
    with Store(folder / "store.sqlite") as store:
        finished = store.done()
        pending = [cell for cell in cells if cell.key not in finished]
        without_rows = explain_missing({cell.dataset for cell in pending})
        without_code = {name: estimators.lacks(name) for name in {cell.algorithm for cell in pending}}
        skipped = defaultdict(list)
        for cell in pending:
            if reason := without_code[cell.algorithm] or without_rows.get(cell.dataset):
                skipped[reason].append(cell)
        impossible = {cell.key for some in skipped.values() for cell in some}
        outcome = run_cells([cell for cell in cells if cell.key not in impossible], store, executor)
        records = store.get({cell.key for cell in cells})
    for line in describe_clipping(cells, records):
        say(line)
    return outcome, skipped, records


def describe_clipping(cells: Iterable[Cell], records: Mapping[str, Record]) -> list[str]:
    """Say for each data set how many training values lay outside the declared bounds, at most in any cell."""
    most: dict[str, dict[str, int]] = defaultdict(dict)
    for cell in cells:
        measured = records[cell.key].measured if cell.key in records else None
        for column, n in (measured.details.get("clipped", {}) if measured else {}).items():
            most[cell.dataset][column] = max(n, most[cell.dataset].get(column, 0))
    return [
        f"{name}: values outside the declared bounds were clipped: {', '.join(f'{c} {n}' for c, n in columns.items())}"
        for name, columns in most.items()
    ]


def name_failures(outcome: Outcome, skipped: dict[str, list[Cell]], results: str) -> int:
    """Name every setting that has no result, with the command that runs only it; returns the exit code."""
    for reason, cells in skipped.items():
        n, names = len({cell.key for cell in cells}), {cell.dataset for cell in cells}
        where = f" on {names.pop()}" if len(names) == 1 else ""
        say(f"skipped {n} cell{'s' if n > 1 else ''}{where}: {reason}")
    failed = defaultdict(list)
    for cell, error in outcome.failures:
        failed[cell.name].append((cell.repeat, error))
    where = "" if results == "results" else f" results={shlex.quote(results)}"
    for name, errors in list(failed.items())[:_SHOWN]:
        repeats = sorted(repeat for repeat, _ in errors)
        again = f"python -m experiments {name} repeats={repeats[-1] + 1}{where}"
        say(f"failed in repeat {', '.join(map(str, repeats))}: {again}: {errors[0][1]}")
    if len(failed) > _SHOWN:
        say(f"... and {len(failed) - _SHOWN} more settings; running the same command again tries only what failed")
    return 1 if failed or skipped else 0


def say(text: str) -> None:
    """Print a line to stderr."""
    print(text, file=sys.stderr)
