"""What is declared of one column, `Continuous` or `Nominal`, and how its cells become numbers by that."""

from __future__ import annotations

import datetime
import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from algorithms.encoding import later_pandas as pd
from algorithms.encoding.cells import DomainError, decode_bytes, is_missing, read_number, show_cells
from algorithms.encoding.columns import Column, clip_numbers, is_plain_numbers, read_each, read_numbers

LARGEST_BOUND = 1e36
"""Largest absolute value of a bound: a 32-bit float holds it, and a 64-bit float the sum of many of its squares."""

SMALLEST_WIDTH = 1e-36
"""Smallest distance of two bounds: far above the numbers near 0 that floats hold with fewer digits."""

_MOMENTS = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)

MOST_CLASSES = 2**16
"""Most class labels: the forests keep their positions in 16 bits."""


@dataclass(frozen=True)
class Continuous:
    """A real-valued column with declared bounds, in its unit: values beyond them are clipped, infinite ones, too.

    Raises
    ------
    DomainError
        If the bounds are no numbers, not finite, not increasing, beyond ``LARGEST_BOUND`` or closer to each other than
        ``SMALLEST_WIDTH``.
    """

    name: str
    lower: float
    upper: float

    def __post_init__(self):
        if not all(isinstance(bound, numbers.Real) for bound in (self.lower, self.upper)):
            raise DomainError(f"column {self.name!r}: bounds must be numbers, got {self.lower!r}, {self.upper!r}")
        lower, upper = read_number(self.lower), read_number(self.upper)
        if not (math.isfinite(lower) and math.isfinite(upper) and lower < upper):
            raise DomainError(
                f"column {self.name!r}: bounds must be finite with lower < upper, got {lower}, {upper} as floats"
            )
        if max(abs(lower), abs(upper)) > LARGEST_BOUND or upper - lower < SMALLEST_WIDTH:
            raise DomainError(
                f"column {self.name!r}: bounds must be within ±{LARGEST_BOUND:g} and at least {SMALLEST_WIDTH:g} apart,"
                f" got {lower}, {upper}: use another unit"
            )
        for end, bound, value in (("lower", self.lower, lower), ("upper", self.upper, upper)):
            is_exact = type(bound) is int and bound == value
            object.__setattr__(self, end, bound if is_exact else value)  # their difference is that of the floats

    def read_cells(
        self, values: Column, is_readable: np.ndarray, out: np.ndarray, clip: Callable = clip_numbers
    ) -> int:
        """Fill ``out`` with the values clipped to the bounds; nothing is raised.

        Parameters
        ----------
        values : Column of shape (m,)
            Cells, see ``algorithms.encoding.cells``.
        is_readable : bool array of shape (m,)
            Set to False where a value is missing or no number.
        out : float64 array of shape (m,)
            Where the values go.
        clip : function
            What clips, see ``algorithms.encoding.cells.clip``.

        Returns
        -------
        int
            How many had to be clipped.
        """
        values = read_numbers(values)
        n_clipped, n_missing = clip(values, float(self.lower), float(self.upper), out)
        if n_missing:
            is_readable &= ~np.isnan(values)
        return n_clipped

    def describe_cells(self, cells: list) -> DomainError:
        """Say which cells are missing or no numbers; the message holds up to three of these."""
        if unreadable := [cell for cell in cells if not is_missing(cell)]:
            return DomainError(f"column {self.name!r} must be numeric: cannot read {show_cells(unreadable)}")
        return DomainError(f"column {self.name!r} has {len(cells)} missing values (NaN)")


@dataclass(frozen=True)
class Nominal:
    """A column that takes one of finitely many declared categories, in their natural order where they have one.

    There is at least one, and no repetition. None (or NaN) stands for a missing value, where that counts as a category
    of its own.

    Raises
    ------
    DomainError
        If there is no category, two are equal, also as numbers ("7" and 7), two stand for a missing value, or one is a
        number of 2^53 or more, of which a float cannot hold its neighbours; text that is read as
        a missing value ("nan", "") is refused, too.

    Notes
    -----
    A value is the category that it equals. A value that reads as a number is the category that reads as the same
    number: the rest of a column decides whether a reader of files returns 7, 7.0 or "7".

    Examples
    --------
    >>> job = Nominal("job", ("clerk", "7", None))
    >>> [job.position(cell) for cell in ("clerk", 7.0, float("nan"), " 7", "cook")]
    [0, 1, 2, 1, -1]
    """

    name: str
    categories: tuple

    def __post_init__(self):
        object.__setattr__(self, "categories", tuple(self.categories))
        for category in self.categories:
            if is_missing(category) and isinstance(category, str | bytes):
                raise self._domain_error(f"{show_cells((category,))} reads as a missing value: declare None")
            if abs(read_number(category) or 0.0) >= 2**53:
                raise self._domain_error(
                    f"{show_cells((category,))} is too large a number: a float holds whole ones below 2^53"
                )
        try:
            keys = [*map(_comparison_key, self.categories)]
            is_distinct = len(set(keys)) == len(keys) > 0
        except TypeError:
            raise self._domain_error("every category must be hashable") from None
        if any(isinstance(category, np.datetime64 | np.timedelta64) for category in self.categories):
            raise self._domain_error(
                "dates and durations must be pandas' Timestamp and Timedelta, which equal Python's own"
            )
        if not is_distinct:
            raise self._domain_error("categories must be distinct, also as numbers, and at least one")

    def __getstate__(self) -> dict:
        """Leave out what was made for reading: it would tell how a column was stored."""
        return {"name": self.name, "categories": self.categories}

    def _domain_error(self, why: str) -> DomainError:
        return DomainError(f"column {self.name!r}: {why}")

    @cached_property
    def _position_of_category(self) -> dict:
        """Position of each category, by its plain value and by its key."""
        positions = {_comparison_key(category): i for i, category in enumerate(self.categories)}
        return positions | {decode_bytes(c): i for i, c in enumerate(self.categories) if not is_missing(c)}

    @cached_property
    def _by_number(self) -> tuple[pd.Index, np.ndarray]:
        """Numbers that categories read as, and the positions of these, with one more for what is none of them."""
        read = [(read_number(category), i) for i, category in enumerate(self.categories)]
        read = [(value, i) for value, i in read if value is not None]
        return pd.Index([value for value, _ in read], dtype=np.float64), np.array([*(i for _, i in read), -1])

    @cached_property
    def _by_text(self) -> tuple[np.ndarray, np.ndarray]:
        """Categories that are text, sorted, and the positions of these; no cell of an array of text ends in NUL."""
        of_text = {c: i for c, i in self._position_of_category.items() if isinstance(c, str) and not c.endswith("\0")}
        words = sorted(of_text)
        return np.array(words, dtype=str), np.array([of_text[word] for word in words], dtype=np.int64)

    def position(self, cell) -> int:
        """Return the position of the category that a cell is, -1 if it is none; nothing is raised."""
        try:
            return self._position_of_category[cell]
        except Exception:  # also of a cell that cannot be hashed or compared
            value = read_number(cell)
        try:
            return self._position_of_category.get(
                decode_bytes(cell) if value is None else None if math.isnan(value) else value, -1
            )
        except Exception:
            return -1

    def read_cells(
        self, values: Column, is_readable: np.ndarray, out: np.ndarray, clip: Callable = clip_numbers
    ) -> int:
        """Fill ``out`` with the positions of the values in ``categories``, see `Continuous.read_cells`.

        A value that is no declared category is not readable; nothing can be clipped, so that it returns 0.
        """
        if is_plain_numbers(values):
            index, positions = self._by_number
            out[:] = positions[index.get_indexer(read_numbers(values))]
        elif isinstance(values, np.ndarray) and values.dtype.kind == "U":
            out[:] = self._positions_of_text(values)
        else:
            out[:] = self._positions_of_cells(values)
        is_readable &= out >= 0
        return 0

    def _positions_of_text(self, values: np.ndarray) -> np.ndarray:
        """Search among the sorted categories: to make a string of each cell would take ten times as long."""
        words, positions = self._by_text
        if not len(words):
            return self._positions_of_cells(values)
        places = np.searchsorted(words[1:], values, side="right")
        found = np.where(words[places] == values, positions[places], -1)
        if (found < 0).any():  # text that reads as a number, or as missing, may be a category, too
            found[found < 0] = self._positions_of_cells(values[found < 0])
        return found

    def _positions_of_cells(self, values: Column) -> np.ndarray:
        try:
            # half the time of the other, and mostly enough
            return read_each(self._position_of_category.__getitem__, values)
        except Exception:
            return read_each(self.position, values)

    def describe_cells(self, cells: list) -> DomainError:
        """Say which cells are no declared category; the message holds up to three of these."""
        declared = ", ".join(map(repr, self.categories[:6])) + (", ..." if len(self.categories) > 6 else "")
        outside = f"values outside its declared categories: {show_cells(cells)}"
        return DomainError(f"column {self.name!r} has {outside}; declared are {declared}")

    def labels(self) -> np.ndarray:
        """Return the categories as class labels, sorted: array of shape (c,).

        Raises
        ------
        DomainError
            If they are not all text or all numbers, or more than ``MOST_CLASSES``.
        """
        is_text = [isinstance(category, str) for category in self.categories]
        is_number = [isinstance(c, numbers.Real | np.bool_) and not is_missing(c) for c in self.categories]
        labels = np.unique(np.array(self.categories)) if all(is_text) or all(is_number) else ()
        if set(labels) != set(self.categories):  # an array of text cuts a NUL off at the end
            raise self._domain_error("class labels must be all text or all numbers")
        if len(labels) > MOST_CLASSES:
            raise self._domain_error(f"there can be {MOST_CLASSES:,} class labels at most, got {len(labels):,}")
        return labels


def _comparison_key(category):
    """Return what no two categories may share: a number, None for a missing value, else the value itself."""
    value = read_number(category)
    return decode_bytes(category) if value is None else None if math.isnan(value) else value


Feature = Continuous | Nominal


def read_feature(name: str, spec: Mapping | Sequence) -> Feature:
    """Return a column from plain data: ``{"lower": a, "upper": b}``, or a list of categories."""
    if isinstance(spec, Mapping):
        if set(spec) != {"lower", "upper"}:
            raise DomainError(f"column {name!r}: expected lower and upper, got {sorted(spec)}")
        bounds = [_read_bound(spec[end]) for end in ("lower", "upper")]
        return Continuous(name, *bounds)
    return Nominal(name, tuple(spec))


def _read_bound(value):
    """Return a bound as a float, also one that YAML takes for text ("1e5"); what is none stays, to be refused."""
    read = read_number(value)
    return value if read is None else read


def write_feature(feature: Feature) -> dict | list:
    """Return the plain data that `read_feature` reads."""
    if isinstance(feature, Continuous):
        return {"lower": feature.lower, "upper": feature.upper}
    return list(feature.categories)


def infer_feature(name: str, column: pd.Series) -> Feature:
    """Take what is declared of a column from its values, which costs privacy that nobody pays."""
    if column.isna().any():
        raise DomainError(f"column {name!r} has {int(column.isna().sum())} missing values (NaN)")
    if column.dtype.kind == "b":
        column = column.astype(float)
    numbers = pd.to_numeric(column, errors="coerce") if column.dtype == object else column
    if pd.api.types.is_numeric_dtype(numbers) and not numbers.isna().any():
        lower, upper = float(numbers.min()), float(numbers.max())
        return Continuous(name, lower, upper if upper > lower else lower + max(1.0, abs(lower)))
    categories = sorted(pd.unique(column).tolist(), key=str)
    if any(isinstance(category, _MOMENTS) for category in categories):
        raise DomainError(
            f"column {name!r} holds dates, times or durations: leave it out, make a number of it, such as days since a "
            "certain day, or declare what it is in a domain"
        )
    return Nominal(name, tuple(categories))
