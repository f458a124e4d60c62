"""``farther``: two values of an axis are farther apart in a metric than two others."""

from __future__ import annotations

import numpy as np

from experiments.config.kinds.claims import FartherClaim
from experiments.config.paper import Paper
from experiments.judge.evidence.claim_group import Contrast
from experiments.judge.words import name_setting
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import GroupRule


class FartherRule(GroupRule[FartherClaim], of=FartherClaim):
    """The one distance is above the other."""

    def name_sides(self, paper: Paper, contrast: str) -> tuple[str, str]:
        """Return the distance of the one from the middle, and that of the other."""
        values = self.claim.named_values.values()
        other, middle, one = (name_setting({self.claim.axis: value}, paper.labels) for value in values)
        return f"distance of {one} from {middle}", f"that of {other}"

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want the one distance to be above the other."""
        other, middle, one = values.T
        near, far = np.abs(other - middle), np.abs(one - middle)
        return [Contrast.of_difference("", 1, near, far, margin)]
