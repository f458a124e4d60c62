"""eDPRF against a slow reference tree, its budget theorems on real trees, what is drawn below nodes without rows."""

import math
import pickle
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import datasets
from algorithms import Domain, EDPRFClassifier, Nominal, PFDPDTClassifier
from algorithms.forests.edprf import level_budgets
from algorithms.forests.engine.tree import LEAF
from tests.reference_trees import (
    BY_VALUE,
    COLUMNS,
    CONTINUOUS,
    DEPTH,
    N_CLASSES,
    TABLES,
    as_rows,
    assert_same_trees,
    class_counts,
    counted,
    draw_exponential,
    flip,
    forest,
    gini,
    leaf,
    levels_of,
    public_bins,
    samples_and_streams,
    splitmix64,
    table,
    uniform_of_key,
)

N_BINS = 4
SIZES = [N_BINS if f in CONTINUOUS else c for f, c in enumerate(COLUMNS)]


def budgets(epsilon, depth, even=False):
    """Equations (17) and (18) in exact numbers: what a split costs at level 1, 2, ..., and what a leaf has there."""
    if math.isinf(epsilon):
        return [math.inf] * depth, [math.inf] * depth
    total = sum(Fraction(1, i) for i in range(1, depth + 1))
    split = [Fraction(epsilon) / total / (depth - i + 1) for i in range(1, depth + 1)]
    if even:
        split = [Fraction(epsilon) / depth] * depth
    return [float(s) for s in split], [float(Fraction(epsilon) - sum(split[:i])) for i in range(depth)]


def reference_tree(
    sample,
    epsilon,
    depth,
    rng,
    *,
    sound=False,
    split="permute_and_flip",
    label="permute_and_flip",
    even=False,
    of_counts=1.0,
):
    count = cost = 0.0
    if sound:
        count, cost, n_splits, epsilon = counted(sample, epsilon, sum(SIZES) / len(SIZES), depth - 1, rng)
        depth = n_splits + 1
    split_budget, leaf_budget = budgets(epsilon, depth, even)
    start = [(public_bins(values, N_BINS), label) for values, label in sample]
    nodes = [{"rows": start, "depth": 0, "open": list(range(len(COLUMNS)))}]
    for node in nodes:
        rows, level, unused = node["rows"], node["depth"], node["open"]
        is_last = not unused or level == depth - 1
        if is_last or (not sound and len({one for _, one in rows}) <= 1):
            if label == "permute_and_flip":
                label_drawn = flip(class_counts(rows), 1, leaf_budget[level], rng, monotone=sound)
                node |= {"label": label_drawn, "paid": leaf_budget[level]}
            else:
                node |= leaf(rows, leaf_budget[level] * of_counts, rng)
        elif not rows:
            # the label of a key is the number of levels of splits below it
            node |= {"key": int(rng.integers(1, 2**63 - 1)), "paid": leaf_budget[level], "label": depth - 1 - level}
        else:
            sides = [[[row for row in rows if row[0][f] == value] for value in range(SIZES[f])] for f in unused]
            scores = [gini(*one) for one in sides]
            if split == "permute_and_flip":
                chosen = flip(scores, 2, split_budget[level], rng, monotone=sound)
            else:
                chosen = draw_exponential(scores, [1] * len(scores), 2, split_budget[level], rng, monotone=sound)
            f = unused[chosen]
            node |= {"decides": BY_VALUE, "feature": f, "n_children": SIZES[f], "paid": split_budget[level]}
            rest = [other for other in unused if other != f]
            nodes += [{"rows": side, "depth": level + 1, "open": rest} for side in sides[chosen]]
    nodes[0]["paid"] += cost
    if sound:
        nodes[0]["noisy_count"] = count
    return nodes


@TABLES
@pytest.mark.parametrize("epsilon", [math.inf, 900.0, 60.0, 5.0])
@pytest.mark.parametrize("sound", [False, True], ids=["paper", "sound"])
@pytest.mark.parametrize(
    ("split", "label"),
    [
        ("permute_and_flip", "permute_and_flip"),
        ("exponential", "noisy_counts"),
        ("permute_and_flip", "noisy_counts"),
        ("exponential", "permute_and_flip"),
    ],
)
def test_edprf_is_the_reference_tree(seed, epsilon, sound, split, label):
    X, y = table(seed)
    trees = [
        reference_tree(sample, epsilon, DEPTH, rng, sound=sound, split=split, label=label)
        for sample, rng in samples_and_streams(X, y, "disjoint")
    ]
    parameters = {"variant": "sound" if sound else "paper", "split": split, "leaf": label, "n_bins": N_BINS}
    model = forest(EDPRFClassifier, epsilon, max_features=None, **parameters).fit(X, y)
    assert_same_trees(model, trees)
    for nodes, expected in zip(model.trees_, trees, strict=True):
        assert [int(key) for key in nodes["key"]] == [node.get("key", 0) for node in expected]


@TABLES
@pytest.mark.parametrize(
    ("reading", "even", "share", "of_counts"),
    [
        ({"sampling": "bootstrap", "level_budget": "uniform"}, True, 3, 1),
        ({"sampling": "bootstrap"}, False, 3, 1),
        ({"sampling": "all"}, False, 3, 1),
        ({"level_budget": "uniform"}, True, 1, 1),
        ({"count_share": "half"}, False, 1, 1 / 2),
        ({"count_share": "by_class"}, False, 1, 1 / N_CLASSES),
        ({"sampling": "bootstrap", "level_budget": "uniform", "count_share": "half"}, True, 3, 1 / 2),
    ],
)
def test_a_traditional_forest_is_the_reference_tree(seed, reading, even, share, of_counts):
    X, y = table(seed)
    how = {"split": "exponential", "label": "noisy_counts", "even": even, "of_counts": of_counts}
    trees = [
        reference_tree(sample, 60.0 / share, DEPTH, rng, **how)
        for sample, rng in samples_and_streams(X, y, reading.get("sampling", "disjoint"))
    ]
    parameters = {"split": "exponential", "leaf": "noisy_counts", "n_bins": N_BINS}
    model = forest(EDPRFClassifier, 60.0, max_features=None, **parameters, **reading).fit(X, y)
    assert len(trees) == share or share == 1
    assert_same_trees(model, trees)
    names = [fault.name for fault in model.privacy_.faults]
    assert ("bootstrap" in names) == (reading.get("sampling") == "bootstrap")


def test_only_noisy_counts_have_a_share_of_the_budget_of_a_leaf():
    X, y = table(0)
    for leaf_rule in ("noisy_counts", "permute_and_flip"):
        model = forest(EDPRFClassifier, 60.0, max_features=None, leaf=leaf_rule, count_share="half")
        if leaf_rule == "noisy_counts":
            model.fit(X, y)
        else:
            with pytest.raises(
                ValueError, match="count_share='half' is for leaf='noisy_counts', got leaf='permute_and_flip'"
            ):
                model.fit(X, y)
    with pytest.raises(ValueError, match="did you mean 'half'"):
        forest(EDPRFClassifier, 60.0, max_features=None, leaf="noisy_counts", count_share="hafl").fit(X, y)
    with pytest.raises(ValueError, match="'sound' has none, only 'all'"):
        sound = {"leaf": "noisy_counts", "count_share": "half", "variant": "sound"}
        forest(EDPRFClassifier, 60.0, max_features=None, **sound).fit(X, y)


def test_one_tree_is_grown_on_all_rows():
    X, y = table(4)
    seeds = np.random.SeedSequence(np.random.RandomState(11).randint(2**31 - 1)).spawn(2)
    sample = as_rows(X, y)
    model = forest(PFDPDTClassifier, 60.0, n_estimators=None, max_features=None, n_bins=N_BINS).fit(X, y)
    assert_same_trees(model, [reference_tree(sample, 60.0, DEPTH, np.random.default_rng(seeds[1]))])


@pytest.mark.parametrize("depth", range(1, 9))
def test_the_levels_share_the_budget_harmonically(depth):
    split, ends = level_budgets(2.0, depth)
    known_split, known_ends = budgets(2.0, depth)
    np.testing.assert_allclose(split, known_split, rtol=1e-13)
    np.testing.assert_allclose(ends, known_ends, rtol=1e-12)


def test_the_shares_are_those_of_the_papers_figure_3():
    split, ends = level_budgets(1.0, 3)
    assert split.round(2).tolist() == [0.18, 0.27, 0.55] and ends[1].round(2) == 0.82


def path_sums(nodes):
    """What each leaf and everything above it have paid."""
    paid = nodes["epsilon"].copy()
    for i in np.flatnonzero(nodes["decides"] != LEAF):
        later = nodes["child"][nodes["child"] > nodes["child"][i]]
        children = slice(nodes["child"][i], later.min() if len(later) else len(nodes))
        paid[children] += paid[i]
    return paid[nodes["decides"] == LEAF]


@pytest.mark.parametrize(
    "name", ["nursery", "car", "mushroom", "congvote", "adult", "wall_following_robot", "diabetes_prediction"]
)
@pytest.mark.parametrize("variant", ["paper", "sound"])
def test_every_path_of_every_tree_costs_epsilon_and_the_forest_no_more(name, variant):
    """Theorems 3 and 4: sequential composition down a path, parallel composition over disjoint trees."""
    if not datasets.is_available(name):
        pytest.skip(f"{name} is not there")
    data = datasets.load(name)
    model = EDPRFClassifier(0.7, n_estimators=4, max_depth=5, variant=variant, domain=data.domain, random_state=1)
    model.fit(data.frame, data.target)
    for nodes in model.trees_:
        np.testing.assert_allclose(path_sums(nodes), 0.7, rtol=0, atol=1e-12)
    part = model.privacy_.ledger
    if variant == "sound":
        assert part.epsilon == pytest.approx(0.7, abs=1e-12), "the dearest of the trees, not their sum"
        assert model.privacy_.keeps_claim


# What is drawn below a node without rows.


def label_below(key, values, unused, levels):
    for _ in range(levels):
        if not unused:
            break
        feature = unused[int(uniform_of_key(key ^ 1) * len(unused))]
        unused = [other for other in unused if other != feature]
        key = splitmix64((key + int(values[feature]) + 3) % 2**64)
    return int(uniform_of_key(key ^ 2) * N_CLASSES)


@pytest.mark.parametrize(("n", "epsilon", "levels"), [(30, 900.0, 4), (3, 30.0, 2)], ids=["all", "what rows afford"])
def test_rows_that_come_to_an_empty_node_get_the_label_that_its_key_stands_for(n, epsilon, levels):
    X, y = table(0, n=n)
    model = forest(PFDPDTClassifier, epsilon, n_estimators=None, max_features=None, variant="sound", n_bins=N_BINS)
    nodes = model.set_params(max_depth=5).fit(X, y).trees_[0]
    assert levels_of(nodes["noisy_count"][0], epsilon, sum(SIZES) / len(SIZES), 4) == levels
    asked, _ = table(9, n=400)
    predicted, n_below = model.predict(asked), 0
    for values, label in zip(asked.tolist(), predicted, strict=True):
        binned, node, unused = public_bins(values, N_BINS), nodes[0], list(range(len(COLUMNS)))
        while node["decides"] != LEAF:
            unused.remove(node["feature"])
            node = nodes[node["child"] + int(binned[node["feature"]])]
        if node["key"]:
            n_below += 1
            assert label == label_below(int(node["key"]), binned, unused, levels - node["depth"])
        else:
            assert label == node["label"]
    assert n_below > 50
    assert (pickle.loads(pickle.dumps(model)).predict(asked[::-1]) == predicted[::-1]).all()


def test_below_an_empty_node_every_label_has_the_same_chance():
    domain = Domain([Nominal(f"f{i}", range(6)) for i in range(4)], Nominal("y", range(4)))
    grid = np.stack(np.meshgrid(*[range(6)] * 4), axis=-1).reshape(-1, 4)
    votes = Counter()
    for seed in range(40):
        model = PFDPDTClassifier(2000.0, max_depth=4, variant="sound", domain=domain, random_state=seed)
        votes.update(model.fit(grid[:1], [0]).predict(grid[grid.min(axis=1) > 0]).tolist())
    shares = np.array([votes[c] for c in range(4)]) / sum(votes.values())
    np.testing.assert_allclose(shares, 0.25, atol=0.02)
