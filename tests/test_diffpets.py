"""DiffPETs against slow reference trees written from paper 1, and without noise against scikit-learn.

`tests.reference_trees` says why the trees must be identical. Regression: the targets are whole numbers between bounds
that are 64 apart, so that they are fractions of 64 on the scale [0, 1], and sums of them are exact in the engine; the
reference computes with fractions, so that two splits are equally good here and there or nowhere.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.model_selection import train_test_split

import datasets
from algorithms import Continuous, DiffPETsClassifier, DiffPETsRegressor, Domain
from tests.reference_trees import (
    BELOW,
    COLUMNS,
    CONTINUOUS,
    DEPTH,
    DOMAIN,
    EPSILONS,
    EQUALS,
    N_TREES,
    SOUND_EPSILONS,
    TABLES,
    assert_same_trees,
    class_counts,
    columns_and_signal,
    counted,
    divide,
    draw_exponential,
    draw_features,
    flipped_leaf,
    forest,
    gini,
    leaf,
    levels_of,
    noisy,
    samples_and_streams,
    table,
)
from tests.reference_trees import M as MOST_FEATURES

SMALLEST_P = 1e-4  # fixed seeds, see test_mechanisms.py
LOWER, UPPER = -16.0, 48.0
REGRESSION = Domain(DOMAIN.features, Continuous("y", LOWER, UPPER))
SAMPLINGS = pytest.mark.parametrize("sampling", ["disjoint", "all"])


def regression_table(seed, n=70):
    X, signal = columns_and_signal(seed, n)
    return X, np.clip(np.round(4 * signal - 8), LOWER, UPPER)


def shares(y):
    """Targets on the scale [0, 1]."""
    return [Fraction(int(value - LOWER), int(UPPER - LOWER)) for value in y]


# The reference tree. A row is (values, label), its label being a class or a target on the scale [0, 1].


def mean(rows):
    return sum(target for _, target in rows) / Fraction(len(rows))


def squared_errors(rows):
    middle = mean(rows) if rows else 0
    return sum((target - middle) ** 2 for _, target in rows)


def summed_variance(*sides):
    return -sum(squared_errors(side) for side in sides)


def mean_variance(*sides):
    return summed_variance(*sides) / max(sum(map(len, sides)), 1)


def is_pure(rows):
    return len({label for _, label in rows}) <= 1


def has_little_error(threshold):
    return lambda rows: not rows or squared_errors(rows) / len(rows) <= threshold


def clipped(value):
    return min(max(float(value), 0.0), 1.0)


def ratio_leaf(rows, epsilon, rng):
    """Sum and number of the targets, with half of the budget each."""
    total = noisy(float(sum(target for _, target in rows)), epsilon / 2, rng)
    n = noisy(len(rows), epsilon / 2, rng)
    return {"value": clipped(total / n) if n else 0.5, "paid": epsilon}


def parts_leaf(rows, epsilon, rng):
    """The sums of y and of 1 - y: a record adds 1 to the two of them together."""
    below = noisy(float(sum(target for _, target in rows)), epsilon, rng)
    above = noisy(float(sum(1 - target for _, target in rows)), epsilon, rng)
    return {"value": clipped(below / (below + above)) if below + above > 0 else 0.5, "paid": epsilon}


def mean_leaf(rows, epsilon, rng):
    """The mean, whose sensitivity is "2"."""
    exact = float(mean(rows)) if rows else 0.5
    return {"value": clipped(noisy(exact, epsilon, rng, sensitivity=2)), "paid": epsilon}


def free_label(rows, _, rng):
    return leaf(rows, math.inf, rng) | {"paid": math.inf}


def cut_from_rows(rows, f, rng):
    # the engine keeps the rows of a node class after class, those of a regression as they come
    is_class = isinstance(rows[0][1], int | np.integer)
    in_order = sorted(rows, key=lambda row: row[1]) if is_class else rows
    present = list(dict.fromkeys(values[f] for values, _ in in_order))
    return present[int(rng.random() * len(present))]


def cut_from_records(rows, f, rng):
    is_class = isinstance(rows[0][1], int | np.integer)
    in_order = sorted(rows, key=lambda row: row[1]) if is_class else rows
    return in_order[int(rng.random() * len(rows))][0][f]


def cut_from_domain(_, f, rng):
    if f in CONTINUOUS:
        lower, upper = COLUMNS[f]
        return lower + rng.random() * (upper - lower)
    return int(rng.random() * COLUMNS[f])


def reference_tree(
    sample, epsilon, rng, *, score, finish, sensitivity=2, m=MOST_FEATURES, depth=DEPTH, settled=None, draw_cut=None
):
    """Paper 1, Algorithm 2, ``epsilon`` being what a mechanism gets; sound without ``settled``: no stop, no counts."""
    nodes = [{"rows": sample, "depth": 0}]
    for node in nodes:
        rows, count_epsilon = node["rows"], 0.0
        node["noisy_count"] = math.nan
        if settled:
            count_epsilon = epsilon
            node["noisy_count"] = noisy(len(rows), epsilon, rng)
        if node["depth"] == depth or (settled and settled(rows)):
            end = finish(rows, epsilon, rng)
            node |= end | {"paid": count_epsilon + end["paid"]}
            continue
        splits = []
        for f in draw_features(range(len(COLUMNS)), m, rng):
            cut = (draw_cut or cut_from_rows)(rows, f, rng)
            splits.append((BELOW if f in CONTINUOUS else EQUALS, f, cut))
        quality = [score(*divide(rows, *split)) for split in splits]
        drawn = draw_exponential(quality, [1] * len(splits), sensitivity, epsilon, rng, monotone=not settled)
        decides, f, cut = splits[drawn]
        node |= {"decides": decides, "feature": f, "cut": cut, "paid": count_epsilon + epsilon, "child": len(nodes)}
        nodes += [{"rows": side, "depth": node["depth"] + 1} for side in divide(rows, decides, f, cut)]
    return nodes


def printed_trees(X, labels, epsilon, *, sampling="bootstrap", of_level=1, **parameters):
    """ε₁ = B / t, ε₂ = ε₁ / (2 (h + 1)); a tree on rows that no other sees has all of B."""
    tree = epsilon / of_level / (1 if sampling == "disjoint" else N_TREES)
    return [
        reference_tree(sample, tree / (2 * (DEPTH + 1)), rng, **parameters)
        for sample, rng in samples_and_streams(X, labels, sampling)
    ]


def sound_trees(X, labels, epsilon, sampling, **parameters):
    """The rows are counted once, for as many levels as they last; each of h and the leaves has an equal share."""
    tree = epsilon / (1 if sampling == "disjoint" else N_TREES)
    trees = []
    for sample, rng in samples_and_streams(X, labels, sampling):
        count, cost, levels, left = counted(sample, tree, 2, DEPTH, rng)
        share = left / (levels + 1)
        trees.append(reference_tree(sample, share, rng, draw_cut=cut_from_domain, depth=levels, **parameters))
        trees[-1][0] |= {"noisy_count": count, "paid": trees[-1][0]["paid"] + cost}
    return trees


LEVELS = DEPTH - 1
"""Levels of splits of a printed tree: the root is the first of h levels of nodes."""
CLASSES = {"score": gini, "finish": free_label, "depth": LEVELS}
NUMBERS = {"score": summed_variance, "finish": ratio_leaf, "m": len(COLUMNS), "depth": LEVELS}
SOUND_CLASSES = {"score": gini, "finish": flipped_leaf}
SOUND_NUMBERS = {"score": summed_variance, "finish": parts_leaf, "m": len(COLUMNS), "sensitivity": 1}
TRUE_SENSITIVITY = math.log2(71) + 1 / math.log(2)
"""Of information gain on a table of 70 rows."""


def information_gain(*sides):
    """Minus the entropies of both sides in bits, weighted by their rows."""
    total = 0.0
    for side in sides:
        for n in class_counts(side):
            total += n * math.log2(n / len(side)) if n else 0.0
    return total


def readings(table):
    """Constructor parameters, and what the reference has to be told of them."""
    return pytest.mark.parametrize(("reading", "known"), table, ids=[str(reading) for reading, _ in table])


# Classes.

CLASS_READINGS = [
    ({}, {}),
    ({"leaf": "class_counts"}, {"finish": leaf}),
    ({"levels": "below_root"}, {"depth": DEPTH}),
    ({"share_of": "level"}, {"of_level": 2}),
    ({"leaf": "class_counts", "share_of": "level"}, {"finish": leaf, "of_level": 2}),
    ({"criterion": "information_gain"}, {"score": information_gain, "sensitivity": math.log(71) + 1 / math.log(2)}),
    (
        {"criterion": "information_gain", "gain_sensitivity": "binary"},
        {"score": information_gain, "sensitivity": TRUE_SENSITIVITY},
    ),
    ({"cut": "record"}, {"draw_cut": cut_from_records}),
    ({"max_features": None}, {"m": 2}),  # the square root of five columns, rounded down
    ({"max_features": "sqrt"}, {"m": 2}),
    ({"max_features": "half"}, {"m": 2}),
    ({"max_features": "all"}, {"m": 5}),
    ({"max_features": 1}, {"m": 1}),
    ({"max_features": 5}, {"m": 5}),
    ({"sampling": "disjoint"}, {}),
    ({"sampling": "all"}, {}),
]


@TABLES
@EPSILONS
@readings(CLASS_READINGS)
def test_the_printed_classifier_is_the_reference_tree(seed, epsilon, reading, known):
    X, y = table(seed)
    sampling = reading.get("sampling", "bootstrap")
    expected = printed_trees(X, y, epsilon, sampling=sampling, **CLASSES | {"settled": is_pure} | known)
    assert_same_trees(forest(DiffPETsClassifier, epsilon, **reading).fit(X, y), expected)


@TABLES
@SOUND_EPSILONS
@SAMPLINGS
def test_the_sound_classifier_is_the_reference_tree(seed, epsilon, sampling):
    X, y = table(seed)
    expected = sound_trees(X, y, epsilon, sampling, **SOUND_CLASSES)
    assert_same_trees(forest(DiffPETsClassifier, epsilon, variant="sound", sampling=sampling).fit(X, y), expected)


def test_a_draw_by_information_gain_costs_more_than_the_printed_sensitivity_says():
    """A record of a new class in a node of 70 others: its entropies alone say by how much the score falls."""
    moved = information_gain([(None, 0)] * 70) - information_gain([(None, 0)] * 70 + [(None, 1)])
    printed = math.log(71) + 1 / math.log(2)
    assert printed < moved < TRUE_SENSITIVITY
    draws = {}
    for name in ("natural", "binary"):
        model = forest(DiffPETsClassifier, 6.0, criterion="information_gain", gain_sensitivity=name).fit(*table(0))
        (bootstrap,) = model.privacy_.ledger.parts
        draws[name] = bootstrap.part.parts[0].parts[1]
    assert draws["binary"].epsilon == pytest.approx(6 / N_TREES / 2 / (DEPTH + 1))
    assert draws["natural"].epsilon == pytest.approx(draws["binary"].epsilon * TRUE_SENSITIVITY / printed)
    assert draws["natural"].sensitivity == pytest.approx(draws["binary"].sensitivity) == pytest.approx(TRUE_SENSITIVITY)


# Numbers.

NUMBER_READINGS = [
    ({}, {}),
    ({"leaf": "mean"}, {"finish": mean_leaf}),
    ({"criterion": "mean"}, {"score": mean_variance}),
    ({"variance_sensitivity": 0.25}, {"sensitivity": 0.25}),
    ({"criterion": "mean", "leaf": "mean"}, {"score": mean_variance, "finish": mean_leaf}),
    ({"error_threshold": 0.01}, {"settled": has_little_error(Fraction(1, 100))}),
    ({"levels": "below_root"}, {"depth": DEPTH}),
    ({"share_of": "level"}, {"of_level": 2}),
    ({"cut": "record"}, {"draw_cut": cut_from_records}),
    ({"max_features": 2}, {"m": 2}),
    ({"max_features": "sqrt"}, {"m": 2}),
    ({"max_features": "half"}, {"m": 2}),
    ({"max_features": "all"}, {"m": 5}),
    ({"sampling": "disjoint"}, {}),
    ({"sampling": "all"}, {}),
]


@TABLES
@EPSILONS
@readings(NUMBER_READINGS)
def test_the_printed_regressor_is_the_reference_tree(seed, epsilon, reading, known):
    X, y = regression_table(seed)
    sampling = reading.get("sampling", "bootstrap")
    parameters = NUMBERS | {"settled": has_little_error(0)} | known
    expected = printed_trees(X, shares(y), epsilon, sampling=sampling, **parameters)
    reading = {"domain": REGRESSION, "max_features": None} | reading
    assert_same_trees(forest(DiffPETsRegressor, epsilon, **reading).fit(X, y), expected)


@TABLES
@SOUND_EPSILONS
@SAMPLINGS
def test_the_sound_regressor_is_the_reference_tree(seed, epsilon, sampling):
    X, y = regression_table(seed)
    expected = sound_trees(X, shares(y), epsilon, sampling, **SOUND_NUMBERS)
    parameters = {"domain": REGRESSION, "variant": "sound", "sampling": sampling, "max_features": None}
    assert_same_trees(forest(DiffPETsRegressor, epsilon, **parameters).fit(X, y), expected)


def value_of(nodes, values):
    """What a reference tree predicts for a row, on the scale [0, 1]."""
    node = nodes[0]
    while "decides" in node:
        goes_left, _ = divide([(values, None)], node["decides"], node["feature"], node["cut"])
        node = nodes[node["child"] + (not goes_left)]
    return node["value"]


@EPSILONS
@pytest.mark.parametrize("variant", ["paper", "sound"])
def test_a_prediction_is_the_mean_over_the_trees_in_the_unit_of_the_target(epsilon, variant):
    X, y = regression_table(7)
    if variant == "paper":
        trees = printed_trees(X, shares(y), epsilon, settled=has_little_error(0), **NUMBERS)
    else:
        trees = sound_trees(X, shares(y), epsilon, "disjoint", **SOUND_NUMBERS)
    model = forest(DiffPETsRegressor, epsilon, variant=variant, domain=REGRESSION, max_features=None).fit(X, y)
    others, _ = regression_table(8)
    for values, predicted in zip(others.tolist(), model.predict(others), strict=True):
        share = sum(value_of(nodes, values) for nodes in trees) / N_TREES
        assert predicted == pytest.approx(LOWER + share * (UPPER - LOWER), rel=1e-9)
        assert LOWER <= predicted <= UPPER


# Tables with little in them.


@EPSILONS
@pytest.mark.parametrize("variant", ["paper", "sound"])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_constant_columns_and_empty_leaves_are_those_of_the_reference(kind, variant, epsilon):
    """Where a column has one value, everything goes left and the right child is empty."""
    X, y = table(9) if kind == "classes" else regression_table(9)
    X[:, 0], X[:, 3] = 2.5, 1
    labels, arguments = (y, {}) if kind == "classes" else (shares(y), {"domain": REGRESSION})
    if variant == "paper":
        settled = is_pure if kind == "classes" else has_little_error(0)
        parameters = CLASSES if kind == "classes" else NUMBERS
        expected = printed_trees(X, labels, epsilon, settled=settled, **parameters | {"m": MOST_FEATURES})
    else:
        parameters = SOUND_CLASSES if kind == "classes" else SOUND_NUMBERS
        expected = sound_trees(X, labels, epsilon, "disjoint", **parameters | {"m": MOST_FEATURES})
    assert any(not node["rows"] and "decides" not in node for nodes in expected for node in nodes)
    model = DiffPETsClassifier if kind == "classes" else DiffPETsRegressor
    assert_same_trees(forest(model, epsilon, variant=variant, **arguments).fit(X, y), expected)


@pytest.mark.parametrize("leaf", ["sum_and_count", "mean"])
def test_without_noise_a_leaf_without_records_predicts_the_middle(leaf):
    X, y = np.zeros((10, len(COLUMNS))), np.repeat([LOWER, UPPER], 5)
    model = forest(DiffPETsRegressor, math.inf, leaf=leaf, max_depth=2, domain=REGRESSION).fit(X, y)
    for nodes in model.trees_:
        assert len(nodes) == 3 and nodes["value"][2] == 0.5


def test_records_of_one_target_are_a_leaf_although_sums_of_it_are_rounded():
    X, _ = regression_table(9)
    for share in np.random.default_rng(0).uniform(size=20):
        y = np.full(len(X), LOWER + share * (UPPER - LOWER))
        model = forest(DiffPETsRegressor, math.inf, domain=REGRESSION).fit(X, y)
        assert all(len(nodes) == 1 for nodes in model.trees_)
        assert model.predict(X) == pytest.approx(y)


@pytest.mark.parametrize("leaf", ["sum_and_count", "mean"])
def test_noise_takes_no_prediction_beyond_the_bounds(leaf):
    X, y = regression_table(10)
    for epsilon in (1e-6, 0.1, 5.0):
        predicted = forest(DiffPETsRegressor, epsilon, leaf=leaf, domain=REGRESSION).fit(X, y).predict(X)
        assert ((predicted >= LOWER) & (predicted <= UPPER)).all()


# What the sound variant may know.


@pytest.mark.parametrize("estimator", [DiffPETsClassifier, DiffPETsRegressor])
def test_questions_of_a_sound_tree_do_not_depend_on_the_rows(estimator):
    """With one feature to choose from, trees of one depth are the same whatever the rows; only leaves tell of them."""
    stored = []
    for seed, n in ((0, 70), (1, 70), (2, 40)):
        X, y = table(seed, n) if estimator is DiffPETsClassifier else regression_table(seed, n)
        domain = DOMAIN if estimator is DiffPETsClassifier else REGRESSION
        model = forest(estimator, 100.0, variant="sound", sampling="all", max_features=1, domain=domain).fit(X, y)
        stored.append([[nodes[name].tolist() for name in ("decides", "feature", "child")] for nodes in model.trees_])
        stored[-1].append([nodes["cut"][nodes["decides"] != 0].tolist() for nodes in model.trees_])
    assert stored[0] == stored[1] == stored[2]


@pytest.mark.parametrize("estimator", [DiffPETsClassifier, DiffPETsRegressor])
def test_a_sound_tree_is_complete_and_reads_nothing_exactly(estimator):
    X, y = table(0) if estimator is DiffPETsClassifier else regression_table(0)
    domain = DOMAIN if estimator is DiffPETsClassifier else REGRESSION
    reached = set()
    for epsilon in (60.0, 2.0, 0.01):
        for nodes in forest(estimator, epsilon, variant="sound", domain=domain).fit(X, y).trees_:
            levels = levels_of(nodes["noisy_count"][0], epsilon, 2, DEPTH)
            reached.add(levels)
            assert len(nodes) == 2 ** (levels + 1) - 1 and nodes["depth"].max() == levels
            assert not nodes["exact"].any() and np.isnan(nodes["noisy_count"][1:]).all()
    assert len(reached) >= 3


@pytest.mark.parametrize("estimator", [DiffPETsClassifier, DiffPETsRegressor])
def test_a_printed_tree_admits_which_nodes_read_the_rows(estimator):
    X, y = table(0) if estimator is DiffPETsClassifier else regression_table(0)
    domain = DOMAIN if estimator is DiffPETsClassifier else REGRESSION
    for nodes in forest(estimator, 2.0, domain=domain).fit(X, y).trees_:
        assert (nodes["exact"] == (nodes["depth"] < LEVELS)).all()
        assert not np.isnan(nodes["noisy_count"]).any()


def test_cuts_of_a_sound_tree_are_even_in_the_declared_range():
    X, y = table(0)
    model = DiffPETsClassifier(variant="sound", max_features=1, n_estimators=300, domain=DOMAIN, random_state=1)
    nodes = np.concatenate(model.fit(X, y).trees_)
    for f, column in enumerate(COLUMNS):
        asked = nodes[(nodes["decides"] != 0) & (nodes["feature"] == f)]
        assert set(asked["decides"]) == {BELOW if f in CONTINUOUS else EQUALS}
        if f in CONTINUOUS:
            lower, upper = column
            assert stats.kstest(asked["cut"], stats.uniform(lower, upper - lower).cdf).pvalue > SMALLEST_P
        else:
            assert stats.chisquare(np.bincount(asked["cut"].astype(int), minlength=column)).pvalue > SMALLEST_P
    n_asked = np.bincount(nodes["feature"][nodes["decides"] != 0])
    assert stats.chisquare(n_asked).pvalue > SMALLEST_P


# Without noise the printed DiffPETs are ordinary extremely randomised trees on bootstrap samples.


def one_hot(data):
    """One column for each category, so that the peer splits "value against the rest", too."""
    codes, _ = data.domain.encode(data.frame)
    columns = [codes[:, [f]] == np.arange(len(feature.categories)) for f, feature in enumerate(data.domain.features)]
    return np.column_stack(columns).astype(np.float32)


@pytest.mark.parametrize("depth", [4, 8])
def test_without_noise_it_agrees_with_extremely_randomised_trees_within_three_points(depth):
    data = datasets.load("nursery")
    y, columns = data.target.to_numpy(), one_hot(data)
    k = len(data.domain.features)
    gaps = []
    for seed in range(5):
        train, test = train_test_split(np.arange(len(y)), test_size=0.3, random_state=seed, stratify=y)
        common = {"n_estimators": 25, "max_depth": depth, "random_state": seed}
        ours = DiffPETsClassifier(math.inf, max_features=k, levels="below_root", domain=data.domain, **common)
        theirs = ExtraTreesClassifier(max_features=k, bootstrap=True, **common)
        ours.fit(data.frame.iloc[train], y[train])
        theirs.fit(columns[train], y[train])
        gaps.append(ours.score(data.frame.iloc[test], y[test]) - theirs.score(columns[test], y[test]))
    assert abs(np.mean(gaps)) < 0.03


def test_without_noise_the_regressor_agrees_with_extremely_randomised_trees():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(1500, 4))
    y = np.clip(20 * X[:, 0] + 10 * np.sin(6 * X[:, 1]) + 15 * X[:, 2] ** 2 + rng.normal(0, 1, 1500), -20, 60)
    domain = Domain([Continuous(f"x{f}", 0, 1) for f in range(4)], Continuous("y", -20, 60))
    ours = DiffPETsRegressor(math.inf, n_estimators=25, max_depth=9, domain=domain, random_state=0)
    theirs = ExtraTreesRegressor(25, max_depth=8, bootstrap=True, random_state=0)
    scores = [model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) for model in (ours, theirs)]
    assert abs(scores[0] - scores[1]) < 0.03
