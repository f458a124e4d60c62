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
from collections.abc import Iterable

import numpy as np

from algorithms.encoding import later_pandas as pd

_BOOLEANS = {"True": 1.0, "true": 1.0, "TRUE": 1.0, "False": 0.0, "false": 0.0, "FALSE": 0.0}
"""Words that pandas takes for booleans in a file."""


class DomainError(ValueError):
    """A declared domain is impossible, or a value lies outside it."""


def read_number(cell) -> float | None:
    """Read a cell as a number: NaN if it is missing, None if it is no number. Nothing is raised.

    Examples
    --------
    >>> [read_number(cell) for cell in (3, " 7 ", b"0.5", True, 10**400, 2 + 0j)]
    [3.0, 7.0, 0.5, 1.0, inf, 2.0]
    >>> read_number(None), read_number(pd.NaT), read_number("clerk"), read_number([3])
    (nan, nan, None, None)
    """
    if type(cell) is float:  # most cells
        return cell
    if type(cell) is int:
        return _round_to_float(cell)
    try:
        return _read_number(cell)
    except Exception:
        return None


def _read_number(cell) -> float | None:
    if isinstance(cell, str | bytes):
        return _read_text(decode_bytes(cell).strip())
    if cell is None:
        return math.nan
    if isinstance(cell, np.datetime64 | np.timedelta64):
        return math.nan if np.isnat(cell) else None
    if isinstance(cell, numbers.Rational):
        return _round_to_float(cell)
    if isinstance(cell, numbers.Complex) and not isinstance(cell, numbers.Real):
        return float(cell.real) if cell.imag == 0 else None
    if isinstance(cell, numbers.Number | np.bool_):
        return float(cell)
    return math.nan if cell is pd.NA or cell is pd.NaT else None


def _read_text(word: str) -> float | None:
    if not word:
        return math.nan
    if word in _BOOLEANS:
        return _BOOLEANS[word]
    return None if "_" in word else float(word)  # Python's own, as in 1_000: no file has them


def _round_to_float(cell: numbers.Rational) -> float:
    try:
        return float(cell)
    except OverflowError:
        return math.inf if cell > 0 else -math.inf


def decode_bytes(cell):
    """Return bytes as the text that they spell, any other cell as it is."""
    return cell.decode() if isinstance(cell, bytes) else cell


def show_cells(cells: Iterable) -> str:
    """Show up to three different cells in one line, for a message to somebody who may see them."""
    return f"[{', '.join(list(dict.fromkeys(map(_show_cell, cells)))[:3])}]"


def _show_cell(cell) -> str:
    try:
        return " ".join(repr(cell.item() if isinstance(cell, np.generic) else cell).split())[:60]
    except Exception:
        return type(cell).__name__


def is_missing(cell) -> bool:
    """Tell whether a cell reads as a missing value."""
    value = read_number(cell)
    return value is not None and math.isnan(value)
