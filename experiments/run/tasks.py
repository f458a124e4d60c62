"""Where tasks run that judge and draw: here while they are few, else in the processes that run cells."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor, Future
from dataclasses import replace
from time import monotonic
from typing import Any, TypeVar

from experiments.run.executors import Executor

T = TypeVar("T")

_SECONDS_HERE = 0.3
"""Until tasks go to other processes, which take as long to start."""


class TaskRunner:
    """Runs tasks for one command, in processes of this machine whatever runs its cells.

    Their number and order change nothing, as tasks are functions of what they hold.
    """

    def __init__(self, where: Executor) -> None:
        jobs = where.n_jobs if where.backend == "loky" else 1 if where.backend == "threading" else -1
        self._where = replace(where, backend="loky", jobs=jobs, address=None, time_limit=None)
        self._answers: dict[bytes, Any] = {}

    def run(self, tasks: Iterable[Callable[[], T]]) -> list[T]:
        """Run tasks and return what each gives, in their order."""
        waiting, done, started = list(tasks), [], monotonic()
        while waiting and (self._where.n_jobs == 1 or monotonic() - started < _SECONDS_HERE):
            done.append(waiting.pop(0)())
        return done + self._run_elsewhere(waiting) if waiting else done

    def answer(self, tasks: Iterable[Callable[[], T]]) -> list[T]:
        """Run tasks that do nothing but return an answer, and those of them that were not run before."""
        asked = [(hashlib.blake2b(pickle.dumps(task)).digest(), task) for task in tasks]
        new = {name: task for name, task in asked if name not in self._answers}
        self._answers.update(zip(new, self.run(new.values()), strict=True))
        return [self._answers[name] for name, _ in asked]

    def _run_elsewhere(self, tasks: Sequence[Callable[[], T]]) -> list[T]:
        with self._where.open_workers() as workers:
            pool = workers.get_pool()
            futures = [_submit(pool, task) for task in tasks]
            return [_wait_for(future, task) for future, task in zip(futures, tasks, strict=True)]


def _submit(pool: Any, task: Callable[[], T]) -> Future[T] | None:
    try:
        return pool.submit(task)
    except BrokenExecutor:
        return None


def _wait_for(future: Future[T] | None, task: Callable[[], T]) -> T:
    """Return what a task gave; one whose process died is run here."""
    try:
        return task() if future is None else future.result()
    except BrokenExecutor:
        return task()
