"""``approaches``: the distance of two algorithms falls along an axis."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd

from experiments.judge.claims.decreases import DecreasesClaim
from experiments.judge.group_claim import Levels, pivot_levels


class ApproachesClaim(DecreasesClaim):
    """Along one axis the distance between ``algorithm`` and ``to`` falls.

    The distance is the absolute difference of their metrics in each repeat; it is tested as ``decreases`` is. Noise
    keeps two algorithms apart even where their means agree, so a distance that falls may be noise that does.
    """

    kind: Literal["approaches"]  # type: ignore[assignment]  # its own word, the rule of the other
    algorithm: str
    """The algorithm that comes nearer."""
    to: str
    """The algorithm that it comes nearer to."""

    @property
    def named_values(self) -> dict[str, Any]:
        """The two algorithms."""
        return {"to": self.to, "algorithm": self.algorithm}

    @property
    def is_about_distance(self) -> bool:
        """It is."""
        return True

    def _arrange_repeats(self, rows: pd.DataFrame, levels: Levels) -> pd.DataFrame:
        """Return the distance of the two in complete repeats at each level."""
        own = pivot_levels(rows[rows["algorithm"] == self.algorithm], self.metric, levels)
        other = pivot_levels(rows[rows["algorithm"] == self.to], self.metric, levels)
        return (own - other).abs().dropna()
