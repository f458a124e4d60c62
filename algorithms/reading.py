"""How rows are read: every cell by itself, whatever the container, and whatever stands in other rows.

A reading is a function of one record: it gives a row of numbers, or nothing where the record has a value that cannot be
read. So a table turns into the rows of its records one by one, and adding or removing a record adds or removes at most
one row of what is trained on. A record replaced by one that is left out counts as one removed.

- A number is an int, float, bool, decimal or fraction, or a complex number without an imaginary part. Text that reads
  as a number, and bytes that spell it, is that number, ``True`` and ``False`` are 1 and 0: some loaders turn a column
  into text, and text into numbers, because of one of its cells, which must not decide for the others.
- A missing value is None, NaN, NaT, pandas' NA, or text that is blank or reads as NaN.
- All else, a list for instance, or what raises while it is read, is no number.

Numbers are rounded to 64-bit floats, and those beyond their range are infinite.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import NamedTuple, Protocol

import numpy as np
import pandas as pd

_BLOCK = 8192  # rows; of a table stored by rows, those of a block stay in the cache while column after column is read
_BOOLEANS = {"True": 1.0, "true": 1.0, "TRUE": 1.0, "False": 0.0, "false": 0.0, "FALSE": 0.0}
"""Words that pandas takes for booleans in a file."""

Column = np.ndarray | pd.Categorical


class DomainError(ValueError):
    """A declared domain is impossible, or a value lies outside it."""


def number(cell) -> float | None:
    """Read a cell as a number: NaN if it is missing, None if it is no number. Nothing is raised.

    Examples
    --------
    >>> [number(cell) for cell in (3, " 7 ", b"0.5", True, 10**400, 2 + 0j)]
    [3.0, 7.0, 0.5, 1.0, inf, 2.0]
    >>> number(None), number(pd.NaT), number("clerk"), number([3])
    (nan, nan, None, None)
    """
    if type(cell) is float:  # most cells
        return cell
    if type(cell) is int:
        return _rounded(cell)
    try:
        return _number(cell)
    except Exception:
        return None


def _number(cell) -> float | None:
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return math.nan
    if isinstance(cell, str | bytes):
        return _number_of_text(plain(cell).strip())
    if isinstance(cell, np.datetime64 | np.timedelta64):
        return math.nan if np.isnat(cell) else None
    if isinstance(cell, numbers.Rational):
        return _rounded(cell)
    if isinstance(cell, numbers.Complex) and not isinstance(cell, numbers.Real):
        return float(cell.real) if cell.imag == 0 else None
    return float(cell) if isinstance(cell, numbers.Number | np.bool_) else None


def _number_of_text(word: str) -> float | None:
    if not word:
        return math.nan
    if word in _BOOLEANS:
        return _BOOLEANS[word]
    return None if "_" in word else float(word)  # Python's own, as in 1_000: no file has them


def _rounded(cell: numbers.Rational) -> float:
    try:
        return float(cell)
    except OverflowError:
        return math.inf if cell > 0 else -math.inf


def plain(cell):
    """Return bytes as the text that they spell, any other cell as it is."""
    return cell.decode() if isinstance(cell, bytes) else cell


def clip(values: np.ndarray, lower: float, upper: float, out: np.ndarray) -> tuple[int, int]:
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


def each(read: Callable, values: Column) -> np.ndarray:
    """Read every cell by a function that returns a number; of a categorical column every category once."""
    if isinstance(values, pd.Categorical):
        return np.append(each(read, column_of(values.categories)), read(None))[values.codes]
    return np.fromiter(map(read, values), dtype=np.float64, count=len(values))


def numbers_of(values: Column) -> np.ndarray:
    """Read every cell as a number, NaN where it is missing or no number: float64 array of shape (n,)."""
    if values.dtype == np.float64:
        return values
    if is_plain_numbers(values):
        with np.errstate(over="ignore"):  # a longer float becomes infinite
            return values.astype(np.float64)
    return each(_number_or_nan, values)


def _number_or_nan(cell) -> float:
    value = number(cell)
    return math.nan if value is None else value


def shown(cells: Iterable) -> str:
    """Show up to three different cells in one line, for a message to somebody who may see them."""
    return f"[{', '.join(list(dict.fromkeys(map(_shown, cells)))[:3])}]"


def _shown(cell) -> str:
    try:
        return " ".join(repr(cell.item() if isinstance(cell, np.generic) else cell).split())[:60]
    except Exception:
        return type(cell).__name__


# Containers.


def column_of(values) -> Column:
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
        return _moments(values) if values.dtype.kind in "mM" else values
    return np.fromiter(values, dtype=object, count=len(values))


def _of_pandas(values: pd.Series | pd.Index) -> np.ndarray:
    if isinstance(values.dtype, np.dtype):
        return column_of(values.to_numpy())
    if values.dtype.kind in "biuf":
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    return values.to_numpy(dtype=object)


def _moments(values: np.ndarray) -> np.ndarray:
    """Return dates and durations as pandas', which equal each other whatever unit a column counts in."""
    return np.fromiter(map(_moment, values), dtype=object, count=len(values))


def _moment(cell: np.datetime64 | np.timedelta64):
    try:
        return pd.Timestamp(cell) if isinstance(cell, np.datetime64) else pd.Timedelta(cell)
    except Exception:  # out of pandas' range
        return cell


def columns_of(X, names: Sequence[str], is_public: bool) -> tuple[list[Column], np.ndarray | None]:
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
    if isinstance(X, pd.DataFrame):
        return [column_of(column) for column in _columns_of_frame(X, names, is_public)], None
    if isinstance(X, Sequence):
        return _columns_of_records(X, len(names))
    table = np.asarray(X)
    if table.ndim != 2 or table.shape[1] != len(names):
        raise DomainError(f"{_expected(names)}, got shape {table.shape}")
    return [column_of(table[:, i]) for i in range(len(names))], None


def _expected(names: Sequence[str]) -> str:
    return f"expected {len(names)} columns ({', '.join(names[:4])}, ...)"


def _columns_of_frame(frame: pd.DataFrame, names: Sequence[str], is_public: bool) -> list[pd.Series]:
    lacking = [name for name in names if name not in frame.columns]
    if lacking and frame.columns.inferred_type == "string" and is_public:
        raise DomainError(f"the table lacks columns that the domain declares: {', '.join(lacking[:5])}")
    if lacking and frame.shape[1] != len(names):
        raise DomainError(f"{_expected(names)}, got shape {frame.shape}")
    if lacking:
        return [frame.iloc[:, i] for i in range(len(names))]
    columns = [frame[name] for name in names]
    if twice := [name for name, column in zip(names, columns, strict=True) if column.ndim > 1]:
        raise DomainError(f"the table has more than one column named {', '.join(twice[:5])}")
    return columns


def _columns_of_records(records: Sequence, n_cells: int) -> tuple[list[np.ndarray], np.ndarray]:
    read = [_cells(record, n_cells) for record in records]
    is_whole = np.array([len(cells) == n_cells for cells in read], dtype=bool)
    blank = (None,) * n_cells
    columns = zip(*(cells or blank for cells in read), strict=True) if read else [()] * n_cells
    return [column_of(column) for column in columns], is_whole


def _cells(record, n_cells: int) -> tuple:
    """Return the cells of a record, none where there are not as many as asked for."""
    try:
        if isinstance(record, str | bytes | Mapping | Set) or len(record) != n_cells:
            return ()
        cells = tuple(record)
        return cells if len(cells) == n_cells else ()
    except Exception:
        return ()


# Rows.


class Feature(Protocol):
    """What is declared of a column."""

    name: str

    def read(self, values: Column, known: np.ndarray, out: np.ndarray, clip: Callable = clip) -> int:
        """Read m cells into ``out``, clear ``known`` where one cannot be used; return how many were clipped."""
        ...

    def error(self, cells: list) -> DomainError:
        """Say what is wrong with cells that cannot be used."""
        ...


class Problems(NamedTuple):
    """What a table would lose in a release: exact counts, not to be released.

    Parameters
    ----------
    clipped : dict
        How many values lie beyond the declared bounds, by column.
    left_out : int
        How many records would be left out.
    ragged : int
        How many of these have a wrong number of cells; nothing else is counted of them.
    reasons : dict
        How many cells of the others are the reason, by column and kind: "missing" values, and "unknown" ones, which are
        no number, or no declared category. A record may have more than one.
    """

    clipped: dict[str, int]
    left_out: int
    ragged: int
    reasons: dict[str, dict[str, int]]


class Rows:
    """Rows of a table and what is declared of its columns; they become numbers only when asked for.

    So a table may be read in blocks, and no copy of all of it is made.

    Parameters
    ----------
    features : sequence of Continuous or Nominal
        What is declared of each column.
    columns : sequence of Column of shape (n,)
        The values of each column.
    is_whole : bool array of shape (n,) or None, default=None
        Which records have as many cells as there are columns; None: all.
    leave_out : bool, default=False
        Whether records with a value that cannot be used are left out, instead of raising an error that tells of them.
        Each is judged by itself, so that adding or removing a record adds or removes at most one row.
    clip : function, default=clip
        What clips.

    Examples
    --------
    >>> from algorithms import Continuous
    >>> rows = Rows([Continuous("age", 17, 90)], [np.array([95.0, 30.0, 12.0])])
    >>> block = np.empty((1, 2))
    >>> rows.encode(slice(1, 3), block)
    array([ True,  True])
    >>> block, rows.clipped
    (array([[30., 17.]]), {'age': 1})
    >>> Rows([Continuous("age", 17, 90)], [np.array([95.0, np.nan])], leave_out=True).matrix()
    array([[90.]])
    """

    def __init__(
        self,
        features: Sequence[Feature],
        columns: Sequence[Column],
        is_whole: np.ndarray | None = None,
        leave_out: bool = False,
        clip: Callable = clip,
    ):
        self.features = tuple(features)
        self._columns = columns
        self._is_whole = is_whole
        self._leave_out = leave_out
        self._clip = clip
        self._n_clipped = [0] * len(self.features)

    def __len__(self) -> int:
        """How many records were given."""
        return len(self._columns[0])

    @property
    def clipped(self) -> dict[str, int]:
        """How many values were clipped so far, for each column where any was: exact, so not to be released."""
        counts = zip(self.features, self._n_clipped, strict=True)
        return {feature.name: n_clipped for feature, n_clipped in counts if n_clipped}

    def encode(self, rows: slice, out: Sequence[np.ndarray]) -> np.ndarray:
        """Turn some rows into numbers: continuous values clipped to their bounds, categories to their position.

        Parameters
        ----------
        rows : slice
            Which m rows.
        out : sequence of float64 arrays of shape (m,)
            Where the numbers go, one array for each column.

        Returns
        -------
        bool array of shape (m,)
            Which of the rows can be used. The others are left out: their numbers mean nothing.

        Raises
        ------
        DomainError
            For a row that cannot be used, unless it is left out; the message is about all rows.
        """
        known = np.ones(len(out[0]), dtype=bool) if self._is_whole is None else self._is_whole[rows].copy()
        for i, (feature, values, line) in enumerate(zip(self.features, self._columns, out, strict=True)):
            self._n_clipped[i] += feature.read(values[rows], known, line, self._clip)
        if not (self._leave_out or known.all()):
            raise self._error()
        return known

    def matrix(self) -> np.ndarray:
        """Turn all rows into numbers, but for those left out: float64 array of shape (n, k), stored by columns."""
        matrix, known = np.empty((len(self), len(self.features)), order="F"), np.empty(len(self), dtype=bool)
        for start in range(0, len(self), _BLOCK):
            rows = slice(start, start + _BLOCK)
            known[rows] = self.encode(rows, matrix[rows].T)
        return matrix if known.all() else np.asfortranarray(matrix[known])

    def problems(self) -> Problems:
        """Count what would be clipped, what would be left out, and why."""
        known, reasons = self._whole(), {}
        clipped = [self._judged(feature, values, known, reasons) for feature, values in self._pairs()]
        counts = {feature.name: n for feature, n in zip(self.features, clipped, strict=True) if n}
        left_out, ragged = (int(np.count_nonzero(~mask)) for mask in (known, self._whole()))
        return Problems(counts, left_out, ragged, reasons)

    def _judged(self, feature: Feature, values: Column, known: np.ndarray, reasons: dict) -> int:
        """Clear ``known`` and add to ``reasons`` where a cell of a column cannot be used; count those clipped."""
        readable = np.ones(len(self), dtype=bool)
        n_clipped = feature.read(values, readable, np.empty(len(self)))
        cells = list(values[self._whole() & ~readable])
        n_missing = sum(map(is_missing, cells))
        if cells:
            counts = {"missing": n_missing, "unknown": len(cells) - n_missing}
            reasons[feature.name] = {kind: n for kind, n in counts.items() if n}
        known &= readable
        return n_clipped

    def _whole(self) -> np.ndarray:
        return np.ones(len(self), dtype=bool) if self._is_whole is None else self._is_whole.copy()

    def _pairs(self) -> list[tuple[Feature, Column]]:
        return list(zip(self.features, self._columns, strict=True))

    def _error(self) -> DomainError:
        """Say what is wrong with all rows, of the first column that has something wrong."""
        if n_ragged := int((~self._whole()).sum()):
            return DomainError(f"{n_ragged} records have not as many cells as the domain has columns")
        for feature, values in self._pairs():
            known = self._whole()
            feature.read(values, known, np.empty(len(self)))
            if not known.all():
                return feature.error(list(values[~known]))
        raise AssertionError("rows were read differently a second time")


def is_missing(cell) -> bool:
    """Tell whether a cell reads as a missing value."""
    value = number(cell)
    return value is not None and math.isnan(value)
