"""``increases``: a metric grows along an axis."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from experiments.judge.evidence.claim_group import Part
from experiments.judge.group_claim import TrendClaim, list_changes


class IncreasesClaim(TrendClaim):
    """The metric grows along one axis within every group.

    It grows if no step between neighbouring levels falls by more than δ, and the last level is above the first. The
    same two things prove the claim and refute it. A group that stands at 1 throughout cannot grow and is set aside, as
    in the papers' own tables, where accuracy "grows, then settles" at 100 %.
    """

    kind: Literal["increases"]

    bound: ClassVar[float | None] = 1.0

    @staticmethod
    def list_parts(values: np.ndarray, margins: np.ndarray) -> list[Part]:
        """Want the whole change above zero, and every step above minus the margin."""
        (name, whole), *steps = list_changes(values)
        parts = [Part(name, whole, whole)]
        for step_name, step in steps:
            parts.append(Part(step_name, step, step + margins, is_strict=False))
        return parts
