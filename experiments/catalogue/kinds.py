"""The kinds of algorithms: decided by the YAML file alone, so that a help needs neither pandas nor scikit-learn.

The rule: an algorithm is of the kind that its file names, ``_kind_: sound``. A file that names none, as most of those
in folders that a user adds, is of the kind ``own``.
"""

from __future__ import annotations

import re
from itertools import takewhile
from pathlib import Path

from documents import search_path
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

_KIND = re.compile(r"^_kind_:[ \t]*([^\s#]+)", flags=re.MULTILINE)
_TASK = re.compile(r"^task:[ \t]*(classification|regression)\b", flags=re.MULTILINE)


def group_algorithms() -> dict[str, list[str]]:
    """Return the names of all algorithms by kind; a kind without any is left out.

    Examples
    --------
    >>> group_algorithms()["sound"][:2]
    ['bdpt_sound', 'diff_lr_sound']
    """
    names: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for name, file in search_path.list_files(CONF / "algorithm").items():
        kind = read_kind(file)
        names[kind if kind in KINDS else "own"].append(name)
    return {kind: members for kind, members in names.items() if members}


def group_datasets() -> dict[str, list[str]]:
    """Return the names of all data sets by task, ``unknown`` where the file does not name it.

    Examples
    --------
    >>> group_datasets()["regression"][:2]
    ['abalone', 'airfoil']
    """
    names: dict[str, list[str]] = {}
    for name, file in search_path.list_files(CONF / "dataset").items():
        names.setdefault(_find_word(_TASK, file) or "unknown", []).append(name)
    return dict(sorted(names.items()))


def read_kind(file: Path) -> str:
    """Return the kind that an algorithm's file names, unchecked; ``own`` if it names none or cannot be read.

    Examples
    --------
    >>> read_kind(CONF / "algorithm" / "majority.yaml")
    'baseline'
    """
    return _find_word(_KIND, file).strip("\"'") or "own"


def check_kind(kind: str, where: str) -> str:
    """Return a kind.

    Parameters
    ----------
    kind : str
        What somebody wrote.
    where : str
        Where, as an error names it.

    Raises
    ------
    BadInput
        If there is no such kind.

    Examples
    --------
    >>> check_kind("sund", "x")
    Traceback (most recent call last):
    experiments.errors.BadInput: x: there is no kind 'sund'; choose from sound, paper, reading, peer, baseline, own
    """
    if kind not in KINDS:
        raise BadInput(f"{where}: there is no kind {kind!r}; choose from {', '.join(KINDS)}")
    return kind


def read_heading(file: Path) -> str:
    """Return the comment that an algorithm's or a data set's file begins with, as one line; nothing if it has none.

    Examples
    --------
    >>> read_heading(CONF / "algorithm" / "majority.yaml")
    'The floor: always the most frequent class.'
    """
    lines = file.read_text(encoding="utf-8").splitlines()
    comment = [line.lstrip("# ") for line in takewhile(lambda line: line.startswith("#"), lines)]
    return " ".join(line for line in comment if not line.startswith("yaml-language-server"))


def _find_word(pattern: re.Pattern, file: Path) -> str:
    """Return what a pattern finds in a file; nothing of one that cannot be read, as whoever runs it is told."""
    try:
        found = pattern.search(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return ""
    return found[1] if found else ""
