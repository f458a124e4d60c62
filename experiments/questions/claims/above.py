"""``above``: one algorithm has more of a metric than another."""

from __future__ import annotations

from typing import Literal

import numpy as np

from experiments.judge.evidence.claim_group import Part
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import ComparisonClaim


class AboveClaim(ComparisonClaim):
    """The algorithm ``better`` has more of the metric than ``worse`` in every group.

    Each repeat gives their difference, better minus worse. With ``axis: params.<name>`` two values of that parameter
    are compared instead.
    """

    kind: Literal["above"]

    @staticmethod
    def list_parts(values: np.ndarray, margin: Margin) -> list[Part]:
        """Want the difference to be above zero."""
        worse, better = values.T
        return [Part("", better - worse, better - worse, margin.between(worse, better))]
