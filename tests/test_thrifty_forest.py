"""The thrifty forest against slow reference trees, its votes and its pruning by other means, and what it spends."""

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from algorithms import (
    Continuous,
    Domain,
    Nominal,
    ThriftyForestClassifier,
    ThriftyForestRegressor,
    ThriftyTreeClassifier,
    ThriftyTreeRegressor,
)
from algorithms.forests import forest as forest_module
from algorithms.forests import thrifty_tree
from algorithms.forests.engine.tree import LEAF
from algorithms.forests.thrifty_forest import buy_trees
from algorithms.forests.thrifty_tree import CAUTION, expected_errors
from algorithms.released.forest import COUNTS
from tests.reference_trees import (
    SEED,
    TABLES,
    as_rows,
    class_counts,
    columns_and_signal,
    draw_features,
    forest,
    noisy,
    table,
)
from tests.test_thrifty import N_BINS, reference_tree

NUMBERS = Domain(
    (Continuous("a", 0, 1), Continuous("b", 0, 1), Nominal("c", (0, 1, 2))),
    Continuous("y", -4, 8),
)


def leaf_by_hand(counts, epsilon):
    """What a leaf says by its counts, where each class has some records more: as many as noise may have hidden."""
    more = 1 if math.isinf(epsilon) else 1 + 2 / epsilon
    n = sum(n for n in counts if n > 0) + more
    shares = [(max(0, count) + more / len(counts)) / n for count in counts]
    return {"label": counts.index(max(counts)), "shares": shares, "n": n}


def counted_leaf(rows, epsilon, rng):
    return leaf_by_hand([noisy(count, epsilon, rng) for count in class_counts(rows)], epsilon) | {"paid": epsilon}


def wilson(errors, n):
    """The upper end of the interval: the largest share p from which that of the errors is 1.2 standard errors away."""
    n, square = max(n, 1), 1.2**2
    share = min(max(errors / n, 0), 1)
    return n * max(np.roots([1 + square / n, -2 * share - square / n, share**2]).real)


def prune(nodes):
    """From the bottom up: an exact count needs no more than what it says."""
    first, starts = 1, {}
    for i, node in enumerate(nodes):
        if "decides" in node:
            starts[i] = range(first, first + node["n_children"])
            first += node["n_children"]
    expected = {}
    for i in reversed(range(len(nodes))):
        own = wilson(nodes[i]["noisy_count"], sum(nodes[i]["counts"]))
        if i not in starts:
            expected[i] = own
        elif own <= (below := sum(expected[child] for child in starts[i])) and nodes[i]["counting"] >= 4:
            expected[i] = own
            nodes[i] |= leaf_by_hand(nodes[i]["counts"], nodes[i]["counting"]) | {"decides": LEAF}
        else:
            expected[i] = below
    return nodes


def assert_same(nodes, expected):
    n_leaves = sum("decides" not in known or known["decides"] == LEAF for known in expected)
    assert len(nodes) == len(expected) + 3 * n_leaves
    for node, known in zip(nodes[: len(expected)], expected, strict=True):
        assert node["decides"] == known.get("decides", LEAF)
        assert node["epsilon"] == pytest.approx(known["paid"], rel=1e-12)
        assert node["noisy_count"] == pytest.approx(known["noisy_count"], rel=1e-9)
        if node["decides"] == LEAF:
            shares = nodes["value"][node["child"] : node["child"] + 3]
            assert node["label"] == known["label"] and shares == pytest.approx(known["shares"], rel=1e-9)
            assert node["value"] == pytest.approx(known["n"], rel=1e-9)
        else:
            assert node["feature"] == known["feature"]


def streams(n_trees):
    seeds = np.random.SeedSequence(np.random.RandomState(SEED).randint(2**31 - 1)).spawn(n_trees + 1)
    return [np.random.default_rng(seed) for seed in seeds[1:]]


@TABLES
@pytest.mark.parametrize("n_trees", [1, 3, 4])  # from 4 on a node is asked half of the features
@pytest.mark.parametrize("epsilon", [math.inf, 300.0])
def test_it_is_the_reference_forest(seed, epsilon, n_trees):
    X, y = table(seed, n=300)
    given = {"n_estimators": n_trees, "max_features": None, "n_bins": N_BINS}
    model, n_pruned = forest(ThriftyForestClassifier, epsilon, **given).fit(X, y), 0
    for nodes, rng in zip(model.trees_, streams(n_trees), strict=True):

        def choose(features, rng=rng):
            return draw_features(features, math.ceil(len(features) / 2), rng) if n_trees >= 4 else features

        expected = reference_tree(as_rows(X, y), epsilon / n_trees, 4, rng, choose, counted_leaf)
        assert_same(nodes, prune(expected))
        n_pruned += sum("decides" in node and node["decides"] == LEAF for node in expected)
    assert model.privacy_.accounted_epsilon == pytest.approx(epsilon, rel=1e-12)
    assert n_pruned > 0 or math.isfinite(epsilon)


def test_a_small_budget_buys_one_tree_which_asks_what_the_thrifty_tree_asks():
    """Both draw the same until the first leaf; what a leaf says, and what it draws for that, differs."""
    X, y = table(0, n=300)
    given = {"n_estimators": None, "max_features": None, "max_depth": 24}
    one, tree = (forest(kind, 5.0, **given).fit(X, y) for kind in (ThriftyForestClassifier, ThriftyTreeClassifier))
    (nodes,), (others,) = one.trees_, tree.trees_
    first_leaf = int(np.flatnonzero(others["decides"] == LEAF)[0])
    assert first_leaf > 1
    for name in ("decides", "feature", "cut", "child", "depth", "noisy_count", "epsilon"):
        np.testing.assert_array_equal(nodes[name][:first_leaf], others[name][:first_leaf])
    assert one.privacy_.accounted_epsilon == tree.privacy_.accounted_epsilon == 5.0


def test_every_leaf_of_one_tree_has_shares_that_add_up_to_1():
    X, y = table(0, n=300)
    for epsilon in (0.05, 1.0, 5.0):
        shares = (
            forest(ThriftyForestClassifier, epsilon, n_estimators=None, max_features=None).fit(X, y).predict_proba(X)
        )
        assert shares.sum(axis=1) == pytest.approx(np.ones(len(X)), rel=1e-12) and 0 < shares.min() < shares.max() < 1


def test_a_regression_forest_of_a_small_budget_is_the_thrifty_tree():
    X, signal = columns_and_signal(0, 400)
    X, y = X[:, :3], np.clip(signal, -4, 8)
    domain = Domain(NUMBERS.features, NUMBERS.target)
    X = np.column_stack([X[:, 0] % 1, X[:, 1] % 1, np.arange(400) % 3])
    one = ThriftyForestRegressor(5.0, domain=domain, random_state=3).fit(X, y)
    tree = ThriftyTreeRegressor(5.0, max_depth=24, domain=domain, random_state=3).fit(X, y)
    assert one.trees_[0].tobytes() == tree.trees_[0].tobytes() and (one.predict(X) == tree.predict(X)).all()


@pytest.mark.parametrize(
    ("epsilon", "n_trees"), [(0.01, 1), (5.6, 1), (5.7, 2), (15.6, 2), (15.7, 3), (2249, 30), (1e9, 30)]
)
def test_a_budget_buys_the_root_of_it_in_trees(epsilon, n_trees):
    assert buy_trees(epsilon) == n_trees == round(min(max(math.sqrt(epsilon / 2.5), 1), 30))


def test_trees_for_numbers_look_at_all_features_where_noise_makes_them_differ():
    """Of the columns only the first says anything: another one is asked first only where that one is not looked at."""
    X = np.column_stack([np.linspace(0, 1, 90), np.arange(90) * 7 % 90 / 90, np.arange(90) % 3])

    def first_features(epsilon, **parameters):
        forest = ThriftyForestRegressor(epsilon, domain=NUMBERS, random_state=0, **parameters)
        return {int(nodes["feature"][0]) for nodes in forest.fit(X, 12 * X[:, 0] - 4).trees_}

    assert len(first_features(math.inf)) > 1
    assert first_features(1e9) == first_features(math.inf, n_estimators=3) == {0}


def walk_down(nodes, values):
    """Return the leaf of a row, and its shares."""
    i = 0
    while nodes["decides"][i] != LEAF:
        value, node = values[nodes["feature"][i]], nodes[i]
        step = {1: value > node["cut"], 2: value != node["cut"], 3: value}[int(node["decides"])]
        i = node["child"] + int(step)
    return i, [float(nodes["value"][nodes["child"][i] + c]) for c in range(3)]


def mean_by_hand(model, X, say):
    """Return the mean over trees of what a leaf says of each row: ``say(nodes, row, leaf, shares)``."""
    said = [[say(nodes, row, *walk_down(nodes, values)) for row, values in enumerate(X)] for nodes in model.trees_]
    return np.mean(said, axis=0)


@pytest.mark.parametrize("epsilon", [4.0, 60.0, math.inf])
def test_the_shares_of_the_trees_are_averaged(epsilon):
    X, y = table(1, n=300)
    model = forest(ThriftyForestClassifier, epsilon, n_estimators=None, max_features=None).fit(X, y)
    votes = mean_by_hand(model, X, lambda nodes, row, leaf, shares: shares)
    np.testing.assert_allclose(model.predict_proba(X), votes, rtol=1e-12)
    assert (model.predict(X) == model.classes_[votes.argmax(axis=1)]).all()


@pytest.mark.parametrize("epsilon", [4.0, 60.0, math.inf])
def test_a_row_left_out_is_one_record_less_of_its_class_in_the_leaf_of_each_tree(epsilon):
    X, y = table(1, n=300)
    model = forest(ThriftyForestClassifier, epsilon, n_estimators=None, max_features=None).fit(X, y)

    def leave_out(nodes, row, leaf, shares):
        counts = [share * nodes["value"][leaf] for share in shares]
        counts[y[row]] = max(counts[y[row]] - 1, 1 / 3)
        return [count / sum(counts) for count in counts]

    found = model.share_rows_left_out(X, np.array(y))
    np.testing.assert_allclose(found, mean_by_hand(model, X, leave_out), rtol=1e-9)
    assert (found > 0).all() and found.sum(axis=1) == pytest.approx(np.ones(len(X)))


def test_without_noise_a_row_left_out_is_what_the_others_of_its_leaf_say():
    X, y = table(1, n=300)
    model = forest(ThriftyForestClassifier, math.inf, n_estimators=1, max_features=None).fit(X, y)
    (nodes,) = model.trees_
    leaves = [walk_down(nodes, values)[0] for values in X]
    found = model.share_rows_left_out(X, np.array(y))
    for row, leaf in enumerate(leaves):
        others = [y[other] for other in range(len(y)) if leaves[other] == leaf and other != row]
        assert found[row] == pytest.approx([(others.count(c) + 1 / 3) / (len(others) + 1) for c in range(3)])


@pytest.mark.parametrize("epsilon", [4.0, 60.0])
def test_what_leaves_predicts_what_the_forest_predicts(epsilon):
    pytest.importorskip("opendp")
    X, y = table(1, n=300)
    model = forest(ThriftyForestClassifier, epsilon, n_estimators=None, max_features=None).set_params(
        noise="opendp", random_state=None
    )
    left = model.fit(X, y).release()
    assert left.combines == COUNTS
    np.testing.assert_allclose(left.predict_proba(X), model.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 7, 40, 3000])
def test_errors_are_expected_up_to_the_end_of_wilsons_interval(n):
    level = 2 * stats.norm.cdf(CAUTION) - 1
    for errors in {0, 1, n // 3, n}:
        interval = stats.binomtest(errors, n).proportion_ci(level, method="wilson")
        assert expected_errors(float(errors), float(n)) == pytest.approx(n * interval.high, rel=1e-9)
        assert wilson(errors, n) == pytest.approx(n * interval.high, rel=1e-6)
    assert expected_errors(-3.0, 0.2) == expected_errors(0.0, 1.0)  # as noise may have it


def test_shares_of_one_tree_rank_rows_far_better_than_votes_do():
    """By the area under the curve, of two classes."""
    domain, areas = Domain(NUMBERS.features, Nominal("y", (0, 1))), []
    for estimator in (ThriftyForestClassifier, ThriftyTreeClassifier):
        found = []
        for seed in range(6):
            X, y = draw_scores(seed)
            model = estimator(1.0, domain=domain, random_state=seed).fit(X[:2000], y[:2000])
            found.append(roc_auc_score(y[2000:], model.predict_proba(X[2000:])[:, 1]))
        areas.append(np.mean(found))
    assert areas[0] > areas[1] + 0.05


def draw_scores(seed, n=4000):
    """Rows whose class is the likelier the larger the first column is."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(0, 1, (n, 2)), rng.integers(0, 3, n)])
    return X, (rng.random(n) < X[:, 0]).astype(int)


def draw_noisy_labels(seed, n=1500):
    """Two columns of which one decides, one of chance, and labels a fifth of which are wrong."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.uniform(0, 1, n), "b": rng.uniform(0, 1, n), "c": rng.integers(0, 3, n)})
    truth = (X["a"] + (X["c"] == 1) * 0.4 > 0.6).astype(int)
    return X, np.where(rng.random(n) < 0.2, 1 - truth, truth), truth


def mean_accuracy(estimator, epsilon, **parameters):
    domain = Domain(NUMBERS.features, Nominal("y", (0, 1)))
    found = []
    for seed in range(6):
        X, y, _ = draw_noisy_labels(seed)
        test, _, truth = draw_noisy_labels(100 + seed)
        model = estimator(epsilon, domain=domain, random_state=seed, **parameters).fit(X, y)
        found.append((model.predict(test) == truth).mean())
    return np.mean(found)


def test_more_budget_makes_a_tree_worse_but_not_a_forest():
    """Where labels are wrong, a tree of much budget learns them; a mistake of a point and a half would be seen."""
    budgets = (5.0, 20.0, 100.0, math.inf)
    trees = [mean_accuracy(ThriftyTreeClassifier, epsilon) for epsilon in budgets]
    forests = [mean_accuracy(ThriftyForestClassifier, epsilon) for epsilon in budgets]
    assert trees[-1] < max(trees) - 0.05
    assert all(later > earlier - 0.015 for earlier, later in pairwise(forests))


def test_with_more_budget_a_forest_of_numbers_learns_far_less_noise_than_a_tree():
    """Where noise is all that is left to learn it is worse at epsilon = 100 than at 20, but a tree is much more so."""

    def mean_error(estimator, epsilon):
        found = []
        for seed in range(4):
            rng = np.random.default_rng(seed)
            X = np.column_stack([rng.uniform(0, 1, (3000, 2)), rng.integers(0, 3, 3000)])
            truth = np.sin(6 * X[:, 0]) + X[:, 1] + (X[:, 2] == 1)
            y = np.clip(truth + rng.normal(0, 1.0, 3000), -4, 8)
            model = estimator(epsilon, domain=NUMBERS, random_state=seed).fit(X[:2000], y[:2000])
            found.append(((model.predict(X[2000:]) - truth[2000:]) ** 2).mean())
        return np.mean(found)

    budgets = (5.0, 20.0, 100.0)
    forests = [mean_error(ThriftyForestRegressor, epsilon) for epsilon in budgets]
    assert mean_error(ThriftyTreeRegressor, 100.0) > 3 * forests[-1]
    assert forests[1] < 0.9 * forests[0] and forests[2] < 1.8 * forests[1]


def test_nothing_but_noisy_numbers_and_choices_decides_what_a_tree_is(monkeypatch):
    """Where mechanisms answer alike for two tables, trees are alike: their shares, and what is pruned, included."""

    def grow(y, seed):
        answers = np.random.default_rng(seed)
        monkeypatch.setattr(thrifty_tree, "laplace_vector", lambda exact, *_: answers.integers(0, 9, len(exact)) * 1.0)
        monkeypatch.setattr(forest_module, "laplace_vector", thrifty_tree.laplace_vector)
        monkeypatch.setattr(thrifty_tree, "permute_and_flip", lambda quality, *_: int(answers.integers(len(quality))))
        X, _ = table(0, n=300)
        model = forest(ThriftyForestClassifier, math.inf, n_estimators=2, max_features=None, n_bins=N_BINS)
        rows, plan, _ = model.prepare(X[: len(y)], y)
        grower = getattr(plan.func, "__wrapped__", plan.func)
        return grower(*plan.args, rows, np.arange(len(y)).astype(np.uint32), answers)

    for seed in range(20):
        one, other = grow(np.arange(300) % 3, seed), grow(np.repeat([0, 1, 2], [40, 20, 3]), seed)
        assert one.tobytes() == other.tobytes()
