"""The front page's matrix: of each paper what came out of its numbers, claims, privacy and readings, at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from experiments.config.paper import Paper
from experiments.judge.verdict import REPRODUCED, REPRODUCED_WITHIN
from plots.audit_bounds import count_violations
from plots.labels import SIGNS, TONES
from plots.pages.summary import describe_best_reading
from plots.privacy import count_keeping_claim, is_claim_only
from plots.run_folder import PaperRun

Glance = dict[str, Any]
"""A cell: ``anchor`` (the section of the paper's page; empty if it has none), ``bar`` (tone and share of each piece),
``counts`` (tone and text of each verdict), ``lines`` (texts), and ``key``, what the cell is sorted by."""


def glance_at_claims(verdicts: Sequence[str]) -> Glance:
    """Return what came out of the claims of one speaker.

    Examples
    --------
    >>> glance = glance_at_claims(["reproduced", "refuted", "refuted"])
    >>> glance["counts"], glance["bar"], f"{glance['key']:.2f}"
    ([('good', '✓ 1 reproduced'), ('bad', '✗ 2 refuted')], [('good', 1), ('bad', 2)], '0.33')
    """
    return _glance_at_verdicts("claims", verdicts)


def glance_at_numbers(paper: Paper, numbers: pd.DataFrame) -> Glance:
    """Return what came out of printed numbers, and of the facts of data sets in a line of their own."""
    is_fact = numbers["statistic"] == "exact"
    facts, printed = numbers.loc[is_fact, "verdict"], list(numbers.loc[~is_fact, "verdict"])
    glance = _glance_at_verdicts("numbers", printed)
    if not printed:
        glance["lines"] = ["none survive" if isinstance(paper.number, int) else "it prints none"]
    if len(facts):
        glance["anchor"] = "numbers"
        glance["lines"].append(f"facts of data sets: {(facts == REPRODUCED).sum()} of {len(facts)} agree")
    return glance


def glance_at_privacy(run: PaperRun | None) -> Glance:
    """Return how many algorithms keep the ε that they claim, and how many the audit convicted."""
    rows = run.privacy if run else []
    claiming = [row["keeps_claim"] for row in rows if row["keeps_claim"] is not None]
    if not run or not claiming:
        nothing = "claims only" if any(map(is_claim_only, rows)) else "no ε is claimed"
        return _make_glance("privacy" if rows else "", [nothing if rows else "not run"])
    n_kept, n_broken = claiming.count(True), claiming.count(False)
    lines = [f"{count_keeping_claim(rows)} keep their\u00a0ε", f"{count_violations(run.audit, rows)} convicted"]
    bar = [(tone, n) for tone, n in (("good", n_kept), ("bad", n_broken)) if n]
    return _make_glance("privacy", lines, bar, n_kept / len(claiming))


def glance_at_readings(paper: Paper, run: PaperRun | None) -> Glance:
    """Return of each question about the text how near its best reading comes, and whether that is private."""
    rankings = run.list_rankings() if run else []
    lines = []
    for _, rows in rankings:
        off, cost, null = describe_best_reading(rows)
        n_readings = int((rows["kind"] != "no noise").sum())
        lines.append(f"best of {n_readings}: off by {off}, {cost}" if off else "INCOMPLETE")
        lines += [f"no noise at all: off by {null}"] if null else []
    if not lines:
        return _make_glance("", ["not run" if paper.readings else "no question"])
    return _make_glance("readings", lines)


def _glance_at_verdicts(anchor: str, verdicts: Sequence[str]) -> Glance:
    counts, bar = [], []
    for verdict, sign in SIGNS.items():
        n = verdicts.count(verdict)
        if n:
            counts.append((TONES[verdict], f"{sign} {n} {verdict}"))
            bar.append((TONES[verdict], n))
    if not verdicts:
        return _make_glance("", ["none"])
    n_good = sum(verdict in (REPRODUCED, REPRODUCED_WITHIN) for verdict in verdicts)
    return _make_glance(anchor, [], bar, n_good / len(verdicts)) | {"counts": counts}


def _make_glance(
    anchor: str, lines: Sequence[str], bar: Sequence[tuple[str, int]] = (), key: float | str = ""
) -> Glance:
    return {"anchor": anchor, "bar": list(bar), "counts": [], "lines": list(lines), "key": key}
