"""Which rows of the long table answer a study, and how many there ought to be."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from experiments.config.selection import PaperError, axes, matches, size, study_of


def rows_of_study(table: pd.DataFrame, study: Mapping, metric: str, where: Mapping | None = None) -> pd.DataFrame:
    """Return the rows of the long table that answer a study: its own, of its settings, with a finite metric.

    Parameters
    ----------
    table : DataFrame
        The long table.
    study : mapping
        As from `study_of`, with its name.
    metric : str
        Which column must be there.
    where : mapping, optional
        The part of the study that is meant, as in `axes`.

    Raises
    ------
    PaperError
        If two rows are the same setting and repeat of the study.
    """
    found = axes(study, where)
    if metric not in table.columns or any(name not in table.columns for name in found):
        return pd.DataFrame(columns=["study", *found, "repeat", metric])
    keep = _is_of_study(table, study) & np.isfinite(pd.to_numeric(table[metric], errors="coerce").to_numpy(np.float64))
    for name, values in found.items():
        keep &= np.logical_or.reduce([matches(table[name], value) for value in values])
    rows = table.loc[keep].sort_values([*found, "repeat"], kind="stable")
    twice = rows.duplicated([*found, "repeat"])
    if twice.any():
        first = rows.loc[twice, [*found, "repeat"]].iloc[0].to_dict()
        raise PaperError(
            f"study {study['name']!r}: two cells answer the same setting and repeat: {first}; axes must tell them apart"
        )
    return rows.reset_index(drop=True)


def rows_without_metric(table: pd.DataFrame, study: Mapping, metric: str, where: Mapping | None = None) -> pd.DataFrame:
    """Return the rows of a study that were run and have no such metric: a class never predicted has no precision.

    The parameters are those of `rows_of_study`.
    """
    if metric not in table.columns or "status" not in table.columns:
        return rows_of_study(pd.DataFrame(), study, metric, where)
    hollow = table[(table["status"] == "done") & table[metric].isna()]
    return rows_of_study(hollow.assign(**{metric: 0.0}), study, metric, where)


def count_cells(paper: Mapping, table: pd.DataFrame) -> tuple[int, int]:
    """Return how many cells of a paper are answered and how many it asks for; shared ones count once.

    The long table has one row per cell, shared ones too. Rows that a study should have and has not are asked for all
    the same, so that a table that has lost some never looks complete.
    """
    if "study" not in table.columns:
        table = pd.DataFrame(columns=["study", "status"])
    studies = [study_of(paper, {"study": name}) for name in paper.get("studies") or {}]
    lost = sum(size(study, int(paper["repeats"])) - int(_is_of_study(table, study).sum()) for study in studies)
    return int((table["status"] == "done").sum()), len(table) + lost


def _is_of_study(table: pd.DataFrame, study: Mapping) -> np.ndarray:
    """Return which rows are of a study; those of several have their names joined by ``+``."""
    return ("+" + table["study"].astype(str) + "+").str.contains(f"+{study['name']}+", regex=False).to_numpy(bool)
