"""What a draft says of each column: bounds or categories as the rows have them, and what should not pass in silence."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from algorithms.encoding.cells import DomainError
from algorithms.encoding.features import Continuous, Feature, Nominal
from datasets import table
from datasets.drafts.words import format_list, quote, say_counts
from datasets.notation.dates import find_formats, say_days
from datasets.notation.guessing import (
    LEAST_NUMBERS,
    MARKS_IN_NUMBERS,
    MOST_CLASSES,
    SIGNS,
    ColumnReading,
    find_ambiguous,
    guess_notation,
    read_column,
    say_words,
)
from datasets.notation.spelling import Notation
from datasets.own_tables.own_table import infer_column

LONG_TEXT = 40
"""Mean length from which cells are taken for text that somebody wrote."""
MOST_CATEGORIES = 50
"""Words with more values than this, and with more than half as many as there are rows, are no categories."""
FEW_WORDS = 10
"""So many different words are categories, though most of them occur once."""
MOST_CODES = 10
"""Whole numbers with at most so many values may be codes."""
LARGEST_SHARE_MISSING = 0.5

_TIME = re.compile(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?")
_NESTED = re.compile(r"\[.*\]|\{.*\}", re.DOTALL)
_NEGATIVE = re.compile(r"\(\s*\d[\d., ]*\)")  # as accountants write it
_CODES_OF_MISSING = (999, 9999, 99999, -9, -99, -999, -9999, -99999)
_IDENTIFIER = re.compile(r"(?i)(^|[^a-z])(id|key|number|no|nr|index|idx|row)$|Id$|^Unnamed: 0$")


@dataclass(frozen=True, eq=False)
class DraftColumn:
    """What a draft says of a column.

    Parameters
    ----------
    name : str
        Of the column.
    feature : Continuous, Nominal or None
        Its bounds or categories in the rows; None if there are none that could be declared.
    is_missing : bool array of shape (n,)
        Which cells are missing.
    notes : tuple of str
        What a person should look at.
    left_out : str
        Why the draft leaves it out, empty if it does not.
    """

    name: str
    feature: Feature | None
    is_missing: np.ndarray = field(repr=False)
    notes: tuple[str, ...] = ()
    left_out: str = ""

    @property
    def n_missing(self) -> int:
        """How many cells are missing."""
        return int(self.is_missing.sum())


def find_missing(cells: pd.Series, notation: Notation) -> tuple[np.ndarray, ColumnReading]:
    """Return which cells of a column are missing, and how it reads: a mark may be a category among words."""
    reading = read_column(cells, notation)
    return notation.find_missing(cells, declared=() if reading.is_numbers else reading.others), reading


def describe_target(name: str, cells: pd.Series, notation: Notation, task: str) -> DraftColumn:
    """Return what a draft says of the column to predict."""
    is_missing, reading = find_missing(cells, notation)
    known = cells[~is_missing]
    feature = infer_column(name, known, notation, is_label=task == "classification")
    notes = []
    if isinstance(feature, Nominal):
        counts = table.clean_labels(known).value_counts()
        if len(rare := [quote(label) for label, n in counts.items() if n == 1]):
            notes.append(f"in one row alone: {', '.join(rare[:5])}; a split trains or tests on it")
        notes += _note_words(known, reading)
    return DraftColumn(name, feature, is_missing, (*_note_missing(reading), *notes))


def describe_column(name: str, cells: pd.Series, notation: Notation) -> DraftColumn:
    """Look at one feature: its bounds or categories, and what should not pass without a word."""
    is_missing, reading = find_missing(cells, notation)
    known = cells[~is_missing]
    if not len(known):
        return DraftColumn(name, None, is_missing, left_out="every cell is missing")
    if formats := find_formats(known):
        return DraftColumn(name, None, is_missing, left_out=f"it holds dates; {say_days(name, formats)}")
    try:
        feature = infer_column(name, known, notation)
    except DomainError as error:
        return DraftColumn(name, None, is_missing, left_out=" ".join(str(error).split()))
    if left_out := _explain_doubt(name, known, feature, notation, reading):
        return DraftColumn(name, feature, is_missing, left_out=left_out)
    if isinstance(feature, Continuous) and is_missing.sum() > LARGEST_SHARE_MISSING * len(cells):
        return DraftColumn(name, feature, is_missing, left_out=f"{is_missing.sum()} of {len(cells)} cells are missing")
    notes = _list_notes(known, feature, int(is_missing.sum()), notation, reading)
    if is_missing.any() and isinstance(feature, Nominal):
        feature = Nominal(name, (*feature.categories, table.MISSING))
    return DraftColumn(name, feature, is_missing, tuple(notes))


def looks_like_text(values: pd.Series, n_few: int = MOST_CATEGORIES) -> str:
    """Return why words look like no categories; empty if they do not.

    Parameters
    ----------
    values : Series
        Plain text, nothing missing.
    n_few : int
        So many different ones are categories, though most of them occur once.
    """
    n_different, n_rows = values.nunique(), len(values)
    if values.str.len().mean() > LONG_TEXT:
        return "it looks like free text"
    if n_different > MOST_CATEGORIES and n_different > n_rows / 2:
        return f"it looks like names or free text: {n_different} different values in {n_rows} rows"
    n_once = int((values.value_counts() == 1).sum())
    if n_different > n_few and n_once > n_different / 2:
        return f"it looks like names or free text: {n_once} of {n_different} different values occur once"
    return ""


def _explain_doubt(name: str, known: pd.Series, feature: Feature, notation: Notation, reading: ColumnReading) -> str:
    """Return why a column looks like none to learn from; empty if it does not."""
    values = table.clean_labels(known)
    if not reading.is_numbers and (known.dtype.kind == "m" or _hold_times(values)):
        return "it holds times: make numbers of it that mean something, such as minutes"
    if len(reading.signs) > 1:
        return f"its numbers are in different units: {say_counts(reading.signs)}"
    if not reading.is_numbers and (doubt := _explain_mixture(known, reading, values.nunique())):
        return doubt
    if _looks_like_identifier(name, known, feature, notation):
        return "it looks like an identifier: every row has a value of its own"
    if isinstance(feature, Continuous):
        is_counter = name.startswith("column ") and values.nunique() == len(values)
        return "it numbers the rows" if is_counter else ""
    return looks_like_text(values, FEW_WORDS)


def _hold_times(values: pd.Series) -> bool:
    return values.map(lambda value: bool(_TIME.fullmatch(value))).mean() > LEAST_NUMBERS


def _explain_mixture(known: pd.Series, reading: ColumnReading, n_different: int) -> str:
    """Return that words are among numbers, or numbers are written otherwise than in other columns; else nothing."""
    may_be_numbers = bool(reading.others) and all(any(map(str.isdigit, word)) for word in reading.others)
    if may_be_numbers and read_column(known, guess_notation(known.to_frame())).is_numbers:
        return f"it looks like numbers written in another way than others are: here {say_words(reading.others)}"
    if reading.share_of_numbers > LEAST_NUMBERS and n_different > MOST_CLASSES:
        words = dict(sorted(reading.others.items(), key=lambda counted: -counted[1]))
        return f"it looks like numbers, but {say_words(words)}: {_suggest_for_mixture(words)}"
    return ""


def _suggest_for_mixture(words: Iterable[str]) -> str:
    """Return how words among numbers become numbers or missing values."""
    missing = [word for word in words if word in MARKS_IN_NUMBERS]
    signs = [sign for sign in SIGNS if any(Notation(signs=(sign,)).take_signs_off(word) != word for word in words)]
    keys = {"missing": missing, "signs": signs}
    said = " and ".join(f"{key}: {format_list(found[:5])}" for key, found in keys.items() if found)
    return f"write {said}, and mend the others" if said else "mend these, or write them into missing"


def _looks_like_identifier(name: str, known: pd.Series, feature: Feature, notation: Notation) -> bool:
    n_rows, is_named = len(known), bool(_IDENTIFIER.search(name))
    if known.nunique() < n_rows or n_rows < (3 if is_named else 10):
        return False
    if isinstance(feature, Nominal):
        return n_rows >= 10
    is_whole = bool((notation.read_numbers(known) % 1 == 0).all())
    return is_whole and (is_named or feature.upper - feature.lower == n_rows - 1)


def _list_notes(
    known: pd.Series, feature: Feature, n_missing: int, notation: Notation, reading: ColumnReading
) -> list[str]:
    n_different = table.clean_labels(known).nunique()
    notes = ["constant in these rows: nothing can be learnt from it"] if n_different == 1 else []
    if isinstance(feature, Continuous):
        return [*notes, *_note_missing(reading), *_note_numbers(known, notation, reading, n_different)]
    if n_missing:
        marks = f", {say_counts(reading.marks)} among them; listed here, such a word is kept" if reading.marks else ""
        notes.append(f'"?" stands for a missing value: {n_missing} of them{marks}')
    if n_different > MOST_CATEGORIES:
        notes.append(f"{n_different} different words, {len(known) / n_different:.0f} rows of each in the mean")
    return notes + _note_words(known, reading)


def _note_missing(reading: ColumnReading) -> list[str]:
    return [f"taken for missing values: {say_counts(reading.marks)}"] if reading.marks else []


def _note_numbers(known: pd.Series, notation: Notation, reading: ColumnReading, n_different: int) -> list[str]:
    """Return what may be meant otherwise among numbers."""
    notes, numbers = [], notation.read_numbers(known)
    if n_different == 2:
        notes.append("2 different numbers: perhaps categories, in quotes")
    elif 2 < n_different <= MOST_CODES and (numbers % 1 == 0).all():
        notes.append(f"{n_different} different whole numbers, taken as numbers; if they are codes, list them in quotes")
    if example := (notation.thousands or notation.decimal == ",") and find_ambiguous(known, notation):
        read = notation.read_numbers(pd.Series([example]))[0]
        notes.append(f"is {quote(example)} the number {read:g}? else mend decimal and thousands above")
    for sign, n in reading.signs.items():
        notes.append(f"{quote(sign)} is taken off {n} of {len(known)} numbers: are all in one unit?")
    lower, upper = numbers.min(), numbers.max()
    for end, others in ((upper, numbers[numbers < upper]), (lower, numbers[numbers > lower])):
        if end in _CODES_OF_MISSING and len(others) and np.abs(others).max() < abs(end) / 3:
            notes.append(f'{end:g} stands far from all others: a mark? then add "{end:g}" to missing')
    return notes


def _suggest_folding(words: Sequence[str]) -> str:
    """Return the key that makes words one, where they differ in the case of letters alone."""
    return "; declare one of these, and fold_case: true" if len({word.casefold() for word in words}) == 1 else ""


def _note_words(known: pd.Series, reading: ColumnReading) -> list[str]:
    """Return what may be meant otherwise among words."""
    notes = []
    if reading.doubtful:
        kept = say_counts(reading.doubtful)
        notes.append(f"kept as categories: {kept}; if that means missing, write it into missing, not here")
    elif LEAST_NUMBERS < reading.share_of_numbers < 1:
        notes.append(f"taken as words: {say_words(reading.others)}; if that means missing, write it into missing")
    by_plain_form = defaultdict(list)
    different = table.clean_labels(known).unique()
    for word in different:
        by_plain_form[" ".join(unicodedata.normalize("NFC", word).casefold().split())].append(word)
    for words in by_plain_form.values():
        if len(words) > 1:
            how = "case or blanks" if len({unicodedata.normalize("NFC", word) for word in words}) > 1 else "code points"
            kept = ", ".join(map(quote, words))
            notes.append(f"different by {how} alone, and kept apart: {kept}{_suggest_folding(words)}")
    if len(negative := [word for word in different if _NEGATIVE.fullmatch(word)]) > len(different) / 2:
        notes.append(f"is {quote(negative[0])} a negative number? then write it with a minus in the file")
    if len(nested := [word for word in different if _NESTED.fullmatch(word)]) > len(different) / 2:
        notes.append(f"is {quote(nested[0])} a list or a structure? then make a column of each of its values")
    is_padded = known.map(lambda cell: isinstance(cell, str) and cell != cell.strip()).astype(bool)
    if is_padded.any() and not is_padded.all():
        n_padded = int(is_padded.sum())
        notes.append(f'blanks around {n_padded} of {len(known)} cells do not count: " a" is the category "a"')
    return notes
