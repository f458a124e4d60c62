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

from experiments.judge.numbers.number_verdict import (
    FoundSetting,
    NumberQuestion,
    NumberVerdict,
    PrintedNumber,
    format_chance,
)
from experiments.judge.numbers.prediction import Prediction
from experiments.judge.verdict import NOT_RUN, REFUTED, SETTING_LOST, UNDECIDED
from experiments.metrics.find import is_in_per_cent
from experiments.stats import ALPHA, mean_interval


def judge_together(
    questions: Sequence[NumberQuestion], settings: Sequence[list[FoundSetting]]
) -> dict[str, NumberVerdict]:
    """Return the verdict on each number of a table, by its id: alone, and together with the others.

    Of each question there are those of its settings that have results.
    """
    numbers = list(map(_UnplacedNumber, questions, settings))
    found = [own for own in numbers if own.found]
    joint = {}
    if len(found) > 1 and all(own.is_testable for own in found):
        joint = {m: _fit_jointly([own.chances[m] for own in found]) for m in found[0].chances}
    said = _describe_joint(joint, f"all {len(found)} numbers of {questions[0].number.table}")
    return {own.number.id: _judge(own, joint, said) for own in numbers}


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
        return sum(min(len(own.values), repeats) for own in self.found) < repeats * len(self.question.settings)

    @property
    def is_testable(self) -> bool:
        """Whether there are settings, and each has the repeats that a prediction needs."""
        repeats = [len(own.values) for own in self.found]
        return bool(repeats) and min(repeats) > 1 and not self.is_partial

    @cached_property
    def nearest(self) -> FoundSetting:
        """The setting whose mean comes nearest."""
        return min(self.found, key=lambda own: abs(own.values.mean() - self.number.value))

    @cached_property
    def chances(self) -> dict[int, dict[str, float]]:
        """By number m of runs and by setting: the chance that a mean of m is as far out as what is printed."""
        assumed, number = self.question.printed_repeats, self.number
        chances: dict[int, dict[str, float]] = {}
        for m in sorted({1, assumed if assumed > 1 else self.question.repeats}):
            chances[m] = {}
            for asked, values in self.found:
                ours = Prediction(values, m, number.bounds)
                chances[m][asked.words] = ours.chance_of(number.value, number.slack)
        return chances

    def describe_span(self) -> str:
        """Return what all settings give."""
        scale = 100 if is_in_per_cent(self.number.metric) else 1
        means = [scale * own.values.mean() for own in self.found]
        decimals = self.number.decimals
        return f"{len(means)} settings give {min(means):.{decimals}f} to {max(means):.{decimals}f}"


def _fit_jointly(chances: Sequence[Mapping[str, float]]) -> float:
    """Return p of the one setting that explains several numbers best; all of them have the same settings."""
    return min(1.0, len(chances) * max(min(of_number[where] for of_number in chances) for where in chances[0]))


def _judge(own: _UnplacedNumber, joint: Mapping[int, float], said: str) -> NumberVerdict:
    question, m = own.question, own.question.printed_repeats
    if question.known is not None:
        return question.known
    if not own.found:
        return NumberVerdict(NOT_RUN, "no cell of it was run", question.repeats * len(question.settings))
    values = own.nearest.values
    mean, n_expected = mean_interval(values), max(question.repeats, len(values))
    if not own.is_testable:
        why = "INCOMPLETE" if own.is_partial else "only one run"
        reason = f"{why}: {own.describe_span()} so far, nearest {own.nearest.asked.words}"
        return NumberVerdict(UNDECIDED, reason, n_expected, mean)
    verdict, reason = _decide(own, m, joint, said)
    one_run = verdict if m == 1 else _decide(own, 1, joint, said)[0]
    return NumberVerdict(
        verdict, reason, n_expected, mean, chance=max(own.chances[m].values()), verdict_one_run=one_run
    )


def _decide(own: _UnplacedNumber, m: int, joint: Mapping[int, float], said: str) -> tuple[str, str]:
    chances, nearest = own.chances[m].values(), f"nearest {own.nearest.asked.words}"
    if max(chances) < ALPHA:
        chance = f"the chance of that is {format_chance(max(chances))}"
        return REFUTED, f"no setting gives it: {own.describe_span()}, {nearest}; {chance}"
    if joint and joint[m] < ALPHA:
        return REFUTED, f"{said}; {own.describe_span()}, {nearest}"
    n_fitting = sum(chance >= ALPHA for chance in chances)
    reason = f"{n_fitting} of {len(chances)} settings could have given it, {nearest}"
    return SETTING_LOST, f"{reason}; {said}" if joint else reason


def _describe_joint(joint: Mapping[int, float], numbers: str) -> str:
    """Say whether one setting explains some numbers, by its p for each number of runs that they may be means of."""
    answers: list[str] = []
    for m, p in joint.items():
        runs, which = "single runs" if m == 1 else f"means of {m}", "none" if p < ALPHA else "one"
        if not answers:
            which = f"{'no' if p < ALPHA else 'one'} setting could give {numbers}"
        answers.append(f"{which} as {runs} (p {p:.2g})")
    return ", ".join(answers)
