"""Drafts of a data set's YAML file, made from its table: what the rows say, to be replaced by what is public.

A draft loads and runs at once. Every bound and category of it follows the rows, which it says of each and, by
``bounds_from_rows``, in the account of everything that is run on it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import yaml

from algorithms.encoding.cells import DomainError
from algorithms.encoding.features import Continuous, Feature, Nominal
from algorithms.parameters import suggest_name
from datasets import table
from datasets.own_table import find_missing, infer_column

MOST_CLASSES = 20
"""A column of whole numbers with at most so many values is taken for class labels."""
LONG_TEXT = 40
"""Mean length from which cells are taken for text that somebody wrote."""
MOST_CATEGORIES = 50
"""Words with more values than this, and with more than half as many as there are rows, are no categories."""
LARGEST_SHARE_MISSING = 0.5

_TARGETS = ("class", "target", "label", "y")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([ T].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}( .*)?")
_FROM_ROWS = "# from the rows: replace by what is public"
_BOUNDS_FROM_ROWS = """\
  # Each column below was given the bounds or categories of these very rows. No promise of privacy holds of such a
  # column, and the account of everything that is run says so. Take a name out once public knowledge stands below:
"""
_WIDTH = 110


@dataclass(frozen=True)
class DraftColumn:
    """What a draft says of a column.

    Parameters
    ----------
    name : str
        Of the column.
    feature : Continuous, Nominal or None
        Its bounds or categories in the rows; None if there are none that could be declared.
    n_missing : int
        How many cells are missing.
    notes : tuple of str
        What a person should look at.
    left_out : str
        Why the draft leaves it out, empty if it does not.
    """

    name: str
    feature: Feature | None
    n_missing: int
    notes: tuple[str, ...] = ()
    left_out: str = ""


def format_draft(frame: pd.DataFrame, file: str, target: str | None = None) -> str:
    """Return a draft of the YAML file of a table.

    Parameters
    ----------
    frame : DataFrame
        The table, as `datasets.own_file.read_file` reads it.
    file : str
        What the draft calls the file: its path, absolute or relative to the folder of the draft.
    target : str, optional
        The column to predict; guessed if left out.

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
    target, why_target = _choose_target(frame, target)
    cells = frame[target][~find_missing(frame[target])]
    task, why_task = _guess_task(target, cells)
    columns = [_describe_column(name, frame[name]) for name in frame.columns if name != target]
    kept = [column for column in columns if not column.left_out]
    if not kept:
        raise ValueError(f"no column but the target {target!r} could be declared: {_list_reasons(columns)}")
    target_column = _describe_target(target, frame[target], task)
    names = [column.name for column in (*kept, target_column)]
    lines = [
        "# A draft: it runs as it is. Wherever it says so, put what anybody may know, whoever is in the table, in",
        "# place of what these rows hold; and give it a title that tables can print.",
        f"file: {_quote(file)}",
        f"task: {task}    # {why_task}",
        f"target: {_format_key(target)}" + (f"    # {why_target}" if why_target else ""),
        *_format_missing(frame, kept, target_column),
        'bounds_from: "these rows"    # say here where the bounds of numbers are from',
        "domain:",
        *_BOUNDS_FROM_ROWS.splitlines(),
        f"  bounds_from_rows: {_format_list(names, 4)}",
        "  features:",
    ]
    for column in columns:
        lines += _format_column(column)
    return "\n".join([*lines, "  target:", *_format_column(target_column)]) + "\n"


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


def _guess_task(target: str, cells: pd.Series) -> tuple[str, str]:
    """Return classification or regression, and why."""
    labels = table.clean_labels(cells).unique()
    if len(labels) < 2:
        raise ValueError(f"target: {target!r} has one value in all rows, {list(labels)}: there is nothing to predict")
    numbers = table.read_rounded(cells)
    if np.isnan(numbers).any():
        return "classification", f"{_quote(target)} holds words"
    if len(labels) <= MOST_CLASSES and (numbers == np.round(numbers)).all():
        return "classification", f"{_quote(target)} holds {len(labels)} different whole numbers; or regression"
    return "regression", f"{_quote(target)} holds numbers, {len(labels)} different ones"


def _describe_target(name: str, cells: pd.Series, task: str) -> DraftColumn:
    is_missing = find_missing(cells)
    feature = infer_column(name, cells[~is_missing], is_label=task == "classification")
    return DraftColumn(name, feature, int(is_missing.sum()))


def _describe_column(name: str, cells: pd.Series) -> DraftColumn:
    """Look at one feature: its bounds or categories, and what should not pass without a word."""
    is_missing = find_missing(cells)
    n_missing, known = int(is_missing.sum()), cells[~is_missing]
    describe = partial(DraftColumn, name, n_missing=n_missing)
    if not len(known):
        return describe(feature=None, left_out="every cell is missing")
    try:
        feature = infer_column(name, known)
    except DomainError as error:
        return describe(feature=None, left_out=" ".join(str(error).split()))
    values = table.clean_labels(known)
    if left_out := _explain_doubt(name, values, feature):
        return describe(feature=feature, left_out=left_out)
    if isinstance(feature, Continuous) and n_missing > LARGEST_SHARE_MISSING * len(cells):
        return describe(feature=feature, left_out=f"{n_missing} of {len(cells)} cells are missing")
    notes = _list_notes(values.nunique(), feature, n_missing)
    if n_missing and isinstance(feature, Nominal):
        feature = Nominal(name, (*feature.categories, table.MISSING))
    return describe(feature=feature, notes=notes)


def _explain_doubt(name: str, values: pd.Series, feature: Feature) -> str:
    """Return why a column looks like none to learn from; empty if it does not."""
    n_different, n_rows = values.nunique(), len(values)
    if values.str.fullmatch(_DATE).mean() > 0.9:
        return "it looks like a date: make numbers of it that mean something, such as the month"
    is_whole = isinstance(feature, Nominal) or (table.read_rounded(values) % 1 == 0).all()
    if n_different == n_rows >= 10 and is_whole:
        numbered = isinstance(feature, Continuous) and feature.upper - feature.lower == n_rows - 1
        if isinstance(feature, Nominal) or numbered or re.search(r"(?i)(^|[^a-z])(id|key|number|no|nr)$|Id$", name):
            return "it looks like an identifier: every row has a value of its own"
    if isinstance(feature, Continuous):
        return "it numbers the rows" if name.startswith("column ") and n_different == n_rows else ""
    if values.str.len().mean() > LONG_TEXT:
        return "it looks like free text"
    if n_different > MOST_CATEGORIES and n_different > n_rows / 2:
        return f"it looks like names or free text: {n_different} different values in {n_rows} rows"
    return ""


def _list_notes(n_different: int, feature: Feature, n_missing: int) -> tuple[str, ...]:
    notes = []
    if n_different == 1:
        notes.append("constant in these rows: nothing can be learnt from it")
    elif isinstance(feature, Continuous) and n_different == 2:
        notes.append("2 different numbers: perhaps categories, in quotes")
    if n_missing and isinstance(feature, Nominal):
        notes.append(f'"?" stands for a missing value: {n_missing} of them')
    return tuple(notes)


def _format_missing(frame: pd.DataFrame, kept: Sequence[DraftColumn], target: DraftColumn) -> list[str]:
    """Return the line that leaves rows out, where a missing value is no category of its own."""
    lacking = [column for column in (*kept, target) if _drops_rows(column, target)]
    if not lacking:
        return []
    masks = [find_missing(frame[column.name]) for column in lacking]
    n_dropped = int(np.any(masks, axis=0).sum())
    if n_dropped > len(frame) - 2:
        raise ValueError(
            f"only {len(frame) - n_dropped} rows have no missing value in {_list_names(lacking)}: fill cells in, or "
            "take the columns that lack most out of the file"
        )
    named = ", ".join(f"{column.n_missing} in {_quote(column.name)}" for column in lacking)
    return [f"drop_missing: true    # leaves out {n_dropped} of {len(frame)} rows: {named}"]


def _drops_rows(column: DraftColumn, target: DraftColumn) -> bool:
    return column.n_missing > 0 and (column is target or isinstance(column.feature, Continuous))


def _format_column(column: DraftColumn) -> list[str]:
    """Return the lines of one column; those of one left out are comments."""
    comments = [f"    # {_quote(column.name)} is left out: {column.left_out}"] if column.left_out else []
    comments += [f"    # {note}" for note in column.notes]
    if column.feature is None:
        return comments
    start = "    # " if column.left_out else "    "
    lines = f"{_format_key(column.name)}: {_format_feature(column.feature)}    {_FROM_ROWS}".splitlines()
    if column.left_out and len(lines) > 1:  # no long list of names for a column that is out
        return comments
    return [*comments, *(f"{start}{line}" for line in lines)]


def _format_feature(feature: Feature) -> str:
    if isinstance(feature, Continuous):
        return f"{{lower: {_format_number(feature.lower)}, upper: {_format_number(feature.upper)}}}"
    return _format_list(feature.categories, 6)


def _format_list(items: Sequence[str], indent: int) -> str:
    """Return a list in YAML, on lines of a screen's width."""
    text, width = "[", 0
    for item in map(_quote, items):
        if width + len(item) > _WIDTH - 30:
            text, width = f"{text.rstrip()}\n{' ' * (indent - 4)}", 0
        text, width = f"{text}{item}, ", width + len(item) + 2
    return text.removesuffix(", ") + "]"


def _format_number(value: float) -> str:
    text = f"{int(value)}" if value == int(value) and abs(value) < 1e15 else repr(float(value))
    return text if "e" not in text or "." in text else text.replace("e", ".0e")  # YAML takes 1e5 for a word


def _format_key(name: str) -> str:
    """Return a name as a key of YAML, in quotes where YAML would read something else."""
    is_plain = re.fullmatch(r"[A-Za-z_][\w-]*", name) and yaml.safe_load(name) == name
    return name if is_plain else _quote(name)


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _list_names(columns: Sequence[DraftColumn]) -> str:
    return ", ".join(_quote(column.name) for column in columns)


def _list_reasons(columns: Sequence[DraftColumn]) -> str:
    return "; ".join(f"{column.name!r}: {column.left_out}" for column in columns) or "there is none"
