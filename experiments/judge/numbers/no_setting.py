"""Printed numbers whose setting (ε, depth, data set) the paper does not state.

A table of kind ``span`` holds such numbers: for each of its ``algorithms`` one, which some setting of its ``studies``
should give. All settings that could be meant are run. An algorithm of which no description is available is named in
the paper's ``not_implemented``, with the reason: it keeps its row, which stays empty.

The numbers of a table come from one setting. p(setting) = min(1, k · the smallest of its k numbers' chances)
(Bonferroni), and the table is refuted if even the largest p(setting) is below 5 %. Over settings nothing is
corrected, because the claim "some setting explains them" is false only if each of them fails (intersection-union;
Berger 1982). The first that applies to a number:

- **undecided**: cells are missing, or there is one repeat only, or it would be refuted but for the second look.
- **refuted**: no setting could give it even alone (largest chance below 5 %), or none explains all numbers of its
  table; at two looks, and whatever number m of runs it is a mean of (see `runs_averaged`).
- **depends on how many runs were averaged**: so for some m that the text allows.
- **setting lost**: some setting could have given it; agreement with one setting of many is cheap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from experiments.judge.numbers.number_verdict import (
    FoundSetting,
    NumberQuestion,
    NumberVerdict,
    PrintedNumber,
)
from experiments.judge.numbers.prediction import Prediction
from experiments.judge.numbers.runs_averaged import judge_all_runs
from experiments.judge.verdict import Verdict
from experiments.judge.words import format_share
from experiments.metrics.find import is_in_per_cent
from experiments.stats import ALPHA, mean_interval


def judge_together(
    questions: Sequence[NumberQuestion], settings: Sequence[list[FoundSetting]], n_made: int
) -> dict[str, NumberVerdict]:
    """Return the verdict on each number of a table, by its id: alone, and together with the others.

    Of each question there are those of its settings that have results; of each setting so many runs were made.
    """
    by_all = _UnplacedTable(questions, settings)
    last_look = max((question.last_look for question in questions), default=0)
    by_first = None
    if 0 < last_look <= n_made:
        by_first = _UnplacedTable(questions, list(map(_cut, settings, questions)))
    return {question.number.id: _judge(i, by_all, by_first) for i, question in enumerate(questions)}


def _cut(found: Sequence[FoundSetting], question: NumberQuestion) -> list[FoundSetting]:
    """Return settings with the runs of the first look alone."""
    return [setting._replace(values=setting.values[: max(2, question.repeats)]) for setting in found]


@dataclass(frozen=True)
class _UnplacedNumber:
    """A number without its setting, beside those settings that have cells."""

    question: NumberQuestion
    found: list[FoundSetting]

    @property
    def number(self) -> PrintedNumber:
        return self.question.number

    @property
    def is_partial(self) -> bool:
        """Whether cells are missing."""
        repeats = self.question.repeats
        return sum(min(len(setting.values), repeats) for setting in self.found) < repeats * len(self.question.settings)

    @property
    def is_testable(self) -> bool:
        """Whether there are settings, and each has the repeats that a prediction needs."""
        repeats = [len(setting.values) for setting in self.found]
        return bool(repeats) and min(repeats) > 1 and not self.is_partial

    @cached_property
    def nearest(self) -> FoundSetting:
        """The setting whose mean comes nearest."""
        return min(self.found, key=lambda setting: abs(setting.values.mean() - self.number.value))

    @cached_property
    def chances(self) -> dict[int, dict[str, float]]:
        """By number m of runs and by setting: the chance that a mean of m is as far out as what is printed."""
        number = self.number
        chances: dict[int, dict[str, float]] = {}
        for m in self.question.printed_repeats:
            chances[m] = {}
            for asked, values in self.found:
                ours = Prediction(values, m, number.bounds)
                chances[m][asked.words] = ours.chance_of(number.value, number.slack)
        return chances

    def describe_span(self) -> str:
        """Return what all settings give."""
        scale = 100 if is_in_per_cent(self.number.metric) else 1
        means = [scale * setting.values.mean() for setting in self.found]
        decimals = self.number.decimals
        return f"{len(means)} settings give {min(means):.{decimals}f} to {max(means):.{decimals}f}"


class _UnplacedTable:
    """The numbers of a table that have no setting, by the same runs."""

    def __init__(self, questions: Sequence[NumberQuestion], settings: Sequence[list[FoundSetting]]):
        self.numbers = list(map(_UnplacedNumber, questions, settings))

    @cached_property
    def joint(self) -> dict[int, float]:
        """By number m of runs that all may be means of, p of the one setting that explains all numbers best.

        Empty where there is one number alone, or one that cannot be tested.
        """
        found = [unplaced for unplaced in self.numbers if unplaced.found]
        if len(found) < 2 or not all(unplaced.is_testable for unplaced in found):
            return {}
        shared = [m for m in found[0].chances if all(m in unplaced.chances for unplaced in found)]
        return {m: _fit_jointly([unplaced.chances[m] for unplaced in found]) for m in shared}

    @cached_property
    def said(self) -> str:
        """Whether one setting explains all numbers, in words."""
        n_found = sum(bool(unplaced.found) for unplaced in self.numbers)
        return _describe_joint(self.joint, f"all {n_found} numbers of {self.numbers[0].number.table}")

    def judge(self, place: int, m: int) -> NumberVerdict:
        """Judge one of the numbers as a mean of m runs."""
        unplaced = self.numbers[place]
        values = unplaced.nearest.values
        verdict, reason = _decide(unplaced, m, self.joint, self.said)
        n_expected, chance = max(unplaced.question.repeats, len(values)), max(unplaced.chances[m].values())
        if self.joint.get(m, 1.0) < ALPHA:
            chance = min(chance, self.joint[m])
        return NumberVerdict(verdict, reason, n_expected, mean_interval(values), chance=chance)


def _fit_jointly(chances: Sequence[Mapping[str, float]]) -> float:
    """Return p of the one setting that explains several numbers best; all of them have the same settings."""
    return min(1.0, len(chances) * max(min(of_number[where] for of_number in chances) for where in chances[0]))


def _judge(place: int, by_all: _UnplacedTable, by_first: _UnplacedTable | None) -> NumberVerdict:
    unplaced = by_all.numbers[place]
    question = unplaced.question
    if question.known is not None:
        return question.known
    if not unplaced.found:
        return NumberVerdict(Verdict.NOT_RUN, "no cell of it was run", question.repeats * len(question.settings))
    if not unplaced.is_testable:
        why = "INCOMPLETE" if unplaced.is_partial else "only one run"
        reason = f"{why}: {unplaced.describe_span()} so far, nearest {unplaced.nearest.asked.words}"
        values = unplaced.nearest.values
        return NumberVerdict(Verdict.UNDECIDED, reason, max(question.repeats, len(values)), mean_interval(values))
    at_first = partial(by_first.judge, place) if by_first is not None else None
    return judge_all_runs(question, partial(by_all.judge, place), at_first)


def _decide(unplaced: _UnplacedNumber, m: int, joint: Mapping[int, float], said: str) -> tuple[Verdict, str]:
    chances, nearest = unplaced.chances[m].values(), f"nearest {unplaced.nearest.asked.words}"
    if max(chances) < ALPHA:
        chance = f"the chance of that is {format_share(max(chances))}"
        return Verdict.REFUTED, f"no setting gives it: {unplaced.describe_span()}, {nearest}; {chance}"
    if joint.get(m, 1.0) < ALPHA:
        return Verdict.REFUTED, f"{said}; {unplaced.describe_span()}, {nearest}"
    n_fitting = sum(chance >= ALPHA for chance in chances)
    reason = f"{n_fitting} of {len(chances)} settings could have given it, {nearest}"
    return Verdict.SETTING_LOST, f"{reason}; {said}" if joint else reason


def _describe_joint(joint: Mapping[int, float], numbers: str) -> str:
    """Say whether one setting explains some numbers, by its p for each number of runs that they may be means of."""
    answers: list[str] = []
    for m, p in joint.items():
        runs, which = "single runs" if m == 1 else f"means of {m}", "none" if p < ALPHA else "one"
        if not answers:
            which = f"{'no' if p < ALPHA else 'one'} setting could give {numbers}"
        answers.append(f"{which} as {runs} (chance {format_share(p)})")
    return ", ".join(answers)
