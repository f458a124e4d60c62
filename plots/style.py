"""Figures in the manner of the papers: one line per setting, intervals as bars, printed numbers as crosses.

Lines differ in marker, dash and lightness, so that a grey print is as readable as the coloured one. What lies
beyond an axis is marked at its end with its value. The files are the same bytes on every run.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.config import estimators
from experiments.config.selection import axis, study_of
from experiments.judge.series import ours, shortfall
from experiments.judge.verdict import is_in_per_cent
from plots import y_axis
from plots.labels import axis_labels, label, metric_label, scaled

INK, GRID, ALARM = "#1f2328", "#d7dce1", "#b42318"
#: Light to dark, lightness falling evenly: the grey order is the order of the values.
SEQUENTIAL = ("#2fa8a0", "#2a91a5", "#2f7aa6", "#3f62a0", "#4c4a93", "#523282", "#511b6b", "#450a4f")
#: Distinct hues of distinct lightness, for things without an order.
QUALITATIVE = ("#0a3d7a", "#d1661f", "#3b9c6d", "#9c4f96", "#7a7a7a", "#b8860b", "#1b9fc0", "#7a1f2b")
MARKERS = ("o", "s", "^", "D", "v", "p", "<", "h")
DASHES = ((), (5, 1.6), (2.2, 1.4), (6, 1.5, 1.5, 1.5), (1, 1.2), (8, 2), (4, 1.2, 1, 1.2, 1, 1.2), (3, 3))
#: Pixels between the title and what stands beside it.
_APART = 12
_STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.fonttype": "path",
    "axes.unicode_minus": True,
}


def draw(paper: Mapping, item: Mapping, series: pd.DataFrame, folder: Path) -> list[Path]:
    """Draw a figure and write it as SVG and PNG, with the CSV that it is drawn from.

    Parameters
    ----------
    paper, item : mapping
        The paper and the figure of it (``x``, ``lines``, ``metric``; ``y``, ``bottom`` and ``top`` as in
        `plots.y_axis`).
    series : DataFrame
        As from `experiments.judge.series.summarise` over ``[lines, x]``.
    folder : Path
        Where the files go; it must exist.

    Returns
    -------
    list of Path
        The three files.
    """
    return write(item["id"], lambda: _figure(paper, item, series), series, folder)


def write(name: str, build: Callable[[], Figure], frame: pd.DataFrame, folder: Path) -> list[Path]:
    """Write a figure as SVG and PNG, and what it is drawn from as CSV; returns the three files.

    It is built in here, because what is drawn takes its style when it is made.
    """
    paths = [folder / f"{name}.{ending}" for ending in ("svg", "png", "csv")]
    with matplotlib.rc_context(_STYLE | {"svg.hashsalt": name}):
        figure = build()
        figure.savefig(paths[0], metadata={"Date": None, "Creator": None})
        figure.savefig(paths[1], dpi=150, metadata={"Software": None})
    frame.to_csv(paths[2], index=False, float_format="%.10g", lineterminator="\n")
    return paths


def _figure(paper: Mapping, item: Mapping, series: pd.DataFrame) -> Figure:
    study = study_of(paper, item)
    lines, xs = axis(study, item["lines"], item.get("where")), places(study, item)
    figure = Figure(figsize=(8.4 + 0.75 * max(len(xs) - 9, 0), 5.0), layout="constrained")  # room for every tick's text
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    limits = y_axis.limits_of(item, series)
    handles, beyond = [], []
    for i, (value, text) in enumerate(zip(lines, axis_labels(paper, item["lines"], lines), strict=True)):
        points = _Points.of(series.iloc[i * len(xs) : (i + 1) * len(xs)], _dodge(i, len(lines)))
        style = _line_style(value, i, lines) | ({"linewidth": 0} if item["x"] == "metric" else {})
        handles.append(_draw_line(axes, points, limits, style, text))
        beyond += points.beyond(limits, style["color"])
        _draw_level(axes, series.iloc[i * len(xs)], style["color"])
    _dress(axes, paper, item, xs, limits, ours(series))
    _mark_places(axes, item.get("marks") or {}, xs)
    above, below = y_axis.mark(axes, beyond, limits)
    if below:
        axes.tick_params(axis="x", pad=y_axis.padding(below))
    if note := shortfall(series):
        pad = y_axis.padding(above)
        axes.set_title(note, loc="left", fontsize=11, fontweight="bold", color=ALARM, pad=pad)
    figure.legend(
        handles=handles + _explanations(series, bool(beyond)),
        title=label(paper, item["lines"]),
        alignment="left",
        loc="outside right upper",
        frameon=False,
        fontsize=10,
        handlelength=3.2,
        labelspacing=0.65,
    )
    write_title(figure, axes, item["title"])
    return figure


def places(study: Mapping, item: Mapping) -> list:
    """Return the values on the x axis of a figure: of an axis of its study, or several metrics."""
    return item["metric"] if item["x"] == "metric" else axis(study, item["x"], item.get("where"))


def _dodge(i: int, n: int) -> float:
    """Shift lines sideways a little, so that their bars do not hide each other."""
    return (i - (n - 1) / 2) * min(0.07, 0.5 / n)


def _line_style(value, i: int, lines: list) -> dict:
    if value in estimators.names() and estimators.own_epsilon(value):  # without noise whatever ε: a level to reach
        return {"color": INK, "marker": "", "dashes": (), "linewidth": 1.6}
    if isinstance(value, float) and math.isinf(value):
        return {"color": INK, "marker": "*", "dashes": (), "linewidth": 2.4, "markersize": 9}
    ordered = all(isinstance(one, int | float) and not isinstance(one, bool) for one in lines)
    if ordered:
        finite = sum(not math.isinf(one) for one in lines)
        color = SEQUENTIAL[round(i * (len(SEQUENTIAL) - 1) / max(finite - 1, 1))]
    else:
        color = QUALITATIVE[i % len(QUALITATIVE)]
    shape = {"marker": MARKERS[i % len(MARKERS)], "dashes": DASHES[i % len(DASHES)]}
    return shape | {"color": color, "linewidth": 1.6, "markersize": 5.5}


@dataclass(frozen=True)
class _Points:
    """What is drawn of one line, on the scale of the axis."""

    positions: list[float]
    center: list[float]
    low: list[float]
    high: list[float]
    printed: list[float]

    @classmethod
    def of(cls, series: pd.DataFrame, offset: float) -> _Points:
        names = (ours(series), "ci_low", "ci_high", "printed")
        columns = ([scaled(*pair) for pair in zip(series["metric"], series[name], strict=True)] for name in names)
        return cls([i + offset for i in range(len(series))], *columns)

    def beyond(self, limits: y_axis.Limits, color: str) -> list[y_axis.Beyond]:
        return [
            y_axis.Beyond(i, self.positions[i], value, color, is_printed)
            for values, is_printed in ((self.center, False), (self.printed, True))
            for i, value in enumerate(values)
            if not limits.hold(value)
        ]


def _draw_line(axes, points: _Points, limits: y_axis.Limits, style: dict, text: str) -> Line2D:
    # an interval that reaches zero has no lower end on a logarithmic axis: it ends where the axis does
    low, high = ([max(value, limits.bottom) for value in values] for values in (points.low, points.high))
    axes.vlines(points.positions, low, high, colors=style["color"], linewidth=1.1, alpha=0.8)
    shown = [i for i, value in enumerate(points.center) if limits.hold(value)]
    # likewise a point at zero, which lies infinitely far down there; other lines leave the axis by their own slope
    center = [limits.bottom if value <= 0 < limits.bottom else value for value in points.center]
    (line,) = axes.plot(
        points.positions,
        center,
        markeredgecolor="white",
        markeredgewidth=0.5,
        zorder=3,
        label=text,
        markevery=shown,
        **style,
    )
    marks = {"marker": "x", "linestyle": "none", "markersize": 7, "markeredgewidth": 1.7, "zorder": 4}
    printed = [value if limits.hold(value) else math.nan for value in points.printed]
    axes.plot(points.positions, printed, color=style["color"], **marks)
    return line


def _draw_level(axes, first: pd.Series, color: str) -> None:
    """Draw a number that is printed without its setting as a level, crossed at the right end."""
    if pd.isna(first.get("unplaced")):
        return
    value = scaled(first["metric"], first["unplaced"])
    axes.axhline(value, color=color, linewidth=1.0, linestyle=(0, (1, 3)), zorder=1)
    style = {"marker": "x", "markersize": 7, "markeredgewidth": 1.7, "linestyle": "none", "clip_on": False}
    axes.plot([1.0], [value], color=color, transform=axes.get_yaxis_transform(), **style)


def _dress(axes, paper: Mapping, item: Mapping, xs: list, limits: y_axis.Limits, center: str) -> None:
    names = axis_labels(paper, item["x"], xs)
    axes.set_xticks(range(len(xs)), [name.replace(", ", ",\n") for name in names] if item["x"] == "metric" else names)
    axes.set_xlim(-0.5, len(xs) - 0.5)
    if item["x"] == "metric":
        axes.set_ylabel("%" if all(map(is_in_per_cent, item["metric"])) else "")
    else:
        axes.set_xlabel(label(paper, item["x"]))
        axes.set_ylabel(metric_label(paper, item["metric"]) + (", median" if center == "median" else ""))
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if item.get("y") == "log":
        y_axis.dress_log(axes, limits)
    else:
        axes.ticklabel_format(axis="y", useOffset=False)
    if math.isfinite(limits.top):
        axes.set_ylim(limits.bottom, limits.top)
    if any(isinstance(x, float) and math.isinf(x) for x in xs[1:]):
        axes.axvline(len(xs) - 1.5, color=GRID, linewidth=1.2, linestyle=(0, (4, 3)), zorder=0)
    low, high = axes.get_ylim()
    if all(map(is_in_per_cent, xs if item["x"] == "metric" else [item["metric"]])) and high > 100 and "top" not in item:
        # nothing is above 100 %: only room for a marker that sits on it
        axes.set_ylim(low, 100 + 0.03 * (100 - low))


def _mark_places(axes, marks: Mapping[str, float], xs: list) -> None:
    """Draw a vertical line with its name at each of some values of a numeric x axis, between ticks if need be."""
    if not marks:
        return
    places = [float(np.interp(value, xs, range(len(xs)))) for value in marks.values()]
    for place in places:
        axes.axvline(place, color=INK, linewidth=1.0, linestyle=(0, (2, 2)), alpha=0.7, zorder=1)
    names = axes.secondary_xaxis("top")
    names.set_xticks(places, list(marks), rotation=35, ha="left", fontsize=9.5)
    names.tick_params(length=3, pad=1)
    names.spines["top"].set_visible(False)


def write_title(figure: Figure, axes, title: str) -> None:
    """Write the title, in as many lines as it takes to stay left of the legend, that is, above the axes."""
    text = figure.suptitle(title, x=0.01, ha="left", fontsize=12.5, fontweight="bold")
    figure.draw_without_rendering()  # lays out legend and axes; only then is the right edge of the axes known
    for width in range(len(title) - 1, 0, -1):
        if text.get_window_extent().x1 <= axes.get_window_extent().x1 - _APART:
            return
        text.set_text(textwrap.fill(title, width, break_long_words=False))


def _explanations(series: pd.DataFrame, is_cut: bool) -> list[Line2D]:
    """Return legend entries for bars, crosses and ends of the axis; those that do not occur are left out."""
    least, most = int(series["n"].min()), int(series["n"].max())
    repeats = f"{most} repeats" if least == most else f"{least} to {most} repeats"
    entries = [Line2D([], [], linestyle="none", label=" ")]
    if series["ci_low"].notna().any():
        style = {"linestyle": "none", "marker": "|", "markersize": 13, "markeredgewidth": 1.3, "color": INK}
        median = "of the median,\n" if ours(series) == "median" else ""
        entries.append(Line2D([], [], label=f"95 % interval,\n{median}{repeats}", **style))
    if series["printed"].notna().any():
        style = {"linestyle": "none", "marker": "x", "markersize": 7, "markeredgewidth": 1.7, "color": INK}
        entries.append(Line2D([], [], label="printed in\nthe paper", **style))
    if "unplaced" in series:
        style = {"linestyle": (0, (1, 3)), "linewidth": 1.0, "marker": "x", "markersize": 7, "markeredgewidth": 1.7}
        entries.append(Line2D([], [], label="printed, its\nsetting not said", color=INK, **style))
    if is_cut:
        style = {"linestyle": "none", "marker": "^", "markersize": 7, "color": INK}
        entries.append(Line2D([], [], label="beyond the axis,\nvalue written", **style))
    return entries
