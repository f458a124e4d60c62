"""What the seconds of a run went to, as a file that public viewers of traces open.

It is a list of Chrome's trace events, which Perfetto and speedscope show as a picture: a row for the process that
plans, stores and draws, and a row for each worker with its chunks of cells. Nothing is noted until somebody begins.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time, time
from typing import Any

from algorithms.whole_files import write_text

_MICROSECONDS = 1e6
_OWN_ROW = "this process"

_spans: list[tuple[str, str, float, float, dict[str, Any]]] | None = None
"""Name, row, start and seconds of each span, and what else is known of it; None where no trace is kept."""


def begin_trace() -> None:
    """Keep a trace from here on. What this process has done before is one span of as many seconds as it has worked."""
    global _spans
    _spans = []
    add_span("start: imports, request", _OWN_ROW, time() - process_time(), process_time())


@contextmanager
def span(name: str) -> Iterator[None]:
    """Note how long the context lasts in this process.

    Examples
    --------
    >>> with span("plan"):
    ...     pass
    """
    started = time()
    try:
        yield
    finally:
        add_span(name, _OWN_ROW, started, time() - started)


def add_span(name: str, row: str, started: float, seconds: float, **known: Any) -> None:
    """Note what took some seconds from a time on, by the clock of the machine where it was done."""
    if _spans is not None:
        _spans.append((name, row, started, seconds, known))


def write_trace(path: Path) -> None:
    """Write what was noted, and end the trace."""
    global _spans
    spans, _spans = _spans or [], None
    rows = {row: number for number, row in enumerate(dict.fromkeys([_OWN_ROW, *(row for _, row, *_ in spans)]))}
    first = min((started for _, _, started, _, _ in spans), default=0.0)
    process = {"pid": os.getpid()}
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "thread_name", **process, "tid": number, "args": {"name": row}}
        for row, number in rows.items()
    ]
    for name, row, started, seconds, known in spans:
        times = {"ts": (started - first) * _MICROSECONDS, "dur": seconds * _MICROSECONDS}
        events.append({"ph": "X", "name": name, **process, "tid": rows[row], **times, "args": known})
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}))
