"""What stays of an accuracy when records are poisoned (paper 6, Table VIII), computed from the printed accuracy."""

from __future__ import annotations

import math

from experiments.statements.finding import Finding

_TRAINING_SHARE = (4, 5)
"""Four of five folds."""
_SHARES = ((1, 1000), (1, 200), (1, 100))
"""Of the training rows, the shares that are poisoned: 0.1, 0.5 and 1 %."""
_HALF_DIGIT = (0.005 + 0.0005) * (1 + 1e-9)
"""The program prints three decimals, the table two of them: a value is rounded twice."""
_NONE = "-"


def guarantee(accuracy: float, epsilon: float, n_poisoned: int) -> float:
    """Return the accuracy that is guaranteed if so many training rows are poisoned, by group privacy.

    Examples
    --------
    >>> round(guarantee(0.75, 0.01, 36), 2)
    0.52
    """
    return accuracy * math.exp(-epsilon * n_poisoned)


def count_poisoned(n_rows: int) -> list[tuple[int, ...]]:
    """Return for each share how many rows it may be: folds differ by a row, and a part of a row is none.

    Examples
    --------
    >>> count_poisoned(232)
    [(0,), (0,), (1,)]
    """
    most, of = _TRAINING_SHARE
    sizes = {n_rows * most // of, math.ceil(n_rows * most / of)}
    return [tuple(sorted({n * part // whole for n in sizes})) for part, whole in _SHARES]


def guarantees_follow(printed: str) -> Finding:
    """Decide whether printed guarantees follow from the accuracies beside them, as far as these are rounded.

    A line has the number of rows of a data set, ε, the accuracy, and a guarantee for 0.1, 0.5 and 1 % of the training
    rows; "-" is one that is too small to print, or that would be for no row at all.
    """
    n_followed, wrong, n = 0, [], 0
    for line in printed.strip().splitlines():
        rows, epsilon, accuracy, *guarantees = line.split()
        for numbers, given in zip(count_poisoned(int(rows)), guarantees, strict=True):
            n += 1
            if _follows(given, float(accuracy), float(epsilon), numbers):
                n_followed += 1
            else:
                value = guarantee(float(accuracy), float(epsilon), numbers[0])
                wrong.append(f"{given} is {value:.4f} of {rows} rows at ε = {epsilon}")
    found = f"{n_followed} of {n} follow from the accuracies, as these are rounded"
    return Finding(not wrong, "; ".join([found, *wrong]))


def _follows(given: str, accuracy: float, epsilon: float, numbers: tuple[int, ...]) -> bool:
    lowest = guarantee(accuracy - _HALF_DIGIT, epsilon, numbers[-1])
    highest = guarantee(min(accuracy + _HALF_DIGIT, 1.0), epsilon, numbers[0])
    if given == _NONE:
        return 0 in numbers or lowest < _HALF_DIGIT
    return lowest <= float(given) + _HALF_DIGIT and highest >= float(given) - _HALF_DIGIT
