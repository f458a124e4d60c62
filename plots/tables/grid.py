"""``grid``: a metric over two axes of a study, or several metrics over one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd
from pydantic import model_validator

from documents.document import ListOf
from experiments.config.paper import Center, Paper, ShownPart
from plots.labels import label_names, label_values
from plots.series import check_metrics_by, describe_points, name_of_center, summarise_metrics
from plots.text_table import ArrangedTable, Cell, TextTable, format_mean


class GridTable(ShownPart, ArrangedTable):
    """A metric over two axes of a study; with ``columns: metric``, a list of metrics over one axis."""

    kind: Literal["grid"]
    rows: str
    """The axis of the rows."""
    columns: str
    """The axis of the columns, or ``metric``."""
    metric: str | ListOf[str]
    """The metric, or a list of them with ``columns: metric``."""
    center: Center | None = None
    """What stands for the repeats, if not as the paper says of the metric."""

    @model_validator(mode="after")
    def _check_columns(self) -> GridTable:
        if (self.columns == "metric") == isinstance(self.metric, str):
            raise ValueError("columns: metric goes with a list of metrics, and a list with that")
        return self

    @property
    def axes(self) -> list[str]:
        """The axes of rows and columns."""
        return [self.rows, self.columns]

    def check(self, paper: Paper) -> None:
        """Check that the study has the axes and metrics, and that no other axis varies; raises a PaperError."""
        check_metrics_by(paper, self, self.metric, self.axes)

    def make_frame(self, paper: Paper, table: pd.DataFrame, numbers: pd.DataFrame, facts: Mapping) -> pd.DataFrame:
        """Return one row for each cell of the table, as `summarise_metrics` does."""
        return summarise_metrics(paper, self, self.metric, table, numbers, self.axes, self.center)

    def arrange(self, paper: Paper, frame: pd.DataFrame, between: str = " \\ ") -> TextTable:
        """Arrange a frame as rows and columns of text, with something between the names of these in the corner."""
        study, is_of_metrics = paper.study(self.study, self.id), self.columns == "metric"
        columns = list(self.metric) if is_of_metrics else study.axis(self.columns, self.where)
        cells, n = describe_points(frame), len(columns)
        return TextTable(
            between.join(label_names(paper, [self.rows] if is_of_metrics else self.axes)),
            label_values(paper, self.columns, columns),
            label_values(paper, self.rows, study.axis(self.rows, self.where)),
            [cells[start : start + n] for start in range(0, len(cells), n)],
        )

    def explain(self, paper: Paper, frame: pd.DataFrame) -> dict[str, Any]:
        """Return what its numbers are, and whether the paper prints one of them."""
        return {"center": describe_center(frame), "has_printed": frame["printed"].notna().any()}

    def caption(self, paper: Paper, frame: pd.DataFrame) -> tuple[str, str]:
        """Return its title with what its numbers are, and what is missing."""
        return f"{self.title} ({describe_center(frame)})", self.note_missing(frame)

    def format_entry(self, cell: Cell) -> str:
        """Return a number with its interval."""
        return format_mean(cell["ours"], cell["band"])


def describe_center(frame: pd.DataFrame) -> str:
    """Return what a number of a grid is, and what stands beside it.

    Examples
    --------
    >>> describe_center(pd.DataFrame({"epsilon": [1.0], "median": [0.5]}))
    'median and its 95 % interval'
    """
    words = {"mean": "mean ± half-width of its 95 % interval", "median": "median and its 95 % interval"}
    return words[name_of_center(frame)]
