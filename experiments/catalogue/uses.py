"""What runs an algorithm or a data set: a command as it is printed, beside what is here and fits, and papers.

Which papers run a data set, and what stands in for it there, is what their files say, without reading all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import yaml

import datasets
from documents import search_path
from documents.yaml_files import parse_yaml
from experiments.cells.cell import Cell
from experiments.cells.grid import check_cell
from experiments.config import estimators
from experiments.config.data import task_and_domain
from experiments.config.paths import PAPERS
from experiments.errors import BadInput

_FIRST = ("car", "nursery", "ccpp", "daily_demand", "congvote")
"""Small ones: the first two come with the code, the last has two classes."""
_FOR_TASK = {"classification": "thrifty", "regression": "thrifty_regressor"}


def name_example(algorithm: str) -> str:
    """Return a command line that runs an algorithm.

    Examples
    --------
    >>> name_example("rdt")
    'dp-replica dataset=car algorithm=rdt epsilon=1'
    >>> name_example("majority")
    'dp-replica dataset=car algorithm=majority'
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


def list_users(dataset: str) -> list[str]:
    """Return the papers that have a study on a data set.

    Examples
    --------
    >>> list_users("ccpp")
    ['3', 'benchmark']
    """
    return [name for name, contents in _read_papers().items() if dataset in _list_datasets(contents)]


def list_stand_ins(dataset: str) -> list[str]:
    """Return what stands in for a data set where it is not available, by paper, and for which it stands in.

    Examples
    --------
    >>> list_stand_ins("ihepc")
    ['ihepc_2007h1 stands in for it (3, benchmark)']
    """
    pairs: dict[str, list[str]] = {}
    for name, contents in _read_papers().items():
        for missing, other in (contents.get("instead") or {}).items():
            if missing == dataset:
                pairs.setdefault(f"{other} stands in for it", []).append(name)
            elif other == dataset:
                pairs.setdefault(f"it stands in for {missing}", []).append(name)
    return [f"{said} ({', '.join(papers)})" for said, papers in pairs.items()]


def read_titles() -> dict[str, str]:
    """Return the titles of all papers by name, and of studies that are none; those that cannot be read are left out.

    Examples
    --------
    >>> read_titles()["demo"]
    'A tour: private random forests on Nursery and Car'
    """
    return {name: str(contents["title"]) for name, contents in _read_papers().items() if "title" in contents}


def _list_datasets(contents: Mapping) -> set[str]:
    named: set[str] = set()
    for study in (contents.get("studies") or {}).values():
        names = study.get("dataset", ()) if isinstance(study, Mapping) else ()
        named |= {names} if isinstance(names, str) else set(names)
    return named


def _read_papers() -> dict[str, Mapping]:
    contents = {name: _read_paper(file) for name, file in search_path.list_files(PAPERS).items()}
    return {name: read for name, read in contents.items() if isinstance(read, Mapping)}


@cache
def _read_paper(file: Path) -> object:
    try:
        return parse_yaml(file.read_text(encoding="utf-8"))
    except (yaml.YAMLError, OSError):  # somebody's own: whoever runs it is told
        return None
