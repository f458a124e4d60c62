"""Which algorithms come into question where something is required of their privacy, by what their fits said of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd

from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.base import PrivateEstimator
from documents.document import Document
from experiments.config import estimators
from experiments.store.long_table import distinct_privacy_reports
from plots.privacy import is_claim_only

_RELATIONS = {"added_or_removed": ADDED_OR_REMOVED, "replaced": REPLACED}
_SLACK = 1e-9


class Requirement(Document):
    """What a reader needs of a method."""

    neighbours: Literal["added_or_removed", "replaced"] | None = None
    """Between which tables the ε on the label must hold; as each method means it if left out."""
    release: bool = False
    """Whether the whole fitted model is to be published: the method must have a form in which it can leave."""
    unchecked: bool = False
    """Whether a claim that nobody accounted for will do, too: that of a peer, or of an (ε, δ)."""

    def explain_exclusion(self, algorithm: str, table: pd.DataFrame) -> str:
        """Return why an algorithm does not come into question; nothing if it does.

        Parameters
        ----------
        algorithm : str
            Its name.
        table : DataFrame
            Rows of the long table, with the column ``privacy``.
        """
        if not estimators.takes_epsilon(algorithm):
            return "not private"
        if self.release and not _has_release(algorithm):
            return "its model cannot be published"
        own = table[table["algorithm"] == algorithm]
        if own.empty:
            return "it was not run"
        reports = distinct_privacy_reports(own.get("privacy", ()))
        claims = [report for report in reports if not is_claim_only(report)]
        if not claims:
            return "" if self.unchecked else "nobody checked its ε"
        if not all(map(self._is_kept, claims)):
            return "does not keep this ε"
        return ""

    def _is_kept(self, report: Mapping[str, Any]) -> bool:
        if self.neighbours is None:
            return bool(report["keeps_claim"])
        paid = float(report["accounted"][_RELATIONS[self.neighbours]])
        return paid <= float(report["claimed_epsilon"]) * (1 + _SLACK)


def _has_release(algorithm: str) -> bool:
    """Return whether an algorithm says what may leave of its models."""
    estimator = estimators.import_class(estimators.find_target(algorithm))
    return issubclass(estimator, PrivateEstimator) and estimator._released is not PrivateEstimator._released
