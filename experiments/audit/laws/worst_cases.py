"""The worst case of every discrete choice: the largest log-ratio of its closed-form laws on neighbouring tables.

All tables of up to six records are enumerated, with all their neighbours, and the largest log-ratio of the probability
of an outcome is found. Nothing here is taken from the samplers or the engine: laws are closed forms, scores are written
from the textbook. Only the sensitivities are the package's own, for they are what is audited.

What makes the ratios small: adding a record never raises gini, information gain or the squared error, and never lowers
the max operator or a count. Changes have one sign, and the exponential mechanism and permute-and-flip, which allow for
scores that move apart by 2Δ, then cost half of their epsilon where a record is added or removed. Where one is replaced,
it first leaves and then comes: every change lies in [-Δ, Δ], so that their epsilon bounds this relation, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.forests.engine import scores
from experiments.audit.bounds import ROUNDING
from experiments.audit.laws.mechanism_laws import LAWS, Law

N_CLASSES = 3
CLASSES = tuple(f"class {c}" for c in range(N_CLASSES))
N_RECORDS = 6
EPSILONS = (0.1, 1.0, 3.0)


class SmallTables:
    """Every table of at most ``n_most`` records of ``n_types`` types: two records of a type are the same.

    ``counts``, int64 (t, n_types), is how many records of each type each table holds.

    Examples
    --------
    >>> SmallTables(2, 2).counts.tolist()
    [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [2, 0]]
    """

    def __init__(self, n_types: int, n_most: int):
        self.counts = np.array(list(_list_compositions(n_types, n_most)), dtype=np.int64)
        self._n_most = n_most
        self._digits = (n_most + 1) ** np.arange(n_types, dtype=np.int64)[::-1]
        self._codes = self.counts @ self._digits  # ascending, as the tables are in lexical order

    def list_pairs(self, neighbours: str) -> tuple[np.ndarray, np.ndarray]:
        """Return positions of all pairs of neighbouring tables, each once; the second has a record more, or another.

        Examples
        --------
        >>> [pair.tolist() for pair in SmallTables(2, 2).list_pairs(ADDED_OR_REMOVED)]
        [[0, 1, 3, 0, 1, 3], [3, 4, 5, 1, 2, 4]]
        """
        smaller = np.flatnonzero(self.counts.sum(axis=1) < self._n_most)
        grown = [np.searchsorted(self._codes, self._codes[smaller] + digit) for digit in self._digits]
        couples = itertools.combinations(grown, 2) if neighbours == REPLACED else itertools.product([smaller], grown)
        first, second = zip(*couples, strict=True)
        return np.concatenate(first), np.concatenate(second)


def _list_compositions(n_types: int, n_most: int) -> Iterator[tuple[int, ...]]:
    if n_types == 0:
        yield ()
        return
    for first in range(n_most + 1):
        for rest in _list_compositions(n_types - 1, n_most - first):
            yield (first, *rest)


@dataclass(frozen=True)
class DiscreteChoice:
    """The candidates that a mechanism chooses from, and their scores on every table."""

    name: str  #: of what scores the candidates
    sensitivity: float  #: what the mechanism is told
    types: tuple[str, ...]  #: what the types of records are called
    quality: Callable[[np.ndarray], np.ndarray]  #: int (t, n_types), records by type -> float (t, r), scores


def _score_gini(counts: np.ndarray) -> np.ndarray:
    n = counts.sum(axis=-1)
    return (counts**2).sum(axis=-1) / np.maximum(n, 1) - n


def _score_information_gain(counts: np.ndarray) -> np.ndarray:
    n = counts.sum(axis=-1, keepdims=True)
    return (counts * np.log2(np.maximum(counts, 1) / np.maximum(n, 1))).sum(axis=-1)


def _score_max(counts: np.ndarray) -> np.ndarray:
    return counts.max(axis=-1).astype(float)


TARGETS = (0.0, 0.5, 1.0)
"""What stands for all targets in [0, 1] where a score is about numbers."""


def _score_squared_error(counts: np.ndarray) -> np.ndarray:
    n, targets = counts.sum(axis=-1), np.array(TARGETS)
    return (counts @ targets) ** 2 / np.maximum(n, 1) - counts @ targets**2


SCORES = {
    "gini": _score_gini,
    "information_gain": _score_information_gain,
    "max": _score_max,
    "squared_error": _score_squared_error,
}
"""What one child adds to each split score, from the records of each class or target in it."""


def make_split_choice(score: str) -> DiscreteChoice:
    """Return the choice between two features of two codes each, as a node makes it: 12 types of records.

    Examples
    --------
    >>> choice = make_split_choice("max")
    >>> choice.types[0], choice.types[-1], choice.quality(np.eye(12, dtype=int)[:1])
    ('a=0 b=0 class 0', 'a=1 b=1 class 2', array([[1., 1.]]))
    """
    is_about_numbers = score == "squared_error"
    targets = tuple(f"target {y:g}" for y in TARGETS) if is_about_numbers else CLASSES
    types = tuple(f"a={a} b={b} {target}" for a, b, target in itertools.product((0, 1), (0, 1), targets))

    def score_splits(tables: np.ndarray) -> np.ndarray:
        cells = tables.reshape(-1, 2, 2, len(targets))
        by_a, by_b = cells.sum(axis=2), cells.sum(axis=1)
        score_child = SCORES[score]
        return np.stack([score_child(by_a).sum(axis=1), score_child(by_b).sum(axis=1)], axis=1)

    # what the package tells a mechanism about the score
    told = scores.SSE_SENSITIVITY if is_about_numbers else scores.score_sensitivity(scores.CODES[score], N_RECORDS)
    return DiscreteChoice(score, told, types, score_splits)


LABEL_CHOICE = DiscreteChoice("class counts", 1.0, CLASSES, lambda tables: tables)
"""The choice of a leaf's label by its class counts."""


@dataclass(frozen=True)
class WorstCase:
    """The neighbouring tables and the outcome by which one mechanism shows most on one choice."""

    mechanism: str
    score: str  #: by what it chooses
    neighbours: str
    epsilon: float  #: what the mechanism is given
    bound: float  #: what it costs at most between these neighbours by its proof
    largest: float  #: log-ratio of the probabilities of an outcome
    outcome: int
    table: dict[str, int]  #: the number of records by type; types without records are left out
    neighbour: dict[str, int]

    @property
    def holds(self) -> bool:
        """Whether no outcome's log-ratio exceeds the bound."""
        return self.largest <= self.bound * (1 + ROUNDING)

    @property
    def tightness(self) -> float:
        """Largest log-ratio as a share of the epsilon that was given."""
        return self.largest / self.epsilon


def find_worst_case(
    mechanism: str, choice: DiscreteChoice, neighbours: str, epsilon: float, *, law: Law | None = None
) -> WorstCase:
    """Find the largest log-ratio over all neighbouring tables and all outcomes.

    ``law`` is another law under the mechanism's name, to audit one that is wrong.

    Examples
    --------
    >>> row = find_worst_case("permute_and_flip", LABEL_CHOICE, ADDED_OR_REMOVED, 1.0)
    >>> row.holds, round(row.tightness, 6)
    (True, 0.5)
    """
    counts, first, second = _neighbouring_tables(len(choice.types), N_RECORDS, neighbours)
    log_law = (law or LAWS[mechanism])(choice.quality(counts), choice.sensitivity, epsilon)
    ratios = np.abs(log_law[first] - log_law[second])
    # The first of those that differ by rounding only, so that the evidence is the same on every machine.
    pair, outcome = np.unravel_index(np.argmax(ratios.round(9)), ratios.shape)
    return WorstCase(
        mechanism,
        choice.name,
        neighbours,
        epsilon,
        count_payments(mechanism, neighbours) * epsilon,
        float(ratios[pair, outcome]),
        int(outcome),
        _count_by_type(choice, counts[first[pair]]),
        _count_by_type(choice, counts[second[pair]]),
    )


def _count_by_type(choice: DiscreteChoice, counts: np.ndarray) -> dict[str, int]:
    """Return how many records of each type a table holds; types without records are left out."""
    return {name: int(n) for name, n in zip(choice.types, counts, strict=True) if n}


def count_payments(mechanism: str, neighbours: str) -> int:
    """Return how often a mechanism's epsilon is paid at most, for counts and scores that change with one sign.

    A vector of counts with Laplace noise pays for every entry that moves, and a replaced record moves two. A choice by
    score pays for how far scores move apart, and they move no further than Δ either way, see the module.
    """
    return 2 if mechanism == "laplace_vector" and neighbours == REPLACED else 1


def find_worst_cases(epsilons: tuple[float, ...] = EPSILONS) -> list[WorstCase]:
    """Audit labels by each mechanism, and splits by each mechanism and score, at each epsilon, under both relations."""
    labels = itertools.product(LAWS, [LABEL_CHOICE])
    splits = itertools.product(("exponential", "permute_and_flip"), map(make_split_choice, SCORES))
    cases = itertools.product([*labels, *splits], (ADDED_OR_REMOVED, REPLACED), epsilons)
    return [find_worst_case(*choosing, neighbours, epsilon) for choosing, neighbours, epsilon in cases]


def find_score_changes(choice: DiscreteChoice, neighbours: str, n_records: int = N_RECORDS) -> tuple[float, float]:
    """Return the smallest and the largest change of any score, from a table to its neighbour that is listed second.

    Examples
    --------
    >>> find_score_changes(LABEL_CHOICE, ADDED_OR_REMOVED), find_score_changes(LABEL_CHOICE, REPLACED)
    ((0.0, 1.0), (-1.0, 1.0))
    >>> choice = make_split_choice("gini")
    >>> find_score_changes(choice, ADDED_OR_REMOVED, n_records=2)  # a record added never makes children purer
    (-1.0, 0.0)
    """
    counts, first, second = _neighbouring_tables(len(choice.types), n_records, neighbours)
    quality = choice.quality(counts)
    changes = quality[second] - quality[first]
    return float(changes.min()), float(changes.max())


@cache
def _neighbouring_tables(n_types: int, n_records: int, neighbours: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the records by type of each small table, and the positions of all pairs of neighbours among the tables."""
    tables = SmallTables(n_types, n_records)
    return tables.counts, *tables.list_pairs(neighbours)
