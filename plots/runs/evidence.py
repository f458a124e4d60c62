"""From a claim or a printed number to what it rests on: the code, the line of its file, and the command that runs it.

Files and lines are those of today's checkout, commands those that today's code takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from experiments.catalogue.places import Place, find_class, locate_claims, locate_numbers
from experiments.cells.cell import Cell
from experiments.errors import BadInput
from experiments.questions.commands import AskedCells, name_commands
from plots.runs.paper_run import PaperRun


@dataclass(frozen=True)
class Evidence:
    """What a verdict rests on, as far as today's files have it."""

    entry: Place | None = None  #: in the paper's file, or in that of its printed numbers
    code: Mapping[str, Place] = field(
        default_factory=dict
    )  #: the class of each algorithm that is compared, by its name
    commands: list[str] = field(default_factory=list)  #: run the setting that decides, and no other


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
        commands, deciding = [], answer.decisive
        if deciding is not None:
            commands = name_commands(asked.find_claim(answer.id, deciding.place), deciding.n)
        code = _find_code(asked.find_claim(answer.id))
        claims[answer.id] = Evidence(of_claims.get(answer.id), code, commands)
    for row in run.numbers.to_dict("records"):
        cells = asked.find_number(row["id"])
        commands = name_commands(cells, int(row["n"]) or run.paper.repeats)
        numbers[row["id"]] = Evidence(of_numbers.get(row["id"]), _find_code(cells), commands)
    return TracedRun(claims, numbers)


def _ask_cells(run: PaperRun) -> AskedCells:
    """Return the cells that a paper asks for; none of one that today's code cannot run, such as one that is older."""
    if run.claims or len(run.numbers):
        with suppress(BadInput):
            return AskedCells.of_paper(run.paper)
    return AskedCells({}, {}, {})


def _find_code(cells: Iterable[Cell]) -> dict[str, Place]:
    return {name: find_class(name) for name in dict.fromkeys(cell.algorithm for cell in cells)}
