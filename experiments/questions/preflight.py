"""Check what a paper asks for before a cell is run: whatever is wrong is said at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from experiments.config.paper import Paper
from experiments.config.study import PaperError
from experiments.errors import BadInput, suggest_name
from experiments.metrics.find import LEAKS, list_measured, select_extra
from experiments.metrics.metric import STANDARD_ERROR


def run_checks(checks: Iterable[Callable[[], object]]) -> None:
    """Run checks and report all of their errors at once, as a PaperError with a line for each."""
    errors: list[str] = []
    collect(checks, errors)
    raise_errors(errors)


def collect(steps: Iterable[Callable[[], Any]], errors: list[str]) -> list[Any]:
    """Return what steps return; of those that fail, what is wrong is put behind ``errors``, a line for each."""
    results = []
    for step in steps:
        try:
            results.append(step())
        except ValueError as error:
            errors.append(" ".join(str(error).split()))
    return results


def raise_errors(errors: Sequence[str]) -> None:
    """Raise a PaperError that says all errors, each once; nothing without any."""
    distinct = list(dict.fromkeys(errors))
    if len(distinct) == 1:
        raise PaperError(distinct[0])
    if distinct:
        raise PaperError("\n  ".join([f"{len(distinct)} errors:", *distinct]))


def check_metrics(paper: Paper, user: str, study_name: str, where: Mapping[str, Any], metrics: Sequence[str]) -> None:
    """Check that data sets of a part of a study have metrics; if one has not, PaperError says that ``user`` asks."""
    study = paper.study(study_name, user)
    for dataset in study.axis("dataset", where):
        available = [name for name in list_measured(dataset) if study.protocol.leakage or name not in LEAKS]
        available += study.metrics
        if study.protocol.folds is not None:
            available += [f"{name}{STANDARD_ERROR}" for name in available]
        for metric in metrics:
            if metric not in available:
                raise PaperError(f"{user}: {_explain_lack(study_name, dataset, metric, available)}")


def _explain_lack(study: str, dataset: str, metric: str, available: Sequence[str]) -> str:
    try:
        can_be_asked = bool(select_extra(dataset, [metric]))
    except BadInput:
        can_be_asked = False
    if can_be_asked:
        return f"study {study!r} does not measure {metric!r}; add it there: metrics: [{metric}]"
    return f"{dataset} has no metric {metric!r}; {suggest_name(metric, available)}"
