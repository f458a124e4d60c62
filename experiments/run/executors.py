"""Where cells are run: in processes or threads of this machine (joblib), or on the workers of a Dask cluster.

All take chunks of cells and give back their results in the order in which they come. A worker that dies (killed, out
of memory, crashed, or ended for a cell that took too long) is told to the caller as `WorkersDied`; what it had is lost.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from time import perf_counter, sleep

import joblib
from joblib.externals.loky.process_executor import BrokenProcessPool
from threadpoolctl import threadpool_limits

from experiments.cells.cell import Cell
from experiments.errors import BadInput, one_line
from experiments.run import evaluate
from experiments.store.record import Record

Chunk = tuple[int, list[Cell]]
Result = tuple[int, list[Record], float]

_BACKENDS = ("loky", "threading", "dask")
_PATIENCE = 60  # seconds without a single Dask worker until we give up
_SECONDS_TO_ANSWER = 10  # of a Dask scheduler


class WorkersDied(Exception):
    """At least one worker died; chunks that had been handed out and did not come back are lost."""


@dataclass(frozen=True)
class Executor:
    """Where cells are run.

    Parameters
    ----------
    backend : {"loky", "threading", "dask"}
        Processes, threads, or a Dask cluster.
    jobs : int
        How many cells at once; negative counts from the number of cores, -1 being all of them. One job of "loky" runs
        in this process. A cluster that is there already has as many as it has workers.
    address : str or None
        Of the scheduler of a running Dask cluster, ``tcp://10.0.0.1:8786``; None starts one on this machine.
    time_limit : float or None
        Seconds that a cell may take; None is no limit.

    Raises
    ------
    BadInput
        If it cannot be meant.
    """

    backend: str = "loky"
    jobs: int = -1
    address: str | None = None
    time_limit: float | None = None

    def __post_init__(self):
        if self.backend not in _BACKENDS:
            raise BadInput(f"executor.backend must be one of {', '.join(_BACKENDS)}, got {self.backend!r}")
        if isinstance(self.jobs, bool) or not isinstance(self.jobs, int) or self.jobs == 0:
            raise BadInput(f"executor.jobs must be a whole number other than 0 (-1: all cores), got {self.jobs!r}")
        if self.address is not None and self.backend != "dask":
            raise BadInput("executor.address is that of a Dask scheduler: it goes with executor=dask")
        limit = self.time_limit
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int | float) or not limit > 0):
            raise BadInput(f"executor.time_limit must be a number of seconds above 0, or null, got {limit!r}")
        if limit is not None and self.backend == "threading":
            raise BadInput("executor.time_limit cannot end a thread; choose executor=local or executor=dask")

    @property
    def n_jobs(self) -> int:
        """How many run at once, at least 1."""
        return self.jobs if self.jobs > 0 else max(joblib.cpu_count() + 1 + self.jobs, 1)

    @contextmanager
    def opened(self) -> Iterator[_OnThisMachine | _OnDask]:
        """Give workers as long as the context lasts; this process neither warns nor uses other cores meanwhile."""
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            if self.backend != "dask":
                yield _OnThisMachine(self)
                return
            with _client(self) as client:
                yield _OnDask(self, client)


@dataclass(frozen=True)
class _OnThisMachine:
    """Processes or threads, by joblib."""

    where: Executor

    @property
    def n_workers(self) -> int:
        return self.where.n_jobs

    def run(self, chunks: Iterable[Chunk]) -> Iterator[Result]:
        """Yield what chunks give; raises `WorkersDied`."""
        limits = {"inner_max_num_threads": 1} if self.where.backend == "loky" else {}
        # joblib runs a single job in this very process, which a time limit would end: it hears of two then, one idle.
        n_jobs = self.n_workers if self.where.time_limit is None else max(self.n_workers, 2)
        ahead = 2 * self.n_workers if self.n_workers > 1 else 1
        with joblib.parallel_config(self.where.backend, n_jobs=n_jobs, **limits):
            parallel = joblib.Parallel(return_as="generator_unordered", pre_dispatch=ahead, batch_size=1)
            work = joblib.delayed(_in_worker)
            try:
                yield from parallel(work(number, chunk, os.getpid(), self.where.time_limit) for number, chunk in chunks)
            except BrokenProcessPool as error:
                raise WorkersDied from error

    def alone(self) -> _OnThisMachine:
        """Return the same with processes of their own, whatever was asked for."""
        return _OnThisMachine(replace(self.where, backend="loky", jobs=2))


@dataclass(frozen=True)
class _OnDask:
    """The workers of a Dask cluster."""

    where: Executor
    client: object  # distributed.Client

    @property
    def n_workers(self) -> int:
        return max(sum(self.client.nthreads().values()), 1)

    def run(self, chunks: Iterable[Chunk]) -> Iterator[Result]:
        """Yield what chunks give; raises `WorkersDied` when all others have come back."""
        chunks, is_broken = iter(chunks), False
        flying = {self._submitted(chunk) for chunk in islice(chunks, 2 * self.n_workers)}
        while flying:
            for future in self._some_done(flying):
                flying.remove(future)
                if future.status == "error":
                    if not _is_death(future.exception()):
                        raise future.exception()
                    is_broken = True
                    continue
                yield future.result()
                flying |= {self._submitted(chunk) for chunk in islice(chunks, 0 if is_broken else 1)}
        if is_broken:
            raise WorkersDied

    def alone(self) -> _OnDask:
        """Return the same: a chunk that is handed out by itself flies by itself."""
        return self

    def _submitted(self, chunk: Chunk):
        return self.client.submit(_on_cluster, *chunk, self.where.time_limit, pure=False)

    def _some_done(self, flying: set) -> set:
        """Wait until something has come back.

        Raises
        ------
        BadInput
            If the cluster has had no worker for a minute.
        """
        from distributed import wait

        lonely = 0
        while True:
            try:
                return wait(flying, timeout=1, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                lonely = 0 if self.client.nthreads() else lonely + 1
            if lonely > _PATIENCE:
                raise BadInput(
                    f"the Dask cluster has had no worker for {_PATIENCE} s; start some and run the same command again: "
                    "everything finished is kept"
                )


@contextmanager
def _client(where: Executor) -> Iterator:
    """Connect to a Dask cluster, or start one of this machine's cores for as long as the context lasts."""
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise BadInput("executor=dask needs the packages of the extra: pip install 'dp-replica[dask]'") from error
    if where.address is None:
        quiet = {"distributed.scheduler.allowed-failures": 0, "logging.distributed": "critical"}
        workers = {"n_workers": where.n_jobs, "threads_per_worker": 1, "dashboard_address": None}
        with dask.config.set(quiet), LocalCluster(**workers, silence_logs=50) as cluster, Client(cluster) as client:
            yield client
        return
    try:
        client = Client(where.address, timeout=_SECONDS_TO_ANSWER)
    except (OSError, ValueError, TimeoutError) as error:
        raise BadInput(f"executor.address: no Dask scheduler answers at {where.address} ({one_line(error)})") from error
    with closing(client):
        if where.time_limit is not None and set(client.nthreads().values()) > {1}:
            raise BadInput("executor.time_limit needs Dask workers with one thread each: dask worker --nthreads 1")
        yield client


def _is_death(error: BaseException) -> bool:
    from distributed import KilledWorker

    return isinstance(error, KilledWorker)


def _in_worker(number: int, chunk: list[Cell], parent: int, time_limit: float | None) -> Result:
    """Run a chunk in a worker of this machine, which may be the parent itself."""
    if os.getpid() != parent:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the parent decides
        _end_with(parent)
        warnings.simplefilter("ignore")
    return _run(number, chunk, time_limit)


def _on_cluster(number: int, chunk: list[Cell], time_limit: float | None) -> Result:
    """Run a chunk on a cluster, whose machines may have another version of the code, the data or the libraries."""
    own = [replace(cell) for cell in chunk]  # a copy without the key that came along
    if any(here.key != cell.key for here, cell in zip(own, chunk, strict=True)):
        other = Record("failed", error="the Dask worker has other code, libraries or data than this machine")
        return number, [other] * len(chunk), 0.0
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        return _run(number, own, time_limit)


def _run(number: int, chunk: list[Cell], time_limit: float | None) -> Result:
    started = perf_counter()
    return number, [_run_cell(cell, time_limit) for cell in chunk], perf_counter() - started


@cache
def _end_with(parent: int) -> None:
    """End this worker when its parent has gone: one that is killed cannot tell its workers, and they would wait on."""

    def watch():
        while os.getppid() == parent:
            sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _run_cell(cell: Cell, time_limit: float | None) -> Record:
    started = perf_counter()
    try:
        with _ended_after(time_limit):
            measured = evaluate.evaluate_cell(cell)
    except Exception as error:
        return Record("failed", error=one_line(error))
    return Record("done", replace(measured, details=measured.details | {"seconds": perf_counter() - started}))


@contextmanager
def _ended_after(seconds: float | None) -> Iterator[None]:
    """End this process if the context lasts longer: nothing less stops compiled code that does not come back."""
    if seconds is None:
        yield
        return
    faulthandler.dump_traceback_later(seconds, exit=True, file=_nowhere())
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


@cache
def _nowhere():
    return open(os.devnull, "w")
