"""From a claim or a printed number to what it rests on: the code, the line of its file, and the command that runs it.

Files and lines are those of today's checkout, commands those that today's code takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from experiments.catalogue.places import Place, find_class, find_statement, locate_claims, locate_numbers
from experiments.cells.cell import Cell
from experiments.config.kinds.claims import ExactClaim
from experiments.errors import BadInput
from experiments.questions.commands import AskedCells, name_commands
from plots.runs.paper_run import PaperRun


@dataclass(frozen=True)
class Evidence:
    """What a verdict rests on, as far as today's files have it."""

    entry: Place | None  #: in the paper's file, or in that of its printed numbers
    algorithms: tuple[str, ...]  #: whose runs decide
    code: Mapping[str, Place]  #: the classes of these, or the function that decides, by name
    commands: tuple[str, ...]  #: run the setting that decides, and no other


class TracedRun(NamedTuple):
    """What the verdicts of a run rest on: those on claims and those on printed numbers, by their ids."""

    claims: dict[str, Evidence]
    numbers: dict[str, Evidence]


def trace_run(run: PaperRun) -> TracedRun:
    """Return what the verdicts of a run rest on."""
    asked, paper = _ask_cells(run), str(run.paper.number)
    of_claims, of_numbers = locate_claims(paper), locate_numbers(paper)
    claims, numbers = {}, {}
    for answer in run.claims:
        claim, deciding = run.paper.claims_by_id[answer.id], answer.decisive
        deciding_cells = asked.find_claim(answer.id, deciding.place) if deciding else []
        n = deciding.n if deciding else 0
        traced = _trace(of_claims.get(answer.id), asked.find_claim(answer.id), deciding_cells, n)
        claims[answer.id] = replace(traced, code=_find_statement(claim)) if isinstance(claim, ExactClaim) else traced
    for row in run.numbers.to_dict("records"):
        cells = asked.find_number(row["id"])
        numbers[row["id"]] = _trace(of_numbers.get(row["id"]), cells, cells, int(row["n"]) or run.paper.repeats)
    return TracedRun(claims, numbers)


def _trace(entry: Place | None, cells: Sequence[Cell], deciding: Sequence[Cell], repeats: int) -> Evidence:
    algorithms = tuple(dict.fromkeys(cell.algorithm for cell in cells))
    code = {name: place for name in algorithms if (place := find_class(name))}
    return Evidence(entry, algorithms, code, tuple(name_commands(deciding, repeats)))


def _ask_cells(run: PaperRun) -> AskedCells:
    """Return the cells that a paper asks for; none of one that today's code cannot run, such as one that is older."""
    if run.claims or len(run.numbers):
        with suppress(BadInput):
            return AskedCells.of_paper(run.paper)
    return AskedCells({}, {}, {})


def _find_statement(claim: ExactClaim) -> dict[str, Place]:
    with suppress(BadInput):  # a function that is no longer there
        return {claim.statement: find_statement(claim.statement, claim.given)}
    return {}
