"""The thrifty tree against a slow reference tree, its score by brute force, and what its branches spend."""

import math

import numpy as np
import pytest

import datasets
from algorithms import Continuous, Domain, Nominal, ThriftyTreeClassifier
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.encoding import bins
from algorithms.forests.engine.tree import LEAF
from algorithms.forests.thrifty_tree import Seen, score_options, separation, worth
from experiments.audit.laws import (
    DiscreteChoice,
    find_score_changes,
    find_worst_case,
    make_split_choice,
    permute_and_flip_law,
)
from tests import reference_trees
from tests.reference_trees import (
    BELOW,
    BY_VALUE,
    COLUMNS,
    CONTINUOUS,
    DOMAIN,
    EQUALS,
    SEED,
    TABLES,
    as_rows,
    assert_paths_spend,
    assert_same_trees,
    class_counts,
    columns_and_signal,
    divide,
    flip,
    flipped_leaf,
    forest,
    noisy,
    table,
)

N_BINS = 6


def public_cuts(lower, upper):
    """Between bins of equal width, and by halves towards zero, or towards the bound that is next to it."""
    if lower < 0 < upper:
        near, reach = 0.0, max(-lower, upper)
    else:
        near, reach = min((lower, upper), key=abs), upper - lower
    found = {lower + (upper - lower) * (k / N_BINS) for k in range(N_BINS)} | {near}
    found |= {near + sign * reach / 2**k for k in range(1, 17) for sign in (-1, 1)}
    return sorted(cut for cut in found if lower < cut < upper)


def test_bounds_next_to_each_other_are_cut_between_them():
    assert bins.public_cuts(Continuous("x", 1.0, math.nextafter(1.0, 2.0)), N_BINS).tolist() == [1.0]


@pytest.mark.parametrize("bounds", [(0, 100), (-40, 40), (-1, 1000), (17, 90), (-9, -1), (1e30, 1e36), (-1e-36, 0)])
def test_cuts_follow_from_the_bounds(bounds):
    cuts = bins.public_cuts(Continuous("x", *bounds), N_BINS)
    assert cuts == pytest.approx(public_cuts(*map(float, bounds)), rel=1e-12)
    assert (np.diff(cuts) > 0).all() and bounds[0] < cuts[0] and cuts[-1] < bounds[1]


def largest_count(rows, heavier, weight):
    return max(n * (weight if c == heavier else 1) for c, n in enumerate(class_counts(rows)))


def question(sides, heavier, weight):
    """The mean of two counts of what children get right: by most records, and by most where the classes are even."""
    return sum(largest_count(side, heavier, 1) + largest_count(side, heavier, weight) for side in sides) / 2


def apart(sides):
    """How many records went where most of their class went, less those of the largest side."""
    by_class = zip(*map(class_counts, sides), strict=True)
    return sum(max(counts) for counts in by_class) - max(len(side) for side in sides)


def look(counts, counting):
    """What noisy counts of the classes say: errors, the largest class, if it is small, the second's ratio to it."""
    scale = 0 if math.isinf(counting) else 1 / counting
    heavier = counts.index(max(counts))
    others = [n for c, n in enumerate(counts) if c != heavier]
    clear = max([0, *(n for n in others if n > scale)])
    errors = max(sum(others), clear)
    is_spread = 3 * counts[heavier] < max(counts[heavier] + errors, 1)
    second = clear + 4 * scale
    return errors, heavier, is_spread, second / max(counts[heavier] + 4 * scale, second, 1)


def list_splits(rows, features, left):
    """All splits of some features as (feature, how, cut, sides, what it loses for its many children)."""
    splits = []
    for f in features:
        if f in CONTINUOUS:
            splits += [(f, BELOW, cut, divide(rows, BELOW, f, cut), 0) for cut in public_cuts(*COLUMNS[f])]
            continue
        n = COLUMNS[f]
        sides = [[row for row in rows if row[0][f] == value] for value in range(n)]
        splits.append((f, BY_VALUE, None, sides, (n - 2) / left))
        if n > 2:
            splits += [(f, EQUALS, value, divide(rows, EQUALS, f, value), 0) for value in range(n)]
    return splits


def reference_tree(sample, epsilon, depth, rng, choose=list, end_with=flipped_leaf):
    """As the docstring tells it; ``left`` is what the path to a node has not spent.

    ``choose`` draws among the features that a node could ask for, and ``end_with`` makes a leaf.
    """
    enough = math.inf if math.isinf(epsilon) else 50
    first = {"rows": sample, "depth": 0, "open": list(range(len(COLUMNS))), "left": epsilon, "counting": epsilon / 20}
    nodes = [first]
    for node in nodes:
        rows, counting = node["rows"], node["counting"]
        counts = [noisy(count, counting, rng) for count in class_counts(rows)]
        errors, heavier, is_spread, weight = look(counts, counting)
        node |= {"noisy_count": errors, "counts": counts}
        left = math.inf if math.isinf(epsilon) else node["left"] - counting
        is_worth_it = node is first or errors > 25 / left
        asked = choose(node["open"])
        if node["depth"] == depth or not node["open"] or not is_worth_it:
            end = end_with(rows, left, rng)
            node |= end | {"paid": counting + end["paid"]}
            continue
        splits = list_splits(rows, asked, left)
        asking = min(enough / max(errors, 1), left / 2)
        scores = [(apart(s) if is_spread else question(s, heavier, weight)) - loss for *_, s, loss in splits]
        f, decides, cut, sides, _ = splits[flip(scores, 1, asking, rng, monotone=not is_spread)]
        node |= {"decides": decides, "feature": f, "cut": cut, "n_children": len(sides), "paid": counting + asking}
        node["is_spread"] = is_spread
        left = math.inf if math.isinf(epsilon) else left - asking
        others = [other for other in node["open"] if other != f or decides != BY_VALUE]
        counting = min(enough / max(errors, 1), left / 10)
        common = {"depth": node["depth"] + 1, "open": others, "left": left, "counting": counting}
        nodes += [{"rows": side} | common for side in sides]
    return nodes


@TABLES
@pytest.mark.parametrize("epsilon", [math.inf, 900.0, 60.0, 9.0])
def test_it_is_the_reference_tree(seed, epsilon):
    X, y = table(seed, n=300)
    _, stream = np.random.SeedSequence(np.random.RandomState(SEED).randint(2**31 - 1)).spawn(2)
    sample = as_rows(X, y)
    model = forest(ThriftyTreeClassifier, epsilon, n_estimators=None, max_features=None, n_bins=N_BINS).fit(X, y)
    assert_same_trees(model, [reference_tree(sample, epsilon, 4, np.random.default_rng(stream))])


@TABLES
@pytest.mark.parametrize("epsilon", [math.inf, 900.0, 60.0])
def test_it_is_the_reference_tree_of_many_classes(seed, epsilon, monkeypatch):
    """With eight classes the first questions keep classes apart, those below name the largest."""
    n_classes = 8
    monkeypatch.setattr(reference_trees, "N_CLASSES", n_classes)
    X, signal = columns_and_signal(seed, 300)
    y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    domain = Domain(DOMAIN.features, Nominal("y", range(n_classes)))
    _, stream = np.random.SeedSequence(np.random.RandomState(SEED).randint(2**31 - 1)).spawn(2)
    expected = reference_tree(as_rows(X, y), epsilon, 4, np.random.default_rng(stream))
    parameters = {"n_estimators": None, "max_features": None, "n_bins": N_BINS, "domain": domain}
    assert_same_trees(forest(ThriftyTreeClassifier, epsilon, **parameters).fit(X, y), [expected])
    assert {node["is_spread"] for node in expected if "decides" in node} == {True, False}


def test_it_asks_in_all_three_ways():
    found = set()
    for seed in range(20):
        X, y = table(seed, n=300)
        model = forest(ThriftyTreeClassifier, 9.0, n_estimators=None, max_features=None).set_params(random_state=seed)
        found |= set(model.fit(X, y).trees_[0]["decides"])
    assert found == {LEAF, BELOW, EQUALS, BY_VALUE}


# Its score and its counts, on all tables of up to six records.

CASES = [(0, 0.0), (0, 0.3), (1, 0.8), (2, 1.0)]
"""The heavier class, as noisy counts may name it, and what its records count: they need not fit the rows."""


def make_question(heavier, weight):
    """The choice between the splits by a and by b of 12 types of records (a, b, class)."""

    def score(tables):
        cells = tables.reshape(-1, 2, 2, 3)
        weights = np.where(np.arange(3) == heavier, weight, 1.0)
        sides = np.stack([cells.sum(axis=2), cells.sum(axis=1)], axis=1)
        return (sides.max(axis=3) + (sides * weights).max(axis=3)).sum(axis=2) / 2

    name = f"class {heavier} counts {weight}"
    return DiscreteChoice(name, 1.0, make_split_choice("max").types, score)


QUESTIONS = [make_question(*case) for case in CASES]


def make_separation():
    """The choice between the splits by a, by b, and by both at once, where no class stands out."""

    def score(tables):
        cells = tables.reshape(-1, 2, 2, 3)
        by_both = tables.reshape(-1, 4, 3)
        children = (cells.sum(axis=2), cells.sum(axis=1), by_both)
        return np.stack([c.max(axis=1).sum(axis=1) - c.sum(axis=2).max(axis=1) for c in children], axis=1).astype(float)

    return DiscreteChoice("separation", 1.0, make_split_choice("max").types, score)


SEPARATION = make_separation()
EACH_QUESTION = pytest.mark.parametrize("choice", QUESTIONS, ids=lambda choice: choice.name)


def test_class_counts_move_by_1_together():
    """Noise of scale 1 / epsilon on each of them costs epsilon: all in all they change by one."""
    names = ("class 0", "class 1", "class 2")
    total = DiscreteChoice("counts", 1.0, names, lambda t: t.sum(axis=1, keepdims=True))
    each = DiscreteChoice("each count", 1.0, names, lambda t: t)
    assert find_score_changes(total, ADDED_OR_REMOVED) == (1.0, 1.0)
    assert find_score_changes(each, ADDED_OR_REMOVED) == (0.0, 1.0)


def one_sided(quality, sensitivity, epsilon):
    return permute_and_flip_law(quality, sensitivity / 2, epsilon)


@pytest.mark.parametrize("is_continuous", [True, False])
def test_the_scores_are_those_of_the_reference(is_continuous):
    rng = np.random.default_rng(0)
    for n_codes in (2, 3, 5):
        for heavier, weight in CASES:
            counts = rng.integers(0, 9, size=(n_codes, 3))
            rows = [([code], c) for code in range(n_codes) for c in range(3) for _ in range(counts[code, c])]
            if is_continuous:
                splits = [divide(rows, BELOW, 0, cut) for cut in range(n_codes - 1)]
            else:
                splits = [[[row for row in rows if row[0][0] == code] for code in range(n_codes)]]
                splits += [divide(rows, EQUALS, 0, code) for code in range(n_codes)] if n_codes > 2 else []
            expected = np.array([question(sides, heavier, weight) for sides in splits])
            expected[0] -= 0 if is_continuous else (n_codes - 2) / 0.25
            seen = Seen(0.0, 0.0, heavier, False, weight, np.empty(0), math.inf, 0.25)
            scores = score_options(is_continuous, counts, counts.sum(axis=0), seen)
            assert scores == pytest.approx(expected, rel=1e-12)
            expected = np.array([apart(sides) for sides in splits], dtype=float)
            expected[0] -= 0 if is_continuous else (n_codes - 2) / 0.25
            scores = score_options(is_continuous, counts, counts.sum(axis=0), seen._replace(is_spread=True))
            assert scores == pytest.approx(expected, rel=1e-12)


def test_worth_is_what_is_enumerated():
    tables = np.random.default_rng(1).integers(0, 4, size=(20, 12))
    for (heavier, weight), choice in zip(CASES, QUESTIONS, strict=True):
        for records, scores in zip(tables, choice.quality(tables), strict=True):
            cells = records.reshape(2, 2, 3)
            splits = cells.sum(axis=1), cells.sum(axis=0)
            expected = [sum(worth(side, heavier, weight) for side in sides) for sides in splits]
            assert scores == pytest.approx(expected, rel=1e-12)


def test_separation_is_what_is_enumerated():
    tables = np.random.default_rng(1).integers(0, 4, size=(20, 12))
    for records, scores in zip(tables, SEPARATION.quality(tables), strict=True):
        cells = records.reshape(2, 2, 3)
        splits = cells.sum(axis=1), cells.sum(axis=0), records.reshape(4, 3)
        assert scores.tolist() == [separation(split) for split in splits]


def test_separation_moves_by_1_either_way_and_costs_its_epsilon():
    assert find_score_changes(SEPARATION, ADDED_OR_REMOVED) == (-1.0, 1.0)
    for epsilon in (0.1, 1.0, 3.0):
        row = find_worst_case("permute_and_flip", SEPARATION, ADDED_OR_REMOVED, epsilon)
        assert row.holds and row.tightness > 0.5
    assert not find_worst_case("permute_and_flip", SEPARATION, ADDED_OR_REMOVED, 3.0, law=one_sided).holds


@EACH_QUESTION
def test_a_score_grows_by_0_to_1_with_a_record(choice):
    lowest, highest = find_score_changes(choice, ADDED_OR_REMOVED)
    assert lowest >= 0.0 and highest == pytest.approx(1.0, abs=1e-12)


@EACH_QUESTION
def test_a_question_costs_its_epsilon_where_a_record_comes_or_goes_and_more_where_one_is_replaced(choice):
    for epsilon in (0.1, 1.0, 3.0):
        row = find_worst_case("permute_and_flip", choice, ADDED_OR_REMOVED, epsilon, law=one_sided)
        assert row.holds and row.tightness > 0.8
    assert not find_worst_case("permute_and_flip", choice, REPLACED, 1.0, law=one_sided).holds


# What it spends.


@pytest.mark.parametrize("name", ["nursery", "car", "adult", "congvote"])
@pytest.mark.parametrize("epsilon", [0.1, 3.0])
def test_every_path_spends_the_budget_and_the_root_little_where_it_has_many_errors(name, epsilon):
    if not datasets.is_available(name):
        pytest.skip(f"{name} is not there")
    data = datasets.load(name)
    model = ThriftyTreeClassifier(epsilon, domain=data.domain, random_state=0).fit(data.frame, data.target)
    (nodes,) = model.trees_
    assert_paths_spend(nodes, epsilon)
    assert nodes["decides"][0] != LEAF
    n_errors = len(data.target) - data.target.value_counts().max()
    if n_errors * epsilon > 500:
        assert nodes["epsilon"][0] < epsilon * 0.05 + 1.2 * 50 / n_errors
    assert model.privacy_.keeps_claim and model.privacy_.accounted_epsilon == pytest.approx(epsilon, rel=1e-12)


def test_branches_end_where_the_budget_does():
    data = datasets.load("nursery")
    sizes = []
    for epsilon in (0.02, 0.2, 2.0, 20.0):
        model = ThriftyTreeClassifier(epsilon, domain=data.domain, random_state=0).fit(data.frame, data.target)
        sizes.append(len(model.trees_[0]))
        assert not model.trees_[0]["exact"].any() and not model.trees_[0]["key"].any()
    assert sizes == sorted(sizes) and sizes[-1] > 20 * sizes[0]
