"""Files of JSON: one way to write what was computed, and one to read it again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from algorithms.whole_files import write_text
from experiments.cells.cell import json_safe


def write_json(contents: Any, path: Path, digits: int | None = None) -> None:
    """Write what JSON can hold, as `json_safe` returns it; numbers keep so many ``digits``, or all."""
    text = json.dumps(json_safe(contents, digits), indent=2, ensure_ascii=False, allow_nan=False)
    write_text(path, f"{text}\n")


def read_json(path: Path) -> Any:
    """Read what `write_json` wrote: infinities are numbers again, and NaN is None.

    Examples
    --------
    >>> import tempfile
    >>> numbers = {"a": [float("inf"), {"b": float("-inf"), "c": float("nan")}], "d": 1 / 3}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_json(numbers, path := Path(folder) / "numbers.json", digits=4)
    ...     read_json(path)
    {'a': [inf, {'b': -inf, 'c': None}], 'd': 0.3333}
    """
    return _read_infinities(json.loads(path.read_text(encoding="utf-8")))


def _read_infinities(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _read_infinities(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return list(map(_read_infinities, value))
    return float(value) if value in ("inf", "-inf") else value
