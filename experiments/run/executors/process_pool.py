"""Processes of this machine: they stay for what is asked next, as to start one and to import takes over a second."""

from __future__ import annotations

import concurrent.futures
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from loky import get_reusable_executor

from algorithms.native import PLAIN
from documents import search_path
from experiments.errors import BadInput
from experiments.processes import ONE_THREAD, SECONDS_IDLE, begin_worker, choose_start, start_server
from experiments.trace import span

_OTHER_WAYS = ", or run with executor=threads or executor.jobs=1"  # of cells: what is plain needs a process of its own


def get_processes(n: int, module: str, is_plain: bool = False) -> concurrent.futures.Executor:
    """Return processes that have imported a module, new ones if those that are there cannot be used.

    Those of another environment, which names the user's catalogues and data, are not used again.

    Parameters
    ----------
    n : int
        How many there are at most.
    module : str
        What they run, by its full name.
    is_plain : bool
        Whether they are to have no kernels, and so share no imports with this process.

    Raises
    ------
    BadInput
        If none can be started.
    """
    environment = {"PYTHONFAULTHANDLER": ""} | os.environ | ONE_THREAD | search_path.describe_environment()
    environment |= {PLAIN: "1"} if is_plain else {}
    begin = {"initializer": begin_worker, "initargs": (environment, module)}
    with _explained("" if is_plain else _OTHER_WAYS), span("start workers"):
        return get_reusable_executor(n, choose_start(is_plain), SECONDS_IDLE, **begin)


def start_server_of(module: str) -> None:
    """Start the server from which processes are forked, where there is one; it imports a module before that."""
    with _explained(_OTHER_WAYS), span("start the server of workers"):
        start_server(module)


def end_processes() -> None:
    """End all processes at once, and what they run."""
    with suppress(OSError):  # where none can be started there is none to end
        # of any size: to resize it would wait for what they run
        get_reusable_executor(reuse=True).shutdown(kill_workers=True)


@contextmanager
def _explained(other_ways: str) -> Iterator[None]:
    """Say what processes need where they cannot be started: the error of their locks names nothing."""
    try:
        yield
    except OSError as error:
        raise BadInput(
            f"no worker processes can be started ({error.strerror or error}): they need locks in /dev/shm, files and "
            f"processes; free or allow some{other_ways}"
        ) from error
