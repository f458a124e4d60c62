"""The thrifty tree for numbers against a slow reference tree, its sums and scores by brute force, and what it spends.

Many splits are equally good, and without noise the last bit would decide between them: sums are exact, and whatever
the order in which the reference adds, it ends with the same bits.
"""

import itertools
import math
from functools import reduce
from operator import add

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import datasets
from algorithms import Continuous, Domain, ThriftyTreeRegressor
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.forests.engine.predictor import find_leaves
from algorithms.forests.engine.tree import plant_tree
from algorithms.forests.thrifty_regressor import place_in_window, sum_distances, sum_shares
from experiments.audit.laws import DiscreteChoice, find_score_changes, find_worst_case, permute_and_flip_law
from tests.reference_trees import (
    BELOW,
    BY_VALUE,
    COLUMNS,
    CONTINUOUS,
    DOMAIN,
    SEED,
    TABLES,
    assert_paths_spend,
    assert_same_trees,
    columns_and_signal,
    divide,
    flip,
    forest,
    public_bins,
)

N_BINS = 6
LOWER, UPPER = -8.0, 24.0
NUMBERS = Domain(DOMAIN.features, Continuous("y", LOWER, UPPER))


def total(values):
    """Add one after the other: ``sum`` adds floats in a way of its own."""
    return reduce(add, values, 0.0)


def in_window(rows, centre, half):
    return [round(min(max((target - centre) / half, -1), 1) * 2**20) / 2**20 for _, target in rows]


def look(rows, known, elsewhere, epsilon, rng):
    """(n, centre, its variance, spread) from what is known of them; the centre may be elsewhere by some variance."""
    n, centre, variance, spread = known
    half = min(1.75 * spread * math.sqrt(max(max(n, 1) * epsilon / 50, 1)), 1)
    places = in_window(rows, centre, half)
    sums = [total(max(p, 0) for p in places), total(max(-p, 0) for p in places), total(1 - abs(p) for p in places)]
    if epsilon < math.inf:
        sums = [exact + rng.laplace(0, 1 / epsilon) for exact in sums]
    n = total(sums)
    up, down = (part / max(n, 1) for part in sums[:2])
    centre_seen, spread_seen = centre + half * min(max(up - down, -1), 1), half * min(max(up + down, 0), 1)
    if epsilon == math.inf:
        return n, centre_seen, 0.0, max(spread_seen, 1e-4)
    seen = 4 * half**2 / (max(n, 1) * epsilon) ** 2
    sure = 1 / seen, 1 / (variance + elsewhere), 1 / (spread / 2) ** 2
    centre = (centre_seen * sure[0] + centre * sure[1]) / (sure[0] + sure[1])
    spread = (spread_seen * sure[0] + spread * sure[2]) / (sure[0] + sure[2])
    return n, centre, 1 / (sure[0] + sure[1]), max(spread, 1e-4)


def question_scores(rows, f, n_codes, centre, half):
    """Of every cut of a continuous feature, or of the one split by a nominal one: the larger part of each child."""
    codes = range(n_codes)
    of_code = [[(p + 1) / 2 for p in in_window([r for r in rows if r[0][f] == code], centre, half)] for code in codes]
    parts = [(total(code), total(1 - u for u in code)) for code in of_code]
    if f not in CONTINUOUS:
        return [total(map(max, parts))]
    above, below = (list(itertools.accumulate(part)) for part in zip(*parts, strict=True))
    return [max(a, b) + max(above[-1] - a, below[-1] - b) for a, b in zip(above[:-1], below[:-1], strict=True)]


def reference_tree(sample, epsilon, depth, rng):
    """As the docstring tells it; ``left`` is what the path to a node has not spent."""
    rows = [(public_bins(values, N_BINS), target) for values, target in sample]
    enough = math.inf if math.isinf(epsilon) else 50
    known = (0, 0.5, 0.0, 0.5 / 1.75)
    nodes = [{"rows": rows, "depth": 0, "open": list(range(len(COLUMNS))), "left": epsilon, "known": known}]
    nodes[0]["looking"] = epsilon / 10
    for node in nodes:
        rows, known, looking = node["rows"], node["known"], node["looking"]
        view = look(rows, known, (1.4 * known[3]) ** 2, looking, rng)
        n, centre, _, spread = view
        left = math.inf if math.isinf(epsilon) else node["left"] - looking
        node["noisy_count"] = n
        if node["depth"] == depth or not node["open"] or n <= 50 / left:
            value = look(rows, view, 0, left, rng)[1]
            node |= {"value": min(max(value, 0), 1), "paid": looking + left}
            continue
        asking = min(enough / n, 0.4 * left)
        scores, splits = [], []
        for f in node["open"]:
            n_codes = N_BINS if f in CONTINUOUS else COLUMNS[f]
            found = question_scores(rows, f, n_codes, centre, min(0.4 * spread, 1))
            scores += found
            splits += [(f, BELOW if f in CONTINUOUS else BY_VALUE, cut) for cut in range(len(found))]
        f, decides, cut = splits[flip(scores, 1, asking, rng, monotone=True)]
        values = range(COLUMNS[f]) if decides == BY_VALUE else ()
        sides = [[row for row in rows if row[0][f] == v] for v in values] or divide(rows, BELOW, f, cut)
        node |= {"decides": decides, "feature": f, "cut": cut, "n_children": len(sides), "paid": looking + asking}
        left = math.inf if math.isinf(epsilon) else left - asking
        others = [other for other in node["open"] if other != f or decides == BELOW]
        common = {"depth": node["depth"] + 1, "open": others, "left": left, "known": view}
        common["looking"] = min(enough / max(n, 1), 0.15 * left)
        nodes += [{"rows": side} | common for side in sides]
    return nodes


@TABLES
@pytest.mark.parametrize("epsilon", [math.inf, 900.0, 60.0, 9.0])
def test_it_is_the_reference_tree(seed, epsilon):
    X, signal = columns_and_signal(seed, n=300)
    y = np.clip(signal, LOWER, UPPER)
    _, stream = np.random.SeedSequence(np.random.RandomState(SEED).randint(2**31 - 1)).spawn(2)
    sample = list(zip(X.tolist(), ((y - LOWER) / (UPPER - LOWER)).tolist(), strict=True))
    parameters = {"n_estimators": None, "max_features": None, "n_bins": N_BINS, "domain": NUMBERS}
    model = forest(ThriftyTreeRegressor, epsilon, **parameters).fit(X, y)
    assert_same_trees(model, [reference_tree(sample, epsilon, 4, np.random.default_rng(stream))])


# Its scores, on all tables of up to six records, and the sums of real code where a record comes.

SHARES = (0.0, 0.3125, 1.0)


def of_question(tables):
    """Scores of two features of two codes each; 12 types of records, by their codes and their share above."""
    cells = tables.reshape(-1, 2, 2, len(SHARES)) @ np.column_stack([SHARES, 1 - np.array(SHARES)])
    return np.stack([cells.sum(axis=2).max(axis=-1).sum(axis=1), cells.sum(axis=1).max(axis=-1).sum(axis=1)], axis=1)


TYPES = tuple(f"a={a} b={b} share {u:g}" for a, b, u in itertools.product((0, 1), (0, 1), SHARES))
QUESTION = DiscreteChoice("question", 1.0, TYPES, of_question)


def one_sided(quality, sensitivity, epsilon):
    return permute_and_flip_law(quality, sensitivity / 2, epsilon)


def test_the_score_of_all_small_tables_is_that_of_the_reference():
    tables = np.random.default_rng(0).integers(0, 4, size=(20, 12))
    for table, expected in zip(tables, of_question(tables), strict=True):
        by_a = table.reshape(2, 2, 3).sum(axis=1)
        rows = [([0, a], 2 * u - 1) for a in (0, 1) for u, n in zip(SHARES, by_a[a], strict=True) for _ in range(n)]
        assert question_scores(rows, 1, 2, 0.0, 1.0) == pytest.approx([expected[0]], rel=1e-12)


def test_a_score_grows_by_0_to_1_with_a_record():
    lowest, highest = find_score_changes(QUESTION, ADDED_OR_REMOVED)
    assert lowest == pytest.approx(0.0, abs=1e-12) and highest == pytest.approx(1.0, abs=1e-12)


def test_a_question_costs_its_epsilon_where_a_record_comes_or_goes_and_more_where_one_is_replaced():
    for epsilon in (0.1, 1.0, 3.0):
        row = find_worst_case("permute_and_flip", QUESTION, ADDED_OR_REMOVED, epsilon, law=one_sided)
        assert row.holds and row.tightness > 0.8
    assert not find_worst_case("permute_and_flip", QUESTION, REPLACED, 1.0, law=one_sided).holds


def sums_of_rows(table, rows, centre, half):
    """The sums of a look, and for each feature those of a question, over some rows in their order."""
    root = plant_tree(table, np.asarray(rows, dtype=np.uint32))
    of_features = [sum_shares(root, table, 0, f, centre, half) for f in range(len(COLUMNS))]
    return [sum_distances(root, table, 0, centre, half), *of_features]


def table_of_numbers(n):
    X, signal = columns_and_signal(0, n)
    table, _, _ = ThriftyTreeRegressor(1.0, n_bins=N_BINS, domain=NUMBERS).prepare(X, np.clip(signal, LOWER, UPPER))
    return table


WINDOWS = tuple(itertools.product((0.0, 0.4, 1.0), (1e-4, 0.05, 0.3, 1.0)))


def test_a_record_adds_1_to_the_sums_of_a_look_and_1_to_the_shares_of_one_code():
    """Not about 1: a rounding would be a larger sensitivity than the noise is told."""
    table = table_of_numbers(40)
    for n, (centre, half) in itertools.product(range(1, 40), WINDOWS):
        before, after = (sums_of_rows(table, range(m), centre, half) for m in (n, n + 1))
        for few, more in zip(before, after, strict=True):
            moved = more - few
            assert moved.min() >= 0.0 and moved.sum() == 1.0
        for few, more in zip(before[1:], after[1:], strict=True):
            assert np.count_nonzero((more - few).sum(axis=1)) == 1


def test_sums_have_the_same_bits_in_any_order_of_the_records():
    table, rng = table_of_numbers(500), np.random.default_rng(0)
    for centre, half in WINDOWS:
        expected = sums_of_rows(table, range(500), centre, half)
        for _ in range(5):
            for sums, others in zip(expected, sums_of_rows(table, rng.permutation(500), centre, half), strict=True):
                np.testing.assert_array_equal(sums, others)


def test_sums_of_2_to_the_32_records_are_exact():
    """Of that many, the smallest place and the largest differ by what a record adds."""
    smallest = place_in_window(0.5 + 2.0**-20, 0.5, 1.0)
    assert smallest == 2.0**-20 and place_in_window(0.5 + 2.0**-22, 0.5, 1.0) == 0.0
    for added in (smallest, 1 - smallest, 0.5 + 0.5 * smallest, 0.5 - 0.5 * smallest):
        assert (2.0**32 - 1.0 + added) - (2.0**32 - 1.0) == added


# Without noise.


def test_without_noise_a_leaf_predicts_the_mean_of_its_records():
    X, signal = columns_and_signal(5, n=2000)
    y = np.clip(signal, LOWER, UPPER)
    model = ThriftyTreeRegressor(math.inf, max_depth=3, domain=NUMBERS, random_state=0).fit(X, y)
    (nodes,) = model.trees_
    leaves = find_leaves(nodes, model.rows_to_descend(X))
    assert len(np.unique(leaves)) > 6
    means = np.bincount(leaves, y) / np.maximum(np.bincount(leaves), 1)
    assert model.predict(X) == pytest.approx(means[leaves], rel=1e-12, abs=(UPPER - LOWER) * 2.0**-21)
    assert ((y - model.predict(X)) ** 2).mean() < 0.5 * y.var()


# What it spends.


@pytest.mark.parametrize("name", ["ccpp", "diamonds", "daily_demand", "wine_quality"])
@pytest.mark.parametrize("epsilon", [0.1, 3.0])
def test_every_path_spends_the_budget(name, epsilon):
    if not datasets.is_available(name):
        pytest.skip(f"{name} is not there")
    data = datasets.load(name)
    model = ThriftyTreeRegressor(epsilon, domain=data.domain, random_state=0).fit(data.frame, data.target)
    (nodes,) = model.trees_
    assert_paths_spend(nodes, epsilon)
    assert not nodes["exact"].any() and not nodes["key"].any()
    if len(data.target) * epsilon > 5000:
        assert nodes["epsilon"][0] < 0.1 * epsilon + 1.2 * 50 / len(data.target)
    assert model.privacy_.keeps_claim and model.privacy_.accounted_epsilon == pytest.approx(epsilon, rel=1e-12)


# What it is for.

ONE_COLUMN = Domain((Continuous("x", 0, 1),), Continuous("y", 0, 1000))


def waves(n, height, seed):
    """Targets of a few waves along one column, around 300."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, 1))
    return x, 300 + height * np.sin(9 * x[:, 0]) + rng.normal(0, height / 5, n)


@pytest.mark.parametrize("height", [200, 20, 2])
def test_it_finds_waves_however_small_they_are_between_the_bounds(height):
    (X, y), (others, truth) = waves(20_000, height, 0), waves(2_000, height, 1)
    model = ThriftyTreeRegressor(1.0, domain=ONE_COLUMN, random_state=0).fit(X, y)
    line = LinearRegression().fit(X, y)
    errors = [((truth - fitted.predict(others)) ** 2).mean() for fitted in (model, line)]
    assert errors[0] < 0.3 * errors[1]


def test_branches_end_where_the_budget_does():
    sizes = []
    for epsilon in (0.01, 0.1, 2.0, 20.0):
        model = ThriftyTreeRegressor(epsilon, domain=ONE_COLUMN, random_state=0).fit(*waves(5_000, 200, 0))
        sizes.append(len(model.trees_[0]))
    assert sizes == sorted(sizes) and sizes[-1] > 20 * sizes[0]
