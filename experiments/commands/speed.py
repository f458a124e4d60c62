"""Speed and memory, as ratios measured in one run: ``make bench``.

Our forests and scikit-learn's fit and predict the same rows of Adult (30,162 to train, 15,060 to predict, 14 columns of
numbers, 25 trees) or fit those of Mushroom, on one core, in turns, without noise; each ratio is taken between the
fastest of the turns. Private regressions read two million generated rows. Peers are timed in their own process, around
their ``fit`` alone: neither its start nor the way of the rows there counts, nor that they are read under the domain,
which ours do as part of their fit.
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
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table as Grid
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression
from threadpoolctl import threadpool_limits

import datasets
from algorithms import (
    Continuous,
    DiffPETsClassifier,
    Domain,
    DPBARegressor,
    EDPRFClassifier,
    FunctionalMechanismRegressor,
    RDTClassifier,
    RFDPPGiniClassifier,
)
from experiments.audit import neighbouring_tables as audit_pairs
from experiments.audit.attacks.black_box import make_observer, observe_in_threads
from experiments.peers import DiffprivlibForestClassifier, DiffprivlibLinearRegression

TREES = 25
TURNS = 5
N_ROWS = 2_000_000
N_ROWS_OF_PEERS = 200_000
BUDGETS = list(
    product([0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, math.inf], ["value1", "value2", "value3", 1000], range(250))
)


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
            "DiffPETs, cuts of records, depth 10, K = 5 / ExtraTreesClassifier(max_features=5)",
            DiffPETsClassifier(
                math.inf, n_estimators=TREES, max_depth=10, max_features=5, cut="record", sampling="all", domain=domain
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
        *fit_ratios(),
    ]


def fit_ratios() -> list[tuple[str, float, float]]:
    """Time the fit alone, of a data set as it is loaded; scikit-learn takes its categories as numbers."""
    return [
        _fits(
            "DiffPETs, Mushroom, 10 trees, depth 11, K = 4, fit alone / ExtraTreesClassifier",
            "mushroom",
            DiffPETsClassifier(math.inf, n_estimators=10, max_depth=11, max_features=4),
            ExtraTreesClassifier(10, max_depth=11, max_features=4, n_jobs=1),
            aim=0.5,
        ),
        _fits(
            "eDPRF, 10 trees, depth 6, fit alone / RandomForestClassifier",
            "adult",
            EDPRFClassifier(1.0, n_estimators=10, max_depth=6),
            RandomForestClassifier(10, max_depth=6, n_jobs=1),
            aim=0.3,
        ),
    ]


def _fits(what: str, dataset: str, ours, theirs, aim: float) -> tuple[str, float, float]:
    data = datasets.load(dataset)
    matrix, _ = data.domain.encode(data.frame)
    frame, matrix, y = (rows[: data.n_train] for rows in (data.frame, matrix, data.target.to_numpy()))
    ours.set_params(domain=data.domain)
    with threadpool_limits(1):
        return what, _ratio(lambda: ours.fit(frame, y), lambda: theirs.fit(matrix, y)), aim


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


def regression_ratios() -> list[tuple[str, float, float]]:
    """Time private regressions on generated rows; return (what, ratio, the ratio aimed at)."""
    with threadpool_limits(1):
        X, y, domain = _generated(9)
        ours, theirs = FunctionalMechanismRegressor(domain=domain), LinearRegression()
        linear = _ratio(lambda: ours.fit(X, y), lambda: theirs.fit(X, y))
        X, y, domain = _generated(6)
        reader = DPBARegressor(degree=2, domain=domain)
        Z = np.random.default_rng(1).random((N_ROWS, 27))
        one_pass = _ratio(lambda: reader.summarise(X, y), lambda: Z.T @ Z)
        seconds = min(_seconds(lambda: reader.summarise(X, y)) for _ in range(TURNS))
        many = _seconds(lambda: _private_fits(X, y, domain)) / (1.5 * seconds + 1e-3 * len(BUDGETS))
    rows = f"{N_ROWS:,}"
    return [
        (f"FM, {rows} rows x 9, fit / LinearRegression", linear, 0.3),
        (f"one pass over {rows} rows x 6, degree 2 / Z.T @ Z of 27 columns", one_pass, 1.5),
        (f"{len(BUDGETS):,} private fits to these / 1.5 passes and 1 ms a fit", many, 1.0),
    ]


def peer_ratios() -> list[tuple[str, float, float]]:
    """Time the fit of ours and of diffprivlib's in turns, with the same public bounds; return as the others do."""
    data = datasets.load("adult")
    adult = data.frame[: data.n_train], data.target.to_numpy()[: data.n_train], data.domain
    size = {"n_estimators": 10, "max_depth": 5}
    peer = DiffprivlibForestClassifier(1.0, **size)
    X, y, domain = _generated(9)
    few = X[:N_ROWS_OF_PEERS], y[:N_ROWS_OF_PEERS], domain
    linear = FunctionalMechanismRegressor(1.0), DiffprivlibLinearRegression(1.0)
    with threadpool_limits(1):
        return [
            (
                "RDT, every row in each tree / diffprivlib's RandomForestClassifier, every row in one tree",
                _peer_ratio(RDTClassifier(1.0, **size), peer, *adult),
                1.0,
            ),
            (
                "DiffPETs, sound, every row in one tree / the same",
                _peer_ratio(DiffPETsClassifier(1.0, variant="sound", sampling="disjoint", **size), peer, *adult),
                1.0,
            ),
            (f"FM, {N_ROWS_OF_PEERS:,} rows x 9 / diffprivlib's LinearRegression", _peer_ratio(*linear, *few), 1.0),
        ]


def _peer_ratio(ours, peer, X, y: np.ndarray, domain: Domain) -> float:
    ours.set_params(domain=domain, random_state=0).fit(X, y)  # the first run compiles
    peer.set_params(domain=domain, random_state=0)
    best = [math.inf, math.inf]
    for _ in range(TURNS):
        best = [min(best[0], _seconds(lambda: ours.fit(X, y))), min(best[1], peer.fit(X, y).fit_seconds_)]
    return best[0] / best[1]


def regression_megabytes(step: str) -> float:
    """Return the peak memory of a process that does a step, in MB.

    Parameters
    ----------
    step : {"fit", "predict", "private_fits"}
        The first two are a linear regression of nine attributes, and what they take beyond the rows; the third is
        all of a process that fits every budget.
    """
    code = f"from experiments import bench; print(bench._megabytes({step!r}))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(done.stdout)


def _megabytes(step: str) -> float:
    X, y, domain = _generated(6 if step == "private_fits" else 9)
    with threadpool_limits(1):
        if step == "private_fits":
            _private_fits(X, y, domain)
            return _status("VmHWM")
        model = FunctionalMechanismRegressor(domain=domain, random_state=0)
        model.fit(X[:100], y[:100]).predict(X[:100])  # loads the compiled code
        before = _status("VmRSS")
        model.fit(X, y) if step == "fit" else model.predict(X)
    return _status("VmHWM") - before


def _status(name: str) -> float:
    """Return an entry of Linux's account of this process in MB; ``ru_maxrss`` would begin at the peak of the parent."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def _generated(n_columns: int) -> tuple[np.ndarray, np.ndarray, Domain]:
    rng = np.random.default_rng(0)
    X = rng.random((N_ROWS, n_columns))
    features = [Continuous(f"x{i}", 0.01, 0.99) for i in range(n_columns)]
    return X, rng.random(N_ROWS), Domain(features, Continuous("y", 0, 1))


def _private_fits(X: np.ndarray, y: np.ndarray, domain: Domain) -> None:
    summary = DPBARegressor(degree=2, domain=domain).summarise(X, y)
    for epsilon, beta, repeat in BUDGETS:
        DPBARegressor(epsilon, degree=2, beta=beta, domain=domain, random_state=repeat).fit_summary(summary)


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


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
            best[who] = min(best[who], _seconds(run))
    return best[0] / best[1]


def audit_seconds() -> float:
    """Return how long 100,000 trainings of a forest of five trees on 20 rows take on two cores, once compiled."""
    pair = next(pair for pair in audit_pairs.CLASSIFICATION_PAIRS if pair.name == "first in order")
    forest = RFDPPGiniClassifier(1.0, n_estimators=5, max_depth=3, max_features=2)
    many = make_observer(forest, pair, (*pair.table, *pair.table[:8]), key=0)
    observe_in_threads(many, 0, 1)
    return _seconds(lambda: observe_in_threads(many, 0, 100_000, jobs=2))


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
    seconds = audit_seconds()
    console.print(
        f"100,000 trainings of RFDPP-Gini, 5 trees of depth 3, on 20 rows, two cores: {seconds:.1f} s (aim <= 20 s)"
    )
    epsilons = ",".join(str(i / 100) for i in range(1, 1001))
    seconds, _ = command_seconds("-m", "dataset=car", "algorithm=nothing", f"epsilon={epsilons}", "repeats=10")
    console.print(f"10,000 empty cells through -m: {seconds:.1f} s (aim <= 10 s)")
    forests = ("dataset=adult", "algorithm=rfdpp_gini", "epsilon=1,inf", "algorithm.max_depth=10", "repeats=4")
    _, megabytes = command_seconds("-m", *forests)
    console.print(f"peak memory of the largest process, forests on Adult: {megabytes:.0f} MB (aim <= 500 MB)")
    grid = Grid("private regression, one core", "ratio", "aim")
    for what, ratio, aim in regression_ratios():
        grid.add_row(what, f"{ratio:.2f}", f"<= {aim}")
    console.print(grid)
    grid = Grid(
        "peers: fit alone, one core, ε = 1; Adult, 10 trees, depth 5 where nothing else is said", "ratio", "aim"
    )
    for what, ratio, aim in peer_ratios():
        grid.add_row(what, f"{ratio:.2f}", f"<= {aim}")
    console.print(grid)
    for step, what, aim in (
        ("private_fits", f"{len(BUDGETS):,} private fits to {N_ROWS:,} rows x 6, all of the process", 1024),
        ("fit", f"FM, {N_ROWS:,} rows x 9, fit, beyond the rows", 50),
        ("predict", f"FM, {N_ROWS:,} rows x 9, predict, beyond the rows", 50),
    ):
        console.print(f"peak memory, {what}: {regression_megabytes(step):.0f} MB (aim <= {aim} MB)")


if __name__ == "__main__":
    main()
