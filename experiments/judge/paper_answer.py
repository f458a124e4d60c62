"""What verdicts come to: how many of a paper's numbers come out, of its claims hold, of its algorithms are private."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from experiments.config.finding import AccountSign, AnySign, Sign
from experiments.judge.verdict import Verdict


@dataclass(frozen=True)
class Answer:
    """One of the three answers, in a few words."""

    question: str
    words: str
    #: How many numbers, claims or algorithms have which sign, those that none has left out; empty without any.
    counts: dict[AnySign, int]
    reason: str = ""  #: why, if that can be said in a sentence

    @property
    def sign(self) -> AnySign:
        """What the counts come to: the one sign that all have, else depends; open without any.

        Where nothing fails and something is not audited, nobody has looked at the whole.
        """
        if not self.counts:
            return Sign.OPEN
        if self.counts.keys() == {Sign.HOLDS, AccountSign.UNAUDITED}:
            return AccountSign.UNAUDITED
        return next(iter(self.counts)) if len(self.counts) == 1 else Sign.DEPENDS

    @property
    def share(self) -> float:
        """The share that holds, 0 where nothing is counted."""
        return self.counts.get(Sign.HOLDS, 0) / max(sum(self.counts.values()), 1)


def count_signs(verdicts: Iterable[str]) -> dict[AnySign, int]:
    """Return how many verdicts have which sign, in the order of the signs.

    Examples
    --------
    >>> {sign.value: n for sign, n in count_signs(["undecided", "reproduced", "refuted", "refuted"]).items()}
    {'holds': 1, 'fails': 2, 'open': 1}
    """
    signs = [Verdict(verdict).sign for verdict in verdicts]
    return {sign: signs.count(sign) for sign in Sign if sign in signs}


def sum_up_verdicts(question: str, verdicts: Sequence[str], nothing: str) -> Answer:
    """Return how many verdicts on numbers or on claims hold; ``nothing`` is the answer where there are none."""
    if not verdicts:
        return Answer(question, nothing, {})
    counts = count_signs(verdicts)
    n_holding = counts.get(Sign.HOLDS, 0)
    return Answer(question, f"{n_holding} of {len(verdicts)} {Sign.HOLDS.describe(n_holding)}", counts)
