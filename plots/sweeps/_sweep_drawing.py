"""Draw the figure of a sweep: lines over numbers, or dots where nothing is numeric."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from experiments.metrics.find import find_metric, is_error, is_in_per_cent
from plots import style, y_axis
from plots.figures._facets_drawing import COLUMNS, make_grid, write_above
from plots.figures._lines_drawing import PanelLine, choose_look, draw_panel, dress_panel, make_explanations
from plots.labels import label_metric, label_values, scale_value
from plots.sweeps.sweep_figure import SweepFigure, place_values, thin_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SPAN_OF_LOG = 30
"""Errors that span as much are drawn on a logarithmic axis."""
_MOST_DECADES = 1e6
"""What is smaller by more is marked at the end of the axis: an exact fit leaves errors of 1e-25."""
_LOWEST_R2 = -1.0
"""What lies below is marked at the end of the axis: it would flatten all else."""
_LONGEST_NAME = 30
_MOST_TICKS = 25
"""Of more places only those with a name have a tick."""
_CHARACTERS = 62, 27
"""How many stand along the bottom of the only picture, and of a small one."""


def draw_sweep(figure: SweepFigure, frame: pd.DataFrame, note: str) -> Figure:
    """Draw the figure of a sweep.

    Parameters
    ----------
    figure : SweepFigure
        What it shows.
    frame : DataFrame
        As from `SweepFigure.make_frame`.
    note : str
        What is missing of the sweep; empty if nothing is.
    """
    metrics, facets = list(frame["metric"].unique()), figure.list_facets()
    n_panels = len(metrics) * len(facets)
    if n_panels == 1:
        drawn, panels = _make_single(figure)
    else:
        drawn, panels = _make_panels(figure, len(metrics), len(facets))
    n_points = len(frame) // n_panels
    handles: list[Any] = []
    is_cut = False
    for i, axes in enumerate(panels):
        own = frame.iloc[i * n_points : (i + 1) * n_points]
        draw = _draw_lines if figure.x else _draw_dots
        handles, has_cut = draw(axes, figure, own, n_panels > 1)
        if own["mean"].isna().all():
            _write_empty(axes, "y" if figure.x else "x")
        is_cut |= has_cut
        title = figure.label_facet(facets[i % len(facets)])
        if n_panels > 1 and title:
            write_above(
                axes,
                textwrap.shorten(title, 44, placeholder=" …"),
                16 if has_cut else 5,
                fontsize=10,
                fontweight="bold",
            )
    _add_legend(drawn, figure, handles + make_explanations(frame, is_cut), n_panels == 1)
    if note:
        panels[0].set_title(note, loc="left", fontsize=11, fontweight="bold", color=style.ALARM, pad=22)
    style.write_title(drawn, max(panels, key=_find_column), _write_title(figure, metrics))
    return drawn


def _write_empty(axes: Axes, along: Literal["x", "y"]) -> None:
    """Say that a panel has nothing to draw along its axis of values: they are missing, or undefined."""
    axes.text(0.5, 0.5, "no value", transform=axes.transAxes, ha="center", va="center", color=style.INK)
    axes.tick_params(along, length=0, labelleft=along == "x", labelbottom=along == "y")
    axes.grid(visible=False)


def _find_column(axes: Axes) -> int:
    place = axes.get_subplotspec()
    return place.colspan.start if place else 0


def _write_title(figure: SweepFigure, metrics: Sequence[str]) -> str:
    sweep, rest = figure.sweep, figure.describe_rest()
    shown = " and ".join(label_metric(sweep.paper, metric) for metric in metrics)
    over = f" over {sweep.label_axis(figure.x)}" if figure.x else ""
    return f"{shown}{over}: {sweep.describe_fixed()}" + (f" ({rest})" if rest else "")


def _make_single(figure: SweepFigure) -> tuple[Figure, list[Axes]]:
    height = 5.0 if figure.x else 1.8 + 0.3 * len(figure.list_lines())
    drawn = style.make_figure(8.4, height)
    return drawn, [drawn.add_subplot()]


def _make_panels(figure: SweepFigure, n_metrics: int, n_facets: int) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels: those of a metric begin a row of their own, where there are several facets."""
    n_columns = n_metrics if n_facets == 1 else min(COLUMNS, n_facets)
    rows_of_metric = math.ceil(n_facets / n_columns)
    n_cells = n_columns if n_facets == 1 else n_columns * rows_of_metric * n_metrics
    drawn, grid = make_grid(n_cells, n_columns)
    if not figure.x:
        drawn.set_figheight(1.6 + len(grid) * (1.1 + 0.22 * len(figure.list_lines())))
        drawn.set_figwidth(drawn.get_figwidth() + 1.6)
    panels = []
    for i, axes in enumerate(grid.flat):
        if n_facets == 1 or i % (n_columns * rows_of_metric) < n_facets:
            panels.append(axes)
        else:
            axes.remove()
    return drawn, panels


def _draw_lines(axes: Axes, figure: SweepFigure, frame: pd.DataFrame, is_small: bool) -> tuple[list[Any], bool]:
    """Draw one panel; returns its legend's handles, and whether points lie beyond its ends."""
    metric, xs, lines = frame["metric"].iloc[0], figure.list_x_values(), figure.list_lines()
    paper = figure.sweep.paper
    limits, is_log = _choose_limits(metric, frame)
    places = place_values(xs)
    values = [line[0] if len(line) == 1 else line for line in lines]
    panel_lines = []
    for i, line in enumerate(lines):
        own = frame.iloc[i * len(xs) : (i + 1) * len(xs)]
        look = choose_look(values[i], i, values)
        look |= {"markersize": 3.6, "linewidth": 1.3} if is_small else {}
        text = textwrap.fill(figure.label_line(line), _LONGEST_NAME)
        panel_lines.append(PanelLine(text, look, _clip_intervals(metric, own)))
    handles, beyond = draw_panel(axes, panel_lines, places.tolist(), limits)
    names = label_values(paper, figure.x or "", xs)
    shown = thin_names(places.tolist(), names, _CHARACTERS[is_small])
    ticks = [(place, name) for place, name in zip(places, shown, strict=True) if name or len(xs) <= _MOST_TICKS]
    axes.set_xticks(*zip(*ticks, strict=True), fontsize=9 if is_small else None)
    axes.set_xlabel(figure.sweep.label_axis(figure.x or ""))
    axes.set_ylabel(label_metric(paper, metric), fontsize=9 if is_small else None)
    dress_panel(axes, xs, limits, is_log)
    _limit_per_cent(axes, metric)
    n_above, n_below = y_axis.mark_points(axes, beyond, limits)
    if n_below:
        axes.tick_params(axis="x", pad=y_axis.measure_padding(n_below))
    return handles if figure.lines else [], bool(n_above or n_below)


def _draw_dots(axes: Axes, figure: SweepFigure, frame: pd.DataFrame, is_small: bool) -> tuple[list[Any], bool]:
    """Draw a row with a dot and its interval for each line."""
    metric = frame["metric"].iloc[0]
    scaled = _clip_intervals(metric, frame)
    center, low, high = (scale_value(metric, scaled[name].to_numpy()) for name in ("mean", "ci_low", "ci_high"))
    rows = np.arange(len(frame))
    axes.hlines(rows, low, high, colors=style.QUALITATIVE[0], linewidth=1.4, alpha=0.8)
    axes.plot(center, rows, linestyle="none", marker="o", markersize=5.5, color=style.QUALITATIVE[0], zorder=3)
    names = [textwrap.shorten(figure.label_line(line), 44, placeholder=" …") for line in figure.list_lines()]
    place = axes.get_subplotspec()
    axes.set_yticks(rows, names if place and place.is_first_col() else [""] * len(names))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel(label_metric(figure.sweep.paper, metric))
    style.dress_axes(axes, "both")
    return [], False


def _clip_intervals(metric: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Return points whose intervals end where the metric does."""
    bounds = find_metric(metric).range
    ends = {name: frame[name].clip(bounds.low, bounds.high) for name in ("ci_low", "ci_high")}
    return frame.assign(**ends)


def _choose_limits(metric: str, frame: pd.DataFrame) -> tuple[y_axis.Limits, bool]:
    """Return the ends of the y axis, infinite where the drawing decides, and whether it is logarithmic."""
    means = frame["mean"].dropna()
    if is_error(metric) and len(means) and means.min() > 0 and means.max() > _SPAN_OF_LOG * means.min():
        lowest = means.max() / _MOST_DECADES
        given = y_axis.Limits(bottom=lowest if means.min() < lowest else -math.inf)
        return y_axis.find_limits(y_axis.AxisValues(metric, frame, is_log=True), given), True
    if metric == "r2" and (means < _LOWEST_R2).any():
        values = y_axis.AxisValues(metric, _clip_intervals(metric, frame), is_log=False)
        return y_axis.find_limits(values, y_axis.Limits(bottom=_LOWEST_R2)), False
    return y_axis.Limits(), False


def _limit_per_cent(axes: Axes, metric: str) -> None:
    """Let an axis of shares end a little beyond 0 and 100 %, where there is nothing."""
    if is_in_per_cent(metric):
        low, high = axes.get_ylim()
        room = 0.03 * (min(high, 100) - max(low, 0))
        axes.set_ylim(max(low, -room), min(high, 100 + room))


def _add_legend(drawn: Figure, figure: SweepFigure, handles: Sequence[Any], is_single: bool) -> None:
    title = " and ".join(map(figure.sweep.label_axis, figure.lines)) if figure.x else ""
    look: dict[str, Any] = {"frameon": False, "fontsize": 10, "handlelength": 3.2, "title": title, "alignment": "left"}
    if is_single:
        drawn.legend(handles=handles, loc="outside right upper", labelspacing=0.65, **look)
    else:
        drawn.legend(handles=handles, loc="outside lower left", ncols=3, **look)
