"""Where this code is: in a checkout, or installed below ``dp_replica``; and what that changes.

An installed package has all of a checkout's packages below one name that is its own: ``dp_replica.algorithms``,
``dp_replica.datasets``, ... Code that names its own modules as text puts `PREFIX` before them.
"""

from __future__ import annotations

import os
from pathlib import Path

PREFIX = __name__.removesuffix("algorithms.installation")
"""What stands before the names of this project's packages: nothing in a checkout, ``dp_replica.`` where installed."""

IS_CHECKOUT = not PREFIX

ROOT = Path(__file__).resolve().parents[1]
"""The folder that holds ``algorithms``, ``conf`` and ``results``: the checkout, or the installed package."""

PROGRAM = "python -m experiments" if IS_CHECKOUT else "dp-replica"
"""What a user types to start a command."""


def name_command(target: str, **settings: object) -> str:
    """Return what a user types: a target of the Makefile in a checkout, the same by the program where installed.

    Parameters
    ----------
    target : str
        Of the Makefile: the name of a command, or what runs a paper.
    **settings
        Of the command.

    Examples
    --------
    >>> name_command("check"), name_command("reproduce-paper-2"), name_command("bands", paper=3)
    ('make check', 'make reproduce-paper-2', 'make bands PAPER=3')
    """
    if IS_CHECKOUT:
        return " ".join(["make", target, *(f"{name.upper()}={value}" for name, value in settings.items())])
    paper = target.removeprefix("reproduce-paper-")
    runs_paper = paper != target or target in ("demo", "benchmark", "benchmark-heavy")
    begin = f"paper={paper}" if runs_paper else f"do={target}"
    return " ".join([PROGRAM, begin, *(f"{name}={value}" for name, value in settings.items())])


def resolve_path(path: str | Path) -> Path:
    """Return a path that a user gives: relative to the checkout, or to the current directory where there is none.

    Examples
    --------
    >>> resolve_path("results") == ROOT / "results"
    True
    """
    return (ROOT if IS_CHECKOUT else Path.cwd()) / Path(path).expanduser()


def find_user_cache() -> Path:
    """Return the folder of what can be made or downloaded again, ``$XDG_CACHE_HOME/dp-replica`` or in ``~/.cache``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dp-replica"


def name_in_checkout(module: str) -> str:
    """Return what a module is called in a checkout.

    Examples
    --------
    >>> name_in_checkout("dp_replica.algorithms.base"), name_in_checkout("sklearn.tree")
    ('algorithms.base', 'sklearn.tree')
    """
    return module.removeprefix("dp_replica.")


def name_package(module: str) -> str:
    """Return the package that a module belongs to: of ours one of `algorithms` and its neighbours, wherever it lies.

    Examples
    --------
    >>> name_package("sklearn.tree")
    'sklearn'
    """
    inner = module.removeprefix(PREFIX)
    return module.removesuffix(inner) + inner.partition(".")[0]
