"""Files of the user's cache: written whole or not at all, by one process at a time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from algorithms.whole_files import replace_file

try:
    import fcntl
except ImportError:  # Windows: several processes may then make the same file, and the last one's stays
    fcntl = None


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Let one process at a time make a file of the cache; the lock dies with its process, so none is left behind."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path.with_suffix(".lock"), "w")  # noqa: SIM115
    except OSError:  # a cache that cannot be written is no reason not to load
        yield
        return
    with file:
        with suppress(OSError):  # a file system may have no locks: several processes then make the same file
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def write_to_cache(path: Path, write: Callable) -> None:
    """Write a file so that nobody ever sees half of it."""
    try:
        with replace_file(path) as aside:
            write(aside)
    except OSError as error:
        warnings.warn(f"{path} cannot be written, so nothing is cached ({error})", stacklevel=2)
