"""``facets``: a metric against ε on every data set of a study, between the floor and the ceiling without privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from experiments.config.paper import Paper, PaperFigure, ShownPart
from experiments.questions.preflight import check_metrics
from plots.comparisons.data_kinds import KINDS, UNKNOWN, list_kinds_of
from plots.comparisons.levels import BetweenLevels
from plots.labels import format_interval, format_number, label_metric, label_name, label_value, label_values
from plots.series import count_decimals, name_of_center, summarise_metrics
from plots.tables.grid import check_axes

if TYPE_CHECKING:
    import matplotlib.figure

_BY = ["dataset", "algorithm", "epsilon"]


class FacetsFigure(BetweenLevels, ShownPart, PaperFigure):
    """A metric against ε, a small picture for each data set, with floor and ceiling at the same height in all."""

    kind: Literal["facets"]
    metric: str
    """The metric; an error is drawn on a logarithmic axis."""

    def check(self, paper: Paper) -> None:
        """Check that the studies have axes, metric, floor and ceiling.

        Raises
        ------
        PaperError
            If they have not.
        """
        check_axes(paper, self, _BY)
        nothing = pd.DataFrame(columns=["table", "statistic", "metric"])
        self.make_frame(paper, pd.DataFrame(), nothing)
        check_metrics(paper, self.id, self.study, self.where, [self.metric])

    def list_lines(self, paper: Paper) -> list[str]:
        """Return the algorithms that have a line."""
        return paper.study(self.study, self.id).axis("algorithm", self.where)

    def make_frame(self, paper: Paper, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        """Return one row for each point, as `summarise_metrics` does, with the kinds of its data set.

        Floor and ceiling come after the lines. Data sets are sorted by the first kind that they are of; ``kinds`` joins
        all of them by blanks.
        """
        study = paper.study(self.study, self.id)
        sets = study.axis("dataset", self.where)
        levels = self.select_levels(paper, self.id, self.metric, sets)
        parts = [summarise_metrics(paper, part, self.metric, table, numbers, _BY) for part in (self, levels)]
        frame = pd.concat(parts, ignore_index=True)
        kinds = {name: list_kinds_of(study, name) for name in sets}
        order = [*KINDS, UNKNOWN]
        places = {name: order.index(found[0]) if found else len(order) for name, found in kinds.items()}
        frame = frame.assign(kinds=[" ".join(kinds[name]) for name in frame["dataset"]])
        return frame.sort_values("dataset", key=lambda names: names.map(places), kind="stable", ignore_index=True)

    def draw(self, paper: Paper, frame: pd.DataFrame) -> matplotlib.figure.Figure:
        """Draw it; a data set without results has no picture."""
        from plots.figures._facets_drawing import draw_facets  # matplotlib is slow to import

        return draw_facets(paper, self, frame)

    def describe(self, paper: Paper, frame: pd.DataFrame) -> dict[str, Any]:
        """Return the points of the figure as the report's page shows them."""
        decimals, center = count_decimals(frame), name_of_center(frame)
        points = []
        for point in frame.to_dict("records"):
            line = f"{label_name(paper, point['dataset'])}: {label_name(paper, point['algorithm'])}"
            ours = format_number(self.metric, point[center], decimals)
            interval = format_interval(self.metric, point["ci_low"], point["ci_high"], decimals)
            said = {"line": line, "x": label_value(paper, point["epsilon"]), "ours": ours, "interval": interval}
            points.append({**said, "n": point["n"], "printed": "", "verdict": ""})
        metric = f"{label_metric(paper, self.metric)}, {center}"
        return {"line": "data set: algorithm", "x": label_name(paper, "epsilon"), "metric": metric, "points": points}

    def name_ticks(self, paper: Paper) -> list[str]:
        """Return the ε as text."""
        return label_values(paper, "epsilon", paper.study(self.study, self.id).axis("epsilon", self.where))
