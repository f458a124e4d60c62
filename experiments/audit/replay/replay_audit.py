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
  that is its release object with all that can be reached from it (`list_reachable`), so it is replayed once more as a
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
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from algorithms import ReleaseError
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.accounting.privacy import Privacy
from algorithms.opendp_noise import is_installed
from experiments.audit.neighbouring_tables import TablePair, build_replay_pairs, make_arrays
from experiments.audit.observe.any_estimator import read_arrays
from experiments.audit.outcomes import exceeds
from experiments.audit.plain_python import call_or_explain, require_plain_python, run_in_plain_python
from experiments.audit.replay.leaks import (
    LineRecorder,
    Modules,
    Step,
    find_drawing_line,
    find_releasing_line,
    list_numbers,
    list_reachable,
)
from experiments.audit.replay.recorder import (
    CallRecorder,
    MechanismCall,
    RunsDiverged,
    Violation,
    are_equal_arrays,
    include_modules,
    pair_calls,
    recording_calls,
)
from experiments.audit.subjects import GRID, Subject
from experiments.cells import code_version
from experiments.config import estimators
from experiments.errors import BadInput
from experiments.store.accounts import is_claim_only, read_account

CAUSES = ("no noise", "sensitivity", "release", "noise", "told", "calls", "sampling", "claim", "account")
"""The rules, those first whose breach is the cause of others."""


@dataclass(frozen=True)
class ReplayReport:
    """What the replays of one estimator show, beside what its ``privacy_`` says."""

    name: str
    neighbours: str
    claimed_epsilon: float
    keeps_claim: bool
    faults: tuple[str, ...]
    accounted: dict[str, float]  #: what the ledger says, by relation
    composed: dict[str, float]  #: the most that a replay has cost as far as it went
    n_calls: int  #: of the longest run
    failures: tuple[Violation, ...]  #: without any a proof of privacy may hold

    @property
    def broken_rules(self) -> set[str]:
        """The rules that are broken."""
        return {failure.kind for failure in self.failures}

    @property
    def reason(self) -> str:
        """What is wrong, by the rule that says most of the cause; nothing if all rules hold."""
        if not self.failures:
            return ""
        return min(self.failures, key=lambda failure: (CAUSES.index(failure.kind), not failure.line)).reason


def replay_subject(subject: Subject, pairs: Sequence[TablePair] | None = None) -> ReplayReport:
    """Replay an estimator, in this process, on pairs of tables with the columns of subjects, or on all of these."""
    require_plain_python("a replay needs", "or call replay_in_processes")
    own_modules = code_version.list_own_modules(subject.target)
    include_modules(own_modules or [estimators.import_class(subject.target).__module__])
    composed, failures, n_calls = {ADDED_OR_REMOVED: 0.0, REPLACED: 0.0}, [], 0
    for pair in pairs or build_replay_pairs():
        replay = _replay_pair(subject, pair, own_modules)
        violations = replay.violations
        if replay.privacy.keeps_claim and (released := subject.for_release()) and is_installed():
            violations = violations + _replay_pair(released, pair, own_modules).violations
        composed[pair.neighbours] = max(composed[pair.neighbours], replay.cost)
        n_calls = max(n_calls, replay.n_calls)
        failures += [replace(violation, pair=pair.name) for violation in violations]
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
    violations: list[Violation]


def _replay_pair(subject: Subject, pair: TablePair, own_modules: Modules) -> _Replay:
    first = CallRecorder(own_modules=own_modules)
    with recording_calls(first):
        model = subject.make_estimator().fit(*make_arrays(pair.table))
        released = _list_released(model)
    second = CallRecorder(first, own_modules=own_modules)
    violations = second.violations = first.violations
    try:
        with recording_calls(second):
            again = _list_released(subject.make_estimator().fit(*make_arrays(pair.neighbour)))
        if len(second.calls) < len(first.calls):
            raise RunsDiverged(f"the calls end after {len(second.calls)}, not {len(first.calls)}")
        if not are_equal_arrays(released, again):
            violations.append(_explain_release(subject, pair, first))
    except RunsDiverged as diverged:
        words = "what is asked of the mechanisms depends on the rows"
        violations.append(Violation("calls", str(diverged), words, diverged.line))
    privacy = read_account(model)
    if privacy is None:
        raise BadInput(f"{subject.name} has no account, privacy_, of an epsilon that it could keep")
    costs = list(_list_costs(first, second, privacy, pair.neighbours, violations))
    # An account of a bootstrap is about the law of its draws: one of them may cost more.
    violations += _compare_cost(costs, privacy, pair.neighbours, is_bound_by_account=not first.repeats_rows)
    cost = math.fsum(cost for cost, _ in costs)
    return _Replay(privacy, len(first.calls) + len(first.keyed_calls), cost, violations)


def _explain_release(subject: Subject, pair: TablePair, first: CallRecorder) -> Violation:
    """Return why the released model is another: noise outside of the mechanisms, or none; with the line of own code."""
    what, words = "the released model is another, though all draws agree", "what is released is not noisy all over"
    if not first.own_modules:
        return Violation("release", what, words)
    try:
        on_table, released = _follow_lines(subject, pair.table, first)
        other_seed, drawn_anew = _follow_lines(subject.reseed(), pair.table, first)
        on_neighbour, others = _follow_lines(subject, pair.neighbour, first)
    except RunsDiverged:  # a fit that draws without a seed: the lines cannot be laid side by side
        return Violation("release", what, words)
    if released != drawn_anew:
        line = find_drawing_line(on_table, other_seed)
        return Violation("release", what, "noise outside of the mechanisms", line)
    line = find_releasing_line(on_table, on_neighbour, released - others)
    return Violation("release", what, "a value leaves without noise", line)


def _follow_lines(subject: Subject, records: tuple, first: CallRecorder) -> tuple[list[Step], frozenset[str]]:
    """Return what each line of a user's code leaves behind in a training that repeats the first, and what it releases.

    What is released by an estimator that may not release is all that it predicts.
    """
    model = subject.make_estimator()
    lines = LineRecorder(first.own_modules, model)
    with recording_calls(CallRecorder(first)), lines.following():
        model.fit(*make_arrays(records))
    released: Any = _list_released(model)
    if hasattr(model, "release"):
        with suppress(ReleaseError):
            released = model.release()
    return lines.steps, list_numbers([("", released)])


def _compare_cost(
    costs: Sequence[tuple[float, str]], privacy: Privacy, neighbours: str, is_bound_by_account: bool
) -> Iterator[Violation]:
    """Yield how the cost of a record exceeds the ledger and the claim; the line is that of the dearest call."""
    cost, accounted = math.fsum(cost for cost, _ in costs), privacy.accounted(neighbours)
    _, line = max(costs, default=(0.0, ""), key=lambda pair: pair[0])
    if is_bound_by_account and exceeds(cost, accounted):
        words = f"a record costs {_say_times(cost, accounted)} what the account says"
        yield Violation("account", f"the record cost {cost:.4g}, accounted {accounted:.4g}", words, line)
    if neighbours == privacy.neighbours and exceeds(cost, privacy.claimed_epsilon):
        words = f"a record costs {_say_times(cost, privacy.claimed_epsilon)} the ε that is claimed"
        yield Violation("claim", f"the record cost {cost:.4g}, claimed {privacy.claimed_epsilon:.4g}", words, line)


def _say_times(cost: float, of: float) -> str:
    """Return in words how many times an ε a cost is: the ε of a replay is none that a reader knows.

    Examples
    --------
    >>> _say_times(100.0, 50.0), _say_times(math.inf, 50.0), _say_times(1.0, 0.0)
    ('2 times', 'infinitely more than', 'infinitely more than')
    """
    return f"{cost / of:.3g} times" if of and math.isfinite(cost) else "infinitely more than"


def _list_costs(
    first: CallRecorder, second: CallRecorder, privacy: Privacy, neighbours: str, violations: list[Violation]
) -> Iterator[tuple[float, str]]:
    """Yield what each call has cost the record, and its line, noting what it should not have seen or been told."""
    # A sensitivity for records that come or go is doubled where one is replaced.
    n_records = 2 if neighbours == REPLACED and privacy.neighbours == ADDED_OR_REMOVED else 1
    for place, (before, after) in enumerate(pair_calls(first, second), start=1):
        change = before.measure_change(after)
        for kind, what, words in _find_faults(before, after, change, n_records):
            violations.append(Violation(kind, f"call {place}, {before.description}, {what}", words, before.line))
        yield before.compute_cost(change), before.line


def _find_faults(
    before: MechanismCall, after: MechanismCall, change: float, n_records: int
) -> Iterator[tuple[str, str, str]]:
    """Yield what a call should not have seen or been told: the rule, what was seen, and words for a reader."""
    epsilon, sensitivity, _ = before.parameters
    if before.parameters != after.parameters:
        words = "what a mechanism is told depends on the rows"
        yield "told", f"is told {after.parameters}, not {before.parameters}", words
    if change and math.isinf(epsilon):
        yield "no noise", "has no noise", "a mechanism is told to add no noise"
    elif exceeds(change, n_records * sensitivity):
        words = f"noise for a change of {n_records * sensitivity:g}, where a record makes one of {change:.4g}"
        yield "sensitivity", f"is told {sensitivity:g}, moved by {change:.4g}", words


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


def replay_in_processes(subjects: Sequence[Subject], jobs: int = 1) -> list[ReplayReport | str]:
    """Replay estimators in processes of plain Python; in place of a report why there is none, where a fit raises."""
    return list(run_in_plain_python(call_or_explain, ((replay_subject, subject) for subject in subjects), jobs))
