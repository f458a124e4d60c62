"""Printed numbers whose setting (ε, depth, data set) the paper does not state.

A table of kind ``span`` holds such numbers: for each of its ``algorithms`` one, which some setting of its ``studies``
should give. All settings that could be meant are run. An algorithm of which no description is available is named in
the paper's ``not_implemented``, with the reason: it keeps its row, which stays empty.

The numbers of a table come from one setting. p(setting) = min(1, k · the smallest of its k numbers' chances)
(Bonferroni), and the table is refuted if even the largest p(setting) is below 5 %. Over settings nothing is
corrected, because the claim "some setting explains them" is false only if each of them fails (intersection-union;
Berger 1982). The first that applies to a number:

- **undecided**: cells are missing, or there is one repeat only.
- **refuted**: no setting could give it even alone (largest chance below 5 %), or none explains all numbers of its
  table.
- **setting lost**: some setting could have given it; agreement with one setting of many is cheap.

Over how many runs a number without its setting is a mean is rarely printed, either. So the reason has the largest
p(setting) for a single run, which is kindest to the paper, and for a mean of ten (or as many as the paper's file says).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from experiments.judge.numbers.number_verdict import NumberVerdict, PrintedNumber, format_chance, slack_of
from experiments.judge.numbers.prediction import Prediction
from experiments.judge.verdict import NOT_IMPLEMENTED, NOT_RUN, REFUTED, SETTING_LOST, UNDECIDED
from experiments.metrics.find import find_metric, is_in_per_cent
from experiments.stats import ALPHA, mean_interval
from experiments.store.results import Results, SettingKey


class OpenSetting(NamedTuple):
    """A setting that a number without its setting may mean: in words, the same of every algorithm, and its key."""

    where: str
    key: SettingKey


class SettingValues(NamedTuple):
    """The same with its results: the metric of each repeat, float64 array of shape (n_repeats,)."""

    where: str
    values: np.ndarray


class AskedNumber(NamedTuple):
    """A number without its setting, and what may be meant."""

    number: PrintedNumber
    #: All that could be meant.
    settings: tuple[OpenSetting, ...]
    #: Why its algorithm is not implemented, if so.
    reason: str = ""


@dataclass(frozen=True)
class UnplacedTable:
    """The numbers of a table that are printed without their settings."""

    id: str
    numbers: tuple[AskedNumber, ...]
    #: Runs that there should be of every setting.
    repeats: int
    #: Over how many runs the numbers are taken to be means.
    printed_repeats: int


def find_values(settings: Sequence[OpenSetting], metric: str, results: Results) -> list[SettingValues]:
    """Return those of some settings that have results, with these."""
    found = []
    for where, key in settings:
        values = results.find(key, metric).measured
        if len(values):
            found.append(SettingValues(where, values))
    return found


def judge_together(table: UnplacedTable, results: Results) -> dict[str, NumberVerdict]:
    """Return the verdict on each number of a table, by its id: alone, and together with the others."""
    found = {}
    for number, settings, _ in table.numbers:
        values = find_values(settings, number.metric, results)
        n_cells = sum(min(len(own.values), table.repeats) for own in values)
        found[number.id] = _UnplacedNumber(number, tuple(values), n_cells < table.repeats * len(settings))
    answers = _TableAnswers(table, found)
    return {asked.number.id: answers.judge(asked) for asked in table.numbers}


@dataclass(frozen=True)
class _UnplacedNumber:
    """A number without its setting, beside those settings that have cells; ``is_partial`` where some are missing."""

    number: PrintedNumber
    settings: tuple[SettingValues, ...]
    is_partial: bool

    @property
    def is_testable(self) -> bool:
        """Whether there are settings, and each has the repeats that a prediction needs."""
        repeats = [len(setting.values) for setting in self.settings]
        return bool(repeats) and min(repeats) > 1 and not self.is_partial

    @cached_property
    def nearest(self) -> SettingValues:
        """The setting whose mean comes nearest."""
        return min(self.settings, key=lambda setting: abs(setting.values.mean() - self.number.value))

    def find_chances(self, m: int) -> dict[str, float]:
        """Return by setting the chance that the mean of m of its runs is as far out as what is printed."""
        number, bounds = self.number, find_metric(self.number.metric).range
        chances = {}
        for setting in self.settings:
            chances[setting.where] = Prediction(setting.values, m, bounds).chance_of(number.value, slack_of(number))
        return chances

    def describe_span(self) -> str:
        """Return what all settings give."""
        scale = 100 if is_in_per_cent(self.number.metric) else 1
        means = [scale * setting.values.mean() for setting in self.settings]
        decimals = self.number.decimals
        return f"{len(means)} settings give {min(means):.{decimals}f} to {max(means):.{decimals}f}"


@dataclass(frozen=True)
class JointFit:
    """How well the one setting fits that explains the numbers of a table best."""

    #: Its p(setting), the largest of all settings.
    p: float
    #: Which it is, in words.
    where: str
    n_settings: int
    n_numbers: int

    @property
    def is_refuted(self) -> bool:
        """Whether no setting explains them."""
        return self.p < ALPHA


def fit_jointly(chances: Sequence[Mapping[str, float]]) -> JointFit:
    """Ask whether one setting explains several numbers.

    Parameters
    ----------
    chances : sequence of mapping
        Of each number its chance by setting; settings that not all numbers have cannot be the one.

    Examples
    --------
    >>> fit = fit_jointly([{"a": 0.5, "b": 0.004}, {"a": 0.01, "b": 0.9}])
    >>> fit.p, fit.where, fit.is_refuted
    (0.02, 'a', True)
    """
    shared = [where for where in chances[0] if all(where in others for others in chances)]
    worst = {where: min(of_number[where] for of_number in chances) for where in shared}
    best = max(worst, key=worst.__getitem__)
    return JointFit(min(1.0, len(chances) * worst[best]), best, len(shared), len(chances))


@dataclass(frozen=True)
class _TableAnswers:
    """The numbers of a table with their results, judged alone and together."""

    table: UnplacedTable
    found: dict[str, _UnplacedNumber]

    def judge(self, asked: AskedNumber) -> NumberVerdict:
        """Judge one of the numbers."""
        repeats, m = self.table.repeats, self.table.printed_repeats
        if asked.reason:
            return NumberVerdict(NOT_IMPLEMENTED, asked.reason, n_expected=0)
        own = self.found[asked.number.id]
        if not own.settings:
            return NumberVerdict(NOT_RUN, "no cell of it was run", repeats * len(asked.settings))
        mean, n_expected = mean_interval(own.nearest.values), max(repeats, len(own.nearest.values))
        if not own.is_testable:
            why = "INCOMPLETE" if own.is_partial else "only one run"
            reason = f"{why}: {own.describe_span()} so far, nearest {own.nearest.where}"
            return NumberVerdict(UNDECIDED, reason, n_expected, mean)
        verdict, reason = self._decide(own, m)
        one_run = verdict if m == 1 else self._decide(own, 1)[0]
        chance = max(self._chances[m][asked.number.id].values())
        return NumberVerdict(verdict, reason, n_expected, mean, chance=chance, verdict_one_run=one_run)

    def _decide(self, own: _UnplacedNumber, m: int) -> tuple[str, str]:
        chances = self._chances[m][own.number.id]
        likeliest = max(chances, key=chances.__getitem__)
        nearest = f"nearest {own.nearest.where}"
        if chances[likeliest] < ALPHA:
            chance = f"the chance of that is {format_chance(chances[likeliest])}"
            return REFUTED, f"no setting gives it: {own.describe_span()}, {nearest}; {chance}"
        joint = self._joint.get(m)
        if joint and joint.is_refuted:
            return REFUTED, f"{self._describe_joint()}; {own.describe_span()}, {nearest}"
        n_fitting = sum(chance >= ALPHA for chance in chances.values())
        reason = f"{n_fitting} of {len(chances)} settings could have given it, {nearest}"
        return SETTING_LOST, f"{reason}; {self._describe_joint()}" if joint else reason

    def _describe_joint(self) -> str:
        """Say whether one setting explains all numbers, for each number of runs that they may be means of."""
        answers: list[str] = []
        for m, fit in self._joint.items():
            runs, which = "single runs" if m == 1 else f"means of {m}", "none" if fit.is_refuted else "one"
            if not answers:
                which = "no setting" if fit.is_refuted else "one setting"
                which += f" could give all {fit.n_numbers} numbers of {self.table.id}"
            answers.append(f"{which} as {runs} (p {fit.p:.2g})")
        return ", ".join(answers)

    @cached_property
    def _joint(self) -> dict[int, JointFit]:
        """By m; nothing if there are not several numbers that all can be tested."""
        tested = [own for own in self.found.values() if own.settings]
        if len(tested) < 2 or not all(own.is_testable for own in tested):
            return {}
        return {m: fit_jointly(list(chances.values())) for m, chances in self._chances.items()}

    @cached_property
    def _chances(self) -> dict[int, dict[str, dict[str, float]]]:
        """The chances of each number that can be tested, by the number m of printed runs."""
        assumed = self.table.printed_repeats
        chances = {}
        for m in sorted({1, assumed if assumed > 1 else self.table.repeats}):
            chances[m] = {name: own.find_chances(m) for name, own in self.found.items() if own.is_testable}
        return chances
