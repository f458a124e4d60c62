"""One run of a paper as its folder holds it: all that a page is made of, without its cells.

The folder has ``paper.yaml`` (the description as it was run), ``numbers.csv``, ``claims.json``, ``privacy.json``,
``tables/*.csv``, ``figures/*.csv|.svg``, and, where somebody wrote them, ``provenance.json``, ``readings.csv``,
``curves.csv``, ``further_rows.csv`` and ``costs.csv``. ``copies.csv`` has the share of test rows that stand in the
training rows, by data set and split.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from algorithms.installation import IS_CHECKOUT, name_command
from documents import search_path
from documents.document import parse_yaml
from experiments.config.paper import Claim, Paper, PaperFigure, PaperTable, Speaker, parse_paper
from experiments.config.paths import CONF
from experiments.config.readings import Question
from experiments.config.substitutes import describe_substitutes
from experiments.errors import BadInput
from experiments.judge.number_answers import count_expected_misses
from experiments.judge.readings.sentences import list_curve_notes, list_ranking_notes
from experiments.judge.verdict import REFUTED, REPRODUCED_WITHIN
from experiments.questions.further_rows import agrees_with_verdict, describe_further_rows
from experiments.run.copies import describe_copies
from plots import audit_bounds
from plots.labels import OF_NUMBERS
from plots.series import note_missing_cells

_TEXTS = (
    *("id", "table", "dataset", "verdict", "verdict_one_run", "reason", "source", "note"),
    *("lowest_setting", "highest_setting", "excluded", "members", "kinds"),
    *("part", "weakest_group", "setting", "reading", "halves", "unit"),
)
_OUTSIDE = (REFUTED, REPRODUCED_WITHIN)
"""Of printed numbers: they lie outside of our intervals."""
_NEEDED = ("paper.yaml", "numbers.csv", "claims.json", "privacy.json")

KEPT = (
    *(*_NEEDED, "copies.csv", "provenance.json", "readings.csv", "curves.csv", "further_rows.csv", "costs.csv"),
    *("tables/*", "figures/*.csv", "figures/*.svg"),
)
"""What of a run is small and shows all of it."""


@dataclass(frozen=True)
class PaperRun:
    """What was run of a paper, and what came out.

    Parameters
    ----------
    folder : Path
        Where it lies.
    paper : Paper
        The paper as it was run.
    numbers : DataFrame
        Verdicts on the printed numbers.
    claims : list of dict
        Verdicts on the claims.
    coverage : tuple of int
        How many cells are answered, and how many the paper asks for.
    privacy : list of dict
        As from `plots.privacy.sum_up_privacy`.
    provenance : dict
        Where it comes from; empty if unknown.
    readings : DataFrame
        How far each reading of the text is from what is printed; empty if nobody ran the readings.
    curves : DataFrame
        What each reading says of each claim; empty if nobody ran the readings.
    further_rows : DataFrame
        What splits crossed with draws of the noise say of each claim; empty if nobody crossed them.
    costs : DataFrame
        What fits take; empty if nobody measured it.
    audit : DataFrame
        What was measured of the privacy of algorithms, as from `plots.audit_bounds.read_bounds`.
    """

    folder: Path
    paper: Paper
    numbers: pd.DataFrame
    claims: list[dict]
    coverage: tuple[int, int]
    privacy: list[dict]
    provenance: dict
    readings: pd.DataFrame
    curves: pd.DataFrame
    further_rows: pd.DataFrame
    costs: pd.DataFrame
    audit: pd.DataFrame

    @classmethod
    def read(cls, folder: Path) -> PaperRun:
        """Read a folder.

        Raises
        ------
        BadInput
            If a file is missing.
        """
        for name in _NEEDED:
            if not (folder / name).is_file():
                raise BadInput(f"{folder / name} is missing; running the paper again writes it (its cells are kept)")
        judged = read_json(folder / "claims.json")
        provenance = folder / "provenance.json"
        return cls(
            folder,
            read_paper_as_run(folder / "paper.yaml"),
            read_csv(folder / "numbers.csv"),
            judged["claims"],
            (judged["cells"], judged["cells_expected"]),
            read_json(folder / "privacy.json"),
            json.loads(provenance.read_text(encoding="utf-8")) if provenance.is_file() else {},
            _read_readings(folder / "readings.csv", "question"),
            _read_readings(folder / "curves.csv", "claim"),
            _read_if_there(folder / "further_rows.csv", "claim"),
            _read_if_there(folder / "costs.csv", "dataset"),
            audit_bounds.read_bounds(folder.parent),
        )

    def read_frame(self, part: PaperTable | PaperFigure) -> pd.DataFrame:
        """Return the numbers of a table or of a figure."""
        folder = "tables" if isinstance(part, PaperTable) else "figures"
        return read_csv(self.folder / folder / f"{part.id}.csv")

    def write_notes(self) -> list[str]:
        """Return what must be said with the verdicts: how complete the run is, and what chance alone would do."""
        return [
            self._note_completeness(),
            *self.write_notes_on_data(),
            *self.write_notes_on_chance(),
            *self.list_advice(),
        ]

    def write_notes_on_data(self) -> list[str]:
        """Return what must be said of the data sets: which stand in for others, and how many test rows are copies."""
        substitutes = describe_substitutes(self.paper.labels, self.paper.used_instead)
        path = self.folder / "copies.csv"
        copies = describe_copies(read_csv(path), self.paper.labels) if path.is_file() else ""
        return [*substitutes, *filter(None, [copies])]

    def list_advice(self) -> list[str]:
        """Return which algorithm to take, of each figure that says so."""
        advice = []
        for part in self.paper.figures:
            if getattr(part, "advises", False):
                advice.append(part.advise(self.paper, self.read_frame(part)))
        return advice

    def list_rankings(self) -> list[tuple[Question, pd.DataFrame]]:
        """Return the questions about the text that somebody ran, each with the rows of its readings."""
        rankings = []
        for question in self.paper.readings:
            rows = self.readings[self.readings["question"] == question.id]
            if len(rows):
                rankings.append((question, rows))
        return rankings

    def list_curves(self) -> list[tuple[Claim, pd.DataFrame]]:
        """Return the claims that somebody judged under every reading, each with the rows of its readings."""
        curves = []
        for claim in self.paper.claims:
            rows = self.curves[self.curves["claim"] == claim.id]
            if len(rows):
                curves.append((claim, rows))
        return curves

    def describe_further_rows(self, claim_id: str) -> str:
        """Return what crossed splits say of a claim on new rows, where that differs from the verdict on it."""
        rows = self.further_rows[self.further_rows["claim"] == claim_id]
        verdict = next((claim["verdict"] for claim in self.claims if claim["id"] == claim_id), "")
        return "" if rows.empty or agrees_with_verdict(rows, verdict) else describe_further_rows(rows)

    def list_notes_on_running(self) -> list[str]:
        """Return how its readings were run, by question and claim, which is no finding: what was dropped early."""
        notes = []
        for question, rows in self.list_rankings():
            notes += [f"{question.id}: {note}." for note in list_ranking_notes(rows)]
        for claim, rows in self.list_curves():
            notes += [f"{claim.id}: {note}." for note in list_curve_notes(rows)]
        return notes

    def list_verdicts(self, speaker: Speaker) -> list[str]:
        """Return the verdicts on the claims of the paper, on our readings of them, or on our own."""
        return list_verdicts(self.paper, self.claims, speaker)

    @property
    def is_short(self) -> bool:
        """Whether it has fewer repeats than the paper's file asks for."""
        return self.paper.repeats < (self.paper.repeats_asked or 0)

    @property
    def is_partial(self) -> bool:
        """Whether it is short, or some of its cells are missing."""
        return self.is_short or self.coverage[0] < self.coverage[1]

    def _note_completeness(self) -> str:
        n, expected = self.coverage
        if self.is_short:
            repeats = f"{self.paper.repeats} of {self.paper.repeats_asked} repeats of every setting"
            return f"INCOMPLETE: {repeats}, {n} of {expected} of their cells."
        return note_missing_cells(n, expected) or f"Complete: all {expected} cells."

    def count_inside(self) -> tuple[int, int]:
        """Return how many printed numbers lie inside of our intervals, and how many there are."""
        tested = self.numbers[self.numbers["statistic"] != "exact"]
        is_inside = tested["prediction_low"].notna() & ~tested["verdict"].isin(_OUTSIDE)
        return int(is_inside.sum()), len(tested)

    def write_notes_on_chance(self) -> list[str]:
        """Return how many printed numbers chance alone would miss, and of how many runs they are taken to be means."""
        by_chance = count_expected_misses(self.numbers)
        if not by_chance:
            return []
        tested = self.numbers[self.numbers["statistic"] != "exact"]
        n_missed = int(tested["verdict"].isin(_OUTSIDE).sum())
        lying = "number lies" if n_missed < 2 else "numbers lie"
        missed = f"{n_missed or 'No'} printed {lying} outside of our intervals"
        notes = [f"{missed}; by chance alone about {by_chance:.1f} would, if all could be reproduced."]
        if self.paper.printed_repeats > 1:
            kindest = tested["verdict_one_run"].value_counts()
            counts = ", ".join(f"{kindest[verdict]} {verdict}" for verdict in OF_NUMBERS if verdict in kindest)
            assumed = f"A printed number is taken as the mean of {self.paper.printed_repeats} runs"
            notes.append(f"{assumed}. Were each a single run: {counts}.")
        return notes


def list_verdicts(paper: Paper, claims: Iterable[Mapping[str, Any]], speaker: Speaker) -> list[str]:
    """Return those verdicts on claims of a paper that are about what one speaker says."""
    whose = {claim.id: paper.speaker_of(claim) for claim in paper.claims}
    return [claim["verdict"] for claim in claims if whose[claim["id"]] == speaker]


def _read_readings(path: Path, name: str) -> pd.DataFrame:
    """Read a table of readings, in which "null" is a word; without the file, or of an older version, an empty one.

    What is optional and a text is empty where there is none, never a number that is missing.
    """
    nothing = pd.DataFrame(columns=[name])
    rows = pd.read_csv(path, keep_default_na=False, na_values=[""]) if path.is_file() else nothing
    return _fill_texts(rows) if "kind" in rows else nothing


def _read_if_there(path: Path, column: str) -> pd.DataFrame:
    """Read a table that somebody may have written; without it, an empty one with one of its columns."""
    return read_csv(path) if path.is_file() else pd.DataFrame(columns=[column])


def read_paper_as_run(path: Path) -> Paper:
    """Read what `write_paper` wrote."""
    return parse_paper(parse_yaml(path.read_text(encoding="utf-8")), path)


def name_target(name: str) -> str:
    """Return the words that run a paper.

    Examples
    --------
    >>> name_target("2"), name_target("benchmark")
    ('make reproduce-paper-2', 'make benchmark')
    """
    is_ours = name.isdigit() or (CONF / "paper" / f"{name}.yaml").is_file()
    if not IS_CHECKOUT or not is_ours:
        return f"{search_path.name_program()} paper={name}"
    return name_command(f"reproduce-paper-{name}" if name.isdigit() else name)


def copy_files(folder: Path, target: Path, patterns: Iterable[str]) -> None:
    """Copy those files of a run that match one of some patterns."""
    for pattern in patterns:
        for path in sorted(folder.glob(pattern)):
            copied = target / path.relative_to(folder)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copied)


def read_csv(path: Path) -> pd.DataFrame:
    """Read a table of a run; counted facts are whole numbers, and no text is missing."""
    frame = pd.read_csv(path, dtype=dict.fromkeys(_TEXTS, str))
    if "fact" in frame:
        frame = frame.astype({"value": "Int64", "printed": "Int64"})
    return _fill_texts(frame)


def _fill_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which a text that is missing is an empty one."""
    names = frame.columns.intersection(_TEXTS)
    return frame.astype(dict.fromkeys(names, object)).fillna(dict.fromkeys(names, ""))


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a table of a run."""
    frame.to_csv(path, index=False, float_format="%.10g", lineterminator="\n")


def read_json(path: Path) -> Any:
    """Read what `write_json` wrote."""
    return json.loads(path.read_text(encoding="utf-8"), object_hook=_read_numbers)


def write_json(contents: Any, path: Path) -> None:
    """Write what JSON can hold: NaN becomes null, infinity the text "inf", numbers keep ten digits."""
    path.write_text(json.dumps(_plain(contents), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_paper(paper: Paper, path: Path) -> None:
    """Write a paper's description as it was run, substitutes and number of repeats included."""
    path.write_text(
        yaml.safe_dump(paper.to_mapping(), sort_keys=False, allow_unicode=True, width=120), encoding="utf-8"
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float):
        return None if math.isnan(value) else _round_number(value)
    return value


def _round_number(value: float) -> str | float:
    return str(value) if math.isinf(value) else float(f"{value:.10g}")


def _read_numbers(contents: dict) -> dict:
    """Turn the texts of infinities into numbers again, and null into NaN at the ends of an interval."""
    if contents.get("effect") is not None:
        for name in ("low", "high"):
            if name in contents and contents[name] is None:
                contents[name] = math.nan
    for name, value in contents.items():
        if value in ("inf", "-inf"):
            contents[name] = float(value)
    return contents
