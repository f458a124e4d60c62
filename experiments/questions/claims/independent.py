"""``independent``: a metric does not depend on an axis."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from experiments.judge.evidence.claim_group import Part
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import TrendClaim, WithMargin, list_bounds, list_changes


class IndependentClaim(WithMargin, TrendClaim):
    """The metric does not depend on one axis.

    That is more than "no change was found", so it is an equivalence test: in every group the change from the first
    level to the last, and that of every step between, must lie inside ± ``margin``, a share of the mean of the same
    repeat over all levels. A change outside refutes it. An algorithm without a privacy parameter is run at every ε all
    the same, each time with a seed of its own, so that even it must be shown to be independent.
    """

    kind: Literal["independent"]

    direction: ClassVar[int] = 0
    # no margin is a share of nothing: where the metric is zero throughout, nothing can be said
    bound: ClassVar[float | None] = 0.0

    @classmethod
    def list_parts(cls, values: np.ndarray, margin: Margin) -> list[Part]:
        """Want every change to be above minus the margin, and below the margin."""
        mean = values.mean(axis=1)
        parts = []
        for name, change, _ in list_changes(values):
            parts += list_bounds(name, change, margin.between(mean, mean))
        return parts
