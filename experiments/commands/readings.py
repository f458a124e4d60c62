"""``do=readings``: which reading of an ambiguous text explains what a paper prints?"""

from __future__ import annotations

from collections.abc import Sequence

from experiments.cells.cell import Cell
from experiments.config.paper import Paper
from experiments.config.papers import read_paper
from experiments.config.request import SweepRequest
from experiments.errors import BadInput, print_to_stderr
from experiments.judge.numbers.printed import read_numbers_of
from experiments.judge.readings.cells import Reading, make_readings
from experiments.judge.readings.ranking import describe_ranking, rank_readings
from experiments.run.run_studies import run_studies


def run_command(request: SweepRequest) -> int:
    """Ask the questions of some papers, or of all that have any; returns the exit code."""
    papers = {name: read_paper(name) for name in request.list_papers()}
    codes = []
    for name, paper in papers.items():
        if paper.readings:
            codes.append(_rank_readings(name, paper, request))
    if not codes:
        raise BadInput(f"paper {', '.join(papers)} has no readings: nothing is printed that they could explain")
    return max(codes)


def _rank_readings(name: str, paper: Paper, request: SweepRequest) -> int:
    from plots.reading_ranks import write_rankings  # matplotlib is slow to import and is needed only here

    reported = read_numbers_of(paper)
    readings, cells = {}, {}
    for question in paper.readings:
        readings[question.id] = make_readings(paper, question, reported)
        cells[question.id] = _list_cells(readings[question.id])
    table, code = run_studies(cells, request)
    rankings = [rank_readings(question, readings[question.id], table) for question in paper.readings]
    for path in write_rankings(paper, rankings, request.results_folder / f"paper-{name}"):
        print_to_stderr(f"  {path}")
    for question, ranking in zip(paper.readings, rankings, strict=True):
        print_to_stderr(f"{question.title}: {describe_ranking(ranking)}")
    return code


def _list_cells(readings: Sequence[Reading]) -> list[Cell]:
    """Return the cells that some readings need, each once."""
    cells = {cell.key: cell for reading in readings for cell in reading.list_cells()}
    return list(cells.values())
