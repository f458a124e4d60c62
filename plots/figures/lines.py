"""``lines``: a line for each value of an axis over the values of another, as in most figures of papers."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from experiments.config.kinds.exhibits import LinesFigure
from experiments.config.study import Study
from experiments.metrics.find import is_in_per_cent
from experiments.questions.exhibits.series import add_numbers_without_setting, name_of_center, summarise_metrics
from plots import panel, style
from plots.exhibits.views import FigureView
from plots.labels import label_metric, label_name, label_value, label_values
from plots.series import describe_points

_NAMES = ("metric", "dataset", "algorithm")  # what has no order along the bottom


class LinesView(FigureView[LinesFigure], of=LinesFigure):
    """A line for each value of one axis of a study, over the values of another or over several metrics."""

    def make_frame(self, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        """Return one row for each point, as `summarise_metrics` does; ``unplaced`` is printed without its setting."""
        frame = summarise_metrics(
            self.paper, self.part, self.part.metric, table, numbers, self.part.axes, self.part.center
        )
        if self.part.lines != "algorithm" or not isinstance(self.part.metric, str):
            return frame
        return add_numbers_without_setting(self.paper, self.part, self.part.metric, frame, numbers)

    def draw(self, frame: pd.DataFrame) -> style.Figure:
        """Draw it."""
        lines, xs = self._list_lines(), self._list_xs()
        drawn = style.make_figure(8.4 + 0.75 * max(len(xs) - 9, 0), 5.0)  # room for every tick's text
        axes = drawn.add_subplot()
        limits = self._find_limits(frame)
        panel_lines = []
        for i, (value, text) in enumerate(zip(lines, label_values(self.paper, self.part.lines, lines), strict=True)):
            look = panel.choose_look(value, i, lines)
            if self.part.x in _NAMES:  # nothing lies between two of them
                look["linewidth"] = 0
            panel_lines.append(panel.PanelLine(text, look, frame.iloc[i * len(xs) : (i + 1) * len(xs)]))
        handles, beyond = panel.draw_panel(axes, panel_lines, range(len(xs)), limits)
        self._dress(axes, xs, limits, name_of_center(frame))
        self._mark_places(axes, xs)
        style.write_shortfall(axes, frame, pad=panel.mark_points(axes, beyond, limits))
        handles += panel.make_explanations(frame, bool(beyond))
        title: dict[str, Any] = {"title": label_name(self.paper, self.part.lines), "alignment": "left"}
        style.add_legend(drawn, handles=handles, handlelength=3.2, labelspacing=0.65, **title)
        style.write_title(drawn, axes, self.part.title)
        return drawn

    def describe(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Return the points of the figure as the report's page shows them."""
        xs = self._list_xs()
        names = product(self._list_lines(), label_values(self.paper, self.part.x, xs))
        points = []
        for (line, x), point in zip(names, describe_points(frame), strict=True):
            points.append({"line": label_value(self.paper, line), "x": x, **point})
        center = name_of_center(frame)
        metric = center if self.part.x == "metric" else f"{label_metric(self.paper, self._metrics[0])}, {center}"
        line, x = label_name(self.paper, self.part.lines), label_name(self.paper, self.part.x)
        return {"line": line, "x": x, "metric": metric, "points": points}

    @property
    def _study(self) -> Study:
        return self.paper.study(self.part.study, self.part.id)

    @property
    def _metrics(self) -> tuple[str, ...]:
        return (self.part.metric,) if isinstance(self.part.metric, str) else self.part.metric

    @property
    def _is_in_per_cent(self) -> bool:
        return all(map(is_in_per_cent, self._metrics))

    def _list_xs(self) -> list:
        """Return the values along the bottom: of an axis of the study, or several metrics."""
        part = self.part
        return list(self._metrics) if part.x == "metric" else self._study.axis(part.x, part.where)

    def _list_lines(self) -> list:
        return self._study.axis(self.part.lines, self.part.where)

    def _find_limits(self, frame: pd.DataFrame) -> panel.Limits:
        bottom, top, is_log = self.part.bottom, self.part.top, self.part.y == "log"
        if not is_log and bottom is None and top is None:
            return panel.Limits()
        ends = panel.Limits(-math.inf if bottom is None else bottom, math.inf if top is None else top)
        return panel.find_limits(self._metrics[0], frame, ends, is_log)

    def _dress(self, axes: style.Axes, xs: list, limits: panel.Limits, center: str) -> None:
        names = label_values(self.paper, self.part.x, xs)
        if self.part.x == "metric":
            names = [name.replace(", ", ",\n") for name in names]
            axes.set_ylabel("%" if self._is_in_per_cent else "")
        else:
            axes.set_xlabel(label_name(self.paper, self.part.x))
            axes.set_ylabel(label_metric(self.paper, self._metrics[0]) + (", median" if center == "median" else ""))
        axes.set_xticks(range(len(xs)), names)
        panel.dress_panel(axes, xs, limits, self.part.y == "log")
        low, high = axes.get_ylim()
        if self._is_in_per_cent and high > 100 and self.part.top is None:
            # nothing is above 100 %: only room for a marker that sits on it
            axes.set_ylim(low, 100 + 0.03 * (100 - low))

    def _mark_places(self, axes: style.Axes, xs: list) -> None:
        """Draw a vertical line with its name at each of some values of a numeric x axis, between ticks if need be."""
        if not self.part.marks:
            return
        places = np.interp(list(self.part.marks.values()), xs, range(len(xs)))
        for place in places:
            axes.axvline(place, color=style.INK, linewidth=1.0, linestyle=(0, (2, 2)), alpha=0.7, zorder=1)
        names = axes.secondary_xaxis("top")
        names.set_xticks(places, list(self.part.marks), rotation=35, ha="left", fontsize=9.5)
        names.tick_params(length=3, pad=1)
        names.spines["top"].set_visible(False)
