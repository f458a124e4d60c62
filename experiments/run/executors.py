"""Where cells are run: in this process, in processes or threads of this machine, or on the workers of a Dask cluster.

Behind all of them stands an executor of `concurrent.futures`, so that the runner hands out chunks of cells and waits
for their results in one way. Tasks beside cells, such as judging and drawing, are run by processes of this machine, or
by the workers of a cluster that runs already.

Ray and Spark are not among them. Their backends for joblib (tried with ray 2.60 and joblibspark 0.6) hand results over
only when all are there, so a kill would lose them; a call of joblib for each chunk costs Ray more than a second.
"""

from __future__ import annotations

import concurrent.futures
import faulthandler
import hashlib
import logging
import math
import os
import pickle
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import joblib
from loky import get_reusable_executor
from threadpoolctl import threadpool_limits

from algorithms.installation import ROOT
from documents import search_path
from experiments.cells.cell import Cell
from experiments.cells.code_version import list_libraries
from experiments.errors import BadInput, one_line, suggest_name
from experiments.processes import ONE_THREAD, SECONDS_IDLE, begin_worker, choose_start, start_server
from experiments.run import evaluate
from experiments.store.record import Record

if TYPE_CHECKING:
    from distributed import Client

_BACKENDS = ("loky", "threading", "dask")
_INSTALLED = ("algorithms", "conf", "datasets", "documents", "experiments", "plots", "results/reported")
_SECONDS_TO_ANSWER = 10  # of a Dask scheduler
_SECONDS_COUNTED = 1  # that a number of Dask workers stays good
_SECONDS_HERE = 0.3  # until tasks go to other processes, which take as long to start

T = TypeVar("T")


@dataclass(frozen=True)
class Executor:
    """Where cells are run; BadInput if an option is invalid, or does not go with the others.

    Threads cannot be ended: after Ctrl-C, this process ends when the chunks that they run have ended. One job of "loky"
    runs in this process, unless there is a time limit.
    """

    backend: str = "loky"  #: processes; or "threading", or "dask", a cluster
    jobs: int = -1  #: cells at once, from the number of cores if negative; a running cluster has one for each worker
    address: str | None = None  #: of a running cluster's scheduler, tcp://10.0.0.1:8786; None starts one here
    time_limit: float | None = None  #: seconds that a cell may take

    def __post_init__(self):
        if self.backend not in _BACKENDS:
            raise BadInput(f"executor.backend must be one of {', '.join(_BACKENDS)}, got {self.backend!r}")
        if isinstance(self.jobs, bool) or not isinstance(self.jobs, int) or self.jobs == 0:
            raise BadInput(f"executor.jobs must be a whole number other than 0 (-1: all cores), got {self.jobs!r}")
        if self.address is not None and self.backend != "dask":
            raise BadInput("executor.address is that of a Dask scheduler: it goes with executor=dask")
        if not isinstance(self.address, str | None):
            raise BadInput(f"executor.address must be like tcp://10.0.0.1:8786, got {self.address!r}")
        limit = self.time_limit
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int | float) or not limit > 0):
            raise BadInput(f"executor.time_limit must be a number of seconds above 0, or null, got {limit!r}")
        if limit is not None and self.backend == "threading":
            raise BadInput("executor.time_limit cannot end a thread; choose executor=local or executor=dask")

    @property
    def n_jobs(self) -> int:
        """How many cells run at once, at least 1."""
        return self.jobs if self.jobs > 0 else max(joblib.cpu_count() + 1 + self.jobs, 1)

    @contextmanager
    def keep_cluster(self) -> Iterator[Executor]:
        """Give this executor with a Dask cluster that lasts as long as the context, if it would start one each time."""
        if self.backend != "dask" or self.address is not None:
            yield self
            return
        with _connect_to_dask(self) as client:
            yield replace(self, address=client.scheduler_info()["address"])

    @contextmanager
    def open_workers(self) -> Iterator[Workers]:
        """Give workers as long as the context lasts; this process neither warns nor uses other cores meanwhile.

        Whatever runs when an exception ends the context is given up.
        """
        open_them = {"loky": _open_processes, "threading": _open_threads, "dask": _open_cluster}[self.backend]
        if self.backend == "loky" and self.n_jobs == 1 and self.time_limit is None:
            open_them = _open_this_process
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            with open_them(self) as workers:
                yield workers


def make_executor(settings: Mapping[str, Any]) -> Executor:
    """Return the executor that a file of the group ``executor`` describes.

    Examples
    --------
    >>> make_executor({"backend": "threading", "job": 2})
    Traceback (most recent call last):
    experiments.errors.BadInput: executor has no key 'job'; did you mean 'jobs'?
    """
    known = [field.name for field in fields(Executor)]
    for name in settings:
        if name not in known:
            raise BadInput(f"executor has no key {name!r}; {suggest_name(str(name), known)}")
    return Executor(**settings)


class ChunkResult(NamedTuple):
    """What a chunk of cells gave: a record of each cell, and the seconds that all took together."""

    records: list[Record]
    seconds: float


@dataclass(frozen=True)
class Workers:
    """Workers that run chunks of cells, whatever they are.

    A future that fails with one of the ``deaths`` was lost with its worker: killed, out of memory, crashed, or ended
    because a cell took too long.
    """

    where: Executor  #: what they were opened for
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
def _open_this_process(where: Executor) -> Iterator[Workers]:
    yield Workers(where, _ThisProcess, _run_chunk, lambda: 1)


class _ThisProcess(concurrent.futures.Executor):
    """Runs what it is given at once."""

    def submit(self, function, /, *arguments):
        future = Future()
        future.set_result(function(*arguments))
        return future


@contextmanager
def _open_processes(where: Executor) -> Iterator[Workers]:
    try:
        yield _get_processes(where)
    except BaseException:
        get_reusable_executor(reuse=True).shutdown(kill_workers=True)  # of any size: to resize it would wait for cells
        raise


def _get_processes(where: Executor) -> Workers:
    """Return processes of this machine, which stay for the next run until they have idled for a while.

    Those of another environment, which names the user's catalogues and data, are not used again.
    """
    start_server(evaluate.__name__)
    environment = os.environ | ONE_THREAD | search_path.describe_environment()
    begin = {"initializer": begin_worker, "initargs": (environment, evaluate.__name__)}
    pool = partial(get_reusable_executor, where.n_jobs, choose_start(), SECONDS_IDLE, **begin)
    return Workers(where, pool, _run_chunk, lambda: where.n_jobs)


@contextmanager
def _open_threads(where: Executor) -> Iterator[Workers]:
    pool = ThreadPoolExecutor(where.n_jobs)
    try:
        yield Workers(where, lambda: pool, _run_chunk, lambda: where.n_jobs)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _open_cluster(where: Executor) -> Iterator[Workers]:
    with _connect_to_dask(where) as client:
        from distributed import KilledWorker

        cluster = _Cluster(client, where)
        run_chunk = partial(_run_chunk_on_cluster, environment=search_path.describe_environment())
        yield Workers(where, lambda: cluster, run_chunk, cluster.count_threads, (KilledWorker,))


class _Cluster(concurrent.futures.Executor):
    """The workers of a Dask cluster, which come and go; BadInput if its scheduler has gone."""

    def __init__(self, client: Client, where: Executor) -> None:
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
def _connect_to_dask(where: Executor) -> Iterator[Client]:
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
        with dask.config.set(quiet), LocalCluster(**workers, silence_logs=50) as cluster, Client(cluster) as client:
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


class TaskRunner:
    """Runs tasks for one command: on the workers of a cluster that runs cells, or else in processes of this machine.

    Their number and order change nothing, as tasks are functions of what they hold.
    """

    def __init__(self, where: Executor) -> None:
        jobs = where.n_jobs if where.backend == "loky" else 1 if where.backend == "threading" else -1
        self._cluster = None if where.address is None else replace(where, time_limit=None)
        self._where = replace(where, backend="loky", jobs=jobs, address=None, time_limit=None)
        self._answers: dict[Hashable, Any] = {}

    def run(self, tasks: Iterable[Callable[[], T]]) -> list[T]:
        """Run tasks that take a while each, and return what each gives, in their order."""
        return self._run_elsewhere(list(tasks))

    def begin(self, task: Callable[[], T]) -> Callable[[], T]:
        """Let a process run a task while this one goes on; return what waits for what it gives."""
        if self._where.n_jobs == 1:
            return partial(_give, task())
        with self._where.open_workers() as workers:
            return partial(_wait_for, _submit(workers.get_pool(), task), task)

    def answer(self, tasks: Iterable[Callable[[], T]]) -> list[T]:
        """Run tasks that do nothing but return an answer, if they were not run before; if they are quick, here."""
        asked = [(_name_task(task), task) for task in tasks]
        new = {name: task for name, task in asked if name not in self._answers}
        waiting, done, started = list(new.values()), [], monotonic()
        while waiting and monotonic() - started < _SECONDS_HERE:
            done.append(waiting.pop(0)())
        self._answers.update(zip(new, done + self._run_elsewhere(waiting), strict=True))
        return [self._answers[name] for name, _ in asked]

    def _run_elsewhere(self, tasks: Sequence[Callable[[], T]]) -> list[T]:
        answers = self._ask_cluster(tasks)
        made = iter(self._run_in_processes([task for task, answer in zip(tasks, answers, strict=True) if not answer]))
        return [answer[0] if answer else next(made) for answer in answers]

    def _ask_cluster(self, tasks: Sequence[Callable[[], T]]) -> Sequence[tuple[T, ...]]:
        """Return what the workers of a cluster answer, and nothing for what they cannot; one that fails is left."""
        try:
            if self._cluster is not None:
                return _run_on_cluster(tasks, self._cluster)
        except BadInput:
            self._cluster = None
        return [()] * len(tasks)

    def _run_in_processes(self, tasks: Sequence[Callable[[], T]]) -> list[T]:
        if self._where.n_jobs == 1 or not tasks:
            return [task() for task in tasks]
        with self._where.open_workers() as workers:
            pool = workers.get_pool()
            futures = [_submit(pool, task) for task in tasks]
            return [_wait_for(future, task) for future, task in zip(futures, tasks, strict=True)]


def _give(answer: T) -> T:
    return answer


def _name_task(task: Callable[[], Any]) -> Hashable:
    """Return what is equal for equal tasks; of one that `pickle` does not take, what is equal to nothing else."""
    try:
        return hashlib.blake2b(pickle.dumps(task)).digest()
    except (pickle.PicklingError, AttributeError, TypeError):
        return object()


def _submit(pool: Any, task: Callable[[], T]) -> Future[T] | None:
    try:
        return pool.submit(task)
    except BrokenExecutor:
        return None


def _wait_for(future: Future[T] | None, task: Callable[[], T]) -> T:
    """Return what a task gave; one whose process died, or that cannot be sent to any, is run here."""
    try:
        return task() if future is None else future.result()
    except (BrokenExecutor, pickle.PicklingError):
        return task()


def _run_on_cluster(tasks: Sequence[Callable[[], T]], where: Executor) -> list[tuple[T, ...]]:
    with where.open_workers() as workers:
        same = _hash_installation(search_path.list_added()), search_path.describe_environment()
        futures = [_submit_to_cluster(workers.get_pool(), task, same) for task in tasks]
        return [_wait_for_answer(future, workers) for future in futures]


def _submit_to_cluster(pool: concurrent.futures.Executor, task: Callable, same: tuple) -> Future[tuple] | None:
    try:
        return pool.submit(_run_task_on_cluster, task, *same)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None


def _wait_for_answer(future: Future[tuple] | None, workers: Workers) -> tuple:
    while future is not None and workers.count():
        if wait([future], timeout=1).done:
            with suppress(*workers.deaths):
                return future.result()
            return ()
    return ()


@cache
def _hash_installation(added: tuple[Path, ...]) -> str:
    """Return a hash of all that an answer follows from, beside its task: code, catalogue, libraries.

    A worker computes it when it is first asked for anything, before what it has imported could differ from its files.
    """
    digest = hashlib.sha256(repr([list_libraries(), version("matplotlib")]).encode())
    for folder in (*map(ROOT.joinpath, _INSTALLED), *added):
        for path in sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".yaml", ".csv")):
            digest.update(path.relative_to(folder).as_posix().encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


# What workers do.


def _run_chunk(chunk: list[Cell], time_limit: float | None) -> ChunkResult:
    started = perf_counter()
    records = [_run_cell(cell, time_limit) for cell in chunk]
    return ChunkResult(records, perf_counter() - started)


def _run_chunk_on_cluster(chunk: list[Cell], time_limit: float | None, environment: Mapping[str, str]) -> ChunkResult:
    """Run a chunk on a cluster, whose machines may have another version of the code, the data or the libraries."""
    _enter_environment(environment)
    local_cells = [replace(cell) for cell in chunk]  # copies without the keys that came along
    if difference := _find_difference(local_cells, chunk):
        return ChunkResult([Record("failed", error=difference)] * len(chunk), 0.0)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        return _run_chunk(local_cells, time_limit)


def _run_task_on_cluster(task: Callable[[], T], installation: str, environment: Mapping[str, str]) -> tuple[T, ...]:
    """Return the answer of a task; nothing if it fails, or if this machine could answer differently."""
    _enter_environment(environment)
    if _hash_installation(search_path.list_added()) != installation:
        return ()
    with suppress(Exception), warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        return (task(),)
    return ()


def _enter_environment(environment: Mapping[str, str]) -> None:
    os.environ.update(environment)  # a worker looks into the folders of whoever asks it
    _hash_installation(search_path.list_added())


def _find_difference(local_cells: list[Cell], chunk: list[Cell]) -> str:
    """Return why a worker of a cluster cannot run cells that another machine made; nothing if it can."""
    try:
        is_same = all(local.key == cell.key for local, cell in zip(local_cells, chunk, strict=True))
    except ValueError as error:  # a file that the worker does not have
        return f"the Dask worker lacks what this machine has: {one_line(error)}"
    return "" if is_same else "the Dask worker has other code, libraries or data than this machine"


def _run_cell(cell: Cell, time_limit: float | None) -> Record:
    try:
        with _limit_time(time_limit):
            return Record("done", evaluate.evaluate_cell(cell))
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
