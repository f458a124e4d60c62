"""The table of all published papers: what came out of each, in a row that is read in ten seconds."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.config.finding import Sign
from plots.answers import Answer, answer_paper, answer_privacy
from plots.labels import SYMBOLS
from plots.markdown import format_table
from plots.rows.text_rows import describe_finding
from plots.runs.run_folder import PaperRun

HEADS = ("paper", "numbers that hold", "claims that hold", "private as claimed?", "in one sentence")


def format_verdicts(runs: Sequence[PaperRun], link: str) -> str:
    """Return what came out of some papers as a Markdown table.

    Parameters
    ----------
    runs : sequence of PaperRun
        The published runs.
    link : str
        How the reader gets from the page that holds the table into their folder, such as ``results/reference/``.
    """
    body = []
    for run in runs:
        numbers, claims, _ = answer_paper(run)
        name = f"[{run.paper.number}. {run.paper.short_title}]({link}{run.folder.name}/README.md)"
        counts = [_count_holding(numbers, "none legible"), _count_holding(claims, "none")]
        body.append([name, *counts, _say_privacy(run), describe_finding(run)])
    return format_table(HEADS, body)


def explain_signs(link: str) -> str:
    """Return what the signs mean in a line; ``link`` leads to the page on verdicts."""
    signs = ["holds", "fails", "depends (on how a sentence is read, or on mean against most runs)", "open"]
    explained = ", ".join(f"{symbol} {words}" for symbol, words in zip(SYMBOLS.values(), signs, strict=True))
    return f"{explained}: [what the signs mean]({link})."


def _count_holding(answer: Answer, nothing: str) -> str:
    """Say how many hold, and how many are open: who reads "5 of 9" takes the other four for wrong."""
    n, n_open = sum(answer.counts.values()), answer.counts.get(Sign.OPEN, 0)
    if not n:
        return nothing
    open_ones = f" ({n_open} open)" if n_open else ""
    return f"{answer.counts.get(Sign.HOLDS, 0)} of {n}{open_ones}"


def _say_privacy(run: PaperRun) -> str:
    answer = answer_privacy(run)
    if answer.sign == Sign.OPEN:
        return answer.words.removeprefix("it ")
    if answer.sign == Sign.HOLDS and answer.reason:
        return f"{SYMBOLS[answer.sign]} with public ranges"
    return f"{SYMBOLS[answer.sign]} {answer.words}"
