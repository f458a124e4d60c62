"""The page of a sweep: its picture, its tables, what is missing, and where it is from; it needs no file beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from plots.pages import html
from plots.sweeps.arrangement import SweepTable
from plots.sweeps.collector import SweepResults
from plots.sweeps.sweep_folder import FILES
from plots.sweeps.terminal_table import describe_cells


def write_page(results: SweepResults, tables: Sequence[SweepTable], facts: Mapping[str, Any], folder: Path) -> Path:
    """Write ``report.html`` beside the other files of a sweep and return its path."""
    path = folder / "report.html"
    sweep = results.sweep
    page = html.render_template(
        "sweep.html.j2",
        links=[],
        name=folder.name,
        fixed=sweep.describe_fixed(),
        varying=sweep.describe_varying(),
        incomplete=results.list_incomplete(),
        svg=_read_picture(folder / "figure.svg"),
        tables=[{"words": describe_cells(sweep, table), **vars(table)} for table in tables],
        others=results.others,
        files=[name for name in FILES if name != path.name and (folder / name).is_file()],
        provenance=[(name, _format_fact(value)) for name, value in facts.items()],
    )
    path.write_text(page, encoding="utf-8")
    return path


def _read_picture(path: Path) -> str:
    """Return the picture as a part of the page; nothing if none was drawn."""
    if not path.is_file():
        return ""
    from plots.pages.pictures import embed_svg  # the colours of pictures come with matplotlib, which is slow

    return embed_svg(path.read_text(encoding="utf-8"), "figure")


def _format_fact(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)
