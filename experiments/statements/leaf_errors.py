"""Corollary 4 of PrivaTree's appendix (paper 6): the budget with which noise spoils few labels of leaves."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from experiments.statements.finding import Finding
from experiments.statements.pfdpdt_law import permute_and_flip

_CLASSES = (2, 3, 4)
_EPSILON = 0.05
_LEADS = (0, *range(1, 20, 3), *range(20, 120, 6))
"""Rows by which the largest class of a leaf leads another one: at this ε the worst leads are between 20 and 60."""


def find_largest_product(n_classes: int) -> float:
    """Return the maximum over p of 2 ln(1/p) (1 - (1 - (1 - p)^K) / (K p)), on a fine grid.

    Examples
    --------
    >>> round(find_largest_product(2), 6) == round(1 / np.e, 6)  # of two classes it is p ln(1/p)
    True
    """
    p = np.linspace(1e-6, 1 - 1e-6, 1_000_000)
    return float(np.max(2 * np.log(1 / p) * (1 - (1 - (1 - p) ** n_classes) / (n_classes * p))))


def expect_error(leads: tuple[int, ...], epsilon: float, sensitivity: float) -> float:
    """Return how many rows of a leaf have another label than its own, in expectation, beyond those that must.

    ``leads`` are the rows by which the largest class leads each class, 0 for itself.
    """
    law = permute_and_flip(tuple(range(len(leads))), [-float(lead) for lead in leads], sensitivity, epsilon)
    return sum(chance * lead for chance, lead in zip(law.values(), leads, strict=True))


def budget_is_enough(share: float = 1.0, one_sided: bool = False) -> Finding:
    """Decide whether leaves with a share of that budget spoil at most E_max of the rows: 2^d leaves, each at its worst.

    Where permute-and-flip pays for counts that one record moves in one direction, ``one_sided``, as the authors'
    program does, its exponent goes without the 2.
    """
    worst = {}
    for k in _CLASSES:
        alike = [(0, *[lead] * (k - 1)) for lead in _LEADS]
        mixed = [(0, *leads) for leads in combinations_with_replacement(_LEADS[::3], k - 1)]
        sensitivity = 0.5 if one_sided else 1.0
        largest = max(expect_error(leads, _EPSILON, sensitivity) for leads in (*alike, *mixed))
        worst[k] = _EPSILON * largest / (share * find_largest_product(k))
    k = max(worst, key=worst.__getitem__)
    found = f"at worst labels spoil {100 * worst[k]:.4g} % of what E_max allows, of {k} classes"
    return Finding(worst[k] <= 1 + 1e-9, f"{found}; {_CLASSES[0]} to {_CLASSES[-1]} were tried")
