"""Read papers by their names: the files ``paper/*.yaml`` of the catalogue."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from documents import search_path
from documents.composed_yaml import UNREADABLE, read_as_composed
from documents.yaml_files import Location, find_line, find_lines, shorten_path
from experiments.config import paths
from experiments.config.paper import Paper, parse_paper
from experiments.config.paths import ROOT, is_built_in, name_paper_file
from experiments.config.substitutes import find_substitutes, replace_datasets
from experiments.errors import BadInput, suggest_name


def read_paper(name: str) -> Paper:
    """Read a paper as it is written: no data set stands in for another here.

    BadInput if there is no such paper, or its file cannot be read or says what it may not say.

    Examples
    --------
    >>> read_paper("2").studies["comparison"].axis("epsilon")
    [0.1, 0.25, 0.5, 0.75, 1.0]
    """
    file = search_path.find_file(paths.PAPERS, name)
    if file is None:
        hint = search_path.mention_folders(suggest_name(name, search_path.list_files(paths.PAPERS)))
        raise BadInput(f"unknown paper {name!r}; {hint}")
    try:
        contents = read_as_composed(file)
    except UNREADABLE as error:
        raise BadInput(f"{name_paper_file(name)} cannot be read: {' '.join(str(error).split())}") from error
    return parse_paper(_locate_printed(contents, file), file)


def read_paper_file(file: Path) -> Paper:
    """Read a paper from a file wherever it lies; its printed numbers are beside it, or in this project.

    BadInput if it cannot be read or says what it may not say.
    """
    try:
        contents = read_as_composed(file)
    except UNREADABLE as error:
        why = error.strerror if isinstance(error, OSError) else " ".join(str(error).split())
        raise BadInput(f"{file} cannot be read: {why}") from error
    printed = contents.get("reported") if isinstance(contents, Mapping) else None
    if isinstance(printed, str) and ((file.parent / printed).is_file() or not (ROOT / printed).is_file()):
        contents = _locate_printed(contents, file)
    return parse_paper(contents, file)


def load_paper(name: str, repeats: int | None = None, most_repeats: int | None = None) -> Paper:
    """Read a paper as it is to be run; BadInput as of `read_paper` and `prepare_paper`."""
    return prepare_paper(read_paper(name), repeats, most_repeats)


def prepare_paper(paper: Paper, repeats: int | None = None, most_repeats: int | None = None) -> Paper:
    """Return a paper as it is to be run, from what its file says.

    Every setting has ``repeats`` runs; if None, as many as the paper asks for, and more where verdicts need them. No
    verdict takes more than ``most_repeats``, whatever the paper says of it or of a claim; they are as many as
    ``repeats`` if only these are given. Substitutes stand in for data sets that are not available. BadInput if no
    substitute could stand in, DocumentError if a number of repeats is none.

    Examples
    --------
    >>> prepare_paper(read_paper("2"), repeats=20).most_repeats
    20
    """
    asked = paper.repeats
    paper = paper.replaced(repeats_asked=asked, repeats=asked if repeats is None else repeats)
    paper = use_substitutes(paper, find_substitutes(paper.instead))
    if repeats is None and most_repeats is None:
        return paper.replaced(most_repeats=paper.most_repeats)
    claims = [claim.without("most_repeats") for claim in paper.claims]
    return paper.replaced(claims=claims, most_repeats=paper.repeats if most_repeats is None else most_repeats)


def use_substitutes(paper: Paper, substitutes: Mapping[str, str]) -> Paper:
    """Return a paper with some data sets replaced by others, see `replace_datasets`."""
    return parse_paper(replace_datasets(paper.to_mapping(), substitutes)) if substitutes else paper


_NAMED = re.compile(r"(?:(claim|study|printed number) '([^']+)'|([\w.-]+))(?::| )")
"""What an error begins with: a claim, a study or a printed number, or the id of a table or figure, or a key."""


def locate_errors(error: Exception, name: str) -> str:
    """Return the errors of a paper's checks, each with the file and line of what it names first.

    Examples
    --------
    >>> print(locate_errors(BadInput("claim 'no-claim': it says nothing"), "2"))
    conf/paper/2.yaml: claim 'no-claim': it says nothing
    """
    file = search_path.find_file(paths.PAPERS, name)
    head, *errors = str(error).split("\n  ")
    if file is None:
        return f"{name_paper_file(name)}: {error}"
    lines, contents = find_lines(file), read_as_composed(file)
    located = [f"{_name_line(text, file, contents, lines)}: {text}" for text in errors or [head]]
    return "\n  ".join([head, *located] if errors else located)


def _name_line(error: str, file: Path, contents: Mapping, lines: Mapping[Location, int]) -> str:
    """Return the file and line of what an error names; the file alone if that cannot be found."""
    kind, entry, other = found.groups() if (found := _NAMED.match(error)) else ("", "", "")
    if kind == "printed number":
        return _name_row(entry, file, contents)
    if kind == "study":
        location: Location = ("studies", entry)
    else:
        sections = ("claims",) if kind else ("tables", "figures")
        ids = {
            one.get("id"): (section, place)
            for section in sections
            for place, one in enumerate(contents.get(section) or ())
        }
        location = ids.get(entry or other, (other,) if other in contents else ())
    line = find_line(location, lines)
    return f"{shorten_path(file)}:{line}" if line else shorten_path(file)


def _name_row(number: str, file: Path, contents: Mapping) -> str:
    """Return the file of printed numbers, and the line of one."""
    path = ROOT / str(_locate_printed(contents, file)["reported"])
    rows = path.read_text(encoding="utf-8").splitlines()
    places = [place for place, row in enumerate(rows, 1) if row.startswith(f"{number},")]
    return f"{shorten_path(path)}:{places[0]}" if places else shorten_path(path)


def _locate_printed(contents: Any, file: Path) -> Any:
    """Return what a paper's file says, with the place of its printed numbers as `Paper.reported` says it."""
    if is_built_in(file) or not isinstance(contents, Mapping) or not isinstance(contents.get("reported"), str):
        return contents
    return {**contents, "reported": str(file.parent / contents["reported"])}
