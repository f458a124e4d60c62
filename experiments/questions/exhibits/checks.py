"""Check what a table or figure asks for before a cell is run, and fit the models that a figure shows by itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import Any

from algorithms import Domain
from algorithms.base import PrivateEstimator
from experiments.cells.cell import read_epsilon
from experiments.comparisons.comparison import AlgorithmComparison, select_levels
from experiments.comparisons.data_kinds import KINDS
from experiments.config import estimators
from experiments.config.data import task_and_domain
from experiments.config.kinds.exhibits import (
    ByKindTable,
    ComparedPart,
    DecisionTable,
    Exhibit,
    FacetsFigure,
    FitFigure,
    GridTable,
    LedgerFigure,
    LinesFigure,
    SoundnessFigure,
    SpanTable,
    TableOfFacts,
    TradeoffFigure,
)
from experiments.config.paper import Paper
from experiments.config.study import PaperError
from experiments.errors import suggest_name
from experiments.questions.exhibits.series import check_metrics_by
from experiments.questions.preflight import check_metrics
from experiments.questions.tradeoffs import check_curve

FACET_AXES = ("dataset", "algorithm", "epsilon")
"""The axes of a figure of facets, of which no other may vary."""


@singledispatch
def check_exhibit(part: Exhibit, paper: Paper) -> None:
    """Check what can be checked of a table or figure before a cell has run; raises a PaperError or a BadInput.

    A kind of somebody's own registers its check, if it has one: ``@check_exhibit.register``.
    """


@check_exhibit.register
def _check_grid(part: GridTable, paper: Paper) -> None:
    check_metrics_by(paper, part, part.metric, part.axes)


@check_exhibit.register
def _check_lines(part: LinesFigure, paper: Paper) -> None:
    for one in part.parts:
        check_metrics_by(paper, one, one.metric, one.axes)


@check_exhibit.register
def _check_facets(part: FacetsFigure, paper: Paper) -> None:
    check_metrics_by(paper, part, part.metric, FACET_AXES)
    sets = paper.study(part.study, part.id).axis("dataset", part.where)
    select_levels(paper, part, part.id, part.metric, sets)


@check_exhibit.register
def _check_compared(part: ComparedPart, paper: Paper) -> None:
    where = part.narrow(paper)
    if len(paper.study(part.study, part.id).axis("algorithm", where)) < 2:
        raise PaperError(f"{part.id}: one algorithm alone has no rank")
    check_metrics(paper, part.id, part.study, where, [part.metric])


@check_exhibit.register
def _check_by_kind(part: ByKindTable, paper: Paper) -> None:
    _check_compared(part, paper)
    find_levels(part, paper)


@check_exhibit.register
def _check_decision(part: DecisionTable, paper: Paper) -> None:
    for line in part.lines:
        _check_compared(line.select_part(part.sets), paper)
        if line.data is not None and line.data not in KINDS:
            raise PaperError(f"{part.id}: data: {line.data!r} is no kind of data; choose one of {', '.join(KINDS)}")
        if line.figure is not None and line.figure not in paper.exhibits:
            raise PaperError(f"{part.id}: figure: the paper has no table or figure {line.figure!r}")


@check_exhibit.register
def _check_facts(part: TableOfFacts, paper: Paper) -> None:
    for name in part.datasets:
        task_and_domain(name)


@check_exhibit.register
def _check_span(part: SpanTable, paper: Paper) -> None:
    studies = part.list_open_studies(paper)
    for algorithm in part.algorithms:
        n_parts = sum(algorithm in study.axis("algorithm") for study in studies)
        if paper.reason_not_implemented(algorithm):
            if n_parts:
                raise PaperError(f"{part.id}: {algorithm} is run, and said not to be implemented")
        elif n_parts < len(studies):
            names = [*paper.not_implemented, *studies[0].axis("algorithm")]
            hint = suggest_name(algorithm, names)
            raise PaperError(f"{part.id}: not all of its studies run {algorithm!r}; {hint}")


@check_exhibit.register
def _check_soundness(part: SoundnessFigure, paper: Paper) -> None:
    algorithms = paper.study(part.study, part.id).axis("algorithm", part.where)
    for name in [*part.pairs, *part.pairs.values()]:
        if name not in algorithms:
            raise PaperError(f"{part.id}: the study has no algorithm {name!r}; it has: {', '.join(algorithms)}")
    check_metrics(paper, part.id, part.study, part.where, [part.metric])


@check_exhibit.register
def _check_tradeoff(part: TradeoffFigure, paper: Paper) -> None:
    for curve in part.curves:
        check_curve(paper, part.id, curve)
        check_metrics(paper, part.id, curve.study, curve.where, [part.x, part.y])


@check_exhibit.register
def _check_fit(part: FitFigure, paper: Paper) -> None:
    make_curves(part)


@check_exhibit.register
def _check_ledger(part: LedgerFigure, paper: Paper) -> None:
    for model in make_models(part).values():
        if not isinstance(model, PrivateEstimator):
            raise PaperError(f"{part.id}: {part.algorithm} keeps no ledger")


def find_levels(part: ByKindTable, paper: Paper) -> AlgorithmComparison:
    """Return floor and ceiling on the data sets of a table of kinds; a PaperError if their study lacks any."""
    sets = paper.study(part.study, part.id).axis("dataset", part.narrow(paper))
    return select_levels(paper, part, part.id, part.metric, sets)


def make_curves(part: FitFigure) -> Mapping[str, Any]:
    """Return the estimators that a figure of curves fits to its feature, by algorithm; BadInput if they cannot be."""
    _, domain = task_and_domain(part.dataset)
    if part.feature not in domain.names:
        hint = suggest_name(part.feature, domain.names)
        raise PaperError(f"{part.id}: {part.dataset} has no feature {part.feature!r}; {hint}")
    feature = domain.features[domain.names.index(part.feature)]
    given = {"domain": Domain((feature,), domain.target), "epsilon": read_epsilon(part.epsilon)}
    models = {}
    for name in part.algorithm:
        params = estimators.merge_parameters(name, part.params)
        models[name] = estimators.make_estimator(name, params, **given, random_state=0)
    return models


def make_models(part: LedgerFigure) -> Mapping[Any, Any]:
    """Return the estimators whose ledgers a figure shows, by the value of its parameter; BadInput if they cannot be."""
    _, domain = task_and_domain(part.dataset)
    ((name, values),) = part.params.items()
    given = {"epsilon": read_epsilon(part.epsilon), "domain": domain, "random_state": 0}
    models = {}
    for value in values:
        params = estimators.merge_parameters(part.algorithm, {name: value})
        models[value] = estimators.make_estimator(part.algorithm, params, **given)
    return models
