"""Which papers run a data set, and what stands in for it there: as their files say, without reading all of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml

from documents import search_path
from documents.document import parse_yaml
from experiments.config.papers import PAPERS


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
        datasets = study.get("dataset", ()) if isinstance(study, Mapping) else ()
        named |= {datasets} if isinstance(datasets, str) else set(datasets)
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
