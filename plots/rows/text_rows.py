"""What pages of text and the terminal say in the same words: a finding, and claims and printed numbers as rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.config.finding import Sign
from experiments.config.paper import Paper
from experiments.judge.numbers.number_verdict import is_blank
from experiments.judge.verdict import REFUTED, REPRODUCED, UNDECIDED
from plots.answers import Answer, answer_paper
from plots.checked_finding import list_misfits, write_finding
from plots.labels import SYMBOLS, label_name
from plots.rows.claim_rows import ClaimRow
from plots.rows.number_rows import NumberRow, list_dot_plots
from plots.runs.run_folder import PaperRun

_PLAIN = (REPRODUCED, REFUTED, UNDECIDED)
"""Verdicts on numbers that say no more than their sign."""
_PART = ", "
"""What stands between the parts of a setting."""


@dataclass(frozen=True)
class NumberGroup:
    """Printed numbers that share a unit, and words of what they are numbers of.

    Parameters
    ----------
    unit : str
        Of the axis that they share; empty without one.
    shared : str
        What they all are numbers of; empty of numbers that have nothing in common.
    rows : list of (str, NumberRow)
        The other words of each, and the number.
    """

    unit: str
    shared: str
    rows: list[tuple[str, NumberRow]]


def name_paper(paper: Paper) -> str:
    """Return the title of a paper, with its number if it has one.

    Examples
    --------
    >>> studies = {"grid": {"dataset": "car", "algorithm": "rdt"}}
    >>> name_paper(Paper(number=2, title="Forests", studies=studies))
    'Paper 2. Forests'
    >>> name_paper(Paper(number="demo", title="A tour", studies=studies))
    'A tour'
    """
    return f"Paper {paper.number}. {paper.title}" if isinstance(paper.number, int) else paper.title


def describe_finding(run: PaperRun) -> str:
    """Return what came out of a paper, or that the sentence about it no longer fits; nothing if it has none."""
    misfits = "; ".join(list_misfits(run))
    return f"The sentence that was written about it no longer fits: {misfits}." if misfits else write_finding(run)


def draw_bar(counts: dict[Sign, int], width: int = 20) -> str:
    """Draw how many have which sign as a bar of signs, each of them at least once; a single one needs no bar.

    Examples
    --------
    >>> draw_bar({Sign.HOLDS: 2, Sign.FAILS: 28}, 10), draw_bar({Sign.FAILS: 1}, 3), draw_bar({})
    ('✓✗✗✗✗✗✗✗✗✗', '✗', '')
    """
    left, total, drawn = width, sum(counts.values()), ""
    if total == 1:
        return SYMBOLS[next(iter(counts))]
    for place, (sign, n) in enumerate(counts.items(), start=1):
        others = len(counts) - place
        length = min(max(1, round(left * n / total)), left - others)
        drawn += SYMBOLS[sign] * length
        left, total = left - length, total - n
    return drawn


def group_numbers(run: PaperRun) -> list[NumberGroup]:
    """Return the printed measurements of a paper, those together that are of one kind."""
    kinds = dict(zip(run.numbers["id"], run.numbers["statistic"], strict=True))
    groups = []
    for plot in list_dot_plots(run):
        by_kind: dict[str, list[NumberRow]] = {}
        for row in plot.rows:
            by_kind.setdefault(kinds[row.id], []).append(row)
        for rows in by_kind.values():
            shared, others = split_words([row.what for row in rows])
            groups.append(NumberGroup(plot.unit, shared, list(zip(others, rows, strict=True))))
    return groups


def split_words(texts: Sequence[str]) -> tuple[str, list[str]]:
    """Return the parts that all of some texts share, and what is left of each.

    Examples
    --------
    >>> split_words(["Adult, ε = 1, RDT: accuracy (%)", "Adult, ε = 2, RDT: accuracy (%)"])
    ('Adult, RDT: accuracy (%)', ['ε = 1', 'ε = 2'])
    >>> split_words(["Adult, ε = 1"])
    ('', ['Adult, ε = 1'])
    """
    parts = [text.split(_PART) for text in texts]
    if len(parts) < 2:
        return "", list(texts)
    shared = [part for part in parts[0] if all(part in other for other in parts)]
    return _PART.join(shared), [_PART.join(part for part in own if part not in shared) for own in parts]


def name_claim_reason(paper: Paper, row: ClaimRow) -> str:
    """Return the finer verdict on a claim where it says more than its sign, and what it was tested against."""
    is_rebuilt = paper.claims_by_id[row.id].against is not None
    return ", ".join(filter(None, [row.finer, "against our reconstruction" if is_rebuilt else ""]))


def name_number_reason(row: NumberRow) -> str:
    """Return the finer verdict on a number where it says more than its sign, and how much was run if not all."""
    finer = "" if row.verdict in _PLAIN else row.verdict
    return ", ".join(filter(None, [finer, f"{row.repeats} runs" if " of " in row.repeats else ""]))


def describe_readings(row: ClaimRow) -> list[str]:
    """Return a line for each other reading of a claim that turns its sign, and how many do not."""
    turning = [reading for reading in row.readings if reading.sign != row.sign]
    lines = [f"another reading: {SYMBOLS[reading.sign]} {reading.text.rstrip('.')}" for reading in turning]
    n_agreeing = len(row.readings) - len(turning)
    if n_agreeing:
        lines.append(f"{n_agreeing} other reading{'s agree' if n_agreeing > 1 else ' agrees'}")
    return lines


def list_shown_answers(run: PaperRun) -> list[Answer]:
    """Return the three answers of a paper; of a study of ours those that it has."""
    is_printed = isinstance(run.paper.number, int)
    return [answer for answer in answer_paper(run) if answer.counts or is_printed]


def trim_unit(effect: str, unit: str) -> str:
    """Return an effect without its unit, for a column that is headed by that.

    Examples
    --------
    >>> trim_unit("+3.15 points", "points")
    '+3.15'
    """
    return effect.removesuffix(f" {unit}")


def describe_facts(run: PaperRun) -> str:
    """Return how many printed facts of data sets agree with what was counted, and which do not.

    Nothing of a paper that prints none.
    """
    facts = run.numbers[run.numbers["statistic"] == "exact"].to_dict("records")
    differing = []
    for row in facts:
        if row["verdict"] != REPRODUCED:
            name = f"{label_name(run.paper, row['dataset'])}, {row['metric'].replace('_', ' ')}"
            ours = "nobody counted" if is_blank(row["mean"]) else f"{row['mean']:g} counted"
            differing.append(f"{name}: {row['printed']:g} printed, {ours}")
    if not facts:
        return ""
    return "; ".join([f"Facts of the data sets: {len(facts) - len(differing)} of {len(facts)} agree", *differing]) + "."
