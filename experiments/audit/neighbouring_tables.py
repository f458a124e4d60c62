"""Neighbouring tables that are built to hurt, as data.

Each stands for one way in which a single record shows: it is alone in its leaf, it breaks a tie, it holds the maximum
of a column. The domain is public and the same for both tables; how they differ is counted, not believed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Nominal

Record = tuple
"""Values of the features in the order of the domain, and last the target."""


@dataclass(frozen=True)
class Pair:
    """Two neighbouring tables.

    Parameters
    ----------
    name : str
        What is special about the record in which they differ.
    domain : Domain
        Public description of both, target included.
    table, neighbour : tuple of Record
        The tables, in order.
    trees, splits : int
        Size of the forest that is trained on them: number of trees, and levels of splits. Composition over trees and
        levels is the same for any size, and a small forest hides less.
    worth : int
        How many times as many trainings it is worth as another pair.

    Raises
    ------
    ValueError
        If the tables differ by anything but one record added or replaced.

    Examples
    --------
    >>> pair = Pair("one more", Domain((Nominal("a", (0, 1)),), Nominal("y", (0, 1))), ((0, 0),), ((0, 0), (1, 0)))
    >>> pair.neighbours, pair.differing
    ('one record added or removed', ((1, 0),))
    """

    name: str
    domain: Domain
    table: tuple[Record, ...]
    neighbour: tuple[Record, ...]
    trees: int = 1
    splits: int = 1
    worth: int = 1

    def __post_init__(self):
        if (len(self._lost), len(self._gained)) not in ((0, 1), (1, 1)):
            raise ValueError(f"{self.name}: the tables differ by {len(self._lost)} and {len(self._gained)} records")

    @property
    def neighbours(self) -> str:
        """The relation that the tables stand in, a constant of ``algorithms.accounting``."""
        return REPLACED if self._lost else ADDED_OR_REMOVED

    @property
    def differing(self) -> tuple[Record, ...]:
        """The records that only one of the tables has: that of the neighbour first."""
        return self._gained + self._lost

    @cached_property
    def _gained(self) -> tuple[Record, ...]:
        return tuple((Counter(self.neighbour) - Counter(self.table)).elements())

    @cached_property
    def _lost(self) -> tuple[Record, ...]:
        return tuple((Counter(self.table) - Counter(self.neighbour)).elements())

    def probes(self) -> pd.DataFrame:
        """Return every row that occurs in either table once, without targets; those that differ come first."""
        records = dict.fromkeys(record[:-1] for record in self.differing + self.table)
        return pd.DataFrame(list(records), columns=self.domain.names)


def training_rows(domain: Domain, records: tuple[Record, ...]) -> tuple[pd.DataFrame, list]:
    """Return records as ``fit`` takes them: a frame and a list of targets.

    Examples
    --------
    >>> training_rows(Domain((Nominal("a", (0, 1)),)), ((0, "no"), (1, "yes")))
    (   a
    0  0
    1  1, ['no', 'yes'])
    """
    return pd.DataFrame([record[:-1] for record in records], columns=domain.names), [record[-1] for record in records]


_NOMINAL = (Nominal("colour", ("red", "green", "blue")), Nominal("size", ("small", "large")))
_ANSWER = Nominal("answer", ("no", "yes"))
_TABLE = Domain(_NOMINAL, _ANSWER)
_MEASURED = Domain((Continuous("length", 0, 10), Nominal("size", ("small", "large"))), _ANSWER)
_MANY = Domain(_NOMINAL, Nominal("answer", tuple(f"class {i:02d}" for i in range(64))))
_THREE = Domain(_NOMINAL, Nominal("answer", ("no", "perhaps", "yes")))

_RED_NO, _RED_YES = ("red", "small", "no"), ("red", "small", "yes")
_MIXED = (_RED_NO, ("green", "large", "yes"), ("red", "large", "no"), ("green", "small", "yes")) * 3
_EVEN = 4 * (("red", "small", "no"), ("green", "large", "yes")) + (("red", "large", "no"), ("red", "large", "yes"))
_LENGTHS = tuple(
    (length, "small", "no" if length < 5 else "yes") for length in (3.0, 3.5, 4.0, 4.5, 5.5, 6.0, 6.5, 7.0)
)
_EACH = tuple(("red", "small", f"class {i:02d}") for i in range(64))


def _and(records: tuple[Record, ...], record: Record) -> tuple[Record, ...]:
    return (*records, record)


_NOTHING = Domain((Nominal("colour", ("red",)),), Nominal("answer", ("no", "yes")))
_TIED = 5 * (("red", "no"), ("red", "yes"))

CLASSES = (
    Pair("alone in its leaf", _TABLE, 8 * (_RED_NO,), _and(8 * (_RED_NO,), ("blue", "large", "yes"))),
    Pair("breaks a tie of the classes", _TABLE, 5 * (_RED_NO, _RED_YES), _and(5 * (_RED_NO, _RED_YES), _RED_YES)),
    Pair("breaks a tie, nothing to ask", _NOTHING, _TIED, _and(_TIED, ("red", "yes")), splits=0),
    Pair("flips the best split", _TABLE, _EVEN, _and(_EVEN, ("red", "small", "no"))),
    Pair("holds the maximum of a column", _MEASURED, _LENGTHS, _and(_LENGTHS, (9.5, "small", "no"))),
    Pair("holds the minimum of a column", _MEASURED, _LENGTHS, _and(_LENGTHS, (0.5, "small", "yes"))),
    Pair("the only one of its class", _THREE, _MIXED, _and(_MIXED, ("red", "small", "perhaps")), trees=3),
    Pair("the only one of its category", _TABLE, _MIXED, _and(_MIXED, ("blue", "small", "no")), trees=2, splits=2),
    Pair("first in order", _TABLE, _MIXED, (("green", "small", "no"), *_MIXED), trees=2),
    Pair("one more of one of 64 classes", _MANY, _EACH, _and(_EACH, _EACH[0])),
    Pair("a replaced label", _TABLE, 6 * (_RED_NO,), _and(5 * (_RED_NO,), _RED_YES)),
)
"""For classification forests."""

_NUMBERS = Domain((Continuous("length", 0, 10), Nominal("size", ("small", "large"))), Continuous("weight", 0, 10))
_WEIGHTS = tuple((length, "small", length) for length in (3.0, 3.5, 4.0, 4.5, 5.5, 6.0, 6.5, 7.0))
_LIGHT = 8 * ((5.0, "small", 0.0),)

NUMBERS = (
    Pair("alone in its leaf", _NUMBERS, _LIGHT, _and(_LIGHT, (5.0, "large", 10.0))),
    Pair("the only record", _NUMBERS, ((5.0, "small", 0.0),), ((5.0, "small", 0.0), (5.0, "small", 10.0))),
    Pair("holds the maximum of a column", _NUMBERS, _WEIGHTS, _and(_WEIGHTS, (9.5, "small", 0.0))),
    Pair("far out of bounds", _NUMBERS, _WEIGHTS, _and(_WEIGHTS, (1000.0, "small", -1000.0)), trees=2),
    Pair("first in order", _NUMBERS, _WEIGHTS, ((5.0, "large", 0.0), *_WEIGHTS), trees=3),
    Pair("a replaced target", _NUMBERS, _LIGHT, _and(_LIGHT[1:], (5.0, "small", 10.0))),
)
"""For regression forests."""

_LINE = Domain((Continuous("x", -1, 1),), Continuous("y", -1, 1))
_PLANE = Domain((Continuous("x", -1, 1), Continuous("z", -1, 1)), Continuous("y", -1, 1))
_CORNERS = 10 * ((1.0, 1.0),)
_PLANE_CORNERS = 10 * ((1.0, 1.0, 1.0),)

COEFFICIENTS = (
    Pair("from the corner (1, 1) to (1, −1)", _LINE, _CORNERS, _and(_CORNERS[1:], (1.0, -1.0))),
    Pair("from the corner (1, 1) to the middle", _LINE, _CORNERS, _and(_CORNERS[1:], (0.0, 0.0))),
    Pair("from the corner (1, 1) to far out of bounds", _LINE, _CORNERS, _and(_CORNERS[1:], (100.0, -100.0))),
    Pair("from (1, 1, 1) to (1, −1, −1)", _PLANE, _PLANE_CORNERS, _and(_PLANE_CORNERS[1:], (1.0, -1.0, -1.0))),
)
"""For regressions that release the coefficients of their objective, calibrated for a record replaced."""

MOMENTS = (
    Pair("one more in the corner (1, 1)", _LINE, _CORNERS, _and(_CORNERS, (1.0, 1.0))),
    Pair("one more in the corner (1, 1, 1)", _PLANE, _PLANE_CORNERS, _and(_PLANE_CORNERS, (1.0, 1.0, 1.0))),
    Pair("one more far out of bounds", _PLANE, _PLANE_CORNERS, _and(_PLANE_CORNERS, (100.0, 100.0, -100.0))),
    Pair("from (1, 1, 1) to (1, −1, −1)", _PLANE, _PLANE_CORNERS, _and(_PLANE_CORNERS[1:], (1.0, -1.0, -1.0))),
)
"""For their sound variants: a corner moves every coefficient as far as a record that is added can."""

_CLUSTER = tuple(
    (length, "small", "no" if length < 5 else "yes") for length in (4.8, 4.9, 4.9, 5.0, 5.1, 5.1, 5.2, 5.2)
)

RELEASES = (
    Pair("an isolated outlier", _MEASURED, _CLUSTER, _and(_CLUSTER, (10.0, "large", "yes"))),
    Pair("the only one of its class", _THREE, _MIXED, _and(_MIXED, ("red", "small", "perhaps"))),
    Pair("first in order", _TABLE, _MIXED, (("green", "small", "no"), *_MIXED)),
    Pair("a replaced label", _TABLE, 6 * (_RED_NO,), _and(5 * (_RED_NO,), _RED_YES)),
)
"""For samplers that release rows in place of the training rows."""
