"""Rows of a table that become numbers block by block, each by itself; those that cannot be used may be left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from algorithms.encoding.cells import DomainError, is_missing
from algorithms.encoding.columns import Column, clip_numbers

_BLOCK = 8192  # rows; of a table stored by rows, those of a block stay in the cache while column after column is read
_MANY = 8 * _BLOCK  # rows


class ReadableFeature(Protocol):
    """What is declared of a column."""

    name: str

    def read_cells(
        self, values: Column, is_readable: np.ndarray, out: np.ndarray, clip: Callable = clip_numbers
    ) -> int:
        """Read m cells into ``out``, clear ``is_readable`` where one cannot be used; return how many were clipped."""
        ...

    def describe_cells(self, cells: list) -> DomainError:
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
    table : float64 array of shape (n, p) or None, default=None
        The first p columns beside each other, if they are numbers of one array that is stored row by row.

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
        features: Sequence[ReadableFeature],
        columns: Sequence[Column],
        is_whole: np.ndarray | None = None,
        leave_out: bool = False,
        clip: Callable = clip_numbers,
        table: np.ndarray | None = None,
    ):
        self.features = tuple(features)
        self._columns = columns
        self._is_whole = is_whole
        self._leave_out = leave_out
        self._clip = clip
        self.table = table
        self._n_clipped = np.zeros(len(self.features), dtype=np.int64)

    def __len__(self) -> int:
        """How many records were given."""
        return len(self._columns[0])

    @property
    def clipped(self) -> dict[str, int]:
        """How many values were clipped so far, for each column where any was: exact, so not to be released."""
        counts = zip(self.features, self._n_clipped, strict=True)
        return {feature.name: int(n_clipped) for feature, n_clipped in counts if n_clipped}

    def encode(self, rows: slice, out: Sequence[np.ndarray], read_table: Callable | None = None) -> np.ndarray:
        """Turn some rows into numbers: continuous values clipped to their bounds, categories to their position.

        Parameters
        ----------
        rows : slice
            Which m rows.
        out : sequence of float64 arrays of shape (m,)
            Where the numbers go, one array for each column.
        read_table : function or None, default=None
            What reads the columns of ``table`` in place of what is declared of each. It is called with the rows of the
            table and an int64 array, to whose entries it adds how many values of each column were clipped, and returns
            how many are missing.

        Returns
        -------
        bool array of shape (m,)
            Which of the rows can be used. The others are left out: their numbers mean nothing.

        Raises
        ------
        DomainError
            For a row that cannot be used, unless it is left out; the message is about all rows.
        """
        is_readable = np.ones(len(out[0]), dtype=bool) if self._is_whole is None else self._is_whole[rows].copy()
        n_read = 0
        if read_table is not None:
            values = self.table[rows]
            n_read = values.shape[1]
            if read_table(values, self._n_clipped[:n_read]):
                is_readable &= ~np.isnan(values).any(axis=1)
        for i in range(n_read, len(self.features)):
            values = self._columns[i][rows]
            self._n_clipped[i] += self.features[i].read_cells(values, is_readable, out[i], self._clip)
        if not (self._leave_out or is_readable.all()):
            raise self._describe_error()
        return is_readable

    def matrix(self) -> np.ndarray:
        """Turn all rows into numbers, but for those left out: float64 array of shape (n, k), stored by columns."""
        return self._encode_rows(0, len(self))

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield what ``matrix`` returns a part at a time, at least one: of a large table no copy is in memory.

        Examples
        --------
        >>> from algorithms import Continuous
        >>> rows = Rows([Continuous("age", 17, 90)], [np.full(100_000, 30.0)])
        >>> [len(block) for block in rows.blocks()]
        [65536, 34464]
        """
        for start in range(0, max(len(self), 1), _MANY):
            yield self._encode_rows(start, min(start + _MANY, len(self)))

    def _encode_rows(self, start: int, stop: int) -> np.ndarray:
        matrix = np.empty((stop - start, len(self.features)), order="F")
        is_readable = np.empty(stop - start, dtype=bool)
        for first in range(start, stop, _BLOCK):
            last = min(first + _BLOCK, stop)
            here = slice(first - start, last - start)
            is_readable[here] = self.encode(slice(first, last), matrix[here].T)
        return matrix if is_readable.all() else np.asfortranarray(matrix[is_readable])

    def problems(self) -> Problems:
        """Count what would be clipped, what would be left out, and why."""
        is_readable, reasons = self._whole_records(), {}
        clipped = []
        for feature, values in self._feature_columns():
            clipped.append(self._judge_column(feature, values, is_readable, reasons))
        counts = {feature.name: n for feature, n in zip(self.features, clipped, strict=True) if n}
        left_out, ragged = (int(np.count_nonzero(~mask)) for mask in (is_readable, self._whole_records()))
        return Problems(counts, left_out, ragged, reasons)

    def _judge_column(self, feature: ReadableFeature, values: Column, is_readable: np.ndarray, reasons: dict) -> int:
        """Clear ``is_readable`` and add to ``reasons`` where a cell of a column cannot be used; count those clipped."""
        readable = np.ones(len(self), dtype=bool)
        n_clipped = feature.read_cells(values, readable, np.empty(len(self)))
        cells = list(values[self._whole_records() & ~readable])
        n_missing = sum(map(is_missing, cells))
        if cells:
            counts = {"missing": n_missing, "unknown": len(cells) - n_missing}
            reasons[feature.name] = {kind: n for kind, n in counts.items() if n}
        is_readable &= readable
        return n_clipped

    def _whole_records(self) -> np.ndarray:
        return np.ones(len(self), dtype=bool) if self._is_whole is None else self._is_whole.copy()

    def _feature_columns(self) -> list[tuple[ReadableFeature, Column]]:
        return list(zip(self.features, self._columns, strict=True))

    def _describe_error(self) -> DomainError:
        """Say what is wrong with all rows, of the first column that has something wrong."""
        if n_ragged := int((~self._whole_records()).sum()):
            return DomainError(f"{n_ragged} records have not as many cells as the domain has columns")
        for feature, values in self._feature_columns():
            is_readable = self._whole_records()
            feature.read_cells(values, is_readable, np.empty(len(self)))
            if not is_readable.all():
                return feature.describe_cells(list(values[~is_readable]))
        raise AssertionError("rows were read differently a second time")
