"""The table explorer: stored results as one page that filters, sorts, groups and draws them, from disk and offline."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from scipy.stats import norm
from scipy.stats import t as student

from algorithms.whole_files import write_text
from experiments.stats import ALPHA
from plots import style
from plots.frames.columns import pack_table
from plots.pages.html import render_template

_SIZES = 1000  # of groups whose quantile of Student's t is in the page; of larger ones the page finds it itself
_NO_SETTINGS = ("repeat", "value", "status", "error", "fit_seconds", "current")


def write_explorer(rows: pd.DataFrame, path: Path) -> None:
    """Write results as from `load_results`, or some of their rows, as a page; keys of cells are left out.

    These are half of all bytes, and settings and repeat say the same.
    """
    shown = rows.drop(columns="key", errors="ignore")
    table = pack_table(shown)
    facts = {
        "columns": table.columns,
        "n": len(shown),
        "settings": [name for name in shown.columns if name not in _NO_SETTINGS],
        "measures": [name for name in ("value", "fit_seconds") if name in shown.columns],
        "reach": [float(reach) for reach in student.ppf(1 - ALPHA / 2, range(1, _SIZES))],
        "farthest": float(norm.ppf(1 - ALPHA / 2)),
        "colours": style.QUALITATIVE,
        "dashes": style.DASHES,
    }
    write_text(path, render_template("explorer.html.j2", links=(), facts=facts, cells=table.cells))
