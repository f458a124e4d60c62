"""The tables of a sweep as Markdown and LaTeX, laid out as on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from plots.labels import MISSING
from plots.text_table import format_table as format_latex
from plots.markdown import format_table
from plots.sweeps.arrangement import BEST, INCOMPLETE, SweepTable, TableCell
from plots.sweeps.collector import SweepResults
from plots.sweeps.terminal_table import describe_table


def write_markdown(results: SweepResults, tables: Sequence[SweepTable], path: Path) -> None:
    """Write the tables, and below them what is missing."""
    parts = [f"**{results.sweep.describe_fixed()}**"]
    for table in tables:
        body = [[*names, *map(_format_markdown, cells)] for names, cells in table.rows]
        heads = [*table.heads, *table.columns]
        parts += [describe_table(results.sweep, table), format_table(heads, body), *_count_rest(table)]
    parts += results.list_incomplete()
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def write_latex(results: SweepResults, tables: Sequence[SweepTable], path: Path) -> None:
    """Write the tables, one environment for each; what is missing stands in their captions."""
    parts = []
    for table in tables:
        title = f"{results.sweep.describe_fixed()}; {describe_table(results.sweep, table)}"
        body = [[*names, *map(_format_latex, cells)] for names, cells in table.rows]
        note = "; ".join([*_count_rest(table), *filter(None, [results.describe_shortfall()])])
        parts.append(format_latex(title, [*table.heads, *table.columns], body, note, max(len(table.heads), 1)))
    path.write_text("\n".join(parts), encoding="utf-8")


def _count_rest(table: SweepTable) -> list[str]:
    return [f"{table.n_left_out} more rows are in table.csv"] if table.n_left_out else []


def _format_markdown(cell: TableCell) -> str:
    """Return a cell in which a star is no emphasis."""
    return cell.marked.replace(BEST, f"\\{BEST}")


def _format_latex(cell: TableCell) -> str:
    if cell.text == MISSING:
        return cell.marked
    number, _, band = cell.text.replace(",", "{,}").partition(" ± ")
    sign = "^{*}" if cell.is_best else INCOMPLETE if cell.note else ""
    return f"${number} \\pm {band}{sign}$" if band else f"${number}{sign}$"
