"""The numbers behind one table or figure: means or medians with intervals beside what the paper prints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from experiments.config.paper import Paper
from experiments.config.setting import make_setting_key
from experiments.config.study import PaperError, StudyPart
from experiments.metrics.find import find_metric
from experiments.questions.preflight import check_metrics
from experiments.questions.printed import read_setting, select_part
from experiments.questions.settings import list_setting_keys
from experiments.stats import CENTERS, center_interval
from experiments.store.results import Results

#: What a row of a table or figure holds where the paper prints nothing.
NOTHING_PRINTED = {"printed": math.nan, "decimals": math.nan, "verdict": ""}
NO_NUMBERS = pd.DataFrame(columns=["table", "statistic", "metric"])  #: verdicts on printed numbers where there is none


def summarise_metrics(
    paper: Paper,
    part: StudyPart,
    metrics: str | Sequence[str],
    table: pd.DataFrame,
    numbers: pd.DataFrame,
    by: Sequence[str],
    center: str | None = None,
) -> pd.DataFrame:
    """Return one row per combination of the axes ``by``, whether or not a cell answers it.

    Where there are several metrics, ``by`` has ``metric`` as its last. ``table`` is the long table, ``numbers`` has the
    verdicts on the printed numbers, and ``center`` is what stands for the repeats, if not as the paper says. A row has
    the axes, metric, mean or median (see `name_of_center`), ci_low, ci_high, n, n_expected, printed, decimals, verdict,
    note. A PaperError is raised if another axis has several values, so that a point would mix settings.
    """
    results = Results(table)
    if isinstance(metrics, str):
        return _summarise_metric(paper, part, metrics, results, numbers, by, center)
    frames = [_summarise_metric(paper, part, metric, results, numbers, by[:-1], center) for metric in metrics]
    return pd.concat(frames).sort_index(kind="stable").reset_index(drop=True)


def check_metrics_by(paper: Paper, part: Any, metrics: str | Sequence[str], by: Sequence[str]) -> None:
    """Check that `summarise_metrics` can be asked for this; raises a PaperError.

    The study must have the axes, what ``where`` names, and the metrics, and no other axis may vary.
    """
    study = paper.study(part.study, part.id)
    for name in by:
        if name != "metric":
            try:
                study.axis(name, part.where)
            except ValueError as error:
                raise type(error)(f"{part.id}: {error}") from error
    summarise_metrics(paper, part, metrics, pd.DataFrame(), NO_NUMBERS, by)
    check_metrics(paper, part.id, part.study, part.where, [metrics] if isinstance(metrics, str) else metrics)


def _summarise_metric(
    paper: Paper,
    part: Any,
    metric: str,
    results: Results,
    numbers: pd.DataFrame,
    by: Sequence[str],
    center: str | None,
) -> pd.DataFrame:
    study, by = paper.study(part.study, part.id), list(by)
    mixed = [name for name in study.varying_axes(part.where) if name not in by]
    if mixed:
        raise PaperError(f"{part.id}: {', '.join(mixed)} varies within a point; fix it with where")
    printed = _find_printed(paper, part, metric, numbers, by)
    center, bounds = paper.center_of(metric, center), find_metric(metric).range
    rows = []
    for values in study.settings(by, part.where):
        point = dict(zip(by, values, strict=True))
        (setting,) = list_setting_keys(study, {**part.where, **point})
        runs = results.find(setting, metric)
        interval = center_interval(center, runs.measured, bounds)
        n_undefined = int(runs.is_undefined.sum())
        n_expected = max(paper.repeats, len(runs.values)) - n_undefined
        notes = [note_missing_cells(interval.n, n_expected), f"undefined in {n_undefined} runs" if n_undefined else ""]
        rows.append(
            {
                **point,
                "metric": metric,
                center: interval.center,
                "ci_low": interval.low,
                "ci_high": interval.high,
                "n": interval.n,
                "n_expected": n_expected,
                **printed.get(make_setting_key(values), NOTHING_PRINTED),
                "note": "; ".join(filter(None, notes)),
            }
        )
    return pd.DataFrame(rows)


def _find_printed(paper: Paper, part: Any, metric: str, numbers: pd.DataFrame, by: list[str]) -> dict[tuple, dict]:
    """Map points to what the paper prints there; only numbers of the same study speak of the same cells."""
    study = paper.study(part.study, part.id)
    printed = {}
    for row in numbers.to_dict("records"):
        source = paper.exhibits[row["table"]]
        is_of_study = isinstance(source, StudyPart) and source.study == part.study
        if row["statistic"] != "mean" or row["metric"] != metric or not is_of_study:
            continue
        where = select_part(read_setting(row), study, part.where)
        points = study.settings(by, where) if where is not None else []
        if len(points) == 1:
            printed[make_setting_key(points[0])] = select_printed(row)
    return printed


def select_printed(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a row of ``numbers.csv`` says of the printed number: itself, its decimals, and the verdict on it."""
    return {name: row[name] for name in NOTHING_PRINTED}


def add_numbers_without_setting(
    paper: Paper, part: StudyPart, metric: str, series: pd.DataFrame, numbers: pd.DataFrame
) -> pd.DataFrame:
    """Add to a figure of algorithms the numbers that the paper prints for them without a setting, as ``unplaced``.

    The column is left out where there are none.
    """
    tables = []
    for other in paper.tables:
        for study in other.list_open_studies(paper):
            if study.name == part.study:
                tables.append(other.id)
    if not tables or numbers.empty:
        return series
    meant = numbers[numbers["table"].isin(tables) & (numbers["metric"] == metric)]
    if not meant["algorithm"].isin(series["algorithm"]).any():
        return series
    printed = dict(zip(meant["algorithm"], meant["printed"], strict=True))
    return series.assign(unplaced=series["algorithm"].map(printed))


def name_of_center(series: pd.DataFrame) -> str:
    """Return the name of the column that stands for the repeats, ``mean`` or ``median``.

    Examples
    --------
    >>> name_of_center(pd.DataFrame({"epsilon": [1.0], "median": [0.5]}))
    'median'
    """
    return next(name for name in CENTERS if name in series)


def note_missing_cells(n: int, expected: int) -> str:
    """Return the note on missing cells; nothing when all are there."""
    return "" if n >= expected else f"INCOMPLETE: {n} of {expected} cells"
