"""How a table that nobody has described seems to write its numbers and missing values, and what may be meant else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice

import numpy as np

from algorithms.encoding import later_pandas as pd
from datasets import table
from datasets.notation.dates import find_formats, say_days
from datasets.notation.spelling import Notation, is_empty

SIGNS = ("€", "$", "£", "¥", "₹", "%", "‰", "EUR", "USD", "GBP", "CHF")
"""What stands before or after numbers."""
_OF_EXCEL = ("#N/A", "#N/A N/A", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#SPILL!", "#CALC!")
_SURE = ("N/A", "n/a", "<NA>", "NA", "n.a.", "NULL", "null", *_OF_EXCEL)
_IN_NUMBERS = ("na", "None", "none", "nil", "-", "--", "---", "–", "—", ".", "..", "...", "*", "missing", "unknown")
MARKS_IN_WORDS = frozenset(_SURE)
"""Words that stand for a missing value even where words are expected; a declared category is none."""
MARKS_IN_NUMBERS = frozenset([*_SURE, *_IN_NUMBERS])
"""Words that stand for a missing value where numbers are expected."""
MOST_CLASSES = 20
"""A column of whole numbers with at most so many values is taken for class labels, with some words for categories."""
LEAST_NUMBERS = 0.5
"""A column with more numbers than this share of its values is no column of words without a question."""

_SAMPLE = 1000  # different values of a column
_ORDER = ((".", ""), (",", ""), (".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2}([.,])\d{3}")


@dataclass(frozen=True)
class ColumnReading:
    """How a column reads in a notation.

    Parameters
    ----------
    is_numbers : bool
        Whether all that does not stand for a missing value is a number.
    share_of_numbers : float
        How many of the different values that do not stand for a missing one are numbers.
    marks : dict of str to int
        How often each word stands for a missing value: fewer do so among words than among numbers.
    others : dict of str to int
        How often each other word occurs that is no number.
    signs : dict of str to int
        How many numbers each sign stands at.
    """

    is_numbers: bool
    share_of_numbers: float
    marks: dict[str, int]
    others: dict[str, int]
    signs: dict[str, int]

    @property
    def doubtful(self) -> dict[str, int]:
        """The words that may stand for a missing value, and are taken as they are."""
        return {word: n for word, n in self.others.items() if word in MARKS_IN_NUMBERS}


def guess_notation(frame: pd.DataFrame, separator: str = ",") -> Notation:
    """Return the notation that reads most columns of a table as numbers, with the marks of missing values that occur.

    Parameters
    ----------
    frame : DataFrame
        The table as its file has it.
    separator : str
        What separates its cells: with commas there, a comma in ``1,234`` groups digits; else it is the decimal sign.

    Examples
    --------
    >>> frame = pd.DataFrame({"num": ["5,5", "NA", "7"], "pay": ["1.234,8 €", "2 €", "-"]})
    >>> guess_notation(frame, ";")
    Notation(decimal=',', thousands='.', signs=('€',), missing=('NA', '-'), dates=())
    """
    samples = [words for name in frame.columns if (words := _list_words(frame[name]))]
    candidates = [Notation(*signs, signs=SIGNS) for signs in _list_candidates(separator)]
    read = [len(_keep_numbers(_keep_numbers(samples, candidate, 1), candidate)) for candidate in candidates]
    chosen = candidates[int(np.argmax(read))]  # the first of the best
    readings = [read_column(frame[name], chosen) for name in frame.columns]
    signs = dict.fromkeys(sign for reading in readings if reading.is_numbers for sign in reading.signs)
    marks = dict.fromkeys(mark for reading in readings for mark in reading.marks)
    return replace(chosen, signs=tuple(signs), missing=tuple(marks))


def read_column(cells: pd.Series, notation: Notation) -> ColumnReading:
    """Look at a column as a notation has its numbers, whatever it says of missing values.

    Examples
    --------
    >>> read_column(pd.Series(["5", "NA", "7", "-"]), Notation()).marks
    {'NA': 1, '-': 1}
    >>> reading = read_column(pd.Series(["+", "NA", "-", "-"]), Notation())
    >>> reading.is_numbers, reading.marks, reading.others, reading.doubtful
    (False, {'NA': 1}, {'+': 1, '-': 2}, {'-': 2})
    """
    if notation.reads_plainly(cells) or (cells.dtype.kind in "iuf" and cells.notna().any()):
        return ColumnReading(True, 1.0, {}, {}, {})
    codes, values = pd.factorize(cells)
    known = np.array([not is_empty(value) for value in values], dtype=bool)
    values, counts = values[known], np.bincount(codes[codes >= 0], minlength=len(known))[known]
    words = [str(table.clean_label(value)) for value in values]
    is_number = ~np.isnan(notation.read_numbers(pd.Series(values, dtype=object))) & ~_are_booleans(values)
    is_mark = _are_in(MARKS_IN_NUMBERS, words)
    is_numbers = bool(is_number.any() and (is_number | is_mark).all())
    share = is_number.sum() / max(1, (~is_mark).sum())
    if not is_numbers:
        is_mark = _are_in(MARKS_IN_WORDS, words)
    of_sign = {sign: is_number & _are_at(sign, words) for sign in notation.signs}
    signs = {sign: int(counts[is_signed].sum()) for sign, is_signed in of_sign.items() if is_signed.any()}
    others = _count(words, counts, ~is_number & ~is_mark)
    return ColumnReading(is_numbers, float(share), _count(words, counts, is_mark), others, signs)


def holds_booleans(cells: pd.Series) -> bool:
    """Tell whether a column holds true and false, which are words here though they could be counted."""
    return cells.dtype.kind == "b" or (cells.dtype == object and bool(_are_booleans(pd.unique(cells)).any()))


def find_ambiguous(cells: pd.Series, notation: Notation) -> str | None:
    """Return a number of a column that reads as another one if the point or comma in it means the other thing.

    Examples
    --------
    >>> find_ambiguous(pd.Series(["1,234", "5"]), Notation(thousands=","))
    '1,234'
    >>> find_ambiguous(pd.Series(["1,234", "5,5"]), Notation(decimal=",")) is None
    True
    """
    words = map(notation.take_signs_off, _list_words(cells))
    doubtful = [word for word in words if "." in word or "," in word]
    return doubtful[0] if doubtful and all(map(_EITHER.fullmatch, doubtful)) else None


def explain_doubt(name: str, cells: pd.Series, notation: Notation) -> str:
    """Return why a column must not become words without a question, and the way out; empty if there is none.

    Parameters
    ----------
    name : str
        Of the column.
    cells : Series
        Its cells, none of them missing.
    notation : Notation
        What is said of the table.

    Examples
    --------
    >>> explain_doubt("age", pd.Series(["31", "50", "NA"]), Notation())
    'holds numbers, but "NA" (1) is no number: write missing: ["NA"]'
    >>> explain_doubt("job", pd.Series(["clerk", "7"]), Notation())
    ''
    """
    if formats := find_formats(cells):
        return f"holds dates: {say_days(name, formats)}"
    reading = read_column(cells, notation)
    no_numbers = reading.marks | reading.others
    if not no_numbers:
        return ""
    guessed = read_column(cells, guess_notation(cells.to_frame()))
    is_mixed = reading.share_of_numbers > LEAST_NUMBERS and (reading.doubtful or cells.nunique() > MOST_CLASSES)
    if reading.is_numbers or guessed.is_numbers or is_mixed:
        keys = dict.fromkeys(filter(None, map(suggest_keys, list(no_numbers)[:_SAMPLE])))
        way_out = " and ".join(list(keys)[:2]) or _say_missing(no_numbers)
        return f"holds numbers, but {say_words(no_numbers)}: write {way_out}"
    return explain_marks(reading)


def explain_marks(reading: ColumnReading) -> str:
    """Return that words which mostly stand for a missing value are in a column, and the way out; else an empty text.

    Examples
    --------
    >>> explain_marks(read_column(pd.Series(["clerk", "N/A"]), Notation()))
    'holds "N/A" (1), mostly a mark of missing values: write missing: ["N/A"]'
    """
    if not reading.marks:
        return ""
    word, n = next(iter(reading.marks.items()))
    return f'holds "{word}" ({n}), mostly a mark of missing values: write {suggest_keys(word)}'


def say_words(counts: Mapping[str, int]) -> str:
    """Return which words are no numbers, as a sentence goes on.

    Examples
    --------
    >>> say_words({"NA": 3}), say_words({"a": 1, "b": 2, "c": 3, "d": 1})
    ('"NA" (3) is no number', '"a" (1), "b" (2) and 2 more are no numbers')
    """
    shown = ", ".join(f"{json.dumps(word, ensure_ascii=False)} ({n})" for word, n in list(counts.items())[:2])
    more = f" and {len(counts) - 2} more" if len(counts) > 2 else ""
    return f"{shown}{more} {'is no number' if len(counts) == 1 else 'are no numbers'}"


def _say_missing(words: Iterable[str]) -> str:
    first, *others = words
    return (
        f"missing: [{json.dumps(first, ensure_ascii=False)}{', ...' if others else ''}] if that means a missing value"
    )


@cache
def suggest_keys(word: str) -> str:
    """Return the keys by which a word is a number or a missing value; empty if there are none.

    Examples
    --------
    >>> suggest_keys("5,5"), suggest_keys("1.234,5 €"), suggest_keys("NA"), suggest_keys("clerk")
    ('decimal: ","', 'decimal: "," and thousands: "." and signs: ["€"]', 'missing: ["NA"]', '')
    """
    if word in MARKS_IN_NUMBERS:
        return f'missing: ["{word}"]'
    for decimal, thousands in _ORDER:
        notation = Notation(decimal, thousands, SIGNS)
        if _reads_all([word], notation):
            signs = ", ".join(f'"{sign}"' for sign in SIGNS if sign in word)
            said = {'decimal: ","': decimal == ",", f'thousands: "{thousands}"': thousands, f"signs: [{signs}]": signs}
            return " and ".join(key for key, is_said in said.items() if is_said)
    return ""


def _list_candidates(separator: str) -> Sequence[tuple[str, str]]:
    if separator != ",":
        return _ORDER
    plain, comma, grouped, *others = _ORDER
    return plain, grouped, comma, *others


def _list_words(cells: pd.Series) -> list[str]:
    """Return some different texts of a column that are no marks of missing values, the first that it has."""
    if cells.dtype.kind in "iufbM":
        return []
    words = (value.strip() for value in pd.unique(cells) if isinstance(value, str) and not is_empty(value))
    return list(islice((word for word in words if word not in MARKS_IN_NUMBERS), _SAMPLE))


def _keep_numbers(samples: Sequence[list[str]], notation: Notation, most: int | None = None) -> list[list[str]]:
    """Return the samples of columns, of which all words, or the first ones, are numbers; all columns are read at once.

    The first word alone tells of most that they are none.
    """
    if not samples:
        return []
    words = [word for sample in samples for word in sample[:most]]
    column = np.repeat(np.arange(len(samples)), [len(sample[:most]) for sample in samples])
    is_none = np.isnan(notation.read_numbers(pd.Series(words, dtype=object)))
    n_none = np.bincount(column[is_none], minlength=len(samples))
    return [sample for sample, n in zip(samples, n_none, strict=True) if not n]


def _reads_all(words: Sequence[str], notation: Notation) -> bool:
    return not np.isnan(notation.read_numbers(pd.Series(words, dtype=object))).any()


def _are_booleans(values: Iterable[object]) -> np.ndarray:
    return np.array([isinstance(value, bool | np.bool_) for value in values], dtype=bool)


def _are_at(sign: str, words: Sequence[str]) -> np.ndarray:
    return np.array([sign in word for word in words], dtype=bool)


def _are_in(marks: frozenset[str], words: Sequence[str]) -> np.ndarray:
    return np.array([word in marks for word in words], dtype=bool)


def _count(words: Sequence[str], counts: np.ndarray, is_counted: np.ndarray) -> dict[str, int]:
    counted: dict[str, int] = {}
    for i in np.flatnonzero(is_counted):
        counted[words[i]] = counted.get(words[i], 0) + int(counts[i])
    return counted
