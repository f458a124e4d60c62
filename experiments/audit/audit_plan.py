"""What is to be audited, and how thoroughly: the algorithms that are asked for, or all private ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from documents.search_path import name_family, name_stored
from experiments.audit.attacks.black_box import list_pairs
from experiments.audit.subjects import SIZES, Subject, list_subjects
from experiments.cells.cell import read_epsilon
from experiments.config import estimators
from experiments.errors import BadInput
from experiments.run.runner import Executor

FEWEST = {"trainings": 1_000, "canaries": 100}
TRAININGS = 100_000
"""On each table of a pair, if nobody asks for another number; fewer where they take longer."""


@dataclass(frozen=True)
class AuditPlan:
    """What is to be audited, and how thoroughly.

    Raises
    ------
    BadInput
        If a value cannot be.

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
            raise BadInput(f"algorithm.{next(iter(self.params))} is a parameter of which algorithm=...?")

    @property
    def n_jobs(self) -> int:
        """How many threads or processes work at once, at least 1."""
        return Executor(jobs=self.jobs).n_jobs

    @property
    def name(self) -> str:
        """What its files are called: ``audit`` where all is asked for."""
        return "-".join(filter(None, ("audit", "-".join(self.algorithms)[:100], self.dataset))).replace(":", "_")


def list_auditable() -> dict[str, Subject]:
    """Return what the black box can observe: algorithms with noise, and such as release rows; in every variant.

    Examples
    --------
    >>> {"rdt", "PFDPDTClassifier sound"} <= set(list_auditable()), "linear_regression" in list_auditable()
    (True, False)
    """
    subjects = {}
    for subject in list_subjects():
        is_without_noise = "epsilon" in subject.params  # its file sets it
        if not is_without_noise and list_pairs(estimators.import_class(subject.target)()):
            subjects[subject.name] = subject
    return subjects


def choose_subjects(plan: AuditPlan) -> list[Subject]:
    """Return the algorithms of a plan, with the parameters that it gives them."""
    if not plan.algorithms:
        return list(list_auditable().values())
    subjects = []
    for name in plan.algorithms:
        params = estimators.merge_parameters(name, plan.params)
        for size in SIZES:
            if size not in plan.params:  # the pairs of tables say how large an algorithm is, unless the plan does
                params.pop(size, None)
        subjects.append(Subject(name, estimators.find_target(name), params))
    return subjects


def explain_nothing_to_audit(algorithm: str) -> str:
    """Return why an algorithm cannot be audited; of ours with those that can be.

    Examples
    --------
    >>> explain_nothing_to_audit("mine")
    "algorithm 'mine' cannot be audited: it claims no ε, with a parameter epsilon or in privacy_"
    """
    why = f"algorithm {algorithm!r} cannot be audited: it claims no ε, with a parameter epsilon or in privacy_"
    if not estimators.is_built_in(name_family(algorithm)):
        return why
    # Variants without a file of their own are audited among all, but have no name to ask for.
    names = ", ".join(name for name in list_auditable() if name in estimators.list_algorithms())
    return f"{why}; what can be: {names}"
