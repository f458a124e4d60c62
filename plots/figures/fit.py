"""``fit``: a regression on one feature, to be looked at: rows as dots, and the curves that algorithms fit to them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd

import datasets
from algorithms import Domain
from datasets import catalogue
from documents.document import ListOf
from experiments.cells.cell import read_epsilon
from experiments.config import estimators
from experiments.config.data import task_and_domain
from experiments.config.paper import Paper, PaperError, PaperFigure
from experiments.errors import suggest_name
from plots import style
from plots.labels import label_name

_ROWS = "rows"  # the name of the dots among the lines of the frame
_N_ROWS, _N_STEPS = 400, 200


class FitFigure(PaperFigure):
    """A sample of the rows of a data set, and the curves that algorithms fit to one feature of all rows."""

    kind: Literal["fit"]
    dataset: str
    """The data set."""
    feature: str
    """The feature along the bottom."""
    algorithm: ListOf[str]
    """The algorithms, a curve for each."""
    params: dict[str, Any]
    """Parameters of all of them."""
    epsilon: float
    """Their privacy budget."""

    def list_algorithms(self, paper: Paper) -> list[str]:
        """Return the algorithms."""
        return list(self.algorithm)

    def check(self, paper: Paper) -> None:
        """Check that the algorithms can be fitted, without reading a row; raises a BadInput if they cannot."""
        self._make_models()

    def make_frame(self, paper: Paper, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        """Fit the algorithms to the feature; fits see all rows, and their noise comes from a fixed seed.

        Returns ``line`` (``rows`` for a sample of the rows, else the algorithm), ``x`` and ``y``; empty if the data set
        is not available.
        """
        models = self._make_models()
        try:
            data = datasets.load(self.dataset)
        except datasets.DataUnavailable:
            return pd.DataFrame(columns=["line", "x", "y"])
        column, target = data.frame[[self.feature]], data.target.to_numpy(dtype=np.float64)
        drawn = np.sort(np.random.default_rng(0).permutation(len(target))[:_N_ROWS])
        xs = column.iloc[drawn, 0].to_numpy(dtype=np.float64)
        frames = [pd.DataFrame({"line": _ROWS, "x": xs, "y": target[drawn]})]
        along = np.linspace(xs.min(), xs.max(), _N_STEPS)
        for name, model in models.items():
            fitted = model.fit(column, target)
            predicted = fitted.predict(pd.DataFrame({self.feature: along}))
            frames.append(pd.DataFrame({"line": name, "x": along, "y": predicted}))
        return pd.concat(frames, ignore_index=True)

    def draw(self, paper: Paper, frame: pd.DataFrame) -> style.Figure:
        """Draw the rows and the curves."""
        drawn = style.make_figure(8.4, 5.0)
        axes = drawn.add_subplot()
        dots = frame[frame["line"] == _ROWS]
        look: dict[str, Any] = {"s": 9, "color": style.GRID, "edgecolors": style.INK, "linewidths": 0.25}
        axes.scatter(dots["x"], dots["y"], label=f"{len(dots)} of the rows", **look)
        for i, name in enumerate(self.algorithm):
            curve = frame[frame["line"] == name]
            dashes: dict[str, Any] = {"dashes": (5, 1.6)} if i else {}
            text = label_name(paper, name) + ("" if estimators.own_epsilon(name) else f", ε = {self.epsilon:g}")
            axes.plot(curve["x"], curve["y"], color=style.QUALITATIVE[i], linewidth=2.2, label=text, **dashes)
        axes.set_xlabel(label_name(paper, self.feature))
        axes.set_ylabel(label_name(paper, catalogue.read_entry(self.dataset).domain.target.name))
        style.hide_frame(axes)
        style.write_shortfall(axes, frame)
        style.add_legend(drawn, handlelength=3.2)
        style.write_title(drawn, axes, self.title)
        return drawn

    def _make_models(self) -> dict[str, Any]:
        _, domain = task_and_domain(self.dataset)
        if self.feature not in domain.names:
            hint = suggest_name(self.feature, domain.names)
            raise PaperError(f"{self.id}: {self.dataset} has no feature {self.feature!r}; {hint}")
        feature = domain.features[domain.names.index(self.feature)]
        given = {"domain": Domain((feature,), domain.target), "epsilon": read_epsilon(self.epsilon)}
        models = {}
        for name in self.algorithm:
            params = estimators.merge_parameters(name, self.params)
            models[name] = estimators.make_estimator(name, params, **given, random_state=0)
        return models
