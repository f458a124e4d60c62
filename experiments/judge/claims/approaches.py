"""``approaches``: the distance of two algorithms falls along an axis."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from experiments.judge.evidence.claim_group import Part
from experiments.judge.group_claim import Levels, TrendClaim, pivot_levels
from experiments.judge.margin import Margin


class ApproachesClaim(TrendClaim):
    """Along one axis the distance between ``algorithm`` and ``to`` falls.

    The distance is the absolute difference of their metrics in each repeat. It must be smaller at the last level than
    at the first; what it does between is not claimed. Noise keeps two algorithms apart even where their means agree, so
    a distance that falls may be noise that does.
    """

    kind: Literal["approaches"]
    algorithm: str
    """The algorithm that comes nearer."""
    to: str
    """The algorithm that it comes nearer to."""

    bound: ClassVar[float | None] = 0.0

    @property
    def named_values(self) -> dict[str, Any]:
        """The two algorithms."""
        return {"to": self.to, "algorithm": self.algorithm}

    @property
    def is_about_distance(self) -> bool:
        """It is."""
        return True

    @staticmethod
    def list_parts(values: np.ndarray, margin: Margin) -> list[Part]:
        """Want the distance at the last level below that at the first."""
        first, last = values[:, 0], values[:, -1]
        return [Part("first to last", last - first, first - last, margin.between(first, last))]

    def _arrange_repeats(self, rows: pd.DataFrame, levels: Levels) -> pd.DataFrame:
        """Return the distance of the two in complete repeats at each level."""
        own = pivot_levels(rows[rows["algorithm"] == self.algorithm], self.metric, levels)
        other = pivot_levels(rows[rows["algorithm"] == self.to], self.metric, levels)
        return (own - other).abs().dropna()
