"""One group of cells under test: what the repeats of one setting say for and against a claim.

A kind of claim turns the metric of a group into parts, each of them one number per repeat that the claim wants above
zero: the gain of one algorithm over another; or the gain from the first level to the last, and each step between
levels.

Two questions are asked of every part, and both are answered by betting (`wealth`), which is exact however runs are
distributed. *On average*: is the mean above zero? It can be asked of metrics with bounds, such as accuracy. *In most
runs*: is it above zero in more than half of all runs? The two differ where a few runs collapse. Where losses alone have
a bound, as where a bounded error is claimed to be below one without, it can be proven that the mean is above zero, and
never that it is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from experiments.judge.evidence.wealth import (
    compute_log_wealth,
    project_log_wealth,
    project_sign_wealth,
    sign_gains,
)
from experiments.metrics.metric import Margin
from experiments.stats import Interval, center_interval
from experiments.store.results import SettingKey

ROUNDING = 1e-12
"""What is left of an effect of exactly zero after a sum of floats."""


class RunsQuestion(Enum):
    """What is asked of the runs of a claim."""

    MEAN = "on average"
    MOST = "in most runs"


class State(Enum):
    """What the runs have shown so far of a part of a claim."""

    HOLDS = "holds"
    EQUAL = "practically equal"
    OPEN = "open"


_RERUNS = 10
"""Runs of a setting that a paper typically averages."""
_DRAWS = 2000

HOLDS_WITHIN = "holds within ± δ"
"""Of a group, some of whose parts hold and some of which are practically equal."""


class Part(NamedTuple):
    """One thing that a claim says of a group; arrays have a number for each repeat."""

    #: ``step 2``, or empty where a group has one part.
    name: str
    #: Change of the metric, as it is shown.
    changes: np.ndarray
    #: What the claim wants above zero.
    gains: np.ndarray
    #: What counts as no difference.
    margins: np.ndarray
    #: Whether the claim is that the change stays within the margins, so that the gains have these in them.
    is_within: bool = False


class ClaimRule(Protocol):
    """What a kind of claim says of a group; see `group_claim.GroupClaim`."""

    bound: float | None

    @staticmethod
    def list_parts(values: np.ndarray, margin: Margin) -> list[Part]:
        """Return the parts of the claim."""
        ...


class PartWealth(NamedTuple):
    """Logarithms of the wealth of those who bet on one part, after 0, 1, ... runs."""

    #: Bets that the gain is above zero, and below zero.
    gain: np.ndarray
    loss: np.ndarray
    #: The poorer of those who bet that it is above minus the margin, and below the margin.
    equal: np.ndarray


@dataclass(frozen=True)
class ClaimTest:
    """What is claimed of a group, and what the proof of that rests on."""

    rule: ClaimRule
    #: What counts as no difference.
    margin: Margin
    #: Which of "mean" and "median" the claim is about.
    center: str = "mean"
    #: The largest difference that the metric can have, 1 of shares; None where it has no bound.
    reach: float | None = None
    #: Without a reach: the most that a run can speak against the claim; None where that has no bound either.
    most_lost: float | None = None

    @property
    def questions(self) -> tuple[RunsQuestion, ...]:
        """What can be asked, the paper's own question first; the mean of what has no bound can not."""
        is_bounded_mean = self.center == "mean" and (self.reach is not None or self.most_lost is not None)
        return (RunsQuestion.MEAN, RunsQuestion.MOST) if is_bounded_mean else (RunsQuestion.MOST,)


@dataclass(frozen=True)
class ClaimGroup:
    """One group of a claim with its runs."""

    #: The axes that are fixed within it.
    setting: dict
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
    def parts(self) -> list[Part]:
        """What the claim says of it."""
        return self.test.rule.list_parts(self.values, self.test.margin)

    def count_repeats(self, look: int) -> int:
        """Return how many of the repeats 0, 1, ... ``look`` - 1 are complete."""
        return int(np.searchsorted(self.repeats, look))

    def is_at_bound(self, look: int) -> bool:
        """Whether it stands where it cannot move as the claim wants throughout the first repeats, all of them tried."""
        first = self.values[: self.count_repeats(look)]
        is_known = self.n_attempted >= look and len(first) > 0
        bound = self.test.rule.bound
        return bound is not None and is_known and bool((first == bound).all())

    @cached_property
    def wealth(self) -> dict[RunsQuestion, list[PartWealth]]:
        """What those have, by question, who bet on each part."""
        return {each: self._bet_on_parts(each, compute_log_wealth, compute_log_wealth) for each in self.test.questions}

    def project_parts(self, question: RunsQuestion, n: int, most: int) -> list[PartWealth]:
        """Return what those who bet may hope for after ``most`` runs, by the first ``n``: see `project_log_wealth`."""
        bets = [partial(project, n_made=n, n_runs=most) for project in (project_log_wealth, project_sign_wealth)]
        return self._bet_on_parts(question, *bets)

    def describe(self, n: int) -> dict[str, Any]:
        """Return what `describe_part` does, of the weakest part."""
        main = self.test.questions[0]
        weakest = min(range(len(self.parts)), key=lambda i: self.wealth[main][i].gain[n])
        return self.describe_part(weakest, n)

    def describe_part(self, place: int, n: int) -> dict[str, Any]:
        """Return the setting with what the first ``n`` complete repeats give for one part.

        That is ``part`` where there are several, ``effect`` with ``low`` and ``high`` (95 %), ``margin``, ``share_won``
        (of runs with a gain above zero) and ``n``.
        """
        part = self.parts[place]
        interval = self.make_interval(part.changes[:n])
        named = {"part": part.name} if part.name else {}
        return {
            **self.setting,
            **named,
            "effect": interval.center,
            "low": interval.low,
            "high": interval.high,
            "margin": float(np.median(part.margins[:n])) if n else float("nan"),
            "share_won": float(np.mean(part.gains[:n] > ROUNDING)) if n else float("nan"),
            "n": n,
        }

    def make_interval(self, values: np.ndarray) -> Interval:
        """Return the center of numbers, one of each repeat, with its 95 % interval."""
        return center_interval(self.test.center, values)

    @cached_property
    def _bets(self) -> np.ndarray:
        """What is bet on each part: that it gains, that it loses and, unless it says so itself, both sides of ± δ."""
        bets = []
        for part in self.parts:
            sides = [part.gains, -part.gains]
            if not part.is_within:
                sides += [part.gains + part.margins, part.margins - part.gains]
            bets.append(sides)
        return np.array(bets)

    def _bet_on_parts(self, question: RunsQuestion, bet: Callable, bet_on_signs: Callable) -> list[PartWealth]:
        """Return what bets on each part are worth by a function of gains and the most lost, or by one of signs.

        All parts at once: NumPy takes longer to begin than to count so few runs.
        """
        reach, most_lost = self.test.reach, self.test.most_lost
        if question is RunsQuestion.MEAN and reach is None and most_lost is not None:
            gains = bet(self._bets[:, 0], most_lost)
            nothing = np.zeros_like(gains[0])  # nobody bets on the rest
            return [PartWealth(gain, nothing, nothing) for gain in gains]
        if question is RunsQuestion.MOST or reach is None:
            wealth = bet_on_signs(sign_gains(self._bets, ROUNDING))
        else:
            wealth = bet(self._bets, reach + self.test.margin.largest(reach))
        if wealth.shape[1] == 2:
            equal = np.full_like(wealth[:, 0], -math.inf)
        else:
            equal = np.minimum(wealth[:, 2], wealth[:, 3])
        return list(map(PartWealth, wealth[:, 0], wealth[:, 1], equal))


def list_lowest(groups: Sequence[ClaimGroup], counts: Sequence[int], states: Sequence[str]) -> list[dict[str, Any]]:
    """Return what each group gives after its number of repeats, the one that speaks least for the claim first."""
    described = []
    for group, n, state in zip(groups, counts, states, strict=True):
        main = group.test.questions[0]
        lowest = min(wealth.gain[n] for wealth in group.wealth[main])
        described.append((lowest, group.describe(n) | {"state": state}))
    described.sort(key=lambda pair: pair[0])
    return [description for _, description in described]


def estimate_rerun_probability(groups: Sequence[ClaimGroup], counts: Sequence[int]) -> float:
    """Return the probability that the averages of ten further runs show a claim in every group.

    Ten runs are drawn from ours, those of the first complete repeats of each group that count, with replacement, 2,000
    times for each group; groups count as independent, as their noise is (but for groups that differ by a parameter
    alone, under ``protocol.common_noise``). A claim that holds nowhere by chance has a probability near 1 if it is
    clearly true, and near 0 if it is not. It is NaN where a group has fewer than two runs: one, drawn again and again,
    would be certain of itself.
    """
    probability = 1.0
    for group, n in zip(groups, counts, strict=True):
        if n < 2:
            return float("nan")
        drawn = np.random.default_rng(0).integers(n, size=(_DRAWS, _RERUNS))
        average = np.median if group.test.center == "median" else np.mean
        is_shown = np.ones(_DRAWS, dtype=bool)
        for part in group.parts:
            is_shown &= average(part.gains[drawn], axis=1) > ROUNDING
        probability *= float(is_shown.mean())
    return probability
