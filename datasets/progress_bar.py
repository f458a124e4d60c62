"""A bar on stderr for what takes a while before cells run: downloads, and reading a large file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def show_progress(what: str, total: int | None = None) -> Iterator[Callable[[int, int | None], None]]:
    """Show a bar of bytes on a terminal; yield what moves it on.

    It only pulses where the size is unknown, as with ucimlrepo, which tells nothing.
    """
    if not sys.stderr.isatty() and not os.environ.get("FORCE_COLOR"):
        yield lambda done, total=total: None
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
