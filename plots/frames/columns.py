"""A table as a browser reads it at once: a million rows in a few megabytes of the page, and no parsing of them.

A column that repeats its values has these once, in their order, and of each row only the number of its value: to sort
by the numbers is to sort by the values, and a filter looks at each value once. Other columns of numbers are the eight
bytes of each.
"""

from __future__ import annotations

import base64
import gzip
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

_MOST_DISTINCT = 65_536  # of a column of numbers that has each value once


class PackedTable(NamedTuple):
    """The columns of a table, and their bytes."""

    #: Of each its ``name``, its ``distinct`` values (None of eight bytes a cell), and how many bytes it ``has``.
    columns: list[dict[str, Any]]
    #: The bytes of all columns one behind the other, compressed, in base 64.
    cells: str


def pack_table(frame: pd.DataFrame) -> PackedTable:
    """Return a table in columns; equal tables give equal bytes.

    Examples
    --------
    >>> table = pack_table(pd.DataFrame({"dataset": ["nursery", "car", None], "epsilon": [1.0, math.inf, 1.0]}))
    >>> [column["distinct"] for column in table.columns]
    [['car', 'nursery', None], [1.0, 'inf']]
    >>> gzip.decompress(base64.b64decode(table.cells))
    b'\\x01\\x00\\x02\\x00\\x01\\x00'
    """
    packed = [_pack_column(name, frame[name]) for name in frame.columns]
    content = gzip.compress(b"".join(content for _, content in packed), compresslevel=6, mtime=0)
    return PackedTable([column for column, _ in packed], base64.b64encode(content).decode())


def _pack_column(name: str, cells: pd.Series) -> tuple[dict[str, Any], bytes]:
    codes, distinct = pd.factorize(cells)
    if pd.api.types.is_numeric_dtype(cells.dtype) and len(distinct) > _MOST_DISTINCT:
        content = cells.to_numpy("<f8").tobytes()
        return {"name": name, "distinct": None, "has": len(content)}, content
    values: Sequence[Any] = distinct.tolist()
    order = sorted(range(len(values)), key=lambda place: _order_value(values[place]))
    ranks = np.append(np.argsort(order), len(order))  # what is missing, -1 to pandas, comes last
    shown = [_show_value(values[place]) for place in order] + ([None] if (codes == -1).any() else [])
    width = next(width for width in (1, 2, 4) if len(shown) <= 256**width)
    content = ranks[codes].astype(f"<u{width}").tobytes()
    return {"name": name, "distinct": shown, "has": len(content)}, content


def _order_value(value: Any) -> tuple[bool, float, str]:
    """Return what values are sorted by: numbers before all others, and these by their text."""
    return (False, value, "") if _is_number(value) else (True, 0.0, str(value))


def _show_value(value: Any) -> Any:
    """Return a value as JSON has it, which knows no infinite number."""
    return value if _is_number(value) and math.isfinite(value) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
