"""One picture of all printed numbers of published papers against ours: a panel for each paper and unit."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.config.finding import SIGNS, AnySign, FinerSign, Sign
from experiments.judge.verdict import Verdict
from experiments.metrics.find import is_in_per_cent
from plots import style
from plots.labels import SYMBOLS, label_metric, scale_value
from plots.runs.paper_run import PaperRun

NAME = "printed-against-ours"
_LARGE, _SMALL = 2, 3  # panels beside one another: of numbers in per cent, which are many, and of the others
_LETTERS = 18  # in a line above or below a panel
_WIDE = 30.0  # an axis whose largest value is so many times its smallest is logarithmic
_PER_CENT = " (%)"
# A sign is told by its mark, too: a grey print has no colours.
_LOOKS: Mapping[AnySign, dict[str, Any]] = {
    Sign.HOLDS: {"marker": "o", "color": style.QUALITATIVE[2]},
    FinerSign.WITHIN: {"marker": "D", "color": style.QUALITATIVE[0]},
    Sign.DEPENDS: {
        "marker": "o",
        "color": style.QUALITATIVE[3],
        "fillstyle": "left",
        "markerfacecoloralt": style.PAPER,
        "markersize": 7,
    },
    Sign.FAILS: {"marker": "X", "color": style.ALARM, "markersize": 7},
    Sign.OPEN: {"marker": "o", "color": style.QUALITATIVE[4], "markerfacecolor": "none"},
}


@dataclass(frozen=True)
class _Panel:
    title: str
    unit: str
    is_in_per_cent: bool
    numbers: pd.DataFrame  #: ``printed`` and ``mean`` on the scale of the axes, and ``sign``


def list_panels(runs: Sequence[PaperRun]) -> list[_Panel]:
    """Return the printed numbers that have one of ours beside them, by paper: all in per cent, then the others."""
    panels = [panel for run in runs if run.is_of_paper for panel in _list_panels(run)]
    return sorted(panels, key=lambda panel: not panel.is_in_per_cent)


def _list_panels(run: PaperRun) -> Iterator[_Panel]:
    compared = run.measured[run.measured["mean"].notna()]
    in_per_cent = compared["metric"].map(is_in_per_cent).astype(bool)
    for are_in_per_cent, rows in ((True, compared[in_per_cent]), (False, compared[~in_per_cent])):
        if len(rows):
            numbers = pd.DataFrame({"sign": [Verdict(verdict).shown for verdict in rows["verdict"]]})
            for name in ("printed", "mean"):
                pairs = zip(rows["metric"], rows[name], strict=True)
                numbers[name] = [scale_value(metric, value) for metric, value in pairs]
            yield _Panel(run.short_heading, _name_metrics(run, rows["metric"].unique()), are_in_per_cent, numbers)


def _name_metrics(run: PaperRun, metrics: Sequence[str]) -> str:
    """Return the names of the metrics of a panel in few words: each without its class, and its unit once."""
    labels = [label_metric(run.paper, metric) for metric in metrics]
    names = [label.removesuffix(_PER_CENT).partition(", ")[0].rpartition(".")[2] for label in labels]
    readable = [name.replace("_", " ").replace("epsilon", "ε") for name in dict.fromkeys(names)]
    return ", ".join(readable) + (_PER_CENT if labels[0].endswith(_PER_CENT) else "")


def describe_picture(runs: Sequence[PaperRun]) -> dict[str, Any]:
    """Return what a page says of the picture: its file, how many numbers it has, its text for those who do not see it.

    ``missing`` has the printed numbers that are not in it, a text for each reason.
    """
    papers = [run for run in runs if run.is_of_paper]
    counts = _count_signs(list_panels(papers))
    n_drawn = sum(counts.values())
    told = ", ".join(f"{number} {sign.describe(number)}" for sign, number in counts.items())
    alt = f"{n_drawn} printed numbers against ours, a panel for each paper and unit: {told}"
    missing = [f"paper {run.paper.number}, which prints no legible result" for run in papers if not len(run.measured)]
    unanswered = [verdict for run in papers for verdict in run.measured.loc[run.measured["mean"].isna(), "verdict"]]
    missing += [f"{n} that {'is' if n == 1 else 'are'} {verdict}" for verdict, n in Counter(unanswered).items()]
    return {"file": f"{NAME}.svg", "n_drawn": n_drawn, "alt": alt, "missing": missing}


def _count_signs(panels: Sequence[_Panel]) -> dict[AnySign, int]:
    signs = [sign for panel in panels for sign in panel.numbers["sign"]]
    return {sign: signs.count(sign) for sign in SIGNS if sign in signs}


def write_picture(runs: Sequence[PaperRun], folder: Path) -> list[Path]:
    """Draw the picture as SVG into a folder; nothing if no run has a printed number."""
    panels = list_panels(runs)
    if not panels:
        return []
    return style.write_rendered(NAME, style.render_figure(NAME, lambda: draw_panels(panels), ("svg",)), folder)


def draw_panels(panels: Sequence[_Panel]) -> style.Figure:
    """Draw what is printed to the right and ours upwards, with a grey line where both are equal.

    Of panels as `list_panels` returns them those in per cent are larger: there are more numbers in them.
    """
    n_large = sum(panel.is_in_per_cent for panel in panels)
    n_rows, n_rows_below = -(-n_large // _LARGE), -(-(len(panels) - n_large) // _SMALL)
    drawn = style.make_figure(style.WIDTH, 2.9 * n_rows + 2.2 * n_rows_below + 1.6)
    grid = drawn.add_gridspec(
        n_rows + n_rows_below, _LARGE * _SMALL, height_ratios=[2.9] * n_rows + [2.2] * n_rows_below
    )
    for number, panel in enumerate(panels):
        is_large = number < n_large
        row, column = divmod(number, _LARGE) if is_large else divmod(number - n_large, _SMALL)
        width = _SMALL if is_large else _LARGE  # in columns of the grid
        place = grid[row if is_large else n_rows + row, column * width : (column + 1) * width]
        _draw_panel(drawn.add_subplot(place), panel)
    keys = [
        style.make_key(f"{SYMBOLS[sign]} {n} {sign.describe(n)}", **_look(sign))
        for sign, n in _count_signs(panels).items()
    ]
    keys.append(style.make_key("printed = ours", color=style.GRID, linewidth=2))
    keys.append(style.make_key("→ printed, ↑ ours", linestyle="none"))
    style.add_legend(drawn, handles=keys, ncols=2)
    style.write_title(drawn, drawn.axes[min(_LARGE, len(panels)) - 1], "Printed numbers against ours")
    return drawn


def _look(sign: AnySign) -> dict[str, Any]:
    return {"linestyle": "none", "markersize": 6, "markeredgewidth": 0.8, **_LOOKS[sign]}


def _draw_panel(axes: style.Axes, panel: _Panel) -> None:
    values = panel.numbers[["printed", "mean"]].to_numpy(dtype=float)
    low, high = _find_ends(values)
    axes.plot([low, high], [low, high], color=style.GRID, linewidth=2, zorder=0)
    for sign in sorted(SIGNS, key=lambda sign: sign != Sign.OPEN):  # what is open lies below the others
        of_sign = panel.numbers[panel.numbers["sign"] == sign]
        if len(of_sign):
            axes.plot(of_sign["printed"], of_sign["mean"], clip_on=False, **_look(sign))
    if low > 0 and high > _WIDE * low:
        _make_logarithmic(axes)
    else:
        axes.locator_params(nbins=3)
    axes.set(xlim=(low, high), ylim=(low, high), aspect="equal")
    title = textwrap.fill(panel.title, _LETTERS, max_lines=2, placeholder=" …")
    axes.set_title(title, fontweight="bold", loc="left")
    axes.set_xlabel(textwrap.fill(panel.unit, _LETTERS))
    style.hide_frame(axes)


def _find_ends(values: np.ndarray) -> tuple[float, float]:
    """Return the ends of both axes of a panel, with some room."""
    low, high = float(values.min()), float(values.max())
    if low > 0 and high > _WIDE * low:
        return low / 1.6, high * 1.6
    room = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    return low - room, high + room


def _make_logarithmic(axes: style.Axes) -> None:
    from matplotlib.ticker import FuncFormatter, NullLocator

    axes.set(xscale="log", yscale="log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axis.set_minor_locator(NullLocator())
