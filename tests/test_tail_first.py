"""Thrifty for numbers against its parts and a slow gate, what it spends, what leaves, and that it finds a tail."""

import itertools
import json
import math

import numpy as np
import pytest

from algorithms import (
    Continuous,
    Domain,
    ReleaseError,
    ThriftyForestRegressor,
    ThriftyRegressor,
)
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.combined import thrifty_regressor
from algorithms.combined.thrifty_regressor import N_BINS, cut_histogram, divide_budget, find_bins, find_tail
from algorithms.forests import thrifty_forest
from algorithms.released.document import from_json
from algorithms.released.forest import ReleasedForest
from algorithms.released.product import ReleasedTail, expect_target
from tests.made_up_releases import sealed
from tests.reference_trees import COLUMNS, DOMAIN, SEED, TABLES, columns_and_signal

LOWER, UPPER = -8.0, 24.0
NUMBERS = Domain(DOMAIN.features, Continuous("y", LOWER, UPPER))
BUDGETS = (0.1, 1.0, 1.7, 7.77, 100.0, 12345.6)


def made(epsilon, **parameters):
    return ThriftyRegressor(epsilon, **{"domain": NUMBERS, "random_state": SEED} | parameters)


def without_tail(seed, n=400):
    X, signal = columns_and_signal(seed, n)
    return X, np.clip(signal, 0, 16)


def with_tail(seed, n=2000, share=0.06):
    """Rows whose target lies far below all others where the first column is small, but for a few."""
    X, y = without_tail(seed, n)
    is_far = (X[:, 0] <= np.quantile(X[:, 0], share)) ^ (np.random.default_rng(seed).random(n) < 0.01)
    return X, np.where(is_far, LOWER + 1 + 0.02 * y, 14 + 0.3 * y)


# The gate: what the histogram says, by brute force.


def slow_cut(noisy):
    """(cut, means, n, peak, valley, explained) of the best of all cuts of the records that a histogram stands for."""
    m, found = len(noisy), []
    places = [(i + 0.5) / m for i in range(m)]
    counts = [max(count, 0.0) for count in noisy]

    def spread(part):
        n = sum(counts[i] for i in part)
        mean = sum(counts[i] * places[i] for i in part) / n if n else 0.0
        return n, mean, sum(counts[i] * (places[i] - mean) ** 2 for i in part)

    for cut in range(1, m):
        (n, low, left), (more, high, right) = spread(range(cut)), spread(range(cut, m))
        if n and more:
            found.append((left + right, cut, low, high, n < more))
    if not found:
        return None
    within, cut, low, high, is_below = min(found)
    middle, third = (low + high) / 2, (high - low) / 6
    between = [noisy[i] for i in range(m) if middle - third < places[i] < middle + third]
    smaller = list(noisy[:cut] if is_below else noisy[cut:])
    valley = sum(between) / len(between) if between else math.inf
    return cut, (low, high), sum(smaller), max(smaller), valley, 1 - within / spread(range(m))[2]


def slow_gate(noisy, epsilon):
    found = slow_cut(noisy)
    if found is None:
        return False
    _, _, smaller, peak, valley, explained = found
    n = sum(noisy)
    return explained >= 0.5 and 0.005 * n <= smaller <= 0.12 * n and smaller >= 150 / epsilon and valley <= peak / 3


def test_a_histogram_is_cut_and_judged_as_by_brute_force():
    rng, opened = np.random.default_rng(0), 0
    for _ in range(2000):
        noisy = rng.laplace(0, 10, N_BINS) + (rng.random(N_BINS) < 0.3) * rng.exponential(1000, N_BINS)
        noisy[: N_BINS // 2] *= rng.choice([1.0, 0.1, 0.02])
        cut, means, *others = slow_cut(noisy)
        tail = cut_histogram(noisy)
        assert tail.cut == cut and tail.means == pytest.approx(means) and tail.means[0] < tail.means[1]
        assert tail[2:] == pytest.approx(others, abs=1e-9)
        found = find_tail(noisy, 1.0)
        assert (found is not None) == slow_gate(noisy, 1.0)
        opened += found is not None
    assert 100 < opened < 1000


@pytest.mark.parametrize("counts", [np.zeros(N_BINS), -np.ones(N_BINS), np.eye(N_BINS)[3] * 50])
def test_records_of_one_bin_or_none_have_no_tail(counts):
    assert cut_histogram(counts) is None and find_tail(counts, 1.0) is None


def test_a_histogram_of_more_records_than_32_bits_count_is_cut_alike():
    noisy = np.zeros(N_BINS)
    noisy[[1, 12, 13]] = [400, 5000, 4000]
    few, many = find_tail(noisy, 1.0), find_tail(noisy * 2.0**36, 1.0)
    assert many.cut == few.cut and (many.means == few.means).all() and many.n == few.n * 2.0**36


def test_targets_of_every_size_are_in_the_bin_of_their_declared_bounds():
    shares = np.concatenate([np.linspace(0, 1, 1601), np.nextafter(np.arange(1, 16) / 16, 0)])
    expected = [sum(share >= k / N_BINS for k in range(1, N_BINS)) for share in shares]
    assert find_bins(shares).tolist() == expected


# What it is made of.


@TABLES
@pytest.mark.parametrize("epsilon", [0.3, 8.0, 100.0, math.inf, 1e-9])
def test_without_a_tail_it_is_the_thrifty_forest_on_the_rest_of_the_budget(seed, epsilon, monkeypatch):
    monkeypatch.setattr(thrifty_forest, "MOST_TREES", 3)
    X, y = without_tail(seed)
    model = made(epsilon).fit(X, y)
    rest = 0.97 * epsilon if 1e-9 < epsilon < math.inf else epsilon
    assert model.tail_ is None and model.sides_ is None and model.forest_.epsilon == pytest.approx(rest, rel=1e-15)
    state = model.forest_.random_state
    forest = ThriftyForestRegressor(model.forest_.epsilon, domain=NUMBERS, random_state=state).fit(X, y)
    assert [tree.tobytes() for tree in model.forest_.trees_] == [tree.tobytes() for tree in forest.trees_]
    assert (model.predict(X) == forest.predict(X)).all()
    if rest == epsilon:
        assert model.privacy_ == forest.privacy_


@TABLES
@pytest.mark.parametrize("epsilon", [3.0, 20.0, 200.0])
def test_with_a_tail_both_forests_are_added(seed, epsilon):
    X, y = with_tail(seed)
    model = made(epsilon).fit(X, y)
    low, high = model.tail_.means
    assert model.sides_.epsilon == pytest.approx(epsilon / 3, rel=1e-12)
    above = model.sides_.predict_proba(X)[:, 1]
    expected = (1 - above) * low + above * high + model.forest_.predict(X)
    assert model.predict(X) == pytest.approx(LOWER + (UPPER - LOWER) * np.clip(expected, 0, 1), rel=1e-12)
    is_above = np.floor((y - LOWER) / (UPPER - LOWER) * N_BINS) >= model.tail_.cut
    assert 0.04 < 1 - is_above.mean() < 0.1 and (model.sides_.predict(X) == is_above).mean() > 0.95


def test_residuals_are_told_the_bounds_that_they_have(monkeypatch):
    told = []
    fit = ThriftyForestRegressor.fit
    monkeypatch.setattr(ThriftyForestRegressor, "fit", lambda part, X, y: told.append((part, y)) or fit(part, X, y))
    for seed in range(5):
        X, y = with_tail(seed)
        model = made(20.0).fit(X, y)
        part, residuals = told.pop()
        bounds, (low, high) = part.domain.target, model.tail_.means
        assert (bounds.lower, bounds.upper) == (-high, 1 - low)
        assert bounds.lower <= residuals.min() < residuals.max() <= bounds.upper and part.clipped_ == {}


def test_what_is_expected_of_a_record_has_the_same_bits_whichever_others_there_are():
    X, y = with_tail(0)
    model = made(200.0).fit(X, y)
    rows = np.asfortranarray(X)
    expected = expect_target(model.sides_.predict_proba(rows), model.tail_.means)
    for n in (1, 2, 3, 5, 8, 13, 100, 1999):
        some = np.random.default_rng(n).permutation(len(X))[:n]
        assert (expect_target(model.sides_.predict_proba(rows[some]), model.tail_.means) == expected[some]).all()


def test_parts_have_seeds_of_their_own():
    X, y = with_tail(0)
    model, again, other = made(20.0).fit(X, y), made(20.0).fit(X, y), made(20.0, random_state=1).fit(X, y)
    assert model.sides_.random_state != model.forest_.random_state
    assert (model.predict(X) == again.predict(X)).all() and (model.predict(X) != other.predict(X)).any()


@pytest.mark.parametrize("table", [with_tail, without_tail])
def test_a_fitted_model_predicts_alike_whatever_its_parameters_are_set_to(table):
    X, y = table(0)
    model = made(20.0).fit(X, y)
    before = model.predict(X)
    for part in filter(None, (model, model.sides_, model.forest_)):
        part.set_params(epsilon=0.5)
    assert (model.predict(X) == before).all()


# What it spends.


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("table", [with_tail, without_tail])
def test_the_parts_spend_the_budget(epsilon, table, monkeypatch):
    calls = []
    laplace_vector = thrifty_regressor.laplace_vector
    monkeypatch.setattr(
        thrifty_regressor, "laplace_vector", lambda *given: calls.append(given[1:3]) or laplace_vector(*given)
    )
    X, y = table(0)
    model = made(epsilon).fit(X, y)
    ((sensitivity, paid),) = calls
    assert sensitivity == 1.0 and paid == divide_budget(epsilon, False).histogram == pytest.approx(0.03 * epsilon)
    spent = [part.privacy_.accounted_epsilon for part in (model.sides_, model.forest_) if part is not None]
    assert paid + sum(spent) == pytest.approx(epsilon, rel=1e-12) == model.privacy_.accounted(ADDED_OR_REMOVED)
    assert model.privacy_.accounted(REPLACED) == pytest.approx(2 * epsilon, rel=1e-12)
    assert model.privacy_.keeps_claim and not model.privacy_.faults
    assert len(model.privacy_.ledger.parts) == 1 + len(spent)


def test_a_record_more_moves_one_count_of_the_histogram_by_1(monkeypatch):
    seen = []
    monkeypatch.setattr(
        thrifty_regressor, "laplace_vector", lambda counts, *_: seen.append(counts) or counts.astype(np.float64)
    )
    X, y = without_tail(0, 50)
    for n in range(30, 50):
        made(1.0).fit(X[:n], y[:n])
    for few, more in itertools.pairwise(seen):
        assert sorted(more - few) == [0] * (N_BINS - 1) + [1]


def test_declared_bounds_decide_and_not_those_of_the_rows():
    """The same rows under wider bounds: none of them is far from the others by these."""
    X, y = with_tail(0)
    wide = Domain(DOMAIN.features, Continuous("y", LOWER - 1000, UPPER + 1000))
    assert made(20.0).fit(X, y).tail_ is not None and made(20.0, domain=wide).fit(X, y).tail_ is None


@pytest.mark.parametrize("table", [with_tail, without_tail])
def test_values_beyond_the_bounds_are_clipped_and_counted_once(table):
    X, y = table(0)
    beyond, at = y.copy(), y.copy()
    beyond[:3], at[:3] = (-1e9, UPPER + 1, math.inf), (LOWER, UPPER, UPPER)
    model, same = made(20.0).fit(X, beyond), made(20.0).fit(X, at)
    assert model.clipped_ == {"y": 3} and same.clipped_ == {} == model.forest_.clipped_
    predicted = model.predict(X)
    assert (predicted == same.predict(X)).all() and LOWER <= predicted.min() < predicted.max() <= UPPER


def test_predictions_stay_within_the_bounds_however_large_the_noise_is(monkeypatch):
    X, y = with_tail(0)
    always = thrifty_regressor.Tail(8, np.array([0.05, 0.95]), 100.0, 100.0, 0.0, 1.0)
    monkeypatch.setattr(thrifty_regressor, "find_tail", lambda noisy, epsilon: always)
    for seed in range(5):
        predicted = made(0.01, random_state=seed).fit(X, y).predict(X)
        assert predicted.min() >= LOWER and predicted.max() <= UPPER


# What leaves.


@pytest.mark.long
@pytest.mark.parametrize(("table", "kind"), [(with_tail, ReleasedTail), (without_tail, ReleasedForest)])
@pytest.mark.parametrize("epsilon", [20.0, 100.0])
def test_what_leaves_predicts_what_the_model_predicts(table, kind, epsilon, monkeypatch):
    monkeypatch.setattr(thrifty_forest, "MOST_TREES", 3)
    pytest.importorskip("opendp")
    X, y = table(1)
    model = made(epsilon, noise="opendp", random_state=None).fit(X, y)
    assert model.forest_.random_state is None, "32 bits of a seed could be tried"
    left = model.release()
    assert type(left) is kind and left.origin.privacy == model.privacy_.as_dict()
    for release in (left, from_json(left.to_json())):
        np.testing.assert_allclose(release.predict(X), model.predict(X), rtol=1e-9)
        assert release.origin.domain.target == NUMBERS.target


def test_a_release_that_cannot_predict_is_refused():
    pytest.importorskip("opendp")
    left = made(20.0, noise="opendp", random_state=None).fit(*with_tail(1)).release()
    document = json.loads(left.to_json())
    contents = document["contents"]
    votes = contents["sides"] | {"combines": "votes"}
    broken = [{"means": contents["means"][::-1]}, {"means": [0.5, 0.5]}, {"means": [0.5, 1.5]}, {"means": [0.5]}]
    broken += [{"sides": votes}, {"sides": contents["rest"]}, {"rest": contents["sides"]}, {"rest": None}]
    for damage in broken:
        with pytest.raises(ReleaseError, match=r"this release is damaged: contents\.(means|sides|rest)"):
            from_json(sealed(document | {"contents": contents | damage}))
    with pytest.raises(ReleaseError, match="damaged"):
        from_json(sealed(document | {"domain": document["domain"] | {"target": {"y": ["a", "b"]}}}))


def test_records_that_cannot_be_used_are_left_out_of_all_parts():
    pytest.importorskip("opendp")
    X, y = with_tail(0)
    bad = np.vstack([X, np.full((3, len(COLUMNS)), math.nan), X[:2]]), np.append(y, [1.0, 2.0, 3.0, math.nan, math.nan])
    model = made(20.0, noise="opendp", random_state=None).fit(*bad)
    assert model.privacy_.keeps_claim and not hasattr(model, "clipped_") and len(model.predict(X)) == len(X)


# What it is good for.


def draw_cluster(rng, n, share):
    """A wave, and in some rows, told by one column, another target far below."""
    X = rng.random((n, 5))
    wave = 0.75 + 0.1 * np.sin(6 * X[:, 0]) + rng.normal(0, 0.02, n)
    return X, np.where(X[:, 3] < share, 0.05 + 0.03 * X[:, 4], wave)


def mean_error(estimator, epsilon, share):
    domain = Domain(tuple(Continuous(f"x{j}", 0, 1) for j in range(5)), Continuous("y", 0, 1))
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        (X, y), (others, truth) = draw_cluster(rng, 6000, share), draw_cluster(rng, 2000, share)
        model = estimator(epsilon, domain=domain, random_state=seed).fit(X, y)
        found.append(((model.predict(others) - truth) ** 2).mean())
    return np.mean(found)


@pytest.mark.parametrize("epsilon", [2.0, 10.0])
def test_it_learns_a_far_cluster_that_the_forest_does_not(epsilon):
    assert mean_error(ThriftyRegressor, epsilon, 0.04) < 0.5 * mean_error(ThriftyForestRegressor, epsilon, 0.04)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0, 10.0])
def test_where_there_is_no_tail_one_is_seldom_found(epsilon):
    rng, found = np.random.default_rng(0), 0
    for _ in range(200):
        counts = np.bincount(find_bins(draw_cluster(rng, 6000, 0.0)[1]), minlength=N_BINS)
        found += find_tail(counts + rng.laplace(0, 1 / (0.03 * epsilon), N_BINS), epsilon) is not None
    assert found <= 25, "noise in an empty bin is taken for a tail"
