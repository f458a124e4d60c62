"""What the figure of a sweep shows: what is x, what has a line, what has a facet, and the numbers behind it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from plots.labels import label_value
from plots.series import NOTHING_PRINTED
from plots.sweeps.collector import SweepResults
from plots.sweeps.sweep import Sweep, find_numeric_axis

_FEW_LINES = 8
"""As many lines one facet takes before other axes get facets of their own."""
_MOST_LINES = 16
_MOST_DOTS = 40
_MOST_FACETS = 24
_MOST_X_VALUES = 100


@dataclass(frozen=True)
class SweepFigure:
    """The figure of a sweep.

    Parameters
    ----------
    x : str or None
        The axis along the bottom; None draws dots along the metric instead of lines.
    lines : list of str
        The axes of which each combination of values has a line, or a row of dots.
    facets : list of str
        The axes of which each combination has a small picture.
    """

    sweep: Sweep
    x: str | None
    lines: list[str]
    facets: list[str]

    def list_x_values(self) -> list:
        """Return the values along the bottom that are drawn; of dots None, for the one place that they have."""
        return [self.sweep.axes[self.x][i] for i in self._choose_x_values()] if self.x else [None]

    def list_lines(self) -> list[tuple]:
        """Return the values of the lines that are drawn."""
        points = self._list_points(self.lines)
        return [points[i] for i in self._choose_lines()]

    def list_facets(self) -> list[tuple]:
        """Return the values of the facets that are drawn."""
        points = self._list_points(self.facets)
        return [points[i] for i in self._choose_facets()]

    def label_line(self, values: Sequence) -> str:
        """Return how the legend calls a line."""
        return self._label(self.lines, values)

    def label_facet(self, values: Sequence) -> str:
        """Return what stands above a facet."""
        return self._label(self.facets, values)

    def describe_rest(self) -> str:
        """Return what is not drawn; nothing if all is."""
        words = []
        for what, names, n in (
            ("lines" if self.x else "rows", self.lines, len(self.list_lines())),
            ("pictures", self.facets, len(self.list_facets())),
            ("values along the bottom", [self.x] if self.x else [], len(self.list_x_values())),
        ):
            total = len(self._list_points(names))
            words += [f"{n} of {total} {what}"] if n < total else []
        return f"shown: {', '.join(words)}; table.csv has all" if words else ""

    def make_frame(self, results: SweepResults) -> pd.DataFrame:
        """Return one row for each point that is drawn, by metric, facet, line and x."""
        order = [*self.facets, *self.lines, *([self.x] if self.x else [])]
        axes = list(self.sweep.axes)
        others = [name for name in axes if name not in order]
        places = [axes.index(name) for name in [*others, *order]]
        sizes = [len(self._list_points(names)) for names in (self.facets, self.lines)]
        points = product(self.list_facets(), self.list_lines(), self.list_x_values())
        values = [(*facet, *line, *([x] if self.x else [])) for facet, line, x in points]
        frames = []
        for metric, numbers in results.numbers.items():
            frame = pd.DataFrame(values, columns=order, dtype=object)
            frame["metric"] = metric
            for name, array in numbers.items():
                whole = array.transpose(places).reshape(*sizes, -1)
                shown = whole[self._choose_facets()][:, self._choose_lines()][:, :, self._choose_x_values()].ravel()
                frame[name] = shown.astype(np.int64) if name.startswith("n") else shown
            frames.append(frame.assign(**NOTHING_PRINTED))
        return pd.concat(frames, ignore_index=True)

    def _choose_x_values(self) -> list[int]:
        return _spread_out(len(self.sweep.axes[self.x]) if self.x else 1, _MOST_X_VALUES)

    def _choose_lines(self) -> list[int]:
        return _spread_out(len(self._list_points(self.lines)), _MOST_LINES if self.x else _MOST_DOTS)

    def _choose_facets(self) -> list[int]:
        """Return the places of the facets that are drawn: where they are too many, some of each data set."""
        n, n_sets = len(self._list_points(self.facets)), len(self.sweep.axes["dataset"])
        if "dataset" not in self.facets or n_sets > _MOST_FACETS:
            return _spread_out(n, _MOST_FACETS)
        n_own = n // n_sets
        chosen = _spread_out(n_own, max(_MOST_FACETS // n_sets, 1))
        return [start * n_own + i for start in range(n_sets) for i in chosen]

    def _list_points(self, names: Sequence[str]) -> list[tuple]:
        return list(product(*(self.sweep.axes[name] for name in names)))

    def _label(self, names: Sequence[str], values: Sequence[Any]) -> str:
        words = []
        for name, value in zip(names, values, strict=True):
            text = label_value(self.sweep.paper, value)
            is_plain = name in ("dataset", "algorithm") or text == "no noise"
            words.append(text if is_plain else f"{self.sweep.label_axis(name)} = {text}")
        return ", ".join(words)


def _spread_out(n: int, most: int) -> list[int]:
    """Return the places of some of ``n`` things, the first and the last among them; of all if there are few.

    Examples
    --------
    >>> _spread_out(3, 5), _spread_out(9, 3)
    ([0, 1, 2], [0, 4, 8])
    """
    return np.linspace(0, n - 1, min(n, most)).round().astype(int).tolist()


def plan_figure(sweep: Sweep) -> SweepFigure | None:
    """Return the figure of a sweep: a numeric axis is x, algorithms and parameters are lines, data sets are facets.

    Where there are too many lines, the last parameters get facets. A sweep of one setting has no figure.
    """
    varying = sweep.varying
    if not varying:
        return None
    x = find_numeric_axis(sweep)
    lines = [name for name in varying if name not in ("dataset", x)]
    facets = ["dataset"] if "dataset" in varying else []
    if not x and not lines:
        lines, facets = facets, []
    lines.sort(key=lambda name: name != "algorithm")
    while x and len(lines) > 1 and math.prod(len(sweep.axes[name]) for name in lines) > _FEW_LINES:
        facets.append(lines.pop())
    return SweepFigure(sweep, x, lines, facets)


def place_values(values: Sequence[float]) -> np.ndarray:
    """Return where numbers stand on an axis, in order and about one apart: infinity one behind all others.

    The axis is logarithmic where they span more than a decade.

    Examples
    --------
    >>> place_values([0.1, 1, 10, math.inf]).round(3).tolist(), place_values([2, 3, 6]).tolist()
    ([0.0, 1.0, 2.0, 3.0], [0.0, 0.5, 2.0])
    """
    finite = np.array([value for value in values if math.isfinite(value)], dtype=float)
    if len(finite) > 1:
        is_log = finite[0] > 0 and finite[-1] > 10 * finite[0]
        spread = np.log10(finite) if is_log else finite
        finite = (spread - spread[0]) / (spread[-1] - spread[0]) * (len(finite) - 1)
    else:
        finite = np.zeros(len(finite))
    return np.concatenate([finite, np.full(len(values) - len(finite), len(finite))])


def thin_names(places: Sequence[float], names: Sequence[str], room: float) -> list[str]:
    """Return the names of ticks without those that would touch one before; the last one always stays.

    Parameters
    ----------
    places : sequence of float
        Where the ticks stand.
    names : sequence of str
        Their names.
    room : float
        How many characters the axis is long.

    Examples
    --------
    >>> thin_names([0, 1, 2, 3], ["1", "2", "3", "4"], 5)
    ['1', '', '', '4']
    """
    scale = room / max(len(places), 1)
    kept = [len(places) - 1]
    for i in range(len(places) - 1):
        before = [j for j in kept if j < i]
        neighbours = [*before[-1:], len(places) - 1]
        if all(_are_apart(scale * abs(places[i] - places[j]), names[i], names[j]) for j in neighbours):
            kept.append(i)
            kept.sort()
    return [name if i in kept else "" for i, name in enumerate(names)]


def _are_apart(distance: float, one: str, other: str) -> bool:
    return distance >= (len(one) + len(other)) / 2 + 1
