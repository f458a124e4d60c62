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
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import check_random_state

from algorithms import Continuous, Domain, Nominal
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from experiments.audit.attacks.black_box import (
    Refutation,
    find_refutation,
    judge_bound,
    read_claim,
    read_privacy,
    select_params,
)
from experiments.audit.bounds import FALSE_ALARMS
from experiments.audit.observe.any_estimator import EstimatorOnTable
from experiments.audit.observe.random_streams import derive_key
from experiments.audit.plain_python import run_in_plain_python
from experiments.audit.subjects import Subject
from experiments.config import estimators
from experiments.errors import one_line

RELEASES = 100
"""Releases from each table: half of them choose an event, half count it. What happens always on one table and never on
the other shows an ε of at least 1.2 so, with all tables of an algorithm together."""
SEED = 0
"""The ``random_state`` that the attacker knows."""


@dataclass(frozen=True)
class ReleasePair:
    """Two neighbouring tables as a user hands them in, in any container and with cells of any kind.

    Parameters
    ----------
    name : str
        How they differ.
    domain : Domain
        What is declared of them.
    table, neighbour : tuple
        Rows and targets, as ``fit`` takes them.
    probe : tuple
        A public row that releases are asked about.
    params : dict
        Parameters of a forest that the tables are built for.
    neighbours : str
        The relation that the tables stand in, a constant of ``algorithms.accounting``: the neighbour has a record more,
        or another one.
    """

    name: str
    domain: Domain
    table: tuple
    neighbour: tuple
    probe: tuple
    params: dict
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


def _hold_in_array(rows: Sequence[tuple]) -> np.ndarray:
    return np.array(_hold_in_lists(rows), dtype=object)


def _hold_in_frame(rows: Sequence[tuple]) -> pd.DataFrame:
    return pd.DataFrame(_hold_in_lists(rows), columns=["length", "colour"])


def build_strange_cells(is_classification: bool) -> Iterator[ReleasePair]:
    """Yield tables with a record that is not like the others, in lists, arrays of objects and frames in turns."""
    domain = Domain(_FEATURES, _CLASSES if is_classification else _NUMBERS)
    rows = [(2, 1)] * 6 + [(8, 2)] * 2
    y = [0] * 6 + [1] * 2 if is_classification else [1.5] * 6 + [9.0] * 2
    containers = itertools.cycle([_hold_in_lists, _hold_in_array, _hold_in_frame])
    for (name, strange), hold in zip(_STRANGE.items(), containers, strict=False):
        if len(strange) < 2:
            hold = _hold_in_lists
        table, neighbour = (hold(rows), y), (hold([*rows, strange]), [*y, y[0]])
        yield ReleasePair(name, domain, table, neighbour, (2, 1), {})
    for name, target in _STRANGE_TARGETS.items():
        yield ReleasePair(name, domain, (rows, y), ([*rows, rows[0]], [*y, target]), (2, 1), {})
    replaced = [*rows[:-1], (math.nan, 7)]
    yield ReleasePair("replaced by one that cannot be read", domain, (rows, y), (replaced, y), (2, 1), {}, REPLACED)
    yield ReleasePair("the only record", domain, (np.empty((0, 2)), y[:0]), (np.array(rows[:1]), y[:1]), (2, 1), {})


def list_release_pairs(subject: Subject) -> list[ReleasePair]:
    """Return the tables that a subject is attacked on: places only where trees have parts of the rows."""
    is_classification = is_classifier(estimators.import_class(subject.target)())
    pairs = list(build_strange_cells(is_classification))
    if is_classification and {"n_estimators", "variant"} <= estimators.list_parameters(subject.target):
        pairs.insert(0, build_known_places())
    return pairs


# The attack.


@dataclass(frozen=True)
class ReleaseFinding(Refutation):
    """The `Refutation` of an algorithm by its releases from two tables, with what the algorithm claims.

    Parameters
    ----------
    algorithm, where, neighbours : str
        Of which algorithm, on which tables, and how these differ.
    params : dict
        Of what was released.
    epsilon, claimed, accounted : float
        What it was given, what it claims for these tables, and what its ledger says.
    """

    algorithm: str
    where: str
    neighbours: str
    params: dict
    epsilon: float
    claimed: float
    accounted: float

    @property
    def verdict(self) -> str:
        """What the bound says of the claim."""
        return judge_bound(self.bound, self.claimed)


def attack_releases(
    subject: Subject, epsilon: float, pairs: Sequence[ReleasePair] | None = None, n: int = RELEASES
) -> Iterator[ReleaseFinding]:
    """Release a subject many times from each pair of tables, in this process.

    Parameters
    ----------
    subject : Subject
        An algorithm with the parameter ``noise``; of one that does not keep its claim there is no release to attack.
    epsilon : float
        What it is to claim.
    pairs : sequence of ReleasePair or None
        The tables; None is all that it can be attacked on.
    n : int
        Releases from each table.

    Yields
    ------
    ReleaseFinding
        For each pair, the event that bounds ε best.

    Raises
    ------
    RuntimeError
        If a usual table gives no release, so that nothing could be seen.
    """
    pairs = list_release_pairs(subject) if pairs is None else pairs
    for pair in pairs:
        if finding := _attack_pair(subject, epsilon, pair, len(pairs), n):
            yield finding


def _attack_pair(subject: Subject, epsilon: float, pair: ReleasePair, n_pairs: int, n: int) -> ReleaseFinding | None:
    """Return what releases from one of some pairs show; None of what does not keep its claim."""
    estimator = _make_estimator(subject, epsilon, pair)
    probes = pd.DataFrame([pair.probe], columns=pair.domain.names)
    on_nothing = EstimatorOnTable(estimator, _make_empty_table(pair), probes, 0)
    keys = [derive_key(subject.name, pair.name, side) for side in range(2)]
    on_neighbour = EstimatorOnTable(estimator, pair.neighbour, probes, keys[0], publish=_release)
    on_table = EstimatorOnTable(estimator, pair.table, probes, keys[1], publish=_release)
    privacy = read_privacy((on_nothing, on_table, on_neighbour))
    if not privacy.is_sound:
        return None
    error = on_table.find_error()  # without the strange record
    if error and len(pair.table[1]):  # that there is nothing to release without rows is an outcome
        raise RuntimeError(f"no release of {subject.name} came from the usual table of {pair.name!r}: {error}")
    accounted = privacy.accounted(pair.neighbours)
    claimed = read_claim(privacy, pair.neighbours) or accounted
    refutation = find_refutation((on_neighbour, on_table), n, FALSE_ALARMS / (2 * n_pairs), claimed)
    return ReleaseFinding(
        **vars(refutation),
        algorithm=subject.name,
        where=pair.name,
        neighbours=pair.neighbours,
        params=select_params(estimator),
        epsilon=epsilon,
        claimed=claimed,
        accounted=accounted,
    )


def _release(model: Any) -> Any:
    return model.release()


def _make_empty_table(pair: ReleasePair) -> tuple:
    return np.empty((0, len(pair.domain.features))), np.empty(0)


def _make_estimator(subject: Subject, epsilon: float, pair: ReleasePair) -> BaseEstimator:
    settings: dict[str, Any] = {"n_estimators": 1, "max_depth": 1}
    settings |= pair.params
    settings |= {"epsilon": epsilon, "domain": pair.domain, "noise": "opendp", "random_state": SEED}
    accepted = estimators.list_parameters(subject.target)
    params = {name: value for name, value in settings.items() if name in accepted}
    return estimators.import_class(subject.target)(**(subject.params | params))


@dataclass(frozen=True)
class Unreleased:
    """An algorithm of which no release came from a usual table, and why."""

    algorithm: str
    where: str
    why: str


def attack_in_processes(
    subjects: Sequence[Subject], epsilon: float, jobs: int = 1
) -> Iterator[ReleaseFinding | Unreleased]:
    """Attack subjects in processes of their own, in plain Python.

    Parameters
    ----------
    subjects : list of Subject
        Algorithms with the parameter ``noise``.
    epsilon : float
        What they are to claim.
    jobs : int
        Processes.

    Yields
    ------
    ReleaseFinding or Unreleased
        For each subject that can be released, each of its pairs of tables.
    """
    asked: list[tuple] = []
    for subject in subjects:
        pairs = list_release_pairs(subject)
        asked += [(subject, epsilon, pair, len(pairs), RELEASES) for pair in pairs]
    yield from filter(None, run_in_plain_python(_try_to_attack, asked, jobs))


def _try_to_attack(subject: Subject, epsilon: float, pair: ReleasePair, *numbers: int) -> Any:
    """Return what releases show, nothing if there is none to show, or why none came."""
    try:
        return _attack_pair(subject, epsilon, pair, *numbers)
    except Exception as error:  # an estimator may be anybody's
        return Unreleased(subject.name, pair.name, one_line(error))
