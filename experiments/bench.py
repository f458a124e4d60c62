"""Speed and memory, as ratios measured in one run: ``make bench``.

Our forests and scikit-learn's fit and predict the same rows of Adult (30,162 to train, 15,060 to predict, 14 columns of
numbers, 25 trees) on one core, in turns; each ratio is taken between the fastest of the turns.
"""

from __future__ import annotations

import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table as Grid
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from threadpoolctl import threadpool_limits

import datasets
from algorithms import Continuous, Domain, RFDPPGiniClassifier
from algorithms.accounting import Unpaid
from algorithms.compiled import compiled
from algorithms.forests.candidates import class_counts, count_below, draw_features, is_pure, split_score
from algorithms.forests.forest import PrivateForestClassifier, label_leaf
from algorithms.forests.scores import GINI
from algorithms.forests.tree import BELOW, node_type, plant, released, rows_of, split_in_two
from algorithms.mechanisms import exponential

TREES = 25
TURNS = 5


@compiled
def grow_random_cuts(table, rows, max_depth, n_candidates, rng):
    """Grow a tree that draws K features and a random present value of each, and takes the best of these cuts."""
    growth = plant(table, rows)
    all_features = np.arange(table.codes.shape[0])
    codes, quality, measure = np.empty(n_candidates, dtype=np.int64), np.empty(n_candidates), np.ones(n_candidates)
    left = np.empty(table.n_classes, dtype=np.int64)
    i = 0
    while i < growth.n_nodes[0]:
        counts = class_counts(growth, i)
        if growth.nodes[i].depth == max_depth or is_pure(counts):
            label_leaf(growth, i, counts, np.inf, rng)
        else:
            features = draw_features(all_features, n_candidates, rng)
            members = rows_of(growth, i)
            for j in range(n_candidates):
                codes[j] = table.codes[features[j], members[int(rng.random() * members.shape[0])]]
                count_below(growth, table, i, features[j], codes[j], left)
                quality[j] = split_score(GINI, left, counts)
            j = exponential(quality, measure, 2.0, np.inf, rng)
            cut = table.levels[table.first_level[features[j]] + codes[j]]
            growth = split_in_two(growth, table, i, features[j], BELOW, codes[j], cut)
        i += 1
    return released(growth)


@compiled
def grow_purely_random(table, bounds, max_depth, rng):
    """Grow a tree whose features and cuts are drawn from the public ranges without looking at the rows.

    Rows only walk down, so they need not be sorted by node. A node that no row reaches is not grown.
    """
    n_rows = table.labels.shape[0]
    nodes, codes, is_reached = np.zeros(1, dtype=node_type), np.zeros(1, dtype=np.uint32), np.ones(1, dtype=np.bool_)
    at = np.zeros(n_rows, dtype=np.uint32)
    first = 0
    for depth in range(max_depth):
        end = nodes.shape[0]
        n_more = 2 * np.count_nonzero(is_reached[first:])
        nodes = np.concatenate((nodes, np.zeros(n_more, dtype=node_type)))
        codes = np.concatenate((codes, np.zeros(n_more, dtype=np.uint32)))
        is_reached = np.concatenate((is_reached, np.zeros(n_more, dtype=np.bool_)))
        child = end
        for i in range(first, end):
            if is_reached[i]:
                node = nodes[i]
                node.decides, node.depth, node.child = BELOW, depth, child
                node.feature = int(rng.random() * bounds.shape[0])
                low, high = bounds[node.feature]
                node.cut = low + rng.random() * (high - low)
                begin = table.first_level[node.feature]
                levels = table.levels[begin : begin + table.n_codes[node.feature]]
                codes[i] = np.searchsorted(levels, node.cut, side="right")
                child += 2
        for row in range(n_rows):
            node = nodes[at[row]]
            at[row] = np.uint32(node.child) + np.uint32(table.codes[node.feature, row] >= codes[at[row]])
            is_reached[at[row]] = True
        first = end
    counts = np.zeros((nodes.shape[0], table.n_classes), dtype=np.int64)
    for row in range(n_rows):
        counts[at[row], table.labels[row]] += 1
    for i in range(first, nodes.shape[0]):
        nodes[i].depth = max_depth
        nodes[i].label = np.argmax(counts[i])
    return nodes


class RandomCuts(PrivateForestClassifier):
    """The engine's speed at DiffPETs' work: K random cuts a node, no noise."""

    def __init__(self, max_depth=10, n_candidates=5, epsilon=math.inf, n_estimators=TREES, domain=None):
        self.max_depth = max_depth
        self.n_candidates = n_candidates
        self.epsilon = epsilon
        self.n_estimators = n_estimators
        self.domain = domain
        self.n_jobs = None
        self.random_state = 0

    def _sampling(self) -> str:
        return "all"  # as ExtraTreesClassifier does by default

    def _grower(self, table):
        return lambda table, rows, rng: grow_random_cuts(table, rows, self.max_depth, self.n_candidates, rng)

    def _account(self, table):
        return Unpaid("everything: the bench measures speed without noise"), ()


class PurelyRandom(RandomCuts):
    """The engine's speed at RDT's work: trees drawn without looking at the rows, no noise."""

    def _grower(self, table):
        bounds = np.array([(feature.lower, feature.upper) for feature in self.domain_.features])
        return lambda table, rows, rng: grow_purely_random(table, bounds, self.max_depth, rng)


def forest_ratios() -> list[tuple[str, float, float]]:
    """Time ours and scikit-learn's in turns; return (what, ratio, the ratio aimed at)."""
    adult = datasets.load("adult")
    matrix, _ = adult.domain.encode(adult.frame)
    matrix = np.ascontiguousarray(matrix)
    y = adult.target.to_numpy()
    split = slice(0, adult.n_train), slice(adult.n_train, None)
    numeric = Domain(
        tuple(
            feature if isinstance(feature, Continuous) else Continuous(feature.name, 0, len(feature.categories) - 1)
            for feature in adult.domain.features
        ),
        adult.domain.target,
    )
    ours_cart = RFDPPGiniClassifier(math.inf, n_estimators=TREES, max_depth=10, max_features=5, domain=numeric)
    theirs_cart = RandomForestClassifier(TREES, max_depth=10, max_features=5, n_jobs=1)
    pairs = [
        ("RFDPP-Gini, depth 10, m = 5 / RandomForestClassifier", ours_cart, theirs_cart, 0.5),
        (
            "random cuts, depth 10, K = 5 / ExtraTreesClassifier(max_features=5)",
            RandomCuts(10, 5, domain=numeric),
            ExtraTreesClassifier(TREES, max_depth=10, max_features=5, n_jobs=1),
            0.3,
        ),
    ]
    for depth in (5, 10, 15):
        pairs.append(
            (
                f"purely random, depth {depth} / ExtraTreesClassifier(max_features=1)",
                PurelyRandom(depth, domain=numeric),
                ExtraTreesClassifier(TREES, max_depth=depth, max_features=1, n_jobs=1),
                0.35,
            )
        )
    with threadpool_limits(1):
        return [
            (what, _ratio(_run(ours, matrix, y, *split), _run(theirs, matrix, y, *split)), aim)
            for what, ours, theirs, aim in pairs
        ]


def _run(estimator, matrix, y, train: slice, test: slice) -> Callable[[], None]:
    def fit_and_predict():
        estimator.fit(matrix[train], y[train])
        estimator.predict(matrix[test])

    return fit_and_predict


def _ratio(ours: Callable, theirs: Callable) -> float:
    ours()  # the first run compiles
    best = [math.inf, math.inf]
    for _ in range(TURNS):
        for who, run in enumerate((ours, theirs)):
            start = time.perf_counter()
            run()
            best[who] = min(best[who], time.perf_counter() - start)
    return best[0] / best[1]


def command_seconds(*words: str) -> tuple[float, float]:
    """Run ``python -m experiments`` with an empty store; return seconds and the peak memory of a process in MB."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "experiments", *words, f"results={folder}"], check=True, capture_output=True
        )
        seconds = time.perf_counter() - start
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> None:
    """Measure and print everything."""
    console = Console()
    grid = Grid("measured on Adult, one core, 25 trees, fit and predict", "ratio", "aim")
    for what, ratio, aim in forest_ratios():
        grid.add_row(what, f"{ratio:.2f}", f"<= {aim}")
    console.print(grid)
    epsilons = ",".join(str(i / 100) for i in range(1, 1001))
    seconds, _ = command_seconds("-m", "dataset=car", "algorithm=nothing", f"epsilon={epsilons}", "repeats=10")
    console.print(f"10,000 empty cells through -m: {seconds:.1f} s (aim <= 10 s)")
    forests = ("dataset=adult", "algorithm=rfdpp_gini", "epsilon=1,inf", "algorithm.max_depth=10", "repeats=4")
    _, megabytes = command_seconds("-m", *forests)
    console.print(f"peak memory of the largest process, forests on Adult: {megabytes:.0f} MB (aim <= 500 MB)")


if __name__ == "__main__":
    main()
