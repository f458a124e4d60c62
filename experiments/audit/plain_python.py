"""Processes in plain Python: the calls of mechanisms that replays and exact losses follow cannot be seen in C++.

They stay for whatever is asked next, since to start one and import scikit-learn takes a second and a half.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor
from typing import Any, TypeVar

from loky import get_reusable_executor

from algorithms.native import PLAIN, is_plain
from documents import search_path
from experiments.errors import BadInput, one_line
from experiments.processes import SECONDS_IDLE, begin_worker, choose_start

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
    # The folders of another catalogue ask for other processes, in which its modules can be imported.
    environment = search_path.describe_environment() | {PLAIN: "1"}
    begin = {"initializer": _begin_plain_worker, "initargs": (environment,)}
    pool = get_reusable_executor(min(jobs, len(calls)), choose_start(is_plain=True), SECONDS_IDLE, **begin)
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
    """Prepare this process before it looks for kernels."""
    os.environ.update(environment)
    search_path.make_importable()  # what is sent here may be of a user's class
    begin_worker(dict(os.environ), f"{__package__}.subjects")
