"""One group of cells under test: what the repeats of one setting say for and against a claim.

A kind of claim turns the metric of a group into contrasts. Each is one thing that the claim says: that one algorithm
has more of the metric than another, or that the metric grows from one level to the next. A contrast has a gain in every
repeat, which the claim wants above zero, and is judged by the claim's own statistic: the mean, unless the paper's words
say median.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial, reduce
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from experiments.judge.evidence.sequential_test import (
    ANY,
    EACH,
    ROUNDING,
    GainsByMean,
    GainsByMedian,
    find_mean_interval,
    find_step,
)
from experiments.metrics.metric import Margin
from experiments.stats import Interval, median_interval
from experiments.store.results import SettingKey

_UNSEEN = 5.0
"""Margins by which a run that has not been seen may differ, where all that were seen are alike: a test row of twenty is
five points of accuracy."""


class Contrast(NamedTuple):
    """One thing that a claim says of a group; arrays have a number for each repeat, along their last axis.

    Make it by `of_difference` or `of_equivalence`.
    """

    #: ``step 2``, or empty where a group has one contrast.
    name: str
    #: Change of the metric, as it is shown.
    changes: np.ndarray
    #: What the claim wants above zero: all of these.
    sides: tuple[np.ndarray, ...]
    #: What counts as no difference.
    margins: np.ndarray
    #: The two levels of the metric that a difference is one of; none of an equivalence, which says itself what is none.
    levels: tuple[np.ndarray, ...] = ()

    @classmethod
    def of_difference(
        cls,
        name: str,
        direction: int,
        before: np.ndarray,
        after: np.ndarray,
        margin: Margin,
        levels: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> Contrast:
        """Return that ``after`` is above ``before``, or below it where ``direction`` is -1.

        If these are distances, ``levels`` are those of the metric that the margin is taken at.
        """
        changes, levels = after - before, levels or (before, after)
        return cls(name, changes, (direction * changes,), margin.between(*levels), levels)

    @classmethod
    def of_equivalence(cls, name: str, changes: np.ndarray, margins: np.ndarray) -> Contrast:
        """Return that a change stays within its margins."""
        return cls(name, changes, (margins - changes, margins + changes), margins)

    @property
    def gains(self) -> np.ndarray:
        """By how much each run bears the claim out."""
        return np.minimum.reduce(self.sides)


class PValues(NamedTuple):
    """P-values of one contrast after some runs, each of the hypothesis that something is not so."""

    #: It is as claimed: where each contrast must be, and where any may decide.
    each: Any
    any: Any
    #: The opposite of what is claimed.
    opposite: Any
    #: There is no difference that matters: where that is so of each contrast, and where any may decide.
    equal_each: Any
    equal_any: Any


@runtime_checkable
class ClaimRule(Protocol):
    """What a claim says of a group; see `experiments.questions.group_claim`."""

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Return what the claim says."""
        ...


@dataclass(frozen=True)
class ClaimTest:
    """What is claimed of a group, and by which statistic."""

    rule: ClaimRule
    #: What counts as no difference.
    margin: Margin
    #: "mean" or "median".
    statistic: str = "mean"


Gains = GainsByMean | GainsByMedian


class ExaminedContrast(NamedTuple):
    """A contrast after some runs, as the tests know it; arrays where many groups are simulated at once."""

    #: What the claim wants above zero.
    sides: list[Gains]
    #: The ways to show that there is no difference that matters: of each, what must be above zero.
    ways: list[list[Gains]]

    def find_p_values(self, is_alone: bool) -> PValues:
        """Return the p-values.

        ``is_alone``: whether the claim has no other contrast, so that nothing is chosen among several.
        """
        caution = EACH if is_alone else ANY
        against = reduce(np.minimum, (side.negate().find_p(caution) for side in self.sides))
        each, equal_each = _find_largest_p(self.sides, EACH), self._find_p_of_equal(EACH)
        return PValues(
            each=each,
            any=each if is_alone else _find_largest_p(self.sides, caution),
            opposite=np.minimum(1.0, len(self.sides) * against),
            equal_each=equal_each,
            equal_any=equal_each if is_alone else self._find_p_of_equal(caution),
        )

    def find_optimistic_p(self, most: int) -> np.ndarray:
        """Return the least p that may be hoped for after ``most`` runs, of anything that can be shown."""
        shown = [self.sides, *([side.negate()] for side in self.sides), *self.ways]
        return reduce(
            np.minimum, (reduce(np.maximum, (side.find_optimistic_p(most) for side in sides)) for sides in shown)
        )

    def _find_p_of_equal(self, caution: float) -> np.ndarray:
        if not self.ways:
            return np.ones_like(self.sides[0].find_p(caution))
        return np.minimum(
            1.0, len(self.ways) * reduce(np.minimum, (_find_largest_p(way, caution) for way in self.ways))
        )


def _find_largest_p(sides: Sequence[Gains], caution: float) -> np.ndarray:
    return reduce(np.maximum, (side.find_p(caution) for side in sides))


@dataclass(frozen=True)
class RunsUnderTest:
    """The runs of a group under a test, or of many groups alike, as a simulation has them."""

    #: The metric: a row for each repeat, a column (the last axis) for each level; axes between are those of groups.
    values: np.ndarray
    test: ClaimTest

    @cached_property
    def contrasts(self) -> list[Contrast]:
        """What the claim says."""
        return self.test.rule.list_contrasts(self.values, self.test.margin)

    def examine(self, n: int) -> list[ExaminedContrast]:
        """Return the contrasts after the first ``n`` repeats."""
        step = self.find_step(n)
        of: Callable[[np.ndarray], Gains]
        of = partial(GainsByMean.of, step=step) if self.test.statistic == "mean" else GainsByMedian.of
        examined = []
        for contrast, equal_sides in zip(self.contrasts, self._equal_sides, strict=True):
            ways = [[of(side[..., :n]) for side in way] for way in equal_sides]
            examined.append(ExaminedContrast([of(side[..., :n]) for side in contrast.sides], ways))
        return examined

    def find_step(self, n: int) -> np.ndarray:
        """Return the least that a run may differ by, as far as the first ``n`` show it."""
        first, margin = np.moveaxis(self.values[:n], 0, -1), self.test.margin
        known = [contrast.margins[..., :n] for contrast in self.contrasts]
        least = reduce(
            np.minimum, (margins.min(axis=-1, where=np.isfinite(margins), initial=math.inf) for margins in known)
        )
        otherwise = _UNSEEN * np.where(np.isfinite(least), least, margin.size)
        return find_step(first.reshape(*first.shape[:-2], -1), otherwise)

    @cached_property
    def _equal_sides(self) -> list[list[list[np.ndarray]]]:
        return list(map(self.list_equal_sides, self.contrasts))

    def list_equal_sides(self, contrast: Contrast) -> list[list[np.ndarray]]:
        """Return the ways to show that there is no difference that matters: of each, what must be above zero.

        The difference lies inside of the margin; or both levels lie below the metric's floor, where none matters.
        """
        if not contrast.levels:
            return []
        margin, gains = self.test.margin, contrast.gains
        within = np.where(np.isfinite(contrast.margins), contrast.margins, margin.size)
        ways = [[within + gains, within - gains]]
        if math.isfinite(margin.floor):
            ways.append([margin.floor - level for level in contrast.levels])
        return ways


@dataclass(frozen=True)
class ClaimGroup:
    """One group of a claim with its runs."""

    #: The axes that are fixed within it.
    setting: Mapping[str, Any]
    #: Which repeats are complete, ascending.
    repeats: np.ndarray
    #: The metric, or the distance that a claim is about: a row for each of these, a column for each level.
    values: np.ndarray
    #: Repeats 0, 1, ... up to this one were run, whatever came of them.
    n_attempted: int
    test: ClaimTest
    #: Those whose cells make a repeat.
    settings: tuple[SettingKey, ...] = ()
    #: The repeats in which the metric is undefined, one for each such cell.
    undefined: np.ndarray = field(default_factory=partial(np.empty, 0))

    @cached_property
    def runs(self) -> RunsUnderTest:
        """Its values under the test."""
        return RunsUnderTest(self.values, self.test)

    @cached_property
    def _examined(self) -> dict[int, list[ExaminedContrast]]:
        return {}

    def _examine(self, n: int) -> list[ExaminedContrast]:
        """Return its contrasts after ``n`` repeats: each look asks what is seen, and then what may be hoped for."""
        if n not in self._examined:
            self._examined[n] = self.runs.examine(n)
        return self._examined[n]

    @property
    def contrasts(self) -> list[Contrast]:
        """What the claim says of it."""
        return self.runs.contrasts

    @property
    def n_contrasts(self) -> int:
        """How many things the claim says of it."""
        return len(self.contrasts)

    def count_repeats(self, look: int) -> int:
        """Return how many of the repeats 0, 1, ... ``look`` - 1 are complete."""
        return int(np.searchsorted(self.repeats, look))

    def weigh(self, n: int, is_alone: bool) -> list[PValues]:
        """Return the p-values of each contrast after its first ``n`` complete repeats.

        ``is_alone``: whether the claim has no other contrast, so that nothing is chosen among several.
        """
        return [PValues(*map(float, found.find_p_values(is_alone))) for found in self._examine(n)]

    def is_promising(self, place: int, n: int, most: int, level: float) -> bool:
        """Return whether more repeats could prove something of a contrast, if they are like the first ``n``."""
        return bool(self._examine(n)[place].find_optimistic_p(most) <= level)

    def describe(self, place: int, n: int) -> dict[str, Any]:
        """Return the setting with what the first ``n`` complete repeats give for one contrast.

        That is ``part`` where there are several, ``effect`` with ``low`` and ``high`` (95 %), ``margin``, ``share_won``
        (of runs with a gain above zero) and ``n``.
        """
        contrast = self.contrasts[place]
        interval = self.make_interval(contrast.changes[:n], float(self.runs.find_step(n)) if n else 0.0)
        named = {"part": contrast.name} if contrast.name else {}
        return {
            **self.setting,
            **named,
            "effect": interval.center,
            "low": interval.low,
            "high": interval.high,
            "margin": float(np.median(contrast.margins[:n])) if n else math.nan,
            "share_won": float(np.mean(contrast.gains[:n] > ROUNDING)) if n else math.nan,
            "n": n,
        }

    def make_interval(self, values: np.ndarray, step: float) -> Interval:
        """Return the statistic of numbers, one of each repeat, with its 95 % interval."""
        if self.test.statistic == "median":
            return median_interval(values)
        center = float(values.mean()) if len(values) else math.nan
        return Interval(len(values), center, *find_mean_interval(values, step))
