"""Testing by betting, against plain money, every possible sequence of runs, and runs that collapse once in thirty."""

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import binom
from scipy.stats import t as student

from experiments.judge.evidence.wealth import average_log_wealth, compute_log_wealth, sign_gains

ALPHA = 0.05


def count_money(gains, most_lost=1):
    """Return the wealth after all runs in exact fractions, gambler by gambler."""
    total = Fraction(0)
    for k in range(17):
        money = Fraction(18, 17) * Fraction(1, (k + 1) * (k + 2))
        for gain in gains:
            money *= 1 + Fraction(2 ** (-k / 2)) * Fraction(gain) / Fraction(most_lost)
        total += money
    return total


@pytest.mark.parametrize("most_lost", [1, 1.25, 3])
@pytest.mark.parametrize("gains", [[], [1], [-1], [0.5, -0.25, 0, 0.75], [-1, 1, 1], [2**-9] * 12])
def test_wealth_is_what_seventeen_gamblers_have_together(gains, most_lost):
    found = compute_log_wealth(np.array(gains), most_lost)
    assert len(found) == len(gains) + 1
    for n, log_wealth in enumerate(found):
        assert math.exp(log_wealth) == pytest.approx(float(count_money(gains[:n], most_lost)), rel=1e-9)


@pytest.mark.parametrize(
    "chances",
    [
        {-1: Fraction(1, 4), 0: Fraction(1, 4), 0.5: Fraction(1, 2)},
        {-1: Fraction(1, 3), 0: Fraction(0), 0.5: Fraction(2, 3)},
        {-1: Fraction(1, 2), 0: Fraction(1, 4), 0.5: Fraction(1, 4)},
    ],
    ids=["mean of zero", "mean of zero, no ties", "mean below zero"],
)
def test_nobody_expects_to_get_richer_where_the_mean_is_not_above_zero(chances):
    expected = np.zeros(7)
    for gains in product(chances, repeat=6):
        expected += float(math.prod(map(chances.get, gains))) * np.exp(compute_log_wealth(np.array(gains)))
    assert (expected <= 1 + 1e-9).all()
    if sum(gain * chance for gain, chance in chances.items()) == 0:
        assert expected == pytest.approx(np.ones(7)), "a fair game is fair: money would be lost for nothing"


def test_a_gambler_expects_to_get_richer_where_the_mean_is_above_zero():
    chances, expected = {-1: 0.2, 0: 0.2, 0.5: 0.6}, 0.0
    for gains in product(chances, repeat=6):
        expected += math.prod(map(chances.get, gains)) * math.exp(compute_log_wealth(np.array(gains))[-1])
    assert expected > 1.1


def test_the_order_of_runs_does_not_matter():
    last = [compute_log_wealth(np.array(gains))[-1] for gains in permutations([-1, -0.3, 0, 0.4, 0.9])]
    assert last == pytest.approx([last[0]] * len(last))


@pytest.mark.parametrize("gain", [0.001, 0.01, 0.05, 0.3, 1.0])
def test_equal_gains_make_nobody_richer_than_who_stakes_all_and_nearly_as_rich(gain):
    n = np.arange(501)
    found = compute_log_wealth(np.full(500, gain))
    assert (found <= n * math.log1p(gain) + 1e-9).all()
    assert (found >= n * math.log1p(gain) - math.log(2)).all(), "half of the money is the boldest gambler's"


def test_who_lost_all_that_can_be_lost_is_not_out_of_the_game():
    found = compute_log_wealth(np.concatenate([[-1.0], np.full(200, 0.2)]))
    assert math.isfinite(found[1]) and found[1] < 0 < found[-1]


def test_a_gain_on_another_scale_is_worth_the_same():
    gains = np.array([0.3, -0.2, 0.1])
    assert compute_log_wealth(gains) == pytest.approx(compute_log_wealth(gains * 5, 5.0))
    assert (compute_log_wealth(np.abs(gains), 2.0)[1:] < compute_log_wealth(np.abs(gains))[1:]).all()


def test_a_loss_beyond_the_bound_is_an_error():
    with pytest.raises(ValueError, match=r"a run lost 1\.5, more than the 1 that it can lose"):
        compute_log_wealth(np.array([0.1, -1.5]))
    compute_log_wealth(np.array([0.1, -1.5]), 1.5)


def test_signs_count_a_tie_and_what_rounding_leaves_of_it_as_no_gain():
    assert sign_gains(np.array([1e-3, 0.0, 1e-15, -2.0, np.nan])).tolist() == [1, -1, -1, -1, -1]


def test_the_average_of_gamblers_is_that_of_their_money():
    assert average_log_wealth(np.log([1.0, 2.0, 9.0])) == pytest.approx(math.log(4.0))
    assert average_log_wealth(np.array([-math.inf, math.log(40.0)])) == pytest.approx(math.log(20.0))


def draw_rare_collapses(n_papers, n_runs, seed):
    """Return gains with a mean of exactly zero: one run in thirty loses 0.3, all others gain a little."""
    collapses = np.random.default_rng(seed).random((n_papers, n_runs)) < 1 / 30
    return np.where(collapses, -0.3, 0.3 / 29)


def test_rare_collapses_are_no_gain_at_any_look_though_a_t_test_says_so():
    runs, looks = draw_rare_collapses(2000, 400, seed=1), [10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 400]
    ever_rich = np.mean([compute_log_wealth(gains).max() >= math.log(1 / ALPHA) for gains in runs])
    slack = binom.ppf(0.999, len(runs), ALPHA) / len(runs)
    assert ever_rich <= slack
    is_significant = np.zeros(len(runs), dtype=bool)
    for look in looks:
        first = runs[:, :look]
        error = first.std(axis=1, ddof=1) / math.sqrt(look)
        with np.errstate(divide="ignore"):  # nothing collapsed yet: a t-test is certain
            is_significant |= student.sf(first.mean(axis=1) / error, look - 1) < ALPHA
    assert is_significant.mean() > 5 * slack
