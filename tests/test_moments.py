"""Sound variants of the regressions: their moments and bounds, by a search over records that knows no exponents."""

import itertools
import math

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import PolynomialFeatures

from algorithms import (
    Continuous,
    DiffLRRegressor,
    Domain,
    DPBARegressor,
    DPCRegressor,
    FunctionalMechanismRegressor,
)
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.regression.design import Design
from algorithms.regression.moments import Moments, share_of_moments
from algorithms.regression.monomials import Monomials, count_monomials
from tests.test_regression import DOMAIN, any_objective, every_class, rows, scalings

TYPES = {FunctionalMechanismRegressor: {}, DPCRegressor: {}, DPBARegressor: {"beta": None, "share": "optimal"}}
designs = pytest.mark.parametrize(
    ("p", "degree"), [(1, 1), (2, 1), (3, 1), (4, 1), (1, 2), (2, 2), (3, 2), (4, 2), (2, 3)]
)


def unit_domain(p):
    """Attributes and a target that the box leaves as they are."""
    return Domain(tuple(Continuous(f"x{i}", -1, 1) for i in range(p)), Continuous("y", -1, 1))


N_RANDOM = 60


def searched(p, scaling):
    """Records that could hurt, scaled: all of {-1, 0, 1}^(p + 1), or of the corners without a sign, and random ones.

    A product of powers is largest at a corner. The random ones, which are last, tell different products apart: two
    polynomials that differ are equal nowhere but by chance.
    """
    rng, low = np.random.default_rng(28), -1.0 if scaling == "box" else 0.0
    lowest = np.append(np.full(p, low), -1.0 if scaling in ("box", "signed_ball") else 0.0)
    ends = np.array(list(itertools.product(*[sorted({bound, 0.0, 1.0}) for bound in lowest])))
    records = np.vstack([ends, rng.uniform(lowest, 1, (N_RANDOM, p + 1))])
    return records / np.append(np.full(p, math.sqrt(p) if "ball" in scaling else 1.0), 1.0)


def numbers_of(records, degree, constant):
    """Every entry of M and of b that each record adds, straight from (y - zᵀw)²."""
    Z = PolynomialFeatures(degree, include_bias=False).fit_transform(records[:, :-1])
    Z = np.column_stack([Z, np.ones(len(Z))]) if constant else Z
    return np.einsum("ni,nj->nij", Z, Z), -2 * records[:, -1:] * Z


@designs
@scalings
@pytest.mark.parametrize("constant", [False, True])
def test_each_distinct_moment_is_released_once_within_bounds_that_records_attain(p, degree, scaling, constant):
    moments = Moments.of(Design(unit_domain(p), degree, scaling, constant))
    M, b = numbers_of(searched(p, scaling), degree, constant)
    entries = M[-N_RANDOM:].reshape(N_RANDOM, -1).T
    alike = np.isclose(entries[:, np.newaxis], entries, rtol=1e-9, atol=1e-12).all(axis=2)
    places = moments.of_M.ravel()
    assert np.array_equal(alike, places[:, np.newaxis] == places)  # no two numbers are the same sum, nor one two sums
    assert sorted({*places.tolist(), *moments.of_b.tolist()}) == list(range(len(moments.bounds)))
    every, where = np.hstack([M.reshape(len(M), -1), b]), np.append(places, moments.of_b)
    np.testing.assert_allclose(np.abs(every).max(axis=0), moments.bounds[where], rtol=1e-12)
    np.testing.assert_allclose(np.ptp(every, axis=0), (moments.widths * moments.bounds)[where], rtol=1e-12)
    at_once = (np.abs(every) >= moments.bounds[where] * (1 - 1e-12)).all(axis=1)
    assert at_once.any()  # one record attains all bounds, so that no noise could be smaller for any group


def largest_log_ratio(budget, changes, seed=29):
    """Largest log-ratio of the densities of a release, near and far, straight from exp(-ε max|x|) of every group.

    Far away in the direction of a change it is as large as it can be, by the triangle inequality; so few noises do.
    """
    rng, total = np.random.default_rng(seed), 0.0
    for _, members, epsilon in budget.groups:
        moved = (changes[:, members] / budget.moments.bounds[members])[:, np.newaxis]
        noise = rng.uniform(-1, 1, (20, members.sum())) * rng.exponential(3, (20, 1))
        near = np.abs(noise + moved).max(axis=2) - np.abs(noise).max(axis=1)
        far = np.abs(51 * moved).max(axis=2) - np.abs(50 * moved).max(axis=2)
        total = total + epsilon * np.abs(np.hstack([near, far])).max(axis=1)
    return total.max()


SOUND = [
    FunctionalMechanismRegressor(0.8, variant="sound"),
    FunctionalMechanismRegressor(0.8, variant="sound", fit_intercept=True),
    DPCRegressor(0.8, variant="sound", gamma=0.3),
    DPCRegressor(0.8, variant="sound", sensitive=["x0", "x1"], fit_intercept=True),
    DPBARegressor(0.8, variant="sound"),
    DPBARegressor(0.8, variant="sound", beta=None, share="optimal", fit_intercept=True),
    DPBARegressor(0.8, variant="sound", beta=None, share=0.1),
    DiffLRRegressor(0.8, variant="sound"),
]
DESIGNED = [
    pytest.param(model, p, degree, id=f"{type(model).__name__}-{p}-{degree}")
    for model in SOUND
    for p, degree in [(2, 1), (4, 1), (2, 2), (3, 2)]
    if degree == 1 or "degree" in model.get_params()
]


@pytest.mark.parametrize(("model", "p", "degree"), DESIGNED)
@scalings
def test_no_neighbour_costs_a_sound_variant_more_than_it_says_and_one_costs_it_all(model, p, degree, scaling):
    """ε where a record is added, twice that where one is replaced; in the ball ε, but of b if the target has a sign."""
    asked = {"degree": degree} if "degree" in model.get_params() else {}
    model = clone(model).set_params(scaling=scaling, domain=unit_domain(p), **asked)
    budget = model.budget(model.design(model.domain))
    records = searched(p, scaling)
    M, b = numbers_of(records, degree, model.fit_intercept)
    changes = np.empty((len(M), len(budget.moments.bounds)))
    changes[:, budget.moments.of_M], changes[:, budget.moments.of_b] = M, b
    added = largest_log_ratio(budget, changes)
    rng = np.random.default_rng(30)
    couples = [*itertools.combinations(range(2**p), 2), *rng.integers(0, len(changes), (200, 2)).tolist()]
    first_with_sign = {"box": 0, "signed_ball": p}.get(scaling, p + 1)
    ends = np.flatnonzero((np.abs(records[:, first_with_sign:]) > 1e-9).all(axis=1))[: 2 ** (p + 1)]
    couples += list(itertools.combinations(ends, 2))
    first, second = np.array(couples).T
    replaced = largest_log_ratio(budget, changes[first] - changes[second])
    ledger = budget.ledger
    assert added == pytest.approx(0.8, rel=1e-12) == ledger.epsilon_under(ADDED_OR_REMOVED)
    of_signed_ball = scaling == "signed_ball" and len(budget.groups) > 1  # no pair is the worst of M and of b at once
    assert of_signed_ball or replaced == pytest.approx(ledger.epsilon_under(REPLACED), rel=1e-12)
    assert replaced <= ledger.epsilon_under(REPLACED) * (1 + 1e-12)
    of_b = [epsilon for _, members, epsilon in budget.groups if members[budget.moments.is_of_b].any()]
    twice = {"box": 0.8, "signed_ball": sum(of_b)}.get(scaling, 0.0)
    assert ledger.epsilon_under(REPLACED) == pytest.approx(0.8 + twice, rel=1e-12)
    assert ledger.neighbours == ADDED_OR_REMOVED


def test_a_single_attribute_shows_less_where_it_is_replaced():
    """x² cannot change its sign: of its budget a replaced record can take no more than an added one."""
    privacy = DiffLRRegressor(2.0, variant="sound", domain=unit_domain(1)).fit([[1.0], [0.5]], [1.0, 0.5]).privacy_
    quadratic, linear = privacy.ledger.parts
    assert privacy.accounted(REPLACED) == pytest.approx(quadratic.epsilon + 2 * linear.epsilon) and privacy.keeps_claim


@scalings
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("cls", TYPES)
def test_a_sound_release_is_that_of_a_slow_reference(cls, scaling, fit_intercept):
    X, y = rows()
    given = {"degree": 2, "scaling": scaling, "fit_intercept": fit_intercept, "domain": DOMAIN, "random_state": 31}
    model = cls(2.0, variant="sound", repair="none", **TYPES[cls], **given)
    objective, budget = model.summarise(X, y).objective, model.budget(model.design(DOMAIN))
    rng, M, b = np.random.default_rng(model.seed()), objective.M.copy(), objective.b.copy()
    for _, members, epsilon in budget.groups:
        radius = rng.standard_gamma(members.sum() + 1) / epsilon
        for number in np.flatnonzero(members):
            noise = radius * (2 * rng.random() - 1) * budget.moments.bounds[number]
            M[budget.moments.of_M == number] += noise
            b[budget.moments.of_b == number] += noise
    np.testing.assert_allclose(model.fit(X, y).coef_, np.linalg.solve(M, b) / -2, rtol=1e-6)
    assert (M == M.T).all()


@pytest.mark.parametrize("gamma", [0.1, 0.5, 1.0])
def test_the_sound_dpc_gives_sensitive_coefficients_the_noise_that_gamma_says(gamma):
    model = DPCRegressor(2.0, variant="sound", degree=2, gamma=gamma, sensitive=["b"], domain=DOMAIN)
    budget = model.budget(model.design(DOMAIN))
    others, sensitive = budget.groups
    assert others.epsilon + sensitive.epsilon == pytest.approx(2.0, rel=1e-12)
    values, *told = budget.lay_out(any_objective(9))
    rng = np.random.default_rng(33)
    draws = [budget.add_noise(np.zeros_like(values), *told, rng) for _ in range(4000)]
    deviations = np.std(draws, axis=0)
    assert deviations[sensitive.members].mean() * gamma == pytest.approx(deviations[others.members].mean(), rel=0.05)
    names = model.fit(*rows()).monomials_
    assert [name for name, number in zip(names, budget.moments.of_b, strict=True) if sensitive.members[number]] == [
        "b",
        "a·b",
        "b²",
        "b·grade",
    ]


@pytest.mark.parametrize("p", [1, 4, 12])
@scalings
def test_the_optimal_split_of_a_sound_release_has_the_least_noise_energy(p, scaling):
    design = Design(unit_domain(p), 1, scaling, False)

    def energy(share):
        model = DPBARegressor(1.0, variant="sound", beta=None, share=share, scaling=scaling, domain=design.domain)
        scales = model.budget(design).scales  # at degree 1 all entries of a part are alike
        return p**2 * scales["quadratic"] ** 2 + p * scales["linear"] ** 2

    best = share_of_moments(design, "optimal")
    assert energy(best) <= min(energy(share) for share in np.linspace(0.01, 0.99, 981))
    model = DiffLRRegressor(1.0, variant="sound", scaling=scaling, domain=design.domain)
    assert [part.epsilon for part in model.budget(design).ledger.parts] == pytest.approx([best, 1 - best])
    model.set_params(split="proportional")
    scales = model.budget(design).scales
    assert scales["quadratic"] == pytest.approx(scales["linear"])


@every_class
@pytest.mark.parametrize("p", [2, 4, 12])
def test_a_sound_variant_has_less_noise_than_the_printed_one(cls, p):
    """At the same ε; with half of it, which covers a replaced record as the printed one does, too."""
    X, y = np.zeros((5, p)), np.zeros(5)
    given = TYPES.get(cls, {}) | {"domain": unit_domain(p)}
    printed = cls(1.0, **given).fit(X, y).noise_scales_
    for epsilon in (1.0, 0.5):
        sound = cls(epsilon, variant="sound", **given).fit(X, y)
        assert sound.privacy_.accounted(REPLACED) <= 2 * epsilon * (1 + 1e-12)
        for part in ("quadratic", "linear"):
            assert sound.noise_scales_[part] < printed[part]


@every_class
def test_without_noise_both_variants_are_the_same(cls):
    X, y = rows()
    given = {"fit_intercept": True, "domain": DOMAIN, "random_state": 32}
    one, other = (cls(math.inf, variant=variant, **given).fit(X, y) for variant in ("paper", "sound"))
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9)
    assert other.noise_scales_ == {"quadratic": 0, "linear": 0}


@pytest.mark.parametrize(("p", "degree"), [(60, 1), (45, 2), (9, 2)])
def test_products_of_many_attributes_are_told_apart(p, degree):
    squares = Monomials(p, degree).squares
    assert len(np.unique(squares)) == count_monomials(p, 2 * degree) - p
    assert np.array_equal(squares, squares.T) and squares.max() == len(np.unique(squares)) - 1
