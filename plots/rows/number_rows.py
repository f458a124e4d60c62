"""Printed numbers as pages and the terminal show them: rows of a dot plot, the printed number beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from experiments.config.finding import Sign
from experiments.config.paper import Paper
from experiments.judge.verdict import SIGN_OF
from experiments.metrics.find import is_in_per_cent
from plots import labels
from plots.rows.strips import Axis, Strip, make_number_axis, place_number
from plots.runs.run_folder import PaperRun


@dataclass(frozen=True)
class NumberRow:
    """A printed number beside ours.

    Parameters
    ----------
    id, what : str
        Its name, and what it is a number of.
    sign : Sign
        What a reader learns first.
    verdict, reason : str
        The finer kind, and why.
    printed, ours, interval, prediction : str
        The printed number, our mean with its 95 % interval, and where the paper's mean would fall.
    repeats : str
        How many repeats ours is the mean of, and how many there should be if some are missing.
    source : str
        Where it is printed.
    strip : Strip or None
        Where both stand; None where there is no common axis, or nothing of ours.
    """

    id: str
    what: str
    sign: Sign
    verdict: str
    reason: str
    printed: str
    ours: str
    interval: str
    prediction: str
    repeats: str
    source: str
    strip: Strip | None


@dataclass(frozen=True)
class DotPlot:
    """The printed numbers that share an axis.

    Parameters
    ----------
    unit : str
        Of the numbers; empty where they share none.
    ticks : list of (float, str)
        Where the labels of the axis stand, from 0 to 1.
    rows : list of NumberRow
        In the order of the file of printed numbers.
    """

    unit: str
    ticks: list[tuple[float, str]]
    rows: list[NumberRow]


def list_dot_plots(run: PaperRun) -> list[DotPlot]:
    """Return the printed measurements of a paper: those in per cent on one axis, the others without any."""
    measured = run.numbers[run.numbers["statistic"] != "exact"]
    is_percentage = measured["metric"].map(is_in_per_cent).astype(bool)
    plots = []
    if is_percentage.any():
        rows = measured[is_percentage].to_dict("records")
        axis = make_number_axis([row[name] for row in rows for name in ("printed", "mean")])
        ticks = [(axis.place(tick), f"{100 * tick:.4g}") for tick in axis.list_ticks()]
        plots.append(DotPlot("%", ticks, [make_row(run.paper, row, axis) for row in rows]))
    others = measured[~is_percentage].to_dict("records")
    return [*plots, DotPlot("", [], [make_row(run.paper, row) for row in others])] if others else plots


def list_facts(run: PaperRun) -> list[NumberRow]:
    """Return the printed facts of data sets beside what was counted."""
    facts = run.numbers[run.numbers["statistic"] == "exact"]
    return [make_row(run.paper, row) for row in facts.to_dict("records")]


def make_row(paper: Paper, row: Mapping[str, Any], axis: Axis | None = None) -> NumberRow:
    """Return a row of ``numbers.csv`` as it is read; ``axis`` is what its strip stands on."""
    metric, decimals = row["metric"], row["decimals"]
    strip = None
    if axis is not None and row["n"] > 0:
        strip = place_number(axis, row["mean"], row["ci_low"], row["ci_high"], row["printed"])
    return NumberRow(
        id=row["id"],
        what=labels.label_result(paper, row),
        sign=SIGN_OF[row["verdict"]],
        verdict=row["verdict"],
        reason=row["reason"],
        printed=labels.format_number(metric, row["printed"], decimals),
        ours=labels.format_number(metric, row["mean"], decimals),
        interval=labels.format_interval(metric, row["ci_low"], row["ci_high"], decimals),
        prediction=labels.format_interval(metric, row["prediction_low"], row["prediction_high"], decimals),
        repeats=format_count(row),
        source=row["source"],
        strip=strip,
    )


def format_count(row: Mapping[str, Any]) -> str:
    """Return how many repeats a number has, and how many there should be if some are missing.

    Examples
    --------
    >>> format_count({"n": 3, "n_expected": 10}), format_count({"n": 10, "n_expected": 10})
    ('3 of 10', '10')
    """
    return str(row["n"]) if row["n"] == row["n_expected"] else f"{row['n']} of {row['n_expected']}"
