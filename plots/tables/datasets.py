"""``datasets``: how large data sets are, beside what the paper prints of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any, Literal

import pandas as pd

from documents.document import ListOf
from experiments.config.data import task_and_domain
from experiments.config.paper import Paper
from plots.facts import FACTS
from plots.labels import MISSING, label_names
from plots.text_table import ArrangedTable, Cell, TextTable, make_cell

_SPLIT_ANEW = "split anew"


class TableOfFacts(ArrangedTable):
    """Base of the tables of what is counted in data sets."""

    datasets: ListOf[str]
    """The data sets, in the order of the rows."""

    def check(self, paper: Paper) -> None:
        """Check that there are such data sets; raises a BadInput if there is none of a name."""
        for name in self.datasets:
            task_and_domain(name)


class DatasetsTable(TableOfFacts):
    """Facts of data sets: counted rows, columns and classes."""

    kind: Literal["datasets"]

    def make_frame(self, paper: Paper, table: pd.DataFrame, numbers: pd.DataFrame, facts: Mapping) -> pd.DataFrame:
        """Return the tidy form: dataset, fact, value, printed, verdict, note."""
        rows = list_facts(product(self.datasets, FACTS), numbers, facts)
        for row in rows:
            row["note"] = "" if row["value"] is not None else _explain_missing(row["dataset"], row["fact"], facts)
        return pd.DataFrame(rows).astype({"value": "Int64", "printed": "Int64"})

    def arrange(self, paper: Paper, frame: pd.DataFrame) -> TextTable:
        """Arrange a frame as rows of data sets and columns of facts."""
        parts = dict(list(frame.groupby("dataset", sort=False)))
        cells = [list(map(_describe_fact, part.to_dict("records"))) for part in parts.values()]
        return TextTable("data set", list(FACTS.values()), label_names(paper, parts), cells)

    def note_missing(self, frame: pd.DataFrame) -> str:
        """Return the note on data sets that could not be counted."""
        missing = frame.loc[frame["note"].str.startswith("INCOMPLETE"), "dataset"].unique()
        if not len(missing):
            return ""
        total = frame["dataset"].nunique()
        return f"INCOMPLETE: {total - len(missing)} of {total} data sets ({', '.join(missing)} not available)"

    def format_entry(self, cell: Cell) -> str:
        """Return a fact in plain digits; what could not be counted is a dash."""
        return MISSING if cell["ours"] == _SPLIT_ANEW else cell["ours"].replace(",", "")


def list_facts(names: Iterable[tuple[str, str]], numbers: pd.DataFrame, facts: Mapping) -> list[dict[str, Any]]:
    """Return of each data set and fact ``value`` and ``printed``, None where there is none, and ``verdict``."""
    exact = numbers[numbers["statistic"] == "exact"]
    printed = {(row["dataset"], row["metric"]): row for row in exact.to_dict("records")}
    rows = []
    for name, fact in names:
        number = printed.get((name, fact), {})
        judged = {"printed": number.get("printed"), "verdict": number.get("verdict", "")}
        rows.append({"dataset": name, "fact": fact, "value": facts.get((name, fact)), **judged})
    return rows


def _explain_missing(name: str, fact: str, facts: Mapping) -> str:
    if (name, "rows") not in facts:
        return "INCOMPLETE: data set not available"
    is_of_files = fact == "file_rows"
    return "none: no row is left out, or the files are not here" if is_of_files else "none: no official split"


def _describe_fact(fact: Mapping[str, Any]) -> Cell:
    value = f"{fact['value']:,}" if not pd.isna(fact["value"]) else MISSING
    if value == MISSING and fact["note"].startswith("none"):
        value = _SPLIT_ANEW
    printed = "" if pd.isna(fact["printed"]) else f"{fact['printed']:,}"
    return make_cell(value, printed=printed, verdict=fact["verdict"], note=fact["note"])
