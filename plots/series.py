"""The numbers behind one table or figure as text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from experiments.metrics.find import is_in_per_cent
from experiments.questions.exhibits.series import name_of_center, note_missing_cells
from plots.labels import format_interval, format_number


def note_shortfall(series: pd.DataFrame) -> str:
    """Return the note on what is missing of a whole table or figure.

    Examples
    --------
    >>> note_shortfall(pd.DataFrame({"n": [10, 7], "n_expected": [10, 10]}))
    'INCOMPLETE: 17 of 20 cells'
    >>> note_shortfall(pd.DataFrame({"n": [10], "n_expected": [10]}))
    ''
    >>> note_shortfall(pd.DataFrame({"x": [], "y": []}))
    'INCOMPLETE: data set not available'
    """
    if "n" not in series:  # drawn from the rows of a data set, not from cells
        return "" if len(series) else "INCOMPLETE: data set not available"
    return note_missing_cells(int(series["n"].sum()), int(series["n_expected"].sum()))


def count_decimals(series: pd.DataFrame) -> int:
    """Return how many decimals to show: as many as the paper prints, else two, three of R², three digits of an error.

    Examples
    --------
    >>> count_decimals(pd.DataFrame({"metric": ["mse"] * 2, "mean": [0.0123, 0.5], "decimals": [math.nan] * 2}))
    4
    """
    printed, sizes = series["decimals"].dropna(), series[name_of_center(series)].abs()
    metric = series["metric"].iloc[0]
    if len(printed):
        return int(printed.max())
    if is_in_per_cent(metric) or not (sizes > 0).any():
        return 2
    if metric == "r2":
        return 3
    # an exact fit leaves errors of 1e-30, of which no reader wants thirty decimals
    return min(max(0, 2 - math.floor(math.log10(sizes[sizes > 0].min()))), 6)


def describe_points(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return each row of `summarise_metrics` as text; see `describe_point`."""
    decimals = {metric: count_decimals(part) for metric, part in frame.groupby("metric")}
    center = name_of_center(frame)
    return [describe_point(point, center, decimals[point["metric"]]) for point in frame.to_dict("records")]


def describe_point(point: Mapping[str, Any], center: str, decimals: int) -> dict[str, Any]:
    """Return a row of `summarise_metrics` as text, with so many decimals.

    It has ``ours``, ``interval``, ``band`` (the half-width of an interval, the ends of one that is not symmetric),
    ``printed``, ``verdict`` and ``note``, and as a number ``n``.
    """
    metric, low, high = point["metric"], point["ci_low"], point["ci_high"]
    interval = format_interval(metric, low, high, decimals)
    half = format_number(metric, high - point[center], decimals)
    if center == "median" or half != format_number(metric, point[center] - low, decimals):
        band = f"({interval})" if interval else ""
    else:
        band = f"± {half}" if interval else ""
    printed = "" if pd.isna(point["printed"]) else format_number(metric, point["printed"], int(point["decimals"]))
    return {
        "ours": format_number(metric, point[center], decimals),
        "interval": interval,
        "band": band,
        "printed": printed,
        "verdict": point["verdict"],
        "note": point["note"],
        "n": point["n"],
    }
