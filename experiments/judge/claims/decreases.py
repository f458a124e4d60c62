"""``decreases``: an error falls along an axis."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from experiments.judge.evidence.claim_group import Part
from experiments.judge.group_claim import TrendClaim, list_changes


class DecreasesClaim(TrendClaim):
    """The metric, an error, falls along one axis within every group.

    It falls if no step between neighbouring levels rises by more than δ, and the last level is below the first. A group
    that stands at 0 throughout cannot fall and is set aside.
    """

    kind: Literal["decreases"]

    bound: ClassVar[float | None] = 0.0

    @staticmethod
    def list_parts(values: np.ndarray, margins: np.ndarray) -> list[Part]:
        """Want the whole change below zero, and every step below the margin."""
        (name, whole), *steps = list_changes(values)
        parts = [Part(name, whole, -whole)]
        for step_name, step in steps:
            parts.append(Part(step_name, step, margins - step, is_strict=False))
        return parts
