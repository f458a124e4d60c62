"""``between``: a metric lies between two numbers, or on one side of one."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from pydantic import model_validator

from experiments.config.paper import Paper
from experiments.config.study import PaperError, Study
from experiments.judge.evidence.claim_group import Contrast
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import GroupClaim, Level

_BELOW = "below the upper end"
"""The part that says so."""


class BetweenClaim(GroupClaim):
    """In every group the metric of the one algorithm of the part lies between two numbers, or on one side of one.

    A figure that is printed without its setting tells by the ends of its axis which settings it may be of.
    """

    kind: Literal["between"]
    low: float = -math.inf
    """The lower end, a fraction of metrics that are printed in per cent; none if left out."""
    high: float = math.inf
    """The upper end; none if left out."""

    def find_direction(self, part: str) -> int:
        """Return on which side of the end that a part is about effects bear the claim out."""
        return -1 if part == _BELOW else 1

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want the metric above the lower end, and below the upper one."""
        (metric,) = values.T
        contrasts = []
        if math.isfinite(self.low):
            low = np.full_like(metric, self.low)
            contrasts.append(Contrast.of_difference("above the lower end", 1, low, metric, margin))
        if math.isfinite(self.high):
            high = np.full_like(metric, self.high)
            contrasts.append(Contrast.of_difference(_BELOW, -1, high, metric, margin))
        return contrasts

    def find_margin(self, paper: Paper) -> Margin:
        """Return δ of the metric, below 0, too: an end may lie there."""
        return super().find_margin(paper)._replace(floor=-math.inf)

    def list_levels(self, study: Study) -> list[Level]:
        """Return the one algorithm of the part."""
        algorithms = study.axis("algorithm", self.where)
        if len(algorithms) > 1:
            raise PaperError(f"claim {self.id!r}: where must name one algorithm of {algorithms}")
        return [{"algorithm": algorithms[0]}]

    @model_validator(mode="after")
    def _check_ends(self) -> BetweenClaim:
        if not self.low < self.high:
            raise ValueError(f"low = {self.low} must be below high = {self.high}")
        if math.isinf(self.low) and math.isinf(self.high):
            raise ValueError("low or high must be given")
        return self
