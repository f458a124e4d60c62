"""How far each reading of a paper is from what the paper prints: a table, and a figure for each question."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.judge.series import shortfall
from plots import style
from plots.style import ALARM, GRID, INK, QUALITATIVE

_SHOWN = 16  # readings in a figure; all are in the table
_UNITS = {
    "points": "off what is printed: points, root mean square",
    "orderings": "share of orderings the wrong way round",
}


def write(paper: Mapping, parts: list[pd.DataFrame], folder: Path) -> list[Path]:
    """Write ``readings.csv`` and a figure for each question into the folder of a paper; returns their paths.

    Parameters
    ----------
    paper : mapping
        With its ``readings``.
    parts : list of DataFrame
        As from `experiments.judge.readings.ranked`, one for each.
    folder : Path
        ``results/paper-N``.
    """
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    table = folder / "readings.csv"
    pd.concat(parts).to_csv(table, index=False, lineterminator="\n", float_format="%.10g")
    paths = [table]
    for question, rows in zip(paper["readings"], parts, strict=True):
        name = f"readings-{question['id']}"
        paths.append(style.write(name, lambda q=question, r=rows: figure(q, r), rows, folder / "figures")[1])
    return paths


def figure(question: Mapping, rows: pd.DataFrame) -> Figure:
    """Draw the nearest readings: a dot for the distance, a bar for how sure it is that the best is nearer."""
    shown = rows.head(_SHOWN)
    drawn = Figure(figsize=(10.5, 1.6 + 0.42 * len(shown)), layout="constrained")
    FigureCanvasAgg(drawn)
    axes = drawn.add_subplot()
    best = rows["distance"].iloc[0]
    for place, row in enumerate(shown.to_dict("records")):
        colour = QUALITATIVE[0] if row["as_good"] else QUALITATIVE[4]
        axes.hlines(place, max(best + row["low"], 0.0), best + row["high"], colors=colour, linewidth=1.2)
        axes.plot([row["distance"]], [place], marker="o", color=colour, markersize=6, linestyle="none")
    axes.set_yticks(range(len(shown)), [textwrap.fill(text, 62) for text in shown["reading"]], fontsize=8.5)
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel(_UNITS[rows["unit"].iloc[0]])
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if note := shortfall(rows):
        axes.set_title(note, loc="left", fontsize=11, fontweight="bold", color=ALARM)
    handles = [
        Line2D([], [], marker="o", linestyle="none", color=QUALITATIVE[0], label="the best, and those as good"),
        Line2D([], [], marker="o", linestyle="none", color=QUALITATIVE[4], label="farther off"),
        Line2D([], [], color=INK, label="95 % interval of the\ndifference from the best"),
    ]
    drawn.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=9.5)
    more = f"; the nearest {_SHOWN} of {len(rows)}" if len(rows) > _SHOWN else ""
    drawn.suptitle(question["title"] + more, x=0.01, ha="left", fontsize=12.5, fontweight="bold")
    return drawn
