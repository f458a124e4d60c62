"""The test of a mean, against formulas written out by hand, other tests, and every order of rejecting."""

import math
from itertools import chain, combinations, pairwise, product

import numpy as np
import pytest
from scipy.stats import binomtest, skew
from scipy.stats import t as student

from experiments.judge.evidence.sequential_test import (
    ANY,
    EACH,
    GainMoments,
    GainsByMean,
    GainsByMedian,
    compute_p,
    describe_unseen,
    find_mean_interval,
    find_moments,
    find_proven,
    find_step,
    list_looks,
)


def compute_slow_p(gains, step, caution):
    """Return p after Hall (1992), number by number: his cubic where it says less than Student's t.

    It takes the skewness that is worst for the claim, of all between none and the worst that there may be.
    """
    n = len(gains)
    mean = sum(gains) / n
    spread = sum((gain - mean) ** 2 for gain in gains) / n
    skewness = sum((gain - mean) ** 3 for gain in gains) / n / spread**1.5 if spread else 0.0
    variance = max(spread * n / (n - 1) + step**2 / n, step * abs(mean) / 2)
    ratio = mean / math.sqrt(variance)
    worse = min(-1e-4, skewness - caution * math.sqrt(6 / n))
    cubic = []
    for skewness in np.linspace(worse, -1e-4, 5000):  # none of these is better than what was seen
        cubic.append(ratio + skewness * ratio**2 / 3 + skewness**2 * ratio**3 / 27 + skewness / (6 * n))
    return student.sf(math.sqrt(n) * min(ratio, *cubic), n - 1)


LAWS = {
    "normal": lambda rng, shape: rng.normal(0.01, 0.03, shape),
    "large gains": lambda rng, shape: rng.normal(0.09, 0.03, shape) - 0.1 * (rng.random(shape) < 0.05),
    "exponential": lambda rng, shape: 0.04 - 0.03 * rng.standard_exponential(shape),
    "accuracies": lambda rng, shape: (rng.binomial(20, 0.9, shape) - rng.binomial(20, 0.8, shape)) / 20,
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("caution", [EACH, ANY])
def test_p_is_what_the_formulas_say_for_one_set_of_runs_and_for_many_at_once(name, caution):
    gains = LAWS[name](np.random.default_rng(0), (6, 5, 40))
    for n, step in ((20, 0.0), (40, 0.05)):
        found = GainsByMean.of(gains[..., :n], step).find_p(caution)
        expected = [compute_slow_p(list(own[:n]), step, caution) for own in gains.reshape(-1, 40)]
        assert found.ravel() == pytest.approx(expected, rel=1e-4)
        assert GainsByMean.of(gains[0, 0, :n], step).find_p(caution) == pytest.approx(expected[0], rel=1e-4)


def test_without_skewness_and_step_it_is_a_t_test():
    half = np.random.default_rng(0).normal(0, 1, 20)
    gains = 0.3 + np.concatenate([half, -half])
    assert compute_p(40, find_moments(gains), 0.0, 0.0) == pytest.approx(
        student.sf(0.3 / gains.std(ddof=1) * math.sqrt(40), 39), rel=1e-3
    )


def test_p_is_near_that_of_all_flips_of_signs_where_runs_are_symmetric():
    half = np.random.default_rng(1).normal(0, 1, 7)
    gains = 0.5 + np.concatenate([half, -half])
    flipped = np.array(list(product([-1, 1], repeat=14))) * np.abs(gains)
    exact = np.mean(flipped.mean(axis=1) >= gains.mean() - 1e-12)
    assert compute_p(14, find_moments(gains), 0.0, 0.0) == pytest.approx(exact, rel=0.3)


def test_p_is_near_that_of_a_studentised_bootstrap_where_runs_are_skewed():
    """A t-test finds a tenth of what the bootstrap does; so the cubic is what makes them agree."""
    rng = np.random.default_rng(3)
    gains = 0.5 + 1 - rng.standard_exponential(40)
    draws = rng.choice(gains - gains.mean(), (100_000, 40))
    size = gains.mean() / gains.std(ddof=1)
    bootstrap = np.mean(draws.mean(axis=1) / draws.std(axis=1, ddof=1) >= size)
    ours = compute_p(40, find_moments(gains), 0.0, 0.0)
    by_t = student.sf(size * math.sqrt(40), 39)
    assert 1 / 3 < ours / bootstrap < 3 and by_t < ours


def test_a_seen_skewness_never_helps_and_caution_never_either():
    gains = np.random.default_rng(0).standard_exponential(20) - 0.8
    by_caution = [float(GainsByMean.of(gains, 0.0).find_p(caution)) for caution in (0.0, EACH, ANY)]
    by_t = student.sf(gains.mean() / gains.std(ddof=1) * math.sqrt(20), 19)
    assert by_t <= by_caution[0] + 1e-4 and by_caution == sorted(by_caution)


@pytest.mark.parametrize("name", LAWS)
def test_more_caution_never_makes_a_p_value_smaller(name):
    """What is proven where any comparison may decide is proven where each must be."""
    gains = LAWS[name](np.random.default_rng(4), (5000, 20))
    for shift in (0.0, 0.05, 0.5):
        found = GainsByMean.of(gains + shift, 0.0)
        by_caution = [found.find_p(caution) for caution in (0.0, EACH, ANY, 3.0)]
        assert (np.diff(by_caution, axis=0) >= -1e-12).all()


@pytest.mark.parametrize("skewness", [-4.0, -1.0, -0.5, 0.5])
def test_a_larger_mean_never_makes_a_p_value_larger(skewness):
    means = np.linspace(-3, 8, 2000)
    moments = find_moments(np.arange(20.0))._replace(mean=means, variance=np.ones(2000), skewness=np.array(skewness))
    assert (np.diff(compute_p(20, moments, 0.0, ANY)) <= 1e-12).all()


def test_moments_are_those_of_scipy_and_exact_where_all_runs_are_alike():
    gains = np.random.default_rng(0).standard_exponential((3, 50))
    found = find_moments(gains)
    assert found.mean == pytest.approx(gains.mean(axis=1))
    assert found.variance == pytest.approx(gains.var(axis=1))
    assert found.skewness == pytest.approx(skew(gains, axis=1))
    alike = find_moments(np.full(20, 0.1))
    assert (alike.mean, alike.variance, alike.skewness) == (0.1, 0.0, 0.0)


def test_what_is_lost_is_the_gain_turned_round():
    gains = LAWS["exponential"](np.random.default_rng(0), (4, 20))
    for of in (lambda gains: GainsByMean.of(gains, 0.01), GainsByMedian.of):
        assert of(gains).negate().find_p(ANY) == pytest.approx(of(-gains).find_p(ANY), rel=1e-12)


@pytest.mark.parametrize(("value", "p"), [(0.0, 0.5), (0.05, 0.0), (-0.05, 1.0)])
def test_runs_that_are_all_alike_prove_as_much_as_their_step_allows(value, p):
    """Zero is no gain, and a step of zero hides nothing."""
    assert GainsByMean.of(np.full(20, value), 0.0).find_p(EACH) == pytest.approx(p, abs=0.01)


def test_a_gain_that_is_small_beside_a_step_is_not_proven_by_twenty_equal_runs():
    """One row of twenty that is wrong once in twenty runs makes as much, and is not seen in a third of cases."""
    equal = np.full(20, 0.0025)
    assert GainsByMean.of(equal, 0.05).find_p(EACH) > 0.1
    assert GainsByMean.of(equal, 0.0).find_p(EACH) < 1e-9


def test_the_sign_test_counts_gains_and_a_tie_is_none():
    gains = np.array([0.1, 0.2, 1e-15, 0.3, 0.1, -5.0, 0.2, 0.1, 0.4, 0.1])
    assert GainsByMedian.of(gains).find_p(ANY) == pytest.approx(binomtest(8, 10, alternative="greater").pvalue)
    assert GainsByMedian.of(gains).negate().find_p(ANY) == pytest.approx(binomtest(1, 10, alternative="greater").pvalue)
    assert GainsByMedian.of(np.stack([gains, -gains])).find_p(ANY).shape == (2,)


@pytest.mark.parametrize("of", [lambda gains: GainsByMean.of(gains, 0.001), GainsByMedian.of])
def test_hope_is_better_than_what_is_there_and_grows_with_the_runs_to_come(of):
    gains = of(np.random.default_rng(0).normal(0.01, 0.03, 20))
    assert gains.find_p(EACH) > gains.find_optimistic_p(40) > gains.find_optimistic_p(320)
    assert of(np.random.default_rng(0).normal(-0.05, 0.03, 20)).find_optimistic_p(320) > 0.5


def test_the_step_is_the_smallest_difference_that_is_seen():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 12, (50, 6)) / 20
    slow = []
    for own in values:
        gaps = [abs(one - other) for one, other in combinations(own, 2) if abs(one - other) > 1e-12]
        slow.append(min(gaps, default=0.01))
    assert find_step(values, 0.01) == pytest.approx(slow)
    assert find_step(np.array([0.5, math.nan, 0.7, math.inf, math.inf]), 0.01) == pytest.approx(0.2)
    assert find_step(np.array([0.1 + 0.2, 0.3]), 0.01) == 0.01, "what rounding leaves is no difference"


def prove_by_all_subsets(p_values, level):
    """Return what is rejected if every set of hypotheses that it is in is, by Bonferroni (a closed test)."""
    places = range(len(p_values))
    sets = list(chain.from_iterable(combinations(places, size) for size in range(1, len(p_values) + 1)))
    return {
        place
        for place in places
        if all(min(p_values[one] for one in own) <= level / len(own) for own in sets if place in own)
    }


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_holm_proves_what_every_subset_proves(n):
    rng = np.random.default_rng(n)
    for _ in range(100):
        p_values = list(rng.choice([0.001, 0.008, 0.01, 0.02, 0.04, 0.05, 0.2], n))
        assert find_proven(p_values, 0.05) == prove_by_all_subsets(p_values, 0.05)


@pytest.mark.parametrize("first", [1, 20, 33, 100])
def test_looks_double_and_their_shares_are_never_more_than_all(first):
    looks = list_looks(first, 10**7)
    assert looks[0].n == max(first, 20)
    assert all(after.n == 2 * before.n and after.share <= before.share for before, after in pairwise(looks))
    assert 0.99 < sum(look.share for look in looks) <= 1
    for most in (10, 19, 20, 79, 160, 1000):
        assert list_looks(first, most) == [look for look in looks if look.n <= most]


@pytest.mark.parametrize("name", LAWS)
def test_an_interval_has_the_means_that_are_not_rejected(name):
    values = LAWS[name](np.random.default_rng(2), 40)
    step = 0.05 if name == "accuracies" else 0.0
    low, high = find_mean_interval(values, step)
    assert low < values.mean() < high
    for shift, is_rejected in ((-1e-6, True), (1e-6, False)):
        assert (GainsByMean.of(values - low - shift, step).find_p(EACH) <= 0.025) == is_rejected
        assert (GainsByMean.of(high - shift - values, step).find_p(EACH) <= 0.025) == is_rejected


def test_one_set_of_moments_is_weighed_as_many_are_whatever_they_are():
    rng = np.random.default_rng(3)
    odd = [0.0, 1e-320, 1e-200, 1e200, 1e308, math.inf, -math.inf, math.nan]
    drawn = rng.normal(size=(4, 3000)) * 10.0 ** rng.integers(-6, 3, (4, 3000))
    drawn = np.where(rng.random(drawn.shape) < 0.1, rng.choice(odd, drawn.shape), drawn)
    moments, step = GainMoments(drawn[0], np.abs(drawn[1]), drawn[2]), np.abs(drawn[3])
    for n, caution in ((2, EACH), (20, ANY)):
        with np.errstate(all="ignore"):
            each = [compute_p(n, GainMoments(*one), own, caution) for *one, own in zip(*moments, step, strict=True)]
            assert each == pytest.approx(compute_p(n, moments, step, caution), rel=1e-6, nan_ok=True)


def test_an_interval_of_runs_that_are_all_alike_is_as_wide_as_their_step():
    assert find_mean_interval(np.full(20, 0.3), 0.0) == (0.3, 0.3)
    low, high = find_mean_interval(np.full(20, 0.3), 0.05)
    assert 0.27 < low < 0.3 < high < 0.33
    assert all(map(math.isnan, find_mean_interval(np.array([0.3]), 0.0)))


def test_what_was_not_seen_is_what_is_missed_once_in_twenty():
    for n in (20, 60, 320):
        rare = 3 / n
        assert 0.03 < (1 - rare) ** n < 0.055
        assert f"1 of {round(n / 3)} runs" in describe_unseen(n)
