"""Verdicts on printed numbers: would the paper's experiment, run as ours, land where its number stands?

Every printed number is judged on its own, on all repeats that there are of its setting:

- **a mean** of one setting by `agreement`, which has the rule: *reproduced*, *reproduced within ± δ*, *refuted*, *print
  too coarse* or *undecided*. Papers rarely say over how many runs m they averaged, so ``printed_repeats`` of the
  paper's file names every m that its text allows, and `runs_averaged` judges under each: *refuted* only under all,
  *depends on how many runs were averaged* under some.
- **a single choice** from a short list by `choices`.
- **a maximum** over settings by the setting whose mean is highest. Ours is a maximum of means; if the paper took its
  maximum over single runs, it picked the luckiest of them and stands a little higher than the best setting would, so a
  near miss above the interval says little. While cells of some setting are missing it is *undecided*.
- **a number without its setting** by `no_setting`, together with the others of its table: *setting lost* or *refuted*.
- **a counted fact** must agree to the digit.
- **a number whose formula is lost**, to which ours was fitted, is *not implemented*: ours could not disagree.

A metric that is undefined in every run (the precision of a class that is never predicted) refutes a number. What no
cell answers is *not run*, what nobody describes is *not implemented*. Neither is ever a pass.

Nor do papers say whether their runs had one split of the rows or new ones. That needs no interval of its own: a mean of
runs on one split varies no more than a single run on a new split, which is m = 1. A text that leaves the split open
therefore leaves m = 1 open.

A number is looked at twice: with the paper's repeats, and, while it is *undecided* or outside of the prediction, with
ten times as many as the printed mean is of (the largest m, and at least twice the paper's repeats), or with as many as
``most_repeats`` allows. Our own part of the uncertainty is then a twentieth of what the print leaves, and more repeats
could tell little more. *Refuted* asks for both looks, so that few numbers of a perfect paper are refuted, even where m
is not known and our first runs happen to miss a rare collapse; `experiments.calibration.numbers` measures how few.

The level is per number: of N numbers of a paper that reran perfectly, at most about N/20 fall outside by chance.
Nothing is adjusted for their multitude, because an adjustment would widen the intervals and so turn misses into passes;
`count_expected_misses` says how many misses mean nothing. How far the interval reaches stands beside each verdict as
``detects``, the smallest difference that would have been noticed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from experiments.judge.numbers.agreement import judge_agreement
from experiments.judge.numbers.choices import is_choice, judge_choice
from experiments.judge.numbers.no_setting import judge_together
from experiments.judge.numbers.number_verdict import (
    FoundSetting,
    NumberQuestion,
    NumberVerdict,
    PrintedNumber,
    find_values,
    half_digit,
)
from experiments.judge.numbers.prediction import Prediction
from experiments.judge.numbers.runs_averaged import join_predictions, judge_all_runs
from experiments.judge.question import Need
from experiments.judge.tasks import RunTasks, run_here
from experiments.judge.verdict import OUTSIDE, Verdict
from experiments.judge.words import count_runs, describe_where
from experiments.stats import ALPHA, Interval, mean_interval
from experiments.store.results import Results, Runs


def judge_numbers(
    questions: Sequence[NumberQuestion],
    results: Results,
    facts: Mapping[tuple[str, str], float] | None = None,
    run_tasks: RunTasks = run_here,
) -> pd.DataFrame:
    """Judge printed numbers, whose settings may have more repeats than the paper asks for; one row for each.

    Those with ``statistic = exact`` must agree to the digit with ``facts``, by data set and metric. Columns: id, table,
    the settings, metric, statistic, printed, decimals, mean, ci_low, ci_high, n, n_expected, prediction_low,
    prediction_high, detects, difference (ours minus printed), chance (two-sided, of a printed value at least as far
    out, for the number of runs averaged that makes it largest; of a number without its setting the largest of all
    settings), verdict, reason, verdicts_by_runs (by every number of runs that it may be a mean of), source.
    """
    return tabulate_verdicts(questions, list_number_verdicts(questions, results, facts, run_tasks))


def tabulate_verdicts(questions: Sequence[NumberQuestion], answers: Sequence[NumberVerdict]) -> pd.DataFrame:
    """Return the verdicts on printed numbers as the table of `judge_numbers`."""
    rows = [verdict.to_row(question.number) for question, verdict in zip(questions, answers, strict=True)]
    return pd.DataFrame(rows, columns=None if rows else ["id", "table", "metric", "statistic", "verdict"])


def list_number_verdicts(
    questions: Sequence[NumberQuestion],
    results: Results,
    facts: Mapping | None = None,
    run_tasks: RunTasks = run_here,
) -> list[NumberVerdict]:
    """Return the verdict on each of some printed numbers; the parameters are those of `judge_numbers`."""
    verdicts: dict[str, NumberVerdict] = {}
    tasks: list[Callable[[], dict[str, NumberVerdict]]] = []
    tables = set()
    for question in questions:
        number = question.number
        if question.known is not None:
            verdicts[number.id] = question.known
        elif number.statistic == "exact":
            verdicts[number.id] = _judge_fact(number, (facts or {}).get((number.dataset, number.metric)))
        elif not question.together:
            tasks.append(partial(_judge_alone, question, _find_runs(question, results)))
        elif number.table not in tables:
            tables.add(number.table)
            tasks.append(_make_table_task(question.together, results))
    for of_task in run_tasks(tasks):
        for name, verdict in of_task.items():
            verdicts.setdefault(name, verdict)
    return [verdicts[question.number.id] for question in questions]


def list_number_needs(
    questions: Sequence[NumberQuestion],
    results: Results,
    run_tasks: RunTasks = run_here,
    known: Mapping[str, NumberVerdict] | None = None,
) -> list[Need]:
    """Return the repeats that printed numbers need which more repeats could decide, each once.

    Of a maximum over settings all of these, and of a number without its setting all that it may have. Cells that fail
    are asked for again: whoever runs them stops when the needs stay the same. Verdicts on these results that are
    ``known``, by the ids of numbers, are not sought again.
    """
    asked: list[NumberQuestion] = []
    verdicts = dict(known or {})
    tables = set()
    tasks: list[Callable[[], dict[str, NumberVerdict]]] = []
    for question in questions:
        together = question.together
        runs = _find_runs(question, results)
        task: Callable[[], dict[str, NumberVerdict]]
        if runs and _count_made(runs) < question.last_look:
            asked.append(question)
            task = partial(_judge_alone, question, runs)
        elif together and question.number.table not in tables and _may_need(together, results):
            tables.add(question.number.table)
            asked += together
            task = _make_table_task(together, results)
        else:
            continue
        if question.number.id not in verdicts:
            tasks.append(task)
    for of_task in run_tasks(tasks):
        verdicts |= of_task
    needs: dict[Need, None] = {}
    for question in asked:
        if verdicts[question.number.id].needs_repeats:
            needs[Need(tuple(setting.key for setting in question.settings), question.last_look)] = None
    return list(needs)


def _find_runs(question: NumberQuestion, results: Results) -> list[Runs]:
    return results.find_all((asked.key for asked in question.settings), question.number.metric)


def _count_made(runs: Sequence[Runs]) -> int:
    """Return how many runs of each of some settings were made, a setting without any left out."""
    made = (len(of_setting.measured) + int(of_setting.is_undefined.sum()) for of_setting in runs)
    return min(filter(None, made), default=0)


def _may_need(together: Sequence[NumberQuestion], results: Results) -> bool:
    return any(one.settings and _count_made(_find_runs(one, results)) < one.last_look for one in together)


def _make_table_task(together: Sequence[NumberQuestion], results: Results) -> Callable[[], dict[str, NumberVerdict]]:
    """Return the task to judge all numbers of a table that are printed without their setting."""
    found = [find_values(one.settings, one.number.metric, results) for one in together]
    n_made = min((_count_made(_find_runs(one, results)) for one in together if one.settings), default=0)
    return partial(judge_together, together, found, n_made)


def count_expected_misses(numbers: pd.DataFrame) -> float:
    """Return how many numbers with an interval would fall outside by chance if every one were reproducible."""
    has_interval = numbers["prediction_low"].notna() if len(numbers) else numbers["verdict"].isna()
    return ALPHA * int(has_interval.sum())


def _judge_fact(number: PrintedNumber, counted: float | None) -> NumberVerdict:
    if counted is None:
        return NumberVerdict(Verdict.NOT_RUN, "the data set is not available", n_expected=1)
    mean = Interval(1, float(counted), math.nan, math.nan)
    difference = float(counted) - float(number.value)
    if difference:
        more = "more" if difference > 0 else "less"
        return NumberVerdict(Verdict.REFUTED, f"counted: ours is {abs(difference):g} {more}", 1, mean)
    return NumberVerdict(Verdict.REPRODUCED, "counted: the same", 1, mean)


def _judge_alone(question: NumberQuestion, runs: Sequence[Runs]) -> dict[str, NumberVerdict]:
    return {question.number.id: _judge_values(question, runs)}


def _judge_values(question: NumberQuestion, runs: Sequence[Runs]) -> NumberVerdict:
    """Judge a number by the runs of each of its settings: the one that it is a mean of, or the best of several."""
    n_settings, n_undefined = len(runs), sum(int(of_setting.is_undefined.sum()) for of_setting in runs)
    repeats = max(0, question.repeats - (n_undefined if n_settings == 1 else 0))
    pairs = zip(question.settings, runs, strict=True)
    found = [FoundSetting(asked, of_setting.measured) for asked, of_setting in pairs if len(of_setting.measured)]
    if not found and n_undefined:
        reason = f"undefined in all {count_runs(n_undefined)}: the class is never predicted, or has no test rows"
        return NumberVerdict(Verdict.REFUTED, reason, repeats)
    if not found:
        return NumberVerdict(Verdict.NOT_RUN, "no cell of it was run", repeats)
    n_cells = sum(min(len(setting.values), repeats) for setting in found)
    best = max(found, key=lambda setting: setting.values.mean())
    if n_cells < n_settings * repeats and question.number.statistic == "max":
        return _judge_incomplete_maximum(question, best.values, f"{n_cells} of {n_settings * repeats} cells", repeats)
    verdict = judge_by_looks(question, best.values, _count_made(runs))
    notes = _note_maximum(best, found) if question.number.statistic == "max" else []
    if len(best.values) < repeats:
        notes.append(f"INCOMPLETE: {len(best.values)} of {repeats} repeats")
    if n_undefined:
        notes.append(f"undefined in {n_undefined} more runs" if n_undefined > 1 else "undefined in 1 more run")
    return replace(
        verdict,
        reason="; ".join([verdict.reason, *notes]),
        n_expected=max(repeats, len(best.values)),
    )


def _judge_incomplete_maximum(question: NumberQuestion, values: np.ndarray, cells: str, repeats: int) -> NumberVerdict:
    verdict = NumberVerdict(Verdict.UNDECIDED, f"INCOMPLETE: a maximum over {cells}", repeats, mean_interval(values))
    if len(values) < 2:
        return verdict
    predictions = [Prediction(values, m, question.number.bounds).interval() for m in question.printed_repeats]
    return replace(verdict, predicted=join_predictions(predictions))


def judge_by_looks(question: NumberQuestion, values: np.ndarray, n_made: int) -> NumberVerdict:
    """Judge a number by the values of the runs of one setting, in the order of their repeats.

    ``n_made`` is how many were made, those without a value included: the second look is made if they are enough for it.
    """
    is_second = 0 < question.last_look <= n_made
    by_first = partial(_judge_means, question, values[: max(2, question.repeats)]) if is_second else None
    return judge_all_runs(question, partial(_judge_means, question, values), by_first)


def _judge_means(question: NumberQuestion, values: np.ndarray, printed_repeats: int) -> NumberVerdict:
    if printed_repeats == 1 and is_choice(question.number.metric):
        return judge_choice(question.number, values)
    return judge_agreement(question.number, values, printed_repeats, question.resolution)


def _note_maximum(best: FoundSetting, found: Sequence[FoundSetting]) -> list[str]:
    """Say where our maximum is reached, and whether it is reached elsewhere, too."""
    varying = {}
    for name, value in best.asked.values.items():
        if any(setting.asked.values[name] != value for setting in found):
            varying[name] = value
    notes = [f"ours is best{describe_where(varying)}"] if varying else []
    means = [setting.values.mean() for setting in found]
    n_ties = means.count(max(means))
    return [*notes, f"one of {n_ties} that are equally good"] if n_ties > 1 else notes


def find_outside(numbers: pd.DataFrame) -> pd.Series:
    """Return which printed numbers lie outside of our intervals, whatever number of runs they may be means of.

    These are the refuted ones, those that are off by less than δ, and those that a second look has yet to confirm.
    """
    slack = [half_digit(*row) for row in zip(numbers["metric"], numbers["decimals"], strict=True)]
    is_off = numbers["printed"] + slack < numbers["prediction_low"]
    is_off |= numbers["printed"] - slack > numbers["prediction_high"]
    return numbers["verdict"].isin(OUTSIDE) | (is_off & (numbers["verdict"] == Verdict.UNDECIDED))
