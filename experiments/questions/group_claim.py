"""Claims about groups of cells: from the words of a paper's file to the settings whose runs decide.

All say "at every ...", so a claim holds only if it holds in every group; how that is proven stands in
`judge.evidence.replay`.

Repeats are runs on the same rows, each with its own noise and, unless the split is official or in order, its own split.
A verdict speaks of further such runs. They are independent, given the rows, so nothing is corrected for splits that
share rows: a correction such as Nadeau and Bengio's is for claims about further rows, see `further_rows`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, field_validator

from datasets import catalogue
from documents.document import ListOf, Scalar
from experiments.config.paper import Claim, Paper
from experiments.config.study import PaperError, Study, StudyPart
from experiments.judge.evidence.claim_group import ClaimTest, Contrast
from experiments.judge.numbers.number_verdict import PrintedNumber
from experiments.judge.question import AskedGroup, ClaimQuestion, ComputedQuestion
from experiments.judge.verdict import Verdict
from experiments.metrics.find import find_metric
from experiments.metrics.metric import Margin
from experiments.questions.settings import list_setting_keys

_STEP = "step "
"""How the name of a step begins; its number follows."""

Level = dict[str, Scalar]
"""What tells a level that a claim compares from the others: values of axes."""


class ClaimAboutRuns(Claim, ABC):
    """A claim that runs decide, as many as it takes."""

    metric: str
    """The metric that it is about."""
    most_repeats: int | None = Field(None, ge=1)
    """Repeats after which it stays undecided, in place of the paper's ``most_repeats``: fewer where a run is dear, more
    where it is cheap. What the command line asks for comes before both."""
    median: str = ""
    """The paper's words that say that it is about the median of several runs; without them it is about their mean."""

    #: Which effects bear the claim out: 1 those above zero, -1 those below, 0 those near it.
    direction: ClassVar[int] = 1

    def find_direction(self, part: str) -> int:
        """Return which effects of a part bear the claim out: as a rule its `direction`."""
        return self.direction

    def find_compared(self, paper: Paper, part: str) -> tuple[str, list[Scalar]]:
        """Return the axis along which a part compares, and the values that it does; none if its name says all."""
        return "", []

    def explain_missing(self, paper: Paper) -> str:
        """Return why it can never be decided; nothing if it can."""
        return ""

    def resolve(self, paper: Paper, numbers: Mapping[str, PrintedNumber]) -> ClaimQuestion | ComputedQuestion:
        """Return the question, or why there is none; see `Claim.resolve`."""
        if reason := self.explain_missing(paper):
            return ComputedQuestion.known(Verdict.NOT_IMPLEMENTED, reason, self.metric)
        return self.make_question(paper)

    @abstractmethod
    def make_question(self, paper: Paper) -> ClaimQuestion:
        """Return the question, with all chance of a false verdict as its level.

        PaperError if the claim names what the paper does not have.
        """

    @abstractmethod
    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Return what the claim says of a group whose values have a row a repeat.

        The columns are the levels that it compares. The margin counts as no difference.
        """

    def find_margin(self, paper: Paper) -> Margin:
        """Return what counts as no difference: as a rule δ of the metric."""
        return find_margin(paper, self.metric)

    @property
    def statistic(self) -> str:
        """What the claim is about, and its verdict, effect and interval are of."""
        return "median" if self.median else "mean"

    @abstractmethod
    def list_measured(self) -> list[tuple[StudyPart, list[str]]]:
        """Return the parts of studies that it speaks of, with the metrics that these must have."""

    def find_last_look(self, paper: Paper) -> int:
        """Return after how many repeats it stays undecided."""
        return max(paper.repeats, self.most_repeats or paper.most_repeats)


class GroupClaim(ClaimAboutRuns, StudyPart):
    """A claim about every group of a part of a study."""

    within: ListOf[str]
    """The axes whose values tell groups apart: every axis that varies, but that along which the metric changes."""

    #: The keys whose values the claim compares, the lesser first.
    compared_keys: ClassVar[tuple[str, ...]] = ()

    @property
    def compared_axis(self) -> str:
        """The axis of the values that the claim names."""
        return "algorithm"

    @property
    def averaged_axes(self) -> Sequence[str]:
        """The axes over which a run is averaged before it is compared."""
        return ()

    @property
    def named_values(self) -> dict[str, Any]:
        """The values that the claim compares, by the keys that name them, the lesser first."""
        return {key: getattr(self, key) for key in self.compared_keys}

    def list_levels(self, study: Study) -> list[Level]:
        """Return the levels that the claim compares: as a rule its named values."""
        return [{self.compared_axis: value} for value in self.named_values.values()]

    def list_measured(self) -> list[tuple[StudyPart, list[str]]]:
        """Return its part of a study, with its metric."""
        return [(self, [self.metric])]

    def explain_missing(self, paper: Paper) -> str:
        """Return why the claim can never be tested: it speaks of an algorithm that is not implemented."""
        reasons = [paper.not_implemented.get(str(value), "") for value in self.named_values.values()]
        return "; ".join(filter(None, reasons))

    def find_part(self, paper: Paper) -> tuple[Study, dict[str, Any]]:
        """Return the study that the claim speaks of, and which part of it; PaperError if it names what is not there."""
        study = paper.study(self.study, f"claim {self.id!r}")
        self._check_named(study)
        compared: dict[str, list] = {}
        for level in self.list_levels(study):
            for axis, value in level.items():
                values = compared.setdefault(axis, [])
                values += [] if value in values else [value]
        return study, {**self.where, **compared}

    def make_question(self, paper: Paper) -> ClaimQuestion:
        """Return the question; see `ClaimAboutRuns.make_question`."""
        study, where = self.find_part(paper)
        levels = self.list_levels(study)
        self._check_within(study, where, levels)
        groups = []
        for values in study.settings(self.within, where):
            setting = dict(zip(self.within, values, strict=True))
            keys = [list_setting_keys(study, {**where, **setting, **level}) for level in levels]
            groups.append(AskedGroup(setting, tuple(keys)))
        return ClaimQuestion(
            metric=self.metric,
            groups=tuple(groups),
            test=ClaimTest(self, self.find_margin(paper), self.statistic),
            scope=describe_scope(is_fixed_split(study, dataset) for dataset in study.axis("dataset", where)),
            first=paper.repeats,
            most=self.find_last_look(paper),
        )

    def _check_named(self, study: Study) -> None:
        values = study.axis(self.compared_axis, self.where)
        for key, value in self.named_values.items():
            if value not in values:
                raise PaperError(f"claim {self.id!r}: {key} = {value!r} is not run by the study ({values})")
        pair = list(self.named_values.values())
        if pair and pair[0] == pair[1]:
            raise PaperError(f"claim {self.id!r}: {pair[0]!r} is compared with itself; name two")

    def _check_within(self, study: Study, where: Mapping[str, Any], levels: Sequence[Level]) -> None:
        compared, named = {axis for level in levels for axis in level}, set(self.averaged_axes)
        varying = set(study.varying_axes(where)) - compared - named
        if compared & set(self.within) or not varying <= set(self.within) or named & {*compared, *self.within}:
            besides = " and ".join(sorted(compared | named))
            raise PaperError(
                f"claim {self.id!r}: within must name every axis that varies except {besides}: {sorted(varying)}"
            )


class TrendClaim(GroupClaim):
    """A claim about a change along an axis."""

    along: str
    """The axis along which the metric changes, its values in ascending order."""

    def find_compared(self, paper: Paper, part: str) -> tuple[str, list[Scalar]]:
        """Return the axis, and both ends of the change or of a step of it."""
        values = self.list_axis_values(paper.study(self.study, self.id))
        number = part.removeprefix(_STEP)
        ends = values[int(number) - 1 : int(number) + 1] if number.isdecimal() else [values[0], values[-1]]
        return self.along, ends

    def list_axis_values(self, study: Study) -> list[Scalar]:
        """Return the values of the axis, ascending."""
        values = sorted(study.axis(self.along, self.where))
        if len(values) < 2:
            raise PaperError(f"claim {self.id!r}: {self.along} has one level only")
        return values

    def list_levels(self, study: Study) -> list[Level]:
        """Return every level of the axis."""
        return [{self.along: value} for value in self.list_axis_values(study)]

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want every change to be above zero, or below."""
        contrasts = []
        for name, before, after in list_changes(values):
            contrasts.append(Contrast.of_difference(name, self.direction, before, after, margin))
        return contrasts


class ComparisonClaim(GroupClaim):
    """A claim that one algorithm, or one value of a parameter, has more or less of a metric than another."""

    better: Scalar
    """The algorithm that is claimed to be better."""
    worse: Scalar
    """The algorithm that it is better than."""
    axis: str = "algorithm"
    """The axis of the two, if they are no algorithms: ``params.<name>``."""
    over: ListOf[str] = ()
    """Axes over which a run is averaged before the two are compared, such as ``[dataset]``: "on average over the data
    sets". None of them is one of ``within``."""

    compared_keys: ClassVar[tuple[str, ...]] = ("worse", "better")

    @property
    def compared_axis(self) -> str:
        """The axis of the two."""
        return self.axis

    @property
    def averaged_axes(self) -> Sequence[str]:
        """The axes over which a run is averaged before it is compared."""
        return self.over

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want the difference to be above zero, or below."""
        worse, better = values.T
        return [Contrast.of_difference("", self.direction, worse, better, margin)]


class WithMargin(GroupClaim):
    """A claim that something does not change by more than a margin."""

    margin: float
    """What counts as no change, as a share of the metric's mean, such as 0.05."""

    def find_margin(self, paper: Paper) -> Margin:
        """Return the claim's own."""
        return Margin(self.margin, is_share=True)

    @field_validator("margin")
    @classmethod
    def _check_margin(cls, margin: float) -> float:
        if not 0 < margin < 1:
            raise ValueError(f"margin = {margin!r} must be a share of the mean between 0 and 1, such as 0.05")
        return margin


def list_changes(values: np.ndarray) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Return the change from the first level to the last and, between them, that of each step: name and both levels.

    Examples
    --------
    >>> [(name, float(after[0])) for name, _, after in list_changes(np.array([[0.1, 0.2, 0.4]]))]
    [('first to last', 0.4), ('step 1', 0.2), ('step 2', 0.4)]
    """
    levels = list(values.T)
    if len(levels) == 2:
        return [("", *levels)]
    changes = [("first to last", levels[0], levels[-1])]
    for number, (before, after) in enumerate(pairwise(levels), start=1):
        changes.append((f"{_STEP}{number}", before, after))
    return changes


def find_margin(paper: Paper, metric: str) -> Margin:
    """Return what counts as no difference of a metric in a paper: its ``resolution``, or else the metric's own.

    That is 0.01 of shares and of R², where two values below 0 do not differ at all, and 5 % of other metrics.

    Examples
    --------
    >>> study = {"dataset": "car", "algorithm": "rdt"}
    >>> paper = Paper(number=0, title="T", studies={"s": study}, resolution={"beta": 2})
    >>> find_margin(paper, "accuracy").size, find_margin(paper, "beta").size, find_margin(paper, "mse").is_share
    (0.01, 2.0, True)
    """
    return Margin(paper.resolution[metric]) if metric in paper.resolution else find_metric(metric).margin


def has_random_split(study: Study, dataset: str) -> bool:
    """Return whether each repeat of a study draws one split of a data set: folds share their rows in another way."""
    return study.protocol.folds is None and not is_fixed_split(study, dataset)


def is_fixed_split(study: Study, dataset: str) -> bool:
    """Return whether all repeats of a study have one split of a data set: an official one, or one in order.

    A data set that the catalogue does not have, as of runs that somebody else made, has no official split.
    """
    has_official = catalogue.has_entry(dataset) and catalogue.read_entry(dataset).n_train is not None
    return study.protocol.is_fixed(has_official)


def describe_scope(is_fixed: Iterable[bool]) -> str:
    """Say what is special of the splits: one that is fixed, so that repeats vary the algorithm's randomness alone.

    As a rule each repeat splits the rows anew, which needs no words.

    Examples
    --------
    >>> describe_scope([False]), describe_scope([True]), describe_scope([True, False])
    ('', 'one fixed split', 'one fixed split of some data sets')
    """
    kinds = set(is_fixed)
    if True not in kinds:
        return ""
    return "one fixed split of some data sets" if False in kinds else "one fixed split"
