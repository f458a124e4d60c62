"""Data sets that stand in for others: a paper's ``instead``.

Where a data set is not available, a paper may name another that runs in its place: ``instead: {ihepc: ihepc_2007h1}``.
It runs under its own name, and titles and texts that name the first are changed to name the second, so that nothing
computed on a substitute passes for the original.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from datasets import catalogue
from experiments.config.data import explain_missing
from experiments.errors import BadInput

_TEXTS = ("title", "text")
_KEPT = ("labels", "instead", "reported")


def find_substitutes(instead: Mapping[str, str]) -> dict[str, str]:
    """Return which data sets of a paper are not available and which stand in for them, of those that may.

    BadInput if a data set is not known, or its substitute has another task or other columns.
    """
    for name, other in instead.items():
        _check_pair(name, other)
    missing = explain_missing(set(instead))
    wanted = {name: other for name, other in instead.items() if name in missing}
    missing_too = explain_missing(set(wanted.values()))
    return {name: other for name, other in wanted.items() if other not in missing_too}


def replace_datasets(contents: Mapping[str, Any], substitutes: Mapping[str, str]) -> dict[str, Any]:
    """Return what a paper's file says with some data sets replaced by others, wherever they are named.

    The substitutes, as from `find_substitutes`, are kept as ``used_instead``.

    Examples
    --------
    >>> paper = {"labels": {"a": "A", "b": "B, a part of A"}, "tables": [{"title": "On A", "datasets": ["a", "c"]}]}
    >>> replace_datasets(paper, {"a": "b"})["tables"]
    [{'title': 'On B, a part of A', 'datasets': ['b', 'c']}]
    """
    if not substitutes:
        return dict(contents)
    labels = contents.get("labels") or {}
    words = dict(_label_pairs(labels, substitutes))
    replaced = dict(contents)
    for key in replaced.keys() - set(_KEPT):
        replaced[key] = _replace(contents[key], key, substitutes, words)
    return replaced | {"used_instead": dict(substitutes)}


def describe_substitutes(labels: Mapping[str, str], substitutes: Mapping[str, str]) -> list[str]:
    """Return what must be said of the substitutes in use, by the readable names of the data sets.

    Examples
    --------
    >>> describe_substitutes({"a": "A"}, {"a": "b"})
    ['A is not available: b stands in for it, under its own name.']
    """
    sentences = []
    for name, other in _label_pairs(labels, substitutes):
        sentences.append(f"{name} is not available: {other} stands in for it, under its own name.")
    return sentences


def _label_pairs(labels: Mapping[str, str], substitutes: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the readable name of each data set with that of its substitute."""
    return [(labels.get(name, name), labels.get(other, other)) for name, other in substitutes.items()]


def _replace(value: Any, key: str, substitutes: Mapping[str, str], words: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        replaced = {}
        for name, entry in value.items():
            replaced[substitutes.get(name, name)] = _replace(entry, name, substitutes, words)
        return replaced
    if isinstance(value, list):
        return [_replace(entry, key, substitutes, words) for entry in value]
    if not isinstance(value, str):
        return value
    return _replace_words(value, words) if key in _TEXTS else substitutes.get(value, value)


def _replace_words(text: str, words: Mapping[str, str]) -> str:
    for word, other in words.items():
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", other.replace("\\", r"\\"), text)
    return text


def _check_pair(name: str, other: str) -> None:
    try:
        missing, substitute = catalogue.read_entry(name), catalogue.read_entry(other)
    except catalogue.UnknownDataset as error:
        raise BadInput(f"instead: {error}") from error
    if (missing.task, missing.domain) != (substitute.task, substitute.domain):
        raise BadInput(f"instead: {other} cannot stand in for {name}: task or columns differ")
