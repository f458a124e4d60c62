"""How a table is taken apart into columns whose cells can be read one by one, whatever container it comes in."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from typing import TypeAlias

import numpy as np

from algorithms.encoding import later_pandas as pd
from algorithms.encoding.cells import DomainError, read_number

Column: TypeAlias = "np.ndarray | pd.Categorical"


def clip_numbers(values: np.ndarray, lower: float, upper: float, out: np.ndarray) -> tuple[int, int]:
    """Clip numbers to bounds.

    Parameters
    ----------
    values : float64 array of shape (m,)
        Numbers, or NaN.
    lower, upper : float
        The bounds.
    out : float64 array of shape (m,)
        Where they go.

    Returns
    -------
    n_clipped, n_missing : int
        How many were clipped, and how many are NaN, which stays.
    """
    np.maximum(values, lower, out=out)
    np.minimum(out, upper, out=out)
    n_inside = int(np.count_nonzero(out == values))
    n_missing = 0 if n_inside == len(out) else int(np.count_nonzero(np.isnan(out)))
    return len(out) - n_inside - n_missing, n_missing


def is_plain_numbers(values: Column) -> bool:
    """Tell whether a column is an array that holds nothing but booleans, whole numbers or floats."""
    return isinstance(values, np.ndarray) and values.dtype.kind in "biuf"


def is_plain_table(X) -> bool:
    """Tell whether a table is an array of 64-bit floats that is stored row by row."""
    return type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.flags.c_contiguous


def read_each(read: Callable, values: Column) -> np.ndarray:
    """Read every cell by a function that returns a number; of a categorical column every category once."""
    if isinstance(values, pd.Categorical):
        return np.append(read_each(read, take_column(values.categories)), read(None))[values.codes]
    return np.fromiter(map(read, values), dtype=np.float64, count=len(values))


def read_numbers(values: Column) -> np.ndarray:
    """Read every cell as a number, NaN where it is missing or no number: float64 array of shape (n,)."""
    if values.dtype == np.float64:
        return values
    if is_plain_numbers(values):
        with np.errstate(over="ignore"):  # a longer float becomes infinite
            return values.astype(np.float64)
    return read_each(_read_number_or_nan, values)


def _read_number_or_nan(cell) -> float:
    value = read_number(cell)
    return math.nan if value is None else value


def take_column(values) -> Column:
    """Return one column so that every cell of it can be read by itself; of what was text no cell is a number yet.

    Parameters
    ----------
    values : array, Series, Categorical, list or other sequence of shape (n,)
    """
    if isinstance(values, pd.Series | pd.Index):
        if isinstance(values.dtype, pd.CategoricalDtype):
            return values.array if isinstance(values, pd.Series) else values.values
        return _of_pandas(values)
    if isinstance(values, pd.Categorical | np.ndarray):
        return _pandas_moments(values) if values.dtype.kind in "mM" else values
    return np.fromiter(values, dtype=object, count=len(values))


def _of_pandas(values: pd.Series | pd.Index) -> np.ndarray:
    if isinstance(values.dtype, np.dtype):
        return take_column(values.to_numpy())
    if values.dtype.kind in "biuf":
        plain = np.float64 if values.hasnans else values.dtype.numpy_dtype
        return values.to_numpy(dtype=plain, na_value=np.nan)
    return values.to_numpy(dtype=object)


def _pandas_moments(values: np.ndarray) -> np.ndarray:
    """Return dates and durations as pandas', which equal each other whatever unit a column counts in."""
    return np.fromiter(map(_pandas_moment, values), dtype=object, count=len(values))


def _pandas_moment(cell: np.datetime64 | np.timedelta64):
    try:
        return pd.Timestamp(cell) if isinstance(cell, np.datetime64) else pd.Timedelta(cell)
    except Exception:  # out of pandas' range
        return cell


def as_frame(X):
    """Return a table of named columns, as polars and pyarrow have them, as pandas' frame; anything else as it is.

    Neither package is needed: a column is whatever numpy can make an array of.

    Raises
    ------
    TypeError
        If its rows are yet to be computed.
    """
    if isinstance(X, pd.DataFrame):
        return X
    if hasattr(X, "get_column"):
        names, take = X.columns, X.get_column
    elif hasattr(X, "column_names"):
        names, take = X.column_names, X.column
    elif hasattr(X, "collect_schema"):
        raise TypeError("X is a plan of a table, and rows must be there: use X.collect()")
    else:
        return X
    columns = [pd.Series(np.asarray(take(name)), name=name) for name in names]
    return pd.concat(columns, axis=1) if columns else pd.DataFrame(index=range(len(X)))


def take_columns(X, names: Sequence[str], is_public: bool) -> tuple[list[Column], np.ndarray | None]:
    """Take a table apart into columns; no value is looked at.

    Parameters
    ----------
    X : DataFrame, array or sequence of records, of shape (n, k)
        A frame's columns are taken by name where the names match.
    names : sequence of str
        Names of the k columns.
    is_public : bool
        Whether the names were declared, so that a frame with other names is refused.

    Returns
    -------
    columns : list of k columns
    is_whole : bool array of shape (n,), or None
        Which records have k cells; None where a container can hold no others.

    Raises
    ------
    DomainError
        For an array or a frame with other columns. The message holds no value of a row.
    """
    X = as_frame(X)
    if isinstance(X, pd.DataFrame):
        return [take_column(column) for column in _columns_of_frame(X, names, is_public)], None
    if isinstance(X, Sequence):
        return _columns_of_records(X, len(names))
    table = np.asarray(X)
    if table.ndim != 2 or table.shape[1] != len(names):
        raise DomainError(f"{_expected_columns(names)}, got shape {table.shape}")
    return [take_column(table[:, i]) for i in range(len(names))], None


def _expected_columns(names: Sequence[str]) -> str:
    return f"expected {len(names)} columns ({', '.join(names[:4])}, ...)"


def _columns_of_frame(frame: pd.DataFrame, names: Sequence[str], is_public: bool) -> list[pd.Series]:
    lacking = [name for name in names if name not in frame.columns]
    if lacking and frame.columns.inferred_type == "string" and is_public:
        raise DomainError(f"the table lacks columns that the domain declares: {', '.join(lacking[:5])}")
    if lacking and frame.shape[1] != len(names):
        raise DomainError(f"{_expected_columns(names)}, got shape {frame.shape}")
    if lacking:
        return [frame.iloc[:, i] for i in range(len(names))]
    columns = [frame[name] for name in names]
    if twice := [name for name, column in zip(names, columns, strict=True) if column.ndim > 1]:
        raise DomainError(f"the table has more than one column named {', '.join(twice[:5])}")
    return columns


def _columns_of_records(records: Sequence, n_cells: int) -> tuple[list[np.ndarray], np.ndarray]:
    read = [_cells_of_record(record, n_cells) for record in records]
    is_whole = np.array([len(cells) == n_cells for cells in read], dtype=bool)
    blank = (None,) * n_cells
    columns = zip(*(cells or blank for cells in read), strict=True) if read else [()] * n_cells
    return [take_column(column) for column in columns], is_whole


def _cells_of_record(record, n_cells: int) -> tuple:
    """Return the cells of a record, none where there are not as many as asked for."""
    try:
        if isinstance(record, str | bytes | Mapping | Set) or len(record) != n_cells:
            return ()
        cells = tuple(record)
        return cells if len(cells) == n_cells else ()
    except Exception:
        return ()
