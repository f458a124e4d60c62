"""A part of a study in which algorithms are compared over data sets: their scores, ranks and leads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import Field

from datasets.tuning import Side, find_side, read_division
from experiments.config.paper import Paper, PaperError, ShownPart, Study
from experiments.metrics.find import is_error, is_in_per_cent
from experiments.questions.preflight import check_metrics
from experiments.stats import compare_over_datasets, nemenyi_difference
from experiments.store.study_rows import select_rows
from plots.comparisons.standings import judge_posterior
from plots.labels import label_names

NOT_COMPARED: dict[str, Any] = {"better": math.nan, "equal": math.nan, "worse": math.nan, "verdict": ""}
"""What a row holds of an algorithm that is compared with nobody."""


class ComparedPart(ShownPart):
    """A table or a figure that compares the algorithms of a part of a study over its data sets."""

    metric: str
    """The metric that they are compared by."""
    equal_within: Annotated[float, Field(ge=0, lt=1)] = 0.01
    """The largest difference that counts as practically equal: of errors a share of the error, of other metrics on
    their own scale, so that 0.01 of an accuracy is one point."""
    sets: Side | None = None
    """Which data sets of the study: ``held_out`` or ``chosen_on``, as ``conf/tuning.yaml`` lists them; both if left
    out."""

    @property
    def margin(self) -> float:
        """The largest difference of scores that counts as practically equal."""
        return math.log1p(self.equal_within) if is_error(self.metric) else self.equal_within

    @property
    def margin_words(self) -> str:
        """The largest difference that counts as practically equal, with its unit.

        Examples
        --------
        >>> for metric in ("accuracy", "mse", "r2"):
        ...     print(ComparedPart.model_construct(metric=metric, equal_within=0.01).margin_words)
        1 point
        1 %
        0.01
        """
        if is_in_per_cent(self.metric):
            return f"{100 * self.equal_within:g} point{'' if self.equal_within == 0.01 else 's'}"
        return f"{100 * self.equal_within:g} %" if is_error(self.metric) else f"{self.equal_within:g}"

    def narrow(self, paper: Paper) -> dict[str, Any]:
        """Return which part of the study is compared: ``where``, with the data sets that ``sets`` leaves.

        Raises
        ------
        PaperError
            If it leaves none.
        """
        if self.sets is None:
            return dict(self.where)
        study = paper.study(self.study, self.id)
        kept = [name for name in study.axis("dataset", self.where) if find_side(name) == self.sets]
        if not kept:
            raise PaperError(
                f"{self.id}: study {self.study!r} has no data set that the project lists as {self.sets}; "
                "leave sets out, or add one to the study"
            )
        return {**self.where, "dataset": kept}

    def list_study_parts(self, paper: Paper) -> list[tuple[Study, Mapping]]:
        """Return the part of the study that is compared."""
        return [(paper.study(self.study, self.id), self.narrow(paper))]

    def describe(self, paper: Paper, frame: pd.DataFrame) -> dict[str, Any]:
        """Return what the report's page shows beside it; nothing of a part that is no table or figure."""
        return {}

    def check(self, paper: Paper) -> None:
        """Check that there is something to compare.

        Raises
        ------
        PaperError
            If there is not.
        """
        where = self.narrow(paper)
        if len(paper.study(self.study, self.id).axis("algorithm", where)) < 2:
            raise PaperError(f"{self.id}: one algorithm alone has no rank")
        check_metrics(paper, self.id, self.study, where, [self.metric])

    def list_medians(self, paper: Paper, table: pd.DataFrame) -> pd.DataFrame:
        """Return the median over repeats of each algorithm in each setting.

        Returns
        -------
        DataFrame
            One row per setting of the data sets of which every setting has a result of every algorithm, one column per
            algorithm; the index has ``dataset`` among its levels.
        """
        study, where = paper.study(self.study, self.id), self.narrow(paper)
        axes = study.axes(where)
        by = [name for name in axes if name != "algorithm"]
        n_settings = math.prod(len(axes[name]) for name in by if name != "dataset")
        rows = select_rows(table, study, self.metric, where)
        medians = rows.groupby([*by, "algorithm"])[self.metric].median().unstack("algorithm")
        complete = medians.reindex(columns=axes["algorithm"]).dropna()
        return complete[complete.groupby("dataset")[axes["algorithm"][0]].transform("size") == n_settings]

    def score_algorithms(self, medians: pd.DataFrame) -> pd.DataFrame:
        """Return a score of each algorithm on each data set, mean over settings; of errors minus the logarithm.

        More is better; an error of 0 has a logarithm, too.
        """
        goods = -np.log(medians.clip(lower=np.finfo(float).tiny)) if is_error(self.metric) else medians
        return goods.groupby("dataset").mean()

    def rank_algorithms(self, medians: pd.DataFrame) -> pd.DataFrame:
        """Return the rank of each algorithm on each data set, 1 for the best, mean over settings."""
        return medians.rank(axis=1, ascending=is_error(self.metric)).groupby("dataset").mean()

    def compare_algorithms(self, paper: Paper, table: pd.DataFrame) -> pd.DataFrame:
        """Rank the algorithms, and compare the first of them with each other one.

        Returns
        -------
        DataFrame
            One row per algorithm and data set, and one with an empty ``dataset`` for all of them: ``rank``, 1 for the
            best, of medians over repeats, mean over all other axes; ``lead``, by how much the first algorithm is better
            than this one, mean over the same axes, of errors ln(this one's / the first's); ``better``, ``equal`` and
            ``worse``, probabilities about the first one against this one, as from `compare_over_datasets`; ``verdict``,
            what they say; ``critical_difference`` of mean ranks, as from `nemenyi_difference`; ``n`` and
            ``n_expected`` (cells). A data set of which some setting has no result ranks nobody and is in no comparison.
        """
        axes = paper.study(self.study, self.id).axes(self.narrow(paper))
        medians = self.list_medians(paper, table)
        ranks = self.rank_algorithms(medians).reindex(axes["dataset"])
        means = ranks.mean().round(9)  # what is equal stays equal in the CSV file
        first = means.sort_values(kind="stable").index[0]
        scores = self.score_algorithms(medians).reindex(axes["dataset"])
        leads = scores.rsub(scores[first], axis=0)
        records = []
        for cells in self.count_cells(paper, table):
            algorithm, dataset = cells["algorithm"], cells["dataset"]
            values = {"rank": ranks.at[dataset, algorithm], "lead": leads.at[dataset, algorithm], **NOT_COMPARED}
            records.append({**cells, **values, "critical_difference": math.nan})
        apart = nemenyi_difference(len(axes["algorithm"]), len(ranks.dropna()))
        for algorithm in axes["algorithm"]:
            compared = NOT_COMPARED if algorithm == first else self._compare(leads[algorithm].dropna())
            values = {"rank": means[algorithm], "lead": leads[algorithm].mean(), **compared}
            nothing = {"algorithm": algorithm, "dataset": "", "n": 0, "n_expected": 0}
            records.append({**nothing, **values, "critical_difference": apart})
        return pd.DataFrame(records)

    def count_cells(self, paper: Paper, table: pd.DataFrame) -> list[dict[str, Any]]:
        """Return how many cells of each algorithm and data set there are, ``n``, and should be, ``n_expected``."""
        study, where = paper.study(self.study, self.id), self.narrow(paper)
        axes = study.axes(where)
        counts = select_rows(table, study, self.metric, where).groupby(["dataset", "algorithm"]).size()
        n_expected = paper.repeats * math.prod(
            len(values) for name, values in axes.items() if name not in ("dataset", "algorithm")
        )
        records = []
        for algorithm in axes["algorithm"]:
            for dataset in axes["dataset"]:
                n = int(counts.get((dataset, algorithm), 0))
                records.append({"algorithm": algorithm, "dataset": dataset, "n": n, "n_expected": n_expected})
        return records

    def count_sets(self, paper: Paper, names: pd.Index) -> str:
        """Return how many data sets there are, how many of them held out, and which held-out ones the study lacks."""
        parts = [f"{len(names)} data set{'' if len(names) == 1 else 's'}", *filter(None, [describe_held_out(names)])]
        study = paper.study(self.study, self.id)
        if self.sets == "held_out" and (absent := self._list_absent(study)):
            parts.append(f"not in this study: {', '.join(label_names(paper, absent))}")
        return ", ".join(parts)

    def _list_absent(self, study: Study) -> list[str]:
        """Return the held-out sets of the same task that the study does not have."""
        held_out = read_division().held_out
        of_task = next(
            (sets for sets in (held_out.classification, held_out.regression) if set(sets) & set(study.dataset)), ()
        )
        return [name for name in of_task if name not in study.dataset]

    def _compare(self, leads: pd.Series) -> dict[str, Any]:
        if leads.empty:
            return NOT_COMPARED
        posterior = vars(compare_over_datasets(leads.to_numpy(), self.margin))
        return {**posterior, "verdict": judge_posterior(posterior)}


def describe_held_out(names: Iterable[str]) -> str:
    """Return how many of some data sets are held out; nothing if ``conf/tuning.yaml`` has none of them.

    Examples
    --------
    >>> describe_held_out(["adult", "letter"]), describe_held_out(["letter"]), describe_held_out(["adult", "car"])
    ('1 of 2 held out', 'all held out', 'none held out')
    >>> describe_held_out([])
    ''
    """
    sides = [find_side(name) for name in sorted(set(names))]
    n_held_out = sides.count("held_out")
    if not any(sides):
        return ""
    if n_held_out == len(sides):
        return "all held out"
    return f"{n_held_out} of {len(sides)} held out" if n_held_out else "none held out"
