"""A figure of kind ``tradeoff``: one metric against another, a curve for each method as its parameter varies."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.config.selection import PaperError, axis, center_of, matches, study_of
from experiments.judge import series, tradeoffs
from experiments.judge.preflight import check_metrics
from experiments.stats import center_interval
from plots.labels import metric_label, scaled, value_label
from plots.style import ALARM, DASHES, GRID, INK, MARKERS, QUALITATIVE, write_title


def frame(paper: Mapping, item: Mapping, table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per point of each curve.

    Returns
    -------
    DataFrame
        ``curve`` (from 0), ``value`` of the parameter, and for both metrics, under ``x`` and ``y``, their center and
        interval (``x_low``, ...); n, n_expected.
    """
    rows = []
    for i, curve in enumerate(item["curves"]):
        cells = tradeoffs.points(paper, item, curve, table, [item["x"], item["y"]])
        study = study_of(paper, curve | {"id": item["id"]})
        for value in axis(study, curve["along"], curve.get("where")):
            part = cells[matches(cells["value"], value)]
            row = {"curve": i, "value": value}
            for name in ("x", "y"):
                interval = center_interval(center_of(paper, item, item[name]), part[item[name]].to_numpy(dtype=float))
                row |= {name: interval.center, f"{name}_low": interval.low, f"{name}_high": interval.high}
            rows.append(row | {"n": len(part), "n_expected": int(paper["repeats"])})
    return pd.DataFrame(rows)


def check(paper: Mapping, item: Mapping) -> None:
    """Check the curves of a figure before any cell has run.

    Raises
    ------
    PaperError
        If one is none.
    """
    for curve in item["curves"]:
        if not isinstance(curve.get("label"), str):
            raise PaperError(f"{item['id']}: a curve of a figure needs a label")
        tradeoffs.check(paper, item, {key: value for key, value in curve.items() if key != "label"})
        check_metrics(paper, curve | {"id": item["id"], "metric": [item["x"], item["y"]]})


def figure(paper: Mapping, item: Mapping, points: pd.DataFrame) -> Figure:
    """Draw what `frame` found."""
    drawn = Figure(figsize=(8.8, 5.2), layout="constrained")
    FigureCanvasAgg(drawn)
    axes = drawn.add_subplot()
    handles = [_draw_curve(axes, paper, item, i, points[points["curve"] == i]) for i in range(len(item["curves"]))]
    axes.set_xlabel(metric_label(paper, item["x"]))
    axes.set_ylabel(metric_label(paper, item["y"]))
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if note := series.shortfall(points):
        axes.set_title(note, loc="left", fontsize=11, fontweight="bold", color=ALARM)
    interval = Line2D([], [], linestyle="none", marker="+", markersize=12, color=INK, label="95 % intervals")
    drawn.legend(handles=[*handles, interval], loc="outside right upper", frameon=False, fontsize=10, handlelength=3.2)
    write_title(drawn, axes, item["title"])
    return drawn


def _draw_curve(axes, paper: Mapping, item: Mapping, i: int, points: pd.DataFrame) -> Line2D:
    curve, color = item["curves"][i], QUALITATIVE[i % len(QUALITATIVE)]
    shown = points.assign(
        **{
            name: points[name].map(lambda value, m=item[name[0]]: scaled(m, value))
            for name in points
            if name[0] in "xy"
        }
    )
    axes.vlines(shown["x"], shown["y_low"], shown["y_high"], colors=color, linewidth=1.0, alpha=0.7)
    axes.hlines(shown["y"], shown["x_low"], shown["x_high"], colors=color, linewidth=1.0, alpha=0.7)
    style = {"marker": MARKERS[i % len(MARKERS)], "dashes": DASHES[i % len(DASHES)], "markersize": 5.5}
    (line,) = axes.plot(shown["x"], shown["y"], color=color, label=curve["label"], zorder=3, **style)
    for point in shown.dropna(subset=["x", "y"]).to_dict("records"):
        place = {"xy": (point["x"], point["y"]), "xytext": (5, 4), "textcoords": "offset points"}
        axes.annotate(value_label(paper, point["value"]), color=color, fontsize=8.5, **place)
    return line
