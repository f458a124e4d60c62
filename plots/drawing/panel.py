"""A panel of lines with intervals: their look, the ends of the y axis, and what lies beyond these.

A figure of lines may say ``y: log`` or ``y: symlog``, ``bottom:`` and ``top:`` (in the units of the axis). What lies
beyond an end is marked there with its value, so that an axis hides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.config import estimators
from experiments.metrics.find import is_in_per_cent
from plots import style
from plots.labels import scale_value
from plots.series import name_of_center

_NUMBER: dict[str, Any] = {"marker": "x", "markersize": 7, "markeredgewidth": 1.7}  # how a printed number is marked
# How a number that is printed without its setting is drawn.
_LEVEL: dict[str, Any] = {"linestyle": (0, (1, 3)), "linewidth": 1.0}
_LINE = 13.5  # points from one written value to the next
_SHIFT = 0.009  # of the axis' width, three points: so far is a line shifted from the next, that both bars are seen
_NEAR = 0.25  # of the way to the next place, and no farther: all points of one place must look like that
_REACH = 5  # an interval may stretch a logarithmic axis to this part of the lowest point, and no further


class Limits(NamedTuple):
    """The ends of a y axis, on the scale on which the metric is printed; infinite where the drawing itself decides."""

    bottom: float = -math.inf
    top: float = math.inf

    def hold(self, values: np.ndarray) -> np.ndarray:
        """Return which values are shown; one that is missing is not beyond either end.

        Examples
        --------
        >>> Limits(57, 60).hold(np.array([59.0, 100 * 0.57, 61.0, math.nan])).tolist()
        [True, True, False, True]
        """
        slack = 1e-9 * np.abs(values)  # 100 * 0.57 is a little less than 57
        return ~((values < self.bottom - slack) | (values > self.top + slack))


class PanelLine(NamedTuple):
    """A line of a panel: how the legend calls it, how it looks, and its points, one for each place of the x axis."""

    text: str
    look: dict[str, Any]
    series: pd.DataFrame


class _PointBeyond(NamedTuple):
    """A point beyond an end of the axis: its place on the x axis, and where it is drawn there."""

    line: int
    x: float
    position: float
    value: float
    color: str
    is_printed: bool
    is_above: bool


def find_limits(metric: str, series: pd.DataFrame, given: Limits, is_log: bool) -> Limits:
    """Return the ends of a y axis for the points of a metric, as from `plots.series.summarise_metrics`.

    Those that are ``given`` stay; a logarithmic axis shows nothing at or below zero.

    Examples
    --------
    >>> series = pd.DataFrame({"mean": [0.1, 10.0], "printed": math.nan, "ci_low": [-0.1, 9.0], "ci_high": [0.3, 11.0]})
    >>> round(find_limits("mse", series, Limits(top=1.0), is_log=True).bottom, 3)
    0.016
    """
    names = [name_of_center(series), "printed", "ci_low", "ci_high"]
    values = scale_value(metric, series[names].to_numpy(dtype=float))
    is_shown = np.isfinite(values) & given.hold(values) & (values > (0 if is_log else -math.inf))
    points, ends = (values[:, part][is_shown[:, part]].tolist() for part in (slice(0, 2), slice(2, 4)))
    forward, backward = (math.log10, lambda y: 10**y) if is_log else (float, float)
    if is_log:
        lowest = min(points, default=math.inf) / _REACH
        has_lower = bool(points) and bool((values[:, [0, 2]] <= lowest).any())
        ends = [value for value in ends if value > lowest] + [lowest] * has_lower
    reach = list(map(forward, filter(math.isfinite, [*points, *ends, *given]))) or [0.0]
    pad = 0.05 * (max(reach) - min(reach)) or (1.0 if is_log else abs(max(reach)) or 1.0)
    bottom = given.bottom if math.isfinite(given.bottom) else backward(min(reach) - pad)
    return Limits(bottom, given.top if math.isfinite(given.top) else backward(max(reach) + pad))


def choose_look(value: Any, i: int, lines: Sequence) -> dict[str, Any]:
    """Return the look of the line of a value, which is number ``i`` of some."""
    if _is_level(value):  # without noise whatever ε: a level to reach
        number = list(map(_is_level, lines[:i])).count(True)
        return {"color": style.INK, "marker": "", "dashes": style.DASHES[number % len(style.DASHES)], "linewidth": 1.6}
    if isinstance(value, float) and math.isinf(value):
        return {"color": style.INK, "marker": "*", "dashes": (), "linewidth": 2.4, "markersize": 9}
    color = style.choose_color(i)
    if all(isinstance(line, int | float) and not isinstance(line, bool) for line in lines):
        n_finite = list(map(math.isinf, lines)).count(False)
        color = style.SEQUENTIAL[round(i * (len(style.SEQUENTIAL) - 1) / max(n_finite - 1, 1))]
    return {**style.choose_shape(i), "color": color, "linewidth": 1.6, "markersize": 5.5}


def _is_level(value: Any) -> bool:
    return value in estimators.list_algorithms() and bool(estimators.own_epsilon(value))


def draw_panel(
    axes: style.Axes, lines: Sequence[PanelLine], places: Sequence[float], limits: Limits, are_apart: bool = False
) -> tuple[list[style.Line2D], list[_PointBeyond]]:
    """Draw lines with their intervals at places of the x axis that are in order, and about one apart.

    Points of one place stand beside one another, far from each other where the places ``are_apart``, as names are.
    Returns what a legend shows of the lines, and the points that lie beyond the ends.
    """
    handles, beyond = [], []
    step = min(1.0, *np.diff(places)) if len(places) > 2 else 1.0
    shift = 0.7 / len(lines) if are_apart else min(step * _NEAR / len(lines), _SHIFT * len(places))
    for i, (text, look, series) in enumerate(lines):
        positions, color = np.asarray(places) + shift * (i - (len(lines) - 1) / 2), look["color"]
        center, low, high, printed = _scale_columns(series)
        # an interval that reaches zero has no lower end on a logarithmic axis: it ends where the axis does
        low, high = np.maximum([low, high], limits.bottom)
        bars = axes.vlines(positions, low, high, colors=color, linewidth=1.1, alpha=0.8)
        # likewise a point at zero, which lies infinitely far down there; other lines leave the axis by their own slope
        drawn = np.where(center <= 0, limits.bottom, center) if limits.bottom > 0 else center
        edge: dict[str, Any] = {"markeredgecolor": style.PAPER, "markeredgewidth": 0.5}
        shown = np.flatnonzero(limits.hold(center))
        (line,) = axes.plot(positions, drawn, zorder=3, label=text, markevery=shown, **edge, **look)
        numbers = np.where(limits.hold(printed), printed, math.nan)
        crosses = axes.plot(positions, numbers, color=color, linestyle="none", zorder=4, **_NUMBER)
        for values, is_printed in ((center, False), (printed, True)):
            for place in np.flatnonzero(~limits.hold(values)).tolist():
                at, value = (i, places[place], positions[place]), values[place]
                beyond.append(_PointBeyond(*at, value, color, is_printed, value > limits.top))
        style.group_line(i, [line, bars, *crosses, *_draw_level(axes, series.iloc[0], color)])
        handles.append(line)
    return handles, beyond


def _scale_columns(series: pd.DataFrame) -> np.ndarray:
    """Return center, ends of intervals and printed numbers of some points, on the scale of the axis."""
    values = series[[name_of_center(series), "ci_low", "ci_high", "printed"]].to_numpy(dtype=float)
    return (values * np.where(series["metric"].map(is_in_per_cent), 100, 1)[:, None]).T


def _draw_level(axes: style.Axes, first: pd.Series, color: str) -> list[style.Line2D]:
    """Draw a number that is printed without its setting as a level, crossed at the right end."""
    if pd.isna(first.get("unplaced")):
        return []
    value = scale_value(first["metric"], first["unplaced"])
    end: dict[str, Any] = {"linestyle": "none", "clip_on": False, "transform": axes.get_yaxis_transform()}
    return [
        axes.axhline(value, color=color, zorder=1, **_LEVEL),
        *axes.plot([1.0], [value], color=color, **_NUMBER, **end),
    ]


def dress_panel(axes: style.Axes, xs: Sequence, limits: Limits, scale: str | None) -> None:
    """Set the scale and the ends of the axes of a panel and draw its grid; what is without noise stands apart."""
    axes.set_xlim(-0.5, len(xs) - 0.5)
    style.dress_axes(axes, "y")
    if scale == "log":
        _dress_log(axes, limits)
    elif scale == "symlog":
        _dress_symlog(axes, limits)
    else:
        axes.ticklabel_format(axis="y", useOffset=False)
    if scale != "symlog" and math.isfinite(limits.top):
        axes.set_ylim(limits.bottom, limits.top)
    if any(isinstance(x, float) and math.isinf(x) for x in xs[1:]):
        axes.axvline(len(xs) - 1.5, color=style.GRID, linewidth=1.2, linestyle=(0, (4, 3)), zorder=0)


def _dress_log(axes: style.Axes, limits: Limits) -> None:
    """Make a y axis logarithmic, with plain numbers at its ticks."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_yscale("log")
    has_few_decades = limits.top < 30 * limits.bottom
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if has_few_decades else (1,)))
    axes.yaxis.set_minor_locator(NullLocator() if has_few_decades else LogLocator(subs=range(2, 10)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter("")


def _dress_symlog(axes: style.Axes, limits: Limits) -> None:
    """Make a y axis linear between -1 and 1, and logarithmic beyond, with plain numbers at its ticks."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    axes.set_yscale("symlog", linthresh=1.0, linscale=1.5)
    (low, high), (bottom, top) = axes.dataLim.intervaly, limits
    low = bottom if math.isfinite(bottom) else min(1.5 * low, low - 0.1)
    high = top if math.isfinite(top) else max(1.5 * high, high + 0.1)
    axes.set_ylim(low, high)
    decades = [float(10**power) for power in range(1, 16) if 10**power <= max(-low, high)]
    kept = decades[:: 1 + len(decades) // 6]
    ticks = [*(-ten for ten in kept[::-1]), -1.0, 0.0, 1.0, *kept]
    axes.set_yticks([tick for tick in ticks if low <= tick <= high])
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _format_value(value, "g")))


def mark_points(axes: style.Axes, points: Sequence[_PointBeyond], limits: Limits) -> float:
    """Mark points at the end of the axis beyond which they lie, their values written outside one above the other.

    Returns how many points of room what stands above the axes must leave for them.
    """
    above = sorted((point for point in points if point.is_above), key=lambda one: (one.x, one.value))
    below = sorted((point for point in points if not point.is_above), key=lambda one: (one.x, -one.value))
    padding = _mark_end(axes, above, limits.top, 1)
    if below:
        axes.tick_params(axis="x", pad=_mark_end(axes, below, limits.bottom, -1))
    return padding


def _mark_end(axes: style.Axes, points: Sequence[_PointBeyond], end: float, sign: int) -> float:
    heights: dict[float, int] = {}
    for point in points:
        look: dict[str, Any] = {"color": point.color, "linestyle": "none", "clip_on": False, "zorder": 5}
        shape = _NUMBER if point.is_printed else {"marker": "^" if sign > 0 else "v", "markersize": 7}
        mark = axes.plot([point.position], [end], **shape, **look)
        height = heights.get(point.x, 0)
        heights[point.x] = height + 1
        words = axes.annotate(
            ("× " if point.is_printed else "") + _format_value(point.value),
            (point.x, end),
            xytext=(0, sign * (6 + _LINE * height)),
            textcoords="offset points",
            ha="center",
            va="bottom" if sign > 0 else "top",
            color=point.color,
        )
        style.group_line(point.line, [*mark, words])
    return 6.0 + _LINE * max(heights.values(), default=0) + (3.0 if points else 0.0)


def _format_value(value: float, form: str = "#.3g") -> str:
    """Return a value in few characters: many may stand beside one another below an axis.

    >>> [_format_value(value) for value in (-1.2, 40, -19548, -7.64e6)], _format_value(-1e7, "g")
    (['−1.20', '40.0', '−19.5k', '−7.64M'], '−10M')
    """
    letters = {1e9: "G", 1e6: "M", 1e3: "k"}
    size = next((size for size in letters if size <= abs(value) < 1000 * size), 1.0)
    return f"{value / size:{form}}".rstrip(".").replace("-", "−") + letters.get(size, "")


def make_explanations(series: pd.DataFrame, beyond: Sequence[_PointBeyond], line: str) -> list[style.Line2D]:
    """Return legend entries for bars, crosses and ends of the axis; those that do not occur are left out.

    ``line`` is what each line of the figure stands for, as an algorithm or an ε.
    """
    entries, bare = [], {"linestyle": "none", "color": style.INK}
    if series["ci_low"].notna().any():
        counts = series.loc[series["n"] > 0, "n"].astype(int)
        least, most = counts.min(), counts.max()
        repeats = f"{most:,} repeats" if least == most else f"{least:,} to {most:,} repeats"
        median = "\nof the median" if name_of_center(series) == "median" else ""
        bar = {"marker": "|", "markersize": 13, "markeredgewidth": 1.3}
        entries.append(style.make_key(f"95 % interval{median},\n{repeats}", **bar, **bare))
    if series["printed"].notna().any():
        entries.append(style.make_key(f"printed in the paper,\ncoloured by its {line}", **_NUMBER, **bare))
    if "unplaced" in series:
        entries.append(style.make_key("printed, its\nsetting not said", color=style.INK, **_LEVEL, **_NUMBER))
    for is_above, words, marker in ((True, "above", "^"), (False, "below", "v")):
        if any(point.is_above == is_above for point in beyond):
            words = f"{words} the axis,\nvalue written"
            entries.append(style.make_key(words, marker=marker, markersize=7, **bare))
    return entries
