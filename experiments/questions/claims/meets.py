"""``meets``: two algorithms agree, at the largest value of an axis or everywhere."""

from __future__ import annotations

import numpy as np

from experiments.config.kinds.claims import MeetsClaim
from experiments.judge.evidence.claim_group import Contrast
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import GroupRule


class MeetsRule(GroupRule[MeetsClaim], of=MeetsClaim):
    """The difference is above minus the margin, and below the margin."""

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want the difference to be above minus the margin, and below the margin."""
        other, compared = values.T
        return [Contrast.of_equivalence("", compared - other, margin.between(other, other))]
