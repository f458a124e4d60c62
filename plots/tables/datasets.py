"""``datasets``: how large data sets are, counted in their files, beside what the paper prints of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import pandas as pd

import datasets
from datasets import Dataset, catalogue
from experiments.config.kinds.exhibits import DatasetsTable
from plots.labels import MISSING, label_names
from plots.text_table import ArrangedTable, Cell, TextTable, make_cell

#: Facts in the order of a table, with their names; the keys are the metrics of ``statistic = exact`` numbers.
FACTS = {
    "file_rows": "rows in the files",
    "rows": "rows",
    "features": "features",
    "continuous": "continuous",
    "nominal": "nominal",
    "classes": "classes",
    "train": "training rows",
    "test": "test rows",
}

Facts = Mapping[tuple[str, str], int]  #: ``(dataset, fact) -> number``


def collect_facts(names: Iterable[str]) -> dict[tuple[str, str], int]:
    """Count rows, columns and classes of some data sets.

    A data set whose files are not there contributes nothing: its line of the table stays empty. Rows in the files are
    counted where some are left out.
    """
    facts: dict[tuple[str, str], int] = {}
    for name in sorted(set(names)):
        try:
            counted = count_facts(datasets.load(name))
        except datasets.DataUnavailable:
            continue
        if catalogue.read_entry(name).drop_missing and (n_rows := datasets.count_original_rows(name)) is not None:
            counted["file_rows"] = n_rows
        facts |= {(name, fact): value for fact, value in counted.items()}
    return facts


def name_categories(feature: str) -> str:
    """Return the name of the fact how many categories a feature has."""
    return f"categories_{feature}"


def count_facts(loaded: Dataset) -> dict[str, int]:
    """Count what a loaded data set has: the facts of a table, ``categories_<feature>`` and ``rows_<class>``."""
    features = loaded.domain.features
    n_continuous = [hasattr(feature, "lower") for feature in features].count(True)
    counted = {
        "rows": len(loaded.frame),
        "features": loaded.frame.shape[1],
        "columns": loaded.frame.shape[1] + 1,  # with the target, which some papers count in
        "continuous": n_continuous,
        "nominal": len(features) - n_continuous,
    }
    for feature in features:
        counted[name_categories(feature.name)] = len(getattr(feature, "categories", ()))
    if loaded.task == "classification":
        sizes = loaded.target.value_counts()
        counted["classes"] = len(sizes)
        counted |= {f"rows_{label}": int(size) for label, size in sizes.items()}
    if loaded.n_train is not None:
        counted["train"] = int(loaded.n_train)
        counted["test"] = len(loaded.frame) - int(loaded.n_train)
    return counted


_SPLIT_ANEW = "split anew"


class DatasetsView(ArrangedTable[DatasetsTable], of=DatasetsTable):
    """Facts of data sets: counted rows, columns and classes."""

    def make_frame(self, table: pd.DataFrame, numbers: pd.DataFrame, facts: Mapping) -> pd.DataFrame:
        """Return the tidy form: dataset, fact, value, printed, verdict, note."""
        rows = list_facts(product(self.exhibit.datasets, FACTS), numbers, facts)
        for row in rows:
            row["note"] = "" if row["value"] is not None else _explain_missing(row["dataset"], row["fact"], facts)
        return pd.DataFrame(rows).astype({"value": "Int64", "printed": "Int64"})

    def arrange(self, frame: pd.DataFrame) -> TextTable:
        """Arrange a frame as rows of data sets and columns of facts."""
        by_dataset = dict(list(frame.groupby("dataset", sort=False)))
        cells = [list(map(_describe_fact, rows.to_dict("records"))) for rows in by_dataset.values()]
        return TextTable("data set", list(FACTS.values()), label_names(self.paper, by_dataset), cells)

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
