"""Theorems 3, 4 and 5 of paper 4: the exact law of pfDPDT and eDPRF on every small table, and the ε that it shows.

Written from the paper's Algorithms 2 to 6 (pages 14 to 18) and apart from the estimators: a table has two binary
features and two labels, a tree is nested tuples, and a law gives every tree its probability. Both differ from the
print in one point that is to their favour: a split has a child for every value, not only for those seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations_with_replacement, permutations, product
from typing import Any

from experiments.statements.finding import Finding
from experiments.statements.pfdpdt_budget import leaf_epsilon, split_epsilon

Table = tuple[tuple[tuple[int, ...], int], ...]
"""Records: the values of the features, and the label."""
Law = dict[Any, float]
"""The probability of every outcome that has one."""

_FEATURES, _VALUES, _LABELS = (0, 1), (0, 1), (0, 1)
_ROUNDING = 1e-9


def permute_and_flip(candidates: tuple, scores: list[float], sensitivity: float, epsilon: float) -> Law:
    """Return the chance of each candidate: in random order, each is taken with chance exp(ε (u - max u) / 2Δ).

    Examples
    --------
    >>> permute_and_flip(("a", "b"), [0.0, 0.0], 1.0, 1.0)
    {'a': 0.5, 'b': 0.5}
    """
    taken = [math.exp(epsilon * (score - max(scores)) / (2 * sensitivity)) for score in scores]
    law = dict.fromkeys(candidates, 0.0)
    for order in permutations(range(len(candidates))):
        still = 1 / math.factorial(len(candidates))
        for i in order:
            law[candidates[i]] += still * taken[i]
            still *= 1 - taken[i]
    return law


@cache
def grow(
    records: Table, epsilon: float, max_depth: int, stops: bool, level: int = 1, unused: tuple[int, ...] = _FEATURES
) -> Law:
    """Return the law of the tree that pfDPDT builds, Algorithm 5; ``stops`` where a node has one label only."""
    has_one_label = len({label for _, label in records}) <= 1
    if not unused or level == max_depth or (stops and has_one_label):
        counts = [float(sum(of_record == label for _, of_record in records)) for label in _LABELS]
        return permute_and_flip(_LABELS, counts, 1.0, float(leaf_epsilon(level, max_depth, epsilon)))
    children = {f: [tuple(one for one in records if one[0][f] == value) for value in _VALUES] for f in unused}
    scores = [sum(map(_gini, children[f])) for f in unused]
    law: Law = {}
    for f, chance in permute_and_flip(unused, scores, 2.0, float(split_epsilon(level, max_depth, epsilon))).items():
        rest = tuple(other for other in unused if other != f)
        below = [grow(child, epsilon, max_depth, stops, level + 1, rest) for child in children[f]]
        for trees in product(*below):
            law[f, trees] = chance * math.prod(laws[tree] for laws, tree in zip(below, trees, strict=True))
    return law


def grow_forest(records: Table, epsilon: float, max_depth: int, stops: bool) -> Law:
    """Return the law of eDPRF with two trees, each with all of ε; every record goes to one of them by a coin."""
    law: Law = {}
    for parts in product((0, 1), repeat=len(records)):
        tables = [tuple(one for one, part in zip(records, parts, strict=True) if part == tree) for tree in (0, 1)]
        for forest in product(*(grow(part, epsilon, max_depth, stops).items() for part in tables)):
            (first, p), (second, q) = forest
            law[first, second] = law.get((first, second), 0.0) + p * q / 2 ** len(records)
    return law


def predict(forest: tuple, values: tuple[int, ...]) -> int:
    """Return the label that most trees give to a record, the first on a tie: Algorithm 6."""
    votes = []
    for tree in forest:
        while isinstance(tree, tuple):
            feature, children = tree
            tree = children[values[feature]]
        votes.append(tree)
    return max(_LABELS, key=votes.count)


def tree_keeps_epsilon(stops: bool = True, epsilon: float = 1.0, max_depth: int = 3, most_records: int = 4) -> Finding:
    """Decide Theorem 3 on every pair of neighbouring tables: pfDPDT is ε-differentially private.

    ``stops`` says whether a node with one label only becomes a leaf, as Algorithm 5 has it.
    """
    return _keeps_epsilon(lambda records: grow(records, epsilon, max_depth, stops), epsilon, most_records)


def forest_keeps_epsilon(
    stops: bool = True, epsilon: float = 1.0, max_depth: int = 2, most_records: int = 3
) -> Finding:
    """Decide Theorem 4 on every pair of neighbouring tables: eDPRF is ε-differentially private."""
    return _keeps_epsilon(lambda records: grow_forest(records, epsilon, max_depth, stops), epsilon, most_records)


def predictions_tell_no_more(
    stops: bool = True,
    epsilon: float = 1.0,
    max_depth: int = 2,
    most_records: int = 2,
    predict: Callable[..., int] = predict,
) -> Finding:
    """Decide Theorem 5 on every pair of neighbouring tables: predictions show no more of ε than the forest does.

    So if the forest keeps ε, they do; whether it does is Theorem 4.
    """
    for fewer, more in list_neighbours(most_records):
        forests = [grow_forest(records, epsilon, max_depth, stops) for records in (fewer, more)]
        shown = find_loss(*forests)[0]
        answers = []
        for law in forests:
            of_answers: Law = {}
            for forest, chance in law.items():
                answer = tuple(predict(forest, values) for values in product(_VALUES, repeat=len(_FEATURES)))
                of_answers[answer] = of_answers.get(answer, 0.0) + chance
            answers.append(of_answers)
        loss = find_loss(*answers)[0]
        if loss > shown + _ROUNDING:
            where = f"{_describe(fewer)} and {_describe(more)}"
            return Finding(
                False, f"on {where} predictions show {_describe_loss(loss)}, the forest {_describe_loss(shown)}"
            )
    return Finding(True, f"predictions never show more than the forest, on all tables of up to {most_records} records")


def list_neighbours(most_records: int) -> Iterator[tuple[Table, Table]]:
    """Yield every table of two binary features and two labels with one that has one record more."""
    kinds = list(product(product(_VALUES, repeat=len(_FEATURES)), _LABELS))
    for n in range(most_records):
        for records in combinations_with_replacement(kinds, n):
            for added in kinds:
                yield records, tuple(sorted((*records, added)))


def find_loss(law: Law, other: Law) -> tuple[float, Any]:
    """Return the ε that two laws show, the largest log-ratio of the chances of an outcome, and where.

    Examples
    --------
    >>> find_loss({"a": 1.0}, {"a": 0.5, "b": 0.5})
    (inf, 'b')
    """
    worst, where = 0.0, None
    for outcome in {**law, **other}:
        p, q = law.get(outcome, 0.0), other.get(outcome, 0.0)
        loss = abs(math.log(p / q)) if p and q else math.inf
        if loss > worst:
            worst, where = loss, outcome
    return worst, where


def _keeps_epsilon(make_law: Callable[[Table], Law], epsilon: float, most_records: int) -> Finding:
    worst = 0.0
    for fewer, more in list_neighbours(most_records):
        loss, where = find_loss(make_law(fewer), make_law(more))
        if loss > epsilon + _ROUNDING:
            chances = [make_law(records).get(where, 0.0) for records in (fewer, more)]
            one, other = f"{chances[0]:.3g} on {_describe(fewer)}", f"{chances[1]:.3g} on {_describe(more)}"
            return Finding(False, f"one model has chance {one}, {other}: {_describe_loss(loss)}")
        worst = max(worst, loss)
    return Finding(True, f"on all tables of up to {most_records} records ε is at most {worst:.3g}, of {epsilon:g}")


def _describe_loss(loss: float) -> str:
    """Return the ε that a loss shows."""
    return "more than any ε allows" if math.isinf(loss) else f"ε ≥ {loss:.3g}"


def _gini(records: Table) -> float:
    n = len(records)
    shares = [sum(of_record == label for _, of_record in records) / n for label in _LABELS] if n else [1.0]
    return -n * (1 - sum(share**2 for share in shares))


def _describe(records: Table) -> str:
    words = ["".join(map(str, values)) + " labelled " + "ab"[label] for values, label in records]
    return "{" + ", ".join(words) + "}"
