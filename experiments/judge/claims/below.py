"""``below``: one algorithm has less of an error than another."""

from __future__ import annotations

from typing import Literal

import numpy as np

from experiments.judge.evidence.claim_group import Part
from experiments.judge.group_claim import ComparisonClaim


class BelowClaim(ComparisonClaim):
    """The same as ``above``, of an error: ``better`` has less of it than ``worse``."""

    kind: Literal["below"]

    @staticmethod
    def list_parts(values: np.ndarray, margins: np.ndarray) -> list[Part]:
        """Want the difference to be below zero."""
        difference = values[:, 1] - values[:, 0]
        return [Part("", difference, -difference)]
