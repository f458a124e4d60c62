"""One run of a paper as its folder holds it: all that a page is made of, without its cells.

The folder has ``paper.yaml`` (the description as it was run), ``numbers.csv``, ``claims.json``, ``privacy.json``,
``tables/*.csv``, ``figures/*.csv|.svg``, and, where somebody wrote them, ``provenance.json`` and ``readings.csv``.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import yaml

from experiments.config.substitutes import sentences
from experiments.errors import BadInput
from experiments.judge.numbers import expected_misses
from experiments.judge.series import note_missing_cells
from experiments.judge.verdict import NOT_REPRODUCED
from experiments.stats import LEVEL
from plots.figures.ranks import ADVISES, advice
from plots.labels import OF_NUMBERS
from plots.pages import audit_bounds

_TEXTS = ("id", "table", "dataset", "verdict", "verdict_one_run", "reason", "source", "note")
_TEXTS += ("lowest_setting", "highest_setting")
_NEEDED = ("paper.yaml", "numbers.csv", "claims.json", "privacy.json")

#: What of a run is small and shows all of it.
KEPT = (*_NEEDED, "provenance.json", "readings.csv", "tables/*", "figures/*.csv", "figures/*.svg")


@dataclass(frozen=True)
class Run:
    """What was run and what came out.

    Parameters
    ----------
    folder : Path
        Where it lies.
    paper : dict
        The paper's description as it was run.
    numbers : DataFrame
        Verdicts on the printed numbers.
    claims : list of dict
        Verdicts on the claims.
    coverage : tuple of int
        How many cells are answered, and how many the paper asks for.
    privacy : list of dict
        As from `plots.pages.privacy.sums`.
    provenance : dict
        Where it comes from; empty if unknown.
    readings : DataFrame
        How far each reading of the text is from what is printed, as from `reading_ranks.write`; empty if nobody asked.
    audit : DataFrame
        What was measured of the privacy of algorithms, as from `plots.pages.audit_bounds.read`.
    """

    folder: Path
    paper: dict
    numbers: pd.DataFrame
    claims: list[dict]
    coverage: tuple[int, int]
    privacy: list[dict]
    provenance: dict
    readings: pd.DataFrame
    audit: pd.DataFrame

    @classmethod
    def read(cls, folder: Path) -> Run:
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
        provenance, readings = folder / "provenance.json", folder / "readings.csv"
        return cls(
            folder,
            yaml.safe_load((folder / "paper.yaml").read_text(encoding="utf-8")),
            read_csv(folder / "numbers.csv"),
            judged["claims"],
            (judged["cells"], judged["cells_expected"]),
            read_json(folder / "privacy.json"),
            json.loads(provenance.read_text(encoding="utf-8")) if provenance.is_file() else {},
            pd.read_csv(readings, keep_default_na=False, na_values=[""]) if readings.is_file() else pd.DataFrame(),
            audit_bounds.read(folder.parent),
        )

    def frame(self, item: Mapping) -> pd.DataFrame:
        """Return the numbers of a table or of a figure."""
        kind = "tables" if item in self.paper.get("tables", ()) else "figures"
        return read_csv(self.folder / kind / f"{item['id']}.csv")

    def notes(self) -> list[str]:
        """Return what must be said with the verdicts: how complete the run is, and what chance alone would do."""
        return [self._completeness(), *sentences(self.paper), *self._chance(), *self.advice()]

    def advice(self) -> list[str]:
        """Return which algorithm to take, of each figure of ranks that says so."""
        items = [item for item in self.paper.get("figures", ()) if item.get(ADVISES)]
        return [advice(self.paper, item, self.frame(item)) for item in items]

    @property
    def is_short(self) -> bool:
        """Whether it has fewer repeats than the paper's file asks for."""
        return int(self.paper["repeats"]) < int(self.paper.get("repeats_asked", 0))

    def _completeness(self) -> str:
        n, expected = self.coverage
        if self.is_short:
            repeats = f"{self.paper['repeats']} of {self.paper['repeats_asked']} repeats of every setting"
            return f"INCOMPLETE: {repeats}, {n} of {expected} of their cells."
        return note_missing_cells(n, expected) or f"Complete: all {expected} cells."

    def _chance(self) -> list[str]:
        chance = expected_misses(self.numbers)
        if not chance:
            return []
        tested = self.numbers[self.numbers["statistic"] != "exact"]
        missed = int((tested["verdict"] == NOT_REPRODUCED).sum())
        notes = [
            f"Each number is judged on its own at {100 * LEVEL:.0f} %: about {chance:.1f} would fall outside by "
            f"chance alone if all were reproducible; {missed} did. Claims share one 5 % error rate for the whole "
            "paper (Holm)."
        ]
        if (m := int(self.paper.get("printed_repeats", 1))) > 1:
            kindest = tested["verdict_one_run"].value_counts()
            notes.append(
                f"Assumed: a printed number is the mean of {m} runs. Were each a single run, "
                + ", ".join(f"{kindest.get(verdict, 0)} would be {verdict}" for verdict in OF_NUMBERS)
                + "."
            )
        return notes


def target_of(name: str) -> str:
    """Return the words that run a paper.

    Examples
    --------
    >>> target_of("2"), target_of("benchmark")
    ('make reproduce-paper-2', 'make benchmark')
    """
    return f"make reproduce-paper-{name}" if name.isdigit() else f"make {name}"


def copy(folder: Path, target: Path, patterns: Iterable[str]) -> None:
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
    return frame.fillna({name: "" for name in _TEXTS if name in frame})


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a table of a run."""
    frame.to_csv(path, index=False, float_format="%.10g", lineterminator="\n")


def read_json(path: Path):
    """Read what `write_json` wrote."""
    return json.loads(path.read_text(encoding="utf-8"), object_hook=_numbers)


def write_json(contents, path: Path) -> None:
    """Write what JSON can hold: NaN becomes null, infinity the text "inf", numbers keep ten digits."""
    path.write_text(json.dumps(_plain(contents), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_paper(paper: Mapping, path: Path) -> None:
    """Write a paper's description as it was run, substitutes and number of repeats included."""
    path.write_text(yaml.safe_dump(dict(paper), sort_keys=False, allow_unicode=True, width=120), encoding="utf-8")


def _plain(value):
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return None if math.isnan(value) else (str(value) if math.isinf(value) else float(f"{value:.10g}"))
    return value


def _numbers(found: dict) -> dict:
    """Turn the texts of infinities into numbers again, and null into NaN at the ends of an interval."""
    lost = {name for name in ("low", "high") if found.get("effect") is not None and found.get(name) is None}
    ends = {"inf": math.inf, "-inf": -math.inf}
    return {
        name: math.nan if name in lost else ends.get(value, value) if isinstance(value, str) else value
        for name, value in found.items()
    }
