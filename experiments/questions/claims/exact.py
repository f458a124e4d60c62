"""``exact``: a theorem or a printed formula, decided by computing and not by runs.

*Reproduced* if its statement holds, *refuted* if not; the reason has the number that it comes down to, or the
counterexample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from experiments.config.kinds.claims import ExactClaim
from experiments.config.paper import Paper
from experiments.config.study import PaperError
from experiments.errors import BadInput
from experiments.judge.numbers.number_verdict import PrintedNumber
from experiments.judge.question import ComputedQuestion
from experiments.judge.verdict import Verdict
from experiments.questions.rule import Rule
from experiments.statements.finding import Finding, find_function


class ExactRule(Rule[ExactClaim], of=ExactClaim):
    """The claim's statement is computed."""

    def resolve(self, paper: Paper, numbers: Mapping[str, PrintedNumber]) -> ComputedQuestion:
        """Return the question, if there is such a statement and it takes what is given; see `Rule.resolve`."""
        try:
            statement = find_function(self.claim.statement, self.claim.given)
        except BadInput as error:
            raise PaperError(f"claim {self.claim.id!r}: {error}") from None
        return ComputedQuestion(partial(_compute_finding, partial(statement, **self.claim.given)))


def _compute_finding(statement: Callable[[], Finding], numbers: Mapping) -> dict[str, Any]:
    """Return verdict and reason; printed numbers play no part."""
    finding = statement()
    return {"verdict": Verdict.REPRODUCED if finding.holds else Verdict.REFUTED, "reason": finding.reason}
