"""The runs that verdicts rest on, as one small Parquet file that is published beside them.

It has a row for each run of a setting that a claim or a printed number asks for, and only the columns that these need:
``study, dataset, algorithm``, the parameters of their studies (``params.<name>``), ``epsilon, repeat``, the metrics,
and ``status`` where something is not done. Numbers keep every digit, so that the same verdicts come out of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from algorithms.whole_files import replace_file
from experiments.errors import BadInput, one_line
from experiments.store.results import SettingKey, place_settings
from experiments.store.study_rows import is_of_study

if TYPE_CHECKING:
    import duckdb

RUNS = "runs.parquet"
LARGEST = 2_000_000
"""The most bytes that a published file of runs may have."""
UNDEFINED = "undefined"
"""The status of a run that is done and has no value of some metric, as a class that nobody predicts no precision."""


def select_runs(table: pd.DataFrame, asked: Mapping[SettingKey, Collection[str]]) -> pd.DataFrame:
    """Return the rows and columns of a long table that hold the metrics asked for of settings."""
    wanted: dict[tuple[str, tuple[str, ...]], set[tuple[str, ...]]] = defaultdict(set)
    for setting in asked:
        wanted[setting.study, setting.axes].add(setting.values)
    is_kept = np.zeros(len(table), dtype=bool)
    for (study, axes), settings in wanted.items():
        if not {"study", *axes} <= set(table.columns):
            continue
        of_study = np.flatnonzero(is_of_study(table, study))
        for values, places in place_settings(table.iloc[of_study], axes).items():
            is_kept[of_study[places]] |= values in settings
    metrics = [name for name in dict.fromkeys(chain.from_iterable(asked.values())) if name in table.columns]
    parameters = sorted({name for _, axes in wanted for name in axes if name.startswith("params.")})
    names = ["study", "dataset", "algorithm", *parameters, "epsilon", "repeat", *metrics]
    names = [name for name in names if name in table.columns]
    kept = table.loc[is_kept]
    kept = kept.sort_values([name for name in names if name not in metrics], key=_order, ignore_index=True)
    rows = kept[names].copy()
    if len(rows) and "status" in kept.columns:
        status = kept["status"].to_numpy(object)
        is_undefined = (status == "done") & rows[metrics].isna().any(axis=1).to_numpy()
        rows["status"] = np.where(is_undefined, UNDEFINED, np.where(status == "done", None, status))
        rows = rows if rows["status"].notna().any() else rows.drop(columns="status")
    return rows


def _order(cells: pd.Series) -> pd.Series:
    return cells if cells.name == "repeat" else cells.astype(str)  # of a column that may mix kinds


def write_runs(rows: pd.DataFrame, path: Path) -> bool:
    """Write what `select_runs` gives; equal rows give equal bytes.

    Returns whether it is written: without rows, or without the package for Parquet, there is no file.
    """
    if rows.empty or find_spec("duckdb") is None:
        path.unlink(missing_ok=True)
        return False
    import duckdb

    columns = {}
    for name in rows.columns:
        columns[name] = rows[name] if pd.api.types.is_numeric_dtype(rows[name]) else _as_text(rows[name])
    columns["repeat"] = rows["repeat"].astype(np.int32)
    with duckdb.connect(config={"threads": 1}) as database:
        database.execute("SET enable_progress_bar = false")
        database.register("runs", pd.DataFrame(columns))
        copy_to_parquet(database, "SELECT * FROM runs", path, "COMPRESSION zstd")
    return True


def copy_to_parquet(database: duckdb.DuckDBPyConnection, query: str, path: Path, *options: str) -> None:
    """Write what a query gives as a Parquet file, whole or not at all; BadInput if it cannot be written."""
    import duckdb

    with replace_file(path) as aside:
        target = str(aside).replace("'", "''")
        try:
            database.execute(f"COPY ({query}) TO '{target}' ({', '.join(['FORMAT parquet', *options])})")
        except duckdb.IOException as error:
            raise BadInput(f"{path} cannot be written ({one_line(error)}); choose another file") from error


def _as_text(cells: pd.Series) -> pd.Series:
    """Return values of several kinds as text, which is how the columns of a CSV file have them, too."""
    return cells.map(lambda cell: None if pd.isna(cell) else str(cell)).astype(object)
