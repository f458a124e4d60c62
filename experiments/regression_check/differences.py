"""The regression check: does this code still give what it gave? ``make check``

A few settings of every paper are run again, some repeats of each, and the median of every watched number has to lie in
its band, every watched claim to have its verdict. The check fails too if something could not be checked.

What the false alarms mean: the runs of the check and those behind the bands are different repeats, with seeds and
splits of their own. As long as the code gives the same digits, the check gives the same answer; a change that draws its
random numbers in another order is a new draw, and alarms by chance once in 10,000 changes, over all papers (see
`order_statistics`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import pandas as pd

from experiments.config.finding import Sign
from experiments.config.paper import Paper
from experiments.judge.numbers.number_verdict import PrintedNumber
from experiments.judge.verdict import SIGN_OF
from experiments.metrics.find import is_in_per_cent
from experiments.regression_check.bands import Accepted
from experiments.regression_check.order_statistics import POWER, Band
from experiments.regression_check.watch import WatchList, judge_must_hold, judge_watched_claim


@dataclass(frozen=True)
class Difference:
    """One thing that is not as it was: a setting and metric, or a claim."""

    what: str
    was: str  #: what is accepted, in words
    now: str  #: what was found
    by: str  #: how far it is outside


def find_differences(paper: Paper, watched: WatchList, accepted: Accepted, table: pd.DataFrame) -> list[Difference]:
    """Return all that is outside its band, flipped or missing in the long table of the runs of a check."""
    differences = []
    for number in watched.numbers:
        band = accepted.bands[number.key]
        values = number.collect_values(paper, table)
        name = f"{number.name}: {number.metric}"
        differences += _compare_number(name, number.metric, band, values, watched.repeats)
    for claim in watched.claims:
        was = accepted.claims[claim.id]
        now, reason = judge_watched_claim(paper, claim, table, watched.repeats)
        if now != was:
            differences.append(Difference(f"claim {claim.id}", was, now, reason))
    for printed, verdict in judge_must_hold(paper, watched, table):
        if SIGN_OF[verdict.verdict] is not Sign.HOLDS:
            differences.append(Difference(name_printed(printed), "holds", verdict.verdict, verdict.reason))
    return differences


def name_printed(number: PrintedNumber) -> str:
    """Return a printed number in words.

    Examples
    --------
    >>> setting = {"dataset": "car", "algorithm": "rdt"}
    >>> name_printed(PrintedNumber("car-rdt", "table-1", "accuracy", "mean", 0.84, "p. 3", 1, setting))
    'printed number car-rdt, 84.00 %'
    """
    return f"printed number {number.id}, {format_value(number.metric, number.value)}"


def _compare_number(name: str, metric: str, band: Band, values: np.ndarray, n_runs: int) -> list[Difference]:
    was = f"{format_value(metric, band.low)} to {format_value(metric, band.high)}"
    if len(values) < n_runs:
        return [Difference(name, was, f"{len(values)} of {n_runs} runs", "missing")]
    median = float(np.median(values))
    beyond = band.measure_excess(median)
    if not beyond:
        return []
    return [Difference(name, was, format_value(metric, median), f"{format_shift(metric, beyond, '+')} outside")]


def format_value(metric: str, value: float) -> str:
    """Return a number as text, in per cent where papers print it so.

    Examples
    --------
    >>> format_value("accuracy", 0.81234), format_value("mse", 0.00123456)
    ('81.23 %', '0.001235')
    """
    return f"{100 * value:.2f} %" if is_in_per_cent(metric) else f"{value:.4g}"


def format_shift(metric: str, value: float, sign: str = "") -> str:
    """Return a difference as text, in percentage points where papers print per cent.

    Examples
    --------
    >>> format_shift("accuracy", -0.02, "+"), format_shift("mse", 0.00123456)
    ('-2.00 points', '0.001235')
    """
    return f"{100 * value:{sign}.2f} points" if is_in_per_cent(metric) else f"{value:{sign}.4g}"


def describe_sensitivity(accepted: Accepted) -> list[str]:
    """Say for each metric which shift its bands detect: the smallest and where, and what half of them do.

    Examples
    --------
    >>> bands = {(f"grid: {i}", "accuracy"): Band(200, 0.5, 0.4, 0.6, i / 100) for i in (0, 1, 2, 5)}
    >>> describe_sensitivity(Accepted(bands, {}, 21))
    ['accuracy: 1.00 points in grid: 1; 2.00 points in half of 3 bands, 5.00 points in all; any in 1 without spread']
    """
    shifts: dict[str, dict[str, float]] = defaultdict(dict)
    for (name, metric), band in accepted.bands.items():
        shifts[metric][name] = band.detects
    return [f"{metric}: {_describe_shifts(metric, pd.Series(own))}" for metric, own in shifts.items()]


def _describe_shifts(metric: str, shifts: pd.Series) -> str:
    varying = shifts[shifts != 0]
    words = []
    if len(varying):
        least, half = format_shift(metric, varying.min()), format_shift(metric, varying.median())
        most = format_shift(metric, varying.max())
        words = [f"{least} in {varying.idxmin()}", f"{half} in half of {len(varying)} bands, {most} in all"]
    if n_constant := len(shifts) - len(varying):
        words.append(f"any in {n_constant} without spread")
    return "; ".join(words)


def format_report(name: str, watched: WatchList, accepted: Accepted, differences: Sequence[Difference]) -> str:
    """Return what the check of a paper gave, as text."""
    different = set(map(attrgetter("what"), differences))
    claims = {f"claim {claim.id}" for claim in watched.claims}
    printed = set(map(name_printed, watched.must_hold))
    n_bands, n_outside = len(watched.numbers), len(different - claims - printed)
    control = f", {len(printed - different)} of {len(printed)} printed numbers" if printed else ""
    lines = [
        f"paper {name}: {n_bands - n_outside} of {n_bands} bands hold and {len(claims - different)} of "
        f"{len(claims)} verdicts{control}, medians of {watched.repeats} runs each"
    ]
    if differences:
        frame = pd.DataFrame(list(differences)).set_axis(["what", "accepted", "now", "by how much"], axis=1)
        lines += ["", frame.to_string(index=False, justify="left"), ""]
    for sensitivity in describe_sensitivity(accepted):
        lines.append(f"  smallest shift detected ({POWER:.0%} of the time), {sensitivity}")
    return "\n".join(lines)
