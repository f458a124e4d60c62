"""Threads share tasks: in their order, and until one fails."""

import threading
import time

import pytest

from algorithms.threads import map_in_threads


def draw_slowly(samples):
    """A generator, as of samples: while it draws, another thread may run, but must not ask it."""
    for sample in samples:
        time.sleep(1e-5)
        if sample is None:
            raise MemoryError("no room for a sample")
        yield sample


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("n_tasks", [0, 1, 3, 200])
def test_threads_share_tasks_and_keep_their_order(n_threads, n_tasks):
    results = map_in_threads(n_threads, lambda i, j: (i, j), range(n_tasks), draw_slowly(range(n_tasks)))
    assert results == [(i, i) for i in range(n_tasks)]


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_an_error_while_a_sample_is_drawn_is_raised(n_threads):
    for _ in range(20):
        with pytest.raises(MemoryError, match="no room for a sample"):
            map_in_threads(n_threads, lambda i, j: i, range(20), draw_slowly([*range(6), None]))


@pytest.mark.parametrize("fails", [threading.main_thread, None], ids=["the caller's", "another"])
def test_threads_begin_no_task_after_one_has_failed(fails):
    begun, other_has_begun = [], threading.Event()

    def run(task):
        begun.append(task)
        is_main = threading.current_thread() is threading.main_thread()
        if is_main:
            other_has_begun.wait()
        if is_main == bool(fails):
            other_has_begun.set()
            raise KeyboardInterrupt if is_main else ZeroDivisionError
        other_has_begun.set()
        time.sleep(0.001)

    with pytest.raises(KeyboardInterrupt if fails else ZeroDivisionError):
        map_in_threads(2, run, range(10_000))
    assert len(begun) < 1000
