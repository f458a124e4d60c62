"""``lines``: a line for each value of an axis over the values of another, as in most figures of papers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
from pydantic import model_validator

from documents.document import ListOf
from experiments.config.paper import Center, Paper, PaperFigure, ShownPart
from experiments.metrics.find import is_in_per_cent
from experiments.questions.preflight import check_metrics
from plots.labels import format_interval, format_number, label_metric, label_name, label_value, label_values
from plots.series import add_numbers_without_setting, count_decimals_by_metric, name_of_center, summarise_metrics
from plots.tables.grid import check_axes
from plots.y_axis import Limits

if TYPE_CHECKING:
    import matplotlib.figure


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

    @property
    def axes(self) -> list[str]:
        """The axis of the lines, and that along the bottom."""
        return [self.lines, self.x]

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that are shown."""
        return (self.metric,) if isinstance(self.metric, str) else self.metric

    @property
    def is_in_per_cent(self) -> bool:
        """Whether all that is shown is printed in per cent."""
        return all(map(is_in_per_cent, self.metrics))

    @property
    def given_limits(self) -> Limits | None:
        """The ends of the y axis that it asks for; None if the drawing itself decides about the whole axis."""
        if self.y is None and self.bottom is None and self.top is None:
            return None
        bottom = -math.inf if self.bottom is None else self.bottom
        return Limits(bottom, math.inf if self.top is None else self.top)

    def list_x_values(self, paper: Paper) -> list:
        """Return the values along the bottom: of an axis of the study, or several metrics."""
        return list(self.metrics) if self.x == "metric" else paper.study(self.study, self.id).axis(self.x, self.where)

    def list_line_values(self, paper: Paper) -> list:
        """Return the values that have a line."""
        return paper.study(self.study, self.id).axis(self.lines, self.where)

    def check(self, paper: Paper) -> None:
        """Check that the study has the axes and metrics, and that no other axis varies.

        Raises
        ------
        PaperError
            If it has not.
        """
        check_axes(paper, self, self.axes)
        nothing = pd.DataFrame(columns=["table", "statistic", "metric"])
        summarise_metrics(paper, self, self.metric, pd.DataFrame(), nothing, self.axes, self.center)
        check_metrics(paper, self.id, self.study, self.where, self.metrics)

    def make_frame(self, paper: Paper, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        """Return one row for each point, as `summarise_metrics` does; ``unplaced`` is printed without its setting."""
        frame = summarise_metrics(paper, self, self.metric, table, numbers, self.axes, self.center)
        if self.lines != "algorithm" or not isinstance(self.metric, str):
            return frame
        return add_numbers_without_setting(paper, self, self.metric, frame, numbers)

    def draw(self, paper: Paper, frame: pd.DataFrame) -> matplotlib.figure.Figure:
        """Draw it."""
        from plots.figures._lines_drawing import draw_lines  # matplotlib is slow to import

        return draw_lines(paper, self, frame)

    def describe(self, paper: Paper, frame: pd.DataFrame) -> dict[str, Any]:
        """Return the points of the figure as the report's page shows them."""
        decimals = count_decimals_by_metric(frame)
        center, xs = name_of_center(frame), self.list_x_values(paper)
        names = product(self.list_line_values(paper), label_values(paper, self.x, xs))
        points = []
        for (line, x), point in zip(names, frame.to_dict("records"), strict=True):
            values = _describe_point(point, center, decimals[point["metric"]])
            points.append({"line": label_value(paper, line), "x": x, **values})
        metric = center if self.x == "metric" else f"{label_metric(paper, self.metrics[0])}, {center}"
        line, x = label_name(paper, self.lines), label_name(paper, self.x)
        return {"line": line, "x": x, "metric": metric, "points": points}


def _describe_point(point: Mapping[str, Any], center: str, decimals: int) -> dict[str, Any]:
    metric = point["metric"]
    printed = "" if pd.isna(point["printed"]) else format_number(metric, point["printed"], int(point["decimals"]))
    return {
        "ours": format_number(metric, point[center], decimals),
        "interval": format_interval(metric, point["ci_low"], point["ci_high"], decimals),
        "n": point["n"],
        "printed": printed,
        "verdict": point["verdict"],
    }
