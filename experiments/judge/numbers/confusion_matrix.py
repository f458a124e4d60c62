"""Whether printed precisions and recalls can all come from one confusion matrix: a claim that needs no run.

Two tests. Is there a table of whole numbers that rounds to everything printed? And which precisions do the recalls
alone, with the sizes of the classes, leave room for? The second asks for no whole numbers, so that it also speaks of
means over runs, as far as the runs differ little.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp


@dataclass(frozen=True)
class Feasibility:
    """What can be said of printed precisions and recalls."""

    #: One that rounds to all of them, rows of class i taken for class j, of shape (c, c); None if there is none.
    matrix: np.ndarray | None
    #: Smallest and largest precision of each class that the recalls and the sizes of the classes leave room for.
    precision_range: list[tuple[float, float]]

    @property
    def is_feasible(self) -> bool:
        """Whether there is such a matrix."""
        return self.matrix is not None


def feasibility(
    precision: Sequence[float],
    recall: Sequence[float],
    n_rows: Sequence[int | tuple[int, ...]],
    *,
    decimals: int = 3,
    n_total: int | None = None,
) -> Feasibility:
    """Test printed precisions and recalls of each of c classes, in [0, 1], against each other.

    ``n_rows`` are the test rows of each class, or the smallest and the largest number that there may be; ``n_total``
    those of all classes together, where only ranges are known of each. Three ``decimals`` of a share are one of a
    percentage. What is printed may differ from what was measured by half a unit of the last, that half included, so
    that any rule for halves is allowed for.

    ValueError if there is not one precision, one recall and one number of rows for each class, a share is not in [0,
    1], or a range is empty.

    Examples
    --------
    >>> feasibility([0.8, 0.5], [0.8, 0.5], [10, 4], decimals=1).matrix
    array([[8, 2],
           [2, 2]])
    >>> table_4 = feasibility([0.953, 0.941], [0.946, 0.938], [210, 84])  # of paper 5
    >>> table_4.is_feasible, [f"{low:.3f}-{high:.3f}" for low, high in table_4.precision_range]
    (False, ['0.974-0.975', '0.873-0.875'])
    >>> feasibility([0.953, 0.941], [0.946, 0.938], [(1, 10_000), (1, 10_000)]).is_feasible  # whatever the test rows
    False
    """
    _check(precision, recall, n_rows)
    ranges = list(map(_range_of, n_rows))
    precisions, recalls = _undo_rounding(precision, decimals), _undo_rounding(recall, decimals)
    return Feasibility(_find_matrix(precisions, recalls, ranges, n_total), _bound_precisions(recalls, ranges))


def _check(precision: Sequence[float], recall: Sequence[float], n_rows: Sequence) -> None:
    if not len(precision) == len(recall) == len(n_rows) >= 2:
        raise ValueError(
            f"each of at least 2 classes needs a precision, a recall and a number of rows; got {len(precision)}, "
            f"{len(recall)} and {len(n_rows)}"
        )
    for share in (*precision, *recall):
        if not 0 <= share <= 1:
            raise ValueError(f"precisions and recalls lie in [0, 1], got {share}")
    for size in n_rows:
        low, high = _range_of(size)
        if not 1 <= low <= high:
            raise ValueError(f"a class has at least one row, and a range is not empty; got {size}")


def _range_of(size: int | tuple[int, ...]) -> tuple[int, int]:
    """Return the smallest and the largest number of rows that a class may have."""
    low, high = size if isinstance(size, tuple) else (size, size)
    return low, high


def _undo_rounding(shares: Sequence[float], decimals: int) -> list[tuple[Fraction, Fraction]]:
    """Return for each share the smallest and the largest that may be printed so."""
    half = Fraction(1, 2 * 10**decimals)
    bounds = []
    for share in shares:
        printed = Fraction(str(share))
        bounds.append((max(printed - half, Fraction(0)), min(printed + half, Fraction(1))))
    return bounds


def _find_matrix(precisions: list, recalls: list, ranges: list, n_total: int | None) -> np.ndarray | None:
    """Find the matrix by integer programming: all is linear in its cells, and whole-numbered."""
    k = len(ranges)
    cells = np.eye(k * k, dtype=np.int64).reshape(k, k, -1)
    row_sums, column_sums = cells.sum(axis=1), cells.sum(axis=0)
    rules: list[tuple] = []
    for row_sum, (low, high) in zip(row_sums, ranges, strict=True):
        rules.append((row_sum, low, high))
    for column_sum in column_sums:
        rules.append((column_sum, 1, np.inf))  # a class never predicted has no precision
    if n_total is not None:
        rules.append((cells.sum(axis=(0, 1)), n_total, n_total))
    for i in range(k):
        rules += _within(recalls[i], cells[i, i], row_sums[i])
        rules += _within(precisions[i], cells[i, i], column_sums[i])
    lines, low, high = map(np.array, zip(*rules, strict=True))
    solution = milp(
        np.zeros(k * k), integrality=np.ones(k * k), bounds=Bounds(0), constraints=LinearConstraint(lines, low, high)
    )
    if solution.status == 2:  # infeasible
        return None
    matrix = np.round(solution.x).astype(np.int64) if solution.x is not None else np.zeros(k * k, dtype=np.int64)
    if not ((low <= lines @ matrix) & (lines @ matrix <= high)).all():
        raise ArithmeticError(f"the solver of integer programs gave no answer that holds: {solution.message}")
    return matrix.reshape(k, k)


def _within(share: tuple[Fraction, Fraction], hits: np.ndarray, whole: np.ndarray) -> Iterator[tuple]:
    """Say that hits are a share of the whole, from the smallest to the largest, in whole numbers."""
    least, most = share
    yield least.denominator * hits - least.numerator * whole, 0, np.inf
    yield most.numerator * whole - most.denominator * hits, 0, np.inf


def _bound_precisions(recalls: list, ranges: list) -> list[tuple[float, float]]:
    """Bound the precision of each class by the fewest and the most rows of others that may be taken for it."""
    classes = list(zip(recalls, ranges, strict=True))
    bounds = []
    for i, ((least, most), (low, high)) in enumerate(classes):
        most_strangers = fewest_strangers = Fraction(0)
        for (other_least, other_most), (other_low, other_high) in classes[:i] + classes[i + 1 :]:
            most_strangers += (1 - other_least) * other_high
            fewest_strangers += (1 - other_most) * other_low
        if len(classes) > 2:  # the errors of the others may all be among themselves
            fewest_strangers = Fraction(0)
        bounds.append((_share(least * low, most_strangers), _share(most * high, fewest_strangers)))
    return bounds


def _share(hits: Fraction, strangers: Fraction) -> float:
    return float(hits / (hits + strangers)) if hits else 0.0
