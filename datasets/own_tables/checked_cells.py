"""What cells of a table of one's own are held against: bounds, categories, dates, and that they are there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from algorithms import Domain
from algorithms.encoding import later_pandas as pd
from algorithms.encoding.features import Continuous, Feature, Nominal
from algorithms.parameters import suggest_name
from datasets import table
from datasets.notation.dates import find_formats, say_days
from datasets.notation.guessing import MARKS_IN_NUMBERS, suggest_keys
from datasets.notation.spelling import Notation, map_distinct
from datasets.own_tables.faults import Faults
from documents.yaml_files import Location

_MOST_NAMED, _MOST_EXPLAINED = 5, 1000  # wrong words of a column


def check_columns(wanted: Iterable[str], frame: pd.DataFrame, file_name: str, faults: Faults, key: Location) -> None:
    """Note columns that a table lacks."""
    for name in wanted:
        if name not in frame.columns:
            faults.add(key, f"{name!r} is no column of {file_name}; {suggest_name(name, list(frame.columns))}")


def check_cells(frame: pd.DataFrame, domain: Domain, notation: Notation, file_name: str, faults: Faults) -> None:
    """Note cells that are no number where bounds are declared, or no declared category; missing ones are let by.

    Of each column a few such words are named, each with its first row.
    """
    for part, features in (("features", domain.features), ("target", (domain.target,))):
        for feature in features:
            if feature.name not in frame or ("dates", feature.name) in faults:
                continue
            cells = frame[feature.name]
            is_wrong = ~find_missing(cells, feature, notation) & _find_wrong(cells, feature, notation)
            if is_wrong.any():
                wrong = cells[is_wrong]
                explain = partial(_explain_category if isinstance(feature, Nominal) else _explain_number, feature)
                _add_wrong(wrong, ("domain", part, feature.name), file_name, faults, explain)


def check_missing(
    frame: pd.DataFrame, features: Iterable[Feature], notation: Notation, file_name: str, faults: Faults
) -> None:
    """Note how many cells of each column are missing, where its declaration takes none."""
    counts = {}
    for feature in features:
        if feature.name not in frame or ("dates", feature.name) in faults:
            continue
        n_missing = int(find_missing(frame[feature.name], feature, notation).sum())
        if n_missing and not _takes_missing(feature):
            counts[feature.name] = n_missing
    if counts:
        named = ", ".join(f"{n} in {name!r}" for name, n in counts.items())
        hint = 'drop_missing: true leaves their rows out; a column of words may declare the category "?" for them'
        faults.add(("drop_missing",), f"{file_name} has missing values: {named}; {hint}")


def find_missing(cells: pd.Series, feature: Feature, notation: Notation) -> np.ndarray:
    """Return which cells of a column are missing; what it declares as a category is none of them."""
    return notation.find_missing(cells, feature.categories if isinstance(feature, Nominal) else ())


def check_dates(name: str, how: str, cells: pd.Series, days: np.ndarray, file_name: str, faults: Faults) -> None:
    """Note cells of a column of dates that are none: they have no day, and are not missing."""
    is_other = np.array([not isinstance(day, float) and day is not None for day in days], dtype=bool)
    if is_other.any():
        _add_wrong(cells[is_other], ("dates", name), file_name, faults, partial(_explain_date, how))


def _add_wrong(
    wrong: pd.Series, key: Location, file_name: str, faults: Faults, explain: Callable[[pd.Series], tuple[str, str]]
) -> None:
    """Note cells of a column that are wrong: of each kind the first, with its row; of many kinds how many more.

    ``explain`` gets a column of one cell, and returns what is wrong of it and the kind that it is of.
    """
    words = wrong[~wrong.astype(str).duplicated()]
    firsts: dict[str, tuple[int, str]] = {}
    for place in range(min(len(words), _MOST_EXPLAINED)):
        problem, kind = explain(words.iloc[[place]])
        firsts.setdefault(kind, (words.index[place] + 1, problem))
    for row, problem in list(firsts.values())[:_MOST_NAMED]:
        faults.add(key, f"{file_name}, row {row} below the header: {problem}")
    if len(firsts) > _MOST_NAMED:
        n_more = len(firsts) - _MOST_NAMED + max(len(words) - _MOST_EXPLAINED, 0)
        faults.add(key, f"{file_name}: more words of {key[-1]!r} like these: {n_more:,}")


def _explain_date(how: str, cell: pd.Series) -> tuple[str, str]:
    return f"{str(cell.iloc[0])!r} is no date written as {how}", ""


def _explain_category(feature: Nominal, cell: pd.Series) -> tuple[str, str]:
    """Return what is wrong of a cell that is no declared category; each word is a kind of its own."""
    word = str(table.clean_label(cell.iloc[0]))
    hint = f"; or {suggest_keys(word)}, if it stands for a missing value" if word in MARKS_IN_NUMBERS else ""
    if word.casefold() in map(str.casefold, feature.categories):
        hint = "; or fold_case: true, if case does not count"
    return f"{repr(word)[:60]} is not declared; {suggest_name(word, feature.categories)}{hint}", word


def _explain_number(feature: Continuous, cell: pd.Series) -> tuple[str, str]:
    """Return what is wrong of a cell that is no number; words with the same way out are of one kind."""
    word = str(table.clean_label(cell.iloc[0]))
    if formats := find_formats(cell):
        return f"{repr(word)[:60]} is a date; {say_days(feature.name, formats)}, or leave the column out", "date"
    if keys := suggest_keys(word):
        problem = f"is no number here; write {keys}, mend the cell, or declare categories"
    else:
        problem = "is no number; mend the cell, empty it, or declare categories"
    return f"{repr(word)[:60]} {problem}", problem


def _find_wrong(cells: pd.Series, feature: Feature, notation: Notation) -> np.ndarray:
    if isinstance(feature, Continuous):
        return cells.isna().to_numpy() if cells.dtype.kind in "iuf" else np.isnan(notation.read_numbers(cells))
    return map_distinct(cells, lambda value: table.clean_label(value) not in feature.categories, False).astype(bool)


def _takes_missing(feature: Feature) -> bool:
    return isinstance(feature, Nominal) and table.MISSING in feature.categories
