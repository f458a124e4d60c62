"""``highest``: a metric is highest at one value of an axis."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from documents.document import Scalar
from experiments.config.paper import Paper
from experiments.config.setting import is_among, is_same_value
from experiments.config.study import PaperError, Study
from experiments.judge.evidence.claim_group import Contrast
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import GroupClaim, Level

_OTHER = "other value "
"""How the name of a part begins; the place of the other value follows."""


class HighestClaim(GroupClaim):
    """Along one axis the metric is highest at the value ``at``, as of a parameter that was chosen by it.

    It must be above that at every other value. Another value that is better refutes it; where no other differs by more
    than the margin, the choice is practically equal to others.
    """

    kind: Literal["highest"]
    along: str
    """The axis."""
    at: Scalar
    """Its value at which the metric is claimed to be highest."""
    margin: Annotated[float, Field(gt=0, lt=1)] | None = None
    """What counts as no difference, as a share of the metric's mean; δ of the metric if left out."""

    def find_margin(self, paper: Paper) -> Margin:
        """Return δ of the metric, or the claim's own."""
        return super().find_margin(paper) if self.margin is None else Margin(self.margin, is_share=True)

    def find_compared(self, paper: Paper, part: str) -> tuple[str, list[Scalar]]:
        """Return the axis and the other value."""
        levels = self.list_levels(paper.study(self.study, self.id))
        return self.along, [levels[int(part.removeprefix(_OTHER))][self.along]]

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want the difference to every other value to be above zero; the value claimed stands in the first column."""
        claimed, *others = values.T
        contrasts = []
        for place, other in enumerate(others, start=1):
            contrasts.append(Contrast.of_difference(f"{_OTHER}{place}", 1, other, claimed, margin))
        return contrasts

    def list_levels(self, study: Study) -> list[Level]:
        """Return the value claimed, then the others."""
        values = study.axis(self.along, self.where)
        if not is_among(self.at, values) or len(values) < 2:
            raise PaperError(f"claim {self.id!r}: at = {self.at!r} must be one of several {self.along} ({values})")
        others = [value for value in values if not is_same_value(value, self.at)]
        return [{self.along: value} for value in (self.at, *others)]
