"""Expand a paper's ``readings`` into the cells that each reading needs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any, NamedTuple

import pandas as pd

from experiments.cells.cell import Cell
from experiments.cells.grid import expand_grid
from experiments.config import estimators
from experiments.config.paper import (
    Paper,
    PaperError,
    PaperTable,
    Question,
    QuestionOfClaims,
    QuestionOfNumbers,
    QuestionOfTable,
    Study,
    StudyPart,
)
from experiments.config.setting import describe_setting
from experiments.judge.claims.above import AboveClaim
from experiments.judge.group_claim import ComparisonClaim
from experiments.judge.numbers.printed import PrintedNumber, list_numbers


class PrintedTarget(NamedTuple):
    """Something printed that a reading should explain.

    Parameters
    ----------
    metric : str
        Which.
    printed : float
        The number; NaN of an ordering.
    cells : list of Cell
        Its setting, one cell per repeat; of an ordering the one that should have more of the metric.
    less : list of Cell
        Of an ordering, the one that should have less.
    """

    metric: str
    printed: float
    cells: list[Cell]
    less: list[Cell]

    def list_cells(self) -> list[Cell]:
        """Return the cells of both."""
        return [*self.cells, *self.less]


class Reading(NamedTuple):
    """One way to read the text.

    Parameters
    ----------
    words : str
        What it chooses.
    targets : list of PrintedTarget
        What it should explain.
    """

    words: str
    targets: list[PrintedTarget]

    def list_cells(self) -> list[Cell]:
        """Return the cells of all targets, each of them once."""
        return list(self.cells_by_key.values())

    @property
    def cells_by_key(self) -> dict[str, Cell]:
        """The cells of all targets, by key."""
        cells = chain.from_iterable(map(PrintedTarget.list_cells, self.targets))
        return {cell.key: cell for cell in cells}


@dataclass(frozen=True)
class _Choice:
    """The values that a reading chooses: parameters of one algorithm, and options of the protocol."""

    params: Mapping[str, Any]
    protocol: Mapping[str, Any]

    @property
    def words(self) -> str:
        values = {**self.params, **self.protocol}
        for name, value in values.items():
            if value is None:
                values[name] = "null"
        return describe_setting(values)

    def drop_params(self, setting: Mapping[str, Any]) -> dict[str, Any]:
        """Return a setting without the axes that the reading chooses."""
        return {name: value for name, value in setting.items() if name.removeprefix("params.") not in self.params}


def make_readings(
    paper: Paper, question: QuestionOfNumbers | QuestionOfClaims | QuestionOfTable, reported: pd.DataFrame
) -> list[Reading]:
    """Return every reading that a question asks for.

    Parameters
    ----------
    paper : Paper
        With the question.
    question : Question
        One of its ``readings``.
    reported : DataFrame
        The printed numbers.

    Raises
    ------
    BadInput
        If the question names what the paper does not have.
    """
    if isinstance(question, QuestionOfTable):
        readings = list(_read_table(paper, question, reported))
    else:
        readings = list(_read_choices(paper, question, reported))
    if not readings or not readings[0].targets:
        raise PaperError(f"readings {question.id!r}: the paper prints nothing that they could explain")
    return readings


def _read_choices(
    paper: Paper, question: QuestionOfNumbers | QuestionOfClaims, reported: pd.DataFrame
) -> Iterator[Reading]:
    """Yield a reading for every combination of the values that the text admits."""
    for params, protocol in product(_combine(question.params), _combine(question.protocol)):
        choice = _Choice(params, protocol)
        if isinstance(question, QuestionOfClaims):
            targets = _order_algorithms(paper, question, choice)
        else:
            targets = _match_numbers(paper, question, reported, choice)
        yield Reading(choice.words, list(targets))


def _combine(values: Mapping[str, Sequence]) -> list[dict[str, Any]]:
    return [dict(zip(values, point, strict=True)) for point in product(*values.values())]


def _match_numbers(
    paper: Paper, question: QuestionOfNumbers, reported: pd.DataFrame, choice: _Choice
) -> Iterator[PrintedTarget]:
    """Yield the printed means of an algorithm in a study."""
    means = reported[reported["statistic"] == "mean"]
    for number in list_numbers(means):
        part = paper.parts[number.table]
        if not isinstance(part, StudyPart) or (part.study, number.algorithm) != (question.study, question.algorithm):
            continue
        study = paper.study(question.study, question.id)
        own = _without_params(number, choice)
        where = own.select_part(study, choice.drop_params(part.where))
        if where is None:
            raise PaperError(f"readings {question.id!r}: {number.id!r} is no setting of study {question.study!r}")
        setting = {**where, "algorithm": question.algorithm}
        yield PrintedTarget(
            number.metric, float(number.value), _make_cells(paper, question, study, setting, choice), []
        )


def _without_params(number: PrintedNumber, choice: _Choice) -> PrintedNumber:
    return PrintedNumber(**{**vars(number), "setting": choice.drop_params(number.setting)})


def _order_algorithms(paper: Paper, question: QuestionOfClaims, choice: _Choice) -> Iterator[PrintedTarget]:
    """Yield every group of every claim about which of two algorithms has more of a metric."""
    for name in question.claims:
        claim = paper.claims_by_id.get(name)
        if not isinstance(claim, ComparisonClaim):
            raise PaperError(f"readings {question.id!r}: there is no claim {name!r} of kind above or below")
        study = paper.study(claim.study, question.id)
        for values in study.settings(claim.within, claim.where):
            setting = {**claim.where, **dict(zip(claim.within, values, strict=True))}
            more, less = (claim.better, claim.worse) if isinstance(claim, AboveClaim) else (claim.worse, claim.better)
            more_cells = _make_algorithm_cells(paper, question, study, {**setting, "algorithm": more}, choice)
            less_cells = _make_algorithm_cells(paper, question, study, {**setting, "algorithm": less}, choice)
            yield PrintedTarget(claim.metric, math.nan, more_cells, less_cells)


def _make_algorithm_cells(
    paper: Paper, question: QuestionOfClaims, study: Study, setting: Mapping, choice: _Choice
) -> list[Cell]:
    """Return the cells of one of two algorithms; only the one that the question is about is read in several ways."""
    is_read = setting["algorithm"] == question.algorithm
    return _make_cells(paper, question, study, setting, choice if is_read else _Choice({}, choice.protocol))


def _read_table(paper: Paper, question: QuestionOfTable, reported: pd.DataFrame) -> Iterator[Reading]:
    """Yield every setting that the studies of a table of numbers without settings have in common."""
    table = paper.parts.get(question.table)
    studies = table.list_open_studies(paper) if isinstance(table, PaperTable) else []
    if not studies:
        raise PaperError(f"readings {question.id!r}: {question.table!r} is no table of kind span")
    of_table = reported[(reported["table"] == question.table) & (reported["statistic"] == "some")]
    numbers = [number for number in list_numbers(of_table) if number.algorithm not in paper.not_implemented]
    for study in studies:
        by = [name for name in study.varying_axes() if name != "algorithm"]
        for values in study.settings(by):
            setting = dict(zip(by, values, strict=True))
            targets = [_target_number(paper, question, study, setting, number) for number in numbers]
            yield Reading(f"{study.name}, {describe_setting(setting)}", targets)


def _target_number(
    paper: Paper, question: QuestionOfTable, study: Study, setting: Mapping, number: PrintedNumber
) -> PrintedTarget:
    where = {**setting, "algorithm": number.algorithm}
    cells = _make_cells(paper, question, study, where, _Choice({}, {}))
    return PrintedTarget(number.metric, float(number.value), cells, [])


def _make_cells(paper: Paper, question: Question, study: Study, where: Mapping, choice: _Choice) -> list[Cell]:
    """Return the repeats of one setting of a study, read in one way."""
    axes = study.axes(where)
    for name, value in choice.params.items():
        axes[f"params.{name}"] = [value]
    axes["epsilon"] = axes.pop("epsilon")  # the last, as in a study
    several = [name for name, values in axes.items() if len(values) > 1]
    if several:
        raise PaperError(f"readings {question.id!r}: {', '.join(several)} is open; name it under params")
    depends = _narrow_depends(study, axes, choice)
    protocol = {**study.protocol_options, **choice.protocol}
    (cells,) = expand_grid(axes, question.repeats, paper.algorithms, protocol, depends)
    return cells


def _narrow_depends(study: Study, axes: Mapping[str, list], choice: _Choice) -> dict[str, dict]:
    """Return the study's dependent parameters of one algorithm, for the values that are run, but those chosen."""
    accepted = estimators.list_parameters(estimators.find_target(axes["algorithm"][0]))
    depends = {}
    for name, rule in study.depends.items():
        ((axis, given),) = rule.items()
        if name in accepted and name not in choice.params:
            depends[name] = {axis: {value: parameter for value, parameter in given.items() if value in axes[axis]}}
    return depends
