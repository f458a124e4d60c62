"""What the harness costs as sweeps grow: ``do=speed part=scaling``.

Beside a bare joblib loop over the same fits; running 100,000 empty cells; planning and resuming a million, and what a
store takes of them; the verdicts, tables, figures and page of a paper of a million, once all are done; cells per second
by executor and number of workers.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from itertools import chain, product
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import yaml
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import datasets
from datasets.own_tables.opened_file import ROWS, open_parquet
from experiments.cells.cell import Cell
from experiments.cells.grid import expand_grid
from experiments.cells.study_cells import cells_of_studies
from experiments.config import estimators
from experiments.config.paper import parse_paper
from experiments.config.protocol import DEFAULT_PROTOCOL
from experiments.run.executors.executor import Executor
from experiments.run.executors.workers import ChunkResult, Workers
from experiments.run.runner import run_cells
from experiments.run.splits import split_rows
from experiments.speed.measurement import Measurement, run_on_store, time_call
from experiments.store.database import Store
from experiments.store.exports.parquet import write_parquet
from experiments.store.record import Measured, Record

FITS, TURNS = 200, 2
CELLS, MANY_CELLS = 100_000, 1_000_000
MADE_UP = ((300, 0.25), (1000, 0.25), (3000, 0.25), (50, 0.02), (200, 0.02))
"""Workers, and the seconds that a cell takes: as forests on Adult, and as those of papers 1 to 5 on average."""
SECONDS_MADE_UP = 20
_REPEATS = 100
_NAME = "million"
_PRIVATE, _PUBLIC = ["rdt", "rfdpp_gini", "edprf"], ["random_forest", "extra_trees"]
_CLASSES = {"car": 4, "nursery": 5}
_AXES: dict[str, Any] = {
    "dataset": list(_CLASSES),
    "algorithm": _PRIVATE + _PUBLIC,
    "params": {"max_depth": list(range(2, 12)), "n_estimators": list(range(5, 55, 5))},
    "epsilon": [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0],
}
"""Of a paper of a million cells."""


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
    train, test = split_rows(datasets.load("nursery"), repeat, DEFAULT_PROTOCOL)
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
    epsilons = ",".join(map(str, _list_epsilons(n_cells)))
    return ["-m", "dataset=car", "algorithm=nothing", f"repeats={_REPEATS}", f"epsilon={epsilons}"]


def _list_epsilons(n_cells: int) -> list[float]:
    return [i / 100 for i in range(1, n_cells // _REPEATS + 1)]


def measure_store() -> list[Measurement]:
    """Plan and resume a million cells on the command line, export them, and group them by setting."""
    words = _write_sweep(MANY_CELLS)
    with tempfile.TemporaryDirectory() as folder:
        planned = run_on_store(folder, *words, "dry_run=true")
        path, exported_to = Path(folder) / "store.sqlite", Path(folder) / "cells.parquet"
        _fill_store(path, _list_made_up_cells(), _make_up_metrics)
        with Store(path) as store:
            exported = time_call(partial(write_parquet, store, exported_to))
        resumed = run_on_store(folder, *words)
        size = path.stat().st_size / MANY_CELLS
        query = f"SELECT dataset, algorithm, epsilon, avg(accuracy), stddev(accuracy) FROM {ROWS} GROUP BY ALL"
        started = time.perf_counter()
        with open_parquet(exported_to) as database:
            groups = database.execute(query).fetchall()
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


def _list_made_up_cells(n_cells: int = MANY_CELLS) -> Iterator[Cell]:
    values: dict[str, list] = {"dataset": ["car"], "algorithm": ["nothing"], "epsilon": _list_epsilons(n_cells)}
    return chain.from_iterable(expand_grid(values, _REPEATS))


def _make_up_metrics(cell: Cell) -> Measured:
    metrics = {f"precision_{i}": 0.5 for i in range(10)} | {"accuracy": 0.5 + cell.repeat / 300}
    return Measured(metrics, 0.01, seconds=0.02)


def _fill_store(path: Path, cells: Iterable[Cell], make_up: Callable[[Cell], Measured]) -> None:
    """Put made-up results of cells into a store: running a million would take minutes."""
    with Store(path) as store:
        for cell in cells:
            store.put(cell, Record("done", make_up(cell)))


def measure_report() -> list[Measurement]:
    """Take up a paper of a million made-up cells, with ten tables, ten figures and ten claims, and report on it."""
    contents = _describe_paper()
    with tempfile.TemporaryDirectory() as folder:
        catalogue = Path(folder) / "catalogue"
        (catalogue / "paper").mkdir(parents=True)
        (catalogue / "paper" / f"{_NAME}.yaml").write_text(yaml.safe_dump(contents), encoding="utf-8")
        cells, generator = cells_of_studies(parse_paper(contents))["grid"], np.random.default_rng(0)
        _fill_store(Path(folder) / "store.sqlite", cells, partial(_make_up, generator=generator))
        words = f"--config-dir={catalogue}", f"paper={_NAME}"
        published = run_on_store(folder, *words)
        reported = run_on_store(folder, "do=report", *words)
    return [
        Measurement(f"results of a paper of {len(cells):,} cells, all done", published.seconds, 60, "s"),
        Measurement("the same, processor time", published.processor_seconds, unit="s"),
        Measurement("the same, largest process", published.megabytes, unit="MB"),
        Measurement("the report on these results", reported.seconds, 60, "s"),
    ]


def _describe_paper() -> dict[str, Any]:
    """Return a paper with a table, a figure and a claim for each data set and algorithm."""
    tables, figures, claims = [], [], []
    for dataset, algorithm in product(_AXES["dataset"], _AXES["algorithm"]):
        name, pair = f"{dataset}-{algorithm}", {"dataset": dataset, "algorithm": algorithm}
        shown = {"study": "grid", "metric": "accuracy", "where": pair | {"params.n_estimators": 10}}
        axes = {"rows": "params.max_depth", "columns": "epsilon"}
        tables.append({"id": f"table-{name}", "title": name, "kind": "grid", **axes, **shown})
        figures.append({"id": f"figure-{name}", "title": name, "x": "epsilon", "lines": "params.max_depth", **shown})
        within = ["dataset", "algorithm", "params.max_depth", "params.n_estimators"]
        grows = {"kind": "increases", "along": "epsilon", "within": within, "study": "grid", "metric": "accuracy"}
        claims.append({"id": f"grows-{name}", "text": f"{name} grows", "where": pair, **grows})
    return {
        "number": _NAME,
        "title": "A million cells",
        "repeats": _REPEATS,
        "most_repeats": _REPEATS,
        "studies": {"grid": _AXES},
        "tables": tables,
        "figures": figures,
        "claims": claims,
    }


def _make_up(cell: Cell, generator: np.random.Generator) -> Measured:
    """Return numbers like those of a forest: the accuracy grows with ε and depth, plus noise."""
    trend = 0.05 * math.log10(cell.epsilon) + 0.005 * cell.params["max_depth"]
    metrics = {"accuracy": 0.7 + trend + 0.02 * generator.standard_normal()}
    for place in range(_CLASSES[cell.dataset]):
        metrics |= {f"precision_{place}": 0.5, f"recall_{place}": metrics["accuracy"]}
    return Measured(metrics, 0.01, _make_up_account(cell), 0.02)


def _make_up_account(cell: Cell) -> dict[str, Any]:
    if cell.algorithm in _PUBLIC:
        return {}
    named = dict.fromkeys(("claimed_epsilon", "accounted_epsilon", "noisy_epsilon"), cell.epsilon)
    accounted = {"one record added or removed": cell.epsilon, "one record replaced": 2 * cell.epsilon}
    said = {"keeps_claim": True, "neighbours": "one record added or removed", "accounted": accounted}
    return {"privacy": named | said | {"faults": [], "data_faults": []}}


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


def measure_large_cluster() -> list[Measurement]:
    """Run cells on made-up workers, which give results at the pace of so many, through the real runner and store."""
    rows = []
    for n_workers, seconds in MADE_UP:
        cells = list(_list_made_up_cells(int(SECONDS_MADE_UP * n_workers / seconds)))
        where = MadeUpCluster("dask", n_workers, seconds=seconds)
        with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store.sqlite") as store:
            taken = time_call(partial(run_cells, cells, store, where))
        what = f"results a second of {n_workers:,} workers, {n_workers / seconds:,.0f} at most"
        rows.append(Measurement(what, len(cells) / taken))
    return rows


@dataclass(frozen=True)
class MadeUpCluster(Executor):
    """Workers that do nothing but wait: ``jobs`` of them, each for so many seconds a cell."""

    seconds: float = 0.25

    @contextmanager
    def open_workers(self, has_own_code: bool = False) -> Iterator[Workers]:
        """Give them as long as the context lasts."""
        with _MadeUpPool(self) as pool:
            yield Workers(self, lambda: pool, _make_up_chunk, lambda: self.jobs)


class _MadeUpPool(ThreadPoolExecutor):
    """One thread that completes each chunk when the worker would that is free first."""

    def __init__(self, where: MadeUpCluster) -> None:
        super().__init__(1)
        self._seconds, self._free_at = where.seconds, [0.0] * where.jobs

    def submit(self, function, /, chunk, *_):
        ends_at = max(heappop(self._free_at), time.monotonic()) + self._seconds * len(chunk)
        heappush(self._free_at, ends_at)
        return super().submit(_wait_until, ends_at, partial(function, chunk, self._seconds))


def _wait_until(ends_at: float, make_up: Callable[[], ChunkResult]) -> ChunkResult:
    """Wait for a moment: chunks that take as long as each other end in the order in which they were handed out."""
    time.sleep(max(ends_at - time.monotonic(), 0.0))
    return make_up()


def _make_up_chunk(chunk: list[Cell], seconds: float | None) -> ChunkResult:
    return ChunkResult([Record("done", _make_up_metrics(cell)) for cell in chunk], (seconds or 0.0) * len(chunk))


TABLES = {
    "overhead": (measure_overhead,),
    "a large sweep": (measure_sweep,),
    "a large store": (measure_store,),
    "a large paper": (measure_report,),
    "executor, workers": (measure_executors,),
    "a large cluster": (measure_large_cluster,),
}
"""What is printed: a table for each title."""
