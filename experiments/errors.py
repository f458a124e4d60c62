"""What a user can do wrong, said in one line."""

from __future__ import annotations

import sys

from algorithms.parameters import suggest_name

__all__ = ["BadInput", "one_line", "print_to_stderr", "suggest_name"]


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
    """
    text = " ".join(str(error).split())
    return text if isinstance(error, BadInput) and text else f"{type(error).__name__}: {text}".removesuffix(": ")


def print_to_stderr(text: str) -> None:
    """Print what is not a result: stdout has those alone."""
    print(text, file=sys.stderr)
