"""Files that are written whole or not at all: aside first, then renamed.

Whoever looks sees a file as it was or as it is to be, never a half, and a disk that is full keeps the earlier one. All
that the project writes for its users is written here; the store has transactions of its own.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_LONGEST = 200  # characters of a name, of 255 that file systems take, so that there is room for an ending


def write_text(path: Path | str, text: str) -> None:
    """Write a text in UTF-8, as `write_bytes` does.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(path := Path(folder) / "budget.txt", "ε = 1")
    ...     path.read_text(encoding="utf-8"), os.listdir(folder)
    ('ε = 1', ['budget.txt'])
    """
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path | str, content: bytes) -> None:
    """Write a file whole.

    Raises
    ------
    OSError
        If it cannot be written; ``filename`` is its path, and what was there before is there still.
    """
    with replace_file(path) as aside:
        aside.write_bytes(content)


@contextmanager
def replace_file(path: Path | str) -> Iterator[Path]:
    """Give a path aside, to which a file is written that takes its place when the context ends without an error.

    A link is followed, and what is no file, as ``/dev/stdout``, is written to at once.

    Raises
    ------
    OSError
        If it cannot be written; ``filename`` is its path.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with _named(path):
            yield target
        return
    aside = _name_aside(target)
    try:
        with _named(path):
            yield aside
            os.replace(aside, target)
    finally:
        with suppress(OSError):  # of a disk that fails, or since it was renamed
            aside.unlink()


@contextmanager
def replace_folder(folder: Path) -> Iterator[Path]:
    """Give an empty folder aside, which takes the place of another when the context ends without an error.

    Raises
    ------
    OSError
        If it cannot be made.
    """
    aside = _name_aside(folder)
    try:
        with _named(folder):
            aside.mkdir(parents=True)
        yield aside
        with _named(folder):
            if folder.exists():
                shutil.rmtree(folder)
            os.replace(aside, folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _name_aside(path: Path) -> Path:
    """Return a name beside a path that no other process or thread takes."""
    return path.with_name(f".{path.name[:_LONGEST]}.{os.getpid()}-{threading.get_ident()}.part")


@contextmanager
def _named(path: Path | str) -> Iterator[None]:
    """Let an error of the operating system name what was to be written: those of writing name nothing."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
