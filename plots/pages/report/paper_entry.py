"""A paper as the report has it: its run on this machine, else the published one, else what its file says."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from experiments.config.paper import Paper
from experiments.config.papers import read_paper
from experiments.config.paths import REFERENCE
from experiments.config.substitutes import describe_substitutes
from experiments.judge.number_answers import judge_numbers
from experiments.judge.verdict import NOT_RUN
from experiments.questions.paper_questions import resolve_numbers
from experiments.store.results import Results
from plots.runs.published_run import read_published
from plots.runs.run_folder import PaperRun, name_target


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
        for parent, read in ((results, PaperRun.read), (REFERENCE, read_published)):
            folder = parent / f"paper-{name}"
            # the folder is made when a run starts, this file when it ends
            if (folder / "claims.json").is_file():
                return cls(name, written, read(folder), parent == REFERENCE)
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
    def heading(self) -> str:
        """Its number and its short title."""
        paper = self.paper
        return f"{paper.number}. {paper.short_title}" if isinstance(paper.number, int) else paper.short_title

    @property
    def paper(self) -> Paper:
        """The paper, as it was run if it was."""
        return self.run.paper if self.run else self.written

    @cached_property
    def numbers(self) -> pd.DataFrame:
        """Verdicts on its printed numbers."""
        if self.run:
            return self.run.numbers
        numbers = judge_numbers(resolve_numbers(self.written), Results(pd.DataFrame()))
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

    @property
    def short_notes(self) -> list[str]:
        """Those of the notes that no reader may miss: whose run, how complete, and what stands in for what."""
        return [*self.notes[:2], *describe_substitutes(self.paper.labels, self.paper.used_instead)]

    def _describe_source(self, run: PaperRun) -> str:
        provenance = run.provenance
        words = ["The published run" if self.is_published else "This machine's run"]
        if provenance.get("written"):
            words.append(f"of {provenance['written'][:10]}")
        if git := provenance.get("git"):
            words.append(f"at revision {git['revision'][:7]}")
            words += ["with uncommitted changes"] if git["dirty"] else []
        return " ".join(words) + "."
