"""``approaches``: the distance of two algorithms, or of two values of a parameter, falls along an axis."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd

from documents.document import Scalar
from experiments.config.paper import Study
from experiments.config.setting import match_column
from experiments.judge.evidence.claim_group import Part
from experiments.judge.group_claim import Levels, TrendClaim, pivot_levels
from experiments.metrics.metric import Margin


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

    @property
    def compared_axis(self) -> str:
        """The axis of the two."""
        return self.axis

    @property
    def named_values(self) -> dict[str, Any]:
        """The two algorithms."""
        return {"to": self.to, "algorithm": self.algorithm}

    @property
    def is_about_distance(self) -> bool:
        """It is."""
        return True

    def find_direction(self, part: str) -> int:
        """Return that effects below zero bear the claim out."""
        return -1

    @staticmethod
    def list_parts(values: np.ndarray, margin: Margin) -> list[Part]:
        """Want the distance at the last level below that at the first; columns: both levels of each algorithm."""
        own_first, own_last, other_first, other_last = values.T
        first, last = np.abs(own_first - other_first), np.abs(own_last - other_last)
        margins = margin.between((own_first + other_first) / 2, (own_last + other_last) / 2)
        return [Part("", last - first, first - last, margins)]

    def _find_levels(self, study: Study) -> Levels:
        levels = super()._find_levels(study)
        ends = [levels.values[0], levels.values[-1]]
        return Levels(levels.axis, ends, levels.where | {self.along: ends})

    def _arrange_repeats(self, rows: pd.DataFrame, levels: Levels) -> pd.DataFrame:
        """Return both levels of both algorithms in complete repeats."""
        own, other = (
            pivot_levels(rows[match_column(rows[self.axis], value)], self.metric, levels)
            for value in (self.algorithm, self.to)
        )
        return pd.concat([own, other], axis=1).dropna()
