"""Attacks on released rows, beside loops over all pairs, closed forms, and releases that tell nothing or everything."""

import math

import numpy as np
import pytest
from scipy import stats

import datasets
from algorithms import AdditiveGaussianNoise, Continuous, Domain, MarginalReplacement, Nominal, ParzenReplacement
from experiments.run.leakage import (
    attack_membership,
    attribute_ranges,
    interval_width,
    measure_hits,
    measure_leakage,
    measure_relinking,
    measure_width,
    score_copies,
    score_marginals,
    score_nearness,
)

# Re-linking.


@pytest.mark.parametrize("sigma", [0.0, 0.1, 0.5, 3.0])
def test_relinking_is_what_a_loop_over_all_pairs_finds(sigma):
    rng = np.random.default_rng(0)
    original = rng.integers(0, 4, (60, 3)).astype(float)  # with repeated rows
    sources = rng.integers(60, size=90)
    released = original[sources] + sigma * rng.standard_normal((90, 3))
    hits = 0
    for row, source in zip(released.tolist(), sources, strict=True):
        distances = [math.dist(row, other) for other in original.tolist()]
        hits += distances[source] <= min(distances) + 1e-9
    assert measure_relinking(original, released, sources) == pytest.approx(hits / 90)
    assert hits == 90 or sigma


def test_two_rows_are_relinked_as_often_as_the_noise_stays_on_their_side():
    rng = np.random.default_rng(0)
    original, sources = np.array([[0.0, 7.0], [2.0, 7.0]]), np.repeat([0, 1], 20_000)
    released = original[sources] + 0.8 * rng.standard_normal((40_000, 2))
    assert measure_relinking(original, released, sources) == pytest.approx(stats.norm.cdf(1 / 0.8), abs=0.01)


def test_rows_that_have_nothing_to_do_with_their_sources_are_relinked_by_chance():
    rng = np.random.default_rng(0)
    hits = 20_000 * measure_relinking(rng.random((50, 3)), rng.random((20_000, 3)), rng.integers(50, size=20_000))
    assert stats.binomtest(round(hits), 20_000, 1 / 50).pvalue > 0.001


# Membership.


def test_a_row_is_as_near_as_the_nearest_released_row_of_its_class():
    rng = np.random.default_rng(0)
    rows, released = rng.random((40, 2)), rng.random((30, 2))
    labels, released_labels = rng.choice(["a", "b", "c"], 40), rng.choice(["a", "b"], 30)
    scores = score_nearness(rows, labels, released, released_labels)
    for row, label, score in zip(rows, labels, scores, strict=True):
        distances = [math.dist(row, other) for other in released[released_labels == label]]
        assert score == pytest.approx(-min(distances, default=math.inf))


@pytest.mark.parametrize("tied", [False, True])
def test_the_auc_is_that_of_all_pairs(tied):
    rng = np.random.default_rng(1)
    inside, outside = rng.normal(0.5, 1, 30), rng.normal(0, 1, 50)
    if tied:
        inside, outside = inside.round(), np.append(outside.round(), [-math.inf, -math.inf])
    wins = [1.0 if a > b else 0.5 if a == b else 0.0 for a in inside for b in outside]
    assert attack_membership(inside, outside).auc == pytest.approx(np.mean(wins))


def test_the_advantage_is_that_of_the_best_threshold():
    """Two normal distributions, one standard deviation apart: 2 Φ(1 / 2) - 1, at a threshold of 1 / 2."""
    rng = np.random.default_rng(3)
    found = attack_membership(rng.normal(1, 1, 40_000), rng.normal(0, 1, 40_000))
    assert found.advantage == pytest.approx(2 * stats.norm.cdf(0.5) - 1, abs=0.012)


def test_scores_that_mean_nothing_have_no_advantage():
    """In exact bounds: the rank sum of m of m + n random scores has variance m n (m + n + 1) / 12."""
    rng = np.random.default_rng(4)
    found = [attack_membership(rng.random(50), rng.random(70)) for _ in range(400)]
    error = math.sqrt((50 + 70 + 1) / (12 * 50 * 70))
    assert abs(np.mean([one.auc for one in found]) - 0.5) < 4 * error / math.sqrt(400)
    assert np.std([one.auc for one in found]) == pytest.approx(error, rel=0.15)
    advantages = [one.advantage for one in found]
    assert abs(np.mean(advantages)) < 4 * np.std(advantages) / math.sqrt(400)


def test_scores_that_say_it_all():
    found = attack_membership(np.array([2.0, 3.0, 4.0, 2.5]), np.array([0.0, 1.0, -math.inf, -math.inf]))
    assert found.auc == 1.0
    assert found.advantage > 0


# The calibrated scores.


def test_the_score_of_copies_is_the_ratio_of_densities_a_loop_finds():
    rng = np.random.default_rng(0)
    rows, released = rng.random((40, 2)), rng.random((30, 2))
    labels, released_labels = rng.choice(["a", "b", "c"], 40), rng.choice(["a", "b"], 30)
    scores = score_copies(rows, labels, released, released_labels, 0.3)

    def unscaled(x, y, width):
        return stats.multivariate_normal(y, width**2 * np.eye(2)).pdf(x) * 2 * math.pi * width**2

    for row, label, score in zip(rows, labels, scores, strict=True):
        own, total = released[released_labels == label], 0.0
        for r in range(len(own)):
            others = np.delete(own, r, axis=0)
            among = sum(unscaled(own[r], other, 0.3 * math.sqrt(2)) for other in others)
            total += unscaled(row, own[r], 0.3) / (among + 0.001)  # in two dimensions once in a thousand
        assert score == (pytest.approx(math.log(total)) if total else -math.inf)


def test_calibration_finds_more_than_distance():
    """Two rows in three lie in a crowd, where being near means nothing: the others are found at few false positives."""
    rng = np.random.default_rng(0)
    inside, outside = (
        np.concatenate([rng.normal(0, 0.3, (1200, 3)), rng.uniform(-40, 40, (600, 3))]) for _ in range(2)
    )
    labels = np.zeros(1800)
    released = inside + rng.normal(0, 0.5, inside.shape)
    found = {}
    for name, score in (
        ("nearness", lambda rows: score_nearness(rows, labels, released, labels)),
        ("copies", lambda rows: score_copies(rows, labels, released, labels, 0.5)),
    ):
        found[name] = measure_hits(score(inside), score(outside), 0.01)
    assert found["copies"] > 2 * found["nearness"]


def test_exact_marginals_tell_of_membership():
    """Few rows with many attributes: their frequencies alone give them away."""
    rng = np.random.default_rng(0)
    domain = Domain(tuple(Nominal(f"x{j}", "uv") for j in range(60)), Nominal("y", ("no", "yes")))
    rows, labels = rng.choice(["u", "v"], (300, 60)), rng.choice(["no", "yes"], 300)
    sides = (rows[:100], labels[:100]), (rows[100:], labels[100:])
    sampler = MarginalReplacement(math.inf, sampling_ratio=20.0, domain=domain, random_state=0)
    found = measure_leakage(sampler, *sides)
    assert found["calibrated_auc"] > 0.62
    nothing = measure_leakage(sampler.set_params(epsilon=0.01), *sides)
    assert abs(nothing["calibrated_auc"] - 0.5) < 0.1


@pytest.mark.parametrize("side", [0, 1])
def test_the_score_of_marginals_is_that_of_a_loop(side):
    rng = np.random.default_rng(side)
    cells, released, known = (rng.integers(0, 3, (n, 2)) for n in (20, 30, 10))
    scores = score_marginals(cells, released, known, np.array([3, 3]))
    for row, score in zip(cells, scores, strict=True):
        shares = [
            [((rows[:, j] == row[j]).sum() + 0.5) / (len(rows) + 1.5) for j in (0, 1)] for rows in (released, known)
        ]
        assert score == pytest.approx(np.log(np.prod(shares[0]) / np.prod(shares[1])))


def test_the_rate_of_false_positives_is_kept_exactly():
    """A score of another row that is drawn from the same distribution is above the threshold with that chance."""
    rng = np.random.default_rng(0)
    hits = [measure_hits(rng.random(50), rng.random(299), 0.01) for _ in range(2000)]
    assert np.mean(hits) == pytest.approx(0.01, abs=4 * np.std(hits) / math.sqrt(2000))
    assert (
        math.isnan(measure_hits(np.ones(3), np.zeros(98), 0.01)) and measure_hits(np.ones(3), np.zeros(99), 0.01) == 1
    )


def test_rows_that_were_never_copied_hide_a_leak_of_the_others():
    domain, training, others = halves()
    sampler = ParzenReplacement(1.0, bandwidth=0.1, domain=domain, random_state=0)
    found = measure_leakage(sampler, training, others)
    copied = len(np.unique(sampler.sample_indices_)) / len(training[1])
    assert copied == pytest.approx(1 - math.exp(-1), abs=0.03)
    assert found["calibrated_auc_copied"] > 0.97 and found["calibrated_auc"] < 0.9


# The interval of Agrawal and Srikant.


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_interval_holds_the_original_with_the_confidence_asked_for(confidence):
    rng = np.random.default_rng(5)
    original = rng.random((200, 2)) * [1, 100]
    sources = rng.integers(200, size=50_000)
    released = original[sources] + [0.5, 5] * rng.standard_normal((50_000, 2))
    half = np.array([interval_width(0.5, confidence), interval_width(5, confidence)]) / 2
    inside = np.abs(released - original[sources]) <= half
    assert inside.mean(axis=0) == pytest.approx(confidence, abs=0.01)
    assert measure_width(original, released, sources, confidence) == pytest.approx(2 * half, rel=0.03)


def test_half_of_a_normal_distribution_is_1_34_sigma_wide_as_the_paper_says():
    assert math.floor(100 * interval_width(1.0) + 1e-9) / 100 == 1.34
    assert interval_width(5.0, 0.5) == pytest.approx(5 * interval_width(1.0))


def test_the_range_of_a_category_counts_its_places():
    domain = Domain((Continuous("x", -1, 2.5), Nominal("a", "uvwxyz"), Nominal("only", "o")))
    assert attribute_ranges(domain).tolist() == [3.5, 5, 0]


# All of it, of a sampler.


def halves(name="car"):
    data = datasets.load(name)
    rows = np.random.default_rng(0).permutation(len(data.target))
    sides = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    return data.domain, *((data.frame.iloc[side], data.target.to_numpy()[side]) for side in sides)


def test_more_noise_tells_less_until_nothing_is_told():
    domain, training, others = halves()
    found = [
        measure_leakage(AdditiveGaussianNoise(sigma, domain=domain, random_state=0), training, others)
        for sigma in (0.0, 0.25, 0.5, 20.0)
    ]
    for name in ("relinked", "membership_auc", "membership_advantage", "calibrated_auc"):
        values = [one[name] for one in found]
        assert values == sorted(values, reverse=True)
    assert math.isnan(found[0].pop("calibrated_tpr_01")), "864 other rows are too few"
    assert found[0] == {
        "membership_auc": 1.0,
        "membership_advantage": 1.0,
        "calibrated_auc": 1.0,
        "calibrated_tpr_1": 1.0,
        "calibrated_auc_copied": 1.0,
        "relinked": 1.0,
        "interval_50": 0.0,
        "interval_95": 0.0,
    }
    assert found[-1]["relinked"] < 0.01 and abs(found[-1]["membership_auc"] - 0.5) < 0.06
    assert found[-1]["interval_50"] == 1.0, "no interval is wider than the declared range"
    expected = np.mean([interval_width(0.25) / length for length in attribute_ranges(domain)])
    assert found[1]["interval_50"] == pytest.approx(expected, rel=0.08)


def test_distances_are_in_units_of_the_noise():
    """Attributes in other units, of the rows and the domain, change nothing but rounding if the noise follows them."""
    domain = Domain((Continuous("x", 0, 1), Continuous("z", 0, 1)), Nominal("y", (0, 1)))
    large = Domain((Continuous("x", 0, 1), Continuous("z", 0, 4096)), domain.target)
    rng = np.random.default_rng(0)
    (X, other), y = rng.random((2, 300, 2)), rng.integers(0, 2, 300)
    sampler = ParzenReplacement(bandwidth=0.05, scale="standard", domain=domain, random_state=0)
    found = measure_leakage(sampler, (X, y), (other, y))
    unit = np.array([1, 4096])
    again = measure_leakage(sampler.set_params(domain=large), (X * unit, y), (other * unit, y))
    assert again == pytest.approx(found, nan_ok=True) and 0.1 < found["relinked"] < 0.99


def test_a_private_release_tells_less_of_membership_and_has_no_sources():
    domain, training, others = halves()
    private = measure_leakage(MarginalReplacement(1.0, domain=domain, random_state=0), training, others)
    copied = measure_leakage(ParzenReplacement(bandwidth=0.1, domain=domain, random_state=0), training, others)
    calibrated = {"calibrated_auc", "calibrated_tpr_1", "calibrated_tpr_01"}
    assert set(private) == {"membership_auc", "membership_advantage", *calibrated}
    assert abs(private["membership_auc"] - 0.5) < 0.06 < 0.25 < copied["membership_auc"] - 0.5
    assert copied["relinked"] > 0.95


def test_other_shares_of_the_classes_are_no_leak():
    """A release of other rows of the same distribution tells nothing, whatever the classes' shares on the two sides."""
    domain = Domain((Continuous("x", -50, 50), Continuous("y", -50, 50)), Nominal("class", ("dense", "sparse")))

    class Elsewhere(MarginalReplacement):
        def fit_resample(self, X, y):
            super().fit_resample(X, y)
            self.scale_ = np.ones(2)
            return rows(rng, 400, 400)

    def rows(rng, n_dense, n_sparse):
        X = np.concatenate([rng.normal(0, 0.5, (n_dense, 2)), rng.normal(0, 5, (n_sparse, 2))])
        return X, np.repeat(["dense", "sparse"], [n_dense, n_sparse])

    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        found.append(measure_leakage(Elsewhere(domain=domain), rows(rng, 300, 100), rows(rng, 200, 200)))
    for name, chance in (("membership_auc", 0.5), ("calibrated_auc", 0.5), ("calibrated_tpr_1", 0.01)):
        assert np.mean([one[name] for one in found]) == pytest.approx(chance, abs=0.012)
