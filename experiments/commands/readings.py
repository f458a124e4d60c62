"""``do=readings``: which reading of an ambiguous text explains what a paper prints?"""

from __future__ import annotations

from collections.abc import Sequence

from experiments.cells.cell import Cell
from experiments.commands.common import chosen_papers, results_folder, run_studies, say
from experiments.config.paper import Paper
from experiments.config.papers import read_paper
from experiments.config.request import SweepRequest
from experiments.errors import BadInput
from experiments.judge.printed_numbers import read_numbers_of
from experiments.judge.readings.cells import Reading, make_readings
from experiments.judge.readings.ranking import describe_ranking, rank_readings


def run_command(request: SweepRequest) -> int:
    """Ask the questions of some papers, or of all that have any; returns the exit code."""
    papers = {name: read_paper(name) for name in chosen_papers(request)}
    with_questions = [name for name, paper in papers.items() if paper.readings]
    if not with_questions:
        raise BadInput(f"paper {', '.join(papers)} has no readings: nothing is printed that they could explain")
    return max([_rank_readings(name, papers[name], request) for name in with_questions])


def _rank_readings(name: str, paper: Paper, request: SweepRequest) -> int:
    from plots.reading_ranks import write_rankings  # matplotlib is slow to import and is needed only here

    reported = read_numbers_of(paper)
    readings = {question.id: make_readings(paper, question, reported) for question in paper.readings}
    table, code = run_studies({key: _list_cells(answers) for key, answers in readings.items()}, request)
    rankings = [rank_readings(question, readings[question.id], table) for question in paper.readings]
    for path in write_rankings(paper, rankings, results_folder(request) / f"paper-{name}"):
        say(f"  {path}")
    for question, ranking in zip(paper.readings, rankings, strict=True):
        say(f"{question.title}: {describe_ranking(ranking)}")
    return code


def _list_cells(readings: Sequence[Reading]) -> list[Cell]:
    """Return the cells that some readings need, each once."""
    cells = {cell.key: cell for reading in readings for cell in reading.list_cells()}
    return list(cells.values())
