"""The replay audit: the same run on a neighbouring table, given the same draws.

A fit is recorded on one table: every call of a mechanism, with what it protects, what it is told and what it gives.
Then the estimator is fitted to a neighbouring table and every call gives what it gave before. If the proof of privacy
holds,

- the calls are the same: mechanism, number of candidates, epsilon, sensitivity, measure (kinds ``calls``, ``told``);
- no call saw a change larger than the sensitivity that it was told (``sensitivity``), a monotone choice none that goes
  both ways by more in all, nor any call one without noise (``no noise``);
- the record has cost no more than the ledger says (``account``) and the estimator claims (``claim``): a choice costs
  its epsilon if a score moved at all, Laplace noise as large a share of it as the change is of the sensitivity;
- no two of its answers have the same noise, drawn from one place of a stream or from one key (``noise``);
- the other records stay in their trees (``sampling``);
- the released model is the same (``release``): it depends on the rows through the mechanisms alone. Of a sound model
  that is its release object with all that can be reached from it (`reachable_state`), so it is replayed once more as a
  release.

`recorder` records the calls and plays them. Compiled code cannot be watched: this runs in plain Python, in a process of
its own (`reports`). It takes milliseconds a pair and proves nothing, but it sees at once what a proof has overlooked.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

import numba
import numpy as np
from sklearn.base import RegressorMixin

from algorithms import Continuous, Domain, Nominal, PrivacyLeakWarning, ReleaseError
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.accounting.privacy import Privacy
from algorithms.base import PrivateEstimator
from experiments.audit.replay.reachable_state import atoms
from experiments.audit.replay.recorder import Call, Diverged, Tape, are_equal, watch_class, watching
from experiments.config import estimators
from experiments.config.paths import ROOT
from experiments.errors import BadInput

EPSILON = 50.0
"""Large, so that trees whose nodes stop at small noisy counts grow at all."""
SIZES = {"n_estimators": 2, "max_depth": 2, "max_features": 2}
"""What every estimator that has these parameters is fitted with, for speed."""
SEED = 1
"""Draws the last of 20 rows twice for both trees of a bootstrap, so that repeated rows are seen."""
ROUNDING = 1e-9


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
    another class or the second one, far out of bounds, a label against that of its twin, from one corner of the domain
    to the other.

    Examples
    --------
    >>> sorted({(len(pair.first[0]), len(pair.second[0])) for pair in pairs()})
    [(20, 20), (20, 21), (21, 20)]
    """
    found = []
    for seed in seeds:
        mixed, plain = _table(seed, n_classes=3), _table(seed, n_classes=2)
        alike = plain[0], np.zeros(N_ROWS)
        for name, table, record in _added(mixed, plain, alike):
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


def _added(mixed, plain, alike) -> list[tuple]:
    """Return how a record is added to which of some tables."""
    all_but_one = _with((alike[0][1:], alike[1][1:]), (MIDDLE, 2.0))
    return [
        ("a record of the usual kind", mixed, (MIDDLE, 1.0)),
        ("alone in its class and category, largest of a column", plain, (CORNER, 2.0)),
        ("the only one of another class", alike, (MIDDLE, 2.0)),
        ("the second one of another class", all_but_one, (MIDDLE, 2.0)),
        ("far above its bounds", mixed, ((1e3, 1.0, 2.0), 1.0)),
        ("far below its bounds", mixed, ((-1e3, 0.0, 0.0), 1.0)),
    ]


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

    def for_release(self) -> Subject | None:
        """Return the same for a release, None where it is one or cannot be."""
        has_noise = "noise" in estimators.accepts(self.target) and self.params.get("noise") != "opendp"
        return replace(self, params=self.params | {"noise": "opendp"}) if has_noise else None


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


@dataclass(frozen=True)
class Report:
    """What the replays of one estimator showed.

    Parameters
    ----------
    name : str
        Of the subject.
    neighbours, claimed_epsilon, keeps_claim, faults
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
    keeps_claim: bool
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
        raise BadInput("a replay needs plain Python: set NUMBA_DISABLE_JIT=1, or call replay_audit.reports")
    watch_class(estimators.locate(subject.target))
    composed, failures, n_calls = {ADDED_OR_REMOVED: 0.0, REPLACED: 0.0}, [], 0
    for pair in tables or pairs():
        privacy, first, cost, found = _replayed(subject, pair)
        if privacy.keeps_claim and (released := subject.for_release()):
            found = found + _replayed(released, pair)[-1]
        composed[pair.neighbours] = max(composed[pair.neighbours], cost)
        n_calls = max(n_calls, len(first.calls) + len(first.keyed))
        failures += [Failure(kind, pair.name, what) for kind, what in found]
    return Report(
        subject.name,
        privacy.neighbours,
        privacy.claimed_epsilon,
        privacy.keeps_claim,
        tuple(fault.name for fault in privacy.faults),
        {relation: privacy.accounted(relation) for relation in composed},
        composed,
        n_calls,
        tuple(failures),
    )


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
        if not are_equal(released, again):
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
    couples = list(zip(first.calls, second.calls, strict=False)) + list(by_key(first, second))
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


def by_key(first: Tape, second: Tape) -> Iterator[tuple[Call, Call]]:
    """Yield the calls of both runs, key by key; what only one asked for was about nothing in the other."""
    for key in sorted(first.keyed.keys() | second.keyed.keys()):
        one, other = first.keyed.get(key), second.keyed.get(key)
        known = one or other
        empty = replace(known, protected=np.zeros_like(known.protected))
        yield one or empty, other or empty


def _released(model) -> list[np.ndarray]:
    """Return what leaves of a model: all that its release reaches; of one that must not leave what can be compared."""
    with suppress(ReleaseError):
        everything = repr(list(atoms(model.release())))
        return [np.frombuffer(everything.encode(), np.uint8)]
    predict = getattr(model, "predict_proba", model.predict)
    fields = [np.nan_to_num(field, nan=-1.0) for tree in getattr(model, "trees_", []) for field in _fields(tree)]
    trained = [np.frombuffer(pickle.dumps(model.classifier_), np.uint8)] if hasattr(model, "classifier_") else []
    return [predict(GRID), *fields, *trained]


def _fields(tree) -> Iterator[np.ndarray]:
    """Yield what a tree holds; nothing if it is not to be published, as one that grows when it is asked."""
    if not isinstance(tree, tuple):
        yield from (tree[name] for name in tree.dtype.names)


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
    done = subprocess.run(
        [sys.executable, "-m", "experiments.audit.replay.replay_audit"],
        input=words,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=ROOT,
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
