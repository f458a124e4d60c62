"""What a command would run, before it does: ``dry_run=true`` prints how many cells, and how long they may take."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd

from datasets.progress_bar import format_duration
from experiments.cells.cell import Cell
from experiments.errors import print_to_stderr
from experiments.run.executors.executor import Executor
from experiments.run.finished import find_finished
from experiments.run.more_metrics import find_lacking, merge_metrics
from experiments.store.database import Store


def print_plan(cells: Iterable[Cell], path: Path, where: Executor, anew: bool = False) -> None:
    """Print what `describe_plan` returns."""
    print_to_stderr(describe_plan(cells, path, where, anew))


def describe_plan(cells: Iterable[Cell], path: Path, where: Executor, anew: bool = False) -> str:
    """Return what a run of some cells would do, as text; the store need not be there, and does not count ``anew``.

    The time is a guess from the store: what earlier cells of the same algorithm on the same data set took, whatever
    their parameters were. Where there are none it says so.
    """
    asked = merge_metrics(cells)
    finished, seconds = _known(path, asked)
    finished = set() if anew else finished
    frame = pd.DataFrame(
        [(cell.dataset, cell.algorithm, key not in finished) for key, cell in asked.items()],
        columns=["dataset", "algorithm", "to run"],
    )
    plan = frame.groupby(["dataset", "algorithm"], sort=False)["to run"].agg(["size", "sum"]).reset_index()
    plan.columns = ["dataset", "algorithm", "cells", "to run"]
    plan["seconds a cell"] = [
        seconds.get(pair, math.nan) for pair in zip(plan["dataset"], plan["algorithm"], strict=True)
    ]
    shown = plan.to_string(index=False, na_rep="unknown", float_format="{:.3g}".format)
    n = int(plan["to run"].sum())
    return f"{shown}\n{len(asked):,} cells: {len(asked) - n:,} in {path}, {n:,} to run{_time(plan, where)}"


_FEW, _QUICK = 20, 2.0
"""Cells, and seconds of all of them together: to start processes takes as long."""


def spare_processes(cells: Iterable[Cell], path: Path, where: Executor) -> Executor:
    """Return an executor that runs a few cells in this process, if the store says that these are quick.

    What it says is the mean time of earlier cells of the same algorithm on the same data set, so it may be wrong; of a
    few cells only, that costs little. An executor that was chosen, by its number of jobs or a limit, stays.
    """
    if where != Executor() or not path.is_file():
        return where
    unique: dict[str, Cell] = {}
    for cell in cells:
        unique[cell.key] = cell
        if len(unique) > _FEW:
            return where
    done, seconds = _known(path, unique)
    pending = [cell for key, cell in unique.items() if key not in done]
    total = sum(seconds.get((cell.dataset, cell.algorithm), math.inf) for cell in pending)
    return replace(where, jobs=1) if total < _QUICK else where


def _time(plan: pd.DataFrame, where: Executor) -> str:
    waiting = plan[plan["to run"] > 0]
    known = waiting[waiting["seconds a cell"].notna()]
    total = float((known["to run"] * known["seconds a cell"]).sum()) / where.n_jobs
    n, n_known = int(waiting["to run"].sum()), int(known["to run"].sum())
    said = [f"{n_known:,} of them in about {format_duration(total)}, {where.n_jobs} at once"] if n_known else []
    said += [f"{n - n_known:,} are of a kind that never ran here: no guess"] if n > n_known else []
    return "; ".join(["", *said])


def _known(path: Path, asked: Mapping[str, Cell]) -> tuple[set[str], dict[tuple[str, str], float]]:
    """Return the keys that are done and lack no metric, and the mean seconds of a cell by data set and algorithm."""
    if not path.is_file():
        return set(), {}
    with Store(path) as store:
        return find_finished(asked, store) - find_lacking(asked, store).keys(), store.seconds()
