"""Has somebody written to a file since it was read?"""

from __future__ import annotations

from os import DirEntry
from pathlib import Path


def find_state(file: Path | DirEntry) -> tuple[int, int] | None:
    """Return what changes when somebody writes to a file: time and size; None if it is not there.

    Examples
    --------
    >>> find_state(Path("nowhere.csv"))
    """
    try:
        state = file.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size
