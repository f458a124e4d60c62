"""``attributes``: the attributes of data sets, their kinds and numbers of categories, beside what the paper prints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from algorithms.whole_files import write_text
from experiments.config.data import task_and_domain
from experiments.config.kinds.exhibits import AttributesTable
from plots.labels import MISSING, label_name
from plots.tables.datasets import list_facts, name_categories
from plots.text_table import ArrangedTable, TextTable, format_latex, make_cell


class AttributesView(ArrangedTable[AttributesTable], of=AttributesTable):
    """One row for each attribute, with the number of its categories: 0 of a continuous one."""

    def make_frame(self, table: pd.DataFrame, numbers: pd.DataFrame, facts: Mapping) -> pd.DataFrame:
        """Return the tidy form: dataset, attribute, categories, printed, verdict, note."""
        rows = []
        for name in self.exhibit.datasets:
            attributes = [feature.name for feature in task_and_domain(name)[1].features]
            counted = list_facts([(name, name_categories(attribute)) for attribute in attributes], numbers, facts)
            for attribute, row in zip(attributes, counted, strict=True):
                judged = {"categories": row["value"], "printed": row["printed"], "verdict": row["verdict"]}
                note = "" if row["value"] is not None else "INCOMPLETE: data set not available"
                rows.append({"dataset": name, "attribute": attribute, **judged, "note": note})
        return pd.DataFrame(rows).astype({"categories": "Int64", "printed": "Int64"})

    def arrange(self, frame: pd.DataFrame) -> TextTable:
        """Arrange a frame as rows of attributes."""
        cells = []
        for row in frame.to_dict("records"):
            kind, categories = _describe_kind(row["categories"])
            printed = "" if pd.isna(row["printed"]) else _describe_kind(row["printed"])[1]
            judged = {"printed": printed, "verdict": row["verdict"], "note": row["note"]}
            cells.append([make_cell(kind, note=row["note"]), make_cell(categories, **judged)])
        return TextTable("attribute", ["kind", "categories"], list(frame["attribute"]), cells)

    def note_missing(self, frame: pd.DataFrame) -> str:
        """Return nothing: every cell says it itself."""
        return ""

    def write_latex(self, frame: pd.DataFrame, path: Path) -> None:
        """Write the table, with the data sets; what could not be counted is a dash."""
        table, body = self.arrange(frame), []
        for dataset, name, cells in zip(frame["dataset"], table.rows, table.cells, strict=True):
            body.append([label_name(self.paper, dataset), name, *map(self.format_entry, cells)])
        text = format_latex(self.exhibit.title, ["data set", table.corner, *table.columns], body, "")
        write_text(path, text)


def _describe_kind(n_categories: Any) -> tuple[str, str]:
    """Return what kind of attribute has so many categories, and their number."""
    if pd.isna(n_categories):
        return MISSING, MISSING
    return ("nominal", str(n_categories)) if n_categories else ("continuous", "none")
