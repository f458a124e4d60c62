"""The public domain: what may be known about the columns before any row is seen.

Differential privacy is a promise about rows. Bounds, categories and class labels are safe to use only when they are
*declared*, that is, when they would be the same for every table that could have been there. A domain that is inferred
from the rows breaks the promise, so inferring one warns and is remembered (``Domain.is_public``).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from algorithms.encoding import later_pandas as pd
from algorithms.encoding.cells import DomainError
from algorithms.encoding.columns import (
    Column,
    as_frame,
    clip_numbers,
    is_plain_table,
    read_numbers,
    take_column,
    take_columns,
)
from algorithms.encoding.features import Continuous, Feature, Nominal, infer_feature, read_feature, write_feature
from algorithms.encoding.rows import Problems, Rows
from algorithms.parameters import suggest_name


class PrivacyLeakWarning(UserWarning):
    """Something was learnt from the protected rows without being paid for."""


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
    bounds_from_rows : tuple of str
        Columns whose declared bounds or categories were set by the very rows that are protected, such as a published
        minimum and maximum of the same table. Another table would have had others, so strictly no promise holds of
        what is trained with them on these rows; that is no fault of the algorithm.

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
    bounds_from_rows: tuple[str, ...] = ()

    def __post_init__(self):
        object.__setattr__(self, "features", tuple(self.features))
        if not self.features:
            raise DomainError("a domain needs at least one feature")
        if len(set(self.names)) < len(self.names):
            raise DomainError("two features of the domain have the same name")
        object.__setattr__(self, "bounds_from_rows", tuple(self.bounds_from_rows))
        declared = {feature.name for feature in self._columns}
        if unknown := [name for name in self.bounds_from_rows if name not in declared]:
            raise DomainError(f"bounds_from_rows names {unknown[0]!r}, which is no declared column")

    def __deepcopy__(self, memo: dict) -> Domain:
        """Return itself, as nothing of it changes: a clone of an estimator need not read the categories anew."""
        return self

    @property
    def _columns(self) -> tuple[Feature, ...]:
        return (*self.features, *([self.target] if self.target else []))

    @property
    def numbers_from_rows(self) -> list[str]:
        """The columns of numbers among ``bounds_from_rows``."""
        numbers = {feature.name for feature in self._columns if isinstance(feature, Continuous)}
        return [name for name in self.bounds_from_rows if name in numbers]

    @property
    def categories_from_rows(self) -> list[str]:
        """The nominal columns among ``bounds_from_rows``."""
        numbers = self.numbers_from_rows
        return [name for name in self.bounds_from_rows if name not in numbers]

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
            ``{"features": {name: {"lower": a, "upper": b} or [category, ...]}, "target": {name: the same}}``, and
            ``"bounds_from_rows": [name, ...]`` if the bounds or categories of any columns were set by the rows.

        Examples
        --------
        >>> domain = Domain.from_mapping({"features": {"age": {"lower": 17, "upper": 90}}, "target": {"y": ["a", "b"]}})
        >>> domain.features, domain.target
        ((Continuous(name='age', lower=17.0, upper=90.0),), Nominal(name='y', categories=('a', 'b')))
        """
        features = tuple(read_feature(name, spec) for name, spec in mapping["features"].items())
        target = mapping.get("target")
        declared = read_feature(*next(iter(target.items()))) if target else None
        return cls(features, declared, bounds_from_rows=mapping.get("bounds_from_rows", ()))

    def to_mapping(self) -> dict:
        """Return the plain data that ``from_mapping`` reads."""
        columns = {feature.name: write_feature(feature) for feature in self.features}
        target = {"target": {self.target.name: write_feature(self.target)}} if self.target else {}
        from_rows = {"bounds_from_rows": list(self.bounds_from_rows)} if self.bounds_from_rows else {}
        return {"features": columns, **target, **from_rows}

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
        X = as_frame(X)
        frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X if isinstance(X, Sequence) else np.asarray(X))
        features = tuple(infer_feature(str(name), frame.iloc[:, i]) for i, name in enumerate(frame.columns))
        if y is None:
            return cls(features, None, is_public=False)
        y = take_column(y)
        target = (
            Nominal("target", tuple(np.unique(y).tolist())) if classification else infer_feature("target", pd.Series(y))
        )
        return cls(features, target, is_public=False)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, target: str | None = None, *, declared: Mapping | None = None) -> Domain:
        """Declare the columns of a table: as it is said of some, by the values of these rows of all others.

        A domain of one's own begins like this. The account of what is trained with it names the columns that follow
        the rows, ``bounds_from_rows``, until each of them is declared by what anybody may know.

        Parameters
        ----------
        frame : DataFrame of shape (n, k)
            The rows, with a name for each column. Columns of numbers become continuous, all others nominal.
        target : str, optional
            The column that is to be predicted; all others are features.
        declared : mapping, optional
            What is public of a column, by its name: ``(lower, upper)`` or ``{"lower": a, "upper": b}`` of numbers, a
            list of categories, such as class labels that are numbers.

        Raises
        ------
        DomainError
            For a column that is declared and not there, for a target that is not there, for a missing value, dates, or
            infinite numbers in a column that is not declared.

        Examples
        --------
        >>> frame = pd.DataFrame({"age": [31, 50], "job": ["cook", "clerk"], "rich": ["no", "yes"]})
        >>> domain = Domain.from_frame(frame, "rich", declared={"age": (0, 120), "rich": ["no", "yes"]})
        >>> domain.features[0], domain.target.categories, domain.bounds_from_rows
        (Continuous(name='age', lower=0, upper=120), ('no', 'yes'), ('job',))
        """
        given = {} if declared is None else declared
        names = [str(name) for name in frame.columns]
        for name in (*given, *([] if target is None else [target])):
            if name not in names:
                raise DomainError(f"there is no column {name!r}; {suggest_name(str(name), names)}")
        columns = {}
        for place, name in enumerate(names):
            if name in given:
                columns[name] = _read_declared(name, given[name])
            else:
                columns[name] = infer_feature(name, frame.iloc[:, place])
        features = tuple(feature for name, feature in columns.items() if name != target)
        from_rows = tuple(name for name in names if name not in given)
        return cls(features, None if target is None else columns[target], bounds_from_rows=from_rows)

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

    def rows(self, X, y=None, *, leave_out: bool = False, clip: Callable = clip_numbers) -> Rows:
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
            What clips, see ``algorithms.encoding.columns.clip_numbers``.

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
        columns, is_whole = take_columns(X, self.names, self.is_public)
        features = self.features
        if y is not None and self.target is None:
            raise DomainError("the domain declares no target, but y was given")
        if y is not None:
            features, columns = (*features, self.target), [*columns, take_column(y)]
        if not self.is_public:
            _refuse_infinite(features, columns)
        is_table = is_plain_table(X) and all(isinstance(feature, Continuous) for feature in self.features)
        return Rows(features, columns, is_whole, leave_out, clip, X if is_table else None)

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


def _read_declared(name: str, spec: Mapping | Sequence) -> Feature:
    """Return a column from what a user writes of it: a tuple of two numbers has its bounds, a list its categories."""
    if isinstance(spec, tuple):
        if len(spec) != 2:
            raise DomainError(f"column {name!r}: write (lower, upper), or a list of categories; got {spec!r}")
        return Continuous(name, *spec)
    return read_feature(name, spec)


def _refuse_infinite(features: Sequence[Feature], columns: Sequence[Column]) -> None:
    """Raise a DomainError for an infinite value: no bounds were declared that it could be clipped to."""
    for feature, values in zip(features, columns, strict=True):
        if isinstance(feature, Continuous) and np.isinf(read_numbers(values)).any():
            raise DomainError(f"column {feature.name!r} has infinite values (inf), and its bounds were not declared")
