"""``span``: numbers printed without their setting, beside the lowest and the highest of ours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from documents.document import ListOf
from experiments.config.paper import Paper, PaperError, PaperTable, Study
from experiments.errors import suggest_name
from experiments.judge.numbers.no_setting import SettingValues, find_values
from experiments.questions.number_questions import list_open_settings
from experiments.store.results import Results
from plots.labels import find_symbol, format_number, label_name
from plots.latex import write_table
from plots.series import NOTHING_PRINTED, note_missing_cells, note_shortfall, select_printed

COLUMNS = ["paper", "lowest of ours", "highest of ours"]


class SpanTable(PaperTable):
    """Numbers that are printed without their setting: for each algorithm one, which some setting should give."""

    kind: Literal["span"]
    studies: ListOf[str]
    """The studies of which some setting gave the numbers."""
    algorithms: ListOf[str]
    """The algorithms, in the order of the rows."""
    metric: str
    """What is printed."""

    def list_open_studies(self, paper: Paper) -> list[Study]:
        """Return the studies of which some setting gave the numbers."""
        return [paper.study(name, self.id) for name in self.studies]

    def list_algorithms(self, paper: Paper) -> list[str]:
        """Return the algorithms of the rows."""
        return list(self.algorithms)

    def check(self, paper: Paper) -> None:
        """Check that the studies run the algorithms, or that these are said not to be implemented.

        Raises
        ------
        PaperError
            If they do not.
        """
        studies = self.list_open_studies(paper)
        for algorithm in self.algorithms:
            n_parts = sum(algorithm in study.axis("algorithm") for study in studies)
            if paper.reason_not_implemented(algorithm):
                if n_parts:
                    raise PaperError(f"{self.id}: {algorithm} is run, and said not to be implemented")
            elif n_parts < len(studies):
                names = [*paper.not_implemented, *studies[0].axis("algorithm")]
                hint = suggest_name(algorithm, names)
                raise PaperError(f"{self.id}: not all of its studies run {algorithm!r}; {hint}")

    def make_frame(self, paper: Paper, table: pd.DataFrame, numbers: pd.DataFrame, facts: Mapping) -> pd.DataFrame:
        """Return one row per algorithm.

        Returns
        -------
        DataFrame
            algorithm, metric, printed, decimals, verdict, lowest and highest (means over repeats), lowest_setting and
            highest_setting (where they are), n, n_expected, note.
        """
        own = numbers[numbers["table"] == self.id]
        printed = {row["algorithm"]: row for row in own.to_dict("records")}
        studies, results = self.list_open_studies(paper), Results(table)
        rows = []
        for algorithm in self.algorithms:
            asked = list_open_settings(studies, algorithm)
            settings = find_values(asked, self.metric, results)
            n = sum(len(setting.values) for setting in settings)
            n_expected = paper.repeats * len(asked)
            number = printed.get(algorithm, {**NOTHING_PRINTED, "decimals": 2})
            rows.append(
                {
                    "algorithm": algorithm,
                    "metric": self.metric,
                    **select_printed(number),
                    **_find_ends(settings),
                    "n": n,
                    "n_expected": n_expected,
                    "note": paper.reason_not_implemented(algorithm) or note_missing_cells(n, n_expected),
                }
            )
        return pd.DataFrame(rows)

    def write_latex(self, paper: Paper, frame: pd.DataFrame, path: Path) -> None:
        """Write the table; notes go to the caption."""
        body, notes = [], []
        for row in frame.to_dict("records"):
            name = label_name(paper, row["algorithm"])
            texts, _ = zip(*_format_cells(row), strict=True)
            body.append([name, *texts])
            if row["note"]:
                notes.append(f"{name}: {row['note']}")
        write_table(path, self.title, ["algorithm", *COLUMNS], body, "; ".join(notes))

    def describe(self, paper: Paper, frame: pd.DataFrame) -> dict[str, Any]:
        """Return the cells of the table as the report's page shows them."""
        rows = []
        for row in frame.to_dict("records"):
            rows.append((label_name(paper, row["algorithm"]), list(starmap(_describe_cell, _format_cells(row)))))
        return {"note": note_shortfall(frame), "corner": "algorithm", "columns": COLUMNS, "rows": rows}


def _find_ends(settings: Sequence[SettingValues]) -> dict[str, Any]:
    """Return the lowest and the highest mean, and where they are."""
    ordered = sorted((setting.values.mean(), setting.where) for setting in settings)
    (low, where_low), (high, where_high) = (ordered[0], ordered[-1]) if ordered else [(math.nan, "")] * 2
    return {"lowest": low, "lowest_setting": where_low, "highest": high, "highest_setting": where_high}


def _format_cells(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return for each of `COLUMNS` the number of a row as text, and what is to be said with it."""
    metric, decimals = row["metric"], int(row["decimals"])
    printed = f"{format_number(metric, row['printed'], decimals)} {find_symbol(row['verdict'])}"
    return [
        (printed.rstrip(), row["note"]),
        (format_number(metric, row["lowest"], decimals), row["lowest_setting"]),
        (format_number(metric, row["highest"], decimals), row["highest_setting"]),
    ]


def _describe_cell(text: str, note: str) -> dict[str, str]:
    return {"ours": text, "band": f"({note})" if note else "", "printed": "", "verdict": "", "note": ""}
