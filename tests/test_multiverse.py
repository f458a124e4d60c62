"""The arithmetic behind readings: distances without our noise, sets of the best, early stops, shares of variance."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, ttest_1samp

from experiments.judge.evidence.claim_group import ClaimGroup, ClaimTest
from experiments.judge.readings.distance import Errors, compute_set_p_values, draw_weights
from experiments.judge.readings.halving import find_hopeless, list_stages, run_races
from experiments.judge.readings.under_reading import HOLDS, IS_REFUTED, OPEN, judge_under_reading
from experiments.judge.readings.variance import explain_variance
from experiments.metrics.metric import Margin
from experiments.questions.claims import find_rule
from tests.papers import make_paper


def draw_errors(rng, offs, spread, n_repeats, printed_repeats=10):
    """Errors of repeats that miss each printed number by so much, with so much noise."""
    noise = rng.normal(0, spread, size=(len(offs), n_repeats))
    return Errors(np.asarray(offs)[:, None] + noise, False, printed_repeats)


def test_the_distance_of_a_noisy_reading_is_not_that_of_its_noise():
    rng = np.random.default_rng(0)
    quiet = [draw_errors(rng, [3.0] * 40, 0.1, 3) for _ in range(50)]
    noisy = [draw_errors(rng, [3.0] * 40, 15.0, 3) for _ in range(400)]
    assert np.mean([one.loss for one in quiet]) == pytest.approx(9.0, rel=0.02)
    assert np.mean([one.loss for one in noisy]) == pytest.approx(9.0, abs=1.5), "unbiased"
    assert np.mean([one.uncorrected**2 for one in noisy]) == pytest.approx(9 + 225 / 3, rel=0.05), "biased"
    assert min(one.distance for one in noisy) == 0.0, "clipped where chance makes it negative"


def test_the_noise_floor_is_what_the_true_reading_is_off():
    rng, squared, floors = np.random.default_rng(1), [], []
    for _ in range(400):
        printed = rng.normal(80, 2, size=(30, 7)).mean(axis=1)  # the paper's own code, seven runs
        ours = rng.normal(80, 2, size=(30, 4))
        errors = Errors(ours - printed[:, None], False, 7)
        squared.append(errors.uncorrected**2)
        floors.append(errors.noise_floor**2)
    assert np.mean(squared) == pytest.approx(4 / 4 + 4 / 7, rel=0.05)
    assert np.mean(floors) == pytest.approx(4 / 4 + 4 / 7, rel=0.05)


def test_a_single_repeat_has_a_distance_and_no_noise():
    errors = Errors(np.array([[3.0], [4.0]]), False, 1)
    assert errors.distance == pytest.approx(math.sqrt(12.5)) and math.isnan(errors.noise_floor)
    assert all(map(math.isnan, errors.interval))


def test_intervals_of_distances_hold_the_true_one():
    rng, hits = np.random.default_rng(2), 0
    for _ in range(300):
        low, high = draw_errors(rng, [4.0, -3.0, 5.0, 0.0], 2.0, 6).interval
        hits += low <= math.sqrt(12.5) <= high
    assert hits / 300 >= 0.92


def test_far_from_the_one_number_that_is_printed_the_interval_is_that_of_t():
    errors = draw_errors(np.random.default_rng(5), [100.0], 2.0, 6)
    assert errors.interval == pytest.approx(ttest_1samp(errors.values[0], 0).confidence_interval(), abs=0.1)


def test_orderings_have_the_share_that_is_off():
    errors = Errors(np.array([[1.0, 1.0], [0.0, 0.0], [-1.0, 2.0], [-2.0, 1.0]]), True, 1)
    assert errors.distance == 0.5 and errors.bounds == (0.25, 0.75)
    assert math.isnan(errors.noise_floor)


def slow_set(losses, resampled):
    """The p-values of Hansen, Lunde and Nason's T-max procedure, model by model and draw by draw."""
    left, p_values, highest = list(range(len(losses))), {}, 0.0
    while len(left) > 1:
        average = sum(losses[i] for i in left) / len(left)
        gaps = {}
        for i in left:
            gaps[i] = [row[i] - sum(row[j] for j in left) / len(left) for row in resampled]
        centers = {i: sum(gaps[i]) / len(gaps[i]) for i in left}
        errors = {i: math.sqrt(sum((gap - centers[i]) ** 2 for gap in gaps[i]) / len(gaps[i])) for i in left}
        t = {i: (losses[i] - average) / errors[i] for i in left}
        worst = max(left, key=lambda i: t[i])
        larger = 0
        for draw in range(len(resampled)):
            larger += max((gaps[i][draw] - centers[i]) / errors[i] for i in left) >= t[worst]
        highest = max(highest, larger / len(resampled))
        p_values[worst] = highest
        left.remove(worst)
    return [p_values.get(i, 1.0) for i in range(len(losses))]


@pytest.mark.parametrize("seed", range(5))
def test_the_set_is_that_of_a_slow_reference(seed):
    rng = np.random.default_rng(seed)
    losses = rng.normal(0, 1.5, size=6)
    resampled = losses + rng.normal(0, rng.uniform(0.2, 2, size=6), size=(150, 6)) + rng.normal(0, 1, size=(150, 1))
    assert compute_set_p_values(losses, resampled).tolist() == pytest.approx(slow_set(losses, resampled))


def test_identical_readings_both_stay_and_a_clearly_worse_one_leaves():
    draws = np.random.default_rng(0).normal(2.0, 0.3, size=(500, 1))
    p_values = compute_set_p_values(np.array([2.0, 2.0, 9.0]), np.hstack([draws, draws, draws + 7]))
    assert p_values.tolist() == [1.0, 1.0, 0.0]
    assert compute_set_p_values(np.array([2.0, 2.0]), np.hstack([draws, draws])).tolist() == [1.0, 1.0]
    assert compute_set_p_values(np.array([4.0]), draws).tolist() == [1.0]


def test_the_truly_best_reading_stays_in_the_set_with_its_level():
    rng, kept, sizes = np.random.default_rng(3), 0, []
    truths = [[1.0] * 12, [1.15] * 12, [1.3] * 12, [1.3] * 12, [2.0] * 12, [4.0] * 12]
    for _ in range(200):
        errors = [draw_errors(rng, truth, 1.0, 8) for truth in truths]
        losses = np.array([one.loss for one in errors])
        p_values = compute_set_p_values(losses, np.column_stack([one.resample_loss() for one in errors]))
        kept += p_values[0] >= 0.05
        sizes.append(int((p_values >= 0.05).sum()))
    assert kept / 200 >= 0.93
    assert np.mean(sizes) < 5, "a set of all would have any level"


def test_the_bootstrap_draws_the_same_repeats_for_every_reading():
    assert draw_weights(5) is draw_weights(5)
    assert draw_weights(5).shape == (5, 2000) and draw_weights(5).sum(axis=0) == pytest.approx(np.ones(2000))


def test_stages_double():
    assert list_stages(2, 3) == [2, 3] and list_stages(5, 10) == [5, 10] and list_stages(2, 1) == [1]


def test_only_clearly_worse_readings_are_hopeless():
    rng, wrongly, rightly = np.random.default_rng(4), 0, 0
    for _ in range(300):
        best, equal, far = (draw_errors(rng, [off] * 20, 1.0, 2) for off in (1.0, 1.0, 6.0))
        hopeless = find_hopeless([best.bounds, equal.bounds, far.bounds])
        wrongly += 0 in hopeless or 1 in hopeless
        rightly += 2 in hopeless
    assert wrongly <= 3 and rightly == 300
    assert find_hopeless([(0.5, 0.5), (0.5, 0.5)]) == [], "whoever is as good as another is no worse"


def test_races_run_side_by_side_and_each_cell_of_a_round_once():
    def count_to(limit):
        seen = []
        for n in range(limit):
            seen.append((yield [n]))
        return seen

    rounds = []

    def run(asked):
        rounds.append(asked)
        return {"round": len(rounds)}

    results = run_races({"a": count_to(1), "b": count_to(3)}, run)
    assert rounds == [{"a": [0], "b": [0]}, {"b": [1]}, {"b": [2]}]
    assert list(results) == ["a", "b"] and len(results["b"]) == 3


def test_shares_of_variance_are_those_of_an_analysis_of_variance():
    values = [(a, b, c) for a, b, c in product("xy", "uvw", (1, 2))]
    rows = pd.DataFrame(values, columns=["choice.a", "choice.b", "choice.c"])
    rows["effect"] = 3.0 * (rows["choice.a"] == "x") + 2.0 * (rows["choice.b"] == "u") * (rows["choice.a"] == "y")
    shares = explain_variance(rows, "effect")
    # by hand: the means over a are 3 and 2/3, over b 5/2, 3/2, 3/2, over all 11/6; the variance is 65/36
    assert shares["a"] == pytest.approx((7 / 6) ** 2 / (65 / 36))
    assert shares["b"] == pytest.approx((4 / 9 + 1 / 9 + 1 / 9) / 3 / (65 / 36))
    assert shares["c"] == pytest.approx(0)
    assert explain_variance(rows.assign(effect=1.0), "effect") == {"a": 0.0, "b": 0.0, "c": 0.0}


CLAIM = make_paper(
    studies={"grid": {"dataset": "car", "algorithm": ["rdt", "majority"], "epsilon": [0.5, 1.0]}},
    claims=[
        {"id": "above", "text": "above", "kind": "above", "study": "grid", "better": "rdt", "worse": "majority"}
        | {"within": ["epsilon"], "metric": "accuracy"}
    ],
).claims[0]


def make_group(*gains):
    values = np.column_stack([np.zeros(len(gains)), gains])
    return ClaimGroup({}, np.arange(len(values)), values, len(values), ClaimTest(find_rule(CLAIM), Margin(0.01)))


def test_a_claim_holds_under_a_reading_if_signs_say_so_in_every_group():
    assert judge_under_reading([make_group(*[1.0] * 5), make_group(*[0.1] * 5)]) == HOLDS
    assert judge_under_reading([make_group(*[1.0] * 5), make_group(0.1, 0.1, 0.1, 0.1, -0.1)]) == OPEN
    assert judge_under_reading([make_group(*[1.0] * 4)]) == OPEN, "four signs prove nothing at 5 %"


def test_a_claim_is_refuted_by_one_group_and_its_number_is_paid_for():
    assert judge_under_reading([make_group(*[-1.0] * 6), make_group(*[1.0] * 6)]) == IS_REFUTED
    assert judge_under_reading([make_group(*[-1.0] * 5), make_group(*[1.0] * 5)]) == OPEN, "2 of 32 flips"
    assert judge_under_reading([make_group(*[0.0] * 5)]) == OPEN, "no effect is no proof of the opposite"
    rng, refuted = np.random.default_rng(5), 0
    for _ in range(400):
        groups = [make_group(*rng.normal(0, 1, size=10)) for _ in range(12)]
        refuted += judge_under_reading(groups) == IS_REFUTED
    assert binomtest(refuted, 400, 0.05, alternative="greater").pvalue > 0.01
