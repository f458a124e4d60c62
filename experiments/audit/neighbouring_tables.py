"""Neighbouring tables that are built to hurt, as data.

Each stands for one way in which a single record shows: it is alone in its leaf, it breaks a tie, it holds the maximum
of a column. The domain is public and the same for both tables; how they differ is counted, not believed. Those of
replays have targets that are classes 0, 1, 2 or numbers from 0 to 2, as a subject has them.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Nominal
from experiments.audit.subjects import CLASS_TARGET, FEATURES

RecordValues = tuple  #: values of the features in the order of the domain, and last the target
Records = tuple[RecordValues, ...]


@dataclass(frozen=True)
class TablePair:
    """Two neighbouring tables, which differ by one record added, removed or replaced; else a ValueError.

    Examples
    --------
    >>> pair = TablePair("one more", Domain((Nominal("a", (0, 1)),), Nominal("y", (0, 1))), ((0, 0),), ((0, 0), (1, 0)))
    >>> pair.neighbours, pair.differing_records
    ('one record added or removed', ((1, 0),))
    """

    name: str  #: what is special about the record in which they differ
    domain: Domain  #: public description of both, target included
    table: Records
    neighbour: Records
    # Size of the forest that is trained on them, its trees and levels of splits. Composition over trees and levels is
    # the same for any size, and a small forest hides less.
    trees: int = 1
    splits: int = 1
    worth: int = 1  #: how many times as many trainings it is worth as another pair
    epsilon: float | None = None  #: what is to be claimed on it, such as a printed budget; None for what the audit asks

    def __post_init__(self):
        n_lost, n_gained = len(self.lost_records), len(self.gained_records)
        if (n_lost, n_gained) not in ((0, 1), (1, 0), (1, 1)):
            raise ValueError(f"{self.name}: the tables differ by {n_lost} and {n_gained} records")

    @property
    def neighbours(self) -> str:
        """The relation that the tables stand in, a constant of ``algorithms.accounting``."""
        return REPLACED if self.lost_records and self.gained_records else ADDED_OR_REMOVED

    @property
    def differing_records(self) -> Records:
        """The records that only one of the tables has: that of the neighbour first."""
        return self.gained_records + self.lost_records

    @cached_property
    def gained_records(self) -> Records:
        """The records that only the neighbour has."""
        return tuple((Counter(self.neighbour) - Counter(self.table)).elements())

    @cached_property
    def lost_records(self) -> Records:
        """The records that only the table has."""
        return tuple((Counter(self.table) - Counter(self.neighbour)).elements())

    def probe_rows(self) -> pd.DataFrame:
        """Return every row that occurs in either table once, without targets; those that differ come first."""
        rows = dict.fromkeys(record[:-1] for record in self.differing_records + self.table)
        return pd.DataFrame(list(rows), columns=self.domain.names)


def split_targets(domain: Domain, records: Records) -> tuple[pd.DataFrame, list]:
    """Split records into a frame of features and a list of targets, as ``fit`` takes them.

    Examples
    --------
    >>> split_targets(Domain((Nominal("a", (0, 1)),)), ((0, "no"), (1, "yes")))
    (   a
    0  0
    1  1, ['no', 'yes'])
    """
    rows, targets = [], []
    for *values, target in records:
        rows.append(values)
        targets.append(target)
    return pd.DataFrame(rows, columns=domain.names), targets


def add_record(name: str, domain: Domain, table: Records, record: RecordValues, **size: int) -> TablePair:
    """Return a table and its neighbour, which has a record more, the last one."""
    return TablePair(name, domain, table, (*table, record), **size)


def replace_last(name: str, domain: Domain, table: Records, record: RecordValues) -> TablePair:
    """Return a table and its neighbour, which has another record in place of the last one."""
    return TablePair(name, domain, table, (*table[:-1], record))


_NOMINAL = (Nominal("colour", ("red", "green", "blue")), Nominal("size", ("small", "large")))
_ANSWER = Nominal("answer", ("no", "yes"))
_TABLE = Domain(_NOMINAL, _ANSWER)
_MEASURED = Domain((Continuous("length", 0, 10), Nominal("size", ("small", "large"))), _ANSWER)
_MANY_CLASSES = tuple(f"class {i:02d}" for i in range(64))
_MANY = Domain(_NOMINAL, Nominal("answer", _MANY_CLASSES))
_THREE = Domain(_NOMINAL, Nominal("answer", ("no", "perhaps", "yes")))
_NOTHING = Domain((Nominal("colour", ("red",)),), _ANSWER)

_RED_NO, _RED_YES = ("red", "small", "no"), ("red", "small", "yes")
_ALIKE, _TIED = 8 * (_RED_NO,), 5 * (_RED_NO, _RED_YES)
_MIXED = (_RED_NO, ("green", "large", "yes"), ("red", "large", "no"), ("green", "small", "yes")) * 3
_EVEN = 4 * (("red", "small", "no"), ("green", "large", "yes")) + (("red", "large", "no"), ("red", "large", "yes"))
_EACH = tuple(itertools.product(["red"], ["small"], _MANY_CLASSES))


def _label_lengths(*lengths: float) -> Records:
    """Return small records of some lengths, of which only those of at least 5 have the answer yes."""
    return tuple((length, "small", "no" if length < 5 else "yes") for length in lengths)


_LENGTHS = _label_lengths(3.0, 3.5, 4.0, 4.5, 5.5, 6.0, 6.5, 7.0)
_REPLACED_LABEL = replace_last("a replaced label", _TABLE, 6 * (_RED_NO,), _RED_YES)

CLASSIFICATION_PAIRS = (
    add_record("alone in its leaf", _TABLE, _ALIKE, ("blue", "large", "yes")),
    add_record("breaks a tie of the classes", _TABLE, _TIED, _RED_YES),
    add_record("breaks a tie, nothing to ask", _NOTHING, 5 * (("red", "no"), ("red", "yes")), ("red", "yes"), splits=0),
    add_record("flips the best split", _TABLE, _EVEN, _RED_NO),
    add_record("holds the maximum of a column", _MEASURED, _LENGTHS, (9.5, "small", "no")),
    add_record("holds the minimum of a column", _MEASURED, _LENGTHS, (0.5, "small", "yes")),
    add_record("the only one of its class", _THREE, _MIXED, ("red", "small", "perhaps"), trees=3),
    add_record("the only one of its category", _TABLE, _MIXED, ("blue", "small", "no"), trees=2, splits=2),
    TablePair("first in order", _TABLE, _MIXED, (("green", "small", "no"), *_MIXED), trees=2),
    add_record("one more of one of 64 classes", _MANY, _EACH, _EACH[0]),
    _REPLACED_LABEL,
)
"""For classification forests."""

_NUMBERS = Domain((Continuous("length", 0, 10), Nominal("size", ("small", "large"))), Continuous("weight", 0, 10))
_WEIGHTS = tuple((length, "small", length) for length in (3.0, 3.5, 4.0, 4.5, 5.5, 6.0, 6.5, 7.0))
_LIGHT = 8 * ((5.0, "small", 0.0),)

REGRESSION_PAIRS = (
    add_record("alone in its leaf", _NUMBERS, _LIGHT, (5.0, "large", 10.0)),
    add_record("the only record", _NUMBERS, _LIGHT[:1], (5.0, "small", 10.0)),
    add_record("holds the maximum of a column", _NUMBERS, _WEIGHTS, (9.5, "small", 0.0)),
    add_record("far out of bounds", _NUMBERS, _WEIGHTS, (1000.0, "small", -1000.0), trees=2),
    TablePair("first in order", _NUMBERS, _WEIGHTS, ((5.0, "large", 0.0), *_WEIGHTS), trees=3),
    replace_last("a replaced target", _NUMBERS, _LIGHT, (5.0, "small", 10.0)),
)
"""For regression forests."""

_LINE = Domain((Continuous("x", -1, 1),), Continuous("y", -1, 1))
_PLANE = Domain((Continuous("x", -1, 1), Continuous("z", -1, 1)), Continuous("y", -1, 1))
_CORNERS = 10 * ((1.0, 1.0),)
_PLANE_CORNERS = 10 * ((1.0, 1.0, 1.0),)
_ACROSS = replace_last("from (1, 1, 1) to (1, −1, −1)", _PLANE, _PLANE_CORNERS, (1.0, -1.0, -1.0))

COEFFICIENT_PAIRS = (
    replace_last("from the corner (1, 1) to (1, −1)", _LINE, _CORNERS, (1.0, -1.0)),
    replace_last("from the corner (1, 1) to the middle", _LINE, _CORNERS, (0.0, 0.0)),
    replace_last("from the corner (1, 1) to far out of bounds", _LINE, _CORNERS, (100.0, -100.0)),
    _ACROSS,
)
"""For regressions that release the coefficients of their objective, calibrated for a record replaced."""

MOMENT_PAIRS = (
    add_record("one more in the corner (1, 1)", _LINE, _CORNERS, (1.0, 1.0)),
    add_record("one more in the corner (1, 1, 1)", _PLANE, _PLANE_CORNERS, (1.0, 1.0, 1.0)),
    add_record("one more far out of bounds", _PLANE, _PLANE_CORNERS, (100.0, 100.0, -100.0)),
    _ACROSS,
)
"""For their sound variants: a corner moves every coefficient as far as a record that is added can."""

_CLUSTER = _label_lengths(4.8, 4.9, 4.9, 5.0, 5.1, 5.1, 5.2, 5.2)

RELEASE_PAIRS = (
    add_record("an isolated outlier", _MEASURED, _CLUSTER, (10.0, "large", "yes")),
    add_record("the only one of its class", _THREE, _MIXED, ("red", "small", "perhaps")),
    TablePair("first in order", _TABLE, _MIXED, (("green", "small", "no"), *_MIXED)),
    _REPLACED_LABEL,
)
"""For samplers that release rows in place of the training rows."""


# For replays.

DOMAIN = Domain(FEATURES, CLASS_TARGET)
CORNER, OPPOSITE, MIDDLE = (8.0, 1.0, 2.0), (0.0, 0.0, 0.0), (3.5, 1.0, 0.0)
N_ROWS = 20


def build_replay_pairs() -> list[TablePair]:
    """Return small neighbouring tables: a record added, the same one removed, and records replaced.

    Examples
    --------
    >>> sorted({(len(pair.table), len(pair.neighbour)) for pair in build_replay_pairs()})
    [(20, 20), (20, 21), (21, 20)]
    """
    mixed, plain = _draw_table(n_classes=3), _draw_table(n_classes=2)
    alike = tuple((*values, 0.0) for *values, _ in plain)
    additions = [
        ("a record of the usual kind", mixed, (*MIDDLE, 1.0)),
        ("alone in its class and category, largest of a column", plain, (*CORNER, 2.0)),
        ("the only one of another class", alike, (*MIDDLE, 2.0)),
        ("the second one of another class", (*alike[1:], (*MIDDLE, 2.0)), (*MIDDLE, 2.0)),
        ("far above its bounds", mixed, (1e3, 1.0, 2.0, 1.0)),
        ("far below its bounds", mixed, (-1e3, 0.0, 0.0, 1.0)),
    ]
    replacements = [  # of the last record, by another one first
        ("its label", mixed, (*MIDDLE, 0.0), (*MIDDLE, 2.0)),
        ("from corner to corner", mixed, (*CORNER, 2.0), (*OPPOSITE, 0.0)),
        ("alone in its category, by another", plain, (*CORNER, 2.0), (*MIDDLE, 2.0)),
        ("the only one of another class", alike, (*MIDDLE, 2.0), (*MIDDLE, 0.0)),
        ("its label, in a corner", alike, (*CORNER, 0.0), (*CORNER, 2.0)),
    ]
    pairs = []
    for name, table, record in additions:
        pairs.append(added := add_record(f"added: {name}", DOMAIN, table, record))
        pairs.append(TablePair(f"removed: {name}", DOMAIN, added.neighbour, table))
    for name, table, record, other in replacements:
        pairs.append(replace_last(f"replaced: {name}", DOMAIN, (*table[:-1], record), other))
    return pairs


def _draw_table(n_classes: int) -> Records:
    """Return a table that leaves room for an outlier: with two classes one category of b is missing, too."""
    rng = np.random.default_rng(0)
    x, a, b = rng.integers(2, 15, N_ROWS) / 2, rng.integers(2, size=N_ROWS), rng.integers(2, size=N_ROWS)
    if n_classes == 3:
        b = rng.integers(3, size=N_ROWS)
    y = rng.integers(n_classes, size=N_ROWS)
    return tuple(map(tuple, np.column_stack([x, a, b, y]).tolist()))


def make_arrays(records: Records) -> tuple[np.ndarray, np.ndarray]:
    """Return records as arrays of features and targets, which ``fit`` takes for classes and for numbers alike."""
    matrix = np.array(records, dtype=np.float64)
    return np.ascontiguousarray(matrix[:, :-1]), matrix[:, -1].copy()
