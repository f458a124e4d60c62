"""A table of one's own: what its YAML file leaves out is taken from its rows, and every cell is held against the rest.

A pinned data set is known before a row is read. Here the rows say what nobody has declared, and whatever they decide of
the domain is a fault in the account of everything that is run on it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NoReturn

import numpy as np

from algorithms import Domain
from algorithms.encoding import later_pandas as pd
from algorithms.encoding.cells import DomainError
from algorithms.encoding.features import Continuous, Feature, Nominal, infer_feature
from datasets import table
from datasets.entry import CatalogueEntry, OwnEntry
from datasets.notation.dates import read_dates
from datasets.notation.guessing import (
    explain_doubt,
    explain_marks,
    holds_booleans,
    read_column,
)
from datasets.notation.spelling import Notation
from datasets.own_tables import kept_tables, own_file, typed_parquet
from datasets.own_tables.checked_cells import check_cells, check_columns, check_dates, check_missing, find_missing
from datasets.own_tables.faults import Faults
from datasets.own_tables.merged_words import merge_words
from datasets.own_tables.opened_file import UnreadableFile, open_table, show_path
from datasets.own_tables.typed_text import Columns, read_typed
from datasets.progress_bar import show_progress
from documents.document import parse_document
from documents.file_state import find_state
from documents.yaml_files import DocumentError, Location, find_lines, name_place, parse_yaml

_LEAST_KEPT = 1 << 20  # bytes: a smaller file is read as soon
_MANY_CELLS = 10_000_000  # which take a second to check


@dataclass(frozen=True, eq=False)
class OwnTable:
    """The rows of one's own table, checked.

    Parameters
    ----------
    rows : DataFrame
        The canonical table, with categories as they are declared; perhaps mapped from a file, so never written to.
    domain : Domain
        What is declared of its columns, by the YAML file or else by the rows.
    fingerprint : str
        SHA-256 of the canonical table.
    n_train : int or None
        How many rows of it are from the official training part of the file, and stand first.
    source : str
        ``file``, ``openml`` or ``uci``.
    files : dict of str to str
        The file that it is from, with its SHA-256.
    """

    rows: pd.DataFrame
    domain: Domain
    fingerprint: str
    n_train: int | None
    source: str
    files: dict[str, str]


def complete_entry(path: Path) -> CatalogueEntry:
    """Return what is known of one's own table; its rows are read only for what its YAML file does not say.

    Parameters
    ----------
    path : Path
        The YAML file.

    Raises
    ------
    DocumentError
        If the YAML file says what it may not say, or its rows are not as it says.
    DataUnavailable
        If a server has the table, and it cannot be reached.
    """
    own = _read_own_entry(path)
    domain, fingerprint, rows, n_train = own.domain, own.fingerprint, own.rows, own.n_train
    may_train_on_fewer = n_train is not None and (own.drop_missing or own.drop_beyond_bounds)
    if domain is None or fingerprint is None or rows is None or may_train_on_fewer:
        found = read_own_table(path)
        domain, fingerprint, rows, n_train = found.domain, found.fingerprint, len(found.rows), found.n_train
    _check_task(own, domain, path)
    return CatalogueEntry(
        title=own.title or path.stem,
        task=own.task,
        rows=rows,
        fingerprint=fingerprint,
        domain=domain,
        bounds_from=own.bounds_from,
        n_train=n_train,
        drop_missing=own.drop_missing,
        drop_beyond_bounds=own.drop_beyond_bounds,
        uci=own.uci,
        openml=own.openml,
        name=path.stem,
        own_file=path,
    )


def read_own_table(path: Path) -> OwnTable:
    """Return one's own table, checked against its YAML file; its rows are read once, and again when a file changes.

    Parameters
    ----------
    path : Path
        The YAML file.

    Raises
    ------
    DocumentError
        If the rows cannot be had from a file, or are not as the YAML file says.
    DataUnavailable
        If a server has them, and it cannot be reached.
    """
    return _read_once(path, find_version(path))


def find_version(path: Path) -> tuple:
    """Return what changes when somebody writes to the YAML file of a table, or to the file that it names.

    Raises
    ------
    DocumentError
        If the YAML file says what it may not say.
    """
    file = _find_rows(_read_own_entry(path), path)
    return find_state(path), None if file is None else find_state(file)


@lru_cache(maxsize=8)
def _read_once(path: Path, version: tuple) -> OwnTable:
    own = _read_own_entry(path)
    file = _find_rows(own, path)
    before = None if file is None else find_state(file)
    if file is None or before is None or before[1] < _LEAST_KEPT:
        return _make_own_table(own, path)  # which says what is wrong
    try:
        files = _hash_file(file)
    except UnreadableFile as error:
        _refuse(path, ("file",), str(error))

    def make() -> tuple[pd.DataFrame, dict]:
        made = _make_own_table(own, path, files)
        if find_state(file) != before:
            _refuse(path, ("file",), f"{file.name} was changed while it was read: run the same command again")
        about = {"domain": made.domain.to_mapping(), "fingerprint": made.fingerprint, "n_train": made.n_train}
        return made.rows, about

    rows, about = kept_tables.find_or_make(kept_tables.name_table(_read_text(path), *files.values()), make)
    domain = Domain.from_mapping(about["domain"])
    return OwnTable(rows, domain, about["fingerprint"], about["n_train"], "file", files)


def _make_own_table(own: OwnEntry, path: Path, files: dict[str, str] | None = None) -> OwnTable:
    """Read the rows, check them against the YAML file, and give them the form of every table."""
    frame, source, files = _read_rows(own, path, files)
    (file_name,) = map(show_path, files)
    with show_progress(f"checking {file_name}") if frame.size > _MANY_CELLS else nullcontext():
        rows, domain = _check_cells(own, frame, path, file_name)
        is_kept = _find_kept(own, rows, domain)
        n_train = _count_training_rows(own, is_kept, path, file_name)
        rows = rows if is_kept.all() else rows[is_kept].reset_index(drop=True)
        fingerprint = table.hash_table(rows)
        _check_rows(own, rows, fingerprint, path, file_name)
    return OwnTable(table.declare_categories(rows, domain), domain, fingerprint, n_train, source, files)


def _check_cells(own: OwnEntry, frame: pd.DataFrame, path: Path, file_name: str) -> tuple[pd.DataFrame, Domain]:
    """Return a canonical table of all rows, and its domain, or refuse it with all that is wrong of its cells."""
    faults = Faults(path)
    frame = merge_words(own, _count_days(own, frame, file_name, faults))
    if own.domain is None:
        domain = _infer_domain(own, frame, path, file_name, faults)
    else:
        domain = own.domain
        check_columns([*domain.names, domain.target.name], frame, file_name, faults, ("domain",))
        check_cells(frame, domain, own.notation, file_name, faults)
        if not own.drop_missing:
            check_missing(frame, (*domain.features, domain.target), own.notation, file_name, faults)
        faults.refuse()
    return table.convert_columns(_spell_plainly(frame, domain, own.notation), domain, is_exact=True), domain


def _find_kept(own: OwnEntry, rows: pd.DataFrame, domain: Domain) -> np.ndarray:
    """Return which rows are not left out."""
    is_kept = rows.notna().all(axis=1).to_numpy() if own.drop_missing else np.ones(len(rows), dtype=bool)
    return is_kept & table.find_rows_within(rows, domain) if own.drop_beyond_bounds else is_kept


def _count_training_rows(own: OwnEntry, is_kept: np.ndarray, path: Path, file_name: str) -> int | None:
    """Return how many rows of the official training part are not left out; refuse a split with an empty part."""
    if own.n_train is None:
        return None
    n_rows, n_train = int(is_kept.sum()), int(is_kept[: own.n_train].sum())
    if not n_train:
        _refuse(path, ("n_train",), f"the first {own.n_train} rows of {file_name} are all left out: none trains")
    if n_train == n_rows:
        kept = "" if is_kept.all() else " that are kept"
        _refuse(path, ("n_train",), f"{own.n_train} leaves no test row of the {n_rows} rows of {file_name}{kept}")
    return n_train


def read_own_frame(path: Path) -> pd.DataFrame:
    """Return one's own table as its file has it, before any row is left out."""
    return _read_rows(_read_own_entry(path), path)[0]


def infer_column(name: str, cells: pd.Series, notation: Notation, is_label: bool = False) -> Feature:
    """Return bounds or categories of a column as its own cells have them, which costs privacy that nobody pays.

    Parameters
    ----------
    name : str
        Of the column.
    cells : Series
        Its cells, none of them missing.
    notation : Notation
        How numbers are written.
    is_label : bool
        Whether numbers are class labels, too.

    Examples
    --------
    >>> infer_column("age", pd.Series(["31", "50"]), Notation())
    Continuous(name='age', lower=31.0, upper=50.0)
    >>> infer_column("rich", pd.Series(["1", "0"]), Notation(), is_label=True)
    Nominal(name='rich', categories=('0', '1'))
    """
    if cells.dtype == object and any(isinstance(value, bytes) for value in pd.unique(cells)):
        raise DomainError(f"column {name!r}: it holds bytes that are no text")
    numbers = pd.Series(notation.read_numbers(cells))
    if not is_label and not numbers.isna().any() and not holds_booleans(cells):
        return infer_feature(name, numbers)
    labels = _sort_naturally(table.clean_labels(cells).unique())
    try:
        return Nominal(name, labels)
    except DomainError as error:
        alike = np.flatnonzero(np.diff(table.read_exactly(pd.Series(labels))) == 0)  # numbers stand in order
        if not len(alike):
            raise
        one, other = labels[alike[0]], labels[alike[0] + 1]
        problem = f"{one!r} and {other!r} are two words for one number: write it in one way in the file"
        raise DomainError(f"column {name!r}: {problem}") from error


def _read_own_entry(path: Path) -> OwnEntry:
    return _parse_once(path, find_state(path))


@lru_cache
def _parse_once(path: Path, state: tuple[int, int] | None) -> OwnEntry:
    return parse_document(OwnEntry, parse_yaml(_read_text(path)), path)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        _refuse(path, (), f"it cannot be read ({error.strerror})")


def _read_rows(
    own: OwnEntry, path: Path, files: dict[str, str] | None = None
) -> tuple[pd.DataFrame, str, dict[str, str]]:
    """Return the raw table, where it is from, and its file with its SHA-256, which may be known already."""
    try:
        if own.file is not None:
            file = path.parent / os.path.expanduser(own.file)
            form = own_file.TextForm(own.encoding, own.separator)
            frame = _read_typed(own, file, form)
            frame = own_file.read_file(file, form) if frame is None else frame
            return frame, "file", files or _hash_file(file)
        from datasets import download  # needed by nobody who has the file

        server, number = ("uci", own.uci) if own.uci is not None else ("openml", own.openml)
        content = download.fetch_csv(server, number, own.title or path.stem)
        name = f"{server}-{number}.csv"
        return own_file.read_csv_bytes(content, name), server, {name: hashlib.sha256(content).hexdigest()}
    except UnreadableFile as error:
        _refuse(path, ("file",), str(error))


def _hash_file(file: Path) -> dict[str, str]:
    """Return the name of a file with its SHA-256."""
    with open_table(file) as opened:
        return {file.name: hashlib.file_digest(opened, "sha256").hexdigest()}


def _read_typed(own: OwnEntry, file: Path, form: own_file.TextForm) -> pd.DataFrame | None:
    """Return the declared columns as numbers and categories, where nothing in the file leaves a doubt of these."""
    names, words = None, {*own.dates, *([own.target] if own.task == "classification" else [])}
    if own.domain is not None:
        features = (*own.domain.features, own.domain.target)
        names = {*own.dates, *(feature.name for feature in features)}
        words = {*own.dates, *(feature.name for feature in features if isinstance(feature, Nominal))}
    columns = Columns(names, words, own.notation.missing)
    if file.suffix.lower() == typed_parquet.SUFFIX:
        return typed_parquet.read_typed_parquet(file, columns)
    return read_typed(file, form, columns) if own.notation.reads_numbers_plainly else None


def _find_rows(own: OwnEntry, path: Path) -> Path | None:
    """Return the file with the rows; None if a server has them."""
    return None if own.file is None else path.parent / os.path.expanduser(own.file)


def _count_days(own: OwnEntry, frame: pd.DataFrame, file_name: str, faults: Faults) -> pd.DataFrame:
    """Return the table with days since 1970-01-01 in place of its dates."""
    check_columns(own.dates, frame, file_name, faults, ("dates",))
    days = {}
    for name, how in own.dates.items():
        if name not in frame:
            continue
        cells = frame[name]
        days[name] = read_dates(cells.astype(object).mask(own.notation.find_missing(cells), None), how)
        check_dates(name, how, cells, days[name], file_name, faults)
    return frame.assign(**days)


def _infer_domain(own: OwnEntry, frame: pd.DataFrame, path: Path, file_name: str, faults: Faults) -> Domain:
    """Return the domain that the rows have; each of its columns follows them."""
    check_columns([own.target], frame, file_name, faults, ("target",))
    if ("target",) in faults:
        faults.refuse()
    masks = {name: own.notation.find_missing(frame[name]) for name in frame.columns}
    kept = ~np.any(list(masks.values()), axis=0) if own.drop_missing else np.ones(len(frame), dtype=bool)
    if not kept.any():
        hint = "declare a domain without the columns that lack most"
        _refuse(path, ("drop_missing",), f"every row of {file_name} has a missing value: {hint}")
    columns = {}
    for name in frame.columns:
        if ("dates", name) in faults:
            continue
        is_known = kept & ~masks[name]
        cells = frame[name] if is_known.all() else frame[name][is_known]
        if (feature := _infer_declared(own, name, cells, file_name, faults)) is not None:
            columns[name] = feature
    if not own.drop_missing:
        check_missing(frame, columns.values(), own.notation, file_name, faults)
    faults.refuse()
    target = columns.pop(own.target)
    if not columns:
        _refuse(path, ("target",), f"{file_name} has no column but the target")
    return Domain(tuple(columns.values()), target, bounds_from_rows=(*columns, target.name))


def _infer_declared(own: OwnEntry, name: str, cells: pd.Series, file_name: str, faults: Faults) -> Feature | None:
    """Return what the rows say of a column; what may be numbers or dates becomes no category without a question."""
    if not len(cells):
        return Nominal(name, (table.MISSING,))
    is_label = name == own.target and own.task == "classification"
    if name == own.target and len(cells) > 1 and _count_distinct(own, cells) < 2:
        one = table.clean_label(cells.iloc[0])
        faults.add(("target",), f"{name!r} of {file_name} has one value in all rows, {one!r}: nothing to predict")
        return None
    if doubt := (
        explain_marks(read_column(cells, own.notation)) if is_label else explain_doubt(name, cells, own.notation)
    ):
        faults.add((), f"{file_name}: {name!r} {doubt}, or declare a domain (describe drafts one)")
        return None
    try:
        return infer_column(name, cells, own.notation, is_label)
    except DomainError as error:
        faults.add((), f"{file_name}: {error}; declare a domain")
        return None


def _count_distinct(own: OwnEntry, cells: pd.Series) -> int:
    """Return how many values a column has; of numbers to be predicted, 1 and 1.0 are one."""
    numbers = own.notation.read_numbers(cells) if own.task == "regression" else np.array([np.nan])
    return cells.nunique() if np.isnan(numbers).any() else len(np.unique(numbers))


def _check_task(own: OwnEntry, domain: Domain, path: Path) -> None:
    """Refuse a target that is not what the task predicts."""
    is_classes = isinstance(domain.target, Nominal)
    if is_classes is not (own.task == "classification"):
        found = "class labels" if is_classes else "bounds"
        needed = "bounds of numbers" if is_classes else "a list of class labels"
        _refuse(path, ("task",), f"{own.task} needs {needed} of {domain.target.name!r}, which has {found}")


def _spell_plainly(frame: pd.DataFrame, domain: Domain, notation: Notation) -> pd.DataFrame:
    """Return the declared columns with nothing in their missing cells, and numbers as every table has them."""
    columns = {}
    for feature in (*domain.features, domain.target):
        cells = frame[feature.name]
        is_missing = find_missing(cells, feature, notation)
        known = cells.mask(is_missing) if is_missing.any() else cells
        columns[feature.name] = notation.spell_numbers(known) if isinstance(feature, Continuous) else known
    return pd.DataFrame(columns, copy=False)


def _check_rows(own: OwnEntry, rows: pd.DataFrame, fingerprint: str, path: Path, file_name: str) -> None:
    """Refuse a table that has too few rows, or is not the one that the YAML file pins."""
    n_rows = len(rows)
    if n_rows < 2:
        _refuse(path, ("drop_missing",), f"{n_rows} rows of {file_name} are left: there is nothing to split")
    if own.rows not in (None, n_rows):
        _refuse(path, ("rows",), f"{file_name} has {n_rows} rows, not {own.rows}; mend the one or the other")
    if own.fingerprint not in (None, fingerprint):
        if own.fingerprint == table.hash_table(table.round_numbers(rows)):
            was = f"is of the numbers of {file_name} rounded to {table.DECIMALS} decimals, as they once were read"
            _refuse(path, ("fingerprint",), f"this {was}; they are taken as they are written now: write {fingerprint}")
        found = f"{n_rows} rows with fingerprint {fingerprint}"
        _refuse(path, ("fingerprint",), f"{file_name} holds another table: {found}; write that if it is the right one")


def _sort_naturally(labels: Sequence[str]) -> tuple[str, ...]:
    """Sort numbers by their value, before words."""
    numbers = table.read_exactly(pd.Series(labels))
    is_word = np.isnan(numbers)
    return tuple(label for *_, label in sorted(zip(is_word, np.where(is_word, 0.0, numbers), labels, strict=True)))


def _refuse(path: Path, key: Location, message: str) -> NoReturn:
    raise DocumentError(f"{name_place(key, find_lines(path), path)}: {message}")
