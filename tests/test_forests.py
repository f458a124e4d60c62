"""The forests against slow reference trees written from the papers, and without noise against scikit-learn.

A reference tree works on plain lists and takes the same random numbers in the same order as the engine:
a uniform number for each drawn feature, one for each exponential mechanism, one for each cut inside an interval, a
Laplace number for each noisy count. So the trees must be identical, with noise and without.
"""

import itertools
import math

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import datasets
from algorithms import Continuous, DiffPRFsClassifier, Domain, Nominal, RFDPPGiniClassifier

N_CLASSES = 3
COLUMNS = [(0.0, 5.0), 3, (-40.0, 40.0), 4, 2]  # (lower, upper) of a continuous column, or its number of categories
CONTINUOUS = [f for f, column in enumerate(COLUMNS) if isinstance(column, tuple)]
NOMINAL = [f for f in range(len(COLUMNS)) if f not in CONTINUOUS]
DOMAIN = Domain(
    [Continuous(f"f{i}", *c) if isinstance(c, tuple) else Nominal(f"f{i}", range(c)) for i, c in enumerate(COLUMNS)],
    Nominal("y", range(N_CLASSES)),
)
BELOW, EQUALS, BY_VALUE = 1, 2, 3


def table(seed, n=70):
    """Rows of mixed columns, some values more than once, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    columns = [rng.uniform(*c, n).round(1) if isinstance(c, tuple) else rng.integers(c, size=n) for c in COLUMNS]
    signal = columns[0] + columns[1] + columns[2] / 20 + 2 * (columns[3] == 2) + rng.normal(0, 0.7, n)
    return np.column_stack(columns), np.digitize(signal, np.quantile(signal, [0.4, 0.75]))


# Building blocks of the reference trees: a row is (values, label), a sample is a list of rows.


def class_counts(rows):
    return [sum(label == c for _, label in rows) for c in range(N_CLASSES)]


def gini(*sides):
    total = 0.0
    for counts in map(class_counts, sides):
        part = 0.0
        for count in counts:
            part += count * (count / sum(counts) - 1) if count else 0
        total += part
    return total


def information(*sides):
    total = 0.0
    for counts in map(class_counts, sides):
        part = 0.0
        for count in counts:
            part += count * math.log2(count / sum(counts)) if count else 0
        total += part
    return total


def most_frequent(*sides):
    return float(sum(max(class_counts(side)) for side in sides))


def draw_features(pool, m, rng):
    pool = list(pool)
    for i in range(min(m, len(pool))):
        j = i + int(rng.random() * (len(pool) - i))
        pool[i], pool[j] = pool[j], pool[i]
    return pool[:m]


def draw_exponential(quality, lengths, sensitivity, epsilon, rng):
    best = max(quality)
    factor = [1.0 if q == best else math.exp(max(epsilon * (q - best) / (2 * sensitivity), -800)) for q in quality]
    reached = list(itertools.accumulate(f * length for f, length in zip(factor, lengths, strict=True)))
    threshold = rng.random() * reached[-1]
    return next(i for i, r in enumerate(reached) if r > threshold)


def noisy(count, epsilon, rng):
    return count if math.isinf(epsilon) else count + rng.laplace(0, 1 / epsilon)


def leaf(rows, epsilon, rng):
    counts = [noisy(count, epsilon, rng) for count in class_counts(rows)]
    return {"label": counts.index(max(counts)), "paid": epsilon}


def divide(rows, decides, f, cut):
    is_left = [values[f] <= cut if decides == BELOW else values[f] == cut for values, _ in rows]
    return [row for row, left in zip(rows, is_left, strict=True) if left], [
        row for row, left in zip(rows, is_left, strict=True) if not left
    ]


def intervals(rows, features, score, unit):
    found = []
    for f in features:
        for low, high in itertools.pairwise(sorted({values[f] for values, _ in rows})):
            found.append((score(*divide(rows, BELOW, f, low)), (high - low) / unit(f), f, low, high))
    return found


def draw_cut(found, sensitivity, epsilon, rng):
    drawn = found[draw_exponential([c[0] for c in found], [c[1] for c in found], sensitivity, epsilon, rng)]
    quality, _, f, low, high = drawn
    return quality, f, low + rng.random() * (high - low)


# The reference trees: breadth first; a list grows while it is walked.


def rfdpp_tree(sample, epsilon, depth, m, rng, *, per_feature=False, relative=False, leaf_epsilon=None):
    """Paper 2, Algorithm 3, step 3; ``epsilon`` is half of what a level has."""
    nodes = [{"rows": sample, "depth": 0}]
    for node in nodes:
        rows, best = node["rows"], None
        node["paid"] = 0.0
        if node["depth"] < depth and len({label for _, label in rows}) > 1:
            noisy(len(rows), epsilon, rng)
            node["paid"] += epsilon
            features = draw_features(range(len(COLUMNS)), m, rng)
            continuous = [f for f in features if f in CONTINUOUS]
            for group in [[f] for f in continuous] if per_feature else [continuous]:
                found = intervals(rows, group, gini, lambda f: COLUMNS[f][1] - COLUMNS[f][0] if relative else 1.0)
                if found:
                    quality, f, cut = draw_cut(found, 2, epsilon / (len(continuous) + 1), rng)
                    node["paid"] += epsilon / (len(continuous) + 1)
                    if best is None or quality > best[0]:
                        best = quality, f, BELOW, cut
            for f in (f for f in features if f in NOMINAL):
                for value in range(COLUMNS[f]):
                    sides = divide(rows, EQUALS, f, value)
                    if all(sides) and (best is None or gini(*sides) > best[0]):
                        best = gini(*sides), f, EQUALS, value
        if best is None:
            end = leaf(rows, epsilon if leaf_epsilon is None else leaf_epsilon, rng)
            node |= end | {"paid": node["paid"] + end["paid"]}
        else:
            _, f, decides, cut = best
            node |= {"decides": decides, "feature": f, "cut": cut}
            sides = divide(rows, decides, f, cut)
            nodes += [{"rows": side, "depth": node["depth"] + 1} for side in sides]
    return nodes


def public_bins(values, n_bins):
    binned = list(values)
    for f in CONTINUOUS:
        lower, upper = COLUMNS[f]
        binned[f] = min(int((values[f] - lower) / (upper - lower) * n_bins), n_bins - 1)
    return binned


def sound_tree(sample, epsilon, depth, m, n_bins, rng):
    """One exponential mechanism over all (feature, public cut) pairs; ``epsilon`` is what a level has."""
    nodes = [{"rows": [(public_bins(values, n_bins), label) for values, label in sample], "depth": 0}]
    for node in nodes:
        rows = node["rows"]
        if node["depth"] == depth:
            node |= leaf(rows, epsilon, rng)
            continue
        cuts = []
        for f in draw_features(range(len(COLUMNS)), m, rng):
            if f in CONTINUOUS:
                cuts += [(BELOW, f, cut) for cut in range(n_bins - 1)]
            else:
                cuts += [(EQUALS, f, value) for value in range(COLUMNS[f])]
        quality = [gini(*divide(rows, *cut)) for cut in cuts]
        decides, f, cut = cuts[draw_exponential(quality, [1] * len(cuts), 2, epsilon, rng)]
        node |= {"decides": decides, "feature": f, "cut": cut, "paid": epsilon}
        nodes += [{"rows": side, "depth": node["depth"] + 1} for side in divide(rows, decides, f, cut)]
    return nodes


def diffprfs_tree(sample, epsilon, depth, m, score, sensitivity, rng):
    """DiffPRF with continuous features: ``epsilon`` is half of what a level has."""
    nodes = [{"rows": sample, "depth": 0, "open": list(range(len(COLUMNS)))}]
    for node in nodes:
        rows, unused, candidates = node["rows"], node["open"], []
        count = noisy(len(rows), epsilon, rng)
        node["paid"] = epsilon
        most_children = max([2 if f in CONTINUOUS else COLUMNS[f] for f in unused], default=0)
        if node["depth"] < depth and unused and count / (most_children * N_CLASSES) > math.sqrt(2) / epsilon:
            features = draw_features(unused, m, rng)
            share = epsilon / (sum(f in CONTINUOUS for f in features) + 1)
            for f in features:
                if f in NOMINAL:
                    sides = [[row for row in rows if row[0][f] == value] for value in range(COLUMNS[f])]
                    candidates.append((score(*sides), f, BY_VALUE, None))
                elif found := intervals(rows, [f], score, lambda f: 1.0):
                    quality, f, cut = draw_cut(found, sensitivity, share, rng)
                    candidates.append((quality, f, BELOW, cut))
                    node["paid"] += share
        if not candidates:
            end = leaf(rows, epsilon, rng)
            node |= end | {"paid": node["paid"] + end["paid"]}
            continue
        drawn = draw_exponential([c[0] for c in candidates], [1] * len(candidates), sensitivity, share, rng)
        _, f, decides, cut = candidates[drawn]
        node |= {"decides": decides, "feature": f, "paid": node["paid"] + share}
        if decides == BELOW:
            node["cut"], sides, still_open = cut, divide(rows, BELOW, f, cut), unused
        else:
            sides = [[row for row in rows if row[0][f] == value] for value in range(COLUMNS[f])]
            still_open = [other for other in unused if other != f]
        nodes += [{"rows": side, "depth": node["depth"] + 1, "open": still_open} for side in sides]
    return nodes


# The comparison.

SEED, N_TREES, DEPTH, M = 11, 3, 4, 3


def samples_and_streams(X, y, sampling):
    """The rows of every tree and its random stream, as the forest draws them from its ``random_state``."""
    n, rows = len(y), list(zip(X.tolist(), y.tolist(), strict=True))
    seeds = np.random.SeedSequence(np.random.RandomState(SEED).randint(2**31 - 1)).spawn(N_TREES + 1)
    first, *streams = map(np.random.default_rng, seeds)
    if sampling == "bootstrap":
        drawn = [sorted(first.integers(n, size=n)) for _ in range(N_TREES)]
    elif sampling == "disjoint":
        tree_of_row = first.integers(N_TREES, size=n)
        drawn = [np.flatnonzero(tree_of_row == t) for t in range(N_TREES)]
    else:
        drawn = [range(n)] * N_TREES
    return [([rows[i] for i in numbers], stream) for numbers, stream in zip(drawn, streams, strict=True)]


def assert_same_trees(forest, reference_trees):
    assert len(forest.trees_) == len(reference_trees)
    n_inner = 0
    for nodes, expected in zip(forest.trees_, reference_trees, strict=True):
        assert len(nodes) == len(expected)
        n_inner += sum("decides" in node for node in expected)
        next_child = 1
        for node, known in zip(nodes, expected, strict=True):
            assert node["depth"] == known["depth"]
            assert node["decides"] == known.get("decides", 0)
            assert node["epsilon"] == pytest.approx(known["paid"], rel=1e-12)
            if "decides" not in known:
                assert (node["feature"], node["child"], node["label"]) == (-1, -1, known["label"])
                continue
            assert (node["feature"], node["child"]) == (known["feature"], next_child)
            assert known["decides"] == BY_VALUE or node["cut"] == pytest.approx(known["cut"], rel=1e-12)
            next_child += COLUMNS[known["feature"]] if known["decides"] == BY_VALUE else 2
    assert n_inner >= 5, "trees without splits compare nothing"


TABLES = pytest.mark.parametrize("seed", [0, 1, 2])
EPSILONS = pytest.mark.parametrize("epsilon", [math.inf, 900.0, 60.0])


def forest(estimator, epsilon, **parameters):
    parameters = {"n_estimators": N_TREES, "max_depth": DEPTH, "max_features": M, "domain": DOMAIN} | parameters
    return estimator(epsilon, random_state=SEED, **parameters)


@TABLES
@EPSILONS
@pytest.mark.parametrize(
    "reading",
    [
        {},
        {"continuous": "per_feature"},
        {"interval_length": "relative"},
        {"continuous": "per_feature", "interval_length": "relative", "max_features": 5},
        {"max_features": 1},  # the one feature is often constant in the node: a leaf
    ],
    ids=str,
)
def test_rfdpp_gini_as_printed_is_the_reference_tree(seed, epsilon, reading):
    X, y = table(seed)
    half = epsilon / N_TREES / (DEPTH + 1) / 2
    expected = [
        rfdpp_tree(
            sample,
            half,
            DEPTH,
            reading.get("max_features", M),
            rng,
            per_feature="continuous" in reading,
            relative="interval_length" in reading,
        )
        for sample, rng in samples_and_streams(X, y, "bootstrap")
    ]
    assert_same_trees(forest(RFDPPGiniClassifier, epsilon, **reading).fit(X, y), expected)


@pytest.mark.parametrize(
    ("reading", "half", "leaf_epsilon"),
    [
        ({"tree_budget": "whole"}, 60 / 5 / 2, 60 / 5 / 2),
        ({"level_budget": "whole"}, 60 / 3 / 2, 60 / 3 / 2),
        ({"tree_budget": "whole", "level_budget": "whole"}, 60 / 2, 60 / 2),
        ({"leaf": "whole_budget"}, 60 / 3 / 5 / 2, 60),
        ({"leaf": "exact"}, 60 / 3 / 5 / 2, math.inf),
        ({"sampling": "all"}, 60 / 3 / 5 / 2, 60 / 3 / 5 / 2),
        ({"sampling": "disjoint"}, 60 / 5 / 2, 60 / 5 / 2),
    ],
    ids=str,
)
def test_a_reading_of_the_budget_changes_only_the_budget(reading, half, leaf_epsilon):
    X, y = table(3)
    expected = [
        rfdpp_tree(sample, half, DEPTH, M, rng, leaf_epsilon=leaf_epsilon)
        for sample, rng in samples_and_streams(X, y, reading.get("sampling", "bootstrap"))
    ]
    assert_same_trees(forest(RFDPPGiniClassifier, 60.0, **reading).fit(X, y), expected)


@TABLES
@EPSILONS
@pytest.mark.parametrize("sampling", ["disjoint", "all"])
def test_the_sound_rfdpp_gini_is_the_reference_tree(seed, epsilon, sampling):
    X, y = table(seed)
    level = epsilon / (N_TREES if sampling == "all" else 1) / (DEPTH + 1)
    expected = [sound_tree(sample, level, DEPTH, M, 7, rng) for sample, rng in samples_and_streams(X, y, sampling)]
    parameters = {"variant": "sound", "sampling": sampling, "n_bins": 7}
    assert_same_trees(forest(RFDPPGiniClassifier, epsilon, **parameters).fit(X, y), expected)


@TABLES
@EPSILONS
@pytest.mark.parametrize(
    ("criterion", "score", "sensitivity"),
    [
        ("gini", gini, 2),
        ("information_gain", information, math.log2(71) + 1 / math.log(2)),
        ("max", most_frequent, 1),
    ],
)
def test_diffprfs_is_the_reference_tree(seed, epsilon, criterion, score, sensitivity):
    X, y = table(seed)
    half = epsilon / N_TREES / (DEPTH + 1) / 2
    expected = [
        diffprfs_tree(sample, half, DEPTH, M, score, sensitivity, rng)
        for sample, rng in samples_and_streams(X, y, "bootstrap")
    ]
    assert_same_trees(forest(DiffPRFsClassifier, epsilon, criterion=criterion).fit(X, y), expected)


def test_a_large_table_takes_the_other_paths_of_the_engine():
    """Columns of many values are counted by sorting in smaller nodes, by radix from 256 rows and in two bytes."""
    rng = np.random.default_rng(5)
    X, y = table(4, n=2100)
    X[:, 0], X[:, 2] = rng.uniform(0, 5, len(y)), rng.uniform(-40, 40, len(y))
    expected = [rfdpp_tree(sample, math.inf, 3, 5, rng) for sample, rng in samples_and_streams(X, y, "bootstrap")[:1]]
    n_rows = [len({tuple(values) for values, _ in node["rows"]}) for node in expected[0] if "decides" in node]
    assert any(256 <= n < len(y) / 4 for n in n_rows) and any(n < 256 for n in n_rows) and any(n > 600 for n in n_rows)
    trees = forest(RFDPPGiniClassifier, math.inf, max_depth=3, max_features=5).fit(X, y)
    trees.trees_ = trees.trees_[:1]
    assert_same_trees(trees, expected)


@pytest.mark.parametrize(
    ("estimator", "parameters"),
    [(RFDPPGiniClassifier, {}), (RFDPPGiniClassifier, {"variant": "sound"}), (DiffPRFsClassifier, {})],
    ids=str,
)
def test_a_forest_predicts_what_most_of_its_trees_say(estimator, parameters):
    """Rows walk down the released nodes, by hand."""
    X, y = table(6)
    model = forest(estimator, 200.0, **parameters).fit(X, y)
    for values, shares in zip(X.tolist(), model.predict_proba(X), strict=True):
        values = public_bins(values, model.n_bins) if parameters else values
        votes = [0] * N_CLASSES
        for nodes in model.trees_:
            node = nodes[0]
            while node["decides"]:
                value = values[node["feature"]]
                step = (
                    value
                    if node["decides"] == BY_VALUE
                    else not divide([(values, 0)], node["decides"], node["feature"], node["cut"])[0]
                )
                node = nodes[node["child"] + int(step)]
            votes[node["label"]] += 1
        assert shares.tolist() == pytest.approx([v / N_TREES for v in votes])


# Without noise the printed RFDPP-Gini is an ordinary random forest.


def accuracies(data, depth, seed):
    """Ours and scikit-learn's on the same split.

    The peer sees one column for each category, so that it too splits "value against the rest", and draws the same share
    of columns at each node; like ours, its trees vote.
    """
    n, y = len(data.target), data.target.to_numpy()
    order = np.arange(n) if data.n_train else np.random.default_rng(seed).permutation(n)
    n_train = data.n_train or int(0.7 * n)
    train, test = order[:n_train], order[n_train:]
    ours = RFDPPGiniClassifier(math.inf, max_depth=depth, max_features=5, domain=data.domain, random_state=seed).fit(
        data.frame.iloc[train], y[train]
    )
    codes, _ = data.domain.encode(data.frame)
    columns = []
    for f, feature in enumerate(data.domain.features):
        categories = getattr(feature, "categories", None)
        columns += [codes[:, f]] if categories is None else [codes[:, f] == i for i in range(len(categories))]
    columns = np.column_stack(columns).astype(np.float32)
    peer = RandomForestClassifier(
        25, max_depth=depth, max_features=5 / len(data.domain.features), random_state=seed
    ).fit(columns[train], y[train])
    votes = sum(
        tree.predict_proba(columns[test]) == tree.predict_proba(columns[test]).max(axis=1, keepdims=True)
        for tree in peer.estimators_
    )
    theirs = peer.classes_[votes.argmax(axis=1)]
    return np.mean(ours.predict(data.frame.iloc[test]) == y[test]), np.mean(theirs == y[test])


@pytest.mark.parametrize("depth", [5, 10])
@pytest.mark.parametrize(("name", "n_seeds"), [("nursery", 8), ("car", 25), ("adult", 3), ("mushroom", 8)])
def test_without_noise_it_agrees_with_a_random_forest_within_a_point(name, n_seeds, depth):
    if not datasets.is_available(name):
        pytest.skip(f"the original files of {name} are not here")
    ours, theirs = np.mean([accuracies(datasets.load(name), depth, seed) for seed in range(n_seeds)], axis=0)
    assert abs(ours - theirs) < 0.01
