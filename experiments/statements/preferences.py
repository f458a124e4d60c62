"""Which features a split measure prefers where none of them says anything of the class (paper 2, sections 2.3 and 5).

Two features without any say: one has two values, the other four, all of their pairs occur equally often, and half of
the records, any half with the same chance, are of the first class. A measure without a preference for numbers of values
chooses either as often as the other (White and Liu, 1994; Strobl et al., 2007). Every half is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import log2

from experiments.statements.finding import Finding

Sides = Sequence[Sequence[int]]
"""For each side of a split, the classes, 0 or 1, of its records."""
_FEW, _MANY, _OF_A_PAIR = 2, 4, 2
_EPSILON = 1e-9


def gini(sides: Sides) -> float:
    """Return minus the count-weighted Gini index of a split of two classes.

    Examples
    --------
    >>> gini([[0, 1], [1, 1]])
    -1.0
    """
    return -sum(2 * sum(side) * (len(side) - sum(side)) / len(side) for side in sides if len(side))


def information_gain(sides: Sides) -> float:
    """Return minus the count-weighted entropy of a split, which ranks splits as the information gain does.

    Examples
    --------
    >>> information_gain([[0, 1], [1, 1]])
    -2.0
    """
    return sum(n * log2(n / len(side)) for side in sides for n in (sum(side), len(side) - sum(side)) if n)


MEASURES = {"gini": gini, "information_gain": information_gain}
"""What a split is chosen by, as a paper's file names it."""


def per_value(n_values: int) -> list[list[set[int]]]:
    """Return the one split that has a side for each value."""
    return [[{value} for value in range(n_values)]]


def one_vs_rest(n_values: int) -> list[list[set[int]]]:
    """Return the splits of a value against the rest."""
    return [[{value}, set(range(n_values)) - {value}] for value in range(n_values)]


SPLITS = {"per_value": per_value, "one_vs_rest": one_vs_rest}
"""How a feature splits, as a paper's file names it."""


def list_best_scores(measure: str, split: str) -> Iterator[tuple[float, float]]:
    """Yield the best score of the feature with few values, and that of the one with many, for every half."""
    values = list(product(range(_FEW), range(_MANY))) * _OF_A_PAIR
    for first in combinations(range(len(values)), len(values) // 2):
        labels = [0] * len(values)
        for i in first:
            labels[i] = 1
        of_few, of_many = (
            [(row[feature], label) for row, label in zip(values, labels, strict=True)] for feature in range(2)
        )
        yield _find_best(measure, split, _FEW, of_few), _find_best(measure, split, _MANY, of_many)


def prefers_many_values(measure: str, split: str = "per_value") -> Finding:
    """Decide whether the feature of more values is chosen more often, a tie counting half to each."""
    share = _find_share_of_many(measure, split)
    return Finding(share > Fraction(1, 2), _describe_share(share))


def has_no_preference(measure: str, split: str = "per_value") -> Finding:
    """Decide whether either feature is chosen as often as the other, a tie counting half to each."""
    share = _find_share_of_many(measure, split)
    return Finding(share == Fraction(1, 2), _describe_share(share))


def _find_share_of_many(measure: str, split: str) -> Fraction:
    pairs = list(list_best_scores(measure, split))
    wins = sum(2 if many > few + _EPSILON else abs(many - few) <= _EPSILON for few, many in pairs)
    return Fraction(int(wins), 2 * len(pairs))


def _find_best(measure: str, split: str, n_values: int, rows: list[tuple[int, int]]) -> float:
    scores = []
    for sides in SPLITS[split](n_values):
        scores.append(MEASURES[measure]([[label for value, label in rows if value in side] for side in sides]))
    return max(scores)


def _describe_share(share: Fraction) -> str:
    chosen = f"of two features that say nothing of the class, that of {_MANY} values is chosen before that of {_FEW}"
    return f"{chosen} {100 * float(share):.3g} % of the time"
