"""Noise for a release: OpenDP draws it, all of it, and by the laws that the default noise has.

OpenDP takes no seed, so p-values are compared with 1e-6 here: at these sizes a scale that is wrong by a factor of two
gives p < 1e-20. What concerns every estimator runs in a process of its own, without compilation (`every_estimator`).
"""

import copy
import inspect
import itertools
import json
import math
import pickle
import sys
from collections import Counter

import numpy as np
import pytest
from scipy import stats
from sklearn.base import is_regressor

import algorithms
from algorithms import Continuous, Domain, Nominal, ParameterError, native, opendp_noise
from algorithms.base import PrivateEstimator
from algorithms.forests import thrifty_forest
from algorithms.forests.engine import lazy
from algorithms.mechanisms import exponential, laplace, laplace_vector, permute_and_flip, sup_norm_vector
from algorithms.opendp_noise import SecureGenerator
from algorithms.regression.objective import Noise, Objective
from experiments.audit.replay import recorder
from experiments.audit.subjects import read_small
from experiments.config import estimators
from experiments.errors import BadInput
from tests.noisy_objective import perturbed
from tests.plain_python import found_by

pytestmark = pytest.mark.long

SMALLEST_P = 1e-6
N_DRAWS = 2000
SETTINGS = pytest.mark.parametrize(("sensitivity", "epsilon"), [(1.0, 0.5), (2.0, 3.0)])
QUALITY = np.array([0.0, 1.0, 3.0])

DOMAIN = Domain((Continuous("x", 0, 8), Nominal("a", (0, 1)), Nominal("b", (0, 1, 2))), Nominal("y", (0, 1, 2)))
NUMBERS = Domain(DOMAIN.features, Continuous("y", 0, 2))


def secured(seed):
    return SecureGenerator(np.random.PCG64(seed))


def table(n=30):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(0, 8, n), rng.integers(2, size=n), rng.integers(2, size=n)])
    return X, rng.integers(2, size=n).astype(np.float64)


@pytest.fixture
def counted(monkeypatch):
    """How often OpenDP has drawn, by the kind of noise; a vector counts once."""
    return counting(monkeypatch.setattr)


def counting(replace):
    drawn = Counter()

    def watched(make):
        def made(scale, kind):
            measurement = make(scale, kind)

            def draw(exact):
                drawn[{False: "laplace", True: "laplace_vector"}.get(kind, kind)] += 1
                return measurement(exact)

            return draw

        return made

    def radius(m, scale, drawing=opendp_noise._draw_radius):
        drawn["sup_norm_vector"] += 1
        return drawing(m, scale)

    replace(opendp_noise, "_draw_radius", radius)
    replace(opendp_noise, "_make_laplace", watched(opendp_noise._make_laplace))
    replace(opendp_noise, "_make_noisy_maximum", watched(opendp_noise._make_noisy_maximum))
    return drawn


# The mechanisms, compiled.


@SETTINGS
def test_laplace_noise_has_scale_sensitivity_over_epsilon(sensitivity, epsilon):
    rng = secured(1)
    draws = [laplace(3.0, sensitivity, epsilon, rng) for _ in range(N_DRAWS)]
    assert stats.kstest(draws, stats.laplace(3.0, sensitivity / epsilon).cdf).pvalue > SMALLEST_P


@SETTINGS
def test_every_entry_of_a_vector_gets_noise_of_its_own(sensitivity, epsilon):
    exact = np.array([5, 0, -2])
    noise = laplace_vector(np.tile(exact, N_DRAWS), sensitivity, epsilon, secured(1)).reshape(-1, 3) - exact
    for column in noise.T:
        assert stats.kstest(column, stats.laplace(0, sensitivity / epsilon).cdf).pvalue > SMALLEST_P
    for one, other in itertools.combinations(noise.T, 2):
        assert stats.spearmanr(one, other).pvalue > SMALLEST_P


@SETTINGS
@pytest.mark.parametrize("m", [1, 7])
def test_noise_of_the_maximum_norm_follows_its_law(m, sensitivity, epsilon):
    """The norm is Gamma(m); the entry that attains it is any, with either sign; the others lie evenly below it."""
    rng, exact = secured(1), np.arange(m) + 0.3
    noise = np.array([sup_norm_vector(exact, sensitivity, epsilon, rng) for _ in range(N_DRAWS)]) - exact
    norm, largest = np.abs(noise).max(axis=1), np.abs(noise).argmax(axis=1)
    assert stats.kstest(norm, stats.gamma(m, scale=sensitivity / epsilon).cdf).pvalue > SMALLEST_P
    attained = 2 * largest + (noise[np.arange(N_DRAWS), largest] > 0)
    assert stats.chisquare(np.bincount(attained, minlength=2 * m)).pvalue > SMALLEST_P
    others = (noise / norm[:, np.newaxis])[np.arange(m) != largest[:, np.newaxis]]
    assert m == 1 or stats.kstest(others, stats.uniform(-1, 2).cdf).pvalue > SMALLEST_P


def test_the_radius_on_a_coarse_grid_follows_its_law():
    """Where the correction of the proposal counts: q = exp(-1 / 2), m = 3."""
    weights = np.array([(2 * k + 1) ** 3 * math.exp(-k / 2) for k in range(80)])
    drawn = np.bincount([opendp_noise._draw_radius(3, 2.0) for _ in range(N_DRAWS)], minlength=80)
    law = weights / weights.sum() * N_DRAWS
    seen, expected = (np.append(a[1:18], [a[0] + a[18:].sum()]) for a in (drawn, law))
    assert stats.chisquare(seen, expected).pvalue > SMALLEST_P


def frequencies(draw, n):
    return np.bincount([draw() for _ in range(N_DRAWS)], minlength=n)


@pytest.mark.parametrize("monotone", [False, True])
@SETTINGS
def test_the_exponential_mechanism_follows_its_law(sensitivity, epsilon, monotone):
    measure, rng = np.array([2.0, 1.0, 0.5]), secured(1)
    weights = measure * np.exp(QUALITY * epsilon / (sensitivity if monotone else 2 * sensitivity))
    counts = frequencies(lambda: exponential(QUALITY, measure, sensitivity, epsilon, rng, monotone), 3)
    assert stats.chisquare(counts, N_DRAWS * weights / weights.sum()).pvalue > SMALLEST_P


@pytest.mark.parametrize("monotone", [False, True])
@SETTINGS
def test_permute_and_flip_follows_its_law(sensitivity, epsilon, monotone):
    rng, scale = secured(1), (1 if monotone else 2) * sensitivity / epsilon
    counts = frequencies(lambda: permute_and_flip(QUALITY, sensitivity, epsilon, rng, monotone), 3)
    assert stats.chisquare(counts, N_DRAWS * law_of_flips(QUALITY / scale)).pvalue > SMALLEST_P


def law_of_flips(exponents):
    """Visit the candidates in every order; accept each with its probability if none before was accepted."""
    accept, law = np.exp(exponents - exponents.max()), np.zeros(len(exponents))
    orders = list(itertools.permutations(range(len(exponents))))
    for order in orders:
        still_open = 1 / len(orders)
        for candidate in order:
            law[candidate] += still_open * accept[candidate]
            still_open *= 1 - accept[candidate]
    return law


def test_a_candidate_without_measure_is_never_chosen_whatever_its_score():
    rng = secured(1)
    for score in (9.0, math.inf, -math.inf, math.nan):
        quality, measure = np.array([0.0, score, 0.0]), np.array([1.0, 0.0, 3.0])
        drawn = Counter(exponential(quality, measure, 1.0, 1.0, rng) for _ in range(100))
        assert set(drawn) == {0, 2}


def test_low_order_bits_do_not_give_the_answer_away():
    """Near 0, numpy's noise around 1 leaves multiples of 2^-53 only; around 0, hardly ever (Mironov, 2012)."""

    def are_coarse(value, rng):
        near = [x for x in (laplace(value, 1.0, 1.0, rng) for _ in range(400)) if 0 < abs(x) < 0.4]
        assert len(near) > 20
        return np.mean([float(x * 2**53).is_integer() for x in near])

    assert are_coarse(1.0, np.random.default_rng(1)) == 1 and are_coarse(0.0, np.random.default_rng(1)) < 0.5
    assert are_coarse(1.0, secured(1)) < 0.5 and are_coarse(0.0, secured(1)) < 0.5


@SETTINGS
def test_opendp_accounts_for_its_noise_as_we_do(sensitivity, epsilon, monkeypatch):
    """By its own maps; for Gumbel noise it has zCDP: a choice whose log-ratios span epsilon has rho = epsilon² / 8."""
    made = {}
    for name in ("_make_laplace", "_make_noisy_maximum"):
        make = getattr(opendp_noise, name)
        monkeypatch.setattr(opendp_noise, name, lambda *args, make=make: made.setdefault(args[1], make(*args)))
    opendp_noise.noisy_number(1.0, sensitivity, epsilon)
    opendp_noise.noisy_numbers(np.ones(3), sensitivity, epsilon)
    opendp_noise.weighed_choice(QUALITY, np.ones(3), sensitivity, epsilon)
    opendp_noise.flipped_choice(QUALITY, sensitivity, epsilon)
    paid = {kind: measurement.map(sensitivity) for kind, measurement in made.items()}
    assert paid.pop("gumbel") == pytest.approx(epsilon**2 / 8)
    assert paid == {kind: pytest.approx(epsilon) for kind in (False, True, "exponential")}


def test_infinite_epsilon_draws_what_numpy_draws():
    some, others = secured(5), np.random.default_rng(5)
    tied = np.array([3.0, 3.0, 1.0, 3.0])
    for _ in range(20):
        for select in (lambda rng: permute_and_flip(tied, 1.0, math.inf, rng), even_choice):
            assert select(some) == select(others)
    assert laplace(3.25, 1.0, math.inf, some) == 3.25
    assert laplace_vector(np.array([3, 0]), 1.0, math.inf, some).tolist() == [3.0, 0.0]
    assert some.random() == others.random()


def even_choice(rng):
    return exponential(np.array([3.0, 3.0, 1.0]), np.array([1.0, 2.0, 9.0]), 1.0, math.inf, rng)


def test_a_generator_stays_secure_wherever_it_goes():
    rng = secured(5)
    rng.random()
    for other in (pickle.loads(pickle.dumps(rng)), copy.deepcopy(rng), copy.copy(rng), *rng.spawn(1)):
        assert type(other) is SecureGenerator
    assert pickle.loads(pickle.dumps(rng)).random() == rng.random()


def test_errors_are_those_of_the_default():
    rng = secured(1)
    with pytest.raises(ValueError, match="laplace: sensitivity and epsilon must be positive"):
        laplace(1.0, 0.0, 1.0, rng)
    with pytest.raises(ValueError, match="no candidate with a positive measure"):
        exponential(np.zeros(2), np.zeros(2), 1.0, 1.0, rng)
    with pytest.raises(ValueError, match="no candidate"):
        permute_and_flip(np.empty(0), 1.0, 1.0, rng)


@pytest.mark.parametrize("sensitivity", [1.0, 1.999])
def test_noise_of_the_maximum_norm_refuses_a_budget_that_64_bits_cannot_serve(sensitivity, monkeypatch):
    rng, scales = secured(1), []
    for epsilon in (2.0**-26, 2.0**-40, 5e-324):
        with pytest.raises(ParameterError, match=r"^epsilon must be larger with noise='opendp'.* need 3e-08 at least$"):
            sup_norm_vector(np.zeros(2), sensitivity, epsilon, rng)
    monkeypatch.setattr(opendp_noise, "_draw_radius", lambda m, scale: scales.append(scale) or 1)
    sup_norm_vector(np.zeros(2), sensitivity, opendp_noise.SMALLEST_EPSILON, rng)
    assert scales[0] <= 2**56  # so that 2^63 lies 128 scales away


@pytest.mark.parametrize("sensitivity", [1.0, 1 / 3, 0.7, 1.999])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 5.0])
def test_answers_are_rounded_to_the_grid_of_their_noise_which_covers_two_that_differ(sensitivity, epsilon, monkeypatch):
    """What is left below the grid would have no noise; neighbours may be rounded apart by a step more."""
    told, step = [], 2.0 ** (math.floor(math.log2(min(sensitivity, sensitivity / epsilon))) - 30)
    monkeypatch.setattr(opendp_noise, "_draw_radius", lambda m, scale: told.append(scale * epsilon) or 0)  # no noise
    exact = np.random.default_rng(1).uniform(-5, 5, 50)
    some, others = (opendp_noise.noisy_together(exact + moved, sensitivity, epsilon) for moved in (0.0, sensitivity))
    for released in (some, others):
        assert np.array_equal(released / step, np.round(released / step))
    assert (others - some).max() / step <= min(told) * (1 + 1e-12)


# Estimators, compiled.


def test_released_coefficients_have_noise_of_the_stated_scales():
    d = 30
    exact = Objective(np.zeros((d, d)), np.zeros(d), 0.0, 1)
    M, b = perturbed(exact, Noise(6.0, 2.0), Noise(4.0, 0.5), secured(1))
    assert stats.kstest(np.diag(M), stats.laplace(0, 3.0).cdf).pvalue > SMALLEST_P
    many = [
        *b,
        *itertools.chain(*(perturbed(exact, Noise(6.0, 2.0), Noise(4.0, 0.5), secured(1))[1] for _ in range(4))),
    ]
    assert stats.kstest(many, stats.laplace(0, 8.0).cdf).pvalue > SMALLEST_P


def test_a_compiled_tree_draws_all_noise_from_opendp(counted):
    X, y = table(200)
    tree = algorithms.ThriftyTreeClassifier(2.0, domain=DOMAIN, noise="opendp", random_state=1).fit(X, y)
    (nodes,) = tree.trees_
    assert len(nodes) > 1 and tree.privacy_.is_sound
    assert counted == {"laplace_vector": len(nodes), "exponential": len(nodes)}  # counts, and a question or a label
    tree.set_params(max_depth=1)  # what is asked below has no part in the count of the root
    found = [fit_root(tree, X, y) for _ in range(300)]
    exact = np.bincount(y.astype(int), minlength=3)  # the third class of the domain is empty, and gets noise, too
    noisy = np.sort(exact + np.random.default_rng(0).laplace(0, 1 / 0.1, size=(20_000, len(exact))), axis=1)
    errors = np.where(noisy > 1 / 0.1, noisy, 0)[:, :-1].sum(axis=1)
    assert stats.ks_2samp(found, errors).pvalue > SMALLEST_P


def test_compiled_kernels_draw_each_kind_of_noise_from_opendp(counted):
    X, y = table(200)
    given = {"variant": "sound", "domain": DOMAIN, "noise": "opendp", "random_state": 1}
    (nodes,) = algorithms.RFDPPGiniClassifier(50.0, n_estimators=1, max_depth=2, **given).fit(X, y).trees_
    n_leaves = int((nodes["feature"] < 0).sum())
    assert counted == {"laplace": 1, "gumbel": len(nodes) - n_leaves, "exponential": n_leaves} and n_leaves > 1
    counted.clear()
    algorithms.FunctionalMechanismRegressor(**(given | {"domain": NUMBERS})).fit(X, y)
    assert set(counted) == {"sup_norm_vector"}


def test_in_a_release_nothing_below_an_empty_node_is_left_to_a_key():
    """Compiled, too: which nodes were not grown would tell where there are no rows."""
    X, y = table(12)
    for cls in (algorithms.EDPRFClassifier, algorithms.DiffPRFsClassifier):
        given = {"variant": "sound", "n_estimators": 2, "max_depth": 3, "domain": DOMAIN, "random_state": 1}
        released, experiment = (cls(500.0, noise=noise, **given).fit(X, y).trees_ for noise in ("opendp", "numpy"))
        assert not any(nodes["key"].any() for nodes in released) and any(nodes["key"].any() for nodes in experiment)


def fit_root(tree, X, y):
    return tree.fit(X, y).trees_[0]["noisy_count"][0]


def test_the_seed_decides_the_public_choices_and_no_noise():
    X, y = table(200)
    forest = algorithms.RDTClassifier(1.0, max_depth=3, domain=DOMAIN, noise="opendp", random_state=1)
    some, others = forest.fit(X, y).trees_, forest.fit(X, y).trees_
    for one, other in zip(some, others, strict=True):
        assert one.nodes.tobytes() == other.nodes.tobytes()
        assert not (one.noisy_counts == other.noisy_counts).any()
    more = itertools.chain(*(forest.fit(X, y).trees_ for _ in range(5)))
    noise = np.concatenate([(tree.noisy_counts - exact_counts(tree.nodes, X, y)).ravel() for tree in more])
    assert stats.kstest(noise, stats.laplace(0, 10 / 1.0).cdf).pvalue > SMALLEST_P


def exact_counts(nodes, X, y):
    """Send every row down a random tree, and count the classes in its leaves."""
    counts = np.zeros(((nodes["feature"] < 0).sum(), 3))
    for values, label in zip(X, y, strict=True):
        i = 0
        while (feature := nodes["feature"][i]) >= 0:
            is_cut = not np.isnan(nodes["cut"][i])
            i = nodes["child"][i] + int(values[feature] > nodes["cut"][i] if is_cut else values[feature])
        counts[nodes["child"][i], int(label)] += 1
    return counts


# Every estimator, in a process without compilation.


def private(parameter="noise"):
    """The private estimators of ``conf/algorithm``, by name: all that have a parameter."""
    found = {name: estimators.import_class(estimators.find_target(name)) for name in estimators.list_algorithms()}
    return {
        name: cls
        for name, cls in found.items()
        if issubclass(cls, PrivateEstimator)
        and parameter in estimators.list_parameters(estimators.find_target(name))
        and not estimators.list_packages(name)
    }


def every_estimator():
    """Print as JSON what was seen of each of them."""
    assert native.is_plain()
    np.seterr(over="ignore")  # keys are mixed modulo 2^64
    thrifty_forest.MOST_TREES = 2  # without noise a thrifty regressor takes all, which grow until no row is left
    drawn, asked = counting(setattr), asking()
    forbid_numpy_noise()
    seen = {name: seen_of(name, cls, drawn, asked) for name, cls in private().items()}
    print(json.dumps(seen | {"leaves of a random tree": leaves()}))


def forbid_numpy_noise():
    def refuse(self, *args, **kwargs):
        raise AssertionError("numpy draws noise")

    for name in (
        "laplace",
        "standard_exponential",
        "standard_gamma",
        "standard_normal",
        "normal",
        "exponential",
        "gumbel",
    ):
        setattr(SecureGenerator, name, refuse)


def asking():
    """Count the calls of mechanisms with a finite epsilon, wherever they were imported by name."""
    asked = Counter()

    def watched(mechanism):
        signature = inspect.signature(mechanism)

        def stand_in(*args, **kwargs):
            given = signature.bind(*args, **kwargs).arguments
            asked[mechanism.__name__] += math.isfinite(given["epsilon"])
            return mechanism(*args, **kwargs)

        return stand_in

    public = [f for f in recorder._list_mechanisms() if not f.__name__.startswith("_")]
    for module, name, mechanism in recorder._find_places(frozenset(public)):
        setattr(module, name, watched(mechanism))
    return asked


def made(name, cls, **given):
    usual = {"epsilon": 20.0, "domain": NUMBERS if is_regressor(cls()) else DOMAIN, "random_state": 1}
    target = estimators.find_target(name)
    small = {key: value for key, value in read_small(target).items() if key in estimators.list_parameters(target)}
    return cls(**(estimators.merge_parameters(name) | small | usual | estimators.own_epsilon(name) | given))


def seen_of(name, cls, drawn, asked):
    X, y = table()
    drawn.clear(), asked.clear()
    model = made(name, cls, noise="opendp").fit(X, y)
    first = predictions(model, X)
    n_drawn, n_asked = dict(drawn), dict(asked)
    again = predictions(pickle.loads(pickle.dumps(model)), X)
    more = sum(drawn.values()) - sum(n_drawn.values())
    quiet = [fingerprint(made(name, cls, noise=noise, epsilon=math.inf).fit(X, y), X) for noise in ("opendp", "numpy")]
    return {
        "drawn": n_drawn,
        "asked": n_asked,
        "repeats": bool(np.array_equal(first, again)) and not more,
        "same without noise": quiet[0] == quiet[1],
        "has noise": math.isfinite(model.privacy_.claimed_epsilon),
    }


def predictions(model, X):
    return np.asarray(getattr(model, "predict_proba", model.predict)(X))


def fingerprint(model, X):
    trees = [np.asarray(part).tobytes() for tree in getattr(model, "trees_", []) for part in tree]
    return trees, getattr(model, "coef_", np.empty(0)).tobytes(), predictions(model, X).tobytes()


def leaves():
    """Whether all leaves of a random tree are drawn in advance, and what is said where they are too many."""
    X, y = table()
    forest = algorithms.RDTClassifier(1.0, n_estimators=1, max_depth=3, domain=DOMAIN, noise="opendp", random_state=1)
    (tree,) = forest.fit(X, y).trees_
    n_leaves = int((tree.nodes["feature"] < 0).sum())
    alike = {forest.fit(X[i:], y[i:]).trees_[0].nodes.tobytes() for i in range(6)}
    lazy.MOST_NODES = 2  # a root and its children are more
    said = []
    certain = {"epsilon": 200.0, "max_depth": 4}  # with 20, noise makes the root a leaf once in a hundred times
    for deep in (forest, made("edprf_sound", algorithms.EDPRFClassifier, noise="opendp", **certain)):
        try:
            deep.fit(np.tile(X[:1], (9, 1)), np.tile(y[:1], 9))
        except ParameterError as error:
            said.append(str(error))
    return {
        "leaves": n_leaves,
        "counts": len(tree.noisy_counts),
        "alike": len(alike),
        "distinct": len(np.unique(tree.noisy_counts)),
        "said": said,
    }


@pytest.fixture(scope="module")
def seen():
    return found_by("test_secure", "every_estimator")


@pytest.mark.parametrize("name", private())
def test_every_private_estimator_draws_all_of_its_noise_from_opendp(name, seen):
    one = seen[name]
    kinds = {"exponential": "gumbel", "permute_and_flip": "exponential"}
    assert one["drawn"] == {kinds.get(mechanism, mechanism): n for mechanism, n in one["asked"].items() if n}
    assert bool(one["drawn"]) == one["has noise"]
    assert one["repeats"], "the same model must give the same answers, also after it was stored"


@pytest.mark.parametrize("name", private())
def test_without_noise_every_estimator_is_the_default(name, seen):
    assert seen[name]["same without noise"]


def test_whatever_has_an_epsilon_can_be_released():
    assert private() == private("epsilon") and len(private()) >= 30


def test_all_leaves_of_a_random_tree_are_drawn_in_advance(seen):
    found = seen["leaves of a random tree"]
    assert found["leaves"] == found["counts"] > 4 and found["distinct"] == 3 * found["leaves"]
    assert found["alike"] == 1, "the nodes tell which rows came first"
    assert len(found["said"]) == 2 and all(said.endswith("lower max_depth") for said in found["said"])


# Asking for it.


def test_another_source_of_noise_is_refused():
    X, y = table()
    for model in (
        algorithms.FunctionalMechanismRegressor(noise="openpd", domain=NUMBERS),
        algorithms.EDPRFClassifier(noise=None, domain=DOMAIN),
    ):
        with pytest.raises(ParameterError, match="noise must be one of 'numpy', 'opendp'"):
            model.fit(X, y)


def test_without_the_package_one_line_says_how_to_get_it(monkeypatch):
    opendp_noise._import_opendp.cache_clear()
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    X, y = table()
    with pytest.raises(ImportError, match=r"pip install \"dp-replica\[secure\]\"") as raised:
        algorithms.FunctionalMechanismRegressor(noise="opendp", domain=NUMBERS).fit(X, y)
    assert len(str(raised.value).splitlines()) == 1
    algorithms.FunctionalMechanismRegressor(noise="opendp", epsilon=math.inf, domain=NUMBERS).fit(X, y)


def test_experiments_refuse_noise_that_cannot_be_repeated():
    with pytest.raises(BadInput, match="noise cannot be set as a parameter: experiments can be repeated"):
        estimators.merge_parameters("edprf", {"noise": "opendp"})
