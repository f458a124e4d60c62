"""``decreases``: an error falls along an axis."""

from __future__ import annotations

from typing import ClassVar, Literal

from experiments.questions.group_claim import TrendClaim


class DecreasesClaim(TrendClaim):
    """The same as ``increases``, of an error, which falls.

    A group that stands at 0 throughout cannot fall and is set aside.
    """

    kind: Literal["decreases"]

    direction: ClassVar[int] = -1
    bound: ClassVar[float | None] = 0.0
