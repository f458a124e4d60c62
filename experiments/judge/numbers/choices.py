"""Printed choices: a value that an algorithm picks from a short list, as cross-validation does.

A mean and an interval say little of a choice from 1.0, 1.2, ..., 2.0. Our n choices and the printed one can be
exchanged: each of the n + 1 is as likely the printed one. So the chance that the printed one is at least as rare
among all n + 1 as it is, is the share of choices that are as rare, exactly.

- **refuted**: that chance is below 5 %, at two looks (see `runs_averaged`).
- **reproduced**: all of ours are the printed one.
- **print too coarse**: some of ours are. A single printed choice tells no more, whatever is run.
- **undecided**: none of ours is, in too few repeats to refute it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from experiments.judge.numbers.number_verdict import NumberVerdict, PrintedNumber
from experiments.judge.verdict import Verdict
from experiments.judge.words import count_runs, format_share
from experiments.stats import ALPHA, mean_interval

_CHOICES = ("sampling_ratio",)


def is_choice(metric: str) -> bool:
    """Return whether a metric is picked from a short list."""
    return metric in _CHOICES


def judge_choice(number: PrintedNumber, values: Sequence[float] | np.ndarray) -> NumberVerdict:
    """Judge a single printed choice by the choices of our repeats, at least one."""
    n, mean = len(values), mean_interval(values)
    counts = Counter(np.asarray(values).tolist())
    n_printed = sum(count for value, count in counts.items() if abs(value - number.value) <= number.slack)
    chance = chance_as_rare(list(counts.values()), n_printed)
    often, n_often = max(counts.items(), key=lambda item: (item[1], -item[0]))
    reason = f"{n_printed} of our {count_runs(n)} choose {number.value:g}"
    if n_printed < n_often:
        reason += f", {n_often} choose {often:g}"
    if n < 2:
        return NumberVerdict(Verdict.UNDECIDED, "only one run", n, mean, needs_repeats=True)
    verdict = Verdict.REPRODUCED if n_printed == n else Verdict.TOO_COARSE if n_printed else Verdict.UNDECIDED
    if chance < ALPHA:
        verdict, reason = Verdict.REFUTED, f"{reason}; the chance of that is {format_share(chance)}"
    elif verdict == Verdict.TOO_COARSE:
        reason += "; a single printed choice tells no more"
    return NumberVerdict(verdict, reason, n, mean, chance=chance, needs_repeats=verdict == Verdict.UNDECIDED)


def chance_as_rare(counts: Sequence[int], n_printed: int) -> float:
    """Return the chance that one more choice is at least as rare as the printed one, which is counted with ours.

    ``counts`` says how often each of our choices was made, ``n_printed`` how often the printed one was, 0 if never.

    Examples
    --------
    >>> chance_as_rare([5, 2, 3], n_printed=2)  # 5, 3 and 3 with the printed one
    0.5454545454545454
    """
    pooled = list(counts)
    if n_printed:
        pooled.remove(n_printed)
    pooled.append(n_printed + 1)
    return sum(count for count in pooled if count <= n_printed + 1) / sum(pooled)
