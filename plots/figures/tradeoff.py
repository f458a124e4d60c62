"""``tradeoff``: one metric against another, a curve for each method as its parameter varies."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from experiments.config.kinds.exhibits import TradeoffFigure
from experiments.metrics.find import find_metric, is_error
from experiments.questions.tradeoffs import select_points
from experiments.stats import center_interval
from experiments.store.study_rows import match_column
from plots import style
from plots.exhibits.captions import name_metric, write_value
from plots.exhibits.views import FigureView
from plots.labels import label_axis, label_name, label_value, scale_value

if TYPE_CHECKING:
    from matplotlib.transforms import Bbox

_DOT = 9  # pixels that a point takes
_STEP = 4  # pixels between the places of a line that no value may hide
_AIR = 2  # pixels around a value
_GUESSING: dict[str, Any] = {"color": style.INK, "linewidth": 1.0, "linestyle": (0, (1, 2))}
# Where a value may stand beside its point, the best place first.
_PLACES: list[tuple[tuple[float, float], dict[str, Any]]] = [
    ((6, 5), {"ha": "left", "va": "bottom"}),
    ((-6, 5), {"ha": "right", "va": "bottom"}),
    ((6, -5), {"ha": "left", "va": "top"}),
    ((-6, -5), {"ha": "right", "va": "top"}),
    ((0, 9), {"ha": "center", "va": "bottom"}),
    ((0, -9), {"ha": "center", "va": "top"}),
    ((10, 0), {"ha": "left", "va": "center"}),
    ((-10, 0), {"ha": "right", "va": "center"}),
    ((12, 12), {"ha": "left", "va": "bottom"}),
    ((-12, 12), {"ha": "right", "va": "bottom"}),
    ((12, -12), {"ha": "left", "va": "top"}),
    ((-12, -12), {"ha": "right", "va": "top"}),
]


class TradeoffView(FigureView[TradeoffFigure], of=TradeoffFigure):
    """One metric against another, a curve for each method as its parameter goes through its values."""

    def make_frame(self, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        """Return one row per point of each curve: ``curve`` (from 0), ``value`` of the parameter, n, n_expected.

        For both metrics, under ``x`` and ``y``, it has their center and interval (``x_low``, ...).
        """
        rows = []
        for i, curve in enumerate(self.exhibit.curves):
            cells = select_points(self.paper, self.exhibit.id, curve, table, [self.exhibit.x, self.exhibit.y])
            for value in self.paper.study(curve.study, self.exhibit.id).axis(curve.along, curve.where):
                at_value = cells[match_column(cells["value"], value)]
                point = {"curve": i, "value": value}
                for name, metric in (("x", self.exhibit.x), ("y", self.exhibit.y)):
                    runs, bounds = at_value[metric].to_numpy(dtype=float), find_metric(metric).range
                    interval = center_interval(self.paper.center_of(metric), runs, bounds)
                    point[name] = interval.center
                    point[f"{name}_low"], point[f"{name}_high"] = interval.low, interval.high
                rows.append({**point, "n": len(at_value), "n_expected": max(self.paper.repeats, len(at_value))})
        return pd.DataFrame(rows)

    def draw(self, frame: pd.DataFrame) -> style.Figure:
        """Draw the curves."""
        drawn = style.make_figure(style.WIDTH, 4.4)
        axes = drawn.add_subplot()
        curves = [self._scale(frame[frame["curve"] == i]) for i in range(len(self.exhibit.curves))]
        handles = [_draw_curve(axes, i, points) for i, points in enumerate(curves)]
        for handle, curve in zip(handles, self.exhibit.curves, strict=True):
            handle.set_label(curve.label)
        axes.set_xlabel(label_axis(self.paper, self.exhibit.x))
        axes.set_ylabel(label_axis(self.paper, self.exhibit.y))
        style.dress_axes(axes)
        style.write_shortfall(axes, frame)
        handles += self._explain(axes)
        style.add_legend_below(drawn, handles, handlelength=3.2)
        style.write_title(drawn, axes, self.exhibit.title)
        self._write_values(axes, curves)
        return drawn

    def sum_up(self, frame: pd.DataFrame) -> str:
        """Say what the best value along the y axis comes with, and what the lowest along the x axis does."""
        points = frame.dropna(subset=["x", "y"])
        if points.empty:
            return ""
        less = is_error(self.exhibit.y)
        best, lowest = (points["y"].idxmin() if less else points["y"].idxmax()), points["x"].idxmin()
        told = [
            self._describe_point(points.loc[best], "lowest" if less else "highest", ("y", "x")),
            self._describe_point(points.loc[lowest], "lowest", ("x", "y")),
        ]
        return f"{'. '.join(told)}."

    def _describe_point(self, point: pd.Series, which: str, axes: tuple[str, str]) -> str:
        """Return what one axis has where another has its highest or lowest value."""
        metrics = [getattr(self.exhibit, axis) for axis in axes]
        names = [name_metric(self.paper, metric) for metric in metrics]
        values = [write_value(metric, point[axis]) for metric, axis in zip(metrics, axes, strict=True)]
        curve = self.exhibit.curves[int(point["curve"])]
        setting = f"{label_name(self.paper, curve.along)} = {label_value(self.paper, point['value'])}"
        return f"The {which} {names[0]} is {values[0]} ({curve.label}; {setting}), with {names[1]} = {values[1]}"

    def _scale(self, points: pd.DataFrame) -> pd.DataFrame:
        """Return the points of a curve on the scales on which papers print the two metrics."""
        scaled = points.copy()
        for axis, metric in (("x", self.exhibit.x), ("y", self.exhibit.y)):
            for name in (axis, f"{axis}_low", f"{axis}_high"):
                scaled[name] = scale_value(metric, points[name])
        return scaled

    def _explain(self, axes: style.Axes) -> list[style.Line2D]:
        """Return legend entries of what is no curve, and draw where guessing stands."""
        bare: dict[str, Any] = {"linestyle": "none", "color": style.INK}
        names = dict.fromkeys(label_name(self.paper, curve.along) for curve in self.exhibit.curves)
        entries = [
            style.make_key("95 % intervals", marker="+", markersize=12, **bare),
            style.make_key(
                f"beside points: {' or '.join(names)},\nwhere there is room", marker="$0.1$", markersize=16, **bare
            ),
        ]
        if self.exhibit.x.endswith("_auc"):
            axes.axvline(0.5, zorder=1, **_GUESSING)
            entries.append(style.make_key("AUC of guessing", **_GUESSING))
        return entries

    def _write_values(self, axes: style.Axes, curves: Sequence[pd.DataFrame]) -> None:
        """Write the value of the parameter beside points, where it hides no point, no line and no other value.

        Those at the ends of the curves come first: between them a reader can count.
        """
        taken = [box for points in curves for box in _list_drawn(axes, points)]
        if self.exhibit.x.endswith("_auc"):
            taken += _cover(axes.transData.transform([(0.5, end) for end in axes.get_ylim()]), 1)
        for is_end in (True, False):
            for i, points in enumerate(curves):
                known = points.dropna(subset=["x", "y"])
                ends = known.index[[0, -1]] if len(known) else []
                self._write_along(axes, i, known[known.index.isin(ends) == is_end], taken)

    def _write_along(self, axes: style.Axes, i: int, points: pd.DataFrame, taken: list[Bbox]) -> None:
        """Write values beside points of a curve; what is written is taken from then on."""
        for point in points.to_dict("records"):
            look: dict[str, Any] = {
                "color": style.choose_color(i),
                "gid": f"line-{i}-{point['value']}",
            }
            text = label_value(self.paper, point["value"])
            for shift, place in _PLACES:
                words = axes.annotate(
                    text, (point["x"], point["y"]), shift, textcoords="offset points", **place, **look
                )
                box = words.get_window_extent().padded(_AIR)
                if axes.bbox.y0 <= box.y0 and not box.count_overlaps(taken):
                    taken.append(box)
                    break
                words.remove()


def _list_drawn(axes: style.Axes, points: pd.DataFrame) -> list[Bbox]:
    """Return what the points of a curve and the lines between them take, in pixels."""
    pixels = axes.transData.transform(points[["x", "y"]].dropna().to_numpy())
    return _cover(pixels, 1) + [_box(place, _DOT) for place in pixels]


def _cover(pixels: np.ndarray, size: float) -> list[Bbox]:
    """Return boxes along a line through some places."""
    boxes = []
    for start, end in pairwise(pixels):
        n = max(int(np.hypot(*(end - start)) / _STEP), 1)
        boxes += [_box(start + share * (end - start), size) for share in np.linspace(0, 1, n + 1)]
    return boxes


def _box(place: np.ndarray, size: float) -> Bbox:
    from matplotlib.transforms import Bbox

    return Bbox.from_bounds(place[0] - size / 2, place[1] - size / 2, size, size)


def _draw_curve(axes: style.Axes, i: int, points: pd.DataFrame) -> style.Line2D:
    color = style.choose_color(i)
    bars: dict[str, Any] = {"colors": color, "linewidth": 1.0, "alpha": 0.7}
    upright = axes.vlines(points["x"], points["y_low"], points["y_high"], **bars)
    flat = axes.hlines(points["y"], points["x_low"], points["x_high"], **bars)
    look: dict[str, Any] = {"marker": style.MARKERS[i % len(style.MARKERS)], "markersize": 5.5, "color": color}
    (line,) = axes.plot(points["x"], points["y"], zorder=3, dashes=style.DASHES[i % len(style.DASHES)], **look)
    style.group_line(i, [line, upright, flat])
    return line
