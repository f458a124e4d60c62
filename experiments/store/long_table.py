"""The long table: one row per cell, and all that figures, tables and claims ever see of a run."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from algorithms.accounting.faults import CLAIMS_ONLY
from experiments.cells.cell import Cell, format_canonical
from experiments.store.record import Record

_ORDER = ["dataset", "algorithm", "params", "epsilon", "repeat", "key"]
_FIRST_METRICS = ("accuracy", "mse", "unit_mse", "r2")


def long_table(studies: Mapping[str, list[Cell]], records: Mapping[str, Record]) -> pd.DataFrame:
    """Return one row per cell, from cells by study and results by key, those without a result included.

    Columns: ``study`` (names joined by ``+`` where a cell belongs to several), ``key, dataset, algorithm, params``
    (canonical JSON), ``epsilon, repeat``, one per metric, ``fit_seconds, status`` (``done``, ``failed`` or
    ``missing``), ``privacy`` (canonical JSON, see `Measured`; empty where the estimator has none), ``params.<name>``,
    ``protocol.<name>``; sorted by data set, algorithm, parameters, ε and repeat.
    """
    cells: dict[str, Cell] = {}
    users: dict[str, str] = {}
    for study, cells_of_study in studies.items():
        for key, cell in {cell.key: cell for cell in cells_of_study}.items():
            cells[key] = cell
            users[key] = f"{users[key]}+{study}" if key in users else study
    missing = Record("missing")
    found = [records.get(key, missing) for key in cells]
    asked = pd.DataFrame({"study": list(users.values()), "key": list(cells)})
    parts = [asked, _tell_settings(list(cells.values())), _tell_results(found)]
    table = pd.concat(parts, axis=1)
    is_named = table.columns.str.startswith(("params.", "protocol."))
    late = ["fit_seconds", "status", "privacy", *sorted(table.columns[is_named])]
    first = ["study", "key", "dataset", "algorithm", "params", "epsilon", "repeat"]
    metrics = sorted(table.columns.difference([*first, *late]), key=order_metric)
    return table[[*first, *metrics, *late]].sort_values(_ORDER, kind="stable", ignore_index=True)


def distinct_privacy_reports(column: Iterable[str]) -> list[dict]:
    """Return what fitted models said in the column ``privacy`` of a long table, each of it once.

    Examples
    --------
    >>> distinct_privacy_reports(['{"keeps_claim":true}', "", '{"keeps_claim":true}'])
    [{'keeps_claim': True}]
    """
    texts = {text for text in column if isinstance(text, str)} - {""}
    return list(map(json.loads, sorted(texts)))


def _tell_settings(cells: Sequence[Cell]) -> pd.DataFrame:
    """Return what was asked for: a row is made of each setting, and repeated for its cells."""
    numbers: dict[tuple, int] = {}
    rows, settings = [], []
    for cell in cells:
        setting = cell.dataset, cell.algorithm, cell.epsilon, id(cell.params), id(cell.protocol)  # as repeats share it
        if setting not in numbers:
            numbers[setting] = len(numbers)
            rows.append(_make_row(cell))
        settings.append(numbers[setting])
    frame = pd.DataFrame(rows).astype({"epsilon": np.float64}).take(settings).reset_index(drop=True)
    return frame.assign(repeat=[cell.repeat for cell in cells])


def _tell_results(records: Sequence[Record]) -> pd.DataFrame:
    """Return what came out, column by column: a mapping for each of a million cells would take minutes."""
    measured = [record.measured for record in records]
    columns: dict[str, list] = {
        "fit_seconds": [one.fit_seconds if one else np.nan for one in measured],
        "status": [record.status for record in records],
    }
    texts: dict[int, str] = {}  # of details, which most cells share
    for one in measured:
        if one and id(one.details) not in texts:  # all of them live, so that no identity stands for two
            privacy = one.details.get("privacy")
            texts[id(one.details)] = format_canonical(privacy) if privacy else ""
    columns["privacy"] = [texts[id(one.details)] if one else "" for one in measured]
    metrics = _arrange_metrics([one.metrics if one else {} for one in measured])
    return pd.concat([pd.DataFrame(columns), metrics], axis=1)


def _arrange_metrics(measured: Sequence[Mapping[str, float]]) -> pd.DataFrame:
    """Return a column for each metric, NaN where there is none; cells of the same metrics are read in one go."""
    places: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, metrics in enumerate(measured):
        places[tuple(metrics)].append(place)
    columns = {name: np.full(len(measured), np.nan) for names in places for name in names}
    for names, of_kind in places.items():
        values = chain.from_iterable(measured[place].values() for place in of_kind)
        numbers = np.fromiter(values, dtype=np.float64).reshape(len(of_kind), len(names))
        for column, name in enumerate(names):
            columns[name][of_kind] = numbers[:, column]
    return pd.DataFrame(columns, index=range(len(measured)))


def _make_row(cell: Cell) -> dict[str, Any]:
    row: dict[str, Any] = {
        "dataset": cell.dataset,
        "algorithm": cell.algorithm,
        "params": format_canonical(cell.params),
        "epsilon": cell.epsilon,
    }
    for name, value in cell.params.items():
        row[f"params.{name}"] = value
    for name, value in cell.protocol:
        row[f"protocol.{name}"] = format_canonical(value) if isinstance(value, Mapping) else value
    return row


def order_metric(name: str) -> tuple[int, str]:
    """Return what metrics are sorted by: the first ones come first, the others by their names.

    Examples
    --------
    >>> sorted(["recall_acc", "r2", "accuracy"], key=order_metric)
    ['accuracy', 'r2', 'recall_acc']
    """
    return _FIRST_METRICS.index(name) if name in _FIRST_METRICS else len(_FIRST_METRICS), name


def format_cells_csv(table: pd.DataFrame) -> str:
    """Return a long table as it is kept: equal runs give equal bytes.

    Times are left out, which differ from run to run; and privacy, which is the report's to tell.
    """
    return table.drop(columns=["fit_seconds", "privacy"]).to_csv(index=False, lineterminator="\n")


def is_claim_only(row: Mapping[str, Any]) -> bool:
    """Return whether an algorithm claims an ε without any account of it; ``row`` is a report of its fits, or their sum.

    Examples
    --------
    >>> is_claim_only({"faults": [{"name": "claims only"}]}), is_claim_only({"faults": []})
    (True, False)
    """
    return any(fault["name"] == CLAIMS_ONLY.name for fault in row.get("faults", ()))
