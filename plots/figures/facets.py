"""``facets``: a metric against ε on every data set of a study, between the floor and the ceiling without privacy."""

from __future__ import annotations

import math
import textwrap
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.comparisons.comparison import select_levels
from experiments.comparisons.data_kinds import KINDS, UNKNOWN, list_kinds_of
from experiments.config.kinds.exhibits import FacetsFigure
from experiments.config.paper import Paper
from experiments.metrics.find import is_error, is_in_per_cent
from experiments.questions.exhibits.checks import FACET_AXES
from experiments.questions.exhibits.series import name_of_center, summarise_metrics
from plots import style
from plots.exhibits.captions import compare_lines
from plots.exhibits.views import FigureView
from plots.labels import (
    format_large,
    label_axis,
    label_metric,
    label_name,
    label_names,
    label_value,
    label_values,
    scale_value,
)
from plots.series import describe_points

_COLUMNS = 2  # small pictures beside one another
_LONGEST_LINE = 25  # characters above one
_LONGEST_TITLE = 21  # characters of a line of its name, and of the axis: longer ones push pictures apart, or meet
_LONGEST_KEY = 60  # characters of a line of the legend
_LOWEST, _HIGHEST = -0.7, 1.7  # how far beyond the two levels a picture may reach, in distances between them

_Looks = dict[str, dict[str, Any]]  # colour, marker and dash of each line


class FacetsView(FigureView[FacetsFigure], of=FacetsFigure):
    """A metric against ε, a small picture for each data set, with floor and ceiling at the same height in all."""

    def make_frame(self, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        """Return one row for each point, as `summarise_metrics` does, with the kinds of its data set.

        Floor and ceiling come after the lines. Data sets are sorted by the first kind that they are of; ``kinds`` joins
        all of them by blanks.
        """
        study = self.paper.study(self.exhibit.study, self.exhibit.id)
        sets = study.axis("dataset", self.exhibit.where)
        levels = select_levels(self.paper, self.exhibit, self.exhibit.id, self.exhibit.metric, sets).part
        parts = [
            summarise_metrics(self.paper, part, self.exhibit.metric, table, numbers, FACET_AXES)
            for part in (self.exhibit, levels)
        ]
        frame = pd.concat(parts, ignore_index=True)
        kinds = {name: list_kinds_of(study, name) for name in sets}
        order = [*KINDS, UNKNOWN]
        places = {name: order.index(found[0]) if found else len(order) for name, found in kinds.items()}
        frame = frame.assign(kinds=[" ".join(kinds[name]) for name in frame["dataset"]])
        return frame.sort_values("dataset", key=lambda names: names.map(places), kind="stable", ignore_index=True)

    def draw(self, frame: pd.DataFrame) -> style.Figure:
        """Draw a small picture for each data set that has results."""
        study = self.paper.study(self.exhibit.study, self.exhibit.id)
        lines, epsilons = study.axis("algorithm", self.exhibit.where), study.axis("epsilon", self.exhibit.where)
        facets = [self._read_facet(str(name), rows) for name, rows in frame.groupby("dataset", sort=False)]
        facets = [facet for facet in facets if facet.high > facet.low]
        n_pictures = max(len(facets), 1)
        n_columns = min(_COLUMNS, n_pictures)
        n_rows = math.ceil(n_pictures / n_columns)
        drawn = style.make_figure(style.WIDTH, 1.4 + 0.22 * (len(lines) + 5) + 2.2 * n_rows)
        grid = drawn.subplots(n_rows, n_columns, squeeze=False)
        looks = {name: {**style.choose_shape(i), "color": style.choose_color(i)} for i, name in enumerate(lines)}
        ends, names = _find_reach(facets, lines), label_values(self.paper, "epsilon", epsilons)
        for place, (axes, facet) in enumerate(zip(grid.flat, facets, strict=False)):
            _draw_facet(axes, facet, looks, ends)
            _name_facet(axes, self.paper, facet)
            axes.set_xticks(range(len(names)), names)
            if place + n_columns >= len(facets):
                axes.set_xlabel(label_name(self.paper, "epsilon"))
            if place % n_columns == 0:
                label = textwrap.fill(label_axis(self.paper, self.exhibit.metric), _LONGEST_TITLE)
                axes.set_ylabel(label)
        for axes in grid.flat[n_pictures:]:
            axes.remove()
        style.add_legend(drawn, "outside lower left", handles=self._make_keys(looks))
        style.write_shortfall(grid[0][0], frame, pad=46)
        style.write_title(drawn, grid[0][-1], self.exhibit.title)
        return drawn

    def describe(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Return the points of the figure as the report's page shows them."""
        points = []
        for row, point in zip(frame.to_dict("records"), describe_points(frame), strict=True):
            line = f"{label_name(self.paper, row['dataset'])}: {label_name(self.paper, row['algorithm'])}"
            x = label_value(self.paper, row["epsilon"])
            points.append({**point, "line": line, "x": x, "printed": "", "verdict": ""})
        metric = f"{label_metric(self.paper, self.exhibit.metric)}, {name_of_center(frame)}"
        return {
            "line": "data set: algorithm",
            "x": label_name(self.paper, "epsilon"),
            "metric": metric,
            "points": points,
        }

    def sum_up(self, frame: pd.DataFrame) -> str:
        """Say which line is the best on most data sets at the largest ε, and where they are farthest apart."""
        study, center = self.paper.study(self.exhibit.study, self.exhibit.id), name_of_center(frame)
        lines = study.axis("algorithm", self.exhibit.where)
        epsilon = max(study.axis("epsilon", self.exhibit.where))
        rows = frame[(frame["epsilon"] == epsilon) & frame["algorithm"].isin(lines)]
        wide = rows.pivot(index="algorithm", columns="dataset", values=center).reindex(lines)
        less = is_error(self.exhibit.metric)
        metric, unit = label_axis(self.paper, self.exhibit.metric), " %" if is_in_per_cent(self.exhibit.metric) else ""
        best = f"the {'lowest' if less else 'highest'} {center} {metric.removesuffix(' (%)')}"
        places = [f"on {name}" for name in label_names(self.paper, wide.columns)], "data sets"
        shown = scale_value(self.exhibit.metric, wide.to_numpy(dtype=float))
        names = label_names(self.paper, lines)
        said = compare_lines(names, shown, best, places, lambda value, _: f"{value:.3g}{unit}", less)
        return f"At {label_name(self.paper, 'epsilon')} = {epsilon:g}: {said}" if said else ""

    def _read_facet(self, name: str, rows: pd.DataFrame) -> _Facet:
        center, is_log = name_of_center(rows), is_error(self.exhibit.metric)
        scaled = {column: scale_value(self.exhibit.metric, rows[column]) for column in (center, "ci_low", "ci_high")}
        points = rows.assign(**scaled).rename(columns={center: "center"})
        levels = []
        for algorithm in (self.exhibit.floor, self.exhibit.ceiling):  # each as its mean over ε
            level = float(points.loc[points["algorithm"] == algorithm, "center"].mean())
            levels.append(math.log10(level) if is_log and level > 0 else level)
        return _Facet(name, points, min(levels), max(levels), is_log)

    def _make_keys(self, looks: _Looks) -> list[Any]:
        """Return legend entries of the lines, and of what stands at the two levels."""
        names = label_names(self.paper, [*looks, self.exhibit.floor, self.exhibit.ceiling])
        lower, upper = names[-2:][::-1] if is_error(self.exhibit.metric) else names[-2:]
        keys = [style.make_key(name, **look) for name, look in zip(names, looks.values(), strict=False)]
        for i, key in enumerate(keys):
            style.group_line(i, [key])
        return [
            *keys,
            style.make_key(textwrap.fill(f"upper tick: {upper}", _LONGEST_KEY), color=style.INK, linewidth=0.9),
            style.make_key(textwrap.fill(f"lower tick: {lower}", _LONGEST_KEY), color=style.INK, linewidth=0.9),
            style.make_key("middle tick: half-way between them", linestyle="none"),
            style.make_patch("beyond either of them", style.SHADE),
            style.make_key("beyond the axis", linestyle="none", marker="v", color=style.INK, markersize=5),
        ]


class _Facet(NamedTuple):
    """One data set: its points, and its two levels on the scale on which the axis is linear."""

    name: str
    points: pd.DataFrame
    low: float
    high: float
    is_log: bool

    def place(self, values: pd.Series) -> np.ndarray:
        """Return where values stand: 0 at the lower of the two levels, 1 at the upper."""
        numbers = values.to_numpy(dtype=float)
        if self.is_log:
            numbers = np.log10(np.maximum(numbers, np.finfo(float).tiny))
        return (numbers - self.low) / (self.high - self.low)

    def name_value(self, place: float) -> str:
        """Return the value at a place as text."""
        number = self.low + place * (self.high - self.low)
        if self.is_log:
            return f"{10**number:.2g}"
        return f"{number:.3g}" if abs(number) < 1000 else format_large(number)


def _find_reach(facets: list[_Facet], lines: list[str]) -> tuple[float, float]:
    """Return how far the axes reach, the same in every picture."""
    places = [0.0, 1.0]
    for facet in facets:
        shown = facet.points[facet.points["algorithm"].isin(lines)]
        places += facet.place(shown["center"].dropna()).tolist()
    return max(min(places), _LOWEST) - 0.08, min(max(places), _HIGHEST) + 0.08


def _draw_facet(axes: style.Axes, facet: _Facet, looks: _Looks, ends: tuple[float, float]) -> None:
    bottom, top = ends
    axes.axhspan(bottom, 0, color=style.SHADE, zorder=0)
    axes.axhspan(1, top, color=style.SHADE, zorder=0)
    for level in (0, 1):
        axes.axhline(level, color=style.INK, linewidth=0.9, zorder=1)
    for i, (name, look) in enumerate(looks.items()):
        points = facet.points[facet.points["algorithm"] == name]
        center, xs = facet.place(points["center"]), np.arange(len(points))
        low, high = (np.clip(facet.place(points[end]), bottom, top) for end in ("ci_low", "ci_high"))
        bars = axes.vlines(xs, low, high, colors=look["color"], linewidth=0.8, alpha=0.6)
        lines = axes.plot(xs, center, linewidth=1.3, markersize=3.6, markeredgewidth=0, zorder=3, **look)
        for is_out, end, marker in ((center < bottom, bottom, "v"), (center > top, top, "^")):
            if is_out.any():  # a line without points has no extent, and nothing could be laid out beside it
                beyond: dict[str, Any] = {"linestyle": "none", "markersize": 5, "clip_on": False, "zorder": 5}
                lines += axes.plot(xs[is_out], np.full(is_out.sum(), end), marker=marker, color=look["color"], **beyond)
        style.group_line(i, [bars, *lines])
    axes.set_yticks([0, 0.5, 1], list(map(facet.name_value, (0, 0.5, 1))))
    axes.set_ylim(bottom, top)
    axes.tick_params(axis="y", length=0)
    style.dress_axes(axes, "y")


def _name_facet(axes: style.Axes, paper: Paper, facet: _Facet) -> None:
    """Write the name of the data set above its picture, and below it the kinds that it is of."""
    names = str(facet.points["kinds"].iloc[0]).split()
    kinds = ["kind unknown: files are missing"] if names == [UNKNOWN] else [KINDS[kind].title for kind in names]
    lines = textwrap.wrap(", ".join(kinds), _LONGEST_LINE)
    title = textwrap.fill(label_name(paper, facet.name), _LONGEST_TITLE)
    style.write_above(axes, title, 5 + 13 * len(lines), fontsize=11, fontweight="bold")
    style.write_above(axes, "\n".join(lines), 4, linespacing=1.1)
