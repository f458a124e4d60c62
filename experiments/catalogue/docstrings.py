"""What the docstring of an estimator says, in the form of numpydoc: summary, parameters, privacy.

Words are turned into those of a command line: ``null`` for None, no quotes around choices, no marks of markup.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_SECTION = re.compile(r"^(\S[^\n]*)\n-{3,}[ \t]*$", flags=re.MULTILINE)
_ENTRY = re.compile(r"^(?=\S)", flags=re.MULTILINE)
_DEFAULT = re.compile(r",?\s*(?:optional|\(?default\b.*)$", flags=re.DOTALL)
_ROLE = re.compile(r":[a-z:]+:`~?([^`<]+?)\s*(?:<[^`]*>)?`")
_LINK = re.compile(r"`([^`<]+?)\s*<[^`>]+>`_+")
_WORDS = {"None": "null", "True": "true", "False": "false"}


@dataclass(frozen=True)
class ParameterText:
    """What a docstring says of a parameter: its type or range, and what it decides."""

    values: str = ""
    meaning: str = ""


@dataclass(frozen=True)
class ClassText:
    """What a class says of itself: its first paragraph, parameters (of base classes, too), what it notes on privacy."""

    summary: str = ""
    parameters: dict[str, ParameterText] = field(default_factory=dict)
    privacy: str = ""


def read_class_text(estimator: type) -> ClassText:
    """Return what the docstring of a class says; of base classes, only what they say of parameters.

    Examples
    --------
    >>> from algorithms import RDTClassifier
    >>> text = read_class_text(RDTClassifier)
    >>> text.summary
    'RDT, random decision trees whose leaf counts are noisy.'
    >>> text.parameters["n_estimators"]
    ParameterText(values='int', meaning='Number of trees t, at least 1.')
    """
    parameters: dict[str, ParameterText] = {}
    for base in reversed(estimator.__mro__):
        parameters |= dict(_read_parameters(_split_sections(base).get("Parameters", "")))
    sections = _split_sections(estimator)
    paragraphs = map(str.strip, re.split(r"\n\s*\n", sections.get("Notes", "")))
    privacy = next(filter(re.compile("Privacy[:,]").match, paragraphs), "")
    summary = sections.get("", "").partition("\n\n")[0]
    return ClassText(clean_markup(summary), parameters, clean_markup(privacy.partition(":")[2]))


def clean_markup(text: str) -> str:
    r"""Return a text of a docstring as one line, without its marks.

    Examples
    --------
    >>> clean_markup("A **big** ``forest``, as `fit`\n says; see :class:`~sklearn.tree.X`, or None.")
    'A big forest, as fit says; see sklearn.tree.X, or null.'
    """
    text = _LINK.sub(r"\1", _ROLE.sub(r"\1", text))
    text = re.sub(r"\*\*(?=\S)([^*]+)\*\*|`+([^`]+)`+", lambda found: found[1] or found[2], text)
    return _say_as_typed(" ".join(text.split()))


def _say_as_typed(text: str) -> str:
    """Return a text with the values of Python as they are typed on a command line."""
    return re.sub(r"\b(None|True|False)\b(?!\s+of\b)", lambda found: _WORDS[found[1]], text)


def _split_sections(described: type) -> dict[str, str]:
    """Return the sections of a class's own docstring by heading; what stands before the first has none."""
    own = vars(described).get("__doc__") or ""
    first, *rest = _SECTION.split(inspect.cleandoc(own))
    return {"": first, **dict(zip(map(str.strip, rest[::2]), rest[1::2], strict=True))}


def _read_parameters(section: str) -> Iterator[tuple[str, ParameterText]]:
    for entry in filter(str.strip, _ENTRY.split(section)):
        head, _, body = entry.partition("\n")
        names, _, values = head.partition(" : ")
        values = _DEFAULT.sub("", values).replace('"', "").replace("'", "")
        meaning = clean_markup(re.split(r"\n\s*\n|\n\s*\.\. ", body, maxsplit=1)[0])
        for name in names.split(","):
            yield name.strip().lstrip("*"), ParameterText(clean_markup(values), meaning)
