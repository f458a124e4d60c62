"""``exact``: a theorem or a printed formula, decided by computing and not by runs.

*Reproduced* if its statement holds, *refuted* if not; the reason has the number that it comes down to, or the
counterexample.
"""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd

from documents.document import Scalar
from experiments.config.paper import Claim, Paper, PaperError
from experiments.errors import BadInput
from experiments.judge.statements.finding import find_function
from experiments.judge.verdict import REFUTED, REPRODUCED


class ExactClaim(Claim):
    """A theorem or a printed formula: a function of `experiments.judge.statements` says whether it holds."""

    kind: Literal["exact"]
    statement: str
    """The function, ``module.function``."""
    given: dict[str, Scalar] = {}
    """Its arguments, such as the number that is printed."""

    def check(self, paper: Paper) -> None:
        """Check that there is such a statement, and that it takes what is given.

        Raises
        ------
        PaperError
            If not.
        """
        try:
            find_function(self.statement, self.given)
        except BadInput as error:
            raise PaperError(f"claim {self.id!r}: {error}") from None

    def judge(self, numbers: pd.DataFrame | None) -> dict[str, Any]:
        """Return verdict and reason; printed numbers play no part."""
        finding = find_function(self.statement, self.given)(**self.given)
        return {"verdict": REPRODUCED if finding.holds else REFUTED, "reason": finding.reason}
