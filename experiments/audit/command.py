"""``python -m experiments.audit``: which algorithms keep the ε that they claim? ``make audit`` asks all of them."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import yaml
from omegaconf import OmegaConf
from sklearn.base import BaseEstimator

import datasets
from algorithms.forests.forest import PrivateForest
from experiments.audit.attacks.black_box import audit_pairs, count_trainings, list_pairs, resize_estimator
from experiments.audit.attacks.canaries import audit_one_run
from experiments.audit.attacks.release_path import attack_in_processes, list_release_pairs
from experiments.audit.laws import worst_cases
from experiments.audit.neighbouring_tables import TablePair
from experiments.audit.replay.exact_losses import LossRequest, sample_losses_in_processes
from experiments.audit.replay.replay_audit import replay_in_process
from experiments.audit.report.bound_rows import (
    AuditResult,
    BoundRow,
    make_black_box_row,
    make_canary_row,
    make_release_row,
)
from experiments.audit.report.report_files import write_results, write_summary
from experiments.audit.report.report_text import format_report
from experiments.audit.subjects import SIZES, Subject, list_subjects
from experiments.audit.table_templates import load_searched_pairs
from experiments.cells.cell import canonical, checked_epsilon
from experiments.config import estimators
from experiments.config.data import task_and_domain
from experiments.config.paths import CONF, ROOT
from experiments.errors import BadInput, suggestion
from experiments.run.progress import Progress
from experiments.run.runner import Executor
from experiments.store import provenance

FEWEST = {"n": 1_000, "canaries": 100}
LOSSES = 200
"""Exact losses that are sampled of each pair of a sound forest; a fiftieth of the trainings if these are few."""
HELP = """\
Ask algorithms whether they keep the ε that they claim.

  python -m experiments.audit                    all private algorithms, and one runs as in conf/audit.yaml
  python -m experiments.audit algorithm=rdt epsilon=2 n=1000000
  python -m experiments.audit algorithm=diffpets,diffpets_sound algorithm.n_estimators=5
  python -m experiments.audit algorithm=rdt dataset=mushroom algorithm.max_depth=11     one run on a data set

Settings, with their defaults:
  algorithm=NAME            one, or several with commas; without it all that can be audited
  epsilon=1.0               what they are to claim
  algorithm.NAME=VALUE      a parameter; without it forests are as small as each pair of tables asks for
  n=100000                  trainings on each table of a pair; half where forests have two trees, a third where three,
                            a tenth where rows are released, a hundredth where another implementation is asked,
                            10 times as many on a pair that was searched for
  dataset=NAME              one run instead: train once, with canaries among the rows of a data set
  canaries=5000             how many
  jobs=-1                   threads that train; -1 is one for each core
  results=results           folder; audit.csv and audit.json go to audit/ in it (audit-rdt.csv with algorithm=rdt, ...);
                            of all algorithms also summary.csv, which reports show, and provenance.json

stdout: what was found; stderr: how far it is. The same words give the same numbers, but for real releases, whose noise
nothing can repeat: from 100 each of two tables an event that happens always on one and never on the other stands out.
Exit code: 0 done, 1 something could not be run or an algorithm that calls itself sound was convicted, 2 bad input."""


@dataclass
class Asked:
    """What the command line asks for."""

    algorithm: str | None = None
    epsilon: float = 1.0
    n: int = 100_000
    dataset: str | None = None
    canaries: int = 5_000
    jobs: int = -1
    results: str = "results"
    params: dict = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What its files are called: ``audit`` where all is asked for."""
        algorithms = (self.algorithm or "").replace(",", "-")[:100]
        return "-".join(filter(None, ("audit", algorithms, self.dataset)))


def parsed(words: list[str]) -> Asked:
    """Read the command line.

    Raises
    ------
    BadInput
        For a word that is not understood, or a value that cannot be.

    Examples
    --------
    >>> asked = parsed(["algorithm=rdt", "epsilon=2", "algorithm.max_depth=3"])
    >>> asked.algorithm, asked.epsilon, asked.n, asked.params
    ('rdt', 2.0, 100000, {'max_depth': 3})
    >>> parsed(["epsilom=2"])
    Traceback (most recent call last):
    experiments.errors.BadInput: there is nothing called 'epsilom' to set; did you mean 'epsilon'?
    """
    asked, names = Asked(), [name for name in Asked.__dataclass_fields__ if name != "params"]
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not text:
            raise BadInput(
                f"cannot read {word!r}: write name=value; python -m experiments.audit --help lists the names"
            )
        if name.startswith("algorithm."):
            asked.params[name.removeprefix("algorithm.")] = yaml.safe_load(text)
        elif name in names:
            setattr(asked, name, _value(name, text))
        else:
            raise BadInput(f"there is nothing called {name!r} to set; {suggestion(name, names)}")
    return asked


def _value(name: str, text: str):
    if name == "epsilon":
        if math.isinf(epsilon := checked_epsilon(text)):
            raise BadInput("epsilon must be finite: without noise there is nothing to keep")
        return epsilon
    if name in ("algorithm", "dataset", "results"):
        return text
    value = yaml.safe_load(text)
    if isinstance(value, bool) or not isinstance(value, int) or value < FEWEST.get(name, -sys.maxsize):
        least = f", at least {FEWEST[name]:,}" if name in FEWEST else ""
        raise BadInput(f"{name} must be a whole number{least}, got {text!r}")
    return value


@dataclass(frozen=True)
class BlackBox:
    """An algorithm on every pair of tables that it can be trained on."""

    subject: Subject
    epsilon: float
    n: int
    jobs: int

    @property
    def tables(self) -> Sequence[TablePair]:
        """The pairs.

        Raises
        ------
        BadInput
            If there is none.
        """
        found = list_pairs(self._estimator())
        if not found:
            # Variants without a file of their own are audited among all, but have no name to ask for.
            names = ", ".join(name for name in auditable() if name in estimators.names())
            raise BadInput(f"algorithm {self.subject.name!r} cannot be audited; what can be: {names}")
        searched = load_searched_pairs(self.subject.name)
        return (*found, *searched) if searched else found

    @property
    def size(self) -> int:
        """How many rows it gives."""
        return len(self.tables)

    def rows(self) -> Iterator[BoundRow]:
        """Run it."""
        tables, name = self.tables, self.subject.name
        n = count_trainings(self._estimator(), self.n)
        key = canonical([name, self.subject.params, self.epsilon])
        for finding in audit_pairs(
            lambda pair: resize_estimator(self._estimator(), pair, self.subject.params), tables, n, key, self.jobs
        ):
            yield make_black_box_row(name, finding)

    def losses(self) -> list[LossRequest]:
        """Return which exact losses there are to sample, if it is a forest: some of each pair."""
        if not isinstance(self._estimator(), PrivateForest):
            return []
        n = min(LOSSES, self.n // 50)
        return [
            LossRequest(resize_estimator(self._estimator(), pair, self.subject.params), pair, n) for pair in self.tables
        ]

    def _estimator(self) -> BaseEstimator:
        accepted = estimators.accepts(self.subject.target)
        given = {"epsilon": self.epsilon} if "epsilon" in accepted else {}
        return estimators.locate(self.subject.target)(**(given | self.subject.params))


def with_losses(rows: Sequence[BoundRow], boxes: Sequence[BlackBox]) -> list[BoundRow]:
    """Return rows with the largest exact losses on their pairs, of forests that call themselves sound."""
    sound = {row.algorithm for row in rows if row.keeps_claim}
    asked = [(box.subject.name, one) for box in boxes if box.subject.name in sound for one in box.losses()]
    found = sample_losses_in_processes([one for _, one in asked], boxes[0].jobs if boxes else 1)
    largest = {(name, one.pair.name): float(np.abs(lost).max()) for (name, one), lost in zip(asked, found, strict=True)}
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

    def rows(self) -> Iterator[BoundRow]:
        """Run it."""
        task_and_domain(self.dataset)
        params = estimators.parameters(self.algorithm, self.params)
        forest = estimators.make(self.algorithm, params, epsilon=self.epsilon)
        run = audit_one_run(forest, self.dataset, self.canaries, canonical([self.algorithm, params, self.epsilon]))
        yield make_canary_row(self.algorithm, self.dataset, forest, run)


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

    def rows(self) -> Iterator[BoundRow]:
        """Run it."""
        yield from map(make_release_row, attack_in_processes(self.subjects, self.epsilon, self.jobs))


def auditable() -> list[str]:
    """Return what the black box can observe: algorithms with noise, and such as release rows; in every variant.

    Examples
    --------
    >>> {"rdt", "PFDPDTClassifier sound"} <= set(auditable()), "linear_regression" in auditable()
    (True, False)
    """
    return list(_subjects())


def _subjects() -> dict[str, Subject]:
    found = (subject for subject in list_subjects() if "epsilon" not in subject.params)  # by its file without noise
    return {subject.name: subject for subject in found if list_pairs(estimators.locate(subject.target)())}


def _asked_for(asked: Asked) -> list[Subject]:
    if asked.algorithm is None:
        return list(_subjects().values())
    names = [name.strip() for name in asked.algorithm.split(",")]
    return [Subject(name, estimators.target(name), _params(name, asked.params)) for name in names]


def _params(name: str, given: Mapping) -> dict:
    """Return the parameters of an algorithm, without those that say how large it is unless they are given."""
    return {key: value for key, value in estimators.parameters(name, given).items() if key in given or key not in SIZES}


def tasks_of(asked: Asked) -> list[BlackBox | WayOut | OneRun]:
    """Return what there is to train: what is asked for, or everything.

    Raises
    ------
    BadInput
        If it cannot be done.
    """
    if asked.dataset:
        if asked.algorithm is None:
            raise BadInput("dataset=... asks for one run: say of which algorithm=...")
        names = [name.strip() for name in asked.algorithm.split(",")]
        return [OneRun(name, asked.params, asked.epsilon, asked.dataset, asked.canaries) for name in names]
    if asked.algorithm is None and asked.params:
        raise BadInput(f"algorithm.{next(iter(asked.params))} is a parameter of which algorithm=...?")
    jobs = Executor(jobs=asked.jobs).n_jobs
    subjects = _asked_for(asked)
    tasks: list = [BlackBox(subject, asked.epsilon, asked.n, jobs) for subject in subjects]
    if releasable := [one for one in subjects if "noise" in estimators.accepts(one.target)]:
        tasks.append(WayOut(releasable, asked.epsilon, jobs))
    if asked.algorithm is None:
        tasks += [
            OneRun(epsilon=asked.epsilon, **run)
            for run in OmegaConf.to_container(OmegaConf.load(CONF / "audit.yaml"))["one_runs"]
        ]
    return tasks


def command(words: list[str]) -> int:
    """Audit what is asked for; returns the exit code."""
    if {"-h", "--help"} & set(words):
        print(HELP)
        return 0
    asked = parsed(words)
    tasks = tasks_of(asked)
    found, missing = AuditResult([], [], []), []
    with Progress(sum(task.size for task in tasks), 0, "audit") as progress:
        for task in tasks:
            try:
                for row in task.rows():
                    found.bounds.append(row)
                    progress.advance(failed=False)
            except datasets.DataUnavailable as error:
                missing.append(f"not audited: {task.algorithm} on {task.dataset}: {' '.join(str(error).split())}")
                progress.advance(failed=True)
    found.bounds.sort(key=lambda row: (row.layer, row.algorithm))  # releases come in no order
    if asked.dataset is None:
        found.bounds[:] = with_losses(found.bounds, [task for task in tasks if isinstance(task, BlackBox)])
        # A peer draws its noise in another process: nothing can be played to it.
        found.replays.extend(
            replay_in_process([one for one in _asked_for(asked) if one.target.startswith("algorithms.")])
        )
    if asked.algorithm is None:
        found.laws.extend(worst_cases.find_worst_cases((asked.epsilon,)))
    print(format_report(found))
    folder = ROOT / Path(asked.results).expanduser() / "audit"
    paths = write_results(found, folder, asked.name)
    if asked.algorithm is None:
        paths += write_summary(found, folder, provenance.of_command(["python", "-m", "experiments.audit", *words]))
    for path in paths:
        print(f"  {path}", file=sys.stderr)
    for line in missing:
        print(line, file=sys.stderr)
    return 1 if missing or found.is_alarming else 0
