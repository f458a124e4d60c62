"""Public bins of continuous columns: of equal width, or finer where values crowd."""

from __future__ import annotations

import numpy as np

from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Feature

MOST_BINS = 2**16
"""Most bins of equal width of `public_cuts`: a release that names more would take memory, however small it is."""

N_HALVINGS = 16
"""How often `public_cuts` halves the distance to the point of a range that is nearest to zero."""


def bin_continuous(matrix: np.ndarray, domain: Domain, n_bins: int) -> np.ndarray:
    """Replace continuous columns, in rows as ``domain.encode`` returns them, by the number of their public bin.

    The declared bounds are the ends of ``n_bins`` bins of equal width, at least 1. They count from 0; the upper bound
    itself belongs to the last one.
    """
    binned = matrix.copy(order="F")
    for j, feature in enumerate(domain.features):
        if isinstance(feature, Continuous):
            share = (matrix[:, j] - feature.lower) / (feature.upper - feature.lower)
            binned[:, j] = np.minimum(np.floor(share * n_bins), n_bins - 1)
    return binned


def public_cuts(feature: Continuous, n_bins: int) -> np.ndarray:
    """Return cut points of a column that follow from its declared bounds alone.

    Amounts and frequencies have wide bounds and crowd near zero, where all of them share one bin of equal width. So
    there are cuts between bins of equal width, and others at 1/2, 1/4, ... of the way from the point of the range that
    is nearest to zero to the bound that is farther from it, to both sides where zero lies within.

    Parameters
    ----------
    feature : Continuous
        The column.
    n_bins : int
        Number of bins of equal width, at least 2.

    Returns
    -------
    float64 array of shape (m,)
        Ascending, at least one, all below the upper bound and above the lower one; the lower one itself where no number
        lies between.

    Examples
    --------
    >>> public_cuts(Continuous("amount", 0, 1024), 2)[:12].tolist()
    [0.015625, 0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
    >>> cuts = public_cuts(Continuous("balance", -64, 128), 3)
    >>> 0.0 in cuts, -32.0 in cuts, len(cuts)
    (True, True, 32)
    """
    lower, upper = float(feature.lower), float(feature.upper)
    near = min(max(0.0, lower), upper)
    steps = max(near - lower, upper - near) * 0.5 ** np.arange(1, N_HALVINGS + 1)
    even = lower + (upper - lower) * (np.arange(1, n_bins) / n_bins)
    cuts = np.unique(np.concatenate([even, near - steps, [near], near + steps]))
    inner = cuts[(cuts > lower) & (cuts < upper)]
    return inner if len(inner) else np.array([lower])


def count_codes(feature: Feature, n_bins: int) -> int:
    """Return how many codes `code_columns` gives a column.

    Examples
    --------
    >>> count_codes(Continuous("amount", 0, 1024), 2)
    17
    """
    return len(public_cuts(feature, n_bins)) + 1 if isinstance(feature, Continuous) else len(feature.categories)


def code_columns(matrix: np.ndarray, domain: Domain, n_bins: int) -> np.ndarray:
    """Number the values of all columns: categories by their place, numbers by how many `public_cuts` are below them.

    Rows are such as ``domain.encode`` returns. A continuous column has at least 2 bins of equal width; its other cuts
    divide them further.

    Returns
    -------
    int64 array of shape (n, k)
        Codes from 0 to ``count_codes(feature, n_bins) - 1``.

    Examples
    --------
    >>> code_columns(np.array([[0.0], [0.01], [600.0], [1024.0]]), Domain((Continuous("amount", 0, 1024),)), 2)[:, 0]
    array([ 0,  0, 16, 16])
    """
    codes = matrix.astype(np.int64, order="F")
    for j, feature in enumerate(domain.features):
        if isinstance(feature, Continuous):
            codes[:, j] = np.searchsorted(public_cuts(feature, n_bins), matrix[:, j])
    return codes


def count_by_class(codes: np.ndarray, labels: np.ndarray, n_codes: int, n_classes: int) -> np.ndarray:
    """Count the records of each code of a feature in each class: int64 array of shape (v, c).

    Examples
    --------
    >>> count_by_class(np.array([0, 1, 1]), np.array([0, 0, 1]), 3, 2)
    array([[1, 0],
           [1, 1],
           [0, 0]])
    """
    return np.bincount(codes * n_classes + labels, minlength=n_codes * n_classes).reshape(n_codes, n_classes)
