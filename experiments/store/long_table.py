"""The long table: one row per cell, and all that figures, tables and claims ever see of a run."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TextIO

import numpy as np
import pandas as pd

from datasets import catalogue
from experiments.cells.cell import Cell, canonical, json_safe, overlap_of
from experiments.stats import mean_interval
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
    cells = {cell.key: cell for found in studies.values() for cell in found}
    users = defaultdict(list)
    for study, found in studies.items():
        for key in {cell.key for cell in found}:
            users[key].append(study)
    rows = [_row("+".join(users[key]), cell, records.get(key, Record("missing"))) for key, cell in cells.items()]
    frame = pd.DataFrame([row for row, _ in rows]).astype({"epsilon": np.float64})
    metrics = pd.DataFrame([metrics for _, metrics in rows])
    metrics = metrics[sorted(metrics.columns, key=_metric_order)]
    named = [name for name in frame.columns if name.startswith(("params.", "protocol."))]
    late = ["fit_seconds", "status", "privacy", *sorted(named)]
    table = pd.concat([frame.drop(columns=late), metrics, frame[late]], axis=1)
    return table.sort_values(_ORDER, kind="stable", ignore_index=True)


def said_of_privacy(column: Iterable[str]) -> list[dict]:
    """Return what fitted models said in the column ``privacy`` of a long table, each of it once.

    Examples
    --------
    >>> said_of_privacy(['{"keeps_claim":true}', "", '{"keeps_claim":true}'])
    [{'keeps_claim': True}]
    """
    return [json.loads(text) for text in sorted({text for text in column if isinstance(text, str) and text})]


def write_summaries(settings: list[list[Cell]], records: Mapping[str, Record], stream: TextIO | None = None) -> None:
    """Write one JSON object per setting and metric.

    It has ``key, dataset, algorithm, params, epsilon, metric, mean, std, ci95, n``. ``ci95`` is a pair of numbers,
    wider where the splits of the repeats overlap (Nadeau and Bengio); what does not exist (the spread of one repeat,
    the precision of a class never predicted) is null.
    """
    for cells in settings:
        first = cells[0]
        known = {"key": first.setting_key, "dataset": first.dataset, "algorithm": first.algorithm}
        known |= {"params": first.params, "epsilon": first.epsilon}
        found = [record.measured for cell in cells if (record := records.get(cell.key)) and record.status == "done"]
        widening = overlap_of(first.protocol, catalogue.read_entry(first.dataset).n_train is not None)
        metrics = sorted({name for measured in found for name in measured.metrics}, key=_metric_order)
        for name in metrics:
            statistics = _statistics([measured.metrics[name] for measured in found], widening)
            _write(known | {"metric": name} | statistics, stream)
        if found:
            _write(known | {"metric": "fit_seconds"} | _statistics([one.fit_seconds for one in found], 0.0), stream)


def _row(study: str, cell: Cell, record: Record) -> tuple[dict, dict]:
    measured = record.measured
    privacy = measured.details.get("privacy") if measured else None
    row = {
        "study": study,
        "key": cell.key,
        "dataset": cell.dataset,
        "algorithm": cell.algorithm,
        "params": canonical(cell.params),
        "epsilon": cell.epsilon,
        "repeat": cell.repeat,
        "fit_seconds": measured.fit_seconds if measured else np.nan,
        "status": record.status,
        "privacy": canonical(privacy) if privacy else "",
    }
    row |= {f"params.{name}": value for name, value in cell.params.items()}
    row |= {f"protocol.{name}": _plain(value) for name, value in cell.protocol.items()}
    return row, measured.metrics if measured else {}


def _plain(value):
    return canonical(value) if isinstance(value, Mapping) else value


def _metric_order(name: str) -> tuple[int, str]:
    return _FIRST_METRICS.index(name) if name in _FIRST_METRICS else len(_FIRST_METRICS), name


def _statistics(values: list[float], overlap: float) -> dict:
    numbers = np.array([value for value in values if not np.isnan(value)])
    interval = mean_interval(numbers, overlap=overlap)
    spread = float(numbers.std(ddof=1)) if len(numbers) > 1 else None
    ci95 = None if spread is None else [interval.low, interval.high]
    return {"mean": interval.center if len(numbers) else None, "std": spread, "ci95": ci95, "n": interval.n}


def _write(contents: dict, stream: TextIO | None) -> None:
    print(json.dumps(json_safe(contents), allow_nan=False, ensure_ascii=False), file=stream or sys.stdout)


def format_cells_csv(table: pd.DataFrame) -> str:
    """Return a long table as it is kept: equal runs give equal bytes.

    Times are left out, which differ from run to run; and privacy, which is the report's to tell.
    """
    return table.drop(columns=["fit_seconds", "privacy"]).to_csv(index=False, lineterminator="\n")
