"""``decreases``: an error falls along an axis."""

from __future__ import annotations

from typing import ClassVar, Literal

from experiments.questions.group_claim import TrendClaim


class DecreasesClaim(TrendClaim):
    """The same as ``increases``, of an error, which falls."""

    kind: Literal["decreases"]

    direction: ClassVar[int] = -1
