"""The page of the error rates: what is simulated, what is not, and the tables."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.calibration.tables import (
    CalibrationTable,
    tabulate_collapses,
    tabulate_no_difference,
    tabulate_other_truths,
    tabulate_power,
)
from experiments.judge.tasks import RunTasks

_INTRODUCTION = """\
# How often is a verdict wrong?

`make calibrate` wrote this page. It draws runs whose truth is known and lets the judge decide: the functions that weigh
them, and the replay that ends a claim, are those of `experiments/judge/evidence`. The seeds are fixed, so the same number
of simulations gives the same page.

A **setting** is a pair of algorithms that see the same splits; its runs are looked at when there are 20, 40, 80, 160 and
320. A difference of less than one point (δ) counts as none. Runs vary with a standard deviation (sd) of three points,
accuracies as counts of test rows do. **Wrong** is a claim if its verdict is false, or if something false is shown of one
of its settings while the claim stays open. What is promised: at most 5 % of papers have a wrong claim. ± is a standard
error; a cell without any wrong claim says below what the share lies (95 % confidence). Verdicts on claims are explained
in [Verdicts](verdicts.md#claims).
"""

_LIMITS = """\
## What is not simulated, and what cannot be excluded

- **Long tails.** The promise ends with the skewness of an exponential. Lognormal runs break it: see the second table.
- **Collapses.** A few runs that lose 40 points undo a gain that all others show. Before one is seen, no test that decides
  in so few runs can know: one run in 41 that loses 40 points undoes a gain of one point, and 40 runs show none of them
  with a chance of 37 %. Therefore each verdict says how rare a collapse it could not have seen.
- Runs of a setting are independent and alike. Claims of a paper may share runs: then 5 % still bounds the share of papers.
- More than 320 runs, medians, readings, crashed runs. Readings divide the level of their claim; a crash leaves it open.
"""


def write_page(simulations: int, run_tasks: RunTasks) -> Iterator[str]:
    """Yield the parts of the page as they are ready, from so many simulated settings for each family of runs."""
    yield _INTRODUCTION
    for table in _simulate_tables(simulations, run_tasks):
        yield f"{table.write()}\n"
    yield _LIMITS


def _simulate_tables(simulations: int, run_tasks: RunTasks) -> Iterator[CalibrationTable]:
    yield from tabulate_no_difference(simulations, run_tasks)
    yield tabulate_other_truths(max(1, simulations // 4), run_tasks)
    yield tabulate_collapses(max(1, simulations // 10), run_tasks)
    yield tabulate_power(max(1, simulations // 40), run_tasks)
