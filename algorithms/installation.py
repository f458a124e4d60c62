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
