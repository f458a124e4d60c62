"""What is known about every data set before any row is read: the files ``conf/dataset/*.yaml``."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, PlainValidator
from pydantic.json_schema import SkipJsonSchema

from algorithms import Domain
from algorithms.parameters import suggest_name
from documents.document import Document, ListOf, Scalar, parse_document

FOLDER = Path(__file__).parents[1] / "conf" / "dataset"


class UnknownDataset(ValueError):
    """There is no data set of this name; the message suggests the nearest one."""


class Bounds(Document):
    """The declared range of a column of numbers."""

    lower: float
    """Smallest value; smaller ones are clipped."""
    upper: float
    """Largest value; larger ones are clipped."""


class DeclaredColumns(Document):
    """The public domain of a table: for each column its bounds, or the list of its categories."""

    features: dict[str, Bounds | ListOf[Scalar]]
    """The feature columns in their order."""
    target: dict[str, Bounds | ListOf[Scalar]]
    """The one target column: class labels, or bounds of a regression's target."""
    bounds_from_rows: ListOf[str] = ()
    """Columns whose bounds no source gives but these very rows: published or visible extremes, rounded outwards.
    Strictly, no promise of privacy holds then of what is trained on them, and every account says so."""


def read_domain(contents: Any) -> Domain:
    """Return the public domain that a file declares.

    Raises
    ------
    ValidationError
        If the file says something else.
    """
    if isinstance(contents, Domain):
        return contents
    DeclaredColumns.model_validate(contents)
    return Domain.from_mapping(contents)


DeclaredDomain = Annotated[Domain, PlainValidator(read_domain, json_schema_input_type=DeclaredColumns)]


class CatalogueEntry(Document):
    """A data set: where its files are from, what its table must be, and its public domain."""

    title: str
    """The name to print."""
    task: Literal["classification", "regression"]
    """What the target is."""
    rows: Annotated[int, Field(ge=1)]
    """Rows of the canonical table."""
    fingerprint: str
    """SHA-256 of the canonical table, see `datasets.table.fingerprint`; or that of the only original file, where nobody
    had it to compute the table's."""
    domain: DeclaredDomain
    """Declared bounds and categories of all columns; what is no public knowledge among them is named there."""
    bounds_from: str = ""
    """Where the bounds of its columns of numbers are from, in words; needed where it has such columns."""
    files: dict[str, str] = {}
    """Original files in the order in which the reader's ``read`` takes them, each with its SHA-256."""
    folder: str = ""
    """Sub-folder in which the files may lie; the name of the data set unless stated."""
    n_train: int | None = None
    """Number of rows of the official training part, which stand first; left out without an official split."""
    drop_missing: bool = False
    """Whether rows with a missing value are left out."""
    reader: str = ""
    """Module of ``datasets/readers`` that reads the files; the name of the data set unless stated."""
    drop_beyond_bounds: bool = False
    """Whether rows with a number beyond its declared bounds are left out: mistakes of measurement, say."""
    first_rows_of: str | None = None
    """Another data set whose table begins with these rows: where its own files are not there, it is cut from that."""
    rows_where: dict[str, Any] = {}
    """Values by column: rows with another value are left out, where the raw table has the column. A server may have one
    table for several files."""
    uci: int | None = None
    """Number of the data set at UCI."""
    uci_archive: str | None = None
    """Name of the archive at UCI with its original files, which is asked where UCI's table cannot be had or differs."""
    openml: int | None = None
    """Number of the data set at OpenML."""
    kaggle: str | None = None
    """``owner/name`` of the data set at Kaggle."""

    name: SkipJsonSchema[str] = Field("", exclude=True)

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
    DocumentError
        If the file says what it may not say; all such errors are reported at once.

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
    contents = yaml.safe_load(path.read_text(encoding="utf-8"))
    entry = parse_document(CatalogueEntry, contents, path)
    own = {"name": path.stem, "folder": entry.folder or path.stem, "reader": entry.reader or path.stem}
    return entry.model_copy(update=own)
