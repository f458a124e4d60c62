"""From the long table of a paper to everything that is shown of it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.config.paper import Paper
from experiments.judge.claim_answers import judge_claims
from experiments.judge.number_answers import judge_numbers
from experiments.judge.verdict import NOT_RUN
from experiments.questions.paper_questions import PaperQuestions, resolve_numbers
from experiments.run.copies import list_copies
from experiments.stats import LEVEL
from experiments.store.results import Results
from experiments.store.study_rows import count_cells
from plots import privacy, style
from plots.pages.paper_page import write_page
from plots.pages.terminal import print_summary
from plots.runs.paper_run import PaperRun
from plots.runs.run_folder import write_csv, write_json, write_paper
from plots.tables.datasets import collect_facts


def publish_paper(paper: Paper, questions: PaperQuestions, table: pd.DataFrame, folder: Path) -> None:
    """Write the tables, figures, verdicts and the report page of a paper, and print a summary to stderr.

    ``table`` is the long table, one row per cell and repeat; cells that are missing are shown as missing. ``folder`` is
    made if need be; a ``provenance.json`` in it becomes part of the report. A PaperError is raised if the paper
    contradicts itself or names printed numbers that are not there.
    """
    folder = Path(folder)
    tables, figures = folder / "tables", folder / "figures"
    for made in (tables, figures):
        made.mkdir(parents=True, exist_ok=True)
    facts = collect_facts(name for part in paper.tables for name in getattr(part, "datasets", ()))
    results = Results(table)
    numbers = judge_numbers(questions.numbers, results, facts)
    claims = judge_claims(questions.claims, results, numbers)
    shown = table if table.empty else table[table["repeat"] < paper.repeats]  # whatever more the verdicts took
    n_cells, n_expected = count_cells(paper, shown)
    head = {"paper": paper.number, "family_error_rate": round(1 - LEVEL, 10)}
    write_paper(paper, folder / "paper.yaml")
    write_csv(numbers, folder / "numbers.csv")
    write_json({**head, "cells": n_cells, "cells_expected": n_expected, "claims": claims}, folder / "claims.json")
    write_csv(list_copies(list_splits(paper), paper.repeats), folder / "copies.csv")
    write_json(privacy.sum_up_privacy(shown), folder / "privacy.json")
    for part in paper.tables:
        frame = part.make_frame(paper, shown, numbers, facts)
        part.write_latex(paper, frame, tables / f"{part.id}.tex")
        write_csv(frame, tables / f"{part.id}.csv")
    for part in paper.figures:
        frame = part.make_frame(paper, shown, numbers)
        style.write_figure(part.id, partial(part.draw, paper, frame), frame, figures)
    run = PaperRun.read(folder)
    print_summary(run, [write_page(run), *(figures / f"{part.id}.png" for part in paper.figures)])


def list_splits(paper: Paper) -> list[tuple[str, dict[str, Any]]]:
    """Return how the studies of a paper split its data sets, by the name of each."""
    return [(name, study.protocol_options) for study in paper.studies.values() for name in study.dataset]


def describe_unrun(paper: Paper) -> PaperRun:
    """Return what is known of a paper that nobody ran: its numbers and its claims, each of them not run."""
    nothing, no_verdict = pd.DataFrame(), {"verdict": NOT_RUN, "reason": ""}
    numbers = judge_numbers(resolve_numbers(paper), Results(nothing)).assign(**no_verdict)
    claims = [{"id": claim.id, "text": claim.text, **no_verdict} for claim in paper.claims]
    said = paper.model_copy(update={"finding": None})
    return PaperRun(Path(), said, numbers, claims, (0, 0), [], {}, *[nothing] * 5)
