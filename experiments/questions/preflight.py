"""Check what a paper asks for before a cell is run: whatever is wrong is said at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from experiments.config.paper import Paper
from experiments.config.study import PaperError
from experiments.errors import BadInput, one_line, suggest_name
from experiments.judge.evidence.claim_group import Contrast
from experiments.judge.question import ClaimQuestion
from experiments.metrics.find import LEAKS, find_metric, list_measured, select_extra
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


def check_rule(claim: str, question: ClaimQuestion) -> None:
    """Check what a claim says of its runs on made-up ones; PaperError if no verdict could be made of that.

    A verdict takes runs to be independent, so what is said of one run must come from that run alone.
    """
    values, test = _make_up_runs(question.metric, len(question.groups[0].levels)), question.test
    try:
        with np.errstate(all="ignore"):
            contrasts, of_first = (test.rule.list_contrasts(runs, test.margin) for runs in (values, values[:2]))
        fault = _find_fault(contrasts, of_first, len(values))
    except Exception as error:  # whatever the kind of a user raises
        fault = f"fails ({one_line(error)})"
    if fault:
        raise PaperError(f"claim {claim!r}: list_contrasts of its kind, tried on made-up runs, {fault}")


def _make_up_runs(metric: str, n_levels: int) -> np.ndarray:
    """Return values of a metric, all different: a row for each of eight runs, a column for each level."""
    low, high = find_metric(metric).range
    if math.isinf(low):
        low = 0.0 if math.isinf(high) else high - 1
    if math.isinf(high):
        high = low + 1
    return np.random.default_rng(0).uniform(low, high, (8, n_levels))


def _find_fault(contrasts: Sequence[Contrast], of_first: Sequence[Contrast], n: int) -> str:
    """Return why no verdict can be made of contrasts of n runs, beside those of the first two; nothing if one can."""
    names = [contrast.name for contrast in contrasts]
    if not names or not all(contrast.sides for contrast in contrasts):
        return "says nothing: there is no contrast, or one without sides"
    if len(set(names)) < len(names):
        return f"returns contrasts of one name, {names}; give each its own"
    for contrast, first in zip(contrasts, of_first, strict=True):
        for numbers, of_two in zip(_list_numbers(contrast), _list_numbers(first), strict=True):
            if np.shape(numbers) != (n,) or np.isnan(numbers).any() or not np.isfinite(contrast.changes).all():
                return "does not return a number for each run"
            if not np.allclose(numbers[:2], of_two, rtol=1e-9, atol=1e-9):
                return "says something else of a run if there are more; take each number from its own row of values"
    return ""


def _list_numbers(contrast: Contrast) -> list[np.ndarray]:
    return [contrast.changes, *contrast.sides, contrast.margins, *contrast.levels]
