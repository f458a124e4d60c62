"""From the long table of a paper to everything that is shown of it: verdicts, tables, figures, the report page.

The page is one HTML file that opens from disk, asks the network for nothing, the same bytes always. Its first screen
answers: what the paper promises, whether its numbers come out, its claims hold and its algorithms are private, what was
found, and the picture that decides. Then come its claims as a forest plot and its printed numbers as a dot plot. All
else is closed; pictures in it are files, which load when it is opened.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from algorithms.whole_files import write_text
from experiments.audit.private_as_claimed import sum_up_privacy
from experiments.catalogue.sources import format_software_bibtex
from experiments.config.kinds.exhibits import PaperFigure, PaperTable
from experiments.config.paper import Paper, Speaker
from experiments.config.protocol import Protocol
from experiments.judge.claim_answer import ClaimAnswer
from experiments.judge.claim_answers import judge_claims
from experiments.judge.number_answers import judge_numbers
from experiments.judge.paper_answer import count_signs
from experiments.judge.readings.sentences import (
    describe_curve,
    describe_ranking,
    list_curve_details,
    list_ranking_details,
)
from experiments.judge.verdict import Verdict
from experiments.questions.paper_questions import PaperQuestions, resolve_numbers
from experiments.questions.settings import list_asked
from experiments.run.copies import list_copies
from experiments.run.executors.executor import Executor
from experiments.run.executors.task_runner import TaskRunner
from experiments.stats import LEVEL
from experiments.store.json_files import write_json
from experiments.store.results import Results
from experiments.store.runs_file import RUNS, select_runs, write_runs
from experiments.store.study_rows import count_cells
from plots import audits, labels, privacy
from plots.exhibits.views import view
from plots.pages import html
from plots.pages.drawings import draw_exhibits
from plots.pages.html import measure_picture, read_svg
from plots.runs.paper_run import PaperRun
from plots.runs.run_folder import DIGITS, name_damage, write_csv, write_paper
from plots.series import note_shortfall
from plots.tables.datasets import collect_facts


def publish_paper(
    paper: Paper, questions: PaperQuestions, table: pd.DataFrame, folder: Path, runner: TaskRunner | None = None
) -> list[Path]:
    """Write the tables, figures, verdicts and the report page of a paper; return the page and the pictures.

    ``table`` is the long table, one row per cell and repeat; cells that are missing are shown as missing. ``folder`` is
    made if need be; a ``provenance.json`` in it becomes part of the report. A PaperError is raised if the paper
    contradicts itself or names printed numbers that are not there. The runner judges and draws; this process unless one
    is given.
    """
    folder, runner = Path(folder), runner or TaskRunner(Executor(jobs=1))
    tables, figures = folder / "tables", folder / "figures"
    for made in (tables, figures):
        made.mkdir(parents=True, exist_ok=True)
    facts = collect_facts(name for exhibit in paper.tables for name in getattr(exhibit, "datasets", ()))
    results = Results(table)
    numbers = judge_numbers(questions.numbers, results, facts, runner.answer)
    claims = judge_claims(questions.claims, results, numbers, runner.answer)
    first_runs = table if table.empty else table[table["repeat"] < paper.repeats]  # whatever more the verdicts took
    n_cells, n_expected = count_cells(paper, first_runs)
    head = {"paper": paper.number, "family_error_rate": round(1 - LEVEL, 10)}
    write_paper(paper, folder / "paper.yaml")
    write_runs(select_runs(table, list_asked(questions.claims, questions.numbers)), folder / RUNS)
    write_csv(numbers, folder / "numbers.csv")
    write_csv(list_copies(list_splits(paper), paper.repeats), folder / "copies.csv")
    write_json(sum_up_privacy(first_runs), folder / "privacy.json", DIGITS)
    for exhibit in paper.tables:  # of all runs, as the verdicts are: a setting has one mean, wherever it stands
        write_csv(view(paper, exhibit).make_frame(table, numbers, facts), tables / f"{exhibit.id}.csv")
    for figure in paper.figures:
        write_csv(view(paper, figure).make_frame(table, numbers), figures / f"{figure.id}.csv")
    judged = {"cells": n_cells, "cells_expected": n_expected, "claims": [claim.model_dump() for claim in claims]}
    write_json(head | judged, folder / "claims.json", DIGITS)
    run = PaperRun.read(folder)
    pictures = draw_exhibits(run, runner)
    return [write_page(run), *(path for path in pictures if path.suffix == ".png")]


def list_splits(paper: Paper) -> list[tuple[str, Protocol]]:
    """Return how the studies of a paper split its data sets, by the name of each."""
    return [(name, study.protocol) for study in paper.studies.values() for name in study.dataset]


def describe_unrun(paper: Paper) -> PaperRun:
    """Return what is known of a paper that nobody ran: its numbers and its claims, each of them not run."""
    no_verdict = {"verdict": Verdict.NOT_RUN, "reason": ""}
    numbers = judge_numbers(resolve_numbers(paper), Results(pd.DataFrame())).assign(**no_verdict)
    unrun = {"verdict": Verdict.NOT_RUN, "as_read": Verdict.NOT_RUN, "reason": ""}
    claims = [ClaimAnswer(id=claim.id, text=claim.text, kind=claim.kind, **unrun) for claim in paper.claims]
    said = paper.model_copy(update={"finding": None})
    return PaperRun.of_verdicts(said, numbers, claims)


_DECISION = "decision"  # the kind of tables that say what to take: they are what a study without claims is about
# Files that are about all of a run.
_SUMMARIES = (
    *("numbers.csv", "claims.json", "privacy.json", "copies.csv", "readings.csv", "curves.csv", "further_rows.csv"),
    *("costs.csv", "paper.yaml", "provenance.json", "runs.parquet"),
)
_ENDINGS = {"CSV": "csv", "LaTeX": "tex", "SVG": "svg", "PNG": "png", "PDF": "pdf"}


def write_page(run: PaperRun) -> Path:
    """Write ``report.html`` into the folder of a run and return its path."""
    path = run.folder / "report.html"
    write_text(path, render_page(run))
    return path


def render_page(run: PaperRun, source: str = "", base: str = "", links: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return the page of a run.

    ``source`` says whose run it is, ``base`` is the way from the page to the run's files, such as ``paper-2/``, and
    ``links`` are the pages around it: ``href``, ``text`` and ``is_here``.
    """
    tables = {exhibit.id: _describe_table(run, exhibit) for exhibit in run.paper.tables}
    figures = {exhibit.id: _describe_figure(run, exhibit) for exhibit in run.paper.figures}
    with name_damage(run.folder / "costs.csv"):
        costs = list_costs(run.paper, run.costs)
    finding = run.paper.finding
    first = (finding and finding.picture) or next(iter(figures), "")
    return html.render_template(
        "paper.html.j2",
        links=links,
        base=base,
        run=run,
        source=source,
        citations=_list_citations(run),
        shown_first=first,
        picture=figures[first] | {"svg": read_svg(run.find_picture(first), first)} if first in figures else None,
        decisive_table=tables.get(first),
        own_counts=count_signs(run.list_verdicts(Speaker.OURS)),
        decisions=[table for table in tables.values() if table["kind"] == _DECISION],
        tables=[table for table in tables.values() if table["kind"] != _DECISION],
        figures=list(figures.values()),
        readings=_describe_rankings(run),
        curves=_describe_curves(run),
        privacy=[privacy.describe_privacy(run.paper, row, run.audit) for row in run.privacy],
        data_faults=privacy.describe_data_faults(run.paper, run.privacy),
        audit=audits.name_audits(run.audit, [row["algorithm"] for row in run.privacy]),
        costs=costs,
        provenance=[(name, html.format_fact(value)) for name, value in run.provenance.items()],
        summaries=[(name, name) for name in _SUMMARIES if (run.folder / name).is_file()],
    )


def _list_citations(run: PaperRun) -> list[str]:
    """Return the entries for BibTeX of the software, at the revision of a run, and of its paper if it has one."""
    git = run.provenance.get("git")
    software = format_software_bibtex(git["revision"][:7]) if isinstance(git, Mapping) else format_software_bibtex()
    return [software, *([run.paper.publication.format_bibtex()] if run.paper.publication else [])]


def list_costs(paper: Paper, costs: pd.DataFrame) -> list[tuple[str, list[list[str]]]]:
    """Return, for each data set that was fitted, a sentence and the rows of a table, the fastest first.

    ``costs`` are as from `experiments.speed.costs.measure_costs`.
    """
    described = []
    for dataset, rows in costs.groupby("dataset", sort=False):
        body = []
        for row in rows.sort_values("seconds", kind="stable").to_dict("records"):
            seconds, megabytes = f"{row['seconds']:.3g}", f"{row['megabytes']:.0f}"
            body.append([labels.label_name(paper, row["algorithm"]), seconds, megabytes])
        n_rows, epsilons = int(rows["rows"].max()), sorted(set(rows["epsilon"]))
        sentence = (
            f"{labels.label_name(paper, str(dataset))}, {n_rows:,} training rows, the largest set of its study; "
            f"ε = {labels.label_value(paper, epsilons[0])}. Measured once, on one core: median of three fits after a "
            "first, and peak of the process that fits, interpreter, libraries and rows included."
        )
        described.append((sentence, body))
    return described


def _describe_table(run: PaperRun, exhibit: PaperTable) -> dict[str, Any]:
    """Return a table with its title, its files and what was measured of its algorithms."""
    with name_damage(run.find_file(exhibit)):
        shown = view(run.paper, exhibit).describe(run.read_frame(exhibit))
    return {
        "id": exhibit.id,
        "title": exhibit.title,
        "kind": exhibit.kind,
        "measured": _describe_audit(run, exhibit),
        "files": _list_files(run, "tables", exhibit.id),
        "explanation": "",
        "is_text": False,
        **shown,
    }


def _describe_figure(run: PaperRun, exhibit: PaperFigure) -> dict[str, Any]:
    """Return a figure with its title, its size, its files and the numbers behind it."""
    frame = run.read_frame(exhibit)
    with name_damage(run.find_file(exhibit)):
        shown = view(run.paper, exhibit).describe(frame)
        caption = view(run.paper, exhibit).sum_up(frame)
    beside = {"caption": caption, "measured": _describe_audit(run, exhibit), "points": [], "standings": []}
    return {**_describe_picture(run, exhibit.id, exhibit.title, frame), **beside, **shown}


def _describe_rankings(run: PaperRun) -> list[dict[str, Any]]:
    """Return what the readings of the text give, question by question, as it is read."""
    described = []
    for question, rows in run.list_rankings():
        picture = _describe_picture(run, f"readings-{question.id}", question.title, rows)
        picture["files"].insert(0, ("CSV of all questions", "readings.csv"))
        answers = [_describe_reading(row) for row in rows.to_dict("records")]
        said = {"sentence": describe_ranking(rows), "details": list_ranking_details(rows)}
        described.append({**picture, **said, "unit": rows["unit"].iloc[0], "rows": answers})
    return described


def _describe_curves(run: PaperRun) -> list[dict[str, Any]]:
    """Return what the readings of the text say of each claim, as it is read."""
    described = []
    for claim, rows in run.list_curves():
        picture = _describe_picture(run, f"curve-{claim.id}", claim.text, rows)
        picture["files"].insert(0, ("CSV of all claims", "curves.csv"))
        described.append({**picture, "sentence": describe_curve(rows), "details": list_curve_details(rows)})
    return described


def _describe_picture(run: PaperRun, name: str, title: str, frame: pd.DataFrame) -> dict[str, Any]:
    """Return a picture with its size, its files, and what is missing of the numbers that it shows."""
    width, height = measure_picture(run.find_picture(name))
    files = _list_files(run, "figures", name)
    return {"id": name, "title": title, "width": width, "height": height, "files": files, "note": note_shortfall(frame)}


def _describe_audit(run: PaperRun, exhibit: PaperTable | PaperFigure) -> str:
    """Return what was measured of the privacy of the algorithms of a table or figure."""
    return audits.describe_bounds(run.paper, run.audit, exhibit.list_algorithms(run.paper))


def _list_files(run: PaperRun, folder: str, name: str) -> list[tuple[str, str]]:
    """Return the files of a table or figure that are there, by what they are."""
    files = [(what, f"{folder}/{name}.{ending}") for what, ending in _ENDINGS.items()]
    return [(what, path) for what, path in files if (run.folder / path).is_file()]


def _describe_reading(row: Mapping[str, Any]) -> dict[str, Any]:
    decimals = 2 if row["unit"] == "points" else 3
    costs = ["unbounded"] if row["unpaid"] else []
    if math.isfinite(row["times_label"]):
        costs.append(f"{row['times_label']:.3g}")
    return {
        "rank": "none" if row["kind"] == "no noise" else f"{row['rank']:.0f}",
        "reading": row["reading"],
        "in_set": row["in_set"],
        "distance": labels.format_number("", row["distance"], decimals),
        "interval": labels.format_interval("", row["low"], row["high"], decimals),
        "dropped_after": "" if math.isnan(row["dropped_after"]) else f"{row['dropped_after']:.0f}",
        "cost": "; the noisy steps ".join(costs),
    }
