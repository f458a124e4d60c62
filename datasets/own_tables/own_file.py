"""Tables in files of one's own, read by their ending: text, Parquet, Excel; every cell as it stands there."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import pandas as pd

from algorithms.parameters import suggest_name
from datasets.notation.encodings import UnreadableText, decode_text, guess_encoding, guess_separator

SILENTLY = "SET enable_progress_bar = false"
"""What DuckDB is told first: its bar would be on stdout, where results alone are."""


class UnreadableFile(ValueError):
    """A file is not there or holds no table; the one-line message names it, and the way out."""


@dataclass(frozen=True)
class TextForm:
    """What the bytes of a text file are to be read by; what is None is taken from the file.

    Parameters
    ----------
    encoding : str or None
        Such as ``cp1252``.
    separator : str or None
        What stands between cells.
    """

    encoding: str | None = None
    separator: str | None = None


def read_file(path: Path, form: TextForm | None = None) -> pd.DataFrame:
    """Return the table of a file, as text or as the file's own types; an empty cell is a missing value.

    Parameters
    ----------
    path : Path
        Its ending says what it is, see ``READERS``.
    form : TextForm, optional
        Of a text file.

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
        return read(path, form or TextForm())
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read ({error.strerror})") from error


def guess_form(path: Path) -> TextForm:
    """Return how a text file seems to be written, where its first bytes do not say it; nothing of other files.

    Raises
    ------
    UnreadableFile
        If it cannot be read.
    """
    if path.suffix.lower() not in (".csv", ".tsv") or not path.is_file():
        return TextForm()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read ({error.strerror})") from error
    encoding = guess_encoding(content)
    if path.suffix.lower() == ".tsv":
        return TextForm(encoding, "\t")
    return TextForm(encoding, guess_separator(decode_text(content, encoding)))


def read_csv_bytes(content: bytes, name: str, form: TextForm | None = None) -> pd.DataFrame:
    """Return the table of a text file with a header row.

    Examples
    --------
    >>> read_csv_bytes(b"age;name\\n31;Ann\\n;Bob\\n", "my.csv").to_dict("list")
    {'age': ['31', nan], 'name': ['Ann', 'Bob']}
    """
    form = form or TextForm()
    try:
        text = decode_text(content, form.encoding)
    except UnreadableText as error:
        raise UnreadableFile(f"{name}, {error}") from error
    if not text.strip():
        raise UnreadableFile(f"{name} is empty")
    separator = form.separator or guess_separator(text)
    options = {"sep": separator, "header": None, "dtype": str, "keep_default_na": False}
    options["skipinitialspace"] = f'{separator} "' in text  # else the quotes would be part of the cell
    try:
        cells = pd.read_csv(StringIO(text), **options)
    except (pd.errors.ParserError, csv.Error) as error:
        reason = " ".join(str(error).split()).removeprefix("Error tokenizing data. C error: ")
        raise UnreadableFile(f"{name} cannot be read as text with {separator!r} between cells: {reason}") from error
    if (cells.iloc[:, -1] == "").any():
        _refuse_short_rows(text, separator, cells.shape[1], name)
    return _take_header(cells.mask(cells == ""), name)


def _refuse_short_rows(text: str, separator: str, n_columns: int, name: str) -> None:
    """Refuse a row that ends early, whose last cells would pass for empty ones."""
    rows = (cells for cells in csv.reader(StringIO(text), delimiter=separator) if "".join(cells).strip() or cells[1:])
    for row, cells in enumerate(rows):
        if len(cells) < n_columns:
            where = f"row {row} below the header has" if row else "the header has"
            raise UnreadableFile(f"{name}: {where} {len(cells)} cells of {n_columns}; write out the empty ones")


def _read_csv(path: Path, form: TextForm) -> pd.DataFrame:
    return read_csv_bytes(path.read_bytes(), path.name, form)


def _read_tsv(path: Path, form: TextForm) -> pd.DataFrame:
    return read_csv_bytes(path.read_bytes(), path.name, replace(form, separator=form.separator or "\t"))


def _read_excel(path: Path, _: TextForm) -> pd.DataFrame:
    try:
        cells = pd.read_excel(path, header=None, dtype=object, na_values=[""], keep_default_na=False)
    except (BadZipFile, KeyError, ValueError) as error:
        raise UnreadableFile(f"{path.name} cannot be read as an Excel file ({type(error).__name__})") from error
    return _take_header(cells, path.name)


def _read_parquet(path: Path, _: TextForm) -> pd.DataFrame:
    try:
        import duckdb
    except ImportError as error:
        raise UnreadableFile(f"{path.name}: Parquet needs the package duckdb: pip install duckdb") from error
    try:
        with duckdb.connect() as connection:
            connection.execute(SILENTLY)
            frame = connection.execute("SELECT * FROM read_parquet(?)", [str(path)]).df()
    except duckdb.Error as error:
        raise UnreadableFile(f"{path.name} cannot be read as a Parquet file ({type(error).__name__})") from error
    columns = {name: _show_nested(frame[name]) for name in frame.columns}
    return _check_table(frame.assign(**columns), path.name)


READERS: dict[str, Callable[[Path, TextForm], pd.DataFrame]] = {
    ".csv": _read_csv,
    ".tsv": _read_tsv,
    ".parquet": _read_parquet,
    ".xlsx": _read_excel,
}
"""What reads a file, by its ending."""


def _show_nested(cells: pd.Series) -> pd.Series:
    """Return lists and the like as text: nothing reads them."""
    if not pd.api.types.is_object_dtype(cells):
        return cells
    return cells.map(lambda cell: str(cell) if isinstance(cell, list | dict | np.ndarray) else cell)


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
