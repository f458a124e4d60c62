"""``below``: one algorithm has less of an error than another."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np

from experiments.judge.evidence.claim_group import Part
from experiments.metrics.metric import Margin, MetricRange
from experiments.questions.group_claim import ComparisonClaim


class BelowClaim(ComparisonClaim):
    """The same as ``above``, of an error: ``better`` has less of it than ``worse``."""

    kind: Literal["below"]

    def _find_most_lost(self, known: Mapping[str, float], bounds: MetricRange) -> float | None:
        """Return how large the better one can be: the worse one is no smaller than the metric's lower end."""
        most = known.get(str(self.better), math.inf) - bounds.low
        return most if math.isfinite(most) else None

    def find_direction(self, part: str) -> int:
        """Return that effects below zero bear the claim out."""
        return -1

    @staticmethod
    def list_parts(values: np.ndarray, margin: Margin) -> list[Part]:
        """Want the difference to be below zero."""
        worse, better = values.T
        return [Part("", better - worse, worse - better, margin.between(worse, better))]
