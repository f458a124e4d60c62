"""The tables of the error rates and of the power of verdicts: what is simulated for them, and how they are written."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from experiments.calibration.claims import (
    LOOKS,
    FalseVerdicts,
    SettingTruth,
    TrueClaim,
    find_level,
    simulate_decisions,
    simulate_false,
    simulate_no_difference,
)
from experiments.calibration.gains import COLLAPSES, FAMILIES, POINT, GainFamily, draw_normal
from experiments.calibration.numbers import FAMILIES as RUN_FAMILIES
from experiments.calibration.numbers import TRUTHS, simulate_false_misses
from experiments.judge.tasks import RunTasks
from experiments.judge.verdict import Verdict

N_CLAIMS = 20
"""Claims of a paper, where nothing else is said."""

_SIZES = (1, 10, 40)  # settings of a claim
_NORMAL = FAMILIES[0]


class CalibrationTable(NamedTuple):
    """A table of what was simulated."""

    title: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str = ""

    def write(self) -> str:
        """Return it as Markdown, columns below each other."""
        rows = [self.header, *self.rows]
        widths = [max(len(row[place]) for row in rows) for place in range(len(self.header))]
        lines = []
        for row in rows:
            first, *others = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            lines.append(f"| {' | '.join([first, *(other for other in others)])} |")
        rule = ["-" * widths[0], *(f"{'-' * (width - 1)}:" for width in widths[1:])]
        lines.insert(1, f"| {' | '.join(rule)} |")
        return "\n".join([f"## {self.title}", "", *lines, *(["", self.note] if self.note else [])])


def format_rate(n_false: int, n: int, n_claims: int = 1) -> str:
    """Return in per cent how many papers of so many claims have a false one, with its standard error.

    Of none that were seen it is said below what their share lies (with 95 % confidence).

    Examples
    --------
    >>> format_rate(200, 100_000), format_rate(200, 100_000, 20), format_rate(0, 10_000, 20)
    ('0.20 ± 0.01', '3.9 ± 0.3', '< 0.6')
    """
    digits = 1 if n_claims > 1 or n_false > 0.02 * n else 2
    if not n_false:
        return f"< {100 * -math.expm1(n_claims * math.log1p(-min(3 / n, 1 - 1e-9))):.{digits}f}"
    rate = n_false / n
    error = n_claims * (1 - rate) ** (n_claims - 1) * math.sqrt(rate * (1 - rate) / n)
    return f"{100 * (1 - (1 - rate) ** n_claims):.{digits}f} ± {100 * error:.{digits}f}"


def format_papers(found: FalseVerdicts, n_claims: int) -> str:
    """Return in per cent of how many papers something false is shown."""
    return format_rate(found.settings, found.n, n_claims)


def list_kinds(found: Iterable[FalseVerdicts]) -> str:
    """Say of how many claims something false is shown, and which of these have a false verdict."""
    total = sum(found, FalseVerdicts())
    counted = [f"{n:,} *{verdict.value}*" for verdict, n in sorted(total.verdicts.items())]
    kinds = ", ".join([*counted, f"{total.settings - total.verdicts.total():,} *undecided*"])
    return f"Of {total.n:,} claims, {total.settings:,} are wrong somewhere: {kinds}."


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' if n > 1 else ''}"


def tabulate_no_difference(simulations: int, run_tasks: RunTasks) -> list[CalibrationTable]:
    """Return the tables of false verdicts where no setting gains: promised families, and those beyond."""
    papers = (N_CLAIMS, 1)
    tasks = [partial(simulate_no_difference, family, simulations, _SIZES, papers) for family in FAMILIES]
    found = dict(zip(FAMILIES, run_tasks(tasks), strict=True))
    header = ["runs"]
    for n_claims in papers:
        header += [f"{_count(n_claims, 'claim')}, {_count(size, 'setting')}" for size in _SIZES]
    tables = []
    for is_promised, title in (
        (True, "No difference: something false is shown, in % of papers"),
        (False, "No difference, runs with longer tails than is promised for: in % of papers"),
    ):
        rows, counted = [], []
        for family, of_family in found.items():
            if family.is_promised == is_promised:
                cells = [format_papers(of_family[n, size], n) for n in papers for size in _SIZES]
                rows.append((family.name, *cells))
                counted += [of_family[N_CLAIMS, size] for size in _SIZES]
        tables.append(CalibrationTable(title, tuple(header), rows, f"Papers of 20 claims. {list_kinds(counted)}"))
    return tables


def tabulate_other_truths(simulations: int, run_tasks: RunTasks) -> CalibrationTable:
    """Return the table of false verdicts where settings depend on each other, gain just δ, or one gains nothing."""
    names = [
        "10 settings, correlated by 0.5",
        "40 settings, correlated by 0.9",
        "a gain of ± δ in 1 setting",
        "in 10 settings",
        "none in 1 of 10, 5 points in 9",
    ]
    families = [family for family in FAMILIES if family.is_promised and "printed" not in family.name]
    tasks: list[Callable[[], FalseVerdicts]] = []
    for family in families:
        one_null = (SettingTruth(family, 0.0), *(SettingTruth(family, 5 * POINT),) * 9)
        if "98" in family.name or "constant" in family.name:  # five points more would be all
            one_null = (SettingTruth(family, 0.0), *(SettingTruth(_NORMAL, 5 * POINT),) * 9)
        claims = [
            [TrueClaim.alike(family, 0.0, 10, 0.5)],
            [TrueClaim.alike(family, 0.0, 40, 0.9)],
            [TrueClaim.alike(family, gain, 1) for gain in (POINT, -POINT)],
            [TrueClaim.alike(family, gain, 10) for gain in (POINT, -POINT)],
            [TrueClaim(one_null)],
        ]
        tasks += [
            partial(_simulate_alike, f"{family.name}: {name}", of, simulations)
            for name, of in zip(names, claims, strict=True)
        ]
    found, rows = run_tasks(tasks), []
    for place, family in enumerate(families):
        of_family = found[place * len(names) : (place + 1) * len(names)]
        rows.append((family.name, *(format_papers(one, N_CLAIMS) for one in of_family)))
    title = "Other truths: in % of papers of 20 claims"
    return CalibrationTable(title, ("runs", *names), rows, list_kinds(found))


def _simulate_alike(name: str, claims: Sequence[TrueClaim], n_settings: int) -> FalseVerdicts:
    """Return the false verdicts on claims of several kinds, as many of each."""
    counted = FalseVerdicts()
    for number, claim in enumerate(claims):
        n = max(1, n_settings // len(claim.settings) // len(claims))
        counted += simulate_false(f"{name} {number}", claim, n, find_level(N_CLAIMS))
    return counted


def tabulate_collapses(simulations: int, run_tasks: RunTasks) -> CalibrationTable:
    """Return the table of false verdicts where a few runs lose all that the others gain."""
    tasks = [partial(simulate_no_difference, family, simulations, _SIZES, (N_CLAIMS,)) for family in COLLAPSES]
    rows = []
    for family, found in zip(COLLAPSES, run_tasks(tasks), strict=True):
        counts = [found[N_CLAIMS, size] for size in _SIZES]
        rows.append((family.name, *(format_rate(one.settings, one.n) for one in counts)))
    header = ("runs", *(_count(size, "setting") for size in _SIZES))
    return CalibrationTable("Collapses: something false is shown, in % of claims", header, rows)


class _PowerCase(NamedTuple):
    name: str
    claim: TrueClaim
    verdict: Verdict


def _spread(points: float) -> GainFamily:
    return GainFamily(f"normal, {points:g}", partial(draw_normal, spread=points * POINT))


def _list_power_cases() -> list[_PowerCase]:
    cases = []
    for gain, spread in ((2, 3), (1, 1), (5, 3)):
        for size in (1, 10):
            claim = TrueClaim.alike(_spread(spread), gain * POINT, size)
            words = "" if size == 1 else f", in each of {size} settings"
            cases.append(_PowerCase(f"a gain of {gain}, sd {spread}{words}", claim, Verdict.REPRODUCED))
    loss = (SettingTruth(_spread(3), -5 * POINT), *(SettingTruth(_spread(3), 5 * POINT),) * 9)
    cases.append(_PowerCase("a loss of 5 in one of 10 settings, gains of 5, sd 3", TrueClaim(loss), Verdict.REFUTED))
    for spread in (1, 2, 3):
        claim = TrueClaim.alike(_spread(spread), 0.0, 1)
        cases.append(_PowerCase(f"no difference, sd {spread}", claim, Verdict.EQUAL))
    for gain in (5, 2):
        half = (SettingTruth(_spread(3), gain * POINT),) * 5 + (SettingTruth(_spread(1), 0.0),) * 5
        name = f"a gain of {gain}, sd 3, in five of 10 settings; none, sd 1, in the others"
        cases.append(_PowerCase(name, TrueClaim(half), Verdict.IN_PART))
    return cases


def tabulate_power(simulations: int, run_tasks: RunTasks) -> CalibrationTable:
    """Return the table of how many claims come to the verdict that is true, by the runs of a setting."""
    cases, tasks = _list_power_cases(), []
    for case in cases:
        n = max(1, simulations // len(case.claim.settings))
        tasks.append(partial(simulate_decisions, case.name, case.claim, case.verdict, n, find_level(N_CLAIMS)))
    rows = []
    for case, found in zip(cases, run_tasks(tasks), strict=True):
        shares = (f"{100 * found.find_share(look.n):.1f}" for look in LOOKS)
        rows.append((case.name, case.verdict.value, *shares, f"{found.mean_runs:.0f}"))
    header = ("truth, in points", "verdict", *(f"by {look.n}" for look in LOOKS), "mean runs")
    error = 50 / math.sqrt(max(1, simulations // 10))
    note = f"The standard error is at most {error / math.sqrt(10):.1f}, of claims with ten settings {error:.1f}."
    return CalibrationTable("Power: the true verdict, in % of claims", header, rows, note)


def tabulate_printed_numbers(simulations: int, run_tasks: RunTasks) -> CalibrationTable:
    """Return the table of true printed numbers that are called a miss."""
    tasks = []
    for place, family in enumerate(RUN_FAMILIES):
        rng = np.random.default_rng([simulations, place])
        tasks.append(partial(simulate_false_misses, (family,), simulations, rng))
    rows = []
    for family, found in zip(RUN_FAMILIES, run_tasks(tasks), strict=True):
        rows.append((family.name, *(format_rate(round(one.n * one.refuted / 100), one.n) for one in found)))
    header = ("runs", *(truth.name for truth in TRUTHS))
    note = "The text does not say whether a number is of one run or of ten; the columns say what was done."
    return CalibrationTable("Printed numbers that are true: refuted, in % of numbers", header, rows, note)
