"""Rows of a forest plot and of a dot plot: an axis for each unit, and where the marks of a row stand on it.

A page draws a strip with elements that it places in per cent of a width; text draws it with characters. Both have the
same places.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_WIDEST = 8.0
"""An axis reaches so many times as far as the median of what stands on it; what is longer runs off its end."""
_ROOM = 1.05
"""An axis is so much longer than what it reaches, so that no mark is cut in half."""


@dataclass(frozen=True)
class Axis:
    """An axis that a unit has.

    Parameters
    ----------
    low, high : float
        Its ends.
    threshold : float
        Beyond this distance from zero it is logarithmic; infinite for an axis that is linear throughout.
    """

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

    def list_ticks(self) -> list[float]:
        """Return at most seven round values of the axis, ascending.

        Examples
        --------
        >>> Axis(-25, 25).list_ticks(), Axis(70, 88).list_ticks()
        ([-20.0, -10.0, 0.0, 10.0, 20.0], [70.0, 75.0, 80.0, 85.0])
        >>> Axis(-100, 100, threshold=1).list_ticks()
        [-100.0, -10.0, -1.0, 0.0, 1.0, 10.0, 100.0]
        """
        return _list_decades(self) if math.isfinite(self.threshold) else _list_steps(self)

    def _bend(self, value: float) -> float:
        if abs(value) <= self.threshold:
            return value / self.threshold if math.isfinite(self.threshold) else value
        return math.copysign(1 + math.log10(abs(value) / self.threshold), value)


@dataclass(frozen=True)
class Strip:
    """Where the marks of a row stand on its axis, each from 0 to 1.

    Parameters
    ----------
    center : float
        What was measured.
    low, high : float
        The ends of its interval.
    band : tuple of float or None
        What counts as no difference, or what a claim allows: its two ends.
    mark : float or None
        Where zero is on an axis of effects; the printed number on an axis of numbers.
    beyond : str
        ``left`` or ``right`` if what was measured lies beyond that end of the axis.
    """

    center: float
    low: float
    high: float
    band: tuple[float, float] | None = None
    mark: float | None = None
    beyond: str = ""


def make_effect_axis(reaches: Iterable[float], margin: float, is_linear: bool) -> Axis:
    """Return the axis of effects around zero.

    Parameters
    ----------
    reaches : iterable of float
        How far from zero the marks of each row reach.
    margin : float
        What counts as no difference.
    is_linear : bool
        Whether it is linear, cut where single rows reach much farther than most; else it is logarithmic beyond the
        margin and reaches all.
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


def place_effect(axis: Axis, effect: float, low: float, high: float, margin: float) -> Strip:
    """Return the strip of an effect with its interval, zero, and what counts as no difference."""
    band = (axis.place(-margin), axis.place(margin))
    return _place(axis, effect, low, high, band, axis.place(0.0))


def place_number(axis: Axis, ours: float, low: float, high: float, printed: float) -> Strip:
    """Return the strip of a number of ours with its interval, and the printed number."""
    return _place(axis, ours, low, high, None, axis.place(printed))


def _place(axis: Axis, center: float, low: float, high: float, band: tuple[float, float] | None, mark: float) -> Strip:
    beyond = "left" if center < axis.low else "right" if center > axis.high else ""
    first, last = (axis.place(center if math.isnan(end) else end) for end in (low, high))
    return Strip(axis.place(center), first, last, band, mark, beyond)


def draw_in_text(strip: Strip, mark: str, width: int = 21) -> str:
    """Draw a strip in characters.

    Parameters
    ----------
    strip : Strip
        What is drawn.
    mark : str
        How zero or the printed number is written.
    width : int
        How many characters it has.

    Examples
    --------
    >>> draw_in_text(Strip(0.8, 0.7, 0.9, (0.45, 0.55), 0.5), "│")
    '·········░│░··──●──··'
    >>> draw_in_text(Strip(0.0, 0.0, 0.1, None, 0.9, "left"), "×")
    '◂──···············×··'
    """
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


def _list_steps(axis: Axis) -> list[float]:
    span = axis.high - axis.low
    magnitude = 10.0 ** math.floor(math.log10(span))
    step = next(size * magnitude for size in (0.1, 0.2, 0.5, 1, 2, 5) if span / (size * magnitude) <= 6)
    first, last = math.ceil(axis.low / step - 1e-9), math.floor(axis.high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def _list_decades(axis: Axis) -> list[float]:
    n_decades = math.floor(math.log10(axis.high / axis.threshold) + 1e-9)
    every = max(1, math.ceil((n_decades + 1) / 3))
    sizes = [axis.threshold * 10.0**decade for decade in range(0, n_decades + 1, every)]
    return [*(-size for size in reversed(sizes)), 0.0, *sizes]
