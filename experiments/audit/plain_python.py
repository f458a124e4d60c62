"""Processes in plain Python: the calls of mechanisms that replays and exact losses follow cannot be seen once compiled.

They stay for whatever is asked next, since to start one and import scikit-learn takes a second and a half.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor
from typing import TypeVar

from loky import get_reusable_executor

from documents import search_path
from experiments.errors import BadInput
from experiments.processes import SECONDS_IDLE, begin_worker

Result = TypeVar("Result")


def run_in_plain_python(function: Callable[..., Result], arguments: Iterable[tuple], jobs: int = 1) -> Iterator[Result]:
    """Call a function in processes without compilation.

    Parameters
    ----------
    function : callable
        Of a module, by which the processes import it.
    arguments : iterable of tuple
        Of each call.
    jobs : int
        Processes.

    Yields
    ------
    object
        What each call returns, in the order of the arguments. What a call raises is raised here, and ends the others.

    Raises
    ------
    BadInput
        If a process dies.

    Examples
    --------
    >>> list(run_in_plain_python(pow, [(2, 3), (5, 2)]))
    [8, 25]
    """
    calls = list(arguments)
    if not calls:
        return
    # The folders of another catalogue ask for other processes, in which its modules can be imported.
    environment = search_path.describe_environment() | {"NUMBA_DISABLE_JIT": "1"}
    begin = {"initializer": _begin_plain_worker, "initargs": (environment,)}
    pool = get_reusable_executor(min(jobs, len(calls)), "spawn", SECONDS_IDLE, **begin)
    try:
        for future in [pool.submit(function, *given) for given in calls]:
            yield future.result()
    except BaseException as error:
        pool.shutdown(kill_workers=True)  # what nobody waits for would keep this process from ending
        if isinstance(error, BrokenExecutor):
            raise BadInput(
                "a process of the audit was killed, perhaps for want of memory: try executor.jobs=1"
            ) from error
        raise


def _begin_plain_worker(environment: Mapping[str, str]) -> None:
    """Prepare this process before it imports Numba."""
    os.environ.update(environment)
    search_path.make_importable()  # what is sent here may be of a user's class
    begin_worker(dict(os.environ), f"{__package__}.subjects")
