"""``agrees``: what a paper says of one thing in several places is the same."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.config.kinds.claims import AgreesClaim
from experiments.config.paper import Paper
from experiments.judge.numbers.number_verdict import PrintedNumber
from experiments.judge.question import ComputedQuestion
from experiments.judge.verdict import Verdict
from experiments.questions.rule import Rule


class AgreesRule(Rule[AgreesClaim], of=AgreesClaim):
    """All values that stand in the claim are one."""

    def resolve(self, paper: Paper, numbers: Mapping[str, PrintedNumber]) -> ComputedQuestion:
        """Return the answer: the values stand in the claim."""
        said = "; ".join(f"{place}: {value}" for place, value in self.claim.values.items())
        is_one = len(set(self.claim.values.values())) == 1
        return ComputedQuestion.known(Verdict.REPRODUCED if is_one else Verdict.INCONSISTENT, said)
