"""PrivaTree against a slow reference tree, its sound score by brute force, and the law of its split as printed."""

import itertools
import math

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from algorithms import Continuous, Domain, Nominal, ParameterError, PrivaTreeClassifier
from algorithms.accounting.events import ADDED_OR_REMOVED
from algorithms.forests.engine.tree import LEAF
from algorithms.forests.privatree import find_worst_error
from experiments.audit.attacks.black_box import make_observer
from experiments.audit.laws import DiscreteChoice, find_score_changes, find_worst_case, permute_and_flip_law
from experiments.audit.neighbouring_tables import TablePair
from tests.reference_trees import (
    AMONG,
    BELOW,
    COLUMNS,
    CONTINUOUS,
    N_CLASSES,
    SEED,
    TABLES,
    as_rows,
    assert_same_trees,
    class_counts,
    divide,
    flip,
    flipped_leaf,
    forest,
    gini,
    mean_impurity,
    noisy,
    table,
)

N_BINS = 5


def cuts_of(f, sample, cuts="equal_width"):
    """Where a column is cut: at positions of categories, and at ends of bins, the last of them its upper bound."""
    if f not in CONTINUOUS:
        return list(range(COLUMNS[f]))
    lower, upper = COLUMNS[f]
    if cuts == "equal_width":
        return [lower + (upper - lower) * k / N_BINS for k in range(1, N_BINS + 1)]
    values = sorted(values[f] for values, _ in sample)
    found = set()
    for k in range(1, N_BINS):
        place = (len(values) - 1) * k / N_BINS
        low, above = values[math.floor(place)], values[math.ceil(place)]
        found.add(low + (above - low) * (place - math.floor(place)))
    return [*sorted(cut for cut in found if cut < upper), upper]


def worst_error(n_classes):
    """Corollary 4 of the appendix, by narrowing down on the maximum."""

    def error(p):
        return 2 * math.log(1 / p) * (1 - (1 - (1 - p) ** n_classes) / (n_classes * p))

    low, high = 0.01, 0.99
    while high - low > 1e-8:
        third = (high - low) / 3
        if error(low + third) < error(high - third):
            low += third
        else:
            high -= third
    return error(low)


def shares(epsilon, n_rows, depth, error):
    """What a leaf and a level have."""
    if math.isinf(epsilon):
        return math.inf, math.inf
    of_leaf = min(epsilon / 2, worst_error(N_CLASSES) * 2**depth / (max(n_rows, 1) * error))
    return of_leaf, (epsilon - of_leaf) / depth


def all_cuts(node):
    """Every cut of every column, with the one that leaves all rows on the left."""
    return [(f, cut, divide(node["rows"], BELOW, f, cut)) for f, cuts in enumerate(node["cuts"]) for cut in cuts]


def drawn_by_scores(node, budget, rng):
    rows = node["rows"]
    n = node["noisy_count"] = max(noisy(len(rows), budget / 2, rng), 1)
    cuts = all_cuts(node)
    sensitivity = 1 - (n / (n + 1)) ** 2 - (1 / (n + 1)) ** 2
    scores = [-round(mean_impurity(sides), 12) for _, _, sides in cuts]
    f, cut, sides = cuts[flip(scores, sensitivity, budget / 2, rng)]
    return {"decides": BELOW, "feature": f, "cut": cut, "paid": budget}, sides


def drawn_by_weighted_scores(node, budget, rng):
    cuts = all_cuts(node)
    f, cut, sides = cuts[flip([round(gini(*sides), 9) for _, _, sides in cuts], 2, budget, rng, monotone=True)]
    return {"decides": BELOW, "feature": f, "cut": cut, "paid": budget}, sides


def reference_tree(sample, epsilon, depth, rng, draw, cuts="equal_width", error=0.01):
    first = {"rows": sample, "depth": 0, "cuts": [cuts_of(f, sample, cuts) for f in range(len(COLUMNS))]}
    counting, count = 0, len(sample)
    if draw is drawn_by_weighted_scores:
        counting = epsilon / 20
        count = first["noisy_count"] = noisy(len(sample), counting, rng)
    leaf_budget, budget = shares(epsilon if math.isinf(epsilon) else epsilon - counting, count, depth, error)
    nodes = [first]
    for node in nodes:
        if node["depth"] == depth:
            node |= flipped_leaf(node["rows"], leaf_budget, rng)
            continue
        split, sides = draw(node, budget, rng)
        node |= split
        nodes += [{"rows": side, "depth": node["depth"] + 1, "cuts": first["cuts"]} for side in sides]
    first["paid"] += counting
    return nodes


def sample_and_stream(X, y):
    _, stream = np.random.SeedSequence(np.random.RandomState(SEED).randint(2**31 - 1)).spawn(2)
    return as_rows(X, y), np.random.default_rng(stream)


@TABLES
@pytest.mark.parametrize("epsilon", [900.0, 60.0, 9.0, 0.5])
@pytest.mark.parametrize("variant", ["paper", "sound"])
def test_it_is_the_reference_tree(seed, epsilon, variant):
    X, y = table(seed, n=300)
    sample, rng = sample_and_stream(X, y)
    draw = drawn_by_weighted_scores if variant == "sound" else drawn_by_scores
    settings = {"n_estimators": None, "max_features": None, "max_depth": 3, "n_bins": N_BINS, "variant": variant}
    model = forest(PrivaTreeClassifier, epsilon, **settings).fit(X, y)
    assert_same_trees(model, [reference_tree(sample, epsilon, 3, rng, draw)])


@TABLES
def test_by_quantiles_it_is_the_reference_tree_and_says_where_its_cuts_are_from(seed):
    X, y = table(seed, n=300)
    sample, rng = sample_and_stream(X, y)
    settings = {"n_estimators": None, "max_features": None, "max_depth": 3, "n_bins": N_BINS, "cuts": "quantiles"}
    model = forest(PrivaTreeClassifier, 60.0, **settings).fit(X, y)
    assert_same_trees(model, [reference_tree(sample, 60.0, 3, rng, drawn_by_scores, "quantiles")])
    assert "cuts from the rows" in {fault.name for fault in model.privacy_.faults}


def test_a_value_that_equals_a_cut_is_below_it_and_rows_of_one_value_leave_no_quantile_to_cut_at():
    domain = Domain([Continuous("hours", 0, 10)], Nominal("y", (0, 1)))
    settings = {"max_depth": 1, "n_bins": 2, "domain": domain, "random_state": 0}
    X, y = [[5.0]] * 20 + [[5.1]] * 20, [0] * 20 + [1] * 20
    model = PrivaTreeClassifier(math.inf, **settings).fit(X, y)
    assert model.predict([[5.0], [5.1]]).tolist() == [0, 1]
    model = PrivaTreeClassifier(math.inf, cuts="quantiles", **settings).fit([[10.0]] * 40, y)
    assert model.trees_[0]["cut"][0] == 10, "all rows go left"


def test_the_share_of_the_leaves_is_that_of_the_appendix():
    for k in (2, 3, 7):
        assert find_worst_error(k) == pytest.approx(worst_error(k), rel=1e-12)
    for n, epsilon, error in ((300, 1.0, 0.01), (300, 100.0, 0.01), (4000, 1.0, 0.05)):
        X, y = table(0, n=n)
        settings = {"n_estimators": None, "max_features": None, "max_depth": 3, "max_error": error}
        (nodes,) = forest(PrivaTreeClassifier, epsilon, **settings).fit(X, y).trees_
        of_leaf, of_level = shares(epsilon, n, 3, error)
        np.testing.assert_allclose(nodes["epsilon"], np.where(nodes["decides"] == LEAF, of_leaf, of_level), rtol=1e-12)


# Without noise.


def impurity_left(nodes, X, y):
    """Walk rows down a tree on positions; returns the mean impurity after each level of splits."""
    at, left = np.zeros(len(X), dtype=int), []
    while (nodes["decides"][at] != LEAF).any():
        feature, cut, child = (nodes[name][at] for name in ("feature", "cut", "child"))
        at = child + (X[np.arange(len(X)), feature] > cut)
        cells = np.array([[np.sum((at == i) & (y == c)) for c in np.unique(y)] for i in np.unique(at)])
        left.append(1 - np.sum(cells**2 / cells.sum(axis=1, keepdims=True)) / len(X))
    return left, at


@pytest.mark.parametrize("variant", ["paper", "sound"])
def test_without_noise_it_is_the_greedy_gini_tree(variant):
    """scikit-learn's CART on the same positions: the same impurity at every level, the same answers in its leaves."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 7, size=(4000, 4))
    y = (X[:, 0] + 2 * (X[:, 1] > 3) + X[:, 2] * X[:, 3] / 9 + rng.normal(0, 2, len(X)) > 6).astype(int)
    domain = Domain([Nominal(f"f{i}", range(7)) for i in range(4)], Nominal("y", (0, 1)))
    ours = PrivaTreeClassifier(math.inf, max_depth=3, variant=variant, domain=domain, random_state=0).fit(X, y)
    (nodes,) = ours.trees_
    assert len(nodes) == 15
    left, _ = impurity_left(nodes, X, y)
    for depth in (1, 2, 3):
        cart = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
        by_cart = cart.tree_.impurity[cart.apply(X)].mean()
        assert left[depth - 1] == pytest.approx(by_cart, rel=1e-12)
    np.testing.assert_array_equal(ours.predict(X), cart.predict(X))


def groups_of(rows, f):
    """The best split of a column's categories in two groups, by all of them."""
    codes = range(COLUMNS[f])
    groups = [c for r in range(1, len(codes)) for c in itertools.combinations(codes, r)]
    cuts = [sum(2**code for code in group) for group in groups]
    return max(round(gini(*divide(rows, AMONG, f, cut)), 9) for cut in cuts)


def test_without_noise_the_reading_by_histograms_finds_the_best_of_all_groups():
    X, y = table(1, n=300)
    y = (y > 0).astype(int)
    settings = {"n_estimators": None, "max_features": None, "max_depth": 4, "n_bins": N_BINS, "splits": "histograms"}
    (nodes,) = forest(PrivaTreeClassifier, math.inf, **settings).fit(X, y).trees_
    held = {0: as_rows(X, y)}
    for i, node in enumerate(nodes):
        rows = held[i]
        is_pure = len({label for _, label in rows}) <= 1
        assert (node["decides"] == LEAF) == (node["depth"] == 4 or is_pure)
        if node["decides"] == LEAF:
            assert class_counts(rows)[node["label"]] == max(class_counts(rows))
            continue
        sides = divide(rows, node["decides"], node["feature"], node["cut"])
        held[node["child"]], held[node["child"] + 1] = sides
        below = [gini(*divide(rows, BELOW, f, cut)) for f in CONTINUOUS for cut in cuts_of(f, rows)[:-1]]
        grouped = [groups_of(rows, f) for f in range(len(COLUMNS)) if f not in CONTINUOUS]
        assert gini(*sides) == pytest.approx(max(below + grouped), rel=1e-9)
    assert {BELOW, AMONG} <= set(nodes["decides"])


# Privacy. Of two cells of a column and two classes: what a record changes.

CELLS = ("left 0", "left 1", "right 0", "right 1")


def of_cuts(tables):
    """Minus the impurity of both cuts of the column, times the rows: one between the cells, one below all."""
    cells = tables.reshape(-1, 2, 2).astype(float)
    of_cells = (cells**2).sum(axis=2) / np.maximum(cells.sum(axis=2), 1) - cells.sum(axis=2)
    both = cells.sum(axis=1)
    n = both.sum(axis=1)
    return np.column_stack([of_cells.sum(axis=1), (both**2).sum(axis=1) / np.maximum(n, 1) - n])


CUTS = DiscreteChoice("cuts", 2.0, CELLS, of_cuts)


def one_sided(quality, sensitivity, epsilon):
    return permute_and_flip_law(quality, sensitivity / 2, epsilon)


def test_no_record_raises_a_sound_score_or_lowers_it_by_more_than_2():
    lowest, highest = find_score_changes(CUTS, ADDED_OR_REMOVED)
    assert -2 < lowest < -1.4 and 0 <= highest + 1e-12 < 1e-9


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_a_sound_split_costs_its_epsilon_at_most_where_a_record_comes_or_goes(epsilon):
    worst = find_worst_case("permute_and_flip", CUTS, ADDED_OR_REMOVED, epsilon, law=one_sided)
    assert worst.holds and worst.tightness > 0.5


def law_of_split(cells, epsilon):
    """The chances of both cuts as printed, over all values of the noisy count: geometric noise, at least 1."""
    n = int(np.sum(cells))
    half, counts = epsilon / 2, np.arange(1, int(n + 80 / epsilon))
    of_count = np.exp(-half * np.abs(counts - n))
    of_count[0] *= 1 / (1 - math.exp(-half))  # and all below
    of_count /= of_count.sum()
    sensitivity = 1 - (counts / (counts + 1)) ** 2 - (1 / (counts + 1)) ** 2
    scores = of_cuts(np.array(cells)) / max(n, 1)
    return of_count @ np.exp(permute_and_flip_law(scores / sensitivity[:, np.newaxis], 1.0, half))


def loss_of_split(cells, more, epsilon):
    return np.abs(np.log(law_of_split(cells, epsilon) / law_of_split(more, epsilon))).max()


def test_a_split_as_printed_costs_more_than_its_epsilon_even_than_that_of_the_tree():
    """Table VI: epsilon 0.01, half of it for four levels. One record, then another of the other class and cell."""
    of_level = 0.01 / 2 / 4
    of_two = loss_of_split((0, 0, 0, 1), (1, 0, 0, 1), of_level)
    of_fifty = loss_of_split((50, 0, 0, 0), (50, 0, 0, 1), of_level)
    assert of_two == pytest.approx(0.0575, abs=1e-3) and of_two > 0.01
    assert of_fifty == pytest.approx(0.0049, abs=1e-3) and of_fifty > 3 * of_level
    assert loss_of_split((0, 0, 0, 1), (1, 0, 0, 1), 1.0) < 1.0


def test_the_printed_law_of_a_split_is_that_of_the_tree():
    """4,000 trees, grown as the audit does, which are those that ``fit`` grows from the same streams (test_audit)."""
    domain = Domain([Nominal("a", (0, 1))], Nominal("y", (0, 1)))
    pair = TablePair("a record of each kind, and one more", domain, ((0, 0), (1, 1)), ((0, 0), (1, 1), (1, 1)))
    observer = make_observer(PrivaTreeClassifier(0.02, max_depth=1, domain=domain), pair, pair.table, 0)
    divides = np.mean([observer.grow_trees(training)[0]["cut"][0] == 0 for training in range(4000)])
    chance = law_of_split((1, 0, 0, 1), 0.01)[0]
    assert abs(divides - chance) < 4 * math.sqrt(chance * (1 - chance) / 4000)
    assert chance > 0.525


def law_of_staying(cells, epsilon, depth):
    """The chances of both classes at the end of a path on which every cut leaves all records on the left, as printed.

    Each level has the same law, what is right of a cut has no record, and so few records leave half of epsilon to it.
    """
    of_levels = law_of_split(cells, epsilon / 2 / depth)[1] ** depth
    of_classes = np.array([[cells[0] + cells[2], cells[1] + cells[3]]])
    return of_levels * np.exp(permute_and_flip_law(of_classes, 0.5, epsilon / 2))[0]  # no count falls: half of 1


A_RECORD, AND_ANOTHER = (1, 0, 0, 0), (1, 0, 0, 1)


@pytest.mark.parametrize("epsilon, expected", [(0.01, 0.235), (0.1, 0.289)])
def test_a_tree_as_printed_loses_more_than_its_epsilon(epsilon, expected):
    """All four levels and the label: 23 times epsilon at the first budget of Table VI, nearly three times at 0.1."""
    loss = np.log(law_of_staying(A_RECORD, epsilon, 4) / law_of_staying(AND_ANOTHER, epsilon, 4))[0]
    assert loss == pytest.approx(expected, abs=2e-3) and loss > 2.5 * epsilon


def test_a_level_more_loses_as_much_again_however_small_epsilon_is():
    losses = []
    for depth in (1, 2, 4, 8):
        two_laws = law_of_staying(A_RECORD, 0.001, depth), law_of_staying(AND_ANOTHER, 0.001, depth)
        losses.append(math.log(two_laws[0][0] / two_laws[1][0]) / depth)
    assert losses == pytest.approx([0.0572] * 4, abs=1e-3)


@pytest.mark.parametrize("cells", [A_RECORD, AND_ANOTHER])
def test_the_printed_law_of_a_path_is_that_of_the_tree(cells):
    """100,000 trees of depth 4, by what the audit sees: four cuts below all, then the first class."""
    domain = Domain([Nominal("a", (0, 1))], Nominal("y", (0, 1)))
    pair = TablePair("a record, and another", domain, ((0, 0),), ((0, 0), (1, 1)))
    records = pair.table if cells == A_RECORD else pair.neighbour
    observer = make_observer(PrivaTreeClassifier(0.1, domain=domain), pair, records, 0)
    path = ", ".join(["a in 0, 1"] * 4) + ", then 0"
    codes, first, seen = np.unique(
        observer.observe(0, 100_000).codes["way of the record"], return_index=True, return_counts=True
    )
    said = [observer.describe_side("way of the record", training, 0) for training in first]
    assert len(set(said)) == len(codes)
    chance = law_of_staying(cells, 0.1, 4)[0]
    assert abs(seen[said.index(path)] / 1e5 - chance) < 4 * math.sqrt(chance / 1e5)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 3.0])
def test_the_exact_number_of_rows_makes_a_printed_tree_lose_more_than_epsilon_whatever_that_is(epsilon):
    """By its cuts and labels alone, on just so many rows that leaves no longer have half of epsilon.

    All rows are of the first class and in the left cell, but one, which is alone on the right until a record of the
    other class joins it. Event: the cells are divided, and all leaves have the other class. It hardly ever happens, as
    the label of the large leaf is as wrong as can be, the less so the smaller its budget is, which a record more makes
    smaller by a part in n.
    """
    need = 2**4 * worst_error(2) / 0.01
    n = math.ceil(2 * need / epsilon)
    of_leaf, of_leaf_of_more = need / n, need / (n + 1)
    loss_of_large_leaf = (n - 1) * (of_leaf - of_leaf_of_more)
    loss_of_small_leaf = of_leaf  # a label that was wrong by a record ties
    before = law_of_split((n - 1, 0, 1, 0), (epsilon - of_leaf) / 4)
    after = law_of_split((n - 1, 0, 1, 1), (epsilon - of_leaf_of_more) / 4)
    loss_of_root = math.log(after[0] / before[0])  # below it all cuts are alike, on either table
    assert loss_of_large_leaf + loss_of_small_leaf == pytest.approx(2 * need / (n + 1))
    assert epsilon < loss_of_large_leaf + loss_of_small_leaf + loss_of_root < 1.05 * epsilon


def test_a_record_more_makes_the_budget_of_every_printed_leaf_smaller():
    domain = Domain([Nominal("a", (0, 1))], Nominal("y", (0, 1)))
    need = 2**4 * worst_error(2) / 0.01
    for n in (1178, 1179):
        model = PrivaTreeClassifier(1.0, domain=domain, random_state=0).fit([[0]] * n, [0] * n)
        (nodes,) = model.trees_
        assert nodes["epsilon"][nodes["decides"] == LEAF] == pytest.approx(need / n)


def test_every_column_of_the_reading_by_histograms_is_booked():
    X, y = table(0, n=300)
    settings = {"n_estimators": None, "max_features": None, "splits": "histograms"}
    model = forest(PrivaTreeClassifier, 2.0, **settings).fit(X, y)
    of_leaf, of_level = shares(2.0, 300, 4, 0.01)
    assert model.privacy_.noisy_epsilon == pytest.approx(4 * len(COLUMNS) * of_level + of_leaf, rel=1e-12)
    assert model.trees_[0]["epsilon"][0] == pytest.approx(len(COLUMNS) * of_level, rel=1e-12)


def test_histograms_refuse_a_column_that_is_too_large_for_groups_and_say_which():
    domain = Domain((Nominal("few", range(3)), Nominal("many", range(54))), Nominal("y", (0, 1)))
    X, y = [[0, 0], [1, 1], [2, 53], [0, 7]], [0, 1, 0, 1]
    model = PrivaTreeClassifier(1.0, max_depth=2, splits="histograms", domain=domain, random_state=0)
    message = r"^splits='histograms' is for columns of at most 53 categories, 'many' has 54: take splits='scores'$"
    with pytest.raises(ParameterError, match=message):
        model.fit(X, y)
    assert model.set_params(splits="scores").fit(X, y).predict(X).shape == (4,)
