"""The page of the error rates: what is simulated, what is not, and the tables."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.calibration.tables import (
    CalibrationTable,
    tabulate_collapses,
    tabulate_no_difference,
    tabulate_other_truths,
    tabulate_power,
    tabulate_printed_numbers,
)
from experiments.judge.tasks import RunTasks

_INTRODUCTION = """\
# How often is a verdict wrong?

This page was written by `make calibrate`, a simulation that measures how often the judge of this project is
wrong. It draws runs whose truth is known, and lets the judge decide with the same code that decides about papers,
`experiments/judge/evidence`. Seeds are fixed, so that the same number of simulations gives the same page.

A **setting** here is a pair of algorithms on the same splits. Its runs are looked at when there are 20, 40, 80,
160 and 320 of them. A difference of less than one percentage point (δ) counts as none. If nothing else is said,
the runs of a setting have a standard deviation (sd) of three percentage points; accuracies vary like counts of
test rows. A claim is **wrong** if its verdict is false, or if it is open but something false is shown about one
of its settings. The promise is that at most 5 % of papers have a wrong claim. The number behind ± is the standard
error of the simulation. Where no claim was wrong, the table has an upper bound of the share (95 % confidence).
[Verdicts](verdicts.md#claims) has the rules.

Of each family of runs {simulations:,} settings were drawn for the first two tables, so that claims of 40 settings are a
fortieth as many; for each column of the third {half:,}, for collapses {tenth:,}. The power is that of {cases:,} claims
of one setting, or a tenth as many of ten.
"""

_LIMITS = """\
## What is not simulated, and what cannot be excluded

- **Long tails.** The promise ends at the skewness of an exponential. Lognormal runs break it: see the second table.
- **Collapses.** In the table of collapses the mean gain is 0: what most runs gain, a few lose. Before one of these is
  seen, no test that decides in so few runs can know of them. If one run in 41 loses 40 points, a gain of one point in
  all others is none on average, and 40 runs show no collapse with a chance of 37 %. So each verdict says how rare a
  collapse it could not have seen.
- Runs of a setting are independent and alike. Claims of a paper may share runs: 5 % still bounds the share of papers.
- More than 320 runs, medians, readings and failed runs are not simulated. Readings share the level of their claim,
  and a failed run leaves it open.
"""


def write_page(simulations: int, run_tasks: RunTasks) -> Iterator[str]:
    """Yield the parts of the page as they are ready, from so many simulated settings for each family of runs."""
    yield _INTRODUCTION.format(
        simulations=simulations, half=simulations // 2, tenth=simulations // 10, cases=simulations // 20
    )
    for table in _simulate_tables(simulations, run_tasks):
        yield f"{table.write()}\n"
    yield _LIMITS


def _simulate_tables(simulations: int, run_tasks: RunTasks) -> Iterator[CalibrationTable]:
    yield from tabulate_no_difference(simulations, run_tasks)
    yield tabulate_other_truths(max(1, simulations // 2), run_tasks)
    yield tabulate_collapses(max(1, simulations // 10), run_tasks)
    yield tabulate_power(max(1, simulations // 20), run_tasks)
    yield tabulate_printed_numbers(max(1, simulations // 250), run_tasks)
