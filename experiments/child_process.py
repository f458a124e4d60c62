"""Modules of this project as programs of their own: in another process, with what this one can import."""

from __future__ import annotations

import os
import sys

from algorithms.installation import PREFIX


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
