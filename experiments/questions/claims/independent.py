"""``independent``: a metric does not depend on an axis."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from experiments.judge.evidence.claim_group import Contrast
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import TrendClaim, WithMargin, list_changes


class IndependentClaim(WithMargin, TrendClaim):
    """The metric does not depend on one axis.

    That is more than "no change was found", so it is an equivalence test: in every group the change from the first
    level to the last, and that of every step between, must lie inside ± ``margin``, a share of the mean of the same
    repeat over all levels. A change outside refutes it. An algorithm without a privacy parameter is run at every ε all
    the same, each time with a seed of its own, so that even it must be shown to be independent.
    """

    kind: Literal["independent"]

    direction: ClassVar[int] = 0

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want every change to be above minus the margin, and below the margin."""
        mean = values.mean(axis=1)
        margins = margin.between(mean, mean)
        return [Contrast.of_equivalence(name, after - before, margins) for name, before, after in list_changes(values)]
