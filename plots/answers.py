"""How the answers that a reader wants of a paper are shown and what decides them, and its finding.

A finding has its sizes filled in, and its verdicts compared with those of a run.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from experiments.config.finding import INSIDE, AnySign, PaperFinding, Sign
from experiments.config.paper import Paper
from experiments.judge.claim_answer import ClaimAnswer
from experiments.judge.number_answers import find_outside
from experiments.judge.numbers.number_verdict import is_blank
from experiments.judge.paper_answer import Answer
from experiments.judge.verdict import Verdict
from experiments.judge.words import count_runs, format_difference, format_effect
from plots.labels import MISSING, SYMBOLS, format_number, label_result
from plots.rows import name_difference, turn

_MOST_GLYPHS = 40
"""Of a bar in which each stands for one claim, number or algorithm."""
_LENGTH = 20
"""Of a bar of more than these, in characters."""
_QUOTED = 60
"""Characters of a claim that is named in an answer."""


def format_tally(answer: Answer) -> str:
    """Return the counts of an answer in words.

    Examples
    --------
    >>> format_tally(Answer("Do its claims hold?", "2 of 3 hold", {Sign.HOLDS: 2, Sign.FAILS: 1}))
    '✓ 2 hold, ✗ 1 fails'
    """
    return ", ".join(f"{SYMBOLS[sign]} {n} {sign.describe(n)}" for sign, n in answer.counts.items())


def draw_bar(answer: Answer) -> str:
    """Draw the counts of an answer: a sign for each thing that is counted; of many a bar whose parts have their number.

    Examples
    --------
    >>> draw_bar(Answer("", "", {Sign.HOLDS: 2, Sign.FAILS: 5})), draw_bar(Answer("", "", {Sign.FAILS: 1}))
    ('✓✓✗✗✗✗✗', '✗')
    >>> draw_bar(Answer("", "", {Sign.HOLDS: 20, Sign.OPEN: 70}))
    '✓████ 20  ?████████████████ 70'
    """
    total = sum(answer.counts.values())
    if total <= _MOST_GLYPHS:
        return "".join(SYMBOLS[sign] * n for sign, n in answer.counts.items())
    parts = ((SYMBOLS[sign], max(1, round(_LENGTH * n / total)), n) for sign, n in answer.counts.items())
    return "  ".join(f"{symbol}{'█' * length} {n}" for symbol, length, n in parts)


def explain_numbers(paper: Paper, measured: pd.DataFrame) -> str:
    """Return what decides how many printed numbers come out: that which fails by most, and what leaves others open."""
    rows = measured.to_dict("records")
    verdicts = [Verdict(row["verdict"]) for row in rows]
    failing = [row for row, verdict in zip(rows, verdicts, strict=True) if verdict.sign == Sign.FAILS]
    reasons = []
    if failing:
        row = max(failing, key=lambda row: abs(row["difference"] / (row["printed"] or 1)))
        printed, ours = (format_number(row["metric"], row[name], int(row["decimals"])) for name in ("printed", "mean"))
        reasons.append(f"farthest off: printed {printed}, ours {ours} ({label_result(paper, row)})")
    return "; ".join([*reasons, *_count_unsettled(verdicts)])


def explain_claims(paper: Paper, claims: Sequence[ClaimAnswer]) -> str:
    """Return what decides how many claims hold: the one that fails by most δ, and what leaves others open."""
    failing = [claim for claim in claims if claim.verdict.shown == Sign.FAILS]
    reasons = []
    if failing:
        worst = max(failing, key=_rate_failure)
        reasons.append(f"fails{' by most' if _rate_failure(worst) else ''}: {_quote_effect(paper, worst)}")
    verdicts = [claim.verdict for claim in claims]
    reasons += _count_unsettled(verdicts)
    undecided = [claim for claim in claims if Verdict.UNDECIDED == claim.verdict == claim.as_read]
    if most := max((claim.runs or 0 for claim in undecided), default=0):
        reasons[-1] += f" (after at most {count_runs(most)})"
    return "; ".join(reasons)


def _rate_failure(claim: ClaimAnswer) -> float:
    """Return how many times what counts as no difference a claim fails by; 0 without an effect."""
    found = claim.decisive
    has_size = found is not None and math.isfinite(found.margin) and found.margin > 0
    return abs(found.effect) / found.margin if found is not None and has_size else 0.0


def _quote_effect(paper: Paper, claim: ClaimAnswer) -> str:
    """Return the beginning of a claim with the effect that decides, or why it fails where it has none."""
    quoted = f"“{textwrap.shorten(claim.text, _QUOTED, placeholder=' …').rstrip('.')}”"
    if (found := claim.decisive) is None:
        return f"{quoted}: {claim.reason.partition('; so under each')[0]}"
    asked = paper.claims_by_id[claim.id]
    effect = format_effect(str(claim.metric), turn(asked, found).to_mapping()).partition(" (")[0]
    difference = name_difference(paper, asked, found)
    return f"{quoted}: {effect}{f' ({difference})' if difference else ''}"


def _count_unsettled(verdicts: Iterable[Verdict]) -> list[str]:
    """Return how many verdicts depend on what, and how many are open why.

    >>> _count_unsettled([Verdict.DEPENDS_ON_READING, Verdict.UNDECIDED, Verdict.UNDECIDED, Verdict.REFUTED])
    ['1 depends on the reading', 'open: 2 undecided']
    """
    given = list(verdicts)
    counts = {verdict: given.count(verdict) for verdict in Verdict if verdict in given}
    depending = [
        f"{n} {verdict if n == 1 else verdict.replace('depends', 'depend', 1)}"
        for verdict, n in counts.items()
        if verdict.shown == Sign.DEPENDS
    ]
    is_open = [f"{n} {verdict}" for verdict, n in counts.items() if verdict.sign == Sign.OPEN]
    return [*depending, *([f"open: {', '.join(is_open)}"] if is_open else [])]


def fill_finding(finding: PaperFinding, claims: Sequence[ClaimAnswer], numbers: pd.DataFrame, is_partial: bool) -> str:
    """Return a finding with the sizes of a run, from the verdicts on claims and on numbers.

    A size is that of an effect, in the setting that refutes the claim if there is one, or of the difference of a
    number, or it is how many numbers lie inside of our intervals. Where a run has none there is a dash; a run that is
    partial leaves out the sentence, as the rest of its runs will give it.
    """
    found = {row["id"]: format_number_size(row) for row in numbers.to_dict("records")}
    found |= {claim.id: format_claim_size(claim) for claim in claims}
    sizes = {name: found.get(name, MISSING) for name in finding.fields}
    sizes |= {INSIDE: count_inside(numbers)} if INSIDE in sizes else {}
    sentences = finding.list_sentences()
    known = [one for one in sentences if not (is_partial and any(sizes[name] == MISSING for name in one.fields))]
    return " ".join(sentence.fill(sizes) for sentence in known)


def list_misfits(
    finding: PaperFinding, claims: Sequence[ClaimAnswer], numbers: pd.DataFrame, privacy: AnySign, is_partial: bool
) -> list[str]:
    """Return what a finding takes for granted and the verdicts of a run do not bear out, a text for each.

    Words such as "never" take for granted that its claims have one sign under all of their readings.

    A run that is partial leaves much open, so what is open there is no misfit; that it is partial is said beside it.
    """
    of_claims = {claim.id: claim.verdict.sign for claim in claims}
    of_numbers = {row["id"]: Verdict(row["verdict"]).sign for row in numbers.to_dict("records")}
    misfits = []
    for what, expected, found in (
        ("claim", finding.claims, of_claims),
        ("number", finding.numbers, of_numbers),
    ):
        for name, sign in expected.items():
            came_out = found.get(name, Sign.OPEN)
            if came_out != sign and not (came_out == Sign.OPEN and is_partial):
                misfits.append(f"{what} {name}: {_contrast(sign, came_out)}")
    for word in dict.fromkeys(finding.sweeping_words):
        misfits += [f"it says `{word}`, but claim {name}" for name in _list_differing(finding, claims, is_partial)]
    if finding.privacy not in (None, privacy):
        misfits.append(f"privacy: {_contrast(finding.privacy, privacy)}")
    return misfits


def _list_differing(finding: PaperFinding, claims: Sequence[ClaimAnswer], is_partial: bool) -> list[str]:
    """Return the claims of a finding that have several signs under their readings, with what is so of each."""
    differing = []
    for claim in claims:
        signs = {verdict.sign for verdict in claim.conditions.values()}
        if claim.id in finding.claims and len(signs - ({Sign.OPEN} if is_partial else set())) > 1:
            depends = claim.verdict == Verdict.DEPENDS_ON_READING
            differing.append(f"{claim.id} {'depends on the reading' if depends else 'has readings that differ'}")
    return differing


def _contrast(said: Sign, found: AnySign) -> str:
    return f"it says that this {said.describe(1)}; here it {found.describe(1)}"


def count_inside(numbers: pd.DataFrame) -> str:
    """Return how many printed numbers lie inside of our intervals, such as "65 of 68"."""
    if not numbers["prediction_low"].notna().any():
        return MISSING
    tested = numbers[numbers["statistic"] != "exact"]
    n_inside = int((tested["prediction_low"].notna() & ~find_outside(tested)).sum())
    return f"{n_inside} of {len(tested)}"


def format_claim_size(claim: ClaimAnswer) -> str:
    """Return the size of the effect of a claim as it is read: in the setting that refutes it, else over all."""
    return _format_size(claim.metric, claim.refuting.effect if claim.refuting else claim.effect)


def format_number_size(row: Mapping[str, Any]) -> str:
    """Return the size of the difference of a printed number from ours."""
    return _format_size(row["metric"], row["difference"])


def _format_size(metric: str | None, size: float | None) -> str:
    """Return a difference with two digits and without its sign, for a sentence that stands by itself.

    >>> [_format_size("accuracy", size) for size in (-0.2155, 0.0104, None)]
    ['22 percentage points', '1 percentage point', '—']
    """
    if size is None or is_blank(size):
        return MISSING
    return format_difference(str(metric), float(f"{abs(size):.2g}")).replace(" point", " percentage point")
