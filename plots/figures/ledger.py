"""A figure of kind ``ledger``: a bar for every value of a parameter, divided as the steps divide the budget."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from experiments.judge.series import shortfall
from plots.labels import axis_labels, label
from plots.style import ALARM, GRID, INK, QUALITATIVE, SEQUENTIAL, write_title

_NARROW = 0.04  # of the axis: a number does not fit into a narrower part


def figure(paper: Mapping, item: Mapping, frame: pd.DataFrame) -> Figure:
    """Draw what `experiments.run.ledger_steps.steps` found."""
    drawn = Figure(figsize=(8.4, 1.9 + 0.48 * max(frame["value"].nunique(), 1)), layout="constrained")
    FigureCanvasAgg(drawn)
    axes = drawn.add_subplot()
    ((name, values),) = item["params"].items()
    colours = _colours(frame)
    total = frame.groupby("value")["epsilon"].sum().max() if len(frame) else 1.0
    for place, value in enumerate(values):
        _draw_bar(axes, place, frame[frame["value"] == value], colours, _NARROW * total)
    axes.set_yticks(range(len(values)), axis_labels(paper, f"params.{name}", values))
    axes.set_ylabel(label(paper, f"params.{name}"))
    axes.invert_yaxis()
    axes.set_xlabel("ε of the steps that one record meets")
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if note := shortfall(frame):
        axes.set_title(note, loc="left", fontsize=11, fontweight="bold", color=ALARM)
    handles = [Patch(color=colour, label=purpose) for purpose, colour in colours.items()]
    drawn.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=10)
    write_title(drawn, axes, item["title"])
    return drawn


def _colours(frame: pd.DataFrame) -> dict[str, str]:
    """Return a colour for every purpose: dark to light in order of the steps, and one for the last steps of bars."""
    purposes = list(frame.sort_values("step", kind="stable")["purpose"].unique())
    lasts = set(frame.groupby("value")["purpose"].last())
    inner = [purpose for purpose in purposes if purpose not in lasts]
    return {purpose: SEQUENTIAL[-1 - i % len(SEQUENTIAL)] for i, purpose in enumerate(inner)} | {
        purpose: QUALITATIVE[1] for purpose in lasts
    }


def _draw_bar(axes, place: int, steps: pd.DataFrame, colours: Mapping[str, str], narrow: float) -> None:
    left = 0.0
    for step in steps.to_dict("records"):
        width = step["epsilon"]
        axes.barh(place, width, left=left, height=0.72, color=colours[step["purpose"]], edgecolor="white")
        if width >= narrow:
            axes.text(left + width / 2, place, f"{width:.2f}", ha="center", va="center", color="white", fontsize=9)
        left += width
    axes.text(left, place, f" {left:.3g}", va="center", color=INK, fontsize=9)
