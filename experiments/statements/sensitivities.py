"""Printed sensitivities (paper 1, section 2.3): by how much one record more moves a score, by brute force.

Neighbouring tables are those of the paper's Definition 1: one has one record more. Every small table is tried, and
beside them the tables that move a score most: many alike records joined by one that differs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

from experiments.statements.finding import Finding

Table = tuple
"""Records in any order: pairs (child, class) of a split, or targets of a regression in [0, 1]."""
Change = tuple[Table, Table]

_MANY = (10, 100, 2000)
_NEARLY = 0.999


def gini(records: Table) -> Fraction:
    """Score a split by minus the count-weighted Gini index: paper 1, equation 5.

    Examples
    --------
    >>> gini((("left", "a"), ("left", "b")))
    Fraction(-1, 1)
    """
    score = Fraction(0)
    for n, counts in _count(records):
        score -= n * (1 - sum(Fraction(count, n) ** 2 for count in counts))
    return score


def information(records: Table, base: float) -> float:
    """Score a split by minus the count-weighted entropy, which ranks splits as the information gain does.

    Examples
    --------
    >>> information((("left", "a"), ("left", "b")), base=2)
    -2.0
    """
    return sum(sum(count * math.log(count / n, base) for count in counts) for n, counts in _count(records))


def mean(targets: Table) -> Fraction:
    """Return the mean of the targets of a leaf: paper 1, section 2.3.2."""
    return sum(targets) / Fraction(len(targets))


def variance(targets: Table) -> Fraction:
    """Return the variance of the targets of a node: paper 1, equation 7."""
    center = mean(targets)
    return sum((y - center) ** 2 for y in targets) / Fraction(len(targets))


def gini_changes_by(printed: float, score: Callable = gini) -> Finding:
    """Decide whether the sensitivity of the Gini score is the printed one: no less, and no more."""
    return _compare(score, lambda _: printed, _changes_of_splits())


def information_changes_by(base: float | None = None, log: float | None = None) -> Finding:
    """Decide whether one record moves the information gain of |D| records by at most log(|D| + 1) + 1 / ln 2.

    ``base`` is that of the logarithm in the entropy, ``log`` that in the formula: natural, as printed, if left out.
    """
    entropy_base, log_base = base or math.e, log or math.e
    return _compare(
        lambda records: information(records, entropy_base),
        lambda n: math.log(n + 1, log_base) + 1 / math.log(2),
        _changes_of_splits(),
        is_bound=True,
    )


def mean_changes_by(printed: float, is_bound: bool = False) -> Finding:
    """Decide whether the sensitivity of the mean of targets in [0, 1] is the printed one, or at most that."""
    return _compare(mean, lambda _: printed, _changes_of_targets(), is_bound)


def sum_and_count_change_by(printed: float) -> Finding:
    """Decide whether the L1 sensitivity of a sum and a number, to which noise is added, is the printed one."""
    return _compare(lambda targets: (sum(targets), len(targets)), lambda _: printed, _changes_of_targets())


def squared_errors_and_count_change_by(printed: float) -> Finding:
    """Decide whether the L1 sensitivity of the two parts of a variance, sum and number, is the printed one."""
    return _compare(
        lambda targets: (variance(targets) * len(targets), len(targets)), lambda _: printed, _changes_of_targets()
    )


def variance_changes_by(printed: float, is_bound: bool = False) -> Finding:
    """Decide whether the sensitivity of the variance of targets in [0, 1] is the printed one, or at most that."""
    return _compare(variance, lambda _: printed, _changes_of_targets(), is_bound)


def _compare(
    score: Callable[[Table], object], printed: Callable[[int], float], changes: Iterator[Change], is_bound: bool = False
) -> Finding:
    """Compare the largest change of a score with what is printed for |D| records.

    A sensitivity is a least upper bound. No change may lie above it; unless it is claimed as a mere bound, one must
    come as near as a part in a thousand.
    """
    largest, at = 0.0, ((), ())
    share = 0.0
    for fewer, more in changes:
        change, allowed = _distance(score(fewer), score(more)), printed(len(fewer))
        if change > allowed * (1 + 1e-9):
            where = f"from {_describe(fewer)} to {_describe(more)}"
            return Finding(False, f"a change of {float(change):.4g} where {allowed:.4g} is printed, {where}")
        share = max(share, float(change) / allowed)
        if change > largest:
            largest, at = float(change), (fewer, more)
    found = f"the largest change is {largest:.4g}, from {_describe(at[0])} to {_describe(at[1])}"
    reached = f"{100 * share:.3g} % of what is printed is reached"
    return Finding(is_bound or share >= _NEARLY, f"{reached}, and never more: {found}")


def _distance(one: object, other: object) -> float:
    """Return the L1 distance of two numbers, or two vectors."""
    if isinstance(one, Sequence) and isinstance(other, Sequence):
        return sum(map(_distance, one, other))
    return abs(other - one)  # type: ignore[operator]


def _changes_of_splits() -> Iterator[Change]:
    """Yield neighbouring tables of a split, with two classes: all small ones, and n of one class joined by one."""
    kinds = [(child, label) for child in ("left", "right") for label in "ab"]
    yield from _extend(kinds, most=6)
    for n in _MANY:
        yield (("left", "a"),) * n, (("left", "a"),) * n + (("left", "b"),)


def _changes_of_targets() -> Iterator[Change]:
    """Yield neighbouring tables of targets: all small ones of five levels, and n zeros joined by a one."""
    yield from _extend([Fraction(i, 4) for i in range(5)], most=5, least=1)
    for n in _MANY:
        yield (Fraction(0),) * n, (*(Fraction(0),) * n, Fraction(1))


def _extend(kinds: Sequence, most: int, least: int = 0) -> Iterator[Change]:
    for n in range(least, most + 1):
        for records in combinations_with_replacement(kinds, n):
            for added in kinds:
                yield records, (*records, added)


def _count(records: Table) -> Iterator[tuple[int, list[int]]]:
    """Yield the number of records of each child, and how many of these are of each class."""
    by_child: dict[object, dict[object, int]] = {}
    for child, label in records:
        of_child = by_child.setdefault(child, {})
        of_child[label] = of_child.get(label, 0) + 1
    for of_child in by_child.values():
        yield sum(of_child.values()), list(of_child.values())


def _describe(records: Table) -> str:
    """Return a table in words, alike records told once."""
    words = []
    for record in dict.fromkeys(records):
        name = " ".join(record) if isinstance(record, tuple) else f"{float(record):g}"
        n = records.count(record)
        words.append(name if n == 1 else f"{n} × {name}")
    return "{" + ", ".join(words) + "}"
