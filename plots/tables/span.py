"""``span``: numbers printed without their setting, beside the lowest and the highest of ours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from experiments.config.kinds.exhibits import SpanTable
from experiments.judge.numbers.number_verdict import FoundSetting, find_values
from experiments.questions.exhibits.series import NOTHING_PRINTED, note_missing_cells, select_printed
from experiments.questions.number_questions import list_open_settings
from experiments.store.results import Results
from plots.labels import find_symbol, format_number, label_names
from plots.text_table import ArrangedTable, Cell, TextTable, make_cell

COLUMNS = ["paper", "lowest of ours", "highest of ours"]


class SpanView(ArrangedTable[SpanTable], of=SpanTable):
    """Numbers that are printed without their setting: for each algorithm one, which some setting should give."""

    def make_frame(self, table: pd.DataFrame, numbers: pd.DataFrame, facts: Mapping) -> pd.DataFrame:
        """Return one row per algorithm; ``lowest`` and ``highest`` are means over repeats, and have their settings."""
        of_table = numbers[numbers["table"] == self.exhibit.id]
        printed = {row["algorithm"]: row for row in of_table.to_dict("records")}
        studies, results = self.exhibit.list_open_studies(self.paper), Results(table)
        rows = []
        for algorithm in self.exhibit.algorithms:
            asked = list_open_settings(studies, algorithm)
            settings = find_values(asked, self.exhibit.metric, results)
            n = sum(len(setting.values) for setting in settings)
            n_expected = self.paper.repeats * len(asked)
            number = printed.get(algorithm, {**NOTHING_PRINTED, "decimals": 2})
            rows.append(
                {
                    "algorithm": algorithm,
                    "metric": self.exhibit.metric,
                    **select_printed(number),
                    **_find_ends(settings),
                    "n": n,
                    "n_expected": n_expected,
                    "note": self.paper.reason_not_implemented(algorithm) or note_missing_cells(n, n_expected),
                }
            )
        return pd.DataFrame(rows)

    def arrange(self, frame: pd.DataFrame) -> TextTable:
        """Arrange a frame as rows of algorithms; beside each number stands what is to be said with it."""
        rows = frame.to_dict("records")
        return TextTable(
            "algorithm", COLUMNS, label_names(self.paper, frame["algorithm"]), list(map(_list_cells, rows))
        )

    def caption(self, frame: pd.DataFrame) -> tuple[str, str]:
        """Return its title, and what is to be said of each algorithm."""
        noted = frame[frame["note"] != ""]
        names = label_names(self.paper, noted["algorithm"])
        return self.exhibit.title, "; ".join(f"{name}: {note}" for name, note in zip(names, noted["note"], strict=True))


def _find_ends(settings: Sequence[FoundSetting]) -> dict[str, Any]:
    """Return the lowest and the highest mean, and where they are."""
    ordered = sorted((setting.values.mean(), setting.asked.words) for setting in settings)
    (low, where_low), (high, where_high) = (ordered[0], ordered[-1]) if ordered else [(math.nan, "")] * 2
    return {"lowest": low, "lowest_setting": where_low, "highest": high, "highest_setting": where_high}


def _list_cells(row: Mapping[str, Any]) -> list[Cell]:
    """Return for each of `COLUMNS` the number of a row as text, and what is to be said with it."""
    metric, decimals = row["metric"], int(row["decimals"])
    cells = []
    for number, note in (("printed", "note"), ("lowest", "lowest_setting"), ("highest", "highest_setting")):
        sign = find_symbol(row["verdict"]) if number == "printed" else ""
        text = f"{format_number(metric, row[number], decimals)} {sign}".rstrip()
        cells.append(make_cell(text, band=f"({row[note]})" if row[note] else ""))
    return cells
