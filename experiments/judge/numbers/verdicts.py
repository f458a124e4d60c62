"""Verdicts on printed numbers: would the paper's experiment, run as ours, land where its number stands?

The rule, for every printed number on its own:

- **reproduced**: the printed value lies in the 95 % prediction interval for the mean of as many runs as the
  paper averaged, mean ± t·s·sqrt(1/n + 1/m) over our n repeats, widened by half a unit of the last printed
  digit; and that interval is narrow enough to mean something: its half-width is at most the paper's
  ``resolution`` (a hundredth, that is one point of a percentage, unless the paper's file says otherwise).
  Papers rarely say over how many runs m they averaged: ``printed_repeats`` of the paper's file is then an
  assumption. It is 1 by default, which is kindest to the paper; where it is more, ``verdict_one_run`` says what
  the verdict would be with 1.
- **refuted**: it lies outside; the difference is stated. When all repeats agree exactly the interval
  is only as wide as the rounding.
- **undecided**: inside an interval too wide to tell, one repeat only, or the maximum over an incomplete
  set of settings. Noise that drowns everything never passes for agreement.
- **not run**: no cell answers. Never a pass.

A printed *maximum* is compared with the setting whose mean is highest, by that setting's own interval. Ours
is a maximum of means; if the paper took its maximum over single runs, it picked the luckiest of them and
stands a little higher than the best setting would, so a near miss above the interval says little.

A number printed *without its setting* (``statistic = some``) is asked of all settings of its table's studies. It is
not reproduced if it lies outside of what they all give, above every interval or below every interval; else it is not
testable, since agreement with some setting of many is cheap. The setting that comes nearest is named.

The level is per number: of N numbers printed by a paper that reran perfectly, about N/20 fall outside by
chance. Nothing is adjusted for their multitude, because an adjustment would widen the intervals and so turn
misses into passes; ``expected_misses`` says how many misses mean nothing. The half-width of the interval
stands beside each verdict as ``detects``, the smallest difference that would have been noticed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np
import pandas as pd

from experiments.config.paper import Paper, PaperError, PaperFigure, PaperTable, StudyPart
from experiments.config.setting import describe_setting
from experiments.judge.numbers.no_setting import SettingValues, collect_settings, count_expected_cells
from experiments.judge.numbers.printed import PrintedNumber, list_numbers
from experiments.judge.verdict import (
    NOT_RUN,
    REFUTED,
    REPRODUCED,
    UNDECIDED,
    half_digit,
    is_in_per_cent,
)
from experiments.stats import ALPHA, Interval, mean_interval, prediction_interval
from experiments.store.study_rows import group_by_setting, select_rows, select_undefined

_NO_INTERVAL = Interval(0, math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class NumberVerdict:
    """The verdict on a printed number.

    Parameters
    ----------
    verdict, reason : str
        What it is, and why.
    n_expected : int
        Repeats that there should be.
    mean : Interval
        Our mean with its 95 % interval.
    predicted : Interval
        Where the paper's mean would fall.
    verdict_one_run : str
        The verdict if the printed number were a single run; the same unless it says otherwise.
    """

    verdict: str
    reason: str
    n_expected: int
    mean: Interval = field(default=_NO_INTERVAL)
    predicted: Interval = field(default=_NO_INTERVAL)
    verdict_one_run: str = ""

    def to_row(self, number: PrintedNumber) -> dict:
        """Return the row of ``numbers.csv``."""
        own = {"id": number.id, "table": number.table, **number.setting}
        printed = {"metric": number.metric, "statistic": number.statistic, "printed": number.value}
        half_width = (self.predicted.high - self.predicted.low) / 2
        return {
            **own,
            **printed,
            "decimals": number.decimals,
            "mean": self.mean.center,
            "ci_low": self.mean.low,
            "ci_high": self.mean.high,
            "n": self.mean.n,
            "n_expected": self.n_expected,
            "prediction_low": self.predicted.low,
            "prediction_high": self.predicted.high,
            "detects": half_width + half_digit(number.metric, number.decimals),
            "difference": self.mean.center - number.value,
            "verdict": self.verdict,
            "reason": self.reason,
            "verdict_one_run": self.verdict_one_run or self.verdict,
            "source": number.source,
        }


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
        The long table, one row per cell and repeat.
    facts : mapping, optional
        ``(dataset, metric) -> value`` for numbers with ``statistic = exact``, which must agree to the digit.

    Returns
    -------
    DataFrame
        One row per printed number: id, table, the settings, metric, statistic, printed, decimals, mean,
        ci_low, ci_high, n, n_expected, prediction_low, prediction_high, detects, difference (ours minus
        printed), verdict, reason, verdict_one_run (were the printed number a single run), source.
    """
    rows = [_judge(paper, number, table, facts or {}).to_row(number) for number in list_numbers(reported)]
    return pd.DataFrame(rows, columns=None if rows else ["id", "table", "metric", "statistic", "verdict"])


def count_expected_misses(numbers: pd.DataFrame) -> float:
    """Return how many numbers with an interval would fall outside by chance if every one were reproducible."""
    has_interval = numbers["prediction_low"].notna() if len(numbers) else numbers["verdict"].isna()
    return ALPHA * int(has_interval.sum())


def resolution_of(paper: Paper, metric: str) -> float:
    """Return the widest half-width at which a number inside the interval counts as reproduced.

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
    if metric in paper.resolution:
        return paper.resolution[metric]
    if is_in_per_cent(metric) or metric == "r2":
        return 0.01
    raise PaperError(f"the paper's file must say which difference of {metric} matters: resolution: {{{metric}: ...}}")


def _judge(paper: Paper, number: PrintedNumber, table: pd.DataFrame, facts: Mapping) -> NumberVerdict:
    if number.table not in paper.parts:
        raise PaperError(f"printed number {number.id!r}: the paper has no table or figure {number.table!r}")
    part = paper.parts[number.table]
    if number.dataset in paper.used_instead:
        other = paper.used_instead[number.dataset]
        return NumberVerdict(NOT_RUN, f"not available; {other} answers for itself only", n_expected=0)
    if number.statistic == "exact":
        return _judge_fact(number, facts.get((number.dataset, number.metric)))
    if number.statistic == "some":
        return _judge_without_setting(paper, part, number, table)
    return _judge_with_setting(paper, part, number, table)


def _judge_fact(number: PrintedNumber, counted: float | None) -> NumberVerdict:
    if counted is None:
        return NumberVerdict(NOT_RUN, "the data set is not available", n_expected=1)
    mean = Interval(1, float(counted), math.nan, math.nan)
    difference = float(counted) - float(number.value)
    if difference:
        return NumberVerdict(REFUTED, f"counted, differs by {difference:+g}", 1, mean)
    return NumberVerdict(REPRODUCED, "counted, equal", 1, mean)


def _judge_with_setting(
    paper: Paper, part: PaperTable | PaperFigure, number: PrintedNumber, table: pd.DataFrame
) -> NumberVerdict:
    if not isinstance(part, StudyPart):
        raise PaperError(f"printed number {number.id!r}: {part.id} shows no study that it could be a result of")
    study = paper.study(part.study, part.id)
    where = number.select_part(study, part.where)
    if where is None:
        raise PaperError(f"printed number {number.id!r} is no setting of {part.id} (study {part.study})")
    n_settings = study.count_settings(where)
    if number.statistic == "mean" and n_settings > 1:
        raise PaperError(f"printed number {number.id!r} selects {n_settings} settings of {part.id}, not one")
    rows = select_rows(table, study, number.metric, where)
    n_undefined = len(select_undefined(table, study, number.metric, where))
    repeats = paper.repeats - (n_undefined if n_settings == 1 else 0)
    if rows.empty and n_undefined:
        reason = f"undefined in all {n_undefined} runs: the class is never predicted, or has no test rows"
        return NumberVerdict(REFUTED, reason, repeats)
    if rows.empty:
        return NumberVerdict(NOT_RUN, "no cell answers it", repeats)
    groups = group_by_setting(rows, list(study.axes(where)), number.metric)
    if len(rows) < n_settings * repeats and number.statistic == "max":
        n_cells = n_settings * repeats
        return _judge_incomplete_maximum(paper, groups, f"{len(rows)} of {n_cells} cells", repeats)
    return _compare(paper, number, groups, repeats, n_undefined)


def _judge_incomplete_maximum(paper: Paper, groups: list, cells: str, repeats: int) -> NumberVerdict:
    _, values = _find_best(groups)
    predicted = prediction_interval(values, paper.printed_repeats)
    reason = f"INCOMPLETE: a maximum over {cells}"
    return NumberVerdict(UNDECIDED, reason, repeats, mean_interval(values), predicted)


def _find_best(groups: list[tuple[dict, np.ndarray]]) -> tuple[dict, np.ndarray]:
    return max(groups, key=lambda group: group[1].mean())


def _compare(paper: Paper, number: PrintedNumber, groups: list, repeats: int, n_undefined: int) -> NumberVerdict:
    """Compare a number with the setting that it is of, or with the best of several."""
    setting, values = _find_best(groups)
    mean, predicted = mean_interval(values), prediction_interval(values, paper.printed_repeats)
    if mean.n < 2:
        return NumberVerdict(UNDECIDED, "one repeat only: no interval", repeats, mean, predicted)
    notes = _note_maximum(setting, groups) if number.statistic == "max" else []
    if predicted.n < repeats:
        notes.append(f"INCOMPLETE: {predicted.n} of {repeats} repeats")
    if predicted.low == predicted.high:
        notes.append(f"all {predicted.n} repeats agree exactly")
    if n_undefined:
        notes.append(f"undefined in {n_undefined} more runs")
    resolution = resolution_of(paper, number.metric)
    verdict, reason = _decide(number, predicted, resolution)
    one_run, _ = _decide(number, prediction_interval(values), resolution)
    return NumberVerdict(verdict, "; ".join([reason, *notes]), repeats, mean, predicted, one_run)


def _note_maximum(best: Mapping, groups: list[tuple[dict, np.ndarray]]) -> list[str]:
    """Say where our maximum is reached, and whether it is reached elsewhere, too."""
    varying = {}
    for name, value in best.items():
        if any(setting[name] != value for setting, _ in groups):
            varying[name] = value
    notes = ["best setting: " + describe_setting(varying)]
    means = [numbers.mean() for _, numbers in groups]
    n_ties = means.count(max(means))
    return [*notes, f"one of {n_ties} that tie"] if n_ties > 1 else notes


def _decide(number: PrintedNumber, predicted: Interval, resolution: float) -> tuple[str, str]:
    scale, unit = (100, " points") if is_in_per_cent(number.metric) else (1, "")
    if _is_inside(number, predicted):
        half_width = (predicted.high - predicted.low) / 2
        if half_width > resolution:
            return UNDECIDED, f"inside, but ± {scale * half_width:.3g}{unit} is too wide to tell"
        return REPRODUCED, "inside the prediction interval"
    difference = scale * (predicted.center - number.value)
    return REFUTED, f"ours differs by {difference:+.{number.decimals}f}{unit}"


def _slack(number: PrintedNumber) -> float:
    return half_digit(number.metric, number.decimals) * (1 + 1e-9)


def _is_inside(number: PrintedNumber, predicted: Interval) -> bool:
    slack = _slack(number)
    return predicted.low - slack <= number.value <= predicted.high + slack


def _judge_without_setting(
    paper: Paper, part: PaperTable | PaperFigure, number: PrintedNumber, table: pd.DataFrame
) -> NumberVerdict:
    studies = part.list_open_studies(paper) if isinstance(part, PaperTable) else []
    if not studies:
        raise PaperError(f"printed number {number.id!r}: statistic some needs a table of kind span")
    if number.algorithm not in part.list_algorithms(paper):
        raise PaperError(f"printed number {number.id!r}: {part.id} has no algorithm {number.algorithm!r}")
    if reason := paper.reason_not_implemented(number.algorithm):
        return NumberVerdict(UNDECIDED, reason, n_expected=0)
    settings = collect_settings(studies, number.algorithm, number.metric, table)
    n_expected = count_expected_cells(studies, number.algorithm, paper.repeats)
    if not settings:
        return NumberVerdict(NOT_RUN, "no cell answers it", n_expected)
    nearest = min(settings, key=lambda setting: abs(setting.values.mean() - number.value))
    n_cells = sum(map(len, map(attrgetter("values"), settings)))
    verdict, reason = _decide_without_setting(number, settings, paper.printed_repeats, n_cells < n_expected)
    return NumberVerdict(verdict, f"{reason}; nearest: {nearest.where}", paper.repeats, mean_interval(nearest.values))


def _decide_without_setting(
    number: PrintedNumber, settings: Sequence[SettingValues], printed_repeats: int, is_partial: bool
) -> tuple[str, str]:
    """Compare a number without its setting with what every setting could have printed."""
    slack = _slack(number)
    intervals = [prediction_interval(setting.values, printed_repeats) for setting in settings]
    predicted = pd.DataFrame(intervals)
    low, high = (100 if is_in_per_cent(number.metric) else 1) * predicted["center"].agg(["min", "max"])
    given = f"{len(settings)} settings give {low:.{number.decimals}f} to {high:.{number.decimals}f}"
    if is_partial:
        return UNDECIDED, f"INCOMPLETE: {given} so far"
    if predicted["low"].isna().any():
        return UNDECIDED, f"one repeat only: no interval; {given}"
    if predicted["high"].max() + slack < number.value:
        return REFUTED, f"above all that can be meant: {given}"
    if predicted["low"].min() - slack > number.value:
        return REFUTED, f"below all that can be meant: {given}"
    n_agreeing = sum(_is_inside(number, interval) for interval in intervals)
    return UNDECIDED, f"printed without its setting: {given}, {n_agreeing} of them agree with it"
