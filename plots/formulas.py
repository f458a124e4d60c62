"""Formulas in names that people give, ``$\\varepsilon$``: a dollar sign is mathematics only where it can be meant so.

A text has formulas if its dollar signs come in pairs that are ones, all of them; else each is a sign of money, in
figures and in LaTeX alike. What is between a pair is a formula if it has no blank at either end, whole brackets, no
letter or digit right outside, and if matplotlib reads it.
"""

from __future__ import annotations

import re
from functools import cache

_FORMULA = re.compile(r"(?<![\w\\$])\$(?=\S)([^$%#&]+)(?<=\S)\$(?![\w$])")
_CLOSED_BY = {")": "(", "]": "[", "}": "{"}


@cache
def split_formulas(text: str) -> list[str]:
    """Return a text in parts of which every second, if any, is a formula with its dollar signs.

    Examples
    --------
    >>> split_formulas(r"at $\\varepsilon$ = 1")
    ['at ', '$\\\\varepsilon$', ' = 1']
    >>> [split_formulas(text) for text in ("from $5 to $6", "A$$AP", "($K) or ($M)", r"$\\badcmd{$")]
    [['from $5 to $6'], ['A$$AP'], ['($K) or ($M)'], ['$\\\\badcmd{$']]
    """
    parts, end = [], 0
    for found in _FORMULA.finditer(text):
        if not (_has_whole_brackets(found[1]) and _is_read(found[0])):
            return [text]
        parts += [text[end : found.start()], found[0]]
        end = found.end()
    parts.append(text[end:])
    return [text] if any("$" in part for part in parts[::2]) else parts


def _has_whole_brackets(formula: str) -> bool:
    is_open: list[str] = []
    for sign in re.sub(r"\\[{}]", "", formula):
        if sign in _CLOSED_BY.values():
            is_open.append(sign)
        elif sign in _CLOSED_BY and (not is_open or is_open.pop() != _CLOSED_BY[sign]):
            return False
    return not is_open


def _is_read(formula: str) -> bool:
    """Return whether matplotlib reads a formula, which it would refuse when the figure is drawn."""
    from matplotlib.mathtext import MathTextParser  # slow to import, and few names have a formula

    try:
        MathTextParser("path").parse(formula)
    except ValueError:
        return False
    return True
