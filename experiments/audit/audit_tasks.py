"""What is to be audited and how thoroughly, and what is trained for it: pairs of tables, releases, one run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import datasets
from algorithms.accounting.faults import join_names
from algorithms.forests.forest import PrivateForest
from algorithms.installation import PROGRAM
from algorithms.opendp_noise import INSTALLED_BY, is_installed
from documents.search_path import name_family, name_stored
from documents.yaml_files import parse_yaml
from experiments.audit import laws
from experiments.audit.attacks.black_box import (
    audit_pairs,
    count_trainings,
    list_pairs,
    make_observer,
    observe_in_threads,
    resize_estimator,
)
from experiments.audit.attacks.canaries import audit_one_run, name_run
from experiments.audit.attacks.release_path import attack_in_processes, list_release_pairs
from experiments.audit.neighbouring_tables import DOMAIN, TablePair
from experiments.audit.observe.any_estimator import CannotFit, ClaimsNothing
from experiments.audit.outcomes import BLACK_BOX, ONE_RUN, REPLAY, WAY_OUT, BoundRow, Unaudited
from experiments.audit.replay.exact_losses import sample_losses_in_processes
from experiments.audit.replay.replay_audit import replay_in_processes
from experiments.audit.report import AuditResult
from experiments.audit.subjects import (
    Subject,
    find_configured_version,
    has_many_classes,
    list_claims_only,
    list_subjects,
    read_small,
)
from experiments.audit.table_templates import load_searched_pairs
from experiments.cells.cell import format_canonical, read_epsilon
from experiments.config import estimators
from experiments.config.data import task_and_domain
from experiments.config.paths import CONF
from experiments.errors import BadInput, print_to_stderr
from experiments.run.progress import Progress
from experiments.run.runner import Executor

FEWEST = {"trainings": 1_000, "canaries": 100}
TRAININGS = 100_000  #: on each table of a pair, if nobody asks for another number; fewer where they take longer
LEFT_OUT = "real releases were not attacked, as OpenDP is not installed"
LOSSES = 200
"""Exact losses that are sampled of each pair of a sound forest; a fiftieth of the trainings if these are few."""


@dataclass(frozen=True)
class AuditPlan:
    """What is to be audited, and how thoroughly; BadInput if a value cannot be.

    Examples
    --------
    >>> AuditPlan(("rdt", "fm")).name
    'audit-rdt-fm'
    >>> AuditPlan(trainings=12)
    Traceback (most recent call last):
    experiments.errors.BadInput: trainings must be a whole number, at least 1,000, got 12
    """

    algorithms: tuple[str, ...] = ()  #: names; none for all private algorithms
    params: Mapping = field(default_factory=dict)  #: that they are given
    epsilon: float = 1.0  #: what they are to claim
    trainings: int | None = None  #: on each table of a pair, at least; None for ``TRAININGS``, or fewer
    dataset: str | None = None  #: one run on it instead of many on pairs of tables
    canaries: int = 5_000  #: of one run
    jobs: int = -1  #: threads that train, and processes in plain Python; -1 is one for each core
    subject: Subject | None = None  #: an estimator that no file describes, in place of algorithms

    def __post_init__(self):
        object.__setattr__(self, "algorithms", tuple(map(name_stored, self.algorithms)))
        for name, least in FEWEST.items():
            value = getattr(self, name)
            if name == "trainings" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise BadInput(f"{name} must be a whole number, at least {least:,}, got {value!r}")
        if math.isinf(read_epsilon(self.epsilon)):
            raise BadInput("epsilon must be finite: without noise there is nothing to keep")
        if self.dataset and not self.algorithms:
            raise BadInput("dataset=... asks for one run: say of which algorithm=...")
        if self.params and not self.algorithms:
            raise BadInput(f"algorithm.{next(iter(self.params))}: name the algorithm, too: algorithm=NAME")

    @property
    def is_of_all(self) -> bool:
        """Whether all algorithms are audited, with what belongs to none of them."""
        return not self.algorithms and self.subject is None

    @property
    def n_jobs(self) -> int:
        """How many threads or processes work at once, at least 1."""
        return Executor(jobs=self.jobs).n_jobs

    @property
    def name(self) -> str:
        """What its files are called: ``audit`` where all is asked for."""
        return "-".join(filter(None, ("audit", "-".join(self.algorithms)[:100], self.dataset))).replace(":", "_")


def list_auditable() -> dict[str, Subject]:
    """Return what the black box can observe: algorithms with noise, and such as release rows; in every variant."""
    subjects = {}
    for subject in list_subjects():
        is_without_noise = "epsilon" in subject.params  # its file sets it
        if not is_without_noise and list_pairs(estimators.import_class(subject.target)()):
            subjects[subject.name] = subject
    return subjects


def choose_subjects(plan: AuditPlan) -> list[Subject]:
    """Return the algorithms of a plan, with the parameters that it gives them."""
    if plan.subject is not None:
        return [plan.subject]
    if not plan.algorithms:
        return list(list_auditable().values())
    subjects = []
    for name in plan.algorithms:
        target, params = estimators.find_target(name), estimators.merge_parameters(name, plan.params)
        for size in read_small(target):
            if size not in plan.params:  # the pairs of tables say how large an algorithm is, unless the plan does
                params.pop(size, None)
        subjects.append(Subject(name, target, params))
    return subjects


def _explain_nothing_to_audit(algorithm: str) -> str:
    """Return why an algorithm cannot be audited."""
    why = "it claims no ε, neither by a parameter epsilon nor in privacy_"
    return f"algorithm {algorithm!r} cannot be audited: {why}"


Tell = Callable[[float], None]  #: is told of the shares of rows that are done


@dataclass(frozen=True)
class BlackBox:
    """An algorithm on every pair of tables that it can be trained on, at an ε, as thoroughly as an `AuditPlan` says."""

    subject: Subject
    epsilon: float
    trainings: int | None
    jobs: int

    @property
    def tables(self) -> Sequence[TablePair]:
        """The pairs; none if it cannot be observed."""
        pairs = [pair for pair in self._all_tables if self.subject.can_take(pair.domain)]
        if self.trainings is None:
            return pairs
        # as many as are asked for, though a training of some pairs grows several trees
        return tuple(replace(pair, worth=pair.worth * pair.trees) for pair in pairs)

    @property
    def n(self) -> int:
        """How many trainings there are on each table of a pair that is worth no more than others."""
        return self.trainings or count_trainings(self._estimator(), TRAININGS)

    @property
    def size(self) -> int:
        """How many rows it gives."""
        return len(self.tables)

    def claims_nothing(self) -> bool:
        """Tell whether it claims no ε, as far as a fit shows."""
        estimator = resize_estimator(self._estimator(), self.tables[0])
        try:
            _ = make_observer(estimator, self.tables[0], self.tables[0].table, 0).privacy
        except ClaimsNothing:
            return True
        except CannotFit:  # this table, but perhaps others
            return False
        return False

    def rows(self, tell: Tell) -> Iterator[BoundRow | Unaudited]:
        """Run it."""
        tables, name = self.tables, self.subject.name
        key = format_canonical([name, self.subject.params, self.epsilon])
        whole = 2 * self.n * sum(pair.worth / pair.trees for pair in tables)
        observe = partial(observe_in_threads, jobs=self.jobs, tell=lambda n: tell(len(tables) * n / whole))
        failed: list[Unaudited] = []
        fitted: set[str] = set()
        for found in audit_pairs(self._make_for, tables, self.n, key, observe, name):
            if isinstance(found, Unaudited):
                failed.append(found)
            else:
                fitted.add(found.where)
                yield found
        if n_left_out := len(self._all_tables) - len(tables):
            which = f"{n_left_out} of {len(self._all_tables)} pairs of tables"
            reason = f"{which} were left out, with more classes than the two that it says it takes"
            yield Unaudited(name, BLACK_BOX, reason, has_failed=False)
        if failed:
            which = "any pair" if len(failed) == len(tables) else f"{len(failed)} of {len(tables)} pairs"
            gap = _explain_failures(failed, f"it cannot be fitted to {which} of tables")
            is_binary = fitted and {pair.name for pair in tables if not has_many_classes(pair.domain)} == fitted
            yield replace(gap, reason=f"{gap.reason}; {_TWO_CLASSES}") if is_binary else gap

    def list_loss_requests(self) -> list[tuple[BaseEstimator, TablePair, int]]:
        """Return which exact losses there are to sample, if it is a forest: some of each pair."""
        if not isinstance(self._estimator(), PrivateForest):
            return []
        n = min(LOSSES, (self.trainings or TRAININGS) // 50)
        return [(self._make_for(pair), pair, n) for pair in self.tables]

    @property
    def _all_tables(self) -> Sequence[TablePair]:
        built = list_pairs(self._estimator())
        return (*built, *load_searched_pairs(self.subject.name)) if built else ()

    def _make_for(self, pair: TablePair) -> BaseEstimator:
        """Return the estimator that a pair asks for, at the ε that the pair names if it does."""
        asked = self if pair.epsilon is None else replace(self, epsilon=pair.epsilon)
        return resize_estimator(asked._estimator(), pair, self.subject.params)

    def _estimator(self) -> BaseEstimator:
        return self.subject.build(epsilon=self.epsilon)


def find_pair(algorithm: str, name: str) -> TablePair | None:
    """Return the pair of tables of an algorithm that has a name in a summary; None if there is no such pair.

    BadInput if there is no such algorithm.

    Examples
    --------
    >>> find_pair("rdt", "breaks a tie, nothing to ask").neighbours
    'one record added or removed'
    """
    subject = Subject(algorithm, estimators.find_target(algorithm), estimators.merge_parameters(algorithm))
    tables = BlackBox(subject, epsilon=1.0, trainings=None, jobs=1).tables
    return next((pair for pair in tables if pair.name == name), None)


_TWO_CLASSES = "if it takes two classes alone, scikit-learn's tag multi_class = False leaves out tables with more"


def _explain_failures(failed: Sequence[Unaudited], what: str) -> Unaudited:
    """Return one failure that stands for several of an algorithm, with what the first of them raised."""
    return replace(failed[0], reason=f"{what} ({failed[0].reason})")


def add_largest_losses(rows: Sequence[BoundRow], boxes: Sequence[BlackBox]) -> list[BoundRow]:
    """Return rows with the largest exact losses on their pairs, of forests that call themselves sound."""
    sound = {row.algorithm for row in rows if row.keeps_claim}
    places, requests = [], []
    for box in boxes:
        for request in box.list_loss_requests() if box.subject.name in sound else []:
            places.append((box.subject.name, request[1].name))
            requests.append(request)
    samples = sample_losses_in_processes(requests, boxes[0].jobs if boxes else 1)
    largest = {place: float(np.abs(losses).max()) for place, losses in zip(places, samples, strict=True)}
    return [replace(row, loss=largest.get((row.algorithm, row.where), math.nan)) for row in rows]


@dataclass(frozen=True)
class OneRun:
    """An algorithm trained once, on a data set with canaries in it."""

    algorithm: str
    params: Mapping
    epsilon: float
    dataset: str
    canaries: int
    size: int = 1

    def rows(self, tell: Tell) -> Iterator[BoundRow]:
        """Run it."""
        task_and_domain(self.dataset)
        params = estimators.merge_parameters(self.algorithm, self.params)
        forest = estimators.make_estimator(self.algorithm, params, epsilon=self.epsilon)
        key = format_canonical([self.algorithm, params, self.epsilon])
        row = audit_one_run(forest, self.dataset, self.canaries, key, self.algorithm)
        tell(1)
        yield row


@dataclass(frozen=True)
class WayOut:
    """Real releases of algorithms, from tables that are built to slip past the mechanisms."""

    subjects: Sequence[Subject]
    epsilon: float
    jobs: int

    @property
    def size(self) -> int:
        """How many rows it gives, if all of them can be released."""
        return sum(len(list_release_pairs(subject)) for subject in self.subjects)

    def rows(self, tell: Tell) -> Iterator[BoundRow | Unaudited]:
        """Run it."""
        failed_of: dict[str, list[Unaudited]] = {}
        for found in attack_in_processes(self.subjects, self.epsilon, self.jobs):
            tell(1)
            if isinstance(found, Unaudited):
                failed_of.setdefault(found.algorithm, []).append(found)
            else:
                yield found
        for failed in failed_of.values():
            kinds = f"{len(failed)} kinds of tables" if len(failed) > 1 else "a kind of tables"
            yield _explain_failures(failed, f"no release came from {kinds}")


Task = BlackBox | WayOut | OneRun


def plan_tasks(plan: AuditPlan) -> list[Task]:
    """Return what there is to train; BadInput if there is nothing to audit of an algorithm."""
    if plan.dataset:
        given = plan.params, plan.epsilon, plan.dataset, plan.canaries
        return [OneRun(name, *given) for name in plan.algorithms]
    tasks: list[Task] = []
    for subject in choose_subjects(plan):
        box = BlackBox(subject, plan.epsilon, plan.trainings, plan.n_jobs)
        if box.tables and (estimators.is_built_in(name_family(subject.name)) or not box.claims_nothing()):
            tasks.append(box)
        elif not plan.is_of_all and (box.tables or not (subject.is_claim_only or subject.can_be_replayed)):
            raise BadInput(_explain_nothing_to_audit(subject.name))
    releasable = list_releasable(plan)
    if releasable and is_installed():
        tasks.append(WayOut(releasable, plan.epsilon, plan.n_jobs))
    if plan.is_of_all:
        tasks += [OneRun(epsilon=plan.epsilon, **run) for run in _list_one_runs()]
    return tasks


def _list_one_runs() -> list[dict[str, Any]]:
    """Return what is trained once where all is audited: algorithm, parameters, data set and number of canaries."""
    return parse_yaml((CONF / "audit.yaml").read_text(encoding="utf-8"))["one_runs"]


def name_attack(algorithm: str, layer: str, where: str) -> str:
    """Return the command that repeats what an audit of all algorithms did to one: on pairs of tables, or in one run.

    Examples
    --------
    >>> name_attack("rdt", BLACK_BOX, "alone in its leaf")
    'dp-replica audit algorithm=rdt'
    >>> name_attack("diffpets", ONE_RUN, "congvote, 5 trees, 1,000 canaries").partition("algorithm=")[2]
    'diffpets dataset=congvote canaries=1000 algorithm.n_estimators=5 algorithm.max_depth=8'
    """
    words = [PROGRAM, "audit", f"algorithm={algorithm}"]
    for run in _list_one_runs() if layer == ONE_RUN else ():
        params, dataset, canaries = run["params"], run["dataset"], run["canaries"]
        if (run["algorithm"], name_run(dataset, params.get("n_estimators", 1), canaries)) == (algorithm, where):
            words += [f"dataset={dataset}", f"canaries={canaries}"]
            words += [f"algorithm.{name}={value}" for name, value in params.items()]
    return " ".join(words)


def list_releasable(plan: AuditPlan) -> list[Subject]:
    """Return the algorithms of a plan whose real releases are attacked where OpenDP is installed."""
    if plan.dataset:
        return []
    return [subject for subject in choose_subjects(plan) if "noise" in estimators.list_parameters(subject.target)]


def list_notices(plan: AuditPlan, tasks: Sequence[Task]) -> list[str]:
    """Return what is to be known before anything is trained: what is left out, and how many trainings there are."""
    notices = []
    releasable = list_releasable(plan)
    if releasable and not is_installed():
        names = join_names([subject.name for subject in releasable], "algorithms")
        notices.append(f"not audited: real releases of {names}, as OpenDP is not installed: {INSTALLED_BY}")
    fewer: dict[int, list[str]] = {}
    for task in tasks:
        if isinstance(task, BlackBox) and task.n < (plan.trainings or TRAININGS):
            fewer.setdefault(task.n, []).append(task.subject.name)
    for n, names_of_few in fewer.items():
        which = join_names(names_of_few, "algorithms")
        notices.append(
            f"{n:,} trainings of {which} on each table, not {TRAININGS:,}, as they take longer: trainings=N for more"
        )
    return notices


def run_audit(plan: AuditPlan) -> tuple[AuditResult, list[str]]:
    """Audit what is planned, with a line on stderr that says how far it is; return what was missing, and why, too."""
    tasks = plan_tasks(plan)
    for notice in list_notices(plan, tasks):
        print_to_stderr(notice)
    versions = {subject.name: find_configured_version(subject.name) for subject in choose_subjects(plan)}
    result, missing = AuditResult([], [], [], epsilon=plan.epsilon, versions=versions), []
    with Progress(sum(task.size for task in tasks), 0, "audit") as progress:
        tell = partial(progress.advance, False)
        for task in tasks:
            try:
                for row in task.rows(tell):
                    result.add(row)
            except datasets.DataUnavailable as error:
                assert isinstance(task, OneRun)  # nothing else reads a data set
                missing.append(f"not audited: {task.algorithm} on {task.dataset}: {' '.join(str(error).split())}")
                progress.advance(failed=True)
    result.bounds.sort(key=lambda row: (row.layer, row.algorithm))  # releases come in no order
    if plan.dataset is None:
        boxes = [task for task in tasks if isinstance(task, BlackBox)]
        result.bounds[:] = add_largest_losses(result.bounds, boxes)
        _add_replays(result, [subject for subject in choose_subjects(plan) if subject.can_be_replayed], plan.n_jobs)
        result.claims_only.extend(_list_claims_only(plan))
    if plan.is_of_all:
        result.laws.extend(laws.find_worst_cases((plan.epsilon,)))
    if not is_installed():
        for subject in list_releasable(plan):
            result.add(Unaudited(subject.name, WAY_OUT, LEFT_OUT, has_failed=False))
    return result, missing


def _list_claims_only(plan: AuditPlan) -> list[str]:
    """Return the algorithms of a plan that claim an ε which nothing shows."""
    if plan.subject is not None:
        return [plan.subject.name] if plan.subject.is_claim_only else []
    return [name for name in list_claims_only() if plan.is_of_all or name in plan.algorithms]


def _add_replays(result: AuditResult, chosen: Sequence[Subject], jobs: int) -> None:
    subjects = []
    for subject in chosen:
        if subject.can_take(DOMAIN):
            subjects.append(subject)
        else:
            reason = "it was not replayed, as replays have more classes than the two that it says it takes"
            result.add(Unaudited(subject.name, REPLAY, reason, has_failed=False))
    for subject, report in zip(subjects, replay_in_processes(subjects, jobs), strict=False):
        if isinstance(report, str):
            result.add(Unaudited(subject.name, REPLAY, f"it cannot be replayed ({report})"))
        else:
            result.replays.append(report)
