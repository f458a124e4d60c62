"""What changed from one set of results to another: a page with a picture of both, and a table that can be sorted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from algorithms.whole_files import write_text
from experiments.comparisons.changes import BEYOND, CHANGES, EQUAL, FEW, WITHIN
from experiments.judge.numbers.number_verdict import is_blank
from experiments.judge.words import MISSING, name_setting, name_value
from experiments.store.long_table import order_metric
from plots import style
from plots.drawing.svg import embed_svg
from plots.labels import NO_LABELS, format_interval, format_number, label_metric, scale_value
from plots.pages.html import render_template

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FOUND = ("metric", "n", "mean_a", "mean_b", "change", "low", "high", "verdict")
_MOST_LISTED = 2000
_MOST_DRAWN = 8
_DECIMALS = 2
_LOOKS: dict[str, dict[str, Any]] = {
    EQUAL: {"color": style.QUALITATIVE[4], "marker": "."},
    WITHIN: {"color": style.QUALITATIVE[0], "marker": "o", "facecolors": "none"},
    FEW: {"color": style.QUALITATIVE[2], "marker": "x"},
    BEYOND: {"color": style.QUALITATIVE[1], "marker": "D"},
}
"""In the order in which they are drawn: what changed lies over the rest."""


def write_changes(changes: pd.DataFrame, path: Path, a: str, b: str) -> None:
    """Write a comparison as from `compare` as a page."""
    ordered = order_changes(changes)
    settings = [name for name in changes.columns if name not in _FOUND]
    varying = [name for name in settings if changes[name].nunique(dropna=False) > 1]
    same = {name: changes[name].iloc[0] for name in settings if name not in varying}
    rows = [describe_change(row, varying) for row in ordered.head(_MOST_LISTED).to_dict("records")]
    drawn, undrawn = _choose_metrics(changes)
    page = render_template(
        "changes.html.j2",
        links=(),
        a=a,
        b=b,
        counted=count_changes(changes),
        same=name_setting({name: value for name, value in same.items() if not is_blank(value)}),
        svg=_draw_picture(changes, drawn) if drawn else "",
        undrawn=[label_metric(NO_LABELS, metric) for metric in undrawn],
        metrics=[label_metric(NO_LABELS, metric) for metric in sorted(changes["metric"].unique(), key=order_metric)],
        verdicts=[verdict for verdict in CHANGES if (changes["verdict"] == verdict).any()],
        settings=varying,
        rows=rows,
        beyond=BEYOND,
        n_more=max(0, len(changes) - _MOST_LISTED),
    )
    write_text(path, page)


def order_changes(changes: pd.DataFrame) -> pd.DataFrame:
    """Return a comparison with what a reader wants first: by verdict, and the largest beside their interval first."""
    ranks = changes["verdict"].map(CHANGES.index)
    width = (changes["high"] - changes["low"]).clip(lower=1e-12)
    sizes = (-changes["change"].abs() / width).fillna(0.0)
    return changes.loc[pd.DataFrame({"rank": ranks, "size": sizes}).sort_values(["rank", "size"], kind="stable").index]


def count_changes(changes: pd.DataFrame) -> str:
    """Return in a line how many settings and metrics became what.

    Examples
    --------
    >>> count_changes(pd.DataFrame({"verdict": ["equal", "beyond noise", "equal"]}))
    '3 comparisons: 1 beyond noise, 2 equal'
    """
    counts = changes["verdict"].value_counts()
    parts = [f"{counts[verdict]:,} {verdict}" for verdict in CHANGES if verdict in counts]
    return f"{len(changes):,} comparison{'s' if len(changes) > 1 else ''}: {', '.join(parts)}"


def describe_change(row: Mapping[str, Any], settings: Sequence[str] = ()) -> dict[str, Any]:
    """Return a row of a comparison in words: its whole ``setting``, and some of it ``named`` one by one."""
    metric = row["metric"]
    setting = {name: value for name, value in row.items() if name not in _FOUND and not is_blank(value)}
    change = format_number(metric, row["change"], _DECIMALS)
    return {
        "setting": name_setting(setting),
        "named": {name: name_value(setting[name]) if name in setting else MISSING for name in settings},
        "metric": label_metric(NO_LABELS, metric),
        "n": str(row["n"]),
        "a": format_number(metric, row["mean_a"], _DECIMALS),
        "b": format_number(metric, row["mean_b"], _DECIMALS),
        "change": f"+{change}" if row["change"] > 0 else change,
        "interval": format_interval(metric, row["low"], row["high"], _DECIMALS),
        "verdict": row["verdict"],
    }


def _choose_metrics(changes: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the metrics that are drawn, those that changed most often first, and those that are not."""
    there = changes[changes["change"].notna()]
    n_changed = (there["verdict"] == BEYOND).groupby(there["metric"]).sum().to_dict()
    metrics = sorted(n_changed, key=lambda metric: (-n_changed[metric], order_metric(metric)))
    return metrics[:_MOST_DRAWN], metrics[_MOST_DRAWN:]


def _draw_picture(changes: pd.DataFrame, metrics: Sequence[str]) -> str:
    files = style.render_figure("changes", partial(_draw_changes, changes, metrics), ("svg",))
    return embed_svg(files["svg"].decode(), "changes")


def _draw_changes(changes: pd.DataFrame, metrics: Sequence[str]) -> Figure:
    """Draw the means of each metric, b over a, with the line on which nothing changed."""
    figure, grid = style.make_grid(len(metrics))
    for axes in grid.flat[len(metrics) :]:
        axes.set_visible(False)
    for axes, metric in zip(grid.flat, metrics, strict=False):
        rows = changes[(changes["metric"] == metric) & changes["change"].notna()]
        for verdict, look in _LOOKS.items():
            points = rows[rows["verdict"] == verdict]
            axes.scatter(scale_value(metric, points["mean_a"]), scale_value(metric, points["mean_b"]), s=22, **look)
        axes.axline((rows["mean_a"].iloc[0],) * 2, slope=1, color=style.INK, linewidth=0.8, zorder=0)
        axes.set(xlabel="a", ylabel="b")
        style.dress_axes(axes)
        style.write_above(axes, label_metric(NO_LABELS, metric), 6, fontsize=11)
    shown = [verdict for verdict in _LOOKS if (changes["verdict"] == verdict).any()]
    style.add_legend(figure, handles=[_make_key(verdict) for verdict in reversed(shown)])
    return figure


def _make_key(verdict: str) -> Any:
    look = _LOOKS[verdict]
    face = "none" if "facecolors" in look else look["color"]
    return style.make_key(verdict, color=look["color"], marker=look["marker"], markerfacecolor=face, linestyle="none")
