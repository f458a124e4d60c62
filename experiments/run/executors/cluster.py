"""The workers of a Dask cluster, which runs already or is started here.

Ray and Spark are not among the executors. Their backends for joblib (tried with ray 2.60 and joblibspark 0.6) hand
results over only when all are there, so a kill would lose them; a call of joblib for each chunk costs Ray more than a
second.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import logging
import math
import os
import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from threadpoolctl import threadpool_limits

from algorithms.installation import ROOT
from documents import search_path
from experiments.cells.cell import Cell
from experiments.cells.code_version import list_libraries
from experiments.errors import BadInput, one_line
from experiments.processes import choose_start, start_server
from experiments.run import evaluate
from experiments.run.executors.settings import ExecutorSettings
from experiments.run.executors.workers import ChunkResult, Workers, run_chunk
from experiments.store.record import Record

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

_INSTALLED = ("algorithms", "conf", "datasets", "documents", "experiments", "plots", "results/reported")
_SECONDS_TO_ANSWER = 10  # of a Dask scheduler
_SECONDS_COUNTED = 1  # that a number of Dask workers stays good


@contextmanager
def open_cluster(where: ExecutorSettings) -> Iterator[Workers]:
    """Give the workers of a cluster, of which there may be none yet."""
    with connect_to_dask(where) as client:
        from distributed import KilledWorker

        cluster = _Cluster(client, where)
        run = partial(_run_chunk_on_cluster, environment=search_path.describe_environment())
        yield Workers(where, lambda: cluster, run, cluster.count_threads, (KilledWorker,))


class _Cluster(concurrent.futures.Executor):
    """The workers of a Dask cluster, which come and go; BadInput if its scheduler has gone."""

    def __init__(self, client: Client, where: ExecutorSettings) -> None:
        self._client, self._where = client, where
        self._pool = client.get_executor(pure=False)
        self._counted_at, self._n_threads = -math.inf, 0

    def submit(self, function, /, *arguments):
        self._require_scheduler()
        future: Future = Future()
        asked = self._pool.submit(pickle.loads, pickle.dumps(_Call(function, arguments)))
        asked.add_done_callback(partial(self._settle, future))
        return future

    def count_threads(self) -> int:
        """Return how many threads all workers have; the scheduler is asked once a second at most."""
        if monotonic() - self._counted_at > _SECONDS_COUNTED:
            self._require_scheduler()
            try:
                threads = self._client.nthreads().values()
            except OSError as error:
                raise self._say_lost() from error
            if self._where.time_limit is not None and set(threads) - {1}:
                raise BadInput("executor.time_limit needs Dask workers with one thread each: dask worker --nthreads 1")
            self._counted_at, self._n_threads = monotonic(), sum(threads)
        return self._n_threads

    def _settle(self, future: Future, asked: Future) -> None:
        """Pass on what a worker gave; what it could not even begin ends the run, unless it died."""
        from distributed import KilledWorker

        error = CancelledError() if asked.cancelled() else asked.exception()
        if error is None:
            future.set_result(asked.result())
        elif isinstance(error, KilledWorker):
            future.set_exception(error)
        elif isinstance(error, CancelledError):
            future.set_exception(self._say_lost())
        else:
            reason = f"a worker of the Dask cluster cannot run cells ({one_line(error)})"
            future.set_exception(BadInput(f"{reason}; install there what is installed here"))

    def _require_scheduler(self) -> None:
        if self._client.status != "running":
            raise self._say_lost()

    def _say_lost(self) -> BadInput:
        gone = f"executor.address: the Dask scheduler at {self._where.address} has gone"
        return BadInput(f"{gone}; start it again, then the same command: everything finished is kept")


class _Call:
    """Is run where it is unpacked, by a worker: its scheduler needs nothing of this project, and passes on bytes."""

    def __init__(self, function: Callable, arguments: tuple) -> None:
        self._called = function, arguments

    def __reduce__(self) -> tuple[Callable, tuple]:
        return self._called


@contextmanager
def _closing(cluster: LocalCluster) -> Iterator[LocalCluster]:
    """Close a cluster in the end; its workers are told to end, and on a busy machine may take longer than Dask waits.

    Dask kills them then, which the processes of `loky` have no method for (see ``processes.choose_start``). What was
    run is here by now, and they end by themselves.
    """
    try:
        yield cluster
    finally:
        with suppress(AttributeError):
            cluster.close()


@contextmanager
def connect_to_dask(where: ExecutorSettings) -> Iterator[Client]:
    """Connect to a Dask cluster, or start one of this machine's cores for as long as the context lasts."""
    try:
        import dask

        dask.config.set({"distributed.worker.multiprocessing-method": choose_start()})  # it is read on import
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise BadInput("executor=dask needs the packages of the extra: pip install 'dp-replica[dask]'") from error
    start_server("distributed", evaluate.__name__)  # distributed has said what it would have there
    if where.address is None:
        quiet = {"distributed.scheduler.allowed-failures": 0, "logging.distributed": "critical"}
        workers = {"n_workers": where.n_jobs, "threads_per_worker": 1, "dashboard_address": None}
        with (
            dask.config.set(quiet),
            _closing(LocalCluster(**workers, silence_logs=50)) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    for name in ("distributed", "distributed.client"):  # whatever ends the run is said in one line of ours
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(where.address, timeout=_SECONDS_TO_ANSWER)
    except (OSError, ValueError, TypeError) as error:  # TypeError: no certificates
        said = f"executor.address: no Dask scheduler answers at {where.address} ({one_line(error)})"
        if where.address.startswith("tls:"):
            said += "; certificates are named by distributed.comm.tls in Dask's configuration"
        raise BadInput(said) from error
    with closing(client):
        yield client


def _run_chunk_on_cluster(chunk: list[Cell], time_limit: float | None, environment: Mapping[str, str]) -> ChunkResult:
    """Run a chunk on a cluster, whose machines may have another version of the code, the data or the libraries."""
    enter_environment(environment)
    local_cells = [replace(cell) for cell in chunk]  # copies without the keys that came along
    if difference := _find_difference(local_cells, chunk):
        return ChunkResult([Record("failed", error=difference)] * len(chunk), 0.0)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        return run_chunk(local_cells, time_limit)


def _find_difference(local_cells: list[Cell], chunk: list[Cell]) -> str:
    """Return why a worker of a cluster cannot run cells that another machine made; nothing if it can."""
    try:
        is_same = all(local.key == cell.key for local, cell in zip(local_cells, chunk, strict=True))
    except ValueError as error:  # a file that the worker does not have
        return f"the Dask worker lacks what this machine has: {one_line(error)}"
    return "" if is_same else "the Dask worker has other code, libraries or data than this machine"


def enter_environment(environment: Mapping[str, str]) -> None:
    """Let this process, a worker, look into the folders of whoever asks it, and hash now what it has installed."""
    os.environ.update(environment)
    hash_installation(search_path.list_added())


@cache
def hash_installation(added: tuple[Path, ...]) -> str:
    """Return a hash of all that an answer follows from, beside its task: code, catalogue, libraries.

    A worker computes it when it is first asked for anything, before what it has imported could differ from its files.
    """
    digest = hashlib.sha256(repr([list_libraries(), version("matplotlib")]).encode())
    for folder in (*map(ROOT.joinpath, _INSTALLED), *added):
        for path in sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".yaml", ".csv")):
            digest.update(path.relative_to(folder).as_posix().encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
