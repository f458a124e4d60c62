"""Where this code is: in a checkout, or installed below ``dp_replica``; and what that changes.

An installed package has all of a checkout's packages below one name that is its own: ``dp_replica.algorithms``,
``dp_replica.datasets``, ... Code that names its own modules as text puts `PREFIX` before them.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

PREFIX = __name__.removesuffix("algorithms.installation")
"""What stands before the names of this project's packages: nothing in a checkout, ``dp_replica.`` where installed."""

IS_CHECKOUT = not PREFIX

ROOT = Path(__file__).resolve().parents[1]
"""The folder that holds ``algorithms``, ``conf`` and ``results``: the checkout, or the installed package."""

PROGRAM = "dp-replica"
"""What a user types to start a command, in a checkout and where it is installed: either puts it beside Python."""


def resolve_path(path: str | Path) -> Path:
    """Return a path that a user gives: relative to the checkout, or to the current directory where there is none.

    Examples
    --------
    >>> resolve_path("results") == ROOT / "results"
    True
    """
    return (ROOT if IS_CHECKOUT else Path.cwd()) / Path(path).expanduser()


def find_user_cache() -> Path:
    """Return the folder of what can be made or downloaded again, ``$XDG_CACHE_HOME/dp-replica`` or in ``~/.cache``.

    Where there is no home that can be written, it is `find_temporary_cache`.
    """
    given = os.environ.get("XDG_CACHE_HOME")
    usual = Path(given or os.path.expanduser("~/.cache")) / "dp-replica"
    return usual if given or can_be_written(usual) else find_temporary_cache()


def find_temporary_cache() -> Path:
    """Return a folder for temporary files that is this user's alone: compiled code in it is run.

    It is there for later processes, unless somebody else has made one of that name: then for this process alone.
    """
    user = os.getuid() if hasattr(os, "getuid") else "user"  # not on Windows, where each user has such a folder
    folder = Path(tempfile.gettempdir()) / f"dp-replica-{user}"
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if not hasattr(os, "getuid") or (stat.S_IMODE(found.st_mode) == 0o700 and found.st_uid == user):
            return folder
    return _make_folder_of_process()


@cache
def _make_folder_of_process() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="dp-replica-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def can_be_written(folder: Path) -> bool:
    """Return whether a folder can be written, or made if it is not there.

    Examples
    --------
    >>> can_be_written(Path(tempfile.gettempdir()) / "not there" / "either")
    True
    >>> can_be_written(Path(__file__) / "a"), can_be_written(Path("~/.cache"))
    (False, False)
    """
    there = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    return folder.is_absolute() and there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def lead_caches_away() -> None:
    """Name a folder to matplotlib where its own cannot be written: it would make one in each process, and say so."""
    usual = Path(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")) / "matplotlib"
    if "MPLCONFIGDIR" not in os.environ and not can_be_written(usual):
        os.environ["MPLCONFIGDIR"] = str(find_user_cache() / "matplotlib")


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
