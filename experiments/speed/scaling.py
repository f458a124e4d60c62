"""``do=speed part=scaling``: what the harness costs as sweeps grow.

Beside a bare joblib loop over the same fits; planning, running and resuming 100,000 cells; grouping a million rows; and
cells per second by executor and number of workers.
"""

from __future__ import annotations

import math
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import joblib
from rich.console import Console
from rich.table import Table as Grid
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import datasets
from experiments.cells.cell import PROTOCOL, Cell, canonical
from experiments.cells.grid import expand
from experiments.config import estimators
from experiments.run.executors import Executor
from experiments.run.runner import run_cells
from experiments.run.splits import split_rows
from experiments.speed.ratios import command_seconds
from experiments.store.database import Store
from experiments.store.parquet import write_parquet

FITS, TURNS = 200, 2
CELLS = 100_000
ROWS = 1_000_000
_MANY = ("-m", "dataset=car,nursery", "algorithm=nothing,majority", "repeats=100")
_EPSILONS = "epsilon=" + ",".join(str(i / 100) for i in range(1, CELLS // 400 + 1))


def overhead() -> float:
    """Return the time of forest fits through the runner, over that of a bare joblib loop over the same fits."""
    (cells,) = expand({"dataset": ["nursery"], "algorithm": ["random_forest"], "epsilon": [math.inf]}, repeats=FITS)
    best = [math.inf, math.inf]
    _through_the_runner(cells[:4])  # workers start, and load the rows
    for _ in range(TURNS):
        for who, way in enumerate((_through_the_runner, _by_hand)):
            started = time.perf_counter()
            way(cells)
            best[who] = min(best[who], time.perf_counter() - started)
    return best[0] / best[1]


def _through_the_runner(cells: list[Cell]) -> None:
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store.sqlite") as store:
        if run_cells(cells, store, Executor(jobs=joblib.cpu_count())).failures:
            raise SystemExit("cells failed: nothing to compare")


def _by_hand(cells: list[Cell]) -> None:
    data = datasets.load("nursery")
    matrix, _ = data.domain.encode(data.frame)
    model = estimators.make("random_forest", cells[0].params, epsilon=math.inf, domain=data.domain, random_state=0)
    work = joblib.delayed(_fit_and_score)
    with joblib.parallel_config("loky", n_jobs=joblib.cpu_count(), inner_max_num_threads=1):
        joblib.Parallel()(work(model, matrix, data.target.to_numpy(), cell.repeat) for cell in cells)


def _fit_and_score(model, matrix, target, repeat: int) -> float:
    train, test = split_rows(datasets.load("nursery"), repeat, PROTOCOL)
    with threadpool_limits(1):
        fitted = clone(model).set_params(random_state=repeat).fit(matrix[train], target[train])
        return fitted.score(matrix[test], target[test])


def sweep() -> list[tuple[str, float, str]]:
    """Plan, run and resume a large sweep on the command line; return what, the number and its aim."""
    with tempfile.TemporaryDirectory() as folder:
        words = [*_MANY, _EPSILONS]
        nothing, _ = command_seconds("dataset=car", "algorithm=nothing", "repeats=1")
        planned, megabytes = _command(folder, *words, "dry_run=true")
        ran, _ = _command(folder, *words)
        resumed, _ = _command(folder, *words)
    return [
        (f"planning {CELLS:,} cells, s, start of Python and imports included", planned, "<= 5"),
        ("the same, largest process, MB", megabytes, "<= 500"),
        (f"running {CELLS:,} empty cells, ms each", 1000 * (ran - nothing) / CELLS, "<= 0.5"),
        ("resuming them when all are done, s", resumed, "<= 5"),
        ("start of Python, imports and one cell, s", nothing, ""),
    ]


def _command(folder: str, *words: str) -> tuple[float, float]:
    """Run a command on a store; return seconds and its peak memory in MB."""
    peak = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, file=sys.stderr)"
    program = f"import sys, atexit; atexit.register(lambda: exec({peak!r}, {{'sys': sys}})); "
    program += "from experiments.command_line import main; main()"
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program, *words, f"results={folder}"], capture_output=True, text=True, check=True
    )
    return time.perf_counter() - started, float(done.stderr.split()[-1])


def grouping() -> tuple[float, float]:
    """Return the seconds that it takes to export a million rows, and to group them by setting."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.sqlite"
        with Store(path) as store:
            _fill(path)
            started = time.perf_counter()
            write_parquet(store, Path(folder) / "cells.parquet")
            exported = time.perf_counter() - started
        query = "SELECT dataset, algorithm, epsilon, avg(accuracy), stddev(accuracy) FROM '{}' GROUP BY ALL"
        started = time.perf_counter()
        groups = duckdb.sql(query.format(Path(folder) / "cells.parquet")).fetchall()
        if len(groups) != ROWS // 100:
            raise SystemExit(f"{len(groups)} groups of {ROWS:,} rows")
        return exported, time.perf_counter() - started


def _fill(path: Path) -> None:
    """Put made-up rows into a store behind its back: running a million cells would take minutes."""
    metrics = canonical({f"precision_{i}": 0.5 for i in range(8)})[:-1]
    rows = (
        (
            *(f"{i:064x}", "car", f"algorithm {i // 100 % 7}", "{}", i // 100 / 100, i % 100, "{}", "done", None),
            *(f'{metrics},"accuracy":{0.5 + i % 1000 / 3000:.6f}}}', 0.01, "{}"),
        )
        for i in range(ROWS)
    )
    with sqlite3.connect(path) as connection:
        connection.executemany(f"INSERT INTO cells VALUES ({','.join('?' * 12)})", rows)


def by_executor() -> list[tuple[str, float]]:
    """Return cells per second, the start of the workers included: forests on Adult, by executor and workers."""
    (cells,) = expand({"dataset": ["adult"], "algorithm": ["random_forest"], "epsilon": [math.inf]}, repeats=60)
    found = []
    for where in (
        Executor(jobs=1),
        Executor(jobs=2),
        Executor("threading", 2),
        Executor("dask", 1),
        Executor("dask", 2),
    ):
        with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store.sqlite") as store:
            started = time.perf_counter()
            run_cells(cells, store, where)
            found.append((f"{where.backend}, {where.jobs}", len(cells) / (time.perf_counter() - started)))
    return found


def print_measurements() -> None:
    """Measure and print everything."""
    console = Console()
    ratio = overhead()
    console.print(f"{FITS} forest fits, through the runner / a bare joblib loop: {ratio:.3f} (aim <= 1.05)")
    grid = Grid("a large sweep", "found", "aim")
    for what, number, aim in sweep():
        grid.add_row(what, f"{number:.3g}", aim)
    console.print(grid)
    exported, grouped = grouping()
    console.print(f"{ROWS:,} rows: exported in {exported:.0f} s, then grouped in {grouped:.2f} s (aim <= 1 s)")
    grid = Grid("executor, workers", "cells a second")
    for what, pace in by_executor():
        grid.add_row(what, f"{pace:.2f}")
    console.print(grid)
