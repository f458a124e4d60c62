"""Text for a terminal of 80 columns: fields with a label, and what is too long is cut where a word ends."""

from __future__ import annotations

import textwrap

WIDTH = 80
HEIGHT = 40
"""Lines of a screen, about."""
_LABEL = 11


def format_field(label: str, text: str, most_lines: int | None = None) -> list[str]:
    """Return a field as lines: its label, and its text beside it.

    Examples
    --------
    >>> format_field("Task", "classification")
    ['Task       classification']
    """
    return hang_text(label.ljust(_LABEL), text, most_lines)


def hang_text(head: str, text: str, most_lines: int | None = None) -> list[str]:
    """Return a text as lines behind a head, all of them indented as far; ``…`` stands for what was cut off.

    Examples
    --------
    >>> hang_text("  rdt  ", "random decision trees " * 5, most_lines=1)
    ['  rdt  random decision trees random decision trees random decision trees random …']
    """
    lines = textwrap.wrap(text, WIDTH - len(head), break_on_hyphens=False) or [""]
    if most_lines is not None and len(lines) > most_lines:
        kept = " ".join(lines[: most_lines - 1])
        cut = textwrap.shorten(" ".join(lines[most_lines - 1 :]), WIDTH - len(head), placeholder=" …")
        lines = [*textwrap.wrap(kept, WIDTH - len(head), break_on_hyphens=False), cut]
    first, *rest = lines
    return [f"{head}{first}".rstrip(), *(f"{' ' * len(head)}{line}" for line in rest)]


def list_names(names: list[str], indent: str = "  ") -> list[str]:
    """Return names with commas between, as lines.

    Examples
    --------
    >>> list_names(["car", "nursery"])
    ['  car, nursery']
    """
    return hang_text(indent, ", ".join(names))
