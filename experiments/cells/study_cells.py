"""From the studies of a paper to cells."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, product
from typing import Any, NamedTuple

from experiments.cells.cell import Cell
from experiments.cells.grid import expand_grid
from experiments.config.paper import Paper
from experiments.config.setting import keep_entries, make_setting_key
from experiments.errors import BadInput


def cells_of_studies(paper: Paper, repeats: int | None = None) -> dict[str, list[Cell]]:
    """Return the cells of every study: every combination of its values, times the repeats, the paper's if left out.

    Where the algorithms of a study need parameters of their own, the paper's ``algorithms`` has them; they replace the
    defaults of ``conf/algorithm`` throughout the paper. A study's ``depends`` replaces both. BadInput names a study
    that cannot be run as it is written.

    Examples
    --------
    >>> study = {"dataset": "car", "algorithm": "majority", "epsilon": 1.0}
    >>> paper = Paper(number=0, title="T", repeats=3, studies={"floor": study})
    >>> len(cells_of_studies(paper)["floor"])
    3
    """
    cells = {}
    for name, study in paper.studies.items():
        n_repeats = paper.repeats if repeats is None else repeats
        try:
            settings = expand_grid(
                study.axes(), n_repeats, paper.algorithms, study.protocol_options, study.depends, study.metrics
            )
        except (ValueError, TypeError) as error:
            raise BadInput(f"study {name!r}: {error}") from error
        cells[name] = list(chain.from_iterable(settings))
    return cells


class SettingsOfAxes(NamedTuple):
    """Every combination of the values of some axes."""

    names: list[str]
    keys: set[tuple]

    @classmethod
    def of(cls, where: Mapping[str, Any]) -> SettingsOfAxes:
        """Return the combinations of the values, or single values, of some axes."""
        values = [value if isinstance(value, list | tuple) else [value] for value in where.values()]
        return cls(list(where), set(map(make_setting_key, product(*values))))

    def hold(self, cell: Cell) -> bool:
        """Return whether a cell has one of these combinations."""
        own: dict[str, Any] = {"dataset": cell.dataset, "algorithm": cell.algorithm, "epsilon": cell.epsilon}
        for name, value in cell.params.items():
            own[f"params.{name}"] = value
        return make_setting_key(keep_entries(own, self.names).values()) in self.keys
