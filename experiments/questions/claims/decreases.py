"""``decreases``: an error falls along an axis."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from experiments.judge.evidence.claim_group import Part
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import TrendClaim, list_changes


class DecreasesClaim(TrendClaim):
    """The same as ``increases``, of an error, which falls.

    A group that stands at 0 throughout cannot fall and is set aside.
    """

    kind: Literal["decreases"]

    bound: ClassVar[float | None] = 0.0

    def find_direction(self, part: str) -> int:
        """Return that effects below zero bear the claim out."""
        return -1

    @staticmethod
    def list_parts(values: np.ndarray, margin: Margin) -> list[Part]:
        """Want every change below zero."""
        return [Part(name, change, -change, margin.between(*ends)) for name, change, ends in list_changes(values)]
