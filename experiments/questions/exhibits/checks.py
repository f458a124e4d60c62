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
def check_exhibit(exhibit: Exhibit, paper: Paper) -> None:
    """Check what can be checked of a table or figure before a cell has run; raises a PaperError or a BadInput.

    A kind of somebody's own registers its check, if it has one: ``@check_exhibit.register``.
    """


@check_exhibit.register
def _check_grid(exhibit: GridTable, paper: Paper) -> None:
    check_metrics_by(paper, exhibit, exhibit.metric, exhibit.axes)


@check_exhibit.register
def _check_lines(exhibit: LinesFigure, paper: Paper) -> None:
    for one in exhibit.parts:
        check_metrics_by(paper, one, one.metric, one.axes)


@check_exhibit.register
def _check_facets(exhibit: FacetsFigure, paper: Paper) -> None:
    check_metrics_by(paper, exhibit, exhibit.metric, FACET_AXES)
    sets = paper.study(exhibit.study, exhibit.id).axis("dataset", exhibit.where)
    select_levels(paper, exhibit, exhibit.id, exhibit.metric, sets)


@check_exhibit.register
def _check_compared(part: ComparedPart, paper: Paper) -> None:
    where = part.narrow(paper)
    if len(paper.study(part.study, part.id).axis("algorithm", where)) < 2:
        raise PaperError(f"{part.id}: one algorithm alone has no rank")
    check_metrics(paper, part.id, part.study, where, [part.metric])


@check_exhibit.register
def _check_by_kind(exhibit: ByKindTable, paper: Paper) -> None:
    _check_compared(exhibit, paper)
    find_levels(exhibit, paper)


@check_exhibit.register
def _check_decision(exhibit: DecisionTable, paper: Paper) -> None:
    for line in exhibit.lines:
        _check_compared(line.select_part(exhibit.sets), paper)
        if line.data is not None and line.data not in KINDS:
            raise PaperError(f"{exhibit.id}: data: {line.data!r} is no kind of data; choose one of {', '.join(KINDS)}")
        if line.figure is not None and line.figure not in paper.exhibits:
            raise PaperError(f"{exhibit.id}: figure: the paper has no table or figure {line.figure!r}")


@check_exhibit.register
def _check_facts(exhibit: TableOfFacts, paper: Paper) -> None:
    for name in exhibit.datasets:
        task_and_domain(name)


@check_exhibit.register
def _check_span(exhibit: SpanTable, paper: Paper) -> None:
    studies = exhibit.list_open_studies(paper)
    for algorithm in exhibit.algorithms:
        n_running = sum(algorithm in study.axis("algorithm") for study in studies)
        if paper.reason_not_implemented(algorithm):
            if n_running:
                raise PaperError(f"{exhibit.id}: {algorithm} is run, and said not to be implemented")
        elif n_running < len(studies):
            names = [*paper.not_implemented, *studies[0].axis("algorithm")]
            hint = suggest_name(algorithm, names)
            raise PaperError(f"{exhibit.id}: not all of its studies run {algorithm!r}; {hint}")


@check_exhibit.register
def _check_soundness(exhibit: SoundnessFigure, paper: Paper) -> None:
    algorithms = paper.study(exhibit.study, exhibit.id).axis("algorithm", exhibit.where)
    for name in [*exhibit.pairs, *exhibit.pairs.values()]:
        if name not in algorithms:
            raise PaperError(f"{exhibit.id}: the study has no algorithm {name!r}; it has: {', '.join(algorithms)}")
    check_metrics(paper, exhibit.id, exhibit.study, exhibit.where, [exhibit.metric])


@check_exhibit.register
def _check_tradeoff(exhibit: TradeoffFigure, paper: Paper) -> None:
    for curve in exhibit.curves:
        check_curve(paper, exhibit.id, curve)
        check_metrics(paper, exhibit.id, curve.study, curve.where, [exhibit.x, exhibit.y])


@check_exhibit.register
def _check_fit(exhibit: FitFigure, paper: Paper) -> None:
    make_curves(exhibit)


@check_exhibit.register
def _check_ledger(exhibit: LedgerFigure, paper: Paper) -> None:
    for model in make_models(exhibit).values():
        if not isinstance(model, PrivateEstimator):
            raise PaperError(f"{exhibit.id}: {exhibit.algorithm} keeps no ledger")


def find_levels(exhibit: ByKindTable, paper: Paper) -> AlgorithmComparison:
    """Return floor and ceiling on the data sets of a table of kinds; a PaperError if their study lacks any."""
    sets = paper.study(exhibit.study, exhibit.id).axis("dataset", exhibit.narrow(paper))
    return select_levels(paper, exhibit, exhibit.id, exhibit.metric, sets)


def make_curves(exhibit: FitFigure) -> Mapping[str, Any]:
    """Return the estimators that a figure of curves fits to its feature, by algorithm; BadInput if they cannot be."""
    _, domain = task_and_domain(exhibit.dataset)
    if exhibit.feature not in domain.names:
        hint = suggest_name(exhibit.feature, domain.names)
        raise PaperError(f"{exhibit.id}: {exhibit.dataset} has no feature {exhibit.feature!r}; {hint}")
    feature = domain.features[domain.names.index(exhibit.feature)]
    given = {"domain": Domain((feature,), domain.target), "epsilon": read_epsilon(exhibit.epsilon)}
    models = {}
    for name in exhibit.algorithm:
        params = estimators.merge_parameters(name, exhibit.params)
        models[name] = estimators.make_estimator(name, params, **given, random_state=0)
    return models


def make_models(exhibit: LedgerFigure) -> Mapping[Any, Any]:
    """Return the estimators whose ledgers a figure shows, by the value of its parameter; BadInput if they cannot be."""
    _, domain = task_and_domain(exhibit.dataset)
    ((name, values),) = exhibit.params.items()
    given = {"epsilon": read_epsilon(exhibit.epsilon), "domain": domain, "random_state": 0}
    models = {}
    for value in values:
        params = estimators.merge_parameters(exhibit.algorithm, {name: value})
        models[value] = estimators.make_estimator(exhibit.algorithm, params, **given)
    return models
