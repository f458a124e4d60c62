"""The long table: one row per cell, and all that figures, tables and claims ever see of a run."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, TextIO

import numpy as np
import pandas as pd

from experiments.cells.cell import Cell, format_canonical, json_safe
from experiments.stats import Interval, mean_interval, median_interval
from experiments.store.record import Record

_ORDER = ["dataset", "algorithm", "params", "epsilon", "repeat", "key"]
_FIRST_METRICS = ("accuracy", "mse", "unit_mse", "r2")


def long_table(studies: Mapping[str, list[Cell]], records: Mapping[str, Record]) -> pd.DataFrame:
    """Return one row per cell, those without a result included.

    Parameters
    ----------
    studies : mapping of str to list of Cell
        Cells by study.
    records : mapping of str to Record
        Results by key.

    Returns
    -------
    DataFrame
        ``study`` (names joined by ``+`` where a cell belongs to several), ``key, dataset, algorithm, params``
        (canonical JSON), ``epsilon, repeat``, one column per metric, ``fit_seconds, status`` (``done``, ``failed`` or
        ``missing``), ``privacy`` (canonical JSON, see `protocol.Measured`; empty where the estimator has none),
        ``params.<name>``, ``protocol.<name>``; sorted by data set, algorithm, parameters, ε and repeat.
    """
    cells: dict[str, Cell] = {}
    users: dict[str, dict[str, None]] = defaultdict(dict)
    for study, cells_of_study in studies.items():
        for cell in cells_of_study:
            cells[cell.key] = cell
            users[cell.key][study] = None
    rows, measured = [], []
    for key, cell in cells.items():
        record = records.get(key, Record("missing"))
        rows.append(_make_row("+".join(users[key]), cell, record))
        measured.append(record.measured.metrics if record.measured else {})
    frame = pd.DataFrame(rows).astype({"epsilon": np.float64})
    metrics = pd.DataFrame(measured)
    metrics = metrics[sorted(metrics.columns, key=_metric_order)]
    is_named = frame.columns.str.startswith(("params.", "protocol."))
    late = ["fit_seconds", "status", "privacy", *sorted(frame.columns[is_named])]
    table = pd.concat([frame.drop(columns=late), metrics, frame[late]], axis=1)
    return table.sort_values(_ORDER, kind="stable", ignore_index=True)


def distinct_privacy_reports(column: Iterable[str]) -> list[dict]:
    """Return what fitted models said in the column ``privacy`` of a long table, each of it once.

    Examples
    --------
    >>> distinct_privacy_reports(['{"keeps_claim":true}', "", '{"keeps_claim":true}'])
    [{'keeps_claim': True}]
    """
    texts = {text for text in column if isinstance(text, str)} - {""}
    return list(map(json.loads, sorted(texts)))


def write_summaries(settings: list[list[Cell]], records: Mapping[str, Record], stream: TextIO | None = None) -> None:
    """Write one JSON object per setting and metric.

    It has ``key, dataset, algorithm, params, epsilon, metric, mean, std, ci95, median, median_ci95, n``. An interval is
    a pair of numbers, for the mean or the median of further runs on these rows; what does not exist (the spread of one
    repeat, the interval of a median of fewer than six, the precision of a class never predicted) is null.
    """
    for cells in settings:
        first = cells[0]
        setting = {
            "key": first.setting_key,
            "dataset": first.dataset,
            "algorithm": first.algorithm,
            "params": first.params,
            "epsilon": first.epsilon,
        }
        values: dict[str, list[float]] = defaultdict(list)
        for cell in cells:
            record = records.get(cell.key)
            if record and record.measured:
                for name, value in record.measured.metrics.items():
                    values[name].append(value)
                values["fit_seconds"].append(record.measured.fit_seconds)
        seconds = values.pop("fit_seconds", [])
        for name in sorted(values, key=_metric_order):
            _write_line({**setting, "metric": name, **_summarise_values(values[name])}, stream)
        if seconds:
            _write_line({**setting, "metric": "fit_seconds", **_summarise_values(seconds)}, stream)


def _make_row(study: str, cell: Cell, record: Record) -> dict[str, Any]:
    measured = record.measured
    privacy = measured.details.get("privacy") if measured else None
    row: dict[str, Any] = {
        "study": study,
        "key": cell.key,
        "dataset": cell.dataset,
        "algorithm": cell.algorithm,
        "params": format_canonical(cell.params),
        "epsilon": cell.epsilon,
        "repeat": cell.repeat,
        "fit_seconds": measured.fit_seconds if measured else np.nan,
        "status": record.status,
        "privacy": format_canonical(privacy) if privacy else "",
    }
    for name, value in cell.params.items():
        row[f"params.{name}"] = value
    for name, value in cell.protocol.items():
        row[f"protocol.{name}"] = _format_mapping(value)
    return row


def _format_mapping(value: Any) -> Any:
    return format_canonical(value) if isinstance(value, Mapping) else value


def _metric_order(name: str) -> tuple[int, str]:
    return _FIRST_METRICS.index(name) if name in _FIRST_METRICS else len(_FIRST_METRICS), name


def _summarise_values(values: list[float]) -> dict:
    numbers = np.array(values)
    numbers = numbers[~np.isnan(numbers)]
    mean, median = mean_interval(numbers), median_interval(numbers)
    spread = float(numbers.std(ddof=1)) if len(numbers) > 1 else None
    return {
        **{"mean": mean.center, "std": spread, "ci95": _pair_ends(mean)},
        **{"median": median.center, "median_ci95": _pair_ends(median), "n": mean.n},
    }


def _pair_ends(interval: Interval) -> list[float] | None:
    return None if np.isnan(interval.low) else [interval.low, interval.high]


def _write_line(contents: dict, stream: TextIO | None) -> None:
    print(json.dumps(json_safe(contents), allow_nan=False, ensure_ascii=False), file=stream or sys.stdout)


def format_cells_csv(table: pd.DataFrame) -> str:
    """Return a long table as it is kept: equal runs give equal bytes.

    Times are left out, which differ from run to run; and privacy, which is the report's to tell.
    """
    return table.drop(columns=["fit_seconds", "privacy"]).to_csv(index=False, lineterminator="\n")
