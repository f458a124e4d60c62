"""Attacks on the way out: real releases, noise by OpenDP, from tables that are built to slip past the mechanisms.

The other layers look at mechanisms. This one goes through the door that a user takes, ``fit(...).release()``, and
counts what comes out: what a release predicts, tree by tree, and whether there is one at all.
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
import json
import math
import os
import queue
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from algorithms import Continuous, Domain, Nominal
from algorithms.accounting import ADDED_OR_REMOVED, REPLACED
from experiments.audit.attacks.black_box import find_refutation, judge_bound, read_claim, select_params
from experiments.audit.bounds import FALSE_ALARMS
from experiments.audit.observe.any_estimator import EstimatorOnTable
from experiments.audit.observe.random_streams import derive_key
from experiments.audit.subjects import Subject
from experiments.config import estimators
from experiments.config.paths import ROOT

RELEASES = 100
"""Releases from each table: half of them choose an event, half count it. What happens always on one table and never on
the other shows an ε of at least 1.2 so, with all tables of an algorithm together."""
SEED = 0
"""The ``random_state`` that the attacker knows."""


@dataclass(frozen=True)
class ReleasePair:
    """Two neighbouring tables as somebody hands them in.

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
    params = {"n_estimators": 2, "max_depth": 2, "sampling": None}
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
_CONTAINERS: dict[str, Callable] = {
    "lists": lambda rows: [list(row) for row in rows],
    "array of objects": lambda rows: np.array([list(row) for row in rows], dtype=object),
    "frame": lambda rows: pd.DataFrame([list(row) for row in rows], columns=["length", "colour"]),
}


def build_strange_cells(is_classification: bool) -> Iterator[ReleasePair]:
    """Yield tables with a record that is not like the others, in lists, arrays of objects and frames in turns."""
    domain = Domain(_FEATURES, _CLASSES if is_classification else _NUMBERS)
    rows = [(2, 1)] * 6 + [(8, 2)] * 2
    y = [0] * 6 + [1] * 2 if is_classification else [1.5] * 6 + [9.0] * 2
    for (name, strange), container in zip(_STRANGE.items(), itertools.cycle(_CONTAINERS)):
        hold = _CONTAINERS[container if len(strange) == 2 else "lists"]
        tables = (hold(rows), y), (hold([*rows, strange]), [*y, y[0]])
        yield ReleasePair(name, domain, *tables, (2, 1), {})
    for name, target in _STRANGE_TARGETS.items():
        yield ReleasePair(name, domain, (rows, y), ([*rows, rows[0]], [*y, target]), (2, 1), {})
    replaced = (rows, y), ([*rows[:-1], (math.nan, 7)], y)
    yield ReleasePair("replaced by one that cannot be read", domain, *replaced, (2, 1), {}, REPLACED)
    yield ReleasePair("the only record", domain, (np.empty((0, 2)), y[:0]), (np.array(rows[:1]), y[:1]), (2, 1), {})


def list_release_pairs(subject: Subject) -> list[ReleasePair]:
    """Return the tables that a subject is attacked on: places only where trees have parts of the rows."""
    cls = estimators.locate(subject.target)
    accepted = estimators.accepts(subject.target)
    places = [build_known_places()] if {"n_estimators", "variant"} <= set(accepted) and is_classifier(cls()) else []
    return [*places, *build_strange_cells(is_classifier(cls()))]


# The attack.


@dataclass(frozen=True)
class ReleaseFinding:
    """What came out of a door on one of two tables more often than the claim allows, or the nearest to it.

    Parameters
    ----------
    algorithm, where, neighbours, event : str
        Of which algorithm, on which tables, and what happened.
    params : dict
        Of what was released.
    epsilon, claimed, accounted : float
        What it was given, what it claims for these tables, and what its ledger says.
    n, counted, counts
        Releases from each table, how many of them count the event, and how often it happened in these.
    bound, refutable : float
        ε is at least so much; the largest bound that so many releases can give.
    on_neighbour : bool
        Whether the event is more likely with the record.
    verdict : str
        What the bound says of the claim.
    """

    algorithm: str
    where: str
    neighbours: str
    event: str
    params: dict
    epsilon: float
    claimed: float
    accounted: float
    n: int
    counted: int
    counts: tuple[int, int]
    bound: float
    refutable: float
    on_neighbour: bool
    verdict: str


def attack_releases(
    subject: Subject, epsilon: float, doors: Sequence[ReleasePair] | None = None, n: int = RELEASES
) -> Iterator[ReleaseFinding]:
    """Release a subject many times through each pair of tables, in this process.

    Parameters
    ----------
    subject : Subject
        An algorithm with the parameter ``noise``; of one that does not keep its claim there is no release to attack.
    epsilon : float
        What it is to claim.
    doors : list of Door or None
        The tables; None is all that it can be attacked on.
    n : int
        Releases from each table.
    """
    doors = list_release_pairs(subject) if doors is None else doors
    alpha = FALSE_ALARMS / (2 * len(doors))
    for door in doors:
        estimator = _estimator(subject, epsilon, door)
        probes = pd.DataFrame([door.probe], columns=door.domain.names)
        keys = (derive_key(subject.name, door.name, side) for side in (0, 1))
        observers = tuple(
            EstimatorOnTable(estimator, table, probes, key, sees=lambda model: model.release())
            for table, key in zip((door.neighbour, door.table), keys, strict=True)
        )
        privacy = EstimatorOnTable(estimator, _plain_table(door), probes, 0).privacy
        if not privacy.is_sound:
            return
        if said := observers[1].raised():  # without the strange record
            raise RuntimeError(f"no release of {subject.name} came from the usual table of {door.name!r}: {said}")
        claimed = read_claim(privacy, door) or privacy.accounted(door.neighbours)
        found = find_refutation(observers, n, alpha, claimed)
        yield ReleaseFinding(
            subject.name,
            door.name,
            door.neighbours,
            found.event,
            select_params(estimator),
            epsilon,
            claimed,
            privacy.accounted(door.neighbours),
            n,
            found.counted,
            found.counts,
            found.bound,
            found.refutable,
            found.on_neighbour,
            judge_bound(found.bound, claimed),
        )


def _plain_table(door: ReleasePair) -> tuple:
    return np.empty((0, len(door.domain.features))), np.empty(0)


def _estimator(subject: Subject, epsilon: float, door: ReleasePair):
    small = {"n_estimators": 1, "max_depth": 1}
    given = small | door.params | {"epsilon": epsilon, "domain": door.domain, "noise": "opendp", "random_state": SEED}
    accepted = estimators.accepts(subject.target)
    params = {name: value for name, value in given.items() if name in accepted}
    return estimators.locate(subject.target)(**(subject.params | params))


def attack_in_processes(asked: Sequence[Subject], epsilon: float, jobs: int = 1) -> Iterator[ReleaseFinding]:
    """Attack subjects in processes of their own, in plain Python.

    Parameters
    ----------
    asked : list of Subject
        Algorithms with the parameter ``noise``.
    epsilon : float
        What they are to claim.
    jobs : int
        Processes.

    Yields
    ------
    Broken
        For each subject that can be released, each of its doors, as they come.
    """
    lines: queue.SimpleQueue = queue.SimpleQueue()
    shares = [share for share in (asked[i::jobs] for i in range(jobs)) if share]
    with ThreadPoolExecutor(len(shares)) as threads:
        running = [threads.submit(_attack_in_a_process, share, epsilon, lines) for share in shares]
        for _ in running:
            while line := lines.get():
                data = json.loads(line)
                yield ReleaseFinding(**(data | {"counts": tuple(data["counts"])}))
        for one in running:
            one.result()


def _attack_in_a_process(share: Sequence[Subject], epsilon: float, lines: queue.SimpleQueue) -> None:
    """Put a line for each door into the queue, and one that is empty when there are no more."""
    asked = json.dumps({"subjects": [asdict(subject) for subject in share], "epsilon": epsilon})
    command = [sys.executable, "-m", "experiments.audit.attacks.release_path", asked]
    settings = {"env": os.environ | {"NUMBA_DISABLE_JIT": "1"}, "cwd": ROOT}
    try:
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **settings) as process:
            for line in process.stdout:
                lines.put(line)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command[:3])
    finally:
        lines.put("")


def main() -> None:
    """Attack the subjects that the command line names (JSON), and print a line for each door (JSON)."""
    warnings.simplefilter("ignore")
    asked = json.loads(sys.argv[1])
    for one in asked["subjects"]:
        for broken in attack_releases(Subject(**one), asked["epsilon"]):
            print(json.dumps(asdict(broken)), flush=True)


if __name__ == "__main__":
    main()
