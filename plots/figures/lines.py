"""``lines``: a line for each value of an axis over the values of another, as in most figures of papers."""

from __future__ import annotations

import math
from itertools import product
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import model_validator

from documents.document import ListOf
from experiments.config.paper import Center, Paper, PaperFigure, ShownPart
from experiments.metrics.find import is_in_per_cent
from plots import panel, style
from plots.labels import label_metric, label_name, label_value, label_values
from plots.series import (
    add_numbers_without_setting,
    check_metrics_by,
    describe_points,
    name_of_center,
    summarise_metrics,
)

_NAMES = ("metric", "dataset", "algorithm")  # what has no order along the bottom


class LinesFigure(ShownPart, PaperFigure):
    """A line for each value of one axis of a study, over the values of another or over several metrics."""

    kind: Literal["lines"] = "lines"
    x: str
    """The axis along the bottom, or ``metric``."""
    lines: str
    """The axis of which each value has a line."""
    metric: str | ListOf[str]
    """The metric, or a list of them with ``x: metric``."""
    center: Center | None = None
    """What stands for the repeats, if not as the paper says of the metric."""
    y: Literal["log"] | None = None
    """``log``: the y axis is logarithmic."""
    bottom: float | None = None
    """Lower end of the y axis, in the units printed there; what lies beyond is marked at it with its value."""
    top: float | None = None
    """Upper end of the y axis."""
    marks: dict[str, float] = {}
    """Places on the x axis that are marked with a name, ``{name: place}``."""

    @model_validator(mode="after")
    def _check_axes(self) -> LinesFigure:
        if (self.x == "metric") == isinstance(self.metric, str):
            raise ValueError("x: metric goes with a list of metrics, and a list with that")
        for name, end in (("bottom", self.bottom), ("top", self.top)):
            if end is None:
                continue
            if not math.isfinite(end):
                raise ValueError(f"{name} = {end!r} must be a number on the scale of the axis")
            if self.y == "log" and end <= 0:
                raise ValueError(f"{name} = {end!r} cannot be shown on a log axis; choose one above zero")
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            raise ValueError(f"bottom = {self.bottom!r} must lie below top = {self.top!r}")
        return self

    def check(self, paper: Paper) -> None:
        """Check that the study has the axes and metrics, and that no other axis varies; raises a PaperError."""
        check_metrics_by(paper, self, self.metric, self.axes)

    def make_frame(self, paper: Paper, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        """Return one row for each point, as `summarise_metrics` does; ``unplaced`` is printed without its setting."""
        frame = summarise_metrics(paper, self, self.metric, table, numbers, self.axes, self.center)
        if self.lines != "algorithm" or not isinstance(self.metric, str):
            return frame
        return add_numbers_without_setting(paper, self, self.metric, frame, numbers)

    def draw(self, paper: Paper, frame: pd.DataFrame) -> style.Figure:
        """Draw it."""
        lines, xs = self._list_lines(paper), self._list_xs(paper)
        drawn = style.make_figure(8.4 + 0.75 * max(len(xs) - 9, 0), 5.0)  # room for every tick's text
        axes = drawn.add_subplot()
        limits = self._find_limits(frame)
        panel_lines = []
        for i, (value, text) in enumerate(zip(lines, label_values(paper, self.lines, lines), strict=True)):
            look = panel.choose_look(value, i, lines)
            if self.x in _NAMES:  # nothing lies between two of them
                look["linewidth"] = 0
            panel_lines.append(panel.PanelLine(text, look, frame.iloc[i * len(xs) : (i + 1) * len(xs)]))
        handles, beyond = panel.draw_panel(axes, panel_lines, range(len(xs)), limits)
        self._dress(axes, paper, xs, limits, name_of_center(frame))
        self._mark_places(axes, xs)
        style.write_shortfall(axes, frame, pad=panel.mark_points(axes, beyond, limits))
        handles += panel.make_explanations(frame, bool(beyond))
        title: dict[str, Any] = {"title": label_name(paper, self.lines), "alignment": "left"}
        style.add_legend(drawn, handles=handles, handlelength=3.2, labelspacing=0.65, **title)
        style.write_title(drawn, axes, self.title)
        return drawn

    def describe(self, paper: Paper, frame: pd.DataFrame) -> dict[str, Any]:
        """Return the points of the figure as the report's page shows them."""
        xs = self._list_xs(paper)
        names = product(self._list_lines(paper), label_values(paper, self.x, xs))
        points = []
        for (line, x), point in zip(names, describe_points(frame), strict=True):
            points.append({"line": label_value(paper, line), "x": x, **point})
        center = name_of_center(frame)
        metric = center if self.x == "metric" else f"{label_metric(paper, self._metrics[0])}, {center}"
        line, x = label_name(paper, self.lines), label_name(paper, self.x)
        return {"line": line, "x": x, "metric": metric, "points": points}

    @property
    def axes(self) -> list[str]:
        """The axis of the lines, and that along the bottom."""
        return [self.lines, self.x]

    @property
    def _metrics(self) -> tuple[str, ...]:
        return (self.metric,) if isinstance(self.metric, str) else self.metric

    @property
    def _is_in_per_cent(self) -> bool:
        return all(map(is_in_per_cent, self._metrics))

    def _list_xs(self, paper: Paper) -> list:
        """Return the values along the bottom: of an axis of the study, or several metrics."""
        return list(self._metrics) if self.x == "metric" else paper.study(self.study, self.id).axis(self.x, self.where)

    def _list_lines(self, paper: Paper) -> list:
        return paper.study(self.study, self.id).axis(self.lines, self.where)

    def _find_limits(self, frame: pd.DataFrame) -> panel.Limits:
        if self.y is None and self.bottom is None and self.top is None:
            return panel.Limits()
        bottom, top = (-math.inf if self.bottom is None else self.bottom), (math.inf if self.top is None else self.top)
        return panel.find_limits(self._metrics[0], frame, panel.Limits(bottom, top), self.y == "log")

    def _dress(self, axes: style.Axes, paper: Paper, xs: list, limits: panel.Limits, center: str) -> None:
        names = label_values(paper, self.x, xs)
        if self.x == "metric":
            names = [name.replace(", ", ",\n") for name in names]
            axes.set_ylabel("%" if self._is_in_per_cent else "")
        else:
            axes.set_xlabel(label_name(paper, self.x))
            axes.set_ylabel(label_metric(paper, self._metrics[0]) + (", median" if center == "median" else ""))
        axes.set_xticks(range(len(xs)), names)
        panel.dress_panel(axes, xs, limits, self.y == "log")
        low, high = axes.get_ylim()
        if self._is_in_per_cent and high > 100 and self.top is None:
            # nothing is above 100 %: only room for a marker that sits on it
            axes.set_ylim(low, 100 + 0.03 * (100 - low))

    def _mark_places(self, axes: style.Axes, xs: list) -> None:
        """Draw a vertical line with its name at each of some values of a numeric x axis, between ticks if need be."""
        if not self.marks:
            return
        places = np.interp(list(self.marks.values()), xs, range(len(xs)))
        for place in places:
            axes.axvline(place, color=style.INK, linewidth=1.0, linestyle=(0, (2, 2)), alpha=0.7, zorder=1)
        names = axes.secondary_xaxis("top")
        names.set_xticks(places, list(self.marks), rotation=35, ha="left", fontsize=9.5)
        names.tick_params(length=3, pad=1)
        names.spines["top"].set_visible(False)
