"""``tradeoff``: one metric against another, a curve for each method as its parameter varies."""

from __future__ import annotations

from typing import Any

import pandas as pd

from experiments.config.kinds.exhibits import TradeoffFigure
from experiments.questions.tradeoffs import select_points
from experiments.stats import center_interval
from experiments.store.study_rows import match_column
from plots import style
from plots.exhibits.views import FigureView
from plots.labels import label_metric, label_value, scale_value


class TradeoffView(FigureView[TradeoffFigure], of=TradeoffFigure):
    """One metric against another, a curve for each method as its parameter goes through its values."""

    def make_frame(self, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        """Return one row per point of each curve: ``curve`` (from 0), ``value`` of the parameter, n, n_expected.

        For both metrics, under ``x`` and ``y``, it has their center and interval (``x_low``, ...).
        """
        rows = []
        for i, curve in enumerate(self.part.curves):
            cells = select_points(self.paper, self.part.id, curve, table, [self.part.x, self.part.y])
            for value in self.paper.study(curve.study, self.part.id).axis(curve.along, curve.where):
                part = cells[match_column(cells["value"], value)]
                point = {"curve": i, "value": value}
                for name, metric in (("x", self.part.x), ("y", self.part.y)):
                    interval = center_interval(self.paper.center_of(metric), part[metric].to_numpy(dtype=float))
                    point[name] = interval.center
                    point[f"{name}_low"], point[f"{name}_high"] = interval.low, interval.high
                rows.append({**point, "n": len(part), "n_expected": self.paper.repeats})
        return pd.DataFrame(rows)

    def draw(self, frame: pd.DataFrame) -> style.Figure:
        """Draw the curves."""
        drawn = style.make_figure(8.8, 5.2)
        axes = drawn.add_subplot()
        handles = [self._draw_curve(axes, i, frame[frame["curve"] == i]) for i in range(len(self.part.curves))]
        axes.set_xlabel(label_metric(self.paper, self.part.x))
        axes.set_ylabel(label_metric(self.paper, self.part.y))
        style.dress_axes(axes)
        style.write_shortfall(axes, frame)
        handles.append(style.make_key("95 % intervals", linestyle="none", marker="+", markersize=12, color=style.INK))
        style.add_legend(drawn, handles=handles, handlelength=3.2)
        style.write_title(drawn, axes, self.part.title)
        return drawn

    def _draw_curve(self, axes: style.Axes, i: int, points: pd.DataFrame) -> Any:
        color = style.choose_color(i)
        scaled = points.copy()
        for axis, metric in (("x", self.part.x), ("y", self.part.y)):
            for name in (axis, f"{axis}_low", f"{axis}_high"):
                scaled[name] = scale_value(metric, points[name])
        axes.vlines(scaled["x"], scaled["y_low"], scaled["y_high"], colors=color, linewidth=1.0, alpha=0.7)
        axes.hlines(scaled["y"], scaled["x_low"], scaled["x_high"], colors=color, linewidth=1.0, alpha=0.7)
        look: dict[str, Any] = {"marker": style.MARKERS[i % len(style.MARKERS)], "markersize": 5.5}
        look |= {"dashes": style.DASHES[i % len(style.DASHES)], "color": color, "label": self.part.curves[i].label}
        (line,) = axes.plot(scaled["x"], scaled["y"], zorder=3, **look)
        for point in scaled.dropna(subset=["x", "y"]).to_dict("records"):
            place: dict[str, Any] = {"xytext": (5, 4), "textcoords": "offset points"}
            axes.annotate(
                label_value(self.paper, point["value"]), (point["x"], point["y"]), color=color, fontsize=8.5, **place
            )
        return line
