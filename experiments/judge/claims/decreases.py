"""``decreases``: an error falls along an axis."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from experiments.judge.group_claim import TrendClaim


class DecreasesClaim(TrendClaim):
    """The same as ``increases``, of an error, which falls.

    A step that rises contradicts it, and a group that stands at 0 throughout is set aside.
    """

    kind: Literal["decreases"]

    bound: ClassVar[float | None] = 0.0
    contradiction_words: ClassVar[tuple[str, str] | None] = ("rises", "rise")

    @staticmethod
    def sign_effects(changes: np.ndarray, margins: np.ndarray) -> list[np.ndarray]:
        """Want the change to be below zero."""
        return [-changes]
