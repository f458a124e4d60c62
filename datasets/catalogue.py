"""What is known about every data set before any row is read: the files ``conf/dataset/*.yaml``."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import yaml

from algorithms import Domain
from algorithms.parameters import suggest_name

FOLDER = Path(__file__).parents[1] / "conf" / "dataset"


class UnknownDataset(ValueError):
    """There is no data set of this name; the message suggests the nearest one."""


@dataclass(frozen=True)
class CatalogueEntry:
    """One file of the catalogue.

    Parameters
    ----------
    name, title : str
        Name of the file, and the name to print.
    task : {"classification", "regression"}
        What the target is.
    rows : int
        Rows of the canonical table.
    fingerprint : str
        SHA-256 of the canonical table, see `datasets.table.hash_table`; or that of the only original file, see
        ``pinned_by_file``.
    domain : Domain
        Declared bounds and categories of all columns; public knowledge, not taken from the rows.
    files : dict
        Original files in the order in which the reader's ``read`` takes them, each with its SHA-256.
    folder : str
        Sub-folder in which the files may lie; the name of the data set unless stated.
    n_train : int or None
        Number of rows of the official training part, which stand first; None without an official split.
    drop_missing : bool
        Whether rows with a missing value are left out.
    reader : str
        Module of ``datasets/readers`` that reads the files; the name of the data set unless stated.
    rows_where : dict
        Values by column: rows with another value are left out, where the raw table has the column. A server may have
        one table for several files.
    uci, openml : int or None
        Number of the data set at UCI and at OpenML.
    kaggle : str or None
        ``owner/name`` of the data set at Kaggle.
    """

    name: str
    title: str
    task: str
    rows: int
    fingerprint: str
    domain: Domain
    files: dict = field(default_factory=dict)
    folder: str = ""
    n_train: int | None = None
    drop_missing: bool = False
    reader: str = ""
    rows_where: dict = field(default_factory=dict)
    uci: int | None = None
    openml: int | None = None
    kaggle: str | None = None

    @property
    def pinned_by_file(self) -> bool:
        """Whether only the original file is pinned, because nobody had it to compute the table's fingerprint."""
        return self.fingerprint in self.files.values()


def names() -> list[str]:
    """Return the names of all data sets, in alphabetical order.

    Examples
    --------
    >>> "nursery" in names()
    True
    """
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def read_entry(name: str) -> CatalogueEntry:
    """Return what the catalogue says about a data set.

    Raises
    ------
    UnknownDataset
        If the catalogue has no such file.

    Examples
    --------
    >>> read_entry("car").domain.target.categories
    ('unacc', 'acc', 'good', 'vgood')
    >>> read_entry("aduld")
    Traceback (most recent call last):
    ...
    datasets.catalogue.UnknownDataset: unknown data set 'aduld'; did you mean 'adult'?
    """
    path = FOLDER / f"{name}.yaml"
    if name not in names():
        raise UnknownDataset(f"unknown data set {name!r}; {suggest_name(name, names(), cutoff=0.5)}")
    return _read_file(path)


@lru_cache
def _read_file(path: Path) -> CatalogueEntry:
    fields = yaml.safe_load(path.read_text(encoding="utf-8"))
    fields["domain"] = Domain.from_mapping(fields["domain"])
    fields.setdefault("folder", path.stem)
    fields.setdefault("reader", path.stem)
    try:
        return CatalogueEntry(name=path.stem, **fields)
    except TypeError as error:
        raise ValueError(f"{path.parent.name}/{path.name}: {str(error).removeprefix('Entry.__init__() ')}") from None
