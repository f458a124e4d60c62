"""A paper is data: its studies become cells, its results a folder."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from experiments import estimators, provenance, selection
from experiments.cells import Cell
from experiments.errors import BadInput, suggestion
from experiments.leakage import LEAKS
from experiments.protocol import metric_names
from experiments.settings import expand
from experiments.store import Record
from experiments.table import long_table

_STUDY = ("dataset", "algorithm", "params", "epsilon", "depends", "protocol")


def studies(paper: Mapping) -> dict[str, list[Cell]]:
    """Return the cells of every study.

    A study names lists of data sets, algorithms, parameters and budgets; every combination, times the paper's
    ``repeats``, is a cell. Where the algorithms of a study need parameters of their own, the paper has
    ``algorithms: {name: {parameter: value}}``; they replace the defaults of ``conf/algorithm`` throughout the paper.
    Where a parameter follows another axis (trees that belong to a budget, a depth that belongs to a data set), the
    study has ``depends: {parameter: {axis: {value: given}}}``, which replaces both and is not an axis itself.

    Raises
    ------
    BadInput
        If a study cannot be run as it is written.

    Examples
    --------
    >>> study = {"dataset": ["car"], "algorithm": ["majority"], "epsilon": [1.0]}
    >>> len(studies({"repeats": 3, "studies": {"floor": study}})["floor"])
    3
    """
    found = {}
    for name, study in (paper.get("studies") or {}).items():
        if not isinstance(name, str) or "+" in name:
            raise BadInput(f"study {name!r}: choose a name of letters; + joins the names of studies in cells.csv")
        for key in study:
            if key not in _STUDY:
                raise BadInput(f"study {name!r}: unknown key {key!r}; {suggestion(key, _STUDY)}")
        for key in ("dataset", "algorithm"):
            if key not in study:
                raise BadInput(f"study {name!r} names no {key}")
        try:
            values = selection.axes(study)
            _check_distinct(values)
            settings = expand(
                values, paper["repeats"], paper.get("algorithms"), study.get("protocol"), study.get("depends")
            )
        except (ValueError, TypeError) as error:
            raise BadInput(f"study {name!r}: {error}") from error
        found[name] = [cell for cells in settings for cell in cells]
    if not found:
        raise BadInput("the paper has no studies")
    return found


def _check_distinct(values: Mapping[str, list]) -> None:
    for axis, named in values.items():
        if len({selection.setting_key([value]) for value in named}) < len(named):
            raise BadInput(f"{axis} names a value twice: {named}")


def check(paper: Mapping) -> None:
    """Check all that is to be made of a paper's results, before hours are spent on them.

    Raises
    ------
    BadInput
        If a table, figure or claim asks for what the paper does not run, or the printed numbers cannot be read.
    """
    from plots import check  # as in `write`

    check(dict(paper))


def check_metrics(paper: Mapping, item: Mapping) -> None:
    """Check that the data sets of a table, figure or claim have its metrics.

    Raises
    ------
    PaperError
        If one has not.
    """
    metrics = item["metric"] if isinstance(item["metric"], list) else [item["metric"]]
    study = selection.study_of(paper, item)
    leaks = () if (study.get("protocol") or {}).get("leakage") else LEAKS
    for dataset in selection.axis(study, "dataset", item.get("where")):
        known = [name for name in metric_names(dataset) if name not in leaks]
        for metric in metrics:
            if metric not in known:
                raise selection.PaperError(
                    f"{item['id']}: {dataset} has no metric {metric!r}; {suggestion(metric, known)}"
                )


def prepare(folder: Path) -> None:
    """Make the folder of a paper's results, before hours are spent on what could not be written then.

    Raises
    ------
    BadInput
        If it cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or error
        raise BadInput(f"{folder} cannot be written to ({reason}); choose another with results=FOLDER") from error


def cells_csv(table: pd.DataFrame) -> str:
    """Return a long table as it is kept: equal runs give equal bytes.

    Times are left out, which differ from run to run; and privacy, which is the report's to tell.
    """
    return table.drop(columns=["fit_seconds", "privacy"]).to_csv(index=False, lineterminator="\n")


def write(
    paper: Mapping, folder: Path, cells: Mapping[str, list[Cell]], records: Mapping[str, Record], arguments: list[str]
) -> None:
    """Write a paper's results: cells, timings, provenance, and all that `plots.publish` makes of them.

    Parameters
    ----------
    paper : mapping
        Its description.
    folder : Path
        As `prepare` made it.
    cells : mapping of str to list of Cell
        By study.
    records : mapping of str to Record
        Results by key.
    arguments : list of str
        Of the command line.
    """
    from plots import publish  # matplotlib is slow to import and is needed only here, at the end

    table = long_table(cells, records)
    (folder / "cells.csv").write_text(cells_csv(table), encoding="utf-8")
    table[["key", "fit_seconds"]].to_csv(folder / "timings.csv", index=False, lineterminator="\n")
    facts = provenance.gather(arguments, table["dataset"].unique(), paper["repeats"])
    facts |= {"instead": paper["used_instead"]} if "used_instead" in paper else {}
    elsewhere = {
        name: found
        for algorithm in sorted(table["algorithm"].unique())
        for name, found in estimators.packages(algorithm).items()
    }
    facts |= {"versions_of_peers": elsewhere} if elsewhere else {}
    (folder / "provenance.json").write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    publish(dict(paper), table, folder)
