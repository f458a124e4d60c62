"""Neighbouring tables for replays: with targets that are classes 0, 1, 2 or numbers from 0 to 2, as a subject has them.

The records that differ are meant to hurt: alone in a class and a category, the largest of a column, the only one of
another class or the second one, far out of bounds, a label against that of its twin, from one corner of the domain to
the other.
"""

from __future__ import annotations

import numpy as np

from algorithms import Domain
from experiments.audit.neighbouring_tables import Records, TablePair, add_record, replace_last
from experiments.audit.subjects import CLASS_TARGET, FEATURES

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
    """Return records as arrays of features and targets, which ``fit`` takes for classes and for numbers alike.

    Examples
    --------
    >>> make_arrays(((8.0, 1.0, 2.0, 0.0),))
    (array([[8., 1., 2.]]), array([0.]))
    """
    matrix = np.array(records, dtype=np.float64)
    return np.ascontiguousarray(matrix[:, :-1]), matrix[:, -1].copy()
