"""``farther``: two values of an axis are farther apart in a metric than two others."""

from __future__ import annotations

import numpy as np

from experiments.config.kinds.claims import FartherClaim
from experiments.judge.evidence.claim_group import Contrast
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import GroupRule


class FartherRule(GroupRule[FartherClaim], of=FartherClaim):
    """The one distance is above the other."""

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want the one distance to be above the other."""
        other, middle, one = values.T
        near, far = np.abs(other - middle), np.abs(one - middle)
        return [Contrast.of_difference("", 1, near, far, margin)]
