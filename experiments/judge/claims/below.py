"""``below``: one algorithm has less of an error than another."""

from __future__ import annotations

from typing import Literal

import numpy as np

from experiments.judge.evidence.claim_group import Part
from experiments.judge.group_claim import ComparisonClaim
from experiments.judge.margin import Margin


class BelowClaim(ComparisonClaim):
    """The same as ``above``, of an error: ``better`` has less of it than ``worse``."""

    kind: Literal["below"]

    @staticmethod
    def list_parts(values: np.ndarray, margin: Margin) -> list[Part]:
        """Want the difference to be below zero."""
        worse, better = values.T
        return [Part("", better - worse, worse - better, margin.between(worse, better))]
