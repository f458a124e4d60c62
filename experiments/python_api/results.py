"""Stored results as a table for pandas: a row for each cell and metric, the settings of the cell as columns."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from algorithms.installation import resolve_path
from experiments.cells.cell import Cell, format_canonical
from experiments.cells.current import version_of_cell
from experiments.config.protocol import DEFAULT_PROTOCOL
from experiments.errors import BadInput
from experiments.python_api import check_flags, read_path, refuses_bad_input
from experiments.store.database import Store
from experiments.store.record import Record

STORE = "store.sqlite"
_BATCH = 50_000
_FIRST = ("dataset", "algorithm", "epsilon")
ABOUT_RUNS = ("repeat", "metric", "value", "status", "error", "fit_seconds", "version", "current", "key")
"""Columns that say something of a run; all others are of its setting."""
_OF_CELLS = ("key", *_FIRST, "params", "protocol", "repeat", "status", "error", "fit_seconds", "version", "current")


@refuses_bad_input
def load_results(folder: str | Path = "results", *, outdated: bool = False) -> pd.DataFrame:
    """Return what a folder of results has of all cells that were ever run, by any command or by `run`.

    Parameters
    ----------
    folder : str or Path
        What a command was given as ``results=``: relative to the checkout where this is one, whatever the current
        folder; to the current folder where it is installed.
    outdated : bool
        Whether cells of earlier code, data or libraries are among the rows. One setting then has several values, which
        ``version`` tells apart.

    Returns
    -------
    DataFrame
        A row for each cell and metric. Columns: ``dataset, algorithm, epsilon``, ``params.<name>`` for each parameter
        and ``protocol.<name>`` for each option of the protocol that is not the default throughout; ``repeat``, from 0;
        ``metric`` and its ``value`` (shares from 0 to 1); ``status`` (``done`` or ``failed``) with ``error``;
        ``fit_seconds``; ``version`` of data, code and libraries, and ``current``: whether it is today's; ``key``. A
        cell that failed has one row, without a metric. Settings stand together, in the order of the first columns, each
        with its repeats in their order.

    Raises
    ------
    BadInput
        If there is no store in the folder, or it cannot be read.

    Examples
    --------
    >>> load_results("nowhere")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    experiments.errors.BadInput: ...nowhere/store.sqlite is not there: nothing has run with results=nowhere
    """
    check_flags(outdated=outdated)
    path = resolve_path(read_path(folder, "folder")) / STORE
    if not path.is_file():
        raise BadInput(f"{path} is not there: nothing has run with results={folder}")
    with Store(path) as store:
        rows = [row for batch in store.rows(_BATCH) for row in batch if outdated or row["current"]]
    return arrange_rows(rows)


def widen(frame: pd.DataFrame) -> pd.DataFrame:
    """Return results as from `load_results` with a row for each run and a column for each metric.

    Examples
    --------
    >>> frame = pd.DataFrame({"dataset": "car", "repeat": [0, 0], "metric": ["mse", "r2"], "value": [0.5, 0.1]})
    >>> widen(frame).to_dict("records")
    [{'dataset': 'car', 'repeat': 0, 'mse': 0.5, 'r2': 0.1}]
    """
    settings = [name for name in frame.columns if name not in ("metric", "value")]
    runs = frame[settings].astype(object).where(frame[settings].notna(), None)
    number, _ = pd.factorize(pd.Series(list(runs.itertuples(index=False, name=None)), dtype=object))
    first = ~pd.Series(number).duplicated()
    metrics = pd.DataFrame({"run": number, "metric": frame["metric"].to_numpy(), "value": frame["value"].to_numpy()})
    if metrics.duplicated(["run", "metric"]).any():
        raise BadInput("a run has a metric twice: leave out what is there twice, or of another version")
    wide = metrics.dropna(subset="metric").pivot(index="run", columns="metric", values="value")
    return frame.loc[first.to_numpy(), settings].reset_index(drop=True).join(wide)


def arrange_cells(cells: Iterable[Cell], records: Mapping[str, Record]) -> pd.DataFrame:
    """Return the rows of some cells, as `load_results` does of all, by their records; those without are left out."""
    rows: list[dict[str, Any]] = []
    versions: dict[tuple[str, str], str] = {}
    for cell in cells:
        record = records.get(cell.key)
        if record is None:
            continue
        behind = cell.dataset, cell.algorithm
        versions[behind] = versions.get(behind) or version_of_cell(*behind)
        measured = record.measured
        row: dict[str, Any] = {"key": cell.key, "dataset": cell.dataset, "algorithm": cell.algorithm}
        row |= {"epsilon": cell.epsilon, "repeat": cell.repeat, "status": record.status, "error": record.error}
        row |= {"params": format_canonical(cell.params), "protocol": format_canonical(vars(cell.protocol))}
        row |= {"metrics": measured.metrics if measured else {}, "version": versions[behind], "current": True}
        rows.append(row | {"fit_seconds": measured.fit_seconds if measured else None})
    return arrange_rows(rows)


def arrange_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows as `Store.rows` gives them with their settings as columns, and a row for each metric."""
    cells = pd.DataFrame([[row[name] for name in _OF_CELLS] for row in rows], columns=list(_OF_CELLS))
    params = _spread_settings(cells.pop("params"), "params.", {})
    defaults = json.loads(format_canonical(vars(DEFAULT_PROTOCOL)))
    protocol = _spread_settings(cells.pop("protocol"), "protocol.", defaults)
    settings = [*_FIRST, *params.columns, *protocol.columns]
    described = pd.concat([cells, params, protocol], axis=1)
    ranks = [_rank_values(described[name]) for name in (*settings, "version", "repeat")]
    places = np.lexsort(ranks[::-1]).tolist()
    measured = [list(rows[place]["metrics"].items()) or [(None, math.nan)] for place in places]
    table = described.iloc[np.repeat(places, list(map(len, measured)))].reset_index(drop=True)
    names, values = zip(*chain.from_iterable(measured), strict=True) if rows else ((), ())
    return table.assign(metric=list(names), value=list(values))[[*settings, *ABOUT_RUNS]]


def _rank_values(column: pd.Series) -> np.ndarray:
    """Return the places of values in their order: missing ones, then numbers, then all others by their text."""
    codes, distinct = pd.factorize(column, use_na_sentinel=False)
    order = sorted(range(len(distinct)), key=lambda i: _order_value(distinct[i]))
    ranks = np.empty(len(distinct), dtype=np.int64)
    ranks[order] = np.arange(len(distinct))
    return ranks[codes]


def _order_value(value: Any) -> tuple[int, float, str]:
    if pd.isna(value):
        return 0, 0.0, ""
    return (1, float(value), "") if isinstance(value, Real) else (2, 0.0, str(value))


def _spread_settings(texts: pd.Series, prefix: str, defaults: Mapping[str, Any]) -> pd.DataFrame:
    """Return a column for each entry of mappings in JSON, but for those that have the default everywhere."""
    known: dict[str, dict[str, Any]] = {text: json.loads(text) for text in texts.unique()}
    names = dict.fromkeys(name for entries in known.values() for name in entries)
    columns = {}
    for name in sorted(names):
        values = {text: entries.get(name) for text, entries in known.items()}
        if any(value != defaults.get(name) for value in values.values()):
            shown = {text: _plain(value) for text, value in values.items()}
            columns[prefix + name] = pd.Series([shown[text] for text in texts], dtype=object, index=texts.index)
    return pd.DataFrame(columns, index=texts.index).infer_objects()


def _plain(value: Any) -> Any:
    """Return a value of a setting as a cell of a table can hold it: a mapping or list as JSON."""
    return format_canonical(value) if isinstance(value, dict | list) else value
