"""Resolve a printed number: which settings it is of, or its verdict where no run is needed for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.config.kinds.exhibits import PaperFigure, PaperTable
from experiments.config.paper import Paper
from experiments.config.setting import keep_entries
from experiments.config.study import PaperError, Study, StudyPart
from experiments.errors import BadInput
from experiments.judge.numbers.choices import is_choice
from experiments.judge.numbers.number_verdict import (
    AskedSetting,
    NumberQuestion,
    NumberVerdict,
    PrintedNumber,
    describe_difference,
    is_blank,
)
from experiments.judge.verdict import Verdict
from experiments.questions.group_claim import find_margin
from experiments.questions.preflight import check_metrics
from experiments.questions.printed import select_part
from experiments.questions.settings import list_settings
from experiments.statements.finding import find_function
from experiments.stats import Interval

_TIMES_PRINTED = 10


def resolve_number(
    paper: Paper, number: PrintedNumber, siblings: Sequence[PrintedNumber], is_given: bool = False
) -> NumberQuestion:
    """Return the question that a printed number is: its ``table`` names a table or figure, and thereby its study.

    Of all numbers of the paper, its ``siblings``, those of a table that are printed without their setting have one.
    PaperError if it names a table or a setting that the paper does not have, or, unless the runs are given, a metric
    that its data set does not have.
    """
    if number.table not in paper.exhibits:
        raise PaperError(f"printed number {number.id!r}: the paper has no table or figure {number.table!r}")
    if number.dataset in paper.used_instead:
        other = paper.used_instead[number.dataset]
        reason = f"its data set is not available; {other} answers for itself only"
        return NumberQuestion(number, NumberVerdict(Verdict.NOT_RUN, reason, n_expected=0))
    if number.statistic == "fitted":
        reason = "its formula is lost: ours was fitted to this very number"
        return NumberQuestion(number, NumberVerdict(Verdict.NOT_IMPLEMENTED, reason, 0))
    if number.statistic == "exact":
        return NumberQuestion(number)
    if number.statistic == "formula":
        return NumberQuestion(number, _compute_formula(number))
    exhibit = paper.exhibits[number.table]
    if number.statistic == "some":
        of_table = [one for one in siblings if (one.table, one.statistic) == (exhibit.id, "some")]
        return NumberQuestion(number, together=tuple(_resolve_unplaced(paper, exhibit, one) for one in of_table))
    study, where = find_settings(paper, number)
    if not is_given:
        check_metrics(paper, f"printed number {number.id!r}", study.name, where, [number.metric])
    printed_repeats = list_printed_repeats(paper, number)
    return NumberQuestion(
        number=number,
        settings=tuple(list_settings(study, where)),
        resolution=0.0 if is_choice(number.metric) else find_resolution(paper, number.metric),
        printed_repeats=printed_repeats,
        repeats=paper.repeats,
        last_look=find_next_look(paper, printed_repeats),
    )


def list_printed_repeats(paper: Paper, number: PrintedNumber) -> tuple[int, ...]:
    """Return every number of runs that a printed number may be a mean of, ascending: its own or the paper's."""
    return tuple(sorted(number.runs or paper.printed_repeats))


def find_next_look(paper: Paper, printed_repeats: Sequence[int]) -> int:
    """Return the number of repeats after which a number is looked at again, or 0 if it is not.

    It is ten times the largest number of runs that it may be a mean of, at least twice the paper's repeats and at most
    its ``most_repeats``. There is no second look where that leaves less than twice the repeats of the first.

    Examples
    --------
    >>> studies = {"s": {"dataset": "car", "algorithm": "rdt"}}
    >>> paper = Paper(number=0, title="T", repeats=20, most_repeats=80, studies=studies)
    >>> find_next_look(paper, [1]), find_next_look(paper, [1, 5]), find_next_look(paper, [1, 10])
    (40, 50, 80)
    >>> find_next_look(paper.replaced(most_repeats=20), [1, 10])
    0
    """
    look = min(paper.most_repeats, max(2 * paper.repeats, _TIMES_PRINTED * max(printed_repeats)))
    return look if look >= 2 * paper.repeats else 0


def find_resolution(paper: Paper, metric: str) -> float:
    """Return δ of a metric; PaperError if it has no natural scale and is not in the paper's ``resolution``."""
    margin = find_margin(paper, metric)
    if margin.is_share:
        raise PaperError(
            f"the paper's file must say which difference of {metric} matters: resolution: {{{metric}: ...}}"
        )
    return margin.size


def find_settings(paper: Paper, number: PrintedNumber) -> tuple[Study, dict[str, Any]]:
    """Return study and part of a printed number; PaperError if it is no setting of its table, or a mean of several."""
    exhibit = paper.exhibits[number.table]
    if not isinstance(exhibit, StudyPart):
        raise PaperError(f"printed number {number.id!r}: {exhibit.id} shows no study that it could be a result of")
    study = paper.study(exhibit.study, exhibit.id)
    where = select_part(number.setting, study, exhibit.where)
    if where is None:
        raise PaperError(f"printed number {number.id!r} is no setting of {exhibit.id} (study {exhibit.study})")
    n_settings = study.count_settings(where)
    if number.statistic == "mean" and n_settings > 1:
        raise PaperError(f"printed number {number.id!r} selects {n_settings} settings of {exhibit.id}, not one")
    return study, where


def list_open_settings(studies: Sequence[Study], algorithm: str) -> list[AskedSetting]:
    """Return every setting of an algorithm in some studies; those that do not run it have none."""
    settings = []
    for study in studies:
        if algorithm in study.axis("algorithm"):
            where = {"algorithm": algorithm}
            varying = study.varying_axes(where)
            for values, key in list_settings(study, where):
                settings.append(AskedSetting(keep_entries(values, varying), key))
    return settings


def _resolve_unplaced(paper: Paper, exhibit: PaperTable | PaperFigure, number: PrintedNumber) -> NumberQuestion:
    studies = exhibit.list_open_studies(paper) if isinstance(exhibit, PaperTable) else []
    if not studies:
        raise PaperError(f"printed number {number.id!r}: statistic some needs a table of kind span")
    if number.algorithm not in exhibit.list_algorithms(paper):
        raise PaperError(f"printed number {number.id!r}: {exhibit.id} has no algorithm {number.algorithm!r}")
    if reason := paper.not_implemented.get(str(number.algorithm), ""):
        return NumberQuestion(number, NumberVerdict(Verdict.NOT_IMPLEMENTED, reason, n_expected=0))
    printed_repeats = list_printed_repeats(paper, number)
    return NumberQuestion(
        number=number,
        settings=tuple(list_open_settings(studies, number.algorithm)),
        printed_repeats=printed_repeats,
        repeats=paper.repeats,
        last_look=find_next_look(paper, printed_repeats),
    )


def _compute_formula(number: PrintedNumber) -> NumberVerdict:
    """Judge a number by the formula that its metric names: its setting has the arguments."""
    given: dict[str, Any] = {}
    for name, value in number.setting.items():
        if not is_blank(value) and name not in ("dataset", "algorithm"):
            given[name.removeprefix("params.")] = value
    try:
        value = float(find_function(number.metric, given)(**given))
    except BadInput as error:
        raise PaperError(f"printed number {number.id!r}: {error}") from None
    computed = Interval(1, value, float("nan"), float("nan"))
    if abs(value - number.value) > number.slack:
        return NumberVerdict(Verdict.REFUTED, f"computed: {describe_difference(number, value)}", 1, computed)
    return NumberVerdict(Verdict.REPRODUCED, f"computed: {value:.4f}", 1, computed)
