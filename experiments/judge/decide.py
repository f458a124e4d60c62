"""Run a paper until its verdicts are decided: its repeats for the picture, as many as it takes for the verdicts.

Cells are run in rounds. After each, every claim and number that is not decided says which settings need how many
repeats; what is settled gets no more. Which cells that are depends on the results of the cells before alone, so that
neither the number of jobs, nor the order, nor a kill changes it, and a run that is taken up again goes on where it
stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import pandas as pd

from experiments.cells.cell import Cell
from experiments.cells.study_cells import SettingsOfAxes, cells_of_studies
from experiments.config.paper import Claim, Paper
from experiments.judge import claim_verdicts
from experiments.judge.evidence.need import Need
from experiments.judge.group_claim import ClaimAboutRuns
from experiments.judge.numbers import growth
from experiments.judge.numbers.printed import read_numbers_of
from experiments.store.long_table import long_table
from experiments.store.record import Record

Run = Callable[[list[Cell], str], Mapping[str, Record]]
"""Runs cells, for a reason given in words, and returns the records of all of them that are there."""


@dataclass(frozen=True)
class DecidedRun:
    """The cells of a paper that were run until its verdicts were decided.

    Parameters
    ----------
    cells : dict of str to list of Cell
        By study.
    records : dict of str to Record
        Results by key.
    table : DataFrame
        The long table of them; without columns if no cell was run.
    """

    cells: dict[str, list[Cell]]
    records: dict[str, Record]
    table: pd.DataFrame


def run_until_decided(
    paper: Paper, cells: Mapping[str, Sequence[Cell]], run: Run, claims: Sequence[Claim] | None = None
) -> DecidedRun:
    """Run cells of a paper, and then as many more as its verdicts take.

    Parameters
    ----------
    paper : Paper
        As it is to be run; ``most_repeats`` is the end of all rounds.
    cells : mapping of str to sequence of Cell
        What is run first, by study.
    run : callable
        Runs cells; see `Run`.
    claims : sequence of Claim, optional
        Those that are to be decided; all of the paper's if left out.
    """
    done = {name: list(cells.get(name, ())) for name in paper.studies}
    records: dict[str, Record] = {}
    if first_cells := list(chain.from_iterable(done.values())):
        records.update(run(first_cells, ""))
    undecided = [claim for claim in claims or paper.claims if isinstance(claim, ClaimAboutRuns)]
    reported = read_numbers_of(paper)
    while True:
        table = long_table(done, records) if any(done.values()) else pd.DataFrame()
        needs_of = {claim.id: claim_verdicts.list_needs(paper, claim, table) for claim in undecided}
        undecided = [claim for claim in undecided if needs_of[claim.id]]
        needs = [*chain.from_iterable(needs_of.values()), *growth.list_needs(paper, reported, table)]
        further = _list_further(done, paper, needs)
        if not further:
            return DecidedRun(done, records, table)
        for name, of_study in further.items():
            done[name] += of_study
        records.update(run(list(chain.from_iterable(further.values())), _describe_round(undecided, needs)))


def _describe_round(undecided: Sequence[Claim], needs: Sequence[Need]) -> str:
    """Say why there is another round."""
    n_settings = len({(need.study, str(need.where)) for need in needs})
    most = max(need.repeats for need in needs)
    return f"still open: {len(undecided)} claims; up to {most} repeats of {n_settings} parts of studies"


def _list_further(cells: Mapping[str, Sequence[Cell]], paper: Paper, needs: Sequence[Need]) -> dict[str, list[Cell]]:
    """Return the cells by study that are needed and not there."""
    further = {}
    for name, of_study in cells_of_studies(paper, repeats=1).items() if needs else ():
        wanted = [(SettingsOfAxes.of(need.where), need.repeats) for need in needs if need.study == name]
        there = {cell.key for cell in cells[name]} if wanted else set()
        new = []
        for cell in of_study:
            repeats = max((repeats for settings, repeats in wanted if settings.hold(cell)), default=0)
            new += [repeat for repeat in cell.repeats(range(repeats)) if repeat.key not in there]
        if new:
            further[name] = new
    return further
