"""How processes of this project start: which module they run, with how many threads, and what the collector looks at.

Most processes are short, so that a start is much of what they take. A pool of BLAS threads that nobody asks takes a
fifth of a second of each, and to look for garbage among what is imported as much again. Workers are not started but
forked, where that is safe, from a process that has imported what they run and does nothing else.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Mapping
from importlib import import_module

from algorithms.installation import PREFIX

_LIBRARIES = ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA", "NUMEXPR")
SECONDS_IDLE = 300
"""After which workers end that nobody has asked."""
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in _LIBRARIES} | {"VECLIB_MAXIMUM_THREADS": "1"}
"""Variables by which libraries that a process loads start no threads of their own: cells run beside each other."""


def build_command(module: str, *words: str) -> list[str]:
    """Return the command that runs a module of this project.

    Parameters
    ----------
    module : str
        Its name, as in a checkout.
    *words : str
        What it is told.

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
    >>> make_environment(NUMBA_DISABLE_JIT="1")["NUMBA_DISABLE_JIT"]
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


def choose_start() -> str:
    """Return how worker processes start, as `multiprocessing` calls it.

    On Linux a server forks them, in a few hundredths of a second; the imports take one and a half. It has no threads,
    in which a fork would be a danger; libraries of other systems have threads of their own from the first. What
    `multiprocessing` starts cannot have its program from standard input.
    """
    return "forkserver" if sys.platform == "linux" else "spawn"


def preload_in_server(*modules: str) -> None:
    """Say what the server of workers imports when it starts, which is when the first of them is asked for."""
    multiprocessing.set_forkserver_preload(list(modules))


def begin_worker(environment: Mapping[str, str], module: str) -> None:
    """Prepare this process as a worker that ends with its parent.

    Parameters
    ----------
    environment : mapping of str to str
        The variables of the process that asks it to work: they may have changed since the server started.
    module : str
        The full name of what it will run, imported here once.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the parent decides
    warnings.simplefilter("ignore")
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.clear()
    os.environ.update(environment)
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
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
