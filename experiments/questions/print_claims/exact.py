"""``exact``: a theorem or a printed formula, decided by computing and not by runs.

*Reproduced* if its statement holds, *refuted* if not; the reason has the number that it comes down to, or the
counterexample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from documents.document import Scalar
from experiments.config.paper import Claim, Paper
from experiments.config.study import PaperError
from experiments.errors import BadInput
from experiments.judge.numbers.number_verdict import PrintedNumber
from experiments.judge.question import ComputedQuestion
from experiments.judge.statements.finding import Finding, find_function
from experiments.judge.verdict import Verdict


class ExactClaim(Claim):
    """A theorem or a printed formula: a function of `experiments.judge.statements` says whether it holds."""

    kind: Literal["exact"]
    statement: str
    """The function, ``module.function``."""
    given: dict[str, Scalar] = {}
    """Its arguments, such as the number that is printed."""

    def resolve(self, paper: Paper, numbers: Mapping[str, PrintedNumber]) -> ComputedQuestion:
        """Return the question, if there is such a statement and it takes what is given; see `Claim.resolve`."""
        try:
            statement = find_function(self.statement, self.given)
        except BadInput as error:
            raise PaperError(f"claim {self.id!r}: {error}") from None
        return ComputedQuestion(partial(_compute_finding, partial(statement, **self.given)))


def _compute_finding(statement: Callable[[], Finding], numbers: Mapping) -> dict[str, Any]:
    """Return verdict and reason; printed numbers play no part."""
    finding = statement()
    return {"verdict": Verdict.REPRODUCED if finding.holds else Verdict.REFUTED, "reason": finding.reason}
