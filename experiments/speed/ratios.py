"""Speed and memory, as ratios measured in one run: ``do=speed``.

Our forests and scikit-learn's fit and predict the same rows of Adult (30,162 to train, 15,060 to predict, 14 columns of
numbers, 25 trees) or fit those of Mushroom, on one core, in turns, without noise; each ratio is taken between the
fastest of the turns. Private regressions read two million generated rows. Peers are timed in their own process, around
their ``fit`` alone: neither its start nor the way of the rows there counts, nor that they are read under the domain,
which ours do as part of their fit. Algorithms are those of the catalogue; a row says what is not as configured.

First fits in a process cost processor seconds, which stay the same on a busy machine. The start of Python, the imports
and the rows do not count.
"""

from __future__ import annotations

import math
import pickle
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import datasets
from algorithms import Continuous, Domain
from experiments.audit.attacks.black_box import make_observer, observe_in_threads
from experiments.audit.neighbouring_tables import CLASSIFICATION_PAIRS
from experiments.speed.measurement import (
    Configured,
    Measurement,
    configure,
    read_status,
    run_apart,
    run_on_store,
    time_call,
)

TREES = 25
TURNS, SECONDS = 5, 2.0  # at least: a fit of 20 ms takes its turn more often than one of a second
DEPTHS = (5, 10, 15)
KINDS = ("rdt", "edprf", "thrifty_tree", "diffpets", "rfdpp_gini", "diffprf", "diffprfs_ig")
N_ROWS_OF_FIRST_FITS = 100
N_ROWS = 2_000_000
N_ROWS_OF_PEERS = 200_000
BUDGETS = list(
    product([0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, math.inf], ["value1", "value2", "value3", 1000], range(250))
)


def measure_forests() -> list[Measurement]:
    """Time fit and predict of ours and of scikit-learn's in turns."""
    (matrix, y, train, test), domain = _load_numbers("adult")

    def fit_and_predict(model: Any) -> object:
        return model.fit(matrix[train], y[train]).predict(matrix[test])

    measurements = []
    with threadpool_limits(1):
        for ours, theirs, aim in compare_forests(domain):
            ratio = time_ratio(partial(fit_and_predict, ours.model), partial(fit_and_predict, theirs.model))
            measurements.append(Measurement(f"{ours.what} / {theirs.what}", ratio, aim))
    return measurements


def compare_forests(domain: Domain) -> list[tuple[Configured, Configured, float]]:
    """Return ours, scikit-learn's that does the same work, and what the ratio should be at most."""
    size = {"n_estimators": TREES, "max_depth": 10, "max_features": 5}
    work: dict[str, Any] = {**size, "levels": "below_root", "sampling": "all"}  # depth, rows of scikit-learn's trees
    return [
        (configure("rfdpp_gini", domain=domain, **size), configure("random_forest", **size), 0.25),
        (configure("diffpets", domain=domain, **work), configure("extra_trees", **size), 0.3),
        *((*_random_trees(depth, domain), 0.25) for depth in DEPTHS),
    ]


def measure_fits() -> list[Measurement]:
    """Time the fit alone, of a data set as it is loaded; scikit-learn takes its categories as numbers."""
    deep = {"n_estimators": 10, "max_depth": 11, "max_features": 4}
    few = {"n_estimators": 10, "max_depth": 6}
    comparisons = [
        ("mushroom", configure("diffpets", **deep, levels="below_root"), configure("extra_trees", **deep), 0.5),
        ("adult", configure("edprf", epsilon=1.0, **few), configure("random_forest", **few), 0.3),
    ]
    measurements = []
    with threadpool_limits(1):
        for dataset, ours, theirs, aim in comparisons:
            what = f"{dataset}, fit alone: {ours.what} / {theirs.what}"
            measurements.append(Measurement(what, _fit_ratio(dataset, ours.model, theirs.model), aim))
    return measurements


def _fit_ratio(dataset: str, ours: Any, theirs: Any) -> float:
    data = datasets.load(dataset)
    matrix, _ = data.domain.encode(data.frame)
    frame, matrix, y = data.frame[: data.n_train], matrix[: data.n_train], data.target.to_numpy()[: data.n_train]
    ours.set_params(domain=data.domain)
    return time_ratio(lambda: ours.fit(frame, y), lambda: theirs.fit(matrix, y))


def measure_tree_sizes() -> list[Measurement]:
    """Measure a fitted RDT against scikit-learn's forest of random cuts, by depth."""
    (matrix, y, train, _), domain = _load_numbers("adult")
    sizes = []
    for depth in DEPTHS:
        ours, theirs = _random_trees(depth, domain)
        our_bytes = len(pickle.dumps(ours.model.fit(matrix[train], y[train])))
        their_bytes = len(pickle.dumps(theirs.model.fit(matrix[train], y[train])))
        sizes.append(Measurement(f"{ours.what} / {theirs.what}", our_bytes / their_bytes, 0.35))
    return sizes


def _random_trees(depth: int, domain: Domain) -> tuple[Configured, Configured]:
    size = {"n_estimators": TREES, "max_depth": depth}
    return configure("rdt", domain=domain, **size), configure("extra_trees", **size, max_features=1)


def measure_regressions() -> list[Measurement]:
    """Time private regressions on generated rows."""
    with threadpool_limits(1):
        X, y, domain = _generate_rows(9)
        ours, theirs = configure("fm", epsilon=1.0, domain=domain), configure("linear_regression")
        linear = time_ratio(lambda: ours.model.fit(X, y), lambda: theirs.model.fit(X, y))
        X, y, domain = _generate_rows(6)
        what, reader = configure("dpba", domain=domain, degree=2)
        Z = np.random.default_rng(1).random((N_ROWS, 27))
        one_pass = time_ratio(lambda: reader.summarise(X, y), lambda: Z.T @ Z)
        seconds = min(time_call(lambda: reader.summarise(X, y)) for _ in range(TURNS))
        many = time_call(lambda: _fit_budgets(reader, X, y)) / (1.5 * seconds + 1e-3 * len(BUDGETS))
    rows = f"{N_ROWS:,}"
    return [
        Measurement(f"{rows} rows x 9, fit: {ours.what} / {theirs.what}", linear, 0.1),
        Measurement(f"{rows} rows x 6, one pass: {what} / Z.T @ Z of 27 columns", one_pass, 1.5),
        Measurement(f"{len(BUDGETS):,} private fits to these / 1.5 passes and 1 ms a fit", many, 1.0),
    ]


def measure_peers() -> list[Measurement]:
    """Time the fit of ours and of diffprivlib's in turns, with the same public bounds."""
    data = datasets.load("adult")
    adult = data.frame[: data.n_train], data.target.to_numpy()[: data.n_train], data.domain
    X, y, domain = _generate_rows(9)
    few = X[:N_ROWS_OF_PEERS], y[:N_ROWS_OF_PEERS], domain
    forest = configure("diffprivlib_forest", epsilon=1.0)
    linear = configure("diffprivlib_linear_regression", epsilon=1.0)
    comparisons = [
        ("every row in each tree", configure("rdt", epsilon=1.0, max_depth=5), forest, adult),
        ("every row in one tree", configure("diffpets_sound", epsilon=1.0), forest, adult),
        (f"{N_ROWS_OF_PEERS:,} rows x 9", configure("fm", epsilon=1.0), linear, few),
    ]
    with threadpool_limits(1):
        return [
            Measurement(f"{rows}: {ours.what} / {peer.what}", _peer_ratio(ours.model, peer.model, *table), 1.0)
            for rows, ours, peer, table in comparisons
        ]


def _peer_ratio(ours: Any, peer: Any, X: Any, y: np.ndarray, domain: Domain) -> float:
    ours.set_params(domain=domain)
    peer.set_params(domain=domain)
    best = [math.inf, math.inf]
    for _ in range(TURNS):
        best = [min(best[0], time_call(lambda: ours.fit(X, y))), min(best[1], peer.fit(X, y).fit_seconds_)]
    return best[0] / best[1]


def measure_memory() -> list[Measurement]:
    """Measure the peak memory of processes that fit and predict private regressions."""
    linear, many = configure("fm").what, configure("dpba", degree=2).what
    steps = [
        ("private_fits", f"{many}, {len(BUDGETS):,} private fits to {N_ROWS:,} rows x 6, all of the process", 1024),
        ("fit", f"{linear}, {N_ROWS:,} rows x 9, fit, beyond the rows", 50),
        ("predict", f"{linear}, {N_ROWS:,} rows x 9, predict, beyond the rows", 50),
    ]
    return [Measurement(what, run_apart(measure_regression, step), aim, "MB") for step, what, aim in steps]


def measure_regression(step: str) -> float:
    """Return the peak memory, in MB, of this process in which a step is done.

    The steps "fit" and "predict" are of a linear regression of nine attributes, and what they take beyond the rows;
    "private_fits" is all of a process that fits every budget.
    """
    X, y, domain = _generate_rows(6 if step == "private_fits" else 9)
    with threadpool_limits(1):
        if step == "private_fits":
            _fit_budgets(configure("dpba", domain=domain, degree=2).model, X, y)
            return read_status("VmHWM")
        model = configure("fm", epsilon=1.0, domain=domain).model
        model.fit(X[:100], y[:100]).predict(X[:100])  # what a first fit brings
        before = read_status("VmRSS")
        model.fit(X, y) if step == "fit" else model.predict(X)
    return read_status("VmHWM") - before


def _generate_rows(n_columns: int) -> tuple[np.ndarray, np.ndarray, Domain]:
    rng = np.random.default_rng(0)
    X = rng.random((N_ROWS, n_columns))
    features = [Continuous(f"x{i}", 0.01, 0.99) for i in range(n_columns)]
    return X, rng.random(N_ROWS), Domain(features, Continuous("y", 0, 1))


def _fit_budgets(model: Any, X: np.ndarray, y: np.ndarray) -> None:
    summary = model.summarise(X, y)
    for epsilon, beta, repeat in BUDGETS:
        model.set_params(epsilon=epsilon, beta=beta, random_state=repeat).fit_summary(summary)


def _load_numbers(name: str) -> tuple[tuple, Domain]:
    """Return matrix, target, training and test rows of a data set with an official split, all columns as numbers."""
    data = datasets.load(name)
    matrix, _ = data.domain.encode(data.frame)
    numeric = []
    for feature in data.domain.features:
        is_number = isinstance(feature, Continuous)
        numeric.append(feature if is_number else Continuous(feature.name, 0, len(feature.categories) - 1))
    split = slice(0, data.n_train), slice(data.n_train, None)
    return (np.ascontiguousarray(matrix), data.target.to_numpy(), *split), Domain(numeric, data.domain.target)


def time_ratio(ours: Callable[[], object], theirs: Callable[[], object]) -> float:
    """Return the fastest of ours over the fastest of theirs, run in turns."""
    best, n_turns, start = [math.inf, math.inf], 0, time.perf_counter()
    while n_turns < TURNS or time.perf_counter() - start < SECONDS:
        best = [min(best[0], time_call(ours)), min(best[1], time_call(theirs))]
        n_turns += 1
    return best[0] / best[1]


def measure_threads() -> list[Measurement]:
    """Time a fit of ten trees with two threads and with one."""
    (matrix, y, train, _), domain = _load_numbers("adult")
    size = {"n_estimators": 10, "max_depth": 15}
    two, one = (configure("rfdpp_gini", domain=domain, **size, n_jobs=n) for n in (2, None))
    ratio = time_ratio(*(partial(forest.model.fit, matrix[train], y[train]) for forest in (two, one)))
    return [Measurement(f"fit alone: {two.what} / n_jobs=None", ratio, 0.56)]  # 1.8 times as fast


def measure_audit() -> list[Measurement]:
    """Time 100,000 trainings of a forest of five trees on 20 rows on two cores."""
    pair = next(pair for pair in CLASSIFICATION_PAIRS if pair.name == "first in order")
    what, forest = configure("rfdpp_gini", epsilon=1.0, n_estimators=5, max_depth=3, max_features=2)
    many = make_observer(forest, pair, (*pair.table, *pair.table[:8]), key=0)
    observe_in_threads(many, 0, 1)
    seconds = time_call(lambda: observe_in_threads(many, 0, 100_000, jobs=2))
    return [Measurement(f"100,000 trainings on 20 rows, two cores: {what}", seconds, 20, "s")]


def measure_commands() -> list[Measurement]:
    """Time a large grid of empty cells, and measure the memory of a small one of forests."""
    epsilons = ",".join(map(str, np.arange(1, 1001) / 100))
    forests = ("dataset=adult", "algorithm=rfdpp_gini", "epsilon=1,inf", "algorithm.max_depth=10", "repeats=4")
    with tempfile.TemporaryDirectory() as folder:
        empty = run_on_store(folder, "dataset=car", "algorithm=nothing", f"epsilon={epsilons}", "repeats=10")
        trained = run_on_store(folder, *forests)
    return [
        Measurement("10,000 empty cells on the command line", empty.seconds, 10, "s"),
        Measurement("largest process, forests on Adult", trained.megabytes, 500, "MB"),
    ]


def measure_cold_starts() -> list[Measurement]:
    """Measure the first fit of each kind of forest, and of all kinds in one process."""
    measurements = [
        Measurement(f"first fit of {configure(kind).what}", run_apart(measure_first_fits, [kind]), 1, "s")
        for kind in KINDS
    ]
    every = run_apart(measure_first_fits, KINDS)
    return [*measurements, Measurement("first fits of all kinds, one after the other", every, 3, "s")]


def measure_first_fits(kinds: Sequence[str]) -> float:
    """Return the processor seconds that first fits of some kinds take in this process, a few rows of Adult each."""
    data = datasets.load("adult")
    rows, target = data.frame[:N_ROWS_OF_FIRST_FITS], data.target.to_numpy()[:N_ROWS_OF_FIRST_FITS]
    models = [configure(kind, epsilon=1.0, domain=data.domain).model for kind in kinds]
    start = time.process_time()
    for model in models:
        model.fit(rows, target)
    return time.process_time() - start


TABLES = {
    "one core; where nothing else is said, Adult, 25 trees, fit and predict": (measure_forests, measure_fits),
    "size of a fitted forest": (measure_tree_sizes,),
    "threads, the audit and the command line": (measure_threads, measure_audit, measure_commands),
    "private regression, one core": (measure_regressions,),
    "diffprivlib: fit alone, one core, ε = 1; Adult where nothing else is said": (measure_peers,),
    "peak memory": (measure_memory,),
    "processor seconds of first fits in a process": (measure_cold_starts,),
}
"""What is printed: a table for each title."""
