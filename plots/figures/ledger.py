"""``ledger``: what the steps that a record meets cost, a bar for every value of a parameter."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, cycle

import pandas as pd

import datasets
from algorithms.accounting.events import Bootstrapped, Event, Parallel, Sequential, Spent
from experiments.config.kinds.exhibits import LedgerFigure
from experiments.questions.exhibits.checks import make_models
from plots import style
from plots.exhibits.views import FigureView
from plots.labels import label_name, label_names, label_values

COLUMNS = ["value", "step", "mechanism", "purpose", "epsilon"]
_NARROW = 0.075  # of the axis: a number does not fit into a narrower part


class LedgerView(FigureView[LedgerFigure], of=LedgerFigure):
    """The budget of fitted models, divided as the steps that one record meets divide it."""

    def make_frame(self, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        """Fit the algorithm for each value, and read in its ledger what the steps that a record meets cost.

        ``step`` counts from 1; steps without noise are not in it. Empty if the data set is not available.
        """
        try:
            data = datasets.load(self.exhibit.dataset)
        except datasets.DataUnavailable:
            return pd.DataFrame(columns=COLUMNS)
        rows = []
        for value, model in make_models(self.exhibit).items():
            ledger = model.fit(data.frame, data.target.to_numpy()).privacy_.ledger
            for step, spent in enumerate(_list_steps(ledger), start=1):
                rows.append((value, step, spent.mechanism, spent.purpose, spent.epsilon))
        return pd.DataFrame(rows, columns=COLUMNS)

    def draw(self, frame: pd.DataFrame) -> style.Figure:
        """Draw a bar for every value."""
        drawn = style.make_figure(style.WIDTH, 1.5 + 0.48 * max(frame["value"].nunique(), 1))
        axes = drawn.add_subplot()
        ((name, values),) = self.exhibit.params.items()
        colours = _choose_colours(frame)
        total = frame.groupby("value")["epsilon"].sum().max() if len(frame) else 1.0
        for place, value in enumerate(values):
            _draw_bar(axes, place, frame[frame["value"] == value], colours, _NARROW * total)
        axes.set_yticks(range(len(values)), label_values(self.paper, f"params.{name}", values))
        axes.set_ylabel(label_name(self.paper, f"params.{name}"))
        axes.invert_yaxis()
        axes.set_xlabel("ε of the steps that one record meets")
        style.dress_axes(axes, "x")
        style.write_shortfall(axes, frame)
        handles = list(map(style.make_patch, colours, colours.values()))
        style.add_legend_below(drawn, handles)
        style.write_title(drawn, axes, self.exhibit.title)
        return drawn

    def sum_up(self, frame: pd.DataFrame) -> str:
        """Say what the steps that a record meets cost together, and which of them is the dearest."""
        if frame.empty:
            return ""
        totals = frame.groupby("value")["epsilon"].sum()
        dearest = frame.loc[frame.groupby("value")["epsilon"].idxmax()]
        purposes = " or ".join(dict.fromkeys(dearest["purpose"]))
        names = label_names(self.paper, (f"params.{name}" for name in self.exhibit.params))
        together = f"the steps that a record meets cost ε = {_write_range(totals)} together"
        each = f"For each of {len(totals)} values of {names[0]}"
        return f"{each} {together}; the dearest step ({purposes}) costs {_write_range(dearest['epsilon'])}."


def _list_steps(event: Event) -> list[Spent]:
    """Return the mechanisms that one record meets, in order: of disjoint parts, those of the dearest."""
    if isinstance(event, Spent):
        return [event]
    if isinstance(event, Bootstrapped):
        return _list_steps(event.part)
    if isinstance(event, Parallel):
        return _list_steps(max(event.parts, key=lambda part: part.epsilon))
    if isinstance(event, Sequential):
        return event.times * list(chain.from_iterable(map(_list_steps, event.parts)))
    return []


def _write_range(costs: pd.Series) -> str:
    """Return the least and the most of some ε.

    >>> _write_range(pd.Series([0.3679, 0.5455])), _write_range(pd.Series([1.0, 0.9999999999]))
    ('0.368 to 0.545', '1')
    """
    return " to ".join(dict.fromkeys(f"{end:.3g}" for end in (costs.min(), costs.max())))


def _choose_colours(frame: pd.DataFrame) -> dict[str, str]:
    """Return a colour for every purpose: dark to light in order of the steps, and one for the last steps of bars."""
    purposes = list(frame.sort_values("step", kind="stable")["purpose"].unique())
    lasts = set(frame.groupby("value")["purpose"].last())
    inner = [purpose for purpose in purposes if purpose not in lasts]
    colours = dict(zip(inner, cycle(reversed(style.SEQUENTIAL)), strict=False))
    return colours | dict.fromkeys(sorted(lasts), style.QUALITATIVE[1])


def _draw_bar(axes: style.Axes, place: int, steps: pd.DataFrame, colours: Mapping[str, str], narrow: float) -> None:
    left = 0.0
    for step in steps.to_dict("records"):
        width = step["epsilon"]
        axes.barh(place, width, left=left, height=0.72, color=colours[step["purpose"]], edgecolor=style.PAPER)
        if width >= narrow:
            axes.text(left + width / 2, place, f"{width:.2f}", ha="center", va="center", color=style.PAPER)
        left += width
    axes.text(left, place, f" {left:.3g}", va="center", color=style.INK)
