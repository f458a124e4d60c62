"""``between``: a metric lies between two numbers, or on one side of one."""

from __future__ import annotations

import math

import numpy as np

from experiments.config.kinds.claims import BetweenClaim
from experiments.config.paper import Paper
from experiments.judge.evidence.claim_group import Contrast
from experiments.judge.words import format_value
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import GroupRule

_BELOW = "below the upper end"
"""The contrast that says so."""


class BetweenRule(GroupRule[BetweenClaim], of=BetweenClaim):
    """The metric is above the lower end, and below the upper one."""

    def find_direction(self, contrast: str) -> int:
        """Return on which side of the end that a contrast is about effects bear the claim out."""
        return -1 if contrast == _BELOW else 1

    def name_sides(self, paper: Paper, contrast: str) -> tuple[str, str]:
        """Return ours, and the end that a contrast is about."""
        end = self.claim.high if contrast == _BELOW else self.claim.low
        return "ours", f"the limit of {format_value(self.claim.metric, end)}"

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want the metric above the lower end, and below the upper one."""
        (metric,) = values.T
        contrasts = []
        if math.isfinite(self.claim.low):
            low = np.full_like(metric, self.claim.low)
            contrasts.append(Contrast.of_difference("above the lower end", 1, low, metric, margin))
        if math.isfinite(self.claim.high):
            high = np.full_like(metric, self.claim.high)
            contrasts.append(Contrast.of_difference(_BELOW, -1, high, metric, margin))
        return contrasts

    def find_margin(self, paper: Paper) -> Margin:
        """Return δ of the metric, below 0, too: an end may lie there."""
        return super().find_margin(paper)._replace(floor=-math.inf)
