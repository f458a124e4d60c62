"""``docs/results.md``: what we learned, in prose whose numbers and signs are those of the published runs.

Its template, ``templates/results.md.j2``, names a claim or a printed number wherever it speaks of a size:
``{{ size(2, "adult-10-0.05") }}``. Where it takes a verdict for granted it says so, ``{{ expect(4, "leaf-robot",
"depends") }}``, which leaves nothing on the page; a run that comes to another verdict is a drift, and ``make pages``
fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from datasets.catalogue import read_entry
from experiments.config.finding import FinerSign, Sign
from experiments.errors import BadInput, suggest_name
from experiments.judge.claim_answer import ClaimAnswer
from experiments.judge.verdict import Verdict
from experiments.run.copies import WORTH_SAYING
from plots.answers import count_inside, format_claim_size, format_number_size
from plots.labels import format_number
from plots.pages.html import render_template
from plots.runs.paper_run import PaperRun
from plots.runs.run_folder import read_csv

TEMPLATE = "results.md.j2"


class NotPublished(BadInput):
    """The template asks for a paper of which no run is published."""


class Lessons:
    """What the template may ask of the published runs; what does not fit is noted as it is asked."""

    def __init__(self, runs: Sequence[PaperRun]) -> None:
        self.drifts: list[str] = []
        self._runs = {str(run.paper.number): run for run in runs}
        self._claims = {name: {claim.id: claim for claim in run.claims} for name, run in self._runs.items()}
        self._numbers = {name: _index_rows(run.numbers) for name, run in self._runs.items()}

    def promise(self, paper: int) -> str:
        """Return what a paper promises, as its own page has it."""
        return self._find_run(paper).paper.promise

    def size(self, paper: int, name: str) -> str:
        """Return the size of the effect of a claim, or of the difference of a printed number, without its sign."""
        found = self._find(paper, name)
        return format_claim_size(found) if isinstance(found, ClaimAnswer) else format_number_size(found)

    def ours(self, paper: int, name: str) -> str:
        """Return our mean beside a printed number."""
        return self._format_column(paper, name, "mean")

    def printed(self, paper: int, name: str) -> str:
        """Return a printed number."""
        return self._format_column(paper, name, "printed")

    def count(self, paper: int, name: str, outcome: str) -> int:
        """Return in how many settings a claim came out so: ``as claimed``, ``equal``, ``opposite`` or ``open``."""
        found = self._find(paper, name)
        assert isinstance(found, ClaimAnswer), f"{name} is a printed number"
        return found.counts[outcome]

    def inside(self, paper: int) -> str:
        """Return how many printed numbers lie inside of our intervals, such as "65 of 68"."""
        return count_inside(self._find_run(paper).numbers)

    def caption(self, paper: int, figure: str) -> str:
        """Return what a figure of a paper shows, in a sentence with its numbers."""
        run = self._find_run(paper)
        exhibits = {exhibit.id: exhibit for exhibit in run.paper.figures}
        if figure not in exhibits:
            raise BadInput(f"{TEMPLATE}: paper {paper} has no figure {figure!r}; {suggest_name(figure, exhibits)}")
        return run.sum_up(exhibits[figure])

    def holding(self, paper: int, what: str) -> str:
        """Return how many printed ``numbers`` or ``claims`` of a paper hold, "2 of 30", and what is near that."""
        numbers, claims, _ = self._find_run(paper).answers
        counts = {"numbers": numbers, "claims": claims}[what].counts
        near = [f"{counts[sign]} {sign.describe(counts[sign])}" for sign in FinerSign if sign in counts]
        note = f" ({', '.join(near)})" if near else ""
        return f"{counts.get(Sign.HOLDS, 0)} of {sum(counts.values())}{note}"

    def copies(self) -> str:
        """Return of which data sets test rows also stand among the training rows, the largest shares first."""
        shares: dict[str, float] = {}
        for run in self._runs.values():
            if (path := run.folder / "copies.csv").is_file():
                for row in read_csv(path).to_dict("records"):
                    name = read_entry(row["dataset"]).title  # two papers may mean two sets by one name
                    shares[name] = max(shares.get(name, 0.0), row["copies"])
        known = sorted((item for item in shares.items() if item[1] >= WORTH_SAYING), key=lambda item: -item[1])
        return ", ".join(f"{100 * share:.0f} % of {name}" for name, share in known)

    def bounds_from_rows(self) -> str:
        """Return of which data sets of the papers the bounds of how many columns were read off the rows."""
        papers = [run.paper for run in self._runs.values() if run.is_of_paper]
        used = {name for paper in papers for study in paper.studies.values() for name in study.dataset}
        entries = sorted(map(read_entry, used), key=lambda entry: entry.title.lower())
        followed = {entry.title: len(entry.domain.bounds_from_rows) for entry in entries}
        return ", ".join(f"{title} {n}" for title, n in followed.items() if n)

    def expect(self, paper: int, name: str, sign: str) -> str:
        """Note a drift unless a claim or a printed number has a sign; it leaves nothing on the page."""
        found = self._find(paper, name)
        came_out = found.verdict.sign if isinstance(found, ClaimAnswer) else Verdict(found["verdict"]).sign
        if came_out != Sign(sign):
            said = f"docs/results.md takes for granted that {name} of paper {paper} {sign}"
            self.drifts.append(f"{said}; in its published run it {came_out.value}")
        return ""

    def _format_column(self, paper: int, name: str, column: str) -> str:
        row = self._find(paper, name)
        assert not isinstance(row, ClaimAnswer), f"{name} is a claim"
        return format_number(row["metric"], row[column], int(row["decimals"]))

    def _find_run(self, paper: int) -> PaperRun:
        if str(paper) not in self._runs:
            raise NotPublished(f"{TEMPLATE}: no run of paper {paper} is published")
        return self._runs[str(paper)]

    def _find(self, paper: int, name: str) -> ClaimAnswer | Mapping[str, Any]:
        self._find_run(paper)
        known: dict[str, Any] = {**self._numbers[str(paper)], **self._claims[str(paper)]}
        if name not in known:
            raise BadInput(
                f"{TEMPLATE}: paper {paper} has no claim or printed number {name!r}; {suggest_name(name, known)}"
            )
        return known[name]


def _index_rows(numbers: pd.DataFrame) -> dict[str, Mapping[str, Any]]:
    return {str(row["id"]): row for row in numbers.to_dict("records")}


def render_lessons(runs: Sequence[PaperRun], notice: str) -> tuple[str, list[str]]:
    """Return the page, and what it takes for granted that the published runs do not bear out.

    `NotPublished` if it asks for a paper that is not among the runs.
    """
    lessons = Lessons(runs)
    words = ("promise", "caption", "holding", "copies", "bounds_from_rows", "expect")
    asked = (*words, "size", "ours", "printed", "count", "inside")
    page = render_template(TEMPLATE, notice=notice, **{name: getattr(lessons, name) for name in asked})
    return f"{page}\n", lessons.drifts
