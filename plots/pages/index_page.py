"""The report on all papers: ``results/report``, an index with every verdict and a page for each paper.

``do=report`` writes it. A paper without a run in that folder is shown as it was published in
``results/reference``, and named as not run if it was not. The report needs no file outside: it can be moved and zipped.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
import yaml

from experiments.config.paths import CONF
from experiments.errors import BadInput, suggestion
from experiments.judge.numbers import judge_numbers
from experiments.judge.verdict import NOT_RUN
from plots.labels import SIGNS
from plots.pages import audit_bounds, html, paper_page, privacy
from plots.pages.audit_bounds import REFERENCE
from plots.paper_results import reported
from plots.run_folder import KEPT, Run, copy, target_of


@dataclass(frozen=True)
class Entry:
    """A paper as the report has it.

    Parameters
    ----------
    name : str
        Of its file in ``conf/paper``.
    asked : dict
        What that file says.
    run : Run or None
        What is shown of it.
    is_published : bool
        Whether that is the published run.
    """

    name: str
    asked: dict
    run: Run | None
    is_published: bool

    @classmethod
    def of(cls, name: str, results: Path) -> Entry:
        """Look for a paper's run among the results, then among the published ones."""
        files = {path.stem: path for path in (CONF / "paper").glob("*.yaml")}
        if name not in files:
            raise BadInput(f"unknown paper {name!r}; {suggestion(name, files)}")
        asked = yaml.safe_load(files[name].read_text(encoding="utf-8"))
        for parent in (results, REFERENCE):
            # the folder is made when a run starts, this file when it ends
            if (parent / f"paper-{name}" / "claims.json").is_file():
                return cls(name, asked, Run.read(parent / f"paper-{name}"), parent == REFERENCE)
        return cls(name, asked, None, False)

    @property
    def href(self) -> str:
        """Where its page is; nothing if it has none."""
        return f"paper-{self.name}.html" if self.run else ""

    @property
    def title(self) -> str:
        """How it is called in a word."""
        number = self.asked["number"]
        return f"Paper {number}" if isinstance(number, int) else str(number).capitalize()

    @property
    def paper(self) -> dict:
        """Its description, as it was run if it was."""
        return self.run.paper if self.run else self.asked

    @cached_property
    def numbers(self) -> pd.DataFrame:
        """Verdicts on its printed numbers."""
        if self.run:
            return self.run.numbers
        return judge_numbers(self.asked, reported(self.asked), pd.DataFrame()).assign(verdict=NOT_RUN, reason="")

    @property
    def claims(self) -> list[dict]:
        """Verdicts on its claims."""
        if self.run:
            return self.run.claims
        return [{**claim, "verdict": NOT_RUN, "reason": ""} for claim in self.asked.get("claims") or ()]

    @property
    def notes(self) -> list[str]:
        """Whose run it is, how complete, and what else must be said with the verdicts."""
        if not self.run:
            return [f"INCOMPLETE: not run; {target_of(self.name)} runs it."]
        return [self._source(), *self.run.notes()]

    def _source(self) -> str:
        known = self.run.provenance
        words = ["The published run" if self.is_published else "This machine's run"]
        words += [f"of {known['written'][:10]}"] if known.get("written") else []
        if git := known.get("git"):
            words.append(f"at revision {git['revision'][:7]}" + (" with uncommitted changes" if git["dirty"] else ""))
        return " ".join(words) + "."


def build(results: Path, names: list[str]) -> Path:
    """Write the report on some papers and return its first page.

    Parameters
    ----------
    results : Path
        Folder of this machine's runs; the report takes the place of an earlier one in ``results/report``.
    names : list of str
        The papers, in order.

    Raises
    ------
    BadInput
        If there is no such paper, or a run lacks a file.
    """
    entries = [Entry.of(name, results) for name in names]
    shown = [entry for entry in entries if entry.run]
    pages = {"index.html": _index(entries)} | {entry.href: _page(entry, entries) for entry in shown}
    folder = results / "report"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for entry in shown:
        copy(entry.run.folder, folder / f"paper-{entry.name}", (*KEPT, "figures/*.png"))
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "index.html"


def _page(entry: Entry, entries: list[Entry]) -> str:
    return paper_page.render(entry.run, entry.notes, base=f"paper-{entry.name}/", links=_links(entries, entry.href))


def _index(entries: list[Entry]) -> str:
    return html.render(
        "index.html.j2",
        links=_links(entries, "index.html"),
        verdicts=list(SIGNS),
        papers=[_summary(entry) for entry in entries],
        claims=[_of(entry) | claim for entry in entries for claim in entry.claims],
        numbers=[
            _of(entry) | paper_page.number(entry.paper, row)
            for entry in entries
            for row in entry.numbers.to_dict("records")
        ],
    )


def _links(entries: list[Entry], here: str) -> list[dict]:
    pages = {"index.html": "All papers"} | {entry.href: entry.title for entry in entries if entry.run}
    return [{"href": href, "text": text, "is_here": href == here} for href, text in pages.items()]


def _of(entry: Entry) -> dict[str, str]:
    return {"paper": entry.title, "href": entry.href}


def _summary(entry: Entry) -> dict:
    return _of(entry) | {
        "heading": paper_page.heading(entry.paper),
        "citation": entry.paper.get("citation", ""),
        "notes": entry.notes[:2] + (entry.run.advice() if entry.run else []),
        "counts": paper_page.counts(entry.asked, entry.numbers, entry.claims),
        "measured": audit_bounds.tally(entry.run.audit, entry.run.privacy) if entry.run else "",
        "sound": privacy.tally(entry.run.privacy) if entry.run else "",
    }
