"""Decide a claim look by look, on runs that are there: what they prove, and which runs are still needed.

A look is a number of repeats. At each look every part of every group that is still open is weighed:

- it *holds* once it is proven to gain, and is *practically equal* once it is proven neither to lose nor to gain more
  than δ. A group whose parts are all one or the other is settled, and gets no more runs;
- the claim is *reproduced* once all parts hold, *practically equal* once all are, *reproduced within ± δ* once all are
  one or the other: every part must be proven, so nothing is adjusted for their number (an intersection-union test);
- it is *refuted* once the average wealth of all who bet against a part proves that one of them is right, which pays for
  their number. A part that is practically equal refutes nothing.

What proves is a wealth of 1/α. It may be looked at as often as one likes, so looks cost nothing (see `wealth`). Nor
does it cost anything to give up, whenever and for whatever reason: more repeats are made of those groups alone that may
still decide the claim, and of none where it could only stay undecided. A group that is given up is not taken up again:
it would be for what others gave meanwhile, on the same splits.

The result depends on the first repeats of each group alone: neither on the order in which runs were made nor on runs
beyond the look at which a group was settled.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from experiments.judge.evidence.claim_group import HOLDS_WITHIN, ClaimGroup, PartWealth, RunsQuestion, State
from experiments.judge.evidence.wealth import average_log_wealth
from experiments.judge.verdict import EQUAL, REFUTED, REPRODUCED, REPRODUCED_WITHIN, UNDECIDED


def list_looks(first: int, most: int) -> list[int]:
    """Return the numbers of repeats at which a verdict is looked for: up to ``most``, by a half or a third more each.

    Examples
    --------
    >>> list_looks(10, 160), list_looks(100, 300), list_looks(10, 10)
    ([10, 20, 30, 40, 60, 80, 120, 160], [100, 200, 300], [10])
    """
    looks, step = [first], first
    while looks[-1] + step <= most:
        looks.append(looks[-1] + step)
        if looks[-1] % (4 * step) == 0:
            step *= 2
    return looks


class QuestionState:
    """What is known of one question about a claim, all of its groups, as looks go by."""

    def __init__(self, groups: Sequence[ClaimGroup], question: RunsQuestion, threshold: float) -> None:
        self.question = question
        self.states = [[State.OPEN] * len(group.parts) for group in groups]
        self.contradiction: tuple[int, int] | None = None
        self._groups, self._threshold = groups, threshold
        self._against = [np.zeros(len(group.parts)) for group in groups]
        self._to_refute = threshold + math.log(sum(map(len, self._against)))  # for one part that pays for all

    def is_settled(self, place: int) -> bool:
        """Return whether every part of a group holds or is practically equal."""
        return State.OPEN not in self.states[place]

    def count_open(self) -> int:
        """Return how many groups are not settled."""
        return len(self.states) - sum(map(self.is_settled, range(len(self.states))))

    def weigh_group(self, place: int, n: int) -> None:
        """Weigh the first ``n`` repeats of a group."""
        states, against = self.states[place], self._against[place]
        for part, wealth in enumerate(self._groups[place].wealth[self.question]):
            if states[part] is State.OPEN and wealth.gain[n] >= self._threshold:
                states[part] = State.HOLDS
            elif states[part] is State.OPEN and wealth.equal[n] >= self._threshold:
                states[part] = State.EQUAL
            # what is practically equal contradicts by less than δ at most, which is no contradiction
            against[part] = min(wealth.loss[n], 0.0) if states[part] is State.EQUAL else wealth.loss[n]

    def weigh_claim(self) -> None:
        """Find out whether some part of some group contradicts the claim, and which does most."""
        if self.contradiction is None and average_log_wealth(np.concatenate(self._against)) >= self._threshold:
            strongest = max(range(len(self._groups)), key=lambda place: self._against[place].max())
            self.contradiction = strongest, int(self._against[strongest].argmax())

    def project_repeats(self, place: int, n: int) -> float:
        """Return after how many repeats a group would be settled if wealth went on to grow as it did."""
        weighed = self._groups[place].wealth[self.question]
        for_parts = []
        for state, wealth in zip(self.states[place], weighed, strict=True):
            if state is State.OPEN:
                for_parts.append(max(wealth.gain[n], wealth.equal[n]))
        ways = (min(for_parts, default=0.0), self._threshold), (self._against[place].max(), self._to_refute)
        return min(n * needed / grown if grown > 0 else math.inf for grown, needed in ways)

    def list_promising(self, places: Collection[int], counts: Sequence[int], most: int) -> set[int]:
        """Return those of some groups of which more repeats could still decide the question.

        All that are open, if each of them may be hoped to be settled after ``most`` repeats; else those that may be
        hoped to refute the claim, by themselves or, where none may, together. None, once it is decided.
        """
        if self.verdict != UNDECIDED:
            return set()
        unsettled = {place for place in range(len(self.states)) if not self.is_settled(place)}
        hoped = {}
        for place in unsettled.intersection(places):
            hoped[place] = self._groups[place].project_parts(self.question, counts[place], most)
        if all(place in hoped and self._may_be_settled(place, hoped[place]) for place in unsettled):
            return unsettled
        alone = {place for place, parts in hoped.items() if max(part.loss for part in parts) >= self._to_refute}
        return alone or self._list_refuting_together(hoped)

    def _list_refuting_together(self, hoped: Mapping[int, Sequence[PartWealth]]) -> set[int]:
        """Return the groups whose wealth against the claim may grow, if all of it may refute the claim; else none."""
        against = [wealth.copy() for wealth in self._against]
        for place, parts in hoped.items():
            for part, wealth in enumerate(parts):
                if self.states[place][part] is not State.EQUAL:
                    against[place][part] = max(against[place][part], wealth.loss)
        if average_log_wealth(np.concatenate(against)) < self._threshold:
            return set()
        return {place for place in hoped if (against[place] > self._against[place]).any()}

    def _may_be_settled(self, place: int, hoped: Sequence[PartWealth]) -> bool:
        """Return whether wealth that is hoped for would settle every open part of a group."""
        for state, part in zip(self.states[place], hoped, strict=True):
            if state is State.OPEN and max(part.gain, part.equal) < self._threshold:
                return False
        return True

    @property
    def verdict(self) -> str:
        """The verdict so far."""
        if self.contradiction is not None:
            return REFUTED
        found = set(chain.from_iterable(self.states))
        if State.OPEN in found:
            return UNDECIDED
        return REPRODUCED if found == {State.HOLDS} else EQUAL if found == {State.EQUAL} else REPRODUCED_WITHIN

    def describe_group(self, place: int) -> str:
        """Return what is known of a group: ``holds``, ``practically equal``, ``holds within ± δ`` or ``open``."""
        found = set(self.states[place])
        if State.OPEN in found:
            return State.OPEN.value
        return found.pop().value if len(found) == 1 else HOLDS_WITHIN


@dataclass(frozen=True)
class Replay:
    """What came out of the looks at a claim."""

    #: The paper's own question first.
    answers: list[QuestionState]
    #: Complete repeats of each group that were weighed.
    counts: list[int]
    #: Repeats of each group that were asked for, complete or not.
    looks: list[int]
    #: By place of the group, the number of repeats that it needs to be decided; empty if it is, or if no more are
    #: allowed.
    needed: dict[int, int]


def replay_looks(groups: Sequence[ClaimGroup], looks: Sequence[int], threshold: float) -> Replay:
    """Weigh a claim at each look, ascending, until it is decided or runs or looks are at an end; log(1/α) proves."""
    answers = [QuestionState(groups, question, threshold) for question in groups[0].test.questions]
    counts, asked, unsettled = [0] * len(groups), [0] * len(groups), list(range(len(groups)))
    for look in looks:
        needed = {place: look for place in unsettled if groups[place].n_attempted < look}
        if needed:
            return Replay(answers, counts, asked, needed)
        for place in unsettled:
            counts[place], asked[place] = groups[place].count_repeats(look), look
            for answer in answers:
                answer.weigh_group(place, counts[place])
        for answer in answers:
            answer.weigh_claim()
        if answers[0].verdict != UNDECIDED or not min(counts):
            break  # decided, or a group has no run at all, and further ones would fail, too
        if look == looks[-1]:
            break
        unsettled = [place for place in unsettled if _goes_on(answers, place, counts[place], looks[-1])]
        promising = set().union(*(answer.list_promising(unsettled, counts, looks[-1]) for answer in answers))
        unsettled = [place for place in unsettled if place in promising]
    return Replay(answers, counts, asked, {})


def _goes_on(answers: Sequence[QuestionState], place: int, n: int, most: int) -> bool:
    """Return whether a group goes on for its own sake: unless it is settled, by the first question or for good.

    A group that only the second question has settled goes on while its wealth grows fast enough to settle the first,
    too.
    """
    main, *others = answers
    if main.is_settled(place):
        return False
    is_open = not others or any(other.verdict == UNDECIDED and not other.is_settled(place) for other in others)
    return is_open or main.project_repeats(place, n) <= most
