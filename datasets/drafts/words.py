"""Names, lists and numbers as a draft has them: YAML reads back what stands in the table."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import yaml

from algorithms.encoding.features import Continuous, Feature

_WIDTH = 110


def quote(text: str) -> str:
    """Return a text in double quotes, which YAML reads as it is.

    Examples
    --------
    >>> quote("no"), yaml.safe_load(quote("a\\x85\\ufeffb")) == "a\\x85\\ufeffb"
    ('"no"', True)
    """
    if text.isprintable():
        return json.dumps(text, ensure_ascii=False)
    return yaml.safe_dump(text, default_style='"', width=10**6).strip()


def format_key(name: str) -> str:
    """Return a name as a key of YAML, in quotes where YAML would read something else.

    Examples
    --------
    >>> format_key("age"), format_key("no"), format_key("1e5"), format_key("2020-01-01")
    ('age', '"no"', '"1e5"', '"2020-01-01"')
    """
    is_plain = re.fullmatch(r"[A-Za-z_][\w-]*", name) and yaml.safe_load(name) == name
    return name if is_plain else quote(name)


def format_feature(feature: Feature) -> str:
    """Return the bounds or categories of a column, in YAML.

    Examples
    --------
    >>> format_feature(Continuous("age", 17, 90.5))
    '{lower: 17, upper: 90.5}'
    """
    if isinstance(feature, Continuous):
        return f"{{lower: {_format_number(feature.lower)}, upper: {_format_number(feature.upper)}}}"
    return format_list(feature.categories, 6)


def format_list(items: Sequence[str], indent: int = 4) -> str:
    """Return a list in YAML, on lines of a screen's width.

    Examples
    --------
    >>> format_list(["yes", "no"])
    '["yes", "no"]'
    """
    text, width = "[", 0
    for item in map(quote, items):
        if width + len(item) > _WIDTH - 30:
            text, width = f"{text.rstrip()}\n{' ' * (indent - 4)}", 0
        text, width = f"{text}{item}, ", width + len(item) + 2
    return text.removesuffix(", ") + "]"


def say_counts(counts: Mapping[str, int], most: int = 4) -> str:
    """Return how often each word occurs.

    Examples
    --------
    >>> say_counts({"NA": 3, "-": 1})
    '3 "NA", 1 "-"'
    """
    shown = [f"{n} {quote(word)}" for word, n in list(counts.items())[:most]]
    return ", ".join([*shown, *(["..."] if len(counts) > most else [])])


def _format_number(value: float) -> str:
    text = f"{int(value)}" if value == int(value) and abs(value) < 1e15 else repr(float(value))
    return text if "e" not in text or "." in text else text.replace("e", ".0e")  # YAML takes 1e5 for a word
