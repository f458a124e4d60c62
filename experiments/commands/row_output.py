"""Where the rows of a command go: to standard output as a table, as JSON or as CSV, or into a page for a browser."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from algorithms.installation import resolve_path
from experiments.cells.cell import format_json
from experiments.errors import BadInput, require_utf_8, suggest_name

_OUTPUTS = ("table", "json", "csv")


def read_output(given: Any) -> str:
    """Return how results go to stdout: as they are asked for, else as a table in a terminal and as JSON elsewhere."""
    output = given if given is not None else "table" if sys.stdout.isatty() else "json"
    if output not in _OUTPUTS:
        raise BadInput(f"output must be table, json or csv; {suggest_name(str(output), _OUTPUTS)}")
    return str(output)


def read_page(config: Mapping[str, Any]) -> Path | None:
    """Return the file of a page that results go to, None if none is asked for; BadInput beside another output."""
    if config["page"] is None:
        return None
    if config["output"] is not None:
        raise BadInput("output and page are two places for the same rows: give one of them")
    require_utf_8(file := resolve_path(str(config["page"])))
    return file


def write_rows(rows: pd.DataFrame, output: str) -> None:
    """Write rows to standard output, as ``csv`` or as a line of ``json`` each."""
    if output == "csv":
        rows.to_csv(sys.stdout, index=False, lineterminator="\n")
        return
    for row in rows.to_dict("records"):
        print(format_json(row))
