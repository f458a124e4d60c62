"""Data sets that stand in for others: a paper's ``instead``.

Where a data set is not available, a paper may name another that runs in its place: ``instead: {ihepc: ihepc_2007h1}``.
It runs under its own name, and titles and texts that name the first are changed to name the second, so that nothing
computed on a substitute passes for the original.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from datasets import catalogue
from experiments.config.data import reasons_not_available
from experiments.errors import BadInput

_WORDS = ("title", "text")


def needed(paper: Mapping) -> dict[str, str]:
    """Return which data sets of a paper are not available and which stand in for them.

    Raises
    ------
    BadInput
        If the paper's ``instead`` cannot be meant.

    Examples
    --------
    >>> needed({"number": 2})
    {}
    """
    instead = paper.get("instead") or {}
    if not isinstance(instead, Mapping):
        raise BadInput(f"instead: write {{data set: the one that stands in for it}}, got {instead!r}")
    for name, other in instead.items():
        _check_pair(name, other)
    missing = reasons_not_available(set(instead))
    possible = {name: other for name, other in instead.items() if name in missing}
    gone = reasons_not_available(set(possible.values()))
    return {name: other for name, other in possible.items() if other not in gone}


def substituted(paper: Mapping, used: Mapping[str, str]) -> dict:
    """Return a paper with some data sets replaced by others, wherever they are named.

    Parameters
    ----------
    paper : mapping
        Its description.
    used : mapping of str to str
        As from `needed`.

    Examples
    --------
    >>> paper = {"labels": {"a": "A", "b": "B, a part of A"}, "tables": [{"title": "On A", "datasets": ["a", "c"]}]}
    >>> substituted(paper, {"a": "b"})["tables"]
    [{'title': 'On B, a part of A', 'datasets': ['b', 'c']}]
    """
    if not used:
        return dict(paper)
    labels = paper.get("labels") or {}
    words = {labels.get(name, name): labels.get(other, other) for name, other in used.items()}
    kept = ("labels", "instead", "reported")
    changed = {key: value if key in kept else _changed(value, key, used, words) for key, value in paper.items()}
    return changed | {"used_instead": dict(used)}


def sentences(paper: Mapping) -> list[str]:
    """Return what must be said of the substitutes in use.

    Examples
    --------
    >>> sentences({"used_instead": {"a": "b"}})
    ['a is not available: b stands in for it, under its own name.']
    """
    labels = paper.get("labels") or {}
    return [
        f"{labels.get(name, name)} is not available: {labels.get(other, other)} stands in for it, under its own name."
        for name, other in (paper.get("used_instead") or {}).items()
    ]


def _changed(value, key: str, used: Mapping[str, str], words: Mapping[str, str]):
    if isinstance(value, Mapping):
        return {used.get(name, name): _changed(one, name, used, words) for name, one in value.items()}
    if isinstance(value, list):
        return [_changed(one, key, used, words) for one in value]
    if not isinstance(value, str):
        return value
    if key not in _WORDS:
        return used.get(value, value)
    for name, other in words.items():
        value = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", lambda _, other=other: other, value)
    return value


def _check_pair(name, other) -> None:
    try:
        one, two = catalogue.read_entry(name), catalogue.read_entry(other)
    except catalogue.UnknownDataset as error:
        raise BadInput(f"instead: {error}") from error
    if (one.task, one.domain) != (two.task, two.domain):
        raise BadInput(f"instead: {other} cannot stand in for {name}: task or columns differ")
