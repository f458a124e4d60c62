"""Attack an estimator, or an algorithm of the catalogue: does it keep the ε that it claims?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
from sklearn.base import BaseEstimator

from experiments.audit.audit_tasks import AuditPlan, run_audit
from experiments.audit.outcomes import OUTCOMES
from experiments.audit.report import AuditResult, format_report, judge_algorithms, summarise
from experiments.audit.subjects import Subject
from experiments.config import estimators
from experiments.edge import keep_prints_apart
from experiments.errors import BadInput
from experiments.processes import start_without_main_module
from experiments.python_api import refuses_bad_input


@dataclass(frozen=True)
class Audit:
    """What attacks found of one algorithm; printed, it is the report of ``dp-replica audit``."""

    result: AuditResult
    missing: list[str]  #: what could not be attacked, and why

    @property
    def outcome(self) -> str:
        """What came out, in a word or two: "broken", "withstood", ..."""
        (verdict, *_) = judge_algorithms(self.result)
        return OUTCOMES[verdict.verdict]

    @property
    def reason(self) -> str:
        """Why, in a sentence: the largest ε that was measured, or what breaks the claim."""
        (verdict, *_) = judge_algorithms(self.result)
        return verdict.reason

    @property
    def frame(self) -> pd.DataFrame:
        """What each kind of attack measured, a row for each."""
        return summarise(self.result)

    def __str__(self) -> str:
        return "\n".join([format_report(self.result), *self.missing])


@refuses_bad_input
def audit(
    algorithm: str | BaseEstimator,
    epsilon: float | None = None,
    *,
    params: dict[str, Any] | None = None,
    trainings: int | None = None,
    dataset: str | None = None,
    canaries: int | None = None,
    jobs: int = -1,
) -> Audit:
    """Attack an algorithm that claims to be ε-differentially private, and bound its true ε from below.

    Parameters
    ----------
    algorithm : str or estimator
        A name of the catalogue, or an estimator of your own with parameters; its class must stand in a module.
    epsilon : float, optional
        What it is to claim: the estimator's own ``epsilon``, or 1, if left out.
    params : dict, optional
        Parameters of an algorithm of the catalogue.
    trainings : int, optional
        On each of two neighbouring tables, at least 1,000; more find smaller faults.
    dataset : str, optional
        One training on this data set with canaries among its rows, in place of many on small tables; of an algorithm
        of the catalogue.
    canaries : int, optional
        How many, with ``dataset``; at least 100.
    jobs : int
        Threads that train; -1 is one for each core.

    Returns
    -------
    Audit
        ``outcome``, ``reason``, ``frame``; ``print`` shows the report.

    Raises
    ------
    BadInput
        If it cannot be audited: it claims no ε, or a value cannot be.

    Examples
    --------
    >>> from algorithms import RFDPPGiniClassifier
    >>> found = audit(RFDPPGiniClassifier(epsilon=1.0), trainings=1_000, jobs=1)
    >>> found.outcome, "where 1 is claimed" in found.reason
    ('broken', True)
    """
    if dataset is None and canaries is not None:
        raise BadInput("canaries are put into a data set: name one with dataset=...")
    if dataset is not None and trainings is not None:
        raise BadInput("dataset=... asks for one training: leave trainings out")
    given: dict[str, Any] = {"trainings": trainings, "jobs": jobs}
    given |= {} if canaries is None else {"canaries": canaries}
    if isinstance(algorithm, str):
        plan = AuditPlan((algorithm,), params or {}, 1.0 if epsilon is None else epsilon, dataset=dataset, **given)
    else:
        if params or dataset:
            raise BadInput("params and dataset are of algorithms of the catalogue: an estimator has its own parameters")
        claimed = getattr(algorithm, "epsilon", 1.0) if epsilon is None else epsilon
        plan = AuditPlan(epsilon=claimed, subject=describe_estimator(algorithm), **given)
    with start_without_main_module(), keep_prints_apart():
        return Audit(*run_audit(plan))


def describe_estimator(estimator: BaseEstimator) -> Subject:
    """Return an estimator as what is audited: its class by the import path, and the parameters that it was given.

    Raises
    ------
    BadInput
        If it is no estimator, or other processes could not import its class.
    """
    if isinstance(estimator, type):
        raise BadInput(f"{estimator.__name__} is a class: give an estimator of it, {estimator.__name__}()")
    kind = type(estimator)
    if not hasattr(estimator, "get_params") or not hasattr(estimator, "fit"):
        raise BadInput(f"{kind.__name__} is no estimator: give one with fit and get_params, or a name of the catalogue")
    if kind.__module__ == "__main__" or "<locals>" in kind.__qualname__:
        raise BadInput(
            f"other processes must import {kind.__name__}, too: write its class into a module, such as mine.py, and "
            "import it from there"
        )
    target = f"{kind.__module__}.{kind.__qualname__}"
    defaults = estimators.read_signature(target).parameters
    params = {}
    for name, value in estimator.get_params(deep=False).items():
        if name not in estimators.GIVEN and repr(value) != repr(defaults[name].default):
            params[name] = value
    return Subject(kind.__name__, target, params)
