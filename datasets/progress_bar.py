"""How far what takes a while before cells run is, on stderr: downloads, and reading a large file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic

SECONDS = 10
"""Between two lines on stderr where no terminal shows a bar."""
_FIRST = 3  # seconds until the first: what takes less is not worth a line


@contextmanager
def show_progress(what: str, total: int | None = None) -> Iterator[Callable[[int, int | None], None]]:
    """Show a bar of bytes on a terminal, a plain line now and then elsewhere; yield what moves it on.

    It only pulses where the size is unknown, as with ucimlrepo, which tells nothing.
    """
    if not sys.stderr.isatty() and not os.environ.get("FORCE_COLOR"):
        lines = _PlainLines(what, total)
        yield lines.advance
        lines.end()
        return
    from rich.console import Console  # slow to import, and most tables are small and here
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    columns = columns if total is None else (*columns, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done, total=total: progress.update(task, completed=done, total=total)


class _PlainLines:
    """A line now and then, and one at the end if there was one before."""

    def __init__(self, what: str, total: int | None):
        self._what, self._total = what, total
        self._start = monotonic()
        self._due = self._start + _FIRST
        self._has_said = False

    def advance(self, done: int, total: int | None = None) -> None:
        now = monotonic()
        if now >= self._due:
            print_line(f"{self._what}: {_say_how_far(done, total or self._total, now - self._start)}")
            self._due, self._has_said = now + SECONDS, True

    def end(self) -> None:
        if self._has_said:
            print_line(f"{self._what}: read in {format_duration(monotonic() - self._start)}")


def _say_how_far(done: int, total: int | None, seconds: float) -> str:
    """Return how far something is, and for how long it will go on.

    Examples
    --------
    >>> _say_how_far(30_000_000, 120_000_000, 5.0), _say_how_far(30_000_000, None, 5.0)
    ('30 of 120 MB (25%), about 15.0 s left', '30 MB in 5.0 s')
    """
    if not total or not done:
        return f"{done / 1e6:.0f} MB in {format_duration(seconds)}"
    left = format_duration(seconds * (total - done) / done)
    return f"{done / 1e6:.0f} of {total / 1e6:.0f} MB ({done / total:.0%}), about {left} left"


def print_line(text: str) -> None:
    """Print a line on stderr, at once."""
    print(text, file=sys.stderr, flush=True)


def format_duration(seconds: float) -> str:
    """Return a time as people write it.

    Examples
    --------
    >>> format_duration(3.21), format_duration(3725.4)
    ('3.2 s', '1:02:05')
    """
    return str(timedelta(seconds=round(seconds))) if seconds >= 60 else f"{seconds:.1f} s"
