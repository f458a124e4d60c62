"""``do=readings``: which reading of a text explains what a paper prints, and under which do its claims hold?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.cells.cell import Cell
from experiments.config.paper import Paper
from experiments.config.papers import load_paper
from experiments.errors import BadInput, print_to_stderr
from experiments.judge.readings.halving import Race, run_races
from experiments.judge.readings.sentences import describe_curve, describe_ranking
from experiments.questions.printed import read_numbers_of
from experiments.questions.readings.cells import make_readings
from experiments.questions.readings.choices import check_choices
from experiments.questions.readings.claim_curves import judge_readings, list_curves
from experiments.questions.readings.ranking import rank_readings
from experiments.request import SweepRequest
from experiments.run.executors.executor import make_executor
from experiments.run.run_studies import Rounds
from experiments.store.record import Record


def run_command(request: SweepRequest) -> int:
    """Ask the questions of some papers, or of all that leave anything open; returns the exit code."""
    papers, codes = {name: load_paper(name) for name in request.list_papers()}, []
    for name, paper in papers.items():
        if paper.readings or list_curves(paper)[0]:
            codes.append(_run_readings(name, paper, request))
    if not codes:
        raise BadInput(f"paper {', '.join(papers)} has no readings: its text leaves nothing open that could be run")
    return max(codes)


def _run_readings(name: str, paper: Paper, request: SweepRequest) -> int:
    check_choices(paper)
    reported = read_numbers_of(paper)
    rounds = Rounds(request.results_folder, make_executor(request.config["executor"]))
    claims, left_out = list_curves(paper)
    races: dict[tuple[str, str], Race[pd.DataFrame]] = {}
    for question in paper.readings:
        readings = make_readings(paper, question, reported)
        races["question", question.id] = rank_readings(paper, question, readings)
    for claim in claims:
        races["claim", claim.id] = judge_readings(paper, claim)

    def run(asked: Mapping[Any, list[Cell]]) -> dict[str, Record]:
        cells = {cell.key: cell for of_race in asked.values() for cell in of_race}
        return rounds.run(list(cells.values()), "")

    results = run_races(races, run)
    rankings = {question.id: results["question", question.id] for question in paper.readings}
    curves = {claim.id: results["claim", claim.id] for claim in claims}
    _show_results(paper, rankings, curves, request.results_folder / f"paper-{name}")
    for claim_id, why in left_out.items():
        print_to_stderr(f"{claim_id}: not run under every reading: {why}")
    return rounds.name_failures(str(request.config["results"]))


def _show_results(
    paper: Paper, rankings: Mapping[str, pd.DataFrame], curves: Mapping[str, pd.DataFrame], folder: Path
) -> None:
    from plots.pages.readings import write_curves, write_rankings  # matplotlib is slow to import

    for path in (*write_rankings(paper, rankings, folder), *write_curves(paper, curves, folder)):
        print_to_stderr(f"  {path}")
    for question in paper.readings:
        print(f"{question.title} {describe_ranking(rankings[question.id])}")
    for claim_id, rows in curves.items():
        print(f"{claim_id}: {describe_curve(rows)}")
