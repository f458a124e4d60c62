"""Whether a claim holds under every reading of the algorithms that it speaks of.

A specification curve (Simonsohn, Simmons and Nelson, "Specification curve analysis", Nature Human Behaviour 4, 2020):
the claim's effect under each product of choices, and the share of readings under which it holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.cells.cell import Cell
from experiments.config.kinds.claims import GroupClaim
from experiments.config.paper import Paper
from experiments.config.study import Study
from experiments.judge.evidence.claim_group import ClaimGroup
from experiments.judge.readings.halving import Race, list_stages
from experiments.judge.readings.privacy import Cost, sum_up_cost
from experiments.judge.readings.under_reading import OPEN, judge_under_reading
from experiments.judge.readings.variance import PREFIX
from experiments.judge.words import describe_place
from experiments.metrics.find import is_in_per_cent
from experiments.questions.claims import find_rule
from experiments.questions.readings.cells import expand_reading
from experiments.questions.readings.choices import Choice, list_factors, list_readings
from experiments.stats import center_interval
from experiments.store.record import Record
from experiments.store.results import Results

FIRST_REPEATS = 5
"""Repeats after which a reading is looked at for the first time: the fewest that a sign test at 5 % can decide."""


class ClaimReading(NamedTuple):
    """A claim under one reading."""

    choice: Choice
    #: Its cells, a list of repeats for each setting.
    settings: list[list[Cell]]

    def list_cells(self, repeats: int) -> list[Cell]:
        """Return the cells of the first repeats."""
        return list(chain.from_iterable(cells[:repeats] for cells in self.settings))


class JudgedReading(NamedTuple):
    """What a claim's cells say under one reading."""

    reading: ClaimReading
    #: As `judge_under_reading` gives it.
    verdict: str
    repeats: int
    #: What was judged; empty where cells are missing.
    groups: list[ClaimGroup]
    cost: Cost
    #: Cells that are done.
    n: int


def list_curves(paper: Paper) -> tuple[list[GroupClaim], dict[str, str]]:
    """Return the claims that have a curve, each narrowed to what is run of it, and of others why they have none.

    A claim about groups has one if its text leaves something open of an algorithm that it speaks of. A claim that is
    itself another reading of a claim has none: the curve of that claim has it.
    """
    claims, left_out = [], {}
    for claim in paper.claims:
        if not isinstance(claim, GroupClaim) or claim.reading_of or find_rule(claim).explain_missing(paper):
            continue
        if not any(factor.algorithms for factor in _list_open(paper, claim)):
            continue
        part = paper.choices.curves.get(claim.id)
        if part and part.where is None:
            left_out[claim.id] = part.why
        else:
            claims.append(claim.replaced(where={**claim.where, **(part.where or {})}) if part else claim)
    return claims, left_out


def _list_open(paper: Paper, claim: GroupClaim) -> list:
    """Return the factors of the algorithms that a claim speaks of, but for the axes of its study."""
    study, where = claim.find_part(paper)
    return list_factors(paper, study.axis("algorithm", where), settled=set(study.params))


def make_claim_readings(paper: Paper, claim: GroupClaim) -> list[ClaimReading]:
    """Return a claim under every combination of what the text leaves open, the literal one first."""
    study, where = claim.find_part(paper)
    algorithms = study.axis("algorithm", where)
    known: dict[tuple, list[list[Cell]]] = {}
    readings = []
    for choice in list_readings(_list_open(paper, claim)):
        settings = []
        for algorithm in algorithms:
            reading = (algorithm, repr(choice.params(algorithm)), repr(choice.protocol))
            if reading not in known:
                part = {**where, "algorithm": algorithm}
                known[reading] = expand_reading(paper, study, part, paper.repeats, choice)
            settings += known[reading]
        readings.append(ClaimReading(choice, settings))
    return readings


def judge_readings(paper: Paper, claim: GroupClaim) -> Race[pd.DataFrame]:
    """Judge a claim under every reading; those that are decided early get no further repeats.

    It asks for cells, is sent their records, and at last returns a row for each reading, from the largest effect to the
    smallest: ``claim, unit, kind`` (``literal`` or ``reading``), ``rank, reading, verdict, effect`` (mean over the
    claim's groups, above zero where it speaks for the claim; points where papers print per cent) with ``low`` and
    ``high`` (95 %), ``weakest`` (the effect in the weakest group) and ``weakest_group, keeps_epsilon, times_label,
    unpaid, repeats, n, n_expected, n_full, part, choice.<name>``.
    """
    running, outcomes = make_claim_readings(paper, claim), []
    study, _ = claim.find_part(paper)
    for n in list_stages(FIRST_REPEATS, paper.repeats):
        records = yield [cell for reading in running for cell in reading.list_cells(n)]
        open_still = []
        for reading in running:
            outcome = _judge_one(paper, claim, study, reading, n, records)
            if outcome.verdict == OPEN and outcome.groups and n < paper.repeats:
                open_still.append(reading)
            else:
                outcomes.append(outcome)
        running = open_still
        if not running:
            break
    rows = pd.DataFrame([_make_row(paper, claim, outcome) for outcome in outcomes])
    rows = rows.sort_values("effect", ascending=False, kind="stable", ignore_index=True)
    rows.insert(3, "rank", np.arange(1, len(rows) + 1))
    return rows


def _judge_one(
    paper: Paper, claim: GroupClaim, study: Study, reading: ClaimReading, repeats: int, records: Mapping[str, Record]
) -> JudgedReading:
    cells = reading.list_cells(repeats)
    measured = {cell.key: record.measured for cell in cells if (record := records.get(cell.key)) and record.measured}
    subject = claim.named_values.get("better", claim.named_values.get("algorithm"))
    first = subject if claim.compared_axis == "algorithm" and subject in study.algorithm else cells[0].algorithm
    cost = sum_up_cost(cells, str(first), records)
    groups: list[ClaimGroup] = []
    if len(measured) == len(cells):
        rows = []  # of the long table, as far as the claim reads it
        for cell in cells:
            row = {"study": study.name, "dataset": cell.dataset, "algorithm": cell.algorithm, "epsilon": cell.epsilon}
            row |= {f"params.{name}": cell.params.get(name) for name in study.params}
            value = measured[cell.key].metrics.get(claim.metric, math.nan)
            rows.append({**row, "repeat": cell.repeat, claim.metric: value})
        groups = find_rule(claim).make_question(paper).gather(Results(pd.DataFrame(rows))).groups
    if not groups or min(len(group.values) for group in groups) < 2:
        return JudgedReading(reading, OPEN, repeats, [], cost, len(measured))
    return JudgedReading(reading, judge_under_reading(groups), repeats, groups, cost, len(measured))


def _make_row(paper: Paper, claim: GroupClaim, outcome: JudgedReading) -> dict[str, Any]:
    reading = outcome.reading
    in_units = 100 if is_in_per_cent(claim.metric) else 1
    effect, weakest = _measure_effect(outcome.groups), math.nan
    place = ""
    if outcome.groups:
        effects = [_measure_effect([group])[0] for group in outcome.groups]
        weakest = min(effects)
        place = describe_place(outcome.groups[effects.index(weakest)].setting)
    part = paper.choices.curves.get(claim.id)
    return {
        "claim": claim.id,
        "unit": "points" if in_units == 100 else claim.metric,
        "kind": "literal" if reading.choice.is_literal else "reading",
        "reading": reading.choice.words,
        "verdict": outcome.verdict,
        "effect": effect[0] * in_units,
        "low": effect[1] * in_units,
        "high": effect[2] * in_units,
        "weakest": weakest * in_units,
        "weakest_group": place,
        **outcome.cost._asdict(),
        "repeats": outcome.repeats,
        "n": outcome.n,
        "n_expected": len(reading.list_cells(outcome.repeats)),
        "n_full": len(reading.list_cells(paper.repeats)),
        "part": part.why if part else "",
        **{PREFIX + name: value for name, value in reading.choice.values.items()},
    }


def _measure_effect(groups: Sequence[ClaimGroup]) -> tuple[float, float, float]:
    """Return the effect over all groups, above zero where it speaks for the claim, with its 95 % interval.

    It is that of the first contrast: of a chain of steps, the change from the first level to the last. Of a claim that
    a change stays within a margin it is what is left of the margin.
    """
    if not groups:
        return math.nan, math.nan, math.nan
    n_repeats, statistic = min(len(group.values) for group in groups), groups[0].test.statistic
    average = np.median if statistic == "median" else np.mean
    gains = average([group.contrasts[0].gains[:n_repeats] for group in groups], axis=0)
    interval = center_interval(statistic, gains)
    return interval.center, interval.low, interval.high
