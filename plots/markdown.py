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
    >>> print(format_table(["ln(|D| + 1)"], []))
    | ln(\\|D\\| + 1) |
    |---|
    """
    lines = [f"| {' | '.join(map(escape_cell, row))} |" for row in [heads, *body]]
    return "\n".join([lines[0], "|---" * len(heads) + "|", *lines[1:]])


def escape_cell(cell: str) -> str:
    """Return a cell in which a bar does not end it."""
    return cell.replace("|", "\\|")
