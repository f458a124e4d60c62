"""RFDPP-Gini, DiffPRFs and DiffPRF against slow reference trees, and without noise against scikit-learn.

`tests.reference_trees` says why the trees must be identical.
"""

import itertools
import math

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import datasets
from algorithms import DiffPETsClassifier, DiffPRFClassifier, DiffPRFsClassifier, ParameterError, RFDPPGiniClassifier
from tests.reference_trees import (
    BELOW,
    BY_VALUE,
    COLUMNS,
    CONTINUOUS,
    DEPTH,
    EPSILONS,
    EQUALS,
    N_CLASSES,
    N_TREES,
    NOMINAL,
    SOUND_EPSILONS,
    TABLES,
    M,
    assert_same_trees,
    class_counts,
    counted,
    divide,
    draw_exponential,
    draw_features,
    flipped_leaf,
    forest,
    gini,
    leaf,
    noisy,
    public_bins,
    samples_and_streams,
    splitmix64,
    table,
    uniform_of_key,
)


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


def sound_tree(sample, epsilon, depth, m, n_bins, rng):
    """One exponential mechanism over all (feature, public cut) pairs; ``epsilon`` is what the tree has."""
    count, cost, depth, epsilon = counted(sample, epsilon, 2, depth, rng)
    epsilon /= depth + 1
    nodes = [{"rows": [(public_bins(values, n_bins), label) for values, label in sample], "depth": 0}]
    for node in nodes:
        rows = node["rows"]
        if node["depth"] == depth:
            node |= flipped_leaf(rows, epsilon, rng)
            continue
        cuts = []
        for f in draw_features(range(len(COLUMNS)), m, rng):
            if f in CONTINUOUS:
                cuts += [(BELOW, f, cut) for cut in range(n_bins - 1)]
            else:
                cuts += [(EQUALS, f, value) for value in range(COLUMNS[f])]
        quality = [gini(*divide(rows, *cut)) for cut in cuts]
        decides, f, cut = cuts[draw_exponential(quality, [1] * len(cuts), 2, epsilon, rng, monotone=True)]
        node |= {"decides": decides, "feature": f, "cut": cut, "paid": epsilon}
        nodes += [{"rows": side, "depth": node["depth"] + 1} for side in divide(rows, decides, f, cut)]
    nodes[0] |= {"noisy_count": count, "paid": nodes[0]["paid"] + cost}
    return nodes


def diffprfs_tree(
    sample, epsilon, depth, m, score, sensitivity, rng, *, columns=COLUMNS, choosing=None, stop_below="noise"
):
    """DiffPRF with continuous features: ``epsilon`` is half of what a level has, ``choosing`` the other half."""
    choosing = epsilon if choosing is None else choosing
    continuous = [f for f, column in enumerate(columns) if isinstance(column, tuple)]
    nodes = [{"rows": sample, "depth": 0, "open": list(range(len(columns)))}]
    for node in nodes:
        rows, unused, candidates = node["rows"], node["open"], []
        count = node["noisy_count"] = noisy(len(rows), epsilon, rng)
        node["paid"] = epsilon
        most_children = max([2 if f in continuous else columns[f] for f in unused], default=0)
        least = most_children * N_CLASSES * math.sqrt(2) / epsilon if stop_below == "noise" else 0
        if node["depth"] < depth and unused and count > least:
            features = draw_features(unused, m, rng)
            share = choosing / (sum(f in continuous for f in features) + 1)
            for f in features:
                if f not in continuous:
                    sides = [[row for row in rows if row[0][f] == value] for value in range(columns[f])]
                    candidates.append((score(*sides), f, BY_VALUE, None))
                elif found := intervals(rows, [f], score, lambda f: 1.0):
                    quality, f, cut = draw_cut(found, sensitivity, share, rng)
                    candidates.append((quality, f, BELOW, cut))
                    node["paid"] += share
        if not candidates:
            end = leaf(rows, choosing, rng)
            node |= end | {"paid": node["paid"] + end["paid"]}
            continue
        drawn = draw_exponential([c[0] for c in candidates], [1] * len(candidates), sensitivity, share, rng)
        _, f, decides, cut = candidates[drawn]
        node |= {"decides": decides, "feature": f, "paid": node["paid"] + share}
        if decides == BELOW:
            node["cut"], sides, still_open = cut, divide(rows, BELOW, f, cut), unused
        else:
            sides = [[row for row in rows if row[0][f] == value] for value in range(columns[f])]
            still_open = [other for other in unused if other != f]
        node["n_children"] = len(sides)
        nodes += [{"rows": side, "depth": node["depth"] + 1, "open": still_open} for side in sides]
    return nodes


def sound_diffprfs_tree(sample, epsilon, depth, m, score, sensitivity, n_bins, rng, *, sizes, linear=False):
    """DiffPRFs with public cuts and a count of the rows; ``sizes`` are numbers of categories, None of cut columns."""
    n_children = sum(size or 2 for size in sizes) / len(sizes)
    count, cost, depth, epsilon = counted(sample, epsilon, n_children, depth, rng)
    parts = [level + 1 if linear else 1 for level in range(depth + 1)]
    split = [epsilon * part / sum(parts) for part in parts]
    rest = [math.inf if math.isinf(epsilon) else epsilon - sum(split[:level]) for level in range(depth + 1)]
    start = [(public_bins(values, n_bins), label) for values, label in sample]
    nodes = [{"rows": start, "depth": 0, "open": list(range(len(sizes)))}]
    for node in nodes:
        rows, level, unused = node["rows"], node["depth"], node["open"]
        if level == depth or not unused:
            node |= flipped_leaf(rows, rest[level], rng)
            continue
        if not rows:
            # the label of a key is the number of levels of splits below it
            node |= {"key": int(rng.integers(1, 2**63 - 1)), "paid": rest[level], "label": depth - level}
            continue
        candidates, shares = [], []
        for f in draw_features(unused, m, rng):
            if sizes[f]:
                candidates.append(
                    (f, BY_VALUE, None, [[row for row in rows if row[0][f] == v] for v in range(sizes[f])])
                )
                shares.append(1.0)
            else:
                candidates += [(f, BELOW, cut, divide(rows, BELOW, f, cut)) for cut in range(n_bins - 1)]
                shares += [1 / (n_bins - 1)] * (n_bins - 1)
        quality = [score(*sides) for *_, sides in candidates]
        drawn = draw_exponential(quality, shares, sensitivity, split[level], rng, monotone=True)
        f, decides, cut, sides = candidates[drawn]
        node |= {"decides": decides, "feature": f, "cut": cut, "n_children": len(sides), "paid": split[level]}
        rest_of_features = [other for other in unused if other != f or decides == BELOW]
        nodes += [{"rows": side, "depth": level + 1, "open": rest_of_features} for side in sides]
    nodes[0] |= {"noisy_count": count, "paid": nodes[0]["paid"] + cost}
    return nodes


# The comparison.


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
@SOUND_EPSILONS
@pytest.mark.parametrize("sampling", ["disjoint", "all"])
def test_the_sound_rfdpp_gini_is_the_reference_tree(seed, epsilon, sampling):
    X, y = table(seed)
    tree = epsilon / (N_TREES if sampling == "all" else 1)
    expected = [sound_tree(sample, tree, DEPTH, M, 7, rng) for sample, rng in samples_and_streams(X, y, sampling)]
    parameters = {"variant": "sound", "sampling": sampling, "n_bins": 7}
    assert_same_trees(forest(RFDPPGiniClassifier, epsilon, **parameters).fit(X, y), expected)


CRITERIA = pytest.mark.parametrize(
    ("criterion", "score", "sensitivity"),
    [
        ("gini", gini, 2),
        ("information_gain", information, math.log2(71) + 1 / math.log(2)),
        ("max", most_frequent, 1),
    ],
)


@TABLES
@EPSILONS
@CRITERIA
def test_diffprfs_is_the_reference_tree(seed, epsilon, criterion, score, sensitivity):
    X, y = table(seed)
    half = epsilon / N_TREES / (DEPTH + 1) / 2
    expected = [
        diffprfs_tree(sample, half, DEPTH, M, score, sensitivity, rng)
        for sample, rng in samples_and_streams(X, y, "bootstrap")
    ]
    assert_same_trees(forest(DiffPRFsClassifier, epsilon, criterion=criterion).fit(X, y), expected)


SOUND_SCORES = pytest.mark.parametrize(
    ("criterion", "score", "sensitivity"), [(None, most_frequent, 1), ("max", most_frequent, 1), ("gini", gini, 2)]
)


@TABLES
@SOUND_EPSILONS
@SOUND_SCORES
@pytest.mark.parametrize("sampling", ["disjoint", "all"])
@pytest.mark.parametrize("estimator", [DiffPRFsClassifier, DiffPRFClassifier])
def test_the_sound_diffprf_and_diffprfs_are_the_reference_tree(
    estimator, seed, epsilon, criterion, score, sensitivity, sampling
):
    X, y = table(seed, n=210)
    is_binned = estimator is DiffPRFClassifier
    sizes = [column if f in NOMINAL else (6 if is_binned else None) for f, column in enumerate(COLUMNS)]
    tree = epsilon / (N_TREES if sampling == "all" else 1)
    expected = [
        sound_diffprfs_tree(
            sample, tree, DEPTH, M, score, sensitivity, 6, rng, sizes=sizes, linear=is_binned and sampling == "all"
        )
        for sample, rng in samples_and_streams(X, y, sampling)
    ]
    parameters = {"variant": "sound", "criterion": criterion, "sampling": sampling, "n_bins": 6}
    if is_binned and sampling == "all":
        parameters["level_budget"] = "linear"
    model = forest(estimator, epsilon, **parameters).fit(X, y)
    assert_same_trees(model, expected)
    for nodes, known in zip(model.trees_, expected, strict=True):
        assert [int(key) for key in nodes["key"]] == [node.get("key", 0) for node in known]


@pytest.mark.parametrize("estimator", [DiffPRFsClassifier, DiffPRFClassifier])
def test_the_sound_variant_refuses_information_gain_and_says_why(estimator):
    with pytest.raises(ParameterError, match=r"criterion must be 'max' or 'gini' .* number of rows, which is private"):
        forest(estimator, 1.0, variant="sound", criterion="information_gain").fit(*table(0))


def label_below(key, values, unused, levels, n_bins):
    """What rows below a node without rows are told; ``unused`` holds numbers of features, continuous ones are cut."""
    for _ in range(levels):
        if not unused:
            break
        f = unused[int(uniform_of_key(key ^ 1) * len(unused))]
        which = int(values[f])
        if f in CONTINUOUS:
            which = int(which > int(uniform_of_key(splitmix64(key)) * (n_bins - 1)))
        else:
            unused = [other for other in unused if other != f]
        key = splitmix64((key + which + 3) % 2**64)
    return int(uniform_of_key(key ^ 2) * N_CLASSES)


def test_rows_that_come_to_an_empty_node_of_a_sound_diffprfs_get_the_label_of_its_key():
    X, y = table(0, n=30)
    model = forest(DiffPRFsClassifier, 60.0, variant="sound", n_bins=5, n_estimators=1).fit(X, y)
    (nodes,) = model.trees_
    asked, _ = table(9, n=400)
    n_below = 0
    for values, label in zip(asked.tolist(), model.predict(asked), strict=True):
        binned, node, unused = public_bins(values, 5), nodes[0], list(range(len(COLUMNS)))
        while node["decides"]:
            f = node["feature"]
            if node["decides"] == BY_VALUE:
                unused.remove(f)
            node = nodes[node["child"] + int(binned[f] if node["decides"] == BY_VALUE else binned[f] > node["cut"])]
        if node["key"]:
            n_below += 1
            assert label == label_below(int(node["key"]), binned, unused, DEPTH - node["depth"], 5)
        else:
            assert label == node["label"]
    assert n_below > 20


def diffprf_trees(X, y, epsilon, score, sensitivity, *, n_bins=5, depth=DEPTH, **reading):
    """DiffPRFs where all columns are nominal, a bin being a category like any other."""
    half = epsilon / N_TREES / (depth + 1) / 2
    columns = [n_bins if f in CONTINUOUS else COLUMNS[f] for f in range(len(COLUMNS))]
    m = 3  # the square root of five columns, rounded up
    return [
        diffprfs_tree(
            [(public_bins(values, n_bins), label) for values, label in sample],
            half,
            depth,
            m,
            score,
            sensitivity,
            rng,
            columns=columns,
            **reading,
        )
        for sample, rng in samples_and_streams(X, y, "bootstrap")
    ]


@TABLES
@EPSILONS
@CRITERIA
def test_diffprf_is_the_reference_tree_on_public_bins(seed, epsilon, criterion, score, sensitivity):
    X, y = table(seed)
    expected = diffprf_trees(X, y, epsilon, score, sensitivity)
    model = forest(DiffPRFClassifier, epsilon, criterion=criterion, max_features=None).fit(X, y)
    assert_same_trees(model, expected)
    if math.isinf(epsilon):
        assert any(not node["rows"] for nodes in expected for node in nodes), "an empty leaf is compared, too"


@EPSILONS
@pytest.mark.parametrize("estimator", [DiffPRFClassifier, DiffPRFsClassifier])
def test_the_other_stop_rule_splits_wherever_the_noisy_count_is_positive(estimator, epsilon):
    X, y = table(3)
    half = epsilon / N_TREES / (DEPTH + 1) / 2
    if estimator is DiffPRFClassifier:
        expected = diffprf_trees(X, y, epsilon, gini, 2, stop_below="zero")
    else:
        expected = [
            diffprfs_tree(sample, half, DEPTH, M, gini, 2, rng, stop_below="zero")
            for sample, rng in samples_and_streams(X, y, "bootstrap")
        ]
    model = forest(estimator, epsilon, criterion="gini", stop_below="zero").fit(X, y)
    assert_same_trees(model, expected)
    if math.isfinite(epsilon):
        assert sum(map(len, forest(estimator, epsilon, criterion="gini").fit(X, y).trees_)) < sum(map(len, expected))


@TABLES
@pytest.mark.parametrize("n_bins", [2, 5, 9])
def test_the_code_of_diffprfs_authors_chooses_and_labels_without_noise(seed, n_bins):
    X, y = table(seed)
    expected = diffprf_trees(
        X, y, 300.0, information, math.log2(71) + 1 / math.log(2), n_bins=n_bins, choosing=math.inf, stop_below="zero"
    )
    model = forest(DiffPRFClassifier, 300.0, author_code=True, n_bins=n_bins, stop_below="zero").fit(X, y)
    assert_same_trees(model, expected)


def test_a_tree_of_diffprf_ends_where_no_feature_is_left():
    X, y = table(5, n=200)
    expected = diffprf_trees(X, y, math.inf, gini, 2, n_bins=2, depth=9)
    model = forest(DiffPRFClassifier, math.inf, criterion="gini", n_bins=2, max_depth=9).fit(X, y)
    assert_same_trees(model, expected)
    assert max(node["depth"] for nodes in expected for node in nodes) == len(COLUMNS)


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
    ("estimator", "parameters", "is_binned"),
    [
        (RFDPPGiniClassifier, {}, False),
        (RFDPPGiniClassifier, {"variant": "sound"}, True),
        (DiffPETsClassifier, {}, False),
        (DiffPETsClassifier, {"variant": "sound"}, False),
        (DiffPRFClassifier, {"n_bins": 3}, True),
        (DiffPRFsClassifier, {}, False),
    ],
    ids=str,
)
def test_a_forest_predicts_what_most_of_its_trees_say(estimator, parameters, is_binned):
    """Rows walk down the released nodes, by hand."""
    X, y = table(6)
    model = forest(estimator, 600.0, **parameters).fit(X, y)
    for values, shares in zip(X.tolist(), model.predict_proba(X), strict=True):
        values = public_bins(values, model.n_bins) if is_binned else values
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
