"""Whether a claim holds under one reading: the one place that decides it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np

from experiments.judge.evidence.claim_group import ClaimGroup
from experiments.judge.evidence.sequential_test import ROUNDING
from experiments.stats import ALPHA, sign_p

HOLDS, IS_REFUTED, OPEN = "holds", "refuted", "open"
_MOST_REPEATS = 12
"""Of more repeats the first are flipped: 4,096 flips decide as much as anybody needs."""


def judge_under_reading(groups: Sequence[ClaimGroup]) -> str:
    """Return whether a claim holds, is refuted, or is open, from the signs of what it wants above zero.

    It holds if a sign test at 5 % says so of every contrast of every group. It is refuted if the contrast that most
    runs speak against is further off than 5 % of all joint flips of the repeats' signs would have any part: the flips
    keep what parts share (their splits), and pay for their number. So few repeats decide what is clear; the verdict on
    the claim itself takes as many as it needs.

    Groups have two or more complete repeats each.
    """
    wanted = [contrast.gains for group in groups for contrast in group.contrasts]
    n_repeats = min(map(len, wanted))
    rounded = [np.where(np.abs(effects) <= ROUNDING, 0.0, effects)[:n_repeats] for effects in wanted]
    if all(sign_p(effects) <= ALPHA for effects in rounded):
        return HOLDS
    signs = np.sign(rounded)[:, :_MOST_REPEATS].T
    most_against = (_list_flips(len(signs)) @ -signs).max(axis=1)  # the first flip leaves all signs as they are
    is_refuted = most_against[0] > 0 and np.mean(most_against >= most_against[0]) <= ALPHA
    return IS_REFUTED if is_refuted else OPEN


@cache
def _list_flips(n: int) -> np.ndarray:
    """Return all ways to flip the signs of n repeats, that of none first."""
    return np.array(list(product((1.0, -1.0), repeat=n)))
