"""Work that threads share: compiled code and most of numpy let others run meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from threading import Lock, local

from joblib import cpu_count, effective_n_jobs

_work = local()
"""Of each thread ``errors``: what has ended the work that it shares with others, none as long as that goes on."""


class OtherFailedError(Exception):
    """Ends what a thread does for a result that nobody waits for any more."""


def end_with_the_others() -> None:
    """Raise an `OtherFailedError` if work that this thread shares has failed; kernels call it as they run."""
    if getattr(_work, "errors", None):
        raise OtherFailedError


def count_threads(n_jobs: int | None, n_tasks: int) -> int:
    """Return how many threads share some tasks: ``n_jobs``, as joblib understands it, or one for each task or core.

    Examples
    --------
    >>> count_threads(10**6, 1), count_threads(None, 100), count_threads(10**6, 10**6) == cpu_count()
    (1, 1, True)
    """
    return max(min(effective_n_jobs(n_jobs), n_tasks, cpu_count()), 1)


def map_in_threads(n_threads: int, function: Callable, *arguments: Iterable) -> list:
    """Call a function in threads; returns its results in the order of the arguments.

    This thread is one of them: with a thread beside as many as there are cores, these would wait for each other.
    joblib's threads take 10 ms to end, as long as a fit. After an error or Ctrl-C no further call begins, and kernels
    that run end within a second.

    Parameters
    ----------
    n_threads : int
        Threads, this one included.
    function : callable
        What is called.
    *arguments : iterable
        Its first arguments, its second ones and so on, as for ``map``; threads take from them in turn.

    Raises
    ------
    BaseException
        The first that the function, or what yields the arguments, has raised.

    Examples
    --------
    >>> map_in_threads(2, pow, [2, 3], [5, 2])
    [32, 9]
    """
    if n_threads == 1:
        return list(map(function, *arguments))
    tasks, results = enumerate(zip(*arguments, strict=False)), {}  # as map: an error ends a generator for all threads
    taking, errors = Lock(), []

    @contextmanager
    def noting_errors() -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            errors.append(error)

    def work() -> None:
        with noting_errors(), _sharing(errors):
            while not errors:
                with taking:
                    number, task = next(tasks, (0, None))
                if task is None:
                    return
                results[number] = function(*task)

    with ThreadPoolExecutor(n_threads - 1) as threads, noting_errors():
        others = [threads.submit(work) for _ in range(n_threads - 1)]
        work()
        wait(others)  # where Ctrl-C is noted, too: the end of the pool would wait for the last of them
    if errors:
        raise errors[0]
    return [results[number] for number in range(len(results))]


@contextmanager
def _sharing(errors: list[BaseException]) -> Iterator[None]:
    """Let kernels of this thread end as soon as there are errors."""
    earlier, _work.errors = getattr(_work, "errors", None), errors
    try:
        yield
    finally:
        _work.errors = earlier
