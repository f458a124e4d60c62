"""The ledger: composition rules, the bootstrap by enumerating every sample, and what grown trees really paid."""

import itertools
import math

import numpy as np
import pytest

from algorithms import Continuous, DiffPRFsClassifier, Domain, Nominal, PrivacyLeakWarning, RFDPPGiniClassifier
from algorithms.accounting import (
    INFERRED_DOMAIN,
    Bootstrapped,
    Fault,
    Parallel,
    Privacy,
    Sequential,
    Spent,
    Unpaid,
)
from algorithms.forests.tree import path_epsilon


def spent(epsilon):
    return Spent("laplace", "a count", epsilon, 1.0)


def test_the_same_rows_add_up_and_disjoint_rows_cost_the_dearest():
    assert Sequential("s", (spent(0.1), spent(0.2)), times=3).epsilon == pytest.approx(0.9)
    assert Parallel("p", (spent(0.1), spent(0.2)), times=3).epsilon == 0.2
    nested = Parallel("p", (Sequential("s", (spent(0.1), spent(0.2)), times=2), spent(0.5)))
    assert nested.epsilon == pytest.approx(0.6)


def test_an_unpaid_step_costs_infinity_wherever_it_stands():
    assert math.isinf(Parallel("p", (spent(1), Sequential("s", (Bootstrapped(Unpaid("a look"), 10),)))).epsilon)


def test_every_event_describes_itself_and_its_parts():
    ledger = Sequential("tree", (Bootstrapped(Parallel("part", (spent(0.25),), times=4), 9), Unpaid("a look")), times=2)
    text = "\n".join(ledger.lines())
    for word in ("2 x tree", "bootstrap sample of 9 rows", "4 x part", "sensitivity 1", "costs 0.25", "unpaid: a look"):
        assert word in text


# The bootstrap, by brute force: every sample of n records and of one more, through a mechanism of known law.


def sample_shares(records):
    """How probable each multiset of len(records) draws with replacement is."""
    shares = {}
    for sample in itertools.product(records, repeat=len(records)):
        key = tuple(sorted(sample))
        shares[key] = shares.get(key, 0) + len(records) ** -len(records)
    return shares


def geometric_difference(sample, epsilon):
    """Two-sided geometric noise on the number of ones less that of the others, whose sensitivity is 1."""
    exact = sum(1 if record == 1 else -1 for record in sample)
    alpha = math.exp(-epsilon)
    return {k: (1 - alpha) / (1 + alpha) * alpha ** abs(k - exact) for k in range(-12, 13)}


def exponential_vote(sample, epsilon):
    """The more frequent of two values by the exponential mechanism, quality a count, sensitivity 1."""
    weights = {value: math.exp(epsilon * sample.count(value) / 2) for value in (0, 1)}
    return {value: weight / sum(weights.values()) for value, weight in weights.items()}


def true_cost(mechanism, fewer, more, epsilon):
    """Largest log-ratio of the output laws, either way."""
    laws = []
    for records in (fewer, more):
        law = {}
        for sample, share in sample_shares(records).items():
            for output, p in mechanism(sample, epsilon).items():
                law[output] = law.get(output, 0) + share * p
        laws.append(law)
    return max(abs(math.log(laws[0][output] / laws[1][output])) for output in laws[0])


@pytest.mark.parametrize("mechanism", [geometric_difference, exponential_vote])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
def test_no_added_record_costs_more_than_the_bootstrap_is_booked_with(mechanism, epsilon):
    for n in (1, 2, 3, 4):
        booked = Bootstrapped(spent(epsilon), n).epsilon
        for n_ones in range(n + 1):
            fewer = (1,) * n_ones + (0,) * (n - n_ones)
            for added in (0, 1):
                assert true_cost(mechanism, fewer, (*fewer, added), epsilon) <= booked + 1e-9


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_a_bootstrap_costs_more_than_its_mechanism_and_the_booking_is_not_wasteful(epsilon):
    true = true_cost(geometric_difference, (0,) * 4, (0,) * 4 + (1,), epsilon)
    assert epsilon < true
    assert Bootstrapped(spent(epsilon), 4).epsilon < true + 0.7


def test_a_small_cost_grows_by_the_mean_number_of_records_that_differ():
    # E[w + |1 - w|] = 1 + 2 P(w = 0) for w with mean 1, which tends to 1 + 2 / e.
    assert Bootstrapped(spent(1e-7), 100_000).epsilon == pytest.approx(1e-7 * (1 + 2 / math.e), rel=1e-4)


# What is said of a fitted model.

FAULT = Fault("a fault", "something goes wrong", "step 1")


def test_sound_means_finite_faultless_and_covered():
    assert Privacy(1.0, spent(1.0)).is_sound
    assert Privacy(1.0, spent(0.5)).is_sound
    assert not Privacy(1.0, spent(1.001)).is_sound
    assert not Privacy(1.0, spent(1.0), (FAULT,)).is_sound
    assert not Privacy(math.inf, spent(math.inf)).is_sound
    assert not Privacy(1.0, spent(1.0), (INFERRED_DOMAIN,)).is_sound
    assert math.isinf(Privacy(1.0, spent(1.0), (INFERRED_DOMAIN,)).accounted_epsilon)


def test_the_text_names_claim_cost_neighbours_and_faults():
    text = str(Privacy(2.0, spent(3.0), (FAULT,)))
    for word in ("claimed epsilon 2", "accounted 3", "one record added or removed", "not sound", "a fault", "laplace"):
        assert word in text


NOMINAL = (Nominal("a", (0, 1, 2)), Nominal("b", (0, 1)), Nominal("c", (0, 1, 2, 3)))
CONTINUOUS = (Continuous("x", 0, 1), Continuous("z", -3, 3))
CLASSES = Nominal("y", ("p", "q"))


def rows(features, n=60, seed=0):
    rng = np.random.default_rng(seed)
    columns = [
        rng.uniform(f.lower, f.upper, n).round(2)
        if isinstance(f, Continuous)
        else rng.integers(len(f.categories), size=n)
        for f in features
    ]
    X = np.column_stack(columns)
    return X, np.where(X[:, 0] + rng.normal(0, 0.5, n) > np.median(X[:, 0]), "p", "q")


def fitted(estimator, features=NOMINAL + CONTINUOUS):
    X, y = rows(features)
    return estimator.set_params(domain=Domain(features, CLASSES), random_state=0).fit(X, y)


def dearest_path(nodes, i=0):
    """The dearest path by walking down, which knows nothing of the order of the nodes."""
    node = nodes[i]
    if node["decides"] == 0:
        return node["epsilon"]
    asked = [j for j in range(len(nodes)) if nodes[j]["decides"] and nodes[j]["child"] > node["child"]]
    stop = min((nodes[j]["child"] for j in asked), default=len(nodes))
    return node["epsilon"] + max(dearest_path(nodes, j) for j in range(node["child"], stop))


ESTIMATORS = [
    RFDPPGiniClassifier(2.0, max_depth=3, n_estimators=5),
    RFDPPGiniClassifier(2.0, max_depth=3, n_estimators=5, continuous="per_feature", max_features=5),
    RFDPPGiniClassifier(2.0, max_depth=3, n_estimators=5, variant="sound"),
    RFDPPGiniClassifier(2.0, max_depth=3, n_estimators=5, variant="sound", sampling="all"),
    DiffPRFsClassifier(2000.0, max_depth=3, n_estimators=5),
    DiffPRFsClassifier(2000.0, max_depth=3, n_estimators=5, criterion="max", max_features=5),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_the_path_cost_is_the_dearest_walk(estimator):
    for nodes in fitted(estimator).trees_:
        assert path_epsilon(nodes) == pytest.approx(dearest_path(nodes), rel=1e-12)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_no_tree_pays_more_than_its_share_of_the_claim(estimator):
    fitted(estimator)
    disjoint = estimator.get_params().get("variant") == "sound" and estimator.sampling is None
    share = estimator.epsilon / (1 if disjoint else estimator.n_estimators)
    for nodes in estimator.trees_:
        assert path_epsilon(nodes) <= share * (1 + 1e-12)


@pytest.mark.parametrize(("sampling", "n_times"), [(None, 1), ("disjoint", 1), ("all", 5)])
def test_a_sound_tree_pays_exactly_what_is_booked_and_claimed(sampling, n_times):
    forest = fitted(RFDPPGiniClassifier(2.0, max_depth=3, n_estimators=5, variant="sound", sampling=sampling))
    privacy = forest.privacy_
    (tree,) = privacy.ledger.parts
    for nodes in forest.trees_:
        assert path_epsilon(nodes) == pytest.approx(tree.epsilon, rel=1e-12)
        assert tree.epsilon * n_times == pytest.approx(privacy.accounted_epsilon, rel=1e-12)
        assert not nodes["exact"].any() and np.isnan(nodes["noisy_count"]).all()
    assert privacy.claimed_epsilon == privacy.accounted_epsilon == pytest.approx(2.0, rel=1e-12)
    assert privacy.is_sound and privacy.faults == ()


def test_diffprfs_without_continuous_features_books_what_its_trees_pay_as_a_bootstrap():
    forest = fitted(DiffPRFsClassifier(2000.0, max_depth=3, n_estimators=5, criterion="max"), NOMINAL)
    (bootstrap,) = forest.privacy_.ledger.parts
    assert isinstance(bootstrap, Bootstrapped)
    assert bootstrap.part.epsilon == pytest.approx(2000 / 5, rel=1e-12)
    assert max(path_epsilon(nodes) for nodes in forest.trees_) == pytest.approx(2000 / 5, rel=1e-12)
    assert 2000 < forest.privacy_.accounted_epsilon < math.inf
    assert not forest.privacy_.is_sound


def names(forest):
    return {fault.name for fault in forest.privacy_.faults}


@pytest.mark.parametrize("features", [NOMINAL, CONTINUOUS, NOMINAL + CONTINUOUS], ids=["nominal", "continuous", "both"])
def test_the_printed_rfdpp_gini_confesses(features):
    forest = fitted(RFDPPGiniClassifier(2.0, n_estimators=3), features)
    expected = {"exact purity test", "exact final comparison", "unused count", "bootstrap"}
    expected |= {"exact nominal splits"} if NOMINAL[0] in features else set()
    expected |= {"interval ends from the rows"} if CONTINUOUS[0] in features else set()
    assert names(forest) == expected
    assert math.isinf(forest.privacy_.accounted_epsilon) and forest.privacy_.claimed_epsilon == 2.0
    assert not forest.privacy_.is_sound
    assert forest.privacy_.neighbours == "one record added or removed"


@pytest.mark.parametrize(
    ("reading", "fault"),
    [
        ({"tree_budget": "whole"}, "budget spent more than once"),
        ({"level_budget": "whole"}, "budget spent more than once"),
        ({"leaf": "whole_budget"}, "budget spent more than once"),
        ({"leaf": "exact"}, "exact leaves"),
    ],
)
def test_a_reading_that_spends_more_adds_its_fault(reading, fault):
    assert fault in names(fitted(RFDPPGiniClassifier(2.0, n_estimators=3, **reading)))
    assert fault not in names(fitted(RFDPPGiniClassifier(2.0, n_estimators=3)))


@pytest.mark.parametrize("sampling", ["disjoint", "all"])
def test_without_a_bootstrap_there_is_no_bootstrap_fault(sampling):
    assert "bootstrap" not in names(fitted(RFDPPGiniClassifier(2.0, n_estimators=3, sampling=sampling)))


def test_the_printed_diffprfs_confesses():
    assert names(fitted(DiffPRFsClassifier(2.0, n_estimators=3, criterion="max"), NOMINAL)) == {"bootstrap"}
    both = fitted(DiffPRFsClassifier(2.0, n_estimators=3))
    assert names(both) == {"bootstrap", "interval ends from the rows", "sensitivity from the rows"}
    assert math.isinf(both.privacy_.accounted_epsilon)


@pytest.mark.parametrize(
    "estimator",
    [RFDPPGiniClassifier(n_estimators=2), RFDPPGiniClassifier(n_estimators=2, variant="sound"), DiffPRFsClassifier()],
    ids=str,
)
def test_an_inferred_domain_costs_everything(estimator):
    with pytest.warns(PrivacyLeakWarning):
        forest = estimator.fit(*rows(NOMINAL))
    assert "inferred domain" in names(forest)
    assert math.isinf(forest.privacy_.accounted_epsilon) and not forest.privacy_.is_sound


def test_without_noise_nothing_is_claimed():
    forest = fitted(RFDPPGiniClassifier(math.inf, n_estimators=2, variant="sound"))
    assert math.isinf(forest.privacy_.accounted_epsilon) and not forest.privacy_.is_sound
