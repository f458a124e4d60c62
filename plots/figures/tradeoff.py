"""``tradeoff``: one metric against another, a curve for each method as its parameter varies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd

from documents.document import ListOf
from experiments.config.paper import Curve, Paper, PaperFigure, Study
from experiments.config.setting import match_column
from experiments.questions.preflight import check_metrics
from experiments.questions.tradeoffs import check_curve, select_points
from experiments.stats import center_interval
from plots import style
from plots.labels import label_metric, label_value, scale_value


class LabelledCurve(Curve):
    """A curve of a figure."""

    label: str
    """How the legend calls it."""


class TradeoffFigure(PaperFigure):
    """One metric against another, a curve for each method as its parameter goes through its values."""

    kind: Literal["tradeoff"]
    curves: ListOf[LabelledCurve]
    """The curves."""
    x: str
    """The metric along the bottom."""
    y: str
    """The metric upwards."""

    def list_study_parts(self, paper: Paper) -> list[tuple[Study, Mapping]]:
        """Return the parts of studies that the curves show."""
        return [(paper.study(curve.study, self.id), curve.where) for curve in self.curves]

    def check(self, paper: Paper) -> None:
        """Check that the curves are curves, and that their data sets have the metrics; raises a PaperError."""
        for curve in self.curves:
            check_curve(paper, self.id, curve)
            check_metrics(paper, self.id, curve.study, curve.where, [self.x, self.y])

    def make_frame(self, paper: Paper, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        """Return one row per point of each curve: ``curve`` (from 0), ``value`` of the parameter, n, n_expected.

        For both metrics, under ``x`` and ``y``, it has their center and interval (``x_low``, ...).
        """
        rows = []
        for i, curve in enumerate(self.curves):
            cells = select_points(paper, self.id, curve, table, [self.x, self.y])
            for value in paper.study(curve.study, self.id).axis(curve.along, curve.where):
                part = cells[match_column(cells["value"], value)]
                point = {"curve": i, "value": value}
                for name, metric in (("x", self.x), ("y", self.y)):
                    interval = center_interval(paper.center_of(metric), part[metric].to_numpy(dtype=float))
                    point[name] = interval.center
                    point[f"{name}_low"], point[f"{name}_high"] = interval.low, interval.high
                rows.append({**point, "n": len(part), "n_expected": paper.repeats})
        return pd.DataFrame(rows)

    def draw(self, paper: Paper, frame: pd.DataFrame) -> style.Figure:
        """Draw the curves."""
        drawn = style.make_figure(8.8, 5.2)
        axes = drawn.add_subplot()
        handles = [self._draw_curve(axes, paper, i, frame[frame["curve"] == i]) for i in range(len(self.curves))]
        axes.set_xlabel(label_metric(paper, self.x))
        axes.set_ylabel(label_metric(paper, self.y))
        style.dress_axes(axes)
        style.write_shortfall(axes, frame)
        handles.append(style.make_key("95 % intervals", linestyle="none", marker="+", markersize=12, color=style.INK))
        style.add_legend(drawn, handles=handles, handlelength=3.2)
        style.write_title(drawn, axes, self.title)
        return drawn

    def _draw_curve(self, axes: style.Axes, paper: Paper, i: int, points: pd.DataFrame) -> Any:
        color = style.choose_color(i)
        scaled = points.copy()
        for axis, metric in (("x", self.x), ("y", self.y)):
            for name in (axis, f"{axis}_low", f"{axis}_high"):
                scaled[name] = scale_value(metric, points[name])
        axes.vlines(scaled["x"], scaled["y_low"], scaled["y_high"], colors=color, linewidth=1.0, alpha=0.7)
        axes.hlines(scaled["y"], scaled["x_low"], scaled["x_high"], colors=color, linewidth=1.0, alpha=0.7)
        look: dict[str, Any] = {"marker": style.MARKERS[i % len(style.MARKERS)], "markersize": 5.5}
        look |= {"dashes": style.DASHES[i % len(style.DASHES)], "color": color, "label": self.curves[i].label}
        (line,) = axes.plot(scaled["x"], scaled["y"], zorder=3, **look)
        for point in scaled.dropna(subset=["x", "y"]).to_dict("records"):
            place: dict[str, Any] = {"xytext": (5, 4), "textcoords": "offset points"}
            axes.annotate(
                label_value(paper, point["value"]), (point["x"], point["y"]), color=color, fontsize=8.5, **place
            )
        return line
