"""``approaches``: the distance of two algorithms, or of two values of a parameter, falls along an axis."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from documents.document import Scalar
from experiments.config.study import Study
from experiments.judge.evidence.claim_group import Contrast
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import Level, TrendClaim


class ApproachesClaim(TrendClaim):
    """Along one axis the distance between ``algorithm`` and ``to`` falls.

    The distance is the absolute difference of their metrics in each repeat. It must be smaller at the last level than
    at the first; what it does between is not claimed, and not run again. A change of less than δ of the metric itself
    is none. Noise keeps two algorithms apart even where their means agree, so a distance that falls may be noise that
    does. With ``axis: params.<name>`` two values of that parameter are compared instead.
    """

    kind: Literal["approaches"]
    algorithm: Scalar
    """The algorithm that comes nearer."""
    to: Scalar
    """The algorithm that it comes nearer to."""
    axis: str = "algorithm"
    """The axis of the two, if they are no algorithms: ``params.<name>``."""

    direction: ClassVar[int] = -1
    compared_keys: ClassVar[tuple[str, ...]] = ("to", "algorithm")

    @property
    def compared_axis(self) -> str:
        """The axis of the two."""
        return self.axis

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want the distance at the last level below that at the first; columns: both levels of each algorithm."""
        own_first, own_last, other_first, other_last = values.T
        first, last = np.abs(own_first - other_first), np.abs(own_last - other_last)
        levels = (own_first + other_first) / 2, (own_last + other_last) / 2
        return [Contrast.of_difference("", -1, first, last, margin, levels)]

    def list_levels(self, study: Study) -> list[Level]:
        """Return both ends of the axis of the one, and then of the other."""
        levels = self.list_axis_values(study)
        ends = (levels[0], levels[-1])
        return [{self.axis: value, self.along: end} for value in (self.algorithm, self.to) for end in ends]
