"""Run cells side by side, keep every result as it comes, survive what goes wrong.

What is already in the store is not run. Cells travel to the workers in chunks of about a third of a second, of seconds
where there are hundreds of workers, so that sending them costs nothing and the progress stays alive. A cell that raises
is recorded and the others go on. When a worker dies, no more chunks are handed out until all that were are back; those
that are lost are then run one at a time, the cells of a chunk that dies again one by one, so that the guilty cell is
found, tried again in isolation `ATTEMPTS` times, and named.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator
from concurrent.futures import Future
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from itertools import chain, groupby, islice
from queue import Empty, SimpleQueue
from time import monotonic

from documents.search_path import name_family
from experiments.cells.cell import Cell
from experiments.config import estimators
from experiments.errors import BadInput, print_to_stderr
from experiments.metrics.own import find_own
from experiments.processes import can_fork_server
from experiments.run import evaluate
from experiments.run.executors.executor import Executor
from experiments.run.executors.workers import ChunkResult, Workers
from experiments.run.finished import find_finished
from experiments.run.more_metrics import ask_again, describe_changed, find_lacking, has_changed, merge_metrics
from experiments.run.progress import Progress
from experiments.store.database import Store
from experiments.store.record import Record
from experiments.trace import add_span, span

ATTEMPTS = 2
_CHUNK_SECONDS = 0.3
_LARGEST_CHUNK = 200
_CHUNKS_A_SECOND = 200  # that a scheduler of Dask and this process can pass on, with time to spare
_PATIENCE = 60  # seconds without a single worker until we give up
_DEATHS = "killed, out of memory, or a crash: PYTHONFAULTHANDLER=1 says where"


@dataclass(frozen=True)
class RunOutcome:
    """What became of the cells that were to be run."""

    done: int = 0  #: computed now
    reused: int = 0  #: found in the store
    failures: list[tuple[Cell, str | None]] = field(default_factory=list)  #: without a result, with the error in a line
    skipped: dict[str, list[Cell]] = field(default_factory=dict)  #: not tried, by the reason why
    n_left: int = 0  #: others that were not tried because one had failed


def add_outcomes(one: RunOutcome, other: RunOutcome) -> RunOutcome:
    """Return what became of the cells of two runs together."""
    skipped = {reason: list(cells) for reason, cells in one.skipped.items()}
    for reason, cells in other.skipped.items():
        skipped.setdefault(reason, []).extend(cells)
    failures = [*one.failures, *other.failures]
    return RunOutcome(one.done + other.done, one.reused + other.reused, failures, skipped, one.n_left + other.n_left)


FindObstacles = Callable[[list[Cell]], dict[str, list[Cell]]]
"""Tells of cells which of them cannot be run here, by the reason why."""


def run_cells(
    cells: Iterable[Cell],
    store: Store,
    where: Executor | None = None,
    find_obstacles: FindObstacles = lambda pending: {},
    stop_on_error: bool = False,
    anew: Collection[str] = (),
) -> RunOutcome:
    """Run the cells that the store does not have, a process for each core if no executor is given.

    While another run holds the store, this one waits. A cell that stands twice is run once; those with an obstacle are
    skipped. With ``stop_on_error`` no more cells are handed out once one has failed; those that run then are kept. What
    the store has under the keys ``anew`` does not count, and is forgotten first.

    Everything finished has been written, too, when it ends by Ctrl-C, with a StoreError if results cannot be written,
    or with BadInput if a Dask cluster cannot be reached, or has no worker for a minute.
    """
    unique = merge_metrics(cells)
    failures, changed, n_run = [], [], 0
    with store.held():
        with span("look up what is stored"):
            finished = find_finished(unique, store).difference(anew)
            before = {key: measured for key, measured in find_lacking(unique, store).items() if key in finished}
            missing = [cell for key, cell in unique.items() if key not in finished]
            missing += [ask_again(unique[key], measured) for key, measured in before.items()]
            n_reused, skipped = len(unique) - len(missing), find_obstacles(missing)
            impossible = {cell.key for cell in chain.from_iterable(skipped.values())}
            pending = [cell for cell in missing if cell.key not in impossible]
            store.forget({cell.key for cell in pending}.intersection(anew))
        del unique, finished  # of a million cells, 200 MB while the others run
        with span("read tables that most workers need"):
            _load_for_all(pending, where or Executor())
        # Workers come first: the bar has a thread, beside which no process can be forked from this one.
        opened = (where or Executor()).open_workers(any(map(_runs_own_code, pending))) if pending else nullcontext()
        with span("run cells"), opened as workers, Progress(n_reused + len(pending), n_reused) as progress:
            for cell, record in _run_and_store(pending, store, workers, before, stop_on_error):
                n_run += 1
                if record.status != "done":
                    failures.append((cell, record.error))
                elif cell.key in before and record.measured and has_changed(before[cell.key], record.measured):
                    changed.append(cell)
                progress.advance(failed=record.status != "done")
    for line in describe_changed(changed):
        print_to_stderr(line)
    return RunOutcome(n_run - len(failures), n_reused, failures, skipped, len(pending) - n_run)


def _runs_own_code(cell: Cell) -> bool:
    """Return whether a cell runs code of a user, which may end the process that runs it."""
    return not estimators.is_built_in(name_family(cell.algorithm)) or any(map(find_own, cell.metrics))


def _load_for_all(pending: Iterable[Cell], where: Executor) -> None:
    """Read the data sets that most workers will need, before these are forked: a machine then has one copy of each."""
    if where.backend == "threading" or where.address is not None or not can_fork_server():
        return
    algorithms: dict[str, Counter[str]] = defaultdict(Counter)
    for cell in pending:
        algorithms[cell.dataset][cell.algorithm] += 1
    for dataset, asked in sorted(algorithms.items(), key=lambda pair: -pair[1].total())[: evaluate.N_KEPT]:
        if asked.total() > 2 * where.n_jobs > 2:
            with suppress(Exception):  # a table may be anybody's: each of its cells says what is wrong
                evaluate.load_rows(dataset, asked)


def _run_and_store(
    pending: list[Cell], store: Store, workers: Workers | None, before: Container[str], stop_on_error: bool
) -> Iterator[tuple[Cell, Record]]:
    """Yield each result once the store has it; whatever ends the run, those before are written.

    A cell that was done before keeps what it gave if it fails now.
    """
    if workers is None:
        return
    try:
        for cell, record in _run_pending(pending, workers, stop_on_error):
            if record.status == "done" or cell.key not in before:
                store.put(cell, record)
            yield cell, record
    finally:
        store.flush()


def _run_pending(pending: list[Cell], workers: Workers, stop_on_error: bool = False) -> Iterator[tuple[Cell, Record]]:
    """Yield the result of every cell, whatever happens to the workers, or up to the first that failed."""
    n_workers = max(workers.count(), 1)
    queue = CellQueue(pending, n_workers)
    for cell, record in _run_all(queue, workers):
        if stop_on_error and record.status != "done":
            queue.close()
        yield cell, record


def _run_all(queue: CellQueue, workers: Workers) -> Iterator[tuple[Cell, Record]]:
    """Yield the result of every cell that is taken from the queue."""
    while queue.has_cells():
        yield from _run_queue(queue, queue.take_chunks(), workers)


def _run_queue(queue: CellQueue, chunks: Iterator[list[Cell]], workers: Workers) -> Iterator[tuple[Cell, Record]]:
    """Yield the results of chunks until there are none or a worker dies, at last of those that were lost with it."""
    lost_chunks = []
    for chunk, result in _hand_out(chunks, workers):
        if result is None:
            lost_chunks.append(chunk)
            continue
        queue.note_seconds(chunk, result.seconds)
        name = f"{chunk[0].dataset} {chunk[0].algorithm}"
        add_span(name, result.worker, result.started, result.seconds, cells=len(chunk), epsilon=chunk[0].epsilon)
        queue.n_workers = max(workers.count(), 1)
        yield from zip(chunk, result.records, strict=True)
    for chunk in lost_chunks:
        yield from _run_lost(chunk, queue, workers.isolate())


def _hand_out(chunks: Iterator[list[Cell]], workers: Workers) -> Iterator[tuple[list[Cell], ChunkResult | None]]:
    """Yield chunks as they come back, with None for one that was lost with its worker: no other is then handed out."""
    running: dict[Future[ChunkResult], list[Cell]] = {}
    pool, has_died, finished = workers.get_pool(), False, SimpleQueue[Future[ChunkResult]]()
    while True:
        n_workers = workers.count()  # those of a cluster come and go
        n_ahead = 2 * n_workers if n_workers > 1 else 1  # a worker that ends a chunk has the next at hand
        for chunk in islice(chunks, 0 if has_died else max(n_ahead - len(running), 0)):
            future = workers.submit_chunk(pool, chunk)
            running[future] = chunk
            future.add_done_callback(finished.put)  # to look at thousands that run would take all our time
        if not running:
            return
        for future in _wait_for_some(finished, workers):
            chunk, result = running.pop(future), None
            try:
                result = future.result()
            except workers.deaths:
                has_died = True
            yield chunk, result


def _wait_for_some(finished: SimpleQueue[Future], workers: Workers) -> list[Future]:
    """Return the chunks that have come back, at least one; BadInput if there has been no worker for a minute."""
    seconds_without = 0
    while finished.empty():
        with suppress(Empty):
            return [finished.get(timeout=1), *_take_all(finished)]
        seconds_without = 0 if workers.count() else seconds_without + 1
        if seconds_without > _PATIENCE:
            raise BadInput(
                f"the Dask cluster has had no worker for {_PATIENCE} s; start some and run the same command again: "
                "everything finished is kept"
            )
    return list(_take_all(finished))


def _take_all(finished: SimpleQueue[Future]) -> Iterator[Future]:
    with suppress(Empty):
        while True:
            yield finished.get_nowait()


class CellQueue:
    """Cells that wait, taken in chunks whose size follows from how long others have taken so far.

    A chunk holds cells of one data set and algorithm, because their times are alike and a worker then keeps its data;
    algorithms that fit a summary of the rows count as one, repeat by repeat, so that they share the summaries.
    """

    def __init__(self, cells: list[Cell], n_workers: int):
        self.n_workers = n_workers
        self.is_closed = False
        self._seconds: dict[tuple, list[float]] = defaultdict(list)
        ordered = sorted(cells, key=lambda cell: (*_kind_of(cell), cell.repeat))
        # reversed, since cells are taken from the end
        self._waiting = {kind: list(group)[::-1] for kind, group in groupby(ordered, _kind_of)}

    def has_cells(self) -> bool:
        """Return whether any cell waits."""
        return bool(self._waiting)

    def close(self) -> None:
        """Let no more cells be taken."""
        self.is_closed = True
        self._waiting.clear()

    def take_chunks(self) -> Iterator[list[Cell]]:
        """Take all cells, chunk by chunk."""
        while self._waiting:
            kind = next(iter(self._waiting))
            yield self._take_cells(kind, self._choose_size(kind))

    def note_seconds(self, chunk: list[Cell], seconds: float) -> None:
        """Remember how long a chunk took."""
        self._seconds[_kind_of(chunk[0])].append(seconds / len(chunk))

    def _take_cells(self, kind: tuple[str, str], size: int) -> list[Cell]:
        cells = self._waiting[kind]
        chunk = [cells.pop() for _ in range(size)]
        if not cells:
            del self._waiting[kind]
        return chunk

    def _choose_size(self, kind: tuple[str, str]) -> int:
        recent = sorted(self._seconds[kind][-8:])
        if not recent:
            return 1
        typical = recent[(len(recent) - 1) // 2]  # the median: the first cell also loads data
        longer = max(self.n_workers / _CHUNKS_A_SECOND / _CHUNK_SECONDS, 1.0)
        by_time = int(longer * _CHUNK_SECONDS / max(typical, 1e-9))
        fair = -(-len(self._waiting[kind]) // (2 * self.n_workers))  # towards the end, leave some for the others
        return max(1, min(by_time, int(longer * _LARGEST_CHUNK), fair))


def _kind_of(cell: Cell) -> tuple[str, str]:
    fits_summary = hasattr(estimators.import_class(estimators.find_target(cell.algorithm)), "fit_summary")
    return cell.dataset, "" if fits_summary else cell.algorithm


def _run_lost(chunk: list[Cell], queue: CellQueue, isolated: Workers) -> Iterator[tuple[Cell, Record]]:
    """Run a chunk that was lost with a worker, where nothing else runs: as a whole, then cell by cell."""
    records = _run_alone(chunk, isolated) if len(chunk) > 1 and not queue.is_closed else None
    if records is not None:
        yield from zip(chunk, records, strict=True)
        return
    for cell in chunk:
        if queue.is_closed:
            return
        yield cell, _run_suspect(cell, isolated)


def _run_suspect(cell: Cell, isolated: Workers) -> Record:
    """Run a cell alone until its worker survives it, `ATTEMPTS` times at most; once if it took too long."""
    limit = isolated.where.time_limit
    for _ in range(ATTEMPTS):
        started = monotonic()
        if records := _run_alone([cell], isolated):
            return records[0]
        if limit is not None and monotonic() - started >= limit:
            return Record("failed", error=f"it took longer than executor.time_limit={limit:g} (seconds)")
    return Record("failed", error=f"its worker died {ATTEMPTS} times, alone ({_DEATHS})")


def _run_alone(chunk: list[Cell], isolated: Workers) -> list[Record] | None:
    """Return the records of a chunk that nothing runs beside, or None if its worker died."""
    ((_, result),) = _hand_out(iter([chunk]), isolated)
    return result and result.records
