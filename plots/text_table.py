"""Tables as text: arranged once for the page, the terminal and LaTeX (booktabs); tables of texts as Markdown."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from algorithms.whole_files import write_text
from plots.exhibits.views import AnyExhibit, TableView
from plots.formulas import split_formulas
from plots.labels import MISSING
from plots.series import note_shortfall

_ESCAPES = {sign: f"\\{sign}" for sign in "%_&#${}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}"}
_ESCAPES |= {"^": r"\textasciicircum{}", "ε": r"$\varepsilon$", MISSING: "---"}
_IN_LATEX = str.maketrans(_ESCAPES)

#: ``ours``, ``band`` (its interval), ``printed``, ``verdict``, ``note``, and the ``link`` of its evidence, as text.
Cell = dict[str, Any]


def make_cell(ours: str, **beside: str) -> Cell:
    """Return a cell; what is not said is empty."""
    return {"ours": ours, "band": "", "printed": "", "verdict": "", "note": "", "link": "", **beside}


class Latex(str):
    """Text that is LaTeX already."""

    __slots__ = ()


class TextTable(NamedTuple):
    """A table as text: what its rows and columns are, the names of both, and the cells, row by row."""

    corner: str
    columns: Sequence[str]
    rows: list[str]
    cells: list[list[Cell]]


class ArrangedTable(TableView[AnyExhibit]):
    """A table of a paper that is arranged as text, from which the page and LaTeX have it."""

    @abstractmethod
    def arrange(self, frame: pd.DataFrame) -> TextTable:
        """Arrange a frame as rows and columns of text."""

    def write_latex(self, frame: pd.DataFrame, path: Path) -> None:
        """Write the table; missing cells are dashes, and a note says how many there are."""
        table = self.arrange(frame)
        heads = [table.corner.replace(" \\ ", " / "), *table.columns]
        body = [[name, *map(self.format_entry, cells)] for name, cells in zip(table.rows, table.cells, strict=True)]
        title, note = self.caption(frame)
        write_text(path, format_latex(title, heads, body, note))

    def describe(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Return the cells of the table as the report's page shows them."""
        corner, columns, rows, cells = self.arrange(frame)
        shown = {"corner": corner, "columns": columns, "rows": list(zip(rows, cells, strict=True))}
        return {"note": self.note_missing(frame), **shown, **self.explain(frame)}

    def note_missing(self, frame: pd.DataFrame) -> str:
        """Return the note on what is missing of it."""
        return note_shortfall(frame)

    def explain(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Return what else the page says of it; nothing of most kinds."""
        return {}

    def format_entry(self, cell: Cell) -> str:
        """Return what LaTeX has of a cell."""
        return cell["ours"]

    def caption(self, frame: pd.DataFrame) -> tuple[str, str]:
        """Return what stands above it in LaTeX, and behind that in bold."""
        return self.exhibit.title, self.note_missing(frame)


def format_latex(title: str, columns: Sequence[str], body: Sequence[Sequence[str]], note: str, n_names: int = 1) -> str:
    """Return a table of text as LaTeX; what is `Latex` is taken as it is.

    The ``note`` stands in bold behind the caption. The first ``n_names`` columns are names, at the left; the others are
    numbers, at the right.
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


def format_mean(text: str, band: str, sign: str = "") -> Latex:
    """Return a number with its interval as LaTeX; a ``sign`` stands behind it.

    Examples
    --------
    >>> format_mean("1,234", "± 5", "^{*}"), format_mean("0.5", "(0.4 to 0.6)"), format_mean("—", "", "!")
    ('$1{,}234 \\\\pm 5^{*}$', '$0.5$ (0.4 to 0.6)', '---!')
    """
    if text == MISSING:
        return Latex(_ESCAPES[MISSING] + sign)
    number = text.replace(",", "{,}")
    if band.startswith("±"):
        return Latex(f"${number} \\pm{band.removeprefix('±')}{sign}$")
    return Latex(f"${number}{sign}$ {band}".rstrip())


def _join_row(entries: Sequence[str]) -> str:
    return " & ".join(map(_escape, entries)) + r" \\"


def _escape(text: str) -> str:
    if isinstance(text, Latex):
        return text
    parts = [part.translate(_IN_LATEX) for part in split_formulas(text)[::2]]
    formulas = split_formulas(text)[1::2]
    return "".join(chain.from_iterable(zip_longest(parts, formulas, fillvalue="")))


def format_markdown(heads: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Return rows of texts as a Markdown table.

    Examples
    --------
    >>> print(format_markdown(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    >>> print(format_markdown(["ln(|D| + 1)"], []))
    | ln(\\|D\\| + 1) |
    |---|
    """
    lines = [f"| {' | '.join(map(escape_cell, row))} |" for row in [heads, *body]]
    return "\n".join([lines[0], "|---" * len(heads) + "|", *lines[1:]])


def escape_cell(cell: str) -> str:
    """Return a cell in which a bar does not end it."""
    return cell.replace("|", "\\|")
