"""``agrees``: what a paper says of one thing in several places is the same.

*Reproduced* if it is, else *inconsistent in print*.
"""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd
from pydantic import Field

from documents.document import Scalar
from experiments.config.paper import Claim, Paper
from experiments.judge.verdict import INCONSISTENT, REPRODUCED


class AgreesClaim(Claim):
    """What the paper says of one thing in several places is the same.

    If not, it is ``inconsistent in print``; nothing need be run for that.
    """

    kind: Literal["agrees"]
    values: dict[str, Scalar] = Field(min_length=2)
    """What stands where: by place, the number or word that follows from the text there."""

    def check(self, paper: Paper) -> None:
        """Nothing can be checked: the values stand in the claim."""

    def judge(self, numbers: pd.DataFrame | None) -> dict[str, Any]:
        """Return verdict and reason."""
        said = "; ".join(f"{place}: {value}" for place, value in self.values.items())
        is_one = len(set(self.values.values())) == 1
        return {"verdict": REPRODUCED if is_one else INCONSISTENT, "reason": said}
