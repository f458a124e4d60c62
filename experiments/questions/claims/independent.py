"""``independent``: a metric does not depend on an axis."""

from __future__ import annotations

import numpy as np

from experiments.config.kinds.claims import IndependentClaim
from experiments.judge.evidence.claim_group import Contrast
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import TrendRule, list_changes


class IndependentRule(TrendRule[IndependentClaim], of=IndependentClaim):
    """Every change is above minus the margin, and below the margin."""

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want every change to be above minus the margin, and below the margin."""
        mean = values.mean(axis=1)
        margins = margin.between(mean, mean)
        return [Contrast.of_equivalence(name, after - before, margins) for name, before, after in list_changes(values)]
