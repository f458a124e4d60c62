"""Drafts of a data set's YAML file, made from its table: what the rows say, to be replaced by what is public.

A draft loads and runs at once. Every bound and category of it follows the rows, which it says of each and, by
``bounds_from_rows``, in the account of everything that is run on it. How the file writes its cells stands in keys of
the draft, so that nothing is guessed when it is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import numpy as np
import pandas as pd

from algorithms.encoding.features import Continuous
from algorithms.parameters import suggest_name
from datasets import table
from datasets.drafts.columns import (
    DraftColumn,
    describe_column,
    describe_target,
    find_missing,
    looks_like_text,
)
from datasets.drafts.words import format_feature, format_key, format_list, quote, say_counts
from datasets.notation.dates import find_formats
from datasets.notation.encodings import WESTERN
from datasets.notation.guessing import MOST_CLASSES, guess_notation, read_column
from datasets.notation.spelling import Notation
from datasets.own_tables.own_file import TextForm
from datasets.progress_bar import show_progress

_MANY_COLUMNS = 1000  # which take some seconds
_TARGETS = ("class", "target", "label", "y")
_FROM_ROWS = "# from the rows: replace by what is public"
_FORMULAS = ", it may hold formulas that were saved without values: save the file in Excel"
_BOUNDS_FROM_ROWS = """\
  # Each column below was given the bounds or categories of these very rows. No promise of privacy holds of such a
  # column, and the account of everything that is run says so. Take a name out once public knowledge stands below:
"""


def format_draft(
    frame: pd.DataFrame, file: str, target: str | None = None, form: TextForm | None = None, sheets: str = ""
) -> str:
    """Return a draft of the YAML file of a table.

    Parameters
    ----------
    frame : DataFrame
        The table, as `datasets.own_tables.own_file.read_file` reads it.
    file : str
        What the draft calls the file: its path, absolute or relative to the folder of the draft.
    target : str, optional
        The column to predict; guessed if left out.
    form : TextForm, optional
        How the file was read, see `datasets.own_tables.own_file.guess_form`.
    sheets : str
        Which sheet of several was read, see `datasets.own_tables.own_file.name_sheets`.

    Raises
    ------
    ValueError
        If there is no such column, it holds nothing to predict, or no other column is left.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": ["31", "50", "?"], "job": ["cook", "clerk", "cook"], "rich": ["no", "yes", "no"]})
    >>> print(format_draft(frame, "my.csv", "rich"))  # doctest: +ELLIPSIS
    # A draft: ...
    file: "my.csv"
    task: classification    # "rich" holds words
    target: rich
    drop_missing: true    # leaves out 1 of 3 rows: 1 in "age"
    ...
    """
    form = form or TextForm()
    _refuse_no_header(frame, form)
    notation = guess_notation(frame, form.separator or ",")
    target, why_target = _choose_target(frame, target)
    formulas = _FORMULAS if file.lower().endswith(".xlsx") else ""
    task, why_task = _guess_task(target, frame[target], notation, formulas)
    columns = _describe_columns(frame, target, notation)
    kept = [column for column in columns if not column.left_out]
    if not kept:
        raise ValueError(f"no column but the target {target!r} could be declared: {_list_reasons(columns)}")
    target_column = describe_target(target, frame[target], notation, task)
    names = [column.name for column in (*kept, target_column)]
    lines = [
        "# A draft: it runs as it is. Wherever it says so, put what anybody may know, whoever is in the table, in",
        "# place of what these rows hold; and give it a title that tables can print.",
        *([f"# Where every cell is missing{formulas}."] if formulas and any(map(_is_empty, columns)) else []),
        f"file: {quote(file)}" + (f"    # {sheets}" if sheets else ""),
        *_format_form(form, frame),
        *_format_notation(notation, frame),
        f"task: {task}    # {why_task}",
        f"target: {format_key(target)}" + (f"    # {why_target}" if why_target else ""),
        *_format_missing(kept, target_column),
        'bounds_from: "these rows"    # say here where the bounds of numbers are from',
        "domain:",
        *_BOUNDS_FROM_ROWS.splitlines(),
        f"  bounds_from_rows: {format_list(names)}",
        "  features:",
    ]
    for column in columns:
        lines += _format_column(column)
    return "\n".join([*lines, "  target:", *_format_column(target_column)]) + "\n"


def _refuse_no_header(frame: pd.DataFrame, form: TextForm) -> None:
    """Refuse a table of one column, or one whose first line does not name its columns."""
    first, *others = frame.columns
    if not others and str(first).startswith(("#", "%", "//")):
        raise ValueError(f"its first line is a comment, {first!r}: take out the lines above the header")
    if not others:
        why = ": no comma, semicolon, tab or | separates its cells" if form.separator else ""
        raise ValueError(f"it has one column alone, {first!r}{why}")
    if len(others) > 1 and others == [f"column {i}" for i in range(2, len(others) + 2)]:
        raise ValueError(f"only the first column has a name, {first!r}: take out the lines above the header")


def _describe_columns(frame: pd.DataFrame, target: str, notation: Notation) -> list[DraftColumn]:
    """Look at each column but the target; of a wide table it is shown how far that is, by the size of its cells."""
    names = [name for name in frame.columns if name != target]
    size = 8 * frame.size
    shown = show_progress(f"looking at {len(names):,} columns", size) if len(names) > _MANY_COLUMNS else nullcontext()
    columns = []
    with shown as advance:
        for name in names:
            columns.append(describe_column(name, frame[name], notation))
            if advance is not None:
                advance(size * len(columns) // len(names))
    return columns


def _format_form(form: TextForm, frame: pd.DataFrame) -> list[str]:
    """Return the keys of a text file that is not in UTF-8, or has no commas between its cells."""
    lines = []
    if form.encoding:
        texts = [*frame.columns, *(cell for name in frame.columns for cell in frame[name] if isinstance(cell, str))]
        example = next((text for text in texts if not text.isascii()), "")
        shown = f"; {quote(example[:40])} is read so" if example else ""
        others = "; else latin-1, cp1250, mac_roman, ..." if form.encoding in WESTERN else ""
        lines.append(f"encoding: {form.encoding}    # it is not in UTF-8{shown}{others}")
    if form.separator and form.separator != ",":
        lines.append(f"separator: {quote(form.separator)}")
    return lines


def _format_notation(notation: Notation, frame: pd.DataFrame) -> list[str]:
    """Return the keys that say how numbers and missing values are written."""
    lines = ['decimal: ","'] if notation.decimal == "," else []
    if notation.thousands:
        lines.append(f"thousands: {quote(notation.thousands)}")
    if notation.signs:
        lines.append(f"signs: {format_list(notation.signs)}    # taken off the numbers where they stand: 5 % is 5")
    if notation.missing:
        marks = {name: read_column(frame[name], notation).marks for name in frame.columns}
        found = [f"{say_counts(counts)} in {quote(name)}" for name, counts in marks.items() if counts]
        where = ", ".join([*found[:4], *(["..."] if len(found) > 4 else [])])
        lines.append(f"missing: {format_list(notation.missing)}    # {where}; a word listed as a category below is one")
    return lines


def _choose_target(frame: pd.DataFrame, target: str | None) -> tuple[str, str]:
    """Return the column to predict, and how it was found unless somebody named it."""
    if target is not None:
        if target not in frame.columns:
            raise ValueError(f"target: there is no column {target!r}; {suggest_name(target, list(frame.columns))}")
        return target, ""
    for name in frame.columns:
        if name.lower() in _TARGETS:
            return name, "guessed by its name; target=COLUMN names another"
    return frame.columns[-1], "guessed: it stands last; target=COLUMN names another"


def _is_empty(column: DraftColumn) -> bool:
    return bool(column.is_missing.all())


def _guess_task(target: str, cells: pd.Series, notation: Notation, formulas: str) -> tuple[str, str]:
    """Return classification or regression, and why."""
    is_missing, reading = find_missing(cells, notation)
    known = cells[~is_missing]
    labels = table.clean_labels(known)
    n_labels = labels.nunique()
    if not n_labels:
        raise ValueError(f"target: every cell of {target!r} is missing{formulas}; target=COLUMN names another")
    if n_labels < 2:
        raise ValueError(
            f"target: {target!r} has one value in all rows, {list(labels.unique())}: there is nothing to predict"
        )
    if find_formats(known):
        raise ValueError(f"target: {target!r} holds dates; target=COLUMN names another")
    if not reading.is_numbers:
        if why := looks_like_text(labels):
            raise ValueError(f"target: of {target!r}, {why}; target=COLUMN names another")
        return "classification", f"{quote(target)} holds words"
    numbers = notation.read_numbers(known)
    if n_labels <= MOST_CLASSES and (numbers == np.round(numbers)).all():
        return "classification", f"{quote(target)} holds {n_labels} different whole numbers; or regression"
    return "regression", f"{quote(target)} holds numbers, {n_labels} different ones"


def _format_missing(kept: Sequence[DraftColumn], target: DraftColumn) -> list[str]:
    """Return the line that leaves rows out, where a missing value is no category of its own."""
    lacking = [column for column in (*kept, target) if _drops_rows(column, target)]
    if not lacking:
        return []
    n_rows = len(target.is_missing)
    n_dropped = int(np.any([column.is_missing for column in lacking], axis=0).sum())
    if n_dropped > n_rows - 2:
        raise ValueError(
            f"only {n_rows - n_dropped} rows have no missing value in {_list_names(lacking)}: fill cells in, or "
            "take the columns that lack most out of the file"
        )
    named = ", ".join(f"{column.n_missing} in {quote(column.name)}" for column in lacking)
    return [f"drop_missing: true    # leaves out {n_dropped} of {n_rows} rows: {named}"]


def _drops_rows(column: DraftColumn, target: DraftColumn) -> bool:
    return column.n_missing > 0 and (column is target or isinstance(column.feature, Continuous))


def _format_column(column: DraftColumn) -> list[str]:
    """Return the lines of one column; those of one left out are comments."""
    comments = [f"    # {quote(column.name)} is left out: {column.left_out}"] if column.left_out else []
    comments += [f"    # {note}" for note in column.notes]
    if column.feature is None:
        return comments
    start = "    # " if column.left_out else "    "
    lines = f"{format_key(column.name)}: {format_feature(column.feature)}    {_FROM_ROWS}".splitlines()
    if column.left_out and len(lines) > 1:  # no long list of names for a column that is out
        return comments
    return [*comments, *(f"{start}{line}" for line in lines)]


def _list_names(columns: Sequence[DraftColumn]) -> str:
    return ", ".join(quote(column.name) for column in columns)


def _list_reasons(columns: Sequence[DraftColumn]) -> str:
    return "; ".join(f"{column.name!r}: {column.left_out}" for column in columns)
