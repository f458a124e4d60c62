"""The y axis of a figure: linear or logarithmic, where it ends, and what lies beyond its ends.

An item of a paper's ``figures`` may say ``y: log``, ``bottom:`` and ``top:`` (in the units of the axis). What lies
beyond an end is marked there with its value, so that an axis hides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from experiments.config.selection import PaperError
from experiments.judge.series import ours
from plots.labels import large, scaled

_LINE = 11.5  # points from one written value to the next
_REACH = 5  # an interval may stretch a logarithmic axis to this part of the lowest point, and no further


@dataclass(frozen=True)
class Limits:
    """The ends of an axis; infinite where the drawing itself decides."""

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
class Beyond:
    """A point that lies beyond an end of the axis."""

    x: int
    position: float
    value: float
    color: str
    is_printed: bool


def limits_of(item: Mapping, series: pd.DataFrame) -> Limits:
    """Return the ends of a figure's y axis.

    Parameters
    ----------
    item : mapping
        The figure; ``y``, ``bottom`` and ``top`` are optional.
    series : DataFrame
        As from `experiments.judge.series.summarise`.

    Raises
    ------
    PaperError
        If they contradict themselves.

    Examples
    --------
    >>> series = pd.DataFrame({"mean": [0.1, 10.0], "printed": math.nan, "ci_low": [-0.1, 9.0], "ci_high": [0.3, 11.0]})
    >>> limits_of({"metric": "mse", "top": 4.0, "bottom": 0.0}, series)
    Limits(bottom=0.0, top=4.0)
    >>> round(limits_of({"metric": "mse", "y": "log", "top": 1.0}, series).bottom, 3)
    0.016
    """
    _check(item)
    if not {"y", "bottom", "top"} & set(item):
        return Limits()
    is_log = item.get("y") == "log"
    given = Limits(float(item.get("bottom", -math.inf)), float(item.get("top", math.inf)))
    points, ends = (_shown(item, series, names, given) for names in ((ours(series), "printed"), ("ci_low", "ci_high")))
    if is_log:
        ends = [value for value in ends if points and value > min(points) / _REACH]
        ends += [min(points) / _REACH] if points and _some_below(item, series, min(points) / _REACH) else []
    forward, backward = (math.log10, lambda y: 10**y) if is_log else (float, float)
    reach = [forward(value) for value in [*points, *ends, given.bottom, given.top] if math.isfinite(value)] or [0.0]
    pad = 0.05 * (max(reach) - min(reach)) or (1.0 if is_log else abs(max(reach)) or 1.0)
    bottom = given.bottom if math.isfinite(given.bottom) else backward(min(reach) - pad)
    return Limits(bottom, given.top if math.isfinite(given.top) else backward(max(reach) + pad))


def dress_log(axes: Axes, limits: Limits) -> None:
    """Make a y axis logarithmic, with plain numbers at its ticks."""
    axes.set_yscale("log")
    few = limits.top < 30 * limits.bottom
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
    axes.yaxis.set_minor_locator(NullLocator() if few else LogLocator(subs=range(2, 10)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter("")


def mark(axes: Axes, points: Sequence[Beyond], limits: Limits) -> tuple[int, int]:
    """Mark points at the end of the axis beyond which they lie, their values written outside one above the other.

    Returns
    -------
    above, below : int
        How many lines of text there are at most.
    """
    heights = []
    for end, sign, marker in ((limits.top, 1, "^"), (limits.bottom, -1, "v")):
        found = sorted((p for p in points if (p.value - end) * sign > 0), key=lambda p: (p.x, p.value * sign))
        for i, point in enumerate(found):
            style = {"color": point.color, "linestyle": "none", "clip_on": False, "zorder": 5}
            shape = {"marker": "x", "markeredgewidth": 1.7} if point.is_printed else {"marker": marker}
            axes.plot([point.position], [end], markersize=7, **shape, **style)
            height = sum(other.x == point.x for other in found[:i])
            axes.annotate(
                ("× " if point.is_printed else "") + _text(point.value),
                (point.x, end),
                xytext=(0, sign * (6 + _LINE * height)),
                textcoords="offset points",
                ha="center",
                va="bottom" if sign > 0 else "top",
                fontsize=8.5,
                color=point.color,
            )
        heights.append(max((sum(p.x == x for p in found) for x in {p.x for p in found}), default=0))
    return heights[0], heights[1]


def padding(n_lines: int) -> float:
    """Return how many points of room lines of written values need."""
    return 6.0 + _LINE * n_lines + (3.0 if n_lines else 0.0)


def _check(item: Mapping) -> None:
    if item.get("y", "log") != "log":
        raise PaperError(f"{item['id']}: y = {item['y']!r} is unknown; it may be log, or be left out")
    ends = {name: item[name] for name in ("bottom", "top") if name in item}
    for name, value in ends.items():
        if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
            raise PaperError(f"{item['id']}: {name} = {value!r} must be a number on the scale of the axis")
        if "y" in item and value <= 0:
            raise PaperError(f"{item['id']}: {name} = {value!r} cannot be shown on a log axis; choose one above zero")
    if len(ends) == 2 and ends["bottom"] >= ends["top"]:
        raise PaperError(f"{item['id']}: bottom = {ends['bottom']!r} must lie below top = {ends['top']!r}")


def _shown(item: Mapping, series: pd.DataFrame, names: Sequence[str], given: Limits) -> list[float]:
    """Return the values of columns, as printed, that an axis with these ends can show."""
    values = (scaled(item["metric"], value) for name in names for value in series[name])
    return [v for v in values if math.isfinite(v) and given.hold(v) and (v > 0 or item.get("y") != "log")]


def _some_below(item: Mapping, series: pd.DataFrame, value: float) -> bool:
    return bool((scaled(item["metric"], series[[ours(series), "ci_low"]]) <= value).any(axis=None))


def _text(value: float) -> str:
    if abs(value) < 1000:
        return f"{value:#.3g}".rstrip(".")
    return large(value)
