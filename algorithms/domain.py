"""The public domain: what may be known about the columns before any row is seen.

Differential privacy is a promise about rows. Bounds, categories and class labels are safe to use only when they are
*declared*, that is, when they would be the same for every table that could have been there. A domain that is inferred
from the rows breaks the promise, so inferring one warns and is remembered (``Domain.is_public``).
"""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from algorithms.reading import (
    Column,
    DomainError,
    Problems,
    Rows,
    clip,
    column_of,
    columns_of,
    each,
    is_missing,
    is_plain_numbers,
    number,
    numbers_of,
    plain,
    shown,
)

LARGEST_BOUND = 1e36
"""Largest absolute value of a bound: a 32-bit float holds it, and a 64-bit float the sum of many of its squares."""

SMALLEST_WIDTH = 1e-36
"""Smallest distance of two bounds: far above the numbers near 0 that floats hold with fewer digits."""

MOST_CLASSES = 2**16
"""Most class labels: the forests keep their positions in 16 bits."""


class PrivacyLeakWarning(UserWarning):
    """Something was learnt from the protected rows without being paid for."""


@dataclass(frozen=True)
class Continuous:
    """A real-valued column with declared bounds.

    Parameters
    ----------
    name : str
        Name of the column.
    lower, upper : float
        Declared bounds, in the unit of the column; ``lower < upper``. Values beyond them are clipped, infinite ones,
        too.

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
        lower, upper = number(self.lower), number(self.upper)
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

    def read(self, values: Column, known: np.ndarray, out: np.ndarray, clip: Callable = clip) -> int:
        """Fill ``out`` with the values clipped to the bounds; nothing is raised.

        Parameters
        ----------
        values : Column of shape (m,)
            Cells, see ``algorithms.reading``.
        known : bool array of shape (m,)
            Set to False where a value is missing or no number.
        out : float64 array of shape (m,)
            Where the values go.
        clip : function
            What clips, see ``algorithms.reading.clip``.

        Returns
        -------
        int
            How many had to be clipped.
        """
        values = numbers_of(values)
        n_clipped, n_missing = clip(values, float(self.lower), float(self.upper), out)
        if n_missing:
            known &= ~np.isnan(values)
        return n_clipped

    def error(self, cells: list) -> DomainError:
        """Say which cells are missing or no numbers; the message holds up to three of these."""
        if unreadable := [cell for cell in cells if not is_missing(cell)]:
            return DomainError(f"column {self.name!r} must be numeric: cannot read {shown(unreadable)}")
        return DomainError(f"column {self.name!r} has {len(cells)} missing values (NaN)")


@dataclass(frozen=True)
class Nominal:
    """A column that takes one of finitely many declared categories.

    Parameters
    ----------
    name : str
        Name of the column.
    categories : tuple
        Every value that may occur, in their natural order where they have one; at least one, no repetition. None (or
        NaN) stands for a missing value, where that counts as a category of its own.

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
                raise self._refused(f"{shown((category,))} reads as a missing value: declare None")
            if abs(number(category) or 0.0) >= 2**53:
                raise self._refused(f"{shown((category,))} is too large a number: a float holds whole ones below 2^53")
        try:
            keys = [*map(_key, self.categories)]
            is_distinct = len(set(keys)) == len(keys) > 0
        except TypeError:
            raise self._refused("every category must be hashable") from None
        if any(isinstance(category, np.datetime64 | np.timedelta64) for category in self.categories):
            raise self._refused("dates and durations must be pandas' Timestamp and Timedelta, which equal Python's own")
        if not is_distinct:
            raise self._refused("categories must be distinct, also as numbers, and at least one")

    def __getstate__(self) -> dict:
        """Leave out what was made for reading: it would tell how a column was stored."""
        return {"name": self.name, "categories": self.categories}

    def _refused(self, why: str) -> DomainError:
        return DomainError(f"column {self.name!r}: {why}")

    @cached_property
    def _positions(self) -> dict:
        """Position of each category, by its plain value and by its key."""
        positions = {_key(category): i for i, category in enumerate(self.categories)}
        return positions | {plain(c): i for i, c in enumerate(self.categories) if not is_missing(c)}

    @cached_property
    def _by_number(self) -> tuple[pd.Index, np.ndarray]:
        """Numbers that categories read as, and the positions of these, with one more for what is none of them."""
        read = [(number(category), i) for i, category in enumerate(self.categories)]
        read = [(value, i) for value, i in read if value is not None]
        return pd.Index([value for value, _ in read], dtype=np.float64), np.array([*(i for _, i in read), -1])

    def position(self, cell) -> int:
        """Return the position of the category that a cell is, -1 if it is none; nothing is raised."""
        try:
            return self._positions[cell]
        except Exception:  # also of a cell that cannot be hashed or compared
            value = number(cell)
        try:
            return self._positions.get(plain(cell) if value is None else None if math.isnan(value) else value, -1)
        except Exception:
            return -1

    def read(self, values: Column, known: np.ndarray, out: np.ndarray, clip: Callable = clip) -> int:
        """Fill ``out`` with the positions of the values in ``categories``; nothing is raised.

        Parameters
        ----------
        values : Column of shape (m,)
            Cells, see ``algorithms.reading``.
        known : bool array of shape (m,)
            Set to False where a value is no declared category.
        out : float64 array of shape (m,)
            Where the positions go.
        clip : function
            Of no use here.

        Returns
        -------
        int
            0: nothing can be clipped.
        """
        if is_plain_numbers(values):
            index, positions = self._by_number
            out[:] = positions[index.get_indexer(numbers_of(values))]
        else:
            out[:] = self._positions_of_cells(values)
        known &= out >= 0
        return 0

    def _positions_of_cells(self, values: Column) -> np.ndarray:
        try:
            return each(self._positions.__getitem__, values)  # half the time of the other, and mostly enough
        except Exception:
            return each(self.position, values)

    def error(self, cells: list) -> DomainError:
        """Say which cells are no declared category; the message holds up to three of these."""
        known = ", ".join(map(repr, self.categories[:6])) + (", ..." if len(self.categories) > 6 else "")
        return DomainError(
            f"column {self.name!r} has values outside its declared categories: {shown(cells)}; declared are {known}"
        )

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
            raise self._refused("class labels must be all text or all numbers")
        if len(labels) > MOST_CLASSES:
            raise self._refused(f"there can be {MOST_CLASSES:,} class labels at most, got {len(labels):,}")
        return labels


def _key(category):
    """Return what no two categories may share: a number, None for a missing value, else the value itself."""
    value = number(category)
    return plain(category) if value is None else None if math.isnan(value) else value


Feature = Continuous | Nominal


@dataclass(frozen=True)
class Domain:
    """Declared columns of a table, and optionally of its target.

    Parameters
    ----------
    features : tuple of Continuous or Nominal
        The feature columns in their order.
    target : Nominal, Continuous or None
        Declared class labels (classification) or bounds (regression).
    is_public : bool
        False when the domain was inferred from rows; nothing trained with it is private.

    Examples
    --------
    >>> domain = Domain((Continuous("age", 17, 90), Nominal("sex", ("Female", "Male"))), Nominal("rich", ("no", "yes")))
    >>> X, clipped = domain.encode([[95, "Male"], [30, "Female"]])
    >>> X
    array([[90.,  1.],
           [30.,  0.]])
    >>> clipped
    {'age': 1}
    """

    features: tuple[Feature, ...]
    target: Feature | None = None
    is_public: bool = True

    def __post_init__(self):
        object.__setattr__(self, "features", tuple(self.features))
        if not self.features:
            raise DomainError("a domain needs at least one feature")
        if len(set(self.names)) < len(self.names):
            raise DomainError("two features of the domain have the same name")

    @property
    def names(self) -> list[str]:
        """Names of the features, in order."""
        return [feature.name for feature in self.features]

    @classmethod
    def from_mapping(cls, mapping: Mapping) -> Domain:
        """Build a domain from plain data, as written in ``conf/dataset/*.yaml``.

        Parameters
        ----------
        mapping : mapping
            ``{"features": {name: {"lower": a, "upper": b} or [category, ...]}, "target": {name: the same}}``.

        Examples
        --------
        >>> domain = Domain.from_mapping({"features": {"age": {"lower": 17, "upper": 90}}, "target": {"y": ["a", "b"]}})
        >>> domain.features, domain.target
        ((Continuous(name='age', lower=17.0, upper=90.0),), Nominal(name='y', categories=('a', 'b')))
        """
        features = tuple(_feature(name, spec) for name, spec in mapping["features"].items())
        target = mapping.get("target")
        return cls(features, _feature(*next(iter(target.items()))) if target else None)

    def to_mapping(self) -> dict:
        """Return the plain data that ``from_mapping`` reads."""
        columns = {feature.name: _plain(feature) for feature in self.features}
        return {"features": columns} | ({"target": {self.target.name: _plain(self.target)}} if self.target else {})

    @classmethod
    def infer(cls, X, y=None, *, classification: bool = True) -> Domain:
        """Take the domain from the rows themselves; warns, because this leaks.

        Numeric columns become continuous between their smallest and largest value, all others nominal.

        Warns
        -----
        PrivacyLeakWarning
            Always.
        """
        warnings.warn(
            "no domain was given: bounds, categories and class labels are taken from the rows, so the model is not "
            "private; pass domain=Domain(...)",
            PrivacyLeakWarning,
            stacklevel=3,
        )
        frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X if isinstance(X, Sequence) else np.asarray(X))
        features = tuple(_inferred(str(name), frame.iloc[:, i]) for i, name in enumerate(frame.columns))
        if y is None:
            return cls(features, None, is_public=False)
        y = column_of(y)
        target = (
            Nominal("target", tuple(np.unique(y).tolist())) if classification else _inferred("target", pd.Series(y))
        )
        return cls(features, target, is_public=False)

    def encode(self, X) -> tuple[np.ndarray, dict[str, int]]:
        """Turn rows into numbers: continuous values clipped to their bounds, categories to their position.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, k)
            Columns in the order of ``features``; a frame's columns are taken by name where the names match. Columns of
            pandas' type ``category`` are read many times faster than strings.

        Returns
        -------
        matrix : float64 array of shape (n, k)
        clipped : dict
            How many values were clipped, for each column where any was.

        Raises
        ------
        DomainError
            For a wrong number of columns, a missing value, a category that was not declared.
        """
        rows = self.rows(X)
        return rows.matrix(), rows.clipped

    def rows(self, X, y=None, *, leave_out: bool = False, clip: Callable = clip) -> Rows:
        """Set the columns of a table beside what is declared of them; no value is looked at yet.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, k)
            As for ``encode``.
        y : array-like of shape (n,), optional
            Target; it becomes one more column, the last.
        leave_out : bool, default=False
            Whether records that cannot be used are left out, as in a release, see ``Rows``; else they are errors.
        clip : function, optional
            What clips, see ``algorithms.reading.clip``.

        Raises
        ------
        DomainError
            For a wrong number of columns, or a target that was not declared; for infinite values, if the bounds were
            not declared but inferred.

        Examples
        --------
        >>> Domain((Continuous("x", 0, 1),), Continuous("y", 0, 10)).rows([[0.5], [3]], [1, 2]).matrix()
        array([[0.5, 1. ],
               [1. , 2. ]])
        """
        columns, is_whole = columns_of(X, self.names, self.is_public)
        features = self.features
        if y is not None and self.target is None:
            raise DomainError("the domain declares no target, but y was given")
        if y is not None:
            features, columns = (*features, self.target), [*columns, column_of(y)]
        if not self.is_public:
            _refuse_infinite(features, columns)
        return Rows(features, columns, is_whole, leave_out, clip)

    def problems(self, X, y=None) -> Problems:
        """Count what a release would clip and leave out, for the curator to look at before: exact, not to be released.

        Parameters
        ----------
        X, y
            As for ``rows``.

        Returns
        -------
        Problems
            ``clipped``, ``left_out``, ``ragged`` and ``reasons``.

        Raises
        ------
        DomainError
            For a wrong number of columns.

        Examples
        --------
        >>> domain = Domain((Continuous("age", 17, 90), Nominal("sex", ("Female", "Male"))))
        >>> domain.problems([[95, "Male"], [None, "Female"], [30, "unknown"], [30]])
        Problems(clipped={'age': 1}, left_out=3, ragged=1, reasons={'age': {'missing': 1}, 'sex': {'unknown': 1}})
        """
        return self.rows(X, y, leave_out=True).problems()


def _refuse_infinite(features: Sequence[Feature], columns: Sequence[Column]) -> None:
    """Raise a DomainError for an infinite value: no bounds were declared that it could be clipped to."""
    for feature, values in zip(features, columns, strict=True):
        if isinstance(feature, Continuous) and np.isinf(numbers_of(values)).any():
            raise DomainError(f"column {feature.name!r} has infinite values (inf), and its bounds were not declared")


def _feature(name: str, spec) -> Feature:
    if isinstance(spec, Mapping):
        if set(spec) != {"lower", "upper"}:
            raise DomainError(f"column {name!r}: expected lower and upper, got {sorted(spec)}")
        bounds = [_bound(spec[end]) for end in ("lower", "upper")]
        return Continuous(name, *bounds)
    return Nominal(name, tuple(spec))


def _bound(value):
    """Return a bound as a float, also one that YAML takes for text ("1e5"); what is none stays, to be refused."""
    read = number(value)
    return value if read is None else read


def _plain(feature: Feature):
    if isinstance(feature, Continuous):
        return {"lower": feature.lower, "upper": feature.upper}
    return list(feature.categories)


def _inferred(name: str, column: pd.Series) -> Feature:
    if column.isna().any():
        raise DomainError(f"column {name!r} has {int(column.isna().sum())} missing values (NaN)")
    numbers = pd.to_numeric(column, errors="coerce") if column.dtype == object else column
    if pd.api.types.is_numeric_dtype(numbers) and not numbers.isna().any():
        lower, upper = float(numbers.min()), float(numbers.max())
        return Continuous(name, lower, upper if upper > lower else lower + max(1.0, abs(lower)))
    return Nominal(name, tuple(sorted(pd.unique(column).tolist(), key=str)))
