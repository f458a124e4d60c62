"""Rank the readings of a text by their distance from what the paper prints.

All combinations of what the text admits: a multiverse analysis (Steegen, Tuerlinckx, Gelman and Vanpaemel,
"Increasing transparency through a multiverse analysis", Perspectives on Psychological Science 11(5), 2016).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.config.paper import Paper
from experiments.config.readings import QuestionOfClaims, QuestionOfNumbers, ReadingQuestion
from experiments.judge.readings.distance import Errors, compute_set_p_values
from experiments.judge.readings.halving import Race, find_hopeless, list_stages
from experiments.judge.readings.privacy import Cost, sum_up_cost
from experiments.judge.readings.variance import PREFIX
from experiments.metrics.find import is_in_per_cent
from experiments.questions.readings.cells import PrintedTarget, Reading, list_algorithms, make_null
from experiments.stats import ALPHA
from experiments.store.record import Measured, Record

FIRST_REPEATS = 2
"""Repeats after which readings are looked at for the first time."""


class Contender(NamedTuple):
    """A reading with what its cells gave."""

    reading: Reading
    errors: Errors
    cost: Cost
    #: Cells that are done, and that were wanted of it.
    n: int
    n_expected: int
    #: Repeats after which it was clear that it is not among the best.
    dropped_after: int | None = None


def rank_readings(paper: Paper, question: ReadingQuestion, readings: Sequence[Reading]) -> Race[pd.DataFrame]:
    """Run readings, the hopeless ones a little only, and rank them by their distance from what is printed.

    It asks for cells, is sent their records, and at last returns one row for each reading: ``question, unit``
    (``points`` where the paper prints per cent, or ``orderings``), ``kind`` (``reading``, ``literal``, or ``no noise``:
    none at all, whatever ε, which is no reading and has no rank), ``rank, reading, distance`` with ``low`` and ``high``
    (of those that ran to the end), ``uncorrected`` and ``noise_floor`` (see `distance.Errors`), ``in_set`` and
    ``p_set`` (whether it cannot be told from the best, at 95 %), ``first_half, second_half, halves`` (distances on two
    halves of what is printed, and which these are), ``keeps_epsilon, times_label, unpaid`` (see `privacy.Cost`),
    ``dropped_after`` (repeats; blank of those that ran to the end), ``n`` and ``n_expected`` (cells of the repeats that
    were wanted of it), ``n_full`` (cells of all repeats), ``choice.<name>``. Readings without all of their cells, or
    with a mean that is undefined, have no distance and stand last.
    """
    null = make_null(readings)
    finished: list[Contender] = []
    running = [*readings, *([] if null is None else [null])]
    for n in list_stages(FIRST_REPEATS, question.repeats):
        records = yield [cell for reading in running for cell in reading.list_cells(n)]
        measured = [_measure(paper, question, reading, n, records) for reading in running]
        if n < question.repeats:
            measured = _mark_hopeless(measured, n)
        running = []
        for one in measured:
            if one.dropped_after or not one.errors.is_defined or n == question.repeats:
                finished.append(one)
            else:
                running.append(one.reading)
        if not running:
            break
    return _tabulate(question, finished, null, readings)


def _measure(
    paper: Paper, question: ReadingQuestion, reading: Reading, repeats: int, records: Mapping[str, Record]
) -> Contender:
    """Measure a reading by the first repeats of its cells."""
    cells = reading.list_cells(repeats)
    done = {cell.key: record.measured for cell in cells if (record := records.get(cell.key)) and record.measured}
    values = np.empty((len(reading.targets), 0))
    if len(done) == len(cells):
        values = np.array([_measure_errors(target, repeats, done) for target in reading.targets])
    algorithm = reading.targets[0].cells[0].algorithm  # a table names the paper's own algorithm first
    if isinstance(question, QuestionOfNumbers | QuestionOfClaims):
        algorithm = list_algorithms(question)[0]
    errors = Errors(values, isinstance(question, QuestionOfClaims), min(paper.printed_repeats))
    return Contender(reading, errors, sum_up_cost(cells, algorithm, records), len(done), len(cells))


def _measure_errors(target: PrintedTarget, repeats: int, done: Mapping[str, Measured]) -> np.ndarray:
    """Return for each repeat ours minus what is printed, or by how much an ordering comes out as claimed."""
    sides = []
    for cells in (target.cells[:repeats], target.less[:repeats]):
        sides.append(np.array([done[cell.key].metrics[target.metric] for cell in cells], dtype=np.float64))
    ours, less = sides
    if target.less:
        return ours - less
    return (ours - target.printed) * (100 if is_in_per_cent(target.metric) else 1)


def _mark_hopeless(measured: Sequence[Contender], repeats: int) -> list[Contender]:
    """Return contenders, those marked that are clearly farther off than another reading.

    The null neither drops readings nor is dropped, nor is the literal reading: everybody asks for the two.
    """
    compared = [one for one in measured if one.errors.is_defined and one.reading.values]
    hopeless = {id(compared[place]) for place in find_hopeless([one.errors.bounds for one in compared])}
    return [
        one._replace(dropped_after=repeats) if id(one) in hopeless and not one.reading.is_literal else one
        for one in measured
    ]


def _tabulate(
    question: ReadingQuestion, finished: Sequence[Contender], null: Reading | None, readings: Sequence[Reading]
) -> pd.DataFrame:
    """Return the rows of the ranking: the null first, then the readings by their distance."""
    places = {id(reading): place for place, reading in enumerate(readings)}
    ranked = [one for one in finished if one.reading is not null]
    ranked.sort(
        key=lambda one: (one.errors.loss if math.isfinite(one.errors.loss) else math.inf, places[id(one.reading)])
    )
    p_values = _compute_p_values(ranked)
    halves = split_targets(readings[0])
    rows = []
    for rank, one in enumerate(ranked, start=1):
        p = p_values.get(rank - 1, 0.0 if one.dropped_after else math.nan)
        standing = {"kind": "literal" if one.reading.is_literal else "reading", "rank": rank, "p_set": p}
        rows.append(_make_row(question, one, halves, standing | {"in_set": bool(p >= ALPHA)}))
    for one in finished:
        if one.reading is null:
            standing = {"kind": "no noise", "rank": math.nan, "p_set": math.nan, "in_set": False}
            rows.insert(0, _make_row(question, one, halves, standing))
    return pd.DataFrame(rows)


def _compute_p_values(ranked: Sequence[Contender]) -> dict[int, float]:
    """Return the p-value of the set of the best, by place, of those that ran to the end; 1 of a single repeat."""
    places = [place for place, one in enumerate(ranked) if one.errors.is_defined and not one.dropped_after]
    errors = [ranked[place].errors for place in places]
    if not errors or errors[0].n_repeats < 2:
        return dict.fromkeys(places, 1.0)
    losses = np.array([one.loss for one in errors])
    p_values = compute_set_p_values(losses, np.column_stack([one.resample_loss() for one in errors]))
    return dict(zip(places, p_values.tolist(), strict=True))


def split_targets(reading: Reading) -> tuple[list[int], list[int], str]:
    """Return two halves of what is printed, and what they are: by data set where there are several, else in turn."""
    datasets = [target.cells[0].dataset for target in reading.targets]
    names = list(dict.fromkeys(datasets))
    if len(names) > 1:
        first = names[: len(names) // 2]
        is_first = [name in first for name in datasets]
        words = f"{', '.join(first)} | {', '.join(names[len(names) // 2 :])}"
    else:
        is_first = [place % 2 == 0 for place in range(len(datasets))]
        words = "every other number, from the first | the others"
    halves = [[place for place, half in enumerate(is_first) if half is side] for side in (True, False)]
    return halves[0], halves[1], words


def _make_row(
    question: ReadingQuestion, one: Contender, halves: tuple[list[int], list[int], str], standing: Mapping[str, Any]
) -> dict[str, Any]:
    low, high = (math.nan, math.nan) if one.dropped_after else one.errors.interval
    first, second = (one.errors.select(half).distance if half else math.nan for half in halves[:2])
    return {
        "question": question.id,
        "unit": "orderings" if isinstance(question, QuestionOfClaims) else "points",
        "kind": standing["kind"],
        "rank": standing["rank"],
        "reading": one.reading.words,
        "distance": one.errors.distance,
        "low": low,
        "high": high,
        "uncorrected": one.errors.uncorrected,
        "noise_floor": one.errors.noise_floor,
        "in_set": standing["in_set"],
        "p_set": standing["p_set"],
        "first_half": first,
        "second_half": second,
        "halves": halves[2],
        **one.cost._asdict(),
        "dropped_after": one.dropped_after or math.nan,
        "n": one.n,
        "n_expected": one.n_expected,
        "n_full": len(one.reading.list_cells()),
        **{PREFIX + name: value for name, value in one.reading.values.items()},
    }
