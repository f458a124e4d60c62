"""Which rows of the long table answer a study, and how many there ought to be.

Rows are told apart by the names of the studies that they belong to, so that two studies may differ in what neither has
as an axis (the number of trees, the split).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from experiments.config.paper import Paper
from experiments.config.study import PaperError, Study


def select_rows(
    table: pd.DataFrame, study: Study, metric: str, where: Mapping[str, object] | None = None
) -> pd.DataFrame:
    """Return the rows of the long table that answer a study: its own, of its settings, with a finite metric, a column.

    ``where`` is the part of the study that is meant, as in `Study.axes`. PaperError if two rows are the same setting
    and repeat of the study.
    """
    axes = study.axes(where)
    if not {metric, *axes} <= set(table.columns):
        return pd.DataFrame(columns=["study", *axes, "repeat", metric])
    is_kept = is_of_study(table, study.name).copy()
    for name, values in axes.items():
        is_kept &= np.logical_or.reduce([match_column(table[name], value) for value in values])
    names = [*axes, "repeat"]
    rows = table.loc[is_kept].sort_values(names, kind="stable")
    check_distinct(rows, study.name, names)
    is_finite = np.isfinite(pd.to_numeric(rows[metric], errors="coerce").to_numpy(np.float64))
    return rows[is_finite].reset_index(drop=True)


def match_column(column: pd.Series, value: Any) -> np.ndarray:
    """Return which entries of a column are ``value``, as booleans; numbers may have gone through text."""
    if value is None:
        return column.isna().to_numpy()
    if isinstance(value, bool | str):
        return (column.astype(str) == str(value)).to_numpy()
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    return np.isclose(numbers, float(value), rtol=1e-9, atol=0)


def count_cells(paper: Paper, table: pd.DataFrame) -> tuple[int, int]:
    """Return how many cells of a paper are answered and how many it asks for; shared ones count once.

    The long table has one row per cell, shared ones too. Rows that a study should have and has not are asked for all
    the same, so that a table that has lost some never looks complete.
    """
    if "study" not in table.columns:
        table = pd.DataFrame(columns=["study", "status"])
    n_lost = 0
    for study in paper.studies.values():
        n_lost += paper.repeats * study.count_settings() - int(is_of_study(table, study.name).sum())
    return int((table["status"] == "done").sum()), len(table) + n_lost


def is_of_study(table: pd.DataFrame, study: str) -> np.ndarray:
    """Return which rows are of a study; those of several have their names joined by ``+``."""
    numbers, names = pd.factorize(table["study"], use_na_sentinel=False)  # few, and a table may have a million rows
    return np.array([f"+{study}+" in f"+{name}+" for name in names], dtype=bool)[numbers]


def check_distinct(rows: pd.DataFrame, study: str, names: list[str]) -> None:
    """Check that no two rows of a study are the same setting and repeat; raises a PaperError."""
    is_twice = rows.duplicated(names)
    if is_twice.any():
        first = rows.loc[is_twice, names].iloc[0].to_dict()
        raise PaperError(
            f"study {study!r}: two cells answer the same setting and repeat: {first}; axes must tell them apart"
        )
