"""The chance that a few further runs would show what a claim says: what its paper saw, seen again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.judge.evidence.claim_group import ROUNDING, ClaimGroup

N_RERUNS = 10
"""Runs of a setting that a paper typically averages."""
_DRAWS = 2000


def estimate_rerun_probability(groups: Sequence[ClaimGroup], counts: Sequence[int]) -> float:
    """Return the probability that the averages of ten further runs show a claim in every group.

    Ten runs are drawn from ours, those of the first complete repeats of each group that count, with replacement, 2,000
    times for each group; groups count as independent, as their noise is (but for groups that differ by a parameter
    alone, under ``protocol.common_noise``). A claim that holds nowhere by chance has a probability near 1 if it is
    clearly true, and near 0 if it is not. It is NaN where a group has fewer than two runs: one, drawn again and again,
    would be certain of itself.
    """
    probability = 1.0
    for group, n in zip(groups, counts, strict=True):
        if n < 2:
            return float("nan")
        drawn = np.random.default_rng(0).integers(n, size=(_DRAWS, N_RERUNS))
        average = np.median if group.test.center == "median" else np.mean
        is_shown = np.ones(_DRAWS, dtype=bool)
        for part in group.parts:
            is_shown &= average(part.gains[drawn], axis=1) > ROUNDING
        probability *= float(is_shown.mean())
    return probability
