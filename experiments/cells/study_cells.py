"""From the studies of a paper to cells."""

from __future__ import annotations

from itertools import chain

from experiments.cells.cell import Cell
from experiments.cells.grid import expand_grid
from experiments.config.paper import Paper
from experiments.errors import BadInput


def cells_of_studies(paper: Paper, repeats: int | None = None) -> dict[str, list[Cell]]:
    """Return the cells of every study: every combination of its values, times the repeats, the paper's if left out.

    Where the algorithms of a study need parameters of their own, the paper's ``algorithms`` has them; they replace the
    defaults of ``conf/algorithm`` throughout the paper. A study's ``depends`` replaces both. BadInput names a study
    that cannot be run as it is written.
    """
    return {name: cells_of_study(paper, name, repeats) for name in paper.studies}


def cells_of_study(paper: Paper, name: str, repeats: int | None = None) -> list[Cell]:
    """Return the cells of one study, as `cells_of_studies` does."""
    study, n_repeats = paper.studies[name], paper.repeats if repeats is None else repeats
    try:
        settings = expand_grid(
            study.axes(), n_repeats, paper.algorithms, study.protocol_options, study.depends, study.metrics
        )
    except (ValueError, TypeError) as error:
        raise BadInput(f"study {name!r}: {error}") from error
    return list(chain.from_iterable(settings))
