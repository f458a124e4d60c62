"""Thrifty means against a slow reference in plain Python, the nearest centroid of scikit-learn, and a record more."""

import itertools
import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from sklearn.neighbors import NearestCentroid

from algorithms import Continuous, Domain, Nominal, ReleaseError, ThriftyForestClassifier, ThriftyMeansClassifier
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.bayes import thrifty_means
from algorithms.bayes.thrifty_means import shrink_means
from algorithms.released.class_means import place_rows, share_by_distance
from algorithms.released.document import from_json
from tests.made_up_releases import sealed
from tests.reference_trees import COLUMNS, CONTINUOUS, DOMAIN, N_CLASSES, SEED, TABLES, as_rows, table


def made(epsilon, domain=DOMAIN, **parameters):
    return ThriftyMeansClassifier(epsilon, domain=domain, random_state=SEED, **parameters)


# The reference: lists of rows (values, label), exact fractions, no arrays.


def place(values):
    """The coordinates of a row."""
    point = []
    for f, value in enumerate(values):
        if f in CONTINUOUS:
            lower, upper = COLUMNS[f]
            point.append(2 * ((value - lower) / (upper - lower)) - 1)
        elif COLUMNS[f] == 2:
            point.append(value * 2 - 1)
        else:
            point += [1 if value == category else -1 for category in range(COLUMNS[f])]
    return point


def on_grid(coordinate):
    return Fraction(round(coordinate * 2**20), 2**20)


def answer(rows, c, epsilon, rng):
    """The sums of a class, the number of its records last, with the noise of the maximum norm."""
    points = [place(values) for values, label in rows if label == c]
    exact = [float(sum(map(on_grid, column))) for column in zip(*points, strict=True)] + [len(points)]
    if math.isinf(epsilon):
        return exact
    radius = rng.standard_gamma(len(exact) + 1) / epsilon
    return [number + radius * (2 * rng.random() - 1) for number in exact]


def limit(number):
    return min(max(number, -1), 1)


def reference_means(rows, epsilon, rng):
    """As the docstring tells it: each mean keeps b / (b + v) of its way from the mean of all."""
    answers = [answer(rows, c, epsilon, rng) for c in range(N_CLASSES)]
    m = len(answers[0]) - 1
    spread = 0 if math.isinf(epsilon) else math.sqrt((m + 2) * (m + 3) / 3) / epsilon
    sizes = [max(numbers[m], 1) for numbers in answers]
    noise = [min(spread / size, 1) ** 2 for size in sizes]

    def weighed(numbers):
        return sum(size * number for size, number in zip(sizes, numbers, strict=True)) / sum(sizes)

    means = [[0.0] * m for _ in answers]
    for j in range(m):
        single = [limit(numbers[j] / size) for numbers, size in zip(answers, sizes, strict=True)]
        middle = weighed(single)
        between = max(weighed([(mean - middle) ** 2 for mean in single]) - weighed(noise), 0.015)
        for c, mean in enumerate(single):
            means[c][j] = limit(middle + (mean - middle) * between / (between + noise[c]))
    return means


def reference_shares(values, means):
    point = place(values)
    parts = [math.exp(-sum((x - y) ** 2 for x, y in zip(point, mean, strict=True)) / 0.6) for mean in means]
    return [part / sum(parts) for part in parts]


@TABLES
@pytest.mark.parametrize("epsilon", [math.inf, 60.0, 5.0, 0.5, 0.01])
def test_it_is_the_reference(seed, epsilon):
    X, y = table(seed, n=80)
    stream = np.random.default_rng(np.random.SeedSequence(np.random.RandomState(SEED).randint(2**31 - 1)))
    model, rows = made(epsilon).fit(X, y), as_rows(X, y)
    means = reference_means(rows, epsilon, stream)
    assert model.means_ == pytest.approx(np.array(means), rel=1e-9, abs=1e-12)
    shares = [reference_shares(values, means) for values, _ in rows[:25]]
    assert model.predict_proba(X[:25]) == pytest.approx(np.array(shares), rel=1e-9)
    assert np.array_equal(model.predict(X[:25]), np.argmax(shares, axis=1))


@pytest.mark.parametrize("rows", [[0], [2, 0], list(range(80))], ids=["one", "two", "many"])
def test_a_row_has_the_same_bits_whatever_rows_stand_beside_it(rows):
    """What a record is given must not depend on others: a vote counts who is given the right class."""
    X, y = table(0, n=80)
    model = made(0.5).fit(X, y)
    assert np.array_equal(model.predict_proba(X[rows]), model.predict_proba(X)[rows])


# Without noise.


def test_without_noise_it_is_the_nearest_centroid_of_scikit_learn():
    X, y = table(0, n=400)
    model = made(math.inf).fit(X, y)
    points = place_rows(X, DOMAIN)
    theirs = NearestCentroid().fit(points, y)
    assert model.means_ == pytest.approx(theirs.centroids_, abs=2**-20)
    assert np.array_equal(model.predict(X), theirs.predict(points))


def test_a_coordinate_of_each_kind_of_column():
    features = Continuous("x", -2, 6), Nominal("a", ("u", "v")), Nominal("b", (3, 5, 8)), Nominal("c", ("only",))
    rows = [[0.0, "v", 8, "only"], [6.0, "u", 3, "only"]]
    matrix, _ = Domain(features).encode(np.array(rows, dtype=object))
    assert place_rows(matrix, Domain(features)).tolist() == [[-0.5, 1, -1, -1, 1, 1], [1, -1, 1, -1, -1, 1]]


def test_classes_without_records_are_in_the_middle_and_all_are_as_frequent():
    X, y = table(0, n=60)
    few = made(math.inf).fit(X[y != 2], y[y != 2])
    assert few.means_[2] == pytest.approx(np.zeros(10), abs=1e-15) and (few.log_sizes_ == 0).all()
    twice = made(math.inf).fit(np.concatenate([X, X[y == 1]]), np.concatenate([y, y[y == 1]]))
    assert twice.means_ == pytest.approx(made(math.inf).fit(X, y).means_, abs=1e-15)


# What a record moves.


def catch(patch):
    """Return what the mechanism is told from here on: (values, sensitivity, epsilon) of each call; it adds no noise."""
    calls = []

    def recording(values, sensitivity, epsilon, rng):
        calls.append((values.copy(), sensitivity, epsilon))
        return values.copy()

    patch.setattr(thrifty_means, "sup_norm_vector", recording)
    return calls


SMALL = Domain((Continuous("x", 0, 1), Nominal("a", (0, 1, 2)), Nominal("b", (0, 1))), Nominal("y", (0, 1)))
TYPES = list(itertools.product((0.0, 0.3, 1.0), (0, 1, 2), (0, 1), (0, 1)))
"""Three columns, whose numbers go to both bounds, and the class."""


SIZES = ((1, 1), (2, 1), (3, 3))
"""Of how many records all tables are, and of every how manieth kind of them."""


@pytest.fixture(scope="module")
def told():
    """What the mechanism is told for each class of every table of one or two records, and of three of some."""
    answers = {}
    tables = itertools.chain.from_iterable(itertools.combinations_with_replacement(TYPES[::k], n) for n, k in SIZES)
    with pytest.MonkeyPatch.context() as patch:
        calls = catch(patch)
        for records in tables:
            calls.clear()
            rows = np.array(records)
            made(2.0, SMALL).fit(rows[:, :-1], rows[:, -1].astype(int))
            answers[records] = [*calls]
    return answers


def neighbours(told):
    for records in told:
        for i in range(len(records)):
            if (smaller := records[:i] + records[i + 1 :]) in told:
                yield smaller, records, records[i]


def test_a_record_moves_each_number_of_its_class_by_at_most_1_and_one_by_exactly_1(told):
    n_seen = 0
    for before, after, record in neighbours(told):
        for c, ((one, *_), (other, *_)) in enumerate(zip(told[before], told[after], strict=True)):
            moved = np.abs(other - one)
            assert len(moved) == 6 and moved.max() == (1.0 if c == record[-1] else 0.0)
            assert other[-1] - one[-1] == (c == record[-1])
        n_seen += 1
    assert n_seen > 1000


def test_the_mechanism_is_told_1_and_the_whole_budget_for_each_class(told):
    for calls in told.values():
        assert [(sensitivity, epsilon) for _, sensitivity, epsilon in calls] == [(1.0, 2.0)] * 2


# What it spends.


@pytest.mark.parametrize("epsilon", [0.01, 0.7, 1.0, 7.0, 1e6])
def test_the_mechanism_is_called_as_the_ledger_says(epsilon, monkeypatch):
    spent, mechanism = [], thrifty_means.sup_norm_vector

    def recording(values, sensitivity, epsilon, rng):
        spent.append(epsilon / sensitivity)
        return mechanism(values, sensitivity, epsilon, rng)

    monkeypatch.setattr(thrifty_means, "sup_norm_vector", recording)
    model = made(epsilon).fit(*table(0))
    assert spent == [epsilon] * N_CLASSES, "each class has the whole, since a record is in one of them"
    assert model.privacy_.accounted(ADDED_OR_REMOVED) == epsilon
    assert model.privacy_.accounted(REPLACED) == 2 * epsilon, (
        "the record that leaves and the one that comes may be of two"
    )
    assert model.privacy_.keeps_claim and not model.privacy_.faults


@pytest.mark.parametrize("features", [1, 2, 3], ids="{}_columns".format)
@pytest.mark.parametrize("epsilon", [0.5, math.inf])
def test_few_columns_spend_as_much(features, epsilon):
    X, y = table(0)
    domain = Domain(DOMAIN.features[:features], DOMAIN.target)
    model = made(epsilon, domain).fit(X[:, :features], y)
    assert model.privacy_.accounted_epsilon == epsilon and model.means_.shape == (N_CLASSES, (1, 4, 5)[features - 1])


def test_nothing_but_noisy_numbers_decides_what_the_model_is(monkeypatch):
    answers = np.random.default_rng(0).normal(20, 30, (N_CLASSES, 11))
    found = []
    for seed, n in ((0, 40), (1, 70), (2, 300)):
        left = iter(answers)
        monkeypatch.setattr(thrifty_means, "sup_norm_vector", lambda *_, left=left: next(left).copy())
        model = made(0.5).fit(*table(seed, n))
        found.append((model.means_.tobytes(), model.log_sizes_.tobytes(), model.privacy_))
    assert found[0] == found[1] == found[2]


# Sums.


def sums_of(X, y, domain, patch):
    calls = catch(patch)
    made(1.0, domain).fit(X, y)
    return np.array([values for values, *_ in calls])


@pytest.mark.parametrize("n", [1000, 70_000], ids=["a block", "two blocks"])
def test_sums_have_the_same_bits_in_any_order_of_the_records(n, monkeypatch):
    rng, bounds = np.random.default_rng(0), ((0.0, 1.0), (-1e30, 3.0))
    domain = Domain([Continuous(f"x{j}", *bound) for j, bound in enumerate(bounds)], Nominal("y", (0, 1)))
    X, y, order = (
        np.column_stack([rng.random(n), -(10.0 ** rng.uniform(25, 30, n))]),
        rng.integers(2, size=n),
        rng.permutation(n),
    )
    one, other = (sums_of(*rows, domain, monkeypatch) for rows in ((X, y), (X[order], y[order])))
    assert one.tobytes() == other.tobytes()
    for c, (j, (lower, upper)) in itertools.product((0, 1), enumerate(bounds)):
        assert one[c, j] == sum(on_grid(2 * ((x - lower) / (upper - lower)) - 1) for x in X[y == c, j].tolist())


def test_nothing_is_too_short_for_many_rows_classes_or_categories(monkeypatch):
    """More than 2^15 rows in one class, 300 classes, 300 categories of a column."""
    y = np.concatenate([np.zeros(70_000, dtype=int), np.tile(np.arange(300), 20)])
    X = np.column_stack([(7 * y + np.arange(len(y)) % 2) % 300, np.ones(len(y))])
    domain = Domain((Nominal("a", range(300)), Continuous("x", 0, 1)), Nominal("y", range(300)))
    sums, expected = sums_of(X, y, domain, monkeypatch), Counter(zip(y.tolist(), X[:, 0].tolist(), strict=True))
    for c in (0, 1, 255, 256, 299):
        n = sum(y == c)
        assert sums[c, -2:].tolist() == [n, n]
        assert sums[c, :-2].tolist() == [2 * expected[c, v] - n for v in range(300)]


# What it makes of the answers.


def test_noise_brings_means_nearer_to_the_mean_of_all():
    sums, sizes = np.array([[40.0, -30.0], [-35.0, -20.0], [10.0, -45.0]]), np.array([50.0, 50.0, 50.0])
    spreads = [np.ptp(shrink_means(sums, sizes, deviation), axis=0) for deviation in (0.0, 5.0, 20.0, 49.0, 1e9)]
    assert all((later < earlier).all() for earlier, later in itertools.pairwise(spreads[:4]))
    assert (spreads[-1] < 0.05).all() and np.allclose(shrink_means(sums, sizes, 1e9), sums.mean(axis=0) / 50, atol=0.05)


def test_means_of_any_noise_are_within_the_bounds():
    rng = np.random.default_rng(0)
    for scale in (1e-300, 1.0, 1e100):
        sums, sizes = rng.normal(0, scale, (3, 7)), rng.normal(0, scale, 3)
        assert (np.abs(shrink_means(sums, sizes, 3 * scale)) <= 1).all()


def test_shares_are_those_of_normal_distributions():
    points, means = np.array([[0.2, -0.4]]), np.array([[0.0, 0.0], [0.5, -1.0]])
    odds = math.exp((0.3**2 + 0.6**2 - 0.2**2 - 0.4**2) / 0.6)
    assert share_by_distance(points, means)[0] == pytest.approx([odds / (1 + odds), 1 / (1 + odds)], rel=1e-12)


# What it learns.


def test_it_learns_many_classes_of_many_columns_that_say_little_each():
    rng = np.random.default_rng(0)
    centers = rng.uniform(-0.3, 0.3, (10, 49))
    y = rng.integers(10, size=4000)
    X = np.clip(centers[y] + rng.normal(0, 0.4, (4000, 49)), -1, 1)
    domain = Domain([Continuous(f"x{j}", -1, 1) for j in range(49)], Nominal("y", range(10)))
    scores = []
    for estimator in (ThriftyMeansClassifier, ThriftyForestClassifier):
        model = estimator(1.0, domain=domain, random_state=0).fit(X[:3000], y[:3000])
        scores.append((model.predict(X[3000:]) == y[3000:]).mean())
    assert scores[0] > 0.7 and scores[0] > scores[1] + 0.3


# What leaves.


def test_what_leaves_predicts_what_the_model_predicts():
    pytest.importorskip("opendp")
    X, y = table(1, n=300)
    model = made(5.0, noise="opendp").set_params(random_state=None).fit(X, y)
    left = model.release()
    assert left.KIND == "class_means" and left.origin.privacy == model.privacy_.as_dict()
    for release in (left, from_json(left.to_json())):
        assert np.array_equal(release.predict_proba(X), model.predict_proba(X))
        assert np.array_equal(release.predict(X), model.predict(X)) and (release.log_sizes == 0).all()


def test_a_damaged_release_is_refused():
    pytest.importorskip("opendp")
    good = json.loads(made(2.0, noise="opendp").fit(*table(0)).release().to_json())
    contents = good["contents"]
    means = contents["means"]
    damages = [{"classes": [0]}, {"classes": contents["classes"][::-1]}, {"classes": [0, 0, 0]}, {"means": means[:2]}]
    damages += [{"means": [row[1:] for row in means]}, {"means": [[*row, 0.0] for row in means]}, {"means": None}]
    damages += [{"means": [[value, *row[1:]] for row in means]} for value in (1.001, -2.0, None, "x", math.nan)]
    for damage in damages:
        with pytest.raises(ReleaseError, match=r"damaged: contents\.(means|classes)"):
            from_json(sealed(good | {"contents": contents | damage}))
