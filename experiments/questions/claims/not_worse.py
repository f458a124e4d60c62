"""``not_worse``: one algorithm has as much of a metric as another, or more."""

from __future__ import annotations

from typing import Literal

import numpy as np

from experiments.judge.evidence.claim_group import Contrast
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import ComparisonClaim, WithMargin


class NotWorseClaim(WithMargin, ComparisonClaim):
    """The algorithm ``better`` is as good as ``worse``: it has at most ``margin``, a share of the metric, less.

    A test of non-inferiority in every group. ``independent`` is refuted by any difference, this by a loss only.
    """

    kind: Literal["not_worse"]

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want the difference to be above minus the margin."""
        worse, better = values.T
        margins = margin.between(worse, worse)
        return [Contrast("", better - worse, (better - worse + margins,), margins)]
