"""``ranks``: mean ranks of algorithms over data sets, and the first of them compared with each other one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from experiments.config.paper import Paper, PaperError, PaperFigure, ShownPart
from experiments.judge.preflight import check_metrics
from experiments.judge.verdict import EQUAL, is_error, is_in_per_cent
from experiments.stats import LEVEL, compare_over_datasets
from experiments.store.study_rows import select_rows
from plots.figures._standings import (
    BEATS_THE_FIRST,
    NOT_TOLD_APART,
    TOLD_APART,
    count_ranked_sets,
    format_probability,
    format_rank,
    judge_posterior,
    name_with_odds,
    select_means,
)
from plots.labels import label_name
from plots.markdown import format_table
from plots.series import note_shortfall

if TYPE_CHECKING:
    import matplotlib.figure

_NOT_COMPARED: dict[str, Any] = {"better": math.nan, "equal": math.nan, "worse": math.nan, "verdict": ""}
_HEADS = ("algorithm", "mean rank", "the best is better", "equal", "worse", "")


class RanksFigure(ShownPart, PaperFigure):
    """Mean ranks of the algorithms of a study over its data sets, and the first compared with each other one."""

    kind: Literal["ranks"]
    metric: str
    """The metric that ranks them."""
    equal_within: Annotated[float, Field(ge=0, lt=1)] = 0.01
    """The largest difference that counts as practically equal: of errors a share of the error, of other metrics on
    their own scale, so that 0.01 of an accuracy is one point."""
    advises: bool = False
    """Whether the first algorithm is the one to take: the figure must hold none that is not private as it says."""

    @property
    def margin_words(self) -> str:
        """The largest difference that counts as practically equal, with its unit.

        Examples
        --------
        >>> for metric in ("accuracy", "mse", "r2"):
        ...     print(RanksFigure(id="r", title="R", kind="ranks", study="s", metric=metric).margin_words)
        1 point
        1 %
        0.01
        """
        if is_in_per_cent(self.metric):
            return f"{100 * self.equal_within:g} point{'' if self.equal_within == 0.01 else 's'}"
        return f"{100 * self.equal_within:g} %" if is_error(self.metric) else f"{self.equal_within:g}"

    def check(self, paper: Paper) -> None:
        """Check that there is something to rank.

        Raises
        ------
        PaperError
            If there is not.
        """
        if len(paper.study(self.study, self.id).axis("algorithm", self.where)) < 2:
            raise PaperError(f"{self.id}: one algorithm alone has no rank")
        check_metrics(paper, self.id, self.study, self.where, [self.metric])

    def make_frame(self, paper: Paper, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        """Rank the algorithms, and compare the first of them with each other one.

        Returns
        -------
        DataFrame
            One row per algorithm and data set, and one with an empty ``dataset`` for all of them: ``rank``, 1 for the
            best, of medians over repeats, mean over all other axes; ``lead``, by how much the first algorithm is better
            than this one, mean over the same axes, of errors ln(this one's / the first's); ``better``, ``equal`` and
            ``worse``, probabilities about the first one against this one, as from `compare_over_datasets`; ``verdict``,
            what they say; ``n`` and ``n_expected`` (cells). A data set of which some setting has no result ranks nobody
            and is in no comparison.
        """
        study = paper.study(self.study, self.id)
        axes = study.axes(self.where)
        by = [name for name in axes if name != "algorithm"]
        n_settings = math.prod(len(axes[name]) for name in by if name != "dataset")
        rows = select_rows(table, study, self.metric, self.where)
        counts = rows.groupby(["dataset", "algorithm"]).size()
        medians = self._list_medians(rows, by, axes["algorithm"], n_settings)
        ranks = medians.rank(axis=1, ascending=is_error(self.metric)).groupby("dataset").mean().reindex(axes["dataset"])
        means = ranks.mean().round(9)  # what is equal stays equal in the CSV file
        first = means.sort_values(kind="stable").index[0]
        leads = self._measure_leads(medians, first).reindex(axes["dataset"])
        records = []
        for algorithm in axes["algorithm"]:
            for dataset in axes["dataset"]:
                values = {"rank": ranks.at[dataset, algorithm], "lead": leads.at[dataset, algorithm], **_NOT_COMPARED}
                cells = {"n": int(counts.get((dataset, algorithm), 0)), "n_expected": n_settings * paper.repeats}
                records.append({"algorithm": algorithm, "dataset": dataset, **values, **cells})
        for algorithm in axes["algorithm"]:
            compared = _NOT_COMPARED if algorithm == first else self._compare(leads[algorithm].dropna())
            values = {"rank": means[algorithm], "lead": leads[algorithm].mean(), **compared}
            records.append({"algorithm": algorithm, "dataset": "", **values, "n": 0, "n_expected": 0})
        return pd.DataFrame(records)

    def draw(self, paper: Paper, frame: pd.DataFrame) -> matplotlib.figure.Figure:
        """Draw mean ranks, ranks on single data sets, and a bar of probabilities for each comparison."""
        from plots.figures._ranks_drawing import draw_ranks  # matplotlib is slow to import

        return draw_ranks(paper, self, frame)

    def describe(self, paper: Paper, frame: pd.DataFrame) -> dict[str, Any]:
        """Return the comparisons as the report's page shows them."""
        return {"heads": _HEADS, "standings": self._list_standings(paper, frame), "explanation": self._explain(frame)}

    def format_markdown(self, paper: Paper, frame: pd.DataFrame) -> str:
        """Return the comparisons as a table."""
        table = format_table(_HEADS, self._list_standings(paper, frame))
        return f"{self.title}: {self._explain(frame)}\n\n{table}"

    def advise(self, paper: Paper, frame: pd.DataFrame) -> str:
        """Say which algorithm to take: the best mean rank, with what the data sets say of it against each other one.

        A run that is not complete gives no advice, and says so; a figure that does not advise says nothing.
        """
        if not self.advises:
            return ""
        if note := note_shortfall(frame):
            return f"{note}; no advice"
        best, *others = select_means(frame).to_dict("records")
        margin, level = self.margin_words, f"{100 * LEVEL:.0f} %"
        words = {
            TOLD_APART: f"better by more than {margin}, with a probability of at least {level}, than",
            EQUAL: f"equal within {margin}, with a probability of at least {level}, to",
            NOT_TOLD_APART: "not told apart from",
            BEATS_THE_FIRST: f"worse by more than {margin}, with a probability of at least {level}, than",
        }
        parts = [f"mean rank {best['rank']:.2f} over {count_ranked_sets(frame)} data sets"]
        for verdict, says in words.items():
            names = [name_with_odds(paper, row) for row in others if row["verdict"] == verdict]
            if names:
                parts.append(f"{says} {'every other' if len(names) == len(others) > 1 else ', '.join(names)}")
        return f"{self.title}: take {label_name(paper, best['algorithm'])}: {'; '.join(parts)}."

    def _list_medians(self, rows: pd.DataFrame, by: list[str], algorithms: list[str], n_settings: int) -> pd.DataFrame:
        """Return the median of each algorithm in each setting of the data sets all of whose settings have results."""
        medians = rows.groupby([*by, "algorithm"])[self.metric].median().unstack("algorithm")
        complete = medians.reindex(columns=algorithms).dropna()
        return complete[complete.groupby("dataset")[algorithms[0]].transform("size") == n_settings]

    def _measure_leads(self, medians: pd.DataFrame, first: str) -> pd.DataFrame:
        """Return by how much the first algorithm is better than each one on each data set; an error of 0 has a log."""
        goods = -np.log(medians.clip(lower=np.finfo(float).tiny)) if is_error(self.metric) else medians
        return goods.rsub(goods[first], axis=0).groupby("dataset").mean()

    def _compare(self, leads: pd.Series) -> dict[str, Any]:
        if leads.empty:
            return _NOT_COMPARED
        margin = math.log1p(self.equal_within) if is_error(self.metric) else self.equal_within
        posterior = vars(compare_over_datasets(leads.to_numpy(), margin))
        return {**posterior, "verdict": judge_posterior(posterior)}

    def _list_standings(self, paper: Paper, frame: pd.DataFrame) -> list[list[str]]:
        body = []
        for row in select_means(frame).to_dict("records"):
            odds = [format_probability(row[name]) for name in ("better", "equal", "worse")]
            body.append([label_name(paper, row["algorithm"]), format_rank(row["rank"]), *odds, row["verdict"]])
        return body

    def _explain(self, frame: pd.DataFrame) -> str:
        return (
            f"mean ranks over {count_ranked_sets(frame)} data sets, and the probabilities that on further data sets "
            f"the best is better than this one by more than {self.margin_words}, equal within that, or worse (Bayesian "
            f"signed-rank test; {100 * LEVEL:.0f} % decide)."
        )
