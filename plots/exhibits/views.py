"""Who shows a table or figure of a paper: a view, found by the class of what it shows.

The view of kind ``NAME`` is in ``plots/tables/NAME.py`` or ``plots/figures/NAME.py``; one of a kind of somebody's own
stands beside that kind. A view has its numbers from runs, once, and shows them from the file that they are kept in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

import pandas as pd

import plots
from experiments.config.kinds import is_built_in, name_kind
from experiments.config.kinds.exhibits import Exhibit, PaperFigure, PaperTable
from experiments.config.paper import Paper
from experiments.errors import BadInput
from plots import style

AnyExhibit = TypeVar("AnyExhibit", bound=Exhibit)

_VIEWS: dict[type[Exhibit], type[ExhibitView]] = {}


class ExhibitView(ABC, Generic[AnyExhibit]):
    """A table or figure of a paper, ready to be shown.

    Parameters
    ----------
    paper : Paper
        The paper, whose labels and studies it needs.
    exhibit : Exhibit
        The table or figure.
    """

    def __init__(self, paper: Paper, exhibit: AnyExhibit) -> None:
        self.paper, self.exhibit = paper, exhibit

    def __init_subclass__(cls, of: type[Exhibit] | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if of is not None:
            _VIEWS[of] = cls

    @abstractmethod
    def describe(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Return what the report's page shows of it: the cells of a table, what stands beside a drawing."""


class TableView(ExhibitView[AnyExhibit]):
    """A table of a paper."""

    @abstractmethod
    def make_frame(self, table: pd.DataFrame, numbers: pd.DataFrame, facts: Mapping) -> pd.DataFrame:
        """Return the table in tidy form, from the long table, the verdicts on printed numbers and counted facts."""

    @abstractmethod
    def write_latex(self, frame: pd.DataFrame, path: Path) -> None:
        """Write the table for a paper."""


class FigureView(ExhibitView[AnyExhibit]):
    """A figure of a paper."""

    @abstractmethod
    def make_frame(self, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        """Return the numbers that it is drawn from, from the long table and the verdicts on printed numbers."""

    @abstractmethod
    def draw(self, frame: pd.DataFrame) -> style.Figure:
        """Return the drawn matplotlib figure."""

    def describe(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Return what the report's page shows beside the drawing; nothing of most kinds."""
        return {}

    def sum_up(self, frame: pd.DataFrame) -> str:
        """Return what the figure shows, in a sentence with its numbers; nothing of a kind that has none."""
        return ""

    def advise(self, frame: pd.DataFrame) -> str:
        """Return the advice that the figure gives to its reader; nothing of most kinds."""
        return ""


@overload
def view(paper: Paper, exhibit: PaperTable) -> TableView: ...
@overload
def view(paper: Paper, exhibit: PaperFigure) -> FigureView: ...
def view(paper, exhibit):
    """Return the view of a table or figure; BadInput if the file of a kind of somebody's own has none."""
    folder = "tables" if isinstance(exhibit, PaperTable) else "figures"
    for kind in type(exhibit).__mro__:
        if is_built_in(kind) and (name := name_kind(kind)):
            import_module(f"{plots.__name__}.{folder}.{name}")
        if kind in _VIEWS:
            return _VIEWS[kind](paper, exhibit)
    raise BadInput(
        f"the kind {exhibit.kind!r} has no view: beside {type(exhibit).__name__} write a class that shows it"
    )
