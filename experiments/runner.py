"""Run cells side by side, keep every result as it comes, survive what goes wrong.

What is already in the store is not run. Cells travel to the workers in chunks of about a third of a second, so that
sending them costs nothing and the progress stays alive. A cell that raises is recorded and the others go on. A worker
that dies (killed, out of memory, crashed) takes joblib's whole call with it: the chunks that had been handed out and
not come back are then run one at a time, the cells of a chunk that dies again one by one, so that the guilty cell is
found, tried again in isolation `ATTEMPTS` times, and named.
"""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from time import perf_counter, sleep

import joblib
from joblib.externals.loky.process_executor import BrokenProcessPool
from threadpoolctl import threadpool_limits

from experiments import estimators, protocol
from experiments.cells import Cell
from experiments.errors import BadInput, one_line
from experiments.progress import Progress
from experiments.store import Record, Store

ATTEMPTS = 2
_CHUNK_SECONDS = 0.3
_LARGEST_CHUNK = 200
_BACKENDS = ("loky", "threading")


@dataclass(frozen=True)
class Outcome:
    """What became of the cells that were asked for.

    Parameters
    ----------
    done : int
        Computed now.
    reused : int
        Found in the store.
    failures : list of (Cell, str)
        Those without a result, each with its error in one line.
    """

    done: int = 0
    reused: int = 0
    failures: list[tuple[Cell, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Executor:
    """Where cells are run.

    Parameters
    ----------
    backend : {"loky", "threading"}
        Processes or threads.
    jobs : int
        How many; negative counts from the number of cores, -1 being all of them. One job runs in this process.
    """

    backend: str = "loky"
    jobs: int = -1

    def __post_init__(self):
        if self.backend not in _BACKENDS:
            raise BadInput(f"executor.backend must be one of {', '.join(_BACKENDS)}, got {self.backend!r}")
        if isinstance(self.jobs, bool) or not isinstance(self.jobs, int) or self.jobs == 0:
            raise BadInput(f"executor.jobs must be a whole number other than 0 (-1: all cores), got {self.jobs!r}")

    @property
    def n_jobs(self) -> int:
        """How many run at once, at least 1."""
        return self.jobs if self.jobs > 0 else max(joblib.cpu_count() + 1 + self.jobs, 1)


def run(cells: Iterable[Cell], store: Store, jobs: int = -1, executor: str = "loky") -> Outcome:
    """Run the cells that the store does not have.

    Parameters
    ----------
    cells : iterable of Cell
        In any order; one that stands twice is run once.
    store : Store
        Where finished cells are, and go.
    jobs : int
        How many at once, see `Executor`.
    executor : str
        ``loky`` (processes) or ``threading``.

    Returns
    -------
    Outcome

    Raises
    ------
    StoreError
        If results cannot be written.
    KeyboardInterrupt
        As raised by Ctrl-C; everything finished has been written by then.
    """
    where = Executor(executor, jobs)
    unique = {cell.key: cell for cell in cells}
    finished = store.done()
    pending = [cell for key, cell in unique.items() if key not in finished]
    failures = []
    with Progress(len(unique), len(unique) - len(pending)) as progress, _quiet_and_single_threaded():
        try:
            for cell, record in _results(pending, where):
                store.put(cell, record)
                if record.status != "done":
                    failures.append((cell, record.error))
                progress.advance(failed=record.status != "done")
        finally:
            store.flush()
    return Outcome(len(pending) - len(failures), len(unique) - len(pending), failures)


def _results(pending: list[Cell], where: Executor) -> Iterator[tuple[Cell, Record]]:
    """Yield the result of every cell, whatever happens to the workers."""
    chunks = _Chunks(pending, where.n_jobs)
    is_first = True
    while chunks.has_more():
        work = chunks.hand_out_firsts() if is_first and where.n_jobs > 1 else chunks.hand_out()
        is_first = False
        try:
            yield from chunks.collect(_in_parallel(work, where))
        except BrokenProcessPool:
            for chunk in chunks.take_lost():
                yield from _isolated(chunk)


class _Chunks:
    """Hands out cells in chunks whose size follows from how long the cells have taken so far.

    A chunk holds cells of one data set and algorithm, because their times are alike and a worker then keeps its data;
    algorithms that fit a summary of the rows count as one, repeat by repeat, so that they share the summaries.
    """

    def __init__(self, cells: list[Cell], n_jobs: int):
        self._n_jobs = n_jobs
        self._groups = [
            (kind, list(group)[::-1])  # reversed: taken from the end
            for kind, group in groupby(sorted(cells, key=lambda cell: (*_kind(cell), cell.repeat)), _kind)
        ]
        self._seconds: dict[tuple, list[float]] = defaultdict(list)
        self._out: dict[int, list[Cell]] = {}
        self._round = 0
        self._lock = threading.Lock()  # joblib asks for the next chunk from a thread of its own

    def has_more(self) -> bool:
        return bool(self._groups)

    def hand_out_firsts(self) -> Iterator[tuple[int, list[Cell]]]:
        """Hand out one cell of each estimator: what it compiles on first use is then ready for all workers."""
        this_round, started = self._round, set()
        for number, group in enumerate(list(self._groups)):
            _, cells = group
            estimator = estimators.target(cells[-1].algorithm)
            if estimator not in started:
                started.add(estimator)
                yield number, self._take(this_round, number, group, 1)

    def hand_out(self) -> Iterator[tuple[int, list[Cell]]]:
        this_round, number = self._round, 0
        while self._groups:
            group = self._groups[0]
            chunk = self._take(this_round, number, group, self._size(*group))
            if not chunk:
                return
            yield number, chunk
            number += 1

    def collect(self, results: Iterable) -> Iterator[tuple[Cell, Record]]:
        for number, records, seconds in results:
            with self._lock:
                chunk = self._out.pop(number)
                self._seconds[_kind(chunk[0])].append(seconds / len(chunk))
            yield from zip(chunk, records, strict=True)

    def take_lost(self) -> list[list[Cell]]:
        """Return the chunks that were handed out and did not come back."""
        with self._lock:
            lost, self._out = list(self._out.values()), {}
            self._round += 1  # joblib's thread may still ask on behalf of the call that broke; it gets nothing
        return lost

    def _take(self, this_round: int, number: int, group: tuple[tuple, list[Cell]], size: int) -> list[Cell]:
        with self._lock:
            if this_round != self._round:
                return []
            _, cells = group
            chunk = [cells.pop() for _ in range(size)]
            if not cells:
                self._groups.remove(group)
            self._out[number] = chunk
            return chunk

    def _size(self, kind: tuple, cells: list[Cell]) -> int:
        recent = sorted(self._seconds[kind][-8:])
        if not recent:
            return 1
        typical = recent[(len(recent) - 1) // 2]  # the median: the first cell also loads data and compiles
        by_time = int(_CHUNK_SECONDS / max(typical, 1e-9))
        fair = -(-len(cells) // (2 * self._n_jobs))  # towards the end, leave some for the others
        return max(1, min(by_time, _LARGEST_CHUNK, fair))


def _kind(cell: Cell) -> tuple[str, str]:
    fits_summary = hasattr(estimators.locate(estimators.target(cell.algorithm)), "fit_summary")
    return cell.dataset, "" if fits_summary else cell.algorithm


def _in_parallel(chunks: Iterable[tuple[int, list[Cell]]], where: Executor) -> Iterator:
    """Run chunks on all workers; yields results in the order in which they come."""
    limits = {"inner_max_num_threads": 1} if where.backend == "loky" else {}
    with joblib.parallel_config(where.backend, n_jobs=where.n_jobs, **limits):
        parallel = joblib.Parallel(return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1)
        work = joblib.delayed(_run_chunk)
        yield from parallel(work(number, chunk, os.getpid()) for number, chunk in chunks)


def _isolated(chunk: list[Cell]) -> Iterator[tuple[Cell, Record]]:
    """Run a chunk that was lost with a worker, in a process where nothing else runs."""
    if len(chunk) > 1 and (records := _alone(chunk)):
        yield from zip(chunk, records, strict=True)
        return
    for cell in chunk:
        records = next((found for _ in range(ATTEMPTS) if (found := _alone([cell]))), None)
        lost = Record("failed", error=f"its worker died {ATTEMPTS} times, alone (killed, out of memory, or a crash)")
        yield cell, records[0] if records else lost


def _alone(chunk: list[Cell]) -> list[Record] | None:
    """Return the records of a chunk run in a process of its own, or None if that died."""
    try:
        # Two jobs, because joblib runs a single one in this very process.
        ((_, records, _),) = _in_parallel([(0, chunk)], Executor("loky", 2))
    except BrokenProcessPool:
        return None
    return records


def _run_chunk(number: int, chunk: list[Cell], parent: int) -> tuple[int, list[Record], float]:
    """Run some cells, in a worker; returns the time taken beside the results."""
    if os.getpid() != parent:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the parent decides
        _end_with(parent)
        warnings.simplefilter("ignore")
    started = perf_counter()
    return number, [_run_cell(cell) for cell in chunk], perf_counter() - started


@cache
def _end_with(parent: int) -> None:
    """End this worker when its parent has gone: one that is killed cannot tell its workers, and they would wait on."""

    def watch():
        while os.getppid() == parent:
            sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _run_cell(cell: Cell) -> Record:
    try:
        return Record("done", protocol.run(cell))
    except Exception as error:
        return Record("failed", error=one_line(error))


@contextmanager
def _quiet_and_single_threaded() -> Iterator[None]:
    """Keep this process, where cells may run too, from warning thousands of times and from using other cores."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        yield
