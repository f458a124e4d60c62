"""``grid``: a metric over two axes of a study, or several metrics over one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from experiments.config.kinds.exhibits import GridTable
from experiments.questions.exhibits.series import name_of_center, summarise_metrics
from plots.labels import label_names, label_values
from plots.series import describe_points
from plots.text_table import ArrangedTable, Cell, TextTable, format_mean


class GridView(ArrangedTable[GridTable], of=GridTable):
    """A metric over two axes of a study; with ``columns: metric``, a list of metrics over one axis."""

    def make_frame(self, table: pd.DataFrame, numbers: pd.DataFrame, facts: Mapping) -> pd.DataFrame:
        """Return one row for each cell of the table, as `summarise_metrics` does."""
        return summarise_metrics(
            self.paper, self.exhibit, self.exhibit.metric, table, numbers, self.exhibit.axes, self.exhibit.center
        )

    def arrange(self, frame: pd.DataFrame, between: str = " \\ ") -> TextTable:
        """Arrange a frame as rows and columns of text, with something between the names of these in the corner."""
        study, is_of_metrics = self.paper.study(self.exhibit.study, self.exhibit.id), self.exhibit.columns == "metric"
        columns = list(self.exhibit.metric) if is_of_metrics else study.axis(self.exhibit.columns, self.exhibit.where)
        cells, n = describe_points(frame), len(columns)
        return TextTable(
            between.join(label_names(self.paper, [self.exhibit.rows] if is_of_metrics else self.exhibit.axes)),
            label_values(self.paper, self.exhibit.columns, columns),
            label_values(self.paper, self.exhibit.rows, study.axis(self.exhibit.rows, self.exhibit.where)),
            [cells[start : start + n] for start in range(0, len(cells), n)],
        )

    def explain(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Return what its numbers are, and whether the paper prints one of them."""
        return {"center": describe_center(frame), "has_printed": frame["printed"].notna().any()}

    def caption(self, frame: pd.DataFrame) -> tuple[str, str]:
        """Return its title with what its numbers are, and what is missing."""
        return f"{self.exhibit.title} ({describe_center(frame)})", self.note_missing(frame)

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
