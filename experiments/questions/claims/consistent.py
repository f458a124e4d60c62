"""``consistent``: printed precisions and recalls can come from one confusion matrix.

*Reproduced* if one does, *inconsistent in print* if none does, and *print too coarse* where a mean over runs could give
what a single run could not: the print does not say which it is, and no run of ours could tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from experiments.config.kinds.claims import ConsistentClaim
from experiments.config.paper import Paper
from experiments.config.study import PaperError
from experiments.judge.numbers.confusion_matrix import Feasibility, feasibility
from experiments.judge.numbers.number_verdict import PrintedNumber
from experiments.judge.question import ComputedQuestion
from experiments.judge.verdict import Verdict
from experiments.metrics.find import is_in_per_cent
from experiments.questions.claims.printed import check_named
from experiments.questions.rule import Rule


class ConsistentRule(Rule[ConsistentClaim], of=ConsistentClaim):
    """A confusion matrix is looked for that gives all of the printed numbers."""

    def resolve(self, paper: Paper, numbers: Mapping[str, PrintedNumber]) -> ComputedQuestion:
        """Return the answer, if the paper prints numbers that can be compared; see `Rule.resolve`."""
        claim = self.claim
        check_named(claim.id, (*claim.precision, *claim.recall), numbers)
        printed = [numbers[name] for name in (*claim.precision, *claim.recall)]
        (decimals, *others) = {number.decimals + 2 * is_in_per_cent(number.metric) for number in printed}
        if others:
            raise PaperError(f"claim {claim.id!r}: its numbers are printed with different decimals")
        shares = [float(number.value) for number in printed]
        precisions, recalls = shares[: len(claim.precision)], shares[len(claim.precision) :]
        try:
            result = feasibility(precisions, recalls, claim.n_rows, decimals=decimals)
        except ValueError as error:
            raise PaperError(f"claim {claim.id!r}: {error}") from error
        return ComputedQuestion.known(*self._decide(result, precisions, decimals))

    def _decide(self, result: Feasibility, precisions: Sequence[float], decimals: int) -> tuple[Verdict, str]:
        if result.matrix is not None:
            return Verdict.REPRODUCED, f"the confusion matrix {result.matrix.tolist()} gives all of them"
        forced = " and ".join(f"{100 * low:.1f} to {100 * high:.1f} %" for low, high in result.precision_range)
        sizes = [f"{n[0]} to {n[1]}" if isinstance(n, tuple) else str(n) for n in self.claim.n_rows]
        none = f"no confusion matrix of {' and '.join(sizes)} test rows gives these"
        reason = f"{none}: the recalls force precisions of {forced}"
        half, printed = 0.5 * 10.0**-decimals, np.array(precisions)
        low, high = np.transpose(result.precision_range)
        if np.all((low - half <= printed) & (printed <= high + half)):
            return Verdict.TOO_COARSE, f"{none}; a mean over runs may, and the text does not say which it is"
        return Verdict.INCONSISTENT, reason
