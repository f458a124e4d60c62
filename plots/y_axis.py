"""The y axis of a figure: linear or logarithmic, where it ends, and what lies beyond its ends.

A figure of lines may say ``y: log``, ``bottom:`` and ``top:`` (in the units of the axis). What lies beyond an end is
marked there with its value, so that an axis hides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from plots.labels import format_large, scale_value
from plots.series import name_of_center

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE = 11.5  # points from one written value to the next
_REACH = 5  # an interval may stretch a logarithmic axis to this part of the lowest point, and no further


@dataclass(frozen=True)
class Limits:
    """The ends of an axis; infinite where the drawing itself decides.

    Parameters
    ----------
    bottom, top : float
        On the scale on which the metric is printed.
    """

    bottom: float = -math.inf
    top: float = math.inf

    def hold(self, value: float) -> bool:
        """Return whether a value is shown; one that is missing is not beyond either end.

        Examples
        --------
        >>> [Limits(57, 60).hold(value) for value in (59.0, 100 * 0.57, 61.0, math.nan)]
        [True, True, False, True]
        """
        slack = 1e-9 * abs(value)  # 100 * 0.57 is a little less than 57
        return not (value < self.bottom - slack or value > self.top + slack)


@dataclass(frozen=True)
class PointBeyond:
    """A point that lies beyond an end of the axis.

    Parameters
    ----------
    x : float
        The place of its value on the x axis.
    position : float
        Where it is drawn there.
    value : float
        Its value.
    color : str
        Of its line.
    is_printed : bool
        Whether the paper prints it.
    """

    x: float
    position: float
    value: float
    color: str
    is_printed: bool


@dataclass(frozen=True)
class AxisValues:
    """What an axis has to show of one metric: points and ends of intervals, on the scale on which it is printed.

    Parameters
    ----------
    metric : str
        The metric.
    series : DataFrame
        As from `plots.series.summarise_metrics`.
    is_log : bool
        Whether the axis is logarithmic: it shows no value at or below zero.
    """

    metric: str
    series: pd.DataFrame
    is_log: bool

    def list_shown(self, names: Sequence[str], limits: Limits) -> list[float]:
        """Return the values of columns that an axis with these ends can show."""
        values = []
        for name in names:
            for value in scale_value(self.metric, self.series[name]):
                can_be_shown = math.isfinite(value) and (value > 0 or not self.is_log)
                if can_be_shown and limits.hold(value):
                    values.append(value)
        return values

    def reach_below(self, value: float) -> bool:
        """Return whether a point or an interval lies at or below a value."""
        columns = self.series[[name_of_center(self.series), "ci_low"]]
        return bool((scale_value(self.metric, columns) <= value).any(axis=None))


def find_limits(values: AxisValues, given: Limits) -> Limits:
    """Return the ends of a figure's y axis.

    Parameters
    ----------
    values : AxisValues
        What the axis has to show.
    given : Limits
        The ends that the figure asks for; infinite where it does not.

    Examples
    --------
    >>> series = pd.DataFrame({"mean": [0.1, 10.0], "printed": math.nan, "ci_low": [-0.1, 9.0], "ci_high": [0.3, 11.0]})
    >>> round(find_limits(AxisValues("mse", series, is_log=True), Limits(top=1.0)).bottom, 3)
    0.016
    """
    points = values.list_shown([name_of_center(values.series), "printed"], given)
    ends = values.list_shown(["ci_low", "ci_high"], given)
    forward, backward = (math.log10, lambda y: 10**y) if values.is_log else (float, float)
    if values.is_log:
        ends = _limit_reach(values, points, ends)
    finite = filter(math.isfinite, [*points, *ends, given.bottom, given.top])
    reach = list(map(forward, finite)) or [0.0]
    pad = 0.05 * (max(reach) - min(reach)) or (1.0 if values.is_log else abs(max(reach)) or 1.0)
    bottom = given.bottom if math.isfinite(given.bottom) else backward(min(reach) - pad)
    return Limits(bottom, given.top if math.isfinite(given.top) else backward(max(reach) + pad))


def _limit_reach(values: AxisValues, points: list[float], ends: list[float]) -> list[float]:
    """Return the ends of intervals without those that would stretch a logarithmic axis too far down."""
    if not points:
        return []
    lowest = min(points) / _REACH
    kept = [value for value in ends if value > lowest]
    return [*kept, lowest] if values.reach_below(lowest) else kept


def dress_log(axes: Axes, limits: Limits) -> None:
    """Make a y axis logarithmic, with plain numbers at its ticks."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_yscale("log")
    has_few_decades = limits.top < 30 * limits.bottom
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if has_few_decades else (1,)))
    axes.yaxis.set_minor_locator(NullLocator() if has_few_decades else LogLocator(subs=range(2, 10)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter("")


def mark_points(axes: Axes, points: Sequence[PointBeyond], limits: Limits) -> tuple[int, int]:
    """Mark points at the end of the axis beyond which they lie, their values written outside one above the other.

    Returns
    -------
    above, below : int
        How many lines of text there are at most.
    """
    above = [point for point in points if point.value > limits.top]
    below = [point for point in points if point.value < limits.bottom]
    above.sort(key=lambda point: (point.x, point.value))
    below.sort(key=lambda point: (point.x, -point.value))
    return _mark_end(axes, above, limits.top, 1), _mark_end(axes, below, limits.bottom, -1)


def _mark_end(axes: Axes, points: Sequence[PointBeyond], end: float, sign: int) -> int:
    heights: dict[float, int] = {}
    for point in points:
        style: dict[str, Any] = {"color": point.color, "linestyle": "none", "clip_on": False, "zorder": 5}
        shape: dict[str, Any] = {"marker": "^" if sign > 0 else "v"}
        if point.is_printed:
            shape = {"marker": "x", "markeredgewidth": 1.7}
        axes.plot([point.position], [end], markersize=7, **shape, **style)
        height = heights.get(point.x, 0)
        heights[point.x] = height + 1
        axes.annotate(
            ("× " if point.is_printed else "") + _format_value(point.value),
            (point.x, end),
            xytext=(0, sign * (6 + _LINE * height)),
            textcoords="offset points",
            ha="center",
            va="bottom" if sign > 0 else "top",
            fontsize=8.5,
            color=point.color,
        )
    return max(heights.values(), default=0)


def measure_padding(n_lines: int) -> float:
    """Return how many points of room lines of written values need."""
    return 6.0 + _LINE * n_lines + (3.0 if n_lines else 0.0)


def _format_value(value: float) -> str:
    if abs(value) < 1000:
        return f"{value:#.3g}".rstrip(".")
    return format_large(value)
