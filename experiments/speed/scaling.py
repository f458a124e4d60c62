"""What the harness costs as sweeps grow: ``do=speed part=scaling``.

Beside a bare joblib loop over the same fits; running 100,000 empty cells; planning and resuming a million, and what a
store takes of them; a paper of a million; cells per second by executor and number of workers.
"""

from __future__ import annotations

import math
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import datasets
from experiments.cells.cell import PROTOCOL, Cell
from experiments.cells.grid import expand_grid
from experiments.config import estimators
from experiments.run.executors import Executor
from experiments.run.runner import run_cells
from experiments.run.splits import split_rows
from experiments.speed.measurement import Measurement, run_on_store, time_call
from experiments.speed.reporting import measure_report
from experiments.store.database import Store
from experiments.store.parquet import write_parquet
from experiments.store.record import Measured, Record

FITS, TURNS = 200, 2
CELLS, MANY_CELLS = 100_000, 1_000_000
_REPEATS = 100


def measure_overhead() -> list[Measurement]:
    """Time forest fits through the runner, and in a bare joblib loop over the same fits."""
    (cells,) = expand_grid(
        {"dataset": ["nursery"], "algorithm": ["random_forest"], "epsilon": [math.inf]}, repeats=FITS
    )
    best = [math.inf, math.inf]
    _run_cells(cells[:4])  # workers start, and load the rows
    for _ in range(TURNS):
        for who, run in enumerate((_run_cells, _run_by_hand)):
            best[who] = min(best[who], time_call(partial(run, cells)))
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
    """Run a large sweep of empty cells on the command line."""
    with tempfile.TemporaryDirectory() as folder:
        start = run_on_store(f"{folder}/start", "dataset=car", "algorithm=nothing", "repeats=1").seconds
        ran = run_on_store(f"{folder}/sweep", *_write_sweep(CELLS)).seconds
    return [
        Measurement(f"running {CELLS:,} empty cells, each", 1000 * (ran - start) / CELLS, 0.5, "ms"),
        Measurement("start of Python, imports and one cell", start, unit="s"),
    ]


def _write_sweep(n_cells: int) -> list[str]:
    """Return the words of a sweep of so many empty cells."""
    epsilons = ",".join(map(str, _list_epsilons(n_cells)))
    return ["-m", "dataset=car", "algorithm=nothing", f"repeats={_REPEATS}", f"epsilon={epsilons}"]


def _list_epsilons(n_cells: int) -> list[float]:
    return [i / 100 for i in range(1, n_cells // _REPEATS + 1)]


def measure_store() -> list[Measurement]:
    """Plan and resume a million cells on the command line, export them, and group them by setting."""
    import duckdb

    words = _write_sweep(MANY_CELLS)
    with tempfile.TemporaryDirectory() as folder:
        planned = run_on_store(folder, *words, "dry_run=true")
        path, exported_to = Path(folder) / "store.sqlite", Path(folder) / "cells.parquet"
        with Store(path) as store:
            _fill_store(store)
            exported = time_call(partial(write_parquet, store, exported_to))
        resumed = run_on_store(folder, *words)
        size = path.stat().st_size / MANY_CELLS
        query = "SELECT dataset, algorithm, epsilon, avg(accuracy), stddev(accuracy) FROM '{}' GROUP BY ALL"
        started = time.perf_counter()
        relation = duckdb.sql(query.format(exported_to))
        assert relation is not None  # as it is of a statement that is no query
        groups = relation.fetchall()
        if len(groups) != MANY_CELLS // _REPEATS:
            raise SystemExit(f"{len(groups)} groups of {MANY_CELLS:,} rows")
        grouped = time.perf_counter() - started
    return [
        Measurement(f"planning {MANY_CELLS:,} cells, start of Python and imports included", planned.seconds, 20, "s"),
        Measurement("the same, largest process", planned.megabytes, 1000, "MB"),
        Measurement("resuming them when all are done, 11 metrics each", resumed.seconds, 30, "s"),
        Measurement("the same, processor time", resumed.processor_seconds, unit="s"),
        Measurement("the same, largest process", resumed.megabytes, unit="MB"),
        Measurement("the store of them, a cell", size, 300, "bytes"),
        Measurement("exporting them to Parquet", exported, 60, "s"),
        Measurement("grouping that by setting", grouped, 1, "s"),
    ]


def _fill_store(store: Store) -> None:
    """Put made-up results of the sweep into a store: running a million cells would take minutes."""
    values: dict[str, list] = {"dataset": ["car"], "algorithm": ["nothing"], "epsilon": _list_epsilons(MANY_CELLS)}
    for cells in expand_grid(values, _REPEATS):
        for cell in cells:
            metrics = {f"precision_{i}": 0.5 for i in range(10)} | {"accuracy": 0.5 + cell.repeat / 300}
            store.put(cell, Record("done", Measured(metrics, 0.01, seconds=0.02)))


def measure_executors() -> list[Measurement]:
    """Count cells per second, the start of the workers included: forests on Adult, by executor and workers."""
    (cells,) = expand_grid({"dataset": ["adult"], "algorithm": ["random_forest"], "epsilon": [math.inf]}, repeats=60)
    ways = [("loky", 1), ("loky", 2), ("threading", 2), ("dask", 1), ("dask", 2)]
    paces = []
    for backend, jobs in ways:
        with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store.sqlite") as store:
            seconds = time_call(partial(run_cells, cells, store, Executor(backend, jobs)))
        paces.append(Measurement(f"{backend}, {jobs}", len(cells) / seconds, unit="cells/s"))
    return paces


TABLES = {
    "overhead": (measure_overhead,),
    "a large sweep": (measure_sweep,),
    "a large store": (measure_store,),
    "a large paper": (measure_report,),
    "executor, workers": (measure_executors,),
}
"""What is printed: a table for each title."""
