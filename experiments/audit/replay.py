"""The replay audit: the same run on a neighbouring table, given the same draws.

A fit is recorded on one table: every call of a mechanism, with what it protects, what it is told and what it gives.
Then the estimator is fitted to a neighbouring table and every call gives what it gave before. If the proof of privacy
holds,

- the calls are the same: mechanism, number of candidates, epsilon, sensitivity, measure (kinds ``calls``, ``told``);
- no call saw a change larger than the sensitivity that it was told (``sensitivity``), nor any without noise
  (``no noise``);
- the record has cost no more than the ledger says (``account``) and the estimator claims (``claim``): a choice costs
  its epsilon if a score moved at all, Laplace noise as large a share of it as the change is of the sensitivity;
- the other records stay in their trees (``sampling``);
- the released model is the same (``release``): it depends on the rows through the mechanisms alone.

What is random and not a mechanism, such as the features of a node, comes from the same stream both times. To keep it
aligned, mechanisms draw from a generator of their own. Noise that is a function of a key is aligned by key; an answer
that was not given is that of a node without rows. Below such a node nothing is left to keys here: all is grown.

Compiled code cannot be watched: this runs in plain Python, in a process of its own (`reports`). It takes milliseconds a
pair and proves nothing, but it sees at once what a proof has overlooked.
"""

from __future__ import annotations

import inspect
import json
import math
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path

import numba
import numpy as np
from sklearn.base import RegressorMixin

from algorithms import Continuous, Domain, Nominal, PrivacyLeakWarning, mechanisms
from algorithms.accounting import ADDED_OR_REMOVED, REPLACED, Privacy
from algorithms.base import PrivateEstimator
from algorithms.forests import keys
from algorithms.forests.forest import SAMPLINGS
from experiments import estimators
from experiments.errors import BadInput

EPSILON = 50.0
"""Large, so that trees whose nodes stop at small noisy counts grow at all."""
SIZES = {"n_estimators": 2, "max_depth": 2, "max_features": 2}
"""What every estimator that has these parameters is fitted with, for speed."""
SEED = 1
"""Draws the last of 20 rows twice for both trees of a bootstrap, so that repeated rows are seen."""
ANOTHER_SEED = 2
ROUNDING = 1e-9
MAXIMUM = "sup_norm_vector"
"""The mechanism whose sensitivity is about the entry that changes most, not about all changes together."""


# What a run does, and what it did.


@dataclass(frozen=True, eq=False)
class Call:
    """One call of a mechanism.

    Parameters
    ----------
    mechanism : str
        Its name in ``algorithms.mechanisms``.
    protected : float64 array of shape (r,)
        What it protects: numbers, or the score of each candidate.
    told : tuple
        Epsilon, sensitivity and base measure (None where there is none).
    outcome : float, int or array
        What it gave.
    is_choice : bool
        Whether it chooses among candidates by their scores, and does not release numbers.
    """

    mechanism: str
    protected: np.ndarray
    told: tuple[float, float, tuple | None]
    outcome: object
    is_choice: bool

    @property
    def form(self) -> str:
        """The mechanism, the number of candidates or values, and epsilon, as words."""
        return f"{self.mechanism} of {len(self.protected)} with epsilon {self.told[0]:.6g}"

    def change(self, other: Call) -> float:
        """Return the largest change of a score that can be chosen, or the change of all numbers, in their norm."""
        measures = (call.told[2] or np.ones_like(call.protected) for call in (self, other))
        entries = zip(self.protected, other.protected, *measures, strict=True)
        moved = [abs(a - b) for a, b, *measure in entries if a != b and max(measure) > 0]
        return float(max(moved, default=0.0) if self.is_choice or self.mechanism == MAXIMUM else math.fsum(moved))

    def cost(self, change: float) -> float:
        """Return what a change costs."""
        epsilon, sensitivity, _ = self.told
        if change == 0 or math.isinf(epsilon):
            return math.inf if change else 0.0
        return epsilon * (max(1.0, change / sensitivity) if self.is_choice else change / sensitivity)


@dataclass(frozen=True)
class Failure:
    """Something that a proof of privacy does not allow.

    Parameters
    ----------
    kind : str
        Which rule is broken, see the module.
    pair : str
        Between which tables.
    what : str
        What was seen.
    """

    kind: str
    pair: str
    what: str


class Diverged(Exception):
    """The run on the neighbouring table asks for something else: nothing can be compared from here on."""


class Tape:
    """What the mechanisms did in one run; with the tape of another run, they do the same again.

    Parameters
    ----------
    first : Tape or None
        The run whose outcomes are given; None draws them.
    """

    def __init__(self, first: Tape | None = None):
        self.first = first
        self.calls: list[Call] = []
        self.keyed: dict[int, Call] = {}
        self.samples: list[np.ndarray] = []
        self.n_rows = 0
        self.found: list[tuple[str, str]] = []
        self._rng = np.random.default_rng(ANOTHER_SEED)
        self._is_inside = False

    def watched(self, mechanism: Callable) -> Callable:
        """Return a mechanism that is recorded, or played from the first tape."""
        signature = inspect.signature(mechanism)

        def stand_in(*args, **kwargs):
            if self._is_inside:  # one mechanism may call another
                return mechanism(*args, **kwargs)
            given = signature.bind(*args, **kwargs).arguments
            if "rng" in given:
                given["rng"] = self._rng
            self._is_inside = True
            try:
                return self._answer(mechanism, given)
            finally:
                self._is_inside = False

        return stand_in

    def _answer(self, mechanism: Callable, given: dict):
        name = next(name for name in given if name not in ("key", "rng"))
        measure = tuple(np.asarray(given["measure"]).tolist()) if "measure" in given else None
        told = float(given["epsilon"]), float(given["sensitivity"]), measure
        protected = np.atleast_1d(np.array(given[name], dtype=np.float64))
        if "key" in given:
            key = int(given["key"])
            known = self.first.keyed.get(key) if self.first else None
            # A leaf that the first run did not grow held no rows: its answer is that of a count of 0.
            outcome = known.outcome if known else mechanism(**(given | ({name: 0.0} if self.first else {})))
            self.keyed[key] = Call(mechanism.__name__, protected, told, outcome, is_choice=name == "quality")
            return outcome
        asked = Call(mechanism.__name__, protected, told, None, is_choice=name == "quality")
        outcome = mechanism(**given) if self.first is None else self._played(asked)
        self.calls.append(replace(asked, outcome=outcome))
        return outcome

    def _played(self, asked: Call):
        at = len(self.calls)
        before = self.first.calls[at].form if at < len(self.first.calls) else "nothing more"
        if asked.form != before:
            raise Diverged(f"call {at + 1} is {asked.form}, not {before}")
        return self.first.calls[at].outcome

    def sampled(self, sampling: Callable) -> Callable:
        """Return a way of drawing the rows of trees that is recorded; it keeps to the first tape where it differs."""

        def stand_in(n_rows: int, n_trees: int, rng) -> list[np.ndarray]:
            self.n_rows = n_rows
            self.samples = list(sampling(n_rows, n_trees, rng))
            if self.first is not None:
                self._keep_to_the_first()
            elif not _are_equal(self.samples, self.samples[:1] * n_trees):
                again = list(sampling(n_rows, n_trees, np.random.default_rng(ANOTHER_SEED)))
                if _are_equal(self.samples, again):
                    self.found.append(("sampling", "rows are given to trees by their position"))
            return self.samples

        return stand_in

    def _keep_to_the_first(self) -> None:
        n_shared = min(self.n_rows, self.first.n_rows)
        mine, theirs = ([rows[rows < n_shared] for rows in tape.samples] for tape in (self, self.first))
        if _are_equal(mine, theirs):
            return
        self.found.append(("sampling", "records other than the one that differs are in other trees, or as often"))
        extra = np.arange(n_shared, self.n_rows, dtype=np.uint32)
        self.samples = [np.concatenate([rows, extra]) for rows in theirs]

    @property
    def repeats_rows(self) -> bool:
        """Whether a record is in the sample of a tree more than once."""
        return any(len(np.unique(rows)) < len(rows) for rows in self.samples)


def _are_equal(some: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> bool:
    return len(some) == len(others) and all(map(np.array_equal, some, others))


@contextmanager
def watching(tape: Tape) -> Iterator[None]:
    """Put a tape between the estimators and their mechanisms, wherever these were imported by name."""
    stand_ins = {mechanism: tape.watched(mechanism) for mechanism in _mechanisms()}
    stand_ins[keys.has_no_rows] = lambda counts: False  # nothing is left to keys
    places = _places(frozenset(stand_ins))
    samplings = dict(SAMPLINGS)
    try:
        for module, name, value in places:
            setattr(module, name, stand_ins[value])
        SAMPLINGS.update({name: tape.sampled(sampling) for name, sampling in samplings.items()})
        with np.errstate(over="ignore"):  # keys are mixed modulo 2^64
            yield
    finally:
        SAMPLINGS.update(samplings)
        for module, name, value in places:
            setattr(module, name, value)


@cache
def _mechanisms() -> tuple[Callable, ...]:
    functions = [value for value in vars(mechanisms).values() if inspect.isfunction(value)]
    return tuple(f for f in functions if {"epsilon", "sensitivity"} <= inspect.signature(f).parameters.keys())


@cache
def _places(functions: frozenset[Callable]) -> list[tuple]:
    """Return (module, name, function) of these functions in the modules of algorithms, and of what is audited."""
    modules = [module for name, module in sorted(sys.modules.items()) if name.partition(".")[0] in _PACKAGES]
    found = [(m, name, value) for m in modules for name, value in vars(m).items() if inspect.isfunction(value)]
    return [place for place in found if place[2] in functions]


_PACKAGES = {"algorithms"}


# Tables that differ by one record.


@dataclass(frozen=True, eq=False)
class Pair:
    """Two neighbouring tables, each rows and their target.

    Parameters
    ----------
    name : str
        How they differ.
    neighbours : {ADDED_OR_REMOVED, REPLACED}
        By which relation they are neighbours.
    first, second : tuple of float64 arrays of shape (n, 3) and (n,)
        The table that is recorded, and the other.
    """

    name: str
    neighbours: str
    first: tuple[np.ndarray, np.ndarray]
    second: tuple[np.ndarray, np.ndarray]


FEATURES = (Continuous("x", 0, 8), Nominal("a", (0, 1)), Nominal("b", (0, 1, 2)))
CLASSES, NUMBERS = Nominal("y", (0, 1, 2)), Continuous("y", 0, 2)
CORNER, OPPOSITE, MIDDLE = (8.0, 1.0, 2.0), (0.0, 0.0, 0.0), (3.5, 1.0, 0.0)
N_ROWS = 20


def pairs(seeds: Sequence[int] = (0,)) -> list[Pair]:
    """Return small neighbouring tables, with targets that are classes 0, 1, 2 or numbers from 0 to 2.

    The records that differ are meant to hurt: alone in a class and a category, the largest of a column, the only one of
    another class, a label against that of its twin, from one corner of the domain to the other.

    Examples
    --------
    >>> sorted({(len(pair.first[0]), len(pair.second[0])) for pair in pairs()})
    [(20, 20), (20, 21), (21, 20)]
    """
    found = []
    for seed in seeds:
        mixed, plain = _table(seed, n_classes=3), _table(seed, n_classes=2)
        alike = plain[0], np.zeros(N_ROWS)
        added = [
            ("a record of the usual kind", mixed, (MIDDLE, 1.0)),
            ("alone in its class and category, largest of a column", plain, (CORNER, 2.0)),
            ("the only one of another class", alike, (MIDDLE, 2.0)),
        ]
        for name, table, record in added:
            more = _with(table, record)
            found.append(Pair(f"added: {name}", ADDED_OR_REMOVED, table, more))
            found.append(Pair(f"removed: {name}", ADDED_OR_REMOVED, more, table))
        replaced = [
            ("its label", mixed, (MIDDLE, 0.0), (MIDDLE, 2.0)),
            ("from corner to corner", mixed, (CORNER, 2.0), (OPPOSITE, 0.0)),
            ("alone in its category, by another", plain, (CORNER, 2.0), (MIDDLE, 2.0)),
            ("the only one of another class", alike, (MIDDLE, 2.0), (MIDDLE, 0.0)),
            ("its label, in a corner", alike, (CORNER, 0.0), (CORNER, 2.0)),
        ]
        for name, (X, y), record, other in replaced:
            rest = X[:-1], y[:-1]
            found.append(Pair(f"replaced: {name}", REPLACED, _with(rest, record), _with(rest, other)))
    return found


def _table(seed: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a table that leaves room for an outlier: with two classes one category of b is missing, too."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(2, 15, N_ROWS) / 2, rng.integers(2, size=N_ROWS), rng.integers(2, size=N_ROWS)])
    if n_classes == 3:
        X[:, 2] = rng.integers(3, size=N_ROWS)
    return X.astype(np.float64), rng.integers(n_classes, size=N_ROWS).astype(np.float64)


def _with(table, record) -> tuple[np.ndarray, np.ndarray]:
    (X, y), (values, target) = table, record
    return np.vstack([X, values]), np.append(y, target)


GRID = np.array([(x, a, b) for x in (0.5, 2.5, 4.5, 6.5, 8) for a in (0, 1) for b in (0, 1, 2)], dtype=np.float64)
"""Public points at which models are compared."""


# The audit.


@dataclass(frozen=True)
class Subject:
    """What is audited: a class by its import path, with parameters."""

    name: str
    target: str
    params: dict

    def make(self) -> PrivateEstimator:
        """Return the estimator, small and with a public domain."""
        cls = estimators.locate(self.target)
        target = NUMBERS if issubclass(cls, RegressorMixin) else CLASSES
        given = SIZES | {"epsilon": EPSILON, "domain": Domain(FEATURES, target), "random_state": SEED}
        accepted = estimators.accepts(self.target)
        return cls(**({name: value for name, value in given.items() if name in accepted} | self.params))


@dataclass(frozen=True)
class Report:
    """What the replays of one estimator showed.

    Parameters
    ----------
    name : str
        Of the subject.
    neighbours, claimed_epsilon, is_sound, faults
        What its ``privacy_`` says; of the faults their names.
    accounted, composed : dict
        By relation, what the ledger says, and the most that a replay has cost as far as it went.
    n_calls : int
        Calls of mechanisms in the longest run.
    failures : tuple of Failure
        What a proof of privacy does not allow; empty if it may hold.
    """

    name: str
    neighbours: str
    claimed_epsilon: float
    is_sound: bool
    faults: tuple[str, ...]
    accounted: dict[str, float]
    composed: dict[str, float]
    n_calls: int
    failures: tuple[Failure, ...]

    @property
    def kinds(self) -> set[str]:
        """The rules that are broken."""
        return {failure.kind for failure in self.failures}


def audit(subject: Subject, tables: Sequence[Pair] | None = None) -> Report:
    """Replay an estimator on pairs of neighbouring tables, in this process.

    Raises
    ------
    BadInput
        If Numba compiles in this process.
    """
    if not numba.config.DISABLE_JIT:
        raise BadInput("a replay needs plain Python: set NUMBA_DISABLE_JIT=1, or ask experiments.audit.replay.reports")
    _load(subject.target.rpartition(".")[0])
    composed, failures, n_calls = {ADDED_OR_REMOVED: 0.0, REPLACED: 0.0}, [], 0
    for pair in tables or pairs():
        privacy, first, cost, found = _replayed(subject, pair)
        composed[pair.neighbours] = max(composed[pair.neighbours], cost)
        n_calls = max(n_calls, len(first.calls) + len(first.keyed))
        failures += [Failure(kind, pair.name, what) for kind, what in found]
    return Report(
        subject.name,
        privacy.neighbours,
        privacy.claimed_epsilon,
        privacy.is_sound,
        tuple(fault.name for fault in privacy.faults),
        {relation: privacy.accounted(relation) for relation in composed},
        composed,
        n_calls,
        tuple(failures),
    )


def _load(module: str) -> None:
    """Import a module before anything is watched, and watch it, too."""
    import_module(module)
    if (package := module.partition(".")[0]) not in _PACKAGES:
        _PACKAGES.add(package)
        _places.cache_clear()


def _replayed(subject: Subject, pair: Pair) -> tuple[Privacy, Tape, float, list[tuple[str, str]]]:
    first = Tape()
    with watching(first):
        model = subject.make().fit(*pair.first)
        released = _released(model)
    second = Tape(first)
    found = second.found = first.found
    try:
        with watching(second):
            again = _released(subject.make().fit(*pair.second))
        if len(second.calls) < len(first.calls):
            raise Diverged(f"the calls end after {len(second.calls)}, not {len(first.calls)}")
        if not _are_equal(released, again):
            found.append(("release", "the released model is another, though all draws agree"))
    except Diverged as diverged:
        found.append(("calls", str(diverged)))
    privacy = model.privacy_
    cost = math.fsum(_costs(first, second, privacy, pair.neighbours, found))
    if cost > privacy.accounted(pair.neighbours) * (1 + ROUNDING) and not first.repeats_rows:
        # An account of a bootstrap is about the law of its draws: one of them may cost more.
        found.append(("account", f"the record cost {cost:.4g}, accounted {privacy.accounted(pair.neighbours):.4g}"))
    if pair.neighbours == privacy.neighbours and cost > privacy.claimed_epsilon * (1 + ROUNDING):
        found.append(("claim", f"the record cost {cost:.4g}, claimed {privacy.claimed_epsilon:.4g}"))
    return privacy, first, cost, found


def _costs(first: Tape, second: Tape, privacy: Privacy, neighbours: str, found: list) -> Iterator[float]:
    """Yield what each call has cost the record, noting what it should not have seen or been told."""
    couples = list(zip(first.calls, second.calls, strict=False)) + list(_by_key(first, second))
    # A sensitivity for records that come or go is doubled where one is replaced.
    n_records = 2 if neighbours == REPLACED and privacy.neighbours == ADDED_OR_REMOVED else 1
    for place, (before, after) in enumerate(couples, start=1):
        epsilon, sensitivity, _ = before.told
        if before.told != after.told:
            found.append(("told", f"call {place}, {before.form}, is told {after.told}, not {before.told}"))
        change = before.change(after)
        if change and math.isinf(epsilon):
            found.append(("no noise", f"call {place}, {before.form}, has no noise"))
        elif change > n_records * sensitivity * (1 + ROUNDING):
            found.append(
                ("sensitivity", f"call {place}, {before.form}, is told {sensitivity:g}, moved by {change:.4g}")
            )
        yield before.cost(change)


def _by_key(first: Tape, second: Tape) -> Iterator[tuple[Call, Call]]:
    for key in sorted(first.keyed.keys() | second.keyed.keys()):
        one, other = first.keyed.get(key), second.keyed.get(key)
        known = one or other
        empty = replace(known, protected=np.zeros_like(known.protected))
        yield one or empty, other or empty


def _released(model) -> list[np.ndarray]:
    """Return what is released of a model, as far as it can be compared: predictions, trees, what was trained."""
    predict = getattr(model, "predict_proba", model.predict)
    trees = [tree for tree in getattr(model, "trees_", []) if isinstance(tree, np.ndarray)]
    fields = [np.nan_to_num(tree[name], nan=-1.0) for tree in trees for name in tree.dtype.names]
    trained = [np.frombuffer(pickle.dumps(model.classifier_), np.uint8)] if hasattr(model, "classifier_") else []
    return [predict(GRID), *fields, *trained]


SHOWN_BY = {
    "exact purity test": {"calls"},
    "exact stop condition": {"calls"},
    "exact final comparison": {"calls", "sensitivity", "release"},
    "exact nominal splits": {"calls", "sensitivity", "release"},
    "interval ends from the rows": {"calls", "told"},
    "cuts from the rows": {"calls", "sensitivity", "release"},
    "sensitivity from the rows": {"told"},
    "bootstrap": {"sampling", "sensitivity", "claim"},
    "exact leaves": {"no noise"},
    "exact choices": {"no noise"},
    "copied rows": {"release"},
    "exact labels": {"release"},
    "scale from the rows": {"release"},
    "ratio from the rows": {"release"},
    "inferred domain": {"calls", "told", "sensitivity", "release"},
    "unused count": set(),
    "height from the rows": set(),
    "budget spent more than once": set(),
}
"""By which rules a replay can show a confessed fault: a step that reads the rows changes what follows.

A count that nothing uses is paid for and no leak; the height of RDT takes more columns to move by one record; where
RFDPP-Gini spends more than it says, it has diverged before.
"""


# All estimators, in a process without compilation.


def subjects() -> list[Subject]:
    """Return every private estimator of ``conf/algorithm``, and every variant of each of their classes.

    Peers are not among them: their noise is drawn in another process.

    Examples
    --------
    >>> [subject.name for subject in subjects() if "EDPRF" in subject.target and "variant" in subject.params]
    ['edprf', 'edprf_sound']
    """
    found = []
    for name in estimators.names():
        cls = estimators.locate(estimators.target(name))
        if issubclass(cls, PrivateEstimator) and not estimators.packages(name):
            params = estimators.parameters(name) | estimators.own_epsilon(name)
            sized = {key: value for key, value in params.items() if key not in SIZES}
            found.append(Subject(name, estimators.target(name), sized))
    variants = {(subject.target, subject.params.get("variant", "paper")) for subject in found}
    for target in sorted({subject.target for subject in found}):
        if "variant" in estimators.accepts(target) and (target, "sound") not in variants:
            found.append(Subject(f"{target.rpartition('.')[2]} sound", target, {"variant": "sound"}))
    return found


def reports(asked: Sequence[Subject] | None = None) -> list[Report]:
    """Replay estimators in a process of their own, in plain Python.

    Parameters
    ----------
    asked : list of Subject or None
        What to replay; None is all of `subjects`.

    Returns
    -------
    list of Report
        In the same order.
    """
    words = json.dumps([asdict(subject) for subject in (subjects() if asked is None else asked)])
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "experiments.audit.replay"],
        input=words,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=root,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [_report(data) for data in json.loads(done.stdout)]


def _report(data: Mapping) -> Report:
    failures = tuple(Failure(**failure) for failure in data["failures"])
    return Report(**(data | {"faults": tuple(data["faults"]), "failures": failures}))


def main() -> None:
    """Replay the subjects on standard input (JSON), and print their reports (JSON)."""
    warnings.simplefilter("ignore", PrivacyLeakWarning)  # whoever asks for an inferred domain knows
    asked = [Subject(**subject) for subject in json.load(sys.stdin)]
    print(json.dumps([asdict(audit(subject)) for subject in asked]))


if __name__ == "__main__":
    main()
