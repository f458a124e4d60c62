"""A command that runs as it is printed: an algorithm beside a data set that is here and that it takes."""

from __future__ import annotations

from collections.abc import Iterator

import datasets
from documents import search_path
from experiments.cells.cell import Cell
from experiments.cells.grid import check_cell
from experiments.config import estimators
from experiments.config.data import task_and_domain
from experiments.errors import BadInput

_FIRST = ("car", "nursery", "ccpp", "daily_demand", "congvote")
"""Small ones: the first two come with the code, the last has two classes."""
_FOR_TASK = {"classification": "thrifty_tree", "regression": "thrifty_tree_regressor"}


def name_example(algorithm: str) -> str:
    """Return a command line that runs an algorithm.

    Examples
    --------
    >>> name_example("rdt")
    'python -m experiments dataset=car algorithm=rdt epsilon=1'
    >>> name_example("majority")
    'python -m experiments dataset=car algorithm=majority'
    """
    taken = list(_list_taken(algorithm))
    here = list(filter(datasets.is_available, taken))
    return _name_command((here or taken or ["DATASET"])[0], algorithm)


def name_example_on(dataset: str) -> str:
    """Return a command line that runs the algorithm that we recommend on a data set."""
    return _name_command(dataset, _FOR_TASK[task_and_domain(dataset)[0]])


def _list_taken(algorithm: str) -> Iterator[str]:
    """Yield the data sets on which an algorithm can be run, as far as can be told without rows."""
    parameters = estimators.merge_parameters(algorithm)
    for name in _FIRST:
        try:
            check_cell(Cell(name, algorithm, parameters, 1.0, 0))
        except BadInput:
            continue
        yield name


def _name_command(dataset: str, algorithm: str) -> str:
    budget = " epsilon=1" if estimators.takes_epsilon(algorithm) else ""
    return f"{search_path.name_program()} dataset={dataset} algorithm={algorithm}{budget}"
