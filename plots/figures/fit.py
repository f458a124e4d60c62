"""``fit``: a regression on one feature, to be looked at: rows as dots, and the curves that algorithms fit to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import datasets
from datasets import catalogue
from experiments.config import estimators
from experiments.config.kinds.exhibits import FitFigure
from experiments.questions.exhibits.checks import make_curves
from plots import style
from plots.exhibits.captions import find_widest
from plots.exhibits.views import FigureView
from plots.labels import label_name

_ROWS = "rows"  # the name of the dots among the lines of the frame
_N_ROWS, _N_STEPS = 400, 200


class FitView(FigureView[FitFigure], of=FitFigure):
    """A sample of the rows of a data set, and the curves that algorithms fit to one feature of all rows."""

    def make_frame(self, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        """Fit the algorithms to the feature; fits see all rows, and their noise comes from a fixed seed.

        Returns ``line`` (``rows`` for a sample of the rows, else the algorithm), ``x`` and ``y``; empty if the data set
        is not available.
        """
        models = make_curves(self.exhibit)
        try:
            data = datasets.load(self.exhibit.dataset)
        except datasets.DataUnavailable:
            return pd.DataFrame(columns=["line", "x", "y"])
        column, target = data.frame[[self.exhibit.feature]], data.target.to_numpy(dtype=np.float64)
        drawn = np.sort(np.random.default_rng(0).permutation(len(target))[:_N_ROWS])
        xs = column.iloc[drawn, 0].to_numpy(dtype=np.float64)
        frames = [pd.DataFrame({"line": _ROWS, "x": xs, "y": target[drawn]})]
        along = np.linspace(xs.min(), xs.max(), _N_STEPS)
        for name, model in models.items():
            fitted = model.fit(column, target)
            predicted = fitted.predict(pd.DataFrame({self.exhibit.feature: along}))
            frames.append(pd.DataFrame({"line": name, "x": along, "y": predicted}))
        return pd.concat(frames, ignore_index=True)

    def draw(self, frame: pd.DataFrame) -> style.Figure:
        """Draw the rows and the curves."""
        drawn = style.make_figure(style.WIDTH, 4.4)
        axes = drawn.add_subplot()
        dots = frame[frame["line"] == _ROWS]
        look: dict[str, Any] = {"s": 9, "color": style.QUALITATIVE[4], "alpha": 0.6, "linewidths": 0}
        axes.scatter(dots["x"], dots["y"], label=f"{len(dots)} of the rows", **look)
        for i, name in enumerate(self.exhibit.algorithm):
            curve = frame[frame["line"] == name]
            dashes: dict[str, Any] = {"dashes": (5, 1.6)} if i else {}
            text, color = self._name_curve(name), style.QUALITATIVE[i]
            axes.plot(curve["x"], curve["y"], color=color, linewidth=2.2, label=text, **dashes)
        axes.set_xlabel(label_name(self.paper, self.exhibit.feature))
        axes.set_ylabel(label_name(self.paper, catalogue.read_entry(self.exhibit.dataset).domain.target.name))
        style.hide_frame(axes)
        style.write_shortfall(axes, frame)
        style.add_legend(drawn, handlelength=3.2, ncols=2)
        style.write_title(drawn, axes, self.exhibit.title)
        return drawn

    def sum_up(self, frame: pd.DataFrame) -> str:
        """Say where the curves are farthest apart."""
        curves = frame[frame["line"] != _ROWS].pivot(index="line", columns="x", values="y").dropna(axis=1)
        if len(curves) < 2 or not (found := find_widest(curves.to_numpy())):
            return ""
        place, *ends = found
        told = " and ".join(f"{curves.iloc[end, place]:.3g} ({self._name_curve(curves.index[end])})" for end in ends)
        where = f"at {label_name(self.paper, self.exhibit.feature)} = {curves.columns[place]:.3g}"
        return f"The curves are farthest apart {where}: {told}."

    def _name_curve(self, algorithm: str) -> str:
        name = label_name(self.paper, algorithm)
        return name if estimators.own_epsilon(algorithm) else f"{name} at ε = {self.exhibit.epsilon:g}"
