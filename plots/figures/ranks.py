"""``ranks``: mean ranks of algorithms over data sets, and the first of them compared with each other one."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from typing import Any

import pandas as pd

from experiments.comparisons.comparison import (
    BEATS_THE_FIRST,
    NOT_TOLD_APART,
    TOLD_APART,
    AlgorithmComparison,
    find_critical_difference,
    is_beyond,
    list_ranked_sets,
    select_means,
)
from experiments.config.kinds.exhibits import RanksFigure
from experiments.judge.verdict import Verdict
from experiments.stats import LEVEL
from plots import style
from plots.exhibits.compared import describe_sets, format_probability, format_rank, name_with_odds
from plots.exhibits.views import FigureView
from plots.labels import label_name, label_names
from plots.series import note_shortfall

_MOST_NAMED = 3  # with more methods their number stands for their names
_HEADS = ("algorithm", "mean rank", "the best is better", "equal", "worse", "", "beyond the critical difference")
_COLOURS = {"better": style.QUALITATIVE[0], "equal": style.BETWEEN, "worse": style.QUALITATIVE[1]}
_INKS = {"better": style.PAPER, "equal": style.INK, "worse": style.PAPER}
_WIDE_ENOUGH = 0.3  # least share of a bar in which its probability can be read
_LONGEST_NAME = 24  # characters of a line of an algorithm's name


class RanksView(FigureView[RanksFigure], of=RanksFigure):
    """Mean ranks of the algorithms of a study over its data sets, and the first compared with each other one."""

    @property
    def comparison(self) -> AlgorithmComparison:
        """What is compared."""
        return AlgorithmComparison(self.paper, self.exhibit)

    def make_frame(self, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        """Rank the algorithms, and compare the first with each other one; see `ComparedPart.compare_algorithms`."""
        return self.comparison.compare_algorithms(table)

    def draw(self, frame: pd.DataFrame) -> style.Figure:
        """Draw mean ranks and ranks on single data sets, and below them a bar of probabilities for each comparison."""
        means = select_means(frame)
        names = [textwrap.fill(name, _LONGEST_NAME) for name in label_names(self.paper, means["algorithm"])]
        drawn = style.make_figure(style.WIDTH, 3.9 + 0.8 * len(means))
        upper, lower = drawn.subplots(2, 1)
        _draw_ranks(upper, means, frame)
        ranked = [f"{name}\u2002{format_rank(rank)}" for name, rank in zip(names, means["rank"], strict=True)]
        for axes, texts in ((upper, ranked), (lower, names)):
            axes.set_yticks(range(len(means)), texts, linespacing=1)
        upper.set_ylim(len(means) - 0.5, -1.3)
        lower.set_ylim(len(means) - 0.5, -0.6)
        for place, row in enumerate(means.to_dict("records")):
            _draw_comparison(lower, place, row)
        _dress_comparisons(lower)
        style.write_shortfall(upper, frame, pad=18)
        margin = self.comparison.margin_words
        handles = [
            style.make_patch(f"the best is better by more than {margin}", _COLOURS["better"]),
            style.make_patch(f"equal within {margin}", _COLOURS["equal"]),
            style.make_patch(f"the best is worse by more than {margin}", _COLOURS["worse"]),
        ]
        style.add_legend(drawn, handles=handles)
        style.write_title(drawn, lower, self.exhibit.title)
        return drawn

    def describe(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Return the comparisons as the report's page shows them."""
        standings = []
        for place, (row, is_apart) in enumerate(
            zip(select_means(frame).to_dict("records"), is_beyond(frame), strict=True)
        ):
            odds = [format_probability(row[name]) for name in _COLOURS]
            separated = ("yes" if is_apart else "no") if place else ""
            name = label_name(self.paper, row["algorithm"])
            standings.append([name, format_rank(row["rank"]), *odds, row["verdict"], separated])
        sets, margin = describe_sets(self.comparison, list_ranked_sets(frame)), self.comparison.margin_words
        explanation = (
            f"mean ranks over {sets}. Beside each other method stands the "
            f"chance that on new data sets the best is better by more than {margin}, equal within that, or "
            f"worse; {100 * LEVEL:.0f} % decide (Bayesian signed-rank test). Mean ranks closer than "
            f"{format_rank(find_critical_difference(frame))} may differ by chance (Nemenyi test, 5 %)."
        )
        return {"heads": _HEADS, "standings": standings, "explanation": explanation}

    def sum_up(self, frame: pd.DataFrame) -> str:
        """Say which algorithm has the best mean rank, and which the next."""
        means = select_means(frame).dropna(subset=["rank"]).to_dict("records")
        if len(means) < 2:
            return ""
        first, second = ((label_name(self.paper, row["algorithm"]), format_rank(row["rank"])) for row in means[:2])
        over = f"of {len(means)} over {len(list_ranked_sets(frame))} data sets"
        return f"{first[0]} has the best mean rank {over}, {first[1]}; next is {second[0]} with {second[1]}."

    def advise(self, frame: pd.DataFrame) -> str:
        """Say which algorithm to take: the best mean rank, with what the data sets say of it against each other one.

        A run that is not complete gives no advice, and says so; a figure that does not advise says nothing.
        """
        if not self.exhibit.advises:
            return ""
        if note := note_shortfall(frame):
            return f"{note}; no advice"
        best, *others = select_means(frame).to_dict("records")
        margin, sure = self.comparison.margin_words, f"(chance at least {100 * LEVEL:.0f} %)"
        words = {
            TOLD_APART: f"better than {{}} by more than {margin} {sure}",
            Verdict.EQUAL: f"equal to {{}} within {margin} {sure}",
            NOT_TOLD_APART: "no clear difference from {}",
            BEATS_THE_FIRST: f"worse than {{}} by more than {margin} {sure}",
        }
        parts = [f"mean rank {best['rank']:.2f} over {describe_sets(self.comparison, list_ranked_sets(frame))}"]
        difference = format_rank(find_critical_difference(frame))
        apart = f"{int(is_beyond(frame)[1:].sum())} of {len(others)} others"
        parts.append(f"apart from {apart} by the Nemenyi test (ranks that differ by {difference}, 5 %)")
        for verdict, says in words.items():
            names = [name_with_odds(self.paper, row) for row in others if row["verdict"] == verdict]
            if names:
                parts.append(says.format(_name_others(names, len(others))))
        return f"{self.exhibit.title}: take {label_name(self.paper, best['algorithm'])}, {'; '.join(parts)}."


def _draw_ranks(axes: style.Axes, means: pd.DataFrame, frame: pd.DataFrame) -> None:
    single = frame[frame["dataset"] != ""].dropna(subset=["rank"])
    ticks: dict[str, Any] = {"marker": "|", "markersize": 9, "linestyle": "none", "markeredgewidth": 2}
    for place, row in enumerate(means.to_dict("records")):
        ranks = single[single["algorithm"] == row["algorithm"]]["rank"]
        axes.plot(ranks, [place] * len(ranks), color=style.QUALITATIVE[4], alpha=0.55, **ticks)
        axes.plot([row["rank"]], [place], marker="o", markersize=7, linestyle="none", color=style.INK)
    axes.set_xlim(0.8, len(means) + 0.2)
    _draw_critical_difference(axes, means["rank"].iloc[0], find_critical_difference(frame))
    axes.set_xlabel(f"mean rank (1 is best)\nover {len(list_ranked_sets(frame))} data sets (ticks)")
    style.dress_axes(axes, "x")


def _draw_critical_difference(axes: style.Axes, best: float, difference: float) -> None:
    """Draw how far a mean rank must lie from the best one to differ by more than chance."""
    if math.isnan(difference):
        return
    end = min(best + difference, axes.get_xlim()[1])
    axes.plot([best, end], [-0.62, -0.62], color=style.INK, linewidth=1.6, marker="|", markersize=8)
    axes.axvline(best + difference, color=style.INK, linewidth=1.0, linestyle=(0, (1, 3)), zorder=1)
    words = f"critical difference {difference:.2f} (Nemenyi, 5 %)"
    # It ends where the axes do, which may be narrower: there is room on their left, above the names.
    place: dict[str, Any] = {"ha": "right", "va": "bottom", "transform": axes.get_yaxis_transform()}
    axes.text(1.0, -0.8, words, bbox={"facecolor": style.PAPER, "edgecolor": "none", "pad": 1}, **place)


def _draw_comparison(axes: style.Axes, place: int, row: Mapping[str, Any]) -> None:
    """Draw the probabilities of one algorithm as parts of a bar, and beside it what they say."""
    if math.isnan(row["better"]):
        words = "the best of these, compared\nwith each of the others:" if place == 0 else "not compared"
        axes.text(0, place, words, va="center", style="italic")
        return
    start = 0.0
    for name, colour in _COLOURS.items():
        axes.barh(place, row[name], left=start, height=0.62, color=colour)
        if row[name] >= _WIDE_ENOUGH:
            middle: dict[str, Any] = {"ha": "center", "va": "center", "color": _INKS[name]}
            axes.text(start + row[name] / 2, place, format_probability(row[name]), **middle)
        start += row[name]
    axes.text(1.02, place, row["verdict"], va="center")


def _dress_comparisons(axes: style.Axes) -> None:
    from matplotlib.ticker import PercentFormatter

    axes.set_xlim(-0.06, 1.62)
    axes.set_xticks([0, 0.5, 1])
    axes.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    axes.set_xlabel("probability on further data sets\n(Bayesian signed-rank test;\n95 % decide)", x=0.4)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.spines["bottom"].set_bounds(0, 1)
    style.hide_frame(axes)


def _name_others(names: list[str], n_others: int) -> str:
    """Return whom of the others a part of the advice is about, by number where they are many.

    >>> _name_others(["a", "b"], 2), _name_others(["a", "b"], 3), _name_others(["a", "b", "c", "d"], 9)
    ('every other', 'a, b', '4 of 9 others')
    """
    if len(names) == n_others > 1:
        return "every other"
    return ", ".join(names) if len(names) <= _MOST_NAMED else f"{len(names)} of {n_others} others"
