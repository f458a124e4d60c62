"""``increases``: a metric grows along an axis."""

from __future__ import annotations

from typing import ClassVar, Literal

from experiments.questions.group_claim import TrendClaim


class IncreasesClaim(TrendClaim):
    """The metric grows along one axis within every group.

    It grows if every level is above the one before it, and the last above the first; a step that is practically flat
    makes it "reproduced within ± δ", and one that falls refutes it. A group that stands at 1 throughout cannot grow and
    is set aside, as in the papers' own tables, where accuracy "grows, then settles" at 100 %.
    """

    kind: Literal["increases"]

    bound: ClassVar[float | None] = 1.0
