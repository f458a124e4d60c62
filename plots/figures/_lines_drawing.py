"""Draw a figure of kind ``lines``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.config import estimators
from experiments.config.paper import Paper
from plots import style, y_axis
from plots.labels import label_metric, label_name, label_values, scale_value
from plots.series import name_of_center

if TYPE_CHECKING:
    from plots.figures.lines import LinesFigure

_NUMBER: dict[str, Any] = {"marker": "x", "markersize": 7, "markeredgewidth": 1.7}
"""How a printed number is marked."""
_NAMES = ("metric", "dataset", "algorithm")
"""What has no order along the bottom."""


def draw_lines(paper: Paper, figure: LinesFigure, series: pd.DataFrame) -> Figure:
    """Draw a figure of kind ``lines``.

    Parameters
    ----------
    paper : Paper
        The paper.
    figure : LinesFigure
        One of its figures.
    series : DataFrame
        As from `LinesFigure.make_frame`.
    """
    lines, xs = figure.list_line_values(paper), figure.list_x_values(paper)
    drawn = style.make_figure(8.4 + 0.75 * max(len(xs) - 9, 0), 5.0)  # room for every tick's text
    axes = drawn.add_subplot()
    limits = _find_limits(figure, series)
    panel_lines = []
    for i, (value, text) in enumerate(zip(lines, label_values(paper, figure.lines, lines), strict=True)):
        look = choose_look(value, i, lines)
        if figure.x in _NAMES:  # nothing lies between two of them
            look["linewidth"] = 0
        panel_lines.append(PanelLine(text, look, series.iloc[i * len(xs) : (i + 1) * len(xs)]))
    handles, beyond = draw_panel(axes, panel_lines, range(len(xs)), limits)
    _dress(axes, paper, figure, xs, limits, name_of_center(series))
    _mark_places(axes, figure.marks, xs)
    n_above, n_below = y_axis.mark_points(axes, beyond, limits)
    if n_below:
        axes.tick_params(axis="x", pad=y_axis.measure_padding(n_below))
    style.write_shortfall(axes, series, pad=y_axis.measure_padding(n_above))
    drawn.legend(
        handles=handles + make_explanations(series, bool(beyond)),
        title=label_name(paper, figure.lines),
        alignment="left",
        loc="outside right upper",
        frameon=False,
        fontsize=10,
        handlelength=3.2,
        labelspacing=0.65,
    )
    style.write_title(drawn, axes, figure.title)
    return drawn


class PanelLine(NamedTuple):
    """A line of a panel: how the legend calls it, how it looks, and its points."""

    text: str
    look: dict[str, Any]
    series: pd.DataFrame


def draw_panel(
    axes: Axes, lines: Sequence[PanelLine], places: Sequence[float], limits: y_axis.Limits
) -> tuple[list[Line2D], list[y_axis.PointBeyond]]:
    """Draw lines with their intervals.

    Parameters
    ----------
    axes : Axes
        Where they are drawn.
    lines : sequence of PanelLine
        Each with one point for each place.
    places : sequence of float
        Where the points stand on the x axis, in order; about one apart.
    limits : Limits
        The ends of the y axis.

    Returns
    -------
    handles : list of Line2D
        For a legend.
    beyond : list of PointBeyond
        The points that lie beyond the ends.
    """
    handles, beyond = [], []
    step = min(1.0, *np.diff(places)) if len(places) > 2 else 1.0
    for i, line in enumerate(lines):
        points = _LinePoints.read_series(line.series, places, step * _dodge(i, len(lines)))
        handles.append(_draw_line(axes, points, limits, line.look, line.text))
        beyond += points.list_beyond(limits, line.look["color"])
        _draw_level(axes, line.series.iloc[0], line.look["color"])
    return handles, beyond


def _find_limits(figure: LinesFigure, series: pd.DataFrame) -> y_axis.Limits:
    if figure.given_limits is None:
        return y_axis.Limits()
    values = y_axis.AxisValues(figure.metrics[0], series, figure.y == "log")
    return y_axis.find_limits(values, figure.given_limits)


def _dodge(i: int, n: int) -> float:
    """Shift lines sideways a little, so that their bars do not hide each other."""
    return (i - (n - 1) / 2) * min(0.07, 0.5 / n)


def choose_look(value: Any, i: int, lines: Sequence) -> dict[str, Any]:
    """Return the look of the line of a value, which is number ``i`` of some."""
    if _is_level(value):  # without noise whatever ε: a level to reach
        number = list(map(_is_level, lines[:i])).count(True)
        return {"color": style.INK, "marker": "", "dashes": style.DASHES[number % len(style.DASHES)], "linewidth": 1.6}
    if isinstance(value, float) and math.isinf(value):
        return {"color": style.INK, "marker": "*", "dashes": (), "linewidth": 2.4, "markersize": 9}
    if all(isinstance(line, int | float) and not isinstance(line, bool) for line in lines):
        n_finite = list(map(math.isinf, lines)).count(False)
        color = style.SEQUENTIAL[round(i * (len(style.SEQUENTIAL) - 1) / max(n_finite - 1, 1))]
    else:
        color = style.QUALITATIVE[i % len(style.QUALITATIVE)]
    return {**style.choose_shape(i), "color": color, "linewidth": 1.6, "markersize": 5.5}


def _is_level(value: Any) -> bool:
    return value in estimators.list_algorithms() and bool(estimators.own_epsilon(value))


@dataclass(frozen=True)
class _LinePoints:
    """What is drawn of one line, on the scale of the axis."""

    places: Sequence[float]
    positions: list[float]
    center: list[float]
    low: list[float]
    high: list[float]
    printed: list[float]

    @classmethod
    def read_series(cls, series: pd.DataFrame, places: Sequence[float], offset: float) -> _LinePoints:
        columns = []
        for name in (name_of_center(series), "ci_low", "ci_high", "printed"):
            columns.append(list(map(scale_value, series["metric"], series[name])))
        positions = np.asarray(places) + offset
        return cls(places, positions.tolist(), *columns)

    def list_beyond(self, limits: y_axis.Limits, color: str) -> list[y_axis.PointBeyond]:
        points = []
        for values, is_printed in ((self.center, False), (self.printed, True)):
            for i, value in enumerate(values):
                if not limits.hold(value):
                    points.append(y_axis.PointBeyond(self.places[i], self.positions[i], value, color, is_printed))
        return points


def _draw_line(axes: Axes, points: _LinePoints, limits: y_axis.Limits, look: Mapping[str, Any], text: str) -> Line2D:
    # an interval that reaches zero has no lower end on a logarithmic axis: it ends where the axis does
    low, high = np.maximum([points.low, points.high], limits.bottom)
    axes.vlines(points.positions, low, high, colors=look["color"], linewidth=1.1, alpha=0.8)
    marked = np.flatnonzero(list(map(limits.hold, points.center)))
    # likewise a point at zero, which lies infinitely far down there; other lines leave the axis by their own slope
    center = np.array(points.center)
    if limits.bottom > 0:
        center[center <= 0] = limits.bottom
    (line,) = axes.plot(
        points.positions,
        center,
        markeredgecolor="white",
        markeredgewidth=0.5,
        zorder=3,
        label=text,
        markevery=marked,
        **look,
    )
    printed = np.where(list(map(limits.hold, points.printed)), points.printed, math.nan)
    axes.plot(points.positions, printed, color=look["color"], linestyle="none", zorder=4, **_NUMBER)
    return line


def _draw_level(axes: Axes, first: pd.Series, color: str) -> None:
    """Draw a number that is printed without its setting as a level, crossed at the right end."""
    if pd.isna(first.get("unplaced")):
        return
    value = scale_value(first["metric"], first["unplaced"])
    axes.axhline(value, color=color, linewidth=1.0, linestyle=(0, (1, 3)), zorder=1)
    end: dict[str, Any] = {"linestyle": "none", "clip_on": False, "transform": axes.get_yaxis_transform()}
    axes.plot([1.0], [value], color=color, **_NUMBER, **end)


def _dress(axes: Axes, paper: Paper, figure: LinesFigure, xs: list, limits: y_axis.Limits, center: str) -> None:
    names = label_values(paper, figure.x, xs)
    if figure.x == "metric":
        names = [name.replace(", ", ",\n") for name in names]
        axes.set_ylabel("%" if figure.is_in_per_cent else "")
    else:
        axes.set_xlabel(label_name(paper, figure.x))
        median = ", median" if center == "median" else ""
        axes.set_ylabel(label_metric(paper, figure.metrics[0]) + median)
    axes.set_xticks(range(len(xs)), names)
    dress_panel(axes, xs, limits, figure.y == "log")
    low, high = axes.get_ylim()
    if figure.is_in_per_cent and high > 100 and figure.top is None:
        # nothing is above 100 %: only room for a marker that sits on it
        axes.set_ylim(low, 100 + 0.03 * (100 - low))


def dress_panel(axes: Axes, xs: Sequence, limits: y_axis.Limits, is_log: bool) -> None:
    """Set the ends of the axes of a panel and draw its grid; what is without noise stands apart."""
    axes.set_xlim(-0.5, len(xs) - 0.5)
    style.dress_axes(axes, "y")
    if is_log:
        y_axis.dress_log(axes, limits)
    else:
        axes.ticklabel_format(axis="y", useOffset=False)
    if math.isfinite(limits.top):
        axes.set_ylim(limits.bottom, limits.top)
    if any(isinstance(x, float) and math.isinf(x) for x in xs[1:]):
        axes.axvline(len(xs) - 1.5, color=style.GRID, linewidth=1.2, linestyle=(0, (4, 3)), zorder=0)


def _mark_places(axes: Axes, marks: Mapping[str, float], xs: list) -> None:
    """Draw a vertical line with its name at each of some values of a numeric x axis, between ticks if need be."""
    if not marks:
        return
    places = np.interp(list(marks.values()), xs, range(len(xs)))
    for place in places:
        axes.axvline(place, color=style.INK, linewidth=1.0, linestyle=(0, (2, 2)), alpha=0.7, zorder=1)
    names = axes.secondary_xaxis("top")
    names.set_xticks(places, list(marks), rotation=35, ha="left", fontsize=9.5)
    names.tick_params(length=3, pad=1)
    names.spines["top"].set_visible(False)


def make_explanations(series: pd.DataFrame, is_cut: bool) -> list[Line2D]:
    """Return legend entries for bars, crosses and ends of the axis; those that do not occur are left out."""
    least, most = int(series["n"].min()), int(series["n"].max())
    repeats = f"{most} repeats" if least == most else f"{least} to {most} repeats"
    look: dict[str, Any]
    entries = [Line2D([], [], linestyle="none", label=" ")]
    if series["ci_low"].notna().any():
        look = {"linestyle": "none", "marker": "|", "markersize": 13, "markeredgewidth": 1.3, "color": style.INK}
        median = "of the median,\n" if name_of_center(series) == "median" else ""
        entries.append(Line2D([], [], label=f"95 % interval,\n{median}{repeats}", **look))
    if series["printed"].notna().any():
        entries.append(Line2D([], [], label="printed in\nthe paper", linestyle="none", color=style.INK, **_NUMBER))
    if "unplaced" in series:
        look = {"linestyle": (0, (1, 3)), "linewidth": 1.0, "color": style.INK}
        entries.append(Line2D([], [], label="printed, its\nsetting not said", **look, **_NUMBER))
    if is_cut:
        look = {"linestyle": "none", "marker": "^", "markersize": 7, "color": style.INK}
        entries.append(Line2D([], [], label="beyond the axis,\nvalue written", **look))
    return entries
