"""A figure of kind ``soundness``: what the sound variants of algorithms gain, and what the printed ones really pay."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator, SymmetricalLogLocator

from experiments.judge.ranks import LOWER_IS_BETTER
from experiments.judge.series import shortfall
from plots.labels import MISSING, label, metric_label, scaled
from plots.style import ALARM, GRID, INK, QUALITATIVE, write_title

BETTER, WORSE, SINGLE = QUALITATIVE[2], QUALITATIVE[1], QUALITATIVE[4]
_PANEL = 2.3
_TEXT = "text: ε that the printed one accounts for\n(sound: the other, same neighbours, if not as claimed)"


def figure(paper: Mapping, item: Mapping, frame: pd.DataFrame) -> Figure:
    """Draw what `experiments.judge.soundness.gains` found: a panel for each ε, a line for each pair."""
    epsilons, pairs = list(dict.fromkeys(frame["epsilon"])), list(dict.fromkeys(frame["printed"]))
    drawn = Figure(figsize=(2.2 + _PANEL * len(epsilons), 2.2 + 0.5 * len(pairs)), layout="constrained")
    FigureCanvasAgg(drawn)
    panels = drawn.subplots(1, len(epsilons), sharex=True, sharey=True, squeeze=False)[0]
    for axes, epsilon in zip(panels, epsilons, strict=True):
        part = frame[frame["epsilon"] == epsilon]
        for place, printed in enumerate(pairs):
            _draw_pair(axes, place, part[part["printed"] == printed], item["metric"])
        _dress(axes, epsilon, item["metric"])
    panels[0].set_yticks(range(len(pairs)), [label(paper, name) for name in pairs])
    panels[0].set_ylim(len(pairs) - 0.5, -0.65)
    panels[len(panels) // 2].set_xlabel(_unit(paper, item["metric"]))
    if note := shortfall(frame):
        panels[0].set_title(note, loc="left", fontsize=11, fontweight="bold", color=ALARM, pad=22)
    drawn.legend(handles=_explanations(_n_sets(frame)), loc="outside lower left", ncols=4, frameon=False, fontsize=9.5)
    write_title(drawn, panels[-1], item["title"])
    return drawn


def markdown(paper: Mapping, item: Mapping, frame: pd.DataFrame) -> str:
    """Return the means over all data sets as a Markdown table, with the ε that the printed variants pay."""
    means = frame[frame["dataset"] == ""]
    epsilons = list(dict.fromkeys(means["epsilon"]))
    lines = [" | ".join(["| printed variant", *(f"claimed ε = {epsilon:g}" for epsilon in epsilons)]) + " |"]
    lines.append("|---" * (1 + len(epsilons)) + "|")
    for printed in dict.fromkeys(means["printed"]):
        rows = means[means["printed"] == printed].to_dict("records")
        cells = [f"{_gained(item['metric'], row['gain'])} ({_paid(row)})" for row in rows]
        lines.append(" | ".join([f"| {label(paper, printed)}", *cells]) + " |")
    mean = "geometric mean" if item["metric"] in LOWER_IS_BETTER else "mean"
    head = f"{item['title']}: {_unit(paper, item['metric'])}, {mean} over {_n_sets(frame)} data sets"
    what = "in brackets the ε that the printed variant accounts for, and the sound one where that is not what it claims"
    return "\n\n".join([f"{head}; {what}, between neighbours as the printed one means them.", "\n".join(lines)])


def _draw_pair(axes, place: int, rows: pd.DataFrame, metric: str) -> None:
    single, (mean,) = rows[rows["dataset"] != ""], rows[rows["dataset"] == ""].to_dict("records")
    gains, low, high = ([scaled(metric, value) for value in single[name]] for name in ("gain", "low", "high"))
    places = place + np.linspace(-0.22, 0.22, len(single)) if len(single) > 1 else [place]
    axes.hlines(places, low, high, colors=SINGLE, linewidth=0.9, alpha=0.6)
    axes.plot(gains, places, marker="o", markersize=3.2, linestyle="none", color=SINGLE, zorder=3)
    style = {"marker": "D", "markersize": 7, "linestyle": "none", "markeredgecolor": "white", "zorder": 4}
    axes.plot([scaled(metric, mean["gain"])], [place], color=BETTER if mean["gain"] >= 0 else WORSE, **style)
    words = {"ha": "right", "va": "center", "fontsize": 8.5}
    axes.text(0.995, place - 0.36, _paid(mean), transform=axes.get_yaxis_transform(), **words)


def _dress(axes, epsilon: float, metric: str) -> None:
    axes.axvline(0, color=INK, linewidth=0.9, zorder=1)
    axes.set_title(f"claimed ε = {epsilon:g}", fontsize=10.5)
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if metric in LOWER_IS_BETTER:  # logarithmic beyond a factor of two: a data set may gain thousands
        axes.set_xscale("symlog", linthresh=1.0)
        axes.xaxis.set_major_locator(SymmetricalLogLocator(base=10, linthresh=1.0))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"$2^{{{x:g}}}$"))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:+g}" if x else "0"))


def _unit(paper: Mapping, metric: str) -> str:
    if metric in LOWER_IS_BETTER:
        return f"{label(paper, metric)}: printed / sound, more than 1 is a gain"
    return f"{metric_label(paper, metric).removesuffix(' (%)')}: sound less printed, in points"


def _gained(metric: str, gain: float) -> str:
    if math.isnan(gain):
        return MISSING
    return f"{2.0**gain:.3g} ×" if metric in LOWER_IS_BETTER else f"{scaled(metric, gain):+.1f}"


def _paid(row: Mapping) -> str:
    """Return what the printed one accounts for, and the sound one where that is not what it claims."""
    if math.isnan(row["accounted"]):
        return MISSING
    is_other = row["sound_accounted"] > row["epsilon"] * (1 + 1e-9)
    return _printed_paid(row) + (f"; sound {row['sound_accounted']:.3g}" if is_other else "")


def _printed_paid(row: Mapping) -> str:
    noisy = f"; {row['noisy']:.3g} with noise" if math.isfinite(row["noisy"]) else ""
    return f"∞{noisy}" if math.isinf(row["accounted"]) else f"{row['accounted']:.3g}"


def _n_sets(frame: pd.DataFrame) -> int:
    return frame.loc[frame["dataset"] != "", "dataset"].nunique()


def _explanations(n_sets: int) -> list[Line2D]:
    style = {"linestyle": "none", "markeredgecolor": "white", "marker": "D", "markersize": 7}
    return [
        Line2D([], [], color=BETTER, label=f"mean over {n_sets} data sets: a gain", **style),
        Line2D([], [], color=WORSE, label="a loss", **style),
        Line2D([], [], color=SINGLE, marker="o", markersize=3.2, linewidth=0.9, label="one data set, 95 % interval"),
        Line2D([], [], linestyle="none", label=_TEXT),
    ]
