"""Where in the files a reader finds an algorithm, a claim or a printed number: computed, so that no line is typed."""

from __future__ import annotations

import inspect
from functools import cache
from pathlib import Path
from typing import NamedTuple

from documents import search_path
from documents.composed_yaml import read_as_composed
from documents.yaml_files import find_lines, shorten_path
from experiments.config import estimators, paths


class Place(NamedTuple):
    """A line of a file.

    Examples
    --------
    >>> str(Place(paths.ROOT / "conf" / "paper" / "2.yaml", 14))
    'conf/paper/2.yaml:14'
    """

    file: Path
    line: int

    def __str__(self) -> str:
        return f"{shorten_path(self.file)}:{self.line}"


@cache
def find_class(algorithm: str) -> Place:
    """Return where the class of an algorithm begins; BadInput if there is no such algorithm.

    Examples
    --------
    >>> str(find_class("rdt")).partition(":")[0]
    'algorithms/forests/rdt.py'
    """
    cls = estimators.import_class(estimators.find_target(algorithm))
    file = inspect.getsourcefile(cls)
    assert file is not None, cls
    return Place(Path(file), inspect.getsourcelines(cls)[1])


def locate_claims(paper: str) -> dict[str, Place]:
    """Return where the file of a paper has each of its claims, by their ids; nothing of a paper without a file.

    Examples
    --------
    >>> str(locate_claims("2")["grows-with-epsilon"]).partition(":")[0]
    'conf/paper/2.yaml'
    """
    file = search_path.find_file(paths.PAPERS, paper)
    if file is None:
        return {}
    lines = find_lines(file)
    claims = enumerate(read_as_composed(file).get("claims") or ())
    return {claim["id"]: Place(file, lines["claims", place]) for place, claim in claims if ("claims", place) in lines}


def locate_numbers(paper: str) -> dict[str, Place]:
    """Return where the file of the printed numbers of a paper has each of them, by their ids; nothing without a file.

    Examples
    --------
    >>> str(locate_numbers("2")["max-adult"]).partition(":")[0]
    'results/reported/paper-2.csv'
    """
    file = search_path.find_file(paths.PAPERS, paper)
    if file is None or not (reported := read_as_composed(file).get("reported")):
        return {}
    printed = (paths.ROOT if paths.is_built_in(file) else file.parent) / reported
    rows = enumerate(printed.read_text(encoding="utf-8").splitlines(), 1)
    return {row.partition(",")[0]: Place(printed, line) for line, row in rows}
