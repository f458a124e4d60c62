"""The summary on the terminal: what a paper promises, what came out, its claims and its printed numbers."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

import pandas as pd
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from experiments.config.paper import Paper, Speaker
from experiments.judge.verdict import ONLY_UNDER_READING
from plots.answers import Answer
from plots.labels import SYMBOLS, TONES
from plots.rows.claim_rows import COMPUTED, ClaimRow, Forest, list_forests
from plots.rows.strips import draw_in_text
from plots.rows.text_rows import (
    NumberGroup,
    describe_facts,
    describe_finding,
    describe_readings,
    draw_bar,
    group_numbers,
    list_shown_answers,
    name_claim_reason,
    name_number_reason,
    name_paper,
    trim_unit,
)
from plots.runs.run_folder import PaperRun
from plots.tables.grid import GridTable, describe_center

_STRIPS = "● effect, ─ 95 % interval, │ none, ░ none that matters; right: as claimed"
"""What stands in the strip of a claim."""
_WIDTH = 80
"""Of what is no terminal."""
_COLOURS = {"good": "green", "mixed": "magenta", "bad": "red", "open": "yellow"}
"""Of the terminal, by tone of a sign."""
_QUESTION = 27
"""How many characters a question takes of a line."""
_STRIP = 17
"""How many characters a strip has."""
_GAP = 2
"""Between the columns of a table."""
_NAMES = 28
"""The most that the names of a grid's rows take of a line; longer ones are broken."""


def print_summary(run: PaperRun, paths: Sequence[Path], grids: Sequence[tuple[GridTable, pd.DataFrame]] = ()) -> None:
    """Print to stderr what came out: answers, finding, every claim and printed number, some tables, and the files."""
    console = open_console(sys.stderr)
    console.print(escape(name_paper(run.paper)), style="bold")
    _print_sentence(console, "It promises", run.paper.promise)
    for answer in list_shown_answers(run):
        _print_answer(console, answer)
    _print_sentence(console, "What came out", describe_finding(run))
    if run.claims:
        console.print(f"\n[dim]{_STRIPS}[/dim]")
    for table in _make_tables(run, grids, console.width):
        console.print()
        console.print(table)
    console.print()
    for note in filter(None, [describe_facts(run), *run.write_notes()]):
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
    """Print an answer with its bar of signs, and the counts and why in lines below."""
    head = Text(f"{answer.question:{_QUESTION}}")
    bar = _colour_signs(draw_bar(answer.counts))
    console.print(Text.assemble(head, bar, "  " if bar else "", (answer.words, "bold")))
    for detail in filter(None, [answer.tally, answer.reason]):
        console.print(Padding(_colour_signs(detail), (0, 0, 0, 2)))


def _make_tables(
    run: PaperRun, grids: Sequence[tuple[GridTable, pd.DataFrame]], width: int
) -> Iterator[RenderableType]:
    for head, speaker in (("Its claims", Speaker.PAPER), ("Claims of our own", Speaker.OURS)):
        for forest in list_forests(run, speaker):
            make_table = _make_computed_table if forest.unit == COMPUTED else _make_tested_table
            yield make_table(run.paper, forest, head)
    for group in group_numbers(run):
        yield _make_numbers_table(group)
    for part, frame in grids:
        yield from _make_grid_tables(run.paper, part, frame, width)


def make_table() -> Table:
    """Return an empty table without lines."""
    return Table(box=None, pad_edge=False)


def _make_tested_table(paper: Paper, forest: Forest, head: str) -> Table:
    table = make_table()
    table.add_column("")
    table.add_column(head)
    table.add_column(forest.unit, width=_STRIP)
    table.add_column("effect", justify="right", no_wrap=True)
    table.add_column("proven", no_wrap=True)
    for row in forest.rows:
        strip = draw_in_text(row.strip, "│", _STRIP) if row.strip else ""
        effect = trim_unit(row.effect, forest.unit)
        table.add_row(_colour_signs(SYMBOLS[row.sign]), _describe_claim(paper, row), strip, effect, row.held)
    return table


def _make_computed_table(paper: Paper, forest: Forest, head: str) -> Table:
    table = make_table()
    table.add_column("")
    table.add_column(f"{head}, decided by computing")
    for row in forest.rows:
        why = "" if row.verdict == ONLY_UNDER_READING else f"\n[dim]{escape(row.reason)}[/dim]"
        table.add_row(_colour_signs(SYMBOLS[row.sign]), f"{_describe_claim(paper, row)}{why}")
    return table


def _describe_claim(paper: Paper, row: ClaimRow) -> str:
    lines = [f"{escape(row.text)}{_put_behind(name_claim_reason(paper, row))}", *map(escape, describe_readings(row))]
    return "\n".join(lines)


def _make_numbers_table(group: NumberGroup) -> Table:
    table = make_table()
    table.add_column("")
    table.add_column(escape(", ".join(filter(None, ["Its numbers", group.shared]))))
    table.add_column(f"× print, ● ours {group.unit}" if group.unit else "", no_wrap=True)
    for name in ("printed", "ours"):
        table.add_column(name, justify="right", no_wrap=True)
    for words, row in group.rows:
        strip = draw_in_text(row.strip, "×", _STRIP) if row.strip else ""
        what = f"{escape(words)}{_put_behind(name_number_reason(row))}"
        table.add_row(_colour_signs(SYMBOLS[row.sign]), what, strip, row.printed, row.ours)
    return table


def _make_grid_tables(paper: Paper, part: GridTable, frame: pd.DataFrame, width: int) -> Iterator[Group]:
    """Yield the table of a grid, in parts where it has more columns than a terminal is wide."""
    grid = part.arrange(paper, frame, " / ")
    cells = [[f"{cell['ours']} {cell['band']}".rstrip() for cell in line] for line in grid.cells]
    lengths = [max(map(cell_len, column)) for column in zip(grid.columns, *cells, strict=True)]
    room = width - min(_NAMES, max(map(cell_len, [grid.corner, *grid.rows])))
    for columns in split_columns(lengths, room):
        table = make_table()
        table.add_column(grid.corner)
        for column in grid.columns[columns]:
            table.add_column(escape(column), justify="right", no_wrap=True)
        for name, line in zip(grid.rows, cells, strict=True):
            table.add_row(escape(name), *line[columns])
        behind = describe_center(frame) if columns.start == 0 else "continued"
        yield Group(f"{escape(part.title)} [dim]({behind})[/dim]", table)


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
        coloured.highlight_regex(f"{re.escape(symbol)}+", _COLOURS[TONES[sign]])
    return coloured
