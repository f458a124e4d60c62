"""``lines``: a line for each value of an axis over the values of another, as in most figures of papers."""

from __future__ import annotations

import math
import textwrap
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from experiments.config import estimators
from experiments.config.kinds.exhibits import LinesFigure
from experiments.config.study import Study
from experiments.metrics.find import is_error, is_in_per_cent
from experiments.questions.exhibits.series import add_numbers_without_setting, name_of_center, summarise_metrics
from plots import style
from plots.drawing import panel
from plots.exhibits.captions import compare_lines, count_printed, name_metric, write_value
from plots.exhibits.views import FigureView
from plots.labels import label_axis, label_metric, label_name, label_value, label_values
from plots.series import describe_points

_NAMES = ("metric", "dataset", "algorithm")  # what has no order along the bottom
_LONGEST_NAME = 27  # characters of a line of the legend
_LONGEST_LABEL = 33  # characters that stand along the y axis
_ROOM = 52  # characters that stand along the bottom
_APART = 0.045  # of the axis' width: names that stand upright beside one another take as much


class LinesView(FigureView[LinesFigure], of=LinesFigure):
    """A line for each value of one axis of a study, over the values of another or over several metrics."""

    def make_frame(self, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        """Return one row for each point, as `summarise_metrics` does; ``unplaced`` is printed without its setting.

        A line of another study has an empty row at each place of the x axis that this study lacks.
        """
        frame = pd.concat([self._summarise(part, table, numbers) for part in self.exhibit.parts], ignore_index=True)
        if self.exhibit.lines != "algorithm" or not isinstance(self.exhibit.metric, str):
            return frame
        return add_numbers_without_setting(self.paper, self.exhibit, self.exhibit.metric, frame, numbers)

    def _summarise(self, part: LinesFigure, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        frame = summarise_metrics(self.paper, part, part.metric, table, numbers, part.axes, part.center)
        if part is self.exhibit:
            return frame
        places = pd.MultiIndex.from_product([frame[part.lines].unique(), self._list_xs()], names=part.axes)
        nothing = {"metric": part.metric, "n": 0, "n_expected": 0, "verdict": "", "note": "its study lacks it"}
        whole = frame.set_index(part.axes).reindex(places).reset_index().fillna(nothing)
        return whole.astype({"n": int, "n_expected": int})

    def draw(self, frame: pd.DataFrame) -> style.Figure:
        """Draw it."""
        lines, xs = self._list_lines(), self._list_xs()
        drawn = style.make_figure(style.WIDTH, 4.7 if self.exhibit.marks else 3.9)
        axes = drawn.add_subplot()
        limits, are_names = self._find_limits(frame), self.exhibit.x in _NAMES
        panel_lines = []
        for i, (value, text) in enumerate(zip(lines, label_values(self.paper, self.exhibit.lines, lines), strict=True)):
            look = panel.choose_look(value, i, lines)
            if are_names:  # nothing lies between two of them
                look["linewidth"] = 0
            points = frame.iloc[i * len(xs) : (i + 1) * len(xs)]
            panel_lines.append(panel.PanelLine(textwrap.fill(text, _LONGEST_NAME), look, points))
        handles, beyond = panel.draw_panel(axes, panel_lines, range(len(xs)), limits, are_names)
        self._dress(axes, xs, limits, name_of_center(frame))
        self._mark_places(axes, xs)
        style.write_shortfall(axes, frame, pad=panel.mark_points(axes, beyond, limits))
        line = label_name(self.paper, self.exhibit.lines)
        handles += panel.make_explanations(frame, beyond, line)
        style.add_legend_below(drawn, handles, handlelength=3.2, title=line, alignment="left")
        style.write_title(drawn, axes, self.exhibit.title)
        return drawn

    def describe(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Return the points of the figure as the report's page shows them."""
        xs = self._list_xs()
        names = product(self._list_lines(), label_values(self.paper, self.exhibit.x, xs))
        points = []
        for (line, x), point in zip(names, describe_points(frame), strict=True):
            points.append({"line": label_value(self.paper, line), "x": x, **point})
        center = name_of_center(frame)
        metric = center if self.exhibit.x == "metric" else f"{label_metric(self.paper, self._metrics[0])}, {center}"
        line, x = label_name(self.paper, self.exhibit.lines), label_name(self.paper, self.exhibit.x)
        return {"line": line, "x": x, "metric": metric, "points": points}

    def sum_up(self, frame: pd.DataFrame) -> str:
        """Say which line is the best at most places, where they are farthest apart, and what became of printed numbers.

        What has noise is compared, if that is more than a line: what has none stands for what is lost.
        """
        lines, xs, center = self._list_lines(), self._list_xs(), name_of_center(frame)
        kept = [i for i, line in enumerate(lines) if self._has_noise(line)]
        kept = kept if len(kept) > 1 else list(range(len(lines)))
        names = label_values(self.paper, self.exhibit.lines, lines)
        line = label_name(self.paper, self.exhibit.lines)
        named = [name if self.exhibit.lines in _NAMES else f"{line} = {name}" for name in (names[i] for i in kept)]
        values = frame[center].to_numpy(dtype=float).reshape(len(lines), len(xs))[kept]
        metrics = list(self._metrics) if self.exhibit.x == "metric" else [self._metrics[0]] * len(xs)
        what = "mean" if center == "mean" else center
        best = "lowest" if is_error(self._metrics[0]) else "highest"
        measured = "value" if self.exhibit.x == "metric" else f"{what} {name_metric(self.paper, self._metrics[0])}"
        said = compare_lines(
            named,
            values,
            f"the {best} {measured}",
            self._name_places(xs),
            lambda value, place: write_value(metrics[place], value),
            best == "lowest",
        )
        if said and len(kept) < len(lines):
            said = f"Of those with noise, {said}"
        return " ".join(filter(None, [said, count_printed(frame)]))

    def _has_noise(self, line: Any) -> bool:
        if self.exhibit.lines == "algorithm":
            return line not in estimators.list_algorithms() or estimators.takes_epsilon(line)
        return not (isinstance(line, float) and math.isinf(line))

    def _name_places(self, xs: list) -> tuple[list[str], str]:
        """Return each place of the x axis as a sentence has it, and what all of them are."""
        if self.exhibit.x == "metric":
            return [f"in {name_metric(self.paper, metric)}" for metric in xs], "metrics"
        names, axis = label_values(self.paper, self.exhibit.x, xs), label_name(self.paper, self.exhibit.x)
        if self.exhibit.x in _NAMES:
            return [f"on {name}" for name in names], f"{axis}s"
        places = [f"at {axis} = {name}" for name in names]
        return places, f"values of {axis}"

    @property
    def _study(self) -> Study:
        return self.paper.study(self.exhibit.study, self.exhibit.id)

    @property
    def _metrics(self) -> tuple[str, ...]:
        return (self.exhibit.metric,) if isinstance(self.exhibit.metric, str) else self.exhibit.metric

    @property
    def _is_in_per_cent(self) -> bool:
        return all(map(is_in_per_cent, self._metrics))

    def _list_xs(self) -> list:
        """Return the values along the bottom: of an axis of the study, or several metrics."""
        exhibit = self.exhibit
        return list(self._metrics) if exhibit.x == "metric" else self._study.axis(exhibit.x, exhibit.where)

    def _list_lines(self) -> list:
        lines = []
        for part in self.exhibit.parts:
            lines += self.paper.study(part.study, part.id).axis(part.lines, part.where)
        return lines

    def _find_limits(self, frame: pd.DataFrame) -> panel.Limits:
        bottom, top, is_log = self.exhibit.bottom, self.exhibit.top, self.exhibit.y == "log"
        ends = panel.Limits(-math.inf if bottom is None else bottom, math.inf if top is None else top)
        if self.exhibit.y == "symlog" or (not is_log and ends == panel.Limits()):
            return ends
        return panel.find_limits(self._metrics[0], frame, ends, is_log)

    def _dress(self, axes: style.Axes, xs: list, limits: panel.Limits, center: str) -> None:
        names = label_values(self.paper, self.exhibit.x, xs)
        if self.exhibit.x == "metric":
            names = [name.replace(", ", ",\n") for name in names]
            axes.set_ylabel("%" if self._is_in_per_cent else "")
        else:
            axes.set_xlabel(label_name(self.paper, self.exhibit.x) + ("" if _is_to_scale(xs) else " (not to scale)"))
            label = label_axis(self.paper, self._metrics[0]) + (", median" if center == "median" else "")
            axes.set_ylabel(textwrap.fill(label, _LONGEST_LABEL))
        widths = [max(map(len, name.split("\n"))) for name in names]
        is_crowded = (max(widths) + 1) * len(names) > _ROOM
        axes.set_xticks(range(len(xs)), names, rotation=45 if is_crowded else 0)
        panel.dress_panel(axes, xs, limits, self.exhibit.y)
        low, high = axes.get_ylim()
        if self._is_in_per_cent and high > 100 and self.exhibit.top is None:
            # nothing is above 100 %: only room for a marker that sits on it
            axes.set_ylim(low, 100 + 0.03 * (100 - low))

    def _mark_places(self, axes: style.Axes, xs: list) -> None:
        """Draw a vertical line with its name at each of some values of a numeric x axis, between ticks if need be."""
        if not self.exhibit.marks:
            return
        places = np.interp(list(self.exhibit.marks.values()), xs, range(len(xs)))
        for place in places:
            axes.axvline(place, color=style.INK, linewidth=1.0, linestyle=(0, (2, 2)), alpha=0.7, zorder=1)
        names = axes.secondary_xaxis("top")
        names.set_xticks(_spread(places, _APART * len(xs)), list(self.exhibit.marks), rotation=90)
        names.tick_params(length=3, pad=1)
        names.spines["top"].set_visible(False)


def _is_to_scale(xs: list) -> bool:
    """Return whether numbers that stand one apart are so in value, or in size, as far as they are finite.

    >>> _is_to_scale([1, 2, 3]), _is_to_scale([0.01, 0.1, 1, math.inf]), _is_to_scale([0.1, 0.3, 0.99])
    (True, True, False)
    """
    if not all(isinstance(x, int | float) and not isinstance(x, bool) for x in xs):
        return True
    numbers = np.array([x for x in xs if math.isfinite(x)], dtype=float)
    steps = [np.diff(numbers)] + ([np.diff(np.log(numbers))] if (numbers > 0).all() else [])
    return any(len(step) < 2 or np.ptp(step) <= 0.01 * np.abs(step).max() for step in steps)


def _spread(places: np.ndarray, least: float) -> np.ndarray:
    """Return places at which names do not meet, in any order: each as near to its own, or behind it, as others leave.

    >>> _spread(np.array([3.0, 1.0, 1.2]), 0.5)
    array([3. , 1. , 1.5])
    """
    spread, last = places.astype(float), -math.inf
    for i in np.argsort(places):
        last = spread[i] = max(places[i], last + least)
    return spread
