"""Write tables of text as LaTeX (booktabs)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from plots.labels import MISSING

_ESCAPES = {"%": r"\%", "_": r"\_", "&": r"\&", "ε": r"$\varepsilon$", MISSING: "---"}


def write_table(path: Path, title: str, columns: Sequence[str], body: Sequence[Sequence[str]], note: str) -> None:
    """Write a table of text as LaTeX; a note stands in bold behind its caption."""
    caption = _escape(title) + (rf" \textbf{{{_escape(note)}}}" if note else "")
    lines = [
        r"\begin{table}",
        rf"\caption{{{caption}}}",
        rf"\begin{{tabular}}{{l*{{{len(columns) - 1}}}{{r}}}}",
        r"\toprule",
        _join_row(columns),
        r"\midrule",
        *map(_join_row, body),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _join_row(entries: Sequence[str]) -> str:
    return " & ".join(map(_escape, entries)) + r" \\"


def _escape(text: str) -> str:
    if text.startswith("$"):
        return text
    for plain, escaped in _ESCAPES.items():
        text = text.replace(plain, escaped)
    return text
