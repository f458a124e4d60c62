"""The summary on the terminal: what a paper promises, what came out, its claims and its printed numbers."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from experiments.config.kinds.exhibits import GridTable
from experiments.judge.paper_answer import Answer
from plots.answers import draw_bar, format_tally
from plots.labels import SYMBOLS, TONES
from plots.rows import COMPUTED, ClaimRow, NumberRow
from plots.runs.paper_run import PaperRun
from plots.strips import StripPlot, draw_in_text
from plots.tables.grid import GridView, describe_center
from plots.text_table import TextTable

# What stands in the strip of a claim.
_STRIPS = "● effect, ─ 95 % interval, │ none, ░ none that matters; right, +: as claimed"
_WIDTH = 80  # of what is no terminal
_COLOURS = {"good": "green", "mixed": "magenta", "bad": "red", "open": "yellow"}  # of the terminal, by tone of a sign
_QUESTION = 27  # how many characters a question takes of a line
_STRIP = 17  # how many characters a strip has
_GAP = 2  # between the columns of a table
_NAMES = 28  # the most that names of rows take of a line; longer ones are broken


def print_summary(run: PaperRun, paths: Sequence[Path], stream: TextIO | None = None) -> None:
    """Print what came out: answers, finding, every claim and printed number, some tables, and the files.

    It goes to stdout, unless a command has another result and gives another stream.
    """
    console = open_console(stream or sys.stdout)
    console.print(escape(run.heading), style="bold")
    _print_sentence(console, "It promises", run.paper.promise)
    for answer in run.shown_answers:
        _print_answer(console, answer)
    _print_sentence(console, "What came out", run.outcome)
    if run.claims:
        console.print(f"\n[dim]{_STRIPS}[/dim]")
    for table in _make_tables(run, console.width):
        console.print()
        console.print(table)
    console.print()
    for note in filter(None, [run.note_on_facts, *run.notes]):
        console.print(escape(note), style="bold red" if note.startswith("INCOMPLETE") else None)
    for path in paths:
        console.print(f"  {escape(str(path))}", soft_wrap=True)


def open_console(stream: TextIO) -> Console:
    """Return what prints to a stream: as wide as a terminal is, else 80 characters."""
    console = Console(file=stream, highlight=False)
    return console if console.is_terminal else Console(file=stream, width=_WIDTH, highlight=False)


def _print_sentence(console: Console, head: str, sentence: str) -> None:
    if sentence:
        console.print(f"[bold]{head}:[/bold] {escape(sentence)}")


def _print_answer(console: Console, answer: Answer) -> None:
    """Print an answer, and its bar of signs, the counts and why in lines below."""
    console.print(Text.assemble(f"{answer.question:{_QUESTION}}", (answer.words, "bold")))
    for detail in filter(None, [draw_bar(answer), format_tally(answer), answer.reason]):
        console.print(Padding(_colour_signs(detail), (0, 0, 0, 2)))


def _make_tables(run: PaperRun, width: int) -> Iterator[RenderableType]:
    """Yield claims and printed numbers; of what prints no numbers, its grids."""
    for head, drawn in (("Its claims", run.claim_plots), ("Claims of our own", run.our_claim_plots)):
        for plot in drawn:
            yield _make_claims_table(plot, head)
    for group in run.number_groups:
        yield _make_numbers_table(group)
    for exhibit in () if len(run.numbers) else run.paper.tables:
        if isinstance(exhibit, GridTable):
            frame = run.read_frame(exhibit)
            grid = GridView(run.paper, exhibit).arrange(frame, " / ")
            yield from _make_grid_tables(exhibit.title, grid, describe_center(frame), width)


def make_table() -> Table:
    """Return an empty table without lines."""
    return Table(box=None, pad_edge=False)


def _make_claims_table(plot: StripPlot[ClaimRow], head: str) -> Table:
    """Return claims with their effects; of those that are decided by computing, why takes the place of an effect."""
    table, is_computed = make_table(), plot.unit == COMPUTED
    table.add_column("")
    table.add_column(f"{head}, decided by computing" if is_computed else head)
    if not is_computed:
        table.add_column(escape(plot.scale), width=_STRIP)
        table.add_column("effect", justify="right", no_wrap=True)
        table.add_column("settings")
    for row in plot.rows:
        difference = [f"[dim]{escape(row.difference)}[/dim]"] if row.difference else []
        text = "\n".join([f"{escape(row.text)}{_put_behind(row.aside)}", *difference, *map(escape, row.lines_below)])
        if not is_computed:
            cells = [text, draw_in_text(row.strip, "│", _STRIP), row.size, row.held]
        else:
            cells = [text if row.differs else f"{text}\n[dim]{escape(row.reason)}[/dim]"]
        table.add_row(_colour_signs(SYMBOLS[row.sign]), *cells)
    return table


def _make_numbers_table(group: StripPlot[NumberRow]) -> Table:
    table = make_table()
    table.add_column("")
    table.add_column(escape(", ".join(filter(None, ["Its numbers", group.shared]))))
    table.add_column(escape(f"× printed, ● ours {group.scale}") if group.unit else "", max_width=_STRIP)
    for name in ("printed", "ours"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in group.rows:
        strip = draw_in_text(row.strip, "×", _STRIP)
        what = f"{escape(row.what)}{_put_behind(row.aside)}"
        table.add_row(_colour_signs(SYMBOLS[row.sign]), what, strip, row.printed, row.ours)
    return table


def _make_grid_tables(title: str, grid: TextTable, center: str, width: int) -> Iterator[Group]:
    """Yield the table of a grid, in parts where it has more columns than a terminal is wide."""
    cells = [[f"{cell['ours']} {cell['band']}".rstrip() for cell in line] for line in grid.cells]
    behind = center
    for table in make_parts([grid.corner], grid.columns, [[name] for name in grid.rows], cells, width):
        yield Group(f"{escape(title)} [dim]({behind})[/dim]", table)
        behind = "continued"


def make_parts(
    heads: Sequence[str],
    columns: Sequence[str],
    names: Sequence[Sequence[str]],
    cells: Sequence[Sequence[str]],
    width: int,
    dress: Callable[[str], str] = escape,
) -> Iterator[Table]:
    """Yield a table in parts where it has more columns than a terminal is wide; ``dress`` returns a cell as markup."""
    lengths = [max(map(cell_len, column)) for column in zip(columns, *cells, strict=True)]
    of_names = [min(_NAMES, max(map(cell_len, column))) for column in zip(heads, *names, strict=True)]
    for part in split_columns(lengths, width - sum(of_names) - _GAP * max(len(heads) - 1, 0)):
        table = make_table()
        for head in heads:
            table.add_column(escape(head), overflow="fold")
        for column in columns[part]:
            table.add_column(escape(column), justify="right", no_wrap=True)
        for of_row, line in zip(names, cells, strict=True):
            table.add_row(*map(escape, of_row), *map(dress, line[part]))
        yield table


def split_columns(lengths: Sequence[int], room: int) -> list[slice]:
    """Return which columns stand together, as many as there is room for, with a gap before each.

    Examples
    --------
    >>> split_columns([5, 5, 5], 15), split_columns([30, 5], 15)
    ([slice(0, 2, None), slice(2, 3, None)], [slice(0, 1, None), slice(1, 2, None)])
    """
    starts, used = [0], 0
    for place, length in enumerate(lengths):
        used += length + _GAP
        if used > room and place > starts[-1]:
            starts.append(place)
            used = length + _GAP
    return [slice(start, end) for start, end in zip(starts, [*starts[1:], len(lengths)], strict=True)]


def _put_behind(reason: str) -> str:
    return f" [dim]({escape(reason)})[/dim]" if reason else ""


def _colour_signs(text: str) -> Text:
    coloured = Text(text)
    for sign, symbol in SYMBOLS.items():
        coloured.highlight_regex(f"{re.escape(symbol)}+█*", _COLOURS[TONES[sign]])
    return coloured
