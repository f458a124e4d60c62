"""Attacks on real releases: noise by OpenDP, from tables that are built to slip past the mechanisms.

The other layers look at mechanisms. This one takes the way of a user, ``fit(...).release()``, and counts what comes
out: what a release predicts, tree by tree, and whether there is one at all.
The attacker knows the code, the domain, every parameter, ``random_state`` included, and all records but one. Tables
differ

- in their first record, where the others have their places behind it: whoever knows a seed could tell their trees;
- in a record with a cell that no other has: text among numbers, a fraction in a list, a missing value, infinity, a
  number too large, a category or class that nobody declared, too few cells. What is read of the others must not change,
  nothing may be raised, and no message may tell;
- in their only record, or in one that is replaced by a record that cannot be read.

All runs in plain Python, in processes of its own (`attack_in_processes`), as replays do: a few hundred releases are
enough for what happens always on one table and never on the other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import methodcaller
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import check_random_state

from algorithms import Continuous, Domain, Nominal
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from experiments.audit.attacks.black_box import find_refutation, read_privacy
from experiments.audit.observe.any_estimator import EstimatorOnTable
from experiments.audit.observe.trainings import derive_key
from experiments.audit.outcomes import FALSE_ALARMS, WAY_OUT, BoundRow, Unaudited, make_row, read_claim
from experiments.audit.plain_python import call_or_explain, run_in_plain_python
from experiments.audit.subjects import Subject
from experiments.config import estimators

RELEASES = 100
"""Releases from each table: half of them choose an event, half count it. What happens always on one table and never on
the other shows an ε of at least 1.2 so, with all tables of an algorithm together."""
SEED = 0  #: the ``random_state`` that the attacker knows


@dataclass(frozen=True)
class ReleasePair:
    """Two neighbouring tables as a user hands them in: rows and targets, in any containers, with cells of any kind."""

    name: str
    domain: Domain
    table: tuple
    neighbour: tuple
    probe: tuple  #: a public row that releases are asked about
    params: dict  #: of a forest that the tables are built for
    neighbours: str = ADDED_OR_REMOVED


# Known places.

_N_CLASSES = 10
_MANY = Domain((Nominal("a", (0, 1)),), Nominal("y", tuple(range(_N_CLASSES))))


def build_known_places(n_rows: int = 400) -> ReleasePair:
    """Return a table that tree 0 sees as class 0, and without its first row as class 1, if a seed places the rows.

    Rows are given the class that says in which tree the seed puts them, with the first row and without: class 0 to
    those that tree 0 has on the whole table only, class 1 to those that it has on the other one only. A release in
    which the operating system draws the trees says 0 and 1 equally often on both.
    """
    root = np.random.SeedSequence(check_random_state(SEED).randint(2**31 - 1))
    here = np.random.default_rng(root.spawn(3)[0]).integers(0, 2, size=n_rows)
    without_first = np.append(-1, here[:-1])
    y = 2 + np.arange(n_rows) % (_N_CLASSES - 2)
    y[(here == 0) & (without_first == 1)] = 0
    y[(here == 1) & (without_first == 0)] = 1
    X = np.zeros((n_rows, 1))
    params = {"n_estimators": 2, "max_depth": 2, "sampling": "disjoint"}
    return ReleasePair("first in order, places known", _MANY, (X[1:], y[1:]), (X, y), (0,), params)


# Cells that no other record has.


class _Unreadable:
    """A cell that cannot be turned into anything."""

    def __float__(self):
        raise RuntimeError("no number")

    def __repr__(self):
        return "an unreadable cell"


_FEATURES = (Continuous("length", 0, 10), Nominal("colour", (1, 2)))
_CLASSES, _NUMBERS = Nominal("answer", (0, 1)), Continuous("weight", 0, 10)
_STRANGE = {
    "a fraction among whole numbers": (3, 0.5),
    "text among numbers": ("long", 1),
    "an undeclared category": (3, 7),
    "a missing number": (None, 1),
    "not a number": (math.nan, 1),
    "infinity": (math.inf, 1),
    "a number beyond all floats": (10**400, 1),
    "an unreadable cell": (_Unreadable(), 1),
    "too few cells": (3,),
}
_STRANGE_TARGETS = {"an undeclared class": "perhaps", "no class": None}


def _hold_in_lists(rows: Sequence[tuple]) -> list:
    return list(map(list, rows))


_CONTAINERS = (
    _hold_in_lists,
    lambda rows: np.array(_hold_in_lists(rows), dtype=object),
    lambda rows: pd.DataFrame(_hold_in_lists(rows), columns=["length", "colour"]),
)


def build_strange_cells(is_classification: bool) -> Iterator[ReleasePair]:
    """Yield tables with a record that is not like the others, in lists, arrays of objects and frames in turns."""
    domain = Domain(_FEATURES, _CLASSES if is_classification else _NUMBERS)
    rows = [(2, 1)] * 6 + [(8, 2)] * 2
    y = [0] * 6 + [1] * 2 if is_classification else [1.5] * 6 + [9.0] * 2

    def pair(name: str, table: tuple, neighbour: tuple, neighbours: str = ADDED_OR_REMOVED) -> ReleasePair:
        return ReleasePair(name, domain, table, neighbour, (2, 1), {}, neighbours)

    for (name, strange), hold in zip(_STRANGE.items(), itertools.cycle(_CONTAINERS), strict=False):
        if len(strange) < 2:
            hold = _hold_in_lists
        yield pair(name, (hold(rows), y), (hold([*rows, strange]), [*y, y[0]]))
    for name, target in _STRANGE_TARGETS.items():
        yield pair(name, (rows, y), ([*rows, rows[0]], [*y, target]))
    yield pair("replaced by one that cannot be read", (rows, y), ([*rows[:-1], (math.nan, 7)], y), REPLACED)
    yield pair("the only record", (np.empty((0, 2)), y[:0]), (np.array(rows[:1]), y[:1]))


def list_release_pairs(subject: Subject) -> list[ReleasePair]:
    """Return the tables that a subject is attacked on: places only where trees have parts of the rows."""
    is_classification = is_classifier(estimators.import_class(subject.target)())
    pairs = list(build_strange_cells(is_classification))
    if is_classification and {"n_estimators", "variant"} <= estimators.list_parameters(subject.target):
        pairs.insert(0, build_known_places())
    return pairs


# The attack.


def attack_pair(subject: Subject, epsilon: float, pair: ReleasePair, n_pairs: int, n: int) -> BoundRow | None:
    """Return the event that bounds ε best of one of some pairs of tables, from each of which a subject is released.

    The subject has the parameter ``noise``. None where it does not keep its claim, and so is not released; if a usual
    table gives no release, so that nothing could be seen, that is a RuntimeError.
    """
    estimator = _make_estimator(subject, epsilon, pair)
    probes = pd.DataFrame([pair.probe], columns=pair.domain.names)
    empty = np.empty((0, len(pair.domain.features))), np.empty(0)
    on_nothing = EstimatorOnTable(estimator, empty, probes, 0)
    publish = methodcaller("release")
    on_neighbour, on_table = (
        EstimatorOnTable(estimator, table, probes, derive_key(subject.name, pair.name, side), publish)
        for side, table in enumerate((pair.neighbour, pair.table))
    )
    privacy = read_privacy((on_nothing, on_table, on_neighbour))
    if not privacy.is_sound:
        return None
    error = on_table.find_error()  # without the strange record
    if error and len(pair.table[1]):  # that there is nothing to release without rows is an outcome
        raise RuntimeError(f"no release of {subject.name} came from the usual table of {pair.name!r}: {error}")
    claimed = read_claim(privacy, pair.neighbours) or privacy.accounted(pair.neighbours)
    found = find_refutation((on_neighbour, on_table), n, FALSE_ALARMS / (2 * n_pairs), claimed)
    return make_row(WAY_OUT, subject.name, estimator, privacy, found, neighbours=pair.neighbours, where=pair.name)


def _make_estimator(subject: Subject, epsilon: float, pair: ReleasePair) -> BaseEstimator:
    settings: dict[str, Any] = {"n_estimators": 1, "max_depth": 1, **pair.params}
    settings |= {"epsilon": epsilon, "domain": pair.domain, "noise": "opendp", "random_state": SEED}
    params = {name: value for name, value in subject.params.items() if name not in settings}
    return replace(subject, params=params).build(**settings)


def attack_in_processes(subjects: Sequence[Subject], epsilon: float, jobs: int = 1) -> Iterator[BoundRow | Unaudited]:
    """Yield what releases of subjects that keep their claim show in processes of their own, or what a pair raises."""
    asked: list[tuple] = []
    for subject in subjects:
        pairs = list_release_pairs(subject)
        asked += [(attack_pair, subject, epsilon, pair, len(pairs), RELEASES) for pair in pairs]
    results = run_in_plain_python(call_or_explain, asked, jobs)
    for (_, subject, *_), found in zip(asked, results, strict=True):
        if found is not None:
            yield Unaudited(subject.name, WAY_OUT, found) if isinstance(found, str) else found
