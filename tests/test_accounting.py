"""The ledger: composition rules, the bootstrap by enumerating every sample, and what grown trees really paid."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy import stats
from sklearn.base import is_regressor

import algorithms
from algorithms import (
    ASNClassifier,
    BDPTClassifier,
    Continuous,
    CPPPWClassifier,
    DiffLRRegressor,
    DiffPETsClassifier,
    DiffPETsRegressor,
    DiffPRFClassifier,
    DiffPRFsClassifier,
    Domain,
    DPBARegressor,
    DPCRegressor,
    DPGDFClassifier,
    DPMarginalsClassifier,
    EDPRFClassifier,
    FunctionalMechanismRegressor,
    Nominal,
    PFDPDTClassifier,
    PrivacyLeakWarning,
    PrivaTreeClassifier,
    RDTClassifier,
    RFDPPGiniClassifier,
    ThriftyBayesClassifier,
    ThriftyClassifier,
    ThriftyForestClassifier,
    ThriftyForestRegressor,
    ThriftyRegressor,
    ThriftyTreeClassifier,
    ThriftyTreeRegressor,
)
from algorithms.accounting.events import (
    ADDED_OR_REMOVED,
    RELATIONS,
    REPLACED,
    Bootstrapped,
    Parallel,
    Sequential,
    Spent,
    Unpaid,
    drop_unpaid,
    event_from_dict,
    event_to_dict,
)
from algorithms.accounting.faults import INFERRED_DOMAIN, Fault
from algorithms.accounting.privacy import Privacy
from algorithms.accounting.trust import EXPERIMENT, OTHERS, RELEASE
from algorithms.forests.forest import PrivateForest, TwoVariants
from tests.combined import BayesFirst, MeansFirst, PairsFirst
from tests.planted import AlwaysATail
from tests.reference_trees import assert_paths_spend


def spent(epsilon):
    return Spent("laplace", "a count", epsilon, 1.0)


def test_the_same_rows_add_up_and_disjoint_rows_cost_the_dearest():
    assert Sequential("s", (spent(0.1), spent(0.2)), times=3).epsilon == pytest.approx(0.9)
    assert Parallel("p", (spent(0.1), spent(0.2)), times=3).epsilon == 0.2
    nested = Parallel("p", (Sequential("s", (spent(0.1), spent(0.2)), times=2), spent(0.5)))
    assert nested.epsilon == pytest.approx(0.6)


def test_an_unpaid_step_costs_infinity_wherever_it_stands():
    assert math.isinf(Parallel("p", (spent(1), Sequential("s", (Bootstrapped(Unpaid("a look"), 10),)))).epsilon)


def test_a_step_that_never_happens_costs_nothing():
    never = Sequential("split level", (spent(0.1), Unpaid("a look")), times=0)
    assert never.epsilon == 0 and never.to_lines()[0] == "0 x split level, on the same rows, costs 0"
    root = fitted(DiffPETsClassifier(2.4, n_estimators=3, max_depth=1, leaf="class_counts"))
    assert all(len(nodes) == 1 for nodes in root.trees_)
    assert root.privacy_.accounted_epsilon == pytest.approx(3 * cost_of_a_bootstrap(2.4 / 3 / 2, 60), rel=1e-9)
    assert not root.privacy_.keeps_claim


def test_every_event_describes_itself_and_its_parts():
    ledger = Sequential("tree", (Bootstrapped(Parallel("part", (spent(0.25),), times=4), 9), Unpaid("a look")), times=2)
    text = "\n".join(ledger.to_lines())
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


# Both relations, by brute force: the exact laws of small compositions on all neighbouring tables.


def geometric(exact, epsilon, sensitivity=1):
    """Two-sided geometric noise on a whole number: the law, as logarithms."""
    rate = epsilon / sensitivity
    return {k: math.log(math.tanh(rate / 2)) - rate * abs(k - exact) for k in range(-9, 10)}


def jointly(*laws):
    """The law of independent outputs."""
    return {keys: sum(law[key] for law, key in zip(laws, keys, strict=True)) for keys in itertools.product(*laws)}


def mixed(laws):
    """The law of an output whose mechanism is drawn evenly."""
    return {key: np.logaddexp.reduce([law[key] for law in laws]) - math.log(len(laws)) for key in laws[0]}


def costs(values, law, n=2):
    """The dearest output by relation, over all tables of n records and of one more or another one."""
    laws = {table: law(table) for size in (n, n + 1) for table in itertools.product(values, repeat=size)}
    added = [(table, (*table, more)) for table in itertools.product(values, repeat=n) for more in values]
    replaced = [(table, (*table[:-1], other)) for table in itertools.product(values, repeat=n) for other in values]
    return {
        relation: max(abs(laws[one][key] - laws[other][key]) for one, other in couples for key in laws[one])
        for relation, couples in ((ADDED_OR_REMOVED, added), (REPLACED, replaced))
    }


def under_both(event):
    return {relation: event.epsilon_under(relation) for relation in RELATIONS}


def counted(epsilon, **known):
    return Spent("geometric", "a count", epsilon, 1.0, **known)


def test_a_replaced_record_moves_two_counts_of_a_vector_and_costs_twice():
    true = costs("pq", lambda table: jointly(*(geometric(table.count(value), 0.4) for value in "pq")))
    assert under_both(counted(0.4)) == pytest.approx(true, rel=1e-9) == {ADDED_OR_REMOVED: 0.4, REPLACED: 0.8}


def test_steps_on_the_same_rows_add_up_under_both_relations():
    true = costs("pqr", lambda table: jointly(geometric(table.count("p"), 0.3), geometric(table.count("p"), 0.5)))
    known = {"other_sensitivity": 1.0}  # one count moves by 1 at most, whatever happens to a record
    ledger = Sequential("both", (counted(0.3, **known), counted(0.5, **known)))
    assert under_both(ledger) == pytest.approx(true, rel=1e-9) == {ADDED_OR_REMOVED: 0.8, REPLACED: 0.8}


def test_a_replaced_record_may_leave_one_cell_and_enter_another():
    values = [(cell, label) for cell in "abc" for label in (0, 1)]
    epsilons = {"a": 0.5, "b": 0.3, "c": 0.2}
    true = costs(values, lambda table: jointly(*(geometric(table.count((c, 1)), e) for c, e in epsilons.items())), n=1)
    ledger = Parallel("cell", tuple(counted(e, other_sensitivity=1.0) for e in epsilons.values()))
    assert under_both(ledger) == pytest.approx(true, rel=1e-9) == {ADDED_OR_REMOVED: 0.5, REPLACED: 0.8}
    alike = Parallel("cell", (counted(0.5, other_sensitivity=1.0),), times=3)
    assert under_both(alike) == {ADDED_OR_REMOVED: 0.5, REPLACED: 1.0}
    assert under_both(Parallel("cell", alike.parts)) == {ADDED_OR_REMOVED: 0.5, REPLACED: 0.5}  # there is no other


def test_parts_that_are_drawn_cost_no_more_than_parts_by_value():
    def law(table):
        draws = [list(zip(table, parts, strict=True)) for parts in itertools.product((0, 1), repeat=len(table))]
        return mixed([jointly(*(geometric(draw.count(("p", part)), 0.6) for part in (0, 1))) for draw in draws])

    true = costs("pq", law)
    booked = under_both(Parallel("part", (counted(0.6, other_sensitivity=1.0),), times=2))
    assert true[ADDED_OR_REMOVED] == pytest.approx(booked[ADDED_OR_REMOVED], rel=1e-9)
    # A replaced record stays in its part; the booking is for the worst case, that it moves.
    assert true[REPLACED] == pytest.approx(0.6, rel=1e-9) and booked[REPLACED] == 1.2


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_a_record_replaced_in_a_bootstrap_costs_what_is_booked(epsilon, n):
    """Of the difference of two counts, which a replaced record moves by 2: the booking is reached."""
    booked = Bootstrapped(spent(epsilon), n).epsilon_under(REPLACED)
    found = []
    for n_ones in range(n):
        table = (1,) * n_ones + (0,) * (n - n_ones)
        other = (1,) * (n_ones + 1) + (0,) * (n - n_ones - 1)
        found += [true_cost(mechanism, table, other, epsilon) for mechanism in (geometric_difference, exponential_vote)]
    assert max(found) == pytest.approx(booked, rel=1e-9)
    w = np.arange(n + 1)
    assert booked == pytest.approx(math.log((stats.binom(n, 1 / n).pmf(w) * np.exp(2 * epsilon * w)).sum()), rel=1e-9)


def test_a_large_bootstrap_of_a_large_cost_is_still_a_number():
    assert Bootstrapped(spent(400.0), 10_000).epsilon_under(REPLACED) == pytest.approx(1e4 * (800 - math.log(1e4)))


def test_a_sum_that_is_calibrated_for_a_replaced_record_costs_half_where_one_is_added():
    true = costs((-1, 0, 1), lambda table: geometric(sum(table), 0.6, sensitivity=2))
    booked = Spent("geometric", "a sum", 0.6, 2.0, REPLACED, 1.0)
    assert under_both(booked) == pytest.approx(true, rel=1e-9) == {ADDED_OR_REMOVED: 0.3, REPLACED: 0.6}


def test_what_is_calibrated_for_a_replaced_record_may_show_the_number_of_rows():
    """A sum beside the number of rows: fine as long as the number is the same."""

    def law(table):
        return {(len(table), key): share for key, share in geometric(sum(table), 0.6, sensitivity=2).items()}

    booked = Spent("geometric", "a sum, the number of rows being public", 0.6, 2.0, REPLACED)
    assert math.isinf(booked.epsilon_under(ADDED_OR_REMOVED))
    laws = [law(table) for table in ((1, 1), (1, -1), (1, 1, 1))]
    assert laws[0].keys() == laws[1].keys() and not laws[0].keys() & laws[2].keys()
    assert max(abs(laws[0][key] - laws[1][key]) for key in laws[0]) == pytest.approx(0.6) == booked.epsilon


def test_a_ledger_speaks_of_the_relation_that_its_mechanisms_are_calibrated_for():
    mean = Spent("laplace", "a mean", 0.5, 0.1, REPLACED)
    assert Sequential("one", (spent(0.5),)).neighbours == ADDED_OR_REMOVED
    both = Sequential("both", (spent(0.5), mean))
    assert both.neighbours == REPLACED and both.epsilon == 1.5 and math.isinf(both.epsilon_under(ADDED_OR_REMOVED))
    assert [math.isinf(Unpaid("a look").epsilon_under(relation)) for relation in RELATIONS] == [True, True]
    with pytest.raises(ValueError, match="neighbours must be 'one record added or removed' or 'one record replaced'"):
        Privacy(1.0, spent(1.0)).accounted("replaced")


def test_a_ledger_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r"event must be one of Spent, .*, got 'Gift'"):
        event_from_dict({"event": "Gift"})


def test_every_event_survives_json():
    mean = Spent("laplace", "a mean", np.float64(0.5), 0.1, REPLACED)
    parts = (Bootstrapped(Parallel("part", (spent(math.inf), mean), times=4), np.int64(9)), Unpaid("a look"))
    ledger = Sequential("tree", parts, times=2)
    text = json.dumps(event_to_dict(ledger), allow_nan=False)
    again = event_from_dict(json.loads(text))
    assert again == ledger and again.to_lines() == ledger.to_lines() and under_both(again) == under_both(ledger)


# What is said of a fitted model.

FAULT = Fault("a fault", "something goes wrong", "step 1")


def test_sound_means_finite_faultless_and_covered():
    assert Privacy(1.0, spent(1.0)).keeps_claim
    assert Privacy(1.0, spent(0.5)).keeps_claim
    assert not Privacy(1.0, spent(1.001)).keeps_claim
    assert not Privacy(1.0, spent(1.0), (FAULT,)).keeps_claim
    assert not Privacy(math.inf, spent(math.inf)).keeps_claim
    assert not Privacy(1.0, spent(1.0), (INFERRED_DOMAIN,)).keeps_claim
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


def fitted(estimator, features=NOMINAL + CONTINUOUS, n=60):
    X, y = rows(features, n)
    target = CLASSES
    if is_regressor(estimator):
        target, y = Continuous("y", -10, 30), 10.0 * (y == "q") + X[:, -1]
    return estimator.set_params(domain=Domain(features, target), random_state=0).fit(X, y)


def dearest_path(nodes, i=0):
    """Return what the dearest path from the root to a leaf pays, by walking down."""
    node = nodes[i]
    if node["decides"] == 0:
        return node["epsilon"]
    later = [j for j in range(len(nodes)) if nodes[j]["decides"] and nodes[j]["child"] > node["child"]]
    stop = min((nodes[j]["child"] for j in later), default=len(nodes))
    return node["epsilon"] + max(dearest_path(nodes, j) for j in range(node["child"], stop))


ESTIMATORS = [
    RFDPPGiniClassifier(2.0, max_depth=3, n_estimators=5),
    RFDPPGiniClassifier(2.0, max_depth=3, n_estimators=5, continuous="per_feature", max_features=5),
    RFDPPGiniClassifier(2.0, max_depth=3, n_estimators=5, calls="two", max_features=5),
    RFDPPGiniClassifier(2.0, max_depth=3, n_estimators=5, nominal_noise="gini", max_features=5),
    RFDPPGiniClassifier(2.0, max_depth=3, n_estimators=5, nominal_noise="counts", nominal_split="two_groups"),
    RFDPPGiniClassifier(2.0, max_depth=3, n_estimators=5, nominal_noise="counts", nominal_split="per_value"),
    RFDPPGiniClassifier(2.0, max_depth=3, n_estimators=5, variant="sound"),
    RFDPPGiniClassifier(2.0, max_depth=3, n_estimators=5, variant="sound", sampling="all"),
    DiffPRFsClassifier(2000.0, max_depth=3, n_estimators=5),
    DiffPRFsClassifier(2000.0, max_depth=3, n_estimators=5, criterion="max", max_features=5),
    DiffPRFClassifier(2000.0, max_depth=3, n_estimators=5),
    DiffPRFClassifier(2000.0, max_depth=3, n_estimators=5, criterion="gini", stop_below="zero"),
    DiffPETsClassifier(2.0, max_depth=3, n_estimators=5, leaf="class_counts"),
    DiffPETsClassifier(2.0, max_depth=3, n_estimators=5, leaf="class_counts", levels="below_root"),
    DiffPETsClassifier(2.0, max_depth=3, n_estimators=5, variant="sound"),
    DiffPETsRegressor(2.0, max_depth=3, n_estimators=5),
    DiffPETsRegressor(2.0, max_depth=3, n_estimators=5, levels="below_root", leaf="mean"),
    DiffPETsRegressor(2.0, max_depth=3, n_estimators=5, variant="sound", sampling="all"),
    DiffPRFsClassifier(2.0, max_depth=3, n_estimators=5, variant="sound"),
    DiffPRFClassifier(2.0, max_depth=3, n_estimators=5, variant="sound", level_budget="linear", sampling="all"),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_no_tree_pays_more_than_its_share_of_the_claim(estimator):
    fitted(estimator)
    disjoint = estimator.get_params().get("variant") == "sound" and estimator.sampling is None
    share = estimator.epsilon / (1 if disjoint else estimator.n_estimators)
    for nodes in estimator.trees_:
        assert dearest_path(nodes) <= share * (1 + 1e-12)


OF_TREES = [cls for cls in algorithms.all_estimators() if issubclass(cls, PrivateForest) and cls != RDTClassifier]
"""Those whose questions cost something."""
SAMPLED = [
    (cls, {} if sampling is None else {"sampling": sampling})
    for cls in OF_TREES
    for sampling in (None, *(("disjoint", "all") if issubclass(cls, TwoVariants) else ()))
]


@pytest.mark.parametrize(("cls", "given"), SAMPLED, ids=[f"{cls.__name__} {given}" for cls, given in SAMPLED])
@pytest.mark.parametrize("epsilon", [0.1, 3.0, 30.0])
def test_every_path_of_a_sound_tree_spends_its_share_of_the_claim_and_that_is_booked(cls, given, epsilon):
    """Trees on the same rows share epsilon, those on disjoint rows have all of it each; no step reads rows exactly."""
    forest = fitted(cls(epsilon, **cls.list_variants()[-1], **given), n=200)
    privacy, n_trees = forest.privacy_, len(forest.trees_)
    share = epsilon / (n_trees if isinstance(privacy.ledger, Sequential) else 1)
    for nodes in forest.trees_:
        behind = nodes["child"][(nodes["decides"] == 0) & (nodes["child"] >= 0)]  # of a leaf: shares, no questions
        questions = nodes[: min(behind, default=len(nodes))]
        assert_paths_spend(questions, share)
        assert dearest_path(questions) == pytest.approx(share, rel=1e-12)
        assert not nodes["exact"].any()
        if issubclass(cls, TwoVariants):
            assert np.isnan(nodes["noisy_count"][1:]).all(), "one count, at the root"
    assert privacy.keeps_claim and privacy.accounted_epsilon == pytest.approx(epsilon, rel=1e-12)


def test_diffprfs_without_continuous_features_books_what_its_trees_pay_as_a_bootstrap():
    forest = fitted(DiffPRFsClassifier(2000.0, max_depth=3, n_estimators=5, criterion="max"), NOMINAL)
    (bootstrap,) = forest.privacy_.ledger.parts
    assert isinstance(bootstrap, Bootstrapped)
    assert bootstrap.part.epsilon == pytest.approx(2000 / 5, rel=1e-12)
    assert max(dearest_path(nodes) for nodes in forest.trees_) == pytest.approx(2000 / 5, rel=1e-12)
    assert 2000 < forest.privacy_.accounted_epsilon < math.inf
    assert not forest.privacy_.keeps_claim


def cost_of_a_bootstrap(epsilon, n):
    """By its definition: the added record stands w times in the sample, which then differs by w + |1 - w| records."""
    w = np.arange(n + 2)
    share, differing = stats.binom(n + 1, 1 / (n + 1)).pmf(w), w + abs(1 - w)
    grown, shrunk = np.exp(differing * epsilon), np.exp(-differing * epsilon)
    return max(math.log((share * grown).sum()), -math.log((share * shrunk).sum()))


@pytest.mark.parametrize("criterion", ["gini", "max"])
@pytest.mark.parametrize("features", [NOMINAL, NOMINAL + CONTINUOUS], ids=["nominal", "both"])
def test_diffprf_costs_a_bootstrap_for_every_tree_whether_or_not_columns_are_continuous(criterion, features):
    forest = fitted(DiffPRFClassifier(2.0, n_estimators=5, criterion=criterion), features)
    assert forest.privacy_.accounted_epsilon == pytest.approx(5 * cost_of_a_bootstrap(2 / 5, 60), rel=1e-9)
    assert 2 < forest.privacy_.accounted_epsilon < math.inf and not forest.privacy_.keeps_claim
    same = fitted(DiffPRFsClassifier(2.0, n_estimators=5, criterion=criterion), NOMINAL)
    assert same.privacy_.accounted_epsilon == forest.privacy_.accounted_epsilon


def test_the_ledger_of_the_printed_diffpets_has_a_count_and_a_draw_on_every_level():
    """B = 2.4, t = 3, h = 3: a mechanism has 2.4 / 3 / 2 / 4 = 0.1; of the three levels the last one has no splits."""
    noisy = DiffPETsClassifier(leaf="class_counts")
    for model, leaf in ((noisy, [0.1]), (DiffPETsRegressor(), [0.05, 0.05])):
        model.set_params(epsilon=2.4, n_estimators=3, max_depth=3)
        (bootstrap,) = fitted(model).privacy_.ledger.parts
        level, leaf_level = bootstrap.part.parts
        assert level.times == 2 and bootstrap.n_rows == 60
        count, split, unpaid = level.parts
        assert (count.mechanism, count.epsilon, count.sensitivity) == ("laplace", pytest.approx(0.1), 1.0)
        assert (split.mechanism, split.epsilon, split.sensitivity) == ("exponential", pytest.approx(0.1), 2.0)
        assert math.isinf(unpaid.epsilon)
        first, *others = leaf_level.parts
        assert first == count
        assert [event.epsilon for event in others] == pytest.approx(leaf)
        assert all((event.mechanism, event.sensitivity) == ("laplace", 1.0) for event in others)
    (bootstrap,) = fitted(DiffPETsRegressor(2.4, n_estimators=3, max_depth=3, leaf="mean")).privacy_.ledger.parts
    mean = bootstrap.part.parts[1].parts[1]
    assert (mean.epsilon, mean.sensitivity) == (pytest.approx(0.1), 2.0)


def test_the_ledger_of_the_sound_diffpets_has_a_draw_on_every_level_and_a_leaf():
    """B = 2.4, h = 3: the count of the rows has 0.12 of a tree that no other sees, a level 0.57."""
    for cls, sensitivity in ((DiffPETsClassifier, 2.0), (DiffPETsRegressor, 1.0)):
        (tree,) = fitted(cls(2.4, n_estimators=3, max_depth=3, variant="sound")).privacy_.ledger.parts
        count, level, leaf = tree.parts
        (split,) = level.parts
        assert (count.mechanism, count.epsilon, count.sensitivity) == ("laplace", pytest.approx(0.12), 1.0)
        assert (level.times, split.epsilon, split.sensitivity) == (3, pytest.approx(0.57), sensitivity)
        assert (leaf.epsilon, leaf.sensitivity) == (pytest.approx(0.57), 1.0)


def test_the_ledger_of_a_linear_sound_diffprf_gives_later_levels_more():
    """B = 4, d = 2 and 10 trees: 3.8 after the count, in sixths."""
    model = fitted(DiffPRFClassifier(4.0, max_depth=2, variant="sound", level_budget="linear"))
    (tree,) = model.privacy_.ledger.parts
    assert [event.epsilon for event in tree.parts] == pytest.approx([0.2, 3.8 / 6, 3.8 / 3, 3.8 / 2])
    assert [event.sensitivity for event in tree.parts] == [1.0] * 4


@pytest.mark.parametrize(("cls", "of_root"), [(ThriftyTreeClassifier, 0.2), (ThriftyTreeRegressor, 0.4)])
def test_the_ledger_of_a_thrifty_tree_is_its_budget(cls, of_root):
    root, below = fitted(cls(4.0)).privacy_.ledger.parts[0].parts
    assert (root.epsilon, below.epsilon, below.sensitivity) == (pytest.approx(of_root), pytest.approx(4 - of_root), 1.0)


@pytest.mark.parametrize("epsilon", [0.1, 2.5])
def test_rdt_costs_its_claim_and_nothing_else(epsilon):
    forest = fitted(RDTClassifier(epsilon, n_estimators=5, max_depth=2))
    (counts,) = forest.privacy_.ledger.parts
    assert (counts.mechanism, counts.epsilon, counts.sensitivity) == ("laplace", pytest.approx(epsilon / 5), 1.0)
    assert forest.privacy_.ledger.times == 5
    assert forest.privacy_.accounted_epsilon == pytest.approx(epsilon, rel=1e-12) and forest.privacy_.keeps_claim


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
    assert not forest.privacy_.keeps_claim
    assert forest.privacy_.neighbours == "one record added or removed"


@pytest.mark.parametrize(
    ("reading", "fault"),
    [
        ({"tree_budget": "whole"}, "budget spent more than once"),
        ({"level_budget": "whole"}, "budget spent more than once"),
        ({"leaf": "whole_budget"}, "budget spent more than once"),
        ({"leaf": "exact"}, "exact leaves"),
        ({"min_gini": 0.1}, "exact Gini threshold"),
        ({"criterion": "information_gain"}, "sensitivity from the rows"),
    ],
)
def test_a_reading_that_spends_more_adds_its_fault(reading, fault):
    assert fault in names(fitted(RFDPPGiniClassifier(2.0, n_estimators=3, **reading)))
    assert fault not in names(fitted(RFDPPGiniClassifier(2.0, n_estimators=3)))


LAST = {"exact final comparison"}


@pytest.mark.parametrize(
    ("reading", "mended", "on_nominal"),
    [
        ({"nominal_noise": "gini"}, {"exact nominal splits"}, {"exact final comparison"}),
        (
            {"nominal_noise": "counts", "nominal_split": "two_groups"},
            {"exact nominal splits"},
            {"exact final comparison"},
        ),
        ({"nominal_noise": "gini", "nominal_split": "two_groups"}, set(), set()),  # the groups are exact
        ({"min_samples": 20.0}, {"unused count"}, set()),
        ({"calls": "two"}, LAST, set()),
    ],
    ids=str,
)
def test_a_reading_with_more_noise_has_fewer_faults(reading, mended, on_nominal):
    """Where all features are nominal and have noise, what is compared last has noise, too."""
    literal, read = (RFDPPGiniClassifier(2.0, n_estimators=3, **given) for given in ({}, reading))
    assert names(fitted(literal)) - names(fitted(read)) == mended
    assert names(fitted(literal, NOMINAL)) - names(fitted(read, NOMINAL)) == mended | on_nominal
    assert "exact purity test" in names(read) and math.isinf(read.privacy_.accounted_epsilon)


@pytest.mark.parametrize("features", [NOMINAL, CONTINUOUS, NOMINAL + CONTINUOUS], ids=["nominal", "continuous", "both"])
@pytest.mark.parametrize("noise", ["none", "counts", "gini"])
def test_whatever_the_noise_on_nominal_features_the_paid_steps_of_a_tree_cost_its_share(features, noise):
    """Section 3.2.1: three levels of a count and a split, and a leaf, which is without a count: 7 of 8 halves."""
    forest = fitted(
        RFDPPGiniClassifier(2.0, n_estimators=5, max_depth=3, nominal_noise=noise, max_features=2), features
    )
    (bootstrapped,) = forest.privacy_.ledger.parts
    paid = drop_unpaid(bootstrapped.part)
    assert paid.epsilon == pytest.approx(2.0 / 5 * 7 / 8, rel=1e-12)
    assert any("class counts of nominal" in line for line in paid.to_lines()) == (
        noise == "counts" and features != CONTINUOUS
    )


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
    [
        RFDPPGiniClassifier(n_estimators=2),
        RFDPPGiniClassifier(n_estimators=2, variant="sound"),
        DiffPRFsClassifier(),
        DiffPRFClassifier(),
        DiffPETsClassifier(),
        DiffPETsClassifier(variant="sound"),
        RDTClassifier(max_depth=2),
    ],
    ids=str,
)
def test_an_inferred_domain_costs_everything(estimator):
    with pytest.warns(PrivacyLeakWarning):
        forest = estimator.fit(*rows(NOMINAL))
    assert "inferred domain" in names(forest)
    assert math.isinf(forest.privacy_.accounted_epsilon) and not forest.privacy_.keeps_claim


PRINTED_DIFFPETS = {"exact stop condition", "cuts from the rows", "unused count", "bootstrap"}
PRIVACY = [  # with epsilon = 2 and 3 trees: what is accounted, None for more than 2 but finite, and which faults
    (
        RFDPPGiniClassifier(),
        math.inf,
        {
            "exact purity test",
            "exact final comparison",
            "exact nominal splits",
            "interval ends from the rows",
            "unused count",
            "bootstrap",
        },
    ),
    (RFDPPGiniClassifier(variant="sound"), 2.0, set()),
    (DiffPRFsClassifier(), math.inf, {"bootstrap", "interval ends from the rows", "sensitivity from the rows"}),
    (DiffPRFClassifier(), math.inf, {"bootstrap", "sensitivity from the rows"}),
    (DiffPRFClassifier(criterion="gini"), None, {"bootstrap"}),
    (DiffPRFClassifier(criterion="max"), None, {"bootstrap"}),
    (DiffPRFClassifier(criterion="max", author_code=True), math.inf, {"bootstrap", "exact choices"}),
    (DiffPRFClassifier(author_code=True), math.inf, {"bootstrap", "sensitivity from the rows", "exact choices"}),
    (DiffPRFsClassifier(variant="sound"), 2.0, set()),
    (DiffPRFsClassifier(variant="sound", criterion="gini", sampling="all"), 2.0, set()),
    (DiffPRFClassifier(variant="sound"), 2.0, set()),
    (DiffPRFClassifier(variant="sound", level_budget="linear"), 2.0, set()),
    (DiffPRFClassifier(criterion="max", sampling="all"), 2.0, set()),
    (DiffPETsClassifier(), math.inf, PRINTED_DIFFPETS | {"exact leaves"}),
    (DiffPETsClassifier(leaf="class_counts"), math.inf, PRINTED_DIFFPETS),
    (DiffPETsClassifier(leaf="class_counts", levels="below_root"), math.inf, PRINTED_DIFFPETS),
    (DiffPETsClassifier(sampling="disjoint"), math.inf, PRINTED_DIFFPETS - {"bootstrap"} | {"exact leaves"}),
    (
        DiffPETsClassifier(criterion="information_gain"),
        math.inf,
        PRINTED_DIFFPETS | {"exact leaves", "sensitivity from the rows", "sensitivity too small"},
    ),
    (
        DiffPETsClassifier(criterion="information_gain", gain_sensitivity="binary"),
        math.inf,
        PRINTED_DIFFPETS | {"exact leaves", "sensitivity from the rows"},
    ),
    (DiffPETsClassifier(variant="sound"), 2.0, set()),
    (DiffPETsClassifier(variant="sound", sampling="all"), 2.0, set()),
    (DiffPETsRegressor(), math.inf, PRINTED_DIFFPETS),
    (DiffPETsRegressor(leaf="mean"), math.inf, PRINTED_DIFFPETS),
    (DiffPETsRegressor(sampling="all"), math.inf, PRINTED_DIFFPETS - {"bootstrap"}),
    (DiffPETsRegressor(variant="sound"), 2.0, set()),
    (DiffPETsRegressor(variant="sound", sampling="all"), 2.0, set()),
    (RDTClassifier(), math.inf, {"height from the rows"}),
    (RDTClassifier(max_depth=2), 2.0, set()),
    (PFDPDTClassifier(), math.inf, {"exact purity test"}),
    (PFDPDTClassifier(variant="sound"), 2.0, set()),
    (EDPRFClassifier(), math.inf, {"exact purity test"}),
    (EDPRFClassifier(variant="sound"), 2.0, set()),
    (EDPRFClassifier(variant="sound", split="exponential", leaf="noisy_counts"), 2.0, set()),
    (PrivaTreeClassifier(), math.inf, {"budget from the rows", "sensitivity of a noisy count"}),
    (
        PrivaTreeClassifier(splits="histograms"),
        math.inf,
        {"budget from the rows", "budget spent more than once", "exact stop condition"},
    ),
    (PrivaTreeClassifier(variant="sound"), 2.0, set()),
    (BDPTClassifier(), math.inf, {"cuts from the rows", "sensitivity of a noisy count"}),
    (BDPTClassifier(variant="sound"), 2.0, set()),
    (DPGDFClassifier(), math.inf, {"sensitivity of a leaf's own rows"}),
    (DPGDFClassifier(mechanism="exponential"), math.inf, {"sensitivity of a leaf's own rows"}),
    (DPGDFClassifier(variant="sound"), 2.0, set()),
    (ThriftyTreeClassifier(), 2.0, set()),
    (ThriftyBayesClassifier(), 2.0, set()),
    (ThriftyBayesClassifier(max_features=1), 2.0, set()),
    (ThriftyTreeRegressor(), 2.0, set()),
    (ThriftyClassifier(), 2.0, set()),
    (BayesFirst(), 2.0, set()),
    (PairsFirst(), 2.0, set()),
    (MeansFirst(), 2.0, set()),
    (ThriftyForestClassifier(), 2.0, set()),
    (ThriftyForestClassifier(n_estimators=3), 2.0, set()),
    (ThriftyForestRegressor(n_estimators=4), 2.0, set()),
    (ThriftyRegressor(), 2.0, set()),
    (AlwaysATail(), 2.0, set()),
    (FunctionalMechanismRegressor(), 2.0, set()),
    (DiffLRRegressor(), 2.0, set()),
    (DPCRegressor(), 2.0, set()),
    (DPBARegressor(), 2.0, set()),
    (DPBARegressor(beta=None, share="optimal"), 2.0, set()),
    (FunctionalMechanismRegressor(variant="sound"), 2.0, set()),
    (FunctionalMechanismRegressor(variant="sound", degree=2, fit_intercept=True), 2.0, set()),
    (DiffLRRegressor(variant="sound"), 2.0, set()),
    (DPCRegressor(variant="sound"), 2.0, set()),
    (DPBARegressor(variant="sound"), 2.0, set()),
    (DPBARegressor(variant="sound", beta=None, share="optimal"), 2.0, set()),
    (CPPPWClassifier(), math.inf, {"copied rows", "exact labels"}),
    (CPPPWClassifier(scale="standard"), math.inf, {"copied rows", "exact labels", "scale from the rows"}),
    (ASNClassifier(), math.inf, {"copied rows", "exact labels"}),
    (ASNClassifier(scale="standard"), math.inf, {"copied rows", "exact labels", "scale from the rows"}),
    (DPMarginalsClassifier(), 2.0, set()),
    (DPMarginalsClassifier(classifier="svm", sampling_ratio=2.0), 2.0, set()),
]


LISTED = {type(estimator) for estimator, _, _ in PRIVACY}
PRIVACY += [  # the others are meant to keep their claim, but for what is printed
    (cls(**cls.list_variants()[-1]), 2.0, set()) for cls in algorithms.all_estimators() if cls not in LISTED
]


@pytest.mark.parametrize(("estimator", "accounted", "faults"), PRIVACY, ids=[str(row[0]) for row in PRIVACY])
def test_what_is_claimed_and_accounted_and_confessed(estimator, accounted, faults):
    if "n_estimators" in estimator.get_params():
        estimator.set_params(n_estimators=3)
    claims = "epsilon" in estimator.get_params()
    model = fitted(estimator.set_params(epsilon=2.0) if claims else estimator)
    privacy = model.privacy_
    assert privacy.claimed_epsilon == (2.0 if claims else math.inf)
    assert names(model) == faults
    if accounted is None:
        assert 2.0 < privacy.accounted_epsilon < math.inf
    else:
        assert privacy.accounted_epsilon == pytest.approx(accounted, rel=1e-12)
    assert privacy.keeps_claim == (not faults)
    assert_both_relations(privacy)
    head, *lines = str(privacy).splitlines()
    assert all(f" {privacy.accounted(relation):g} ({relation})" in head for relation in RELATIONS)
    assert head.startswith("claimed epsilon 2, accounted " if claims else "no epsilon claimed, accounted inf ")
    assert head.endswith("; an experiment" if not faults else "; not sound")
    assert {line.split(": ")[1] for line in lines if line.startswith("fault: ")} == faults


def assert_both_relations(privacy):
    """The account under its own relation and the other, the same after a way through JSON."""
    added, replaced = (privacy.accounted(relation) for relation in RELATIONS)
    assert privacy.accounted_epsilon == (replaced if privacy.neighbours == REPLACED else added)
    if privacy.keeps_claim:
        assert replaced == pytest.approx(2 * added, rel=1e-12)  # whichever they are calibrated for
    else:
        assert added <= 2 * replaced and replaced <= 2 * added
    data = json.loads(json.dumps(privacy.as_dict(), allow_nan=False))
    again = Privacy.from_dict(data)
    assert again == privacy and str(again) == str(privacy) and data["keeps_claim"] == privacy.keeps_claim
    assert (
        not data["is_sound"] and data["trust"]["noise"] == "numpy"
    )  # whatever the algorithm, a seed decides the noise
    assert {relation: float(data["accounted"][relation]) for relation in RELATIONS} == {
        ADDED_OR_REMOVED: added,
        REPLACED: replaced,
    }


def test_a_fault_breaks_the_claim_whatever_the_ledger_says_and_so_does_any_excess():
    """Of many faults the ledger has no price: a count that is used twice, a choice that is taken for another."""
    paid, fault = Spent("laplace", "a count", 1.0, 1.0), Fault("a fault", "something", "somewhere")
    assert Privacy(1.0, paid).keeps_claim and not Privacy(1.0, paid, (fault,)).keeps_claim
    assert Privacy(1.0, paid, trust=RELEASE).is_sound and not Privacy(1.0, paid, (fault,), trust=RELEASE).is_sound
    for excess in (1.001, 1.4, 2.0):
        assert not Privacy(1.0, Spent("laplace", "a count", excess, 1.0)).keeps_claim
    assert not Privacy(math.inf, paid).keeps_claim and not Privacy(1.0, Unpaid("a step")).keeps_claim


def test_bounds_that_follow_the_rows_are_a_fault_of_the_fit_and_none_of_the_algorithm():
    paid, columns = Spent("laplace", "a count", 1.0, 1.0), (Continuous("x", 0, 1), Continuous("z", -3, 3))
    public, follows = Domain(columns), Domain(columns, bounds_from_rows=("z",))
    for domain, is_sound in ((public, True), (follows, False)):
        account = Privacy.under(domain, 1.0, paid, trust=RELEASE)
        assert (account.keeps_claim, account.is_sound, account.accounted_epsilon) == (True, is_sound, 1.0)
        assert Privacy.from_dict(json.loads(json.dumps(account.as_dict()))) == account
        assert ("ε holds only if the ranges of z are taken as public" in str(account)) is not is_sound


def test_no_seed_that_anybody_could_try_is_trusted():
    assert not EXPERIMENT.holds and not OTHERS.holds and RELEASE.holds
    assert EXPERIMENT.noise == "numpy" and RELEASE.noise == "opendp"


def test_without_noise_nothing_is_claimed():
    forest = fitted(RFDPPGiniClassifier(math.inf, n_estimators=2, variant="sound"))
    assert math.isinf(forest.privacy_.accounted_epsilon) and not forest.privacy_.keeps_claim
