"""The regression check: does this code still give what it gave? ``make check``

A few settings of every paper are run again, some repeats of each, and the median of every watched number has to lie in
its band, every watched claim to have its verdict. The check fails too if something could not be checked.

What the false alarms mean: the runs of the check and those behind the bands are different repeats, with seeds and
splits of their own. As long as the code gives the same digits, the check gives the same answer; a change that draws its
random numbers in another order is a new draw, and alarms by chance once in 10,000 changes, over all papers (`further`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.judge.verdict import is_in_per_cent
from experiments.regression_check.bands import Accepted
from experiments.regression_check.order_statistics import POWER, Band
from experiments.regression_check.watch import Check, verdict


@dataclass(frozen=True)
class Difference:
    """One thing that is not as it was.

    Parameters
    ----------
    what : str
        The setting and metric, or the claim.
    was, now, by : str
        In words: what is accepted, what was found, and how far it is outside.
    """

    what: str
    was: str
    now: str
    by: str


def find_differences(paper: Mapping, check: Check, accepted: Accepted, table: pd.DataFrame) -> list[Difference]:
    """Return all that is outside its band, flipped or missing.

    Parameters
    ----------
    paper : mapping
        Its description.
    check : Check
        What is watched.
    accepted : Accepted
        The bands and verdicts.
    table : DataFrame
        The long table of the runs of the check.
    """
    found = []
    for one in check.watched:
        band = accepted.bands[one.name, one.metric]
        found += _of_number(f"{one.name}: {one.metric}", one.metric, band, one.values(paper, table), check.repeats)
    for claim in check.claims:
        was = accepted.claims[claim["id"]]
        now, reason = verdict(paper, claim, table, check.repeats)
        if now != was:
            found.append(Difference(f"claim {claim['id']}", was, now, reason))
    return found


def _of_number(what: str, metric: str, band: Band, values: np.ndarray, n: int) -> list[Difference]:
    was = f"{format_value(metric, band.low)} to {format_value(metric, band.high)}"
    if len(values) < n:
        return [Difference(what, was, f"{len(values)} of {n} runs", "missing")]
    now = float(np.median(values))
    beyond = band.beyond(now)
    return (
        [Difference(what, was, format_value(metric, now), f"{format_shift(metric, beyond, '+')} outside")]
        if beyond
        else []
    )


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


def sensitivity(accepted: Accepted) -> list[str]:
    """Say for each metric which shift its bands detect: the smallest and where, and what half of them do.

    Examples
    --------
    >>> bands = {(f"grid: {i}", "accuracy"): Band(200, 0.5, 0.4, 0.6, i / 100) for i in (0, 1, 2, 5)}
    >>> sensitivity(Accepted(bands, {}, 21))
    ['accuracy: 1.00 points in grid: 1; 2.00 points in half of 3 bands, 5.00 points in all; any in 1 without spread']
    """
    said = []
    for metric in dict.fromkeys(metric for _, metric in accepted.bands):
        shifts = {name: band.detects for (name, of), band in accepted.bands.items() if of == metric}
        varying = {name: detects for name, detects in shifts.items() if detects}
        words = []
        if varying:
            least, half, most = (format_shift(metric, of(list(varying.values()))) for of in (min, np.median, max))
            finest = min(varying, key=varying.get)
            words = [f"{least} in {finest}", f"{half} in half of {len(varying)} bands, {most} in all"]
        if constant := len(shifts) - len(varying):
            words.append(f"any in {constant} without spread")
        said.append(f"{metric}: {'; '.join(words)}")
    return said


def format_report(name: str, check: Check, accepted: Accepted, found: list[Difference]) -> str:
    """Return what the check of a paper gave, as text."""
    claims = {f"claim {claim['id']}" for claim in check.claims}
    n, flipped = len(check.watched), sum(one.what in claims for one in found)
    lines = [
        f"paper {name}: {n - len(found) + flipped} of {n} bands hold and {len(check.claims) - flipped} of "
        f"{len(check.claims)} verdicts, medians of {check.repeats} runs each"
    ]
    if found:
        columns = ("what", "accepted", "now", "by how much")
        frame = pd.DataFrame([(one.what, one.was, one.now, one.by) for one in found], columns=columns)
        lines += ["", frame.to_string(index=False, justify="left"), ""]
    lines += [f"  smallest shift detected ({POWER:.0%} of the time), {line}" for line in sensitivity(accepted)]
    return "\n".join(lines)
