"""Private regression against independent ways to the same numbers, and its sensitivities by brute force."""

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import parametrize_with_checks

from algorithms import (
    Continuous,
    DiffLRRegressor,
    Domain,
    DPBARegressor,
    DPCRegressor,
    FunctionalMechanismRegressor,
    Nominal,
    ParameterError,
    PrivacyLeakWarning,
)
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED, Sequential, Spent
from algorithms.accounting.privacy import Privacy
from algorithms.encoding.cells import DomainError
from algorithms.regression.budget import PROPORTIONS, part_sensitivities, share_of_quadratic
from algorithms.regression.design import Design
from algorithms.regression.dpba import VALUES, find_beta
from algorithms.regression.functional_mechanism import SENSITIVITIES
from algorithms.regression.monomials import MOST, Monomials, count_monomials
from algorithms.regression.objective import Noise, Objective, objective_of, sum_products
from algorithms.regression.repair import REPAIRS, minimise_objective
from algorithms.released.document import ReleaseError
from tests.noisy_objective import perturbed

SMALLEST_P = 1e-4  # fixed seeds, see test_mechanisms.py
SCALINGS = ("box", "unit", "ball", "signed_ball")
GRADES = ("bad", "fair", "good", "best")
DOMAIN = Domain(
    (Continuous("a", -2, 6), Continuous("b", 100, 101), Nominal("grade", GRADES)), Continuous("y", -50, 150)
)

scalings = pytest.mark.parametrize("scaling", SCALINGS)
CLASSES = (FunctionalMechanismRegressor, DPCRegressor, DPBARegressor, DiffLRRegressor)
every_class = pytest.mark.parametrize("cls", CLASSES)
every_repair = pytest.mark.parametrize("repair", REPAIRS)


def rows(n=500, seed=0):
    rng = np.random.default_rng(seed)
    a, b, grade = rng.uniform(-2, 6, n), rng.uniform(100, 101, n), rng.integers(0, 4, n)
    y = 5 * a + 30 * (b - 100) + 10 * grade + 0.5 * a**2 + rng.normal(0, 3, n)
    return pd.DataFrame({"a": a, "b": b, "grade": np.array(GRADES)[grade]}), y


def scaled_by_hand(X, y, scaling):
    """Attributes and target on the scale of the objective, from the definition and this domain's own numbers."""
    shares = np.column_stack([(X["a"] + 2) / 8, X["b"] - 100, X["grade"].map(GRADES.index) / 3])
    y = (np.asarray(y) + 50) / 200
    attributes = {"box": 2 * shares - 1, "unit": shares}.get(scaling, shares / math.sqrt(3))
    return attributes, (2 * y - 1 if scaling in ("box", "signed_ball") else y)


def matrix_of(X):
    return DOMAIN.encode(X)[0]


# Monomials.


@pytest.mark.parametrize(("p", "degree", "d"), [(9, 2, 54), (4, 3, 34), (6, 2, 27), (12, 1, 12), (1, 7, 7)])
def test_the_number_of_monomials(p, degree, d):
    assert count_monomials(p, degree) == len(Monomials(p, degree)) == d
    assert len(Monomials(p, degree, constant=True)) == d + 1
    names = Monomials(p, degree).names([f"x{i}" for i in range(p)])
    assert len(names) == len(set(names)) == d


@pytest.mark.parametrize(("p", "degree"), [(1, 1), (1, 5), (5, 1), (9, 2), (4, 3), (3, 6)])
@pytest.mark.parametrize("constant", [False, True])
def test_monomials_are_those_of_scikit_learn_in_the_same_order(p, degree, constant):
    attributes = np.random.default_rng(1).normal(size=(11, p))
    expansion = PolynomialFeatures(degree, include_bias=False).fit(attributes)
    monomials = Monomials(p, degree, constant)
    block = np.full((len(monomials), 11), np.nan)
    block[:p] = attributes.T
    monomials.expand(block)
    np.testing.assert_allclose(block[: count_monomials(p, degree)].T, expansion.transform(attributes), rtol=1e-13)
    assert (block[count_monomials(p, degree) :] == 1).all()

    letters = "abcdefghi"[:p]
    theirs = expansion.get_feature_names_out(list(letters))
    digits = str.maketrans("23456789", "²³⁴⁵⁶⁷⁸⁹")
    assert (
        monomials.names(letters)
        == [name.replace("^", "").translate(digits).replace(" ", "·") for name in theirs] + ["1"] * constant
    )


def test_names_are_readable():
    names = Monomials(2, 3, constant=True).names(["AT", "V"])
    assert names == ["AT", "V", "AT²", "AT·V", "V²", "AT³", "AT²·V", "AT·V²", "V³", "1"]
    assert Monomials(1, 12).names(["x"])[-1] == "x¹²"


def test_a_degree_with_too_many_monomials_is_refused_with_their_number():
    assert len(Monomials(1, MOST)) == MOST
    with pytest.raises(
        ParameterError, match=r"^degree must be smaller: 9 attributes have 2,001 .* to degree 5,"
    ) as caught:
        Monomials(9, 5, constant=False)
    assert "\n" not in str(caught.value)
    X, y = rows()
    with pytest.raises(ParameterError, match="3 attributes have 2,299 monomials up to degree 22"):
        FunctionalMechanismRegressor(degree=22, domain=DOMAIN).fit(X, y)
    with pytest.raises(ParameterError, match=r"^degree must be at most 2000 \(largest number of monomials\)"):
        FunctionalMechanismRegressor(degree=10**9, domain=DOMAIN).fit(X, y)


# The objective.


@scalings
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("size", [7, 500, 8192])
def test_the_objective_is_the_product_of_all_rows_at_once(scaling, constant, size):
    X, y = rows()
    attributes, target = scaled_by_hand(X, y, scaling)
    Z = PolynomialFeatures(3, include_bias=False).fit_transform(attributes)
    Z = np.column_stack([Z, np.ones(len(Z))]) if constant else Z
    design = Design(DOMAIN, 3, scaling, constant)
    M, b, c, n = objective_of(design.blocks(DOMAIN.rows(X, y), size), Z.shape[1])
    np.testing.assert_allclose(M, Z.T @ Z, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(b, -2 * Z.T @ target, rtol=1e-12, atol=1e-11)
    assert c == pytest.approx(target @ target, rel=1e-12) and n == len(Z)
    assert (M == M.T).all()


@scalings
def test_the_objective_is_the_sum_of_squared_errors(scaling):
    X, y = rows(40)
    summary = FunctionalMechanismRegressor(scaling=scaling, domain=DOMAIN).summarise(X, y)
    attributes, target = scaled_by_hand(X, y, scaling)
    M, b, c, _ = summary.objective
    for w in np.random.default_rng(2).normal(size=(5, 3)):
        assert c + b @ w + w @ M @ w == pytest.approx(((target - attributes @ w) ** 2).sum(), rel=1e-12)


@scalings
def test_no_regressor_and_no_target_is_larger_than_one(scaling):
    corners = np.array(list(itertools.product((-2, 6), (100, 101), (0, 3))), dtype=float)
    widths = np.random.default_rng(3).uniform(0.1, 7, (200, 2))
    for lower, width in [(-2, 8), *(widths - [3, 0]).tolist()]:
        domain = Domain(
            (Continuous("a", lower, lower + width), DOMAIN.features[1], Continuous("c", 0, 3)), DOMAIN.target
        )
        corners[:, 0] = np.where(corners[:, 0] == corners[0, 0], lower, lower + width)
        (block,) = Design(domain, 2, scaling, False).blocks(domain.rows(corners, np.array([-50.0, 150.0] * 4)))
        assert np.abs(block).max() <= 1
        if scaling in ("ball", "signed_ball"):
            assert block[:-1].min() >= 0 and (block[:3] ** 2).sum(axis=0).max() == pytest.approx(1)
            assert set(block[-1]) == {-1 if scaling == "signed_ball" else 0, 1}
        else:
            lowest = -1 if scaling == "box" else 0
            assert set(block[:3].ravel()) == set(block[-1]) == {lowest, 1}


def whole_numbers(n, p, seed=8):
    """Attributes and target of which a float holds every sum of scaled products, so that no order rounds any."""
    bounds = [Continuous(f"x{i}", 0, 16) for i in range(p)]
    records = np.random.default_rng(seed).integers(0, 17, (n, p + 1))
    return Domain(bounds, Continuous("y", 0, 16)), records[:, :-1].astype(float), records[:, -1].astype(float)


def rows_of_a_block(domain):
    """How many rows are read at once."""
    X = np.zeros((130_000, len(domain.features)))
    size = next(Design(domain, 1, "box", constant=False).blocks(domain.rows(X, X[:, 0]))).shape[1]
    assert size < len(X)
    return size


@pytest.mark.parametrize("p", [1, 2, 9, 70])
@pytest.mark.parametrize(("times", "more"), [(0, 0), (0, 1), (1, -1), (1, 0), (1, 1), (2, 1)])
def test_no_row_is_lost_between_blocks(p, times, more):
    domain, *_ = whole_numbers(0, p)
    domain, X, y = whole_numbers(times * rows_of_a_block(domain) + more, p)
    M, b, c, n = objective_of(Design(domain, 1, "box", constant=False).blocks(domain.rows(X, y)), p)
    lines = np.column_stack([X, y]).astype(np.int64) - 8
    products = lines.T @ lines
    assert np.array_equal(64 * M, products[:-1, :-1]) and np.array_equal(-32 * b, products[-1, :-1])
    assert 64 * c == products[-1, -1] and n == len(X)


@pytest.mark.parametrize("p", [1, 9, 300])
def test_each_line_of_a_block_begins_with_a_cache_line(p):
    domain, X, y = whole_numbers(130_000 if p == 1 else 30_000, p)
    block = next(Design(domain, 1, "box", constant=False).blocks(domain.rows(X, y)))
    assert block.shape[1] < len(X) and all(line.ctypes.data % 64 == 0 for line in block)
    assert block.strides[0] % 4096  # whole pages apart, lines push each other out of the cache


@pytest.mark.parametrize("n_lines", [1, 2, 3, 6, 64, 65])
@pytest.mark.parametrize("n_rows", [1, 7, 300, 512, 1025])
def test_products_are_summed_whatever_the_number_of_lines(n_lines, n_rows):
    block = np.random.default_rng(9).integers(-9, 10, (n_lines, n_rows))
    assert np.array_equal(np.tril(sum_products(block.astype(float))), np.tril(block @ block.T))


@pytest.mark.parametrize("p", [1, 4, 9])
def test_many_rows_do_not_round_more_than_few(p):
    X = np.random.default_rng(10).random((40_000, p))
    domain = Domain([Continuous(f"x{i}", 0, 1) for i in range(p)], Continuous("y", 0, 1))
    M = FunctionalMechanismRegressor(scaling="unit", domain=domain).summarise(X, X[:, 0]).objective.M
    for i, j in itertools.product(range(p), repeat=2):
        assert M[i, j] == pytest.approx(math.fsum(X[:, i] * X[:, j]), rel=1e-14)


def test_the_rows_are_read_alike_however_they_are_stored_and_stay_as_they_are():
    rng = np.random.default_rng(11)
    domain = Domain([Continuous(f"x{i}", 0.1, 0.9) for i in range(9)], Continuous("y", 0.1, 0.9))
    X, y = rng.random((20_001, 9)), rng.random(20_001)
    model = FunctionalMechanismRegressor(domain=domain)
    first = model.summarise(X, y)
    held = [np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], pd.DataFrame(X, columns=domain.names), X.copy()]
    for other in held:
        if isinstance(other, np.ndarray):
            other.setflags(write=False)
        summary = model.summarise(other, y)
        assert all(np.array_equal(*pair) for pair in zip(summary.objective, first.objective, strict=True))
        assert (
            summary.clipped
            == first.clipped
            == {
                **{f"x{i}": np.count_nonzero((X[:, i] < 0.1) | (X[:, i] > 0.9)) for i in range(9)},
                "y": np.count_nonzero((y < 0.1) | (y > 0.9)),
            }
        )


def test_the_last_block_is_checked_as_the_first():
    domain, *_ = whole_numbers(0, 9)
    domain, X, y = whole_numbers(2 * rows_of_a_block(domain) + 5, 9)
    model = FunctionalMechanismRegressor(domain=domain)
    X[-1, 4] = math.inf
    capped = np.where(np.isinf(X), 16.0, X)
    assert model.summarise(X, y).clipped == {"x4": 1}
    assert np.array_equal(model.summarise(X, y).objective.M, model.summarise(capped, y).objective.M)
    X[-2, 3] = math.nan
    with pytest.raises(DomainError, match=r"^column 'x3' has 1 missing values \(NaN\)$"):
        model.fit(X, y)
    X[-2, 3], y[-1] = 0.0, math.nan
    with pytest.raises(DomainError, match=r"^column 'y' has 1 missing values \(NaN\)$"):
        model.fit(X, y)
    kept = objective_of(model.design(domain).blocks(domain.rows(X, y, leave_out=True)), 9)
    others = model.summarise(X[:-1], y[:-1]).objective
    assert all(np.array_equal(*pair) for pair in zip(kept, others, strict=True))


# Noise.


def any_objective(d, seed=4):
    rng = np.random.default_rng(seed)
    Z, y = rng.uniform(-1, 1, (50, d)), rng.uniform(-1, 1, 50)
    return Objective(Z.T @ Z, -2 * Z.T @ y, float(y @ y), 50)


def released_slowly(objective, scale_of_M, scale_of_b, rng):
    """The release in plain Python: d² draws for M row by row, then d for b, then the mean with the transpose."""
    d = len(objective.b)
    noisy = [[objective.M[i, j] + rng.laplace(0, scale_of_M[i][j]) for j in range(d)] for i in range(d)]
    b = [objective.b[i] + rng.laplace(0, scale_of_b[i]) for i in range(d)]
    return [[(noisy[i][j] + noisy[j][i]) / 2 for j in range(d)] for i in range(d)], b


@pytest.mark.parametrize("per_coefficient", [False, True])
def test_the_release_is_that_of_a_slow_reference(per_coefficient):
    d, exact, rng = 4, any_objective(4), np.random.default_rng(5)
    of_M, of_b = (rng.uniform(0.5, 2, (d, d)), rng.uniform(0.5, 2, d)) if per_coefficient else (0.3, 0.7)
    M, b = perturbed(exact, Noise(5.0, of_M), Noise(7.0, of_b), np.random.default_rng(6))
    scale_of_M, scale_of_b = np.full((d, d), 5.0) / of_M, np.full(d, 7.0) / of_b
    expected = released_slowly(exact, scale_of_M.tolist(), scale_of_b.tolist(), np.random.default_rng(6))
    np.testing.assert_allclose(M, expected[0], rtol=1e-12)
    np.testing.assert_allclose(b, expected[1], rtol=1e-12)
    assert Noise(5.0, of_M).scale == pytest.approx(scale_of_M.max())


def test_the_noise_follows_its_law():
    exact, rng = any_objective(2), np.random.default_rng(7)
    releases = [perturbed(exact, Noise(6.0, 2.0), Noise(1.0, 4.0), rng) for _ in range(10_000)]
    M, b = np.array([M for M, _ in releases]) - exact.M, np.array([b for _, b in releases]) - exact.b
    for entry in (M[:, 0, 0], M[:, 1, 1]):
        assert stats.kstest(entry, stats.laplace(0, 3.0).cdf).pvalue > SMALLEST_P
    assert np.array_equal(M, M.transpose(0, 2, 1))
    assert M[:, 0, 1].var() == pytest.approx(3.0**2, rel=0.1)  # the mean of two draws has half the variance 2 * 3²
    for entry in b.T:
        assert stats.kstest(entry, stats.laplace(0, 0.25).cdf).pvalue > SMALLEST_P


def test_without_noise_the_exact_coefficients_come_back():
    exact = any_objective(5)
    M, b = perturbed(exact, Noise(70.0, math.inf), Noise(70.0, math.inf), np.random.default_rng(8))
    assert (M == exact.M).all() and (b == exact.b).all()
    assert Noise(70.0, math.inf).scale == 0


def test_a_release_leaves_the_exact_coefficients_alone():
    exact = any_objective(3)
    before = exact.M.copy(), exact.b.copy()
    M, b = perturbed(exact, Noise(1.0, 1.0), Noise(1.0, 1.0), np.random.default_rng(9))
    assert not np.shares_memory(M, exact.M) and not np.shares_memory(b, exact.b)
    assert np.array_equal(before[0], exact.M) and np.array_equal(before[1], exact.b)


@pytest.mark.parametrize(("reading", "delta"), [("coefficients", 2 * (81 + 18)), ("with_constant", 200)])
@pytest.mark.parametrize("epsilon", [0.1, 3.0])
def test_the_functional_mechanism_draws_with_delta_over_epsilon(reading, delta, epsilon):
    X, y = rows()
    parameters = {"degree": 2, "sensitivity": reading, "domain": DOMAIN, "random_state": 10}
    model = FunctionalMechanismRegressor(epsilon, repair="none", **parameters)
    exact = model.summarise(X, y).objective
    scale = delta / epsilon
    M, b = released_slowly(exact, np.full((9, 9), scale), np.full(9, scale), np.random.default_rng(model.seed()))
    np.testing.assert_allclose(model.fit(X, y).coef_, np.linalg.solve(np.array(M), b) / -2, rtol=1e-8)
    assert model.privacy_.ledger == Spent(
        "laplace", "quadratic and linear coefficients", epsilon, delta, REPLACED, delta / 2
    )


def test_delta_is_that_of_the_papers():
    assert [SENSITIVITIES["coefficients"](d) for d in (1, 12, 54)] == [6, 336, 2 * (54**2 + 2 * 54)]
    assert [SENSITIVITIES["with_constant"](d) for d in (1, 12, 54)] == [8, 338, 2 * 55**2]


@pytest.mark.parametrize(("split", "share"), [("proportional", 3 / 5), ("sqrt", 0.55051), ("optimal", 0.65397)])
def test_diff_lr_draws_with_the_shares_of_its_split(split, share):
    """Three regressors: Δ = 18 and 12; shares worked out by hand."""
    X, y = rows()
    model = DiffLRRegressor(2.0, split=split, repair="none", domain=DOMAIN, random_state=11).fit(X, y)
    quadratic, linear = model.privacy_.ledger.parts
    assert quadratic.epsilon == pytest.approx(2 * share, abs=2e-5)
    assert quadratic.epsilon + linear.epsilon == pytest.approx(2.0, rel=1e-12)
    assert (quadratic.sensitivity, linear.sensitivity) == (18, 12)
    scales = np.full((3, 3), 18 / quadratic.epsilon), np.full(3, 12 / linear.epsilon)
    exact = model.summarise(X, y).objective
    M, b = released_slowly(exact, *scales, np.random.default_rng(model.seed()))
    np.testing.assert_allclose(model.coef_, np.linalg.solve(np.array(M), b) / -2, rtol=1e-8)


@scalings
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_proportional_diff_lr_is_the_functional_mechanism(scaling, epsilon, fit_intercept):
    X, y = rows()
    given = {"scaling": scaling, "fit_intercept": fit_intercept, "domain": DOMAIN, "random_state": 12}
    one = FunctionalMechanismRegressor(epsilon, **given).fit(X, y)
    other = DiffLRRegressor(epsilon, split="proportional", **given).fit(X, y)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9)
    assert not np.allclose(one.coef_, DiffLRRegressor(epsilon, **given).fit(X, y).coef_, rtol=1e-4)


@pytest.mark.parametrize("d", [1, 3, 12, 54])
def test_the_optimal_split_has_the_least_noise_energy(d):
    def energy(share):
        return d**2 * 2 * (2 * d**2 / share) ** 2 + d * 2 * (4 * d / (1 - share)) ** 2

    quadratic = share_of_quadratic(d, "optimal")
    grid = np.linspace(0.001, 0.999, 9981)
    assert energy(quadratic) <= energy(grid).min()
    assert abs(quadratic - grid[np.argmin(energy(grid))]) <= 1e-4
    assert set(PROPORTIONS) == {"proportional", "sqrt", "optimal"}


# DPC: coefficients of sensitive attributes.


def sensitive_by_hand(names, sensitive):
    """Which entries of M and b have to do with a sensitive attribute, from the names of the monomials."""
    marked = np.array([any(letter in name for letter in sensitive) for name in names])
    return marked[:, None] | marked[None, :], marked


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("sensitive", [["b"], ("a", "c"), ["a", "b", "c"], None])
@pytest.mark.parametrize("gamma", [0.1, 0.5, 1.0])
def test_dpc_draws_with_the_budget_of_each_coefficient(fit_intercept, sensitive, gamma):
    X, y = rows()
    domain = Domain((*DOMAIN.features[:2], Nominal("c", GRADES)), DOMAIN.target)
    X = X.rename(columns={"grade": "c"})
    given = {"degree": 2, "fit_intercept": fit_intercept, "repair": "none", "domain": domain, "random_state": 21}
    model = DPCRegressor(2.0, gamma=gamma, sensitive=sensitive, **given).fit(X, y)
    of_M, of_b = sensitive_by_hand(model.monomials_, sensitive or ["a"])
    d = len(of_b)
    delta = 2 * (d**2 + 2 * d)
    eta = (2 * (~of_M).sum() + 4 * (~of_b).sum()) / delta
    epsilon_n = 2.0 / (eta + gamma * (1 - eta))
    assert eta * epsilon_n + (1 - eta) * gamma * epsilon_n == pytest.approx(2.0, rel=1e-12)
    scales = (delta / np.where(group, gamma * epsilon_n, epsilon_n) for group in (of_M, of_b))
    exact = clone(model).summarise(X, y).objective
    M, b = released_slowly(exact, *scales, np.random.default_rng(model.seed()))
    np.testing.assert_allclose(model.coef_, np.linalg.solve(np.array(M), b) / -2, rtol=1e-6)

    spent = {part.purpose.split()[1]: part for part in model.privacy_.ledger.parts}
    assert spent["with"].epsilon == pytest.approx((1 - eta) * gamma * epsilon_n)
    assert ("without" in spent) == (eta > 0)
    assert sum(part.sensitivity for part in spent.values()) == delta


@pytest.mark.parametrize("epsilon", [0.01, 1.0, math.inf])
def test_dpc_without_a_difference_is_the_functional_mechanism(epsilon):
    X, y = rows()
    given = {"degree": 3, "domain": DOMAIN, "random_state": 22}
    one = FunctionalMechanismRegressor(epsilon, **given).fit(X, y)
    other = DPCRegressor(epsilon, gamma=1.0, sensitive=["b"], **given).fit(X, y)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9)
    if epsilon < math.inf:
        assert not np.allclose(one.coef_, DPCRegressor(epsilon, sensitive=["b"], **given).fit(X, y).coef_, rtol=1e-3)


@pytest.mark.parametrize(("ridge", "times"), [("larger", 2), ("smaller", 1)])
def test_the_ridge_of_dpc_follows_one_of_its_two_scales(ridge, times):
    X, y = rows()
    given = {"degree": 2, "gamma": 0.5, "sensitive": ["b"], "domain": DOMAIN, "random_state": 41}
    exact = DPCRegressor(5.0, **given).summarise(X, y).objective
    monomials = Monomials(3, 2).containing([1])
    of_M = monomials[:, np.newaxis] | monomials
    eta = 1 - (2 * of_M.sum() + 4 * monomials.sum()) / 198
    smaller = 198 * (eta + 0.5 * (1 - eta)) / 5.0
    model = DPCRegressor(5.0, repair="ridge", ridge=ridge, **given)
    scales = smaller * np.where(of_M, 2, 1), smaller * np.where(monomials, 2, 1)
    M, b = released_slowly(exact, *scales, np.random.default_rng(model.seed()))
    ridged = np.array(M) + 4 * math.sqrt(2) * times * smaller * np.eye(9)
    np.testing.assert_allclose(model.fit(X, y).coef_, np.linalg.solve(ridged, b) / -2, rtol=1e-8)
    if ridge == "smaller":
        with pytest.raises(ParameterError, match="ridge='smaller' is a reading of the text"):
            model.set_params(variant="sound").fit(X, y)


def test_an_unknown_sensitive_attribute_is_refused_before_the_rows_are_read():
    X, y = rows()
    with pytest.raises(ParameterError, match=r"^sensitive must be among a, b, grade, got \['AP'\]$"):
        DPCRegressor(sensitive=["AP"], domain=DOMAIN).summarise(X.assign(a=math.nan), y)
    with pytest.warns(PrivacyLeakWarning), pytest.raises(ParameterError, match=r"^sensitive must be among 0, 1, 2,"):
        DPCRegressor(sensitive=["a"]).fit(matrix_of(X), y)


# DPBA: a budget for each part.


def test_the_named_values_of_beta_are_those_of_the_paper():
    assert [find_beta(name, 54) for name in VALUES] == [5832, 5771, 5621]
    assert [find_beta(name, 34) for name in VALUES] == [2312, 2274, 2181]


@pytest.mark.parametrize("d", [1, 2, 3])
def test_few_monomials_get_shares_in_the_order_of_the_values(d):
    """Of the larger part value1 has most, value3 what FM gives it (the constant Σ y² counted), value2 lies between."""
    X, y = rows()
    domain = Domain(DOMAIN.features[:d], DOMAIN.target)
    shares = []
    for beta in VALUES:
        model = DPBARegressor(1.0, beta=beta, domain=domain, random_state=0).fit(X.iloc[:, :d], y)
        quadratic, linear = model.privacy_.ledger.parts
        assert quadratic.epsilon + linear.epsilon == pytest.approx(1.0, rel=1e-12)
        again = DPBARegressor(1.0, beta=None, share=quadratic.epsilon, domain=domain).fit(X.iloc[:, :d], y)
        assert again.beta_ == pytest.approx(model.beta_, rel=2e-4)
        shares.append(max(2 * d**2, 4 * d) / model.noise_scales_["quadratic" if d > 2 else "linear"])
    assert shares[0] == pytest.approx(1 - 1e-4) and shares[0] > shares[1] > shares[2]
    assert shares[2] == pytest.approx(max(2 * d**2, 4 * d) / (2 * (d + 1) ** 2), abs=0.01)


@pytest.mark.parametrize("least", [1e-5, 0.02])
def test_value1_leaves_the_linear_part_the_least_share(least):
    model = DPBARegressor(2.0, degree=2, beta="value1", least_share=least, domain=DOMAIN).fit(*rows())
    assert [part.epsilon for part in model.privacy_.ledger.parts] == pytest.approx([2 * (1 - least), 2 * least])
    with pytest.raises(ParameterError, match="least_share"):
        model.set_params(least_share=0.5).fit(*rows())


@pytest.mark.parametrize(
    ("given", "beta", "share"),
    [
        ({"beta": "value1"}, 162, 1 - 1e-4),
        ({}, 153, 153 / 162),
        ({"beta": "value3"}, 131, 131 / 162),
        ({"beta": 81}, 81, 0.5),
        ({"beta": 1e-9}, 1e-9, 1e-4),
        ({"beta": None, "share": 0.3}, 48.6, 0.3),
        ({"beta": None, "share": "optimal"}, 137.711, 0.85007),
    ],
)
def test_dpba_draws_with_the_share_of_beta(given, beta, share):
    """Nine monomials: Δ = 162 and 36; shares worked out by hand."""
    X, y = rows()
    usual = {"degree": 2, "repair": "none", "domain": DOMAIN, "random_state": 23}
    model = DPBARegressor(2.0, **given, **usual).fit(X, y)
    quadratic, linear = model.privacy_.ledger.parts
    assert quadratic.epsilon == pytest.approx(2 * share, rel=2e-5)
    assert quadratic.epsilon + linear.epsilon == pytest.approx(2.0, rel=1e-12)
    assert (quadratic.sensitivity, linear.sensitivity) == (162, 36)
    scales = 162 / quadratic.epsilon, 36 / linear.epsilon
    assert model.noise_scales_ == pytest.approx(dict(zip(("quadratic", "linear"), scales, strict=True)))
    assert model.beta_ == pytest.approx(beta, rel=1e-5)
    exact = model.summarise(X, y).objective
    scales = np.full((9, 9), scales[0]), np.full(9, scales[1])
    M, b = released_slowly(exact, *scales, np.random.default_rng(model.seed()))
    np.testing.assert_allclose(model.coef_, np.linalg.solve(np.array(M), b) / -2, rtol=1e-6)


def test_a_sound_dpba_has_no_beta_of_its_own_nor_of_a_former_fit():
    model = DPBARegressor(2.0, domain=DOMAIN).fit(*rows())
    assert hasattr(model, "beta_")
    for given in ({}, {"beta": None, "share": "optimal"}):
        assert not hasattr(model.set_params(variant="sound", **given).fit(*rows()), "beta_")


@pytest.mark.parametrize("epsilon", [0.01, 1.0, math.inf])
def test_dpba_with_the_share_of_the_sensitivities_is_the_functional_mechanism(epsilon):
    X, y = rows()
    given = {"degree": 2, "domain": DOMAIN, "random_state": 24}
    one = FunctionalMechanismRegressor(epsilon, **given).fit(X, y)
    other = DPBARegressor(epsilon, beta=None, share=9 / 11, **given).fit(X, y)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9)
    assert one.noise_scales_ == pytest.approx(other.noise_scales_)


def test_beta_and_share_do_not_go_together():
    X, y = rows()
    with pytest.raises(ParameterError, match=r"^beta must be None where share is set, got 'value2'$"):
        DPBARegressor(share=0.5, domain=DOMAIN).fit(X, y)
    with pytest.raises(ParameterError, match=r"^beta must be set where share is not, got None$"):
        DPBARegressor(beta=None, domain=DOMAIN).fit(X, y)


# The published code of the functional mechanism.


@pytest.mark.parametrize("epsilon", [0.5, 50.0, 5000.0, math.inf])
def test_the_published_code_against_a_slow_reference(epsilon):
    X, y = rows()
    given = {"fit_intercept": True, "repair": "fm_code", "domain": DOMAIN, "random_state": 25}
    model = FunctionalMechanismRegressor(epsilon, **given)
    attributes, target = scaled_by_hand(X, y, "box")
    Z = [[*row, 1.0] for row in attributes.tolist()]  # the bias column counts
    scale, rng = (2 * 4**2 + 4 * 4) / epsilon, np.random.default_rng(model.seed())

    def noise():
        return rng.laplace(0, scale) if scale else 0.0

    M = [[sum(z[i] * z[j] for z in Z) + noise() for j in range(4)] for i in range(4)]
    b = [-2 * sum(z[i] * t for z, t in zip(Z, target, strict=True)) + noise() for i in range(4)]
    M = (np.array(M) + np.array(M).T) / 2 + 5 * math.sqrt(2) * scale * np.eye(4)
    values, vectors = np.linalg.eigh(M)
    w = np.zeros(4)
    for value, vector in zip(values, vectors.T, strict=True):
        if value > 1e-8:
            w -= vector * (vector @ b) / (2 * value)
    np.testing.assert_allclose(model.fit(X, y).coef_, w, rtol=1e-8)
    assert model.privacy_.ledger.epsilon == epsilon


def test_the_published_code_drops_eigenvalues_below_a_fixed_number():
    M, b = np.diag([1.0, 2e-8, 0.5e-8]), np.ones(3)
    assert minimise_objective(M, b, "fm_code", 0.0).tolist() == [-0.5, -2.5e7, 0]
    assert minimise_objective(M, b, "ridge+trim", 0.0)[2] == -1e8


# Sensitivity, by brute force.


def parts_of(z, y):
    """The coefficients of one record, straight from (y - zᵀw)²."""
    return np.outer(z, z).ravel(), -2 * y * z


def moved(one, other):
    """How far a pair of records, or a record and none, moves the quadratic, the linear and all coefficients in L1."""
    (g, h), (g0, h0) = parts_of(*one), parts_of(*other) if other else (0.0, 0.0)
    quadratic, linear = np.abs(g - g0).sum(), np.abs(h - h0).sum()
    return np.array([quadratic, linear, quadratic + linear])


def largest_move(p, degree, n_random, replaced):
    """Largest L1 moves over random records and all corners of {-1, 0, 1}^p with targets -1, 0, 1."""
    rng = np.random.default_rng(13)
    expansion = PolynomialFeatures(degree, include_bias=False)
    corners = [np.array(corner, dtype=float) for corner in itertools.product((-1, 0, 1), repeat=p)]
    corners = [(expansion.fit_transform([x])[0], y) for x in corners for y in (-1.0, 0.0, 1.0)]
    anywhere = expansion.transform(rng.uniform(-1, 1, (n_random, p)))
    records = corners + [(z, y) for z, y in zip(anywhere, rng.uniform(-1, 1, n_random), strict=True)]
    if replaced:
        pairs = itertools.chain(
            itertools.combinations(corners, 2),
            ((records[i], records[j]) for i, j in rng.integers(0, len(records), (3000, 2))),
        )
    else:
        pairs = ((record, None) for record in records)
    return np.max([moved(*pair) for pair in pairs], axis=0)


@pytest.mark.parametrize(("p", "degree"), [(1, 1), (2, 1), (3, 1), (4, 1), (2, 2), (3, 2), (2, 3)])
def test_no_neighbour_moves_the_coefficients_by_more_than_is_said(p, degree):
    """What is attained: d², 4d and, together, (d + 1)² at degree 1 by replacing, d², 2d and d² + 2d by adding.

    So the printed Δ covers replacing nearly twice over and adding twice.
    """
    d = count_monomials(p, degree)
    printed = np.array([2 * d**2, 4 * d, SENSITIVITIES["coefficients"](d)])
    replaced, added = largest_move(p, degree, 300, replaced=True), largest_move(p, degree, 300, replaced=False)
    assert (replaced <= printed).all() and (added <= printed / 2).all()
    np.testing.assert_allclose(added, printed / 2)
    assert replaced[1] == 4 * d
    if degree == 1:
        np.testing.assert_allclose(replaced, [d**2, 4 * d, (d + 1) ** 2])
    assert part_sensitivities(d) == (printed[0], printed[1])


@scalings
def test_replacing_a_row_of_a_table_moves_its_objective_within_delta(scaling):
    """End to end, with rows at the corners of the declared box and far beyond it."""
    rng = np.random.default_rng(14)
    X, y = rows(20)
    model = FunctionalMechanismRegressor(degree=2, scaling=scaling, fit_intercept=True, domain=DOMAIN)
    d, before = 10, model.summarise(X, y).objective
    for _ in range(50):
        stranger = X.copy()
        stranger.loc[7] = [rng.choice([-1e9, -2, 2, 6, 1e9]), rng.choice([0, 100, 101]), rng.choice(GRADES)]
        target = np.where(np.arange(20) == 7, rng.choice([-1e9, -50, 50, 150]), y)
        after = model.summarise(stranger, target).objective
        assert np.abs(after.M - before.M).sum() <= 2 * d**2 + 1e-9
        assert np.abs(after.b - before.b).sum() <= 4 * d + 1e-9


SPLITS = [
    FunctionalMechanismRegressor(0.8, degree=2),
    DPCRegressor(0.8, degree=2, gamma=0.1, sensitive=["b"]),
    DPCRegressor(0.8, degree=2, gamma=0.5, fit_intercept=True),
    DPBARegressor(0.8, degree=2),
    DPBARegressor(0.8, degree=2, beta="value1"),
    DPBARegressor(0.8, degree=2, beta=None, share=0.1),
    DiffLRRegressor(0.8),
]


@pytest.mark.parametrize("model", SPLITS, ids=lambda model: type(model).__name__)
def test_no_neighbour_costs_more_than_epsilon(model):
    """Σ |change| / scale is at most ε for a record replaced, and exactly ε/2 for one added, at a corner."""
    design = Design(DOMAIN, model.degree, "box", bool(model.fit_intercept))
    quadratic, linear, ledger = model._printed_budget(design)
    rng, d = np.random.default_rng(26), len(design.monomials)
    corners = np.array(list(itertools.product((-2, 2, 6), (100, 100.5, 101), (0, 1.5, 3))))
    anywhere = rng.uniform((-2, 100, 0), (6, 101, 3), (300, 3))
    records = np.vstack([corners, anywhere])
    numbers = Domain((*DOMAIN.features[:2], Continuous("grade", 0, 3)), DOMAIN.target)
    (block,) = Design(numbers, model.degree, "box", bool(model.fit_intercept)).blocks(numbers.rows(records))
    parts = []
    for z in block.T:
        for y in (-1.0, 1.0, rng.uniform(-1, 1)):
            M, b = np.outer(z, z) * quadratic.epsilon / quadratic.sensitivity, -2 * y * z
            parts.append(np.concatenate([M.ravel(), b * linear.epsilon / linear.sensitivity]))
    parts = np.array(parts)
    added = np.abs(parts).sum(axis=1).max()
    replaced = max(np.abs(parts - part).sum(axis=1).max() for part in parts[: 3 * len(corners)])
    assert added == pytest.approx(0.4, rel=1e-12)
    assert 0.4 <= replaced <= 0.8 * (1 + 1e-12)
    assert ledger.epsilon == pytest.approx(0.8, rel=1e-12)
    assert len(parts[0]) == d**2 + d


RAW = [
    FunctionalMechanismRegressor(0.8, degree=2),
    FunctionalMechanismRegressor(0.8, degree=2, sensitivity="with_constant"),
    DPCRegressor(0.8, degree=2, gamma=0.1, sensitive=["b"]),
    DPBARegressor(0.8, degree=2),
]


@pytest.mark.parametrize("model", RAW, ids=lambda model: type(model).__name__)
def test_the_account_of_a_target_in_its_own_unit_is_what_a_record_can_cost(model):
    """Σ |change| / scale for the record at the corner whose target is 150, the largest: added, and half of replaced."""
    X, y = rows()
    model = clone(model).set_params(target_scaling="none", domain=DOMAIN)
    quadratic, linear, ledger = model._printed_budget(model.design(DOMAIN))
    changes = np.array([1.0, 2 * 150.0])
    shares = [
        np.broadcast_to(noise.epsilon / noise.sensitivity, shape) for noise, shape in ((quadratic, (9, 9)), (linear, 9))
    ]
    added = sum(change * share.sum() for change, share in zip(changes, shares, strict=True))
    is_short = getattr(model, "sensitivity", "") == "with_constant"  # 198 of its Δ = 200 are drawn for
    assert ledger.epsilon_under(ADDED_OR_REMOVED) == pytest.approx(added, rel=1e-2 if is_short else 1e-12)
    assert ledger.epsilon_under(REPLACED) == pytest.approx(2 * added, rel=1e-2 if is_short else 1e-12)
    assert ledger.epsilon_under(ADDED_OR_REMOVED) >= added * (1 - 1e-12)
    privacy = model.fit(X, y).privacy_
    assert privacy.accounted_epsilon > 5 * 0.8 and not privacy.keeps_claim
    assert [fault.name for fault in privacy.faults] == ["target in its own unit"]
    with pytest.raises(ReleaseError, match="target in its own unit"):
        model.release()
    with pytest.raises(ParameterError, match="target_scaling='none' is a reading of the text"):
        model.set_params(variant="sound", **({"sensitivity": "coefficients"} if is_short else {})).fit(X, y)


@scalings
def test_a_target_in_its_own_unit_is_fitted_as_it_is(scaling):
    X, y = rows()
    model = DPBARegressor(math.inf, scaling=scaling, target_scaling="none", domain=DOMAIN).fit(X, y)
    Z, _ = scaled_by_hand(X, y, scaling)
    expected = LinearRegression(fit_intercept=False).fit(Z, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.predict(X), expected.predict(Z), rtol=1e-8)


def test_the_noise_on_a_target_in_its_own_unit_is_that_on_a_scaled_one():
    X, y = rows()
    given = {"degree": 2, "repair": "none", "domain": DOMAIN, "random_state": 42}
    model = FunctionalMechanismRegressor(0.5, target_scaling="none", **given)
    exact = model.summarise(X, y).objective
    scale = np.full((9, 9), 198 / 0.5)
    M, b = released_slowly(exact, scale, scale[0], np.random.default_rng(model.seed()))
    np.testing.assert_allclose(model.fit(X, y).coef_, np.linalg.solve(np.array(M), b) / -2, rtol=1e-8)
    scaled = FunctionalMechanismRegressor(0.5, **given).fit(X, y)
    assert scaled.noise_scales_ == model.noise_scales_


# The minimum.


def indefinite(d, seed):
    A = np.random.default_rng(seed).normal(size=(d, d))
    return (A + A.T) / 2, np.random.default_rng(seed + 1).normal(size=d)


@pytest.mark.parametrize("seed", range(5))
def test_ridge_adds_four_standard_deviations_to_the_diagonal(seed):
    M, b = indefinite(6, seed)
    ridge = 4 * math.sqrt(2) * 0.37 * np.eye(6)
    np.testing.assert_allclose(minimise_objective(M, b, "ridge", 0.37), np.linalg.solve(2 * (M + ridge), -b), rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("repair", ["trim", "ridge+trim"])
def test_trim_minimises_in_the_span_of_positive_eigenvalues(seed, repair):
    M, b = indefinite(6, seed)
    repaired = M + (4 * math.sqrt(2) * 0.2 * np.eye(6) if "ridge" in repair else 0)
    values, vectors = np.linalg.eigh(repaired)
    V = vectors[:, values > 0]
    assert 0 < V.shape[1] < 6, "an example that has something to trim"
    w = minimise_objective(M, b, repair, 0.2)
    np.testing.assert_allclose(w, V @ np.linalg.solve(2 * V.T @ repaired @ V, -V.T @ b), rtol=1e-9)
    np.testing.assert_allclose(w, V @ (V.T @ w), atol=1e-12)
    lowest = b @ w + w @ repaired @ w
    for step in 0.1 * np.random.default_rng(seed).normal(size=(50, V.shape[1])):
        other = w + V @ step
        assert b @ other + other @ repaired @ other >= lowest


@pytest.mark.parametrize("seed", range(5))
def test_without_repair_the_gradient_vanishes(seed):
    M, b = indefinite(6, seed)
    np.testing.assert_allclose(2 * M @ minimise_objective(M, b, "none", 0.37), -b, atol=1e-9)


@every_repair
def test_a_singular_objective_gives_the_shortest_least_squares_weights(repair):
    rng = np.random.default_rng(15)
    Z, y = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 7)), rng.normal(size=30)
    shortest = np.linalg.lstsq(Z, y, rcond=1e-9)[0]
    np.testing.assert_allclose(minimise_objective(Z.T @ Z, -2 * Z.T @ y, repair, 0.0), shortest, atol=1e-9)


@pytest.mark.parametrize("unit", [1e-30, 1e30])
@pytest.mark.parametrize("repair", ["none", "ridge", "trim", "ridge+trim"])
def test_the_unit_of_the_objective_does_not_matter(unit, repair):
    M, b = indefinite(6, 1)
    M[0], M[:, 0] = 0, 0  # a direction of eigenvalue zero
    expected = minimise_objective(M, b, repair, 0.2)
    np.testing.assert_allclose(minimise_objective(unit * M, unit * b, repair, 0.2 * unit), expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_tikhonov_is_the_posterior_mean_of_weights_of_length_one(seed):
    """Of w ~ N(0, I/d), given 2Mw + b = e with e ~ N(0, v I), from the joint law of w and b; M has no noise left."""
    d, of_M, of_b = 5, 0.4, 1.1
    A = np.random.default_rng(seed).normal(size=(d, d))
    M, b = A @ A.T, np.random.default_rng(seed + 10).normal(size=d)
    v = 4 * 2 * of_M**2 + 2 * of_b**2
    expected = -2 * M / d @ np.linalg.solve(4 * M @ M / d + v * np.eye(d), b)
    np.testing.assert_allclose(minimise_objective(M, b, "tikhonov", of_M, of_b), expected, rtol=1e-9)
    M, b = indefinite(6, seed)
    values, vectors = np.linalg.eigh(M)
    weights = vectors.T @ minimise_objective(M, b, "tikhonov", 0.2)
    np.testing.assert_allclose(weights[values <= 0], 0, atol=1e-12)


def test_where_nothing_is_positive_the_weights_are_zero():
    assert minimise_objective(-np.eye(3), np.ones(3), "ridge+trim", 0.01).tolist() == [0, 0, 0]
    for repair in ("none", "ridge", "trim", "ridge+trim"):
        assert minimise_objective(np.zeros((3, 3)), np.zeros(3), repair, 0.0).tolist() == [0, 0, 0]


# Without noise: least squares.


@scalings
@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_without_noise_it_is_scikit_learns_least_squares(scaling, degree, fit_intercept):
    (X, y), (X_new, y_new) = rows(), rows(100, seed=1)
    expansion = PolynomialFeatures(degree, include_bias=False)
    attributes, target = scaled_by_hand(X, y, scaling)
    theirs = LinearRegression(fit_intercept=fit_intercept).fit(expansion.fit_transform(attributes), target)
    expected = theirs.predict(expansion.transform(scaled_by_hand(X_new, y_new, scaling)[0]))
    expected = -50 + 200 * ((expected + 1) / 2 if scaling in ("box", "signed_ball") else expected)
    parameters = {"scaling": scaling, "fit_intercept": fit_intercept, "domain": DOMAIN}
    models = [FunctionalMechanismRegressor(math.inf, degree=degree, **parameters)]
    models += [cls(math.inf, degree=degree, **parameters) for cls in (DPCRegressor, DPBARegressor)]
    models += [DiffLRRegressor(math.inf, **parameters)] if degree == 1 else []
    for model in models:
        predicted = model.fit(X, y).predict(X_new)
        np.testing.assert_allclose(predicted, expected, atol=1e-6)
        assert model.score(X_new, y_new) == pytest.approx(r2_score(y_new, expected), abs=1e-6)
        weights = np.append(theirs.coef_, [theirs.intercept_] * fit_intercept)
        np.testing.assert_allclose(model.coef_, weights, rtol=1e-6, atol=1e-8)


def test_more_budget_comes_closer_to_least_squares():
    X, y = rows(2000)
    exact = FunctionalMechanismRegressor(math.inf, degree=2, domain=DOMAIN).fit(X, y).coef_
    distances = []
    for epsilon in (1, 1e3, 1e6, 1e9):
        parameters = {"degree": 2, "domain": DOMAIN, "random_state": 16}
        distances.append(np.abs(FunctionalMechanismRegressor(epsilon, **parameters).fit(X, y).coef_ - exact).max())
    assert distances == sorted(distances, reverse=True) and distances[-1] < 1e-4


# Tables with hardly anything in them.


def demand(n_rows=60, n_columns=12):
    rng = np.random.default_rng(17)
    domain = Domain([Continuous(f"x{i}", 0, 500) for i in range(n_columns)], Continuous("y", 0, 1000))
    X = pd.DataFrame(rng.uniform(0, 300, (n_rows, n_columns)), columns=domain.names)
    return domain, X, X.to_numpy()[:, :3].sum(axis=1)


@every_class
@pytest.mark.parametrize("epsilon", [1e-100, 0.1, 1.0, math.inf])
@every_repair
def test_small_tables_do_no_harm(cls, epsilon, repair):
    domain, X, y = demand()
    tables = {
        "60 rows, 12 columns": (X, y),
        "a constant column": (X.assign(x3=250.0), y),
        "a column at its middle": (X.assign(x3=250.0, x4=250.0), y),
        "two columns alike": (X.assign(x3=X["x4"]), y),
        "fewer rows than monomials": (X[:5], y[:5]),
        "one row": (X[:1], y[:1]),
        "a constant target": (X, np.full(60, 500.0)),
    }
    for name, (X, y) in tables.items():
        model = cls(epsilon, repair=repair, domain=domain, random_state=18).fit(X, y)
        predicted = model.predict(X)
        assert np.isfinite(predicted).all(), name
        if math.isinf(epsilon) and name == "fewer rows than monomials":
            np.testing.assert_allclose(predicted, y, atol=1e-6)


@pytest.mark.parametrize("n_rows", [5, 60])
def test_of_many_least_squares_weights_the_shortest_are_taken(n_rows):
    domain, X, y = demand(n_rows)
    X = X.assign(x3=X["x4"], x5=250.0)
    model = FunctionalMechanismRegressor(math.inf, degree=2, domain=domain).fit(X, y)
    Z = PolynomialFeatures(2, include_bias=False).fit_transform(X.to_numpy() / 250 - 1)
    shortest = np.linalg.lstsq(Z, y / 500 - 1, rcond=1e-9)[0]
    np.testing.assert_allclose(model.coef_, shortest, atol=1e-6)
    np.testing.assert_allclose(model.predict(X), 500 * (Z @ shortest + 1), atol=1e-5)


def test_a_single_category_is_a_column_without_width():
    domain = Domain((Nominal("only", ("a",)), Continuous("x", 0, 1)), Continuous("y", 0, 1))
    X = pd.DataFrame({"only": ["a"] * 5, "x": [0, 0.25, 0.5, 0.75, 1]})
    for scaling in SCALINGS:
        model = FunctionalMechanismRegressor(math.inf, scaling=scaling, domain=domain).fit(X, X["x"])
        # without an intercept a target in [-1, 1] has its middle where the attribute is 0
        slope = np.linalg.lstsq(X[["x"]], 2 * X["x"] - 1)[0][0]
        expected = (slope * X["x"] + 1) / 2 if scaling == "signed_ball" else X["x"]
        np.testing.assert_allclose(model.predict(X), expected, atol=1e-9)


# What the estimators tell.


@every_class
def test_the_account_keeps_claim_for_a_record_replaced(cls):
    X, y = rows()
    privacy = cls(0.7, domain=DOMAIN).fit(X, y).privacy_
    assert privacy.keeps_claim and not privacy.faults
    assert privacy.claimed_epsilon == 0.7 and privacy.accounted_epsilon == pytest.approx(0.7, rel=1e-12)
    assert privacy.neighbours == "one record replaced"
    assert not cls(math.inf, domain=DOMAIN).fit(X, y).privacy_.keeps_claim
    with pytest.warns(PrivacyLeakWarning):
        inferred = cls(0.7).fit(matrix_of(X), y).privacy_
    assert not inferred.keeps_claim and math.isinf(inferred.accounted_epsilon)


def test_budgets_of_their_own_are_booked_one_after_the_other():
    ledger = DiffLRRegressor(2.0, domain=DOMAIN).fit(*rows()).privacy_.ledger
    assert isinstance(ledger, Sequential)
    assert [part.purpose for part in ledger.parts] == ["quadratic coefficients", "linear coefficients"]
    assert Privacy.under(DOMAIN, 1.0, ledger).neighbours == "one record added or removed"


def test_monomials_are_named_after_the_columns():
    model = FunctionalMechanismRegressor(degree=2, fit_intercept=True, domain=DOMAIN).fit(*rows())
    assert model.monomials_ == ["a", "b", "grade", "a²", "a·b", "a·grade", "b²", "b·grade", "grade²", "1"]
    assert model.coef_.shape == (10,) and model.n_features_in_ == 3


def test_a_summary_fits_any_budget_and_any_algorithm_of_its_design():
    X, y = rows()
    X.loc[0, "a"] = 1e6
    given = {"domain": DOMAIN, "random_state": 20}
    summary = FunctionalMechanismRegressor(domain=DOMAIN).summarise(X, y)
    before = summary.objective.M.copy(), summary.objective.b.copy()
    for epsilon in (0.1, 10.0, math.inf):
        for cls in CLASSES:
            whole, reused = cls(epsilon, **given).fit(X, y), cls(epsilon, **given).fit_summary(summary)
            assert (whole.coef_ == reused.coef_).all() and whole.privacy_ == reused.privacy_
            assert vars(whole).keys() == vars(reused).keys() and reused.clipped_ == {"a": 1}
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert (whole.predict(X) == reused.predict(X)).all()
    assert all(map(np.array_equal, before, summary.objective))


def test_a_summary_of_unnamed_columns_forgets_the_names_of_a_former_fit():
    X, y = rows()
    model = FunctionalMechanismRegressor(domain=DOMAIN).fit(X, y)
    unnamed = FunctionalMechanismRegressor(domain=DOMAIN).summarise(X.to_numpy(dtype=object), y)
    assert hasattr(model, "feature_names_in_") and not hasattr(model.fit_summary(unnamed), "feature_names_in_")


def test_a_summary_of_something_else_is_refused():
    X, y = rows()
    summary = FunctionalMechanismRegressor(domain=DOMAIN).summarise(X, y)
    others = [{"degree": 2}, {"scaling": "ball"}, {"fit_intercept": True}, {"target_scaling": "none"}]
    others += [{"domain": Domain(DOMAIN.features, Continuous("y", 0, 1))}]
    for other in others:
        with pytest.raises(ParameterError, match="the summary was made with another"):
            FunctionalMechanismRegressor(**({"domain": DOMAIN} | other)).fit_summary(summary)


def test_a_summary_with_an_inferred_domain_stays_unsound():
    X, y = rows()
    with pytest.warns(PrivacyLeakWarning):
        summary = FunctionalMechanismRegressor().summarise(matrix_of(X), y)
    assert not FunctionalMechanismRegressor().fit_summary(summary).privacy_.keeps_claim


@pytest.mark.filterwarnings("ignore::algorithms.PrivacyLeakWarning")
@parametrize_with_checks([FunctionalMechanismRegressor(math.inf, degree=2)])
def test_the_contract_of_scikit_learn_holds_for_polynomials_too(estimator, check):
    check(estimator)
