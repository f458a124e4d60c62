"""Tables in files of one's own, read by their ending: text, Parquet, Excel; every cell as it stands there."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO, StringIO
from pathlib import Path
from zipfile import BadZipFile
from zlib import error as ZlibError

import numpy as np

from algorithms.encoding import later_pandas as pd
from algorithms.parameters import suggest_name
from datasets.notation.encodings import UnreadableText, decode_text, guess_encoding, guess_separator, take_mark_off
from datasets.own_tables.opened_file import (
    PACKED,
    ROWS,
    UnreadableFile,
    open_parquet,
    open_table,
    read_text_bytes,
    show_path,
)

_TEXT = (".csv", ".tsv")


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
    ending = find_ending(path)
    is_packed = ending != path.suffix.lower()
    if ending not in READERS or (is_packed and ending not in _TEXT):
        hint = "unpack it" if path.suffix.lower() in PACKED else suggest_name(path.suffix, READERS)
        raise UnreadableFile(
            f"{show_path(path.name)} ends on {path.suffix or 'nothing'}, which is no table here; {hint}"
        )
    return READERS[ending](path, form or TextForm())


def find_ending(path: Path) -> str:
    """Return the ending that says how a file is read, which stands before the one that says how it is packed.

    Examples
    --------
    >>> find_ending(Path("my.CSV")), find_ending(Path("my.csv.gz"))
    ('.csv', '.csv')
    """
    named = Path(path.stem) if path.suffix.lower() in PACKED else path
    return named.suffix.lower()


def guess_form(path: Path) -> TextForm:
    """Return how a text file seems to be written, where its first bytes do not say it; nothing of other files.

    Raises
    ------
    UnreadableFile
        If it cannot be read.
    """
    ending = find_ending(path)
    if ending not in _TEXT:
        return TextForm()
    content = read_text_bytes(path)
    encoding = guess_encoding(content)
    if ending == ".tsv":
        return TextForm(encoding, "\t")
    separator, text = take_mark_off(_decode(content, path.name, encoding))
    return TextForm(encoding, separator or guess_separator(text))


def _decode(content: bytes, name: str, encoding: str | None) -> str:
    try:
        return decode_text(content, encoding)
    except UnreadableText as error:
        raise UnreadableFile(f"{show_path(name)}, {error}") from error


def read_csv_bytes(content: bytes, name: str, form: TextForm | None = None) -> pd.DataFrame:
    """Return the table of a text file with a header row.

    Examples
    --------
    >>> read_csv_bytes(b"age;name\\n31;Ann\\n;Bob\\n", "my.csv").to_dict("list")
    {'age': ['31', nan], 'name': ['Ann', 'Bob']}
    """
    form = form or TextForm()
    said, text = take_mark_off(_decode(content, name, form.encoding))
    name = show_path(name)
    if not text.strip():
        raise UnreadableFile(f"{name} is empty")
    separator = form.separator or said or guess_separator(text)
    options = {"sep": separator, "header": None, "dtype": str, "keep_default_na": False}
    options["skipinitialspace"] = f'{separator} "' in text  # else the quotes would be part of the cell
    try:
        cells = pd.read_csv(StringIO(text), **options)
        if (cells.iloc[:, -1] == "").any():
            _refuse_short_rows(text, separator, cells.shape[1], name)
    except (pd.errors.ParserError, csv.Error) as error:
        reason = " ".join(str(error).split()).removeprefix("Error tokenizing data. C error: ")
        reason += "; its first line is a comment: take out the lines above the header" if text.startswith("#") else ""
        raise UnreadableFile(f"{name} cannot be read as text with {separator!r} between cells: {reason}") from error
    return _take_header(cells.mask(cells == ""), name)


def _refuse_short_rows(text: str, separator: str, n_columns: int, name: str) -> None:
    """Refuse a row that ends early, whose last cells would pass for empty ones."""
    lines = StringIO(text, newline="")
    rows = (cells for cells in csv.reader(lines, delimiter=separator) if "".join(cells).strip() or cells[1:])
    for row, cells in enumerate(rows):
        if len(cells) < n_columns:
            where = f"row {row} below the header has" if row else "the header has"
            raise UnreadableFile(f"{name}: {where} {len(cells)} cells of {n_columns}; write out the empty ones")


def _read_csv(path: Path, form: TextForm) -> pd.DataFrame:
    return read_csv_bytes(read_text_bytes(path), path.name, form)


def _read_tsv(path: Path, form: TextForm) -> pd.DataFrame:
    return read_csv_bytes(read_text_bytes(path), path.name, replace(form, separator=form.separator or "\t"))


def name_sheets(path: Path) -> str:
    """Return which sheet of several a workbook is read from; empty if there is one, or it is no workbook."""
    if find_ending(path) != ".xlsx":
        return ""
    with _open_book(path) as book:
        return _name_sheets(book)


def _name_sheets(book: pd.ExcelFile) -> str:
    first, *others = map(str, book.sheet_names)
    shown = ", ".join(map(repr, others[:5])) + (", ..." if len(others) > 5 else "")
    return f"of its sheets the first is read, {first!r}, and not {shown}" if others else ""


@contextmanager
def _open_book(path: Path) -> Iterator[pd.ExcelFile]:
    name = show_path(path.name)
    with open_table(path) as file:
        content = BytesIO(file.read())  # at once: zipfile takes an error of the machine for a damaged file
    try:
        with pd.ExcelFile(content) as book:
            yield book
    except _DAMAGED as error:
        reason = f"it is damaged or something else ({type(error).__name__}): save it again in Excel"
        raise UnreadableFile(f"{name} cannot be read as an Excel file: {reason}") from error


def _read_excel(path: Path, _: TextForm) -> pd.DataFrame:
    with _open_book(path) as book:
        sheets = _name_sheets(book)
        cells = pd.read_excel(book, header=None, dtype=object, na_values=[""], keep_default_na=False)
    return _take_header(cells, show_path(path.name) + (f", {sheets}," if sheets else ""))


def _read_parquet(path: Path, _: TextForm) -> pd.DataFrame:
    with open_parquet(path) as database:
        frame = database.execute(f"SELECT * FROM {ROWS}").df()
    columns = {name: _show_nested(frame[name]) for name in frame.columns}
    return _check_table(frame.assign(**columns), show_path(path.name))


_DAMAGED = (BadZipFile, ZlibError, OSError, EOFError, LookupError, ValueError, TypeError, SyntaxError, AttributeError)
"""What pandas and what it imports raise of a workbook that is none; the XML in it is no syntax."""
READERS: dict[str, Callable[[Path, TextForm], pd.DataFrame]] = {
    ".csv": _read_csv,
    ".tsv": _read_tsv,
    ".parquet": _read_parquet,
    ".xlsx": _read_excel,
}
"""What reads a file, by its ending."""


def _show_nested(cells: pd.Series) -> pd.Series:
    """Return lists and the like as text, which nothing reads, and bytes as the text that they are, if they are some."""
    return cells.map(_show_cell) if pd.api.types.is_object_dtype(cells) else cells


def _show_cell(cell: object) -> object:
    if isinstance(cell, list | dict | np.ndarray):
        return str(cell)
    if not isinstance(cell, bytes | bytearray):
        return cell
    try:
        return cell.decode()  # old Spark, Hive and Impala do not say of their texts that they are some
    except UnicodeError:
        return bytes(cell)


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
