"""Algorithms compared over the data sets of a study: scores, ranks and leads, and what these say as text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import Field

from datasets.tuning import Side, find_side, read_division
from documents.document import Document
from experiments.config.paper import Paper, PaperError, ShownPart, Study, Where
from experiments.judge.verdict import Verdict
from experiments.judge.words import format_share
from experiments.metrics.find import is_error, is_in_per_cent
from experiments.questions.preflight import check_metrics
from experiments.stats import LEVEL, compare_over_datasets, nemenyi_difference
from experiments.store.study_rows import select_rows
from plots.labels import MISSING, label_name, label_names

TOLD_APART = "told apart"
NOT_TOLD_APART = "not told apart"
#: Told apart the other way: a mean rank counts wins over everybody, a comparison those of one pair alone.
BEATS_THE_FIRST = "beats the first"
#: What a row holds of an algorithm that is compared with nobody.
NOT_COMPARED: dict[str, Any] = {"better": math.nan, "equal": math.nan, "worse": math.nan, "verdict": ""}


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

        A PaperError is raised if it leaves none.
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
        """Check that there is something to compare; raises a PaperError."""
        where = self.narrow(paper)
        if len(paper.study(self.study, self.id).axis("algorithm", where)) < 2:
            raise PaperError(f"{self.id}: one algorithm alone has no rank")
        check_metrics(paper, self.id, self.study, where, [self.metric])

    def list_medians(self, paper: Paper, table: pd.DataFrame) -> pd.DataFrame:
        """Return the median over repeats of each algorithm, a column, in each setting, a row.

        The index has ``dataset`` among its levels: it has those of which every setting has a result of every algorithm.
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

        One row per algorithm and data set, and one with an empty ``dataset`` for all of them: ``rank``, 1 for the best,
        of medians over repeats, mean over all other axes; ``lead``, by how much the first algorithm is better than this
        one, mean over the same axes, of errors ln(this one's / the first's); ``better``, ``equal`` and ``worse``,
        probabilities about the first one against this one, as from `compare_over_datasets`; ``verdict``, what they say;
        ``critical_difference`` of mean ranks, as from `nemenyi_difference`; ``n`` and ``n_expected`` (cells). A data
        set of which some setting has no result ranks nobody and is in no comparison.
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
        for of_task in (held_out.classification, held_out.regression):
            if set(of_task) & set(study.dataset):
                return [name for name in of_task if name not in study.dataset]
        return []

    def _compare(self, leads: pd.Series) -> dict[str, Any]:
        if leads.empty:
            return NOT_COMPARED
        posterior = vars(compare_over_datasets(leads.to_numpy(), self.margin))
        return {**posterior, "verdict": _judge_posterior(posterior)}


class BetweenLevels(Document):
    """What is shown between a floor and a ceiling, which a study of their own runs."""

    levels: str
    """The study that runs floor and ceiling on the same data sets: what has no ε need not be run at each."""
    floor: str
    """The algorithm that knows next to nothing: the majority class, or the mean."""
    ceiling: str
    """The algorithm without privacy that others are measured by."""

    def select_levels(self, paper: Paper, user: str, metric: str, sets: Sequence[str]) -> ComparedPart:
        """Return floor and ceiling on some data sets, as a part of their study; a PaperError if it has not all that."""
        study, algorithms = paper.study(self.levels, user), [self.floor, self.ceiling]
        for axis, wanted in (("algorithm", algorithms), ("dataset", sets)):
            has = study.axis(axis)
            if missing := [name for name in wanted if name not in has]:
                raise PaperError(f"{user}: study {self.levels!r} has no {axis} {', '.join(missing)}; add it there")
        where: Where = {"algorithm": tuple(algorithms), "dataset": tuple(sets)}
        return ComparedPart(id=user, title="", study=self.levels, where=where, metric=metric)


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


def format_rank(rank: float) -> str:
    """Return a mean rank as text; a dash where nothing was ranked."""
    return MISSING if math.isnan(rank) else f"{rank:.2f}"


def format_probability(probability: float) -> str:
    """Return a probability in words; a share of random draws, so that nothing is certain.

    Examples
    --------
    >>> [format_probability(p) for p in (0.9496, 1, 0.003, 0, math.nan)]
    ['94 %', '99 %', '0.3 %', 'below 0.01 %', '—']
    """
    return format_share(min(max(probability, 1e-5), 1 - 1e-5))


def name_with_odds(paper: Paper, row: Mapping[str, Any]) -> str:
    """Return the name of an algorithm, with the probabilities where these decide nothing."""
    name = label_name(paper, row["algorithm"])
    if row["verdict"] != NOT_TOLD_APART:
        return name
    odds = ", ".join(f"{what} {format_probability(row[what])}" for what in ("better", "equal", "worse"))
    return f"{name} ({odds})"


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
