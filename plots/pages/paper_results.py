"""From the long table of a paper to everything that is shown of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from experiments.config.paper import Paper, PaperFigure, PaperTable
from experiments.judge.claim_answers import judge_claims
from experiments.judge.number_answers import judge_numbers
from experiments.questions.paper_questions import PaperQuestions
from experiments.run.copies import list_copies
from experiments.stats import LEVEL
from experiments.store.results import Results
from experiments.store.study_rows import count_cells
from plots import privacy, style
from plots.facts import Facts, collect_facts
from plots.pages import paper_page, terminal
from plots.runs import run_folder
from plots.runs.run_folder import PaperRun
from plots.tables.grid import GridTable


def publish_paper(paper: Paper, questions: PaperQuestions, table: pd.DataFrame, folder: Path) -> None:
    """Write the tables, figures, verdicts and the report page of a paper, and print a summary to stderr.

    Parameters
    ----------
    paper, questions : Paper and PaperQuestions
        As it was run, and what it asks.
    table : DataFrame
        The long table, one row per cell and repeat. Cells that are missing are shown as missing.
    folder : Path
        ``results/paper-N``; it is made if need be. A ``provenance.json`` in it becomes part of the report.

    Raises
    ------
    PaperError
        If the paper contradicts itself or names printed numbers that are not there.
    """
    folder = Path(folder)
    for name in ("tables", "figures"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    facts = collect_facts(paper)
    results = Results(table)
    numbers = judge_numbers(questions.numbers, results, facts)
    claims = judge_claims(questions.claims, results, numbers)
    shown = table if table.empty else table[table["repeat"] < paper.repeats]  # whatever more the verdicts took
    run_folder.write_paper(paper, folder / "paper.yaml")
    run_folder.write_csv(numbers, folder / "numbers.csv")
    _write_claims(paper, claims, count_cells(paper, shown), folder / "claims.json")
    run_folder.write_csv(list_copies(list_splits(paper), paper.repeats), folder / "copies.csv")
    run_folder.write_json(privacy.sum_up_privacy(shown), folder / "privacy.json")
    grids = []
    for part in paper.tables:
        frame = _publish_table(paper, part, shown, numbers, facts, folder)
        if isinstance(part, GridTable):
            grids.append((part, frame))
    for part in paper.figures:
        _publish_figure(paper, part, shown, numbers, folder)
    run = PaperRun.read(folder)
    pngs = [folder / "figures" / f"{part.id}.png" for part in paper.figures]
    paths = [paper_page.write_page(run), *pngs]
    terminal.print_summary(run, paths, () if len(numbers) else grids)


def list_splits(paper: Paper) -> list[tuple[str, dict[str, Any]]]:
    """Return how the studies of a paper split its data sets, by the name of each."""
    splits = []
    for study in paper.studies.values():
        splits += [(name, study.protocol_options) for name in study.dataset]
    return splits


def _publish_table(
    paper: Paper, part: PaperTable, table: pd.DataFrame, numbers: pd.DataFrame, facts: Facts, folder: Path
) -> pd.DataFrame:
    frame = part.make_frame(paper, table, numbers, facts)
    part.write_latex(paper, frame, folder / "tables" / f"{part.id}.tex")
    run_folder.write_csv(frame, folder / "tables" / f"{part.id}.csv")
    return frame


def _publish_figure(paper: Paper, part: PaperFigure, table: pd.DataFrame, numbers: pd.DataFrame, folder: Path) -> None:
    frame = part.make_frame(paper, table, numbers)
    style.write_figure(part.id, lambda: part.draw(paper, frame), frame, folder / "figures")


def _write_claims(paper: Paper, claims: list[dict], counts: tuple[int, int], path: Path) -> None:
    n_cells, n_expected = counts
    head = {"paper": paper.number, "family_error_rate": round(1 - LEVEL, 10)}
    run_folder.write_json({**head, "cells": n_cells, "cells_expected": n_expected, "claims": claims}, path)
