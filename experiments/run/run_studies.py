"""Run cells for a command: skip what cannot be run here, and name what has no result."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain
from pathlib import Path

import pandas as pd

from documents import search_path
from experiments.cells.cell import Cell
from experiments.config import estimators
from experiments.config.data import explain_missing
from experiments.errors import print_to_stderr
from experiments.run.executors.executor import Executor
from experiments.run.runner import RunOutcome, add_outcomes, run_cells
from experiments.store.database import Store
from experiments.store.long_table import long_table
from experiments.store.record import Record

_SHOWN = 20
_AT_ONCE = 100_000
"""Records of a sweep that are held at once."""

Details = dict[tuple[str, int], dict]
"""What is known of cells beside numbers, by data set and identity: `store.get` shares what is equal."""


def run_studies(
    cells: Mapping[str, list[Cell]], folder: Path, executor: Executor, results: str
) -> tuple[pd.DataFrame, int]:
    """Run cells by study, as a paper's are run; return the long table, and the exit code of `name_failures`."""
    outcome, records = run_and_collect(list(chain.from_iterable(cells.values())), folder, executor)
    return long_table(cells, records), name_failures(outcome, results)


def run_and_collect(
    cells: list[Cell],
    folder: Path,
    executor: Executor,
    stop_on_error: bool = False,
    anew: Collection[str] = (),
) -> tuple[RunOutcome, dict[str, Record]]:
    """Run the cells that can be run here; returns also all records by key."""
    records: dict[str, Record] = {}
    outcome, _ = run_in_batches(
        [cells], folder, executor, lambda *found: records.update(found[-1]), stop_on_error, anew
    )
    return outcome, records


def run_in_batches(
    settings: list[list[Cell]],
    folder: Path,
    executor: Executor,
    take: Callable[[int, list[list[Cell]], Mapping[str, Record]], None],
    stop_on_error: bool = False,
    anew: Collection[str] = (),
) -> tuple[RunOutcome, Details]:
    """Run the cells of settings that can be run here, and hand over some settings at a time.

    ``take`` gets the number of the first of them, their cells, and the records of these by key; those of a million
    cells would take a gigabyte. Returns also what is known of the cells beside numbers.
    """
    details: Details = {}
    with Store(folder / "store.sqlite") as store:
        outcome = run_cells(chain.from_iterable(settings), store, executor, find_obstacles, stop_on_error, anew)
        size = max(_AT_ONCE // max(len(settings[0]), 1), 1)
        for first in range(0, len(settings), size):
            some = settings[first : first + size]
            cells = list(chain.from_iterable(some))
            records = store.get({cell.key for cell in cells})
            take(first, some, records)
            details |= gather_details(cells, records)
    for line in [*describe_clipping(details), *describe_undefined(details)]:
        print_to_stderr(line)
    return outcome, details


def find_obstacles(cells: list[Cell]) -> dict[str, list[Cell]]:
    """Return the cells that cannot be run on this machine, by the reason why: rows or code are not to be had."""
    without_rows = explain_missing({cell.dataset for cell in cells})
    without_code = {name: estimators.explain_obstacle(name) for name in {cell.algorithm for cell in cells}}
    skipped = defaultdict(list)
    for cell in cells:
        if reason := without_code[cell.algorithm] or without_rows.get(cell.dataset):
            skipped[reason].append(cell)
    return skipped


class Rounds:
    """Cells that are run in several rounds, for one command; none after one with a failure, with ``stop_on_error``.

    With ``anew`` each cell is run in the first round that asks for it, whatever the store has of it.
    """

    def __init__(self, folder: Path, executor: Executor, stop_on_error: bool = False, anew: bool = False) -> None:
        self._folder, self._executor, self._stop_on_error = folder, executor, stop_on_error
        self._outcome = RunOutcome()
        self._anew, self._run_anew = anew, set[str]()

    def run(self, cells: list[Cell], reason: str) -> dict[str, Record]:
        """Run the cells of a round, for a reason that is said first; return their records by key.

        A cell has failed that fails now, whatever it gave when less was asked of it.
        """
        if self._stop_on_error and self._outcome.failures:
            with Store(self._folder / "store.sqlite") as store:
                return store.get({cell.key for cell in cells})
        if reason:
            print_to_stderr(reason)
        anew = {cell.key for cell in cells} - self._run_anew if self._anew else set()
        outcome, records = run_and_collect(cells, self._folder, self._executor, self._stop_on_error, anew)
        self._run_anew |= anew
        self._outcome = add_outcomes(self._outcome, outcome)
        return records | {cell.key: Record("failed", error=error) for cell, error in outcome.failures}

    def name_failures(self, results: str) -> int:
        """Name every setting that has no result in any round; see `name_failures`."""
        return name_failures(self._outcome, results)


def gather_details(cells: Iterable[Cell], records: Mapping[str, Record]) -> Details:
    """Return what is known of cells beside numbers, each of it once: most cells share it."""
    found: Details = {}
    for cell in cells:
        record = records.get(cell.key)
        if record and record.measured:
            found[cell.dataset, id(record.measured.details)] = record.measured.details
    return found


def describe_clipping(details: Details) -> list[str]:
    """Say for each data set how many training values lay outside the declared bounds, at most in any cell."""
    most: dict[str, dict[str, int]] = defaultdict(dict)
    for (dataset, _), known in details.items():
        for column, n in known.get("clipped", {}).items():
            most[dataset][column] = max(n, most[dataset].get(column, 0))
    lines = []
    for name, columns in most.items():
        counts = ", ".join(f"{column} {n}" for column, n in columns.items())
        lines.append(f"{name}: values outside the declared bounds were clipped: {counts}")
    return lines


def describe_undefined(details: Details) -> list[str]:
    """Say of each data set why a metric that was asked for is undefined in some cells.

    Examples
    --------
    >>> describe_undefined({("car", 0): {"undefined": {"roc_auc_ovr": "ValueError: one class only"}}})
    ['car: roc_auc_ovr is undefined in some runs: ValueError: one class only']
    """
    first: dict[tuple[str, str], str] = {}
    for (dataset, _), known in details.items():
        for metric, reason in known.get("undefined", {}).items():
            first.setdefault((dataset, metric), reason)
    lines = []
    for (dataset, metric), reason in first.items():
        lines.append(f"{dataset}: {metric} is undefined in some runs: {reason}")
    return lines


def describe_data_faults(details: Details) -> list[str]:
    """Say for each data set why no account of what was trained on it strictly holds, whatever the algorithm does."""
    lines: dict[str, None] = {}
    for (dataset, _), known in details.items():
        for fault in known.get("privacy", {}).get("data_faults", ()):
            lines[f"{dataset}: {fault['why']}"] = None
    return list(lines)


def name_failures(outcome: RunOutcome, results: str) -> int:
    """Name every setting that has no result, with the command that runs one such cell again; returns the exit code.

    The folder of results is named as the command line has it.
    """
    for reason, cells in outcome.skipped.items():
        n, names = len({cell.key for cell in cells}), {cell.dataset for cell in cells}
        where = f" on {names.pop()}" if len(names) == 1 else ""
        print_to_stderr(f"skipped {n} cell{'s' if n > 1 else ''}{where}: {reason}")
    failed = defaultdict(list)
    for cell, error in outcome.failures:
        failed[cell.name].append((cell.repeat, error))
    where = "" if results == "results" else f" results={shlex.quote(results)}"
    for name, errors in list(failed.items())[:_SHOWN]:
        repeats, first_error = sorted(repeat for repeat, _ in errors), errors[0][1]
        print_to_stderr(f"failed in repeat {', '.join(map(str, repeats))}: {first_error}")
        print_to_stderr(f"  {search_path.name_program()} {name} repeat={repeats[0]}{where}")
    if len(failed) > _SHOWN:
        print_to_stderr(
            f"... and {len(failed) - _SHOWN} more settings; running the same command again tries only what failed"
        )
    if outcome.n_left:
        print_to_stderr(f"stopped at the first failure: {outcome.n_left} cells were not run (stop_on_error=true)")
    return 1 if failed or outcome.skipped else 0
