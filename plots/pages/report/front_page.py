"""The report's front page: three answers and a sentence for each paper, and which private method to take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any

from experiments.config.finding import Sign
from experiments.config.papers import BENCHMARKS
from plots.answers import Answer, answer_claims, answer_numbers, answer_privacy, describe_sign
from plots.checked_finding import list_misfits, write_finding
from plots.labels import SYMBOLS, TONES
from plots.pages import html
from plots.pages.pictures import read_svg
from plots.pages.report.paper_entry import PaperEntry

MOST_SWEEPS = 20
"""Sweeps that are listed, the newest."""
_NOT_RUN = Answer("", "not run", {})
_COLUMNS = (
    ("its numbers", "numbers", answer_numbers),
    ("its claims", "claims", answer_claims),
    ("private as claimed?", "privacy", answer_privacy),
)
"""The head of each answer's column, and the section of a paper's page that has more of it."""


@dataclass(frozen=True)
class AnswerCell:
    """An answer as the table has it.

    Parameters
    ----------
    head : str
        Of its column.
    words : str
        The answer, after its sign if that is the whole of it.
    tone : str
        The colour of that sign; empty without one.
    href : str
        Where more of it is; empty if nowhere.
    bar : list of (str, int)
        How many have which tone.
    others : list of (str, str)
        How many do not hold, each sign in words with its tone.
    reason : str
        Why.
    key : float or str
        What the column is sorted by.
    """

    head: str
    words: str
    tone: str
    href: str
    bar: list[tuple[str, int]]
    others: list[tuple[str, str]]
    reason: str
    key: float | str


def render_front_page(
    entries: Sequence[PaperEntry],
    links: Sequence[Mapping[str, Any]],
    sweeps: Sequence[tuple[Path, Mapping[str, Any]]] = (),
) -> str:
    """Return the front page of the report on some papers.

    Parameters
    ----------
    entries : sequence of PaperEntry
        The papers.
    links : sequence of mapping
        The pages around it.
    sweeps : sequence of (Path, mapping)
        As from `plots.sweeps.sweep_folder.list_sweeps`; the newest are listed.
    """
    benchmarks = [entry for entry in entries if entry.name in BENCHMARKS]
    return html.render_template(
        "index.html.j2",
        links=links,
        heads=[head for head, _, _ in _COLUMNS],
        papers=[_describe_entry(entry) for entry in entries if entry.name not in BENCHMARKS],
        benchmarks=benchmarks,
        sweeps=list(starmap(_describe_sweep, sweeps[:MOST_SWEEPS])),
        n_more_sweeps=max(len(sweeps) - MOST_SWEEPS, 0),
        advice=next(filter(None, map(_find_advice, benchmarks)), None),
    )


def make_cell(answer: Answer, head: str, href: str) -> AnswerCell:
    """Return an answer as the table has it: counts as a bar, a plain yes or no with its sign.

    Examples
    --------
    >>> cell = make_cell(Answer("", "2 of 3 hold", {Sign.HOLDS: 2, Sign.FAILS: 1}), "its claims", "")
    >>> cell.words, cell.bar, cell.others
    ('2 of 3 hold', [('good', 2), ('bad', 1)], [('bad', '✗ 1 fails')])
    >>> cell = make_cell(Answer("", "no", {Sign.FAILS: 2}, "leaf labels carry no noise"), "private?", "")
    >>> cell.words, cell.tone, cell.bar
    ('✗ no', 'bad', [])
    """
    is_counted = answer.words not in ("yes", "no")
    counts = answer.counts if is_counted else {}
    others = {sign: n for sign, n in counts.items() if sign != Sign.HOLDS}
    return AnswerCell(
        head=head,
        words=answer.words if is_counted else f"{SYMBOLS[answer.sign]} {answer.words}",
        tone="" if is_counted else TONES[answer.sign],
        href=href,
        bar=[(TONES[sign], n) for sign, n in counts.items()],
        others=[(TONES[sign], f"{SYMBOLS[sign]} {n} {describe_sign(sign, n)}") for sign, n in others.items()],
        reason=answer.reason,
        key=answer.share if answer.counts else "",
    )


def _describe_entry(entry: PaperEntry) -> dict[str, Any]:
    run = entry.run
    cells = []
    for head, section, answer in _COLUMNS:
        cells.append(make_cell(answer(run) if run else _NOT_RUN, head, f"{entry.href}#{section}" if run else ""))
    return {
        "heading": entry.heading,
        "href": entry.href,
        "notes": entry.short_notes,
        "cells": cells,
        "finding": write_finding(run) if run else "",
        "misfits": list_misfits(run) if run else [],
        "promise": entry.paper.promise,
    }


def _describe_sweep(folder: Path, facts: Mapping[str, Any]) -> dict[str, str]:
    """Return a sweep as a line of the list."""
    return {
        "name": folder.name,
        "href": f"sweeps/{folder.name}/report.html",
        "varies": facts["sweep"]["varies"],
        "note": "INCOMPLETE" if facts["sweep"]["incomplete"] else "",
        "day": str(facts.get("written", ""))[:10],
        "command": str(facts.get("command", "")),
    }


def _find_advice(entry: PaperEntry) -> dict[str, str] | None:
    """Return which method to take, in a line, with the picture that says so; None of a run that has no such figure."""
    run = entry.run
    figures = [part for part in entry.paper.figures if getattr(part, "advises", False)]
    if not run or not figures:
        return None
    line = run.list_advice()[0].partition(";")[0]
    return {"line": line, "svg": read_svg(run, figures[0].id), "title": figures[0].title}
