"""What the looks at a claim have shown of each of its contrasts, and what that comes to.

A claim says something of every setting, so it holds if it is as claimed in each contrast. For that each is tested at
the claim's full level: if one is not as claimed, this one must be wrong for a false verdict (intersection-union; Berger
1982). The same is true of a claim whose contrasts are all equal, smaller than δ whatever their sign. One contrast alone
can refute a claim, and some alone make it hold in part: what is said of some is proven by Holm's rule over all.

======================================= ==========================================
as claimed in each contrast             *reproduced*
the opposite in some                    *refuted*
equal in each                           *practically equal*
as claimed in some, equal in the others *in part*
else                                    *undecided*
======================================= ==========================================
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum

from experiments.judge.evidence.claim_group import PValues
from experiments.judge.evidence.sequential_test import find_proven
from experiments.judge.verdict import Verdict


class Outcome(StrEnum):
    """What the runs have shown of one contrast."""

    AS_CLAIMED = "as claimed"
    EQUAL = "equal"
    OPPOSITE = "opposite"
    OPEN = "open"


class Standings:
    """The outcomes of the contrasts of a claim, as looks go by.

    What a contrast has once been shown to be it stays: it is not run further.

    Examples
    --------
    >>> standings = Standings(2, level=0.01)
    >>> standings.weigh({0: PValues(0.001, 0.002, 1.0, 1.0, 1.0), 1: PValues(0.9, 0.9, 0.1, 0.5, 0.5)}, share=0.5)
    >>> [outcome.value for outcome in standings.outcomes], standings.verdict.value
    (['as claimed', 'open'], 'undecided')
    >>> standings.weigh({1: PValues(0.9, 0.9, 0.1, 0.001, 0.002)}, share=0.5)
    >>> [outcome.value for outcome in standings.outcomes], standings.verdict.value
    (['as claimed', 'equal'], 'in part')
    """

    def __init__(self, n_contrasts: int, level: float) -> None:
        self.outcomes = [Outcome.OPEN] * n_contrasts
        self._level = level
        self._least = [PValues(1.0, 1.0, 1.0, 1.0, 1.0)] * n_contrasts
        self._found = set(self.outcomes)
        #: By themselves, whatever is shown of the others.
        self._claimed: set[int] = set()
        self._equal: set[int] = set()

    def weigh(self, found: Mapping[int, PValues], share: float) -> None:
        """Take note of the p-values of some contrasts, by place, at a look that has a share of the level."""
        for place, values in found.items():
            paid = [p / share for p in values]
            self._least[place] = PValues(*map(min, self._least[place], paid))
        self._settle()

    def is_settled(self, place: int, lost: Collection[int] = ()) -> bool:
        """Return whether a contrast needs no more runs: it is shown to be something, or waits for the others.

        It waits if it is as claimed by itself, and each may still come out so; or equal, in the same way. Of contrasts
        that are ``lost`` nothing will be shown.
        """
        if self.outcomes[place] is not Outcome.OPEN:
            return True
        claimed, equal = self._claimed, self._equal
        may_hold = not lost and not equal and self._found <= {Outcome.OPEN, Outcome.AS_CLAIMED}
        may_be_equal = not lost and not claimed and self._found <= {Outcome.OPEN, Outcome.EQUAL}
        return (place in claimed and may_hold) or (place in equal and may_be_equal)

    def count(self) -> dict[Outcome, int]:
        """Return how many contrasts have which outcome."""
        return {outcome: self.outcomes.count(outcome) for outcome in Outcome}

    @property
    def verdict(self) -> Verdict:
        """What the outcomes come to."""
        found = self._found
        if Outcome.OPPOSITE in found:
            return Verdict.REFUTED
        if Outcome.OPEN in found or not found:
            return Verdict.UNDECIDED
        if found == {Outcome.EQUAL}:
            return Verdict.EQUAL
        return Verdict.REPRODUCED if found == {Outcome.AS_CLAIMED} else Verdict.IN_PART

    def _settle(self) -> None:
        level, least = self._level, self._least
        opposite = find_proven([values.opposite for values in least], level)
        claimed = find_proven([values.any for values in least], level)
        equal = find_proven([values.equal_any for values in least], level)
        self._claimed = {place for place, values in enumerate(least) if values.each <= level}
        self._equal = {place for place, values in enumerate(least) if values.equal_each <= level}
        if len(self._claimed) == len(least):
            claimed = self._claimed
        if len(self._equal) == len(least):
            equal = self._equal
        for place in range(len(least)):
            if self.outcomes[place] is not Outcome.OPEN:
                continue
            if place in equal:
                self.outcomes[place] = Outcome.EQUAL
            elif place in opposite:
                self.outcomes[place] = Outcome.OPPOSITE
            elif place in claimed:
                self.outcomes[place] = Outcome.AS_CLAIMED
        self._found = set(self.outcomes)
