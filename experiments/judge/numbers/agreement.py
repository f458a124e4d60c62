"""Whether a printed number and our repeats of its setting agree: the rule itself.

``predicted`` is the 95 % interval for the mean of the m runs that were printed (`prediction`), widened by half a
printed digit; δ is the paper's ``resolution`` of the metric (0.01, a point, for shares and R²). The first that
applies:

===================== ==================================================================================================
one repeat            *undecided*
outside               *reproduced within ± δ* if the difference is shown to be less than δ, by two one-sided tests at
                      5 % in which the noise of the print counts, too (Schuirmann 1987); else *refuted*
no spread             *reproduced*: our repeats agree exactly, and the printed digits with them
half-width <= δ       *reproduced*
no repeat could tell  *print too coarse*: what endless repeats would leave, z·s/sqrt(m), is wider than δ and has the
                      printed value inside; or so many repeats were run that the rest is within 5 % of that
else                  *undecided*, and more repeats could decide it
===================== ==================================================================================================

That is what one look says if m is known. What becomes of it where m is not, and at a second look, says
`runs_averaged`: nothing is refuted by one look alone. Repeats without spread count as deterministic here: a printed
value beyond the rounding is outside. Its exact chance stands beside, and a refutation asks for one below 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from experiments.judge.numbers.number_verdict import (
    NO_INTERVAL,
    NumberVerdict,
    PrintedNumber,
    describe_difference,
    describe_runs,
    longer_side,
)
from experiments.judge.numbers.prediction import Prediction
from experiments.judge.verdict import Verdict
from experiments.judge.words import count_runs, format_difference, format_share, format_value
from experiments.stats import ALPHA, mean_interval


def judge_agreement(
    number: PrintedNumber, values: Sequence[float] | np.ndarray, printed_repeats: int, resolution: float
) -> NumberVerdict:
    """Judge a number, a mean over m printed runs, by our repeats of its setting, and δ on the metric's scale."""
    n, mean = len(values), mean_interval(values)
    if n < 2:
        return NumberVerdict(Verdict.UNDECIDED, "only one run: no interval", n, mean, NO_INTERVAL, needs_repeats=True)
    ours = Prediction(values, printed_repeats, number.bounds)
    predicted, chance = ours.interval(), ours.chance_of(number.value, number.slack)
    verdict, reason = _decide(number, ours, resolution)
    if not ours.spread:
        reason = f"{reason}; all {count_runs(n)} agree exactly"
    return NumberVerdict(verdict, reason, n, mean, predicted, chance, needs_repeats=verdict == Verdict.UNDECIDED)


def _decide(number: PrintedNumber, ours: Prediction, resolution: float) -> tuple[Verdict, str]:
    metric, half_width = number.metric, longer_side(ours.interval())
    off, slack = abs(number.value - ours.center), number.slack
    is_outside = ours.chance_of(number.value, slack) < ALPHA if ours.spread else off > slack
    if is_outside:
        told, difference = describe_difference(number, ours.center), number.value - ours.center
        low, high = ours.differences(ALPHA)  # of what the printed mean is expected to be, less ours
        if -resolution < difference - high - slack and difference - low + slack < resolution:
            return Verdict.REPRODUCED_WITHIN, f"{told}, shown to be less than {format_difference(metric, resolution)}"
        return Verdict.REFUTED, f"{told}; {_describe_chance(number, ours)}"
    if half_width <= resolution:
        return Verdict.REPRODUCED, "inside the range that our runs predict"
    if ours.is_exhausted or (ours.floor > resolution and off <= ours.floor + slack):
        known = f"{describe_runs(ours.n_further)} is known to ± {format_difference(metric, ours.floor)} at best"
        return Verdict.TOO_COARSE, f"agrees, but {known}"
    return Verdict.UNDECIDED, f"agrees so far: after {count_runs(ours.n)} to ± {format_difference(metric, half_width)}"


def _describe_chance(number: PrintedNumber, ours: Prediction) -> str:
    """Say how unlikely a value so far out is, with the exact reason where that is the stronger one."""
    slack = number.slack
    chance = ours.chance_of(number.value, slack)
    if not ours.spread:
        return f"the chance of that is at most {format_share(chance)}"
    is_above = number.value > ours.center
    exact = ours.exact_chance(number.value - slack if is_above else number.value + slack)
    if 2 * exact > chance:
        return f"the chance of that is {format_share(chance)}"
    if exact == 0:
        return f"{number.metric} cannot be so {'high' if is_above else 'low'}"
    return f"the chance of that is {format_share(exact)}: {_explain_exact(number, ours, is_above)}"


def _explain_exact(number: PrintedNumber, ours: Prediction, is_above: bool) -> str:
    """Say what the printed mean asks of every single run that it is a mean of."""
    m, slack = ours.n_further, number.slack
    end = ours.bounds.high if is_above else ours.bounds.low
    rounded = number.value - slack if is_above else number.value + slack
    worst = rounded if m == 1 else end - m * (end - rounded)
    n_reaching = int(np.sum(ours.values >= worst) if is_above else np.sum(ours.values <= worst))
    if not math.isfinite(worst) or n_reaching == ours.n:
        return "whatever the distribution of the runs"
    runs = "its one run" if m == 1 else f"each of its {m} runs"
    most = "least" if is_above else "most"
    asked = f"{runs} would have to give at {most} {format_value(number.metric, worst)}"
    return f"{asked}, as {n_reaching or 'none'} of our {ours.n:,} {'do' if n_reaching > 1 else 'does'}"
