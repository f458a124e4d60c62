"""Tables of one's own, read once: their columns are kept in the user's cache, where all processes map them.

A kept table is found by the content of its file and of its YAML file, and by the code that reads them. Its fingerprint
is computed anew whenever it is found, so a damaged one is made again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

from algorithms import encoding
from algorithms.encoding import later_pandas as pd
from algorithms.installation import find_user_cache
from datasets import table
from datasets.cached_files import lock_file, write_to_cache

LARGEST = 8 << 30
"""Bytes that all kept tables may take together; those that were not used for longest go first."""

_MARK = b"table of columns 1\n"
_ALIGNED = 64  # bytes


def name_table(*words: str) -> str:
    """Return the name of a kept table, which says what it is made from, and by which code."""
    digest = hashlib.sha256(_hash_code())
    for word in words:
        digest.update(hashlib.sha256(word.encode()).digest())
    return digest.hexdigest()


def find_or_make(name: str, make: Callable[[], tuple[pd.DataFrame, dict]]) -> tuple[pd.DataFrame, dict]:
    """Return a canonical table and what is known of it: as it was kept, mapped into memory, or made and kept now.

    Of several processes one makes it. Those that were not used for longest go when all take more than `LARGEST`.

    Parameters
    ----------
    name : str
        As `name_table` gives it.
    make : callable
        Returns the table, with numbers as float64 and words as categories, and what is known of it, as JSON can hold
        it, with the table's ``fingerprint``.
    """
    if (kept := _find_table(name)) is not None:
        return kept
    with lock_file(_find_folder() / "reading.lock"):
        if (kept := _find_table(name)) is not None:  # another process has just made it
            return kept
        made = make()
        _keep_table(name, *made)
    return made


def _keep_table(name: str, rows: pd.DataFrame, about: dict) -> None:
    arrays = [_take_array(rows[name]) for name in rows.columns]
    size = sum(array.nbytes for array in arrays)
    path = _find_folder() / f"{name}.columns"
    if size > LARGEST:
        return
    with suppress(OSError):  # a folder that cannot be listed is one in which nothing can be kept, which is said below
        _make_room(path.parent, LARGEST - size)
    write_to_cache(path, lambda temporary: _write_columns(Path(temporary), rows, arrays, about))


def _find_table(name: str) -> tuple[pd.DataFrame, dict] | None:
    path = _find_folder() / f"{name}.columns"
    try:
        rows, about = _map_columns(path)
        if table.hash_table(rows) != about["fingerprint"]:
            return None
        with suppress(OSError):  # a cache may be read only
            os.utime(path)  # says that it was used
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return rows, about


def _write_columns(path: Path, rows: pd.DataFrame, arrays: Iterable[np.ndarray], about: dict) -> None:
    columns = [[name, _list_categories(rows[name])] for name in rows.columns]
    header = json.dumps({"about": about, "columns": columns, "rows": len(rows)}).encode()
    with path.open("wb") as file:
        file.write(_MARK + len(header).to_bytes(8, "little") + hashlib.sha256(header).digest() + header)
        for array in arrays:
            file.write(bytes(-file.tell() % _ALIGNED))
            array.tofile(file)


def _map_columns(path: Path) -> tuple[pd.DataFrame, dict]:
    with path.open("rb") as file:
        mark, length, digest = file.read(len(_MARK)), int.from_bytes(file.read(8), "little"), file.read(32)
        written = file.read(min(length, path.stat().st_size))
        if mark != _MARK or hashlib.sha256(written).digest() != digest:
            raise ValueError("no table of columns")
        header, start = json.loads(written), file.tell()
    content = np.memmap(path, dtype=np.uint8, mode="r")
    columns = {}
    for name, categories in header["columns"]:
        kind = np.dtype(np.float64) if categories is None else _type_of_codes(len(categories))
        start += -start % _ALIGNED
        stop = start + header["rows"] * kind.itemsize
        values = content[start:stop].view(kind)
        if categories is not None:
            values = pd.Categorical.from_codes(values, categories)
        columns[name], start = pd.Series(values, copy=False), stop
    return pd.DataFrame(columns, copy=False), header["about"]


def _take_array(column: pd.Series) -> np.ndarray:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(_type_of_codes(len(column.cat.categories)))
    return column.to_numpy(np.float64)


def _type_of_codes(n_categories: int) -> np.dtype:
    """Return the type in which pandas has the codes of so many categories, so that it maps them as they are."""
    return pd.Categorical([], categories=range(n_categories)).codes.dtype


def _list_categories(column: pd.Series) -> list[str] | None:
    return list(column.cat.categories) if isinstance(column.dtype, pd.CategoricalDtype) else None


def _make_room(folder: Path, room: int) -> None:
    """Remove what killed processes left, and the tables that were not used for longest, until the others fit."""
    for path in folder.glob("*.part"):  # nobody else writes now
        with suppress(OSError):
            path.unlink()
    for path, size in _list_newest_first(folder):
        room -= size
        if room < 0:
            with suppress(OSError):
                path.unlink()


def _list_newest_first(folder: Path) -> Iterator[tuple[Path, int]]:
    found = []
    for path in folder.glob("*.columns"):
        with suppress(OSError):  # another process may have removed it
            found.append((path.stat().st_mtime, path, path.stat().st_size))
    return ((path, size) for _, path, size in sorted(found, reverse=True))


def _find_folder() -> Path:
    return find_user_cache() / "tables"


@cache
def _hash_code() -> bytes:
    """Return a hash of the code that reads tables: what other code has kept is not found."""
    digest = hashlib.sha256(f"{pd.__version__} {np.__version__}".encode())
    for folder in (Path(__file__).parent.parent, Path(encoding.__file__).parent):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.digest()
