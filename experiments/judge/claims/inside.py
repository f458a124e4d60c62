"""``inside``: a metric lies on a printed axis."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import model_validator

from experiments.config.paper import PaperError, Study
from experiments.judge.evidence.claim_group import Part
from experiments.judge.group_claim import GroupClaim, Levels
from experiments.judge.margin import Margin


class InsideClaim(GroupClaim):
    """The metric lies between two numbers in every group, such as the ends of the axis that a figure is drawn on.

    A figure that is printed without its setting tells by its axis which settings it may be of.
    """

    kind: Literal["inside"]
    low: float
    """The lower end, a fraction of metrics that are printed in per cent."""
    high: float
    """The upper end."""
    along: str = "epsilon"
    """An axis that ``where`` narrows to one value, which is the setting in question."""

    @property
    def compared_axis(self) -> str:
        """The axis of the setting in question."""
        return self.along

    @property
    def named_values(self) -> dict[str, Any]:
        """None: nothing is compared."""
        return {}

    @staticmethod
    def list_parts(values: np.ndarray, margin: Margin) -> list[Part]:
        """Want the metric above the lower end, and below the upper one; columns: the metric and both ends."""
        metric, low, high = values.T
        return [
            Part("above the lower end", metric - low, metric - low, margin.between(low, metric)),
            Part("below the upper end", metric - high, high - metric, margin.between(metric, high)),
        ]

    def _find_levels(self, study: Study) -> Levels:
        levels = super()._find_levels(study)
        values = study.axis(self.along, levels.where)
        if len(values) != 1:
            raise PaperError(f"claim {self.id!r}: where must name one value of {self.along}, got {values}")
        return Levels(self.along, values, levels.where)

    def _arrange_repeats(self, rows: pd.DataFrame, levels: Levels) -> pd.DataFrame:
        """Return the metric of each repeat beside both ends."""
        return super()._arrange_repeats(rows, levels).assign(low=self.low, high=self.high)

    @model_validator(mode="after")
    def _check_ends(self) -> InsideClaim:
        if not self.low < self.high:
            raise ValueError(f"low = {self.low} must be below high = {self.high}")
        return self
