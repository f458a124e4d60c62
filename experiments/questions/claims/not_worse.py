"""``not_worse``: one algorithm has as much of a metric as another, or more."""

from __future__ import annotations

from typing import Literal

import numpy as np

from experiments.judge.evidence.claim_group import Part
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import ComparisonClaim, WithMargin


class NotWorseClaim(WithMargin, ComparisonClaim):
    """The algorithm ``better`` is as good as ``worse``: it has at most ``margin``, a share of the metric, less.

    A test of non-inferiority in every group. ``independent`` is refuted by any difference, this by a loss only.
    """

    kind: Literal["not_worse"]

    @classmethod
    def list_parts(cls, values: np.ndarray, margin: Margin) -> list[Part]:
        """Want the difference to be above minus the margin."""
        worse, better = values.T
        margins = margin.between(worse, worse)
        return [Part("", better - worse, better - worse + margins, margins, is_within=True)]
