"""What audits say of the algorithms that were run: of models of the same code and settings alone.

An audit is a row for each bound, with ``algorithm``, ``verdict`` and ``standing``, a `cells.current.Standing`.
"""

from __future__ import annotations

import pandas as pd

from experiments.audit.outcomes import NOT_REFUTED, TIGHTLY_KEPT, VIOLATED
from experiments.cells.current import Standing

NO_AUDIT = "not audited"


def select_counting(audit: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of what is like a model that was run: the others say nothing of it."""
    return audit[audit["standing"].isin([standing for standing in Standing if standing.counts])]


def find_violated(audit: pd.DataFrame) -> set[str]:
    """Return the algorithms that an audit has convicted as they were run."""
    return _find_judged(select_counting(audit), VIOLATED)


def find_withstanding(audit: pd.DataFrame) -> set[str]:
    """Return the algorithms that attacks were made on, as they were run, and that withstood."""
    current = audit[audit["standing"] == Standing.CURRENT]
    return _find_judged(current, NOT_REFUTED, TIGHTLY_KEPT) - find_violated(audit)


def _find_judged(rows: pd.DataFrame, *verdicts: str) -> set[str]:
    return set(rows.loc[rows["verdict"].isin(verdicts), "algorithm"]) if len(rows) else set()  # else it has no columns


def describe_standing(audit: pd.DataFrame, algorithm: str) -> str:
    """Return why what audits measured of an algorithm does not count, or not of all; nothing if all of it does."""
    standings = list(audit.loc[audit["algorithm"] == algorithm, "standing"])
    if not standings:
        return NO_AUDIT
    best = min(standings, key=list(Standing).index)
    return "" if best == Standing.CURRENT else best.value
