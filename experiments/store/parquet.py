"""A store as one Parquet file: a row for every cell.

Reading three columns of a million rows and grouping them takes a fraction of a second then, with DuckDB, Polars, pandas
or R; JSON in SQLite is not good for that many.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from experiments.cells.cell import format_canonical
from experiments.errors import BadInput
from experiments.store.database import Store
from experiments.store.runs_file import copy_to_parquet

_HEADLINES = ("accuracy", "mse", "unit_mse", "r2")
_BATCH = 50_000
_COLUMNS = {
    **dict.fromkeys(("key", "dataset", "algorithm", "params"), "VARCHAR"),
    "epsilon": "DOUBLE",
    "repeat": "INTEGER",
    **dict.fromkeys(("protocol", "status", "error"), "VARCHAR"),
    **dict.fromkeys((*_HEADLINES, "fit_seconds"), "DOUBLE"),
    "metrics": "VARCHAR",
}


def write_parquet(store: Store, path: Path) -> int:
    """Write all cells of a store into a Parquet file, and return how many they are.

    Columns: ``key, dataset, algorithm, params`` (JSON), ``epsilon, repeat, protocol`` (JSON), ``status, error``, one
    for each of ``accuracy, mse, unit_mse, r2``, ``fit_seconds``, and ``metrics`` (JSON, all of them). It is BadInput if
    the file cannot be written, or the package for it is missing.
    """
    try:
        import duckdb
    except ImportError as error:
        raise BadInput("Parquet needs the package of the extra: pip install 'dp-replica[parquet]'") from error
    with duckdb.connect() as database:
        database.execute("SET enable_progress_bar = false")
        database.execute(f"CREATE TABLE cells ({', '.join(map(' '.join, _COLUMNS.items()))})")
        for rows in store.rows(_BATCH):
            for cell in rows:
                cell |= {name: cell["metrics"].get(name) for name in _HEADLINES}
                cell["metrics"] = format_canonical(cell["metrics"])
            frame = pd.DataFrame(rows, columns=list(_COLUMNS))  # noqa: F841 - by name, in SQL
            database.execute("INSERT INTO cells SELECT * FROM frame")
        copy_to_parquet(database, "SELECT * FROM cells", path)
        ((n_cells,),) = database.execute("SELECT count(*) FROM cells").fetchall()
        return n_cells
