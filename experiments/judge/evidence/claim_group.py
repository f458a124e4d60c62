"""One group of cells under test: what the repeats of one setting say for and against a claim.

A kind of claim turns the metric of a group into contrasts. Each is one thing that the claim says: that one algorithm
has more of the metric than another, or that the metric grows from one level to the next. A contrast has a gain in every
repeat, which the claim wants above zero, and is judged by the claim's own statistic: the mean, unless the paper's words
say median.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from experiments.judge.evidence.sequential_test import (
    ANY,
    EACH,
    find_mean_interval,
    find_step,
    hoped_p_of_mean,
    hoped_p_of_median,
    p_of_mean,
    p_of_median,
)
from experiments.metrics.metric import Margin
from experiments.stats import Interval, median_interval
from experiments.store.results import SettingKey

ROUNDING = 1e-12
"""What is left of an effect of exactly zero after a sum of floats."""


class Contrast(NamedTuple):
    """One thing that a claim says of a group; arrays have a number for each repeat.

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
    each: float
    any: float
    #: The opposite of what is claimed.
    opposite: float
    #: There is no difference that matters.
    equal: float


class ClaimRule(Protocol):
    """What a kind of claim says of a group; see `group_claim.GroupClaim`."""

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
    def contrasts(self) -> list[Contrast]:
        """What the claim says of it."""
        return self.test.rule.list_contrasts(self.values, self.test.margin)

    def count_repeats(self, look: int) -> int:
        """Return how many of the repeats 0, 1, ... ``look`` - 1 are complete."""
        return int(np.searchsorted(self.repeats, look))

    def weigh(self, n: int, is_alone: bool) -> list[PValues]:
        """Return the p-values of each contrast after its first ``n`` complete repeats.

        ``is_alone``: whether the claim has no other contrast, so that nothing is chosen among several.
        """
        step = self._find_step(n)
        compute = partial(p_of_mean, step=step) if self.test.statistic == "mean" else _ignore_caution(p_of_median)
        return [self._weigh_contrast(contrast, n, compute, is_alone) for contrast in self.contrasts]

    def is_promising(self, place: int, n: int, most: int, level: float) -> bool:
        """Return whether more repeats could prove something of a contrast, if they are like the first ``n``."""
        contrast, step = self.contrasts[place], self._find_step(n)
        of_mean = partial(hoped_p_of_mean, most=most, step=step, caution=EACH)
        hope = of_mean if self.test.statistic == "mean" else partial(hoped_p_of_median, most=most)
        sides = [side[:n] for side in contrast.sides]
        ways = [max(map(hope, sides)), *(hope(-side) for side in sides)]
        ways += [max(map(hope, sides)) for sides in self._list_equal_sides(contrast, n)]
        return min(ways) <= level

    def describe(self, place: int, n: int) -> dict[str, Any]:
        """Return the setting with what the first ``n`` complete repeats give for one contrast.

        That is ``part`` where there are several, ``effect`` with ``low`` and ``high`` (95 %), ``margin``, ``share_won``
        (of runs with a gain above zero) and ``n``.
        """
        contrast = self.contrasts[place]
        interval = self.make_interval(contrast.changes[:n], self._find_step(n) if n else 0.0)
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

    def _find_step(self, n: int) -> float:
        margins = [contrast.margins[:n] for contrast in self.contrasts]
        known = np.concatenate([own[np.isfinite(own)] for own in margins]) if margins else np.empty(0)
        return find_step(self.values[:n], float(known.min()) if len(known) else 0.0)

    def _weigh_contrast(self, contrast: Contrast, n: int, compute: Any, is_alone: bool) -> PValues:
        caution = EACH if is_alone else ANY
        sides, ways = [side[:n] for side in contrast.sides], self._list_equal_sides(contrast, n)
        of_equality = [max(compute(side, caution=EACH) for side in of_way) for of_way in ways]
        return PValues(
            each=max(compute(side, caution=EACH) for side in sides),
            any=max(compute(side, caution=caution) for side in sides),
            opposite=min(1.0, len(sides) * min(compute(-side, caution=caution) for side in sides)),
            equal=min(1.0, len(ways) * min(of_equality)) if ways else 1.0,
        )

    def _list_equal_sides(self, contrast: Contrast, n: int) -> list[list[np.ndarray]]:
        """Return the ways to show that there is no difference that matters: of each, what must be above zero.

        The difference lies inside of the margin; or both levels lie below the metric's floor, where none matters.
        """
        if not contrast.levels:
            return []
        margin, ((gains,), margins) = self.test.margin, (contrast.sides, contrast.margins[:n])
        within = np.where(np.isfinite(margins), margins, margin.size)
        ways = [[within + gains[:n], within - gains[:n]]]
        if math.isfinite(margin.floor):
            ways.append([margin.floor - level[:n] for level in contrast.levels])
        return ways


def _ignore_caution(compute: Any) -> Any:
    """Return a test of gains that knows no skewness."""

    def compute_p(gains: np.ndarray, caution: float) -> float:
        return compute(gains)

    return compute_p


def count_contrasts(groups: Sequence[ClaimGroup]) -> int:
    """Return how many contrasts some groups have together."""
    return sum(len(group.contrasts) for group in groups)
