"""Claims about groups of cells: which cells a claim speaks of, and what their repeats say.

All say "at every ...", so a claim holds only if it holds in every group: its p-value is the largest of the groups' (an
intersection-union test, which needs no further adjustment).

Which test a group gets depends on what its repeats vary. On an official split only the algorithm's randomness varies,
the repeats are independent, and the paired permutation test (all sign flips) is exact; it speaks of that split alone.
With a new split of the same rows in each repeat the training sets overlap, and the t-test with Nadeau and Bengio's
variance is used, floored at the permutation test's smallest p-value, since so few repeats cannot claim more.

A metric may have tails so heavy that means are those of a few runs only (R² has no lower bound). Where the paper says
``center: {metric: median}``, or the claim ``center: median``, medians take the place of means, and the sign test that
of all others: it asks whether the claim holds in more than half of all runs, and no single run can outweigh others.
Repeats then are runs on these rows, each with its own split and noise, and speak of further runs on these rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from pydantic import field_validator

from documents.document import ListOf, Scalar
from experiments.cells.cell import PROTOCOL, overlap_of
from experiments.config.paper import Center, Claim, Paper, PaperError, Study, StudyPart
from experiments.config.setting import describe_setting
from experiments.judge.evidence.claim_groups import ClaimGroup, find_contradicting_groups, find_contradicting_steps
from experiments.judge.preflight import check_metrics
from experiments.judge.verdict import UNDECIDED, setting_of
from experiments.stats import ALPHA, center_interval, smallest_p
from experiments.store.study_rows import select_rows, select_undefined


@dataclass(frozen=True)
class Levels:
    """The levels between which a metric is claimed to change.

    Parameters
    ----------
    axis : str
        The axis that they are values of.
    values : list
        In the order in which the metric is claimed to change.
    where : dict
        The part of the study that the claim speaks of.
    """

    axis: str
    values: list
    where: dict[str, Any]


class GroupClaim(Claim, StudyPart):
    """A claim about every group of a part of a study."""

    metric: str
    """The metric that is claimed to change."""
    within: ListOf[str]
    """The axes whose values tell groups apart: every axis that varies, but that along which the metric changes."""
    center: Center | None = None
    """Whether the claim is about means or medians, if not as the paper says of the metric."""

    bound: ClassVar[float | None] = None
    """A group that stands there throughout cannot move as the claim wants, and is set aside."""
    contradiction_words: ClassVar[tuple[str, str] | None] = None
    """What a step that contradicts does, and what several do; None where single steps do not matter."""
    is_about_last_level: ClassVar[bool] = False
    """Whether it speaks of the last level of its axis only."""

    @staticmethod
    @abstractmethod
    def sign_effects(changes: np.ndarray, margins: np.ndarray) -> list[np.ndarray]:
        """Return the lists of numbers that the claim wants above zero.

        Parameters
        ----------
        changes : float64 array of shape (n_repeats,)
            Change of the metric in each repeat.
        margins : float64 array of shape (n_repeats,)
            The claim's margin times the metric, 0 of claims without a margin.
        """

    @property
    def compared_axis(self) -> str:
        """The axis of the values that the claim names."""
        return "algorithm"

    @property
    def named_values(self) -> dict[str, Any]:
        """The values that the claim compares, by the part that each plays, the lesser first."""
        return {}

    @property
    def is_about_distance(self) -> bool:
        """Whether it is about the distance of two algorithms along an axis."""
        return False

    @property
    def margin_share(self) -> float:
        """What counts as no change, as a share of the mean; 0 of claims without a margin."""
        return 0.0

    def check(self, paper: Paper) -> None:
        """Check that the study has the axes, values and metric that the claim names.

        Raises
        ------
        PaperError
            If it has not.
        """
        if not self.explain_missing(paper):
            self.find_part(paper)
            check_metrics(paper, self.id, self.study, self.where, [self.metric])

    def explain_missing(self, paper: Paper) -> str:
        """Return why the claim can never be tested: it speaks of an algorithm that is not implemented."""
        reasons = map(paper.reason_not_implemented, map(str, self.named_values.values()))
        return "; ".join(filter(None, reasons))

    def find_part(self, paper: Paper) -> tuple[Study, Levels]:
        """Return the study that the claim speaks of, and the levels between which the metric changes.

        Raises
        ------
        PaperError
            If the claim names what the study does not have.
        """
        study = paper.study(self.study, f"claim {self.id!r}")
        levels = self._find_levels(study)
        self._check_within(study, levels)
        return study, levels

    def make_groups(self, paper: Paper, table: pd.DataFrame, fixed_splits: Collection[str] = ()) -> list[ClaimGroup]:
        """Return the groups of the claim with their cells; the parameters are those of `judge`."""
        study, levels = self.find_part(paper)
        center = paper.center_of(self.metric, self.center)
        groups = []
        for values in study.settings(self.within, levels.where):
            setting = dict(zip(self.within, values, strict=True))
            rows = select_rows(table, study, self.metric, levels.where | setting)
            dataset = setting.get("dataset") or study.axis("dataset", levels.where)[0]
            overlap = overlap_of_study(study, dataset, fixed_splits)
            metric = self._arrange_repeats(rows, levels)
            groups.append(ClaimGroup(setting, metric, overlap, type(self), self.margin_share, center))
        return groups

    def judge(
        self, paper: Paper, table: pd.DataFrame, numbers: pd.DataFrame | None, fixed_splits: Collection[str]
    ) -> dict[str, Any]:
        """Measure the claim, before the p-values of all claims are adjusted.

        Parameters
        ----------
        paper : Paper
            With the claim.
        table : DataFrame
            The long table.
        numbers : DataFrame, optional
            Verdicts on printed numbers, which this kind does not need.
        fixed_splits : collection of str
            Data sets with an official split, the same in every repeat.
        """
        study, levels = self.find_part(paper)
        rows = select_rows(table, study, self.metric, levels.where)
        n_expected = paper.repeats * study.count_settings(levels.where)
        counts = {"cells": len(rows), "cells_expected": n_expected}
        if rows.empty:
            return counts | {"verdict": UNDECIDED, "reason": f"no cell answers it (0 of {n_expected})"}
        groups = self.make_groups(paper, table, fixed_splits)
        smallest = min(groups, key=lambda group: len(group.values))
        if len(smallest.values) < 2:
            n_undefined = len(select_undefined(table, study, self.metric, levels.where))
            reason = self._explain_too_few(smallest, len(rows), n_undefined, n_expected)
            return counts | {"verdict": UNDECIDED, "reason": reason}
        return {**counts, **measure_groups(groups), "scope": describe_scope(groups)}

    def _explain_too_few(self, smallest: ClaimGroup, n_rows: int, n_undefined: int, n_expected: int) -> str:
        repeats = len(smallest.values)
        reason = f"{describe_place(smallest.setting)} has {repeats} complete repeats; at least 2 are needed"
        if n_undefined:
            reason = f"{self.metric} is undefined in {n_undefined} runs (a class never predicted); {reason}"
        if n_rows + n_undefined < n_expected:
            reason = f"INCOMPLETE: {n_rows} of {n_expected} cells; {reason}"
        return reason

    def _find_levels(self, study: Study) -> Levels:
        where: dict[str, Any] = dict(self.where)
        values = study.axis(self.compared_axis, where)
        for role, value in self.named_values.items():
            if value not in values:
                raise PaperError(f"claim {self.id!r}: {role} = {value!r} is not run by the study ({values})")
        pair = list(self.named_values.values())
        if pair and pair[0] == pair[1]:
            raise PaperError(f"claim {self.id!r}: {pair[0]!r} is compared with itself; name two")
        if pair:
            where[self.compared_axis] = pair
        return Levels(self.compared_axis, pair, where)

    def _check_within(self, study: Study, levels: Levels) -> None:
        compared = {levels.axis, "algorithm"} if self.is_about_distance else {levels.axis}
        varying = set(study.varying_axes(levels.where)) - compared
        if compared & set(self.within) or not varying <= set(self.within):
            besides = " and ".join(sorted(compared))
            raise PaperError(
                f"claim {self.id!r}: within must name every axis that varies except {besides}: {sorted(varying)}"
            )

    def _arrange_repeats(self, rows: pd.DataFrame, levels: Levels) -> np.ndarray:
        """Return the metric of complete repeats at each level."""
        return pivot_levels(rows, self.metric, levels).dropna().to_numpy(dtype=np.float64)


class TrendClaim(GroupClaim):
    """A claim about a change along an axis."""

    along: str
    """The axis along which the metric changes, its values in ascending order."""

    def _find_levels(self, study: Study) -> Levels:
        where = super()._find_levels(study).where
        values = sorted(study.axis(self.along, where))
        if len(values) < 2:
            raise PaperError(f"claim {self.id!r}: {self.along} has one level only")
        return Levels(self.along, values, where)


class ComparisonClaim(GroupClaim):
    """A claim that one algorithm, or one value of a parameter, has more or less of a metric than another."""

    better: Scalar
    """The algorithm that is claimed to be better."""
    worse: Scalar
    """The algorithm that it is better than."""
    axis: str = "algorithm"
    """The axis of the two, if they are no algorithms: ``params.<name>``."""

    @property
    def compared_axis(self) -> str:
        """The axis of the two."""
        return self.axis

    @property
    def named_values(self) -> dict[str, Any]:
        """The two, the worse first."""
        return {"worse": self.worse, "better": self.better}


class WithMargin(GroupClaim):
    """A claim that something does not change by more than a margin."""

    margin: float
    """What counts as no change, as a share of the metric's mean, such as 0.05."""

    @property
    def margin_share(self) -> float:
        """The margin."""
        return self.margin

    @field_validator("margin")
    @classmethod
    def _check_margin(cls, margin: float) -> float:
        if not 0 < margin < 1:
            raise ValueError(f"margin = {margin!r} must be a share of the mean between 0 and 1, such as 0.05")
        return margin

    @staticmethod
    def sign_effects(changes: np.ndarray, margins: np.ndarray) -> list[np.ndarray]:
        """Want the change to be above minus the margin, and below the margin."""
        return [margins - changes, margins + changes]


def pivot_levels(rows: pd.DataFrame, metric: str, levels: Levels) -> pd.DataFrame:
    """Return a metric with one row for each repeat and one column for each level."""
    wide = rows.pivot(index="repeat", columns=levels.axis, values=metric)
    return wide.reindex(columns=levels.values)


def overlap_of_study(study: Study, dataset: str, fixed_splits: Collection[str]) -> float:
    """Return test rows / training rows where every repeat splits the same rows anew, else 0."""
    return overlap_of(PROTOCOL | study.protocol_options, dataset in fixed_splits)


def measure_groups(groups: Sequence[ClaimGroup]) -> dict[str, Any]:
    """Return the effects and p-values of a claim's groups, those set aside that cannot move as claimed."""
    tested = [group for group in groups if not group.is_at_bound]
    counts = {"groups": len(groups), "at_bound": len(groups) - len(tested)}
    if not tested:
        reason = f"every group stands at {groups[0].rule.bound:g} throughout and cannot move as claimed"
        return counts | {"verdict": UNDECIDED, "reason": reason}
    worst = max(tested, key=lambda group: (group.p_value, -group.effect_in_favour))
    significant = [group for group in tested if group.p_value < ALPHA]
    tests = {
        "groups_holding": len(significant),
        "p_value": worst.p_value,
        "p_smallest": smallest_p(_count_shared_repeats(tested)),
        "worst": worst.describe(),
        "contradicted": list(map(ClaimGroup.describe, find_contradicting_groups(tested))),
        "steps": find_contradicting_steps(tested) if worst.rule.contradiction_words else [],
    }
    return {**counts, **_summarise_effect(groups), **tests}


def _count_shared_repeats(groups: Sequence[ClaimGroup]) -> int:
    return min(len(group.values) for group in groups)


def _summarise_effect(groups: Sequence[ClaimGroup]) -> dict[str, Any]:
    """Return the effect over all groups, with its interval."""
    n_repeats, center = _count_shared_repeats(groups), groups[0].center
    average = np.median if center == "median" else np.mean
    per_repeat = average([group.changes[:n_repeats] for group in groups], axis=0)
    effect = center_interval(center, per_repeat, overlap=max(group.overlap for group in groups))
    return {"center": center, "effect": effect.center, "low": effect.low, "high": effect.high}


def describe_scope(groups: Sequence[ClaimGroup]) -> str:
    """Say what the repeats vary, and so what a verdict speaks of."""
    sentences = []
    overlaps = [group.overlap for group in groups]
    if not all(overlaps):
        sentences.append("one split: repeats vary only the algorithm's randomness, so this speaks of that split")
    if any(overlaps):
        is_median = groups[0].center == "median"
        means = "variance corrected for overlapping training sets"
        medians = "medians and signs, which speak of further runs on these rows"
        sentences.append(f"split anew in each repeat: {medians if is_median else means}")
    return "; ".join(sentences)


def describe_place(effect: Mapping[str, Any]) -> str:
    """Return the setting of a group or step in words."""
    return describe_setting(setting_of(effect)) or "the only group"
