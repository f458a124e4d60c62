"""How the answers that a reader wants of a paper are shown, and its finding.

A finding has its sizes filled in, and its verdicts compared with those of a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from experiments.config.finding import INSIDE, AnySign, PaperFinding, Sign
from experiments.judge.claim_answer import ClaimAnswer
from experiments.judge.number_answers import find_outside
from experiments.judge.numbers.number_verdict import is_blank
from experiments.judge.paper_answer import Answer
from experiments.judge.verdict import Verdict
from experiments.judge.words import format_difference
from plots.labels import MISSING, SYMBOLS


def format_tally(answer: Answer) -> str:
    """Return the counts of an answer in words.

    Examples
    --------
    >>> format_tally(Answer("Do its claims hold?", "2 of 3 hold", {Sign.HOLDS: 2, Sign.FAILS: 1}))
    '✓ 2 hold, ✗ 1 fails'
    """
    return ", ".join(f"{SYMBOLS[sign]} {n} {sign.describe(n)}" for sign, n in answer.counts.items())


def draw_bar(answer: Answer, width: int = 20) -> str:
    """Draw the counts of an answer as a bar of signs, each of them at least once; a single one needs no bar.

    Examples
    --------
    >>> draw_bar(Answer("", "", {Sign.HOLDS: 2, Sign.FAILS: 28}), 10), draw_bar(Answer("", "", {Sign.FAILS: 1}), 3)
    ('✓✗✗✗✗✗✗✗✗✗', '✗')
    """
    left, total, drawn = width, sum(answer.counts.values()), ""
    if total == 1:
        return SYMBOLS[next(iter(answer.counts))]
    for place, (sign, n) in enumerate(answer.counts.items(), start=1):
        others = len(answer.counts) - place
        length = min(max(1, round(left * n / total)), left - others)
        drawn += SYMBOLS[sign] * length
        left, total = left - length, total - n
    return drawn


def fill_finding(finding: PaperFinding, claims: Sequence[ClaimAnswer], numbers: pd.DataFrame) -> str:
    """Return a finding with the sizes of a run, from the verdicts on claims and on numbers; a dash where it has none.

    A size is that of an effect, in the setting that refutes the claim if there is one, or of the difference of a
    number, or it is how many numbers lie inside of our intervals.
    """
    found = {row["id"]: format_number_size(row) for row in numbers.to_dict("records")}
    found |= {claim.id: format_claim_size(claim) for claim in claims}
    sizes = {name: found.get(name, MISSING) for name in finding.fields}
    return finding.fill(sizes | ({INSIDE: count_inside(numbers)} if INSIDE in sizes else {}))


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
