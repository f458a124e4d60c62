"""Where in the files a reader finds an algorithm, a claim or a printed number: computed, so that no line is typed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from algorithms.installation import name_in_checkout
from documents import search_path
from documents.composed_yaml import UNREADABLE, read_as_composed
from documents.yaml_files import find_lines, shorten_path
from experiments.config import estimators, paths
from experiments.statements.finding import find_function

_OURS = ("algorithms.", "experiments.")


class Place(NamedTuple):
    """A line of a file, shown without what is of one machine alone.

    Examples
    --------
    >>> str(Place(paths.ROOT / "conf" / "paper" / "2.yaml", 14))
    'conf/paper/2.yaml:14'
    """

    file: Path
    line: int

    def __str__(self) -> str:
        is_here = self.file.is_relative_to(paths.ROOT)
        return f"{shorten_path(self.file) if is_here else '/'.join(self.file.parts[-2:])}:{self.line}"


@cache
def find_class(algorithm: str) -> Place | None:
    """Return where the class of an algorithm begins; None of one that is of no file here, but of a library.

    BadInput if there is no such algorithm.

    Examples
    --------
    >>> str(find_class("rdt")).partition(":")[0], find_class("majority")
    ('algorithms/forests/rdt.py', None)
    """
    cls = estimators.import_class(estimators.find_target(algorithm))
    return _find_code(cls) if name_in_checkout(cls.__module__).startswith(_OURS) else None


def find_statement(name: str, given: Mapping[str, Any]) -> Place:
    """Return where the function that computes a statement of a paper begins; BadInput if there is none.

    Examples
    --------
    >>> str(find_statement("pfdpdt_budget.split_epsilon", {"level": 1, "max_depth": 1})).partition(":")[0]
    'experiments/statements/pfdpdt_budget.py'
    """
    return _find_code(inspect.unwrap(find_function(name, given)))


def locate_claims(paper: str) -> dict[str, Place]:
    """Return where the file of a paper has each of its claims, by their ids; nothing of a paper without a file.

    Examples
    --------
    >>> str(locate_claims("2")["grows-with-epsilon"]).partition(":")[0]
    'conf/paper/2.yaml'
    """
    file, contents = _read_file(paper)
    lines, places = find_lines(file) if contents else {}, {}
    for at, claim in enumerate(contents.get("claims") or ()):
        if isinstance(claim, Mapping) and "id" in claim and ("claims", at) in lines:
            places[claim["id"]] = Place(file, lines["claims", at])
    return places


def locate_numbers(paper: str) -> dict[str, Place]:
    """Return where the file of the printed numbers of a paper has each of them, by their ids; nothing without a file.

    Examples
    --------
    >>> str(locate_numbers("2")["max-adult"]).partition(":")[0]
    'results/reported/paper-2.csv'
    """
    file, contents = _read_file(paper)
    printed = (paths.ROOT if paths.is_built_in(file) else file.parent) / str(contents.get("reported", ""))
    if not printed.is_file():
        return {}
    rows = enumerate(printed.read_text(encoding="utf-8").splitlines(), 1)
    return {row.partition(",")[0]: Place(printed, line) for line, row in rows}


def _read_file(paper: str) -> tuple[Path, Mapping[str, Any]]:
    """Return the file of a paper and what it says today: nothing where there is none, or somebody is writing it."""
    file = search_path.find_file(paths.PAPERS, paper)
    if file is not None:
        with suppress(*UNREADABLE):
            contents = read_as_composed(file)
            return file, contents if isinstance(contents, Mapping) else {}
    return paths.PAPERS, {}


@cache
def _find_code(found: type | Callable[..., Any]) -> Place:
    file = inspect.getsourcefile(found)
    assert file is not None, found
    return Place(Path(file), inspect.getsourcelines(found)[1])
