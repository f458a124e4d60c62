"""The printed numbers of a paper: ``results/reported/paper-N.csv``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from documents.search_path import name_stored
from experiments.config.paper import Paper
from experiments.config.paths import ROOT
from experiments.config.setting import is_among, keep_entries
from experiments.config.study import PaperError, Study
from experiments.judge.numbers.number_verdict import STATISTICS, PrintedNumber, is_blank

_REQUIRED = ("id", "table", "dataset", "metric", "statistic", "value", "decimals", "source")


def read_reported(path: str | Path) -> pd.DataFrame:
    """Read the file of a paper's printed numbers.

    A CSV file with the columns id, table, dataset, algorithm, metric, statistic, value, decimals, source and one column
    for every setting that selects cells (``epsilon``, ``params.<name>``); see `PrintedNumber`. A column ``runs`` says
    of single numbers over how many runs they may be means, ``4;10``, where that is not the paper's ``printed_repeats``.
    PaperError if it is missing, lacks a column, or names a statistic, an id or a number of runs wrongly.
    """
    try:
        reported = pd.read_csv(path, dtype={"id": str, "table": str, "source": str, "runs": str})
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
    for name, runs in zip(reported["id"], reported.get("runs", ()), strict=False):
        if not _is_list_of_runs(runs):
            raise PaperError(f"{path}: {name}: runs are numbers of runs, each once, such as 4;10; got {runs!r}")
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
        entries = keep_entries(row, ("id", "table", "metric", "statistic", "value", "source"))
        runs = () if is_blank(row.get("runs")) else tuple(map(int, row["runs"].split(";")))
        numbers.append(PrintedNumber(**entries, decimals=int(row["decimals"]), setting=read_setting(row), runs=runs))
    return numbers


def _is_list_of_runs(runs: Any) -> bool:
    """Return whether a field is blank, or has whole numbers from 1 on, each once."""
    if is_blank(runs):
        return True
    parts = [part.strip() for part in runs.split(";")]
    return all(part.isdecimal() and int(part) for part in parts) and len(set(map(int, parts))) == len(parts)


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
