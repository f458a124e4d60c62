"""``do=judge``: verdicts on runs of any program, by the claims and printed numbers of a paper. Nothing is run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from algorithms.installation import ROOT, resolve_path
from experiments.cells.cell import format_json
from experiments.config.paper import Paper
from experiments.config.papers import read_paper, read_paper_file
from experiments.errors import BadInput
from experiments.request import SweepRequest

if TYPE_CHECKING:
    from experiments.questions.given_runs.judged_runs import JudgedRuns


def run_command(request: SweepRequest) -> int:
    """Judge what is given and print what came out; returns the exit code."""
    if request.config["runs"] is None:
        raise BadInput("name the runs and the paper: judge my-runs.csv my-paper.yaml")
    runs = _find_path(str(request.config["runs"]))
    is_folder = os.path.isdir(runs)
    paper, paper_name = _read_paper(request, runs / "paper.yaml" if is_folder else None)
    from experiments.questions.given_runs.judged_runs import judge_runs, read_runs  # after these checks: slow to import
    from experiments.store.runs_file import RUNS

    frame = read_runs(runs / RUNS if is_folder else runs)
    judged = judge_runs(paper, paper_name, frame, runs.name if not is_folder else RUNS, is_published=is_folder)
    _print_answers(judged)
    _show_summary(judged, request.config["results"])
    return 0


def _find_path(text: str) -> Path:
    """Return a path relative to the current folder, or, if there is nothing, to this project with what it published."""
    path = Path(os.path.abspath(os.path.expanduser(text)))
    beside = ROOT / text
    return beside if not os.path.exists(path) and beside.exists() else path


def _read_paper(request: SweepRequest, beside: Path | None) -> tuple[Paper, str]:
    """Return the paper that is named, or lies beside published runs, and what errors call it."""
    names, file = request.list_choices("paper"), request.config["file"]
    if names and file is not None:
        raise BadInput("paper and file are two papers: give one of them")
    if names:
        return read_paper(names[0]), f"paper {names[0]}"
    if file is None and beside is None:
        raise BadInput("name the paper to judge by: judge my-runs.csv my-paper.yaml, or a paper's name, such as 4")
    path = _find_path(str(file)) if file is not None else beside
    assert path is not None
    return read_paper_file(path), str(path) if file is None else str(file)


def _print_answers(judged: JudgedRuns) -> None:
    """Print a JSON object for each claim and printed number."""
    answers = [("claim", answer.model_dump()) for answer in judged.claims]
    answers += [("printed number", row) for row in judged.numbers.to_dict("records")]
    for what, answer in answers:
        needs = [need.to_mapping() for need in judged.more.get(answer["id"], ())]
        print(format_json({"paper": judged.paper.number, "what": what, **answer, "needs": needs}))


def _show_summary(judged: JudgedRuns, results: str | None) -> None:
    from plots.pages.judged import print_judged, write_judged  # slow to import

    paths = write_judged(judged, resolve_path(results)) if results else []
    print_judged(judged, paths)
