"""The training table of the forest engine: columns as small integers, one after the other.

A tree never compares raw values while it grows. A nominal column holds the position of its category; a continuous one
the rank of its value among the values present, or the number of its public bin. Both index ``levels``, which turns a
rank back into a value.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Feature
from algorithms.threads import map_in_threads


def rank_values(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rank numbers by value; returns the rank of each among the different ones, and these, ascending.

    Whole numbers of a short range are marked in a table, and those of a longer one sorted by their digits, in half and
    in a third of the time of the hash table that takes the others.

    Examples
    --------
    >>> ranks, different = rank_values(np.array([7.0, 5.0, 7.0]))
    >>> ranks.tolist(), different.tolist()
    ([1, 0, 1], [5.0, 7.0])
    """
    lowest, highest = (values.min(), values.max()) if len(values) else (0.0, np.inf)
    if highest - lowest < 2.0**32 and abs(lowest) < 2.0**53:
        offsets = values.astype(np.int64)
        if np.array_equal(offsets, values):
            offsets -= int(lowest)
            span = int(highest - lowest) + 1
            ranks, different = _mark(offsets, span) if span <= 4 * len(offsets) else _sort_by_digits(offsets)
            return ranks, lowest + different
    return pd.factorize(values, sort=True)


def _mark(offsets: np.ndarray, span: int) -> tuple[np.ndarray, np.ndarray]:
    """Rank whole numbers from 0 to below ``span`` by marks for those present; returns what `rank_values` does."""
    is_present = np.zeros(span, dtype=bool)
    is_present[offsets] = True
    ranks = np.cumsum(is_present, dtype=np.uint32) - 1
    return ranks.take(offsets, mode="clip"), np.flatnonzero(is_present)  # to clip is quicker than to raise


def _sort_by_digits(offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rank whole numbers from 0 to below 2^32, two bytes at a time; returns what `rank_values` does.

    Stable sorts of 16 bits count in numpy, and compare nothing.
    """
    order = np.argsort(offsets.astype(np.uint16), kind="stable")
    order = order[np.argsort((offsets >> 16).astype(np.uint16)[order], kind="stable")]
    ascending = offsets[order]
    is_first = np.diff(ascending, prepend=-1) > 0  # of its value
    ranks = np.empty(len(offsets), dtype=np.uint32)
    ranks[order] = np.cumsum(is_first) - 1
    return ranks, ascending[is_first]


class Table(NamedTuple):
    """Columns, labels and what a grower must know of them; shapes with n rows, k columns, c classes."""

    codes: np.ndarray  #: uint16 or uint32 (k, n): rank, bin or category of each value
    labels: np.ndarray  #: uint16 (n,): class of each row; all 0 for a regression
    targets: np.ndarray  #: float64 (n,): target of each row on the scale [0, 1] for a regression, else empty
    n_codes: np.ndarray  #: int64 (k,): how many codes each column can take
    is_continuous: np.ndarray  #: bool (k,)
    levels: np.ndarray  #: float64 (sum of n_codes,): the value behind each code, columns one after the other
    first_level: np.ndarray  #: int64 (k,): where the levels of a column begin
    lower: np.ndarray  #: float64 (k,): where the public range of a continuous column begins, 0 for a nominal one
    width: np.ndarray  #: float64 (k,): length of the public range of a continuous column, 1 for a nominal one
    n_classes: int  #: 1 for a regression


def make_table(
    matrix: np.ndarray,
    domain: Domain,
    target: np.ndarray,
    n_bins: int | None = None,
    cuts: list | None = None,
    n_threads: int = 1,
) -> Table:
    """Lay rows out for growing.

    Parameters
    ----------
    matrix : float64 array of shape (n, k)
        Rows as ``domain.encode`` returns them, or as ``bin_continuous`` does when ``n_bins`` is given.
    domain : Domain
        Public description of the columns and the target.
    target : array of shape (n,)
        Class of each row, from 0, where the domain declares classes; else its target on the scale [0, 1].
    n_bins : int or None
        With a number, continuous columns hold public bins; with None, the exact values present in the rows, which is
        what the printed algorithms use and is not private.
    cuts : list of k float64 arrays or None
        Public cut points of each continuous column, ascending: a code is the number of cuts below a value, and the
        value behind it the cut that is its upper end. Instead of ``n_bins``.
    n_threads : int
        Threads that share the columns.
    """
    n_rows, n_features = matrix.shape
    codes = np.empty((n_features, n_rows), dtype=np.uint32)
    cuts_of_columns = [None] * n_features if cuts is None else cuts
    code = partial(_code_column, n_bins)
    levels = map_in_threads(n_threads, code, domain.features, matrix.T, cuts_of_columns, codes)
    n_codes = np.array([len(values) for values in levels], dtype=np.int64)
    ranges = [(f.lower, f.upper) if isinstance(f, Continuous) else (0, 1) for f in domain.features]
    lower, upper = np.array(ranges, dtype=np.float64).T
    is_regression = isinstance(domain.target, Continuous)
    table = Table(
        codes=codes.astype(np.uint16) if n_codes.max() <= 2**16 else codes,  # half the memory to gather from
        labels=np.zeros(n_rows, dtype=np.uint16) if is_regression else target.astype(np.uint16),
        targets=target.astype(np.float64) if is_regression else np.empty(0),
        n_codes=n_codes,
        is_continuous=np.array([isinstance(feature, Continuous) for feature in domain.features]),
        levels=np.concatenate(levels),
        first_level=np.concatenate([[0], np.cumsum(n_codes)[:-1]]).astype(np.int64),
        lower=lower.copy(),
        width=upper - lower,
        n_classes=1 if is_regression else len(domain.target.categories),
    )
    return fix_codes(table)


def fix_codes(table: Table) -> Table:
    """Return a table whose codes nobody can write into any more: kernels need check them for the first tree only."""
    table.codes.flags.writeable = table.n_codes.flags.writeable = False
    return table


def _code_column(
    n_bins: int | None, feature: Feature, values: np.ndarray, cuts: np.ndarray | None, codes: np.ndarray
) -> np.ndarray:
    """Fill in the codes of a column, and return the value behind each."""
    if isinstance(feature, Continuous) and cuts is not None:
        codes[:] = np.searchsorted(cuts, values)
        return np.append(cuts, feature.upper)
    if isinstance(feature, Continuous) and n_bins is None:
        codes[:], present = rank_values(values)
        return present
    codes[:] = values
    n_codes = n_bins if isinstance(feature, Continuous) else len(feature.categories)
    return np.arange(n_codes, dtype=np.float64)
