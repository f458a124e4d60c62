"""``printed``: printed numbers must all be reproduced.

The claim is *refuted* if any of its numbers is, *reproduced* if all are, *reproduced within ± δ* if all are one or the
other; else it has the verdict of the number about which least is known, in the order of `_LEAST_KNOWN`. While a number
is *not run*, the claim is *undecided*, as every claim is without cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pandas as pd

from algorithms.accounting.faults import join_names
from documents.document import ListOf
from experiments.config.paper import Claim, Paper
from experiments.judge.numbers.named import find_numbers
from experiments.judge.verdict import (
    NOT_IMPLEMENTED,
    NOT_RUN,
    REFUTED,
    REPRODUCED,
    REPRODUCED_WITHIN,
    SETTING_LOST,
    TOO_COARSE,
    UNDECIDED,
)

_LEAST_KNOWN = (NOT_IMPLEMENTED, NOT_RUN, UNDECIDED, SETTING_LOST, TOO_COARSE, REPRODUCED_WITHIN, REPRODUCED)


class PrintedClaim(Claim):
    """Printed numbers of the paper, all of which must be reproduced."""

    kind: Literal["printed"]
    numbers: ListOf[str]
    """Ids of printed numbers."""

    def check(self, paper: Paper) -> None:
        """Nothing can be checked without the printed numbers; `judge` does."""

    def judge(self, numbers: pd.DataFrame | None) -> dict[str, Any]:
        """Return verdict and reason, from the verdicts on printed numbers.

        Raises
        ------
        PaperError
            If it names a number that the paper does not print.
        """
        rows = find_numbers(self.id, self.numbers, numbers)
        verdicts = {row["verdict"] for row in rows}
        verdict = next(name for name in (REFUTED, *_LEAST_KNOWN) if name in verdicts)
        return {"verdict": verdict, "reason": _describe(rows)}


def _describe(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return which of the numbers got which verdict; the reasons stand with the numbers.

    Examples
    --------
    >>> _describe([{"id": "a", "verdict": "reproduced"}, {"id": "b", "verdict": "reproduced"}])
    'reproduced: a and b'
    """
    names: dict[str, list[str]] = {}
    for row in rows:
        names.setdefault(row["verdict"], []).append(row["id"])
    return "; ".join(f"{verdict}: {join_names(own, 'numbers')}" for verdict, own in names.items())
