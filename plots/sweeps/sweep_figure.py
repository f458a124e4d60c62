"""The figure of a sweep: what is x, what has a line, what has a facet; lines over numbers, else dots."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from experiments.judge.words import name_setting
from experiments.metrics.find import is_error, is_in_per_cent
from experiments.questions.exhibits.series import NOTHING_PRINTED
from plots import style
from plots.drawing import panel
from plots.labels import label_axis, label_name, label_names, label_values, scale_value
from plots.sweeps.sweep import Sweep, find_numeric_axis
from plots.sweeps.sweep_run import SweepRun

_FEW_LINES = 8  # as many lines one facet takes before other axes get facets of their own
_MOST_LINES = 16
_MOST_DOTS = 40
_MOST_FACETS = 24
_MOST_X_VALUES = 100
_SPAN_OF_LOG = 30  # errors that span as much are drawn on a logarithmic axis
_MOST_DECADES = 1e6  # what is smaller by more is marked at the end of the axis: an exact fit leaves errors of 1e-25
_LOWEST_R2 = -1.0  # what lies below is marked at the end of the axis: it would flatten all else
_LONGEST_NAME = 30
_LONGEST_BESIDE = 20  # characters of a row of dots in one of two pictures beside one another
_MOST_TICKS = 25  # of more places only those with a name have a tick
_CHARACTERS = 54, 22  # how many stand along the bottom of the only picture, and of a small one


class _ShownAxes(NamedTuple):
    """Some axes of a sweep with every combination of their values, and the places of those that are drawn."""

    names: list[str]
    values: list[tuple]
    places: list[int]

    @classmethod
    def choose(cls, sweep: Sweep, names: list[str], most: int) -> _ShownAxes:
        """Choose what is drawn, from end to end."""
        values = list(product(*(sweep.axes[name] for name in names)))
        return cls(names, values, _spread_out(len(values), most))

    @property
    def drawn(self) -> list[tuple]:
        """The values that are drawn."""
        return [self.values[i] for i in self.places]


@dataclass(frozen=True)
class SweepFigure:
    """The figure of a sweep, as from `plan_figure`."""

    sweep: Sweep
    xs: _ShownAxes  #: the axis along the bottom; without one there are dots along the metric instead of lines
    lines: _ShownAxes  #: the axes of which each combination of values has a line, or a row of dots
    facets: _ShownAxes  #: the axes of which each combination has a small picture

    @property
    def x(self) -> str | None:
        """The axis along the bottom."""
        return next(iter(self.xs.names), None)

    def make_frame(self, run: SweepRun) -> pd.DataFrame:
        """Return one row for each point that is drawn, by metric, facet, line and x."""
        shown = self.facets, self.lines, self.xs
        names = [name for one in shown for name in one.names]
        numbers = self.sweep.number_settings(names).reshape([len(one.values) for one in shown])
        order = numbers[np.ix_(*(one.places for one in shown))].ravel()
        values = [facet + line + x for facet, line, x in product(*(one.drawn for one in shown))]
        frames = []
        for metric in self.sweep.shown:
            frame = pd.DataFrame(values, columns=names, dtype=object)
            numbers = run.select(metric)[["metric", "mean", "ci_low", "ci_high", "n", "n_expected"]]
            frames.append(frame.join(numbers.iloc[order].reset_index(drop=True)))
        return pd.concat(frames, ignore_index=True)

    def draw(self, frame: pd.DataFrame, note: str) -> style.Figure:
        """Draw a frame, and above it what is missing of the sweep, if anything is."""
        frame = frame.assign(**NOTHING_PRINTED)
        metrics, facets = list(frame["metric"].unique()), self.facets.drawn
        n_panels = len(metrics) * len(facets)
        drawn, panels = self._make_panels(len(metrics), len(facets))
        n_points = len(frame) // n_panels
        handles: list[Any] = []
        beyond: list[Any] = []
        for i, axes in enumerate(panels):
            points = frame.iloc[i * n_points : (i + 1) * n_points]
            draw = self._draw_lines if self.x else self._draw_dots
            handles, outside = draw(axes, points, n_panels > 1)
            if points["mean"].isna().all():
                _write_empty(axes, "y" if self.x else "x")
            beyond += outside
            title = self._label(self.facets, facets[i % len(facets)])
            if n_panels > 1 and title:
                text = textwrap.shorten(title, 44, placeholder=" …")
                style.write_above(axes, text, 16 if outside else 5, fontsize=11, fontweight="bold")
        self._add_legend(drawn, handles + panel.make_explanations(frame, beyond, "line"))
        style.write_note(panels[0], note, pad=22)
        style.write_title(drawn, max(panels, key=lambda axes: axes.get_position().x0), self._write_title(metrics))
        return drawn

    def _label(self, axes: _ShownAxes, values: tuple) -> str:
        return name_setting(dict(zip(axes.names, values, strict=True)), self.sweep.labels)

    def _name_rows(self) -> list[str]:
        """Return what stands beside the rows of dots."""
        return [textwrap.shorten(self._label(self.lines, line), 44, placeholder=" …") for line in self.lines.drawn]

    def _write_title(self, metrics: Sequence[str]) -> str:
        shown = " and ".join(label_axis(self.sweep, metric) for metric in metrics)
        over = f" over {label_name(self.sweep, self.x)}" if self.x else ""
        return f"{shown}{over}: {self.sweep.title}{self._describe_rest()}"

    def _describe_rest(self) -> str:
        """Return what is not drawn; nothing if all is."""
        words = []
        for what, shown in (
            ("lines" if self.x else "rows", self.lines),
            ("pictures", self.facets),
            ("values along the bottom", self.xs),
        ):
            n, total = len(shown.places), len(shown.values)
            words += [f"{n} of {total} {what}"] if n < total else []
        return f" (shown: {', '.join(words)}; table.csv has all)" if words else ""

    def _make_panels(self, n_metrics: int, n_facets: int) -> tuple[style.Figure, list[style.Axes]]:
        """Return a figure with panels: those of a metric begin a row of their own, where there are several facets."""
        n_lines = len(self.lines.places)
        if n_metrics * n_facets == 1:
            drawn = style.make_figure(style.WIDTH, 5.2 if self.x else 2.2 + 0.3 * n_lines)
            return drawn, [drawn.add_subplot()]
        names = [] if self.x else self._name_rows()
        n_columns = 1 if any(len(name) > _LONGEST_BESIDE for name in names) else style.MOST_COLUMNS
        n_columns = min(n_columns, n_metrics if n_facets == 1 else n_facets)
        n_of_metric = n_columns * math.ceil(n_facets / n_columns)
        n_panels = n_metrics if n_facets == 1 else n_of_metric * n_metrics
        drawn, grid = style.make_grid(n_panels, n_columns)
        if not self.x:
            drawn.set_figheight(1.6 + len(grid) * (1.1 + 0.22 * n_lines))
        panels = []
        for i, axes in enumerate(grid.flat):
            if i < n_panels and (n_facets == 1 or i % n_of_metric < n_facets):
                panels.append(axes)
            else:
                axes.remove()
        return drawn, panels

    def _draw_lines(self, axes: style.Axes, frame: pd.DataFrame, is_small: bool) -> tuple[list[Any], list[Any]]:
        """Draw one panel; returns its legend's handles, and the points that lie beyond its ends."""
        metric, paper, lines = frame["metric"].iloc[0], self.sweep, self.lines.drawn
        xs = [x for (x,) in self.xs.drawn]
        limits, is_log = _choose_limits(metric, frame)
        places = place_values(xs).tolist()
        values = [line[0] if len(line) == 1 else line for line in lines]
        panel_lines = []
        for i, line in enumerate(lines):
            rows = frame.iloc[i * len(xs) : (i + 1) * len(xs)]
            look = panel.choose_look(values[i], i, values)
            look |= {"markersize": 3.6, "linewidth": 1.3} if is_small else {}
            panel_lines.append(panel.PanelLine(textwrap.fill(self._label(self.lines, line), _LONGEST_NAME), look, rows))
        handles, beyond = panel.draw_panel(axes, panel_lines, places, limits)
        names = thin_names(places, label_values(paper, self.x or "", xs), _CHARACTERS[is_small])
        ticks = [(place, name) for place, name in zip(places, names, strict=True) if name or len(xs) <= _MOST_TICKS]
        axes.set_xticks(*zip(*ticks, strict=True))
        axes.set_xlabel(label_name(paper, self.x or ""))
        axes.set_ylabel(label_axis(paper, metric))
        panel.dress_panel(axes, xs, limits, "log" if is_log else None)
        _limit_per_cent(axes, metric)
        panel.mark_points(axes, beyond, limits)
        return handles if self.lines.names else [], beyond

    def _draw_dots(self, axes: style.Axes, frame: pd.DataFrame, is_small: bool) -> tuple[list[Any], list[Any]]:
        """Draw a row with a dot and its interval for each line."""
        metric = frame["metric"].iloc[0]
        center, low, high = (scale_value(metric, frame[name].to_numpy()) for name in ("mean", "ci_low", "ci_high"))
        rows = np.arange(len(frame))
        axes.hlines(rows, low, high, colors=style.QUALITATIVE[0], linewidth=1.4, alpha=0.8)
        axes.plot(center, rows, linestyle="none", marker="o", markersize=5.5, color=style.QUALITATIVE[0], zorder=3)
        names = self._name_rows()
        place = axes.get_subplotspec()
        axes.set_yticks(rows, names if place and place.is_first_col() else [""] * len(names))
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel(label_axis(self.sweep, metric))
        style.dress_axes(axes, "both")
        return [], []

    def _add_legend(self, drawn: style.Figure, handles: Sequence[Any]) -> None:
        title = " and ".join(label_names(self.sweep, self.lines.names)) if self.x else ""
        columns = style.choose_columns(handles)
        style.add_legend(drawn, handles=handles, handlelength=3.2, title=title, alignment="left", ncols=columns)


def plan_figure(sweep: Sweep) -> SweepFigure | None:
    """Return the figure of a sweep: a numeric axis is x, algorithms and parameters are lines, data sets are facets.

    Where there are too many lines, the last parameters get facets. A sweep of one setting has no figure.
    """
    varying = sweep.varying
    if not varying:
        return None
    x = find_numeric_axis(sweep)
    lines = [name for name in varying if name not in ("dataset", x)]
    facets = ["dataset"] if "dataset" in varying else []
    if not x and not lines:
        lines, facets = facets, []
    lines.sort(key=lambda name: name != "algorithm")
    while x and len(lines) > 1 and math.prod(len(sweep.axes[name]) for name in lines) > _FEW_LINES:
        facets.append(lines.pop())
    xs = _ShownAxes.choose(sweep, [x] if x else [], _MOST_X_VALUES)
    return SweepFigure(
        sweep, xs, _ShownAxes.choose(sweep, lines, _MOST_LINES if x else _MOST_DOTS), _choose_facets(sweep, facets)
    )


def _choose_facets(sweep: Sweep, names: list[str]) -> _ShownAxes:
    """Return the facets: where they are too many, some of each data set are drawn."""
    chosen, n_sets = _ShownAxes.choose(sweep, names, _MOST_FACETS), len(sweep.axes["dataset"])
    if "dataset" not in names or n_sets > _MOST_FACETS:
        return chosen
    of_set = _ShownAxes.choose(sweep, names[1:], max(_MOST_FACETS // n_sets, 1))
    return chosen._replace(places=[start * len(of_set.values) + i for start in range(n_sets) for i in of_set.places])


def _spread_out(n: int, most: int) -> list[int]:
    """Return the places of some of ``n`` things, the first and the last among them; of all if there are few.

    >>> _spread_out(3, 5), _spread_out(9, 3)
    ([0, 1, 2], [0, 4, 8])
    """
    return np.linspace(0, n - 1, min(n, most)).round().astype(int).tolist()


def _write_empty(axes: style.Axes, along: Literal["x", "y"]) -> None:
    """Say that a panel has nothing to draw along its axis of values: they are missing, or undefined."""
    axes.text(0.5, 0.5, "no value", transform=axes.transAxes, ha="center", va="center", color=style.INK)
    axes.tick_params(along, length=0, labelleft=along == "x", labelbottom=along == "y")
    axes.grid(visible=False)


def _choose_limits(metric: str, frame: pd.DataFrame) -> tuple[panel.Limits, bool]:
    """Return the ends of the y axis, infinite where the drawing decides, and whether it is logarithmic."""
    means = frame["mean"].dropna()
    if is_error(metric) and len(means) and means.min() > 0 and means.max() > _SPAN_OF_LOG * means.min():
        lowest = means.max() / _MOST_DECADES
        given = panel.Limits(bottom=lowest if means.min() < lowest else -math.inf)
        return panel.find_limits(metric, frame, given, is_log=True), True
    if metric == "r2" and (means < _LOWEST_R2).any():
        return panel.find_limits(metric, frame, panel.Limits(bottom=_LOWEST_R2), is_log=False), False
    return panel.Limits(), False


def _limit_per_cent(axes: style.Axes, metric: str) -> None:
    """Let an axis of shares end a little beyond 0 and 100 %, where there is nothing."""
    if is_in_per_cent(metric):
        low, high = axes.get_ylim()
        room = 0.03 * (min(high, 100) - max(low, 0))
        axes.set_ylim(max(low, -room), min(high, 100 + room))


def place_values(values: Sequence[float]) -> np.ndarray:
    """Return where numbers stand on an axis, in order and about one apart: infinity one behind all others.

    The axis is logarithmic where they span more than a decade.

    Examples
    --------
    >>> place_values([0.1, 1, 10, math.inf]).round(3).tolist(), place_values([2, 3, 6]).tolist()
    ([0.0, 1.0, 2.0, 3.0], [0.0, 0.5, 2.0])
    """
    finite = np.array([value for value in values if math.isfinite(value)], dtype=float)
    if len(finite) > 1:
        is_log = finite[0] > 0 and finite[-1] > 10 * finite[0]
        spread = np.log10(finite) if is_log else finite
        finite = (spread - spread[0]) / (spread[-1] - spread[0]) * (len(finite) - 1)
    else:
        finite = np.zeros(len(finite))
    return np.concatenate([finite, np.full(len(values) - len(finite), len(finite))])


def thin_names(places: Sequence[float], names: Sequence[str], room: float) -> list[str]:
    """Return the names of ticks without those that would touch one before; the last one always stays.

    The ticks stand at ``places`` of an axis that has ``room`` for so many characters.

    Examples
    --------
    >>> thin_names([0, 1, 2, 3], ["1", "2", "3", "4"], 5)
    ['1', '', '', '4']
    """
    scale = room / max(len(places), 1)
    last = len(places) - 1
    kept: list[int] = []
    for i in range(last):
        neighbours = [*kept[-1:], last]
        if all(scale * abs(places[i] - places[j]) >= (len(names[i]) + len(names[j])) / 2 + 1 for j in neighbours):
            kept.append(i)
    return [name if i in (*kept, last) else "" for i, name in enumerate(names)]
