"""How often a printed number of a perfect paper is called a miss: runs are drawn, and the judge itself judges.

A paper and we draw runs of one family, so that every printed number is true. What the paper did is one of four truths:
one run, the mean of ten runs on new splits, or of ten on one split that carries 50 or 80 % of the variance. We know
nothing of it: our runs have new splits, and the text allows the number to be a mean of 1 or of 10 runs. The number is
judged at its first look, and at its second where it asks for that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from experiments.config.paper import Paper
from experiments.config.study import Study
from experiments.judge.number_answers import judge_by_looks
from experiments.judge.numbers.number_verdict import NumberQuestion, PrintedNumber
from experiments.judge.verdict import Verdict
from experiments.questions.number_questions import find_next_look

_MEAN, _SPREAD = 0.8, 0.02  # of the accuracies that have no number of test rows
_ACCURACY, _DROP = 0.9, 0.4  # of those that have one, and what a collapse costs
_DELTA = 0.01

Draw = Callable[[np.random.Generator, int, int, float], np.ndarray]
"""Draws runs, of shape (splits, runs on each): the last argument is the share of their variance that is the split's."""


class RunFamily(NamedTuple):
    """How the runs of a setting vary."""

    name: str
    draw: Draw
    #: Whether a few runs collapse: of ten or twenty runs one cannot see that.
    collapses: bool = False


class Truth(NamedTuple):
    """What a paper did: so many runs on each of so many splits, which carry a share of the variance."""

    name: str
    n_splits: int
    n_runs: int
    share: float = 0.0


class FalseMisses(NamedTuple):
    """How many of a number of true printed numbers got which verdict, in per cent."""

    family: str
    truth: str
    n: int
    #: A false miss: outside for every number of runs, at both looks.
    refuted: float
    #: Outside for one number of runs only, which for the other is true.
    depends: float
    collapses: bool


@dataclass(frozen=True)
class TextOfPaper:
    """What a paper says of its runs, and how many of ours its file allows."""

    printed_repeats: tuple[int, ...] = (1, 10)
    repeats: int = 20
    most_repeats: int = 320

    @property
    def last_look(self) -> int:
        """The runs of the second look."""
        study = Study(dataset=("car",), algorithm=("majority",))
        paper = Paper(number=0, title="", repeats=self.repeats, most_repeats=self.most_repeats, studies={"s": study})
        return find_next_look(paper, self.printed_repeats)


def _add_up(draw: Callable, rng: np.random.Generator, n_splits: int, n_runs: int, share: float) -> np.ndarray:
    """Add what a split and a run do, both drawn alike, to the mean."""
    of_split, of_run = draw(rng, (n_splits, 1)), draw(rng, (n_splits, n_runs))
    return (_MEAN + _SPREAD * (share**0.5 * of_split + (1 - share) ** 0.5 * of_run)).clip(0, 1)


def _count_right(n_rows: int, rng: np.random.Generator, n_splits: int, n_runs: int, share: float) -> np.ndarray:
    """Return the share of test rows that are right: of some of them the split decides it, of the others the run."""
    n_of_split = round(share * n_rows)
    of_split = rng.binomial(n_of_split, _ACCURACY, (n_splits, 1))
    return (of_split + rng.binomial(n_rows - n_of_split, _ACCURACY, (n_splits, n_runs))) / n_rows


def _collapse(chance: float, rng: np.random.Generator, n_splits: int, n_runs: int, share: float) -> np.ndarray:
    """Return normal runs of which some lose 40 points, by their split or by themselves."""
    steady = _add_up(np.random.Generator.standard_normal, rng, n_splits, n_runs, share)
    falls = np.where(
        rng.random((n_splits, n_runs)) < share,
        rng.random((n_splits, 1)) < chance,
        rng.random((n_splits, n_runs)) < chance,
    )
    return steady - _DROP * falls


def _draw_half_normal(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return ((2 / np.pi) ** 0.5 - np.abs(rng.standard_normal(shape))) / (1 - 2 / np.pi) ** 0.5


def _draw_exponential(sign: int, rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return sign * (rng.standard_exponential(shape) - 1)


def _draw_t(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.standard_t(4, shape) / 2**0.5


FAMILIES = (
    RunFamily("normal", partial(_add_up, np.random.Generator.standard_normal)),
    RunFamily("half-normal", partial(_add_up, _draw_half_normal)),
    RunFamily("exponential, tail below", partial(_add_up, partial(_draw_exponential, -1))),
    RunFamily("exponential, tail above", partial(_add_up, partial(_draw_exponential, 1))),
    RunFamily("t, 4 degrees of freedom", partial(_add_up, _draw_t)),
    *(RunFamily(f"accuracy, {n_rows:,} test rows", partial(_count_right, n_rows)) for n_rows in (20, 100, 1000)),
    *(RunFamily(f"{100 * q:.0f} % lose 40 points", partial(_collapse, q), True) for q in (0.01, 0.03, 0.05, 0.1)),
)
"""What runs of settings look like."""

TRUTHS = (
    Truth("one run", 1, 1),
    Truth("ten new splits", 10, 1),
    Truth("ten runs, one split: 50 %", 1, 10, 0.5),
    Truth("ten runs, one split: 80 %", 1, 10, 0.8),
)
"""What a paper may have done."""


def simulate_false_misses(
    families: Sequence[RunFamily],
    n: int,
    rng: np.random.Generator,
    text: TextOfPaper = TextOfPaper(),
    truths: Sequence[Truth] = TRUTHS,
) -> list[FalseMisses]:
    """Judge n true printed numbers of each family and truth; a row for each of these.

    Examples
    --------
    >>> rows = simulate_false_misses(FAMILIES[:1], 20, np.random.default_rng(0), truths=TRUTHS[:2])
    >>> [(row.family, row.truth, row.refuted <= 10) for row in rows]
    [('normal', 'one run', True), ('normal', 'ten new splits', True)]
    """
    return [_count_misses(family, truth, n, rng, text) for family, truth in product(families, truths)]


def _count_misses(family: RunFamily, truth: Truth, n: int, rng: np.random.Generator, text: TextOfPaper) -> FalseMisses:
    found = Counter(_judge_true_numbers(family, truth, n, rng, text))
    refuted, depends = 100 * found[Verdict.REFUTED] / n, 100 * found[Verdict.DEPENDS_ON_RUNS] / n
    return FalseMisses(family.name, truth.name, n, refuted, depends, family.collapses)


def _judge_true_numbers(
    family: RunFamily, truth: Truth, n: int, rng: np.random.Generator, text: TextOfPaper
) -> Iterator[str]:
    """Yield the verdict on each of n numbers that are printed as they came out."""
    last_look = text.last_look
    for _ in range(n):
        printed = float(family.draw(rng, truth.n_splits, truth.n_runs, truth.share).mean().round(4))
        ours = family.draw(rng, max(text.repeats, last_look), 1, truth.share)[:, 0]
        question = NumberQuestion(
            PrintedNumber("n", "t", "accuracy", "mean", printed, 2, "", {}),
            resolution=_DELTA,
            printed_repeats=text.printed_repeats,
            repeats=text.repeats,
            last_look=last_look,
        )
        verdict = judge_by_looks(question, ours[: text.repeats], text.repeats)
        if verdict.needs_repeats:
            verdict = judge_by_looks(question, ours, last_look)
        yield verdict.verdict
