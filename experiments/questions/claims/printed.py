"""``printed``: printed numbers must all be reproduced.

The claim is *refuted* if any of its numbers is, else it *depends on how many runs were averaged* if any does. It is
*reproduced* if all are, *reproduced within ± δ* if all are one or the other; else it has the verdict of the number
about which `find_least_known` knows least. While a number is *not run*, the claim is *undecided*, as every claim is
without cells.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from algorithms.accounting.faults import join_names
from experiments.config.kinds.claims import PrintedClaim
from experiments.config.paper import Paper
from experiments.config.study import PaperError
from experiments.judge.numbers.number_verdict import PrintedNumber
from experiments.judge.question import ComputedQuestion
from experiments.judge.verdict import Verdict, find_least_known
from experiments.questions.rule import Rule


class PrintedRule(Rule[PrintedClaim], of=PrintedClaim):
    """The verdict comes from those on the claim's numbers."""

    def resolve(self, paper: Paper, numbers: Mapping[str, PrintedNumber]) -> ComputedQuestion:
        """Return the question, if the paper prints all of the numbers; see `Rule.resolve`."""
        check_named(self.claim.id, self.claim.numbers, numbers)
        return ComputedQuestion(partial(_judge, self.claim.numbers))


def check_named(claim: str, names: Sequence[str], numbers: Collection[str]) -> None:
    """Check that a paper prints the numbers that a claim names; raises a PaperError."""
    for name in names:
        if name not in numbers:
            raise PaperError(f"claim {claim!r}: there is no printed number {name!r}")


def _judge(names: Sequence[str], numbers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return verdict and reason, from the verdicts on printed numbers."""
    rows = [numbers[name] for name in names]
    verdicts = {row["verdict"] for row in rows}
    against = [verdict for verdict in (Verdict.REFUTED, Verdict.DEPENDS_ON_RUNS) if verdict in verdicts]
    verdict = against[0] if against else find_least_known(verdicts)
    return {"verdict": verdict, "reason": _describe(rows)}


def _describe(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return which of the numbers got which verdict; the reasons stand with the numbers."""
    names: dict[str, list[str]] = {}
    for row in rows:
        names.setdefault(row["verdict"], []).append(row["id"])
    return "; ".join(f"{verdict}: {join_names(of_verdict, 'numbers')}" for verdict, of_verdict in names.items())
