"""The drawing of a ``ranks`` figure: mean ranks at the left, what each comparison with the first says at the right."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from experiments.config.paper import Paper
from plots import style
from plots.comparisons.standings import (
    find_critical_difference,
    format_probability,
    format_rank,
    list_ranked_sets,
    select_means,
)
from plots.labels import label_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from plots.figures.ranks import RanksFigure

_COLOURS = {"better": style.QUALITATIVE[0], "equal": "#b9c0c8", "worse": style.QUALITATIVE[1]}
_INKS = {"better": "white", "equal": style.INK, "worse": "white"}
_WIDE_ENOUGH = 0.13
"""Least share of a bar in which its probability can be read."""
_LETTERS, _LETTER_WIDTH = 45, 0.09
"""How many letters a line may have before the figure is made wider, and by how many inches for each further one."""


def draw_ranks(paper: Paper, part: RanksFigure, frame: pd.DataFrame) -> Figure:
    """Return the drawing, a line for each algorithm, the best first."""
    means = select_means(frame)
    names = label_names(paper, means["algorithm"])
    lines = [f"{name}   {format_rank(rank)}" for name, rank in zip(names, means["rank"], strict=True)]
    wider = _LETTER_WIDTH * max(0, max(map(len, lines)) - _LETTERS)
    drawn = style.make_figure(11.5 + wider, 2.3 + 0.42 * len(means))
    left, right = drawn.subplots(1, 2, sharey=True, width_ratios=(1, 1))
    _draw_ranks(left, means, frame)
    left.set_yticks(range(len(means)), lines)
    left.set_ylim(len(means) - 0.5, -1.3)
    for place, row in enumerate(means.to_dict("records")):
        _draw_comparison(right, place, row)
    _dress_comparisons(right)
    style.write_shortfall(left, frame, pad=18)
    drawn.legend(handles=_explain_colours(part), loc="outside lower right", ncols=3, frameon=False, fontsize=9.5)
    style.write_title(drawn, right, part.title)
    return drawn


def _draw_ranks(axes: Axes, means: pd.DataFrame, frame: pd.DataFrame) -> None:
    single = frame[frame["dataset"] != ""].dropna(subset=["rank"])
    ticks: dict[str, Any] = {"marker": "|", "markersize": 9, "linestyle": "none", "markeredgewidth": 2}
    for place, row in enumerate(means.to_dict("records")):
        own = single[single["algorithm"] == row["algorithm"]]["rank"]
        axes.plot(own, [place] * len(own), color=style.QUALITATIVE[4], alpha=0.55, **ticks)
        axes.plot([row["rank"]], [place], marker="o", markersize=7, linestyle="none", color=style.INK)
    axes.set_xlim(0.8, len(means) + 0.2)
    _draw_critical_difference(axes, means["rank"].iloc[0], find_critical_difference(frame))
    axes.set_xlabel(f"mean rank (1 is best)\nover {len(list_ranked_sets(frame))} data sets (ticks)")
    style.dress_axes(axes, "x")


def _draw_critical_difference(axes: Axes, best: float, difference: float) -> None:
    """Draw how far a mean rank must lie from the best one to differ by more than chance."""
    if math.isnan(difference):
        return
    end = min(best + difference, axes.get_xlim()[1])
    axes.plot([best, end], [-0.62, -0.62], color=style.INK, linewidth=1.6, marker="|", markersize=8)
    axes.axvline(best + difference, color=style.INK, linewidth=1.0, linestyle=(0, (1, 3)), zorder=1)
    words = f"critical difference {difference:.2f} (Nemenyi, 5 %)"
    is_left = best < sum(axes.get_xlim()) / 2
    place: dict[str, Any] = {"ha": "left" if is_left else "right", "va": "bottom", "fontsize": 8.5}
    place["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    axes.text(best if is_left else end, -0.8, words, **place)


def _draw_comparison(axes: Axes, place: int, row: Mapping[str, Any]) -> None:
    """Draw the probabilities of one algorithm as parts of a bar, and beside it what they say."""
    if math.isnan(row["better"]):
        words = "the best of these, compared with each of the others:" if place == 0 else "not compared"
        axes.text(0, place, words, va="center", fontsize=9.5, style="italic")
        return
    start = 0.0
    for name, colour in _COLOURS.items():
        axes.barh(place, row[name], left=start, height=0.62, color=colour)
        if row[name] >= _WIDE_ENOUGH:
            middle: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9, "color": _INKS[name]}
            axes.text(start + row[name] / 2, place, format_probability(row[name]), **middle)
        start += row[name]
    axes.text(1.02, place, row["verdict"], va="center", fontsize=9.5)


def _dress_comparisons(axes: Axes) -> None:
    from matplotlib.ticker import PercentFormatter

    axes.set_xlim(-0.06, 1.4)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    axes.set_xlabel("probability on further data sets\n(Bayesian signed-rank test; 95 % decide)", x=0.43)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.spines["bottom"].set_bounds(0, 1)
    style.hide_frame(axes)


def _explain_colours(part: RanksFigure) -> list[Any]:
    from matplotlib.patches import Patch

    margin = part.margin_words
    words = {
        "better": f"the best is better by more than {margin}",
        "equal": f"equal within {margin}",
        "worse": f"the best is worse by more than {margin}",
    }
    return [Patch(color=_COLOURS[name], label=text) for name, text in words.items()]
