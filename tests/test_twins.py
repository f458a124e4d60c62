"""Kernels in C++ do what the Python beside them does: the same digits, on thousands of random tables."""

import ast
import copy
import inspect
import math
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import algorithms
from algorithms import Continuous, Domain, Nominal, PrivacyLeakWarning
from algorithms.data_replacement import c45
from algorithms.encoding.clipping import clip_compiled
from algorithms.forests import rdt
from algorithms.forests.engine import lazy, predictor
from algorithms.forests.forest import PrivateForest, _sort_rows
from algorithms.installation import ROOT
from algorithms.native import is_plain, name_twin
from algorithms.regression import design, moments, objective
from algorithms.source_walk import find_algorithm_source, list_imports

pytestmark = pytest.mark.skipif(is_plain(), reason="the Python runs here")

N_TABLES = 16  # for each reading of each forest
MOST_PREDICTED = 60  # rows of a table, which Python sends down one by one; a wrong comparison is seen as in 300
EPSILONS = (math.inf, 100.0, 1.0, 0.02)
OFFERED = [getattr(algorithms, name) for name in algorithms.__all__]
FORESTS = [offered for offered in OFFERED if isinstance(offered, type) and issubclass(offered, PrivateForest)]
FURTHER = (
    {"max_features": 1},
    {"n_estimators": 2},
    {"n_estimators": 5},
    {"min_gini": 0.3},
    {"min_samples": 9.5},
    {"error_threshold": 0.05},
    {"leaf": "noisy_counts", "count_share": "half"},
    {"leaf": "noisy_counts", "count_share": "by_class"},
)


def list_choices(forest):
    """Return the values of each parameter that its docstring lists."""
    listed = re.findall(r"^(\w+) : \{(.*?)\}", inspect.getdoc(forest), flags=re.MULTILINE)
    return {name: ast.literal_eval(f"[{values}]") for name, values in listed if name not in ("noise", "variant")}


def list_settings(forest):
    """Return each reading of a forest, and some other parameters, one at a time, of both variants."""
    parameters = inspect.signature(forest).parameters
    variants = ("paper", "sound") if "variant" in parameters else (None,)
    others = ({name: value} for name, values in list_choices(forest).items() for value in values)
    changes = [{}, *(change for change in others if not is_default(parameters, change))]
    changes += [change for change in FURTHER if set(change) <= set(parameters)]
    if "n_estimators" in parameters and parameters["n_estimators"].default is None:  # which depends on epsilon
        changes += [{"n_estimators": 2}, {"n_estimators": 5}]
    return [{"variant": variant} | change if variant else change for variant in variants for change in changes]


def is_default(parameters, change):
    return all(parameters[name].default == value for name, value in change.items())


SETTINGS = [(forest, setting) for forest in FORESTS for setting in list_settings(forest)]


def make_table(rng, is_regression):
    """Return random rows, labels or targets, and a domain: any number of rows, columns, codes and classes."""
    n, n_classes = int(rng.choice([0, 1, 2, 5, 30, 70, 300])), int(rng.integers(2, 6))
    columns, features = {}, []
    for j in range(rng.integers(1, 5)):
        name = f"c{j}"
        if rng.random() < 0.5:
            columns[name] = rng.uniform(0, 10, n).round(int(rng.integers(0, 4)))
            features.append(Continuous(name, 0, 10))
        else:
            n_categories = int(rng.integers(2, 9))
            columns[name] = rng.integers(0, n_categories, n)
            features.append(Nominal(name, tuple(range(n_categories))))
    X = pd.DataFrame(columns)
    if is_regression:
        return X, rng.uniform(-1, 1, n), Domain(tuple(features), Continuous("y", -1, 1))
    y = rng.integers(0, n_classes, n) if rng.random() < 0.8 else np.zeros(n, dtype=int)
    return X, y, Domain(tuple(features), Nominal("y", tuple(range(n_classes))))


def prepare(forest, setting, rng):
    """Return a forest that is ready to grow on a random table, or None if the two do not go together."""
    X, y, domain = make_table(rng, forest.__name__.endswith("Regressor"))
    given = {"max_depth": int(rng.integers(1, 6)), "epsilon": float(rng.choice(EPSILONS)), "domain": domain} | setting
    estimator = forest(**{name: value for name, value in given.items() if name in inspect.signature(forest).parameters})
    try:
        return estimator, X, *estimator.prepare(X, y)
    except ValueError:  # of this setting, or of so few rows or classes
        return None


def assert_equal(left, right):
    """Assert that two results are the same to the last bit, NaN included."""
    if isinstance(left, tuple):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            assert_equal(one, other)
        return
    one, other = np.asarray(left), np.asarray(right)
    assert one.dtype == other.dtype and one.shape == other.shape
    for name in one.dtype.names or [...]:
        np.testing.assert_array_equal(one[name], other[name])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("forest", "setting"), SETTINGS, ids=[f"{f.__name__} {s}" for f, s in SETTINGS])
def test_trees_are_the_same(forest, setting):
    rng, n_grown = np.random.default_rng(len(str(setting))), 0
    for seed in range(N_TABLES):
        prepared = prepare(forest, setting, rng)
        if prepared is None:
            continue
        estimator, X, table, grow, sample = prepared
        rows = next(iter(sample(len(table.labels), 2, rng)))
        ours, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
        tree = grow(table, rows, ours)
        plain = grow.func.__wrapped__(*grow.args, table, rows, theirs)
        assert_equal(tree, plain)
        assert ours.random() == theirs.random(), "as many numbers were drawn"
        predict_alike(estimator, tree, X)
        n_grown += 1
    assert n_grown > 0 or is_refused(forest, setting)


def test_thrifty_trees_that_keep_many_classes_apart_are_the_same():
    """Where no class stands out, the root is asked by another score than elsewhere."""
    rng = np.random.default_rng(1)
    X, y = pd.DataFrame({"a": rng.uniform(0, 1, 600)}), np.arange(600) % 6
    domain = Domain((Continuous("a", 0, 1),), Nominal("y", tuple(range(6))))
    tree = algorithms.ThriftyTreeClassifier(5.0, max_depth=1, domain=domain)
    table, grow, sample = tree.prepare(X, y)
    rows = next(iter(sample(len(table.labels), 1, rng)))
    for seed in range(40):
        ours, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
        assert_equal(grow(table, rows, ours), grow.func.__wrapped__(*grow.args, table, rows, theirs))


@pytest.mark.parametrize("seed", range(50))
def test_noise_on_numbers_is_the_same(seed):
    rng = np.random.default_rng(seed)
    n_groups, n = int(rng.integers(1, 4)), int(rng.integers(3, 20))
    values, groups = rng.uniform(-5, 5, n), np.r_[:n_groups, rng.integers(0, n_groups, n - n_groups)]
    epsilons = rng.choice(EPSILONS, n)
    for add, told in (
        (objective.add_noise, (rng.uniform(0.1, 9, n), epsilons)),
        (moments.add_noise_by_group, (groups, epsilons[:n_groups])),
    ):
        ours, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
        assert_equal(add(values, *told, ours), add.__wrapped__(values, *told, theirs))
        assert ours.random() == theirs.random()


def do_alike(function, *arguments):
    """Assert that both texts of a function return the same, and leave the same in arrays, and return that."""
    ours, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    done = function(*ours)
    assert_equal(done, function.__wrapped__(*theirs))
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(one, np.ndarray):
            assert_equal(one, other)
    return done


@pytest.mark.parametrize("seed", range(40))
def test_what_reads_and_sums_many_rows_is_the_same(seed):
    rng = np.random.default_rng(seed)
    n, n_columns = int(rng.choice([0, 1, 31, 32, 33, 70])), int(rng.integers(1, 9))
    values = rng.uniform(-3, 13, (n, n_columns)).round(int(rng.integers(0, 4)))
    values[rng.random(values.shape) < 0.1] = np.nan
    bounds = np.array([np.zeros(n_columns), np.full(n_columns, 10.0), np.full(n_columns, 10.0)])
    do_alike(clip_compiled, values[:, 0], 0.0, 10.0, np.empty(n))  # whose numbers lie apart
    do_alike(design._scale_line, values[:, 0].copy(), 0.0, 10.0, 2.0, 1.0)
    lines, n_clipped = np.empty((n_columns, n)), np.zeros(n_columns, dtype=np.int64)
    do_alike(design._read_table, lines, bounds, 2.0, 1.0, values, n_clipped)
    do_alike(objective._sum_few_products, rng.normal(size=(n_columns, n)))


def test_sums_of_more_than_a_tile_of_columns_are_the_same():
    do_alike(objective._sum_few_products, np.random.default_rng(0).normal(size=(5, 2 * objective._TILE + 7)))


@pytest.mark.parametrize("seed", range(60))
def test_trees_of_c45_are_the_same(seed):
    rng = np.random.default_rng(seed)
    n, n_features, n_classes = int(rng.integers(1, 80)), int(rng.integers(1, 5)), int(rng.integers(1, 5))
    columns, codes = rng.integers(0, 12, (n_features, n)).astype(float), rng.integers(0, n_classes, n)
    do_alike(c45._cut_nodes, columns, codes, np.argsort(columns, axis=1), n_classes, c45._multiply_by_log(n))


@pytest.mark.parametrize("n", [0, 1, 7, 300])
def test_drawn_rows_are_sorted_alike(n):
    drawn = np.random.default_rng(n).integers(0, max(n, 1), n)
    ours, theirs = (np.zeros(n + 4, dtype=np.uint32) for _ in range(2))
    _sort_rows(drawn, np.zeros(n, dtype=np.uint32), ours)
    _sort_rows.__wrapped__(drawn, np.zeros(n, dtype=np.uint32), theirs)
    assert_equal(ours[:n], theirs[:n])  # what lies behind is room


@pytest.mark.parametrize("seed", range(40))
def test_random_trees_in_full_are_the_same(seed):
    rng = np.random.default_rng(seed)
    prepared = prepare(algorithms.RDTClassifier, {"max_depth": 3}, rng)
    if prepared is None:
        return
    _, _, data, grow, _ = prepared
    rows = np.arange(len(data.labels), dtype=np.uint32)
    ours, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
    tree = rdt.grow_in_full(*grow.args, data, rows, ours)
    assert_equal(tree, rdt.grow_in_full.__wrapped__(*grow.args, data, rows, theirs))
    assert ours.random() == theirs.random()
    keys = rdt.leaf_keys(*grow.args, tree.key, data.matrix)
    assert_equal(keys, rdt.leaf_keys.__wrapped__(*grow.args, tree.key, data.matrix))


def test_every_twin_is_compared():
    """Growers by the forests that have them, others by name; the audit's loops have a test file of their own."""
    from algorithms.native import kernels  # which are not there where Python runs

    grown = {name_twin(prepared[3].func) for forest, setting in SETTINGS if (prepared := prepare_any(forest, setting))}
    named = set(re.findall(r"\w+", Path(__file__).read_text(encoding="utf-8")))
    others = {name for name in kernels.twins if name not in grown and not name.startswith("experiments.")}
    assert {name for name in others if name.rpartition(".")[2] not in named} == set()


def prepare_any(forest, setting):
    """Return what `prepare` does for the first of some random tables that will do."""
    rng = np.random.default_rng(0)
    return next(filter(None, (prepare(forest, setting, rng) for _ in range(20))), None)


def predict_alike(estimator, tree, X):
    """Assert that a tree sends rows where Python sends them."""
    matrix = estimator.rows_to_descend(X.head(MOST_PREDICTED))
    if not isinstance(tree, tuple):
        assert_equal(predictor.find_leaves(tree, matrix), predictor.find_leaves.__wrapped__(tree, matrix))
    for add, bound in list_predictors(estimator):
        width = len(estimator.classes_) if add is predictor.add_shares else 9
        ours, theirs = (np.zeros((len(matrix), width)) for _ in range(2))
        add(*bound, tree, matrix, ours)
        add.__wrapped__(*bound, tree, matrix, theirs)
        assert_equal(ours, theirs)


def list_predictors(estimator):
    """Return what a forest predicts by, with what is bound to it."""
    if isinstance(estimator, algorithms.RDTClassifier):
        return [(rdt.add_counts, (estimator.plan_,))]
    if hasattr(estimator, "n_cuts_"):
        return [(lazy.add_votes_on_demand, (estimator.n_cuts_,))]
    shares = [(predictor.add_shares, ())] if is_forest_of_shares(estimator) else []
    return [(predictor.add_votes, ()), (predictor.add_values, ()), *shares]


def is_forest_of_shares(estimator):
    return isinstance(estimator, algorithms.ThriftyForestClassifier)


def is_refused(forest, setting):
    """Tell whether a forest takes a setting on no table at all: a variant that has no such reading."""
    target = Continuous("y", 0, 1) if forest.__name__.endswith("Regressor") else Nominal("y", (0, 1))
    X, y, domain = pd.DataFrame({"a": [0, 1] * 40}), [0, 1] * 40, Domain((Nominal("a", (0, 1)),), target)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        try:
            forest(domain=domain, **setting).prepare(X, y)
        except ValueError:
            return True
    return False


CPP = sorted((ROOT / "algorithms").rglob("*.h"))


def find_module(path):
    """Return the name of the module that a file in C++ stands beside, None of what only C++ needs."""
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return module if find_algorithm_source(module) else None


@pytest.mark.parametrize("path", [path for path in CPP if find_module(path)], ids=lambda path: path.stem)
def test_the_key_of_a_result_has_all_that_its_kernels_include(path):
    """A key has the files beside the modules that Python imports: C++ includes no other, but what all kernels share."""
    reached, waiting = set(), [find_module(path)]
    while waiting:
        module = waiting.pop()
        if module not in reached and find_algorithm_source(module):
            reached.add(module)
            waiting += [name for _, name in list_imports(find_algorithm_source(module), module, find_algorithm_source)]
    for included in re.findall(r'#include "(.*)\.h"', path.read_text(encoding="utf-8")):
        module = "algorithms." + included.replace("/", ".")
        assert module in reached or included.startswith("native/"), f"{path.name} includes {included}"
