"""A field of a release, and what it may hold: a release is data from a stranger.

Each kind of release says in ``from_contents`` what its fields are, of which type and shape, and from where to where.
Nothing is cut, rounded or guessed, and nothing is made that is larger than what stands in the file.
"""

from __future__ import annotations

import reprlib
from collections.abc import Collection
from itertools import chain
from typing import NoReturn

import numpy as np

LARGEST = 1e100
"""Largest absolute value of a number, far beyond any noise: products of two, and sums of many, are finite."""

SMALLEST = 1e-100
"""Smallest value of what is above 0: whatever is divided by it is finite."""

ROUNDING = 1e-9
"""How far rounding may have moved a number, as a share of its range."""

DEEPEST = 8
"""How deep lists, or the events of a ledger, may stand in each other."""


class ReleaseError(ValueError):
    """A model must not leave, or a file is no release."""


class Field:
    """A value that JSON holds, and the path that leads to it.

    Each method is a ``ReleaseError`` that says what the value must be, if it is not that.

    Parameters
    ----------
    value : object
        What stands there.
    path : str
        Where, for example ``contents.trees[0].child``; nothing for the whole file.

    Examples
    --------
    >>> Field({"at": [1, -1, 1.9]}, "").entries("at")["at"].whole_numbers(3, lowest=-1, highest=2)
    Traceback (most recent call last):
    algorithms.released.field.ReleaseError: this release is damaged: at[2] must be a whole number from -1 to 2, got 1.9
    """

    def __init__(self, value, path: str):
        self.value = value
        self.path = path

    def refuse(self, must: str) -> NoReturn:
        """Raise the error: ``must`` goes on after the path."""
        where = self.path or "the file"
        raise ReleaseError(f"this release is damaged: {where} {must}, got {reprlib.repr(self.value)}")

    def refuse_where(self, is_wrong: np.ndarray, must: str) -> None:
        """Refuse the first number of an array of which ``is_wrong``, of the same shape, is true."""
        if is_wrong.any():
            self.at(*np.argwhere(is_wrong)[0]).refuse(must)

    def at(self, *place: int) -> Field:
        """Return what stands at a place of nested lists."""
        value = self.value
        for i in place:
            value = value[i]
        return Field(value, self.path + "".join(f"[{i}]" for i in place))

    def entries(self, *names: str, maybe: Collection[str] = ()) -> dict[str, Field]:
        """Return the fields of an object that has these names, ``maybe`` others that are given, and no more."""
        fields = self.named()
        for name in names:
            if name not in fields:
                self.refuse(f"must have {name!r}")
        for name in fields:
            if name not in names and name not in maybe:
                self.refuse(f"must not have {reprlib.repr(name)}")
        return fields

    def named(self) -> dict[str, Field]:
        """Return the fields of an object, whatever their names are."""
        if type(self.value) is not dict or not all(map(_is_unicode, self.value)):
            self.refuse("must be an object, its names Unicode")
        return {name: Field(value, self._name_path(name)) for name, value in self.value.items()}

    def _name_path(self, name: str) -> str:
        if not name.isidentifier() or len(name) > 40:
            return f"{self.path}[{reprlib.repr(name)}]"
        return f"{self.path}.{name}" if self.path else name

    def items(self, fewest: int = 0) -> list[Field]:
        """Return the fields of a list, of which there are ``fewest`` or more."""
        if type(self.value) is not list or len(self.value) < fewest:
            self.refuse(f"must be a list of {fewest} or more" if fewest else "must be a list")
        return [self.at(i) for i in range(len(self.value))]

    def text(self) -> str:
        """Return a text."""
        if type(self.value) is not str or not _is_unicode(self.value):
            self.refuse("must be Unicode text")
        return self.value

    def flag(self) -> bool:
        """Return true or false."""
        if type(self.value) is not bool:
            self.refuse("must be true or false")
        return self.value

    def one_of(self, choices: Collection[str]) -> str:
        """Return one of some words."""
        if type(self.value) is not str or self.value not in choices:
            self.refuse(f"must be one of {', '.join(map(repr, choices))}")
        return self.value

    def cell(self) -> str | float | bool | None:
        """Return what may stand in a column: text, a number, true or false, or null."""
        if type(self.value) is str:
            return self.text()
        if self.value is None or type(self.value) is bool:
            return self.value
        if type(self.value) not in (int, float) or not -LARGEST <= self.value <= LARGEST:
            self.refuse(f"must be text, true, false, null, or a number from {-LARGEST:g} to {LARGEST:g}")
        return self.value

    def cells(self, deepest: int = DEEPEST) -> str | float | bool | list | None:
        """Return a cell, or lists of them in each other."""
        if type(self.value) is list and deepest:
            return [each.cells(deepest - 1) for each in self.items()]
        return self.cell()

    def whole(self, *, lowest: int, highest: int) -> int:
        """Return a whole number."""
        return int(self.whole_numbers(lowest=lowest, highest=highest))

    def number(self, *, lowest: float = -LARGEST, highest: float = LARGEST) -> float:
        """Return a number."""
        return float(self.numbers(lowest=lowest, highest=highest))

    def whole_numbers(self, *shape: int | None, lowest: int, highest: int, dtype=np.int64) -> np.ndarray:
        """Return an array of a shape in which None stands for any length; no shape is a single number."""
        return self._read_array(shape, (int,), f"a whole number from {lowest} to {highest}", lowest, highest, dtype)

    def numbers(
        self, *shape: int | None, lowest: float = -LARGEST, highest: float = LARGEST, may_lack: bool = False
    ) -> np.ndarray:
        """Return the same of other numbers; where they ``may_lack``, null is NaN."""
        noun = f"a number from {lowest:g} to {highest:g}{' or null' if may_lack else ''}"
        types = (int, float, type(None)) if may_lack else (int, float)
        return self._read_array(shape, types, noun, lowest, highest, np.float64)

    def _read_array(self, shape, types: Collection[type], noun: str, lowest, highest, dtype) -> np.ndarray:
        cells, lengths = [self.value], ()
        for length in shape:
            if length is None:
                length = len(cells[0]) if cells and type(cells[0]) is list else 0
            for i, cell in enumerate(cells):
                if type(cell) is not list or len(cell) != length:
                    self.at(*np.unravel_index(i, lengths)).refuse(f"must be a list of {length}")
            cells, lengths = list(chain.from_iterable(cells)), (*lengths, length)
        for i, cell in enumerate(cells):
            if type(cell) not in types or (cell is not None and not lowest <= cell <= highest):
                self.at(*np.unravel_index(i, lengths)).refuse(f"must be {noun}")
        return np.array(cells, dtype=dtype).reshape(lengths)


def _is_unicode(text: str) -> bool:
    """Tell whether a text can be printed and written: JSON can spell halves of characters, which stand for nothing."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def has_two_parents(first: np.ndarray, n_children: np.ndarray) -> np.ndarray:
    """Return which groups of children, nodes in a row from ``first`` on, have a node of another group: bool (m,).

    Parameters
    ----------
    first, n_children : int64 arrays of shape (m,)
        Number of the first node of each group, and how many nodes it has.

    Examples
    --------
    >>> has_two_parents(np.array([1, 3, 4]), np.array([2, 2, 2]))
    array([False, False,  True])
    """
    order = np.argsort(first, kind="stable")
    ends = first[order] + n_children[order]
    is_shared = np.zeros(len(first), dtype=bool)
    is_shared[order[1:]] = ends[:-1] > first[order[1:]]
    return is_shared
