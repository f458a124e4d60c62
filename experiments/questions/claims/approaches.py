"""``approaches``: the distance of two algorithms, or of two values of a parameter, falls along an axis."""

from __future__ import annotations

import numpy as np

from experiments.config.kinds.claims import ApproachesClaim
from experiments.config.paper import Paper
from experiments.judge.evidence.claim_group import Contrast
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import TrendRule


class ApproachesRule(TrendRule[ApproachesClaim], of=ApproachesClaim):
    """The distance at the last level is below that at the first."""

    def name_sides(self, paper: Paper, contrast: str) -> tuple[str, str]:
        """Return the distance at the last level, and that at the first."""
        last, first = super().name_sides(paper, contrast)
        return f"distance at {last}", f"distance at {first}"

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want the distance at the last level below that at the first; columns: both levels of each algorithm."""
        own_first, own_last, other_first, other_last = values.T
        first, last = np.abs(own_first - other_first), np.abs(own_last - other_last)
        levels = (own_first + other_first) / 2, (own_last + other_last) / 2
        return [Contrast.of_difference("", -1, first, last, margin, levels)]
