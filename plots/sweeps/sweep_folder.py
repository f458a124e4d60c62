"""The folder of a sweep in ``results/sweeps``: its name, and that no sweep takes another one's."""

from __future__ import annotations

import json
import re
from itertools import chain, count
from pathlib import Path
from typing import Any

from experiments.errors import BadInput

FOLDER = "sweeps"
PROVENANCE = "provenance.json"
#: All that a sweep may write.
FILES = (
    *("table.csv", "table.tex", "table.md", "report.html", PROVENANCE),
    *("figure.svg", "figure.png", "figure.pdf", "figure.csv"),
)
_LONGEST_NAME = 100


def read_name(given: Any) -> str | None:
    """Return the name that was given to a sweep, None if it was given none; a BadInput if some folder cannot have it.

    Examples
    --------
    >>> read_name(47), read_name(None)
    ('47', None)
    >>> read_name("../elsewhere")
    Traceback (most recent call last):
    experiments.errors.BadInput: name='../elsewhere': choose letters, digits, '_', '-' and '.', not '.' first
    """
    if given is None:
        return None
    name = str(given) if isinstance(given, int | str) and not isinstance(given, bool) else ""
    if not re.fullmatch(r"[\w+-][\w.+-]*", name) or len(name) > _LONGEST_NAME:
        raise BadInput(f"name={given!r}: choose letters, digits, '_', '-' and '.', not '.' first")
    return name


def refuse_taken_name(parent: Path, name: str, identity: str) -> None:
    """Refuse a name that another sweep has, before anything has run; raises a BadInput."""
    if not _is_free(parent / name, identity):
        raise BadInput(
            f"name={name}: {parent / name} holds another sweep; choose another name, or move that folder away"
        )


def make_folder(parent: Path, name: str, identity: str) -> Path:
    """Make the folder of a sweep and return it: the one that it has, else one with a number behind its name.

    Of an earlier run of the same sweep nothing stays.
    """
    candidates = chain([parent / name], (parent / f"{name}-{number}" for number in count(2)))
    folder = next(candidate for candidate in candidates if _is_free(candidate, identity))
    folder.mkdir(parents=True, exist_ok=True)
    for file in FILES:
        (folder / file).unlink(missing_ok=True)
    return folder


def list_sweeps(results: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Return the folders of the sweeps among some results, the newest first, each with what it says of itself."""
    found = []
    for folder in sorted((results / FOLDER).glob("*")):
        facts = _read_facts(folder)
        if facts and (folder / "report.html").is_file():
            found.append((folder, facts))
    return sorted(found, key=lambda one: str(one[1].get("written", "")), reverse=True)


def _is_free(folder: Path, identity: str) -> bool:
    """Return whether a folder is not there, is empty, or has the same sweep."""
    if not folder.exists():
        return True
    if not folder.is_dir():
        return False
    facts = _read_facts(folder)
    return facts["sweep"]["identity"] == identity if facts else not any(folder.iterdir())


def _read_facts(folder: Path) -> dict[str, Any] | None:
    """Return what the folder of a sweep says of it; None if it says nothing that can be read."""
    try:
        facts = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
        return facts if facts["sweep"]["identity"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
