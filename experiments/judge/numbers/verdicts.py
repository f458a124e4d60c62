"""Verdicts on printed numbers: would the paper's experiment, run as ours, land where its number stands?

Every printed number is judged on its own, on all repeats that the table holds of its setting:

- **a mean** of one setting by `agreement`, which has the rule: *reproduced*, *reproduced within ± δ*, *refuted*, *print
  too coarse* or *undecided*. Papers rarely say over how many runs m they averaged: ``printed_repeats`` of the paper's
  file is then an assumption. It is 1 by default, which is kindest to the paper; where it is more, ``verdict_one_run``
  says what the verdict would be with 1.
- **a single choice** from a short list by `choices`.
- **a maximum** over settings by the setting whose mean is highest. Ours is a maximum of means; if the paper took its
  maximum over single runs, it picked the luckiest of them and stands a little higher than the best setting would, so a
  near miss above the interval says little. While cells of some setting are missing it is *undecided*.
- **a number without its setting** by `no_setting`, together with the others of its table: *setting lost* or *refuted*.
- **a counted fact** must agree to the digit.
- **a number whose formula is lost**, to which ours was fitted, is *not implemented*: ours could not disagree.

A metric that is undefined in every run (the precision of a class that is never predicted) refutes a number. What no
cell answers is *not run*, what nobody describes is *not implemented*. Neither is ever a pass.

The level is per number: of N numbers printed by a paper that reran perfectly, about N/20 fall outside by
chance. Nothing is adjusted for their multitude, because an adjustment would widen the intervals and so turn
misses into passes; `count_expected_misses` says how many misses mean nothing. How far the interval reaches
stands beside each verdict as ``detects``, the smallest difference that would have been noticed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from experiments.config.paper import Paper, PaperError, PaperFigure, PaperTable, StudyPart
from experiments.errors import BadInput
from experiments.judge.margin import find_margin
from experiments.judge.numbers.agreement import judge_agreement
from experiments.judge.numbers.choices import is_choice, judge_choice
from experiments.judge.numbers.no_setting import UnplacedTable
from experiments.judge.numbers.number_verdict import NumberVerdict, format_difference, slack_of
from experiments.judge.numbers.prediction import Prediction
from experiments.judge.numbers.printed import PrintedNumber, is_blank, list_numbers
from experiments.judge.preflight import check_metrics
from experiments.judge.statements.finding import find_function
from experiments.judge.verdict import NOT_IMPLEMENTED, NOT_RUN, REFUTED, REPRODUCED, UNDECIDED, count_runs, say_where
from experiments.metrics.find import find_metric
from experiments.stats import ALPHA, Interval, mean_interval
from experiments.store.study_rows import group_by_setting, select_rows, select_undefined


def judge_numbers(
    paper: Paper, reported: pd.DataFrame, table: pd.DataFrame, facts: Mapping | None = None
) -> pd.DataFrame:
    """Judge every printed number of a paper.

    Parameters
    ----------
    paper : Paper
        A number's ``table`` names one of its tables or figures and thereby its study.
    reported : DataFrame
        As from `numbers.printed.read_reported`.
    table : DataFrame
        The long table, one row per cell and repeat; settings may have more repeats than the paper asks for.
    facts : mapping, optional
        ``(dataset, metric) -> value`` for numbers with ``statistic = exact``, which must agree to the digit.

    Returns
    -------
    DataFrame
        One row per printed number: id, table, the settings, metric, statistic, printed, decimals, mean,
        ci_low, ci_high, n, n_expected, prediction_low, prediction_high, detects, difference (ours minus
        printed), chance (two-sided, of a printed value at least as far out; of a number without its setting
        the largest of all settings), verdict, reason, verdict_one_run (were the printed number a single run), source.
    """
    judged = judge_each(paper, list_numbers(reported), table, facts)
    rows = [verdict.to_row(number) for number, verdict in judged]
    return pd.DataFrame(rows, columns=None if rows else ["id", "table", "metric", "statistic", "verdict"])


def judge_each(
    paper: Paper, numbers: Sequence[PrintedNumber], table: pd.DataFrame, facts: Mapping | None = None
) -> list[tuple[PrintedNumber, NumberVerdict]]:
    """Return every number with its verdict; the parameters are those of `judge_numbers`.

    Raises
    ------
    PaperError
        If a number names a table or a setting that the paper does not have.
    """
    together: dict[str, UnplacedTable] = {}
    judged = []
    for number in numbers:
        if number.table not in paper.parts:
            raise PaperError(f"printed number {number.id!r}: the paper has no table or figure {number.table!r}")
        part = paper.parts[number.table]
        if number.dataset in paper.used_instead:
            other = paper.used_instead[number.dataset]
            verdict = NumberVerdict(
                NOT_RUN, f"its data set is not available; {other} answers for itself only", n_expected=0
            )
        elif number.statistic == "fitted":
            verdict = NumberVerdict(NOT_IMPLEMENTED, "its formula is lost: ours was fitted to this very number", 0)
        elif number.statistic == "exact":
            verdict = _judge_fact(number, (facts or {}).get((number.dataset, number.metric)))
        elif number.statistic == "formula":
            verdict = _judge_formula(number)
        elif number.statistic == "some":
            if part.id not in together:
                siblings = [one for one in numbers if one.table == part.id and one.statistic == "some"]
                together[part.id] = UnplacedTable(paper, part, siblings, table)
            verdict = together[part.id].judge(number)
        else:
            verdict = _judge_with_setting(paper, part, number, table)
        judged.append((number, verdict))
    return judged


def count_expected_misses(numbers: pd.DataFrame) -> float:
    """Return how many numbers with an interval would fall outside by chance if every one were reproducible."""
    has_interval = numbers["prediction_low"].notna() if len(numbers) else numbers["verdict"].isna()
    return ALPHA * int(has_interval.sum())


def resolution_of(paper: Paper, metric: str) -> float:
    """Return δ, the smallest difference of a metric that matters.

    Raises
    ------
    PaperError
        For a metric without a natural scale that the paper's ``resolution`` does not name.

    Examples
    --------
    >>> paper = Paper(number=0, title="T", studies={"s": {"dataset": "car", "algorithm": "rdt"}}, resolution={"mse": 2})
    >>> resolution_of(paper, "accuracy"), resolution_of(paper, "mse")
    (0.01, 2.0)
    """
    margin = find_margin(paper, metric)
    if margin.is_share:
        raise PaperError(
            f"the paper's file must say which difference of {metric} matters: resolution: {{{metric}: ...}}"
        )
    return margin.size


def _judge_fact(number: PrintedNumber, counted: float | None) -> NumberVerdict:
    if counted is None:
        return NumberVerdict(NOT_RUN, "the data set is not available", n_expected=1)
    mean = Interval(1, float(counted), math.nan, math.nan)
    difference = float(counted) - float(number.value)
    if difference:
        more = "more" if difference > 0 else "less"
        return NumberVerdict(REFUTED, f"counted: ours is {abs(difference):g} {more}", 1, mean)
    return NumberVerdict(REPRODUCED, "counted: the same", 1, mean)


def _judge_formula(number: PrintedNumber) -> NumberVerdict:
    """Judge a number by the formula that its metric names: its setting has the arguments."""
    given: dict[str, Any] = {}
    for name, value in number.setting.items():
        if not is_blank(value) and name not in ("dataset", "algorithm"):
            given[name.removeprefix("params.")] = value
    try:
        value = float(find_function(number.metric, given)(**given))
    except BadInput as error:
        raise PaperError(f"printed number {number.id!r}: {error}") from None
    computed = Interval(1, value, math.nan, math.nan)
    if abs(value - number.value) > slack_of(number):
        return NumberVerdict(REFUTED, f"computed: {format_difference(number, value)}", 1, computed)
    return NumberVerdict(REPRODUCED, f"computed: {value:.4f}", 1, computed)


def find_part(paper: Paper, part: PaperTable | PaperFigure, number: PrintedNumber) -> tuple[str, dict[str, Any]]:
    """Return the study of a printed number, and which part of it the number speaks of.

    Raises
    ------
    PaperError
        If it is no setting of its table or figure, or a mean of several.
    """
    if not isinstance(part, StudyPart):
        raise PaperError(f"printed number {number.id!r}: {part.id} shows no study that it could be a result of")
    study = paper.study(part.study, part.id)
    where = number.select_part(study, part.where)
    if where is None:
        raise PaperError(f"printed number {number.id!r} is no setting of {part.id} (study {part.study})")
    n_settings = study.count_settings(where)
    if number.statistic == "mean" and n_settings > 1:
        raise PaperError(f"printed number {number.id!r} selects {n_settings} settings of {part.id}, not one")
    return part.study, where


def _judge_with_setting(
    paper: Paper, part: PaperTable | PaperFigure, number: PrintedNumber, table: pd.DataFrame
) -> NumberVerdict:
    name, where = find_part(paper, part, number)
    study = paper.study(name, part.id)
    check_metrics(paper, f"printed number {number.id!r}", name, where, [number.metric])
    if not is_choice(number.metric):
        resolution_of(paper, number.metric)  # refused before a cell has run, not after
    rows = select_rows(table, study, number.metric, where)
    n_undefined = len(select_undefined(table, study, number.metric, where))
    n_settings = study.count_settings(where)
    repeats = max(0, paper.repeats - (n_undefined if n_settings == 1 else 0))
    if rows.empty and n_undefined:
        reason = f"undefined in all {count_runs(n_undefined)}: the class is never predicted, or has no test rows"
        return NumberVerdict(REFUTED, reason, repeats)
    if rows.empty:
        return NumberVerdict(NOT_RUN, "no cell of it was run", repeats)
    groups = group_by_setting(rows, list(study.axes(where)), number.metric)
    n_cells = sum(min(len(values), repeats) for _, values in groups)
    if n_cells < n_settings * repeats and number.statistic == "max":
        return _judge_incomplete_maximum(paper, number, groups, f"{n_cells} of {n_settings * repeats} cells", repeats)
    return _compare(paper, number, groups, repeats, n_undefined)


def _judge_incomplete_maximum(
    paper: Paper, number: PrintedNumber, groups: list, cells: str, repeats: int
) -> NumberVerdict:
    _, values = _find_best(groups)
    mean, reason = mean_interval(values), f"INCOMPLETE: a maximum over {cells}"
    if len(values) < 2:
        return NumberVerdict(UNDECIDED, reason, repeats, mean)
    predicted = Prediction(values, paper.printed_repeats, find_metric(number.metric).range).interval()
    return NumberVerdict(UNDECIDED, reason, repeats, mean, predicted)


def _find_best(groups: list[tuple[dict, np.ndarray]]) -> tuple[dict, np.ndarray]:
    return max(groups, key=lambda group: group[1].mean())


def _compare(paper: Paper, number: PrintedNumber, groups: list, repeats: int, n_undefined: int) -> NumberVerdict:
    """Compare a number with the setting that it is of, or with the best of several."""
    setting, values = _find_best(groups)
    verdict = _judge_values(number, values, paper.printed_repeats, paper)
    one_run = verdict if paper.printed_repeats == 1 else _judge_values(number, values, 1, paper)
    notes = _note_maximum(setting, groups) if number.statistic == "max" else []
    if len(values) < repeats:
        notes.append(f"INCOMPLETE: {len(values)} of {repeats} repeats")
    if n_undefined:
        notes.append(f"undefined in {n_undefined} more runs" if n_undefined > 1 else "undefined in 1 more run")
    return replace(
        verdict,
        reason="; ".join([verdict.reason, *notes]),
        n_expected=max(repeats, len(values)),
        verdict_one_run=one_run.verdict,
    )


def _judge_values(number: PrintedNumber, values: np.ndarray, printed_repeats: int, paper: Paper) -> NumberVerdict:
    if printed_repeats == 1 and is_choice(number.metric):
        return judge_choice(number, values)
    return judge_agreement(number, values, printed_repeats, resolution_of(paper, number.metric))


def _note_maximum(best: Mapping, groups: list[tuple[dict, np.ndarray]]) -> list[str]:
    """Say where our maximum is reached, and whether it is reached elsewhere, too."""
    varying = {}
    for name, value in best.items():
        if any(setting[name] != value for setting, _ in groups):
            varying[name] = value
    notes = [f"ours is best{say_where(varying)}"] if varying else []
    means = [numbers.mean() for _, numbers in groups]
    n_ties = means.count(max(means))
    return [*notes, f"one of {n_ties} that are equally good"] if n_ties > 1 else notes
