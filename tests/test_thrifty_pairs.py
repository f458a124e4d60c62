"""Thrifty pairs against a slow reference in plain Python, naive Bayes of joined columns, and what a record can move."""

import itertools
import json
import math
from collections import Counter

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB

from algorithms import Continuous, Domain, Nominal, ReleaseError, ThriftyBayesClassifier, ThriftyPairsClassifier
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.bayes import thrifty_pairs
from algorithms.bayes.thrifty_pairs import plan_pairs
from algorithms.parameters import ParameterError
from algorithms.released.document import from_json
from experiments.audit.laws import permute_and_flip_law
from tests.made_up_releases import sealed
from tests.reference_trees import SEED, as_rows, flip, noisy

N_CLASSES = 3
COLUMNS = (3, None, 2, 4, 2, 3)
"""Categories of a column; None is a column of numbers."""
NOMINAL = [f for f, v in enumerate(COLUMNS) if v]


def declare(columns, n_classes=N_CLASSES):
    features = [Nominal(f"f{f}", range(v)) if v else Continuous(f"f{f}", 0, 1) for f, v in enumerate(columns)]
    return Domain(features, Nominal("y", range(n_classes)))


DOMAIN = declare(COLUMNS)


def table(seed, n=90, columns=COLUMNS):
    """Rows whose columns depend on the class, and some on each other."""
    rng = np.random.default_rng(seed)
    y = rng.choice(N_CLASSES, n, p=[0.5, 0.3, 0.2])
    X = [
        np.where(rng.random(n) < 0.4, (y + f) % v, rng.integers(v, size=n)) if v else rng.random(n)
        for f, v in enumerate(columns)
    ]
    return np.column_stack(X), y


def made(epsilon, domain=DOMAIN, **parameters):
    return ThriftyPairsClassifier(epsilon, domain=domain, random_state=SEED, **parameters)


# The reference: lists of rows (values, label), no arrays.


def codes_of(pair):
    return list(itertools.product(*(range(COLUMNS[f]) for f in pair)))


def count(rows, pair, code, c):
    return sum(label == c and tuple(values[f] for f in pair) == code for values, label in rows)


def reference_pairs(rows, epsilon, m, rng):
    """The pairs that are counted, in the order of their choice."""
    left, chosen = list(itertools.combinations(NOMINAL, 2)), []
    for _ in range(m):
        right = [sum(max(count(rows, pair, v, c) for c in range(N_CLASSES)) for v in codes_of(pair)) for pair in left]
        chosen.append(left[flip(right, 1, epsilon / 10 / m, rng, monotone=True)])
        left = [pair for pair in left if not set(pair) & set(chosen[-1])]
    return chosen


def reference_posteriors(rows, asked, epsilon, m, rng):
    """As the docstring tells it; returns the pairs and the posterior of each row that is asked for."""
    chosen, spent, classes = reference_pairs(rows, epsilon, m, rng), epsilon * 9 / 10 / m, range(N_CLASSES)
    cells = {}
    for pair in chosen:
        for v, c in itertools.product(codes_of(pair), classes):
            cells[pair, v, c] = noisy(count(rows, pair, v, c), spent, rng)
    sizes = []
    for c in classes:
        sums = {pair: sum(cells[pair, v, c] for v in codes_of(pair)) for pair in chosen}
        weights = {pair: 1 / len(codes_of(pair)) for pair in chosen}
        sizes.append(max(sum(sums[pair] * weights[pair] for pair in chosen) / sum(weights.values()), 1))
    kept, more, posteriors = {cell: max(number, 0) for cell, number in cells.items()}, 1 + 0.5 / spent, []
    for values, _ in asked:
        products = []
        for c in classes:
            product = sizes[c]
            for pair in chosen:
                codes, v = codes_of(pair), tuple(values[f] for f in pair)
                total = sum(kept[pair, u, d] for u in codes for d in classes)
                independent = sum(kept[pair, v, d] for d in classes) * sum(kept[pair, u, c] for u in codes)
                product *= (kept[pair, v, c] + more) / (independent / max(total, 1) + more)
            products.append(product)
        posteriors.append([product / sum(products) for product in products])
    return chosen, posteriors


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("epsilon", "m"), [(math.inf, 2), (math.inf, 1), (60.0, 2), (3.0, 1), (0.5, 2)])
def test_it_is_the_reference(seed, epsilon, m):
    X, y = table(seed)
    stream = np.random.default_rng(np.random.SeedSequence(np.random.RandomState(SEED).randint(2**31 - 1)))
    model, rows = made(epsilon, max_pairs=m).fit(X, y), as_rows(X, y)
    chosen, posteriors = reference_posteriors(rows, rows[:25], epsilon, m, stream)
    assert model.pairs_.tolist() == [list(pair) for pair in chosen]
    assert model.predict_proba(X[:25]) == pytest.approx(np.array(posteriors), rel=1e-9)
    assert np.array_equal(model.predict(X[:25]), np.argmax(posteriors, axis=1))


@pytest.mark.parametrize("rows", [[0], [2, 0], list(range(80))], ids=["one", "two", "many"])
def test_a_row_has_the_same_bits_whatever_rows_stand_beside_it(rows):
    X, y = table(0)
    model = made(0.5).fit(X, y)
    assert np.array_equal(model.predict_proba(X[rows]), model.predict_proba(X)[rows])


# Without noise.


def pairs_that_decide(n, seed, n_classes=4):
    """Columns 0 and 2, and 1 and 3, say two things together, each with some errors, and nothing by themselves."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    first, second = rng.integers(2, size=(2, n))
    bits = np.where(rng.random((2, n)) < 0.1, 1 - np.array([y % 2, y // 2]), [y % 2, y // 2])
    return np.column_stack([first, second, first ^ bits[0], second ^ bits[1]]), y


def test_without_noise_it_is_the_naive_bayes_of_scikit_learn_on_the_joined_columns():
    """But for the one record that is added to counts here and not there."""
    X, y = pairs_that_decide(20_000, 0)
    ours = made(math.inf, declare((2,) * 4, 4)).fit(X, y)
    assert sorted(ours.pairs_.tolist()) == [[0, 2], [1, 3]]
    joined = np.column_stack([2 * X[:, 0] + X[:, 2], 2 * X[:, 1] + X[:, 3]])
    theirs = CategoricalNB(alpha=1e-10).fit(joined, y)
    found, expected = ours.predict_proba(X[:500]), theirs.predict_proba(joined[:500])
    assert np.abs(found - expected).max() < 1e-3 and np.abs(found - found.mean(axis=0)).max() > 0.2
    assert (ours.predict(X) == theirs.predict(joined)).mean() > 0.999


@pytest.mark.parametrize(("columns", "pairs"), [((None, 3), [[1, 1]]), ((2, None, 3), [[0, 2]])], ids=["one", "two"])
@pytest.mark.parametrize("epsilon", [1.0, math.inf])
def test_one_or_two_columns_need_no_choice(columns, pairs, epsilon, monkeypatch):
    monkeypatch.setattr(thrifty_pairs, "permute_and_flip", None)
    X, y = (np.tile(each.T, 100).T for each in table(0, columns=columns))
    model = made(epsilon, declare(columns)).fit(X, y)
    assert model.pairs_.tolist() == pairs and model.privacy_.accounted_epsilon == epsilon
    joined = X[:, pairs[0][0]] * columns[pairs[0][1]] + X[:, pairs[0][1]]
    theirs = CategoricalNB(alpha=1e-10).fit(joined[:, None], y)
    if math.isinf(epsilon):
        assert (model.predict(X) == theirs.predict(joined[:, None])).all()


def test_numbers_are_not_looked_at_and_do_not_suffice():
    X, y = table(0)
    other = X.copy()
    other[:, 1] = 1 - X[:, 1]
    assert np.array_equal(made(1.0).fit(X, y).predict_proba(X), made(1.0).fit(other, y).predict_proba(other))
    with pytest.raises(ParameterError, match="needs a nominal column"):
        made(1.0, declare((None, None))).fit(X[:, [1, 1]], y)


def test_no_column_is_in_two_pairs():
    for seed in range(10):
        pairs = made(0.1).fit(*table(seed)).pairs_
        assert len(pairs) == 2 and len(set(pairs.ravel().tolist())) == 4 and set(pairs.ravel().tolist()) <= set(NOMINAL)


# What a record moves: every table of one or two records of four columns and two classes, and of three of some.

SMALL = declare((2,) * 4, 2)
TYPES = list(itertools.product((0, 1), repeat=5))
"""Four columns and the class."""


@pytest.fixture(scope="module")
def told():
    """What the mechanisms are told: the calls of the choices, those of the counts."""
    answers, choices, counts = {}, [], []

    def choosing(quality, *rest):
        choices.append((tuple(quality), *rest))
        return 0

    def counting(exact, *rest):
        counts.append((exact.copy(), *rest))
        return exact.astype(float)

    sizes = ((1, TYPES), (2, TYPES), (3, TYPES[::3]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thrifty_pairs, "permute_and_flip", choosing)
        patch.setattr(thrifty_pairs, "laplace_vector", counting)
        for records in itertools.chain.from_iterable(itertools.combinations_with_replacement(t, n) for n, t in sizes):
            choices.clear(), counts.clear()
            rows = np.array(records)
            made(2.0, SMALL).fit(rows[:, :-1], rows[:, -1])
            answers[records] = [*choices], [*counts]
    return answers


def neighbours(told):
    for records in told:
        for i in range(len(records)):
            if (smaller := records[:i] + records[i + 1 :]) in told:
                yield told[smaller], told[records]


def scores_by_hand(records, pairs):
    found = []
    for pair in pairs:
        cells = Counter((tuple(record[f] for f in pair), record[-1]) for record in records)
        codes = {code for code, _ in cells}
        found.append(sum(max(cells[code, c] for c in (0, 1)) for code in codes))
    return tuple(found)


def test_scores_are_those_by_hand_and_the_calls_are_told_what_they_cost(told):
    all_pairs = list(itertools.combinations(range(4), 2))
    for records, (choices, counts) in told.items():
        for (quality, sensitivity, epsilon, _, monotone), pairs in zip(choices, (all_pairs, [(2, 3)]), strict=True):
            assert quality == scores_by_hand(records, pairs)
            assert (sensitivity, epsilon, monotone) == (1.0, 0.1, True)
        assert [(sensitivity, epsilon) for _, sensitivity, epsilon, _ in counts] == [(1.0, 0.9)] * 2


def test_a_record_raises_scores_by_0_to_1_and_one_cell_of_each_pair_by_1(told):
    seen = set()
    for (choices, counts), (more_choices, more_counts) in neighbours(told):
        for (before, *_), (after, *_) in zip(choices, more_choices, strict=True):
            seen |= set(np.subtract(after, before).tolist())
        for (before, *_), (after, *_) in zip(counts, more_counts, strict=True):
            assert sorted((after - before).tolist()) == [0] * 7 + [1]
    assert seen == {0.0, 1.0}


def test_no_sequence_of_choices_costs_more_than_their_share_and_one_nearly_as_much():
    """By the closed-form law of permute-and-flip: which pair is first, and which of those left is second."""
    plan, pairs = plan_pairs(8.0, 5, 2), list(itertools.combinations(range(5), 2))
    rng, dearest = np.random.default_rng(0), 0.0

    def law(records):
        scores = dict(zip(pairs, scores_by_hand(records, pairs), strict=True))
        first = permute_and_flip_law(np.array([list(scores.values())], dtype=float), 0.5, plan.choice_epsilon)[0]
        logs = []
        for i, pair in enumerate(pairs):
            left = [float(scores[other]) for other in pairs if not set(other) & set(pair)]
            logs += list(first[i] + permute_and_flip_law(np.array([left]), 0.5, plan.choice_epsilon)[0])
        return np.array(logs)

    for n in [0, 1, 2, 3, 5] * 40:
        records = [tuple(record) for record in rng.integers(2, size=(n + 1, 6)).tolist()]
        dearest = max(dearest, np.abs(law(records) - law(records[:-1])).max())
    assert 0.5 * 2 * plan.choice_epsilon < dearest <= 2 * plan.choice_epsilon * (1 + 1e-9)


# What it spends.


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 7.0, math.inf])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 9, 60])
@pytest.mark.parametrize("max_pairs", [1, 3, 4])
def test_the_plan_spends_the_budget(epsilon, k, max_pairs):
    plan = plan_pairs(epsilon, k, max_pairs)
    assert plan.n_counted * (plan.choice_epsilon + plan.count_epsilon) == pytest.approx(epsilon, rel=1e-12)
    assert plan.n_counted == (1 if k == 1 else min(max_pairs, k // 2)) and (plan.choice_epsilon > 0) == (k > 2)


@pytest.mark.parametrize("columns", [(3,), (3, 2), COLUMNS], ids=["one", "two", "five"])
@pytest.mark.parametrize("epsilon", [0.7, 30.0, math.inf])
def test_the_mechanisms_are_called_as_the_ledger_says(columns, epsilon, monkeypatch):
    spent = []

    def record(name):
        mechanism = getattr(thrifty_pairs, name)

        def recording(values, sensitivity, epsilon, rng, *monotone):
            spent.append(epsilon / sensitivity)
            return mechanism(values, sensitivity, epsilon, rng, *monotone)

        monkeypatch.setattr(thrifty_pairs, name, recording)

    record("laplace_vector"), record("permute_and_flip")
    model = made(epsilon, declare(columns)).fit(*table(0, columns=columns))
    assert sum(spent) == pytest.approx(epsilon, rel=1e-12) and len(spent) == (4 if len(columns) > 2 else 1)
    assert model.privacy_.accounted(ADDED_OR_REMOVED) == pytest.approx(epsilon, rel=1e-12)
    assert model.privacy_.accounted(REPLACED) == pytest.approx(2 * epsilon, rel=1e-12)
    assert (model.privacy_.keeps_claim or math.isinf(epsilon)) and not model.privacy_.faults


def test_nothing_but_noisy_numbers_and_choices_decides_what_the_model_is(monkeypatch):
    found = []
    for seed, n in ((0, 40), (1, 90), (2, 300)):
        answers = np.random.default_rng(0)
        monkeypatch.setattr(thrifty_pairs, "laplace_vector", lambda exact, *_, a=answers: a.normal(9, 9, len(exact)))
        monkeypatch.setattr(thrifty_pairs, "permute_and_flip", lambda scores, *_, a=answers: a.integers(len(scores)))
        model = made(0.5).fit(*table(seed, n))
        parts = (model.pairs_, model.log_sizes_, *model.log_ratios_)
        found.append(([part.tobytes() for part in parts], model.privacy_))
    assert found[0] == found[1] == found[2]


# Counts.


def test_nothing_is_too_short_for_many_rows_classes_or_categories(monkeypatch):
    """More than 2^16 rows of one cell, 300 classes, and 6,000 codes of a pair, of columns of 300 categories and 20."""
    caught = []
    monkeypatch.setattr(thrifty_pairs, "laplace_vector", lambda exact, *_: caught.append(exact) or exact.astype(float))
    y = np.concatenate([np.zeros(70_000, dtype=int), np.tile(np.arange(300), 20)])
    X = np.column_stack([7 * y % 300, (y + np.arange(len(y)) // 69_000) % 20])
    made(1.0, declare((300, 20), 300)).fit(X, y)
    counts = caught[0].reshape(300, 20, 300)
    expected = Counter(zip(*X.T.tolist(), y.tolist(), strict=True))
    assert max(expected.values()) > 2**16 and counts.sum() == len(y)
    assert all(counts[cell] == n for cell, n in expected.items())


# What it learns.


def test_it_learns_what_only_two_columns_say_together():
    X, y = pairs_that_decide(3_000, 0)
    domain = declare((2,) * 4, 4)
    pairs, single = (
        (estimator(1.0, domain=domain, random_state=0).fit(X[:2_000], y[:2_000]).predict(X[2_000:]) == y[2_000:]).mean()
        for estimator in (ThriftyPairsClassifier, ThriftyBayesClassifier)
    )
    assert pairs > 0.75 and single < 0.4


# What leaves.


def test_what_leaves_predicts_what_the_model_predicts():
    pytest.importorskip("opendp")
    X, y = table(1, n=300)
    model = made(5.0, noise="opendp").set_params(random_state=None).fit(X, y)
    left = model.release()
    assert left.KIND == "naive_bayes:pairs" and left.origin.privacy == model.privacy_.as_dict()
    for release in (left, from_json(left.to_json())):
        assert np.array_equal(release.predict_proba(X), model.predict_proba(X))
        assert np.array_equal(release.predict(X), model.predict(X))


def test_a_damaged_release_is_refused():
    pytest.importorskip("opendp")
    good = json.loads(made(2.0, noise="opendp").fit(*table(0)).release().to_json())
    contents = good["contents"]
    assert len(contents["pairs"]) == len(contents["log_ratios"]) == 2
    first, ratios = contents["pairs"][0], contents["log_ratios"]
    damages = [
        {"pairs": pairs} for pairs in ([first, [0, 6]], [first, [0, 1]], [first, [-1, 0]], [first], [first, [0]], None)
    ]
    damages += [
        {"pairs": [[0, 2.0], first]},
        {"pairs": []},
        {"log_ratios": ratios[:1]},
        {"log_ratios": [ratios[0], []]},
    ]
    damages += [
        {"log_ratios": [ratios[0], [row[:-1] for row in ratios[1]]]},
        {"log_ratios": [ratios[0][1:], ratios[1]]},
    ]
    damages += [{"classes": [0]}, {"classes": contents["classes"][::-1]}, {"log_sizes": [-1.0, 1.0, 1.0]}]
    damages += [{"log_sizes": [1.0]}, {"log_sizes": [None, 1.0, 1.0]}, {"log_sizes": [746.0, 1.0, 1.0]}]
    for damage in damages:
        with pytest.raises(ReleaseError, match=r"damaged: contents\.(pairs|classes|log_)"):
            from_json(sealed(good | {"contents": contents | damage}))
