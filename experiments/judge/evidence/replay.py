"""Replay the looks at the runs of a claim: as many runs of each group as it takes, and no more.

The result depends on the first repeats of each group alone: neither on the order in which runs were made nor on runs
beyond the look at which a group was settled. A group of which a run failed is never settled: what a crash hides may be
worse than all that was seen. One whose runs are in vain is given up for good. One that waits for the others, as it is
as claimed by itself, goes on once they come out in another way.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from experiments.judge.evidence.claim_group import PValues
from experiments.judge.evidence.sequential_test import Look
from experiments.judge.evidence.standings import Standings
from experiments.judge.verdict import Verdict


class WeighedGroup(Protocol):
    """What a replay asks of a group; see `claim_group.ClaimGroup`. A simulation has it from many at once."""

    @property
    def n_attempted(self) -> int:
        """Repeats 0, 1, ... up to this one were run."""
        ...

    @property
    def n_contrasts(self) -> int:
        """How many things the claim says of it."""
        ...

    def count_repeats(self, look: int) -> int:
        """Return how many of the first repeats are complete."""
        ...

    def weigh(self, n: int, is_alone: bool) -> list[PValues]:
        """Return the p-values of each contrast after the first ``n`` repeats."""
        ...

    def is_promising(self, place: int, n: int, most: int, level: float) -> bool:
        """Return whether more repeats could prove something of a contrast."""
        ...


@dataclass(frozen=True)
class Replay:
    """What came out of the looks at a claim."""

    standings: Standings
    #: Of each contrast the place of its group, and its place among the contrasts of that.
    places: list[tuple[int, int]]
    #: Complete repeats of each group that were weighed.
    counts: list[int]
    #: By place of the group, how many repeats it needs; empty if the claim is decided, or no more are allowed.
    needed: dict[int, int]
    #: By place of the group, how many of the repeats that were asked for failed.
    failed: dict[int, int]


def replay_looks(groups: Sequence[WeighedGroup], looks: Sequence[Look], level: float) -> Replay:
    """Weigh a claim at each look, ascending, until it is decided or runs or looks are at an end."""
    places = [(place, contrast) for place, group in enumerate(groups) for contrast in range(group.n_contrasts)]
    first_of = {place: number for number, (place, contrast) in enumerate(places) if contrast == 0}
    standings, counts = Standings(len(places), level), [0] * len(groups)
    failed: dict[int, int] = {}
    given_up: set[int] = set()
    unsettled = list(range(len(groups)))
    for look in looks:
        if needed := {place: look.n for place in unsettled if groups[place].n_attempted < look.n}:
            return Replay(standings, places, counts, needed, failed)
        found: dict[int, PValues] = {}
        for place in unsettled:
            counts[place] = groups[place].count_repeats(look.n)
            if counts[place] < look.n:
                failed[place] = look.n - counts[place]
                continue
            weighed = groups[place].weigh(look.n, is_alone=len(places) == 1)
            found |= dict(enumerate(weighed, start=first_of[place]))
        standings.weigh(found, look.share)
        if standings.verdict != Verdict.UNDECIDED:
            break
        while True:  # who waits for a group that is given up waits no longer
            waiting = _list_waiting(places, standings, failed.keys() | given_up)
            hopeless = set()
            for place, contrasts in waiting.items():
                last = looks[-1]
                promising = partial(groups[place].is_promising, n=counts[place], most=last.n, level=level * last.share)
                if not any(map(promising, contrasts)):
                    hopeless.add(place)
            if not hopeless:
                break
            given_up |= hopeless
        unsettled = sorted(waiting)
    return Replay(standings, places, counts, {}, failed)


def _list_waiting(
    places: Sequence[tuple[int, int]], standings: Standings, ended: Collection[int]
) -> dict[int, list[int]]:
    """Return by place of a group which of its contrasts need more runs, but of those groups that get no more."""
    lost = [number for number, (place, _) in enumerate(places) if place in ended]
    waiting: dict[int, list[int]] = {}
    for number, (place, contrast) in enumerate(places):
        if place not in ended and not standings.is_settled(number, lost):
            waiting.setdefault(place, []).append(contrast)
    return waiting
