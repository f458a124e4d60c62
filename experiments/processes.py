"""How processes of this project start: which module they run, with how many threads, and what the collector looks at.

Most processes are short, so that a start is much of what they take. A pool of BLAS threads that nobody asks takes a
fifth of a second of each, and to look for garbage among what is imported as much again.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import warnings
from importlib import import_module
from time import sleep

from algorithms.installation import PREFIX

_LIBRARIES = ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA", "NUMEXPR")
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


def begin_worker(parent: int, module: str) -> None:
    """Prepare this process as a worker that ends with its parent.

    Parameters
    ----------
    parent : int
        The number of the process that asks it to work.
    module : str
        The full name of what it will run, imported here once.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the parent decides
    warnings.simplefilter("ignore")
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    postpone_collection()
    try:
        import_module(module)
    finally:
        resume_collection()


def _end_with_parent(parent: int) -> None:
    """End this process when its parent has gone: one that is killed cannot tell its workers, and they would wait on."""
    while os.getppid() == parent:
        sleep(1)
    os._exit(1)
