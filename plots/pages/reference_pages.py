"""Runs that are published in ``results/reference``: published, read, compared with the prose of today, and their pages.

``dp-replica reference paper=2`` publishes ``results/paper-2`` after ``dp-replica run paper=2``. Runs that are not
complete are refused. Of a run the files `run_folder.KEPT` are kept: they are small, and they show the whole run but its
cells and bitmaps.

The pages, as Markdown, are the table of verdicts in the project's ``README.md``, ``results/reference/README.md``, and a
``README.md`` beside the files of each paper: what a reader wants first. ``make pages`` rewrites them.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from algorithms.installation import PROGRAM
from algorithms.whole_files import replace_folder, write_text
from experiments.catalogue.sources import format_software_bibtex
from experiments.config.finding import SIGNS, AccountSign, AnySign, FinerSign, Sign
from experiments.config.kinds.exhibits import DecisionTable, RanksFigure
from experiments.config.paper import Speaker
from experiments.config.papers import read_paper, use_substitutes
from experiments.config.paths import (
    REFERENCE,
    ROOT,
    find_own_file,
    find_reference,
    name_paper_command,
    name_paper_file,
)
from experiments.judge.verdict import Verdict
from experiments.store.json_files import write_json
from experiments.store.runs_file import LARGEST, RUNS
from plots import audits, privacy
from plots.exhibits.views import view
from plots.labels import SYMBOLS
from plots.pages.algorithm_page import list_sections
from plots.pages.html import name_anchor, render_template
from plots.pages.lessons import NotPublished, render_lessons
from plots.pages.printed_picture import describe_picture, write_picture
from plots.runs.paper_run import PaperRun
from plots.runs.run_folder import KEPT, copy_files
from plots.tables.decision import NO_METHOD


def read_published(folder: Path) -> PaperRun:
    """Read a published run, with the titles, names, sentences and references that the file of the paper has today.

    A sentence may be written better without running anything again; the run then says whether it bears it out. Tables,
    figures and claims have today's words if nothing but these changed.
    """
    run = PaperRun.read(folder)
    written = use_substitutes(read_paper(str(run.paper.number)), run.paper.used_instead)
    today = {name: getattr(written, name) for name in ("title", "publication", "promise", "finding", "coverage")}
    today |= {"labels": {**run.paper.labels, **written.labels}}
    for section, word in (("tables", "title"), ("figures", "title"), ("claims", "text")):
        today[section] = _reword(getattr(run.paper, section), getattr(written, section), word)
    texts = {claim.id: claim.text for claim in today["claims"]}
    claims = [claim.model_copy(update={"text": texts[claim.id]}) for claim in run.claims]
    return replace(run, paper=run.paper.model_copy(update=today), claims=claims)


def _reword(entries: Sequence[Any], written: Sequence[Any], word: str) -> tuple[Any, ...]:
    """Return tables, figures or claims of a run; those of which only a word was written anew, as they are written."""
    today = {entry.id: entry for entry in written}
    reworded = []
    for entry in entries:
        new = today.get(entry.id, entry)
        reworded.append(new if entry.model_copy(update={word: getattr(new, word)}) == new else entry)
    return tuple(reworded)


def list_published(folder: Path = REFERENCE) -> list[PaperRun]:
    """Return all published runs, the papers before the benchmarks."""
    return [read_published(path) for path in sorted(folder.glob("paper-*"))]


def list_drifts(folder: Path = REFERENCE) -> list[str]:
    """Return where a finding or a lesson takes for granted what a published run does not bear out, a line for each.

    Examples
    --------
    >>> list_drifts()
    []
    """
    runs = list_published(folder)
    lines = []
    for run in runs:
        file = name_paper_file(str(run.paper.number))
        lines += [f"{file}: the finding no longer fits its published run: {misfit}" for misfit in run.misfits]
    return lines + render_lessons(runs, "")[1]


def publish_run(name: str, results: Path = ROOT / "results") -> None:
    """Copy the summaries of a complete run, of a paper's number or ``benchmark``, into ``results/reference``.

    Those of a user's own paper go into ``reference`` of the folder that holds it.
    It exits with a message if the run is missing, not complete, or of code that is not committed.
    """
    run, kept, command = (
        results / f"paper-{name}",
        find_reference(name) / f"paper-{name}",
        name_paper_command("run", name),
    )
    if not (run / "numbers.csv").is_file():
        sys.exit(f"{run} holds no finished run: {command} first")
    facts = json.loads((run / "provenance.json").read_text(encoding="utf-8"))
    _refuse_uncommitted(facts, command, is_own=find_own_file(name) is not None)
    if PaperRun.read(run).is_short or _lacks_cells(run):
        sys.exit(f"{run} is not complete: {command} first")
    if (run / RUNS).is_file() and (size := (run / RUNS).stat().st_size) > LARGEST:
        sys.exit(f"{run / RUNS} has {size:,} bytes, and a published one has at most {LARGEST:,}")
    with replace_folder(kept) as aside:
        copy_files(run, aside, KEPT)
        _forget_folder(aside / "provenance.json")


def publish_audit(results: Path = ROOT / "results") -> None:
    """Copy the summary of a complete audit into ``results/reference``; exits if there is none of committed code."""
    if not (results / audits.SUMMARY).is_file():
        sys.exit(f"{results / audits.SUMMARY} is missing: {PROGRAM} audit first")
    facts = json.loads((results / "audit" / "provenance.json").read_text(encoding="utf-8"))
    _refuse_uncommitted(facts, f"{PROGRAM} audit")
    copy_files(results, REFERENCE, (audits.SUMMARY, "audit/provenance.json"))
    _forget_folder(REFERENCE / "audit" / "provenance.json")


def _forget_folder(path: Path) -> None:
    """Leave out of a published command where its results lay: that is of one machine alone."""
    facts = json.loads(path.read_text(encoding="utf-8"))
    words = [word for word in shlex.split(facts["command"]) if not word.startswith("results=")]
    write_json(facts | {"command": shlex.join(words)}, path)


def _lacks_cells(folder: Path) -> bool:
    """Return whether a number, table or figure of a run lacks cells."""
    of_readings = (path for path in (folder / "readings.csv", folder / "curves.csv") if path.is_file())
    for path in (folder / "numbers.csv", *of_readings, *folder.glob("figures/*.csv"), *folder.glob("tables/*.csv")):
        frame = pd.read_csv(path)
        if "n" in frame and (frame["n"] < frame["n_expected"]).any():
            return True
    return False


def _refuse_uncommitted(provenance: Mapping, command: str, is_own: bool = False) -> None:
    """End unless a run is of committed code: of this checkout, or of all repositories of a user's own paper."""
    repositories = provenance.get("own_git", []) if is_own else [provenance]
    if not repositories or any(not one["git"] or one["git"]["dirty"] for one in repositories):
        sys.exit(f"this is a run of code that is not committed: commit, then {command}")


_NOTICE = "<!-- Written by `make pages` from the files beside it: changes by hand are lost. -->"
_LESSONS_NOTICE = (
    "<!-- Written by `make pages` from plots/pages/templates/results.md.j2 and the published runs: change these. -->"
)


def make_pages(root: Path = ROOT, runs: Sequence[PaperRun] | None = None) -> dict[Path, str]:
    """Return the text of each page that shows the published runs, by its path; ``runs`` if somebody has read them.

    What we learned is left as it is while a paper that it speaks of is not published.
    """
    folder, readme = root / "results" / "reference", root / "README.md"
    runs = list_published(folder) if runs is None else runs
    to_folder = f"{folder.relative_to(root).as_posix()}/"
    table = _render_verdicts(runs, to_folder, "docs/verdicts.md")
    studies, verdicts = (
        [run for run in runs if not run.is_of_paper],
        _render_verdicts(runs, "", "../../docs/verdicts.md"),
    )
    index = render_template("published_index.md.j2", notice=_NOTICE, verdicts=verdicts, studies=studies)
    front = replace_block(readme.read_text(encoding="utf-8"), "verdicts", table)
    pages = {readme: replace_block(front, "cite", f"```bibtex\n{format_software_bibtex()}\n```")}
    pages[folder / "README.md"] = f"{index}\n"
    sections = list_sections(runs)
    algorithms = render_template("algorithms.md.j2", notice=_NOTICE, sections=sections)
    pages[folder / "algorithms.md"] = f"{algorithms}\n"
    with suppress(NotPublished):
        pages[root / "docs" / "results.md"], _ = render_lessons(runs, _LESSONS_NOTICE)
    for run in runs:
        pages[run.folder / "README.md"] = describe_paper(run)
        if run.is_of_paper:
            pages[run.folder / "evidence.md"] = describe_evidence(run)
        if run.paper.coverage:
            pages[run.folder / "coverage.md"] = describe_coverage(run)
    return pages


def rewrite_pages(root: Path = ROOT) -> None:
    """Write all pages that show the published runs, and the picture of their printed numbers."""
    folder = root / "results" / "reference"
    runs = list_published(folder)
    for path, text in make_pages(root, runs).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    write_picture(runs, folder)


def replace_block(text: str, name: str, block: str) -> str:
    """Return a text with what its markers, ``<!-- name -->`` and ``<!-- /name -->``, enclose replaced, if it has any.

    Examples
    --------
    >>> print(replace_block("a\\n<!-- x -->\\nold\\n<!-- /x -->\\nb", "x", "new"))
    a
    <!-- x -->
    new
    <!-- /x -->
    b
    """
    before, found, rest = text.partition(f"<!-- {name} -->\n")
    if not found:
        return text
    _, _, after = rest.partition(f"<!-- /{name} -->")
    return f"{before}<!-- {name} -->\n{block}\n<!-- /{name} -->{after}"


def _name_target(name: str) -> str:
    """Return the target of the Makefile that runs a paper of ours, after it has made what that takes."""
    return f"make reproduce-paper-{name}" if name.isdigit() else f"make {name}"


def describe_paper(run: PaperRun) -> str:
    """Return the page of a published paper: promise, answers, finding, the picture that decides, claims and numbers."""
    ranks = [figure for figure in run.paper.figures if isinstance(figure, RanksFigure)]
    ranks = [figure for figure in ranks if figure.advises] or ranks[:1]  # those that say which to take, or the first
    first = run.paper.finding.picture if run.paper.finding else next((figure.id for figure in ranks), None)
    shown = [figure for figure in run.paper.figures if figure.id == first and run.find_picture(figure.id).is_file()]
    git = run.provenance.get("git")
    page = render_template(
        "published.md.j2",
        notice=_NOTICE,
        run=run,
        revision=git["revision"][:7] if git else "unknown",
        target=_name_target(str(run.paper.number)),
        picture=next(iter(shown), None),
        caption=next((run.sum_up(figure) for figure in shown), ""),
        decisions=[_describe_decision(run, table) for table in run.paper.tables if isinstance(table, DecisionTable)],
        ranks=[_describe_ranks(run, figure) for figure in ranks],
        files=list(_link_files(run)),
        faults=privacy.list_faults(run.paper, run.privacy) if run.is_of_paper else [],
        attacks=privacy.list_attacks(run.paper, run.privacy, run.audit) if run.is_of_paper else [],
    )
    return f"{page}\n"


def describe_coverage(run: PaperRun) -> str:
    """Return the page that says of each passage of a paper what became of it.

    A claim of our own that a passage gave rise to is named as ours: its sign is not the passage's.
    """
    signs = {claim.id: SYMBOLS[claim.verdict.shown] for claim in run.claims}
    signs |= {str(row["id"]): SYMBOLS[Verdict(row["verdict"]).shown] for row in run.numbers.to_dict("records")}
    whats = {claim.id: "claim" for claim in run.claims} | dict.fromkeys(map(str, run.numbers["id"]), "number")
    notes = {claim.id: " (our own claim)" for claim in run.list_claims(Speaker.OURS)}
    passages = []
    for passage in run.paper.coverage:
        judged = ", ".join(
            f"{signs[name]} [{name}](evidence.md#{name_anchor(f'{whats[name]} {name}')}){notes.get(name, '')}"
            if name in signs
            else f"`{name}`"
            for name in passage.judged_by
        )
        passages.append((passage.at, passage.says, judged or f"not judged: {passage.why_not}"))
    n_judged = sum(bool(passage.judged_by) for passage in run.paper.coverage)
    page = render_template("coverage.md.j2", notice=_NOTICE, run=run, judged=n_judged, passages=passages)
    return f"{page}\n"


def describe_evidence(run: PaperRun) -> str:
    """Return the page that leads from each claim and printed number to words, settings, code, and a command."""
    rows = [row for plot in run.dot_plots for row in plot.rows] + run.fact_rows
    return render_template("evidence.md.j2", notice=_NOTICE, run=run, rows=rows)


_MEANINGS: dict[AnySign, str] = {
    Sign.HOLDS: "hold",
    FinerSign.WITHIN: "differ by less than δ, the smallest difference that matters",
    FinerSign.IN_PART: "hold in some settings and differ by less than δ in the others",
    Sign.DEPENDS: "depend on how the text is read, or on how many runs a printed number is a mean of",
    Sign.FAILS: "fail",
    Sign.OPEN: "are open",
    AccountSign.UNAUDITED: "have their own account alone, not audited",
}
"""What the signs below the table of papers say, in that order."""


def _render_verdicts(runs: Sequence[PaperRun], to_folder: str, to_verdicts: str) -> str:
    """Return what came out of each paper, in a row that is read in ten seconds, and the picture of printed numbers."""
    papers = [run for run in runs if run.is_of_paper]
    counted = {sign for run in papers for answer in run.answers for sign in answer.counts}
    return render_template(
        "verdicts.md.j2",
        runs=papers,
        picture=describe_picture(papers),
        signs=[sign for sign in SIGNS if sign in counted],
        meanings=_MEANINGS,
        to_folder=to_folder,
        to_verdicts=to_verdicts,
    )


def _describe_decision(run: PaperRun, exhibit: DecisionTable) -> tuple[str, list[list[str]]]:
    """Return which method to take in each situation; by how much it leads is in the table's file."""
    shown = view(run.paper, exhibit).describe(run.read_frame(exhibit))
    drawn = {figure.id for figure in run.paper.figures}
    body = []
    for situation, (answer, evidence) in shown["rows"]:
        text = evidence["ours"] if answer["ours"] == NO_METHOD else evidence["ours"].partition("; ")[0]
        name = evidence["link"]
        link = _link_file(f"figures/{name}.svg" if name in drawn else f"tables/{name}.csv") if name else ""
        body.append([situation, answer["ours"], f"{text} {link}".rstrip()])
    return shown["explanation"], body


def _describe_ranks(run: PaperRun, exhibit: RanksFigure) -> tuple[str, list[str], list[list[str]]]:
    """Return mean ranks, and how sure it is that the first is better on further data sets."""
    shown = view(run.paper, exhibit).describe(run.read_frame(exhibit))
    return exhibit.title, shown["heads"][:3], [row[:3] for row in shown["standings"]]


def _link_files(run: PaperRun) -> Iterator[tuple[str, list[str]]]:
    """Yield links to what the folder holds, by what it is."""
    parts = {
        "Tables": [f"tables/{exhibit.id}.csv" for exhibit in run.paper.tables],
        "Figures": [f"figures/{exhibit.id}.svg" for exhibit in run.paper.figures],
        "Readings": [f"figures/readings-{question.id}.svg" for question, _ in run.list_rankings()],
        "Claims under every reading": [f"figures/curve-{claim.id}.svg" for claim, _ in run.list_curves()],
        "Files": [pattern for pattern in KEPT if "*" not in pattern],
    }
    for what, paths in parts.items():
        if links := [_link_file(path) for path in paths if (run.folder / path).is_file()]:
            yield what, links


def _link_file(path: str) -> str:
    """Return a link to a file, named without folder and, of tables and figures, without its ending.

    >>> _link_file("tables/table-1.csv"), _link_file("numbers.csv")
    ('[table-1](tables/table-1.csv)', '[numbers.csv](numbers.csv)')
    """
    folder, _, name = path.rpartition("/")
    return f"[{name.rpartition('.')[0] if folder else name}]({path})"
