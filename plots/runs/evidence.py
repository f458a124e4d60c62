"""From a claim or a printed number to what it rests on: the code, the line of its file, and the command that runs it.

Files and lines are those of today's checkout, commands those that today's code takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import pandas as pd

from experiments.catalogue.places import Place, find_class, find_statement, locate_claims, locate_numbers
from experiments.cells.cell import Cell
from experiments.config.kinds.claims import ExactClaim
from experiments.config.paper import Paper
from experiments.errors import BadInput
from experiments.judge.claim_answer import ClaimAnswer
from experiments.questions.commands import AskedCells, name_commands


@dataclass(frozen=True)
class Trace:
    """What a verdict rests on, as far as today's files have it."""

    entry: Place | None  #: in the paper's file, or in that of its printed numbers
    algorithms: tuple[str, ...]  #: whose runs decide
    code: Mapping[str, Place]  #: the classes of these, or the function that decides, by name
    commands: tuple[str, ...]  #: run the setting that decides, and no other


class Traces(NamedTuple):
    """What verdicts rest on: those on claims and those on printed numbers, by their ids."""

    claims: dict[str, Trace]
    numbers: dict[str, Trace]


def trace_verdicts(paper: Paper, answers: Sequence[ClaimAnswer], rows: pd.DataFrame) -> Traces:
    """Return what the verdicts on the claims and the printed numbers of a paper rest on."""
    asked, name = _ask_cells(paper) if answers or len(rows) else AskedCells({}, {}, {}), str(paper.number)
    of_claims, of_numbers = locate_claims(name), locate_numbers(name)
    claims, numbers = {}, {}
    for answer in answers:
        claim, deciding = paper.claims_by_id[answer.id], answer.decisive
        deciding_cells = asked.find_claim(answer.id, deciding.place) if deciding else []
        n = deciding.n if deciding else 0
        traced = _trace(of_claims.get(answer.id), asked.find_claim(answer.id), deciding_cells, n)
        claims[answer.id] = replace(traced, code=_find_statement(claim)) if isinstance(claim, ExactClaim) else traced
    for row in rows.to_dict("records"):
        cells = asked.find_number(row["id"])
        numbers[row["id"]] = _trace(of_numbers.get(row["id"]), cells, cells, int(row["n"]) or paper.repeats)
    return Traces(claims, numbers)


def _trace(entry: Place | None, cells: Sequence[Cell], deciding: Sequence[Cell], repeats: int) -> Trace:
    algorithms = tuple(dict.fromkeys(cell.algorithm for cell in cells))
    code = {name: place for name in algorithms if (place := find_class(name))}
    return Trace(entry, algorithms, code, tuple(name_commands(deciding, repeats)))


def _ask_cells(paper: Paper) -> AskedCells:
    """Return the cells that a paper asks for; none of one that today's code cannot run, such as one that is older."""
    with suppress(BadInput):
        return AskedCells.of_paper(paper)
    return AskedCells({}, {}, {})


def _find_statement(claim: ExactClaim) -> dict[str, Place]:
    with suppress(BadInput):  # a function that is no longer there
        return {claim.statement: find_statement(claim.statement, claim.given)}
    return {}
