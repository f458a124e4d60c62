"""What printed precisions and recalls of two classes can be: of one test set, or means over several (paper 5, Table 4).

Of one test set with n rows of a class its recall is a whole number of n-ths, and a mean over m such test sets is one of
(m n)-ths. Precisions follow from recalls and sizes, of one test set: a mean over several has more room, as precision is
no straight line in them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from experiments.statements.finding import Finding

_MOST_TESTS = 1000
_HALF = Fraction(5, 10_000)
"""Half of the last printed digit, a tenth of a per cent; it may have been rounded either way."""


def recalls_are_shares(recalls: str, n_rows: str, n_tests: int) -> Finding:
    """Decide whether recalls in per cent, as printed, are means over ``n_tests`` test sets of one size.

    ``recalls`` and ``n_rows``, the rows of each recall's class in one of these, are lists with commas.
    """
    shares, sizes = _read_shares(recalls), _read_sizes(n_rows)
    named = [
        f"{float(100 * share):g} %" for share, n in zip(shares, sizes, strict=True) if not _is_share(share, n * n_tests)
    ]
    fitting = [m for m in range(1, _MOST_TESTS) if all(map(_is_share, shares, [m * n for n in sizes]))]
    fewest = f"the fewest test sets whose means give all are {fitting[0]}" if fitting else "nor are those of any others"
    if named:
        return Finding(
            False, f"{', '.join(named)} {'is' if len(named) == 1 else 'are'} no share of so many rows; {fewest}"
        )
    return Finding(True, f"all {len(shares)} are shares of {n_tests} times as many rows; {fewest}")


def rates_are_means(precisions: str, recalls: str, n_rows: str, least_recall: float) -> Finding:
    """Decide whether precisions and recalls of two classes can be means over test sets, however many.

    Each test set has ``n_rows`` of each class, and a model that finds ``least_recall`` of either at least. Means of
    some are a point in the convex hull of what one can have: a linear program finds the nearest.
    """
    wanted = np.array(list(map(float, _read_shares(recalls) + _read_shares(precisions))))
    sizes, bound = _read_sizes(n_rows), float(_HALF) * (1 + 1e-6)
    distance = _find_distance(wanted, sizes, least_recall)
    if distance > bound:
        return Finding(False, f"such means miss one of the four by {100 * distance:.2g} points at least")
    low, high = 0, 101  # per cent: the more is found at least, the further are the means
    while high - low > 1:
        middle = (low + high) // 2
        is_near = _find_distance(wanted, sizes, middle / 100) <= bound
        low, high = (middle, high) if is_near else (low, middle)
    return Finding(True, f"they can, but only if in some test set a recall is below {high} %")


def _find_distance(wanted: np.ndarray, sizes: Sequence[int], least_recall: float) -> float:
    """Return how near means over test sets come to four rates: the largest of the four differences, at its least."""
    first, second = (np.arange(math.ceil(least_recall * n), n + 1) for n in sizes)
    hits, others = (grid.ravel() for grid in np.meshgrid(first, second, indexing="ij"))
    is_defined = (hits + sizes[1] - others > 0) & (others + sizes[0] - hits > 0)
    hits, others = hits[is_defined], others[is_defined]
    precisions = [hits / (hits + sizes[1] - others), others / (others + sizes[0] - hits)]
    rates = np.array([hits / sizes[0], others / sizes[1], *precisions])
    slack = -np.ones((4, 1))
    bounds = np.vstack([np.hstack([rates, slack]), np.hstack([-rates, slack])])
    target = np.r_[np.zeros(rates.shape[1]), 1.0]
    is_mixture = np.r_[np.ones(rates.shape[1]), 0.0][np.newaxis]
    found = linprog(target, A_ub=bounds, b_ub=np.r_[wanted, -wanted], A_eq=is_mixture, b_eq=[1.0])
    return float(found.fun)


def _is_share(share: Fraction, n: int) -> bool:
    """Return whether a whole number of n-ths rounds to a share."""
    return math.floor((share + _HALF) * n) >= math.ceil((share - _HALF) * n)


def _read_shares(per_cent: str) -> list[Fraction]:
    return [Fraction(number.strip()) / 100 for number in per_cent.split(",")]


def _read_sizes(n_rows: str) -> list[int]:
    return list(map(int, n_rows.split(",")))
