"""What begins beyond 255, 4,096, 32,767, 65,536 ... rows, classes, categories, columns, trees: each limit is crossed.

Tables of other tests have some hundred rows and a few classes. Here is every width of a number, size of a block and
limit in the sources, with the test that crosses it; what is expected shares no code with what is tested.

==================================================  =================================================================
width, block or limit                               crossed by
==================================================  =================================================================
counts of rows by class, code, node and leaf        test_a_table_many_times_over_gives_the_same_model: 262,144 rows
counts as floating-point numbers, in scores         test_scores_tell_records_apart_beyond_what_a_short_float_counts
rows that are read in blocks: 8,192 and 65,536      test_a_table_many_times_over_gives_the_same_model
rows of a tree of C4.5, or behind naive Bayes       test_c45_takes_the_best_of_many_cuts_that_hardly_differ,
                                                    test_a_c45_tree_counts_every_row, test_naive_bayes_counts_every_row
sums of coordinates, counts of two columns          test_thrifty_means, test_thrifty_pairs:
                                                    test_nothing_is_too_short_for_many_rows_classes_or_categories
counts of rows by class as shares of a leaf         test_shares_of_a_leaf_count_every_row
rows above which a kernel clips: 10,000             test_values_are_clipped_and_counted_in_a_long_column
rows that go down a tree together: 256              test_a_row_is_predicted_alike_wherever_it_stands,
                                                    test_a_random_tree_counts_every_row_in_its_leaf
rows that are counted in quarters: 4 for each code  test_a_table_many_times_over_gives_the_same_model
rows before codes that are present are counted: 512 test_a_code_that_only_the_last_row_has_is_drawn_as_any_other
rows that are sorted by comparing: 63; by bytes of  test_rows_of_a_column_of_many_values_are_cut_at_the_best_place
their codes, of which there are up to four
rows, columns that a regression takes at once: 32,  test_sums_of_products_are_exact_whole_numbers,
1,024, 4; lines that a kernel sums up: 64           test_a_table_many_times_over_gives_the_same_model
a row that is drawn more than four times            test_rows_that_were_drawn_are_sorted
ranks: a table of marks, two times 16 bits, 2^32    test_ranks_are_those_of_numpy
labels: 8 bits, 100 first, 16 bits                  test_the_last_of_many_classes_are_learnt_as_the_first_are,
                                                    test_where_no_row_is_every_class_is_drawn
codes: 16 bits or 32                                test_the_last_of_many_categories_are_learnt_as_the_first_are,
                                                    test_the_last_of_many_bins_are_told_from_the_first
categories in two groups: 53                        test_groups_take_all_bits_of_a_number
columns of a node: 16 bits                          test_the_last_of_many_columns_is_asked
nodes and leaves of a tree: 16 bits                 test_the_last_of_many_categories_have_leaves_of_their_own,
                                                    test_nodes_of_a_full_tree_lead_to_their_own_children
depth of a tree: 16, 30                             test_a_tree_may_be_as_deep_as_its_limit
rows of a tree: 16 bits                             test_trees_have_rows_from_everywhere
trees of a forest, and their seeds                  test_estimators: test_no_two_of_many_trees_draw_alike
parts of many rows                                  test_parts: test_parts_of_many_rows_never_come_back
thrifty trees: 30                                   test_a_budget_buys_no_more_than_thirty_thrifty_trees
places between two floats: bins, cuts, ranks        test_neighbouring_floats_are_on_two_sides_of_an_edge,
                                                    test_neighbouring_floats_are_told_apart
==================================================  =================================================================

No test can cross 2^31 nodes of a tree or 2^32 rows. Tables of the audit are its own, and stay below all of these.
"""

import math
from collections import Counter
from fractions import Fraction
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import entropy
from sklearn.base import is_classifier

from algorithms import (
    Continuous,
    DiffPETsClassifier,
    DiffPRFsClassifier,
    Domain,
    EDPRFClassifier,
    MarginalReplacement,
    Nominal,
    PrivaTreeClassifier,
    RDTClassifier,
    RFDPPGiniClassifier,
    ThriftyBayesClassifier,
    ThriftyForestClassifier,
    ThriftyTreeClassifier,
)
from algorithms.data_replacement.c45 import C45Classifier
from algorithms.encoding.bins import bin_continuous, code_columns, public_cuts
from algorithms.forests import rdt, thrifty_forest
from algorithms.forests.engine.predictor import find_leaves
from algorithms.forests.engine.table import Table, rank_values
from algorithms.forests.engine.tree import AMONG, MOST_GROUPED
from algorithms.forests.forest import SAMPLINGS, PrivateForest, _sort_rows
from algorithms.native import is_plain
from algorithms.regression.objective import sum_products
from tests.test_estimators import MAKERS, label

pytestmark = [pytest.mark.long, pytest.mark.skipif(is_plain(), reason="the Python takes minutes for so many rows")]

TIMES = 2**12
"""A power of two: by it, sums, shares and scores grow without rounding."""

TREES = [make for make in MAKERS if isinstance(make(), PrivateForest)]
OF_ROWS = [make for make in MAKERS if "data_replacement" not in make.func.__module__]
"""Those that learn from the rows as they are."""

DOUBLE_CHECKED = (
    "ThriftyBayesClassifier",
    "ThriftyClassifier",
    "ThriftyForestClassifier",
    "ThriftyPairsClassifier",
)
"""They add a record of their own to each count, so that a longer table is another one."""


def each(makers):
    return pytest.mark.parametrize("make", makers, ids=map(label, makers))


def made(make, domain, **given):
    """Return an estimator without noise, all of whose trees have all rows; what it does not know of is left out."""
    wanted = {"epsilon": math.inf, "sampling": "all", "random_state": 0, "max_depth": 3, "n_estimators": 1} | given
    known = make().get_params()
    return make(domain=domain, **{name: value for name, value in wanted.items() if name in known})


def small_table(is_regression):
    """Return 64 rows with a target that depends on them, and their domain."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.integers(0, 65, 64) / 64, "a": rng.integers(0, 3, 64), "b": rng.integers(0, 4, 64)})
    features = (Continuous("x", 0, 1), Nominal("a", range(3)), Nominal("b", range(4)))
    if is_regression:
        return X, X["x"] * 2 + X["a"] / 2 + rng.integers(0, 9, 64) / 16, Domain(features, Continuous("y", 0, 4))
    y = ((X["x"] > 0.4) * 1 + (X["a"] == 1) * (X["x"] > 0.2) + (rng.random(64) < 0.15)) % 3
    return X, y, Domain(features, Nominal("y", range(3)))


@cache
def long_table(is_regression):
    """Return the rows of the small table `TIMES` times over, with their target."""
    X, y, _ = small_table(is_regression)
    return pd.concat([X] * TIMES, ignore_index=True), pd.concat([y] * TIMES, ignore_index=True)


def predicted(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


# ------------------------------------------------------------------------------------------------------------- rows


@each([make for make in OF_ROWS if make.func.__name__ not in DOUBLE_CHECKED])
def test_a_table_many_times_over_gives_the_same_model(make, monkeypatch):
    monkeypatch.setattr(thrifty_forest, "MOST_TREES", 2)  # of a forest that is part of another estimator, too
    X, y, domain = small_table(not is_classifier(make()))
    once, often = (made(make, domain, max_features=3) for _ in range(2))
    once.fit(X, y)
    often.fit(*long_table(not is_classifier(make())))
    if not isinstance(once, PrivateForest):
        np.testing.assert_allclose(often.predict(X), once.predict(X), rtol=1e-13)
        return
    np.testing.assert_array_equal(predicted(often, X), predicted(once, X))
    if not isinstance(once, RDTClassifier):
        for nodes, few in zip(often.trees_, once.trees_, strict=True):
            for name in ("decides", "feature", "cut", "child", "label", "value"):
                np.testing.assert_array_equal(nodes[name], few[name])
            np.testing.assert_array_equal(nodes["noisy_count"], few["noisy_count"] * TIMES)


@each(MAKERS)
def test_a_row_is_predicted_alike_wherever_it_stands(make):
    X, y, domain = small_table(not is_classifier(make()))
    model = made(make, domain, epsilon=1.0, n_estimators=3).fit(X, y)
    expected = predicted(model, X)
    found = predicted(model, pd.concat([X] * 1100, ignore_index=True).iloc[:-7])
    np.testing.assert_array_equal(found, np.concatenate([expected] * 1100)[:-7])


@pytest.mark.parametrize("n", [255, 256, 257, 1023, 1025, 8193, 70_001])
def test_a_random_tree_counts_every_row_in_its_leaf(n):
    rng = np.random.default_rng(n)
    X, y = rng.integers(0, 3, (n, 1)), rng.choice(2, n, p=[0.4, 0.6])
    domain = Domain((Nominal("a", range(3)),), Nominal("y", (0, 1)))
    model = RDTClassifier(math.inf, n_estimators=2, max_depth=1, domain=domain, random_state=0).fit(X, y)
    counts = Counter(zip(X[:, 0].tolist(), y.tolist(), strict=True))
    expected = [[counts[a, c] / (counts[a, 0] + counts[a, 1]) for c in (0, 1)] for a in range(3)]
    np.testing.assert_allclose(model.predict_proba([[0], [1], [2]]), expected, rtol=1e-14)


def test_a_c45_tree_counts_every_row():
    rng = np.random.default_rng(0)
    X = rng.permutation(70_001).astype(float)[:, np.newaxis]
    y = np.where(X[:, 0] <= 40_000, "low", np.where(X[:, 0] <= 40_100, "middle", "high"))
    tree = C45Classifier(prune=False).fit(X, y).tree_
    assert sorted(tree.cut[tree.feature >= 0].tolist()) == [40_000.5, 40_100.5]
    assert (C45Classifier().fit(X, y).predict(X) == y).all()


def test_c45_takes_the_best_of_many_cuts_that_hardly_differ():
    n, fewest = 40_000, 25
    y = (np.random.default_rng(13).random(n) < np.where(np.arange(n) < 18_000, 0.42, 0.58)).astype(int)
    left = np.arange(fewest, n - fewest + 1)
    ones = np.cumsum(y)[left - 1]
    after = left * bits(ones / left) + (n - left) * bits((y.sum() - ones) / (n - left))
    ratio = (bits(y.mean()) - after / n) / bits(left / n)
    tree = C45Classifier(prune=False).fit(np.arange(n)[:, np.newaxis], y).tree_
    assert tree.cut[0] == left[ratio.argmax()] - 0.5 and np.diff(np.sort(ratio)[-2:]) < 2e-7


def bits(share):
    """The entropy of two classes."""
    return entropy([share, 1 - share], base=2)


def test_naive_bayes_counts_every_row():
    n = 200_000
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (n, 2)), rng.choice(2, n, p=[0.3, 0.7])
    X[:, 0] = np.where(rng.random(n) < 0.6, y, X[:, 0])
    domain = Domain((Nominal("a", range(3)), Nominal("b", range(3))), Nominal("y", (0, 1)))
    model = ThriftyBayesClassifier(math.inf, domain=domain).fit(X, y)
    rows = [(a, b) for a in range(3) for b in range(3)]
    weight = [
        [np.mean(y == c) * np.mean(X[y == c, 0] == a) * np.mean(X[y == c, 1] == b) for c in (0, 1)] for a, b in rows
    ]
    expected = np.array(weight) / np.sum(weight, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(rows), expected, atol=1e-4)  # a record more in each count


def test_shares_of_a_leaf_count_every_row():
    n = 200_000
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (n, 1)), rng.choice(2, n, p=[0.3, 0.7])
    domain = Domain((Nominal("a", range(2)),), Nominal("y", (0, 1)))
    y = np.where(X[:, 0] == 1, 1 - y, y)
    model = ThriftyForestClassifier(math.inf, n_estimators=1, domain=domain).fit(X, y)
    counts = Counter(zip(X[:, 0].tolist(), y.tolist(), strict=True))
    expected = [[(counts[a, c] + 0.5) / (counts[a, 0] + counts[a, 1] + 1) for c in (0, 1)] for a in range(2)]
    np.testing.assert_allclose(model.predict_proba([[0], [1]]), expected, rtol=1e-12)


def test_marginals_count_every_row():
    n = 70_001
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (n, 1)), rng.choice(2, n, p=[0.3, 0.7])
    sampler = MarginalReplacement(math.inf, domain=Domain((Nominal("a", range(3)),), Nominal("y", (0, 1))))
    _, labels = sampler.fit_resample(X, y)
    sizes = [int((y == c).sum()) for c in (0, 1)]
    assert sampler.class_counts_.tolist() == np.bincount(labels).tolist() == sizes
    assert sampler.shares_[0].tolist() == [
        [((X[:, 0] == a) & (y == c)).sum() / sizes[c] for a in range(3)] for c in (0, 1)
    ]


def test_values_are_clipped_and_counted_in_a_long_column():
    n = 70_001
    X = np.random.default_rng(0).uniform(-1, 2, (n, 3))
    X[:, 2] = 9.0  # all of them
    domain = Domain(tuple(Continuous(name, 0, 1) for name in "abc"), Continuous("y", 0, 1))
    for model in (make(domain=domain) for make in OF_ROWS if not is_classifier(make())):
        model.fit(X, X[:, 0])
        below_or_above = {name: int(((X[:, j] < 0) | (X[:, j] > 1)).sum()) for j, name in enumerate("abc")}
        assert model.clipped_ == below_or_above | {"y": below_or_above["a"]}


def test_a_code_that_only_the_last_row_has_is_drawn_as_any_other():
    """DiffPETs draws among the values present, each with the same chance."""
    X = np.repeat([[0.0], [1.0], [2.0]], [1500, 1500, 1], axis=0)
    domain = Domain((Nominal("a", range(3)),), Nominal("y", (0, 1)))
    forest = DiffPETsClassifier(math.inf, n_estimators=600, max_depth=2, sampling="all", domain=domain, random_state=0)
    forest.fit(X, (X[:, 0] > 0).astype(int))
    drawn = Counter(float(nodes["cut"][0]) for nodes in forest.trees_)
    assert set(drawn) == {0.0, 1.0, 2.0} and all(abs(n - 200) < 60 for n in drawn.values())  # five standard deviations


VARIANTS = ("paper", "sound")
SCORING = [partial(cls, variant=variant) for cls in (RFDPPGiniClassifier, DiffPRFsClassifier) for variant in VARIANTS]
"""Those that score every cut and, without noise, take the best."""


@each([*SCORING, partial(ThriftyTreeClassifier)])
def test_scores_tell_records_apart_beyond_what_a_short_float_counts(make):
    """One class has 2^24 + 1 records, the last of which has a value of its own, another three: the cut is between."""
    domain = Domain((Continuous("x", 0, 3),), Nominal("y", (0, 1)))
    X, y, times = np.array([[0.0], [1.0], [2.0]]), np.array([0, 0, 1]), (2**24, 1, 3)
    model, preparing = (made(make, domain, max_depth=1, max_features=1, n_bins=3) for _ in range(2))
    model.fit(X, y)
    few, grow, _ = preparing.prepare(X, y)  # which forgets a fit
    table = few._replace(codes=np.repeat(few.codes, times, axis=1), labels=np.repeat(few.labels, times))
    model.trees_ = [grow(table, np.arange(sum(times), dtype=np.uint32), np.random.default_rng(0))]
    assert model.predict(X).tolist() == [0, 0, 1]


@pytest.mark.parametrize("n_rows", [63, 64, 300])
def test_rows_of_a_column_of_many_values_are_cut_at_the_best_place(n_rows):
    """A few rows, spread over a column of 70,000 values: beyond what two bytes tell apart."""
    n, cut = 70_000, 66_000.5
    domain = Domain((Continuous("x", 0, n),), Nominal("y", (0, 1)))
    X = np.arange(n, dtype=float)[:, np.newaxis]
    table, grow, _ = made(SCORING[0], domain, max_depth=1, max_features=1).prepare(X, (X[:, 0] > cut).astype(int))
    rows = np.linspace(0, n - 1, n_rows).astype(np.uint32)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        nodes = grow(table, rng.permutation(rows), rng)
        assert max(rows[rows < cut]) <= nodes["cut"][0] < min(rows[rows > cut])
        assert nodes["label"][1:].tolist() == [0, 1]


@pytest.mark.parametrize(
    "rule", [name for name, rule in SAMPLINGS.items() if rule.__module__.startswith("algorithms.")]
)
def test_trees_have_rows_from_everywhere(rule):
    n, n_trees = 200_001, 3
    samples = [np.asarray(rows) for rows in SAMPLINGS[rule](n, n_trees, np.random.default_rng(0))]
    tenths = [np.histogram(rows, bins=10, range=(0, n - 1))[0] for rows in samples]
    np.testing.assert_allclose(tenths, np.full((n_trees, 10), sum(map(len, samples)) / n_trees / 10), rtol=0.03)
    if rule == "disjoint":
        np.testing.assert_array_equal(np.sort(np.concatenate(samples)), np.arange(n))
    elif rule == "all":
        np.testing.assert_array_equal(samples, [np.arange(n)] * n_trees)


def test_rows_that_were_drawn_are_sorted():
    n = 70_001
    rng = np.random.default_rng(0)
    seldom, often, one = rng.integers(0, n, n), rng.choice([0, 65_536, n - 1], n), np.full(n, 66_000)
    for drawn in (seldom, often, one):
        ordered = np.empty(n + 4, dtype=np.uint32)
        _sort_rows(drawn.astype(np.int64), np.zeros(n, dtype=np.uint32), ordered)
        np.testing.assert_array_equal(ordered[:n], np.sort(drawn))


@pytest.mark.parametrize("n", [3, 1000, 70_000])
@pytest.mark.parametrize("highest", [2**8, 2**16, 2**16 + 1, 2**20, 2**32 - 1, 2**32, 2**40, 2**53])
def test_ranks_are_those_of_numpy(n, highest):
    rng = np.random.default_rng(n)
    lowest = -7 if highest < 2**50 else 0
    for values in (rng.integers(lowest, highest, n), np.append(rng.integers(0, 9, n), highest - 1), rng.random(n)):
        ranks, different = rank_values(values.astype(np.float64))
        expected, of_values = np.unique(values.astype(np.float64), return_inverse=True)
        np.testing.assert_array_equal(ranks, of_values)
        np.testing.assert_array_equal(different, expected)


@pytest.mark.parametrize("n_lines", [1, 2, 5, 63, 64, 65, 66])
@pytest.mark.parametrize("n_columns", [1, 1023, 1024, 1025, 4099])
def test_sums_of_products_are_exact_whole_numbers(n_lines, n_columns):
    block = np.random.default_rng(n_lines).integers(-1000, 1000, (n_lines, n_columns))
    products = sum_products(block.astype(np.float64))
    np.testing.assert_array_equal(np.tril(products), np.tril(block @ block.T))


# ---------------------------------------------------------------------------------------- classes, categories, columns


def three_groups(first, n_declared, kind):
    """Return rows of three categories, or of one of three classes, from ``first`` on, and their domain."""
    rng = np.random.default_rng(0)
    a, x = rng.integers(0, 3, 120), rng.integers(0, 2, 120)
    y = (a + (rng.random(120) < 0.1)) % 3
    domain = declare(n_declared, kind)
    return (np.column_stack([a, x]), y + first, domain) if kind == "classes" else (a[:, np.newaxis] + first, y, domain)


@cache
def declare(n_declared, kind):
    """Return a domain of many classes or categories, the same for all: to declare them takes longer than a fit."""
    if kind == "classes":
        return Domain((Nominal("a", range(3)), Nominal("x", (0, 1))), Nominal("y", range(n_declared)))
    return Domain((Nominal("a", range(n_declared)),), Nominal("y", range(3)))


CLASSIFIERS = [make for make in OF_ROWS if is_classifier(make())]
SINGLE = [make for make in CLASSIFIERS if make.func.__name__ != "ThriftyClassifier"]
"""The other is two of these, one after the other, and takes seconds."""

BLIND = ("RDTClassifier", "DiffPETsClassifier-sound")
"""They draw a question among all public values, whether a row has them or not."""


FEW, MANY = 300, 2**16


@cache
def learnt(make, kind, first, n_declared):
    """Return what is predicted of rows of three classes, or categories, counted from the first of these."""
    given = {} if "sound" in label(make) else {"nominal_split": "per_value"}  # to score each alone takes minutes
    if "ThriftyForest" in label(make) and kind == "categories":
        given |= {"epsilon": 60.0}  # without noise it takes rows that are fewer than the categories for chance
    X, y, domain = three_groups(first, n_declared, kind)
    return (made(make, domain, **given).fit(X, y).predict(X) - (first if kind == "classes" else 0)).tolist()


@pytest.mark.parametrize("n_classes", [FEW, MANY])
@each(SINGLE)
def test_the_last_of_many_classes_are_learnt_as_the_first_are(make, n_classes):
    first, last = learnt(make, "classes", 0, FEW), learnt(make, "classes", n_classes - 3, n_classes)
    assert first == last and len(set(first)) > 1


def test_where_no_row_is_every_class_is_drawn():
    """What lies below a node without rows follows from its key: each class has the same chance."""
    n_classes, n_trees = 400, 1000
    domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1))), Nominal("y", range(n_classes)))
    given = {"n_estimators": n_trees, "max_depth": 3, "sampling": "all", "domain": domain, "random_state": 0}
    for make in (EDPRFClassifier, DiffPRFsClassifier):
        shares = make(math.inf, variant="sound", **given).fit([[0, 0]] * 9, [0] * 9).predict_proba([[1, 1]])[0]
        assert shares[256:].sum() == pytest.approx(1 - 256 / n_classes, abs=0.08)  # five standard deviations


@pytest.mark.parametrize("n_categories", [2**8 + 1, 2**16, 2**16 + 1])
@each([make for make in SINGLE if label(make) not in BLIND])
def test_the_last_of_many_categories_are_learnt_as_the_first_are(make, n_categories):
    first, last = learnt(make, "categories", 0, 2**8 + 1), learnt(make, "categories", n_categories - 3, n_categories)
    assert first == last and len(set(first)) > 1


def test_the_last_of_many_categories_have_leaves_of_their_own():
    """Also in the nodes of a tree that is grown in full: more of them than 16 bits number."""
    n = 2**16 + 1
    domain = Domain((Nominal("a", range(n)),), Nominal("y", (0, 1)))
    X, y = np.array([[0], [n - 2], [n - 1]] * 30), [0, 1, 0] * 30
    given = {"n_estimators": 1, "max_depth": 1, "domain": domain, "random_state": 0}
    model, preparing = (RDTClassifier(math.inf, **given) for _ in range(2))
    expected = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    assert model.fit(X, y).predict_proba(X[:3]).tolist() == expected
    table, grow, _ = preparing.prepare(X, y)  # which forgets a fit
    model.trees_ = [rdt.grow_in_full(*grow.args, table, np.arange(len(y), dtype=np.uint32), np.random.default_rng(0))]
    assert len(model.trees_[0].nodes) == n + 1 and model.predict_proba(X[:3]).tolist() == expected


RANDOM_CUTS = ("RDTClassifier", "DiffPETsClassifier-sound", "DPGDFClassifier", "BDPTClassifier-paper")
"""They draw cuts at random, leave numbers out, or put them into bins that no parameter gives."""
WITH_CUTS = [make for make in CLASSIFIERS if isinstance(make(), PrivateForest) or "n_bins" in make().get_params()]
CUTTING = [make for make in WITH_CUTS if not label(make).startswith(RANDOM_CUTS)]


@each(
    [
        make
        for make in CUTTING
        if "n_bins" in make().get_params() and make in SINGLE and not label(make).startswith("ThriftyBayes")
    ]
)  # thrifty Bayes has 65,536 bins at most
def test_the_last_of_many_bins_are_told_from_the_first(make):
    """Bins 4,463 and 69,999 have the same last 16 bits."""
    X = np.array([[4463.5], [69_999.5]] * 8) / 70_000
    domain = Domain((Continuous("x", 0, 1),), Nominal("y", (0, 1)))
    model = made(make, domain, n_bins=70_000).fit(X, [0, 1] * 8)
    assert model.predict(X).tolist() == [0, 1] * 8


def test_groups_take_all_bits_of_a_number():
    n = MOST_GROUPED
    X = np.repeat(np.arange(n), 4)[:, np.newaxis]
    y = (X[:, 0] % 13 != 0).astype(int)  # the first and the last category are on one side, no other 32 places apart
    domain = Domain((Nominal("a", range(n)),), Nominal("y", (0, 1)))
    given = {"nominal_split": "two_groups", "n_estimators": 1, "max_depth": 1, "sampling": "all"}
    model = RFDPPGiniClassifier(math.inf, domain=domain, random_state=0, **given).fit(X, y)
    assert model.trees_[0]["decides"][0] == AMONG and (model.predict(X) == y).all()


def test_the_last_of_many_columns_is_asked():
    n_rows, n_columns = 24, 2**16 + 5
    labels = (np.arange(n_rows) % 2).astype(np.uint16)
    codes = np.zeros((n_columns, n_rows), dtype=np.uint16)
    codes[-1] = labels
    none, ones = np.zeros(n_columns), np.ones(n_columns)
    levels, first_level = np.tile([0.0, 1.0], n_columns), 2 * np.arange(n_columns)
    n_codes, is_continuous = np.full(n_columns, 2), np.zeros(n_columns, dtype=bool)
    table = Table(codes, labels, np.empty(0), n_codes, is_continuous, levels, first_level, none, ones, 2)
    domain = Domain((Nominal("a", (0, 1)),), Nominal("y", (0, 1)))
    for make in (PrivaTreeClassifier, EDPRFClassifier):
        _, grow, _ = made(make, domain, max_depth=2).prepare([[0], [1]], [0, 1])
        nodes = grow(table, np.arange(n_rows, dtype=np.uint32), np.random.default_rng(0))
        assert nodes["feature"][0] == n_columns - 1
        leaves = find_leaves(nodes, np.ascontiguousarray(codes.T, dtype=np.float64))
        assert (nodes["label"][leaves] == labels).all()


# ------------------------------------------------------------------------------------------------------ trees, seeds


@pytest.mark.parametrize("depth", [16, 17, 30])
@each([make for make in SCORING if make.keywords["variant"] == "paper"])
def test_a_tree_may_be_as_deep_as_its_limit(make, depth):
    """Of labels that alternate along a column each level tells one row from the others, which are half right."""
    n = 64
    X, y = np.arange(n)[:, np.newaxis] / n, np.arange(n) % 2
    model = made(make, Domain((Continuous("x", 0, 1),), Nominal("y", (0, 1))), max_depth=depth).fit(X, y)
    assert model.trees_[0]["depth"].max() == depth and (model.predict(X) == y).sum() == n // 2 + (depth + 1) // 2


@pytest.mark.parametrize("variant", VARIANTS)
def test_nodes_of_a_full_tree_lead_to_their_own_children(variant):
    X, y, domain = small_table(False)
    (nodes,) = PrivaTreeClassifier(math.inf, max_depth=16, variant=variant, domain=domain).fit(X, y).trees_
    inner = 2**16 - 1
    assert len(nodes) == 2 * inner + 1
    assert nodes["child"][:inner].tolist() == list(range(1, 2 * inner + 1, 2)) and (nodes["child"][inner:] == -1).all()


def test_a_budget_buys_no_more_than_thirty_thrifty_trees():
    X, y, domain = small_table(False)
    assert len(ThriftyForestClassifier(1e9, domain=domain, max_depth=1).fit(X, y).trees_) == 30


# ------------------------------------------------------------------------------------------------------------ floats


@pytest.mark.parametrize("n_bins", [2, 32, 1024, 2**20])
def test_neighbouring_floats_are_on_two_sides_of_an_edge(n_bins):
    domain = Domain((Continuous("x", 0, 1),), None)
    edges = np.linspace(0, 1, n_bins + 1)[1:-1][-1000:]  # exact, as are the numbers below them
    values = np.concatenate([np.nextafter(edges, 0), edges])[:, np.newaxis]
    expected = [[math.floor(Fraction(value) * n_bins)] for value in values[:, 0].tolist()]
    assert bin_continuous(values, domain, n_bins).tolist() == expected
    cuts = public_cuts(domain.features[0], 2)
    values = np.concatenate([np.nextafter(cuts, 0), cuts, np.nextafter(cuts, 1)])[:, np.newaxis]
    expected = [[sum(cut < value for cut in cuts.tolist())] for value in values[:, 0].tolist()]
    assert code_columns(values, domain, 2).tolist() == expected


@each([*CUTTING, *(make for make in CLASSIFIERS if make not in SINGLE)])
def test_neighbouring_floats_are_told_apart(make):
    """Numbers below and above 1/2, which is an edge of an even number of bins: of 32 bits they would be one."""
    X = np.array([[np.nextafter(0.5, 0)], [np.nextafter(0.5, 1)]] * 20)
    domain = Domain((Continuous("x", 0, 1),), Nominal("y", (0, 1)))
    model = made(make, domain, n_bins=4, n_estimators=9).fit(X, [0, 1] * 20)
    assert model.predict(X).tolist() == [0, 1] * 20
