"""Claims about groups of cells: which cells a claim speaks of, and what their repeats say.

All say "at every ...", so a claim holds only if it holds in every group; how that is proven stands in
`evidence.replay`.

Repeats are runs on the same rows, each with its own noise and, unless the split is official or in order, its own split.
A verdict speaks of further such runs. They are independent, given the rows, so nothing is corrected for splits that
share rows: a correction such as Nadeau and Bengio's is for claims about further rows, see `further_rows`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from pydantic import Field, field_validator

from datasets import catalogue
from documents.document import ListOf, Scalar
from experiments.cells.cell import PROTOCOL, is_fixed
from experiments.config.paper import Center, Claim, Paper, PaperError, Study, StudyPart
from experiments.config.setting import make_setting_key
from experiments.judge.evidence.claim_group import ClaimGroup, Part
from experiments.judge.margin import find_margin
from experiments.judge.preflight import check_metrics
from experiments.metrics.find import find_metric, is_in_per_cent
from experiments.metrics.metric import Margin, MetricRange
from experiments.store.study_rows import select_tried, select_undefined

_STEP = "step "
"""How the name of a step begins; its number follows."""


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
    n_averaged : int
        Over how many settings a repeat is averaged at each level.
    """

    axis: str
    values: list
    where: dict[str, Any]
    n_averaged: int = 1


class Evidence(NamedTuple):
    """What a verdict on a claim is made from.

    Parameters
    ----------
    groups : list of ClaimGroup
        The groups.
    parts : list of list of (str, dict)
        The studies, and the part of each, whose cells make up each group.
    undefined : list of list of int
        Of each group, the repeats in which the metric is undefined, one for each such cell.
    scope : str
        What is special of the splits, as `describe_scope` says it.
    obstacle : str
        Why no verdict is possible on runs that have any of the repeats ``unfit``, whatever the groups say.
    unfit : list of int
        Repeats that cannot be compared.
    """

    groups: list[ClaimGroup]
    parts: list[list[tuple[str, dict[str, Any]]]]
    undefined: list[list[int]]
    scope: str
    obstacle: str = ""
    unfit: Sequence[int] = ()

    def count_undefined(self, places: Sequence[int], looks: Sequence[int]) -> int:
        """Return how many cells of some groups have no metric, up to the look at each."""
        cells = zip((self.undefined[place] for place in places), looks, strict=True)
        return sum(repeat < look for repeats, look in cells for repeat in repeats)


class ClaimAboutRuns(Claim, ABC):
    """A claim that runs decide, as many as it takes."""

    metric: str
    """The metric that it is about."""
    most_repeats: int | None = Field(None, ge=1)
    """Repeats after which it stays undecided, in place of the paper's ``most_repeats``: fewer where a run is dear, more
    where it is cheap. What the command line asks for comes before both."""

    def find_direction(self, part: str) -> int:
        """Return which effects of a part bear the claim out: 1 those above zero, -1 those below, 0 those near it."""
        return 1

    def find_compared(self, paper: Paper, part: str) -> tuple[str, list[Scalar]]:
        """Return the axis along which a part compares, and the values that it does; none if its name says all."""
        return "", []

    @abstractmethod
    def explain_missing(self, paper: Paper) -> str:
        """Return why it can never be decided; nothing if it can."""

    @abstractmethod
    def make_evidence(self, paper: Paper, table: pd.DataFrame) -> Evidence:
        """Return the groups of the claim with their runs, from the long table."""


class GroupClaim(ClaimAboutRuns, StudyPart):
    """A claim about every group of a part of a study."""

    within: ListOf[str]
    """The axes whose values tell groups apart: every axis that varies, but that along which the metric changes."""
    center: Center | None = None
    """Whether the claim is about means or medians, if not as the paper says of the metric."""

    bound: ClassVar[float | None] = None
    """A group that stands there throughout cannot move as the claim wants, and is set aside."""

    @staticmethod
    @abstractmethod
    def list_parts(values: np.ndarray, margin: Margin) -> list[Part]:
        """Return what the claim says of a group.

        Parameters
        ----------
        values : float64 array of shape (n_repeats, n_levels)
            The metric at each level.
        margin : Margin
            What counts as no difference.
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
    def averaged_axes(self) -> Sequence[str]:
        """The axes over which a repeat is averaged."""
        return ()

    @property
    def is_about_distance(self) -> bool:
        """Whether it is about the distance of two algorithms along an axis."""
        return False

    def find_margin(self, paper: Paper) -> Margin:
        """Return what counts as no difference: δ of the metric, or a margin of the claim's own."""
        return find_margin(paper, self.metric)

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
        reasons = [paper.not_implemented.get(str(value), "") for value in self.named_values.values()]
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

    def make_groups(self, paper: Paper, table: pd.DataFrame) -> list[ClaimGroup]:
        """Return the groups of the claim with their runs.

        A precision that is undefined because the class is never predicted counts as 0, the worst that it can be.

        Parameters
        ----------
        paper : Paper
            With the claim.
        table : DataFrame
            The long table.
        """
        study, levels = self.find_part(paper)
        center = paper.center_of(self.metric, self.center)
        reach, most_lost = self._find_reach(paper, study, levels)
        rows = self._select_rows(study, levels, table)
        by_group = _split_rows(rows, self.within)
        groups = []
        for values in study.settings(self.within, levels.where):
            own = by_group.get(make_setting_key(values), rows.iloc[:0])
            metric = self._arrange_repeats(own.dropna(subset=[self.metric]), levels)
            groups.append(
                ClaimGroup(
                    setting=dict(zip(self.within, values, strict=True)),
                    repeats=metric.index.to_numpy(),
                    values=metric.to_numpy(np.float64),
                    n_attempted=self._count_attempted(own, levels),
                    rule=type(self),
                    margin=self.find_margin(paper),
                    center=center,
                    reach=reach,
                    most_lost=most_lost,
                    cells_per_repeat=self._count_cells(levels),
                )
            )
        return groups

    def make_evidence(self, paper: Paper, table: pd.DataFrame) -> Evidence:
        """Return the groups with what else a verdict needs to know.

        Parameters
        ----------
        paper : Paper
            With the claim.
        table : DataFrame
            The long table.
        """
        study, levels = self.find_part(paper)
        groups = self.make_groups(paper, table)
        wheres = [levels.where | group.setting for group in groups]
        rows = _split_rows(select_undefined(table, study, self.metric, levels.where), self.within)
        undefined = []
        for group in groups:
            own = rows.get(make_setting_key(group.setting.values()))
            undefined.append([] if own is None else own["repeat"].tolist())
        fixed = {is_fixed_split(study, dataset) for dataset in study.axis("dataset", levels.where)}
        return Evidence(groups, [[(study.name, where)] for where in wheres], undefined, describe_scope(fixed))

    def _select_rows(self, study: Study, levels: Levels, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of every cell that was tried, with the metric of those that have one."""
        if self.metric not in table.columns:
            table = table.assign(**{self.metric: np.nan})  # every cell failed
        needed = {*study.axes(levels.where), "study", "repeat", "status", self.metric}
        rows = select_tried(table[table.columns[table.columns.isin(needed)]], study, self.metric, levels.where)
        if "status" not in rows.columns:
            return rows
        metric = pd.to_numeric(rows[self.metric], errors="coerce")
        if is_in_per_cent(self.metric):
            metric = metric.where(~((rows["status"] == "done") & metric.isna()), 0.0)
        return rows.assign(**{self.metric: metric})

    def _find_reach(self, paper: Paper, study: Study, levels: Levels) -> tuple[float | None, float | None]:
        """Return the largest difference that the metric can have, and the most that a run can lose; None: no bound."""
        bounds = find_metric(self.metric).range
        if bounds.reach is not None:
            return bounds.reach, bounds.reach
        known = paper.at_most.get(self.metric, {})
        algorithms = study.axis("algorithm", levels.where)
        if math.isfinite(bounds.low) and all(name in known for name in algorithms):
            reach = max(known[name] for name in algorithms) - bounds.low
            return reach, reach
        return None, self._find_most_lost(known, bounds)

    def _find_most_lost(self, known: Mapping[str, float], bounds: MetricRange) -> float | None:
        """Return the most that a run can lose, given the most that the metric can be of some algorithms."""
        return None

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
        n_averaged = math.prod(len(study.axis(name, where)) for name in self.averaged_axes)
        return Levels(self.compared_axis, pair, where, n_averaged)

    def _check_within(self, study: Study, levels: Levels) -> None:
        compared = {levels.axis, self.compared_axis} if self.is_about_distance else {levels.axis}
        named = set(self.averaged_axes)
        varying = set(study.varying_axes(levels.where)) - compared - named
        if compared & set(self.within) or not varying <= set(self.within) or named & {*compared, *self.within}:
            besides = " and ".join(sorted(compared | named))
            raise PaperError(
                f"claim {self.id!r}: within must name every axis that varies except {besides}: {sorted(varying)}"
            )

    def _arrange_repeats(self, rows: pd.DataFrame, levels: Levels) -> pd.DataFrame:
        """Return the metric of complete repeats at each level."""
        if self.averaged_axes:
            settings = rows.groupby(["repeat", levels.axis])[self.metric].agg(["mean", "size"]).reset_index()
            rows = settings[settings["size"] == levels.n_averaged].rename(columns={"mean": self.metric})
        return pivot_levels(rows, self.metric, levels).dropna()

    def _count_cells(self, levels: Levels) -> int:
        """Return how many cells a repeat of a group takes."""
        return len(levels.values) * levels.n_averaged * (2 if self.is_about_distance else 1)

    def _count_attempted(self, rows: pd.DataFrame, levels: Levels) -> int:
        """Return up to which repeat every cell of a group was tried."""
        axes = list({levels.axis, self.compared_axis, *self.averaged_axes})
        last = rows.groupby(axes, dropna=False)["repeat"].max()
        return int(last.min()) + 1 if len(last) == self._count_cells(levels) else 0


class TrendClaim(GroupClaim):
    """A claim about a change along an axis."""

    along: str
    """The axis along which the metric changes, its values in ascending order."""

    def find_compared(self, paper: Paper, part: str) -> tuple[str, list[Scalar]]:
        """Return the axis, and both ends of the change or of a step of it."""
        values = self._find_levels(paper.study(self.study, self.id)).values
        number = part.removeprefix(_STEP)
        ends = values[int(number) - 1 : int(number) + 1] if number.isdecimal() else [values[0], values[-1]]
        return self.along, ends

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
    over: ListOf[str] = ()
    """Axes over which a run is averaged before the two are compared, such as ``[dataset]``: "on average over the data
    sets". None of them is one of ``within``."""

    @property
    def compared_axis(self) -> str:
        """The axis of the two."""
        return self.axis

    @property
    def named_values(self) -> dict[str, Any]:
        """The two, the worse first."""
        return {"worse": self.worse, "better": self.better}

    @property
    def averaged_axes(self) -> Sequence[str]:
        """The axes of ``over``."""
        return self.over


class WithMargin(GroupClaim):
    """A claim that something does not change by more than a margin."""

    margin: float
    """What counts as no change, as a share of the metric's mean, such as 0.05."""

    def find_margin(self, paper: Paper) -> Margin:
        """Return the claim's own margin."""
        return Margin(self.margin, is_share=True)

    @field_validator("margin")
    @classmethod
    def _check_margin(cls, margin: float) -> float:
        if not 0 < margin < 1:
            raise ValueError(f"margin = {margin!r} must be a share of the mean between 0 and 1, such as 0.05")
        return margin


def list_changes(values: np.ndarray) -> list[tuple[str, np.ndarray, tuple[np.ndarray, np.ndarray]]]:
    """Return the change from the first level to the last and, between them, that of each step: name, change, both ends.

    Examples
    --------
    >>> [(name, change.round(2)) for name, change, _ in list_changes(np.array([[0.1, 0.2, 0.4]]))]
    [('first to last', array([0.3])), ('step 1', array([0.1])), ('step 2', array([0.2]))]
    """
    levels = list(values.T)
    changes = [("first to last", levels[-1] - levels[0], (levels[0], levels[-1]))]
    if len(levels) == 2:
        return [("", *changes[0][1:])]
    for number, (before, after) in enumerate(pairwise(levels), start=1):
        changes.append((f"{_STEP}{number}", after - before, (before, after)))
    return changes


def list_bounds(name: str, changes: np.ndarray, margins: np.ndarray) -> list[Part]:
    """Return the two parts that say of a change that it stays within its margins."""
    sides = (margins - changes, margins + changes)
    return [Part(name, changes, side, margins, is_within=True) for side in sides]


def pivot_levels(rows: pd.DataFrame, metric: str, levels: Levels) -> pd.DataFrame:
    """Return a metric with one row for each repeat and one column for each level."""
    wide = rows.pivot(index="repeat", columns=levels.axis, values=metric)
    return wide.reindex(columns=levels.values)


def has_random_split(study: Study, dataset: str) -> bool:
    """Return whether each repeat of a study draws one split of a data set: folds share their rows in another way."""
    return study.protocol.folds is None and not is_fixed_split(study, dataset)


def is_fixed_split(study: Study, dataset: str) -> bool:
    """Return whether all repeats of a study have one split of a data set: an official one, or one in order."""
    return is_fixed(PROTOCOL | study.protocol_options, catalogue.read_entry(dataset).n_train is not None)


def describe_scope(is_fixed: Collection[bool]) -> str:
    """Say what is special of the splits: one that is fixed, so that repeats vary the algorithm's randomness alone.

    As a rule each repeat splits the rows anew, which needs no words.

    Examples
    --------
    >>> describe_scope([False]), describe_scope([True]), describe_scope([True, False])
    ('', 'one fixed split', 'one fixed split of some data sets')
    """
    if True not in is_fixed:
        return ""
    return "one fixed split of some data sets" if False in is_fixed else "one fixed split"


def _split_rows(rows: pd.DataFrame, axes: Sequence[str]) -> dict[tuple[str, ...], pd.DataFrame]:
    """Return rows by the setting that the values of some axes make."""
    if not axes:
        return {(): rows}
    groups = {}
    for values, own in rows.groupby(list(axes), dropna=False, sort=False):
        groups[make_setting_key(None if pd.isna(value) else value for value in values)] = own
    return groups
