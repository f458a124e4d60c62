"""Large Parquet files: read some rows at a time, and words as categories, of which each is in memory once.

What is of another kind than numbers, words, booleans and dates is left to `datasets.own_tables.own_file`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from algorithms.encoding import later_pandas as pd
from datasets.own_tables.opened_file import ROWS, open_parquet, quote_name, show_path
from datasets.own_tables.typed_text import Columns
from datasets.progress_bar import show_progress

if TYPE_CHECKING:
    import duckdb

SUFFIX = ".parquet"
_VECTORS = 122  # of 2048 rows, read at a time
_MOST_CATEGORIES = 10_000  # or about that: each block of rows has them all
_WORDS = "VARCHAR"
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL")
_OTHERS = ("BOOLEAN", "DATE", "TIMESTAMP")
_KINDS = (_WORDS, *_NUMBERS, *(f"U{kind}" for kind in _NUMBERS[:4]), *_OTHERS)


def read_typed_parquet(path: Path, columns: Columns) -> pd.DataFrame | None:
    """Return the columns of a Parquet file, words that repeat as categories; None if there is any doubt.

    Parameters
    ----------
    path : Path
        A file that is there.
    columns : Columns
        Which to read; its cells have types of their own.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import duckdb
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "my.parquet"
    ...     _ = duckdb.sql("SELECT 31 AS age, 'clerk' AS job").write_parquet(str(path))
    ...     frame = read_typed_parquet(path, Columns(None, (), ()))
    >>> frame["age"].tolist(), frame["job"].cat.categories.tolist()
    ([31], ['clerk'])
    """
    # Each thread has rows of its own in memory, and to check them takes longer than to read them.
    with open_parquet(path, threads=1) as database:
        table = database.table(ROWS)
        kinds = {name: str(kind).partition("(")[0] for name, kind in zip(table.columns, table.types, strict=True)}
        wanted = [name for name in kinds if columns.names is None or name in columns.names]
        if len(wanted) < len(columns.names or ()) or not _are_beyond_doubt(kinds, wanted):
            return None
        import duckdb  # which is there, as it has just opened the file

        try:
            return _read_columns(database, path, wanted, [name for name in wanted if kinds[name] == _WORDS])
        except duckdb.IOException:
            raise
        except duckdb.Error:
            return None


def _are_beyond_doubt(kinds: dict[str, str], wanted: Sequence[str]) -> bool:
    """Tell whether columns can be named, for which DuckDB takes no notice of capitals, and are of kinds read here."""
    return len({name.casefold() for name in kinds}) == len(kinds) and all(kinds[name] in _KINDS for name in wanted)


def _read_columns(
    database: duckdb.DuckDBPyConnection, path: Path, wanted: Sequence[str], words: Sequence[str]
) -> pd.DataFrame | None:
    size = path.stat().st_size
    (n_rows,) = database.execute(f"SELECT count(*) FROM {ROWS}").fetchone() or (0,)
    if not n_rows or not wanted:
        return None
    n_read, pieces = 0, {name: [] for name in wanted}
    with show_progress(show_path(path.name), size) as advance:
        words = _list_repeated(database, words)
        for position, name in enumerate(words):
            distinct = f"SELECT DISTINCT {quote_name(name)} FROM {ROWS} WHERE {quote_name(name)} IS NOT NULL"
            database.execute(f"CREATE TYPE words_{position} AS ENUM ({distinct})")
        casts = {name: f"{quote_name(name)}::words_{position}" for position, name in enumerate(words)}
        cells = ", ".join(f"{casts.get(name, quote_name(name))} AS {quote_name(name)}" for name in wanted)
        rows = database.execute(f"SELECT {cells} FROM {ROWS}")
        while len(chunk := rows.fetch_df_chunk(_VECTORS)):
            for name in wanted:
                pieces[name].append(chunk[name])
            n_read += len(chunk)
            advance(size * n_read // n_rows)
    return pd.DataFrame({name: _join_pieces(pieces.pop(name)) for name in wanted}, copy=False)


def _list_repeated(database: duckdb.DuckDBPyConnection, words: Sequence[str]) -> list[str]:
    """Return the columns of words that become categories; others, such as names, stay text."""
    if not words:
        return []
    counts = ", ".join(f"approx_count_distinct({quote_name(name)})" for name in words)
    found = database.execute(f"SELECT {counts} FROM {ROWS}").fetchone() or ()
    return [name for name, n in zip(words, found, strict=True) if n <= _MOST_CATEGORIES]


def _join_pieces(pieces: Sequence[pd.Series]) -> pd.Series:
    """Return a column; its pieces have the same categories, if they have some."""
    kind = pieces[0].dtype
    if isinstance(kind, pd.CategoricalDtype):
        codes = np.concatenate([piece.cat.codes for piece in pieces])
        return pd.Series(pd.Categorical.from_codes(codes, pd.Index(kind.categories, dtype="str")))
    return pd.concat(pieces, ignore_index=True)
