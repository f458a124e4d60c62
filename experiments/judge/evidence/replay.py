"""Decide a claim look by look, on runs that are there: what they prove, and which runs are still needed.

A look is a number of repeats. At each look every group that is still open is weighed, and the claim with it:

- a group *holds* once all of its parts are proven to gain, and is *practically equal* once it is proven that they
  neither lose nor gain more than δ; it is then settled, and gets no more runs;
- the claim is *reproduced* once all groups hold, *practically equal* once all are, *reproduced within ± δ* once all are
  one or the other: every group must be proven, so nothing is adjusted for their number (an intersection-union test);
- it is *refuted* once the average wealth of all who bet against it, over all groups and parts, proves that one of them
  is right, which pays for their number.

What proves is a wealth of 1/α. It may be looked at as often as one likes, so looks cost nothing (see `wealth`).

The result depends on the first repeats of each group alone: neither on the order in which runs were made nor on runs
beyond the look at which a group was settled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from experiments.judge.evidence.claim_group import ClaimGroup, Outcomes, RunsQuestion, State
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
    """What is known of one question about a claim, as looks go by.

    Parameters
    ----------
    groups : sequence of ClaimGroup
        All groups of the claim.
    question : RunsQuestion
        What is asked.
    threshold : float
        The logarithm of the wealth that proves.
    """

    def __init__(self, groups: Sequence[ClaimGroup], question: RunsQuestion, threshold: float) -> None:
        self.question = question
        self.states = [State.OPEN] * len(groups)
        self.contradiction: tuple[int, int] | None = None
        self._groups, self._threshold = groups, threshold
        self._against = [np.zeros(len(group.parts)) for group in groups]
        self._left_out = [np.zeros(len(group.parts)) for group in groups]

    def leave_out(self, place: int, n: int, n_passed: int) -> None:
        """Leave the repeats of a group from ``n`` to ``n_passed`` out of the bets against the claim.

        The group stood aside while others had these repeats and is taken up again for what they gave. Where repeats
        share a split, that says something of its own, and nobody may bet on what is known already.
        """
        group = self._groups[place]
        before, passed = (group.weigh_outcomes(self.question, count).contradicts for count in (n, n_passed))
        self._left_out[place] += passed - before

    def weigh_group(self, place: int, n: int) -> None:
        """Weigh the first ``n`` repeats of a group."""
        outcomes = self._weigh_outcomes(place, n)
        if self.states[place] is State.OPEN:
            self.states[place] = self._find_state(outcomes)
        # what is practically equal contradicts by less than δ at most, which is no contradiction
        is_equal = self.states[place] is State.EQUAL
        self._against[place] = np.minimum(outcomes.contradicts, 0.0) if is_equal else outcomes.contradicts

    def weigh_claim(self) -> None:
        """Find out whether some part of some group contradicts the claim, and which does most."""
        if self.contradiction is None and average_log_wealth(np.concatenate(self._against)) >= self._threshold:
            strongest = max(range(len(self._groups)), key=lambda place: self._against[place].max())
            self.contradiction = strongest, int(self._against[strongest].argmax())

    def project_repeats(self, place: int, n: int) -> float:
        """Return after how many repeats a group would be settled if wealth went on to grow as it did."""
        outcomes = self._weigh_outcomes(place, n)
        n_bets = sum(map(len, self._against))
        against = self._threshold + math.log(n_bets)
        ways = (
            (outcomes.holds, self._threshold),
            (outcomes.equal, self._threshold),
            (outcomes.contradicts.max(), against),
        )
        return min(n * needed / grown if grown > 0 else math.inf for grown, needed in ways)

    def _weigh_outcomes(self, place: int, n: int) -> Outcomes:
        outcomes = self._groups[place].weigh_outcomes(self.question, n)
        return outcomes._replace(contradicts=outcomes.contradicts - self._left_out[place])

    def _find_state(self, outcomes: Outcomes) -> State:
        if outcomes.holds >= self._threshold:
            return State.HOLDS
        return State.EQUAL if outcomes.equal >= self._threshold else State.OPEN

    @property
    def verdict(self) -> str:
        """The verdict so far."""
        if self.contradiction is not None:
            return REFUTED
        if State.OPEN in self.states:
            return UNDECIDED
        found = set(self.states)
        return REPRODUCED if found == {State.HOLDS} else EQUAL if found == {State.EQUAL} else REPRODUCED_WITHIN


@dataclass(frozen=True)
class Replay:
    """What came out of the looks at a claim.

    Parameters
    ----------
    answers : list of QuestionState
        The paper's own question first.
    counts : list of int
        Complete repeats of each group that were weighed.
    looks : list of int
        Repeats of each group that were asked for, complete or not.
    needed : dict of int to int
        By place of the group, the number of repeats that it needs to be decided; empty if it is, or if no more are
        allowed.
    """

    answers: list[QuestionState]
    counts: list[int]
    looks: list[int]
    needed: dict[int, int]

    @property
    def is_complete(self) -> bool:
        """Whether no group waits for runs."""
        return not self.needed


def replay_looks(groups: Sequence[ClaimGroup], looks: Sequence[int], threshold: float) -> Replay:
    """Weigh a claim at each look, until it is decided, or runs or looks are at an end.

    Parameters
    ----------
    groups : sequence of ClaimGroup
        At least one; all with the same questions.
    looks : sequence of int
        Ascending, as from `list_looks`.
    threshold : float
        The logarithm of the wealth that proves: log(1/α).
    """
    answers = [QuestionState(groups, question, threshold) for question in groups[0].questions]
    counts, asked, unsettled = [0] * len(groups), [0] * len(groups), list(range(len(groups)))
    for look_before, look in pairwise([0, *looks]):
        needed = {place: look for place in unsettled if groups[place].n_attempted < look}
        if needed:
            return Replay(answers, counts, asked, needed)
        for place in unsettled:
            if asked[place] < look_before:
                for answer in answers:
                    answer.leave_out(place, counts[place], groups[place].count_repeats(look_before))
            counts[place], asked[place] = groups[place].count_repeats(look), look
            for answer in answers:
                answer.weigh_group(place, counts[place])
        for answer in answers:
            answer.weigh_claim()
        if answers[0].verdict != UNDECIDED or not min(counts):
            break  # decided, or a group has no run at all, and further ones would fail, too
        unsettled = _list_unsettled(answers, counts, looks[-1])
    return Replay(answers, counts, asked, {})


def _list_unsettled(answers: Sequence[QuestionState], counts: Sequence[int], most: int) -> list[int]:
    """Return the places of the groups that more repeats could settle.

    A group that only the second question has settled goes on while its wealth grows fast enough to settle the first,
    too. Where the second question refutes the claim, the group that does it comes first.
    """
    main, *others = answers
    unsettled = [place for place, state in enumerate(main.states) if state is State.OPEN]
    for other in others:
        if other.contradiction is not None and other.contradiction[0] in unsettled:
            unsettled = [other.contradiction[0]]
        is_open = other.verdict == UNDECIDED
        promising = []
        for place in unsettled:
            is_needed = is_open and other.states[place] is State.OPEN
            if is_needed or main.project_repeats(place, counts[place]) <= most:
                promising.append(place)
        unsettled = promising
    return unsettled
