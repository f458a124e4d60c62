"""``decision``: which method to take in which situation, by what the data sets of a run say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from experiments.comparisons.comparison import (
    BEATS_THE_FIRST,
    TOLD_APART,
    AlgorithmComparison,
    list_ranked_sets,
    select_means,
)
from experiments.comparisons.decision import NOT_HERE, rank_qualified
from experiments.config.kinds.exhibits import DecisionTable, Situation
from experiments.metrics.find import is_error
from plots.exhibits.compared import describe_sets, format_probability
from plots.labels import label_name, label_names, scale_value
from plots.text_table import ArrangedTable, TextTable, make_cell

_NOT_ENOUGH = "not enough sets to say"
NO_METHOD = "none of these methods"
_HALF = "; what keeps ε for a record added or removed keeps 2 ε for one replaced, so give it half"
MOST_NAMED = 2  #: with more methods that are not told apart from the first, their number stands for their names


class DecisionView(ArrangedTable[DecisionTable], of=DecisionTable):
    """Which method is first in each situation, with its evidence, or that too few data sets say so."""

    def make_frame(self, table: pd.DataFrame, numbers: pd.DataFrame, facts: Mapping) -> pd.DataFrame:
        """Rank the methods that come into question in each situation; see `decision.rank_qualified`."""
        return rank_qualified(self.paper, self.exhibit, table)

    def arrange(self, frame: pd.DataFrame) -> TextTable:
        """Arrange the answers, with links to the evidence."""
        cells = []
        for line in self.exhibit.lines:
            of_line = frame[frame["situation"] == line.situation]
            answer, evidence = self._answer(line, of_line[of_line["excluded"] == ""])
            if unknown := label_names(self.paper, of_line.loc[of_line["excluded"] == NOT_HERE, "dataset"]):
                evidence += f"; left out, as their files are missing: {', '.join(unknown)}"
            cells.append([make_cell(answer), make_cell(evidence, link=line.figure or "")])
        return TextTable("situation", ["take", "evidence"], [line.situation for line in self.exhibit.lines], cells)

    def explain(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Return how an answer is found."""
        explanation = (
            f"{self.exhibit.title}. Each line ranks the methods that qualify, on data sets of its kind, and names the "
            "first by mean rank, with those that may be as good or better beside it (Bayesian signed-rank test, 95 %); "
            f"with fewer than {self.exhibit.least_sets} data sets it says nothing."
        )
        return {"explanation": explanation, "is_text": True}

    def _answer(self, line: Situation, rows: pd.DataFrame) -> tuple[str, str]:
        """Return which method to take, and why."""
        names, compared = list_ranked_sets(rows), AlgorithmComparison(self.paper, line.select_part(self.exhibit.sets))
        n_methods, on = len(select_means(rows)), describe_sets(compared, names)
        if not n_methods:
            return NO_METHOD, "no method of this run does that" + (_HALF if line.neighbours == "replaced" else "")
        if len(names) < self.exhibit.least_sets:
            return _NOT_ENOUGH, f"{on}, of at least {self.exhibit.least_sets}"
        first, *others = select_means(rows).to_dict("records")
        if not others:
            return label_name(self.paper, first["algorithm"]), "the only method that qualifies"
        near = [row["algorithm"] for row in others if row["verdict"] not in (TOLD_APART, BEATS_THE_FIRST)]
        beating = [row["algorithm"] for row in others if row["verdict"] == BEATS_THE_FIRST]
        answer = _name_first(label_names(self.paper, [first["algorithm"], *near]))
        if beating:
            names_beating = " and ".join(label_names(self.paper, beating))
            answer += f"; beside it alone, {names_beating} {'is' if len(beating) == 1 else 'are'} better"
        odds = ", ".join(f"{name} {format_probability(others[0][name])}" for name in ("better", "equal", "worse"))
        lead = _format_lead(line.metric, others[0]["lead"])
        return answer, (
            f"mean rank {first['rank']:.2f} of {n_methods} over {on}; on average {lead} the next, "
            f"{label_name(self.paper, others[0]['algorithm'])} ({odds})"
        )


def _name_first(names: Sequence[str]) -> str:
    """Return which method to take: the first of those that are not told apart, and the others where they are few."""
    if len(names) - 1 > MOST_NAMED:
        others = "1 other" if len(names) == 2 else f"{len(names) - 1} others"
        return f"no clear first: {names[0]} by mean rank, but {others} may be as good"
    return " or ".join(names) + (" (no clear difference)" if len(names) > 1 else "")


def _format_lead(metric: str, lead: float) -> str:
    """Return by how much the first is better than the next, in words."""
    if math.isnan(lead):
        return "not compared with"
    if is_error(metric):
        return f"its error {100 * -math.expm1(-abs(lead)):.1f} % {'below' if lead >= 0 else 'above'} that of"
    return f"{abs(scale_value(metric, lead)):.1f} points {'ahead of' if lead >= 0 else 'behind'}"
