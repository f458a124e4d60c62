"""One run of a paper: all that its folder holds, without its cells, and all that is said of it.

Every page, the report and the summary on the terminal show this: what comes out is worded once, here and in what this
module takes its rows and answers from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self, TypeVar

import pandas as pd

from datasets.catalogue import UnknownDataset, read_entry
from experiments.audit.private_as_claimed import judge_privacy
from experiments.config.kinds.claims import Claim
from experiments.config.kinds.exhibits import PaperFigure, PaperTable
from experiments.config.paper import Paper, Speaker
from experiments.config.readings import ReadingQuestion
from experiments.config.substitutes import describe_substitutes
from experiments.errors import BadInput
from experiments.judge.claim_answer import ClaimAnswer
from experiments.judge.number_answers import count_expected_misses, find_outside
from experiments.judge.numbers.number_verdict import describe_runs, read_by_runs
from experiments.judge.paper_answer import Answer, sum_up_verdicts
from experiments.judge.readings.sentences import list_curve_notes, list_ranking_notes
from experiments.judge.verdict import Verdict
from experiments.judge.words import find_label
from experiments.questions.further_rows import describe_further_rows
from experiments.run.copies import describe_copies
from experiments.store.json_files import read_json
from plots.answers import explain_claims, explain_numbers, fill_finding, list_misfits
from plots.audits import read_bounds
from plots.exhibits.views import view
from plots.rows import ClaimRow, NumberRow, describe_facts, group_numbers, list_claim_plots, make_row, plot_numbers
from plots.runs.evidence import Traces, trace_verdicts
from plots.runs.run_folder import NEEDED, REMEDY, name_damage, read_csv, read_paper_as_run, read_readings
from plots.series import note_missing_cells
from plots.strips import StripPlot

_Asked = TypeVar("_Asked", ReadingQuestion, Claim)


@dataclass(frozen=True)
class PaperRun:
    """What was run of a paper, and what came out; tables are empty of what nobody ran or measured."""

    folder: Path
    paper: Paper  #: as it was run
    numbers: pd.DataFrame  #: verdicts on the printed numbers
    claims: list[ClaimAnswer]  #: verdicts on the claims
    coverage: tuple[int, int]  #: how many cells are answered, and how many the paper asks for
    privacy: list[dict]  #: as from `audit.private_as_claimed.sum_up_privacy`
    provenance: dict  #: where it comes from; empty if unknown
    readings: pd.DataFrame  #: how far each reading of the text is from what is printed
    curves: pd.DataFrame  #: what each reading says of each claim
    further_rows: pd.DataFrame  #: what splits crossed with draws of the noise say of each claim
    costs: pd.DataFrame  #: what fits take
    audit: pd.DataFrame  #: what was measured of the privacy of algorithms, as from `plots.audits.read_bounds`

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read a folder; raises a BadInput if a file is missing, or is not as it was written."""
        for name in NEEDED:
            if not (folder / name).is_file():
                raise BadInput(f"{folder / name} is missing; {REMEDY}")
        with name_damage(path := folder / "claims.json"):
            judged = read_json(path)
            claims = [ClaimAnswer.model_validate(claim) for claim in judged["claims"]]
            coverage = judged["cells"], judged["cells_expected"]
        with name_damage(path := folder / "privacy.json"):
            accounts = read_json(path)
            versions = {row["algorithm"]: row.get("versions", ()) for row in accounts}
        with name_damage(path := folder / "provenance.json"):
            provenance = read_json(path) if path.is_file() else {}
        paper = read_paper_as_run(folder / "paper.yaml")
        shown = [name for exhibit in (*paper.tables, *paper.figures) for name in exhibit.list_algorithms(paper)]
        if unknown := {claim.id for claim in claims} - paper.claims_by_id.keys():
            raise BadInput(f"{folder}: claims.json has the claim {min(unknown)!r}, and paper.yaml does not; {REMEDY}")
        return cls(
            folder,
            paper,
            _read_numbers(folder / "numbers.csv"),
            claims,
            coverage,
            accounts,
            provenance,
            read_readings(folder / "readings.csv", "question"),
            read_readings(folder / "curves.csv", "claim"),
            read_csv(folder / "further_rows.csv", "claim"),
            read_csv(folder / "costs.csv", "dataset"),
            read_bounds(folder.parent, dict.fromkeys(shown, ()) | versions),
        )

    @classmethod
    def of_verdicts(
        cls, paper: Paper, numbers: pd.DataFrame, claims: list[ClaimAnswer], coverage: tuple[int, int] = (0, 0)
    ) -> Self:
        """Return what is known where nothing but the verdicts is: no folder, no account, no readings."""
        unknown = [pd.DataFrame(columns=[name]) for name in ("question", "claim", "claim", "dataset")]
        unknown.append(pd.DataFrame(columns=["algorithm", "standing"]))
        return cls(Path(), paper, numbers, claims, coverage, [], {}, *unknown)

    def read_frame(self, exhibit: PaperTable | PaperFigure) -> pd.DataFrame:
        """Return the numbers of a table or of a figure."""
        return read_csv(self.find_file(exhibit))

    def sum_up(self, exhibit: PaperFigure) -> str:
        """Return what a figure shows, in a sentence with its numbers; nothing of a kind that has none."""
        with name_damage(self.find_file(exhibit)):
            return view(self.paper, exhibit).sum_up(self.read_frame(exhibit))

    def find_file(self, exhibit: PaperTable | PaperFigure) -> Path:
        """Return where the numbers of a table or of a figure lie."""
        return self.folder / ("tables" if isinstance(exhibit, PaperTable) else "figures") / f"{exhibit.id}.csv"

    def find_picture(self, name: str) -> Path:
        """Return where a figure lies."""
        return self.folder / "figures" / f"{name}.svg"

    @property
    def is_of_paper(self) -> bool:
        """Whether somebody published it; else it is a study of our own."""
        return isinstance(self.paper.number, int)

    @property
    def heading(self) -> str:
        """The title of the paper, with its number if it has one."""
        return f"Paper {self.paper.number}. {self.paper.title}" if self.is_of_paper else self.paper.title

    @property
    def short_heading(self) -> str:
        """Its number, if it has one, and its short title."""
        return f"{self.paper.number}. {self.paper.short_title}" if self.is_of_paper else self.paper.short_title

    @property
    def is_short(self) -> bool:
        """Whether it has fewer repeats than the paper's file asks for."""
        return self.paper.repeats < (self.paper.repeats_asked or 0)

    @property
    def is_partial(self) -> bool:
        """Whether it is short, or some of its cells are missing."""
        return self.is_short or self.coverage[0] < self.coverage[1]

    @property
    def measured(self) -> pd.DataFrame:
        """Verdicts on what the paper has measured."""
        return self.numbers[self.numbers["statistic"] != "exact"]

    @property
    def facts(self) -> pd.DataFrame:
        """Verdicts on what it says of its data sets."""
        return self.numbers[self.numbers["statistic"] == "exact"]

    def list_claims(self, speaker: Speaker) -> list[ClaimAnswer]:
        """Return what is answered of the claims of the paper, of our readings of them, or of our own."""
        whose = {claim.id: self.paper.speaker_of(claim) for claim in self.paper.claims}
        return [claim for claim in self.claims if whose[claim.id] == speaker]

    def list_verdicts(self, speaker: Speaker) -> list[str]:
        """Return the verdicts on these."""
        return [claim.verdict for claim in self.list_claims(speaker)]

    # What came out.

    @cached_property
    def answers(self) -> list[Answer]:
        """Whether its numbers come out, its claims hold and its algorithms are private, in the order of a page.

        Neither facts of data sets nor readings of claims nor our own claims are counted.
        """
        nothing = "it prints no legible value" if self.is_of_paper else "it prints none"
        why_numbers = explain_numbers(self.paper, self.measured)
        why_claims = explain_claims(self.paper, self.list_claims(Speaker.PAPER))
        return [
            sum_up_verdicts("Do its numbers come out?", list(self.measured["verdict"]), nothing, why_numbers),
            sum_up_verdicts("Do its claims hold?", self.list_verdicts(Speaker.PAPER), "it has none", why_claims),
            judge_privacy(self.paper, self.privacy, self.audit),
        ]

    @property
    def shown_answers(self) -> list[Answer]:
        """The three answers; of a study of ours those that it has."""
        return [answer for answer in self.answers if answer.counts or self.is_of_paper]

    @cached_property
    def finding(self) -> str:
        """The finding of the paper with the sizes of this run, which a partial run says; nothing if it has none."""
        if self.paper.finding is None:
            return ""
        if not self.coverage[0]:
            return "Nothing of it has been run yet."
        said = fill_finding(self.paper.finding, self.claims, self.numbers, self.is_partial)
        return f"So far, after a part of its runs: {said or 'nothing can be said.'}" if self.is_partial else said

    @cached_property
    def misfits(self) -> list[str]:
        """What the finding takes for granted and this run does not bear out, a text for each."""
        if self.paper.finding is None or not self.coverage[0]:
            return []
        *_, private = self.answers
        return list_misfits(self.paper.finding, self.claims, self.numbers, private.sign, self.is_partial)

    @property
    def outcome(self) -> str:
        """The finding, or that the sentence about it no longer fits; nothing if it has none."""
        misfits = "; ".join(self.misfits)
        return f"The sentence that was written about it no longer fits: {misfits}." if misfits else self.finding

    @cached_property
    def claim_plots(self) -> list[StripPlot[ClaimRow]]:
        """The claims of the paper by unit, with their readings."""
        return self._list_claim_plots(Speaker.PAPER)

    @cached_property
    def our_claim_plots(self) -> list[StripPlot[ClaimRow]]:
        """Our own claims by unit."""
        return self._list_claim_plots(Speaker.OURS)

    def _list_claim_plots(self, speaker: Speaker) -> list[StripPlot[ClaimRow]]:
        return list_claim_plots(self.paper, self.claims, self._new_rows, speaker)

    @cached_property
    def _new_rows(self) -> dict[str, str]:
        return {claim.id: self.describe_further_rows(claim.id) for claim in self.claims}

    def describe_further_rows(self, claim: str) -> str:
        """Return what crossed splits say of a claim on new rows; nothing if nobody asked."""
        with name_damage(self.folder / "further_rows.csv"):
            rows = self.further_rows[self.further_rows["claim"] == claim]
            return "" if rows.empty else describe_further_rows(rows)

    @cached_property
    def dot_plots(self) -> list[StripPlot[NumberRow]]:
        """The printed measurements by unit."""
        return plot_numbers(self.paper, self.measured)

    @property
    def number_groups(self) -> list[StripPlot[NumberRow]]:
        """The printed measurements by kind."""
        return group_numbers(self.dot_plots)

    @cached_property
    def fact_rows(self) -> list[NumberRow]:
        """The printed facts of data sets beside what was counted."""
        return [make_row(self.paper, row) for row in self.facts.to_dict("records")]

    @cached_property
    def traces(self) -> Traces:
        """What its verdicts rest on: code, lines of files, and commands that run what decides again."""
        return trace_verdicts(self.paper, self.claims, self.numbers)

    # What must be said with it.

    @property
    def notes(self) -> list[str]:
        """What must be said with the verdicts: how complete the run is, and what chance alone would do."""
        return [self.completeness, *self.notes_on_data, *self.notes_on_chance, *self.advice]

    @property
    def completeness(self) -> str:
        """How complete the run is."""
        n, expected = self.coverage
        if self.is_short:
            repeats = f"{self.paper.repeats} of {self.paper.repeats_asked} repeats of every setting"
            return f"INCOMPLETE: {repeats}, {n} of {expected} of their cells."
        return note_missing_cells(n, expected) or f"Complete: all {expected} cells."

    @property
    def substitutes(self) -> list[str]:
        """Which data sets stand in for others."""
        return describe_substitutes(self.paper.labels, self.paper.used_instead)

    @property
    def names_of_data(self) -> str:
        """What the list of data sets calls those that have another name here: two papers may mean two by one name."""
        used = sorted({name for study in self.paper.studies.values() for name in study.dataset})
        named = []
        for name in used:
            with suppress(UnknownDataset):  # one that is no longer there
                here, title = find_label(name, self.paper.labels), read_entry(name).title
                named += [f"{here} is {title} ({name})"] if here.casefold() != title.casefold() else []
        return f"In the list of data sets {'; '.join(named)}." if named else ""

    @property
    def copies(self) -> str:
        """How many test rows are copies of training rows; nothing if nobody counted, or few."""
        path = self.folder / "copies.csv"
        with name_damage(path):
            return describe_copies(read_csv(path), self.paper.labels) if path.is_file() else ""

    @property
    def notes_on_data(self) -> list[str]:
        """What must be said of the data sets."""
        return [*self.substitutes, *filter(None, [self.copies])]

    @property
    def notes_on_chance(self) -> list[str]:
        """How many printed numbers chance alone would miss, and of how many runs they are taken to be means."""
        by_chance = count_expected_misses(self.numbers)
        if not by_chance:
            return []
        n_missed = int(find_outside(self.measured).sum())
        lying = "number lies" if n_missed < 2 else "numbers lie"
        missed = f"{n_missed or 'No'} printed {lying} outside of our intervals"
        notes = [f"{missed}; by chance alone at most about {by_chance:.1f} would, if all could be reproduced."]
        by_runs = self._count_by_runs()
        if len(by_runs) > 1:
            answers = []
            for m, found in by_runs.items():
                counts = ", ".join(f"{found[verdict]} {verdict}" for verdict in Verdict if verdict in found)
                answers.append(f"Taken for {describe_runs(m)}: {counts}.")
            notes.append(" ".join(["The text leaves open over how many runs a printed number is a mean.", *answers]))
        return notes

    def _count_by_runs(self) -> dict[int, Counter[str]]:
        """Return how many printed numbers have which verdict, by number of runs that they may be means of."""
        by_runs: dict[int, Counter[str]] = {}
        for text in self.measured["verdicts_by_runs"]:
            for m, verdict in read_by_runs(text).items():
                by_runs.setdefault(m, Counter())[verdict] += 1
        return dict(sorted(by_runs.items()))

    @cached_property
    def advice(self) -> list[str]:
        """Which algorithm to take, of each figure that says so."""
        advising = [exhibit for exhibit in self.paper.figures if getattr(exhibit, "advises", False)]
        return [view(self.paper, exhibit).advise(self.read_frame(exhibit)) for exhibit in advising]

    @property
    def note_on_facts(self) -> str:
        """How many printed facts of data sets agree with what was counted; nothing of a paper that prints none."""
        return describe_facts(self.paper, self.facts)

    # Readings of its text.

    def list_rankings(self) -> list[tuple[ReadingQuestion, pd.DataFrame]]:
        """Return the questions about the text that somebody ran, each with the rows of its readings."""
        return _pair_with_rows(self.paper.readings, self.readings, "question")

    def list_curves(self) -> list[tuple[Claim, pd.DataFrame]]:
        """Return the claims that somebody judged under every reading, each with the rows of its readings."""
        return _pair_with_rows(self.paper.claims, self.curves, "claim")

    @property
    def notes_on_running(self) -> list[str]:
        """How its readings were run, by question and claim, which is no finding: what was dropped early."""
        notes = [(asked.id, list_ranking_notes(rows)) for asked, rows in self.list_rankings()]
        notes += [(asked.id, list_curve_notes(rows)) for asked, rows in self.list_curves()]
        return [f"{name}: {note}." for name, told in notes for note in told]


def _read_numbers(path: Path) -> pd.DataFrame:
    """Read the verdicts on printed numbers; each row has one."""
    numbers = read_csv(path)
    with name_damage(path):
        for _, verdict in numbers[["statistic", "verdict"]].itertuples(index=False):
            Verdict(verdict)
    return numbers


def _pair_with_rows(asked: Iterable[_Asked], rows: pd.DataFrame, column: str) -> list[tuple[_Asked, pd.DataFrame]]:
    pairs = [(one, rows[rows[column] == one.id]) for one in asked]
    return [(one, found) for one, found in pairs if len(found)]
