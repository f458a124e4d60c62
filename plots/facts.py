"""Facts of data sets: rows, columns and classes, counted in the files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import datasets
from datasets import Dataset, catalogue

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
