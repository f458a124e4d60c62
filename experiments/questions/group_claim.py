"""Claims about runs: from the words of a paper's file to the settings whose runs decide.

All say "at every ...", so a claim holds only if it holds in every group; how that is proven stands in
`judge.evidence.replay`.

Repeats are runs on the same rows, each with its own noise and, unless the split is official or in order, its own split.
A verdict speaks of further such runs. They are independent, given the rows, so nothing is corrected for splits that
share rows: a correction such as Nadeau and Bengio's is for claims about further rows, see `further_rows`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TypeVar

import numpy as np

from datasets import catalogue
from documents.document import Scalar
from experiments.config.kinds.claims import ClaimAboutRuns, ComparisonClaim, GroupClaim, TrendClaim
from experiments.config.paper import Paper
from experiments.config.study import Study
from experiments.judge.evidence.claim_group import ClaimRule, ClaimTest, Contrast
from experiments.judge.numbers.number_verdict import PrintedNumber
from experiments.judge.question import AskedGroup, ClaimQuestion, ComputedQuestion
from experiments.judge.verdict import Verdict
from experiments.judge.words import name_setting
from experiments.metrics.find import find_metric
from experiments.metrics.metric import Margin
from experiments.questions.rule import Rule
from experiments.questions.settings import list_setting_keys

_STEP = "step "
"""How the name of a step begins; its number follows."""

AnyRunsClaim = TypeVar("AnyRunsClaim", bound=ClaimAboutRuns)
AnyGroupClaim = TypeVar("AnyGroupClaim", bound=GroupClaim)
AnyTrend = TypeVar("AnyTrend", bound=TrendClaim)


class RunsRule(Rule[AnyRunsClaim]):
    """How a claim is decided that takes runs, as many as it takes."""

    def resolve(self, paper: Paper, numbers: Mapping[str, PrintedNumber]) -> ClaimQuestion | ComputedQuestion:
        """Return the question, or why there is none; see `Rule.resolve`."""
        if reason := self.explain_missing(paper):
            return ComputedQuestion.known(Verdict.NOT_IMPLEMENTED, reason, self.claim.metric)
        return self.make_question(paper)

    @abstractmethod
    def make_question(self, paper: Paper) -> ClaimQuestion:
        """Return the question, with all chance of a false verdict as its level.

        PaperError if the claim names what the paper does not have.
        """

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Return what the claim says of a group whose values have a row a repeat.

        The columns are the levels that it compares. The margin counts as no difference.
        """
        raise NotImplementedError(f"the kind {self.claim.kind!r} has none")

    def make_test(self, paper: Paper) -> ClaimTest:
        """Return what is claimed of a group: by this rule, or by a claim that has `list_contrasts` itself."""
        rule = self.claim if isinstance(self.claim, ClaimRule) else self
        return ClaimTest(rule, self.find_margin(paper), self.claim.statistic)

    def explain_missing(self, paper: Paper) -> str:
        """Return why it can never be decided; nothing if it can."""
        return ""

    def find_direction(self, contrast: str) -> int:
        """Return which effects of a contrast bear the claim out: as a rule its `direction`."""
        return self.claim.direction

    def find_compared(self, paper: Paper, contrast: str) -> tuple[str, list[Scalar]]:
        """Return the axis along which a contrast compares, and the values that it does; none if its name says all."""
        return "", []

    def name_sides(self, paper: Paper, contrast: str) -> tuple[str, str]:
        """Return what the effect of a contrast is the difference of, the first minus the second; or nothing."""
        return "", ""

    def find_margin(self, paper: Paper) -> Margin:
        """Return what counts as no difference: the claim's own, or δ of the metric."""
        share = self.claim.margin_as_share
        return find_margin(paper, self.claim.metric) if share is None else Margin(share, is_share=True)

    def find_last_look(self, paper: Paper) -> int:
        """Return after how many repeats it stays undecided."""
        return max(paper.repeats, self.claim.most_repeats or paper.most_repeats)


class GroupRule(RunsRule[AnyGroupClaim], of=GroupClaim):
    """How a claim about every group of a part of a study is decided."""

    def explain_missing(self, paper: Paper) -> str:
        """Return why the claim can never be tested: it speaks of an algorithm that is not implemented."""
        reasons = [paper.not_implemented.get(str(value), "") for value in self.claim.named_values.values()]
        return "; ".join(filter(None, reasons))

    def name_sides(self, paper: Paper, contrast: str) -> tuple[str, str]:
        """Return the two values that the claim names, if these are what it compares."""
        axis, values = self.claim.compared_axis, self.claim.named_values.values()
        names = [name_setting({axis: value}, paper.labels) for value in values]
        return (names[1], names[0]) if len(names) == 2 else ("", "")

    def make_question(self, paper: Paper) -> ClaimQuestion:
        """Return the question; see `RunsRule.make_question`."""
        claim = self.claim
        study, where = claim.find_part(paper)
        levels = claim.list_levels(study)
        claim.check_within(study, where, levels)
        groups = []
        for values in study.settings(claim.within, where):
            setting = dict(zip(claim.within, values, strict=True))
            keys = [list_setting_keys(study, {**where, **setting, **level}) for level in levels]
            groups.append(AskedGroup(setting, tuple(keys)))
        return ClaimQuestion(
            metric=claim.metric,
            groups=tuple(groups),
            test=self.make_test(paper),
            scope=describe_scope(is_fixed_split(study, dataset) for dataset in study.axis("dataset", where)),
            first=paper.repeats,
            most=self.find_last_look(paper),
        )


class TrendRule(GroupRule[AnyTrend], of=TrendClaim):
    """How a claim about a change along an axis is decided."""

    def find_compared(self, paper: Paper, contrast: str) -> tuple[str, list[Scalar]]:
        """Return the axis, and both ends of the change or of a step of it."""
        values = self.claim.list_axis_values(paper.study(self.claim.study, self.claim.id))
        number = contrast.removeprefix(_STEP)
        ends = values[int(number) - 1 : int(number) + 1] if number.isdecimal() else [values[0], values[-1]]
        return self.claim.along, ends

    def name_sides(self, paper: Paper, contrast: str) -> tuple[str, str]:
        """Return the last level of a contrast, and its first."""
        axis, (first, last) = self.find_compared(paper, contrast)
        return name_setting({axis: last}, paper.labels), name_setting({axis: first}, paper.labels)

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want every change to be above zero, or below."""
        contrasts = []
        for name, before, after in list_changes(values):
            contrasts.append(Contrast.of_difference(name, self.claim.direction, before, after, margin))
        return contrasts


class ComparisonRule(GroupRule[ComparisonClaim], of=ComparisonClaim):
    """How a claim is decided that one algorithm, or one value of a parameter, has more or less than another."""

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want the difference to be above zero, or below."""
        worse, better = values.T
        return [Contrast.of_difference("", self.claim.direction, worse, better, margin)]


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
