"""``agrees``: what a paper says of one thing in several places is the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from documents.document import Scalar
from experiments.config.paper import Claim, Paper
from experiments.judge.numbers.number_verdict import PrintedNumber
from experiments.judge.question import ComputedQuestion
from experiments.judge.verdict import Verdict


class AgreesClaim(Claim):
    """What the paper says of one thing in several places is the same.

    If not, it is ``inconsistent in print``; nothing need be run for that.
    """

    kind: Literal["agrees"]
    values: dict[str, Scalar] = Field(min_length=2)
    """What stands where: by place, the number or word that follows from the text there."""

    def resolve(self, paper: Paper, numbers: Mapping[str, PrintedNumber]) -> ComputedQuestion:
        """Return the answer: the values stand in the claim."""
        said = "; ".join(f"{place}: {value}" for place, value in self.values.items())
        is_one = len(set(self.values.values())) == 1
        return ComputedQuestion.known(Verdict.REPRODUCED if is_one else Verdict.INCONSISTENT, said)
