"""``below``: one algorithm has less of an error than another."""

from __future__ import annotations

from typing import ClassVar, Literal

from experiments.questions.group_claim import ComparisonClaim


class BelowClaim(ComparisonClaim):
    """The same as ``above``, of an error: ``better`` has less of it than ``worse``."""

    kind: Literal["below"]

    direction: ClassVar[int] = -1
