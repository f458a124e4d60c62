"""The report on all papers: ``results/report``, an index with every verdict and a page for each paper.

A paper without a run in the folder of results is shown as it was published in ``results/reference``, and named as not
run if it was not. The report needs no file outside: it can be moved and zipped.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.config.paper import Paper, Speaker
from experiments.config.papers import read_paper
from experiments.config.paths import REFERENCE
from experiments.judge.numbers.printed import read_numbers_of
from experiments.judge.numbers.verdicts import judge_numbers
from experiments.judge.verdict import NOT_RUN
from plots.labels import SIGNS
from plots.pages import glances, html, paper_page
from plots.pages.summary import summarise_run
from plots.run_folder import KEPT, PaperRun, copy_files, list_verdicts, name_target


@dataclass(frozen=True)
class PaperEntry:
    """A paper as the report has it.

    Parameters
    ----------
    name : str
        Of its file in ``conf/paper``.
    written : Paper
        What that file says.
    run : PaperRun or None
        What is shown of it.
    is_published : bool
        Whether that is the published run.
    """

    name: str
    written: Paper
    run: PaperRun | None
    is_published: bool

    @classmethod
    def find(cls, name: str, results: Path) -> PaperEntry:
        """Look for a paper's run among the results, then among the published ones."""
        written = read_paper(name)
        for parent in (results, REFERENCE):
            folder = parent / f"paper-{name}"
            # the folder is made when a run starts, this file when it ends
            if (folder / "claims.json").is_file():
                return cls(name, written, PaperRun.read(folder), parent == REFERENCE)
        return cls(name, written, None, False)

    @property
    def href(self) -> str:
        """Where its page is; nothing if it has none."""
        return f"paper-{self.name}.html" if self.run else ""

    @property
    def title(self) -> str:
        """How it is called in a word."""
        number = self.written.number
        return f"Paper {number}" if isinstance(number, int) else number.capitalize()

    @property
    def paper(self) -> Paper:
        """The paper, as it was run if it was."""
        return self.run.paper if self.run else self.written

    @cached_property
    def numbers(self) -> pd.DataFrame:
        """Verdicts on its printed numbers."""
        if self.run:
            return self.run.numbers
        numbers = judge_numbers(self.written, read_numbers_of(self.written), pd.DataFrame())
        return numbers.assign(verdict=NOT_RUN, reason="")

    @property
    def claims(self) -> list[dict]:
        """Verdicts on its claims."""
        if self.run:
            return self.run.claims
        not_run = {"verdict": NOT_RUN, "reason": ""}
        return [{"id": claim.id, "text": claim.text, **not_run} for claim in self.written.claims]

    @property
    def notes(self) -> list[str]:
        """Whose run it is, how complete, and what else must be said with the verdicts."""
        if not self.run:
            return [f"INCOMPLETE: not run; {name_target(self.name)} runs it."]
        return [self._describe_source(self.run), *self.run.write_notes()]

    def _describe_source(self, run: PaperRun) -> str:
        provenance = run.provenance
        words = ["The published run" if self.is_published else "This machine's run"]
        if provenance.get("written"):
            words.append(f"of {provenance['written'][:10]}")
        if git := provenance.get("git"):
            words.append(f"at revision {git['revision'][:7]}")
            words += ["with uncommitted changes"] if git["dirty"] else []
        return " ".join(words) + "."


def build_report(results: Path, names: Sequence[str]) -> Path:
    """Write the report on some papers and return its first page.

    Parameters
    ----------
    results : Path
        Folder of this machine's runs; the report takes the place of an earlier one in ``results/report``.
    names : sequence of str
        The papers, in order.

    Raises
    ------
    BadInput
        If there is no such paper, or a run lacks a file.
    """
    entries = [PaperEntry.find(name, results) for name in names]
    pages = {"index.html": _render_index(entries)}
    for entry in entries:
        if entry.run:
            pages[entry.href] = _render_entry(entry, entry.run, entries)
    folder = results / "report"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for entry in entries:
        if entry.run:
            copy_files(entry.run.folder, folder / f"paper-{entry.name}", (*KEPT, "figures/*.png"))
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "index.html"


def _render_entry(entry: PaperEntry, run: PaperRun, entries: Sequence[PaperEntry]) -> str:
    links = _list_links(entries, entry.href)
    return paper_page.render_page(run, entry.notes, base=f"paper-{entry.name}/", links=links)


def _render_index(entries: Sequence[PaperEntry]) -> str:
    claims, numbers = [], []
    for entry in entries:
        place = _locate(entry)
        for claim in entry.claims:
            claims.append({**place, **claim, "speaker": entry.paper.speaker_of(entry.paper.claims_by_id[claim["id"]])})
        for row in entry.numbers.to_dict("records"):
            numbers.append({**place, **paper_page.describe_number(entry.paper, row)})
    return html.render_template(
        "index.html.j2",
        links=_list_links(entries, "index.html"),
        verdicts=list(SIGNS),
        papers=list(map(_summarise, entries)),
        claims=claims,
        numbers=numbers,
    )


def _list_links(entries: Sequence[PaperEntry], here: str) -> list[dict]:
    pages = {"index.html": "All papers"}
    for entry in entries:
        if entry.run:
            pages[entry.href] = entry.title
    return [{"href": href, "text": text, "is_here": href == here} for href, text in pages.items()]


def _locate(entry: PaperEntry) -> dict[str, str]:
    return {"paper": entry.title, "href": entry.href}


def _summarise(entry: PaperEntry) -> dict[str, Any]:
    run = entry.run
    return {
        **_locate(entry),
        "heading": paper_page.make_heading(entry.paper),
        "citation": entry.paper.citation,
        "sentence": summarise_run(run) if run else "",
        "notes": entry.notes[:2] + (run.list_advice() if run else []),
        "glances": {
            "numbers": glances.glance_at_numbers(entry.paper, entry.numbers),
            "claims": glances.glance_at_claims(list_verdicts(entry.paper, entry.claims, Speaker.PAPER)),
            "our readings": glances.glance_at_claims(list_verdicts(entry.paper, entry.claims, Speaker.READING)),
            "our claims": glances.glance_at_claims(list_verdicts(entry.paper, entry.claims, Speaker.OURS)),
            "privacy": glances.glance_at_privacy(run),
            "best reading": glances.glance_at_readings(entry.paper, run),
        },
    }
