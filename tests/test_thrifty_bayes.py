"""Thrifty Bayes against a slow reference in plain Python, scikit-learn's naive Bayes, and what a record can move."""

import itertools
import json
import math

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB

from algorithms import Continuous, Domain, Nominal, ReleaseError, ThriftyBayesClassifier
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.bayes import thrifty_bayes
from algorithms.bayes.thrifty_bayes import choose_features, combine_sizes, log_ratios, plan_counts
from algorithms.encoding import bins
from algorithms.released.document import from_json
from experiments.audit.laws import permute_and_flip_law
from tests.made_up_releases import sealed
from tests.reference_trees import COLUMNS, CONTINUOUS, DOMAIN, N_CLASSES, SEED, TABLES, as_rows, flip, noisy, table
from tests.test_thrifty import N_BINS, public_cuts


def made(epsilon, domain=DOMAIN, **parameters):
    return ThriftyBayesClassifier(epsilon, domain=domain, random_state=SEED, **parameters)


# The reference: lists of rows (values, label), no arrays.


def code_of(f, value):
    return sum(cut < value for cut in public_cuts(*COLUMNS[f])) if f in CONTINUOUS else int(value)


def n_codes(f):
    return len(public_cuts(*COLUMNS[f])) + 1 if f in CONTINUOUS else COLUMNS[f]


def count(rows, f, code, c):
    return sum(label == c and code_of(f, values[f]) == code for values, label in rows)


def reference_features(rows, epsilon, m, rng):
    """The features that are counted, and what is left for the counts of each."""
    features, chosen = list(range(len(COLUMNS))), []
    if m == len(features):
        return features, epsilon / m
    while len(chosen) < m:
        right = [sum(max(count(rows, f, v, c) for c in range(N_CLASSES)) for v in range(n_codes(f))) for f in features]
        chosen.append(features.pop(flip(right, 1, epsilon / 5 / m, rng, monotone=True)))
    return sorted(chosen), epsilon * 4 / 5 / m


def reference_posteriors(rows, asked, epsilon, m, rng):
    """As the docstring tells it; returns the features and the posterior of each row that is asked for."""
    chosen, spent = reference_features(rows, epsilon, m, rng)
    classes = range(N_CLASSES)
    cells = {}
    for f in chosen:
        for v, c in itertools.product(range(n_codes(f)), classes):
            cells[f, v, c] = noisy(count(rows, f, v, c), spent, rng)
    sizes = []
    for c in classes:
        sums = {f: sum(cells[f, v, c] for v in range(n_codes(f))) for f in chosen}
        mean = sum(sums[f] / n_codes(f) for f in chosen) / sum(1 / n_codes(f) for f in chosen)
        sizes.append(max(mean, 1))
    kept = {cell: max(number, 0) for cell, number in cells.items()}
    more = 1 + 0.5 / spent
    posteriors = []
    for values, _ in asked:
        products = []
        for c in classes:
            product = sizes[c]
            for f in chosen:
                codes, v = range(n_codes(f)), code_of(f, values[f])
                total = sum(kept[f, u, d] for u in codes for d in classes)
                independent = sum(kept[f, v, d] for d in classes) * sum(kept[f, u, c] for u in codes) / max(total, 1)
                product *= (kept[f, v, c] + more) / (independent + more)
            products.append(product)
        posteriors.append([product / sum(products) for product in products])
    return chosen, posteriors


@TABLES
@pytest.mark.parametrize(("epsilon", "m"), [(math.inf, 5), (math.inf, 2), (60.0, 5), (9.0, 3), (0.5, 1), (0.5, 4)])
def test_it_is_the_reference(seed, epsilon, m):
    X, y = table(seed, n=80)
    stream = np.random.default_rng(np.random.SeedSequence(np.random.RandomState(SEED).randint(2**31 - 1)))
    model = made(epsilon, n_bins=N_BINS, max_features=m).fit(X, y)
    rows = as_rows(X, y)
    chosen, posteriors = reference_posteriors(rows, rows[:25], epsilon, m, stream)
    assert model.features_.tolist() == chosen
    assert model.predict_proba(X[:25]) == pytest.approx(np.array(posteriors), rel=1e-9)
    assert np.array_equal(model.predict(X[:25]), np.argmax(posteriors, axis=1))


# Without noise.


def nominal_rows(n, seed, n_values=(2, 3, 4)):
    """Rows of nominal columns that depend on the class; every value comes with every class."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    columns = [np.where(rng.random(n) < 0.4, (y + j) % v, rng.integers(v, size=n)) for j, v in enumerate(n_values)]
    domain = Domain([Nominal(f"f{j}", range(v)) for j, v in enumerate(n_values)], Nominal("y", range(3)))
    return np.column_stack(columns), y, domain


def test_without_noise_it_is_the_naive_bayes_of_scikit_learn():
    """But for the one record that is added to counts here and not there, which says little beside ten thousand."""
    X, y, domain = nominal_rows(20_000, 0)
    ours, theirs = made(math.inf, domain).fit(X, y), CategoricalNB(alpha=1e-10).fit(X, y)
    found, expected = ours.predict_proba(X[:500]), theirs.predict_proba(X[:500])
    assert np.abs(found - expected).max() < 1e-3 and np.abs(found - found.mean(axis=0)).max() > 0.2
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.999


def test_the_added_record_is_all_that_is_different():
    """On a table that has all records ten times as often, the difference is a tenth."""
    X, y, domain = nominal_rows(200, 1)
    apart = []
    for times in (10, 100):
        ours, theirs = made(math.inf, domain), CategoricalNB(alpha=1e-10)
        rows = np.tile(X, (times, 1)), np.tile(y, times)
        apart.append(np.abs(ours.fit(*rows).predict_proba(X) - theirs.fit(*rows).predict_proba(X)).max())
    assert apart[1] == pytest.approx(apart[0] / 10, rel=0.1)


def test_without_noise_all_features_are_counted():
    X, y, domain = nominal_rows(50, 0, n_values=(2,) * 30)
    assert made(math.inf, domain).fit(X, y).features_.tolist() == list(range(30))
    assert len(made(1.0, domain).fit(X, y).features_) == 10


# What a record moves: every table of up to three records of three columns and two classes.

TYPES = list(itertools.product((0, 1), (0, 1), (0, 1), (0, 1)))
"""Three columns and the class."""


def tables_of(records):
    return [
        bins.count_by_class(
            np.array([record[j] for record in records], dtype=np.int64),
            np.array([record[-1] for record in records], dtype=np.int64),
            2,
            2,
        )
        for j in range(3)
    ]


def scores_of(records):
    """The scores that a choice is told, by catching them."""
    return tuple(float(table.max(axis=1).sum()) for table in tables_of(records))


@pytest.fixture(scope="module")
def neighbours():
    """All tables of up to three records, each with all that have one more."""
    smaller = itertools.chain.from_iterable(itertools.combinations_with_replacement(TYPES, n) for n in range(4))
    return [(table, (*table, record)) for table in smaller for record in TYPES]


def test_a_record_is_in_one_cell_of_each_feature(neighbours):
    for before, after in neighbours[::7]:
        for one, other in zip(tables_of(before), tables_of(after), strict=True):
            assert sorted((other - one).ravel().tolist()) == [0, 0, 0, 1]


def test_the_scores_are_what_the_choice_is_told_and_grow_by_0_to_1(neighbours, monkeypatch):
    told = []

    def recording(quality, sensitivity, epsilon, rng, monotone):
        told.append((tuple(quality), sensitivity, epsilon, monotone))
        return 0

    monkeypatch.setattr(thrifty_bayes, "permute_and_flip", recording)
    for before, after in neighbours[::7]:
        changes = np.subtract(scores_of(after), scores_of(before))
        assert set(changes) <= {0.0, 1.0}
        choose_features(tables_of(before), plan_counts(2.0, 3, 2), None)
        assert told[-2:] == [(scores_of(before), 1.0, 0.2, True), (scores_of(before)[1:], 1.0, 0.2, True)]
    assert {score for quality, *_ in told for score in quality} >= {0.0, 1.0, 2.0, 3.0}


def test_no_sequence_of_choices_costs_more_than_their_share_and_one_nearly_as_much(neighbours):
    """By the closed-form law of permute-and-flip: which feature is first, and which of the others second."""
    plan = plan_counts(5.0, 3, 2)
    laws, dearest = {}, 0.0

    def law(scores):
        if scores not in laws:
            first = permute_and_flip_law(np.array([scores]), 0.5, plan.choice_epsilon)[0]
            logs = []
            for i in range(3):
                rest = [score for j, score in enumerate(scores) if j != i]
                logs += list(first[i] + permute_and_flip_law(np.array([rest]), 0.5, plan.choice_epsilon)[0])
            laws[scores] = np.array(logs)
        return laws[scores]

    for before, after in neighbours:
        dearest = max(dearest, np.abs(law(scores_of(before)) - law(scores_of(after))).max())
    assert 0.5 * 2 * plan.choice_epsilon < dearest <= 2 * plan.choice_epsilon * (1 + 1e-9)


# What it spends.


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 7.0])
@pytest.mark.parametrize("k", [1, 3, 10, 60])
@pytest.mark.parametrize("max_features", [None, 1])
def test_the_plan_spends_the_budget(epsilon, k, max_features):
    plan = plan_counts(epsilon, k, max_features)
    assert plan.n_counted * (plan.choice_epsilon + plan.count_epsilon) == pytest.approx(epsilon, rel=1e-12)
    assert 1 <= plan.n_counted <= k and (plan.choice_epsilon > 0) == (plan.n_counted < k)


@pytest.mark.parametrize("parameters", [{}, {"max_features": 2}], ids=["all counted", "two chosen"])
def test_the_mechanisms_are_called_as_the_ledger_says(parameters, monkeypatch):
    spent = []

    def record(name):
        mechanism = getattr(thrifty_bayes, name)

        def recording(values, sensitivity, epsilon, rng, *monotone):
            spent.append(epsilon / sensitivity)
            return mechanism(values, sensitivity, epsilon, rng, *monotone)

        monkeypatch.setattr(thrifty_bayes, name, recording)

    record("laplace_vector"), record("permute_and_flip")
    model = made(0.7, **parameters).fit(*table(0))
    assert math.fsum(spent) == pytest.approx(0.7, rel=1e-12) and len(spent) == (4 if parameters else 5)
    assert model.privacy_.accounted(ADDED_OR_REMOVED) == pytest.approx(0.7, rel=1e-12)
    assert model.privacy_.accounted(REPLACED) == pytest.approx(1.4, rel=1e-12)
    assert model.privacy_.keeps_claim and not model.privacy_.faults


def test_what_is_public_decides_what_is_counted(monkeypatch):
    """Neither rows nor noise: only how many there may be, and epsilon."""
    plans = set()

    def planned(*args):
        plans.add(plan_counts(*args))
        return plan_counts(*args)

    monkeypatch.setattr(thrifty_bayes, "plan_counts", planned)
    for seed, n in ((0, 40), (1, 70), (2, 300)):
        made(0.1).fit(*table(seed, n))
    assert len(plans) == 1


# What it makes of the counts.


def test_sizes_are_nearer_than_those_of_any_one_feature():
    rng = np.random.default_rng(0)
    exact = [np.full((v, 2), 1000.0 / v) for v in (2, 5, 20)]
    errors = []
    for _ in range(2_000):
        noisy_tables = [counts + rng.laplace(0, 20, counts.shape) for counts in exact]
        errors.append([(combine_sizes(noisy_tables) - 1000), *(t.sum(axis=0) - 1000 for t in noisy_tables)])
    combined, *single = np.var(np.array(errors)[:, :, 0], axis=0)
    assert combined < 0.9 * min(single)
    assert combined == pytest.approx(2 * 20**2 / sum(1 / v for v in (2, 5, 20)), rel=0.1)


def test_noise_brings_ratios_nearer_to_1_and_counts_that_say_nothing_are_1():
    counts = np.array([[40.0, 2.0], [5.0, 30.0]])
    sizes = [np.abs(log_ratios(counts, scale)).max() for scale in (0.0, 1.0, 10.0, 100.0, 1e9)]
    assert sizes == sorted(sizes, reverse=True) and sizes[-1] < 1e-6 < sizes[0]
    assert log_ratios(np.outer([3.0, 5.0], [10.0, 20.0]), 1.0) == pytest.approx(np.zeros((2, 2)), abs=1e-12)
    for empty in (np.zeros((2, 2)), np.full((2, 2), -7.0)):
        assert np.array_equal(log_ratios(empty, 2.0), np.zeros((2, 2)))


def test_codes_are_the_cuts_below_a_value():
    X, _ = table(0)
    codes = bins.code_columns(X, DOMAIN, N_BINS)
    assert codes.tolist() == [[code_of(f, value) for f, value in enumerate(row)] for row in X.tolist()]
    assert [bins.count_codes(feature, N_BINS) for feature in DOMAIN.features] == [n_codes(f) for f in range(5)]


# What it learns.


def many_classes(n, seed, n_noise):
    """Eight classes, each three binary columns with some errors; other columns say nothing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(8, size=n)
    bits = (y[:, None] >> np.arange(3)) & 1
    X = np.column_stack([np.where(rng.random((n, 3)) < 0.02, 1 - bits, bits), rng.integers(2, size=(n, n_noise))])
    return X, y, Domain([Nominal(f"f{j}", (0, 1)) for j in range(3 + n_noise)], Nominal("y", range(8)))


def test_it_learns_many_classes_from_few_rows():
    X, y, domain = many_classes(600, 0, 2)
    model = made(1.0, domain).fit(X[:400], y[:400])
    assert (model.predict(X[400:]) == y[400:]).mean() > 0.85


def test_of_a_wide_table_it_chooses_what_says_most_of_the_class():
    X, y, domain = many_classes(3_000, 0, 57)
    model = made(1.0, domain).fit(X[:2_000], y[:2_000])
    assert {0, 1, 2} <= set(model.features_.tolist()) and len(model.features_) == 10
    assert (model.predict(X[2_000:]) == y[2_000:]).mean() > 0.85


def test_amounts_near_zero_are_told_apart():
    """Bins of equal width would put all of them into the first."""
    rng = np.random.default_rng(0)
    amounts = np.exp(rng.normal(0, 1, 2_000))
    domain = Domain([Continuous("amount", 0, 4096)], Nominal("y", (0, 1)))
    model = made(1.0, domain).fit(amounts[:, None], (amounts > 1).astype(int))
    assert (model.predict(amounts[:, None]) == (amounts > 1)).mean() > 0.95


# What leaves.


def test_a_damaged_release_is_refused():
    model = made(2.0, max_features=2, noise="opendp").fit(*table(0))
    text = model.release().to_json()
    assert from_json(text).predict(table(0)[0]).tolist() == model.predict(table(0)[0]).tolist()
    good = json.loads(text)
    contents = good["contents"]
    damages = [{"features": [0, 99]}, {"features": [-1, -2]}, {"features": [0]}, {"classes": [0]}, {"n_bins": 3}]
    damages += [{"features": [1, 0]}, {"features": [0, 0]}, {"n_bins": None}, {"n_bins": "x"}, {"n_bins": 1}]
    damages += [{"classes": contents["classes"][::-1]}, {"classes": [0, 0, 0]}]
    damages += [{"log_sizes": [None, 1.0, 1.0]}, {"log_sizes": [1.0]}, {"log_ratios": contents["log_ratios"][:1]}]
    for damage in damages:
        with pytest.raises(ReleaseError, match="damaged"):
            from_json(sealed(good | {"contents": contents | damage}))
