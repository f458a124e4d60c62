"""Check all of a paper before a cell is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from experiments.cells.study_cells import cells_of_studies
from experiments.config.finding import INSIDE
from experiments.config.paper import Paper, PaperError, Study
from experiments.errors import BadInput, suggest_name
from experiments.judge.numbers.printed import read_numbers_of
from experiments.metrics.find import LEAKS, list_measured, select_extra
from experiments.metrics.metric import STANDARD_ERROR


def check_paper(paper: Paper, judge: Sequence[Callable[[], object]] = ()) -> None:
    """Check all that a paper asks for, before hours are spent on it.

    Parameters
    ----------
    paper : Paper
        As it is to be run.
    judge : sequence of callable
        Further checks: functions that raise an error if something is wrong.

    Raises
    ------
    PaperError
        If a study cannot be run, a table, figure or claim asks for what the paper does not run, or the printed numbers
        cannot be read. All errors are reported at once.
    """
    checks: list[Callable[[], object]] = [lambda: cells_of_studies(paper, repeats=1)]
    for part in (*paper.parts.values(), *paper.claims):
        checks.append(partial(part.check, paper))
    checks.append(lambda: _check_readings_of_claims(paper))
    checks.append(lambda: _check_finding(paper))
    checks.append(lambda: _check_own_algorithms(paper))
    checks.append(lambda: _check_bounded_algorithms(paper))
    run_checks([*checks, *judge])


def run_checks(checks: Sequence[Callable[[], object]]) -> None:
    """Run checks and report all of their errors at once.

    Raises
    ------
    PaperError
        With a line for each error.
    """
    reports: dict[str, None] = {}
    for check in checks:
        try:
            check()
        except ValueError as error:
            reports[" ".join(str(error).split())] = None
    if len(reports) == 1:
        raise PaperError(next(iter(reports)))
    if reports:
        raise PaperError("\n  ".join([f"{len(reports)} errors:", *reports]))


def check_metrics(paper: Paper, user: str, study_name: str, where: Mapping[str, Any], metrics: Sequence[str]) -> None:
    """Check that the data sets of a part of a study have metrics.

    Parameters
    ----------
    paper : Paper
        With the study.
    user : str
        The table, figure or claim that names the metrics, for the error.
    study_name : str
        One of the paper's studies.
    where : mapping
        The part of it.
    metrics : sequence of str
        What is wanted.

    Raises
    ------
    PaperError
        If one of the data sets has not.
    """
    study = paper.study(study_name, user)
    for dataset in study.axis("dataset", where):
        available = _list_metrics(study, dataset)
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


def _list_metrics(study: Study, dataset: str) -> list[str]:
    """Return the names of the metrics that the cells of a study have on a data set."""
    names = [name for name in list_measured(dataset) if study.protocol.leakage or name not in LEAKS]
    names += study.metrics
    if study.protocol.folds is not None:
        names += [f"{name}{STANDARD_ERROR}" for name in names]
    return names


def _check_readings_of_claims(paper: Paper) -> None:
    for claim in paper.claims:
        if claim.reading_of is not None and claim.reading_of not in paper.claims_by_id:
            raise PaperError(f"claim {claim.id!r}: there is no claim {claim.reading_of!r} that it is a reading of")


def _check_finding(paper: Paper) -> None:
    finding = paper.finding
    if finding is None:
        return
    numbers = set(read_numbers_of(paper)["id"])
    known = {"claims": paper.claims_by_id, "numbers": numbers}
    for what, named in {"claims": finding.claims, "numbers": finding.numbers}.items():
        for name in named:
            if name not in known[what]:
                raise PaperError(f"finding.{what}: the paper has no {name!r}; {suggest_name(name, known[what])}")
    for name in finding.fields:
        if name != INSIDE and name not in finding.claims and name not in finding.numbers:
            raise PaperError(f"finding.text: {{{name}}} is not among the claims and numbers that it rests on")
    if finding.picture is not None and finding.picture not in paper.parts:
        raise PaperError(f"finding.picture: {suggest_name(finding.picture, paper.parts)}")


def _check_own_algorithms(paper: Paper) -> None:
    run = {algorithm for study in paper.studies.values() for algorithm in study.algorithm}
    for algorithm in paper.own:
        if algorithm not in run and algorithm not in paper.not_implemented:
            raise PaperError(f"own: no study runs {algorithm!r}; {suggest_name(algorithm, sorted(run))}")


def _check_bounded_algorithms(paper: Paper) -> None:
    run = {algorithm for study in paper.studies.values() for algorithm in study.algorithm}
    for metric, known in paper.at_most.items():
        for algorithm in known:
            if algorithm not in run:
                raise PaperError(
                    f"at_most.{metric}: no study runs {algorithm!r}; {suggest_name(algorithm, sorted(run))}"
                )
