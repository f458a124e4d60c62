"""Workers of this machine, this process, others or threads, and what workers do with a chunk of cells anywhere."""

from __future__ import annotations

import concurrent.futures
import faulthandler
import os
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from threading import current_thread
from time import perf_counter, time
from typing import NamedTuple

from experiments.cells.cell import Cell
from experiments.errors import one_line
from experiments.run import evaluate
from experiments.run.executors.process_pool import end_processes, get_processes, start_server_of
from experiments.run.executors.settings import ExecutorSettings
from experiments.run.finished import evaluate_and_note_files
from experiments.store.record import Record


class ChunkResult(NamedTuple):
    """What a chunk of cells gave: a record of each cell, and the seconds that all took together, where and when."""

    records: list[Record]
    seconds: float
    worker: str = ""  #: the process, by its number, and the thread in it
    started: float = 0.0  #: by that machine's clock, in seconds since 1970


@dataclass(frozen=True)
class Workers:
    """Workers that run chunks of cells, whatever they are.

    A future that fails with one of the ``deaths`` was lost with its worker: killed, out of memory, crashed, or ended
    because a cell took too long.
    """

    where: ExecutorSettings  #: what they were opened for
    get_pool: Callable[[], concurrent.futures.Executor]  #: behind which they are, a new one if a death broke the last
    run_chunk: Callable[[list[Cell], float | None], ChunkResult]  #: what a worker runs, with the time limit
    count: Callable[[], int]  #: how many chunks they can run at once; 0 while a cluster has no workers
    deaths: tuple[type[BaseException], ...] = (BrokenExecutor,)

    def submit_chunk(self, pool: concurrent.futures.Executor, chunk: list[Cell]) -> Future[ChunkResult]:
        """Hand out a chunk; that of a pool which is broken already is lost like any that a worker died with."""
        try:
            return pool.submit(self.run_chunk, chunk, self.where.time_limit)
        except BrokenExecutor as error:
            future: Future[ChunkResult] = Future()
            future.set_exception(error)
            return future

    def isolate(self) -> Workers:
        """Return workers of which one runs a chunk while the others idle, so that no other chunk is lost with it."""
        return self if self.where.backend == "dask" else _get_processes(replace(self.where, jobs=1))


@contextmanager
def open_this_process(where: ExecutorSettings) -> Iterator[Workers]:
    """Give this process, which runs a chunk when it is handed out."""
    yield Workers(where, _ThisProcess, run_chunk, lambda: 1)


class _ThisProcess(concurrent.futures.Executor):
    """Runs what it is given at once."""

    def submit(self, function, /, *arguments):
        future = Future()
        future.set_result(function(*arguments))
        return future


@contextmanager
def open_processes(where: ExecutorSettings) -> Iterator[Workers]:
    """Give processes of this machine; they end with their cells if an exception ends the context."""
    try:
        yield _get_processes(where)
    except BaseException:
        end_processes()
        raise


def _get_processes(where: ExecutorSettings) -> Workers:
    """Return processes of this machine."""
    start_server_of(evaluate.__name__)
    return Workers(where, lambda: get_processes(where.n_jobs, evaluate.__name__), run_chunk, lambda: where.n_jobs)


@contextmanager
def open_threads(where: ExecutorSettings) -> Iterator[Workers]:
    """Give threads of this process."""
    pool = ThreadPoolExecutor(where.n_jobs)
    try:
        yield Workers(where, lambda: pool, run_chunk, lambda: where.n_jobs)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def run_chunk(chunk: list[Cell], time_limit: float | None) -> ChunkResult:
    """Run cells one after the other; of one that fails, the record says why."""
    started, clock = perf_counter(), time()
    records = [_run_cell(cell, time_limit) for cell in chunk]
    worker = f"process {os.getpid()}, {current_thread().name}"
    return ChunkResult(records, perf_counter() - started, worker, clock)


def _run_cell(cell: Cell, time_limit: float | None) -> Record:
    try:
        with _limit_time(time_limit):
            return Record("done", evaluate_and_note_files(cell))
    except (Exception, SystemExit) as error:  # an estimator may be anybody's
        return Record("failed", error=one_line(error))


@contextmanager
def _limit_time(seconds: float | None) -> Iterator[None]:
    """End this process if the context lasts longer: nothing less stops compiled code that does not come back."""
    if seconds is None:
        yield
        return
    faulthandler.dump_traceback_later(seconds, exit=True, file=_open_null_device())
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


@cache
def _open_null_device():
    return open(os.devnull, "w")
