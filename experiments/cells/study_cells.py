"""A paper is data: its studies become cells, its results a folder."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.cells.cell import Cell
from experiments.cells.grid import expand
from experiments.config import selection
from experiments.errors import BadInput, suggestion

_STUDY = ("dataset", "algorithm", "params", "epsilon", "depends", "protocol")


def cells_of_studies(paper: Mapping) -> dict[str, list[Cell]]:
    """Return the cells of every study.

    A study names lists of data sets, algorithms, parameters and budgets; every combination, times the paper's
    ``repeats``, is a cell. Where the algorithms of a study need parameters of their own, the paper has
    ``algorithms: {name: {parameter: value}}``; they replace the defaults of ``conf/algorithm`` throughout the paper.
    Where a parameter follows another axis (trees that belong to a budget, a depth that belongs to a data set), the
    study has ``depends: {parameter: {axis: {value: given}}}``, which replaces both and is not an axis itself.

    Raises
    ------
    BadInput
        If a study cannot be run as it is written.

    Examples
    --------
    >>> study = {"dataset": ["car"], "algorithm": ["majority"], "epsilon": [1.0]}
    >>> len(cells_of_studies({"repeats": 3, "studies": {"floor": study}})["floor"])
    3
    """
    found = {}
    for name, study in (paper.get("studies") or {}).items():
        if not isinstance(name, str) or "+" in name:
            raise BadInput(f"study {name!r}: choose a name of letters; + joins the names of studies in cells.csv")
        for key in study:
            if key not in _STUDY:
                raise BadInput(f"study {name!r}: unknown key {key!r}; {suggestion(key, _STUDY)}")
        for key in ("dataset", "algorithm"):
            if key not in study:
                raise BadInput(f"study {name!r} names no {key}")
        try:
            values = selection.axes(study)
            _check_distinct(values)
            settings = expand(
                values, paper["repeats"], paper.get("algorithms"), study.get("protocol"), study.get("depends")
            )
        except (ValueError, TypeError) as error:
            raise BadInput(f"study {name!r}: {error}") from error
        found[name] = [cell for cells in settings for cell in cells]
    if not found:
        raise BadInput("the paper has no studies")
    return found


def _check_distinct(values: Mapping[str, list]) -> None:
    for axis, named in values.items():
        if len({selection.setting_key([value]) for value in named}) < len(named):
            raise BadInput(f"{axis} names a value twice: {named}")
