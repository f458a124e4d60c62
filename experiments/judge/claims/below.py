"""``below``: one algorithm has less of an error than another."""

from __future__ import annotations

from typing import Literal

import numpy as np

from experiments.judge.group_claim import ComparisonClaim


class BelowClaim(ComparisonClaim):
    """The same as ``above``, of an error: ``better`` has less of it than ``worse``."""

    kind: Literal["below"]

    @staticmethod
    def sign_effects(changes: np.ndarray, margins: np.ndarray) -> list[np.ndarray]:
        """Want the difference to be below zero."""
        return [-changes]
