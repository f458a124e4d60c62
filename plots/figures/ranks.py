"""``ranks``: mean ranks of algorithms over data sets, and the first of them compared with each other one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from experiments.config.paper import Paper, PaperFigure
from experiments.judge.verdict import EQUAL
from experiments.stats import LEVEL
from plots.comparisons.compared_part import ComparedPart
from plots.comparisons.standings import (
    BEATS_THE_FIRST,
    NOT_TOLD_APART,
    TOLD_APART,
    find_critical_difference,
    format_probability,
    format_rank,
    is_beyond,
    list_ranked_sets,
    name_with_odds,
    select_means,
)
from plots.labels import label_name
from plots.series import note_shortfall

if TYPE_CHECKING:
    import matplotlib.figure

_MOST_NAMED = 3
"""With more methods their number stands for their names."""
_HEADS = ("algorithm", "mean rank", "the best is better", "equal", "worse", "", "beyond the critical difference")


class RanksFigure(ComparedPart, PaperFigure):
    """Mean ranks of the algorithms of a study over its data sets, and the first compared with each other one."""

    kind: Literal["ranks"]
    advises: bool = False
    """Whether the first algorithm is the one to take: the figure must hold none that is not private as it says."""

    def make_frame(self, paper: Paper, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        """Rank the algorithms, and compare the first with each other one; see `ComparedPart.compare_algorithms`."""
        return self.compare_algorithms(paper, table)

    def draw(self, paper: Paper, frame: pd.DataFrame) -> matplotlib.figure.Figure:
        """Draw mean ranks, ranks on single data sets, and a bar of probabilities for each comparison."""
        from plots.figures._ranks_drawing import draw_ranks  # matplotlib is slow to import

        return draw_ranks(paper, self, frame)

    def describe(self, paper: Paper, frame: pd.DataFrame) -> dict[str, Any]:
        """Return the comparisons as the report's page shows them."""
        standings = self._list_standings(paper, frame)
        return {"heads": _HEADS, "standings": standings, "explanation": self._explain(paper, frame)}

    def advise(self, paper: Paper, frame: pd.DataFrame) -> str:
        """Say which algorithm to take: the best mean rank, with what the data sets say of it against each other one.

        A run that is not complete gives no advice, and says so; a figure that does not advise says nothing.
        """
        if not self.advises:
            return ""
        if note := note_shortfall(frame):
            return f"{note}; no advice"
        best, *others = select_means(frame).to_dict("records")
        margin, sure = self.margin_words, f"(chance at least {100 * LEVEL:.0f} %)"
        words = {
            TOLD_APART: f"better than {{}} by more than {margin} {sure}",
            EQUAL: f"equal to {{}} within {margin} {sure}",
            NOT_TOLD_APART: "no clear difference from {}",
            BEATS_THE_FIRST: f"worse than {{}} by more than {margin} {sure}",
        }
        parts = [f"mean rank {best['rank']:.2f} over {self.count_sets(paper, list_ranked_sets(frame))}"]
        difference = format_rank(find_critical_difference(frame))
        apart = f"{int(is_beyond(frame)[1:].sum())} of {len(others)} others"
        parts.append(f"apart from {apart} by the Nemenyi test (ranks that differ by {difference}, 5 %)")
        for verdict, says in words.items():
            names = [name_with_odds(paper, row) for row in others if row["verdict"] == verdict]
            if names:
                parts.append(says.format(_name_others(names, len(others))))
        return f"{self.title}: take {label_name(paper, best['algorithm'])}, {'; '.join(parts)}."

    def _list_standings(self, paper: Paper, frame: pd.DataFrame) -> list[list[str]]:
        body: list[list[str]] = []
        for row, is_apart in zip(select_means(frame).to_dict("records"), is_beyond(frame), strict=True):
            odds = [format_probability(row[name]) for name in ("better", "equal", "worse")]
            name = label_name(paper, row["algorithm"])
            separated = ("yes" if is_apart else "no") if body else ""
            body.append([name, format_rank(row["rank"]), *odds, row["verdict"], separated])
        return body

    def _explain(self, paper: Paper, frame: pd.DataFrame) -> str:
        return (
            f"mean ranks over {self.count_sets(paper, list_ranked_sets(frame))}. Beside each other method stands the "
            f"chance that on new data sets the best is better by more than {self.margin_words}, equal within that, or "
            f"worse; {100 * LEVEL:.0f} % decide (Bayesian signed-rank test). Mean ranks closer than "
            f"{format_rank(find_critical_difference(frame))} may differ by chance (Nemenyi test, 5 %)."
        )


def _name_others(names: list[str], n_others: int) -> str:
    """Return whom of the others a part of the advice is about, by number where they are many.

    Examples
    --------
    >>> _name_others(["a", "b"], 2), _name_others(["a", "b"], 3), _name_others(["a", "b", "c", "d"], 9)
    ('every other', 'a, b', '4 of 9 others')
    """
    if len(names) == n_others > 1:
        return "every other"
    return ", ".join(names) if len(names) <= _MOST_NAMED else f"{len(names)} of {n_others} others"
