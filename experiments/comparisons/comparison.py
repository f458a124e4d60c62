"""Algorithms compared over the data sets of a study: scores, ranks and leads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from datasets.tuning import find_side, read_division
from experiments.config.kinds.exhibits import BetweenLevels, ComparedPart
from experiments.config.paper import Paper
from experiments.config.study import PaperError, Study, Where
from experiments.judge.verdict import Verdict
from experiments.metrics.find import is_error, is_in_per_cent
from experiments.stats import LEVEL, compare_over_datasets, nemenyi_difference
from experiments.store.study_rows import select_rows

TOLD_APART = "told apart"
NOT_TOLD_APART = "not told apart"
#: Told apart the other way: a mean rank counts wins over everybody, a comparison those of one pair alone.
BEATS_THE_FIRST = "beats the first"
#: What a row holds of an algorithm that is compared with nobody.
NOT_COMPARED: dict[str, Any] = {"better": math.nan, "equal": math.nan, "worse": math.nan, "verdict": ""}


@dataclass(frozen=True)
class AlgorithmComparison:
    """The algorithms of a part of a study, compared over its data sets."""

    paper: Paper
    part: ComparedPart

    @property
    def study(self) -> Study:
        """The study that runs them."""
        return self.paper.study(self.part.study, self.part.id)

    @property
    def margin(self) -> float:
        """The largest difference of scores that counts as practically equal."""
        return math.log1p(self.part.equal_within) if is_error(self.part.metric) else self.part.equal_within

    @property
    def margin_words(self) -> str:
        """The largest difference that counts as practically equal, with its unit.

        Examples
        --------
        >>> paper = Paper(number=0, title="T", studies={"s": {"dataset": "car", "algorithm": ["rdt", "majority"]}})
        >>> for metric in ("accuracy", "mse", "r2"):
        ...     print(AlgorithmComparison(paper, ComparedPart(id="a", title="", study="s", metric=metric)).margin_words)
        1 point
        1 %
        0.01
        """
        if is_in_per_cent(self.part.metric):
            return f"{100 * self.part.equal_within:g} point{'' if self.part.equal_within == 0.01 else 's'}"
        return f"{100 * self.part.equal_within:g} %" if is_error(self.part.metric) else f"{self.part.equal_within:g}"

    def list_medians(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the median over repeats of each algorithm, a column, in each setting, a row.

        The index has ``dataset`` among its levels: it has those of which every setting has a result of every algorithm.
        """
        study, where = self.study, self.part.narrow(self.paper)
        axes = study.axes(where)
        by = [name for name in axes if name != "algorithm"]
        n_settings = math.prod(len(axes[name]) for name in by if name != "dataset")
        rows = select_rows(table, study, self.part.metric, where)
        medians = rows.groupby([*by, "algorithm"])[self.part.metric].median().unstack("algorithm")
        complete = medians.reindex(columns=axes["algorithm"]).dropna()
        return complete[complete.groupby("dataset")[axes["algorithm"][0]].transform("size") == n_settings]

    def score_algorithms(self, medians: pd.DataFrame) -> pd.DataFrame:
        """Return a score of each algorithm on each data set, mean over settings; of errors minus the logarithm.

        More is better; an error of 0 has a logarithm, too.
        """
        goods = -np.log(medians.clip(lower=np.finfo(float).tiny)) if is_error(self.part.metric) else medians
        return goods.groupby("dataset").mean()

    def rank_algorithms(self, medians: pd.DataFrame) -> pd.DataFrame:
        """Return the rank of each algorithm on each data set, 1 for the best, mean over settings."""
        return medians.rank(axis=1, ascending=is_error(self.part.metric)).groupby("dataset").mean()

    def compare_algorithms(self, table: pd.DataFrame) -> pd.DataFrame:
        """Rank the algorithms, and compare the first of them with each other one.

        One row per algorithm and data set, and one with an empty ``dataset`` for all of them: ``rank``, 1 for the best,
        of medians over repeats, mean over all other axes; ``lead``, by how much the first algorithm is better than this
        one, mean over the same axes, of errors ln(this one's / the first's); ``better``, ``equal`` and ``worse``,
        probabilities about the first one against this one, as from `compare_over_datasets`; ``verdict``, what they say;
        ``critical_difference`` of mean ranks, as from `nemenyi_difference`; ``n`` and ``n_expected`` (cells). A data
        set of which some setting has no result ranks nobody and is in no comparison.
        """
        axes = self.study.axes(self.part.narrow(self.paper))
        medians = self.list_medians(table)
        ranks = self.rank_algorithms(medians).reindex(axes["dataset"])
        means = ranks.mean().round(9)  # what is equal stays equal in the CSV file
        first = means.sort_values(kind="stable").index[0]
        scores = self.score_algorithms(medians).reindex(axes["dataset"])
        leads = scores.rsub(scores[first], axis=0)
        records = []
        for cells in self.count_cells(table):
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

    def count_cells(self, table: pd.DataFrame) -> list[dict[str, Any]]:
        """Return how many cells of each algorithm and data set there are, ``n``, and should be, ``n_expected``."""
        study, where = self.study, self.part.narrow(self.paper)
        axes = study.axes(where)
        counts = select_rows(table, study, self.part.metric, where).groupby(["dataset", "algorithm"]).size()
        n_expected = self.paper.repeats * math.prod(
            len(values) for name, values in axes.items() if name not in ("dataset", "algorithm")
        )
        records = []
        for algorithm in axes["algorithm"]:
            for dataset in axes["dataset"]:
                n = int(counts.get((dataset, algorithm), 0))
                records.append({"algorithm": algorithm, "dataset": dataset, "n": n, "n_expected": n_expected})
        return records

    def list_absent(self) -> list[str]:
        """Return the held-out sets of the same task that the study does not have."""
        study = self.study
        held_out = read_division().held_out
        for of_task in (held_out.classification, held_out.regression):
            if set(of_task) & set(study.dataset):
                return [name for name in of_task if name not in study.dataset]
        return []

    def _compare(self, leads: pd.Series) -> dict[str, Any]:
        if leads.empty:
            return NOT_COMPARED
        posterior = vars(compare_over_datasets(leads.to_numpy(), self.margin))
        return {**posterior, "verdict": _judge_posterior(posterior)}


def select_levels(
    paper: Paper, exhibit: BetweenLevels, user: str, metric: str, sets: Sequence[str]
) -> AlgorithmComparison:
    """Return floor and ceiling on some data sets, as their study has them; a PaperError if it has not all that."""
    study, algorithms = paper.study(exhibit.levels, user), [exhibit.floor, exhibit.ceiling]
    for axis, wanted in (("algorithm", algorithms), ("dataset", sets)):
        has = study.axis(axis)
        if missing := [name for name in wanted if name not in has]:
            raise PaperError(f"{user}: study {exhibit.levels!r} has no {axis} {', '.join(missing)}; add it there")
    where: Where = {"algorithm": tuple(algorithms), "dataset": tuple(sets)}
    return AlgorithmComparison(paper, ComparedPart(id=user, title="", study=exhibit.levels, where=where, metric=metric))


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


def _judge_posterior(posterior: Mapping[str, float]) -> str:
    """Return what the probabilities of the first algorithm against another one say, which 0.95 decides.

    >>> _judge_posterior({"better": 0.96, "equal": 0.01, "worse": 0.03})
    'told apart'
    >>> _judge_posterior({"better": 0.94, "equal": 0.06, "worse": 0.0})
    'not told apart'
    """
    verdicts = {"better": TOLD_APART, "equal": Verdict.EQUAL, "worse": BEATS_THE_FIRST}
    return next((verdict for name, verdict in verdicts.items() if posterior[name] >= LEVEL), NOT_TOLD_APART)


def select_means(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows over all data sets, the best mean rank first."""
    return frame[frame["dataset"] == ""].sort_values("rank", kind="stable")


def list_ranked_sets(frame: pd.DataFrame) -> pd.Index:
    """Return the data sets that rank the algorithms."""
    return pd.Index(frame.loc[(frame["dataset"] != "") & frame["rank"].notna(), "dataset"].unique())


def find_critical_difference(frame: pd.DataFrame) -> float:
    """Return the critical difference of the mean ranks; NaN where nothing was ranked."""
    return nemenyi_difference(len(select_means(frame)), len(list_ranked_sets(frame)))


def is_beyond(frame: pd.DataFrame) -> np.ndarray:
    """Return which mean ranks, the best first, differ from the best by at least the critical difference."""
    ranks = select_means(frame)["rank"].to_numpy()
    return ranks - ranks[0] >= find_critical_difference(frame)
