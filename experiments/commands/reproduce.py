"""``python -m experiments paper=N``: run a paper and write its results."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

from experiments.cells.cell import Cell
from experiments.config import estimators
from experiments.errors import BadInput
from experiments.store import provenance
from experiments.store.long_table import format_cells_csv, long_table
from experiments.store.record import Record


def check_paper(paper: Mapping) -> None:
    """Check all that is to be made of a paper's results, before hours are spent on them.

    Raises
    ------
    BadInput
        If a table, figure or claim asks for what the paper does not run, or the printed numbers cannot be read.
    """
    from plots import check  # as in `write`

    check(dict(paper))


def make_results_folder(folder: Path) -> None:
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


def write_results(
    paper: Mapping, folder: Path, cells: Mapping[str, list[Cell]], records: Mapping[str, Record], arguments: list[str]
) -> None:
    """Write a paper's results: cells, timings, provenance, and all that `plots.publish` makes of them.

    Parameters
    ----------
    paper : mapping
        Its description.
    folder : Path
        As `make_results_folder` made it.
    cells : mapping of str to list of Cell
        By study.
    records : mapping of str to Record
        Results by key.
    arguments : list of str
        Of the command line.
    """
    from plots import publish  # matplotlib is slow to import and is needed only here, at the end

    table = long_table(cells, records)
    (folder / "cells.csv").write_text(format_cells_csv(table), encoding="utf-8")
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
