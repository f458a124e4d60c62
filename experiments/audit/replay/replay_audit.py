"""The replay audit: repeat a training run on a neighbouring table with the same draws, and compare the two.

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

`recorder` records the calls and repeats them. Compiled code cannot be recorded: this runs in plain Python, in processes
of its own (`replay_in_processes`). It takes milliseconds a pair and proves nothing, but it sees at once what a proof
has overlooked.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numba
import numpy as np

from algorithms import ReleaseError
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.accounting.privacy import Privacy
from experiments.audit.neighbouring_tables import TablePair
from experiments.audit.observe.released_arrays import read_arrays
from experiments.audit.plain_python import run_in_plain_python
from experiments.audit.replay.reachable_state import list_reachable
from experiments.audit.replay.recorder import (
    CallRecorder,
    RunsDiverged,
    are_equal_arrays,
    include_module_of,
    pair_keyed_calls,
    recording_calls,
)
from experiments.audit.replay.replay_tables import build_replay_pairs, make_arrays
from experiments.audit.subjects import GRID, Subject, list_subjects
from experiments.config import estimators
from experiments.errors import BadInput, one_line
from experiments.store.accounts import is_claim_only, read_account

ROUNDING = 1e-9


@dataclass(frozen=True)
class ReplayFailure:
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
class ReplayReport:
    """What the replays of one estimator show.

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
    failures : tuple of ReplayFailure
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
    failures: tuple[ReplayFailure, ...]

    @property
    def broken_rules(self) -> set[str]:
        """The rules that are broken."""
        return {failure.kind for failure in self.failures}


def replay_subject(subject: Subject, pairs: Sequence[TablePair] | None = None) -> ReplayReport:
    """Replay an estimator on pairs of neighbouring tables, in this process.

    Parameters
    ----------
    subject : Subject
        The estimator.
    pairs : sequence of TablePair or None
        Tables with the features and targets of subjects; None is `build_replay_pairs`.

    Returns
    -------
    ReplayReport
        All pairs together.

    Raises
    ------
    BadInput
        If Numba compiles in this process.
    """
    if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]  # numba sets it when imported
        raise BadInput("a replay needs plain Python: set NUMBA_DISABLE_JIT=1, or call replay_in_processes")
    include_module_of(estimators.import_class(subject.target))
    composed, failures, n_calls = {ADDED_OR_REMOVED: 0.0, REPLACED: 0.0}, [], 0
    for pair in pairs or build_replay_pairs():
        replay = _replay_pair(subject, pair)
        violations = replay.violations
        if replay.privacy.keeps_claim and (released := subject.for_release()):
            violations = violations + _replay_pair(released, pair).violations
        composed[pair.neighbours] = max(composed[pair.neighbours], replay.cost)
        n_calls = max(n_calls, replay.n_calls)
        failures += [ReplayFailure(rule, pair.name, what) for rule, what in violations]
    privacy = replay.privacy
    return ReplayReport(
        subject.name,
        privacy.neighbours,
        privacy.claimed_epsilon,
        privacy.keeps_claim or is_claim_only(privacy),
        tuple(fault.name for fault in privacy.faults),
        {relation: privacy.accounted(relation) for relation in composed},
        composed,
        n_calls,
        tuple(failures),
    )


class _Replay(NamedTuple):
    """One run on a table and its replay on the neighbour: the account, calls, cost to the record, and violations."""

    privacy: Privacy
    n_calls: int
    cost: float
    violations: list[tuple[str, str]]


def _replay_pair(subject: Subject, pair: TablePair) -> _Replay:
    first = CallRecorder()
    with recording_calls(first):
        model = subject.make_estimator().fit(*make_arrays(pair.table))
        released = _list_released(model)
    second = CallRecorder(first)
    violations = second.violations = first.violations
    try:
        with recording_calls(second):
            again = _list_released(subject.make_estimator().fit(*make_arrays(pair.neighbour)))
        if len(second.calls) < len(first.calls):
            raise RunsDiverged(f"the calls end after {len(second.calls)}, not {len(first.calls)}")
        if not are_equal_arrays(released, again):
            violations.append(("release", "the released model is another, though all draws agree"))
    except RunsDiverged as diverged:
        violations.append(("calls", str(diverged)))
    privacy = read_account(model)
    if privacy is None:
        raise BadInput(f"{subject.name} has no account, privacy_, of an epsilon that it could keep")
    cost = math.fsum(_list_costs(first, second, privacy, pair.neighbours, violations))
    # An account of a bootstrap is about the law of its draws: one of them may cost more.
    violations += _compare_cost(cost, privacy, pair.neighbours, is_bound_by_account=not first.repeats_rows)
    return _Replay(privacy, len(first.calls) + len(first.keyed_calls), cost, violations)


def _compare_cost(
    cost: float, privacy: Privacy, neighbours: str, is_bound_by_account: bool
) -> Iterator[tuple[str, str]]:
    """Yield how the cost of a record exceeds the ledger and the claim."""
    accounted = privacy.accounted(neighbours)
    if is_bound_by_account and cost > accounted * (1 + ROUNDING):
        yield "account", f"the record cost {cost:.4g}, accounted {accounted:.4g}"
    if neighbours == privacy.neighbours and cost > privacy.claimed_epsilon * (1 + ROUNDING):
        yield "claim", f"the record cost {cost:.4g}, claimed {privacy.claimed_epsilon:.4g}"


def _list_costs(
    first: CallRecorder, second: CallRecorder, privacy: Privacy, neighbours: str, violations: list
) -> Iterator[float]:
    """Yield what each call has cost the record, noting what it should not have seen or been told."""
    couples = [*zip(first.calls, second.calls, strict=False), *pair_keyed_calls(first, second)]
    # A sensitivity for records that come or go is doubled where one is replaced.
    n_records = 2 if neighbours == REPLACED and privacy.neighbours == ADDED_OR_REMOVED else 1
    for place, (before, after) in enumerate(couples, start=1):
        which = f"call {place}, {before.description},"
        epsilon, sensitivity, _ = before.parameters
        if before.parameters != after.parameters:
            violations.append(("told", f"{which} is told {after.parameters}, not {before.parameters}"))
        change = before.measure_change(after)
        if change and math.isinf(epsilon):
            violations.append(("no noise", f"{which} has no noise"))
        elif change > n_records * sensitivity * (1 + ROUNDING):
            violations.append(("sensitivity", f"{which} is told {sensitivity:g}, moved by {change:.4g}"))
        yield before.compute_cost(change)


def _list_released(model: Any) -> list[np.ndarray]:
    """Return what leaves of a model: all that its release reaches; of one that must not leave what can be compared."""
    if callable(getattr(model, "released_", None)):
        return read_arrays(model.released_())
    if hasattr(model, "release"):
        with suppress(ReleaseError):
            everything = repr(list(list_reachable(model.release())))
            return [np.frombuffer(everything.encode(), np.uint8)]
    predict = getattr(model, "predict_proba", model.predict)
    released = [predict(GRID)]
    for tree in getattr(model, "trees_", []):
        if isinstance(tree, tuple):  # not to be published, as it grows when it is asked
            continue
        for name in tree.dtype.names:
            released.append(np.nan_to_num(tree[name], nan=-1.0))
    if hasattr(model, "classifier_"):
        released.append(np.frombuffer(pickle.dumps(model.classifier_), np.uint8))
    return released


def replay_in_processes(subjects: Sequence[Subject] | None = None, jobs: int = 1) -> list[ReplayReport]:
    """Replay estimators in processes of their own, in plain Python.

    Parameters
    ----------
    subjects : list of Subject or None
        What to replay; None is all of `list_subjects`.
    jobs : int
        Processes.

    Returns
    -------
    list of ReplayReport
        In the same order.

    Raises
    ------
    BadInput
        If a fit of one raises.
    """
    subjects = list_subjects() if subjects is None else subjects
    reports = []
    for subject, answer in zip(subjects, run_in_plain_python(_try_to_replay, zip(subjects), jobs), strict=True):
        if isinstance(answer, str):
            raise BadInput(f"algorithm {subject.name!r} cannot be replayed: {answer}")
        reports.append(answer)
    return reports


def _try_to_replay(subject: Subject) -> ReplayReport | str:
    """Return the report of a subject, or why there is none."""
    try:
        return replay_subject(subject)
    except Exception as error:  # an estimator may be anybody's
        return one_line(error)
