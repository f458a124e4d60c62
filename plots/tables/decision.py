"""``decision``: which method to take in which situation, by what the data sets of a run say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import Field

from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.base import PrivateEstimator
from datasets.tuning import Side
from documents.document import Document, ListOf
from experiments.config import estimators
from experiments.config.paper import Paper, PaperError, Study, Where
from experiments.metrics.find import is_error
from experiments.store.long_table import distinct_privacy_reports
from experiments.store.study_rows import select_rows
from plots.comparisons.compared_part import (
    BEATS_THE_FIRST,
    NOT_COMPARED,
    TOLD_APART,
    ComparedPart,
    format_probability,
    list_ranked_sets,
    select_means,
)
from plots.comparisons.data_kinds import KINDS, UNKNOWN, list_kinds_of
from plots.labels import label_name, label_names, scale_value
from plots.privacy import is_claim_only
from plots.text_table import ArrangedTable, TextTable, make_cell

_NOT_ENOUGH = "not enough sets to say"
NO_METHOD = "none of these methods"
_HALF = "; what keeps ε for a record added or removed keeps 2 ε for one replaced, so give it half"
_NOT_HERE = "its files are missing, so that its kind is unknown"
MOST_NAMED = 2  #: with more methods that are not told apart from the first, their number stands for their names
_RELATIONS = {"added_or_removed": ADDED_OR_REMOVED, "replaced": REPLACED}
_SLACK = 1e-9
_COLUMNS = ["situation", "algorithm", "dataset", "rank", "lead", *NOT_COMPARED, "n", "n_expected", "excluded"]


class Situation(Document):
    """A line of a decision table: what a reader has and needs."""

    neighbours: Literal["added_or_removed", "replaced"] | None = None
    """Between which tables the ε on the label must hold; as each method means it if left out."""
    release: bool = False
    """Whether the whole fitted model is to be published: the method must have a form in which it can leave."""
    unchecked: bool = False
    """Whether a claim that nobody accounted for will do, too: that of a peer, or of an (ε, δ)."""

    situation: str
    """What the reader has or needs, in words."""
    study: str
    """One of the paper's studies: its algorithms come into question."""
    where: Where = {}
    """Which part of the study: its algorithms, and the ε that count."""
    metric: str
    """The metric that decides."""
    equal_within: Annotated[float, Field(ge=0, lt=1)] = 0.01
    """The largest difference that counts as practically equal; see the kind of figure ``ranks``."""
    data: str | None = None
    """Only data sets of this kind: ``small``, ``classes``, ``tails``, ``wide``, ``nominal`` or ``numbers``."""
    figure: str | None = None
    """The table or figure of the paper that shows the evidence."""

    def explain_exclusion(self, algorithm: str, table: pd.DataFrame) -> str:
        """Return why an algorithm does not come into question by rows of the long table; nothing if it does."""
        if not estimators.takes_epsilon(algorithm):
            return "not private"
        if self.release and not _has_release(algorithm):
            return "its model cannot be published"
        own = table[table["algorithm"] == algorithm]
        if own.empty:
            return "it was not run"
        reports = distinct_privacy_reports(own.get("privacy", ()))
        claims = [report for report in reports if not is_claim_only(report)]
        if not claims:
            return "" if self.unchecked else "nobody checked its ε"
        if not all(map(self._is_kept, claims)):
            return "does not keep this ε"
        return ""

    def _is_kept(self, report: Mapping[str, Any]) -> bool:
        if self.neighbours is None:
            return bool(report["keeps_claim"])
        paid = float(report["accounted"][_RELATIONS[self.neighbours]])
        return paid <= float(report["claimed_epsilon"]) * (1 + _SLACK)

    def select_part(self, sets: Side | None) -> ComparedPart:
        """Return what is compared, over data sets of every kind."""
        return ComparedPart(
            id=self.situation,
            title=self.situation,
            study=self.study,
            where=self.where,
            metric=self.metric,
            equal_within=self.equal_within,
            sets=sets,
        )


class DecisionTable(ArrangedTable):
    """Which method is first in each situation, with its evidence, or that too few data sets say so.

    In each situation the methods that come into question are ranked among themselves, over the data sets of the kind
    that is asked about. Nothing of the answer is written in the paper's file.
    """

    kind: Literal["decision"]
    lines: ListOf[Situation]
    """The situations."""
    sets: Side | None = None
    """Which data sets decide: ``held_out`` or ``chosen_on``, as ``conf/tuning.yaml`` lists them; all if left out."""
    least_sets: Annotated[int, Field(ge=2)] = 3
    """The least number of data sets that says something: with fewer the answer is that they are not enough."""

    def list_study_parts(self, paper: Paper) -> list[tuple[Study, Mapping]]:
        """Return the parts of studies that decide."""
        parts = []
        for line in self.lines:
            parts += line.select_part(self.sets).list_study_parts(paper)
        return parts

    def check(self, paper: Paper) -> None:
        """Check that every situation has something to compare, and that what it names is there; raises a PaperError."""
        for line in self.lines:
            line.select_part(self.sets).check(paper)
            if line.data is not None and line.data not in KINDS:
                raise PaperError(f"{self.id}: data: {line.data!r} is no kind of data; choose one of {', '.join(KINDS)}")
            if line.figure is not None and line.figure not in paper.parts:
                raise PaperError(f"{self.id}: figure: the paper has no table or figure {line.figure!r}")

    def make_frame(self, paper: Paper, table: pd.DataFrame, numbers: pd.DataFrame, facts: Mapping) -> pd.DataFrame:
        """Rank the methods that come into question in each situation.

        For each situation the rows of `ComparedPart.compare_algorithms`, of the methods and data sets that come into
        question, and a row for each method that does not, with the reason in ``excluded``, as for each data set whose
        kind is unknown. Of a kind that no data set is of, the methods have a row without a rank.
        """
        frames = [self._judge_situation(paper, table, line).assign(situation=line.situation) for line in self.lines]
        return pd.concat(frames, ignore_index=True)[_COLUMNS]

    def arrange(self, paper: Paper, frame: pd.DataFrame) -> TextTable:
        """Arrange the answers, with links to the evidence."""
        cells = []
        for line in self.lines:
            of_line = frame[frame["situation"] == line.situation]
            answer, evidence = self._answer(paper, line, of_line[of_line["excluded"] == ""])
            if unknown := label_names(paper, of_line.loc[of_line["excluded"] == _NOT_HERE, "dataset"]):
                evidence += f"; left out, as their files are missing: {', '.join(unknown)}"
            cells.append([make_cell(answer), make_cell(evidence, link=line.figure or "")])
        return TextTable("situation", ["take", "evidence"], [line.situation for line in self.lines], cells)

    def explain(self, paper: Paper, frame: pd.DataFrame) -> dict[str, Any]:
        """Return how an answer is found."""
        explanation = (
            f"{self.title}. Each line ranks the methods that qualify, on data sets of its kind, and names the first by "
            "mean rank, with those that may be as good or better beside it (Bayesian signed-rank test, 95 %); with "
            f"fewer than {self.least_sets} data sets it says nothing."
        )
        return {"explanation": explanation, "is_text": True}

    def _judge_situation(self, paper: Paper, table: pd.DataFrame, line: Situation) -> pd.DataFrame:
        part = line.select_part(self.sets)
        study, where = paper.study(line.study, self.id), part.narrow(paper)
        rows = select_rows(table, study, line.metric, where)
        reasons = {name: line.explain_exclusion(name, rows) for name in study.axis("algorithm", where)}
        kept = [name for name, reason in reasons.items() if not reason]
        sets, unknown = self._select_sets(paper, line)
        left_out = [(name, "", reason) for name, reason in reasons.items()]
        left_out += [("", name, _NOT_HERE) for name in unknown]
        listed = pd.DataFrame(left_out, columns=["algorithm", "dataset", "excluded"])
        listed = listed.assign(verdict="", n=0, n_expected=0).reindex(columns=_COLUMNS)
        if not kept or not sets:
            return listed
        narrowed = part.replaced(sets=None, where={**where, "algorithm": kept, "dataset": sets})
        found = narrowed.compare_algorithms(paper, table).assign(excluded="")
        return pd.concat([found, listed[listed["excluded"] != ""]])

    def _select_sets(self, paper: Paper, line: Situation) -> tuple[list[str], list[str]]:
        """Return the data sets of the kind that a situation is about, and those whose kind is unknown."""
        study = paper.study(line.study, self.id)
        sets = study.axis("dataset", line.select_part(self.sets).narrow(paper))
        if line.data is None:
            return sets, []
        kinds = {name: list_kinds_of(study, name) for name in sets}
        of_kind, unknown = ([name for name in sets if kind in kinds[name]] for kind in (line.data, UNKNOWN))
        return of_kind, unknown

    def _answer(self, paper: Paper, line: Situation, rows: pd.DataFrame) -> tuple[str, str]:
        """Return which method to take, and why."""
        names, part = list_ranked_sets(rows), line.select_part(self.sets)
        n_methods, on = len(select_means(rows)), part.count_sets(paper, names)
        if not n_methods:
            return NO_METHOD, "no method of this run does that" + (_HALF if line.neighbours == "replaced" else "")
        if len(names) < self.least_sets:
            return _NOT_ENOUGH, f"{on}, of at least {self.least_sets}"
        first, *others = select_means(rows).to_dict("records")
        if not others:
            return label_name(paper, first["algorithm"]), "the only method that qualifies"
        near = [row["algorithm"] for row in others if row["verdict"] not in (TOLD_APART, BEATS_THE_FIRST)]
        beating = [row["algorithm"] for row in others if row["verdict"] == BEATS_THE_FIRST]
        answer = _name_first(label_names(paper, [first["algorithm"], *near]))
        if beating:
            names_beating = " and ".join(label_names(paper, beating))
            answer += f"; beside it alone, {names_beating} {'is' if len(beating) == 1 else 'are'} better"
        odds = ", ".join(f"{name} {format_probability(others[0][name])}" for name in ("better", "equal", "worse"))
        lead = _format_lead(line.metric, others[0]["lead"])
        return answer, (
            f"mean rank {first['rank']:.2f} of {n_methods} over {on}; on average {lead} the next, "
            f"{label_name(paper, others[0]['algorithm'])} ({odds})"
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


def _has_release(algorithm: str) -> bool:
    """Return whether an algorithm says what may leave of its models."""
    estimator = estimators.import_class(estimators.find_target(algorithm))
    return issubclass(estimator, PrivateEstimator) and estimator._released is not PrivateEstimator._released
