"""``meets``: two algorithms agree, at the largest value of an axis or everywhere."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from experiments.config.study import Study
from experiments.judge.evidence.claim_group import Contrast
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import Level, WithMargin


class MeetsClaim(WithMargin):
    """At the largest value of one axis, or in every group, the metric of ``algorithm`` is that of ``to``.

    An equivalence test within ± ``margin``, a share of the metric of ``to``, as for ``independent``. A difference
    outside refutes it.
    """

    kind: Literal["meets"]
    along: str | None = None
    """The axis at whose largest value they meet; left out: in every group."""
    algorithm: str
    """The algorithm that is claimed to meet the other."""
    to: str
    """The other, whose metric the margin is a share of."""

    direction: ClassVar[int] = 0
    compared_keys: ClassVar[tuple[str, ...]] = ("to", "algorithm")

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want the difference to be above minus the margin, and below the margin."""
        other, compared = values.T
        return [Contrast.of_equivalence("", compared - other, margin.between(other, other))]

    def list_levels(self, study: Study) -> list[Level]:
        """Return the two, where they are claimed to meet."""
        levels = super().list_levels(study)
        if self.along is None:
            return levels
        last = max(study.axis(self.along, self.where))
        return [level | {self.along: last} for level in levels]
