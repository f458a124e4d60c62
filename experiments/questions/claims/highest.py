"""``highest``: a metric is highest at one value of an axis."""

from __future__ import annotations

import numpy as np

from documents.document import Scalar
from experiments.config.kinds.claims import HighestClaim
from experiments.config.paper import Paper
from experiments.judge.evidence.claim_group import Contrast
from experiments.judge.words import name_setting
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import GroupRule

_OTHER = "other value "
"""How the name of a contrast begins; the place of the other value follows."""


class HighestRule(GroupRule[HighestClaim], of=HighestClaim):
    """The difference of the value claimed to every other one is above zero."""

    def find_compared(self, paper: Paper, contrast: str) -> tuple[str, list[Scalar]]:
        """Return the axis and the other value."""
        levels = self.claim.list_levels(paper.study(self.claim.study, self.claim.id))
        return self.claim.along, [levels[int(contrast.removeprefix(_OTHER))][self.claim.along]]

    def name_sides(self, paper: Paper, contrast: str) -> tuple[str, str]:
        """Return the value claimed, and the other one."""
        axis, (other,) = self.find_compared(paper, contrast)
        return name_setting({axis: self.claim.at}, paper.labels), name_setting({axis: other}, paper.labels)

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want the difference to every other value to be above zero; the value claimed stands in the first column."""
        claimed, *others = values.T
        contrasts = []
        for place, other in enumerate(others, start=1):
            contrasts.append(Contrast.of_difference(f"{_OTHER}{place}", 1, other, claimed, margin))
        return contrasts
