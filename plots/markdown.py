"""Write tables of text as Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def format_table(heads: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Return rows of texts as a Markdown table.

    Examples
    --------
    >>> print(format_table(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [f"| {' | '.join(row)} |" for row in [heads, *body]]
    return "\n".join([lines[0], "|---" * len(heads) + "|", *lines[1:]])
