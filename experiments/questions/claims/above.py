"""``above``: one algorithm has more of a metric than another."""

from __future__ import annotations

from typing import Literal

from experiments.questions.group_claim import ComparisonClaim


class AboveClaim(ComparisonClaim):
    """The algorithm ``better`` has more of the metric than ``worse`` in every group.

    Each repeat gives their difference, better minus worse. With ``axis: params.<name>`` two values of that parameter
    are compared instead.
    """

    kind: Literal["above"]
