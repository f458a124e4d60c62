"""The audit: its bounds, what it sees, whose claims it breaks and whose it does not.

Exact mechanisms at their true ε stand beside the same with a fault planted; what trainings in loops in C++ give is
compared with what ``fit`` gives; bounds with an inversion of binomial tails written for these tests, and with numbers
that another project's auditor (jax_privacy 2.0.0, CanaryScoreAuditor) gave for the same counts.
"""

import json
import math
import re
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from algorithms import (
    BDPTClassifier,
    Continuous,
    DiffPETsClassifier,
    DiffPETsRegressor,
    DiffPRFClassifier,
    DiffPRFsClassifier,
    Domain,
    DPBARegressor,
    DPGDFClassifier,
    DPMarginalsClassifier,
    EDPRFClassifier,
    FunctionalMechanismRegressor,
    Nominal,
    PFDPDTClassifier,
    PrivaTreeClassifier,
    RDTClassifier,
    RFDPPGiniClassifier,
    ThriftyTreeClassifier,
    ThriftyTreeRegressor,
)
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED, Parallel, Spent
from algorithms.accounting.privacy import Privacy
from algorithms.forests import forest as forest_module
from algorithms.regression.moments import Moments
from experiments.audit import audit_tasks, neighbouring_tables
from experiments.audit.attacks import black_box, canaries
from experiments.audit.attacks.black_box import (
    audit_pairs,
    find_refutation,
    list_pairs,
    make_observer,
    observe_in_threads,
    resize_estimator,
)
from experiments.audit.observe.trainings import Observation, RandomStream
from experiments.audit.outcomes import (
    FALSE_ALARMS,
    bound_epsilon_by_counts,
    bound_epsilon_by_guesses,
    bound_probability_above,
    bound_probability_below,
    find_largest_bound,
    judge_bound,
    read_claim,
)
from experiments.audit.table_templates import load_searched_pairs
from plots import audits
from tests.command_line import exit_code
from tests.noisy_objective import perturbed

pytestmark = pytest.mark.long

ALPHA = FALSE_ALARMS / 20

# Bounds.


def tail(k, n, p):
    """P(Binomial(n, p) >= k), term by term in whole numbers' logarithms."""
    if p in (0.0, 1.0):
        return float(p == 1.0 or k == 0)
    ways = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in range(k, n + 1)]
    return math.fsum(math.exp(w + i * math.log(p) + (n - i) * math.log1p(-p)) for i, w in enumerate(ways, start=k))


def bisected(grows, aim):
    """Where a function that grows on [0, 1] reaches a value."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if grows(middle) < aim else (low, middle)
    return low


@pytest.mark.parametrize("k, n", [(0, 1), (1, 1), (0, 40), (3, 40), (39, 40), (40, 40), (120, 700)])
@pytest.mark.parametrize("alpha", [0.05, 1e-5])
def test_bounds_of_probabilities_are_those_of_inverted_binomial_tails(k, n, alpha):
    below = bisected(lambda p: tail(k, n, p), alpha) if k else 0.0
    above = bisected(lambda p: tail(k + 1, n, p), 1 - alpha) if k < n else 1.0
    assert float(bound_probability_below(k, n, alpha)) == pytest.approx(below, abs=1e-9)
    assert float(bound_probability_above(k, n, alpha)) == pytest.approx(above, abs=1e-9)


@pytest.mark.parametrize(
    "k, other, n, alpha, expected",
    [
        (500, 180, 1000, 0.05, 0.8254488767),
        (26425, 9709, 50000, 5e-5, 0.9472744174),
        (10000, 0, 10000, 1e-3, 7.1816933179),
        (318, 7, 10000, 5e-5, 2.3146103015),
        (40, 38, 100, 0.01, 0.0),
    ],
)
def test_bounds_of_epsilon_are_those_of_another_auditor(k, other, n, alpha, expected):
    assert float(bound_epsilon_by_counts(k, other, n, alpha)) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    "correct, guesses, alpha, expected",
    [
        (731, 1000, 0.05, 0.8806030968),
        (5226, 6985, 1e-3, 1.0038731324),
        (111, 111, 1e-3, 2.7456080898),
        (303, 531, 1e-3, 0.0109336375),
        (19, 20, 0.05, 1.2885038026),
    ],
)
def test_bounds_of_one_run_are_those_of_another_auditor_and_of_the_inverted_tail(correct, guesses, alpha, expected):
    bound = bound_epsilon_by_guesses(correct, guesses, alpha)
    assert bound == pytest.approx(expected, abs=1e-6)  # the other one stops at 1e-6
    assert tail(correct, guesses, 1 / (1 + math.exp(-bound))) == pytest.approx(alpha, rel=1e-6)


def test_no_guesses_and_wrong_guesses_bound_nothing():
    assert bound_epsilon_by_guesses(0, 0, 0.05) == bound_epsilon_by_guesses(10, 100, 0.05) == 0.0
    assert find_largest_bound(1000, 0.05) == float(bound_epsilon_by_counts(1000, 0, 1000, 0.05))


@pytest.mark.parametrize("q, epsilon", [(0.05, 1.0), (0.3, 1.0), (0.02, 3.0), (0.3, 0.0)])
def test_the_bound_exceeds_the_true_epsilon_no_more_often_than_it_says(q, epsilon):
    n, alpha, p = 40, 0.1, q * math.exp(epsilon)
    ways = np.array([math.comb(n, k) for k in range(n + 1)], dtype=np.float64)
    k = np.arange(n + 1)
    left, right = (ways * x**k * (1 - x) ** (n - k) for x in (p, q))
    wrong = bound_epsilon_by_counts(k[:, None], k[None, :], n, alpha) > epsilon + 1e-12
    assert (left[:, None] * right[None, :])[wrong].sum() <= alpha


# Pairs.


@pytest.mark.parametrize(
    "tables",
    [
        neighbouring_tables.CLASSIFICATION_PAIRS,
        neighbouring_tables.REGRESSION_PAIRS,
        neighbouring_tables.COEFFICIENT_PAIRS,
        neighbouring_tables.MOMENT_PAIRS,
        neighbouring_tables.RELEASE_PAIRS,
    ],
)
def test_pairs_have_names_of_their_own_and_targets_in_their_domain(tables):
    assert len({pair.name for pair in tables}) == len(tables)
    for pair in tables:
        X, y = neighbouring_tables.split_targets(pair.domain, pair.neighbour)
        pair.domain.rows(X, y).matrix()
        assert tuple(pair.probe_rows().iloc[0]) == pair.differing_records[0][:-1]


def test_tables_that_differ_by_more_than_a_record_are_no_pair():
    domain = Domain((Nominal("a", (0, 1)),), Nominal("y", (0, 1)))
    with pytest.raises(ValueError, match="differ by 0 and 2 records"):
        neighbouring_tables.TablePair("two more", domain, ((0, 0),), ((0, 0), (0, 0), (1, 1)))
    with pytest.raises(ValueError, match="differ by 0 and 0 records"):
        neighbouring_tables.TablePair("another order", domain, ((0, 0), (1, 1)), ((1, 1), (0, 0)))


def named(tables, name):
    return next(pair for pair in tables if pair.name == name)


# Many trainings are what ``fit`` gives.

FORESTS = {
    "diffpets": DiffPETsClassifier(2.0),
    "diffpets sound": DiffPETsClassifier(2.0, variant="sound"),
    "rfdpp_gini": RFDPPGiniClassifier(2.0),
    "rfdpp_gini sound, all rows": RFDPPGiniClassifier(2.0, variant="sound", sampling="all"),
    "diffprf": DiffPRFClassifier(2.0, stop_below="zero"),
    "diffprfs": DiffPRFsClassifier(2.0, stop_below="zero"),
    "edprf": EDPRFClassifier(2.0),
    "edprf sound": EDPRFClassifier(2.0, variant="sound"),
    "pfdpdt sound": PFDPDTClassifier(2.0, variant="sound"),
    "diffprf sound": DiffPRFClassifier(2.0, variant="sound"),
    "diffprfs sound": DiffPRFsClassifier(2.0, variant="sound"),
    "privatree": PrivaTreeClassifier(2.0),
    "privatree sound": PrivaTreeClassifier(2.0, variant="sound"),
    "bdpt": BDPTClassifier(2.0),
    "bdpt sound": BDPTClassifier(2.0, variant="sound"),
    "dpgdf": DPGDFClassifier(2.0),
    "dpgdf sound": DPGDFClassifier(2.0, variant="sound"),
    "thrifty_tree": ThriftyTreeClassifier(2.0),
    "rdt": RDTClassifier(2.0),
    "diffpets_regressor": DiffPETsRegressor(2.0),
    "thrifty_tree_regressor": ThriftyTreeRegressor(2.0),
}


def observed(name, pair_name="the only one of its category"):
    model = FORESTS[name]
    pair = named(
        neighbouring_tables.REGRESSION_PAIRS
        if name in ("diffpets_regressor", "thrifty_tree_regressor")
        else neighbouring_tables.CLASSIFICATION_PAIRS,
        pair_name,
    )
    return (
        make_observer(resize_estimator(clone(model), pair), pair, pair.neighbour, 7),
        resize_estimator(clone(model), pair),
        pair,
    )


def same(left, right):
    """Whether two trees are equal in every field."""
    if hasattr(left, "noisy_counts"):
        return left.key == right.key and same(left.nodes, right.nodes) and same(left.noisy_counts, right.noisy_counts)
    fields = left.dtype.names or [...]
    return left.shape == right.shape and all(np.array_equal(left[f], right[f], equal_nan=True) for f in fields)


@pytest.mark.parametrize("name", FORESTS)
def test_a_training_grows_the_trees_that_fit_grows_from_the_same_stream(name, monkeypatch):
    observer, model, pair = observed(name, "holds the maximum of a column")
    shared = RandomStream(7).start_training(3)
    monkeypatch.setattr(np.random, "default_rng", lambda seed: shared)  # one stream in place of those of a fit
    model.set_params(domain=pair.domain).fit(*neighbouring_tables.split_targets(pair.domain, pair.neighbour))
    trees = observer.grow_trees(3)
    assert len(trees) == len(model.trees_) and all(map(same, trees, model.trees_))
    assert not all(map(same, trees, observer.grow_trees(4)))


@pytest.mark.parametrize("name", ["rfdpp_gini", "edprf sound", "rdt"])
def test_the_compiled_loop_sees_those_trees_whatever_its_blocks(name):
    observer, model, pair = observed(name, "a replaced label")
    whole, parts = observer.observe(0, 40), observe_in_threads(observer, 0, 40, jobs=2)
    model.set_params(domain=pair.domain).fit(*neighbouring_tables.split_targets(pair.domain, pair.neighbour))
    for side, values in (whole.codes | whole.numbers).items():
        late = observer.observe(25, 15)
        assert np.array_equal(values, (parts.codes | parts.numbers)[side], equal_nan=True)
        assert np.array_equal(values[25:], (late.codes | late.numbers)[side], equal_nan=True)
    record = pair.probe_rows().iloc[:1]
    for training in range(40):
        model.trees_ = observer.grow_trees(training)
        if name == "rdt":
            sides = [f"noisy count of {answer!r} where the record ends" for answer in ("no", "yes")]
            sums = np.array([whole.numbers[side][training].sum() for side in sides])
            sums -= min(sums.min(), 0.0)
            assert model.predict_proba(record)[0] == pytest.approx(sums / sums.sum())
        else:
            labels = whole.codes["label where the record ends"][training]
            votes = np.bincount(labels, minlength=2) / len(labels)
            assert np.array_equal(votes, model.predict_proba(record)[0])


@pytest.mark.parametrize("name", ["edprf sound", "privatree"])
def test_outcomes_are_equal_where_what_they_say_is_equal(name):
    observer, _, _ = observed(name)
    seen = observer.observe(0, 60)
    for side, codes in seen.codes.items():
        said = np.array([[observer.describe_side(side, i, t) for t in range(codes.shape[1])] for i in range(60)])
        assert 1 < len(np.unique(said)) == len(np.unique(codes))
        assert len(np.unique(np.char.add(said, codes.astype(str)))) == len(np.unique(codes))


def test_both_records_that_differ_are_followed_but_no_number_is_noted_twice():
    domain = Domain((Nominal("a", (0, 1)),), Continuous("y", 0, 1))
    pair = neighbouring_tables.TablePair(
        "from here to there", domain, 5 * ((0, 0.0),) + ((0, 1.0),), 5 * ((0, 0.0),) + ((1, 1.0),)
    )
    observer = make_observer(DiffPETsRegressor(5.0, n_estimators=1, max_depth=1, variant="sound"), pair, pair.table, 3)
    numbers = observer.observe(0, 50).numbers
    assert np.isfinite(numbers["noisy count on level 0 of the record's way"]).all()
    assert np.isnan(numbers["noisy count on level 0 of the other record's way"]).all()  # the root is on both ways
    values, others = (numbers[f"value where {whose} record ends"] for whose in ("the", "the other"))
    assert np.isfinite(values).all() and np.isfinite(others).all() and (values != others).any()
    assert list(observer.observe(0, 1).numbers)[-1] == "value where the other record ends"


@pytest.mark.parametrize("variant", ["paper", "sound"])
def test_all_tables_of_a_regression_can_be_looked_at(variant):
    for pair in neighbouring_tables.REGRESSION_PAIRS:  # some have one value of a column in one table alone
        for table in (pair.table, pair.neighbour):
            forest = DiffPETsRegressor(1.0, n_estimators=1, max_depth=2, variant=variant)
            seen = make_observer(forest, pair, table, 3).observe(0, 2)
            assert np.isfinite(seen.numbers["value where the record ends"]).all()


def test_many_releases_of_coefficients_are_those_of_the_mechanism():
    pair = neighbouring_tables.COEFFICIENT_PAIRS[-1]
    model = DPBARegressor(3.0, domain=pair.domain)
    observer = make_observer(model, pair, pair.table, 11)
    seen = observer.observe(5, 4)
    summary = model.summarise(*neighbouring_tables.split_targets(pair.domain, pair.table))
    budget = model._printed_budget(summary.design)
    for i in range(4):
        M, b = perturbed(summary.objective, budget.quadratic, budget.linear, RandomStream(11).start_training(5 + i))
        released = [M[0, 0], M[0, 1], M[1, 1], *b]
        assert [values[i, 0] for values in seen.numbers.values()][:5] == pytest.approx(released, rel=1e-12)


def test_a_stream_begins_anew_where_half_a_number_was_left_over():
    stream, others = RandomStream(1), RandomStream(1)
    first = stream.start_training(9).integers(0, 5, size=3, dtype=np.int32)  # leaves half of 64 bits
    assert np.array_equal(stream.start_training(9).integers(0, 5, size=3, dtype=np.int32), first)
    assert np.array_equal(others.start_training(9).integers(0, 5, size=3, dtype=np.int32), first)
    draws = [stream.start_training(i).random() for i in range(2000)] + [
        RandomStream(2).start_training(i).random() for i in range(2000)
    ]
    assert len(set(draws)) == 4000 and abs(np.mean(draws) - 0.5) < 0.02


# Mechanisms in plain Python, exact and with a fault.


class Plain:
    """A mechanism as an observer: a function (values, generator, n) -> codes or numbers of n runs."""

    def __init__(self, draw, values, seed, claimed, neighbours=ADDED_OR_REMOVED):
        self.draw, self.values, self.seed = draw, np.asarray(values, dtype=np.float64), seed
        self.privacy = Privacy(claimed, Spent("plain", "a test", claimed, 1.0), neighbours=neighbours)

    def observe(self, first, n):
        drawn = self.draw(self.values, np.random.default_rng([self.seed, first]), n)
        numbers = {f"number {j}": drawn[:, [j]] for j in range(drawn.shape[1])} if drawn.ndim == 2 else {}
        return Observation({} if numbers else {"outcome": drawn[:, np.newaxis].astype(np.int64)}, numbers)

    def describe_side(self, side, training, part):
        return str(training)


def chosen(draw_noise, sensitivity, epsilon, quality, rng, n):
    """The largest noisy score of n draws: with such noise, of the law of the exponential mechanism or its rival."""
    return (quality + 2 * sensitivity / epsilon * draw_noise(rng, size=(n, len(quality)))).argmax(axis=1)


even_exponential, permute_and_flip = np.random.Generator.gumbel, np.random.Generator.standard_exponential


def noisy(scale, values, rng, n):
    return values + rng.laplace(0.0, scale, (n, len(values)))


HISTOGRAM = ([4, 1], [3, 1]), ADDED_OR_REMOVED
REPLACED_LABEL = ([3, 1], [2, 2]), REPLACED
CLAIMED = 1.0

EXACT = {
    "laplace": (partial(noisy, 1 / CLAIMED), *HISTOGRAM),
    "laplace, a record replaced": (partial(noisy, 2 / CLAIMED), *REPLACED_LABEL),
    "exponential": (partial(chosen, even_exponential, 1.0, CLAIMED), *REPLACED_LABEL),
    "permute and flip": (partial(chosen, permute_and_flip, 1.0, CLAIMED), *REPLACED_LABEL),
    "permute and flip, one-sided": (
        partial(chosen, permute_and_flip, 0.5, CLAIMED),
        ([1, 0], [0, 0]),
        ADDED_OR_REMOVED,
    ),
}
FAULTY = {
    "scale halved": (partial(noisy, 0.5 / CLAIMED), *HISTOGRAM),
    "sensitivity 1 for 2": (partial(noisy, 1 / CLAIMED), *REPLACED_LABEL),
    "a choice without noise": (partial(chosen, even_exponential, 1.0, 1e9), *REPLACED_LABEL),
    # Counts only grow with a record more, so that half the noise is enough there; not if a record is replaced.
    "permute and flip, one-sided, a record replaced": (
        partial(chosen, permute_and_flip, 0.5, CLAIMED),
        ([9, 6], [8, 7]),
        REPLACED,
    ),
}


def plain(mechanism, seed, n):
    draw, tables, neighbours = mechanism
    observers = tuple(Plain(draw, values, [seed, i], CLAIMED, neighbours) for i, values in enumerate(tables))
    return find_refutation(observers, n, ALPHA, CLAIMED)


@pytest.mark.parametrize("name", EXACT)
def test_exact_mechanisms_are_not_convicted(name):
    bounds = [plain(EXACT[name], seed, 4_000).bound for seed in range(20)]
    assert max(bounds) <= CLAIMED
    assert np.mean(bounds) > 0.3  # and not because nothing was found


@pytest.mark.parametrize("name", FAULTY)
def test_faulty_mechanisms_are_convicted(name):
    found = plain(FAULTY[name], 0, 40_000)
    assert found.bound > CLAIMED
    assert found.refutable >= found.bound


def test_permute_and_flip_s_one_sided_form_is_exact_for_a_record_more():
    """The same mechanism that is convicted under replacement, on the tables of the other relation."""
    draw, *_ = FAULTY["permute and flip, one-sided, a record replaced"]
    found = plain((draw, ([9, 6], [9, 7]), ADDED_OR_REMOVED), 0, 40_000)
    assert 0.5 < found.bound <= CLAIMED


class Together:
    """A coin and a number that says something of the table only beside the coin: an observer."""

    def __init__(self, agrees):
        self.agrees = agrees
        self.privacy = Privacy(CLAIMED, Spent("plain", "a test", CLAIMED, 1.0))

    def observe(self, first, n):
        rng = np.random.default_rng(first + int(1e6 * self.agrees))
        coin = rng.integers(2, size=(n, 1))
        number = np.where(rng.random((n, 1)) < self.agrees, coin, 1 - coin) + rng.random((n, 1))
        return Observation({"coin": coin}, {"number": number})

    def describe_side(self, side, training, part):
        return str(training)


def test_a_number_counts_by_what_it_is_worth_beside_an_outcome():
    found = find_refutation((Together(0.6), Together(0.4)), 20_000, ALPHA, CLAIMED)
    assert found.event.startswith("evidence of coin and, given that, number")
    assert 0.25 < found.bound <= math.log(0.6 / 0.4)


def test_no_more_trainings_choose_than_help(monkeypatch):
    monkeypatch.setattr(black_box, "CHOOSING", 1_000)
    found = find_refutation((Together(0.6), Together(0.4)), 20_000, ALPHA, CLAIMED)
    assert found.of == found.other_of == 19_000 and max(found.count, found.other) > 5_000
    assert found.refutable == pytest.approx(find_largest_bound(19_000, ALPHA))


# Estimators with a fault.


class UndividedRDT(RDTClassifier):
    """Every tree spends the whole budget."""

    def _bind_grower(self, table):
        grow = super()._bind_grower(table)
        return partial(grow.func, self.plan_._replace(epsilon=float(self.epsilon)))


class ExactSplits(EDPRFClassifier):
    """The feature is chosen without noise."""

    def _bind_grower(self, table):
        grow = super()._bind_grower(table)
        return partial(grow.func, self.plan_._replace(split_epsilon=np.full_like(self.plan_.split_epsilon, math.inf)))


class ByPosition(UndividedRDT):
    """Rows go to the trees in turns, and each tree spends the whole budget: one record more moves all that follow."""

    def _sampling_rule(self):
        return "by_position"

    def _compose_trees(self, tree, table):
        return Parallel("tree", (replace(tree, epsilon=float(self.epsilon)),), self.n_estimators)


def by_position(n_rows, n_trees, rng):
    return [np.arange(tree, n_rows, n_trees).astype(np.uint32) for tree in range(n_trees)]


class HalfSensitive(FunctionalMechanismRegressor):
    """Sensitivity 1 where a coefficient changes by 2."""

    def _printed_budget(self, design):
        budget = super()._printed_budget(design)
        linear, quadratic = (
            noise._replace(sensitivity=noise.sensitivity / 2) for noise in (budget.linear, budget.quadratic)
        )
        return budget._replace(linear=linear, quadratic=quadratic)


class ScaledByRows(FunctionalMechanismRegressor):
    """Bounds are the smallest and the largest value of the rows, and pass for public."""

    def training_rows(self, X, y):
        super().training_rows(X, y)
        ends = [Continuous(name, X[name].min() - 0.1, X[name].max() + 0.1) for name in X.columns]
        self.domain_ = Domain(ends, Continuous("y", min(y) - 0.1, max(y) + 0.1))
        return self.domain_.rows(X, np.array(y))

    def fit_summary(self, summary):
        given, self.domain = self.domain, summary.design.domain
        try:
            return super().fit_summary(summary)
        finally:
            self.domain = given


def convicted(model, pair, n):
    """The verdict on an estimator, at its claim."""
    (found,) = audit_pairs(lambda pair: resize_estimator(clone(model), pair), [pair], n)
    return found


@pytest.mark.parametrize(
    "faulty, right, pair",
    [
        (UndividedRDT, RDTClassifier, named(neighbouring_tables.CLASSIFICATION_PAIRS, "the only one of its class")),
        (
            ExactSplits,
            partial(EDPRFClassifier, variant="sound"),
            named(neighbouring_tables.CLASSIFICATION_PAIRS, "flips the best split"),
        ),
        (ByPosition, RDTClassifier, named(neighbouring_tables.CLASSIFICATION_PAIRS, "first in order")),
        (HalfSensitive, FunctionalMechanismRegressor, neighbouring_tables.COEFFICIENT_PAIRS[0]),
        (ScaledByRows, FunctionalMechanismRegressor, neighbouring_tables.COEFFICIENT_PAIRS[2]),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_fault_in_an_estimator_is_found(faulty, right, pair, monkeypatch):
    monkeypatch.setitem(forest_module.SAMPLINGS, "by_position", by_position)
    variant = {"variant": "sound"} if issubclass(faulty, EDPRFClassifier) else {}
    found = convicted(faulty(1.0, **variant), pair, 20_000)
    assert found.verdict == "violated" and found.keeps_claim, found
    assert convicted(right(1.0), pair, 20_000).verdict != "violated"


def test_a_printed_forest_is_convicted_by_an_event_that_a_reader_can_check():
    pair = named(neighbouring_tables.CLASSIFICATION_PAIRS, "alone in its leaf")
    found = convicted(RFDPPGiniClassifier(1.0), pair, 4_000)
    assert found.verdict == "violated" and found.bound > 4
    assert found.event == "root is not: a leaf"
    assert found.on == "neighbour" and found.other == 0
    # 1 - (1 - 1/9)^9 of the bootstrap samples hold the record
    assert found.count / 2_000 == pytest.approx(1 - (8 / 9) ** 9, abs=0.05)


# Nearly all of ε is found where it is spent.


SOUND_REGRESSIONS = ["fm", "dpc", "dpba", "diff_lr"]
SMALL_CORNER, LARGE_CORNER = sorted(neighbouring_tables.MOMENT_PAIRS[:2], key=lambda pair: len(pair.domain.features))
"""All have the same sums and noise, so that one of them shows what a column more does."""


@pytest.mark.parametrize(
    ("name", "pair"),
    [*((name, SMALL_CORNER) for name in SOUND_REGRESSIONS), ("fm", LARGE_CORNER)],
    ids=lambda one: getattr(one, "name", one),
)
def test_a_corner_shows_nearly_all_that_a_sound_regression_claims(name, pair):
    name = f"{name}_sound"
    model = audit_tasks.estimators.make_estimator(name, audit_tasks.estimators.merge_parameters(name), epsilon=2.0)
    found = convicted(model, pair, 200_000)
    assert 1.9 <= found.bound <= 2.0 and found.verdict == "tight"


def test_half_of_a_sound_sensitivity_is_found(monkeypatch):
    model = FunctionalMechanismRegressor(1.0, variant="sound")
    assert convicted(model, neighbouring_tables.MOMENT_PAIRS[0], 20_000).verdict != "violated"
    of = Moments.of
    monkeypatch.setattr(Moments, "of", lambda design: of(design)._replace(bounds=of(design).bounds / 2))
    found = convicted(model, neighbouring_tables.MOMENT_PAIRS[0], 20_000)
    assert found.verdict == "violated" and found.keeps_claim


@pytest.mark.parametrize(
    "model, pair, share",
    [
        (RDTClassifier(2.0), named(neighbouring_tables.CLASSIFICATION_PAIRS, "alone in its leaf"), 1.0),
        (DPBARegressor(2.0, beta=None, share=1e-3), neighbouring_tables.COEFFICIENT_PAIRS[0], 0.999),
        (
            FunctionalMechanismRegressor(3.0),
            neighbouring_tables.COEFFICIENT_PAIRS[0],
            4 / 6,
        ),  # b moves by 4, the sensitivity is 6
        (FunctionalMechanismRegressor(3.0), neighbouring_tables.COEFFICIENT_PAIRS[1], 3 / 6),
    ],
    ids=["a random tree", "half of an objective", "fm, corners", "fm, a corner and the middle"],
)
def test_the_bound_is_nearly_all_that_the_tables_can_show(model, pair, share):
    found = convicted(model, pair, 100_000 if isinstance(model, RDTClassifier) else 400_000)
    shown = share * model.epsilon
    assert 0.95 * shown <= found.bound <= shown
    assert found.verdict == ("tight" if share > 0.99 else "not refuted")


def test_marginals_keep_their_epsilon_and_show_most_of_it():
    found = convicted(
        DPMarginalsClassifier(2.0), named(neighbouring_tables.RELEASE_PAIRS, "the only one of its class"), 4_000
    )
    assert 1.0 < found.bound <= 2.0


def test_a_claim_counts_for_its_own_relation_only():
    added, replaced = (Privacy(0.5, Spent("m", "p", 0.5, 1.0), neighbours=r) for r in (ADDED_OR_REMOVED, REPLACED))
    assert [read_claim(added, ADDED_OR_REMOVED), read_claim(added, REPLACED)] == [0.5, 1.0]
    assert read_claim(replaced, REPLACED) == 0.5
    assert read_claim(replaced, ADDED_OR_REMOVED) is None
    assert list(audit_pairs(lambda _: FunctionalMechanismRegressor(), [regression_pair_of_one_more()], 1000)) == []
    assert judge_bound(0.2, math.inf) == "nothing claimed"


def regression_pair_of_one_more():
    domain = Domain((Continuous("x", -1, 1),), Continuous("y", -1, 1))
    return neighbouring_tables.TablePair("one more", domain, ((0.5, 0.5),), ((0.5, 0.5), (1.0, 1.0)))


# One run.


def test_one_run_of_a_random_tree_is_nearly_tight_and_of_a_sound_forest_is_weak():
    tight = canaries.audit_one_run(RDTClassifier(1.0, n_estimators=1, max_depth=8), "nursery", 4_000)
    assert 0.5 <= tight.bound <= 1.0 and tight.of > 2_000
    weak = canaries.audit_one_run(EDPRFClassifier(1.0, max_depth=4, variant="sound"), "nursery", 1_000)
    assert weak.bound <= 1.0 and weak.verdict == "not refuted"


def test_one_run_convicts_a_budget_that_is_not_divided():
    run = canaries.audit_one_run(UndividedRDT(1.0, n_estimators=5, max_depth=8), "nursery", 4_000)
    assert run.verdict == "violated"
    assert (
        canaries.audit_one_run(RDTClassifier(1.0, n_estimators=5, max_depth=8), "nursery", 4_000).verdict
        == "not refuted"
    )


@pytest.mark.parametrize("model", [RFDPPGiniClassifier(max_depth=8), EDPRFClassifier(n_estimators=1, max_depth=7)])
def test_what_printed_trees_betray_is_always_true(model):
    run = canaries.audit_one_run(model, "car", 400)
    assert run.of == run.count > 10
    assert "could not have been made without it" in run.event


def test_one_run_says_what_it_cannot_do():
    with pytest.raises(canaries.BadInput, match="a private forest that votes"):
        canaries.audit_one_run(FunctionalMechanismRegressor(), "car", 100)


# The command.


@pytest.fixture(autouse=True)
def no_real_releases(monkeypatch):
    """They take long; tests/test_release_path.py has them."""
    monkeypatch.setattr(audit_tasks, "attack_in_processes", lambda subjects, epsilon, jobs: iter(()))


def run_command(tmp_path, *words):
    code = exit_code("do=audit", *words, f"results={tmp_path}")
    (path,) = (tmp_path / "audit").glob("*.json")
    found = json.loads(path.read_text())
    return code, found["bounds"], found["replays"]


def test_the_command_says_what_it_found_and_keeps_it(tmp_path, capsys, monkeypatch):
    code, rows, replays = run_command(tmp_path, "algorithm=rfdpp_gini,fm", "trainings=1000", "executor.jobs=1")
    said = capsys.readouterr()
    assert code == 0  # that printed algorithms break their claims is no failure
    assert {row["verdict"] for row in rows if row["algorithm"] == "fm"} == {"not refuted"}
    for word in (
        "rfdpp_gini  broken: measured ε ≥ ",
        "fm          withstood: nothing above ",
        "  table      ",
        "(red, small, no)",
        "  event      root is",
    ):
        assert word in said.out
    assert "audits run in" in said.err
    frame = (tmp_path / "audit" / "audit-rfdpp_gini-fm.csv").read_text().splitlines()
    assert (
        len(frame)
        == len(rows) + 1
        == len(neighbouring_tables.CLASSIFICATION_PAIRS) + len(neighbouring_tables.COEFFICIENT_PAIRS) + 1
    )
    assert [(report["name"], bool(report["failures"])) for report in replays] == [("rfdpp_gini", True), ("fm", False)]
    monkeypatch.setattr(audit_tasks, "replay_in_processes", lambda subjects, jobs: [])
    _, again, _ = run_command(tmp_path, "algorithm=rfdpp_gini,fm", "trainings=1000", "executor.jobs=2")
    assert again == rows  # whatever the number of threads


def test_only_a_complete_audit_is_summed_up_for_reports(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(audit_tasks, "add_largest_losses", lambda rows, boxes: rows)  # tests/test_audit_losses.py
    monkeypatch.setattr(audit_tasks, "replay_in_processes", lambda subjects, jobs: [])  # tests/test_audit_replay.py
    assert run_command(tmp_path, "algorithm=rdt", "trainings=1000")[0] == 0
    assert not (tmp_path / "audit" / "summary.csv").exists()
    tasks = audit_tasks.plan_tasks(audit_tasks.AuditPlan(("rdt", "rfdpp_gini"), trainings=1000))
    tasks.append(audit_tasks.OneRun("rdt", {"max_depth": 6}, 1.0, "car", 500))
    monkeypatch.setattr(audit_tasks, "plan_tasks", lambda plan: tasks)
    monkeypatch.setattr(audit_tasks.laws, "find_worst_cases", lambda epsilons: [])
    assert exit_code("do=audit", "trainings=1000", f"results={tmp_path}") == 0
    found, known = audits.read_bounds(tmp_path), json.loads((tmp_path / "audit" / "provenance.json").read_text())
    assert list(found["algorithm"] + " " + found["layer"]) == ["rdt black box", "rdt one run", "rfdpp_gini black box"]
    full = pd.read_csv(tmp_path / "audit" / "audit.csv").query("algorithm == 'rfdpp_gini'")
    assert found["bound"].iloc[2] == pytest.approx(full["bound"].max(), rel=1e-5)
    assert known["command"] == f"dp-replica do=audit trainings=1000 results={tmp_path}" and known["machine"]
    verdict, bound = audits.list_bounds(found, "rfdpp_gini")
    assert verdict["bound"].startswith("broken: measured ε ≥ ") and bound["bound"].startswith("ε ≥ ")


def test_the_command_runs_once_on_a_data_set(tmp_path, capsys):
    words = "algorithm=rdt", "dataset=car", "canaries=500", "algorithm.max_depth=6"
    code, rows, replays = run_command(tmp_path, *words)
    assert code == 0 and [row["where"] for row in rows] == ["car, 10 trees, 500 canaries"] and not replays
    assert json.loads(rows[0]["params"])["max_depth"] == 6
    assert "rdt" in capsys.readouterr().out


@pytest.mark.parametrize("name, verdict", [("privatree", "violated"), ("privatree_sound", "not refuted")])
def test_a_pair_is_tried_at_the_budget_that_it_names_and_convicts_the_printed_tree_alone(name, verdict, monkeypatch):
    """At ε = 0.01, a printed budget, by the questions of the tree alone: `test_privatree` has their exact law."""
    found, *_ = load_searched_pairs("privatree")
    pair = replace(found, worth=1)
    assert pair.epsilon == 0.01
    monkeypatch.setattr(audit_tasks, "list_pairs", lambda estimator: (pair,))
    monkeypatch.setattr(audit_tasks, "load_searched_pairs", lambda algorithm: ())
    (subject,) = audit_tasks.choose_subjects(audit_tasks.AuditPlan((name,)))
    (row,) = audit_tasks.BlackBox(subject, 1.0, 100_000, 1).rows(lambda n: None)
    assert (row.epsilon, row.claimed, row.verdict) == (0.01, 0.01, verdict), row
    if verdict == "violated":
        assert row.event.startswith(("root is", "way of the record is")) and row.bound > 2 * row.claimed, row


def test_a_sound_algorithm_that_is_convicted_is_an_alarm(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(audit_tasks.estimators, "import_class", lambda path: UndividedRDT)
    monkeypatch.setattr(audit_tasks, "replay_in_processes", lambda subjects, jobs: [])
    monkeypatch.setattr(audit_tasks, "load_searched_pairs", lambda algorithm: ())
    monkeypatch.setattr(audit_tasks, "add_largest_losses", lambda rows, boxes: rows)
    monkeypatch.setattr(
        neighbouring_tables,
        "CLASSIFICATION_PAIRS",
        (named(neighbouring_tables.CLASSIFICATION_PAIRS, "the only one of its class"),),
    )
    code, rows, _ = run_command(tmp_path, "algorithm=rdt", "trainings=40000")
    assert code == 1 and [row["verdict"] for row in rows] == ["violated"]


@pytest.mark.parametrize(
    "words, message",
    [
        (["algorithm"], "write name=value"),
        (["algoritm=rdt"], "did you mean 'algorithm'"),
        (["algorithm=rtd"], "did you mean 'rdt'"),
        (["algorithm=nope"], "unknown algorithm 'nope'; `dp-replica list algorithms` says what there is"),
        (["algorithm=rdt,diffpet_sound"], "did you mean 'diffpets_sound'"),
        (["algorithm=majority"], "cannot be audited: it claims no ε, neither by a parameter epsilon nor in privacy_$"),
        (["algorithm=rdt", "trainings=12"], "at least 1,000"),
        (["algorithm=rdt", "trainings=many"], "whole number"),
        (["algorithm=rdt", "epsilon=-1"], "positive"),
        (["algorithm=rdt", "epsilon=inf"], "finite"),
        (["algorithm=rdt", "algorithm.depth=3"], "did you mean 'max_depth'"),
        (["algorithm=rdt", "executor.jobs=0"], "executor.jobs must be"),
        (["algorithm=rdt", "dataset=cars"], "did you mean 'car'"),
        (["dataset=car"], "say of which algorithm"),
        (["algorithm.max_depth=3"], "name the algorithm, too"),
        (["algorithm=rdt", "algorithm.max_depth=3,4"], "algorithm.max_depth can have one value"),
        (
            ["algorithm=rdt", "executor=dask"],
            "nothing called 'executor' to set; did you mean 'executor.jobs'",
        ),
    ],
)
def test_bad_words_are_told_in_one_line(words, message, capsys):
    assert exit_code("do=audit", *words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(message, line)


def test_everything_private_is_audited_and_what_is_configured_can_be():
    names = audit_tasks.list_auditable()
    assert {"rdt", "fm", "cpppw", "dp_marginals", "edprf_sound", "PFDPDTClassifier sound", "thrifty_bayes"} <= set(
        names
    )
    tasks = audit_tasks.plan_tasks(audit_tasks.AuditPlan())
    assert [task.subject.name for task in tasks if isinstance(task, audit_tasks.BlackBox)] == list(names)
    runs = [task for task in tasks if isinstance(task, audit_tasks.OneRun)]
    assert {"rdt", "diffpets", "edprf_sound"} <= {run.algorithm for run in runs}
    for run, (name, value) in product(runs, (("canaries", int), ("dataset", str))):
        assert isinstance(getattr(run, name), value)
        audit_tasks.estimators.merge_parameters(run.algorithm, run.params)


def test_an_estimator_that_cannot_be_observed_has_no_pairs():
    assert list_pairs(audit_tasks.estimators.make_estimator("majority", {})) == ()
