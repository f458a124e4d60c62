"""A data set as everybody else sees it, and ``load``, which makes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from types import ModuleType

from algorithms import Domain
from algorithms.encoding import later_pandas as pd
from datasets import catalogue, source, table
from datasets.entry import CatalogueEntry
from datasets.own_tables import own_table


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table with its public domain.

    Parameters
    ----------
    name, title : str
        Its name here, and the name to print.
    task : {"classification", "regression"}
        What the target is.
    frame : DataFrame
        The features: continuous columns as float64, nominal columns as ``category`` with the declared categories.
        Shared between callers, so copy it before changing it.
    target : Series
        Class labels as strings, or float64 for regression.
    domain : Domain
        Declared bounds and categories of the features and the target.
    n_train : int or None
        Size of the official training part, which stands first; None without an official split.
    fingerprint : str
        SHA-256 of the canonical table.
    provenance : dict
        ``source`` (embedded, files, cache, the wheel by its name, uci, uci's archive, openml or kaggle; file of a
        table of one's own),
        ``files`` with their SHA-256, ``fingerprint``.
    """

    name: str
    title: str
    task: str
    frame: pd.DataFrame = field(repr=False)
    target: pd.Series = field(repr=False)
    domain: Domain = field(repr=False)
    n_train: int | None
    fingerprint: str
    provenance: dict = field(repr=False)


def load(name: str) -> Dataset:
    """Load a data set by name; asked for twice, the same object is given, unless a file of it was changed.

    Parameters
    ----------
    name : str
        One of `datasets.names()`.

    Returns
    -------
    Dataset

    Raises
    ------
    UnknownDataset
        If there is no such name; the message suggests the nearest.
    DataUnavailable
        If the rows cannot be had; the message says which file to put where.
    DataMismatch
        If the rows found are not the pinned ones.
    DocumentError
        If one's own table cannot be read, or is not as its YAML file says.

    Examples
    --------
    >>> nursery = load("nursery")
    >>> nursery.frame.shape, nursery.task
    ((12960, 8), 'classification')
    >>> nursery.target.value_counts().to_dict()
    {'not_recom': 4320, 'priority': 4266, 'spec_prior': 4044, 'very_recom': 328, 'recommend': 2}
    """
    return _load_once(name, catalogue.find_version(name))


@lru_cache(maxsize=32)
def _load_once(name: str, version: tuple) -> Dataset:
    entry = catalogue.read_entry(name)
    rows, provenance = _load_rows(entry)
    target = entry.domain.target.name
    return Dataset(
        name=entry.name,
        title=entry.title,
        task=entry.task,
        frame=table.declare_categories(rows.drop(columns=target), entry.domain),
        target=rows[target].astype(object) if entry.task == "classification" else rows[target],
        domain=entry.domain,
        n_train=entry.n_train,
        fingerprint=entry.fingerprint,
        provenance=provenance,
    )


def fingerprint(name: str) -> str:
    """Return the fingerprint of a data set: without reading a row where it is pinned.

    Examples
    --------
    >>> fingerprint("car") == load("car").fingerprint
    True
    """
    return catalogue.read_entry(name).fingerprint


def count_original_rows(name: str) -> int | None:
    """Return how many rows the original files of a data set hold, before any is left out; None if they are not here.

    Examples
    --------
    >>> count_original_rows("aduld")
    Traceback (most recent call last):
    datasets.catalogue.UnknownDataset: unknown data set 'aduld'; did you mean 'adult'?
    """
    entry = catalogue.read_entry(name)
    if entry.own_file is not None:
        return len(own_table.read_own_frame(entry.own_file))
    files = source.original_files(entry)
    return len(_import_reader(entry).read(*files)) if files else None


def is_available(name: str) -> bool:
    """Return whether a data set can be loaded without a network: embedded, in a folder or in the cache.

    Only looks whether the files are there; `load` checks that they are the right ones.

    Examples
    --------
    >>> is_available("car")
    True
    """
    entry = catalogue.read_entry(name)
    if entry.own_file is not None:
        return True  # a file that is not there is bad input, and nothing stands in for it
    embedded = hasattr(_import_reader(entry), "original_bytes")
    cached = [source.cache_file(entry), *(source.wheel_file(*pinned) for pinned in entry.wheels.items())]
    is_here = embedded or bool(source.original_files(entry)) or any(path.is_file() for path in cached)
    return is_here or (entry.first_rows_of is not None and is_available(entry.first_rows_of))


def _load_rows(entry: CatalogueEntry) -> tuple[pd.DataFrame, dict]:
    """Return the canonical table and its provenance, from this machine or else from a server."""
    if entry.own_file is not None:
        own = own_table.read_own_table(entry.own_file)
        return own.rows, source.describe_source(entry, own.source) | {"files": own.files}
    reader = _import_reader(entry)
    if (rows := source.find_rows(entry, reader)) is not None:
        return rows
    if entry.first_rows_of is not None:
        return _cut_first_rows(entry, catalogue.read_entry(entry.first_rows_of))
    from datasets import download  # needed by nobody who has the files

    return download.fetch_table(entry, reader)


def _cut_first_rows(entry: CatalogueEntry, whole: CatalogueEntry) -> tuple[pd.DataFrame, dict]:
    """Return the first rows of another data set's table, checked as any other table."""
    try:
        rows, provenance = _load_rows(whole)
    except source.DataUnavailable as error:
        raise source.DataUnavailable(f"{error}; or, for {entry.name} alone, {source.describe_remedy(entry)}") from error
    frame = source.check_table(rows.head(entry.rows), entry, _import_reader(entry), f"the table of {whole.name}")
    return frame, source.describe_source(entry, provenance["source"])


def _import_reader(entry: CatalogueEntry) -> ModuleType:
    return import_module(f"{__package__}.readers.{entry.reader}")
