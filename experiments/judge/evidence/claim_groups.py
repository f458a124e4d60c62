"""One group of cells under test: what the repeats of one setting say of a claim.

A kind of claim turns a change of the metric, one number per repeat, into the numbers that it wants above zero.
Everything else follows from them: the p-value of the group (every one of them must be above zero), the p-values of the
opposite (any one of them below zero contradicts the claim), and the same for every step between neighbouring levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import starmap
from operator import attrgetter
from typing import Protocol

import numpy as np

from experiments.stats import ALPHA, Interval, adjust_holm, center_interval, paired_t_p, sign_flip_p, sign_p, smallest_p

ROUNDING = 1e-12
"""What is left of an effect of exactly zero after a sum of floats."""


class EffectRule(Protocol):
    """What a kind of claim says of an effect; see `group_claim.GroupClaim`."""

    bound: float | None
    contradiction_words: tuple[str, str] | None
    is_about_last_level: bool

    @staticmethod
    def sign_effects(changes: np.ndarray, margins: np.ndarray) -> list[np.ndarray]:
        """Return the lists of numbers that the claim wants above zero, one number per repeat in each."""
        ...


@dataclass(frozen=True)
class ClaimGroup:
    """One group of a claim.

    Parameters
    ----------
    setting : dict
        The axes that are fixed within it.
    values : float64 array of shape (n_repeats, n_levels)
        The metric, or the distance that a claim is about, of complete repeats.
    overlap : float
        Test rows / training rows where every repeat splits the same rows anew, else 0.
    rule : EffectRule
        What is claimed.
    margin : float
        What counts as no change, as a share of the mean; 0 for kinds without a margin.
    center : {"mean", "median"}
        Which of the two the claim is about. Medians are tested by sign, whatever the overlap: their repeats are runs on
        these rows, and further runs on these rows are what they speak of.
    """

    setting: dict
    values: np.ndarray
    overlap: float
    rule: EffectRule
    margin: float = 0.0
    center: str = "mean"

    @property
    def changes(self) -> np.ndarray:
        """Change of each repeat from the first to the last level, along the least-squares line."""
        n_levels = self.values.shape[1]
        weights = np.arange(n_levels) - (n_levels - 1) / 2
        return self.values @ weights / (weights @ weights) * (n_levels - 1)

    @property
    def margins(self) -> np.ndarray:
        """The margin of each repeat, on the metric's scale; it varies with what it is a share of.

        That is the mean over all levels; where one algorithm is to meet another, it is the other's metric alone.
        """
        whole = self.values[:, 0] if self.rule.is_about_last_level else self.values.mean(axis=1)
        # the sign of a mean is that of its few largest numbers: where tails are heavy, each repeat has its own
        return self.margin * whole * np.sign(whole if self.center == "median" else whole.mean())

    @property
    def signed_effects(self) -> list[np.ndarray]:
        """What the claim wants above zero, one number per repeat in each."""
        return self.rule.sign_effects(self.changes, self.margins)

    @property
    def p_value(self) -> float:
        """The p-value of the claim: all signed effects must be above zero (an intersection-union test)."""
        return max(map(self._compute_p, self.signed_effects))

    @property
    def p_against(self) -> list[float]:
        """The p-values of the opposites, any of which contradicts; 0 where no repeat has any effect at all."""
        return list(map(self._compute_p_against, self.signed_effects))

    @property
    def effect_in_favour(self) -> float:
        """How far the repeats speak for the claim, on the metric's scale; below zero where they speak against it."""
        intervals = map(self.make_interval, self.signed_effects)
        return min(map(attrgetter("center"), intervals))

    @property
    def is_at_bound(self) -> bool:
        """Whether it cannot move as the claim wants."""
        return self.rule.bound is not None and bool((self.values == self.rule.bound).all())

    def describe(self) -> dict:
        """Return the setting with the effect, its interval, the p-value, the repeats and the margin if there is one."""
        return {**self.setting, **self.describe_effect(self.changes), "p_value": self.p_value, "n": len(self.changes)}

    def describe_effect(self, changes: np.ndarray) -> dict:
        """Return the center of changes, one of each repeat, with its interval, and the margin if there is one."""
        interval = self.make_interval(changes)
        effect = {"effect": interval.center, "low": interval.low, "high": interval.high}
        if self.margin:
            effect["margin"] = self.make_interval(self.margins).center
        return effect

    def compute_step_p(self, effects: np.ndarray) -> float:
        """Return the p-value that numbers, one for each repeat of a single step, are above zero.

        With dozens of steps Holm asks for p-values below what the sign flips of ten repeats can reach, so that a test
        by flips could never object; the t-test can.
        """
        if self.center == "median":
            return self._compute_p(effects)
        return paired_t_p(effects, overlap=self.overlap)

    def make_interval(self, values: np.ndarray) -> Interval:
        """Return the center of numbers, one of each repeat, with its interval."""
        return center_interval(self.center, values, overlap=self.overlap)

    def _compute_p(self, effects: np.ndarray) -> float:
        if self.center == "median":
            return sign_p(np.where(np.abs(effects) <= ROUNDING, 0.0, effects))
        if self.overlap:
            return max(paired_t_p(effects, overlap=self.overlap), smallest_p(len(effects)))
        return sign_flip_p(effects)

    def _compute_p_against(self, effects: np.ndarray) -> float:
        return 0.0 if (np.abs(effects) <= ROUNDING).all() else self._compute_p(-effects)


@dataclass(frozen=True)
class Step:
    """One step between neighbouring levels of a group.

    Parameters
    ----------
    group : ClaimGroup
        The group.
    position : int
        From 0.
    effects : float64 array of shape (n_repeats,)
        What the claim wants above zero in this step.
    """

    group: ClaimGroup
    position: int
    effects: np.ndarray

    @property
    def effect_in_favour(self) -> float:
        """How far the repeats speak for the claim, on the metric's scale; below zero where they speak against it."""
        return self.group.make_interval(self.effects).center

    def compute_p_against(self) -> float:
        """Return the p-value of the opposite."""
        return self.group.compute_step_p(-self.effects)

    def describe(self, p: float) -> dict:
        """Return the group's setting with the step, counted from 1, the effect with its interval, and its p-value."""
        before, after = self.group.values.T[self.position : self.position + 2]
        effect = self.group.describe_effect(after - before)
        return {**self.group.setting, "step": self.position + 1, **effect, "p_adjusted": p}


def find_contradicting_groups(groups: Sequence[ClaimGroup]) -> list[ClaimGroup]:
    """Return the groups that contradict their claim significantly (Holm over all opposites), the worst first."""
    p_values = np.array([group.p_against for group in groups])
    adjusted = np.reshape(adjust_holm(p_values.ravel()), p_values.shape)
    significant = [group for group, p in zip(groups, adjusted.min(axis=1), strict=True) if p < ALPHA]
    return sorted(significant, key=attrgetter("effect_in_favour"))


def list_steps(groups: Sequence[ClaimGroup]) -> list[Step]:
    """Return every step between neighbouring levels, once for each list of numbers that the claim wants above zero."""
    steps = []
    for group in groups:
        for position, change in enumerate(np.diff(group.values, axis=1).T):
            for effects in group.rule.sign_effects(change, group.margins):
                steps.append(Step(group, position, effects))
    return steps


def find_contradicting_steps(groups: Sequence[ClaimGroup]) -> list[dict]:
    """Return the steps that contradict their claim significantly (Holm over all steps), the worst first."""
    steps = list_steps(groups)
    p_values = adjust_holm(list(map(Step.compute_p_against, steps)))
    significant = [(step, p) for step, p in zip(steps, p_values, strict=True) if p < ALPHA]
    significant.sort(key=lambda pair: pair[0].effect_in_favour)
    return list(starmap(Step.describe, significant))
