"""Draw a figure of kind ``facets``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from experiments.config.paper import Paper
from experiments.metrics.find import is_error
from plots import style
from plots.comparisons.data_kinds import KINDS, UNKNOWN
from plots.labels import format_large, label_metric, label_name, label_names, scale_value
from plots.series import name_of_center

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from plots.figures.facets import FacetsFigure

COLUMNS = 4
_LOWEST, _HIGHEST = -0.7, 1.7
"""How far beyond the two levels a picture may reach, in distances between them."""
_BEYOND = "#e9ecef"


@dataclass(frozen=True)
class _Facet:
    """One data set: its points, and its two levels on the scale on which the axis is linear."""

    name: str
    points: pd.DataFrame
    low: float
    high: float
    is_log: bool

    @classmethod
    def read_frame(cls, figure: FacetsFigure, name: str, rows: pd.DataFrame) -> _Facet:
        scaled = rows.copy()
        for column in (name_of_center(rows), "ci_low", "ci_high"):
            scaled[column] = scale_value(figure.metric, rows[column])
        scaled = scaled.rename(columns={name_of_center(rows): "center"})
        is_log = is_error(figure.metric)
        levels = [_find_level(scaled, algorithm, is_log) for algorithm in (figure.floor, figure.ceiling)]
        return cls(name, scaled, min(levels), max(levels), is_log)

    def place(self, values: pd.Series) -> np.ndarray:
        """Return where values stand: 0 at the lower of the two levels, 1 at the upper."""
        numbers = values.to_numpy(dtype=float)
        if self.is_log:
            numbers = np.log10(np.maximum(numbers, np.finfo(float).tiny))
        return (numbers - self.low) / (self.high - self.low)

    def name_value(self, place: float) -> str:
        """Return the value at a place as text."""
        number = self.low + place * (self.high - self.low)
        value = 10**number if self.is_log else number
        if self.is_log:
            return f"{value:.2g}"
        return f"{value:.3g}" if abs(value) < 1000 else format_large(value)


def draw_facets(paper: Paper, figure: FacetsFigure, frame: pd.DataFrame) -> Figure:
    """Draw a small picture for each data set that has results, floor and ceiling at the same height in all."""
    facets = []
    for name, rows in frame.groupby("dataset", sort=False):
        facet = _Facet.read_frame(figure, str(name), rows)
        if facet.high > facet.low:
            facets.append(facet)
    drawn, grid = make_grid(max(len(facets), 1))
    n_columns = grid.shape[1]
    bottom, top = _find_reach(figure, paper, facets)
    looks = _choose_looks(figure, paper)
    names = figure.name_ticks(paper)
    for place, (axes, facet) in enumerate(zip(grid.flat, facets, strict=False)):
        _draw_facet(axes, paper, facet, looks, (bottom, top))
        axes.set_xticks(range(len(names)), names, fontsize=8.5)
        if place + n_columns >= len(facets):
            axes.set_xlabel(label_name(paper, "epsilon"), fontsize=9)
        if place % n_columns == 0:
            axes.set_ylabel(label_metric(paper, figure.metric), fontsize=9)
    for axes in grid.flat[max(len(facets), 1) :]:
        axes.remove()
    legend: dict[str, Any] = {"loc": "outside lower left", "ncols": 3, "frameon": False, "fontsize": 9.5}
    drawn.legend(handles=_make_legend(paper, figure, looks), **legend)
    style.write_shortfall(grid[0][0], frame, pad=32)
    style.write_title(drawn, grid[0][-1], figure.title)
    return drawn


def make_grid(n_facets: int, n_columns: int = COLUMNS) -> tuple[Figure, np.ndarray]:
    """Return an empty figure with room for some small pictures and a legend, and their axes in rows and columns."""
    n_columns = min(n_columns, n_facets)
    n_rows = math.ceil(n_facets / n_columns)
    drawn = style.make_figure(1.2 + 2.9 * n_columns, 2.4 + 2.25 * n_rows)
    return drawn, drawn.subplots(n_rows, n_columns, squeeze=False)


def _find_level(points: pd.DataFrame, algorithm: str, is_log: bool) -> float:
    """Return the level of floor or ceiling, mean over ε, on the scale on which the axis is linear."""
    level = float(points.loc[points["algorithm"] == algorithm, "center"].mean())
    return math.log10(level) if is_log and level > 0 else level


def _find_reach(figure: FacetsFigure, paper: Paper, facets: list[_Facet]) -> tuple[float, float]:
    """Return how far the axes reach, the same in every picture."""
    places = [0.0, 1.0]
    for facet in facets:
        shown = facet.points[facet.points["algorithm"].isin(figure.list_lines(paper))]
        places += facet.place(shown["center"].dropna()).tolist()
    return max(min(places), _LOWEST) - 0.08, min(max(places), _HIGHEST) + 0.08


def _choose_looks(figure: FacetsFigure, paper: Paper) -> dict[str, dict[str, Any]]:
    """Return colour, marker and dash of each line."""
    looks = {}
    for i, name in enumerate(figure.list_lines(paper)):
        looks[name] = {**style.choose_shape(i), "color": style.QUALITATIVE[i % len(style.QUALITATIVE)]}
    return looks


def _draw_facet(
    axes: Axes, paper: Paper, facet: _Facet, looks: dict[str, dict[str, Any]], reach: tuple[float, float]
) -> None:
    bottom, top = reach
    axes.axhspan(bottom, 0, color=_BEYOND, zorder=0)
    axes.axhspan(1, top, color=_BEYOND, zorder=0)
    for level in (0, 1):
        axes.axhline(level, color=style.INK, linewidth=0.9, zorder=1)
    for name, look in looks.items():
        own = facet.points[facet.points["algorithm"] == name]
        center, xs = facet.place(own["center"]), np.arange(len(own))
        low, high = (np.clip(facet.place(own[end]), bottom, top) for end in ("ci_low", "ci_high"))
        axes.vlines(xs, low, high, colors=look["color"], linewidth=0.8, alpha=0.6)
        axes.plot(xs, center, linewidth=1.3, markersize=3.6, markeredgewidth=0, zorder=3, **look)
        for is_out, end, marker in ((center < bottom, bottom, "v"), (center > top, top, "^")):
            if is_out.any():  # a line without points has no extent, and nothing could be laid out beside it
                beyond: dict[str, Any] = {"linestyle": "none", "markersize": 5, "clip_on": False, "zorder": 5}
                axes.plot(xs[is_out], np.full(is_out.sum(), end), marker=marker, color=look["color"], **beyond)
    _name_facet(axes, paper, facet)
    axes.set_yticks([0, 0.5, 1], list(map(facet.name_value, (0, 0.5, 1))), fontsize=8)
    axes.set_ylim(bottom, top)
    axes.tick_params(axis="y", length=0)
    style.dress_axes(axes, "y")


def _name_facet(axes: Axes, paper: Paper, facet: _Facet) -> None:
    """Write the name of the data set above its picture, and below it the kinds that it is of."""
    own = str(facet.points["kinds"].iloc[0]).split()
    kinds = ["kind unknown: files are missing"] if own == [UNKNOWN] else [KINDS[kind].title for kind in own]
    write_above(axes, label_name(paper, facet.name), 14, fontsize=10, fontweight="bold")
    write_above(axes, ", ".join(kinds), 4, fontsize=7.8)


def write_above(axes: Axes, text: str, points: float, **look: Any) -> None:
    """Write text so many points above the left end of a picture."""
    place: dict[str, Any] = {"xy": (0, 1), "xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(text, xytext=(0, points), **place, **look)


def _make_legend(paper: Paper, figure: FacetsFigure, looks: dict[str, dict[str, Any]]) -> list[Any]:
    """Return legend entries of the lines, and of what stands at the two levels."""
    names = label_names(paper, looks)
    lines: list[Any] = [Line2D([], [], label=name, **look) for name, look in zip(names, looks.values(), strict=True)]
    floor, ceiling = label_name(paper, figure.floor), label_name(paper, figure.ceiling)
    lower, upper = (ceiling, floor) if is_error(figure.metric) else (floor, ceiling)
    beyond: dict[str, Any] = {"linestyle": "none", "marker": "v", "color": style.INK, "markersize": 5}
    return [
        *lines,
        Line2D([], [], color=style.INK, linewidth=0.9, label=f"upper level: {upper}"),
        Line2D([], [], color=style.INK, linewidth=0.9, label=f"lower level: {lower}"),
        Patch(color=_BEYOND, label="beyond either level"),
        Line2D([], [], label="beyond the axis", **beyond),
    ]
