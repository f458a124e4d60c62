"""How a file writes numbers and missing values, and what its cells are by that.

A cell of text is a number as the notation says or it is none: where the decimal sign is a comma, ``5.5`` is a word.
Cells that are numbers already, as those of Excel and Parquet, stay as they are.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from algorithms.encoding import later_pandas as pd
from algorithms.encoding.cells import is_missing
from datasets import table

BLANKS = " \u00a0\u2009\u202f"
"""The blank, and those that do not end a line: all group digits where one does."""
_APOSTROPHES = "'\u2019"
_MOMENTS = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


@dataclass(frozen=True)
class Notation:
    """How a file writes numbers, dates and missing values.

    Parameters
    ----------
    decimal : {".", ","}
        The decimal sign.
    thousands : str
        What groups digits; empty if nothing does.
    signs : tuple of str
        Signs of currencies and the like, which are taken off numbers.
    missing : tuple of str
        Words that stand for a missing value, besides an empty cell, ``?`` and ``nan``.
    dates : tuple of (str, str)
        Columns of dates, and how each writes them, as `datetime.datetime.strptime` reads it.

    Examples
    --------
    >>> german = Notation(decimal=",", thousands=".", signs=("€",), missing=("-",))
    >>> german.spell_numbers(pd.Series(["1.234,5 €", "-0,5", "5.5", 2.5])).tolist()
    ['1234.5', '-0.5', None, 2.5]
    >>> german.find_missing(pd.Series(["1", "-", " ", None, "?", "NaN"])).tolist()
    [False, True, True, True, True, True]
    """

    decimal: str = "."
    thousands: str = ""
    signs: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    dates: tuple[tuple[str, str], ...] = ()

    def find_missing(self, cells: pd.Series, declared: Collection[str] = ()) -> np.ndarray:
        """Return which cells of a column are missing; a word that is a declared category is none of them."""
        words = set(self.missing) - set(declared)
        has_numbers = not _are_no_numbers(words)
        if cells.dtype.kind in "iuf" and not has_numbers:
            return cells.isna().to_numpy(dtype=bool)
        codes, values = pd.factorize(cells)
        is_asked = _are_doubtful(values) | has_numbers
        is_missing = np.append(np.zeros(len(values), dtype=bool), True)  # code -1, an empty cell, is the last
        is_missing[:-1][is_asked] = [is_empty(one) or table.clean_label(one) in words for one in values[is_asked]]
        return is_missing[codes]

    def spell_numbers(self, cells: pd.Series) -> pd.Series:
        """Return a column whose numbers are spelled as Python spells them, with None for what is no number."""
        if cells.dtype.kind in "iuf" or self.reads_plainly(cells):
            return cells
        codes, spelled = self._spell_distinct(cells)
        return pd.Series(spelled[codes], dtype=object)

    @property
    def reads_numbers_plainly(self) -> bool:
        """Whether all that pandas reads as a number is one, and that one."""
        return self._is_plain and _are_no_numbers(self.missing)

    def reads_plainly(self, cells: pd.Series) -> bool:
        """Tell whether a column of text holds nothing but numbers as Python has them, and empty cells: a quick look."""
        if not self._is_plain or not pd.api.types.is_string_dtype(cells.dtype):
            return False
        is_known = cells.notna().to_numpy()
        return bool(is_known.any() and table.find_numbers(cells)[is_known].all())

    def read_numbers(self, cells: pd.Series) -> np.ndarray:
        """Return a column as float64, each number as it is written; what is no number is NaN."""
        if cells.dtype.kind in "iuf" or self.reads_plainly(cells):
            return table.read_exactly(cells)
        codes, spelled = self._spell_distinct(cells)
        return table.read_exactly(pd.Series(spelled, dtype=object))[codes]

    def _spell_distinct(self, cells: pd.Series) -> tuple[np.ndarray, np.ndarray]:
        """Return which of the different numbers each cell is, and their spelling; None, for no number, is the last."""
        codes, values = pd.factorize(cells)
        spelled = np.append(np.asarray(values, dtype=object), None)
        is_asked = _are_doubtful(values) | (not self._is_plain)
        spelled[:-1][is_asked] = [self._spell(value) for value in values[is_asked]]
        return codes, spelled

    def _spell(self, value: object) -> object:
        if isinstance(value, _MOMENTS):
            return None
        if not isinstance(value, str):
            return int(value) if isinstance(value, bool | np.bool_) else value
        text = self.take_signs_off(value.replace("\u2212", "-").strip())
        if self._is_plain:
            return text
        match = self._pattern.fullmatch(text)
        if not match:
            return None
        whole, rest = match.groups()
        for sign in self._groupers:
            whole = whole.replace(sign, "")
        return whole + rest.replace(",", ".")

    def take_signs_off(self, text: str) -> str:
        """Return a number without the signs before or after it."""
        if not any(sign in text for sign in self.signs):
            return text.strip()
        minus = ""
        for sign in self.signs:
            if text.startswith(("-", "+")) and text[1:].lstrip().startswith(sign):
                minus, text = text[0], text[1:].lstrip()
            text = minus + text.removeprefix(sign).removesuffix(sign).strip()
            minus = ""
        return text

    @property
    def _is_plain(self) -> bool:
        return self.decimal == "." and not self.thousands

    @cached_property
    def _groupers(self) -> str:
        return {" ": BLANKS, "'": _APOSTROPHES}.get(self.thousands, self.thousands)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        decimal = re.escape(self.decimal)
        group = f"[{re.escape(self._groupers)}]" if self.thousands else None
        whole = (
            rf"\d{{1,3}}(?:{group}\d{{2,3}})*{group}\d{{3}}|\d*" if group else r"\d*"
        )  # Indian groups have two digits
        return re.compile(
            rf"([+-]?(?:{whole}))((?<=\d)(?:{decimal}\d*)?(?:[eE][+-]?\d+)?|{decimal}\d+(?:[eE][+-]?\d+)?)"
        )


def is_empty(value: object) -> bool:
    """Tell whether a cell is missing whatever a file says: nothing, ``?`` or NaN.

    Examples
    --------
    >>> [is_empty(value) for value in (None, " ", "?", "nan", "NA", 0)]
    [True, True, True, True, False, False]
    """
    return table.clean_label(value) is None or is_missing(value)


def _are_no_numbers(words: Collection[str]) -> bool:
    is_number = table.find_numbers(pd.Series(list(words), dtype=object))
    return not is_number.any() and not any(map(_is_number_of_python, words))


def _is_number_of_python(word: str) -> bool:
    """Tell whether Python reads a word as a number, such as ``1_000``: pandas does so where it looks for marks."""
    try:
        return not math.isnan(float(word))
    except ValueError:
        return False


def _are_doubtful(values: np.ndarray | pd.Index) -> np.ndarray:
    """Return which different cells have to be looked at one by one: all but numbers, and text that reads as one."""
    if values.dtype.kind in "iuf":
        return np.zeros(len(values), dtype=bool)
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(values.dtype.categories.dtype)
    if not isinstance(values.dtype, pd.StringDtype):
        return np.ones(len(values), dtype=bool)
    return ~table.find_numbers(pd.Series(values))


def map_distinct(cells: pd.Series, function: Callable, of_none: object) -> np.ndarray:
    """Return what a function makes of each cell, asked once for each distinct value; an array of objects."""
    codes, values = pd.factorize(cells)  # takes True for 1 and 1.0, in whatever column they stand together
    made = np.empty(len(values) + 1, dtype=object)
    made[:-1] = [function(value) for value in values]
    made[-1] = of_none
    return made[codes]
