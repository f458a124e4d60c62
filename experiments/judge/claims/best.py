"""``best``: of the values of an axis one has the most of a metric."""

from __future__ import annotations

from typing import Literal

import numpy as np

from documents.document import Scalar
from experiments.config.paper import PaperError, Study
from experiments.judge.evidence.claim_group import Part
from experiments.judge.group_claim import GroupClaim, Levels
from experiments.judge.margin import Margin


class BestClaim(GroupClaim):
    """Of all values of ``axis`` that the study has, ``best`` has the most of the metric in every group.

    It must be above each of the others. A value that it is practically equal to is no contradiction.
    """

    kind: Literal["best"]
    axis: str
    """The axis whose values are compared, such as ``params.degree``."""
    best: Scalar
    """The value that is claimed to be the best."""

    @property
    def compared_axis(self) -> str:
        """The axis whose values are compared."""
        return self.axis

    @staticmethod
    def list_parts(values: np.ndarray, margin: Margin) -> list[Part]:
        """Want the last level, which is the best, to be above each of the others."""
        *others, best = values.T
        parts = []
        for number, other in enumerate(others, start=1):
            parts.append(Part(f"beside value {number}", best - other, best - other, margin.between(other, best)))
        return parts

    def _find_levels(self, study: Study) -> Levels:
        levels = super()._find_levels(study)
        values = study.axis(self.axis, levels.where)
        if self.best not in values or len(values) < 2:
            raise PaperError(f"claim {self.id!r}: best = {self.best!r} must be one of several values, not of {values}")
        return Levels(self.axis, [value for value in values if value != self.best] + [self.best], levels.where)
