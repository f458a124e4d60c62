"""The exact audit: every discrete choice has a computable law, so its privacy can be read off, without a draw.

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
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import logsumexp

from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.forests.engine import scores

N_CLASSES = 3
N_RECORDS = 6
EPSILONS = (0.1, 1.0, 3.0)
ROUNDING = 1e-9

Law = Callable[[np.ndarray, float, float], np.ndarray]
"""(values (t, r), sensitivity, epsilon) -> log-probabilities (t, r) of each of r outcomes on each of t tables."""


# Laws.


def exponential_law(
    quality: np.ndarray, sensitivity: float, epsilon: float, measure: np.ndarray | None = None
) -> np.ndarray:
    """Return the law of the exponential mechanism: the softmax of ``epsilon * quality / (2 * sensitivity)``.

    Parameters
    ----------
    quality : float array of shape (t, r)
        Score of each of r candidates on each of t tables.
    sensitivity, epsilon : float
        As for ``algorithms.mechanisms.exponential``, both positive and finite.
    measure : float array of shape (r,) or None
        Base measure; None is 1 for each candidate.

    Returns
    -------
    float64 array of shape (t, r)
        Log-probabilities; -inf where the measure is 0.

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
    """Return the law of permute-and-flip; parameters and result are those of `exponential_law`.

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
    none_before = np.stack([np.delete(rejected, i, axis=1).prod(axis=1) @ weight for i in range(quality.shape[1])], 1)
    return log_p + np.log(none_before)


def noisy_maximum_law(counts: np.ndarray, sensitivity: float, epsilon: float) -> np.ndarray:
    """Return the law of the largest of some counts, each with Laplace noise of scale ``sensitivity / epsilon``.

    Parameters
    ----------
    counts : int array of shape (t, r)
        r counts of each of t tables.
    sensitivity, epsilon : float
        As for ``algorithms.mechanisms.laplace_vector``, both positive and finite.

    Returns
    -------
    float64 array of shape (t, r)
        Log-probabilities.

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
    return np.log([_of_noisy_maximum(row, epsilon / sensitivity) for row in np.asarray(counts)])


def _of_noisy_maximum(counts: np.ndarray, rate: float) -> np.ndarray:
    r, lowest, highest = len(counts), counts.min(), counts.max()
    below = np.full(r, 0.5**r * math.exp(rate * (r * lowest - counts.sum())) / r)
    t, weight = _unit_quadrature(math.ceil(r / 2))
    half = np.exp(-rate * (highest - counts))[:, np.newaxis] / 2
    above = np.stack([half[i] * np.delete(1 - half * t, i, axis=0).prod(axis=0) @ weight for i in range(r)])
    if lowest == highest:
        return below + above
    u, weight = _unit_quadrature(32)
    x = (np.arange(lowest, highest)[:, np.newaxis] + u).ravel()  # unit steps
    distance = x - counts[:, np.newaxis]
    tail = np.exp(-rate * np.abs(distance)) / 2
    reached = np.where(distance < 0, tail, 1 - tail)
    weight = np.tile(weight, highest - lowest) * rate
    between = np.stack([(tail[i] * np.delete(reached, i, axis=0).prod(axis=0)) @ weight for i in range(r)])
    return below + between + above


def _unit_quadrature(n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Gauss and Legendre's nodes and weights on [0, 1], exact for polynomials up to degree 2 n - 1."""
    node, weight = np.polynomial.legendre.leggauss(n_nodes)
    return (node + 1) / 2, weight / 2


# Tables.


class Tables:
    """Every table of at most ``n_most`` records of ``n_types`` types: two records of a type are the same.

    Attributes
    ----------
    counts : int64 array of shape (t, n_types)
        How many records of each type each table holds.

    Examples
    --------
    >>> Tables(2, 2).counts.tolist()
    [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [2, 0]]
    """

    def __init__(self, n_types: int, n_most: int):
        self.counts = np.array(list(_compositions(n_types, n_most)), dtype=np.int64)
        self._n_most = n_most
        self._digits = (n_most + 1) ** np.arange(n_types, dtype=np.int64)[::-1]
        self._codes = self.counts @ self._digits  # ascending, as the tables are in lexical order

    def pairs(self, neighbours: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the positions of all pairs of neighbouring tables, each pair once.

        Parameters
        ----------
        neighbours : {ADDED_OR_REMOVED, REPLACED}
            The second table has a record more, or one record of another type.

        Examples
        --------
        >>> [pair.tolist() for pair in Tables(2, 2).pairs(ADDED_OR_REMOVED)]
        [[0, 1, 3, 0, 1, 3], [3, 4, 5, 1, 2, 4]]
        """
        smaller = np.flatnonzero(self.counts.sum(axis=1) < self._n_most)
        grown = [self._position(self._codes[smaller] + digit) for digit in self._digits]
        if neighbours == REPLACED:
            couples = list(itertools.combinations(grown, 2))
        else:
            couples = [(smaller, more) for more in grown]
        return tuple(np.concatenate(side) for side in zip(*couples, strict=True))

    def _position(self, codes: np.ndarray) -> np.ndarray:
        return np.searchsorted(self._codes, codes)


def _compositions(n_types: int, n_most: int) -> Iterator[tuple[int, ...]]:
    if n_types == 0:
        yield ()
        return
    for first in range(n_most + 1):
        yield from ((first, *rest) for rest in _compositions(n_types - 1, n_most - first))


# What is chosen from, and how good each candidate is.


@dataclass(frozen=True)
class Choice:
    """What a mechanism chooses from.

    Parameters
    ----------
    name : str
        What scores the candidates.
    sensitivity : float
        What the mechanism is told.
    types : tuple of str
        What the types of records are called.
    quality : callable
        int array (t, n_types) of records by type -> float array (t, r) of scores.
    """

    name: str
    sensitivity: float
    types: tuple[str, ...]
    quality: Callable[[np.ndarray], np.ndarray]


def _gini(counts: np.ndarray) -> np.ndarray:
    n = counts.sum(axis=-1)
    return (counts**2).sum(axis=-1) / np.maximum(n, 1) - n


def _information_gain(counts: np.ndarray) -> np.ndarray:
    n = counts.sum(axis=-1, keepdims=True)
    return (counts * np.log2(np.maximum(counts, 1) / np.maximum(n, 1))).sum(axis=-1)


def _max(counts: np.ndarray) -> np.ndarray:
    return counts.max(axis=-1).astype(float)


TARGETS = (0.0, 0.5, 1.0)
"""What stands for all targets in [0, 1] where a score is about numbers."""


def _squared_error(counts: np.ndarray) -> np.ndarray:
    n, targets = counts.sum(axis=-1), np.array(TARGETS)
    return (counts @ targets) ** 2 / np.maximum(n, 1) - counts @ targets**2


SIDES = {"gini": _gini, "information_gain": _information_gain, "max": _max, "squared_error": _squared_error}
"""What one child adds to each split score, from the records of each class or target in it."""


def declared_sensitivity(score: str) -> float:
    """Return what the package tells a mechanism about a split score."""
    return (
        scores.SSE_SENSITIVITY if score == "squared_error" else scores.score_sensitivity(scores.CODES[score], N_RECORDS)
    )


def split_choice(score: str) -> Choice:
    """Return the choice between two features of two codes each, as a node makes it: 12 types of records.

    Examples
    --------
    >>> choice = split_choice("max")
    >>> choice.types[0], choice.types[-1], choice.quality(np.eye(12, dtype=int)[:1])
    ('a=0 b=0 class 0', 'a=1 b=1 class 2', array([[1., 1.]]))
    """
    what = [f"target {y:g}" for y in TARGETS] if score == "squared_error" else [f"class {c}" for c in range(N_CLASSES)]
    types = tuple(f"a={a} b={b} {each}" for a, b, each in itertools.product((0, 1), (0, 1), what))

    def quality(tables: np.ndarray) -> np.ndarray:
        cells = tables.reshape(-1, 2, 2, len(what))
        return np.stack([SIDES[score](cells.sum(axis=other)).sum(axis=1) for other in (2, 1)], axis=1)

    return Choice(score, declared_sensitivity(score), types, quality)


LABELS = Choice("class counts", 1.0, tuple(f"class {c}" for c in range(N_CLASSES)), lambda tables: tables)
"""The choice of a leaf's label by its class counts."""


# The audit.


@dataclass(frozen=True)
class Row:
    """The worst case of one mechanism on one choice.

    Parameters
    ----------
    mechanism, score : str
        How and by what it is chosen.
    neighbours : str
        Which tables count as neighbours.
    epsilon : float
        What the mechanism is given.
    bound : float
        What it costs at most between these neighbours by its proof.
    largest : float
        Largest log-ratio of the probabilities of an outcome.
    outcome : int
        Which outcome that is.
    table, neighbour : dict
        The two tables, the number of records by type; types without records are left out.
    """

    mechanism: str
    score: str
    neighbours: str
    epsilon: float
    bound: float
    largest: float
    outcome: int
    table: dict[str, int]
    neighbour: dict[str, int]

    @property
    def holds(self) -> bool:
        """Whether no outcome's log-ratio exceeds the bound."""
        return self.largest <= self.bound * (1 + ROUNDING)

    @property
    def tightness(self) -> float:
        """Largest log-ratio as a share of the epsilon that was given."""
        return self.largest / self.epsilon


LAWS: dict[str, Law] = {
    "exponential": exponential_law,
    "permute_and_flip": permute_and_flip_law,
    "laplace_vector": noisy_maximum_law,
}
"""The law of each mechanism, by its name in ``algorithms.mechanisms``; of a noisy vector its largest entry is seen."""


def worst_case(mechanism: str, choice: Choice, neighbours: str, epsilon: float, *, law: Law | None = None) -> Row:
    """Find the largest log-ratio over all neighbouring tables and all outcomes.

    Parameters
    ----------
    mechanism : str
        A key of ``LAWS``.
    choice : Choice
        What is chosen from; its sensitivity is what the mechanism is told.
    neighbours : {ADDED_OR_REMOVED, REPLACED}
        Which tables count as neighbours.
    epsilon : float
        What the mechanism is given, positive and finite.
    law : Law or None
        Another law under the mechanism's name, to audit one that is wrong.

    Examples
    --------
    >>> row = worst_case("permute_and_flip", LABELS, ADDED_OR_REMOVED, 1.0)
    >>> row.holds, round(row.tightness, 6)
    (True, 0.5)
    """
    counts, first, second = _pairs(len(choice.types), N_RECORDS, neighbours)
    log_law = (law or LAWS[mechanism])(choice.quality(counts), choice.sensitivity, epsilon)
    ratios = np.abs(log_law[first] - log_law[second])
    # The first of those that differ by rounding only, so that the evidence is the same on every machine.
    pair, outcome = np.unravel_index(np.argmax(ratios.round(9)), ratios.shape)
    return Row(
        mechanism,
        choice.name,
        neighbours,
        epsilon,
        bound(mechanism, neighbours) * epsilon,
        float(ratios[pair, outcome]),
        int(outcome),
        *(
            {name: int(n) for name, n in zip(choice.types, counts[at[pair]], strict=True) if n}
            for at in (first, second)
        ),
    )


def bound(mechanism: str, neighbours: str) -> int:
    """Return how often a mechanism's epsilon is paid at most, for counts and scores that change with one sign.

    A vector of counts with Laplace noise pays for every entry that moves, and a replaced record moves two. A choice by
    score pays for how far scores move apart, and they move no further than Δ either way, see the module.
    """
    return 2 if mechanism == "laplace_vector" and neighbours == REPLACED else 1


def rows(epsilons: tuple[float, ...] = EPSILONS) -> list[Row]:
    """Audit every discrete choice of the package at each epsilon, under both relations.

    Returns
    -------
    list of Row
        Labels by each mechanism, splits by each mechanism and score.
    """
    labels = [(mechanism, LABELS) for mechanism in LAWS]
    splits = [(name, split_choice(score)) for name in ("exponential", "permute_and_flip") for score in SIDES]
    return [
        worst_case(mechanism, choice, neighbours, epsilon)
        for (mechanism, choice), neighbours, epsilon in itertools.product(
            labels + splits, (ADDED_OR_REMOVED, REPLACED), epsilons
        )
    ]


def changes(choice: Choice, neighbours: str, n_records: int = N_RECORDS) -> tuple[float, float]:
    """Return the smallest and the largest change of any score, from a table to its neighbour that is listed second.

    Examples
    --------
    >>> changes(LABELS, ADDED_OR_REMOVED), changes(LABELS, REPLACED)
    ((0.0, 1.0), (-1.0, 1.0))
    >>> changes(split_choice("gini"), ADDED_OR_REMOVED, n_records=2)  # a record added never makes children purer
    (-1.0, 0.0)
    """
    counts, first, second = _pairs(len(choice.types), n_records, neighbours)
    quality = choice.quality(counts)
    moved = quality[second] - quality[first]
    return float(moved.min()), float(moved.max())


@cache
def _pairs(n_types: int, n_records: int, neighbours: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    tables = Tables(n_types, n_records)
    return tables.counts, *tables.pairs(neighbours)
