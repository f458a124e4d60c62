"""How often a draw is right (paper 4, pages 2938 and 2942): permute-and-flip against what was there before it."""

from __future__ import annotations

import math
from itertools import accumulate, combinations_with_replacement

import numpy as np

from experiments.statements.finding import Finding
from experiments.statements.pfdpdt_law import permute_and_flip

_CLASSES = (2, 3, 4)
_LEADS = (0.25, 0.5, 1, 2, 4, 8, 16)
"""Rows by which the right class leads all others, in units of 1 / ε: what matters is their product."""
_GRID = np.linspace(-60, 80, 280_001)
_ROUNDING = 1e-6


def exponential(scores: list[float], sensitivity: float, epsilon: float) -> list[float]:
    """Return the chance of each candidate by the exponential mechanism.

    Examples
    --------
    >>> exponential([0.0, 0.0], 1.0, 1.0)
    [0.5, 0.5]
    """
    weights = [math.exp(epsilon * (score - max(scores)) / (2 * sensitivity)) for score in scores]
    return [weight / sum(weights) for weight in weights]


def flips_favour_higher_scores(each: bool = False, most: int = 4, highest: int = 8) -> Finding:
    """Decide whether permute-and-flip moves chance from lower scores to higher ones, by ranks or for ``each`` option.

    By ranks the best options together must not lose, however many are counted among them; for each option none may lose
    but those with the lowest score. That is tried on every list of up to so many scores, each a half of a whole number,
    with ε = 1 and sensitivity 1.
    """
    gains = {}
    for n in range(2, most + 1):
        for steps in combinations_with_replacement(range(highest + 1), n):
            scores = sorted((step / 2 for step in steps), reverse=True)
            flips, weighed = permute_and_flip(tuple(range(n)), scores, 1.0, 1.0).values(), exponential(scores, 1.0, 1.0)
            differences = [flip - weight for flip, weight in zip(flips, weighed, strict=True)]
            above = [gain for gain, score in zip(differences, scores, strict=True) if score > scores[-1]]
            for rank, gain in enumerate(above if each else accumulate(differences), start=1):
                gains[tuple(scores), rank] = gain
    (worst_scores, rank), worst = min(gains.items(), key=lambda item: item[1])
    if worst < -_ROUNDING:
        loser = f"option {rank} loses" if each else f"the best {rank} lose"
        where = ", ".join(f"{score:g}" for score in worst_scores)
        return Finding(False, f"of scores {where} {loser} {-worst:.3f} of chance")
    n_lists, who = len({scores for scores, _ in gains}), "option" if each else "rank"
    best = f"the best gain up to {max(gains.values()):.3f} of chance"
    return Finding(True, f"no {who} loses, on {n_lists:,} lists of scores; {best}")


def labels_are_right_more_often(share: float = 1.0) -> Finding:
    """Decide whether a leaf is labelled rightly more often by equation 16 than by its largest noisy count.

    Permute-and-flip has all of the leaf's ε; the counts have a ``share`` of it: Laplace noise of scale 1 / (share ε).
    """
    gains = {}
    for n_classes in _CLASSES:
        for lead in _LEADS:
            scores = [float(lead), *[0.0] * (n_classes - 1)]
            flips = permute_and_flip(tuple(range(n_classes)), scores, 1.0, 1.0)[0]
            gains[n_classes, lead] = flips - find_chance_of_largest(lead, n_classes, share)
    (n_classes, lead), worst = min(gains.items(), key=lambda item: item[1])
    where = f"of {n_classes} classes, with a lead of {lead:g} / ε rows"
    others = f"it is right more often in {sum(gain > 0 for gain in gains.values())} of {len(gains)} cases"
    return Finding(worst > -_ROUNDING, f"{others}; at worst by {100 * worst:+.1f} points, {where}")


def find_chance_of_largest(lead: float, n_classes: int, share: float = 1.0) -> float:
    """Return the chance that a count is the largest with noise that leads the others by so much, in units of 1 / ε.

    Examples
    --------
    >>> round(find_chance_of_largest(0.0, 4), 4)
    0.25
    """
    density = share / 2 * np.exp(-share * np.abs(_GRID - lead))
    below = np.where(_GRID < 0, np.exp(share * np.minimum(_GRID, 0)) / 2, 1 - np.exp(-share * np.maximum(_GRID, 0)) / 2)
    return float(np.trapezoid(density * below ** (n_classes - 1), _GRID))
