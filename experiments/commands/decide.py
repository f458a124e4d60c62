"""``do=decide``: is it true? As many repeats as the claims of a paper take."""

from __future__ import annotations

from collections.abc import Collection

from experiments.cells.cell import format_json
from experiments.config.papers import load_paper
from experiments.judge.claim_answers import judge_claims
from experiments.judge.number_answers import judge_numbers
from experiments.questions.decide import run_until_decided
from experiments.questions.paper_questions import PaperQuestions, resolve_named
from experiments.request import SweepRequest
from experiments.run.executors.executor import make_executor
from experiments.run.executors.task_runner import TaskRunner
from experiments.run.run_studies import Rounds
from experiments.store.results import Results


def run_command(request: SweepRequest) -> int:
    """Decide the claims of some papers, or of all; returns the exit code."""
    config = request.config
    prepared = []
    for name in request.list_papers():
        paper = load_paper(name, config["repeats"], config["most_repeats"])
        chosen = {paper.claim(str(claim), "claims").id for claim in request.values.get("claims") or paper.claims_by_id}
        prepared.append((paper.number, chosen, resolve_named(name, paper)))
    return max(_decide_claims(*asked, request) for asked in prepared)


def _decide_claims(number: int | str, chosen: Collection[str], questions: PaperQuestions, request: SweepRequest) -> int:
    rounds = Rounds(request.results_folder, make_executor(request.config["executor"]))
    claims = [claim for claim in questions.claims if claim.id in chosen]
    answer = TaskRunner(make_executor(request.config["executor"])).answer
    results = Results(run_until_decided(questions, rounds.run, claims, answer))
    numbers = judge_numbers(questions.numbers, results, run_tasks=answer)
    for answered in judge_claims(questions.claims, results, numbers, answer):
        if answered.id in chosen:
            print(format_json({"paper": number, **answered.model_dump()}))
    return rounds.name_failures(str(request.config["results"]))
