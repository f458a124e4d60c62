"""The mechanisms against their closed forms: frequencies, limits, extreme budgets, errors.

Every p-value has one fixed seed and a threshold of 1e-4: half or twice the scale gives p < 1e-30 at these sizes,
in one setting at least.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from algorithms.mechanisms import (
    exponential,
    laplace,
    laplace_of,
    laplace_vector,
    mix_bits,
    permute_and_flip,
    sup_norm_spread,
    sup_norm_vector,
    uniform_of,
)

SMALLEST_P = 1e-4
N_DRAWS = 20_000
N_CHOICES = 6_000  # they take longer
SETTINGS = [(1.0, 0.5), (2.0, 0.5), (1.0, 3.0)]  # sensitivity, epsilon


def frequencies(mechanism, *arguments):
    return np.bincount([mechanism(*arguments) for _ in range(N_CHOICES)], minlength=len(arguments[0]))


def assert_drawn_from(probabilities, counts):
    """Chi-square; candidates that are hardly ever expected are put together."""
    probabilities, counts = np.asarray(probabilities), np.asarray(counts)
    assert counts[probabilities == 0].sum() == 0
    order = np.argsort(-probabilities)
    expected, seen = probabilities[order] * counts.sum(), counts[order]
    n_frequent = max(int((expected >= 10).sum()), 1)
    rare = expected[n_frequent:].sum()
    expected, seen = np.append(expected[:n_frequent], rare), np.append(seen[:n_frequent], seen[n_frequent:].sum())
    if rare < 10:  # too few to be a cell of its own
        expected = np.append(expected[: n_frequent - 1], expected[n_frequent - 1] + rare)
        seen = np.append(seen[: n_frequent - 1], seen[n_frequent - 1 :].sum())
    assert len(seen) == 1 or stats.chisquare(seen, expected).pvalue > SMALLEST_P


@pytest.mark.parametrize(("sensitivity", "epsilon"), SETTINGS)
def test_laplace_noise_has_scale_sensitivity_over_epsilon(sensitivity, epsilon):
    rng = np.random.default_rng(1)
    draws = [laplace(3.0, sensitivity, epsilon, rng) for _ in range(N_DRAWS)]
    assert stats.kstest(draws, stats.laplace(3.0, sensitivity / epsilon).cdf).pvalue > SMALLEST_P


@pytest.mark.parametrize(("sensitivity", "epsilon"), SETTINGS)
def test_every_entry_of_a_vector_gets_noise_of_its_own(sensitivity, epsilon):
    rng = np.random.default_rng(2)
    exact = np.array([5, 0, -2])
    noise = np.array([laplace_vector(exact, sensitivity, epsilon, rng) for _ in range(N_DRAWS // 2)]) - exact
    for column in noise.T:
        assert stats.kstest(column, stats.laplace(0, sensitivity / epsilon).cdf).pvalue > SMALLEST_P
    for one, other in itertools.combinations(noise.T, 2):
        assert stats.spearmanr(one, other).pvalue > SMALLEST_P


# Numbers that are functions of a key: keys in a row, as poor as keys can be.

KEYS = np.arange(N_DRAWS, dtype=np.uint64)


@pytest.mark.parametrize(("sensitivity", "epsilon"), SETTINGS)
@pytest.mark.parametrize("m", [1, 2, 7])
def test_noise_of_the_maximum_norm_follows_its_density(sensitivity, epsilon, m):
    """Of a density in proportion to exp(-ε max|x| / Δ) the maximum is Gamma(m), and all points of a shell are alike."""
    rng, exact = np.random.default_rng(27), np.arange(m, dtype=float)
    noise = np.array([sup_norm_vector(exact, sensitivity, epsilon, rng) for _ in range(N_DRAWS)]) - exact
    largest = np.abs(noise).max(axis=1)
    assert stats.kstest(largest, stats.gamma(m, scale=sensitivity / epsilon).cdf).pvalue > SMALLEST_P
    face = 2 * np.abs(noise).argmax(axis=1) + (noise.max(axis=1) == largest)
    assert_drawn_from(np.full(2 * m, 1 / (2 * m)), np.bincount(face, minlength=2 * m))
    inside = (noise / largest[:, np.newaxis])[np.abs(noise) < largest[:, np.newaxis]]
    assert m == 1 or stats.kstest(inside, stats.uniform(-1, 2).cdf).pvalue > SMALLEST_P
    assert noise.std(axis=0) == pytest.approx(sup_norm_spread(m) * sensitivity / epsilon, rel=0.05)
    if m == 1:
        assert stats.kstest(noise[:, 0], stats.laplace(0, sensitivity / epsilon).cdf).pvalue > SMALLEST_P


def test_keys_are_mixed_as_splitmix64_does():
    """Its published outputs for the seeds 0 and 1234567; the state goes on by the golden ratio."""
    published = {
        0: [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC],
        1234567: [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431],
    }
    for seed, outputs in published.items():
        states = [(seed + i * 0x9E3779B97F4A7C15) % 2**64 for i in range(4)]
        assert [int(mix_bits(np.uint64(state))) for state in states] == outputs


@pytest.mark.parametrize("step", [1, 2**32, 0x9E3779B97F4A7C15])
def test_uniform_numbers_of_keys_are_even_and_independent(step):
    """Also of keys that are as far apart as the mixing itself moves them."""
    draws = np.array([uniform_of(key) for key in KEYS * np.uint64(step)])
    assert stats.kstest(draws, stats.uniform.cdf).pvalue > SMALLEST_P
    assert len(set(draws)) == N_DRAWS and draws.min() > 0 and draws.max() < 1
    for lag in (1, 2, 3, 64):
        assert stats.spearmanr(draws[:-lag], draws[lag:]).pvalue > SMALLEST_P
    for bit in range(52):
        n_set = int((np.floor(draws * 2.0**52).astype(np.uint64) >> np.uint64(bit) & np.uint64(1)).sum())
        assert stats.binomtest(n_set, N_DRAWS).pvalue > SMALLEST_P


@pytest.mark.parametrize(("sensitivity", "epsilon"), SETTINGS)
def test_laplace_noise_of_keys_has_scale_sensitivity_over_epsilon(sensitivity, epsilon):
    draws = np.array([laplace_of(key, 3.0, sensitivity, epsilon) for key in KEYS])
    assert stats.kstest(draws, stats.laplace(3.0, sensitivity / epsilon).cdf).pvalue > SMALLEST_P
    assert stats.spearmanr(draws[:-1], draws[1:]).pvalue > SMALLEST_P


def test_noise_of_a_key_is_the_same_whatever_it_protects_and_however_often():
    for key in KEYS[:50]:
        noise = laplace_of(key, 0.0, 1.0, 0.5)
        assert laplace_of(key, 0.0, 1.0, 0.5) == noise
        assert laplace_of(key, 40.0, 1.0, 0.5) == pytest.approx(40.0 + noise, rel=1e-12)
        assert laplace_of(key, 0.0, 3.0, 0.5) == pytest.approx(3 * noise, rel=1e-12)
    assert len({laplace_of(key, 0.0, 1.0, 0.5) for key in KEYS}) == N_DRAWS


def test_the_smallest_and_largest_numbers_of_a_key_give_finite_noise():
    """Keys whose 52 leading bits are all 0 or all 1, found by undoing the mixing."""
    for bits in (0, 2**64 - 1):
        key = np.uint64(unmixed(bits))
        assert int(mix_bits(key)) == bits
        assert 0 < uniform_of(key) < 1
        assert abs(laplace_of(key, 0.0, 1.0, 1.0)) == pytest.approx(52 * math.log(2), rel=1e-9)


def unmixed(z):
    """The key that is mixed to ``z``."""
    z = without_shift(z, 31) * pow(0x94D049BB133111EB, -1, 2**64) % 2**64
    z = without_shift(z, 27) * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64
    return (without_shift(z, 30) - 0x9E3779B97F4A7C15) % 2**64


def without_shift(z, n_bits):
    """The x with ``x ^ (x >> n_bits) == z``."""
    x = z
    for _ in range(64 // n_bits):
        x = z ^ (x >> n_bits)
    return x


QUALITIES = [[0.0, 1.0, 3.0], [-2.0, -2.0, 0.0, 1.5], [4.0]]


@pytest.mark.parametrize("quality", QUALITIES)
@pytest.mark.parametrize(("sensitivity", "epsilon"), SETTINGS)
def test_exponential_follows_its_law(quality, sensitivity, epsilon):
    rng = np.random.default_rng(3)
    weights = np.exp(np.array(quality) * epsilon / (2 * sensitivity))
    counts = frequencies(exponential, np.array(quality), np.ones(len(quality)), sensitivity, epsilon, rng)
    assert_drawn_from(weights / weights.sum(), counts)


def test_exponential_weighs_with_its_base_measure():
    rng = np.random.default_rng(4)
    quality, measure = np.array([0.0, 1.0, 2.0, 9.0]), np.array([5.0, 0.5, 1.0, 0.0])
    weights = measure * np.exp(quality * 1.5 / 2)
    counts = frequencies(exponential, quality, measure, 1.0, 1.5, rng)
    assert_drawn_from(weights / weights.sum(), counts)


def test_exponential_takes_one_uniform_number_whatever_epsilon_is():
    for epsilon in (0.1, 1e6, math.inf):
        rng, twin = np.random.default_rng(5), np.random.default_rng(5)
        exponential(np.array([0.0, 1.0]), np.ones(2), 1.0, epsilon, rng)
        twin.random()
        assert rng.random() == twin.random()


def permute_and_flip_law(quality, sensitivity, epsilon):
    """Visit the candidates in every order; accept each with its probability if none before was accepted."""
    accept = [math.exp(epsilon * (q - max(quality)) / (2 * sensitivity)) for q in quality]
    law = np.zeros(len(quality))
    orders = list(itertools.permutations(range(len(quality))))
    for order in orders:
        still_open = 1.0
        for candidate in order:
            law[candidate] += still_open * accept[candidate] / len(orders)
            still_open *= 1 - accept[candidate]
    return law


@pytest.mark.parametrize("quality", QUALITIES)
@pytest.mark.parametrize(("sensitivity", "epsilon"), SETTINGS)
def test_permute_and_flip_follows_its_law(quality, sensitivity, epsilon):
    rng = np.random.default_rng(6)
    counts = frequencies(permute_and_flip, np.array(quality), sensitivity, epsilon, rng)
    assert_drawn_from(permute_and_flip_law(quality, sensitivity, epsilon), counts)


def test_the_two_selectors_follow_different_laws():
    quality = [0.0, 1.0, 3.0]
    weights = np.exp(np.array(quality) / 2)
    assert np.abs(weights / weights.sum() - permute_and_flip_law(quality, 1.0, 1.0)).max() > 0.03


def arguments_of(select, quality, epsilon, rng):
    """What a mechanism takes; the exponential one weighs all candidates alike."""
    return (quality, *([np.ones(len(quality))] if select is exponential else []), 1.0, epsilon, rng)


SELECTORS = pytest.mark.parametrize("select", [exponential, permute_and_flip])


@SELECTORS
def test_infinite_epsilon_draws_evenly_among_the_best(select):
    rng = np.random.default_rng(7)
    quality = np.array([1.0, 3.0, -5.0, 3.0, 3.0])
    assert_drawn_from([0, 1 / 3, 0, 1 / 3, 1 / 3], frequencies(select, *arguments_of(select, quality, math.inf, rng)))


def test_infinite_epsilon_keeps_the_base_measure():
    rng = np.random.default_rng(8)
    quality, measure = np.array([3.0, 3.0, 9.0, 1.0]), np.array([1.0, 3.0, 0.0, 10.0])
    counts = frequencies(exponential, quality, measure, 1.0, math.inf, rng)
    assert_drawn_from([0.25, 0.75, 0, 0], counts)


def test_infinite_epsilon_adds_no_noise():
    rng = np.random.default_rng(9)
    assert laplace(3.25, 1.0, math.inf, rng) == 3.25
    assert laplace_vector(np.array([3, 0]), 1.0, math.inf, rng).tolist() == [3.0, 0.0]
    assert sup_norm_vector(np.array([3.0, 0.0]), 1.0, math.inf, rng).tolist() == [3.0, 0.0]
    assert laplace_of(np.uint64(9), 3.25, 1.0, math.inf) == 3.25


@SELECTORS
@pytest.mark.parametrize(("scale", "epsilon"), [(1e6, 1.0), (1.0, 1e6), (1e3, 1e3), (1e300, 1e300)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_best_wins_at_extreme_products(select, scale, epsilon, sign):
    rng = np.random.default_rng(10)
    quality = sign * scale * np.array([0.5, 0.75, 1.0])
    assert {select(*arguments_of(select, quality, epsilon, rng)) for _ in range(200)} == {int(np.argmax(quality))}


@SELECTORS
@pytest.mark.parametrize("offset", [-1e6, 1e6])
def test_only_differences_of_quality_matter(select, offset):
    rng = np.random.default_rng(11)
    quality = np.array([0.0, 1.0, 3.0])
    law = np.exp(quality / 2) / np.exp(quality / 2).sum()
    if select is permute_and_flip:
        law = permute_and_flip_law(quality.tolist(), 1.0, 1.0)
    assert_drawn_from(law, frequencies(select, *arguments_of(select, quality + offset, 1.0, rng)))


def test_extreme_measures_do_no_harm():
    rng = np.random.default_rng(12)
    for measure in (1e-300, 1e300):
        drawn = {exponential(np.array([-1e6, 0.0]), np.array([measure, 1.0]), 1.0, 1.0, rng) for _ in range(100)}
        assert drawn == {1}


BAD_BUDGETS = [(0.0, 1.0), (-1.0, 1.0), (math.nan, 1.0), (1.0, 0.0), (1.0, -1.0), (1.0, math.nan)]


@pytest.mark.parametrize(("sensitivity", "epsilon"), BAD_BUDGETS)
def test_bad_budgets_are_refused(sensitivity, epsilon):
    rng = np.random.default_rng(13)
    calls = {
        "laplace": [
            lambda: laplace(1.0, sensitivity, epsilon, rng),
            lambda: laplace_vector(np.array([1.0]), sensitivity, epsilon, rng),
        ],
        "sup_norm_vector": [lambda: sup_norm_vector(np.array([1.0]), sensitivity, epsilon, rng)],
        "laplace_of": [lambda: laplace_of(np.uint64(1), 1.0, sensitivity, epsilon)],
        "exponential": [lambda: exponential(np.zeros(2), np.ones(2), sensitivity, epsilon, rng)],
        "permute_and_flip": [lambda: permute_and_flip(np.zeros(2), sensitivity, epsilon, rng)],
    }
    for name, group in calls.items():
        for call in group:
            with pytest.raises(ValueError, match=f"{name}: sensitivity and epsilon must be positive"):
                call()


def test_a_choice_from_nothing_is_refused():
    rng = np.random.default_rng(14)
    with pytest.raises(ValueError, match="no candidate"):
        permute_and_flip(np.empty(0), 1.0, 1.0, rng)
    for measure in (np.empty(0), np.zeros(3)):
        with pytest.raises(ValueError, match="no candidate with a positive measure"):
            exponential(np.zeros(len(measure)), measure, 1.0, 1.0, rng)
