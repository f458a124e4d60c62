"""The exact law of DPGDF on rows that differ in their class alone, as the authors' program labels leaves (paper 6).

Written from what the program does and apart from the estimator. Rows with the same categories lie on one side of every
split, so that all splits have the same score and are drawn alike, whatever the classes; all other leaves are empty. So
the law of the tree is that of the label of one leaf, which costs as much as the tree.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from experiments.statements.finding import Finding

_SHARE_OF_LEAVES = 0.5


def log_chance_of_fewer(lead: int, epsilon: float) -> float:
    """Return the logarithm of the chance that a leaf gets the class of fewer rows, of two.

    Every class with the most rows scores 1, any other 0. The exponential mechanism divides by the "smooth" sensitivity
    exp(-lead ε), where ε is that of the leaf.

    Examples
    --------
    >>> round(math.exp(log_chance_of_fewer(0, 0.5)), 3)
    0.5
    """
    ahead = epsilon * math.exp(lead * epsilon) if lead else 0.0
    return -math.log1p(math.exp(-ahead)) - ahead


def tree_keeps_epsilon(
    epsilons: str, most_lead: int = 5000, label: Callable[[int, float], float] = log_chance_of_fewer
) -> Finding:
    """Decide whether one row more changes no chance of a tree by more than exp(ε), for every ε of a list.

    One class leads the other by up to so many rows; both have a row at least, as the program needs.
    """
    found = []
    for epsilon in map(float, epsilons.split(",")):
        leaf = _SHARE_OF_LEAVES * epsilon
        for lead in range(most_lead):
            if label(lead, leaf) - label(lead + 1, leaf) > epsilon:
                found.append(f"{lead} at ε = {epsilon:g}")
                break
    if found:
        return Finding(
            False, f"one row more costs more than ε where one class leads by so many rows: {', '.join(found)}"
        )
    return Finding(True, f"one row more never costs more than ε where one class leads by up to {most_lead} rows")
