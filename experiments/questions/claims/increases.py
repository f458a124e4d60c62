"""``increases``: a metric grows along an axis."""

from __future__ import annotations

from typing import Literal

from experiments.questions.group_claim import TrendClaim


class IncreasesClaim(TrendClaim):
    """The metric grows along one axis within every group.

    It grows if every level is above the one before it, and the last above the first. Each of these counts as a setting:
    with steps that are practically flat the claim holds in part, and one that falls refutes it.
    """

    kind: Literal["increases"]
