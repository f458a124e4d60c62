"""``do=decide``: is it true? As many repeats as the claims of a paper take."""

from __future__ import annotations

from collections.abc import Collection

from experiments.cells.cell import format_json
from experiments.config.papers import load_paper
from experiments.judge.claim_answers import judge_claims
from experiments.judge.number_answers import judge_numbers
from experiments.judge.tasks import RunTasks
from experiments.questions.decide import PaperErrors, list_rounds, run_together
from experiments.questions.paper_questions import PaperQuestions, resolve_named
from experiments.request import SweepRequest
from experiments.run.executors.executor import make_executor
from experiments.run.executors.task_runner import TaskRunner
from experiments.run.run_studies import Rounds
from experiments.store.results import Results


def run_command(request: SweepRequest) -> int:
    """Decide the claims of some papers, or of all; returns the exit code."""
    config, asked = request.config, {}
    for name in request.list_papers():
        paper = load_paper(name, config["repeats"], config["most_repeats"])
        chosen = {paper.claim(str(claim), "claims").id for claim in request.values.get("claims") or paper.claims_by_id}
        asked[name] = paper.number, chosen, resolve_named(name, paper)
    executor = make_executor(config["executor"])
    rounds, answer = Rounds(request.results_folder, executor), TaskRunner(executor).answer
    deciding, errors = {}, PaperErrors(len(asked))
    for name, (_, chosen, questions) in asked.items():
        deciding[name] = list_rounds(questions, [claim for claim in questions.claims if claim.id in chosen], answer)
    for name, table in run_together(deciding, rounds.run, errors):
        try:
            _print_answers(*asked[name], Results(table), answer)
        except Exception as error:
            errors.leave_out(name, error)
    code = rounds.name_failures(str(config["results"]))
    errors.raise_first()
    return code


def _print_answers(
    number: int | str, chosen: Collection[str], questions: PaperQuestions, results: Results, answer: RunTasks
) -> None:
    numbers = judge_numbers(questions.numbers, results, run_tasks=answer)
    for answered in judge_claims(questions.claims, results, numbers, answer):
        if answered.id in chosen:
            print(format_json({"paper": number, **answered.model_dump()}))
