"""``grid``: a metric over two axes of a study, or several metrics over one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd
from pydantic import model_validator

from documents.document import ListOf
from experiments.config.paper import Center, Paper, PaperTable, ShownPart
from experiments.questions.preflight import check_metrics
from plots.labels import MISSING, format_interval, format_number, label_names, label_values
from plots.latex import write_table
from plots.series import count_decimals_by_metric, name_of_center, note_shortfall, summarise_metrics


class GridCells(NamedTuple):
    """A grid as text.

    Parameters
    ----------
    corner : str
        What the rows and columns are.
    columns, rows : list of str
        Their labels.
    cells : list of list of dict
        ``ours``, ``band`` (its interval), ``printed``, ``verdict`` and ``note``, as text.
    """

    corner: str
    columns: list[str]
    rows: list[str]
    cells: list[list[dict[str, str]]]


class GridTable(ShownPart, PaperTable):
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
        """Check that the study has the axes and metrics, and that no other axis varies.

        Raises
        ------
        PaperError
            If it has not.
        """
        check_axes(paper, self, self.axes)
        nothing = pd.DataFrame(columns=["table", "statistic", "metric"])
        summarise_metrics(paper, self, self.metric, pd.DataFrame(), nothing, self.axes, self.center)
        metrics = [self.metric] if isinstance(self.metric, str) else self.metric
        check_metrics(paper, self.id, self.study, self.where, metrics)

    def make_frame(self, paper: Paper, table: pd.DataFrame, numbers: pd.DataFrame, facts: Mapping) -> pd.DataFrame:
        """Return one row for each cell of the table, as `summarise_metrics` does."""
        return summarise_metrics(paper, self, self.metric, table, numbers, self.axes, self.center)

    def write_latex(self, paper: Paper, frame: pd.DataFrame, path: Path) -> None:
        """Write the table; missing cells are dashes, and a note says how many there are."""
        grid = self.arrange(paper, frame, " / ")
        body = [[name, *map(_format_latex, line)] for name, line in zip(grid.rows, grid.cells, strict=True)]
        write_table(
            path, f"{self.title} ({describe_center(frame)})", [grid.corner, *grid.columns], body, note_shortfall(frame)
        )

    def describe(self, paper: Paper, frame: pd.DataFrame) -> dict[str, Any]:
        """Return the cells of the table as the report's page shows them."""
        grid = self.arrange(paper, frame)
        return {
            "note": note_shortfall(frame),
            "center": describe_center(frame),
            "has_printed": frame["printed"].notna().any(),
            "corner": grid.corner,
            "columns": grid.columns,
            "rows": list(zip(grid.rows, grid.cells, strict=True)),
        }

    def arrange(self, paper: Paper, frame: pd.DataFrame, between: str = " \\ ") -> GridCells:
        """Arrange a frame as rows and columns of text."""
        columns, rows = self._list_values(paper)
        decimals = count_decimals_by_metric(frame)
        center = name_of_center(frame)
        cells = [describe_cell(point, center, decimals[point["metric"]]) for point in frame.to_dict("records")]
        return GridCells(
            self._name_corner(paper, between),
            label_values(paper, self.columns, columns),
            label_values(paper, self.rows, rows),
            [cells[start : start + len(columns)] for start in range(0, len(cells), len(columns))],
        )

    def _list_values(self, paper: Paper) -> tuple[list, list]:
        study = paper.study(self.study, self.id)
        columns = list(self.metric) if self.columns == "metric" else study.axis(self.columns, self.where)
        return columns, study.axis(self.rows, self.where)

    def _name_corner(self, paper: Paper, between: str) -> str:
        names = [self.rows] if self.columns == "metric" else self.axes
        return between.join(label_names(paper, names))


def describe_center(frame: pd.DataFrame) -> str:
    """Return what a number of a grid is, and what stands beside it.

    Examples
    --------
    >>> describe_center(pd.DataFrame({"epsilon": [1.0], "median": [0.5]}))
    'median and its 95 % interval'
    """
    return {"mean": "mean ± half-width of its 95 % interval", "median": "median and its 95 % interval"}[
        name_of_center(frame)
    ]


def check_axes(paper: Paper, part: Any, axes: list[str]) -> None:
    """Check that the study of a table or figure has some axes, and what ``where`` names.

    Raises
    ------
    PaperError
        If it has not.
    """
    study = paper.study(part.study, part.id)
    for name in axes:
        if name != "metric":
            try:
                study.axis(name, part.where)
            except ValueError as error:
                raise type(error)(f"{part.id}: {error}") from error


def describe_cell(point: Mapping[str, Any], center: str, decimals: int) -> dict[str, str]:
    """Return a cell of a grid as text.

    Parameters
    ----------
    point : mapping
        A row of `summarise_metrics`.
    center : {"mean", "median"}
        What stands for the repeats.
    decimals : int
        How many are shown.

    Returns
    -------
    dict of str to str
        See `GridCells`.
    """
    metric = point["metric"]
    printed = "" if pd.isna(point["printed"]) else format_number(metric, point["printed"], int(point["decimals"]))
    return {
        "ours": format_number(metric, point[center], decimals),
        "band": _format_band(metric, point["ci_low"], point["ci_high"], decimals, center),
        "printed": printed,
        "verdict": point["verdict"],
        "note": point["note"],
    }


def _format_band(metric: str, low: float, high: float, decimals: int, center: str) -> str:
    """Return an interval as it stands behind a number: the half-width of a mean's, the ends of a median's."""
    if center == "median":
        ends = format_interval(metric, low, high, decimals)
        return f"({ends})" if ends else ""
    return "" if pd.isna(high - low) else f"± {format_number(metric, (high - low) / 2, decimals)}"


def _format_latex(cell: Mapping[str, str]) -> str:
    text, band = cell["ours"], cell["band"]
    if text == MISSING:
        return text
    text = text.replace(",", "{,}")
    if band.startswith("±"):
        return f"${text} \\pm{band.removeprefix('±')}$"
    return f"${text}$ {band}".rstrip()
