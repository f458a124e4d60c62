"""The report on all papers: ``results/report``, a front page, a page of all claims and a page for each paper.

A paper without a run in the folder of results is shown as it was published in ``results/reference``, and named as not
run if it was not. The newest sweeps are copied into it. The report needs no file outside: it can be moved and zipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from algorithms.whole_files import replace_folder, write_text
from experiments.catalogue.sources import format_software_bibtex
from experiments.config.finding import AnySign
from experiments.config.paper import Speaker
from experiments.config.papers import read_paper
from experiments.config.paths import BENCHMARKS, find_own_file, find_reference, name_paper_command
from experiments.judge.paper_answer import Answer
from experiments.judge.verdict import Verdict
from plots.audits import name_source
from plots.pages import html
from plots.pages.html import read_svg
from plots.pages.paper_results import describe_unrun, render_page
from plots.pages.reference_pages import read_published
from plots.rows import give_reason, make_row
from plots.runs.paper_run import PaperRun
from plots.runs.run_folder import KEPT, copy_files
from plots.sweeps.sweep_folder import FILES, list_sweeps

_MOST_SWEEPS = 15  # sweeps that are listed, the newest
# The head of each answer's column, and the section of a paper's page that has more of it.
_COLUMNS = (("its numbers", "numbers"), ("its claims", "claims"), ("private as claimed?", "privacy"))
_WHOSE = {Speaker.PAPER: "the paper's", Speaker.READING: "another reading", Speaker.OURS: "our own"}


@dataclass(frozen=True)
class PaperEntry:
    """A paper as the report has it: its run on this machine, else the published one, else what its file says."""

    name: str  #: of its file in ``conf/paper``
    run: PaperRun
    source: str  #: whose run it is, and of when; empty of a paper that nobody ran

    @classmethod
    def find(cls, name: str, results: Path) -> PaperEntry:
        """Look for a paper's run among the results, then among the published ones."""
        written = read_paper(name)
        published = PaperRun.read if find_own_file(name) else read_published
        places = (
            (results, PaperRun.read, "This machine's run"),
            (find_reference(name), published, "The published run"),
        )
        for parent, read, whose in places:
            folder = parent / f"paper-{name}"
            # the folder is made when a run starts, this file when it ends
            if (folder / "claims.json").is_file():
                run = read(folder)
                return cls(name, run, _describe_source(whose, run.provenance))
        return cls(name, describe_unrun(written), "")

    @property
    def href(self) -> str:
        """Where its page is; nothing if it has none."""
        return f"paper-{self.name}.html" if self.source else ""

    @property
    def title(self) -> str:
        """How it is called in a word."""
        return f"Paper {self.run.paper.number}" if self.run.is_of_paper else str(self.run.paper.number).capitalize()

    @property
    def answers(self) -> list[Answer]:
        """The three answers."""
        return self.run.answers if self.source else [Answer("", "not run", {})] * len(_COLUMNS)

    @property
    def notes(self) -> list[str]:
        """What no reader may miss: whose run it is, how complete, and what stands in for what."""
        unrun = f"INCOMPLETE: not run; {name_paper_command('run', self.name)} runs it."
        return [*([self.source, self.run.completeness] if self.source else [unrun]), *self.run.substitutes]


def build_report(results: Path, names: Sequence[str]) -> Path:
    """Write the report on some papers and return its first page.

    ``results`` is the folder of this machine's runs; the report takes the place of an earlier one in
    ``results/report``. ``names`` are the papers, in order. A BadInput is raised if there is no such paper, or a run
    lacks a file.
    """
    entries, sweeps = [PaperEntry.find(name, results) for name in names], list_sweeps(results)
    run_ones = [entry for entry in entries if entry.source]
    titles = {"index.html": "All papers", "claims.html": "All claims"} | {one.href: one.title for one in run_ones}

    def list_links(here: str) -> list[dict]:
        return [{"href": href, "text": text, "is_here": href == here} for href, text in titles.items()]

    pages = {"index.html": _render_front_page(entries, list_links("index.html"), sweeps)}
    pages["claims.html"] = _render_claims_page(entries, list_links("claims.html"))
    for entry in run_ones:
        base = f"paper-{entry.name}/"
        pages[entry.href] = render_page(entry.run, entry.source, base, list_links(entry.href))
    with replace_folder(results / "report") as folder:
        for entry in run_ones:
            copy_files(entry.run.folder, folder / f"paper-{entry.name}", (*KEPT, "figures/*.png", "figures/*.pdf"))
        for swept, _ in sweeps[:_MOST_SWEEPS]:
            copy_files(swept, folder / "sweeps" / swept.name, FILES)
        for name, text in pages.items():
            write_text(folder / name, text)
    return results / "report" / "index.html"


def _render_front_page(
    entries: Sequence[PaperEntry], links: list[dict], sweeps: Sequence[tuple[Path, Mapping[str, Any]]]
) -> str:
    """Return three answers and a sentence for each paper, which private method to take, and the newest sweeps."""
    benchmarks = [entry for entry in entries if entry.name in BENCHMARKS]
    return html.render_template(
        "index.html.j2",
        links=links,
        citations=[format_software_bibtex()],
        columns=_COLUMNS,
        papers=[entry for entry in entries if entry not in benchmarks],
        benchmarks=benchmarks,
        sweeps=sweeps[:_MOST_SWEEPS],
        n_more_sweeps=max(len(sweeps) - _MOST_SWEEPS, 0),
        advice=next(filter(None, map(_find_advice, benchmarks)), None),
    )


def _find_advice(entry: PaperEntry) -> dict[str, str] | None:
    """Return which method to take, in a line, with the picture that says so; None of a run that has no such figure."""
    figures = [exhibit for exhibit in entry.run.paper.figures if getattr(exhibit, "advises", False)]
    if not entry.source or not figures:
        return None
    name, line = figures[0].id, entry.run.advice[0].partition(";")[0]
    return {"line": line, "svg": read_svg(entry.run.find_picture(name), name), "title": figures[0].title}


def _render_claims_page(entries: Sequence[PaperEntry], links: list[dict]) -> str:
    """Return the page of all claims and all printed numbers, to be searched and filtered."""
    claims = [row for entry in entries for row in _list_claims(entry)]
    numbers = [row for entry in entries for row in _list_numbers(entry)]
    return html.render_template(
        "claims.html.j2",
        links=links,
        papers=list(dict.fromkeys(row["paper"] for row in (*claims, *numbers))),
        whose=list(_WHOSE.values()),
        verdicts=_group_verdicts({row["verdict"] for row in (*claims, *numbers)}),
        claims=claims,
        numbers=numbers,
    )


def _group_verdicts(given: set[str]) -> dict[AnySign, list[str]]:
    """Return the finer verdicts that were given, under the sign that each has.

    >>> groups = _group_verdicts({"undecided", "reproduced", "not run"})
    >>> {sign.value: verdicts for sign, verdicts in groups.items()}
    {'holds': ['reproduced'], 'open': ['undecided', 'not run']}
    """
    groups: dict[AnySign, list[str]] = {}
    for verdict in Verdict:
        if verdict in given:
            groups.setdefault(verdict.shown, []).append(verdict.value)
    return groups


def _list_claims(entry: PaperEntry) -> Iterator[dict[str, Any]]:
    """Yield the claims of a paper; a reading stands with the text that it is a reading of."""
    paper = entry.run.paper
    known = paper.claims_by_id
    for record in entry.run.claims:
        claim = known[record.id]
        row = {**_locate(entry, f"claim-{claim.id}", record.verdict), "reason": give_reason(claim, record)}
        row |= {"whose": _WHOSE[paper.speaker_of(claim)], "text": record.text}
        yield row | {"reads": "" if claim.reading_of is None else known[paper.text_of(claim)].text}


def _list_numbers(entry: PaperEntry) -> Iterator[dict[str, Any]]:
    for record in entry.run.numbers.to_dict("records"):
        row = make_row(entry.run.paper, record)
        yield {**vars(row), **_locate(entry, f"number-{row.id}", row.verdict), "whose": _WHOSE[Speaker.PAPER]}


def _locate(entry: PaperEntry, anchor: str, verdict: str) -> dict[str, Any]:
    href = f"{entry.href}#{anchor}" if entry.href else ""
    return {"paper": entry.run.short_heading, "href": href, "sign": Verdict(verdict).shown, "verdict": verdict}


def _describe_source(whose: str, provenance: Mapping[str, Any]) -> str:
    git = provenance.get("git")
    return name_source(whose, provenance) + (" with uncommitted changes." if git and git["dirty"] else ".")
