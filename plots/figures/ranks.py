"""A figure of kind ``ranks``: mean ranks over data sets, with the critical difference from the best."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from experiments.judge.ranks import critical_difference, friedman_p
from experiments.judge.series import shortfall
from plots.labels import label
from plots.style import ALARM, GRID, INK, QUALITATIVE, write_title

ADVISES = "advises"
"""Key of a figure whose first algorithm is the one to take: it must hold none that is not private as it says."""

TICK = QUALITATIVE[4]


def figure(paper: Mapping, item: Mapping, frame: pd.DataFrame) -> Figure:
    """Draw the mean rank of each algorithm, and its rank on each data set."""
    means = frame[frame["dataset"] == ""].sort_values("rank", kind="stable")
    single = frame[frame["dataset"] != ""].dropna(subset=["rank"])
    n_sets = single["dataset"].nunique()
    drawn = Figure(figsize=(9.2, 1.9 + 0.42 * len(means)), layout="constrained")
    FigureCanvasAgg(drawn)
    axes = drawn.add_subplot()
    for place, row in enumerate(means.to_dict("records")):
        own = single[single["algorithm"] == row["algorithm"]]["rank"]
        axes.plot(own, [place] * len(own), marker="|", markersize=9, linestyle="none", color=TICK, markeredgewidth=2)
        axes.plot([row["rank"]], [place], marker="o", markersize=7, linestyle="none", color=QUALITATIVE[0])
    if n_sets > 1:
        best, difference = float(means["rank"].iloc[0]), critical_difference(len(means), n_sets)
        axes.axvspan(best, best + difference, color=QUALITATIVE[0], alpha=0.10, linewidth=0, zorder=0)
    axes.set_yticks(range(len(means)), [label(paper, name) for name in means["algorithm"]])
    axes.invert_yaxis()
    axes.set_xlim(0.8, len(means) + 0.2)
    p = friedman_p(frame)
    chance = "" if math.isnan(p) else f"; all equal: p = {p:.2g} (Friedman)"
    axes.set_xlabel(f"mean rank over {n_sets} data sets, 1 is best{chance}")
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if n_sets > 1:
        words = "shaded: not told from the best (Nemenyi, 5 %); ticks: single data sets"
        axes.annotate(words, (1, 1.01), xycoords="axes fraction", ha="right", fontsize=9, color=INK)
    if note := shortfall(frame):
        axes.set_title(note, loc="left", fontsize=11, fontweight="bold", color=ALARM, pad=18)
    write_title(drawn, axes, item["title"])
    return drawn


def advice(paper: Mapping, item: Mapping, frame: pd.DataFrame) -> str:
    """Say which algorithm to take: the best mean rank, with those that are not told from it; nothing if not asked.

    A figure asks with ``advises: true``. A run that is not complete gives no advice, and says so.
    """
    if not item.get(ADVISES):
        return ""
    if note := shortfall(frame):
        return f"{note}; no advice"
    means = frame[frame["dataset"] == ""].sort_values("rank", kind="stable").to_dict("records")
    n_sets = frame.loc[frame["dataset"] != "", "dataset"].nunique()
    best, *others = means
    within = best["rank"] + (critical_difference(len(means), n_sets) if n_sets > 1 else math.inf)
    near = [f"{label(paper, one['algorithm'])} ({one['rank']:.2f})" for one in others if one["rank"] <= within]
    close = f"; not told from it (Nemenyi, 5 %): {', '.join(near)}" if near else "; every other is significantly worse"
    said = f"take {label(paper, best['algorithm'])}, mean rank {best['rank']:.2f} over {n_sets} data sets"
    return f"{item['title']}: {said}{close}."
