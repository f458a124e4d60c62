"""Naive Bayes of Vaidya et al. against a slow reference in plain Python, scikit-learn's, and what a record can move."""

import itertools
import math

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from algorithms import Continuous, Domain, Nominal, VaidyaBayesClassifier
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.bayes import vaidya_bayes
from tests.reference_trees import COLUMNS, CONTINUOUS, DOMAIN, N_CLASSES, NOMINAL, SEED, TABLES, as_rows, noisy, table

CLASSES = range(N_CLASSES)
N_ANSWERS = 1 + len(NOMINAL) + 2 * len(CONTINUOUS)


def made(epsilon, domain=DOMAIN, **parameters):
    return VaidyaBayesClassifier(epsilon, domain=domain, random_state=SEED, **parameters)


# The reference: lists of rows (values, label), no arrays.


def on_grid(number):
    return round(number * 2**20) / 2**20


def scaled(f, value):
    lower, upper = COLUMNS[f]
    return 2 * (value - lower) / (upper - lower) - 1


def moments_of(numbers):
    """Mean and deviation of the numbers of a class, 0 where there are none."""
    n = max(len(numbers), 1)
    mean = math.fsum(map(on_grid, numbers)) / n
    return mean, math.sqrt(max(math.fsum(on_grid(number**2) for number in numbers) / n - mean**2, 0))


def printed_moments(groups, share, rng):
    """With noise for what one record more would change of these very rows."""
    found = []
    for numbers in groups:
        n, (mean, deviation) = len(numbers), moments_of(numbers)
        mean = noisy(mean, share * (n + 1) / 2, rng)
        found.append((mean, noisy(deviation, share * (n + 1) / 2 / math.sqrt(max(n, 1)), rng)))
    return found


def sound_moments(sizes, all_sums, all_squares):
    found = []
    for size, total, squares in zip(sizes, all_sums, all_squares, strict=True):
        n = max(size, 1)
        mean = min(max(total / n, -1), 1)
        found.append((mean, math.sqrt(min(max(squares / n - mean**2, 0), 1))))
    return found


def reference_posteriors(rows, asked, share, variant, rng):
    """As the docstring tells it; answers take their noise in the order sizes, nominal columns, continuous ones."""
    members = [[values for values, label in rows if label == c] for c in CLASSES]
    sizes = [noisy(len(group), share, rng) for group in members]
    shares, moments = {}, {}
    for f in NOMINAL:
        cells = {
            (v, c): max(noisy(sum(values[f] == v for values in members[c]), share, rng), 0)
            for v, c in itertools.product(range(COLUMNS[f]), CLASSES)
        }
        for (v, c), n in cells.items():
            total = sum(cells[u, c] for u in range(COLUMNS[f]))
            shares[f, v, c] = max(n / total if total else 1 / COLUMNS[f], 0.001 / COLUMNS[f])
    columns = {f: [[scaled(f, values[f]) for values in group] for group in members] for f in CONTINUOUS}
    if variant == "paper":
        moments = {f: printed_moments(groups, share, rng) for f, groups in columns.items()}
    else:
        sums = {f: [noisy(math.fsum(map(on_grid, group)), share, rng) for group in columns[f]] for f in CONTINUOUS}
        squares = {
            f: [noisy(math.fsum(on_grid(x * x) for x in group), share, rng) for group in columns[f]] for f in CONTINUOUS
        }
        moments = {f: sound_moments(sizes, sums[f], squares[f]) for f in CONTINUOUS}
    posteriors = []
    for values, _ in asked:
        logs = []
        for c in CLASSES:
            log = math.log(max(sizes[c], 1)) + sum(math.log(shares[f, int(values[f]), c]) for f in NOMINAL)
            for f in CONTINUOUS:
                mean, deviation = moments[f][c][0], max(moments[f][c][1], 0.001)
                log -= ((scaled(f, values[f]) - mean) / deviation) ** 2 / 2 + math.log(deviation)
            logs.append(log)
        products = [math.exp(log - max(logs)) for log in logs]
        posteriors.append([product / sum(products) for product in products])
    return posteriors


@TABLES
@pytest.mark.parametrize(("variant", "budget"), [("paper", "divided"), ("paper", "each"), ("sound", "divided")])
@pytest.mark.parametrize("epsilon", [math.inf, 900.0, 60.0, 2.0])
def test_it_is_the_reference(seed, variant, budget, epsilon):
    X, y = table(seed, n=80)
    stream = np.random.default_rng(np.random.SeedSequence(np.random.RandomState(SEED).randint(2**31 - 1)))
    model = made(epsilon, variant=variant, budget=budget).fit(X, y)
    rows = as_rows(X, y)
    share = epsilon / N_ANSWERS if budget == "divided" else epsilon
    posteriors = reference_posteriors(rows, rows[:25], share, variant, stream)
    assert model.predict_proba(X[:25]) == pytest.approx(np.array(posteriors), rel=1e-7, abs=1e-12)


# Without noise.


def test_without_noise_counts_are_the_naive_bayes_of_scikit_learn():
    rng = np.random.default_rng(0)
    y = rng.choice(3, 300, p=[0.5, 0.3, 0.2])  # every value comes with every class
    X = np.column_stack([np.where(rng.random(300) < 0.4, (y + v) % v, rng.integers(v, size=300)) for v in (2, 3, 4)])
    domain = Domain([Nominal(f"f{v}", range(v)) for v in (2, 3, 4)], Nominal("y", range(3)))
    theirs = CategoricalNB(alpha=1e-10).fit(X, y).predict_proba(X)
    for variant in ("paper", "sound"):
        assert made(math.inf, domain, variant=variant).fit(X, y).predict_proba(X) == pytest.approx(theirs, rel=1e-6)


def test_without_noise_numbers_are_the_naive_bayes_of_scikit_learn():
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=300)
    X = np.clip(rng.normal(y[:, None] * [1.0, -2.0], [1.0, 3.0]), -8, 8)
    domain = Domain([Continuous("a", -8, 8), Continuous("b", -8, 8)], Nominal("y", range(3)))
    theirs = GaussianNB(var_smoothing=0.0).fit(X, y).predict_proba(X)
    for variant in ("paper", "sound"):
        assert made(math.inf, domain, variant=variant).fit(X, y).predict_proba(X) == pytest.approx(theirs, abs=2e-5)


@pytest.mark.parametrize("variant", ["paper", "sound"])
def test_the_order_of_rows_changes_no_digit(variant):
    X, y = table(0, n=200)
    order = np.random.default_rng(0).permutation(200)
    one, other = made(3.0, variant=variant).fit(X, y), made(3.0, variant=variant).fit(X[order], y[order])
    assert one.means_.tobytes() == other.means_.tobytes()
    assert one.predict_proba(X).tobytes() == other.predict_proba(X).tobytes()


# What a record moves, and what is spent.


def test_printed_sensitivities_are_what_a_record_more_can_change_and_less_than_one_that_leaves_can():
    """Over all tables of up to five numbers at the ends and in the middle of the range."""
    for n in range(1, 6):
        changes = np.zeros(2)
        for numbers in itertools.combinations_with_replacement((-1.0, 0.0, 1.0), n):
            for more in (-1.0, 0.0, 1.0):
                before, after = np.array(moments_of(numbers)), np.array(moments_of([*numbers, more]))
                changes = np.maximum(changes, np.abs(after - before))
        printed = vaidya_bayes._find_printed_sensitivities(n)
        assert changes.tolist() == pytest.approx(list(printed), rel=1e-5)
        fewer = vaidya_bayes._find_printed_sensitivities(n + 1)
        assert changes[0] > fewer[0] * 1.1, "the same record, as it leaves, has the noise of the larger table"


def test_no_constant_bounds_the_loss_of_what_is_printed():
    """Laplace noise of two scales: the loss grows with the distance of what is seen."""
    (before, _), (after, _) = (vaidya_bayes._find_printed_sensitivities(n) for n in (10, 11))
    losses = [math.log(after / before) + far / after - far / before for far in (1.0, 10.0, 100.0)]
    assert losses[0] < losses[1] < losses[2] and losses[2] > 1 / before


def test_a_record_moves_each_sum_of_the_sound_variant_by_at_most_one(monkeypatch):
    told, plain = [], vaidya_bayes.laplace_vector
    monkeypatch.setattr(
        vaidya_bayes, "laplace_vector", lambda values, *given: told.append(np.copy(values)) or plain(values, *given)
    )
    X, y = table(0, n=40)
    ends = [[column[end] if isinstance(column, tuple) else 0 for column in COLUMNS] for end in (0, 1)]
    for record in ends:
        told.clear()
        made(2.0, variant="sound").fit(X, y)
        made(2.0, variant="sound").fit(np.vstack([X, record]), np.append(y, 1))
        half = len(told) // 2
        moved = [np.abs(after - before) for before, after in zip(told[:half], told[half:], strict=True)]
        assert len(moved) == N_ANSWERS and max(change.sum() for change in moved) == 1.0
        assert all((change > 0).sum() <= 1 for change in moved)


@pytest.mark.parametrize("nominal_alone", [True, False])
def test_what_is_claimed_accounted_and_confessed(nominal_alone):
    X, y = table(0)
    domain = Domain([DOMAIN.features[f] for f in NOMINAL], DOMAIN.target) if nominal_alone else DOMAIN
    X = X[:, NOMINAL] if nominal_alone else X
    printed, each, sound = (
        made(0.7, domain, **given).fit(X, y).privacy_ for given in ({}, {"budget": "each"}, {"variant": "sound"})
    )
    assert sound.keeps_claim and sound.accounted(ADDED_OR_REMOVED) == pytest.approx(0.7, rel=1e-12)
    assert sound.accounted(REPLACED) == pytest.approx(1.4, rel=1e-12)
    assert printed.keeps_claim == nominal_alone and not each.keeps_claim
    assert printed.noisy_epsilon == pytest.approx(0.7, rel=1e-12)
    assert each.noisy_epsilon == pytest.approx(0.7 * (1 + len(NOMINAL) if nominal_alone else N_ANSWERS), rel=1e-12)
    assert {fault.name for fault in printed.faults} == (set() if nominal_alone else {"sensitivity from the rows"})
    assert {fault.name for fault in each.faults} - {"sensitivity from the rows"} == {"budget spent more than once"}
    assert math.isinf(printed.accounted_epsilon) != nominal_alone


def test_it_learns_with_a_usual_budget():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=4000)
    X = np.column_stack([np.clip(rng.normal(4 * y - 2, 1.5), -8, 8), np.where(rng.random(4000) < 0.8, y, 1 - y)])
    domain = Domain([Continuous("a", -8, 8), Nominal("b", (0, 1))], Nominal("y", (0, 1)))
    for variant in ("paper", "sound"):
        model = made(1.0, domain, variant=variant).fit(X[:2000], y[:2000])
        assert model.score(X[2000:], y[2000:]) > 0.9
