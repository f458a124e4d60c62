"""RDT against the full random tree in plain integers: a function of the key of its root, and the rows that end in it.

The engine holds only the nodes that training rows reach and draws any other when a prediction comes to it; the
reference knows nothing of this. Both must give every row the same noisy counts.
"""

import itertools
import math
import pickle
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from algorithms import Domain, Nominal, RDTClassifier
from algorithms.forests.rdt import add_counts, child_key, own_height
from algorithms.mechanisms import laplace_of, mix_bits, uniform_of
from tests.reference_trees import ALL_BITS, COLUMNS, DOMAIN, N_CLASSES, NOMINAL, splitmix64, table, uniform_of_key

SMALLEST_P = 1e-4  # fixed seeds, see test_mechanisms.py
NOMINAL_DOMAIN = Domain([DOMAIN.features[f] for f in NOMINAL], DOMAIN.target)


def grid():
    """Rows in every corner of the domain."""
    values = [np.linspace(*c, 6) if isinstance(c, tuple) else range(c) for c in COLUMNS]
    return np.array(list(itertools.product(*values)))


def forest(epsilon=2.0, **parameters):
    return RDTClassifier(
        epsilon, **{"n_estimators": 3, "max_depth": 4, "domain": DOMAIN, "random_state": 5} | parameters
    )


# The reference.


def laplace_noise(key, scale):
    """By the inverse of the distribution function."""
    from_median = uniform_of_key(key) - 0.5
    return -math.copysign(scale, from_median) * math.log1p(-2 * abs(from_median))


def leaf_of(key, values, height, columns=COLUMNS):
    """Where a row ends in the full tree: key of the leaf, and the path to it."""
    used, path = set(), []
    for _ in range(height):
        unused = [f for f in range(len(columns)) if f not in used]
        if not unused:
            break
        f = unused[int(uniform_of_key(key ^ 1) * len(unused))]
        if isinstance(columns[f], tuple):
            lower, upper = columns[f]
            which = int(values[f] > lower + uniform_of_key(key ^ 2) * (upper - lower))
        else:
            which = int(values[f])
            used.add(f)
        path.append((f, which))
        key = splitmix64((key + which + 3) & ALL_BITS)
    return key, tuple(path)


def exact_counts(root, X, y, height, columns=COLUMNS):
    counts = {}
    for values, label in zip(X.tolist(), y.tolist(), strict=True):
        counts.setdefault(leaf_of(root, values, height, columns), [0] * N_CLASSES)[label] += 1
    return counts


def noisy_counts(root, counts, values, height, scale, columns=COLUMNS):
    """What one full tree says of a row: class counts of its leaf, each with noise that belongs to the leaf."""
    key, path = leaf_of(root, values, height, columns)
    exact = counts.get((key, path), [0] * N_CLASSES)
    return [
        count + (laplace_noise((splitmix64(key) + c) & ALL_BITS, scale) if scale else 0)
        for c, count in enumerate(exact)
    ]


def reference_sums(model, X, y, asked, columns=COLUMNS):
    """Noisy counts of the forest for every row asked, and which rows end where no training row does."""
    height, scale = model.plan_.max_depth, model.n_estimators / model.epsilon
    sums, is_new = np.zeros((len(asked), N_CLASSES)), np.zeros((len(asked), len(model.trees_)), dtype=bool)
    for t, tree in enumerate(model.trees_):
        root = int(tree.key)
        counts = exact_counts(root, X, y, height, columns)
        for i, values in enumerate(asked.tolist()):
            sums[i] += noisy_counts(root, counts, values, height, scale, columns)
            is_new[i, t] = leaf_of(root, values, height, columns) not in counts
    return sums, is_new


def engine_sums(model, asked):
    asked = np.ascontiguousarray(asked, dtype=np.float64)
    sums = np.zeros((len(asked), N_CLASSES))
    for tree in model.trees_:
        add_counts(model.plan_, tree, asked, sums)
    return sums


@pytest.mark.parametrize("epsilon", [math.inf, 30.0, 0.5])
@pytest.mark.parametrize(("n", "height"), [(6, 1), (6, 5), (6, 9), (300, 2), (300, 5)])
def test_every_row_gets_the_noisy_counts_of_the_full_tree(epsilon, n, height):
    X, y = table(n, n)
    asked = np.concatenate([X, grid()])
    model = forest(epsilon, max_depth=height).fit(X, y)
    expected, is_new = reference_sums(model, X, y, asked)
    assert engine_sums(model, asked) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert not is_new[:n].any()
    assert is_new.any() or height < 5, "leaves that no training row reached are compared, too"
    shifted = expected - np.minimum(expected.min(axis=1, keepdims=True), 0)
    shares = model.predict_proba(asked)
    total = shifted.sum(axis=1, keepdims=True)
    assert (shares * total)[total[:, 0] > 0] == pytest.approx(shifted[total[:, 0] > 0], rel=1e-9, abs=1e-9)
    assert shares[total[:, 0] == 0] == pytest.approx(1 / N_CLASSES)
    clear = np.sort(expected, axis=1)[:, -1] - np.sort(expected, axis=1)[:, -2] > 1e-6
    assert (model.predict(asked) == expected.argmax(axis=1))[clear].all() and clear.sum() > 50


def test_a_tree_ends_where_no_feature_is_left():
    """Nominal columns only, and more levels than columns: every cell of the table is a leaf."""
    X, y = table(3, 40)
    cells = np.array(list(itertools.product(*(range(COLUMNS[f]) for f in NOMINAL))))
    columns = [COLUMNS[f] for f in NOMINAL]
    for epsilon in (math.inf, 2.0):
        model = forest(epsilon, max_depth=9, domain=NOMINAL_DOMAIN).fit(X[:, NOMINAL], y)
        expected, is_new = reference_sums(model, X[:, NOMINAL], y, cells, columns)
        assert engine_sums(model, cells) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert 0 < is_new.all(axis=1).sum() < len(cells)
        assert max(len(leaf_of(int(tree.key), cells[0].tolist(), 9, columns)[1]) for tree in model.trees_) == 3


@pytest.mark.parametrize("height", [2, 5])
def test_without_noise_a_forest_adds_the_exact_counts_of_the_rows_in_the_same_leaves(height):
    X, y = table(1, 120)
    model = forest(math.inf, max_depth=height).fit(X, y)
    sums = np.zeros((len(X), N_CLASSES))
    for tree in model.trees_:
        leaves = [leaf_of(int(tree.key), values, height) for values in X.tolist()]
        counted = Counter(zip(leaves, y.tolist(), strict=True))
        sums += [[counted[leaf, c] for c in range(N_CLASSES)] for leaf in leaves]
    assert (engine_sums(model, X) == sums).all()
    assert model.predict_proba(X) == pytest.approx(sums / sums.sum(axis=1, keepdims=True))


def test_a_record_exactly_on_a_cut_is_found_where_it_was_counted():
    X, y = table(0, 20)
    n_asked = 0
    for t, tree in enumerate(forest(math.inf, n_estimators=10, max_depth=1).fit(X, y).trees_):
        f, cut = tree.nodes[0]["feature"], tree.nodes[0]["cut"]
        if f in NOMINAL:
            continue
        on_cut, sums = X.copy(), np.zeros((len(X), N_CLASSES))
        on_cut[:, f] = cut
        model = forest(math.inf, n_estimators=10, max_depth=1).fit(on_cut, y)
        add_counts(model.plan_, model.trees_[t], on_cut, sums)
        assert (sums == np.bincount(y, minlength=N_CLASSES)).all()
        n_asked += 1
    assert n_asked >= 2


def test_a_large_alphabet_and_a_deep_tree_are_held_where_rows_are():
    """12 columns of 12 categories: the full tree has 12^12 leaves."""
    rng = np.random.default_rng(2)
    columns = [12] * 12
    domain = Domain([Nominal(f"f{i}", range(12)) for i in range(12)], DOMAIN.target)
    X, y = rng.integers(12, size=(30, 12)), rng.integers(N_CLASSES, size=30)
    asked = np.concatenate([X, rng.integers(12, size=(50, 12))]).astype(np.float64)
    model = forest(1.0, max_depth=12, domain=domain).fit(X, y)
    expected, is_new = reference_sums(model, X, y, asked, columns)
    assert engine_sums(model, asked) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert is_new[30:].all()
    assert max(len(tree.nodes) for tree in model.trees_) <= 1 + 30 * 12 * 12


# Noise belongs to a leaf.


def test_the_noise_of_a_leaf_is_the_same_whenever_it_is_asked_for():
    X, y = table(4, 6)
    model = forest(max_depth=6).fit(X, y)
    asked = grid()
    shares = model.predict_proba(asked)
    assert (model.predict_proba(asked) == shares).all()
    order = np.random.default_rng(0).permutation(len(asked))
    assert (model.predict_proba(asked[order]) == shares[order]).all()
    one_by_one = np.concatenate([model.predict_proba(asked[i : i + 1]) for i in range(0, len(asked), 7)])
    assert (one_by_one == shares[::7]).all()
    assert (pickle.loads(pickle.dumps(model)).predict_proba(asked) == shares).all()
    assert (forest(max_depth=6).fit(X, y).predict_proba(asked) == shares).all()
    assert (forest(max_depth=6, random_state=6).fit(X, y).predict_proba(asked) != shares).any()


def test_leaves_without_records_have_noise_of_their_own_and_it_follows_the_law():
    X, y = table(4, 1)
    model = forest(1.0, n_estimators=2, max_depth=8).fit(X, y)
    asked = grid()
    for tree in model.trees_:
        sums = np.zeros((len(asked), N_CLASSES))
        add_counts(model.plan_, tree, asked, sums)
        leaves = [leaf_of(int(tree.key), values, 8) for values in asked.tolist()]
        reached = leaf_of(int(tree.key), X[0].tolist(), 8)
        noise = {leaf: tuple(row) for leaf, row in zip(leaves, sums.tolist(), strict=True) if leaf != reached}
        assert len(noise) > 100
        assert len(set(itertools.chain.from_iterable(noise.values()))) == len(noise) * N_CLASSES
        flat = list(itertools.chain.from_iterable(noise.values()))
        assert stats.kstest(flat, stats.laplace(0, 2.0).cdf).pvalue > SMALLEST_P


def test_trees_of_a_forest_ask_different_questions():
    X, y = table(4, 200)
    model = forest(math.inf, n_estimators=10).fit(X, y)
    assert len({int(tree.key) for tree in model.trees_}) == 10
    assert len({tree.nodes.tobytes() for tree in model.trees_}) == 10


# Privacy: one record moves one count of each tree by one.


@pytest.mark.parametrize("epsilon", [math.inf, 1.0])
@pytest.mark.parametrize("added", [0, 1, 2])
def test_a_record_more_moves_one_count_of_one_leaf_of_each_tree_by_one(epsilon, added):
    """With the same seed; wherever the leaf is, also where no row was before, and nothing else changes."""
    X, y = table(added, 7)
    record, label = table(100 + added, 1)
    asked = np.concatenate([X, record, grid()])
    fewer = forest(epsilon, max_depth=5).fit(X, y)
    more = forest(epsilon, max_depth=5).fit(np.concatenate([X, record]), np.append(y, label))
    became_reached = 0
    for tree, other in zip(fewer.trees_, more.trees_, strict=True):
        assert tree.key == other.key
        changes = np.zeros((len(asked), N_CLASSES))
        before = np.zeros_like(changes)
        add_counts(fewer.plan_, tree, asked, before)
        add_counts(more.plan_, other, asked, changes)
        changes -= before
        home = leaf_of(int(tree.key), record[0].tolist(), 5)
        is_home = np.array([leaf_of(int(tree.key), values, 5) == home for values in asked.tolist()])
        expected = np.zeros_like(changes)
        expected[is_home, label[0]] = 1
        assert changes == pytest.approx(expected, abs=1e-9)
        assert 0 < is_home.sum() < len(asked)
        became_reached += home not in exact_counts(int(tree.key), X, y, 5)
    assert became_reached


def questions(tree, i=0, path=()):
    """What is asked at the end of each path, in whatever order the rows have come."""
    node = tree.nodes[i]
    if node["feature"] < 0:
        return {path: None}
    size = COLUMNS[node["feature"]]
    children = range(2 if isinstance(size, tuple) else size)
    below = [questions(tree, node["child"] + which, (*path, which)) for which in children]
    return {path: (int(node["feature"]), str(node["cut"]))} | {k: v for one in below for k, v in one.items()}


def test_the_questions_do_not_depend_on_the_rows():
    """Two tables that reach every node find the same questions."""
    one, other = (forest(max_depth=3).fit(*table(seed, 1000)) for seed in (0, 1))
    for tree, twin in zip(one.trees_, other.trees_, strict=True):
        assert questions(tree) == questions(twin)
        assert len(questions(tree)) == len(tree.nodes) > 10


def test_a_forest_pays_for_its_counts_alone_where_the_height_is_given():
    model = forest(2.5, n_estimators=5, max_depth=3).fit(*table(0, 50))
    assert model.plan_.epsilon == 0.5
    assert model.privacy_.accounted_epsilon == pytest.approx(2.5, rel=1e-12)
    assert model.privacy_.keeps_claim and model.privacy_.faults == ()


def test_a_height_that_follows_from_the_rows_is_a_fault():
    privacy = forest(2.5, max_depth=None).fit(*table(0, 50)).privacy_
    assert [fault.name for fault in privacy.faults] == ["height from the rows"]
    assert math.isinf(privacy.accounted_epsilon) and not privacy.keeps_claim


# The height of its authors.


def whole_logarithm(n, b):
    """The largest e with b^e <= n."""
    e = 0
    while b ** (e + 1) <= n:
        e += 1
    return e


@pytest.mark.parametrize("k", [1, 2, 7, 10, 22, 40])
@pytest.mark.parametrize("b", [2, 3, 5, 10])
def test_the_height_is_the_rule_of_its_authors(k, b):
    for n in {1, 2, 100, 5686, 9072, *(b**e + d for e in range(1, 7) for d in (-1, 0, 1))}:
        assert own_height(n, np.full(k, b)) == max(min(k // 2, whole_logarithm(n, b) - 1), 1)


def test_the_base_of_the_height_is_the_mean_number_of_values():
    assert own_height(100, np.array([2, 2, 2, 14, 14, 14, 2, 2, 2, 2])) == whole_logarithm(100, 5.6) - 1 == 1
    assert own_height(40_000, np.array([2, 2, 2, 14, 14, 14, 2, 2, 2, 2])) == whole_logarithm(40_000, 5.6) - 1 == 5
    assert own_height(10**9, np.ones(70, dtype=int)) == whole_logarithm(10**9, 2) - 1, "one value is no base"
    assert own_height(10**9, np.full(200, 2)) == 28 and own_height(2**50, np.full(200, 2)) == 30, "never above 30"


def test_a_forest_takes_that_height_and_a_continuous_column_counts_two():
    model = forest(max_depth=None).fit(*table(0, 400))  # b = (2 + 3 + 2 + 4 + 2) / 5 = 2.6, k = 5
    assert model.plan_.max_depth == min(5 // 2, whole_logarithm(400, 2.6) - 1) == 2
    assert model.plan_.n_children.tolist() == [2, 3, 2, 4, 2]


# Keys.


def test_keys_are_mixed_as_in_the_reference():
    for key in (0, 1, 2**63, ALL_BITS, *np.random.default_rng(0).integers(2**64, size=99, dtype=np.uint64).tolist()):
        assert int(mix_bits(np.uint64(key))) == splitmix64(key)
        assert uniform_of(np.uint64(key)) == uniform_of_key(key)
        assert laplace_of(np.uint64(key), 5.0, 2.0, 0.5) == pytest.approx(5 + laplace_noise(key, 4), rel=1e-9)


def test_no_two_nodes_or_draws_of_a_tree_share_a_key():
    """In a full tree of 4 levels of 16 children every draw is made from an argument of its own."""
    level, arguments, n_nodes = [123456789], [], 0
    for _ in range(4):
        n_nodes += len(level)
        for key in level:
            arguments += [key ^ 1, key ^ 2, key, *(splitmix64(key) + c & ALL_BITS for c in range(N_CLASSES))]
            arguments += [key + which + 3 & ALL_BITS for which in range(16)]
        level = [int(child_key(np.uint64(key), which)) for key in level for which in range(16)]
        assert len(set(level)) == len(level)
    assert n_nodes == 1 + 16 + 256 + 4096
    assert len(set(arguments)) == len(arguments) == n_nodes * (3 + N_CLASSES + 16)
