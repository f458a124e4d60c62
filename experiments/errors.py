"""What a user can do wrong, said in one line."""

from __future__ import annotations

import errno
import sys
from pathlib import Path

from algorithms.installation import IS_CHECKOUT, ROOT
from algorithms.parameters import suggest_name

__all__ = [
    "BadInput",
    "describe_os_error",
    "one_line",
    "print_to_stderr",
    "replace_bytes",
    "require_checkout",
    "require_utf_8",
    "suggest_name",
]


class BadInput(ValueError):
    """The request cannot be run as it stands; the one-line message says what, where, and the way out."""


def one_line(error: BaseException) -> str:
    """Return an exception as one line; its kind is named unless the message was written for users.

    Examples
    --------
    >>> one_line(KeyError("x"))
    "KeyError: 'x'"
    >>> one_line(BadInput("no such file"))
    'no such file'
    >>> print(one_line(BadInput("no such file: a\\udcff")))
    no such file: a\\udcff
    """
    text = replace_bytes(" ".join(str(error).split()))
    return text if isinstance(error, BadInput) and text else f"{type(error).__name__}: {text}".removesuffix(": ")


_WAYS_OUT = {
    "make it writable, or choose another folder with results=FOLDER": (errno.EACCES, errno.EPERM, errno.EROFS),
    "free space there, or choose another folder with results=FOLDER": (errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
    "allow more open files (ulimit -n), or run fewer jobs": (errno.EMFILE, errno.ENFILE),
    "choose a shorter one with results=FOLDER": (errno.ENAMETOOLONG,),
    "choose a folder whose file system has locks with results=FOLDER": (errno.ENOLCK,),
}


def describe_os_error(error: OSError) -> str:
    """Return in one line what the operating system refused, and the way out.

    Examples
    --------
    >>> print(describe_os_error(OSError(errno.EDQUOT, "Disk quota exceeded", "table.csv")))
    table.csv: Disk quota exceeded; free space there, or choose another folder with results=FOLDER
    >>> print(describe_os_error(OSError(errno.EIO, "Input/output error", "table.csv")))
    table.csv: Input/output error; run the same command again, or choose another folder with results=FOLDER
    """
    if error.filename is None:
        return f"stdout cannot be written ({error.strerror})"
    again = "run the same command again, or choose another folder with results=FOLDER"
    way_out = next((words for words, numbers in _WAYS_OUT.items() if error.errno in numbers), again)
    return one_line(BadInput(f"{error.filename}: {error.strerror}; {way_out}"))


def replace_bytes(text: str) -> str:
    """Return text that can be stored: what is no character, as in a file name that is not UTF-8, by its number.

    Examples
    --------
    >>> print(replace_bytes("caf\\udce9"))
    caf\\udce9
    """
    return text.encode(errors="backslashreplace").decode()


def require_utf_8(path: Path) -> None:
    """Refuse a path to which no Parquet file can be written: DuckDB takes names in UTF-8 alone."""
    if str(path) != (shown := replace_bytes(str(path))):
        raise BadInput(f"{shown} is no name in UTF-8, as DuckDB needs it to write Parquet; choose another")


def require_checkout(command: str) -> None:
    """Refuse a command that writes into the sources where there are none: BadInput in an installed package."""
    if not IS_CHECKOUT:
        raise BadInput(f"{command} changes files of the project: run it in a checkout, not in the package in {ROOT}")


def print_to_stderr(text: str) -> None:
    """Print what is not a result: stdout has those alone."""
    print(text, file=sys.stderr)
