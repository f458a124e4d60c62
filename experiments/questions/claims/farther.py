"""``farther``: two values of an axis are farther apart in a metric than two others."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from documents.document import Scalar
from experiments.judge.evidence.claim_group import Contrast
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import GroupClaim


class FartherClaim(GroupClaim):
    """``one`` is farther from ``middle`` than ``other`` is, in every group.

    The distance is the absolute difference of their metrics in each repeat.
    """

    kind: Literal["farther"]
    one: Scalar
    """The value that is claimed to be far from the middle."""
    middle: Scalar
    """The value that the others are compared with."""
    other: Scalar
    """The value that is claimed to be near the middle."""
    axis: str = "algorithm"
    """The axis of the three, if they are no algorithms: ``params.<name>``."""

    compared_keys: ClassVar[tuple[str, ...]] = ("other", "middle", "one")

    @property
    def compared_axis(self) -> str:
        """The axis of the three."""
        return self.axis

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want the one distance to be above the other."""
        other, middle, one = values.T
        near, far = np.abs(other - middle), np.abs(one - middle)
        return [Contrast.of_difference("", 1, near, far, margin)]
