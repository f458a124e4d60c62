"""What `fit` and `predict` may be given: containers, shapes and kinds of values, checked as scikit-learn checks them.

Nothing here looks at a value of a row; how cells become numbers stands in ``algorithms.encoding``.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.exceptions import DataConversionWarning

from algorithms.encoding.domain import Domain


def _take_apart(values):
    """Return a container as it is, but such as numpy would take for one array: a list of what is in it.

    There a record that is not like the others would decide how these are read. A masked cell becomes a missing one.
    """
    if isinstance(values, np.ma.MaskedArray):
        return values.astype(object).filled(None)
    is_like_a_list = not hasattr(values, "__array__") and hasattr(values, "__len__") and hasattr(values, "__getitem__")
    return list(values) if is_like_a_list and not isinstance(values, Sequence) else values


def as_table(X) -> pd.DataFrame | Sequence | np.ndarray:
    """Return a table as what can be taken apart: a frame, a sequence of records or an array."""
    if issparse(X):
        raise TypeError("X is sparse, but rows must be dense: use X.toarray()")
    X = _take_apart(X)
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "OV":
        X = list(X)  # of records
    if isinstance(X, pd.DataFrame | Sequence):
        return X
    table = np.asarray(X)
    if table.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {table.ndim}D array instead. Reshape your data: array.reshape(-1, 1) for one "
            "column, array.reshape(1, -1) for one row"
        )
    if table.shape[1] == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={table.shape}) while a minimum of 1 is required.")
    return table


def with_declared_columns(X, domain: Domain) -> pd.DataFrame | Sequence | np.ndarray:
    """Return a table; one without rows, and so perhaps without columns, with the columns of the domain."""
    shape = np.shape(X) if isinstance(X, pd.DataFrame | np.ndarray) else ()
    if shape not in ((0,), (0, 0)):
        return X
    return pd.DataFrame(columns=domain.names) if isinstance(X, pd.DataFrame) else np.empty((0, len(domain.names)))


def as_one_column(y, warn: bool) -> pd.Series | Sequence | np.ndarray:
    """Return a target as one column; a table of one column becomes that, with a warning if one is wanted."""
    y = _take_apart(y)
    if isinstance(y, Sequence):
        return y
    if not hasattr(y, "ndim") or isinstance(y, np.ndarray):
        y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        if warn:
            message = "A column-vector y was passed when a 1d array was expected: use y.ravel(), for example"
            warnings.warn(message, DataConversionWarning, stacklevel=5)
        return y.iloc[:, 0] if isinstance(y, pd.DataFrame) else y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    return y


def check_content(values, name: str) -> None:
    """Raise a ``ValueError`` for a table or target without rows, or of complex numbers."""
    if isinstance(values, Sequence | pd.DataFrame | pd.Series | np.ndarray) and len(values) == 0:
        raise ValueError(f"{name} needs at least one row, got 0 samples")
    if isinstance(values, np.ndarray) and values.dtype.kind == "c":
        raise ValueError("Complex data not supported")
