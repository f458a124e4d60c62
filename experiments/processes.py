"""How processes of this project start: which module they run, with how many threads, and what the collector looks at.

Most processes are short, so that a start is much of what they take. A pool of BLAS threads that nobody asks takes a
fifth of a second of each, and to look for garbage among what is imported as much again. Workers are not started but
forked, where that is safe, from a process that has imported what they run and does nothing else.
"""

from __future__ import annotations

import faulthandler
import gc
import multiprocessing
import os
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module, reload
from multiprocessing import forkserver, resource_tracker, util
from time import sleep
from typing import Any

from algorithms.installation import PREFIX
from documents import search_path
from experiments.edge import leave_signals_to_parent, print_apart, start_for_parent

_LIBRARIES = ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR")
SECONDS_IDLE = 300
"""After which workers end that nobody has asked."""
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in _LIBRARIES} | {"VECLIB_MAXIMUM_THREADS": "1"}
"""Variables by which libraries that a process loads start no threads of their own: cells run beside each other."""


def build_command(module: str, *words: str) -> list[str]:
    """Return the command that runs a module of this project, named as in a checkout, with words.

    Examples
    --------
    >>> build_command("experiments", "paper=demo")[1:]
    ['-m', 'experiments', 'paper=demo']
    """
    return [sys.executable, "-m", f"{PREFIX}{module}", *words]


def make_environment(**variables: str) -> dict[str, str]:
    """Return the environment of a child that finds the modules that this process finds, a user's among them.

    Examples
    --------
    >>> make_environment(DPREPLICA_PLAIN="1")["DPREPLICA_PLAIN"]
    '1'
    """
    folders = os.pathsep.join(filter(None, sys.path))  # "" is the current directory, which `-m` adds
    return os.environ | {"PYTHONPATH": folders} | variables


def limit_threads() -> None:
    """Let the libraries that this process and its children will load use one thread each, unless the user says else.

    It has no effect on libraries that are loaded already.
    """
    for name, number in ONE_THREAD.items():
        os.environ.setdefault(name, number)


def postpone_collection() -> None:
    """Look for no garbage while modules are imported: what they make stays to the end."""
    gc.disable()


def resume_collection() -> None:
    """Look for garbage from now on, seldom, and never among what there is already."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(100_000, 50, 100)  # of a million cells, none is garbage


@contextmanager
def start_without_main_module() -> Iterator[None]:
    """Start workers meanwhile that do not run the main module of this process.

    `multiprocessing` runs it again in each of them. Ours does nothing then; a script of somebody else's, which need
    not guard what it does by ``if __name__ == "__main__":``, would begin anew in every worker.
    """
    global _is_main_ours
    before, _is_main_ours = _is_main_ours, False
    try:
        yield
    finally:
        _is_main_ours = before


def choose_start(is_plain: bool = False) -> str:
    """Return how worker processes start, as `loky` calls it; those in plain Python share no imports with this one.

    On Linux a server forks them, in a few hundredths of a second; the imports take one and a half. It has no threads,
    in which a fork would be a danger; libraries of other systems have threads of their own from the first. What
    `multiprocessing` starts cannot have its program from standard input.
    """
    if not _is_main_ours:
        return "loky"
    return "forkserver" if sys.platform == "linux" and not is_plain else "spawn"


_is_main_ours = True


def start_server(*modules: str) -> None:
    """Start the server of workers, where there is one, with modules that they run at hand.

    A process without other threads is forked as it is, with all that it has imported; its threads could hold locks that
    nobody in a fork lets go. From any other process the server is a new one, which imports the modules when the first
    worker is asked for.
    """
    multiprocessing.set_forkserver_preload(list(modules))
    _preloaded[:] = modules
    if choose_start() != "forkserver":
        return
    with start_for_parent():
        resource_tracker.ensure_running()
    if len(os.listdir("/proc/self/task")) > 1:
        return
    start_anew = util.spawnv_passfds
    util.spawnv_passfds = _fork_server  # type: ignore[assignment] # by which `multiprocessing` starts it
    try:
        forkserver.ensure_running()
    finally:
        util.spawnv_passfds = start_anew


def can_fork_server() -> bool:
    """Return whether workers will have what this process reads now: they are forked, and their server is not there."""
    return choose_start() == "forkserver" and not _preloaded


_preloaded: list[str] = []


def _fork_server(path: bytes, command: Sequence[Any], descriptors: Sequence[int]) -> int:
    """Fork a process that does what the command of a server says; return its number."""
    sys.stdout.flush()  # workers would write again what waits
    sys.stderr.flush()
    if server := os.fork():
        return server
    try:
        leave_signals_to_parent()
        for descriptor in set(map(int, os.listdir("/proc/self/fd"))) - {0, 1, 2, *descriptors}:
            with suppress(OSError):  # that of the folder is closed already
                os.close(descriptor)
        reload(forkserver)  # as if this process had never asked for a server: the lock for that is held
        exec(command[-1], {})
    finally:
        os._exit(1)


def begin_worker(environment: Mapping[str, str], module: str) -> None:
    """Prepare this process as a worker that ends with its parent, and import what it will run, by its full name.

    The environment is that of the process that asks it to work: it may have changed since the server started.
    """
    leave_signals_to_parent()
    print_apart()
    util.Finalize(None, os._exit, (0,), exitpriority=-1000)  # else it would wait for threads that an algorithm has left
    warnings.simplefilter("ignore")
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.clear()
    os.environ.update(environment)
    search_path.make_importable()  # what is sent here may be of a user's class
    if not environment.get("PYTHONFAULTHANDLER"):
        faulthandler.disable()  # its parent names the cell
    postpone_collection()
    try:
        import_module(module)
    finally:
        resume_collection()
    import numpy as np  # not above: who imports this module limits threads before numpy is loaded
    from threadpoolctl import threadpool_limits

    np.random.seed()  # noqa: NPY002 - what draws without a seed would draw the same in every fork
    threadpool_limits(1)  # of libraries that were loaded before the variables were there


def _end_with_parent() -> None:
    """End this process when its parent has gone: one that is killed cannot tell its workers, and they would wait on."""
    parent, number = multiprocessing.parent_process(), os.getppid()
    if parent is None:
        return
    if isinstance(parent.sentinel, int):
        parent.join()
    else:  # one that loky started is a child of its parent, and knows no sentinel of it
        while os.getppid() == number:
            sleep(1)
    os._exit(1)
