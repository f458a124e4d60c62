"""Rows of a forest plot and of a dot plot: an axis for each unit, and where the marks of a row stand on it.

A page draws a strip with elements that it places in per cent of a width; text draws it with characters. Both have the
same places.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

# An axis reaches so many times as far as the median of what stands on it; what is longer runs off its end.
_WIDEST = 8.0
_ROOM = 1.05  # an axis is so much longer than what it reaches, so that no mark is cut in half

Row = TypeVar("Row")


@dataclass(frozen=True)
class StripPlot(Generic[Row]):
    """Claims or printed numbers that share an axis, in the order of their file."""

    unit: str  #: of the axis; empty of those that have none
    ticks: list[tuple[float, str]]  #: where the labels of the axis stand, from 0 to 1, and the labels
    rows: list[Row]
    shared: str = ""  #: words of what all rows are numbers of, which the rows do not repeat
    scale: str = ""  #: both ends of the axis in words, with the unit; empty of those that have none


@dataclass(frozen=True)
class Strip:
    """Where the marks of a row stand on its axis, each from 0 to 1."""

    center: float  #: what was measured
    low: float  #: the ends of its interval
    high: float
    band: tuple[float, float] | None = None  #: the ends of what counts as no difference
    mark: float | None = None  #: zero on an axis of effects, the printed number on an axis of numbers
    beyond: str = ""  #: "left" or "right" if what was measured lies beyond that end of the axis


@dataclass(frozen=True)
class Axis:
    """An axis from ``low`` to ``high``; beyond ``threshold`` from zero it is logarithmic."""

    low: float
    high: float
    threshold: float = math.inf

    def place(self, value: float) -> float:
        """Return where a value stands, from 0 to 1; what lies beyond an end stands there.

        Examples
        --------
        >>> Axis(-2, 2).place(1), Axis(-2, 2).place(9)
        (0.75, 1.0)
        >>> Axis(-100, 100, threshold=1).place(10)
        0.8333333333333334
        """
        low, high, moved = (self._bend(number) for number in (self.low, self.high, value))
        if math.isnan(moved) or high == low:
            return 0.5
        return min(max((moved - low) / (high - low), 0.0), 1.0)

    def make_strip(self, center: float, low: float, high: float, mark: float, margin: float | None = None) -> Strip:
        """Return the strip of what was measured with its interval, beside a mark; ``margin`` is around zero."""
        beyond = "left" if center < self.low else "right" if center > self.high else ""
        first, last = (self.place(center if math.isnan(end) else end) for end in (low, high))
        band = None if margin is None else (self.place(-margin), self.place(margin))
        return Strip(self.place(center), first, last, band, self.place(mark), beyond)

    def list_ticks(self) -> list[float]:
        """Return at most seven round values of the axis, ascending.

        Examples
        --------
        >>> Axis(-25, 25).list_ticks(), Axis(70, 88).list_ticks()
        ([-20.0, -10.0, 0.0, 10.0, 20.0], [70.0, 75.0, 80.0, 85.0])
        >>> Axis(-100, 100, threshold=1).list_ticks()
        [-100.0, -10.0, -1.0, 0.0, 1.0, 10.0, 100.0]
        """
        if math.isfinite(self.threshold):
            n_decades = math.floor(math.log10(self.high / self.threshold) + 1e-9)
            every = max(1, math.ceil((n_decades + 1) / 3))
            sizes = [self.threshold * 10.0**decade for decade in range(0, n_decades + 1, every)]
            return [*(-size for size in reversed(sizes)), 0.0, *sizes]
        span = self.high - self.low
        magnitude = 10.0 ** math.floor(math.log10(span))
        step = next(size * magnitude for size in (0.1, 0.2, 0.5, 1, 2, 5) if span / (size * magnitude) <= 6)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(number * step, 12) for number in range(first, last + 1)]

    def _bend(self, value: float) -> float:
        if abs(value) <= self.threshold:
            return value / self.threshold if math.isfinite(self.threshold) else value
        return math.copysign(1 + math.log10(abs(value) / self.threshold), value)


def make_effect_axis(reaches: Iterable[float], margin: float, is_linear: bool) -> Axis:
    """Return the axis of effects around zero.

    ``reaches`` is how far from zero the marks of each row reach, ``margin`` what counts as no difference. A linear axis
    is cut where single rows reach much farther than most; else it is logarithmic beyond the margin and reaches all.
    """
    lengths = sorted(length for length in map(abs, reaches) if math.isfinite(length))
    farthest = max([*lengths, margin, 1e-12])
    if is_linear:
        median = lengths[len(lengths) // 2] if lengths else margin
        reach = _ROOM * min(farthest, _WIDEST * max(median, margin))
        return Axis(-reach, reach)
    threshold = 10.0 ** round(math.log10(margin))
    reach = _ROOM * max(farthest, 10 * threshold)
    return Axis(-reach, reach, threshold)


def make_number_axis(values: Iterable[float]) -> Axis:
    """Return the linear axis that shows all of some numbers."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    room = (_ROOM - 1) * (high - low) or abs(high) / 10 or 1.0
    return Axis(low - room, high + room)


def draw_in_text(strip: Strip | None, mark: str, width: int = 21) -> str:
    """Draw a strip in characters, zero or the printed number as ``mark``; nothing without a strip.

    Examples
    --------
    >>> draw_in_text(Strip(0.8, 0.7, 0.9, (0.45, 0.55), 0.5), "│")
    '·········░│░··──●──··'
    >>> draw_in_text(Strip(0.0, 0.0, 0.1, None, 0.9, "left"), "×")
    '◂──···············×··'
    """
    if strip is None:
        return ""
    line = ["·"] * width

    def find_column(place: float) -> int:
        return round(place * (width - 1))

    def fill(ends: tuple[float, float], character: str) -> None:
        for column in range(find_column(ends[0]), find_column(ends[1]) + 1):
            line[column] = character

    if strip.band:
        fill(strip.band, "░")
    if strip.mark is not None and mark != "×":
        line[find_column(strip.mark)] = mark
    fill((strip.low, strip.high), "─")
    line[find_column(strip.center)] = {"left": "◂", "right": "▸"}.get(strip.beyond, "●")
    if strip.mark is not None and mark == "×":
        line[find_column(strip.mark)] = mark
    return "".join(line)
