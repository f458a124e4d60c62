"""Closed-form laws of the discrete mechanisms, and the worst case of every choice that is made by them.

A law is the log-probability of every outcome, without a draw: derived from the definition of its mechanism, it shares
no code with a sampler. All tables of up to six records are enumerated, with all their neighbours, and the largest
log-ratio of the probability of an outcome is found. Scores are written from the textbook. Only the sensitivities are
the package's own, for they are what is audited.

What makes the ratios small: adding a record never raises gini, information gain or the squared error, and never lowers
the max operator or a count. Changes have one sign, and the exponential mechanism and permute-and-flip, which allow for
scores that move apart by 2Δ, then cost half of their epsilon where a record is added or removed. Where one is replaced,
it first leaves and then comes: every change lies in [-Δ, Δ], so that their epsilon bounds this relation, too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import logsumexp

from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.forests.engine import scores
from experiments.audit.outcomes import ROUNDING

N_RECORDS = 6
EPSILONS = (0.1, 1.0, 3.0)
CLASSES = tuple(f"class {c}" for c in range(3))
TARGETS = (0.0, 0.5, 1.0)  #: what stands for all targets in [0, 1] where a score is about numbers

Law = Callable[[np.ndarray, float, float], np.ndarray]
"""(scores or counts (t, r), sensitivity, epsilon) -> log-probabilities (t, r) of each of r outcomes on each of t
tables."""


def exponential_law(
    quality: np.ndarray, sensitivity: float, epsilon: float, measure: np.ndarray | None = None
) -> np.ndarray:
    """Return the law of the exponential mechanism: the softmax of ``epsilon * quality / (2 * sensitivity)``.

    ``sensitivity`` and ``epsilon`` are positive and finite, here and below. ``measure``, a base measure of shape (r,),
    is 1 for each candidate if None; where it is 0, log-probabilities are -inf.

    Examples
    --------
    >>> np.exp(exponential_law(np.array([[0.0, math.log(3)]]), 0.5, 1.0)).round(9)
    array([[0.25, 0.75]])
    """
    exponent = np.asarray(quality) * (epsilon / (2 * sensitivity))
    if measure is not None:
        with np.errstate(divide="ignore"):
            exponent = exponent + np.log(measure)
    return exponent - logsumexp(exponent, axis=1, keepdims=True)


def permute_and_flip_law(quality: np.ndarray, sensitivity: float, epsilon: float) -> np.ndarray:
    """Return the law of permute-and-flip.

    Notes
    -----
    Candidate i is accepted with p_i = exp(ε (q_i - max q) / 2Δ) when its turn comes. Let candidates arrive at
    independent uniform times: of those before time t none is accepted with probability Π (1 - t p_j), so that i is
    drawn with p_i ∫ Π_{j ≠ i} (1 - t p_j) dt over [0, 1]. The largest of q_i + Exponential(2Δ/ε) has the same law: put
    t = exp(-ε (x - max q) / 2Δ) into ∫ f_i(x) Π F_j(x) dx. The integrand is a polynomial of degree r - 1, which Gauss
    and Legendre integrate exactly; all of its terms are positive, so nothing cancels.

    Examples
    --------
    >>> np.exp(permute_and_flip_law(np.array([[0.0, math.log(2)]]), 0.5, 1.0)).round(9)  # 1/2 (1 - 1/2), and the rest
    array([[0.25, 0.75]])
    """
    quality = np.asarray(quality)
    log_p = (quality - quality.max(axis=1, keepdims=True)) * (epsilon / (2 * sensitivity))
    t, weight = _unit_quadrature(math.ceil(quality.shape[1] / 2))
    rejected = 1 - t * np.exp(log_p)[:, :, np.newaxis]
    chances = []
    for i in range(quality.shape[1]):
        others_rejected = np.delete(rejected, i, axis=1).prod(axis=1)
        chances.append(others_rejected @ weight)
    return log_p + np.log(np.stack(chances, axis=1))


def noisy_maximum_law(counts: np.ndarray, sensitivity: float, epsilon: float) -> np.ndarray:
    """Return the law of the largest of some whole numbers, each with Laplace noise of scale ``sensitivity / epsilon``.

    Notes
    -----
    Outcome i has probability ∫ f_i Π_{j ≠ i} F_j. Between whole numbers no density or distribution function has a kink.
    Below the smallest count the integrand is one exponential; above the largest it is a polynomial in exp(-x / scale),
    integrated as in `permute_and_flip_law`; between neighbouring whole numbers it is smooth, and 32 nodes leave an
    error far below rounding for scales from 1/10.

    Examples
    --------
    >>> np.exp(noisy_maximum_law(np.array([[0, 2]]), 1.0, 1.0)).round(9)  # 1/2 (1 + 2/2) exp(-2), and the rest
    array([[0.13533528, 0.86466472]])
    """
    rate = epsilon / sensitivity
    return np.log([_noisy_maximum_probabilities(row, rate) for row in np.asarray(counts)])


def _noisy_maximum_probabilities(counts: np.ndarray, rate: float) -> np.ndarray:
    """Return the probability that each count is the largest, integrated below, above and between the counts."""
    r, lowest, highest = len(counts), counts.min(), counts.max()
    below = np.full(r, 0.5**r * math.exp(rate * (r * lowest - counts.sum())) / r)
    t, weight = _unit_quadrature(math.ceil(r / 2))
    half = np.exp(-rate * (highest - counts))[:, np.newaxis] / 2
    outside = below + _integrate_largest(half, 1 - half * t, weight)
    if lowest == highest:
        return outside
    u, weight = _unit_quadrature(32)
    x = (np.arange(lowest, highest)[:, np.newaxis] + u).ravel()  # unit steps
    distance = x - counts[:, np.newaxis]
    tail = np.exp(-rate * np.abs(distance)) / 2
    reached = np.where(distance < 0, tail, 1 - tail)
    return outside + _integrate_largest(tail, reached, np.tile(weight, highest - lowest) * rate)


def _integrate_largest(density: np.ndarray, reached: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Integrate, for each i, its density times the chance that all others are smaller."""
    integrals = []
    for i in range(len(density)):
        others_smaller = np.delete(reached, i, axis=0).prod(axis=0)
        integrals.append((density[i] * others_smaller) @ weight)
    return np.stack(integrals)


def _unit_quadrature(n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Gauss and Legendre's nodes and weights on [0, 1], exact for polynomials up to degree 2 n - 1."""
    node, weight = np.polynomial.legendre.leggauss(n_nodes)
    return (node + 1) / 2, weight / 2


LAWS: dict[str, Law] = {
    "exponential": exponential_law,
    "permute_and_flip": permute_and_flip_law,
    "laplace_vector": noisy_maximum_law,
}
"""The law of each mechanism, by its name in ``algorithms.mechanisms``; of a noisy vector its largest entry is seen."""


# Small tables, the choices that are made on them, and their worst cases.


@cache
def list_small_tables(n_types: int, n_most: int, neighbours: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the records by type of every table of at most so many, and the positions of all pairs of neighbours.

    Two records of a type are the same. Each pair is there once; its second table has a record more, or another.

    Examples
    --------
    >>> counts, *pairs = list_small_tables(2, 2, ADDED_OR_REMOVED)
    >>> counts.tolist()
    [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [2, 0]]
    >>> [positions.tolist() for positions in pairs]
    [[0, 1, 3, 0, 1, 3], [3, 4, 5, 1, 2, 4]]
    """
    counts = np.array(list(_list_compositions(n_types, n_most)), dtype=np.int64)
    digits = (n_most + 1) ** np.arange(n_types, dtype=np.int64)[::-1]
    codes = counts @ digits  # ascending, as the tables are in lexical order
    smaller = np.flatnonzero(counts.sum(axis=1) < n_most)
    grown = [np.searchsorted(codes, codes[smaller] + digit) for digit in digits]
    couples = itertools.combinations(grown, 2) if neighbours == REPLACED else itertools.product([smaller], grown)
    first, second = zip(*couples, strict=True)
    return counts, np.concatenate(first), np.concatenate(second)


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
    counts, first, second = list_small_tables(len(choice.types), N_RECORDS, neighbours)
    log_law = (law or LAWS[mechanism])(choice.quality(counts), choice.sensitivity, epsilon)
    ratios = np.abs(log_law[first] - log_law[second])
    # The first of those that differ by rounding only, so that the evidence is the same on every machine.
    pair, outcome = np.unravel_index(np.argmax(ratios.round(9)), ratios.shape)
    return WorstCase(
        mechanism,
        choice.name,
        neighbours,
        epsilon,
        _count_payments(mechanism, neighbours) * epsilon,
        float(ratios[pair, outcome]),
        int(outcome),
        _count_by_type(choice, counts[first[pair]]),
        _count_by_type(choice, counts[second[pair]]),
    )


def _count_by_type(choice: DiscreteChoice, counts: np.ndarray) -> dict[str, int]:
    """Return how many records of each type a table holds; types without records are left out."""
    return {name: int(n) for name, n in zip(choice.types, counts, strict=True) if n}


def _count_payments(mechanism: str, neighbours: str) -> int:
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
    """
    counts, first, second = list_small_tables(len(choice.types), n_records, neighbours)
    quality = choice.quality(counts)
    changes = quality[second] - quality[first]
    return float(changes.min()), float(changes.max())
