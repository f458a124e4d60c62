"""What the repeats of one setting say of a claim: the kinds of claims, and one group of cells under test.

A kind turns a change of the metric, one number per repeat, into the numbers that the claim wants above zero. Everything
else follows from them: the p-value of the group (every one of them must be above zero), the p-values of the opposite
(any one of them below zero contradicts the claim), and the same for every step between neighbouring levels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.stats import ALPHA, Interval, center_interval, holm, paired_t_p, sign_flip_p, sign_p, smallest_p

_ROUNDING = 1e-12  # what is left of an effect of exactly zero after a sum of floats


@dataclass(frozen=True)
class Kind:
    """How claims of one kind are written and tested.

    Parameters
    ----------
    keys : tuple of str
        What such a claim says beside id, text, kind, metric and those of ``common``.
    wanted : callable
        From the change of each repeat and its room (the claim's ``margin`` times the metric) to the lists of numbers
        that the claim wants above zero.
    bound : float, optional
        A group that stands there throughout cannot move as the claim wants, and is set aside.
    objection : tuple of str
        What a step that contradicts does, and what several do; empty where single steps do not matter.
    last_only : bool
        Whether it speaks of the last level of ``along`` only.
    common : tuple of str
        Which cells it speaks of.
    """

    keys: tuple[str, ...]
    wanted: Callable[[np.ndarray, np.ndarray], list[np.ndarray]]
    bound: float | None = None
    objection: tuple[str, ...] = ()
    last_only: bool = False
    common: tuple[str, ...] = ("study", "within")


def _up(change: np.ndarray, room: np.ndarray) -> list[np.ndarray]:
    return [change]


def _down(change: np.ndarray, room: np.ndarray) -> list[np.ndarray]:
    return [-change]


def _neither(change: np.ndarray, room: np.ndarray) -> list[np.ndarray]:
    return [room - change, room + change]


KINDS = {
    "increases": Kind(("along",), _up, 1.0, ("falls", "fall")),
    "decreases": Kind(("along",), _down, 0.0, ("rises", "rise")),
    "above": Kind(("better", "worse"), _up),
    "below": Kind(("better", "worse"), _down),
    "above_at_equal": Kind(("better", "worse", "equal"), _up, common=()),
    "approaches": Kind(("along", "algorithm", "to"), _down, 0.0, ("rises", "rise")),
    # no margin is a share of nothing: where the metric is zero throughout, nothing can be said
    "independent": Kind(("along", "margin"), _neither, 0.0, ("leaves the margin", "leave the margin")),
    "meets": Kind(("along", "algorithm", "to", "margin"), _neither, last_only=True),
}


@dataclass(frozen=True)
class Group:
    """One group of a claim.

    Parameters
    ----------
    setting : dict
        The axes that are fixed within it.
    values : ndarray of shape (n_repeats, n_levels)
        The metric, or the distance that a claim is about, of complete repeats.
    overlap : float
        Test rows / training rows where every repeat splits the same rows anew, else 0.
    kind : Kind
        What is claimed.
    margin : float
        What counts as no change, as a share of the mean; 0 for kinds that do not ask.
    center : {"mean", "median"}
        What is claimed something of. Medians are tested by sign, whatever the overlap: their repeats are runs on these
        rows, and further runs on these rows are what they speak of.
    """

    setting: dict
    values: np.ndarray
    overlap: float
    kind: Kind
    margin: float = 0.0
    center: str = "mean"

    @property
    def gains(self) -> np.ndarray:
        """Gain of each repeat from the first to the last level, along the least-squares line."""
        n_levels = self.values.shape[1]
        weights = np.arange(n_levels) - (n_levels - 1) / 2
        return self.values @ weights / (weights @ weights) * (n_levels - 1)

    @property
    def room(self) -> np.ndarray:
        """The margin of each repeat, on the metric's scale; it varies with what it is a share of.

        That is the mean over all levels; where one algorithm is to meet another, it is the other's metric alone.
        """
        whole = self.values[:, 0] if self.kind.last_only else self.values.mean(axis=1)
        # the sign of a mean is that of its few largest numbers: where tails are heavy, each repeat has its own
        return self.margin * whole * np.sign(whole if self.center == "median" else whole.mean())

    @property
    def wanted(self) -> list[np.ndarray]:
        """What the claim wants above zero, one number per repeat in each."""
        return self.kind.wanted(self.gains, self.room)

    @property
    def p_value(self) -> float:
        """The p-value of what is claimed: all that is wanted must be above zero (an intersection-union test)."""
        return max(self._p_of(wanted) for wanted in self.wanted)

    @property
    def p_against(self) -> list[float]:
        """The p-values of the opposites, any of which contradicts; 0 where no repeat has any effect at all."""
        return [0.0 if (np.abs(wanted) <= _ROUNDING).all() else self._p_of(-wanted) for wanted in self.wanted]

    @property
    def support(self) -> float:
        """How far the repeats speak for the claim, on the metric's scale; below zero where they speak against it."""
        return min(self.interval(wanted).center for wanted in self.wanted)

    @property
    def at_bound(self) -> bool:
        """Whether it cannot move as the claim wants."""
        return self.kind.bound is not None and bool((self.values == self.kind.bound).all())

    def describe(self) -> dict:
        """Return the setting with the effect, its interval, the p-value, the repeats and the margin if there is one."""
        return self.setting | self.effect(self.gains) | {"p_value": self.p_value, "n": len(self.gains)}

    def effect(self, changes: np.ndarray) -> dict:
        """Return the center of changes, one of each repeat, with its interval, and the margin if there is one."""
        interval = self.interval(changes)
        found = {"effect": interval.center, "low": interval.low, "high": interval.high}
        return found | ({"margin": self.interval(self.room).center} if self.margin else {})

    def p_of_step(self, numbers: np.ndarray) -> float:
        """The p-value that numbers, one for each repeat of a single step, are above zero.

        With dozens of steps Holm asks for p-values below what the sign flips of ten repeats can reach, so that a test
        by flips could never object; the t-test can.
        """
        return self._p_of(numbers) if self.center == "median" else paired_t_p(numbers, overlap=self.overlap)

    def interval(self, numbers: np.ndarray) -> Interval:
        """Return the center of numbers, one of each repeat, with its interval."""
        return center_interval(self.center, numbers, overlap=self.overlap)

    def _p_of(self, numbers: np.ndarray) -> float:
        if self.center == "median":
            return sign_p(np.where(np.abs(numbers) <= _ROUNDING, 0.0, numbers))
        if self.overlap:
            return max(paired_t_p(numbers, overlap=self.overlap), smallest_p(len(numbers)))
        return sign_flip_p(numbers)


def contradicted(groups: Sequence[Group]) -> list[Group]:
    """Return the groups that contradict their claim significantly (Holm over all opposites), the worst first."""
    owners = [group for group in groups for _ in group.p_against]
    p_values = holm([p for group in groups for p in group.p_against])
    against = {id(group) for group, p in zip(owners, p_values, strict=True) if p < ALPHA}
    return sorted((group for group in groups if id(group) in against), key=lambda group: group.support)


def steps_wanted(groups: Sequence[Group]) -> list[tuple[Group, int, np.ndarray]]:
    """Return what claims want above zero in every step between neighbouring levels: group, step from 0, the numbers."""
    return [
        (group, i, wanted)
        for group in groups
        for i, change in enumerate(np.diff(group.values, axis=1).T)
        for wanted in group.kind.wanted(change, group.room)
    ]


def contradicting_steps(groups: Sequence[Group]) -> list[dict]:
    """Return the steps between neighbouring levels that contradict their claim significantly, the worst first."""
    tests = steps_wanted(groups)
    p_values = holm([group.p_of_step(-wanted) for group, _, wanted in tests])
    found = []
    for (group, i, wanted), p in zip(tests, p_values, strict=True):
        if p < ALPHA:
            effect = group.effect(group.values[:, i + 1] - group.values[:, i])
            found.append((group.interval(wanted).center, group.setting | {"step": i + 1} | effect | {"p_adjusted": p}))
    return [step for _, step in sorted(found, key=lambda pair: pair[0])]
