"""Tasks beside cells, such as judging and drawing: run by processes of this machine or a cluster that runs already."""

from __future__ import annotations

import concurrent.futures
import hashlib
import pickle
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, Generic, TypeVar

from loky.process_executor import ShutdownExecutorError
from threadpoolctl import threadpool_limits

from documents import search_path
from experiments.errors import BadInput
from experiments.run.executors.cluster import enter_environment, hash_installation
from experiments.run.executors.executor import Executor
from experiments.run.executors.workers import Workers

_SECONDS_HERE = 0.3  # until tasks go to other processes, which take as long to start

T = TypeVar("T")


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

    def begin(self, task: Callable[[], T]) -> BegunTask[T]:
        """Let a process run a task while this one goes on; with one job it is run now."""
        if self._where.n_jobs == 1:
            done: Future[T] = Future()
            try:
                done.set_result(task())
            except Exception as error:  # which whoever waits is told, as of another process
                done.set_exception(error)
            return BegunTask(task, done)
        with self._where.open_workers() as workers:
            return BegunTask(task, _submit(workers.get_pool(), task))

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


@dataclass(frozen=True)
class BegunTask(Generic[T]):
    """A task that a process runs while this one does something else."""

    task: Callable[[], T]
    future: Future[T] | None  #: None if no process took it

    @property
    def is_done(self) -> bool:
        """Whether nobody has to wait for it."""
        return self.future is not None and self.future.done()

    def wait(self) -> T:
        """Wait for what the task gives and return it."""
        return _wait_for(self.future, self.task)


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
    except (BrokenExecutor, CancelledError, ShutdownExecutorError, pickle.PicklingError):
        return task()


def _run_on_cluster(tasks: Sequence[Callable[[], T]], where: Executor) -> list[tuple[T, ...]]:
    with where.open_workers() as workers:
        same = hash_installation(search_path.list_added()), search_path.describe_environment()
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


def _run_task_on_cluster(task: Callable[[], T], installation: str, environment: Mapping[str, str]) -> tuple[T, ...]:
    """Return the answer of a task; nothing if it fails, or if this machine could answer differently."""
    enter_environment(environment)
    if hash_installation(search_path.list_added()) != installation:
        return ()
    with suppress(Exception), warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        return (task(),)
    return ()
