"""A figure of kind ``fit``: rows as dots, and the curves that algorithms fit to them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from datasets import catalogue
from experiments.config.estimators import own_epsilon
from experiments.judge.series import shortfall
from experiments.run.example_fit import POINTS
from plots.labels import label
from plots.style import ALARM, GRID, INK, QUALITATIVE, write_title


def figure(paper: Mapping, item: Mapping, frame: pd.DataFrame) -> Figure:
    """Draw what `experiments.run.example_fit.curves` found."""
    drawn = Figure(figsize=(8.4, 5.0), layout="constrained")
    FigureCanvasAgg(drawn)
    axes = drawn.add_subplot()
    dots = frame[frame["line"] == POINTS]
    style = {"s": 9, "color": GRID, "edgecolors": INK, "linewidths": 0.25}
    axes.scatter(dots["x"], dots["y"], label=f"{len(dots)} of the rows", **style)
    for i, name in enumerate(item["algorithm"]):
        curve = frame[frame["line"] == name]
        dashes = {"dashes": (5, 1.6)} if i else {}
        text = label(paper, name) + ("" if own_epsilon(name) else f", ε = {item['epsilon']:g}")
        axes.plot(curve["x"], curve["y"], color=QUALITATIVE[i], linewidth=2.2, label=text, **dashes)
    axes.set_xlabel(label(paper, item["feature"]))
    target = catalogue.read_entry(item["dataset"]).domain.target.name
    axes.set_ylabel(label(paper, target))
    axes.spines[["top", "right"]].set_visible(False)
    if note := shortfall(frame):
        axes.set_title(note, loc="left", fontsize=11, fontweight="bold", color=ALARM)
    drawn.legend(loc="outside right upper", frameon=False, fontsize=10, handlelength=3.2)
    write_title(drawn, axes, item["title"])
    return drawn
