"""Write tables of text as LaTeX (booktabs)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from plots.labels import MISSING

_ESCAPES = {"%": r"\%", "_": r"\_", "&": r"\&", "#": r"\#", "ε": r"$\varepsilon$", MISSING: "---"}


def write_table(path: Path, title: str, columns: Sequence[str], body: Sequence[Sequence[str]], note: str) -> None:
    """Write a table of text as LaTeX; see `format_table`."""
    path.write_text(format_table(title, columns, body, note), encoding="utf-8")


def format_table(title: str, columns: Sequence[str], body: Sequence[Sequence[str]], note: str, n_names: int = 1) -> str:
    """Return a table of text as LaTeX.

    Parameters
    ----------
    title : str
        Its caption.
    columns : sequence of str
        The heads of all columns.
    body : sequence of sequence of str
        The entries of each row; what begins with a dollar sign is taken as it is.
    note : str
        Stands in bold behind the caption; empty if there is none.
    n_names : int, default=1
        How many columns are names, at the left; the others are numbers, at the right.
    """
    caption = _escape(title) + (rf" \textbf{{{_escape(note)}}}" if note else "")
    lines = [
        r"\begin{table}",
        rf"\caption{{{caption}}}",
        rf"\begin{{tabular}}{{{'l' * n_names}*{{{len(columns) - n_names}}}{{r}}}}",
        r"\toprule",
        _join_row(columns),
        r"\midrule",
        *map(_join_row, body),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _join_row(entries: Sequence[str]) -> str:
    return " & ".join(map(_escape, entries)) + r" \\"


def _escape(text: str) -> str:
    if text.startswith("$"):
        return text
    for plain, escaped in _ESCAPES.items():
        text = text.replace(plain, escaped)
    return text
