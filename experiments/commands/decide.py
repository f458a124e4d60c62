"""``do=decide``: is it true? As many repeats as the claims of a paper take."""

from __future__ import annotations

import json
from collections.abc import Sequence

from experiments.cells.cell import json_safe
from experiments.config.paper import Claim, Paper
from experiments.config.papers import prepare_paper, read_paper
from experiments.config.request import SweepRequest
from experiments.judge.claim_verdicts import judge_claims
from experiments.judge.decide import run_until_decided
from experiments.judge.numbers.printed import read_numbers_of
from experiments.judge.numbers.verdicts import judge_numbers
from experiments.judge.preflight import check_paper
from experiments.run.executors import make_executor
from experiments.run.run_studies import Rounds


def run_command(request: SweepRequest) -> int:
    """Decide the claims of some papers, or of all; returns the exit code."""
    config = request.config
    prepared = []
    for name in request.list_papers():
        contents = read_paper(name).to_mapping()
        paper = prepare_paper(contents, name, config["repeats"], config["most_repeats"])
        check_paper(paper)
        prepared.append((paper, _choose_claims(paper, request)))
    return max(_decide_claims(paper, claims, request) for paper, claims in prepared)


def _choose_claims(paper: Paper, request: SweepRequest) -> list[Claim]:
    chosen = request.values.get("claims")
    return [paper.claim(str(name), "claims") for name in chosen] if chosen else list(paper.claims)


def _decide_claims(paper: Paper, claims: Sequence[Claim], request: SweepRequest) -> int:
    rounds = Rounds(request.results_folder, make_executor(request.config["executor"]))
    table = run_until_decided(paper, {}, rounds.run, claims).table
    numbers = judge_numbers(paper, read_numbers_of(paper), table)
    chosen = {claim.id for claim in claims}
    for result in judge_claims(paper, table, numbers):
        if result["id"] in chosen:
            print(json.dumps(json_safe({"paper": paper.number, **result}), ensure_ascii=False))
    return rounds.name_failures(str(request.config["results"]))
