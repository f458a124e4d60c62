"""Has somebody written to a file since it was read?"""

from __future__ import annotations

from os import DirEntry
from pathlib import Path

State = tuple[int, int, int, int]
"""Of a file: when it was written, its size, which file it is, and when any of that changed."""


def find_state(file: Path | DirEntry) -> State | None:
    """Return what changes when somebody writes to a file or puts another in its place; None if it is not there.

    Whoever copies a file can give it the time of writing of the one that it replaces, as ``rsync -t`` and ``tar`` do.

    Examples
    --------
    >>> find_state(Path("nowhere.csv"))
    """
    try:
        state = file.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino, state.st_ctime_ns
