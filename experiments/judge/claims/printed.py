"""``printed``: printed numbers must all be reproduced."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

import pandas as pd

from documents.document import ListOf
from experiments.config.paper import Claim, Paper
from experiments.judge.numbers.named import find_numbers
from experiments.judge.verdict import REFUTED, REPRODUCED, UNDECIDED


class PrintedClaim(Claim):
    """Printed numbers of the paper, all of which must be reproduced."""

    kind: Literal["printed"]
    numbers: ListOf[str]
    """Ids of printed numbers."""

    def check(self, paper: Paper) -> None:
        """Nothing can be checked without the printed numbers; `judge` does."""

    def judge(
        self, paper: Paper, table: pd.DataFrame, numbers: pd.DataFrame | None, fixed_splits: Collection[str]
    ) -> dict[str, Any]:
        """Return verdict and reason; the parameters are those of `GroupClaim.judge`.

        Raises
        ------
        PaperError
            If it names a number that the paper does not print.
        """
        verdicts, sentences = set(), []
        for row in find_numbers(self.id, self.numbers, numbers):
            verdicts.add(row["verdict"])
            sentences.append(f"{row['id']}: {row['verdict']}")
        reason = "; ".join(sentences)
        if REFUTED in verdicts:
            return {"verdict": REFUTED, "reason": reason}
        return {"verdict": REPRODUCED if verdicts <= {REPRODUCED} else UNDECIDED, "reason": reason}
