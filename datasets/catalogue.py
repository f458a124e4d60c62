"""What is known about every data set, by its name: the files ``dataset/*.yaml`` of the catalogue.

Names are known without the code that reads tables, which is slow to import.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from algorithms.parameters import suggest_name
from documents import search_path
from documents.document import parse_document
from documents.file_state import find_state
from documents.yaml_files import DocumentError, parse_yaml, shorten_path

if TYPE_CHECKING:
    from datasets.entry import CatalogueEntry

FOLDER = search_path.BUILT_IN / "dataset"


class UnknownDataset(ValueError):
    """There is no data set of this name; the message suggests the nearest one."""


def names() -> list[str]:
    """Return the names of all data sets, in alphabetical order.

    Examples
    --------
    >>> "nursery" in names()
    True
    """
    return list(search_path.list_files(FOLDER))


def has_entry(name: str) -> bool:
    """Return whether there is a data set of this name.

    Examples
    --------
    >>> has_entry("car"), has_entry("somebody's table")
    (True, False)
    """
    return search_path.find_file(FOLDER, name) is not None


def read_entry(name: str) -> CatalogueEntry:
    """Return what the catalogue says about a data set; what the file of one's own table leaves out is read from it.

    Raises
    ------
    UnknownDataset
        If the catalogue has no such file.
    DocumentError
        If the file says what it may not say; all such errors are reported at once. Or if the table of one's own that
        it names cannot be read, or is not as it is declared.
    DataUnavailable
        If a server has the table of one's own, and it cannot be reached.

    Examples
    --------
    >>> read_entry("car").domain.target.categories
    ('unacc', 'acc', 'good', 'vgood')
    >>> read_entry("aduld")
    Traceback (most recent call last):
    ...
    datasets.catalogue.UnknownDataset: unknown data set 'aduld'; did you mean 'adult'?
    """
    return _read_once(*find_version(name))


def find_version(name: str) -> tuple:
    """Return what changes when another file is found by this name, or somebody writes to it or to the table it names.

    What was read of a data set once is right as long as this stays.

    Raises
    ------
    UnknownDataset
        If there is no data set of this name.
    DocumentError
        If its file says what it may not say.

    Examples
    --------
    >>> path, *_ = find_version("car")
    >>> path.name
    'car.yaml'
    """
    path = search_path.find_file(FOLDER, name)
    if path is None:
        raise UnknownDataset(f"unknown data set {name!r}; {suggest_name(name, names(), cutoff=0.5)}")
    state = find_state(path)
    if not is_own(_parse_once(path, state)):
        return path, state
    from datasets.own_tables import own_table

    return path, own_table.find_version(path)


def is_own(contents: Any) -> bool:
    """Return whether a data set's file is about a table of one's own, which needs neither a reader nor pinned files.

    Examples
    --------
    >>> is_own({"file": "my.csv"}), is_own({"openml": 31}), is_own({"files": {"car.data": "b703"}, "uci": 19})
    (True, True, False)
    """
    return isinstance(contents, Mapping) and ("file" in contents or not {"files", "reader"} & set(contents))


def _read_yaml(path: Path) -> Any:
    return _parse_once(path, find_state(path))


@lru_cache
def _parse_once(path: Path, state: tuple[int, int] | None) -> Any:
    try:
        return parse_yaml(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise DocumentError(f"{shorten_path(path)} is no YAML: {' '.join(str(error).split())}") from error
    except OSError as error:
        raise DocumentError(f"{shorten_path(path)} cannot be read ({error.strerror})") from error


@lru_cache
def _read_once(path: Path, version: tuple) -> CatalogueEntry:
    from datasets.entry import CatalogueEntry
    from datasets.own_tables import own_table

    contents = _read_yaml(path)
    if is_own(contents):
        return own_table.complete_entry(path)
    entry = parse_document(CatalogueEntry, contents, path)
    own = {"name": path.stem, "folder": entry.folder or path.stem, "reader": entry.reader or path.stem}
    return entry.model_copy(update=own)
