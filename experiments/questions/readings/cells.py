"""Expand a paper's ``readings`` into the cells that each reading needs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import pandas as pd

from experiments.cells.cell import Cell
from experiments.cells.grid import expand_grid
from experiments.config import estimators
from experiments.config.kinds.claims import AboveClaim, ComparisonClaim
from experiments.config.kinds.exhibits import PaperTable
from experiments.config.paper import Paper
from experiments.config.readings import QuestionOfClaims, QuestionOfNumbers, QuestionOfTable, ReadingQuestion
from experiments.config.study import PaperError, Study, StudyPart
from experiments.judge.numbers.number_verdict import PrintedNumber
from experiments.judge.words import name_setting
from experiments.questions.printed import list_numbers, select_part
from experiments.questions.readings.choices import (
    Choice,
    leave_out_literal,
    list_factors,
    list_readings,
    narrow_factors,
)


class PrintedTarget(NamedTuple):
    """Something printed that a reading should explain."""

    metric: str
    #: The number; NaN of an ordering.
    printed: float
    #: Its setting, one cell per repeat; of an ordering the one that should have more of the metric.
    cells: list[Cell]
    #: Of an ordering, the one that should have less.
    less: list[Cell]


class Reading(NamedTuple):
    """One way to read the text."""

    #: What it chooses.
    values: dict[str, Any]
    #: What it should explain.
    targets: list[PrintedTarget]
    words: str
    #: Whether it is what the paper's own cells are; no setting of a table is.
    is_literal: bool = False

    def list_cells(self, repeats: int | None = None) -> list[Cell]:
        """Return the cells of all targets, each of them once; of the first repeats only, if so many are asked for."""
        cells = {}
        for target in self.targets:
            for cell in chain(target.cells[:repeats], target.less[:repeats]):
                cells[cell.key] = cell
        return list(cells.values())


def make_readings(
    paper: Paper, question: QuestionOfNumbers | QuestionOfClaims | QuestionOfTable, reported: pd.DataFrame
) -> list[Reading]:
    """Return every reading that a question asks for; BadInput if it names what the paper does not have."""
    if isinstance(question, QuestionOfTable):
        readings = list(_read_table(paper, question, reported))
    else:
        readings = list(_read_choices(paper, question, reported))
    if not readings or not readings[0].targets:
        raise PaperError(f"readings {question.id!r}: the paper prints nothing that they could explain")
    return readings


def make_null(readings: Sequence[Reading]) -> Reading | None:
    """Return what no noise at all would give whatever ε is printed: the literal reading with ε = ∞ everywhere.

    None where no reading is literal, or the literal one has no noise as it is.
    """
    literal = next((reading for reading in readings if reading.is_literal), None)
    if literal is None or all(math.isinf(cell.epsilon) for cell in literal.list_cells()):
        return None
    targets = []
    for target in literal.targets:
        cells, less = ([replace(cell, epsilon=math.inf) for cell in side] for side in (target.cells, target.less))
        targets.append(target._replace(cells=cells, less=less))
    return Reading({}, targets, "no noise at all, whatever ε")


def _read_choices(
    paper: Paper, question: QuestionOfNumbers | QuestionOfClaims, reported: pd.DataFrame
) -> Iterator[Reading]:
    """Yield a reading for every combination of the values that the text admits."""
    algorithms = list_algorithms(question)
    factors = list_factors(paper, algorithms)
    choices = list_readings(narrow_factors(factors, question.params, question.protocol, algorithms))
    printed = [] if isinstance(question, QuestionOfClaims) else _match_numbers(paper, question, reported, choices[0])
    known: dict[str, list[Cell]] = {}
    for choice in choices:
        if isinstance(question, QuestionOfClaims):
            targets = list(_order_algorithms(paper, question, choice, known))
        else:
            targets = [_target_setting(paper, question, *found, choice) for found in printed]
        yield Reading(choice.values, targets, choice.words, choice.is_literal)


def list_algorithms(question: QuestionOfNumbers | QuestionOfClaims) -> tuple[str, ...]:
    """Return the algorithms whose parameters a question reads in several ways."""
    return (question.algorithm,) if isinstance(question, QuestionOfNumbers) else tuple(question.algorithm)


def _match_numbers(
    paper: Paper, question: QuestionOfNumbers, reported: pd.DataFrame, choice: Choice
) -> list[tuple[PrintedNumber, Study, dict[str, Any]]]:
    """Return the printed means of an algorithm in a study with their settings; any of the readings may be given.

    All of them choose the same parameters, of which a setting says nothing.
    """
    chosen = choice.params(question.algorithm)
    means = reported[reported["statistic"] == "mean"]
    matched: list[tuple[PrintedNumber, Study, dict[str, Any]]] = []
    for number in list_numbers(means):
        exhibit = paper.exhibits[number.table]
        asked = question.study, question.algorithm
        if not isinstance(exhibit, StudyPart) or (exhibit.study, number.algorithm) != asked:
            continue
        study = paper.study(question.study, question.id)
        without_params = replace(number, setting=_drop_params(number.setting, chosen))
        where = select_part(without_params.setting, study, _drop_params(exhibit.where, chosen))
        if where is None:
            raise PaperError(f"readings {question.id!r}: {number.id!r} is no setting of study {question.study!r}")
        matched.append((number, study, {**where, "algorithm": question.algorithm}))
    return matched


def _drop_params(setting: Mapping[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return a setting without the parameters that a reading chooses."""
    return {name: value for name, value in setting.items() if name.removeprefix("params.") not in chosen}


def _order_algorithms(
    paper: Paper, question: QuestionOfClaims, choice: Choice, known: dict[str, list[Cell]]
) -> Iterator[PrintedTarget]:
    """Yield every group of every claim about which of two algorithms has more of a metric.

    Most of what is compared is read alike in many readings: ``known`` has the cells of earlier ones.
    """
    for name in question.claims:
        claim = paper.claims_by_id.get(name)
        if not isinstance(claim, ComparisonClaim):
            raise PaperError(f"readings {question.id!r}: there is no claim {name!r} of kind above or below")
        study = paper.study(claim.study, question.id)
        for values in study.settings(claim.within, claim.where):
            setting = {**claim.where, **dict(zip(claim.within, values, strict=True))}
            more, less = (claim.better, claim.worse) if isinstance(claim, AboveClaim) else (claim.worse, claim.better)
            sides = []
            for side in (more, less):
                where = {**setting, claim.axis: side}
                chosen = choice.params(where["algorithm"]) if "algorithm" in where else choice.values
                words = repr((study.name, where, chosen, choice.protocol))
                if words not in known:
                    known[words] = _make_cells(paper, question, study, where, choice)
                sides.append(known[words])
            yield PrintedTarget(claim.metric, math.nan, *sides)


def _read_table(paper: Paper, question: QuestionOfTable, reported: pd.DataFrame) -> Iterator[Reading]:
    """Yield every setting that the studies of a table of numbers without settings have in common."""
    table = paper.exhibits.get(question.table)
    studies = table.list_open_studies(paper) if isinstance(table, PaperTable) else []
    if not studies:
        raise PaperError(f"readings {question.id!r}: {question.table!r} is no table of kind span")
    of_table = reported[(reported["table"] == question.table) & (reported["statistic"] == "some")]
    numbers = [number for number in list_numbers(of_table) if number.algorithm not in paper.not_implemented]
    for study in studies:
        by = [name for name in study.varying_axes() if name != "algorithm"]
        for values in study.settings(by):
            setting = dict(zip(by, values, strict=True))
            targets = []
            for number in numbers:
                where = {**setting, "algorithm": number.algorithm}
                targets.append(_target_setting(paper, question, number, study, where, Choice(())))
            named = {name.removeprefix("params."): value for name, value in setting.items()}
            yield Reading({"study": study.name, **named}, targets, f"{study.name}, {name_setting(setting)}")


def _target_setting(
    paper: Paper, question: ReadingQuestion, number: PrintedNumber, study: Study, where: Mapping, choice: Choice
) -> PrintedTarget:
    """Return a printed number with the cells of its setting, read in one way."""
    return PrintedTarget(number.metric, float(number.value), _make_cells(paper, question, study, where, choice), [])


def _make_cells(paper: Paper, question: ReadingQuestion, study: Study, where: Mapping, choice: Choice) -> list[Cell]:
    """Return the repeats of one setting of a study, read in one way."""
    settings = expand_reading(paper, study, where, question.repeats, choice)
    if len(settings) > 1:
        several = [name for name, values in study.axes(where).items() if len(values) > 1]
        raise PaperError(f"readings {question.id!r}: {', '.join(several)} is open; name it under params")
    return settings[0]


def expand_reading(
    paper: Paper, study: Study, where: Mapping[str, Any], repeats: int, choice: Choice
) -> list[list[Cell]]:
    """Return the cells of one algorithm in a part of a study, read in one way: a list of repeats for each setting.

    What a reading chooses as the algorithm has it anyway is not written into its cells, so that these are the paper's.
    """
    axes = study.axes(where)
    (algorithm,) = axes["algorithm"]
    chosen = choice.params(algorithm)
    told = leave_out_literal(paper, algorithm, chosen)
    for name, value in chosen.items():
        if name in told or f"params.{name}" in axes:
            axes[f"params.{name}"] = [value]
    axes["epsilon"] = axes.pop("epsilon")  # the last, as in a study
    accepted = estimators.list_parameters(estimators.find_target(algorithm))
    depends = {}
    for name, rule in study.depends.items():
        ((axis, given),) = rule.items()
        if name in accepted and name not in chosen:
            depends[name] = {axis: {value: parameter for value, parameter in given.items() if value in axes[axis]}}
    protocol = {**study.protocol_options, **choice.protocol}
    return expand_grid(axes, repeats, paper.algorithms, protocol, depends, study.metrics)
