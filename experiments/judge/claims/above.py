"""``above``: one algorithm has more of a metric than another."""

from __future__ import annotations

from typing import Literal

import numpy as np

from experiments.judge.group_claim import ComparisonClaim


class AboveClaim(ComparisonClaim):
    """The algorithm ``better`` has more of the metric than ``worse`` in every group.

    Each repeat gives their difference, better minus worse. With ``axis: params.<name>`` two values of that parameter
    are compared instead.
    """

    kind: Literal["above"]

    @staticmethod
    def sign_effects(changes: np.ndarray, margins: np.ndarray) -> list[np.ndarray]:
        """Want the difference to be above zero."""
        return [changes]
