"""What the harness costs as sweeps grow: ``do=speed part=scaling``.

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
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import datasets
from experiments.cells.cell import PROTOCOL, Cell, format_canonical
from experiments.cells.grid import expand_grid
from experiments.config import estimators
from experiments.run.executors import Executor
from experiments.run.runner import run_cells
from experiments.run.splits import split_rows
from experiments.speed.measurement import Measurement, print_table
from experiments.speed.ratios import run_apart
from experiments.store.database import Store
from experiments.store.parquet import write_parquet

FITS, TURNS = 200, 2
CELLS = 100_000
ROWS = 1_000_000
_MANY = ("-m", "dataset=car,nursery", "algorithm=nothing,majority", "repeats=100")
_METRICS = format_canonical({f"precision_{i}": 0.5 for i in range(8)}).removesuffix("}")
"""Of a made-up row, to be followed by its accuracy."""
_EPSILONS = "epsilon=" + ",".join(map(str, np.arange(1, CELLS // 400 + 1) / 100))


def measure_overhead() -> list[Measurement]:
    """Time forest fits through the runner, and in a bare joblib loop over the same fits."""
    (cells,) = expand_grid(
        {"dataset": ["nursery"], "algorithm": ["random_forest"], "epsilon": [math.inf]}, repeats=FITS
    )
    best = [math.inf, math.inf]
    _run_cells(cells[:4])  # workers start, and load the rows
    for _ in range(TURNS):
        for who, run in enumerate((_run_cells, _run_by_hand)):
            started = time.perf_counter()
            run(cells)
            best[who] = min(best[who], time.perf_counter() - started)
    return [Measurement(f"{FITS} forest fits through the runner / in a bare joblib loop", best[0] / best[1], 1.05)]


def _run_cells(cells: list[Cell]) -> None:
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store.sqlite") as store:
        if run_cells(cells, store, Executor(jobs=joblib.cpu_count())).failures:
            raise SystemExit("cells failed: nothing to compare")


def _run_by_hand(cells: list[Cell]) -> None:
    data = datasets.load("nursery")
    matrix, _ = data.domain.encode(data.frame)
    model = estimators.make_estimator(
        "random_forest", cells[0].params, epsilon=math.inf, domain=data.domain, random_state=0
    )
    work = joblib.delayed(_fit_and_score)
    with joblib.parallel_config("loky", n_jobs=joblib.cpu_count(), inner_max_num_threads=1):
        joblib.Parallel()(work(model, matrix, data.target.to_numpy(), cell.repeat) for cell in cells)


def _fit_and_score(model: Any, matrix: np.ndarray, target: np.ndarray, repeat: int) -> float:
    train, test = split_rows(datasets.load("nursery"), repeat, PROTOCOL)
    with threadpool_limits(1):
        fitted = clone(model).set_params(random_state=repeat).fit(matrix[train], target[train])
        return fitted.score(matrix[test], target[test])


def measure_sweep() -> list[Measurement]:
    """Plan, run and resume a large sweep on the command line."""
    with tempfile.TemporaryDirectory() as folder:
        words = [*_MANY, _EPSILONS]
        start, _ = run_apart("dataset=car", "algorithm=nothing", "repeats=1")
        planned, megabytes = _run_on_store(folder, *words, "dry_run=true")
        ran, _ = _run_on_store(folder, *words)
        resumed, _ = _run_on_store(folder, *words)
    return [
        Measurement(f"planning {CELLS:,} cells, start of Python and imports included", planned, 5, "s"),
        Measurement("the same, largest process", megabytes, 500, "MB"),
        Measurement(f"running {CELLS:,} empty cells, each", 1000 * (ran - start) / CELLS, 0.5, "ms"),
        Measurement("resuming them when all are done", resumed, 5, "s"),
        Measurement("start of Python, imports and one cell", start, unit="s"),
    ]


def _run_on_store(folder: str, *words: str) -> tuple[float, float]:
    """Run a command on a store; return seconds and its peak memory in MB."""
    peak = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, file=sys.stderr)"
    program = f"import sys, atexit; atexit.register(lambda: exec({peak!r}, {{'sys': sys}})); "
    program += "from experiments.command_line import main; main()"
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program, *words, f"results={folder}"], capture_output=True, text=True, check=True
    )
    return time.perf_counter() - started, float(done.stderr.split()[-1])


def measure_grouping() -> list[Measurement]:
    """Time the export of a million rows, and grouping them by setting."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.sqlite"
        with Store(path) as store:
            _fill_store(path)
            started = time.perf_counter()
            write_parquet(store, Path(folder) / "cells.parquet")
            exported = time.perf_counter() - started
        query = "SELECT dataset, algorithm, epsilon, avg(accuracy), stddev(accuracy) FROM '{}' GROUP BY ALL"
        started = time.perf_counter()
        relation = duckdb.sql(query.format(Path(folder) / "cells.parquet"))
        assert relation is not None  # as it is of a statement that is no query
        groups = relation.fetchall()
        if len(groups) != ROWS // 100:
            raise SystemExit(f"{len(groups)} groups of {ROWS:,} rows")
        grouped = time.perf_counter() - started
    return [
        Measurement(f"exporting {ROWS:,} rows", exported, unit="s"),
        Measurement("grouping them by setting", grouped, 1, "s"),
    ]


def _fill_store(path: Path) -> None:
    """Put made-up rows into a store behind its back: running a million cells would take minutes."""
    with sqlite3.connect(path) as connection:
        connection.executemany(f"INSERT INTO cells VALUES ({','.join('?' * 12)})", map(_make_row, range(ROWS)))


def _make_row(i: int) -> tuple:
    setting = f"{i:064x}", "car", f"algorithm {i // 100 % 7}", "{}", i // 100 / 100, i % 100, "{}"
    return *setting, "done", None, f'{_METRICS},"accuracy":{0.5 + i % 1000 / 3000:.6f}}}', 0.01, "{}"


def measure_executors() -> list[Measurement]:
    """Count cells per second, the start of the workers included: forests on Adult, by executor and workers."""
    (cells,) = expand_grid({"dataset": ["adult"], "algorithm": ["random_forest"], "epsilon": [math.inf]}, repeats=60)
    ways = [("loky", 1), ("loky", 2), ("threading", 2), ("dask", 1), ("dask", 2)]
    paces = []
    for backend, jobs in ways:
        with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store.sqlite") as store:
            started = time.perf_counter()
            run_cells(cells, store, Executor(backend, jobs))
            pace = len(cells) / (time.perf_counter() - started)
        paces.append(Measurement(f"{backend}, {jobs}", pace, unit="cells/s"))
    return paces


TABLES = {
    "overhead": measure_overhead,
    "a large sweep": measure_sweep,
    "a large store": measure_grouping,
    "executor, workers": measure_executors,
}
"""What is printed: a table for each title."""


def print_measurements() -> None:
    """Measure and print everything, a table as soon as it is complete."""
    for title, measure in TABLES.items():
        print_table(title, measure())
