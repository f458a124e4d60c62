"""BDPT against a slow reference tree, its groups of numbers on values made by hand, its sound score by force."""

import math

import numpy as np
import pytest

import datasets
from algorithms import BDPTClassifier, Continuous, Domain, Nominal
from algorithms.accounting.events import ADDED_OR_REMOVED
from algorithms.forests.engine.tree import LEAF
from algorithms.released.document import ReleaseError
from experiments.audit.laws import exponential_law, find_worst_case, make_split_choice
from tests.reference_trees import (
    COLUMNS,
    CONTINUOUS,
    EQUALS,
    TABLES,
    assert_same_trees,
    class_counts,
    divide,
    draw_exponential,
    forest,
    gini,
    leaf,
    mean_impurity,
    noisy,
    public_bins,
    samples_and_streams,
    table,
)

N_BINS, N_MERGED = 5, 4
ONE_TREE = {"n_estimators": None, "max_features": None, "n_bins": N_BINS, "n_merged": N_MERGED}


def grouped(rows, n_merged):
    """Rows that have for a number the place of its group among the distinct values; and the categories by column."""
    sizes, places = list(COLUMNS), {}
    for f in CONTINUOUS:
        distinct = sorted({values[f] for values, _ in rows})
        places[f] = {value: place // n_merged for place, value in enumerate(distinct)}
        sizes[f] = 1 + max(places[f].values())
    return [([places[f][v] if f in places else v for f, v in enumerate(values)], y) for values, y in rows], sizes


def binned(rows, n_bins):
    return [(public_bins(values, n_bins), y) for values, y in rows], [
        n_bins if f in CONTINUOUS else c for f, c in enumerate(COLUMNS)
    ]


def budget_of_counts(epsilon, depth):
    """Half of epsilon over the levels of a path, each with 2^(1/3) times what the one above has."""
    parts = [2 ** (level / 3) for level in range(depth + 1)]
    return [epsilon / 2 * part / sum(parts) for part in parts]


def drawn_as_printed(node, sides, epsilon, depth, rng):
    of_count = budget_of_counts(epsilon, depth)[node["depth"]]
    n = node["noisy_count"] = max(noisy(len(node["rows"]), of_count, rng), 1)
    sensitivity = 1 - (n / (n + 1)) ** 2 - (1 / (n + 1)) ** 2
    scores = [-round(mean_impurity(two), 12) for two in sides]
    node["paid"] = of_count + epsilon / 2 / depth
    return draw_exponential(scores, [1] * len(scores), sensitivity, epsilon / 2 / depth, rng)


def drawn_soundly(node, sides, epsilon, depth, rng):
    node["paid"] = epsilon / 2 / depth
    scores = [round(gini(*two), 9) for two in sides]
    return draw_exponential(scores, [1] * len(scores), 2, epsilon / 2 / depth, rng, monotone=True)


def reference_tree(rows, sizes, epsilon, depth, rng, draw):
    of_leaf = epsilon / 2 if draw is drawn_soundly else budget_of_counts(epsilon, depth)[-1]
    splits = [(f, c) for f, size in enumerate(sizes) for c in range(size)]
    nodes = [{"rows": rows, "depth": 0}]
    for node in nodes:
        if node["depth"] == depth:
            node |= leaf(node["rows"], of_leaf, rng)
            continue
        sides = [divide(node["rows"], EQUALS, f, c) for f, c in splits]
        drawn = draw(node, sides, epsilon, depth, rng)
        node |= {"decides": EQUALS, "feature": splits[drawn][0], "cut": splits[drawn][1]}
        nodes += [{"rows": side, "depth": node["depth"] + 1} for side in sides[drawn]]
    return nodes


@TABLES
@pytest.mark.parametrize("epsilon", [900.0, 60.0, 9.0, 0.5])
@pytest.mark.parametrize("variant", ["paper", "sound"])
def test_it_is_the_reference_tree(seed, epsilon, variant):
    X, y = table(seed, n=200)
    sample, rng = samples_and_streams(X, y, "all")[0]
    model = forest(BDPTClassifier, epsilon, **ONE_TREE, max_depth=3, variant=variant).fit(X, y)
    draw = drawn_soundly if variant == "sound" else drawn_as_printed
    rows, sizes = binned(sample, N_BINS) if variant == "sound" else grouped(sample, N_MERGED)
    assert_same_trees(model, [reference_tree(rows, sizes, epsilon, 3, rng, draw)])


@pytest.mark.parametrize("variant", ["paper", "sound"])
def test_without_noise_every_split_is_the_best_category_against_the_rest(variant):
    X, y = table(1, n=300)
    sample, _ = samples_and_streams(X, y, "all")[0]
    (nodes,) = forest(BDPTClassifier, math.inf, **ONE_TREE, max_depth=4, variant=variant).fit(X, y).trees_
    rows, sizes = binned(sample, N_BINS) if variant == "sound" else grouped(sample, N_MERGED)
    held = {0: rows}
    assert len(nodes) == 31
    for i, node in enumerate(nodes):
        if node["decides"] == LEAF:
            counts = class_counts(held[i])
            assert node["depth"] == 4 and counts[node["label"]] == max(counts)
            continue
        sides = divide(held[i], EQUALS, node["feature"], node["cut"])
        best = min(mean_impurity(divide(held[i], EQUALS, f, c)) for f, size in enumerate(sizes) for c in range(size))
        assert node["decides"] == EQUALS and mean_impurity(sides) == pytest.approx(best, abs=1e-12)
        held[node["child"]], held[node["child"] + 1] = sides


# Numbers become groups of five neighbouring distinct values.

LINE = Domain((Continuous("x", 0, 100),), Nominal("y", (0, 1)))
TEN = [50, 1, 2, 3, 60, 4, 5, 70, 80, 90, 90, 1, 70]


@pytest.mark.parametrize(
    ("values", "n_merged", "first"),
    [
        (TEN, 5, [1, 50]),  # ten distinct values
        ([*TEN, 95], 5, [1, 50, 95]),
        (TEN[1:], 5, [1, 60]),  # without the fifty, nine
        (TEN, 1, [1, 2, 3, 4, 5, 50, 60, 70, 80, 90]),
        (TEN, 100, [1]),
        ([7], 5, [7]),
    ],
)
def test_groups_begin_at_every_fifth_distinct_value(values, n_merged, first):
    X = [[x] for x in values]
    model = BDPTClassifier(1.0, n_merged=n_merged, domain=LINE, random_state=0).fit(
        X, [0, 1] * (len(X) // 2) + [0] * (len(X) % 2)
    )
    assert model.first_values_[0].tolist() == first


def test_a_value_belongs_to_the_group_that_begins_at_or_below_it_and_else_to_the_first():
    y = [int(x >= 50) for x in TEN]
    model = BDPTClassifier(math.inf, max_depth=1, domain=LINE, random_state=0).fit([[x] for x in TEN], y)
    new = [[0.0], [0.99], [1], [5], [30], [49.9], [50], [55], [90], [100]]
    assert model.rows_to_descend(new)[:, 0].tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    assert model.predict(new).tolist() == [0] * 6 + [1] * 4
    assert model.predict([[-1000], [1000]]).tolist() == [0, 1], "clipped to the domain"


def test_a_second_fit_has_groups_of_its_own_and_a_sound_one_has_none():
    model = BDPTClassifier(math.inf, n_merged=1, domain=LINE, random_state=0).fit([[1], [2]], [0, 1])
    assert model.fit([[10], [20], [30]], [0, 1, 0]).first_values_[0].tolist() == [10, 20, 30]
    assert model.set_params(variant="sound").fit([[10], [20]], [0, 1]).first_values_ == [None]


def test_a_model_with_groups_from_the_rows_does_not_leave():
    model = BDPTClassifier(1.0, domain=LINE, random_state=0).fit([[1], [2]], [0, 1])
    with pytest.raises(ReleaseError, match="its account has faults: cuts from the rows, sensitivity of a noisy count"):
        model.release()


def test_a_column_of_thousands_of_groups_is_split():
    x = np.random.default_rng(0).permutation(20000)
    domain = Domain((Continuous("x", 0, 20000), Nominal("a", (0, 1))), Nominal("y", (0, 1)))
    X = np.column_stack([x, np.zeros(len(x))])
    model = BDPTClassifier(math.inf, max_depth=1, domain=domain, random_state=0).fit(X, (x // 5 == 1234).astype(int))
    assert len(model.first_values_[0]) == 4000 and model.trees_[0]["cut"][0] == 1234
    assert model.predict([[6170, 0], [6174, 0], [6175, 0], [6169, 0]]).tolist() == [1, 1, 0, 0]


# Privacy.


def one_sided(quality, sensitivity, epsilon):
    return exponential_law(quality, sensitivity / 2, epsilon)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_a_sound_split_costs_its_epsilon_at_most(epsilon):
    worst = find_worst_case("exponential", make_split_choice("gini"), ADDED_OR_REMOVED, epsilon, law=one_sided)
    assert 0.4 * epsilon < worst.largest <= epsilon


@pytest.mark.parametrize("depth", [1, 4])
def test_the_budget_is_that_of_the_program(depth):
    X, y = table(0, n=100)
    model = forest(BDPTClassifier, 2.0, **ONE_TREE, max_depth=depth).fit(X, y)
    (nodes,) = model.trees_
    of_counts = budget_of_counts(2.0, depth)
    assert sum(of_counts) == pytest.approx(1) and of_counts[1] / of_counts[0] == pytest.approx(1.259921, rel=1e-6)
    for node in nodes:
        split = 1 / depth if node["decides"] != LEAF else 0
        assert node["epsilon"] == pytest.approx(split + of_counts[node["depth"]], rel=1e-12)
    assert model.privacy_.noisy_epsilon == pytest.approx(1, rel=1e-12)


def test_without_numbers_one_fault_is_left():
    data = datasets.load("car")
    account = BDPTClassifier(1.0, domain=data.domain, random_state=0).fit(data.frame, data.target).privacy_
    assert [fault.name for fault in account.faults] == ["sensitivity of a noisy count"]
    assert math.isinf(account.accounted_epsilon)


@pytest.mark.parametrize(("n_values", "is_slip"), [(10, True), (9, False)])
def test_where_memory_that_was_never_written_is_a_zero_rows_are_found_in_groups_that_they_are_not_in(n_values, is_slip):
    """Ten values make two groups that begin at 0 and 5, looked up in 0, 5 and a zero; nine make two without a slip."""
    domain = Domain([Continuous("x", 0, 10)], Nominal("y", ("a", "b")))
    x = np.repeat(np.arange(n_values, dtype=float), 20)
    y = np.where(x >= 5, "b", "a")
    for seed in range(20):
        answers = {}
        for unwritten in ("left_out", "zero"):
            model = BDPTClassifier(math.inf, max_depth=1, domain=domain, unwritten=unwritten, random_state=seed)
            (nodes,) = model.fit(x[:, np.newaxis], y).trees_
            answers[unwritten] = [model.predict([[value]])[0] for value in (2.0, 8.0)]
        asks_for_second = nodes["cut"][0] == 1
        assert nodes["label"][1:].tolist() == ([1, 0] if asks_for_second else [0, 1]), "trained as ever"
        assert answers["left_out"] == ["a", "b"]
        assert answers["zero"] == ["a", "a" if is_slip and asks_for_second else "b"]
