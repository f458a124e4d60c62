"""``do=results``: what the store has of some settings, as a table, as CSV or JSON, or as a page to explore."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pandas as pd
from rich.markup import escape

from algorithms.accounting.faults import join_names
from documents import search_path
from experiments.cells.cell import read_epsilon
from experiments.commands.row_output import read_output, read_page, write_rows
from experiments.config.paths import CONF
from experiments.config.setting import drop_entries, is_among
from experiments.errors import BadInput, print_to_stderr, suggest_name
from experiments.judge.words import MISSING, name_setting, name_value
from experiments.python_api.pages import write_page
from experiments.python_api.results import ABOUT_RUNS, load_results
from experiments.request import SweepRequest
from experiments.stats import mean_interval

_USUAL = ("accuracy", "mse", "r2")
_STATUS = ("done", "failed")
_HEADS = {"dataset": "data set", "epsilon": "ε"}
_MOST_SHOWN = 200
_DECIMALS = 2
_BESIDE = ("metric", "version")  # what tells lines apart beside the setting


def run_command(request: SweepRequest) -> int:
    """Print what is asked for; returns the exit code."""
    page = read_page(request.config)
    output = read_output(request.config["output"])
    chosen = _choose_rows(load_results(request.results_folder, outdated=True), request)
    outdated, with_outdated = chosen[~chosen["current"]], request.read_flag("outdated")
    if not with_outdated:
        chosen = chosen[chosen["current"]].drop(columns=["version", "current"])
    if not with_outdated and not outdated.empty:
        print_to_stderr(_explain_left_out(outdated))
    if chosen.empty:
        print_to_stderr("the store has no cell of these settings")
        return 1
    chosen = chosen.dropna(axis=1, how="all")
    if page:
        write_page(chosen, page)
        print_to_stderr(f"{len(chosen):,} rows of {chosen['key'].nunique():,} cells are in {page}")
    elif output == "table":
        _print_table(chosen)
    else:
        write_rows(chosen, output)
    return 0


def _explain_left_out(outdated: pd.DataFrame) -> str:
    """Return how many cells are left out and why: what is in a folder of a user that is not named is unknown."""
    n_cells = outdated["key"].nunique()
    left_out = f"{n_cells:,} cells of other code, data or libraries are left out: outdated=true shows them, too"
    known = {*search_path.list_choices(CONF / "dataset"), *search_path.list_choices(search_path.ALGORITHMS)}
    unknown = [name for name in pd.unique(outdated[["dataset", "algorithm"]].to_numpy().ravel()) if name not in known]
    if not unknown:
        return left_out
    return f"{left_out}; unknown here: {join_names(unknown, 'names')}; --config-dir FOLDER adds a folder of your own"


def _choose_rows(frame: pd.DataFrame, request: SweepRequest) -> pd.DataFrame:
    """Return the rows of the settings, metrics and status that are asked for."""
    asked: dict[str, list] = {
        "dataset": request.list_choices("dataset"),
        "algorithm": request.list_choices("algorithm"),
    }
    single = [request.config["epsilon"]] if request.config["epsilon"] is not None else []
    asked["epsilon"] = list(map(read_epsilon, request.values.get("epsilon", single)))
    for name, values in drop_entries(request.values, ["dataset", "algorithm", "epsilon", "metrics"]).items():
        asked[name.replace("algorithm.", "params.", 1)] = values
    status, metrics = request.config["status"], request.values.get("metrics", _USUAL)
    if status not in (None, *_STATUS):
        raise BadInput(f"status must be done or failed; {suggest_name(str(status), _STATUS)}")
    is_chosen = frame["metric"].isna() | frame["metric"].isin(list(metrics))
    if status is not None:
        is_chosen &= frame["status"] == status
    for name, values in asked.items():
        if not values:
            continue
        if name not in frame.columns:
            known = [column for column in frame.columns if column.startswith("params.")]
            hint = suggest_name(name, known).replace("params.", "algorithm.")
            raise BadInput(f"no stored cell has {name.replace('params.', 'algorithm.')}; {hint}")
        is_chosen &= frame[name].map(lambda cell, values=values: is_among(cell, values))
    return frame[is_chosen]


def _print_table(rows: pd.DataFrame) -> None:
    """Print a line for each setting and metric: how many runs there are, their mean, and half of its 95 % interval."""
    from plots.pages.terminal import make_table, open_console  # matplotlib is slow to import

    names = [name for name in rows.columns if name not in ABOUT_RUNS or name in _BESIDE]
    fixed = [name for name in names if name != "metric" and rows[name].nunique(dropna=False) == 1]
    shown = [name for name in names if name not in fixed] or ["algorithm"]
    table, console = make_table(), open_console(sys.stdout)
    for name in shown:
        table.add_column(escape(_HEADS.get(name, name.removeprefix("params."))), overflow="fold")
    for name in ("runs", "failed", "mean", "±"):
        table.add_column(name, justify="right")
    groups = list(rows.groupby(shown, dropna=False))
    for setting, group in groups[:_MOST_SHOWN]:
        table.add_row(*map(escape, map(_format_value, setting)), *_format_runs(group))
    console.print(escape(name_setting({name: rows[name].iloc[0] for name in fixed})), style="bold")
    console.print(table)
    if len(groups) > _MOST_SHOWN:
        console.print(f"... and {len(groups) - _MOST_SHOWN:,} more settings: choose some, or output=csv has all")


def _format_runs(group: pd.DataFrame) -> list[str]:
    """Return how many runs there are of a setting, how many failed, the mean of a metric, and its interval."""
    from plots.labels import format_number

    n_failed = int((group["status"] == "failed").sum())
    counts = [str(len(group) - n_failed), str(n_failed or "")]
    metric = group["metric"].iloc[0] if "metric" in group else None
    if metric is None or pd.isna(metric):
        return [*counts, MISSING, ""]
    interval = mean_interval(group["value"].dropna().to_numpy())
    half = interval.high - interval.center
    reach = "" if math.isnan(half) else format_number(metric, half, _DECIMALS)
    return [*counts, format_number(metric, interval.center, _DECIMALS), reach]


def _format_value(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return MISSING
    return name_value(value) if isinstance(value, float) else str(value)
