"""Work that threads share: compiled code and most of numpy let others run meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock

from joblib import cpu_count, effective_n_jobs


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
    joblib's threads take 10 ms to end, as long as a fit. After an error or Ctrl-C no further call begins.

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
        with noting_errors():
            while not errors:
                with taking:
                    number, task = next(tasks, (0, None))
                if task is None:
                    return
                results[number] = function(*task)

    with ThreadPoolExecutor(n_threads - 1) as threads, noting_errors():
        for _ in range(n_threads - 1):
            threads.submit(work)
        work()
    if errors:
        raise errors[0]
    return [results[number] for number in range(len(results))]
