"""How far each reading of a paper is from what the paper prints: a table, and a figure for each question."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.config.paper import Paper, Question
from plots import style
from plots.style import INK, QUALITATIVE

_LARGEST = 16  # readings in a figure; all are in the table
_UNITS = {
    "points": "off what is printed: points, root mean square",
    "orderings": "share of orderings the wrong way round",
}


def write_rankings(paper: Paper, rankings: Sequence[pd.DataFrame], folder: Path) -> list[Path]:
    """Write ``readings.csv`` and a figure for each question into the folder of a paper; returns their paths.

    Parameters
    ----------
    paper : Paper
        With its ``readings``.
    rankings : sequence of DataFrame
        As from `readings.ranking.rank_readings`, one for each question.
    folder : Path
        ``results/paper-N``.
    """
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    table = folder / "readings.csv"
    pd.concat(rankings).to_csv(table, index=False, lineterminator="\n", float_format="%.10g")
    paths = [table]
    for question, rows in zip(paper.readings, rankings, strict=True):
        draw = partial(draw_ranking, question, rows)
        files = style.write_figure(f"readings-{question.id}", draw, rows, folder / "figures")
        paths.append(files[1])
    return paths


def draw_ranking(question: Question, rows: pd.DataFrame) -> Figure:
    """Draw the nearest readings: a dot for the distance, a bar for how sure it is that the best is nearer."""
    nearest = rows.head(_LARGEST)
    drawn = style.make_figure(10.5, 1.6 + 0.42 * len(nearest))
    axes = drawn.add_subplot()
    best = rows["distance"].iloc[0]
    for place, row in enumerate(nearest.to_dict("records")):
        colour = QUALITATIVE[0] if row["as_good"] else QUALITATIVE[4]
        axes.hlines(place, max(best + row["low"], 0.0), best + row["high"], colors=colour, linewidth=1.2)
        axes.plot([row["distance"]], [place], marker="o", color=colour, markersize=6, linestyle="none")
    axes.set_yticks(range(len(nearest)), nearest["reading"].str.wrap(62), fontsize=8.5)
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel(_UNITS[rows["unit"].iloc[0]])
    style.dress_axes(axes, "x")
    style.write_shortfall(axes, rows)
    handles = [
        Line2D([], [], marker="o", linestyle="none", color=QUALITATIVE[0], label="the best, and those as good"),
        Line2D([], [], marker="o", linestyle="none", color=QUALITATIVE[4], label="farther off"),
        Line2D([], [], color=INK, label="95 % interval of the\ndifference from the best"),
    ]
    drawn.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=9.5)
    more = f"; the nearest {_LARGEST} of {len(rows)}" if len(rows) > _LARGEST else ""
    drawn.suptitle(question.title + more, x=0.01, ha="left", fontsize=12.5, fontweight="bold")
    return drawn
