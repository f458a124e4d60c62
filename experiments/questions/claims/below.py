"""``below``: one algorithm has less of an error than another."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Literal

from experiments.metrics.metric import MetricRange
from experiments.questions.group_claim import ComparisonClaim


class BelowClaim(ComparisonClaim):
    """The same as ``above``, of an error: ``better`` has less of it than ``worse``."""

    kind: Literal["below"]

    direction: ClassVar[int] = -1

    def _find_most_lost(self, known: Mapping[str, float], bounds: MetricRange) -> float | None:
        """Return how large the better one can be: the worse one is no smaller than the metric's lower end."""
        most = known.get(str(self.better), math.inf) - bounds.low
        return most if math.isfinite(most) else None
