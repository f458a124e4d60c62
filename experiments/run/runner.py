"""Run cells side by side, keep every result as it comes, survive what goes wrong.

What is already in the store is not run. Cells travel to the workers in chunks of about a third of a second, so that
sending them costs nothing and the progress stays alive. A cell that raises is recorded and the others go on. A worker
that dies (killed, out of memory, crashed) takes joblib's whole call with it: the chunks that had been handed out and
not come back are then run one at a time, the cells of a chunk that dies again one by one, so that the guilty cell is
found, tried again in isolation `ATTEMPTS` times, and named.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from time import monotonic

from experiments.cells.cell import Cell
from experiments.config import estimators
from experiments.run.executors import Executor, WorkersDied
from experiments.run.progress import Progress
from experiments.store.database import Store
from experiments.store.record import Record

ATTEMPTS = 2
_CHUNK_SECONDS = 0.3
_LARGEST_CHUNK = 200


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


def run_cells(cells: Iterable[Cell], store: Store, where: Executor | None = None) -> Outcome:
    """Run the cells that the store does not have.

    Parameters
    ----------
    cells : iterable of Cell
        In any order; one that stands twice is run once.
    store : Store
        Where finished cells are, and go. While another run holds it, this one waits.
    where : Executor, optional
        Where they are run; a process for each core if none is given.

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
    unique = {cell.key: cell for cell in cells}
    failures = []
    with store.held():
        finished = store.done()
        pending = [cell for key, cell in unique.items() if key not in finished]
        with Progress(len(unique), len(unique) - len(pending)) as progress:
            for cell, record in _stored(pending, store, where or Executor()):
                if record.status != "done":
                    failures.append((cell, record.error))
                progress.advance(failed=record.status != "done")
    return Outcome(len(pending) - len(failures), len(unique) - len(pending), failures)


def _stored(pending: list[Cell], store: Store, where: Executor) -> Iterator[tuple[Cell, Record]]:
    """Yield each result once the store has it; whatever ends the run, those before are written."""
    if not pending:
        return
    with where.opened() as workers:
        try:
            for cell, record in _results(pending, workers):
                store.put(cell, record)
                yield cell, record
        finally:
            store.flush()


def _results(pending: list[Cell], workers) -> Iterator[tuple[Cell, Record]]:
    """Yield the result of every cell, whatever happens to the workers."""
    chunks = _Chunks(pending, workers.n_workers)
    is_first = True
    while chunks.has_more():
        work = chunks.hand_out_firsts() if is_first and workers.n_workers > 1 else chunks.hand_out()
        is_first = False
        try:
            yield from chunks.collect(workers.run(work))
        except WorkersDied:
            for chunk in chunks.take_lost():
                yield from _isolated(chunk, workers)


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


def _isolated(chunk: list[Cell], workers) -> Iterator[tuple[Cell, Record]]:
    """Run a chunk that was lost with a worker, where nothing else runs."""
    if len(chunk) > 1 and (records := _alone(chunk, workers)):
        yield from zip(chunk, records, strict=True)
        return
    for cell in chunk:
        started = monotonic()
        if records := _alone([cell], workers):
            yield cell, records[0]
            continue
        limit = workers.where.time_limit
        if limit is not None and monotonic() - started >= limit:
            yield cell, Record("failed", error=f"it took longer than executor.time_limit={limit:g} (seconds)")
            continue
        records = next((found for _ in range(ATTEMPTS - 1) if (found := _alone([cell], workers))), None)
        lost = Record("failed", error=f"its worker died {ATTEMPTS} times, alone (killed, out of memory, or a crash)")
        yield cell, records[0] if records else lost


def _alone(chunk: list[Cell], workers) -> list[Record] | None:
    """Return the records of a chunk run by itself, or None if its worker died."""
    try:
        ((_, records, _),) = workers.alone().run([(0, chunk)])
    except WorkersDied:
        return None
    return records
