"""Tables in files of one's own, read by their ending: text, Parquet, Excel; every cell as it stands there."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile

import pandas as pd

from algorithms.parameters import suggest_name

SEPARATORS = ",;\t"


class UnreadableFile(ValueError):
    """A file is not there or holds no table; the one-line message names it, and the way out."""


def read_file(path: Path) -> pd.DataFrame:
    """Return the table of a file, as text or as the file's own types; an empty cell is a missing value.

    Parameters
    ----------
    path : Path
        Its ending says what it is, see ``READERS``.

    Raises
    ------
    UnreadableFile
        If it cannot be read, is empty, or has two columns of one name.
    """
    read = READERS.get(path.suffix.lower())
    if read is None:
        hint = suggest_name(path.suffix, READERS)
        raise UnreadableFile(f"{path.name} ends on {path.suffix or 'nothing'}, which is no table here; {hint}")
    if not path.is_file():
        raise UnreadableFile(f"{path} is not there")
    try:
        return read(path)
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read ({error.strerror})") from error


def read_csv_bytes(content: bytes, name: str, separator: str | None = None) -> pd.DataFrame:
    """Return the table of a text file with a header row; its separator is the commonest of these in the header.

    Examples
    --------
    >>> read_csv_bytes(b"age;name\\n31;Ann\\n;Bob\\n", "my.csv").to_dict("list")
    {'age': ['31', nan], 'name': ['Ann', 'Bob']}
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UnreadableFile(f"{name}, line {line}: this is no text in UTF-8; save it in that encoding") from error
    header = text.lstrip().partition("\n")[0]
    if not header.strip():
        raise UnreadableFile(f"{name} is empty")
    separator = separator or max(SEPARATORS, key=header.count)
    options = {"sep": separator, "header": None, "dtype": str, "keep_default_na": False, "na_values": [""]}
    try:
        cells = pd.read_csv(BytesIO(text.encode()), **options)
    except (pd.errors.ParserError, csv.Error) as error:
        reason = " ".join(str(error).split()).removeprefix("Error tokenizing data. C error: ")
        raise UnreadableFile(f"{name} cannot be read as text with {separator!r} between cells: {reason}") from error
    return _take_header(cells, name)


def _read_csv(path: Path) -> pd.DataFrame:
    return read_csv_bytes(path.read_bytes(), path.name)


def _read_tsv(path: Path) -> pd.DataFrame:
    return read_csv_bytes(path.read_bytes(), path.name, "\t")


def _read_excel(path: Path) -> pd.DataFrame:
    try:
        cells = pd.read_excel(path, header=None, dtype=object, na_values=[""], keep_default_na=False)
    except (BadZipFile, KeyError, ValueError) as error:
        raise UnreadableFile(f"{path.name} cannot be read as an Excel file ({type(error).__name__})") from error
    return _take_header(cells, path.name)


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        import duckdb
    except ImportError as error:
        raise UnreadableFile(f"{path.name}: Parquet needs the package duckdb: pip install duckdb") from error
    try:
        with duckdb.connect() as connection:
            frame = connection.execute("SELECT * FROM read_parquet(?)", [str(path)]).df()
    except duckdb.Error as error:
        raise UnreadableFile(f"{path.name} cannot be read as a Parquet file ({type(error).__name__})") from error
    return _check_table(frame, path.name)


READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".csv": _read_csv,
    ".tsv": _read_tsv,
    ".parquet": _read_parquet,
    ".xlsx": _read_excel,
}
"""What reads a file, by its ending."""


def _take_header(cells: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the rows below the first one, which names the columns; one without a name is called by its number."""
    if cells.empty:
        raise UnreadableFile(f"{name} is empty")
    names = []
    for number, cell in enumerate(cells.iloc[0], start=1):
        names.append(f"column {number}" if pd.isna(cell) else str(cell).strip())
    frame = cells.iloc[1:].reset_index(drop=True)
    frame.columns = pd.Index(names, dtype=object)
    return _check_table(frame, name)


def _check_table(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    if twice := [column for column, n in Counter(frame.columns).items() if n > 1]:
        raise UnreadableFile(f"{name} has the column {twice[0]!r} more than once: give each a name of its own")
    if frame.empty:
        raise UnreadableFile(f"{name} has no rows below its header")
    return frame
