"""``against_value``: a metric lies on one side of a number."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pandas as pd

from experiments.config.paper import Paper, PaperError, Study
from experiments.judge.evidence.claim_group import Part
from experiments.judge.group_claim import GroupClaim, Levels
from experiments.judge.margin import Margin


class AgainstValueClaim(GroupClaim):
    """In every group the metric of the one algorithm of the part lies above, or below, a number."""

    kind: Literal["against_value"]
    side: Literal["above", "below"]
    """On which side of the number."""
    value: float
    """The number."""

    @staticmethod
    def list_parts(values: np.ndarray, margin: Margin) -> list[Part]:
        """Want the larger level, one of which is the number, to be above the smaller."""
        smaller, larger = values.T
        return [Part("", larger - smaller, larger - smaller, margin.between(smaller, larger))]

    def find_margin(self, paper: Paper) -> Margin:
        """Return δ of the metric, below 0, too: the number may lie there."""
        return super().find_margin(paper)._replace(floor=-math.inf)

    def _find_levels(self, study: Study) -> Levels:
        levels = super()._find_levels(study)
        algorithms = study.axis("algorithm", levels.where)
        if len(algorithms) > 1:
            raise PaperError(f"claim {self.id!r}: where must name one algorithm of {algorithms}")
        return Levels(levels.axis, algorithms, levels.where)

    def _arrange_repeats(self, rows: pd.DataFrame, levels: Levels) -> pd.DataFrame:
        """Return the metric of each repeat beside the number, the one that is claimed to be larger last."""
        metric = super()._arrange_repeats(rows, levels)
        place = 1 if self.side == "below" else 0
        metric.insert(place, "value", self.value)
        return metric
