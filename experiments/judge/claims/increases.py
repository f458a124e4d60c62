"""``increases``: a metric grows along an axis."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from experiments.judge.group_claim import TrendClaim


class IncreasesClaim(TrendClaim):
    """The metric grows along one axis within every group.

    Each repeat of a group gives one number, the gain from the first to the last level along its least-squares line
    (levels equally spaced), and this gain is tested against zero. A trend is not yet "grows step by step", so the claim
    is also contradicted when any single step falls significantly (paired t, Holm over all steps of all groups). A group
    that stands at 1 throughout cannot grow and is set aside, as in the papers' own tables, where accuracy "grows, then
    settles" at 100 %.
    """

    kind: Literal["increases"]

    bound: ClassVar[float | None] = 1.0
    contradiction_words: ClassVar[tuple[str, str] | None] = ("falls", "fall")

    @staticmethod
    def sign_effects(changes: np.ndarray, margins: np.ndarray) -> list[np.ndarray]:
        """Want the change to be above zero."""
        return [changes]
