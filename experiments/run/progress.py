"""How far a run is, on stderr: a live bar on a terminal, a plain line every ten seconds elsewhere."""

from __future__ import annotations

import sys
from threading import Lock
from time import monotonic

from rich import progress
from rich.console import Console

from datasets.progress_bar import SECONDS, format_duration, print_line


class Progress:
    """Counts cells, or other units, while a run lasts: all of them, of which some are reused from the store."""

    def __init__(self, total: int, reused: int, unit: str = "cell"):
        self._total, self._reused, self._unit = total, reused, unit
        self._done = self._done_at_last_line = 0.0
        self._failed = 0
        self._lock = Lock()
        self._bar: progress.Progress | None = None
        self._started = self._last_line = monotonic()

    def __enter__(self) -> Progress:
        self._started = self._last_line = monotonic()
        if self._reused:
            n_waiting = self._total - self._reused
            print_line(f"{self._format_count(self._reused)} reused from the store, {n_waiting} to run")
        if self._total > self._reused and sys.stderr.isatty():
            text = f"{{task.completed:.0f}}/{{task.total}} {self._unit}s{{task.fields[failed]}}, {{task.fields[pace]}}"
            columns = (text, progress.BarColumn(), progress.TimeRemainingColumn())
            self._bar = progress.Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("", total=self._total - self._reused, failed="", pace="")
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._bar:
            self._bar.stop()
        if kind is None and self._done:
            seconds = monotonic() - self._started
            print_line(
                f"{self._format_count(round(self._done))} run in {format_duration(seconds)}{self._format_failures()}"
            )

    def advance(self, failed: bool, share: float = 1.0) -> None:
        """Count one more cell, or a share of one that takes long; threads may do so at once."""
        with self._lock:
            self._done += share
            self._failed += failed
            if self._bar:
                self._bar.update(self._task, advance=share, failed=self._format_failures(), pace=self._format_pace())
            elif monotonic() - self._last_line > SECONDS:
                self._print_progress(monotonic())

    def _print_progress(self, now: float) -> None:
        """Print how far the run is; the time left follows from the pace since the last line, or since the start if that
        is faster: an algorithm that takes long holds everything up for a while.
        """
        n = self._total - self._reused
        pace = max((self._done - self._done_at_last_line) / (now - self._last_line), self._done / (now - self._started))
        left = "none is done yet"
        if self._done_at_last_line:
            left = f"about {format_duration((n - self._done) / pace)} left"
        counts = f"{self._done:.0f} of {n} {self._unit}s run ({self._done / n:.0%}){self._format_failures()}"
        print_line(f"{counts}, {self._format_pace()}, {left}")
        self._last_line, self._done_at_last_line = now, self._done

    def _format_count(self, n: int) -> str:
        return f"{n} {self._unit}{'' if n == 1 else 's'}"

    def _format_failures(self) -> str:
        return f", {self._failed} failed" if self._failed else ""

    def _format_pace(self) -> str:
        return f"{self._done / max(monotonic() - self._started, 1e-9):.3g} a second"
