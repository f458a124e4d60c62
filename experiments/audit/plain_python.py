"""Processes in plain Python: the calls of mechanisms that replays and exact losses follow cannot be seen in C++."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from typing import Any, TypeVar

from algorithms.native import PLAIN, is_plain
from experiments.errors import BadInput, one_line
from experiments.run.executors.executor import Executor
from experiments.run.executors.process_pool import end_processes, get_processes

Result = TypeVar("Result")


def require_plain_python(what: str, instead: str) -> None:
    """Refuse what kernels in C++ cannot do, if this process has them."""
    if not is_plain():
        raise BadInput(f"{what} plain Python: set {PLAIN}=1, {instead}")


def call_or_explain(function: Callable[..., Result], *arguments: Any) -> Result | str:
    """Return what a call returns or, in a line, what it raises: an estimator may be anybody's."""
    try:
        return function(*arguments)
    except Exception as error:
        return one_line(error)


def run_in_plain_python(function: Callable[..., Result], arguments: Iterable[tuple], jobs: int = 1) -> Iterator[Result]:
    """Call a function, which processes without kernels import by its module, with arguments of each call.

    Yields what each call returns, in the order of the arguments. What a call raises is raised here, and ends the
    others; it is BadInput if a process dies.

    Examples
    --------
    >>> list(run_in_plain_python(pow, [(2, 3), (5, 2)]))
    [8, 25]
    """
    calls = list(arguments)
    if not calls:
        return
    n = min(Executor(jobs=jobs).n_jobs, len(calls))
    pool = get_processes(n, f"{__package__}.subjects", is_plain=True)
    try:
        for future in [pool.submit(function, *given) for given in calls]:
            yield future.result()
    except BaseException as error:
        end_processes()  # what nobody waits for would keep this process from ending
        if isinstance(error, BrokenExecutor):
            raise BadInput(
                "a process of the audit was killed, perhaps for want of memory: try executor.jobs=1"
            ) from error
        raise
