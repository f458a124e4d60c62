"""``wins``: on how many data sets each algorithm beats each other one by more than what counts as practically equal."""

from __future__ import annotations

from typing import Any

import pandas as pd

from experiments.comparisons.comparison import AlgorithmComparison
from experiments.config.kinds.exhibits import WinsFigure
from plots import style
from plots.exhibits.compared import format_rank
from plots.exhibits.views import FigureView
from plots.labels import label_name, label_names

_HEADS = ("algorithm", "mean rank", "wins", "ties", "losses")
# Colours of their own, no variables of the page: they stay as they are where the page is dark.
_WIN, _EVEN, _LOSS, _DARK, _PALE = "#1d4f91", "#f3f4f6", "#b65a1a", "#15181c", "#fefefe"


class WinsView(FigureView[WinsFigure], of=WinsFigure):
    """On how many data sets each algorithm beats each other one by more than ``equal_within``, and loses to it."""

    @property
    def comparison(self) -> AlgorithmComparison:
        """What is compared."""
        return AlgorithmComparison(self.paper, self.exhibit)

    def make_frame(self, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        """Count wins, ties and losses of every ordered pair over data sets, in the order of mean ranks.

        They are data sets on which the difference of scores of ``row`` and ``column``, mean over all other axes of
        medians over repeats, is above, within and below the margin; ``sets`` is their sum, ``rank`` that of the row. A
        pair of an algorithm with itself has its number of cells, ``n`` of ``n_expected``, which are 0 elsewhere. A data
        set of which a setting has no result counts for nobody.
        """
        medians, margin = self.comparison.list_medians(table), self.comparison.margin
        scores, ranks = (
            self.comparison.score_algorithms(medians),
            self.comparison.rank_algorithms(medians).mean().round(9),
        )
        cells = pd.DataFrame(self.comparison.count_cells(table)).groupby("algorithm")[["n", "n_expected"]].sum()
        order = ranks.sort_values(kind="stable").index
        records = []
        for row in order:
            for column in order:
                lead = scores[row] - scores[column]
                wins, losses = int((lead > margin).sum()), int((lead < -margin).sum())
                counts = {"wins": wins, "ties": len(lead) - wins - losses, "losses": losses, "sets": len(lead)}
                n_cells = cells.loc[row].to_dict() if row == column else {"n": 0, "n_expected": 0}
                records.append({"row": row, "column": column, "rank": ranks[row], **counts, **n_cells})
        return pd.DataFrame(records)

    def sum_up(self, frame: pd.DataFrame) -> str:
        """Say which algorithm wins most of its comparisons, and how many these are."""
        others = frame[frame["row"] != frame["column"]]
        if others.empty:
            return ""
        counts = others.groupby("row", sort=False)[["wins", "ties", "losses", "sets"]].sum()
        most = counts.loc[str(counts["wins"].idxmax())]
        name = label_name(self.paper, str(most.name))
        told = f"{most['wins']}, ties in {most['ties']} and loses {most['losses']}"
        return f"{name} wins most: of {most['sets']} comparisons on a data set it wins {told}."

    def draw(self, frame: pd.DataFrame) -> style.Figure:
        """Draw a heat map of wins less losses, with the wins written into it; losses are the wins of the other.

        The name of an algorithm stands above its row: beside it, it would leave the cells no room on a phone.
        """
        order = list(frame["row"].unique())
        drawn = style.make_figure(style.WIDTH, 2.3 + 0.5 * len(order))
        axes = drawn.add_subplot()
        _fill_cells(axes, frame, order)
        ranks = frame.drop_duplicates("row")["rank"].map(format_rank)
        for place, (name, rank) in enumerate(zip(label_names(self.paper, order), ranks, strict=True)):
            axes.text(-0.5, place - 0.25, f"{name}, mean rank {rank}", va="center")
        numbers = [f"[{place + 1}]" for place in range(len(order))]
        axes.set_yticks([place + 0.25 for place in range(len(order))], numbers)
        axes.set_xticks(range(len(order)), [number.strip("[]") for number in numbers])
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        n_sets = int(frame["sets"].max())
        axes.set_xlabel(
            f"on how many of {n_sets} data sets{self._held_out},\nthe row beats the column by more than "
            f"{self.comparison.margin_words}\n(blue: it wins more often than it loses; rank 1 is best)",
        )
        axes.xaxis.set_label_position("bottom")
        style.write_shortfall(axes, frame, pad=12)
        style.write_title(drawn, axes, self.exhibit.title)
        return drawn

    def describe(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Return the sums over all others as the report's page shows them."""
        standings = []
        for name, pairs in frame[frame["row"] != frame["column"]].groupby("row", sort=False):
            counts = pairs[["wins", "ties", "losses"]].sum().map(str)
            standings.append([label_name(self.paper, str(name)), format_rank(pairs["rank"].iloc[0]), *counts])
        explanation = (
            f"each against all others, over {int(frame['sets'].max())} data sets{self._held_out}; "
            f"a tie is a difference of up to {self.comparison.margin_words}. The figure has each pair."
        )
        return {"heads": _HEADS, "standings": standings, "explanation": explanation}

    @property
    def _held_out(self) -> str:
        return ", all held out" if self.exhibit.sets == "held_out" else ""


def _fill_cells(axes: style.Axes, frame: pd.DataFrame, order: list[str]) -> None:
    """Colour each pair by wins less losses, and write the counts into it."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("wins", [_LOSS, _EVEN, _WIN])
    balance = (frame["wins"] - frame["losses"]) / frame["sets"].clip(lower=1)
    matrix = balance.to_numpy().reshape(len(order), len(order))
    for y, row in enumerate(matrix):
        extent = (-0.5, len(order) - 0.5, y + 0.5, y)
        axes.imshow(row[None], cmap=colours, vmin=-1, vmax=1, aspect="auto", extent=extent)
    axes.set_ylim(len(order) - 0.5, -0.5)
    for place, pair in enumerate(frame.to_dict("records")):
        if pair["row"] == pair["column"]:
            continue
        y, x = divmod(place, len(order))
        colour = _PALE if abs(matrix[y, x]) > 0.75 else _DARK
        axes.text(x, y + 0.25, str(pair["wins"]), ha="center", va="center", color=colour)
    for edge in range(1, len(order)):
        axes.axvline(edge - 0.5, color=style.PAPER, linewidth=1)
