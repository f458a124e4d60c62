"""What a node of a tree costs (paper 4, section 5.1 and Table 2): reads are counted, nothing is timed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from experiments.statements.finding import Finding

_SIZES = (10, 20, 40)


class _Counted(Sequence):
    """A sequence that counts how often one of its entries is read."""

    def __init__(self, entries: Sequence):
        self.entries, self.n_reads = entries, 0

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, i: Any) -> Any:
        self.n_reads += 1
        return self.entries[i]

    def __iter__(self) -> Iterator:
        for entry in self.entries:
            self.n_reads += 1
            yield entry


def permute_and_flip(scores: Sequence[float], epsilon: float, flip: Callable[[float], bool]) -> int:
    """Choose a candidate as Algorithms 2 and 3 do: the chance of each, then a flip for one after the other.

    The permutation is the dearest one, with the best candidate last.
    """
    best = max(scores)
    chances = [math.exp(epsilon * (score - best) / 2) for score in scores]
    return next(i for i in sorted(range(len(chances)), key=chances.__getitem__) if flip(chances[i]))


def score_features(records: Sequence[tuple[tuple[int, ...], int]], n_features: int) -> list[float]:
    """Score every feature by the Gini index of its children: the first loop of Algorithm 2."""
    scores = []
    for f in range(n_features):
        counts: dict[int, dict[int, int]] = {}
        for values, label in records:
            of_child = counts.setdefault(values[f], {})
            of_child[label] = of_child.get(label, 0) + 1
        impurities = [sum(n.values()) - sum(k * k for k in n.values()) / sum(n.values()) for n in counts.values()]
        scores.append(-sum(impurities))
    return scores


def _flip(flips: list[float], chance: float) -> bool:
    """Note a flip; it fails if it may."""
    flips.append(chance)
    return chance == 1


def candidates_are_touched(times: float, choose: Callable[..., int] = permute_and_flip) -> Finding:
    """Decide whether choosing among n scored candidates touches each so many times at most, whatever n.

    That is 3 for O(3n) features of a split, and O(3m) labels of a leaf. The mechanism chooses by scores, ε and flips;
    every flip that may fail fails, which is its dearest case.
    """
    most = 0.0
    for n in _SIZES:
        scores = _Counted([float(-i) for i in range(n)])
        flips: list[float] = []
        choose(scores, 1.0, partial(_flip, flips))
        most = max(most, (scores.n_reads + len(flips)) / n)
    found = f"each of {_SIZES[0]} to {_SIZES[-1]} candidates is touched up to {most:.3g} times"
    return Finding(most <= times, f"{found}, by reads of scores and by flips; permuting and scoring are not counted")


def records_do_not_matter(n_features: int = 3, score: Callable[..., list] = score_features) -> Finding:
    """Decide whether what a node reads depends on the number of its records: "与整个数据集的大小无关"."""
    reads = []
    for n in _SIZES:
        records = _Counted([((i % 2,) * n_features, i % 2) for i in range(n)])
        score(records, n_features)
        reads.append(records.n_reads)
    found = ", ".join(f"{n_reads} of {n} records" for n, n_reads in zip(_SIZES, reads, strict=True))
    return Finding(len(set(reads)) == 1, f"to score {n_features} features takes reads: {found}")
