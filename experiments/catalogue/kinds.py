"""What can be chosen, and the kinds of algorithms: by YAML files alone, so that a help needs nothing large.

The rule: an algorithm is of the kind that its file, or the variant in it, names: ``_kind_: sound``. One that names
none, as most of those in folders that a user adds, is of the kind ``own``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from algorithms.installation import PROGRAM
from documents import search_path
from documents.composed_yaml import UNREADABLE, read_as_composed
from documents.variants import name_place
from experiments.catalogue.screen import hang_text
from experiments.config.paths import CONF
from experiments.errors import BadInput

KINDS = {
    "sound": "methods that keep the ε they claim: ours, and repaired ones",
    "paper": "methods as papers print them, and what these compare with",
    "reading": "another meaning that the text of a paper admits",
    "peer": "other people's packages, in environments of their own",
    "baseline": "without privacy: floors, ceilings, what others stand beside",
    "own": "yours: files of folders that you added, which name no kind",
}
"""Each kind with what its algorithms have in common, in the order in which they are listed."""

_INDENT = "  "
_LABEL = 16
_TASK = re.compile(r"^task:[ \t]*(classification|regression)\b", flags=re.MULTILINE)


def format_choices(options: Mapping[str, Sequence[str]]) -> str:
    """Return the options of each config group in lines of 80 columns; algorithms and data sets are looked up."""
    lines: list[str] = []
    for group, names in options.items():
        if group == "algorithm":
            title = f"algorithm, by kind: `{PROGRAM} list algorithms` has a line for each"
            lines += _list_by(title, group_algorithms())
            lines += [f"{_INDENT}`{PROGRAM} describe algorithm=NAME` says what one is"]
        elif group == "dataset":
            lines += _list_by(f"dataset, by task: `{PROGRAM} describe dataset=NAME` says what one is", group_datasets())
        else:
            lines += hang_text(f"{group:<{_LABEL}}{_INDENT}", ", ".join(names))
    return "\n".join(lines)


def _list_by(title: str, groups: Mapping[str, Sequence[str]]) -> list[str]:
    lines = [title]
    for name, members in groups.items():
        lines += hang_text(f"{_INDENT}{name:<{_LABEL}}", ", ".join(members))
    return lines


def group_algorithms() -> dict[str, list[str]]:
    """Return the names of all algorithms by kind; a kind without any is left out."""
    names: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for place in sorted(search_path.list_files(search_path.ALGORITHMS).values(), key=name_place):
        names[read_kind(place)].append(name_place(place))
    return {kind: members for kind, members in names.items() if members}


def group_datasets() -> dict[str, list[str]]:
    """Return the names of all data sets by task, ``unknown`` where the file does not name it."""
    names: dict[str, list[str]] = {}
    for name, file in search_path.list_files(CONF / "dataset").items():
        names.setdefault(_find_task(file), []).append(name)
    return dict(sorted(names.items()))


def read_kind(place: Path) -> str:
    """Return the kind of an algorithm; ``own`` if its file names none that there is, or cannot be read.

    Examples
    --------
    >>> read_kind(search_path.ALGORITHMS / "majority.yaml"), read_kind(search_path.ALGORITHMS / "edprf.yaml:sound")
    ('baseline', 'sound')
    """
    try:
        contents = read_as_composed(place)
    except UNREADABLE:
        return "own"
    kind = contents.get("_kind_") if isinstance(contents, Mapping) else None
    return kind if kind in KINDS else "own"


def check_kind(kind: str, where: str) -> str:
    """Return a kind that somebody wrote somewhere, or raise a BadInput if there is no such kind.

    Examples
    --------
    >>> check_kind("sund", "x")
    Traceback (most recent call last):
    experiments.errors.BadInput: x: there is no kind 'sund'; choose from sound, paper, reading, peer, baseline, own
    """
    if kind not in KINDS:
        raise BadInput(f"{where}: there is no kind {kind!r}; choose from {', '.join(KINDS)}")
    return kind


def _find_task(file: Path) -> str:
    """Return the task of a data set; of a file that cannot be read none is known, as whoever runs it is told."""
    try:
        found = _TASK.search(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return "unknown"
    return found[1] if found else "unknown"
