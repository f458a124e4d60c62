"""The public domain: what may be known about the columns before any row is seen.

Differential privacy is a promise about rows. Bounds, categories and class labels are safe to use only when they are
*declared*, that is, when they would be the same for every table that could have been there. A domain that is inferred
from the rows breaks the promise, so inferring one warns and is remembered (``Domain.is_public``).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from algorithms.compiled import compiled

_BLOCK = 8192  # rows; of a table stored by rows, those of a block stay in the cache while column after column is read


class DomainError(ValueError):
    """A declared domain is impossible, or a value lies outside it."""


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
        Declared bounds, in the unit of the column; ``lower < upper``. Values beyond them are clipped.

    Raises
    ------
    DomainError
        If the bounds are not finite or not increasing.
    """

    name: str
    lower: float
    upper: float

    def __post_init__(self):
        if not (math.isfinite(self.lower) and math.isfinite(self.upper) and self.lower < self.upper):
            raise DomainError(
                f"column {self.name!r}: bounds must be finite with lower < upper, got {self.lower}, {self.upper}"
            )

    def encode(self, values, out: np.ndarray | None = None) -> tuple[np.ndarray, int]:
        """Return the values clipped to the bounds as float64, in ``out`` if given, and how many had to be clipped.

        Raises
        ------
        DomainError
            If a value is no number or missing.
        """
        try:
            numbers = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DomainError(f"column {self.name!r} must be numeric: {error}") from None
        out = np.empty(len(numbers)) if out is None else out
        n_clipped, n_missing = _clip(numbers, float(self.lower), float(self.upper), out)
        if n_missing:
            raise DomainError(f"column {self.name!r} has {n_missing} missing values (NaN)")
        return out, n_clipped


@compiled
def _clip(values, lower, upper, out):
    """Fill ``out`` with the values between the bounds; return how many were clipped, and how many are NaN."""
    for i in range(values.shape[0]):
        out[i] = values[i]  # a loop of its own: the values may be far apart, then only the next one is vectorised
    n_changed, n_missing = 0, 0
    for i in range(out.shape[0]):
        value = out[i]
        inside = lower if value < lower else value
        out[i] = upper if inside > upper else inside
        n_changed += out[i] != value
        n_missing += value != value
    return n_changed - n_missing, n_missing


@dataclass(frozen=True)
class Nominal:
    """A column that takes one of finitely many declared categories.

    Parameters
    ----------
    name : str
        Name of the column.
    categories : tuple
        Every value that may occur, in their natural order where they have one; at least one, no repetition.

    Raises
    ------
    DomainError
        If there is no category or one stands twice.
    """

    name: str
    categories: tuple

    def __post_init__(self):
        object.__setattr__(self, "categories", tuple(self.categories))
        if not self.categories or len(set(self.categories)) < len(self.categories):
            raise DomainError(f"column {self.name!r}: categories must be distinct and at least one")

    @cached_property
    def _index(self) -> pd.Index:
        return pd.Index(self.categories)

    def encode(self, values, out: np.ndarray | None = None) -> tuple[np.ndarray, int]:
        """Return the position of each value in ``categories``, in ``out`` if given, and 0 (nothing can be clipped).

        Raises
        ------
        DomainError
            If a value is not a declared category; the message names up to three of them.
        """
        if isinstance(values, pd.Categorical):  # each category is looked up once; a missing value has the code -1
            positions = np.append(self._index.get_indexer(values.categories), -1)
            codes = positions[values.codes]
        else:
            codes = self._index.get_indexer(pd.Index(np.asarray(values)))
        if (codes < 0).any():
            strangers = pd.unique(np.asarray(values)[codes < 0])[:3].tolist()
            known = ", ".join(map(repr, self.categories[:6])) + (", ..." if len(self.categories) > 6 else "")
            raise DomainError(
                f"column {self.name!r} has values outside its declared categories: {strangers}; declared are {known}"
            )
        out = np.empty(len(codes), dtype=np.int64) if out is None else out
        out[:] = codes
        return out, 0


Feature = Continuous | Nominal


class Rows:
    """Rows of a table and what is declared of its columns; they become numbers only when asked for.

    So a table may be read in blocks, and no copy of all of it is made.

    Parameters
    ----------
    features : sequence of Continuous or Nominal
        What is declared of each column.
    columns : sequence of array or Categorical of shape (n,)
        The values of each column.

    Examples
    --------
    >>> rows = Rows([Continuous("age", 17, 90)], [np.array([95.0, 30.0, 12.0])])
    >>> block = np.empty((1, 2))
    >>> rows.encode(slice(1, 3), block)
    >>> block, rows.clipped
    (array([[30., 17.]]), {'age': 1})
    """

    def __init__(self, features: Sequence[Feature], columns: Sequence[np.ndarray]):
        self.features = tuple(features)
        self._columns = columns
        self._n_clipped = [0] * len(self.features)

    def __len__(self) -> int:
        return len(self._columns[0])

    @property
    def clipped(self) -> dict[str, int]:
        """How many values were clipped so far, for each column where any was."""
        counts = zip(self.features, self._n_clipped, strict=True)
        return {feature.name: n_clipped for feature, n_clipped in counts if n_clipped}

    def encode(self, rows: slice, out: Sequence[np.ndarray]) -> None:
        """Turn some rows into numbers: continuous values clipped to their bounds, categories to their position.

        Parameters
        ----------
        rows : slice
            Which m rows.
        out : sequence of float64 arrays of shape (m,)
            Where the numbers go, one array for each column.

        Raises
        ------
        DomainError
            For a missing value, or a category that was not declared; the message is about all rows.
        """
        try:
            for i, (feature, values, line) in enumerate(zip(self.features, self._columns, out, strict=True)):
                self._n_clipped[i] += feature.encode(values[rows], line)[1]
        except DomainError as error:
            raise self._error_of_whole_columns() or error from None

    def matrix(self) -> np.ndarray:
        """Turn all rows into numbers: float64 array of shape (n, k), stored by columns."""
        matrix = np.empty((len(self), len(self.features)), order="F")
        for start in range(0, len(self), _BLOCK):
            rows = slice(start, start + _BLOCK)
            self.encode(rows, matrix[rows].T)
        return matrix

    def _error_of_whole_columns(self) -> DomainError | None:
        for feature, values in zip(self.features, self._columns, strict=True):
            try:
                feature.encode(values)
            except DomainError as error:
                return error
        return None


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
        frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
        features = tuple(_inferred(str(name), frame.iloc[:, i]) for i, name in enumerate(frame.columns))
        if y is None:
            return cls(features, None, is_public=False)
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

    def rows(self, X, y=None) -> Rows:
        """Set the columns of a table beside what is declared of them; no value is looked at yet.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, k)
            As for ``encode``.
        y : array of shape (n,), optional
            Target; it becomes one more column, the last.

        Raises
        ------
        DomainError
            For a wrong number of columns.

        Examples
        --------
        >>> Domain((Continuous("x", 0, 1),), Continuous("y", 0, 10)).rows([[0.5], [3]], np.array([1, 2])).matrix()
        array([[0.5, 1. ],
               [1. , 2. ]])
        """
        columns = self._columns(X)
        if y is None:
            return Rows(self.features, columns)
        return Rows((*self.features, self.target), [*columns, y])

    def _columns(self, X) -> Sequence:
        if isinstance(X, pd.DataFrame):
            if set(self.names) <= set(X.columns):
                return [_values(X[name]) for name in self.names]
            if X.columns.inferred_type == "string" and self.is_public:
                lacking = [name for name in self.names if name not in X.columns]
                raise DomainError(f"the table lacks columns that the domain declares: {', '.join(lacking[:5])}")
        table = X.to_numpy() if isinstance(X, pd.DataFrame) else X
        if not isinstance(table, np.ndarray):  # a list of mixed rows must not become an array of strings
            table = np.array(table, dtype=object)
        if table.ndim != 2 or table.shape[1] != len(self.features):
            raise DomainError(
                f"expected {len(self.features)} columns ({', '.join(self.names[:4])}, ...), got shape {table.shape}"
            )
        return [table[:, i] for i in range(table.shape[1])]


def _values(column: pd.Series) -> np.ndarray | pd.Categorical:
    return column.array if isinstance(column.dtype, pd.CategoricalDtype) else column.to_numpy()


def _feature(name: str, spec) -> Feature:
    if isinstance(spec, Mapping):
        if set(spec) != {"lower", "upper"}:
            raise DomainError(f"column {name!r}: expected lower and upper, got {sorted(spec)}")
        return Continuous(name, float(spec["lower"]), float(spec["upper"]))
    return Nominal(name, tuple(spec))


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
