"""The printed numbers of a paper: ``results/reported/paper-N.csv``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from documents.search_path import name_stored
from experiments.config.paper import Paper, PaperError, Study
from experiments.config.paths import ROOT
from experiments.config.setting import is_among, keep_entries
from experiments.judge.numbers.number_verdict import STATISTICS, PrintedNumber, is_blank

_REQUIRED = ("id", "table", "dataset", "metric", "statistic", "value", "decimals", "source")


def read_reported(path: str | Path) -> pd.DataFrame:
    """Read the file of a paper's printed numbers.

    A CSV file with the columns id, table, dataset, algorithm, metric, statistic, value, decimals, source and one column
    for every setting that selects cells (``epsilon``, ``params.<name>``); see `PrintedNumber`. PaperError if it is
    missing, lacks a column, or names a statistic or an id wrongly.
    """
    try:
        reported = pd.read_csv(path, dtype={"id": str, "table": str, "source": str})
    except FileNotFoundError:
        raise PaperError(f"printed numbers are missing: {path}") from None
    missing_columns = pd.Index(_REQUIRED).difference(reported.columns, sort=False)
    if len(missing_columns):
        raise PaperError(f"{path}: column {', '.join(missing_columns)} is missing")
    repeated = reported.loc[reported["id"].duplicated(), "id"].tolist()
    if repeated:
        raise PaperError(f"{path}: id {repeated[0]!r} stands twice")
    strange = sorted(set(reported["statistic"]) - set(STATISTICS))
    if strange:
        raise PaperError(f"{path}: statistic {strange[0]!r} is unknown; it may be {', '.join(STATISTICS)}")
    reported["algorithm"] = reported["algorithm"].map(name_stored)
    return reported


def read_numbers_of(paper: Paper) -> pd.DataFrame:
    """Return the file of a paper's printed numbers; a paper without the key ``reported`` has none."""
    if paper.reported is None:
        return pd.DataFrame(columns=list(_REQUIRED))
    return read_reported(ROOT / paper.reported)


def list_numbers(reported: pd.DataFrame) -> list[PrintedNumber]:
    """Return the rows of a file of printed numbers as objects."""
    numbers = []
    for row in reported.to_dict("records"):
        own = keep_entries(row, ("id", "table", "metric", "statistic", "value", "source"))
        numbers.append(PrintedNumber(**own, decimals=int(row["decimals"]), setting=read_setting(row)))
    return numbers


def select_part(setting: Mapping[str, Any], study: Study, where: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the part of a study that a setting narrows ``where`` to, or None if it is no setting of that."""
    axes, part = study.axes(where), dict(where)
    for name, value in setting.items():
        if is_blank(value):
            continue
        if not is_among(value, axes.get(name, ())):
            return None
        part[name] = value
    return part


def read_setting(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a row that select cells: ``dataset``, ``algorithm``, ``epsilon`` and ``params.<name>``."""
    names = [name for name in row if name in ("dataset", "algorithm", "epsilon") or name.startswith("params.")]
    return keep_entries(row, names)
