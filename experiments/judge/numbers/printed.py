"""The printed numbers of a paper: ``results/reported/paper-N.csv``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from documents.search_path import name_stored
from experiments.config.paper import Paper, PaperError, Study
from experiments.config.paths import ROOT
from experiments.config.setting import is_among, keep_entries

_REQUIRED = ("id", "table", "dataset", "metric", "statistic", "value", "decimals", "source")
_STATISTICS = ("mean", "max", "exact", "formula", "some", "fitted")


@dataclass(frozen=True)
class PrintedNumber:
    """One number that a paper prints.

    Parameters
    ----------
    id : str
        Its name.
    table : str
        The table or figure that prints it, which names its study.
    metric : str
        What it measures; of a formula, the function of `experiments.judge.statements` that gives it.
    statistic : {"mean", "max", "exact", "formula", "some", "fitted"}
        A mean of one setting, the largest mean of several, a counted fact, the value of a printed formula, the number
        of a setting that the paper does not state, or one whose formula is lost, so that ours was fitted to it.
    value : float
        As printed, but a fraction for metrics that are printed in per cent.
    decimals : int
        Of the printed text.
    source : str
        Where it stands.
    setting : dict
        Columns of the file that select cells: ``dataset``, ``algorithm``, ``epsilon``, ``params.<name>``; a blank is a
        setting that is not stated.
    """

    id: str
    table: str
    metric: str
    statistic: str
    value: float
    decimals: int
    source: str
    setting: Mapping[str, Any]

    @property
    def dataset(self) -> str:
        """The data set that it is measured on."""
        return self.setting["dataset"]

    @property
    def algorithm(self) -> Any:
        """The algorithm that it is a result of; blank for facts of a data set."""
        return self.setting.get("algorithm")

    def select_part(self, study: Study, where: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the part of a study that the number speaks of, or None if it speaks of another."""
        return select_part(self.setting, study, where)


def read_reported(path: str | Path) -> pd.DataFrame:
    """Read the file of a paper's printed numbers.

    Parameters
    ----------
    path : path
        A CSV file with the columns id, table, dataset, algorithm, metric, statistic, value, decimals, source and one
        column for every setting that selects cells (``epsilon``, ``params.<name>``); see `PrintedNumber`.

    Raises
    ------
    PaperError
        If the file is missing, lacks a column, or names a statistic or an id wrongly.
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
    strange = sorted(set(reported["statistic"]) - set(_STATISTICS))
    if strange:
        raise PaperError(f"{path}: statistic {strange[0]!r} is unknown; it may be {', '.join(_STATISTICS)}")
    reported["algorithm"] = reported["algorithm"].map(name_stored)
    return reported


def read_numbers_of(paper: Paper) -> pd.DataFrame:
    """Return the file of a paper's printed numbers; a paper without the key ``reported`` has none."""
    if paper.reported is None:
        return pd.DataFrame(columns=list(_REQUIRED))
    return read_reported(ROOT / paper.reported)


def list_numbers(reported: pd.DataFrame) -> list[PrintedNumber]:
    """Return the rows of a file of printed numbers as objects."""
    return list(map(_parse_number, reported.to_dict("records")))


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


def is_blank(value: Any) -> bool:
    """Return whether a column of the file is empty: the setting is not stated."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _parse_number(row: Mapping[str, Any]) -> PrintedNumber:
    own = keep_entries(row, ("id", "table", "metric", "statistic", "value", "source"))
    return PrintedNumber(**own, decimals=int(row["decimals"]), setting=read_setting(row))
