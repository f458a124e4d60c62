"""How far a run is, on stderr: a live bar on a terminal, a plain line every ten seconds elsewhere."""

from __future__ import annotations

import sys
from datetime import timedelta
from time import monotonic

from rich import progress
from rich.console import Console

_SECONDS = 10


class Progress:
    """Counts cells while a run lasts.

    Parameters
    ----------
    total : int
        Cells that were asked for.
    reused : int
        Those of them that are in the store already.
    unit : str, default="cell"
        What is counted, if it is not cells.
    """

    def __init__(self, total: int, reused: int, unit: str = "cell"):
        self._total, self._reused, self._unit = total, reused, unit
        self._done = self._failed = self._spoken = 0
        self._bar: progress.Progress | None = None
        self._started = self._spoke = monotonic()

    def __enter__(self) -> Progress:
        self._started = self._spoke = monotonic()
        if self._reused:
            _say(f"{self._units(self._reused)} reused from the store, {self._total - self._reused} to run")
        if self._total > self._reused and sys.stderr.isatty():
            text = f"{{task.completed}}/{{task.total}} {self._unit}s{{task.fields[failed]}}, {{task.fields[pace]}}"
            columns = (text, progress.BarColumn(), progress.TimeRemainingColumn())
            self._bar = progress.Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("", total=self._total - self._reused, failed="", pace="")
            self._bar.start()
        return self

    def __exit__(self, kind, *_) -> None:
        if self._bar:
            self._bar.stop()
        if kind is None and self._done:
            _say(f"{self._units(self._done)} run in {duration(monotonic() - self._started)}{self._failures()}")

    def advance(self, failed: bool) -> None:
        """Count one more cell."""
        self._done += 1
        self._failed += failed
        if self._bar:
            self._bar.update(self._task, advance=1, failed=self._failures(), pace=self._pace())
        elif monotonic() - self._spoke > _SECONDS:
            self._speak(monotonic())

    def _speak(self, now: float) -> None:
        """Say how far the run is; the time left follows from the pace since the last line, or since the start if that
        is faster: an algorithm that compiles holds everything up for a while, first of all the first one.
        """
        n = self._total - self._reused
        pace = max((self._done - self._spoken) / (now - self._spoke), self._done / (now - self._started))
        left = f"about {duration((n - self._done) / pace)} left" if self._spoken else "the first ones compile"
        _say(f"{self._done} of {n} {self._unit}s run ({self._done / n:.0%}){self._failures()}, {self._pace()}, {left}")
        self._spoke, self._spoken = now, self._done

    def _units(self, n: int) -> str:
        return f"{n} {self._unit}{'' if n == 1 else 's'}"

    def _failures(self) -> str:
        return f", {self._failed} failed" if self._failed else ""

    def _pace(self) -> str:
        return f"{self._done / max(monotonic() - self._started, 1e-9):.3g} a second"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """Return a time as people say it.

    Examples
    --------
    >>> duration(3.21), duration(3725.4)
    ('3.2 s', '1:02:05')
    """
    return str(timedelta(seconds=round(seconds))) if seconds >= 60 else f"{seconds:.1f} s"
