"""``do=readings``: which reading of an ambiguous text explains what a paper prints?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.cells.cell import Cell
from experiments.config.papers import paper_of
from experiments.config.paths import ROOT
from experiments.config.request import SweepRequest
from experiments.errors import BadInput, print_to_stderr
from experiments.judge.numbers import read_reported
from experiments.judge.reading_cells import Reading, readings_of
from experiments.judge.readings import ranked, sentence
from experiments.run.run_studies import run_studies


def run_command(request: SweepRequest) -> int:
    """Ask the questions of some papers, or of all that have any; returns the exit code."""
    papers = {name: paper_of(name) for name in request.list_papers()}
    codes = []
    for name, paper in papers.items():
        if paper.get("readings"):
            codes.append(_rank_readings(name, paper, request))
    if not codes:
        raise BadInput(f"paper {', '.join(papers)} has no readings: nothing is printed that they could explain")
    return max(codes)


def _rank_readings(name: str, paper: Mapping, request: SweepRequest) -> int:
    from plots.reading_ranks import write  # matplotlib is slow to import and is needed only here

    reported, questions = read_reported(ROOT / paper["reported"]), paper["readings"]
    readings, cells = {}, {}
    for question in questions:
        readings[question["id"]] = readings_of(paper, question, reported)
        cells[question["id"]] = _list_cells(readings[question["id"]])
    table, code = run_studies(cells, request)
    rankings = [ranked(question, readings[question["id"]], table) for question in questions]
    for path in write(paper, rankings, request.results_folder / f"paper-{name}"):
        print_to_stderr(f"  {path}")
    for question, ranking in zip(questions, rankings, strict=True):
        print_to_stderr(f"{question['title']}: {sentence(ranking)}")
    return code


def _list_cells(readings: Sequence[Reading]) -> list[Cell]:
    """Return the cells that some readings need, each once."""
    cells = {}
    for reading in readings:
        for target in reading.targets:
            for cell in target.all():
                cells[cell.key] = cell
    return list(cells.values())
