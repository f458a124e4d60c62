"""Verdicts on printed numbers: would the paper's experiment, run as ours, land where its number stands?

The rule, for every printed number on its own:

- **reproduced**: the printed value lies in the 95 % prediction interval for the mean of as many runs as the
  paper averaged, mean ± t·s·sqrt(1/n + 1/m) over our n repeats, widened by half a unit of the last printed
  digit; and that interval is narrow enough to mean something: its half-width is at most the paper's
  ``resolution`` (a hundredth, that is one point of a percentage, unless the paper's file says otherwise).
  Papers rarely say over how many runs m they averaged: ``printed_repeats`` of the paper's file is then an
  assumption. It is 1 by default, which is kindest to the paper; where it is more, ``verdict_one_run`` says what
  the verdict would be with 1.
- **not reproduced**: it lies outside; the difference is stated. When all repeats agree exactly the interval
  is only as wide as the rounding.
- **not testable**: inside an interval too wide to tell, one repeat only, or the maximum over an incomplete
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
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from experiments.config.selection import PaperError, axes, same, setting_words, study_of
from experiments.judge import no_setting
from experiments.judge.verdict import NOT_REPRODUCED, NOT_RUN, NOT_TESTABLE, REPRODUCED, half_digit, is_in_per_cent
from experiments.stats import ALPHA, Interval, mean_interval, prediction_interval
from experiments.store.study_rows import rows_of_study, rows_without_metric

_REQUIRED = ("id", "table", "dataset", "metric", "statistic", "value", "decimals", "source")
_STATISTICS = ("mean", "max", "exact", "some")


def read_reported(path: str | Path) -> pd.DataFrame:
    """Read the printed numbers of a paper.

    Parameters
    ----------
    path : path
        A CSV file with the columns id, table, dataset, algorithm, metric, statistic, value, decimals, source
        and one column for every setting that selects the cell (``epsilon``, ``params.<name>``). ``value`` is
        a fraction for metrics that the paper prints in per cent; ``decimals`` are those of the printed text.

    Raises
    ------
    PaperError
        If the file is missing, lacks a column, or names a statistic or an id wrongly.
    """
    try:
        reported = pd.read_csv(path, dtype={"id": str, "table": str, "source": str})
    except FileNotFoundError:
        raise PaperError(f"printed numbers are missing: {path}") from None
    lacking = [name for name in _REQUIRED if name not in reported.columns]
    if lacking:
        raise PaperError(f"{path}: column {', '.join(lacking)} is missing")
    twice = reported.loc[reported["id"].duplicated(), "id"].tolist()
    if twice:
        raise PaperError(f"{path}: id {twice[0]!r} stands twice")
    strange = sorted(set(reported["statistic"]) - set(_STATISTICS))
    if strange:
        raise PaperError(f"{path}: statistic {strange[0]!r} is unknown; it may be {', '.join(_STATISTICS)}")
    return reported


def judge_numbers(
    paper: Mapping, reported: pd.DataFrame, table: pd.DataFrame, facts: Mapping | None = None
) -> pd.DataFrame:
    """Judge every printed number of a paper.

    Parameters
    ----------
    paper : mapping
        The paper's description; a number's ``table`` names one of its tables or figures and thereby its
        study.
    reported : DataFrame
        As from `read_reported`.
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
    items = {item["id"]: item for item in [*paper.get("tables", ()), *paper.get("figures", ())]}
    rows = []
    for number in reported.to_dict("records"):
        if number["table"] not in items:
            raise PaperError(f"printed number {number['id']!r}: the paper has no table or figure {number['table']!r}")
        if number["dataset"] in (paper.get("used_instead") or {}):
            other = paper["used_instead"][number["dataset"]]
            outcome = _outcome(number, NOT_RUN, f"not available; {other} answers for itself only", n_expected=0)
        elif number["statistic"] == "exact":
            outcome = _judge_fact(number, (facts or {}).get((number["dataset"], number["metric"])))
        elif number["statistic"] == "some":
            outcome = _judge_unplaced(paper, items[number["table"]], number, table)
        else:
            outcome = _judge_number(paper, items[number["table"]], number, table)
        rows.append(_setting(number) | outcome | {"source": number["source"]})
    return pd.DataFrame(rows, columns=None if rows else ["id", "table", "metric", "statistic", "verdict"])


def expected_misses(numbers: pd.DataFrame) -> float:
    """How many of the numbers that have an interval would fall outside by chance if every one were reproducible."""
    has_interval = numbers["prediction_low"].notna() if len(numbers) else numbers["verdict"].isna()
    return ALPHA * int(has_interval.sum())


def selected(number: Mapping, study: Mapping, where: Mapping | None = None) -> dict | None:
    """Return the part of a study that a printed number speaks of, or None when it speaks of another."""
    found = axes(study, where)
    narrowed = dict(where or {})
    for name, value in number.items():
        if _is_setting(name) and not _blank(value):
            if not any(same(value, one) for one in found.get(name, ())):
                return None
            narrowed[name] = value
    return narrowed


def _judge_number(paper: Mapping, item: Mapping, number: Mapping, table: pd.DataFrame) -> dict:
    study = study_of(paper, item)
    where = selected(number, study, item.get("where"))
    if where is None:
        raise PaperError(f"printed number {number['id']!r} is no setting of {item['id']} (study {item['study']})")
    found = axes(study, where)
    rows = rows_of_study(table, study, number["metric"], where)
    n_settings = math.prod(len(values) for values in found.values())
    if number["statistic"] == "mean" and n_settings > 1:
        raise PaperError(f"printed number {number['id']!r} selects {n_settings} settings of {item['id']}, not one")
    n_undefined = len(rows_without_metric(table, study, number["metric"], where))
    return _compare(paper, number, rows, list(found), n_settings, n_undefined)


def _judge_unplaced(paper: Mapping, item: Mapping, number: Mapping, table: pd.DataFrame) -> dict:
    if item.get("kind") != "span":
        raise PaperError(f"printed number {number['id']!r}: statistic some needs a table of kind span")
    if number["algorithm"] not in item["algorithms"]:
        raise PaperError(f"printed number {number['id']!r}: {item['id']} has no algorithm {number['algorithm']!r}")
    if reason := no_setting.reason_against(paper, number["algorithm"]):
        return _outcome(number, NOT_TESTABLE, reason, n_expected=0)
    settings = no_setting.tried(paper, item, number["algorithm"], table)
    n_expected = no_setting.expected(paper, item, number["algorithm"])
    if not settings:
        return _outcome(number, NOT_RUN, "no cell answers it", n_expected=n_expected)
    nearest = min(settings, key=lambda one: abs(one.values.mean() - number["value"]))
    n = sum(len(one.values) for one in settings)
    verdict, reason = _verdict_of_some(number, settings, int(paper.get("printed_repeats", 1)), n < n_expected)
    reason = f"{reason}; nearest: {nearest.where}"
    return _outcome(number, verdict, reason, n_expected=int(paper["repeats"]), mean=mean_interval(nearest.values))


def _verdict_of_some(number: Mapping, settings: list, printed_repeats: int, is_partial: bool) -> tuple[str, str]:
    """Compare a number without its setting with what every setting could have printed."""
    slack = half_digit(number["metric"], int(number["decimals"])) * (1 + 1e-9)
    predicted = [prediction_interval(one.values, printed_repeats) for one in settings]
    scale, decimals = (100 if is_in_per_cent(number["metric"]) else 1), int(number["decimals"])
    low, high = (scale * end(one.values.mean() for one in settings) for end in (min, max))
    given = f"{len(settings)} settings give {low:.{decimals}f} to {high:.{decimals}f}"
    if is_partial:
        return NOT_TESTABLE, f"INCOMPLETE: {given} so far"
    if any(math.isnan(one.low) for one in predicted):
        return NOT_TESTABLE, f"one repeat only: no interval; {given}"
    above = all(one.high + slack < number["value"] for one in predicted)
    if above or all(one.low - slack > number["value"] for one in predicted):
        return NOT_REPRODUCED, f"{'above' if above else 'below'} all that can be meant: {given}"
    agreeing = sum(one.low - slack <= number["value"] <= one.high + slack for one in predicted)
    return NOT_TESTABLE, f"printed without its setting: {given}, {agreeing} of them agree with it"


def resolution_of(paper: Mapping, metric: str) -> float:
    """Return the widest half-width at which a number inside the interval counts as reproduced.

    Raises
    ------
    PaperError
        For a metric without a natural scale that the paper's ``resolution`` does not name.

    Examples
    --------
    >>> resolution_of({}, "accuracy"), resolution_of({"resolution": {"mse": 0.002}}, "mse")
    (0.01, 0.002)
    """
    given = paper.get("resolution") or {}
    if metric in given:
        return float(given[metric])
    if is_in_per_cent(metric) or metric == "r2":
        return 0.01
    raise PaperError(f"the paper's file must say which difference of {metric} matters: resolution: {{{metric}: ...}}")


def _compare(paper, number: Mapping, rows: pd.DataFrame, by: list[str], n_settings: int, n_undefined: int) -> dict:
    repeats = int(paper["repeats"]) - (n_undefined if n_settings == 1 else 0)
    if rows.empty and n_undefined:
        reason = f"undefined in all {n_undefined} runs: the class is never predicted, or has no test rows"
        return _outcome(number, NOT_REPRODUCED, reason, n_expected=repeats)
    if rows.empty:
        return _outcome(number, NOT_RUN, "no cell answers it", n_expected=repeats)
    groups = [(key, group[number["metric"]].to_numpy()) for key, group in rows.groupby(by, sort=True)]
    best, values = max(groups, key=lambda pair: pair[1].mean())
    mean = mean_interval(values)
    predicted = prediction_interval(values, int(paper.get("printed_repeats", 1)))
    known = {"mean": mean, "predicted": predicted, "n_expected": repeats}
    if len(rows) < n_settings * repeats and number["statistic"] == "max":
        reason = f"INCOMPLETE: a maximum over {len(rows)} of {n_settings * repeats} cells"
        return _outcome(number, NOT_TESTABLE, reason, **known)
    if mean.n < 2:
        return _outcome(number, NOT_TESTABLE, "one repeat only: no interval", **known)
    notes = _notes(number, predicted, dict(zip(by, best, strict=True)), groups, repeats)
    notes += [f"undefined in {n_undefined} more runs"] if n_undefined else []
    resolution = resolution_of(paper, number["metric"])
    one_run, _ = _verdict(number, prediction_interval(values), resolution, notes)
    outcome = _outcome(number, *_verdict(number, predicted, resolution, notes), **known)
    return outcome | {"verdict_one_run": one_run}


def _notes(number: Mapping, predicted: Interval, best: Mapping, groups: list, repeats: int) -> list[str]:
    notes = []
    if number["statistic"] == "max":
        varying = [name for i, name in enumerate(best) if len({key[i] for key, _ in groups}) > 1]
        notes.append("best setting: " + setting_words({name: best[name] for name in varying}))
        n_ties = sum(values.mean() == predicted.center for _, values in groups)
        notes += [f"one of {n_ties} that tie"] if n_ties > 1 else []
    if predicted.n < repeats:
        notes.append(f"INCOMPLETE: {predicted.n} of {repeats} repeats")
    if predicted.low == predicted.high:
        notes.append(f"all {predicted.n} repeats agree exactly")
    return notes


def _verdict(number: Mapping, predicted: Interval, resolution: float, notes: list[str]) -> tuple[str, str]:
    slack = half_digit(number["metric"], int(number["decimals"])) * (1 + 1e-9)
    scale, unit = (100, " points") if is_in_per_cent(number["metric"]) else (1, "")
    if predicted.low - slack <= number["value"] <= predicted.high + slack:
        half = (predicted.high - predicted.low) / 2
        if half > resolution:
            return NOT_TESTABLE, "; ".join([f"inside, but ± {scale * half:.3g}{unit} is too wide to tell", *notes])
        return REPRODUCED, "; ".join(["inside the prediction interval", *notes])
    difference = f"ours differs by {scale * (predicted.center - number['value']):+.{int(number['decimals'])}f}{unit}"
    return NOT_REPRODUCED, "; ".join([difference, *notes])


def _judge_fact(number: Mapping, found) -> dict:
    if found is None:
        return _outcome(number, NOT_RUN, "the data set is not available", n_expected=1)
    mean = Interval(1, float(found), math.nan, math.nan)
    if float(found) == float(number["value"]):
        return _outcome(number, REPRODUCED, "counted, equal", mean=mean, n_expected=1)
    difference = float(found) - float(number["value"])
    return _outcome(number, NOT_REPRODUCED, f"counted, differs by {difference:+g}", mean=mean, n_expected=1)


def _outcome(
    number: Mapping,
    verdict: str,
    reason: str,
    *,
    n_expected: int,
    mean: Interval | None = None,
    predicted: Interval | None = None,
) -> dict:
    nothing = Interval(0, math.nan, math.nan, math.nan)
    mean, predicted = mean or nothing, predicted or nothing
    return {
        "printed": number["value"],
        "decimals": int(number["decimals"]),
        "mean": mean.center,
        "ci_low": mean.low,
        "ci_high": mean.high,
        "n": mean.n,
        "n_expected": n_expected,
        "prediction_low": predicted.low,
        "prediction_high": predicted.high,
        "detects": (predicted.high - predicted.low) / 2 + half_digit(number["metric"], int(number["decimals"])),
        "difference": mean.center - number["value"],
        "verdict": verdict,
        "reason": reason,
        "verdict_one_run": verdict,
    }


def _setting(number: Mapping) -> dict:
    names = ["id", "table", *(name for name in number if _is_setting(name)), "metric", "statistic"]
    return {name: number[name] for name in names}


def _is_setting(name: str) -> bool:
    return name in ("dataset", "algorithm", "epsilon") or name.startswith("params.")


def _blank(value) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
