"""Run cells for a command: skip what cannot be run here, and name what has no result."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import pandas as pd

from documents import search_path
from experiments.cells.cell import Cell
from experiments.config import estimators
from experiments.config.data import explain_missing
from experiments.config.request import SweepRequest
from experiments.errors import print_to_stderr
from experiments.run.executors import Executor, make_executor
from experiments.run.runner import Outcome, run_cells
from experiments.store.database import Store
from experiments.store.long_table import long_table
from experiments.store.record import Record

_SHOWN = 20


def run_studies(cells: Mapping[str, list[Cell]], request: SweepRequest) -> tuple[pd.DataFrame, int]:
    """Run cells by study, as a paper's are run; return the long table, and 1 where some have no result."""
    executor, all_cells = make_executor(request.config["executor"]), list(chain.from_iterable(cells.values()))
    outcome, skipped, records = run_and_collect(all_cells, request.results_folder, executor)
    return long_table(cells, records), name_failures(outcome.failures, skipped, str(request.config["results"]))


def run_and_collect(cells: list[Cell], folder: Path, executor: Executor) -> tuple[Outcome, dict, dict[str, Record]]:
    """Run cells; returns also those that were skipped, by reason, and all records by key."""
    with Store(folder / "store.sqlite") as store:
        finished = store.done()
        pending = [cell for cell in cells if cell.key not in finished]
        without_rows = explain_missing({cell.dataset for cell in pending})
        without_code = {name: estimators.explain_obstacle(name) for name in {cell.algorithm for cell in pending}}
        skipped = defaultdict(list)
        for cell in pending:
            if reason := without_code[cell.algorithm] or without_rows.get(cell.dataset):
                skipped[reason].append(cell)
        impossible = {cell.key for cell in chain.from_iterable(skipped.values())}
        outcome = run_cells([cell for cell in cells if cell.key not in impossible], store, executor)
        records = store.get({cell.key for cell in cells})
    for line in describe_clipping(cells, records):
        print_to_stderr(line)
    return outcome, skipped, records


class Rounds:
    """Cells that are run in several rounds, for one command.

    Parameters
    ----------
    folder : Path
        Of the store.
    executor : Executor
        Where they run.
    """

    def __init__(self, folder: Path, executor: Executor) -> None:
        self._folder, self._executor = folder, executor
        self._failures: list[tuple[Cell, str | None]] = []
        self._skipped: dict[str, list[Cell]] = defaultdict(list)

    def run(self, cells: list[Cell], reason: str) -> dict[str, Record]:
        """Run the cells of a round, for a reason that is said first; return their records by key."""
        if reason:
            print_to_stderr(reason)
        outcome, skipped, records = run_and_collect(cells, self._folder, self._executor)
        self._failures += outcome.failures
        for why, of_round in skipped.items():
            self._skipped[why] += of_round
        return records

    def name_failures(self, results: str) -> int:
        """Name every setting that has no result in any round; see `name_failures`."""
        return name_failures(self._failures, self._skipped, results)


def describe_clipping(cells: Iterable[Cell], records: Mapping[str, Record]) -> list[str]:
    """Say for each data set how many training values lay outside the declared bounds, at most in any cell."""
    most: dict[str, dict[str, int]] = defaultdict(dict)
    for cell in cells:
        measured = records[cell.key].measured if cell.key in records else None
        for column, n in (measured.details.get("clipped", {}) if measured else {}).items():
            most[cell.dataset][column] = max(n, most[cell.dataset].get(column, 0))
    lines = []
    for name, columns in most.items():
        counts = ", ".join(f"{column} {n}" for column, n in columns.items())
        lines.append(f"{name}: values outside the declared bounds were clipped: {counts}")
    return lines


def describe_data_faults(cells: Iterable[Cell], records: Mapping[str, Record]) -> list[str]:
    """Say for each data set why no account of what was trained on it strictly holds, whatever the algorithm does."""
    lines: dict[str, None] = {}
    for cell in cells:
        measured = records[cell.key].measured if cell.key in records else None
        for fault in measured.details.get("privacy", {}).get("data_faults", ()) if measured else ():
            lines[f"{cell.dataset}: strictly, no ε holds here: {fault['why']}"] = None
    return list(lines)


def name_failures(failures: Sequence[tuple[Cell, str | None]], skipped: dict[str, list[Cell]], results: str) -> int:
    """Name every setting that has no result, with the command that runs only it; returns the exit code."""
    for reason, cells in skipped.items():
        n, names = len({cell.key for cell in cells}), {cell.dataset for cell in cells}
        where = f" on {names.pop()}" if len(names) == 1 else ""
        print_to_stderr(f"skipped {n} cell{'s' if n > 1 else ''}{where}: {reason}")
    failed = defaultdict(list)
    for cell, error in failures:
        failed[cell.name].append((cell.repeat, error))
    where = "" if results == "results" else f" results={shlex.quote(results)}"
    for name, errors in list(failed.items())[:_SHOWN]:
        repeats = sorted(repeat for repeat, _ in errors)
        again = f"{search_path.name_program()} {name} repeats={repeats[-1] + 1}{where}"
        print_to_stderr(f"failed in repeat {', '.join(map(str, repeats))}: {again}: {errors[0][1]}")
    if len(failed) > _SHOWN:
        print_to_stderr(
            f"... and {len(failed) - _SHOWN} more settings; running the same command again tries only what failed"
        )
    return 1 if failed or skipped else 0
