"""``do=judge``: verdicts on runs of any program, by the claims and printed numbers of a paper. Nothing is run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd

from algorithms.installation import ROOT, resolve_path
from datasets.own_tables import own_file
from datasets.own_tables.opened_file import UnreadableFile
from experiments.cells.cell import format_json
from experiments.config.paper import Paper
from experiments.config.papers import read_paper, read_paper_file
from experiments.errors import BadInput
from experiments.judge.claim_answer import ClaimAnswer
from experiments.judge.claim_answers import judge_claims
from experiments.judge.more_runs import MoreRuns, list_more_runs
from experiments.judge.number_answers import judge_numbers
from experiments.judge.question import AskedClaim, ClaimQuestion
from experiments.questions.given_table import arrange_given
from experiments.questions.paper_questions import PaperQuestions, resolve_given
from experiments.questions.settings import list_asked
from experiments.request import SweepRequest
from experiments.store.results import Results
from experiments.store.runs_file import RUNS

_UNCOUNTED = "a table of runs does not have the rows of a data set, which would have to be counted"


def run_command(request: SweepRequest) -> int:
    """Judge what is given and print what came out; returns the exit code."""
    if request.config["runs"] is None:
        raise BadInput("say which runs and which paper: judge my-runs.csv my-paper.yaml")
    runs = _find_path(str(request.config["runs"]))
    is_folder = os.path.isdir(runs)
    paper, paper_name = _read_paper(request, runs / "paper.yaml" if is_folder else None)
    questions = resolve_given(paper)
    if not questions.claims and not questions.numbers:
        raise BadInput(f"{paper_name} has neither claims nor printed numbers: there is nothing to judge by")
    if not is_folder:  # nobody but its maker knows how its rows were split
        questions = replace(questions, claims=tuple(map(_forget_scope, questions.claims)))
    table = _read_runs(runs / RUNS if is_folder else runs, paper, questions)
    results = Results(table)
    numbers = judge_numbers(questions.numbers, results)
    if not numbers.empty:
        numbers.loc[numbers["statistic"] == "exact", "reason"] = _UNCOUNTED
    claims = judge_claims(questions.claims, results, numbers)
    more = list_more_runs(questions.claims, questions.numbers, results)
    _print_answers(paper, claims, numbers, more)
    n_runs = int((table["status"] == "done").sum()), len(table)
    _show_summary(paper, n_runs, claims, numbers, more, request.config["results"])
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
        raise BadInput("say by which paper: judge my-runs.csv my-paper.yaml, or the name of one, such as 4")
    path = _find_path(str(file)) if file is not None else beside
    assert path is not None
    return read_paper_file(path), str(path) if file is None else str(file)


def _forget_scope(claim: AskedClaim) -> AskedClaim:
    question = claim.question
    return claim._replace(question=replace(question, scope="")) if isinstance(question, ClaimQuestion) else claim


def _read_runs(path: Path, paper: Paper, questions: PaperQuestions) -> pd.DataFrame:
    try:
        frame = own_file.read_file(path, own_file.guess_form(path))
    except UnreadableFile as error:
        raise BadInput(str(error)) from error
    return arrange_given(frame, path.name, paper, list_asked(questions.claims, questions.numbers))


def _print_answers(
    paper: Paper, claims: list[ClaimAnswer], numbers: pd.DataFrame, more: Mapping[str, list[MoreRuns]]
) -> None:
    """Print a JSON object for each claim and printed number."""
    answers = [("claim", answer.model_dump()) for answer in claims]
    answers += [("printed number", row) for row in numbers.to_dict("records")]
    for what, answer in answers:
        needs = [need.to_mapping() for need in more.get(answer["id"], ())]
        print(format_json({"paper": paper.number, "what": what, **answer, "needs": needs}))


def _show_summary(
    paper: Paper,
    n_runs: tuple[int, int],
    claims: list[ClaimAnswer],
    numbers: pd.DataFrame,
    more: Mapping[str, list[MoreRuns]],
    results: str | None,
) -> None:
    from plots.pages.judged import print_judged, write_judged  # slow to import

    paths = write_judged(paper, claims, numbers, more, resolve_path(results)) if results else []
    print_judged(paper, n_runs, claims, numbers, more, paths)
