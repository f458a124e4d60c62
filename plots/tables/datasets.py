"""``datasets``: how large data sets are, beside what the paper prints of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from documents.document import ListOf
from experiments.config.data import task_and_domain
from experiments.config.paper import Paper, PaperTable
from plots.facts import FACTS
from plots.labels import MISSING, label_name
from plots.latex import write_table


class TableOfFacts(PaperTable):
    """Base of the tables of what is counted in data sets."""

    datasets: ListOf[str]
    """The data sets, in the order of the rows."""

    def check(self, paper: Paper) -> None:
        """Check that there are such data sets.

        Raises
        ------
        BadInput
            If there is none of a name.
        """
        for name in self.datasets:
            task_and_domain(name)


class DatasetsTable(TableOfFacts):
    """Facts of data sets: counted rows, columns and classes."""

    kind: Literal["datasets"]

    def make_frame(self, paper: Paper, table: pd.DataFrame, numbers: pd.DataFrame, facts: Mapping) -> pd.DataFrame:
        """Return the tidy form: dataset, fact, value, printed, verdict, note."""
        rows = list_facts(product(self.datasets, FACTS), numbers, facts)
        for row in rows:
            row["note"] = "" if row["value"] is not None else self._note_missing(row["dataset"], row["fact"], facts)
        return pd.DataFrame(rows).astype({"value": "Int64", "printed": "Int64"})

    def write_latex(self, paper: Paper, frame: pd.DataFrame, path: Path) -> None:
        """Write the table; facts that could not be counted are dashes."""
        body = []
        for name, part in frame.groupby("dataset", sort=False):
            values = part["value"].astype("string").fillna(MISSING)
            body.append([label_name(paper, name), *values])
        write_table(path, self.title, ["data set", *FACTS.values()], body, _note_shortfall(frame))

    def describe(self, paper: Paper, frame: pd.DataFrame) -> dict[str, Any]:
        """Return the cells of the table as the report's page shows them."""
        rows = []
        for name, part in frame.groupby("dataset", sort=False):
            rows.append((label_name(paper, name), [_describe_fact(fact) for fact in part.to_dict("records")]))
        return {
            "note": _note_shortfall(frame),
            "corner": "data set",
            "columns": list(FACTS.values()),
            "rows": rows,
        }

    @staticmethod
    def _note_missing(name: str, fact: str, facts: Mapping) -> str:
        if (name, "rows") not in facts:
            return "INCOMPLETE: data set not available"
        is_of_files = fact == "file_rows"
        return "none: no row is left out, or the files are not here" if is_of_files else "none: no official split"


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


def _note_shortfall(frame: pd.DataFrame) -> str:
    """Return the note on data sets that could not be counted."""
    missing = frame.loc[frame["note"].str.startswith("INCOMPLETE"), "dataset"].unique()
    if not len(missing):
        return ""
    total = frame["dataset"].nunique()
    return f"INCOMPLETE: {total - len(missing)} of {total} data sets ({', '.join(missing)} not available)"


def _describe_fact(fact: Mapping[str, Any]) -> dict[str, str]:
    value = f"{fact['value']:,}" if not pd.isna(fact["value"]) else MISSING
    if value == MISSING and fact["note"].startswith("none"):
        value = "split anew"
    printed = "" if pd.isna(fact["printed"]) else f"{fact['printed']:,}"
    return {"ours": value, "band": "", "printed": printed, "verdict": fact["verdict"], "note": fact["note"]}
