"""Numbers that are too large: they would be read as infinity, which for an ε means no noise at all."""

from __future__ import annotations

import math
import re

TOO_LARGE = "{} is larger than any number that can be held: write inf if no limit is meant"
_NUMBER = re.compile(r"[+-]?(?=[\d_.]*\d)(?:[\d_]+\.?[\d_]*|\.[\d_]+)(?:e[+-]?\d+)?", re.IGNORECASE)


def find_too_large(text: str) -> str | None:
    """Return the first word of a text that is a number and becomes infinity; None if none does. ``inf`` is a word.

    Examples
    --------
    >>> find_too_large("[1, 1e400]"), find_too_large("0.1,inf,.inf"), find_too_large("run-1e400")
    ('1e400', None, None)
    >>> find_too_large("1_0e400"), find_too_large("2026__11"), find_too_large("_"), find_too_large("1_e3")
    ('1_0e400', None, None, None)
    """
    for word in re.split(r"[\s,:=()\[\]{}'\"]+", text):
        if _NUMBER.fullmatch(word) and math.isinf(float(word.replace("_", ""))):
            return word
    return None
