"""The readings of a paper as files: two tables, and a specification curve for each question and each claim.

A specification curve is an effect under every reading, sorted, above the choices that make each reading: Simonsohn,
Simmons and Nelson, "Specification curve analysis", Nature Human Behaviour 4, 2020.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from experiments.config.paper import Paper
from experiments.config.readings import ReadingQuestion
from experiments.judge.readings.under_reading import HOLDS, IS_REFUTED, OPEN
from experiments.judge.readings.variance import PREFIX, explain_variance, list_choices
from experiments.judge.words import format_share
from plots import style
from plots.labels import label_axis, label_choice
from plots.runs.run_folder import read_readings, write_csv
from plots.style import ALARM, GRID, INK, QUALITATIVE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_TOP_HEIGHT, _ROW_HEIGHT = 3.6, 0.23  # inches
_MOST_DOTS = 60  # with more readings than that, dots would touch: strokes are drawn instead
_MOST_STROKES = 300  # with more readings than that, strokes would be thinner than a hair and many: each row is an image
_WIDE = 6  # the largest distance over the smallest from which on the axis is logarithmic
# The largest signed effect over the middle one from which on the axis is logarithmic on both sides of zero.
_VERY_WIDE = 50
_LONGEST_NAME = 34  # characters of a choice with its value
_LITERAL, _PALE = "#d1661f", "#8b949e"
_LABELS = {
    "points": "distance from what is printed\n(points, root mean square)",
    "orderings": "share of comparisons\nthe wrong way round",
}
_COSTS = {
    "yes": ("keeps the ε it claims", QUALITATIVE[2]),
    "no": ("does not keep the ε it claims", QUALITATIVE[0]),
    "claims none": ("claims no ε", QUALITATIVE[3]),
}
_VERDICTS = {
    HOLDS: ("the claim holds", QUALITATIVE[2]),
    IS_REFUTED: ("it fails", ALARM),
    OPEN: ("open", QUALITATIVE[4]),
}


@dataclass(frozen=True)
class _SpecificationCurve:
    """What a specification curve shows: columns of a table of readings, and words for them."""

    title: str
    effect: str  #: the column that is drawn, sorted from the smallest, with ``low`` and ``high`` around it
    label: str  #: of the y axis
    colour_by: str  #: the column that colours readings
    colours: Mapping[str, tuple[str, str]]  #: its values, each with what it means and its colour
    full: str  #: the column that says which readings are drawn full; others are hollow
    legend_of_full: tuple[str, str]  #: what full and hollow mean
    floor: str = ""  #: a column that is drawn as a tick below or above each reading
    legend_of_floor: str = ""
    line: tuple[float, str, str] | None = None  #: a place on the y axis that is marked, what it means, and its colour
    is_distance: bool = False  #: whether a logarithmic axis may show the effect


def write_rankings(paper: Paper, rankings: Mapping[str, pd.DataFrame], folder: Path) -> list[Path]:
    """Write ``readings.csv`` and a figure for each question into the folder of a paper; returns their paths.

    ``rankings`` are by question, as `ranking.rank_readings` gives them; ``folder`` is ``results/paper-N``.
    """
    rows = _keep_rows(rankings, folder / "readings.csv", "question")
    drawings = {f"readings-{one.id}": partial(draw_ranking, paper, one, rows[one.id]) for one in paper.readings}
    return _draw_kept(folder / "readings.csv", drawings)


def write_curves(paper: Paper, curves: Mapping[str, pd.DataFrame], folder: Path) -> list[Path]:
    """Write ``curves.csv`` and a figure for each claim into the folder of a paper; returns their paths.

    ``curves`` are by claim, as `claim_curves.judge_readings` gives them; ``folder`` is ``results/paper-N``.
    """
    texts = {claim.id: claim.text for claim in paper.claims}
    rows = _keep_rows(curves, folder / "curves.csv", "claim")
    drawings = {f"curve-{name}": partial(draw_claim, paper, texts[name], readings) for name, readings in rows.items()}
    return _draw_kept(folder / "curves.csv", drawings)


def _keep_rows(parts: Mapping[str, pd.DataFrame], path: Path, column: str) -> dict[str, pd.DataFrame]:
    """Write the tables of all questions, or of all claims, as one, and return them as they stand there."""
    if not parts:
        return {}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_csv(pd.concat(parts.values()), path)
    return {str(name): rows for name, rows in read_readings(path, column).groupby(column, sort=False)}


def _draw_kept(path: Path, drawings: Mapping[str, Callable[[], Figure]]) -> list[Path]:
    figures = path.parent / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    pictures = [style.draw_figure(name, draw, figures)[1] for name, draw in drawings.items()]
    return [*filter(Path.is_file, [path]), *pictures]


def draw_ranking(paper: Paper, question: ReadingQuestion, rows: pd.DataFrame) -> Figure:
    """Draw how far every reading is from what is printed, with what no noise at all would give as a line."""
    null, unit = rows[rows["kind"] == "no noise"], rows["unit"].iloc[0]
    curve = _SpecificationCurve(
        title=question.title,
        effect="distance",
        label=_LABELS[unit],
        colour_by="keeps_epsilon",
        colours=_COSTS,
        full="in_set",
        legend_of_full=("cannot be told from the nearest\n(model confidence set, 95 %)", "is farther off"),
        floor="noise_floor" if rows["noise_floor"].notna().any() else "",
        legend_of_floor="what noise alone would leave,\nwere this the paper's code",
        line=None if null.empty else (null["distance"].iloc[0], "no noise at all, whatever ε", ALARM),
        is_distance=unit == "points",
    )
    return _draw_curve(paper, curve, rows[rows["kind"] != "no noise"])


def draw_claim(paper: Paper, text: str, rows: pd.DataFrame) -> Figure:
    """Draw the effect that a claim speaks of under every reading; above zero it speaks for the claim."""
    counts, n = rows["verdict"].value_counts(), len(rows)
    shares = f"It holds under {counts.get(HOLDS, 0):,} of {n:,} readings and fails under {counts.get(IS_REFUTED, 0):,}."
    curve = _SpecificationCurve(
        title=f"{text} {shares}",
        effect="effect",
        label=f"effect in favour of the claim\n({label_axis(paper, rows['unit'].iloc[0])}, mean over its settings)",
        colour_by="verdict",
        colours=_VERDICTS,
        full="is_private",
        legend_of_full=("keeps the ε it claims", "does not, or claims none"),
        floor="weakest",
        legend_of_floor="effect in the weakest setting",
        line=(0.0, "no effect", INK),
    )
    return _draw_curve(paper, curve, rows.assign(is_private=rows["keeps_epsilon"] == "yes"))


def _draw_curve(paper: Paper, curve: _SpecificationCurve, rows: pd.DataFrame) -> Figure:
    """Draw a specification curve.

    ``rows`` has a row for each reading: the columns that the curve names, ``kind`` (``literal`` or not),
    ``choice.<name>``. Readings without an effect are left out.
    """
    drawn = rows[np.isfinite(rows[curve.effect].to_numpy(np.float64))]
    drawn = drawn.sort_values(curve.effect, kind="stable", ignore_index=True)
    matrix = _list_rows(drawn)
    names = [textwrap.shorten(label_choice(paper, *row), _LONGEST_NAME, placeholder=" …") for row in matrix]
    height = _ROW_HEIGHT * (len(matrix) + 1)
    figure = style.make_figure(style.WIDTH, _TOP_HEIGHT + height + 1.0)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[_TOP_HEIGHT, height])
    width = 0.55 * style.WIDTH * 72 / max(len(drawn), 1)  # points that a reading has
    _draw_effects(top, curve, drawn, min(max(width * 0.7, 1.6), 7.0))
    _draw_matrix(bottom, curve.effect, matrix, names, drawn, min(max(width * 0.75, 0.4), 5.5))
    style.write_shortfall(top, rows)
    handles = _make_legend(curve, drawn)
    style.add_legend_below(figure, handles)
    style.write_title(figure, top, curve.title)
    return figure


def _draw_effects(axes: Axes, curve: _SpecificationCurve, drawn: pd.DataFrame, size: float) -> None:
    places = np.arange(len(drawn))
    for value, (_, colour) in curve.colours.items():
        is_here = (drawn[curve.colour_by] == value).to_numpy()
        shown, at = drawn[is_here], places[is_here]
        _draw_strokes(axes, at, shown["low"], shown["high"], color=colour, linewidth=max(size / 5, 0.5), alpha=0.55)
        is_full = shown[curve.full].to_numpy(bool)
        draw = partial(axes.plot, ls="none", marker="o", markersize=size, color=colour, markeredgewidth=0.8)
        draw(at[is_full], shown[curve.effect][is_full])
        draw(at[~is_full], shown[curve.effect][~is_full], markerfacecolor=style.PAPER)
    if curve.floor:
        axes.plot(places, drawn[curve.floor], linestyle="none", marker="_", color=_PALE, markersize=max(size, 2.5))
    if curve.line:
        axes.axhline(curve.line[0], color=curve.line[2], linewidth=1.3, linestyle=(0, (5, 2)), zorder=1)
    for place in places[(drawn["kind"] == "literal").to_numpy()]:
        axes.axvline(place, color=_LITERAL, linewidth=1.2, linestyle=(0, (1, 1.5)), zorder=0.5)
        mark: dict[str, Any] = {"marker": "D", "color": _LITERAL, "markersize": max(size, 5) + 1, "clip_on": False}
        axes.plot([place], [drawn[curve.effect][place]], **mark)
    axes.set_ylabel(curve.label)
    _stretch_small_effects(axes, curve, drawn)
    axes.set_xlim(-0.8, max(len(drawn) - 0.2, 0.8))
    axes.tick_params(axis="x", length=0, labelbottom=False)
    style.dress_axes(axes, "y")


def _stretch_small_effects(axes: Axes, curve: _SpecificationCurve, drawn: pd.DataFrame) -> None:
    """Make the axis logarithmic where effects are of very different size."""
    from matplotlib.ticker import SymmetricalLogLocator  # slow to import, and most who read readings draw none

    effects = drawn[curve.effect].to_numpy(np.float64)
    if len(effects) and curve.is_distance:
        _stretch_small_distances(axes, curve, drawn)
    elif len(effects):
        middle = float(np.median(np.abs(effects)))
        if 0 < _VERY_WIDE * middle < np.abs(effects).max():  # linear around zero, logarithmic on both sides of it
            axes.set_ylabel(f"{curve.label}\nlogarithmic beyond ± {middle:.2g}")
            axes.set_yscale("symlog", linthresh=middle)
            axes.yaxis.set_major_locator(SymmetricalLogLocator(base=10, linthresh=middle))
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")


def _stretch_small_distances(axes: Axes, curve: _SpecificationCurve, drawn: pd.DataFrame) -> None:
    from matplotlib.ticker import LogLocator, NullLocator

    distances = drawn[curve.effect].to_numpy(np.float64)
    if distances.min() <= 0 or distances.max() < _WIDE * distances.min():
        return
    marked = [curve.line[0]] if curve.line else []
    smallest = np.nanmin([distances.min(), *marked, *(drawn[curve.floor] if curve.floor else ())])
    axes.set_yscale("log")
    axes.set_ylim(bottom=max(smallest, distances.min() / _WIDE) / 1.2)
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_locator(NullLocator())


def _list_rows(drawn: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the choices with their values, those of the literal reading first: the rows of the matrix."""
    rows = []
    literal = drawn[drawn["kind"] == "literal"]
    for name in list_choices(drawn):
        column = drawn[PREFIX + name].astype(str)
        first = set(literal[PREFIX + name].astype(str))
        for value in sorted(set(column), key=lambda value: (value not in first, _number_of(value), value)):
            rows.append((name, value))
    return rows


def _number_of(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        return -math.inf


def _draw_matrix(
    axes: Axes,
    effect: str,
    matrix: list[tuple[str, str]],
    texts: list[str],
    drawn: pd.DataFrame,
    size: float,
) -> None:
    """Draw which values make each reading, and at the right what each choice explains."""
    shares, names = explain_variance(drawn, effect), list(dict.fromkeys(name for name, _ in matrix))
    for row, (name, value) in enumerate(matrix):
        places = np.flatnonzero((drawn[PREFIX + name].astype(str) == value).to_numpy())
        if names.index(name) % 2 == 0:
            axes.axhspan(row - 0.5, row + 0.5, color=GRID, alpha=0.45, linewidth=0)
        if len(drawn) > _MOST_STROKES:
            _draw_row_as_image(axes, row, places, len(drawn))
        elif len(drawn) > _MOST_DOTS:
            ends = np.full(len(places), row - 0.36), np.full(len(places), row + 0.36)
            _draw_strokes(axes, places, *ends, color=INK, linewidth=size)
        else:
            axes.plot(places, [row] * len(places), marker="o", color=INK, markersize=size, linestyle="none")
    for name in names:
        rows = [row for row, (factor, _) in enumerate(matrix) if factor == name]
        axes.annotate(
            format_share(shares[name]),
            (1.01, sum(rows) / len(rows)),
            xycoords=("axes fraction", "data"),
            va="center",
            annotation_clip=False,
        )
    above: dict[str, Any] = {"xycoords": "axes fraction", "va": "bottom", "ha": "center"}
    axes.annotate("of the variance\nit explains", (1.0, 1.01), **above)
    axes.set_yticks(range(len(matrix)), texts)
    axes.set_ylim(len(matrix) - 0.5, -0.5)
    axes.tick_params(axis="both", length=0, labelbottom=False)
    axes.set_xlabel(f"{len(drawn)} readings, each a column, in the order above")
    style.hide_frame(axes)


def _draw_strokes(axes: Axes, places: np.ndarray, low: ArrayLike, high: ArrayLike, **style_of_line: Any) -> None:
    """Draw upright strokes as one line with gaps: in an SVG a stroke of its own takes five times as much."""
    gaps = np.full(len(places), np.nan)
    x, y = np.column_stack([places, places, places]), np.column_stack([low, high, gaps])
    axes.plot(x.ravel(), y.ravel(), solid_capstyle="butt", **style_of_line)


def _draw_row_as_image(axes: Axes, row: int, places: np.ndarray, n: int) -> None:
    """Draw which of n readings have a value as a row of pixels, grey so that it is seen on dark and on light."""
    from matplotlib.colors import to_rgba

    pixels = np.zeros((1, n, 4))
    pixels[0, places] = to_rgba(_PALE)
    extent = (-0.5, n - 0.5, row + 0.36, row - 0.36)
    axes.imshow(pixels, extent=extent, aspect="auto", interpolation="none", zorder=2)


def _make_legend(curve: _SpecificationCurve, drawn: pd.DataFrame) -> list[Line2D]:
    make_dot = partial(style.make_key, linestyle="none", marker="o", markersize=6)
    handles = []
    for value, (words, colour) in curve.colours.items():
        if (drawn[curve.colour_by] == value).any():
            handles.append(make_dot(color=colour, label=words))
    full, hollow = curve.legend_of_full
    handles += [make_dot(color=INK, label=full), make_dot(color=INK, markerfacecolor=style.PAPER, label=hollow)]
    handles.append(style.make_key(color=INK, linestyle="none", marker="|", markersize=11, label="95 % interval"))
    if (drawn["kind"] == "literal").any():
        label = "the literal reading"
        handles.append(style.make_key(color=_LITERAL, marker="D", markersize=6, linestyle=":", label=label))
    if curve.floor:
        words = curve.legend_of_floor
        handles.append(style.make_key(color=_PALE, linestyle="none", marker="_", markersize=8, label=words))
    if curve.line:
        handles.append(style.make_key(color=curve.line[2], linestyle=(0, (5, 2)), label=curve.line[1]))
    return handles
