"""The one place that opens the file of a table: its path is taken as it is, and a fault is one line that names it."""

from __future__ import annotations

import bz2
import glob
import gzip
import lzma
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import duckdb

ROWS = "rows_of_file"
"""What a file of Parquet is called in SQL: a path there would be a pattern, and its folders columns."""
SILENTLY = "SET enable_progress_bar = false"
"""What DuckDB is told first: its bar would be on stdout, where results alone are."""
PACKED = (".gz", ".xz", ".bz2", ".zip")
"""What the name of a packed text file may end on, behind its own ending."""

_MOST_DIGITS = 15  # of decimal numbers, so many of which a float always holds
_START = 4096  # bytes, by which a file is told from those that only have its ending
_TEXTS = {
    rb"version https://git-lfs\.github\.com/": "a pointer of Git LFS, not the table: git lfs pull fetches that",
    rb"(/|\.\./)\S*annex/objects/": "a pointer of git-annex, not the table: git annex get fetches that",
    rb"(\xef\xbb\xbf)?\s*<(!doctype|html|\?xml)": "a web page or XML, not a table: download the file itself",
    rb'(\xef\xbb\xbf)?\s*(\[\s*)?[\[{]\s*["\[]': "JSON, not a table: save it as .csv, with a column for each value",
    rb"(\s|%[^\n]*\n)*@relation\s": "an ARFF file: write the names of its columns in place of all up to @data",
    rb"%PDF-": "a PDF document: save the table in it as .csv",
}
_BINARIES = {  # each of which may be how a header begins, but for the bytes behind it
    rb"PAR1": "a Parquet file: let its name end on .parquet",
    rb"PK\x03\x04.{26}(\[Content_Types\]|_rels/|docProps/|xl/)": "an Excel file: let its name end on .xlsx",
    rb"\xd0\xcf\x11\xe0": "a file of old Excel, or one with a password: save it as .xlsx without",
    rb"SQLite format 3\0": "an SQLite database: save the table in it as .csv",
    rb"\x89HDF|ARROW1|FEA1|ORC|Obj\x01": "a table of HDF5, Arrow, ORC or Avro: save it as .parquet",
    rb"<stata_dta>|\0{12}\xc2\xea\x81\x60|\$FL2": "a table of Stata, SAS or SPSS: save it as .csv",
    rb"(RD[AX][23]\n)?[AX]\n\0\0\0[\2\3]": "a table of R: write.csv in R makes a .csv of it",
    rb"\x93NUMPY|\x80[\2-\5]": "an object of Python or NumPy: save it as .csv",
    rb"\x89PNG|\xff\xd8\xff|GIF8": "a picture, not a table",
    rb"\x28\xb5\x2f\xfd|7z\xbc\xaf|Rar!|.{257}ustar": "packed in a way that is not read here: unpack it",
}
_CONTROLS = rb"[\0-\x08\x0e-\x1f]"
_OWN_KINDS = {".parquet": (b"PAR", "Parquet"), ".xlsx": (b"PK", "Excel")}


class UnreadableFile(ValueError):
    """A file is not there or holds no table; the one-line message names it, and the way out."""


def show_path(path: Path | str) -> str:
    """Return a path as one line can hold it.

    Examples
    --------
    >>> show_path("my.csv"), show_path("my\\ntable.csv")
    ('my.csv', "'my\\\\ntable.csv'")
    """
    return str(path) if str(path).isprintable() else repr(str(path))


@contextmanager
def open_table(path: Path) -> Iterator[BinaryIO]:
    """Open a file for as long as it is read.

    Parameters
    ----------
    path : Path
        Taken as it is, whatever it would mean to a shell or to a library.

    Raises
    ------
    UnreadableFile
        If it is not there, is something else than its ending says, or the machine cannot read it.
    """
    try:
        measure_file(path)
        with path.open("rb") as file:
            _refuse_other_kind(file.read(_START), path)
            file.seek(0)
            yield file
    except OSError as error:
        raise UnreadableFile(f"{show_path(path)} cannot be read ({error.strerror or error})") from error


def measure_file(path: Path) -> int:
    """Return the size of a file in bytes; UnreadableFile if there is none."""
    shown = show_path(path)
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            has_parts = any(part.suffix == ".parquet" for part in path.rglob("*.parquet"))
            hint = f"COPY (FROM '{shown}/**/*.parquet') TO 'one.parquet' in DuckDB makes one file of its parts"
            raise UnreadableFile(f"{shown} is a folder, no file" + (f": {hint}" if has_parts else ""))
        if not stat.S_ISREG(found.st_mode):  # which may never end, or be read once only
            raise UnreadableFile(f"{shown} is a pipe or a device, no file: write what it gives into a file")
    except FileNotFoundError as error:
        target = f" (it is a link to {show_path(os.path.realpath(path))})" if path.is_symlink() else ""
        raise UnreadableFile(f"{shown} is not there{target}") from error
    except OSError as error:
        raise UnreadableFile(f"{shown} cannot be read ({error.strerror})") from error
    return found.st_size


def read_text_bytes(path: Path) -> bytes:
    """Return the bytes of a text file, unpacked where they are packed, whatever its name says of that."""
    with open_table(path) as file:
        content = file.read()
    try:
        unpacked = _unpack(content)
    except UnreadableFile as error:
        raise UnreadableFile(f"{show_path(path)} {error}") from error
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError) as error:
        raise UnreadableFile(f"{show_path(path)} is packed, and damaged or encrypted: {error}") from error
    if unpacked is not content:
        _refuse_other_kind(unpacked[:_START], path)
    return unpacked


@contextmanager
def open_parquet(path: Path, threads: int | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a file of Parquet in DuckDB, where it is the table `ROWS`.

    DuckDB takes a path for a pattern, and a folder ``b=77`` in it for a column ``b``: here it is neither.

    Raises
    ------
    UnreadableFile
        If it is no such file, cannot be read, or there is no DuckDB.
    """
    name = show_path(path.name)
    try:
        import duckdb
    except ImportError as error:
        raise UnreadableFile(f"{name}: Parquet needs the package duckdb: pip install duckdb") from error
    with open_table(path):
        try:
            with duckdb.connect(config={} if threads is None else {"threads": threads}) as database:
                database.execute(SILENTLY)
                rows = database.read_parquet(_escape_path(path), hive_partitioning=False)
                rows.project(_select_columns(rows)).create_view(ROWS)
                yield database
        except duckdb.Error as error:
            reason = str(error).partition(": ")[2].partition("\n\n")[0].replace(_escape_path(path), path.name)
            raise UnreadableFile(
                f"{name} cannot be read as a Parquet file ({show_path(reason[:200]) or type(error).__name__})"
            ) from error


def _select_columns(rows: duckdb.DuckDBPyRelation) -> str:
    """Return what selects all columns, those of long decimal numbers as the floats that are nearest to these.

    DuckDB itself divides them by a power of ten: one with more digits than a float holds is then rounded twice.
    """
    digits = [re.match(r"DECIMAL\((\d+)", str(kind)) for kind in rows.types]
    names = [name for name, found in zip(rows.columns, digits, strict=True) if found and int(found[1]) > _MOST_DIGITS]
    casts = [f"{quote_name(name)}::VARCHAR::DOUBLE AS {quote_name(name)}" for name in names]
    return f"* REPLACE ({', '.join(casts)})" if casts else "*"


def quote_name(name: str) -> str:
    """Return the name of a column as SQL has it.

    Examples
    --------
    >>> quote_name("my age")
    '"my age"'
    """
    return '"' + name.replace('"', '""') + '"'


def _escape_path(path: Path) -> str:
    """Return the pattern of DuckDB that one path alone matches."""
    whole = os.path.abspath(path)
    pattern = glob.escape(whole)
    is_utf8 = whole.encode(errors="replace").decode() == whole
    if not is_utf8 or (pattern != whole and "\\" in whole):  # which such a pattern takes for the end of a folder's name
        raise UnreadableFile(f"{show_path(path)}: DuckDB cannot open a file of such a name: rename it")
    return pattern


def _refuse_other_kind(start: bytes, path: Path) -> None:
    """Refuse what its first bytes say to be something else than its ending says."""
    mark, own = _OWN_KINDS.get(path.suffix.lower(), (b"", ""))
    if mark and start.startswith(mark):
        return
    known = _TEXTS | (_BINARIES if re.search(_CONTROLS, start) else {})
    for pattern, kind in known.items():
        if re.match(pattern, start, re.DOTALL | (re.IGNORECASE if pattern in _TEXTS else 0)):
            raise UnreadableFile(f"{show_path(path)} is {kind}")
    if mark:
        hint = f"no {own} file by its first bytes: if it is text, let its name end on .csv" if start else "empty"
        raise UnreadableFile(f"{show_path(path)} is {hint}")


def _unpack(content: bytes) -> bytes:
    """Return what packed bytes hold, and others as they are."""
    if content.startswith(b"\x1f\x8b"):
        return gzip.decompress(content)
    if content.startswith(b"\xfd7zXZ\0"):
        return lzma.decompress(content)
    if re.match(rb"BZh[1-9]1AY&SY", content):
        return bz2.decompress(content)
    if not content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return content
    with zipfile.ZipFile(BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
        if len(names) != 1:
            shown = ", ".join(map(show_path, names[:3])) + (", ..." if len(names) > 3 else "")
            raise UnreadableFile(f"holds {len(names)} files ({shown}): unpack it, and name the one that is meant")
        return archive.read(names[0])
