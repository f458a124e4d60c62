"""Speed and memory, as ratios measured in one run: ``make bench``.

Our forests and scikit-learn's fit and predict the same rows of Adult (30,162 to train, 15,060 to predict, 14 columns of
numbers, 25 trees) or fit those of Mushroom, on one core, in turns, without noise; each ratio is taken between the
fastest of the turns.
"""

from __future__ import annotations

import math
import pickle
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
from algorithms import Continuous, DiffPETsClassifier, Domain, RDTClassifier, RFDPPGiniClassifier

TREES = 25
TURNS = 5


def forest_ratios() -> list[tuple[str, float, float]]:
    """Time ours and scikit-learn's in turns; return (what, ratio, the ratio aimed at)."""
    adult, domain = _numbers("adult")
    return [
        _compared(
            "RFDPP-Gini, depth 10, m = 5 / RandomForestClassifier",
            RFDPPGiniClassifier(math.inf, n_estimators=TREES, max_depth=10, max_features=5, domain=domain),
            RandomForestClassifier(TREES, max_depth=10, max_features=5, n_jobs=1),
            adult,
            aim=0.5,
        ),
        _compared(
            "DiffPETs, depth 10, K = 5 / ExtraTreesClassifier(max_features=5)",
            DiffPETsClassifier(
                math.inf, n_estimators=TREES, max_depth=10, max_features=5, sampling="all", domain=domain
            ),
            ExtraTreesClassifier(TREES, max_depth=10, max_features=5, n_jobs=1),
            adult,
            aim=0.3,
        ),
        *(
            _compared(
                f"RDT, depth {depth} / ExtraTreesClassifier(max_features=1)",
                RDTClassifier(math.inf, n_estimators=TREES, max_depth=depth, domain=domain),
                ExtraTreesClassifier(TREES, max_depth=depth, max_features=1, n_jobs=1),
                adult,
                aim=0.35,
            )
            for depth in (5, 10, 15)
        ),
        diffpets_on_mushroom(),
    ]


def diffpets_on_mushroom() -> tuple[str, float, float]:
    """Time the forest of paper 1 on all of Mushroom, whose categories scikit-learn takes as numbers."""
    mushroom = datasets.load("mushroom")
    matrix, _ = mushroom.domain.encode(mushroom.frame)
    y = mushroom.target.to_numpy()
    ours = DiffPETsClassifier(math.inf, n_estimators=10, max_depth=11, max_features=4, domain=mushroom.domain)
    theirs = ExtraTreesClassifier(10, max_depth=11, max_features=4, bootstrap=True, n_jobs=1)
    what = "DiffPETs, Mushroom, 10 trees, depth 11, K = 4, fit alone / ExtraTreesClassifier"
    with threadpool_limits(1):
        return what, _ratio(lambda: ours.fit(mushroom.frame, y), lambda: theirs.fit(matrix, y)), 0.5


def random_tree_sizes() -> list[tuple[int, float]]:
    """Return the size of a fitted RDT as a share of scikit-learn's forest of random cuts, by depth."""
    (matrix, y, train, _), domain = _numbers("adult")
    sizes = []
    for depth in (5, 10, 15):
        ours = RDTClassifier(math.inf, n_estimators=TREES, max_depth=depth, domain=domain, random_state=0)
        theirs = ExtraTreesClassifier(TREES, max_depth=depth, max_features=1, random_state=0)
        fitted = [len(pickle.dumps(one.fit(matrix[train], y[train]))) for one in (ours, theirs)]
        sizes.append((depth, fitted[0] / fitted[1]))
    return sizes


def _numbers(name: str) -> tuple[tuple, Domain]:
    """Return matrix, target, training and test rows of a data set with an official split, all columns as numbers."""
    data = datasets.load(name)
    matrix, _ = data.domain.encode(data.frame)
    numeric = tuple(
        feature if isinstance(feature, Continuous) else Continuous(feature.name, 0, len(feature.categories) - 1)
        for feature in data.domain.features
    )
    split = slice(0, data.n_train), slice(data.n_train, None)
    return (np.ascontiguousarray(matrix), data.target.to_numpy(), *split), Domain(numeric, data.domain.target)


def _compared(what: str, ours, theirs, rows: tuple, aim: float) -> tuple[str, float, float]:
    with threadpool_limits(1):
        return what, _ratio(_run(ours, *rows), _run(theirs, *rows)), aim


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
    grid = Grid("one core; where nothing else is said, Adult, 25 trees, fit and predict", "ratio", "aim")
    for what, ratio, aim in forest_ratios():
        grid.add_row(what, f"{ratio:.2f}", f"<= {aim}")
    console.print(grid)
    for depth, ratio in random_tree_sizes():
        console.print(f"size of the fitted RDT, depth {depth}, against ExtraTreesClassifier: {ratio:.2f} (aim <= 0.35)")
    epsilons = ",".join(str(i / 100) for i in range(1, 1001))
    seconds, _ = command_seconds("-m", "dataset=car", "algorithm=nothing", f"epsilon={epsilons}", "repeats=10")
    console.print(f"10,000 empty cells through -m: {seconds:.1f} s (aim <= 10 s)")
    forests = ("dataset=adult", "algorithm=rfdpp_gini", "epsilon=1,inf", "algorithm.max_depth=10", "repeats=4")
    _, megabytes = command_seconds("-m", *forests)
    console.print(f"peak memory of the largest process, forests on Adult: {megabytes:.0f} MB (aim <= 500 MB)")


if __name__ == "__main__":
    main()
