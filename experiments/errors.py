"""What a user can do wrong, said in one line."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable


class BadInput(ValueError):
    """The request cannot be run as it stands; the one-line message says what, where, and the way out."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return a hint at the nearest known name, or the list of them.

    Examples
    --------
    >>> suggestion("max_dept", ["epsilon", "max_depth"])
    "did you mean 'max_depth'?"
    >>> suggestion("colour", ["epsilon", "max_depth"])
    'known are epsilon, max_depth'
    """
    known = sorted(known)
    near = difflib.get_close_matches(str(name), known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known) or 'none'}"


def one_line(error: BaseException) -> str:
    """Return an exception as one line; its kind is named unless the message was written for users.

    Examples
    --------
    >>> one_line(KeyError("x"))
    "KeyError: 'x'"
    >>> one_line(BadInput("no such file"))
    'no such file'
    """
    text = " ".join(str(error).split())
    return text if isinstance(error, BadInput) and text else f"{type(error).__name__}: {text}".removesuffix(": ")


def print_to_stderr(text: str) -> None:
    """Print what is not a result: stdout has those alone."""
    print(text, file=sys.stderr)
