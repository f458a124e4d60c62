"""``do=crossing``: would the claims of a paper hold on further rows? Splits are crossed with draws of the noise."""

from __future__ import annotations

from itertools import chain

import pandas as pd

from experiments.config.paper import Paper
from experiments.config.papers import load_paper
from experiments.errors import BadInput, print_to_stderr
from experiments.questions.further_rows import (
    LEAST_SPLITS,
    describe_further_rows,
    judge_further_rows,
    list_crossed_cells,
)
from experiments.request import SweepRequest
from experiments.run.executors.executor import make_executor
from experiments.run.run_studies import Rounds
from experiments.store.long_table import long_table
from plots.runs.run_folder import write_csv


def run_command(request: SweepRequest) -> int:
    """Cross the splits of some papers with draws of the noise; returns the exit code."""
    repeats = request.config["repeats"]
    papers = {name: load_paper(name, repeats) for name in request.list_papers()}
    if repeats is not None and repeats < LEAST_SPLITS:
        raise BadInput(f"repeats={repeats}: the variance of splits takes at least {LEAST_SPLITS} splits")
    codes = []
    for name, paper in papers.items():
        draws = list_crossed_cells(paper)
        if any(chain.from_iterable(draws[0].values())):
            codes.append(_cross_paper(name, paper, draws, request))
    if not codes:
        raise BadInput(f"paper {', '.join(papers)} claims nothing about means on rows that are split at random")
    return max(codes)


def _cross_paper(name: str, paper: Paper, draws: list[dict], request: SweepRequest) -> int:
    rounds = Rounds(request.results_folder, make_executor(request.config["executor"]))
    cells = list(chain.from_iterable(chain.from_iterable(draw.values()) for draw in draws))
    records = rounds.run(cells, "")
    rows = judge_further_rows(paper, [long_table(draw, records) for draw in draws])
    folder = request.results_folder / f"paper-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "further_rows.csv"
    write_csv(rows, path)
    print_to_stderr(f"  {path}")
    for claim_id, of_claim in rows.groupby("claim", sort=False):
        print(f"{claim_id}: {describe_further_rows(pd.DataFrame(of_claim))}")
    return rounds.name_failures(str(request.config["results"]))
