"""What every private estimator keeps, in the manner of scikit-learn's ``check_estimator``: also for one of your own.

scikit-learn's checks are about its contract for estimators; these are about privacy: the domain, the account, the seed,
bad rows, what leaves. Both go together: an estimator of this package passes both.
"""

from __future__ import annotations

import json
import math
import pickle
import re
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import find_spec

import numpy as np
import pandas as pd
from sklearn.base import clone, is_regressor
from sklearn.utils import get_tags

from algorithms.accounting.events import ADDED_OR_REMOVED, RELATIONS, REPLACED
from algorithms.accounting.privacy import Privacy
from algorithms.base import PrivateEstimator
from algorithms.encoding.cells import DomainError
from algorithms.encoding.domain import Domain, PrivacyLeakWarning
from algorithms.encoding.features import Continuous, Nominal
from algorithms.parameters import ParameterError
from algorithms.released.document import ReleaseError, from_json

FEATURES = (Continuous("age", 0, 100), Nominal("sex", ("f", "m")), Nominal("job", ("a", "b", "c", "never seen")))
CLASSES = Nominal("rich", ("no", "very", "yes"))
TWO_CLASSES = Nominal("rich", ("no", "yes"))
AMOUNTS = Continuous("wealth", 0, 160)
"""The public domain of the tables of all checks; ``very`` and ``never seen`` are in none of their rows."""

BAD_CELLS = {
    "an unknown category": ("job", "d", r"column 'job' has values outside its declared categories: \['d'\]"),
    "a missing number": ("age", math.nan, r"column 'age' has 1 missing values \(NaN\)"),
    "a missing category": ("sex", None, "column 'sex'"),
    "text for a number": ("age", "old", "column 'age' must be numeric"),
}
"""Column, value, and what must be said of it."""

NOT_LEARNT = ("clipped_", "feature_names_in_")
"""Attributes that say something of the rows that were given, beside the model."""


def check_private_estimator(estimator) -> None:
    """Check that an estimator keeps what is promised of all private estimators.

    Each check fits clones of it, with small public tables, in some seconds all together. The estimator has at least the
    parameters ``domain`` and ``random_state``, and ``privacy_`` after a fit, as those that derive from
    ``algorithms.base.PrivateClassifier`` or ``PrivateRegressor``.

    Parameters
    ----------
    estimator : PrivateEstimator
        The estimator, with the parameters to be checked; it is not fitted. A domain of its own is not used.

    Raises
    ------
    AssertionError
        If it does not keep one: the message says which, and how.

    Examples
    --------
    >>> from algorithms import ThriftyBayesClassifier
    >>> check_private_estimator(ThriftyBayesClassifier())
    """
    for check in list_private_checks(estimator):
        try:
            check(estimator)
        except Exception as error:
            raise AssertionError(f"{type(estimator).__name__}: {check.__name__}: {error}") from error


def parametrize_with_private_checks(estimators: Iterable):
    """Decorate a test with the parameters ``estimator`` and ``check``, as scikit-learn's ``parametrize_with_checks``.

    Parameters
    ----------
    estimators : iterable of PrivateEstimator
        The estimators to be checked, each as for `check_private_estimator`.

    Returns
    -------
    pytest.MarkDecorator

    Examples
    --------
    >>> from algorithms import RDTClassifier
    >>> @parametrize_with_private_checks([RDTClassifier(max_depth=2)])
    ... def test_it_is_a_private_estimator(estimator, check):
    ...     check(estimator)
    """
    import pytest  # whoever installs the package to use it has none

    cases = [(estimator, check) for estimator in estimators for check in list_private_checks(estimator)]
    names = [f"{name_estimator(estimator)}-{check.__name__}" for estimator, check in cases]
    return pytest.mark.parametrize(("estimator", "check"), cases, ids=names)


def list_private_checks(estimator) -> list[Callable]:
    """Return the checks that are about an estimator: functions that take it and raise where it does not pass.

    Examples
    --------
    >>> from algorithms import DPCRegressor
    >>> [check.__name__ for check in list_private_checks(DPCRegressor())][:2]
    ['check_parameters_survive', 'check_bad_parameters_are_refused']
    """
    of_task = _OF_REGRESSORS if is_regressor(estimator) else _OF_CLASSIFIERS
    return [*_OF_ALL, *of_task]


def name_estimator(estimator) -> str:
    """Return the name of an estimator's class, and its variant where it has several.

    Examples
    --------
    >>> from algorithms import DPCRegressor, RDTClassifier
    >>> name_estimator(RDTClassifier()), name_estimator(DPCRegressor(variant="sound"))
    ('RDTClassifier', 'DPCRegressor-sound')
    """
    return "-".join(filter(None, [type(estimator).__name__, getattr(estimator, "variant", "")]))


# What the checks have in common.


def draw_table(n: int = 60, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return rows of ``FEATURES``, their class, and their amount: tables of n rows.

    Examples
    --------
    >>> X, labels, amounts = draw_table(3)
    >>> X.to_numpy().tolist(), labels.tolist(), amounts.tolist()
    ([[85, 'f', 'a'], [63, 'f', 'a'], [51, 'f', 'a']], ['yes', 'yes', 'yes'], [115.0, 93.0, 81.0])
    """
    X, labels, amounts = _draw_table(n, seed)
    return X.copy(), labels.copy(), amounts.copy()


@cache
def _draw_table(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, n)
    X = pd.DataFrame({"age": age, "sex": rng.choice(["f", "m"], n), "job": rng.choice(["a", "b", "c"], n)})
    amounts = np.array(age + 30.0 * (X["job"] == "a"))
    return X, np.where(amounts > 60, "yes", "no"), amounts


def draw_table_for(estimator, n: int = 60, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows and what an estimator is to predict of them: a class, or an amount."""
    X, labels, amounts = draw_table(n, seed)
    return X, amounts if is_regressor(estimator) else labels


def choose_domain(estimator) -> Domain:
    """Return the public domain of the tables that are drawn for an estimator."""
    if is_regressor(estimator):
        return Domain(FEATURES, AMOUNTS)
    return Domain(FEATURES, CLASSES if get_tags(estimator).classifier_tags.multi_class else TWO_CLASSES)


def has_parameters(estimator, *names: str) -> bool:
    """Tell whether the constructor of an estimator has all of some parameters."""
    return set(names) <= set(estimator.get_params(deep=False))


def make_small(estimator, **parameters):
    """Return a clone with a public domain, a seed, much budget and few trees, where it has any, and other parameters.

    Parameters that it does not have are left out.
    """
    usual = {"epsilon": 50.0, "n_estimators": 4, "domain": choose_domain(estimator), "random_state": 3} | parameters
    known = estimator.get_params(deep=False)
    return clone(estimator).set_params(**{name: value for name, value in usual.items() if name in known})


def fingerprint_model(model) -> bytes:
    """Return all that was learnt from the rows, by the parts of a model, too, but for counts of clipped values."""
    learnt = {name: value for name, value in vars(model).items() if name.endswith("_") and name not in NOT_LEARNT}
    parts = {name: fingerprint_model(value) for name, value in learnt.items() if isinstance(value, PrivateEstimator)}
    return pickle.dumps(learnt | parts)


def _assert_same(model, other, why: str) -> None:
    assert fingerprint_model(model) == fingerprint_model(other), why


def _assert_refused(error: type[Exception], message: str, call: Callable, *args) -> None:
    """Assert that a call raises an error, in one line that begins with what matches a regular expression."""
    try:
        call(*args)
    except error as raised:
        assert re.search(message, str(raised)), f"expected an error that says {message!r}, got: {raised}"
        assert "\n" not in str(raised), f"an error has one line, got: {raised}"
        return
    raise AssertionError(f"expected a {error.__name__} that says {message!r}, got none")


def _fit_warned(estimator, X, y):
    """Fit an estimator, and assert that it warns of a domain that is not public."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = estimator.fit(X, y)
    said = [str(warning.message) for warning in caught if issubclass(warning.category, PrivacyLeakWarning)]
    assert any("not private" in text for text in said), "a domain that is inferred from the rows warns of that"
    return model


# Parameters.


def check_parameters_survive(estimator) -> None:
    """A clone and a pickle have the parameters, and nothing that was learnt goes with a clone."""
    given = make_small(estimator)
    for copy in (clone(given), pickle.loads(pickle.dumps(given))):
        assert repr(copy.get_params()) == repr(given.get_params()), "a copy has the same parameters"
    model = given.fit(*draw_table_for(estimator))
    assert not hasattr(clone(model), "privacy_"), "a clone has learnt nothing"
    assert has_parameters(estimator, "domain", "random_state"), "the domain and the seed are parameters"


def check_bad_parameters_are_refused(estimator) -> None:
    """Each parameter refuses what cannot be one, by name, in one line, before anything is learnt."""
    X, y = draw_table_for(estimator)
    for name in set(estimator.get_params(deep=False)) - {"domain", "random_state"}:
        _assert_refused(ParameterError, rf"^{name} must be ", make_small(estimator, **{name: object()}).fit, X, y)


# The seed.


def check_seed_decides_model(estimator) -> None:
    """The same seed gives the same model, whatever the number of threads, and another seed another one."""
    X, y = draw_table_for(estimator)
    model = make_small(estimator).fit(X, y)
    _assert_same(make_small(estimator).fit(X, y), model, "the same seed gives the same model")
    if has_parameters(estimator, "n_jobs"):
        _assert_same(make_small(estimator, n_jobs=2).fit(X, y), model, "two threads give the model of one")
    other = make_small(estimator, random_state=4).fit(X, y)
    assert fingerprint_model(other) != fingerprint_model(model), "another seed gives another model"


def check_model_without_noise(estimator) -> None:
    """At epsilon = inf nothing is claimed; where noise is all that is random, every seed gives the same model."""
    if not has_parameters(estimator, "epsilon"):
        return
    X, y = draw_table_for(estimator)
    models = [make_small(estimator, epsilon=math.inf, random_state=seed).fit(X, y) for seed in (3, 4)]
    privacy = models[0].privacy_
    assert math.isinf(privacy.accounted_epsilon) and not privacy.keeps_claim, "without noise there is no promise"
    if estimator.draws_only_noise:
        _assert_same(*models, "without noise the seed decides nothing, as draws_only_noise says")
    if has_parameters(estimator, "noise"):
        quiet = make_small(estimator, epsilon=math.inf, noise="opendp").fit(X, y)
        assert np.array_equal(quiet.predict(X), models[0].predict(X)), "without noise, nobody draws it"


# The rows.


def check_names_of_columns_count(estimator) -> None:
    """Columns of a frame are found by their names, in any order; those of an array by their places."""
    X, y = draw_table_for(estimator)
    model = make_small(estimator).fit(X, y)
    _assert_same(make_small(estimator).fit(X[X.columns[::-1]], y), model, "columns are found by their names")
    _assert_same(make_small(estimator).fit(X.to_numpy(), y), model, "an array gives the model of its frame")


def check_rows_stay_as_they_are(estimator) -> None:
    """The rows of the caller are not changed, clipped values among them."""
    X, y = draw_table_for(estimator)
    X.loc[0, "age"] = 1000
    before = X.copy(), y.copy()
    make_small(estimator).fit(X, y).predict(X)
    assert X.equals(before[0]) and (y == before[1]).all(), "fit and predict leave the rows of the caller alone"


def check_numbers_are_clipped(estimator) -> None:
    """Values beyond the declared bounds are taken for the bound, and counted."""
    X, y = draw_table_for(estimator)
    X.loc[[0, 1, 2], "age"] = [-5, 1000, 100]
    inside = X.assign(age=X["age"].clip(0, 100))
    model = make_small(estimator).fit(X, y)
    assert model.clipped_ == {"age": 2}, "two values lie beyond the bounds"
    _assert_same(make_small(estimator).fit(inside, y), model, "a value beyond a bound counts as the bound")
    assert (model.predict(X) == model.predict(inside)).all(), "the same holds for rows to predict"


def check_bad_cells_are_refused(estimator) -> None:
    """A cell that the domain does not know, a missing one too, is an error at fit and predict, in one line."""
    X, y = draw_table_for(estimator)
    model = make_small(estimator).fit(X, y)
    for column, value, message in BAD_CELLS.values():
        bad = X.astype(object)
        bad.loc[7, column] = value
        _assert_refused(DomainError, message, make_small(estimator).fit, bad, y)
        _assert_refused(DomainError, message, model.predict, bad)


def check_categories_never_seen(estimator) -> None:
    """A declared category is known, whether or not some row had it."""
    X, y = draw_table_for(estimator)
    strangers = X.assign(job="never seen")
    assert len(make_small(estimator).fit(X, y).predict(strangers)) == len(X)


def check_one_row(estimator) -> None:
    """One row is a table, whatever the budget."""
    for epsilon in (0.1, 50.0, math.inf):
        model = make_small(estimator, epsilon=epsilon).fit(*draw_table_for(estimator, 1))
        assert len(model.predict(draw_table(5)[0])) == 5


# The account.


def check_account(estimator) -> None:
    """The account says what is claimed, spent and not covered; its ledger adds up, and a way through JSON keeps it."""
    X, y = draw_table_for(estimator)
    privacy = make_small(estimator, epsilon=2.5).fit(X, y).privacy_
    claims = has_parameters(estimator, "epsilon")
    assert privacy.claimed_epsilon == (2.5 if claims else math.inf), "the claim is epsilon"
    assert privacy.faults or claims, "what claims no epsilon says why"
    assert privacy.accounted_epsilon > 0
    assert privacy.accounted_epsilon == privacy.ledger.epsilon_under(privacy.neighbours), "the ledger adds up"
    added, replaced = map(privacy.accounted, (ADDED_OR_REMOVED, REPLACED))
    assert added <= 2 * replaced and (replaced <= 2 * added * (1 + 1e-12)), "to replace is to remove and to add"
    costs_more = privacy.accounted_epsilon > privacy.claimed_epsilon * (1 + 1e-9)
    assert privacy.faults or not costs_more, "what costs more than is claimed says why"
    assert privacy.keeps_claim == (not privacy.faults), "it keeps its claim, or says why not"
    assert not privacy.is_sound, "a seed decides the noise, which is for experiments"
    assert privacy.keeps_claim or getattr(estimator, "variant", "") != "sound", "a sound variant keeps its claim"
    assert all(fault.name and fault.why and fault.source for fault in privacy.faults)
    assert all(f"fault: {fault.name}: {fault.why} ({fault.source})" in str(privacy) for fault in privacy.faults)
    data = json.loads(json.dumps(privacy.as_dict(), allow_nan=False))
    assert Privacy.from_dict(data) == privacy, "an account is written and read without loss"
    assert {relation: float(data["accounted"][relation]) for relation in RELATIONS} == {
        ADDED_OR_REMOVED: added,
        REPLACED: replaced,
    }


def check_accounts_are_not_mixed(estimator) -> None:
    """A second fit starts a new ledger, a pickle keeps its own."""
    X, y = draw_table_for(estimator)
    model = make_small(estimator).fit(X, y)
    booked = model.privacy_.ledger
    assert model.fit(X, y).privacy_.ledger == booked, "a second fit starts a new ledger"
    if has_parameters(estimator, "epsilon"):
        model.set_params(epsilon=1.0).fit(X, y)
        assert model.privacy_.claimed_epsilon == 1.0 and model.privacy_.ledger != booked, "another budget is booked"
    copy = pickle.loads(pickle.dumps(model))
    assert copy.privacy_ == model.privacy_ and (copy.predict(X) == model.predict(X)).all(), "a pickle is the model"


def check_missing_domain(estimator) -> None:
    """Without a domain one is inferred, with a warning, and nothing is private; with one nothing warns."""
    X, y = draw_table_for(estimator)
    model = _fit_warned(make_small(estimator, domain=None), X, y)
    assert math.isinf(model.privacy_.accounted_epsilon) and not model.privacy_.keeps_claim
    assert "inferred domain" in {fault.name for fault in model.privacy_.faults}
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyLeakWarning)
        model.set_params(domain=choose_domain(estimator)).fit(X, y)
    assert "inferred domain" not in {fault.name for fault in model.privacy_.faults}


def check_release(estimator) -> None:
    """What is sound leaves, is read again and predicts as the model; what is not is refused, in one line.

    The noise of a release is OpenDP's: without it installed there is nothing to check.
    """
    X, y = draw_table_for(estimator)
    model = make_small(estimator).fit(X, y)
    _assert_refused(ReleaseError, "must not leave: ", model.release)  # a seed decides its noise
    if not has_parameters(estimator, "noise") or not find_spec("opendp"):
        return
    model = make_small(estimator, noise="opendp").fit(X, y)
    if not model.privacy_.is_sound:
        _assert_refused(ReleaseError, "must not leave: ", model.release)
        return
    release = from_json(model.release().to_json())
    predict = getattr(release, "predict", None)
    if predict and is_regressor(estimator):
        assert np.allclose(predict(X), model.predict(X), rtol=1e-9), "a release predicts as its model does"
    elif predict:
        assert np.array_equal(predict(X), model.predict(X)), "a release predicts as its model does"


# Classifiers.


def check_labels(estimator) -> None:
    """Predicted labels are declared ones; shares belong to the labels in their order and add up to one."""
    X, y = draw_table_for(estimator)
    domain = choose_domain(estimator)
    model = make_small(estimator).fit(X, y)
    assert model.classes_.tolist() == sorted(domain.target.categories), "classes_ are the declared labels, sorted"
    assert set(model.predict(X)) <= set(domain.target.categories)
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
        assert shares.shape == (len(X), len(model.classes_)) and np.allclose(shares.sum(axis=1), 1)
        assert (model.classes_[shares.argmax(axis=1)] == model.predict(X)).all(), "the largest share is predicted"
    turned = Domain(FEATURES, Nominal("rich", domain.target.categories[::-1]))
    assert (make_small(estimator, domain=turned).fit(X, y).predict(X) == model.predict(X)).all(), "in any order"


def check_bad_labels_are_refused(estimator) -> None:
    """A label that was not declared, and a domain without labels, are errors."""
    X, y = draw_table_for(estimator)
    unknown = np.where(np.arange(len(y)) == 5, "maybe", y)
    _assert_refused(DomainError, r"'rich' has values outside .*'maybe'", make_small(estimator).fit, X, unknown)
    for domain in (Domain(FEATURES), Domain(FEATURES, Continuous("rich", 0, 1)), "adult"):
        fit = make_small(estimator, domain=domain).fit
        _assert_refused(DomainError, "must declare its class labels", fit, X, y)


def check_one_class(estimator) -> None:
    """Rows that are all alike, of one class, are a table; without noise that class is predicted."""
    X = pd.DataFrame({"age": [50] * 20, "sex": ["f"] * 20, "job": ["a"] * 20})
    y = [choose_domain(estimator).target.categories[-1]] * 20
    for epsilon, n_trees in ((50.0, 4), (math.inf, 15)):
        given = {"epsilon": epsilon, "n_estimators": n_trees}
        model = make_small(estimator, **given).fit(X, y)
        assert math.isfinite(epsilon) or set(model.predict(X)) == set(y), "without noise there is one answer"
        assert len(_fit_warned(make_small(estimator, domain=None, **given), X, y).predict(X)) == 20


# Regressors.


def check_predicted_numbers(estimator) -> None:
    """Predictions are finite numbers, one for each row."""
    X, y = draw_table_for(estimator)
    predicted = make_small(estimator).fit(X, y).predict(X)
    assert predicted.shape == (len(X),) and predicted.dtype == np.float64 and np.isfinite(predicted).all()


def check_targets_are_clipped(estimator) -> None:
    """Targets beyond their declared bounds are taken for the bound, and counted."""
    X, y = draw_table_for(estimator)
    X.loc[3, "age"] = 101
    y[[0, 1, 2]] = [-5, 1000, 160]
    model = make_small(estimator).fit(X, y)
    assert model.clipped_ == {"age": 1, "wealth": 2}
    _assert_same(make_small(estimator).fit(X, y.clip(0, 160)), model, "a target beyond a bound counts as the bound")


def check_bad_targets_are_refused(estimator) -> None:
    """A target that is no number, and a domain without its bounds, are errors."""
    X, y = draw_table_for(estimator)
    for value, message in ((math.nan, r"has 1 missing values \(NaN\)"), ("rich", "must be numeric")):
        bad = y.astype(object)
        bad[7] = value
        _assert_refused(DomainError, f"column 'wealth' {message}", make_small(estimator).fit, X, bad)
    for domain in (Domain(FEATURES), Domain(FEATURES, CLASSES), "ccpp"):
        fit = make_small(estimator, domain=domain).fit
        _assert_refused(DomainError, "must declare the bounds of its target", fit, X, y)


def check_one_target(estimator) -> None:
    """Rows that are all alike, of one target, are a table, whatever the budget, and have one prediction."""
    X = pd.DataFrame({"age": [50] * 20, "sex": ["f"] * 20, "job": ["a"] * 20})
    y = np.full(20, 40.0)
    for epsilon in (0.1, 50.0, math.inf):
        predicted = make_small(estimator, epsilon=epsilon).fit(X, y).predict(X)
        assert np.isfinite(predicted).all() and len(set(predicted)) == 1
        assert len(_fit_warned(make_small(estimator, epsilon=epsilon, domain=None), X, y).predict(X)) == 20


_OF_ALL = (
    check_parameters_survive,
    check_bad_parameters_are_refused,
    check_seed_decides_model,
    check_model_without_noise,
    check_names_of_columns_count,
    check_rows_stay_as_they_are,
    check_numbers_are_clipped,
    check_bad_cells_are_refused,
    check_categories_never_seen,
    check_one_row,
    check_account,
    check_accounts_are_not_mixed,
    check_missing_domain,
    check_release,
)
_OF_CLASSIFIERS = (check_labels, check_bad_labels_are_refused, check_one_class)
_OF_REGRESSORS = (check_predicted_numbers, check_targets_are_clipped, check_bad_targets_are_refused, check_one_target)
