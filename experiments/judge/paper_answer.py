"""What verdicts come to: how many of a paper's numbers come out, of its claims hold, of its algorithms are private."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from experiments.config.finding import SIGNS, AccountSign, AnySign, FinerSign, Sign
from experiments.judge.verdict import Verdict

_LESS_SURE: tuple[AnySign, ...] = (Sign.HOLDS, FinerSign.WITHIN, AccountSign.UNAUDITED, Sign.OPEN)
"""Signs that do not speak against anything, the surest first."""


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

        Where nothing speaks against the whole, it is as sure as the part of which least is known.
        """
        if self.counts.keys() <= set(_LESS_SURE):
            return max(self.counts, key=_LESS_SURE.index, default=Sign.OPEN)
        return next(iter(self.counts)) if len(self.counts) == 1 else Sign.DEPENDS

    @property
    def share(self) -> float:
        """The share that holds, 0 where nothing is counted."""
        return self.counts.get(Sign.HOLDS, 0) / max(sum(self.counts.values()), 1)


def count_signs(verdicts: Iterable[str]) -> dict[AnySign, int]:
    """Return how many verdicts have which sign, in the order of the signs.

    Examples
    --------
    >>> {sign.value: n for sign, n in count_signs(["undecided", "reproduced", "refuted", "in part"]).items()}
    {'holds': 1, 'in part': 1, 'fails': 1, 'open': 1}
    """
    signs = [Verdict(verdict).shown for verdict in verdicts]
    return {sign: signs.count(sign) for sign in SIGNS if sign in signs}


def sum_up_verdicts(question: str, verdicts: Sequence[str], nothing: str, reason: str = "") -> Answer:
    """Return how many verdicts on numbers or on claims hold; ``nothing`` is the answer where there are none."""
    if not verdicts:
        return Answer(question, nothing, {})
    counts = count_signs(verdicts)
    n_holding = counts.get(Sign.HOLDS, 0)
    return Answer(question, f"{n_holding} of {len(verdicts)} {Sign.HOLDS.describe(n_holding)}", counts, reason)
