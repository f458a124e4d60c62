"""Large text files: columns of numbers are read as numbers at once, not as words that become numbers.

Only what is beyond doubt is read here. Wherever a file has something that the parser might take for something else, it
is left to `datasets.own_tables.own_file`, which reads every cell as text, says what is wrong, and gives the same table.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from algorithms.encoding import later_pandas as pd
from datasets.notation.encodings import decode_text, find_mark, guess_separator, take_mark_off
from datasets.own_tables.opened_file import measure_file, open_table, show_path
from datasets.own_tables.own_file import TextForm
from datasets.progress_bar import show_progress

SUFFIXES = (".csv", ".tsv")
_SAMPLE = 1 << 16  # bytes, from which the separator and what is no column of numbers are guessed
_ROWS = 250_000  # read at a time
_BLOCK = 1 << 24  # bytes
_EMPTY = ("", "?", "nan", "NaN")


@dataclass(frozen=True)
class Columns:
    """Which columns are read, and how."""

    #: All that are read; None for all that there are.
    names: Collection[str] | None
    #: Those of which the very text counts: categories, class labels, dates.
    words: Collection[str]
    #: What stands for a missing number, besides an empty cell, ``?`` and ``nan``.
    missing: Collection[str]


def read_typed(path: Path, form: TextForm, columns: Columns) -> pd.DataFrame | None:
    """Return the columns of a text file, numbers as numbers and words as categories; None if there is any doubt.

    Parameters
    ----------
    path : Path
        A file that is there.
    form : TextForm
        How it is written.
    columns : Columns
        What to read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "my.csv"
    ...     _ = path.write_text("age,job,zip\\n31,clerk,007\\n,nurse,010\\n")
    ...     frame = read_typed(path, TextForm(), Columns(None, ("zip",), ()))
    >>> frame["age"].tolist(), frame["job"].tolist(), frame["zip"].tolist()
    ([31.0, nan], ['clerk', 'nurse'], ['007', '010'])
    """
    if path.suffix.lower() not in SUFFIXES or not measure_file(path):
        return None
    with open_table(path) as file:
        try:
            text = _open_text(file, path, form)
            if text is None or not set(columns.names or ()) <= set(text.header):
                return None
            return _read_columns(text, columns)
        except (pd.errors.ParserError, csv.Error, ValueError, TypeError, OverflowError):
            return None


@dataclass(frozen=True)
class _Text:
    name: str
    file: BinaryIO
    start: bytes
    header: list[str]
    options: dict
    has_quotes: bool


def _open_text(file: BinaryIO, path: Path, form: TextForm) -> _Text | None:
    """Return a file with its header and how it is parsed; None where its bytes or its header leave a doubt."""
    start = file.read(_SAMPLE)
    encoding = form.encoding or find_mark(start) or "utf-8"
    try:
        if "\n,".encode(encoding.removesuffix("-sig")) != b"\n," or _holds(file, b"\0"):
            return None
        sample = decode_text(start[: start.rfind(b"\n") + 1], form.encoding)
    except (LookupError, ValueError):
        return None
    if take_mark_off(sample)[0]:
        return None
    separator = form.separator or ("\t" if path.suffix.lower() == ".tsv" else guess_separator(sample))
    first = sample.partition("\n")[0].removesuffix("\r")
    if first.count('"') % 2 or "\r" in first:
        return None  # a line end within a name, or lines that end otherwise
    has_quotes = _holds(file, b'"')
    blank_before_quote = has_quotes and _holds(file, f'{separator} "'.encode())
    cells = next(csv.reader([first], delimiter=separator, skipinitialspace=blank_before_quote), [])
    names = [name.strip() for name in cells]
    if not all(names) or len(set(names)) < len(names) or not separator.isascii():
        return None
    options = {
        "sep": separator,
        "encoding": encoding,
        "header": None,
        "skiprows": 1,
        "keep_default_na": False,
        "skipinitialspace": blank_before_quote,
        **_choose_parser(),
    }
    return _Text(show_path(path.name), file, start, names, options, has_quotes)


def _choose_parser() -> dict[str, str]:
    """Return what makes pandas take each number as the nearest to what is written, as it does by itself from 3.1 on."""
    major, minor = map(int, pd.__version__.split(".")[:2])
    return {"float_precision": "round_trip"} if (major, minor) < (3, 1) else {}


def _read_columns(text: _Text, columns: Columns) -> pd.DataFrame | None:
    wanted = [name for name in text.header if columns.names is None or name in columns.names]
    words = (set(columns.words) | _find_words(text, columns)) & set(wanted)
    found = _read_once(text, wanted, words, columns, "category")
    if doubtful := [name for name, cells in found.items() if cells is None]:
        found |= _read_once(text, doubtful, set(doubtful), columns, "str")
    frame = pd.DataFrame(found, copy=False)
    return frame if len(frame) and _has_even_rows(text, frame) else None


def _has_even_rows(text: _Text, frame: pd.DataFrame) -> bool:
    """Tell whether each row has a cell for each column: one that ends early reads as one with empty cells.

    Where no last cell is empty, none ends early, so that none goes on if there are as many separators as they need.
    """
    separator, n_columns, n_rows = text.options["sep"], len(text.header), len(frame) + 1
    last = text.header[-1]
    if not text.has_quotes and last in frame and frame[last].notna().all():
        return count_bytes(text.file, separator) == n_rows * (n_columns - 1)
    return count_even_rows(text.file, separator, n_columns) == n_rows


def _find_words(text: _Text, columns: Columns) -> set[str]:
    """Return the columns that are none of numbers by the first rows."""
    n_rows = max(1, min(1000, text.start.count(b"\n") - 2))
    missing = [*_EMPTY, *columns.missing]
    text.file.seek(0)
    frame = pd.read_csv(text.file, nrows=n_rows, low_memory=False, na_values=missing, **text.options)
    if frame.shape[1] != len(text.header):
        raise ValueError("the first rows are not as wide as the header")
    return {name for name, kind in zip(text.header, frame.dtypes, strict=True) if kind.kind not in "iuf"}


def _read_once(
    text: _Text, wanted: list[str], words: set[str], columns: Columns, kind: str
) -> dict[str, pd.Series | None]:
    """Read some columns; None stands for one that was to be of numbers, and is not, or of words that became numbers.

    Words are read as "category", which is quick but makes numbers of those that look like some, or as "str".
    """
    positions = {text.header.index(name): name for name in wanted}
    options = text.options | {
        "usecols": list(positions),
        "dtype": {position: kind for position, name in positions.items() if name in words},
        "na_values": {
            position: [""] if name in words else [*_EMPTY, *columns.missing] for position, name in positions.items()
        },
        "low_memory": False,
        "chunksize": _ROWS,
    }
    pieces: dict[str, list[pd.Series]] = {name: [] for name in wanted}
    text.file.seek(0)
    with (
        show_progress(text.name, os.fstat(text.file.fileno()).st_size) as advance,
        pd.read_csv(text.file, **options) as chunks,
    ):
        for chunk in chunks:
            for position, name in positions.items():
                pieces[name].append(chunk[position].astype("category") if name in words else chunk[position])
            advance(text.file.tell())
    return {name: _join_pieces(pieces[name], name in words) for name in wanted}


def _join_pieces(pieces: list[pd.Series], is_words: bool) -> pd.Series | None:
    if is_words:
        has_text = [pd.api.types.is_string_dtype(piece.cat.categories) for piece in pieces]
        has_none = [not len(piece.cat.categories) for piece in pieces]
        is_text = np.logical_or(has_text, has_none).all()
        join = pd.api.types.union_categoricals
        return pd.Series(join([_name_in_text(piece) for piece in pieces])) if is_text else None
    if any(piece.dtype.kind not in "iuf" for piece in pieces):
        return None
    return pd.Series(np.concatenate([piece.to_numpy() for piece in pieces]))


def _name_in_text(piece: pd.Series) -> pd.Series:
    """Return categories with text for their type also where there are none."""
    return piece if len(piece.cat.categories) else piece.astype(pd.CategoricalDtype(pd.Index([], dtype="str")))


def _iterate_blocks(file: BinaryIO) -> Iterator[bytes]:
    """Return the bytes of a file from its start, some at a time: if it is mapped and then cut, the process ends."""
    file.seek(0)
    while block := file.read(_BLOCK):
        yield block


def _holds(file: BinaryIO, wanted: bytes) -> bool:
    """Tell whether a file has some bytes in it."""
    end = b""
    for block in _iterate_blocks(file):
        if wanted in block or wanted in end + block[: len(wanted) - 1]:
            return True
        end = (end + block)[-len(wanted) :]
    return False


def count_bytes(file: BinaryIO, byte: str) -> int:
    """Return how often a byte is in a file.

    Examples
    --------
    >>> from io import BytesIO
    >>> count_bytes(BytesIO(b"a,b\\n1,2\\n"), ",")
    2
    """
    return sum(block.count(byte.encode()) for block in _iterate_blocks(file))


def count_even_rows(file: BinaryIO, separator: str, n_columns: int) -> int | None:
    """Return the number of rows with the header, if each has a cell for each column; None if one has not.

    A row that ends early reads as one with empty cells, and of one that goes on the rest is lost: so they are counted.

    Examples
    --------
    >>> from io import BytesIO
    >>> count_even_rows(BytesIO(b'a,b\\n1,\\n"2,5",3'), ",", 2), count_even_rows(BytesIO(b"a,b\\n1\\n2,3\\n"), ",", 2)
    (3, None)
    """
    stops, counts, is_return = [], [], []
    n_bytes, n_cuts, is_quoted, last = 0, 0, 0, ord("\n")
    for block in _iterate_blocks(file):
        array = np.frombuffer(block, dtype=np.uint8)
        is_end, is_cut = array == ord("\n"), array == ord(separator)
        if is_quoted or b'"' in block:
            quoted = (np.cumsum(array == ord('"'), dtype=np.uint8) + np.uint8(is_quoted)) & 1
            is_end, is_cut, is_quoted = is_end & (quoted == 0), is_cut & (quoted == 0), int(quoted[-1])
        cuts, ends = np.flatnonzero(is_cut), np.flatnonzero(is_end)
        stops.append(ends + n_bytes)
        counts.append(np.searchsorted(cuts, ends) + n_cuts)
        is_return.append(np.where(ends > 0, array[ends - 1], last) == ord("\r"))
        n_bytes, n_cuts, last = n_bytes + len(block), n_cuts + len(cuts), block[-1]
    if last != ord("\n"):
        stops.append(np.array([n_bytes]))
        counts.append(np.array([n_cuts]))
        is_return.append(np.array([last == ord("\r")]))
    lengths = np.diff(np.concatenate(stops), prepend=-1) - 1
    is_blank = (lengths == 0) | ((lengths == 1) & np.concatenate(is_return))
    widths = np.diff(np.concatenate(counts), prepend=0)[~is_blank]
    return len(widths) if (widths == n_columns - 1).all() else None
