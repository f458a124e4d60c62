"""A fitted estimator predicts by what it was fitted with, whatever happens to it later: no old trees, no other rule.

Kernels take what they are given, so that trees under another domain were read, and votes written, beyond their ends.
"""

import hashlib
import math
import multiprocessing
import os
import pickle
import sys
from copy import copy
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

import algorithms
from algorithms import Continuous, Domain, Nominal, ParameterError, fitting
from algorithms.checks import fingerprint_model
from algorithms.data_replacement.c45 import C45Classifier
from algorithms.parameters import list_declared
from experiments.skeletons.algorithm import NoisyBayesClassifier
from tests.test_estimators import (
    DOMAIN,
    MAKERS,
    NUMBERS,
    ONE_OF_EACH,
    REGRESSORS,
    has,
    label,
    rows,
    rows_for,
)
from tests.test_estimators import (
    small as small_predictor,
)

SAMPLERS = [
    partial(cls)
    for cls in (algorithms.ParzenReplacement, algorithms.AdditiveGaussianNoise, algorithms.MarginalReplacement)
]


def small(make, **parameters):
    """A small estimator as in `test_estimators`, or a sampler, which predicts nothing."""
    if make not in SAMPLERS:
        return small_predictor(make, **parameters)
    wanted = {"epsilon": 50.0, "domain": DOMAIN, "random_state": 3} | parameters
    return make(**{name: value for name, value in wanted.items() if has(make, name)})


OWN = partial(NoisyBayesClassifier)  # what `new algorithm` writes
every_and_own = pytest.mark.parametrize("make", [*MAKERS, OWN], ids=label)
every_that_fits = pytest.mark.parametrize("make", [*MAKERS, OWN, *SAMPLERS], ids=label)

FEATURES = (Continuous("a", -1, 1), Nominal("b", tuple(range(9))), Continuous("c", 0, 1), Nominal("d", ("x", "y")))
WIDER = Domain((*FEATURES, Continuous("e", 0, 5)), Nominal("one of many", tuple(range(30))))
NARROWER = Domain((Nominal("b", tuple(range(9))),), Nominal("one of two", ("no", "other")))


def other_domain(make, domain):
    return Domain(domain.features, Continuous("amount", -5, 5)) if make in REGRESSORS else domain


def other_rows(make, domain, n=40):
    """Rows of another domain, and what is to be predicted there."""
    rng = np.random.default_rng(1)
    draws = {Continuous: lambda f: rng.uniform(f.lower, f.upper, n), Nominal: lambda f: rng.choice(f.categories, n)}
    X = np.array([draws[type(feature)](feature).astype(object) for feature in domain.features]).T
    return X, draws[type(domain.target)](domain.target)


def predict(model, X):
    """All that a model says of some rows."""
    names = ("predict", "predict_proba", "rows_to_descend")
    return {name: getattr(model, name)(X).tolist() for name in names if hasattr(model, name)}


# What is set after a fit.

OTHER_VALUES = {
    "epsilon": [0.5, math.inf],
    "n_estimators": [1, 1000],
    "max_depth": [1, 30],
    "max_features": [1, 3],
    "n_bins": [2, 3, 1000],
    "degree": [1, 3],
    "share": [0.5],
    "beta": [None, "value1", 4.0],
    "sensitive": [["sex"]],
    "domain": [None, WIDER, NARROWER, NUMBERS],
    "random_state": [None, 5, np.random.RandomState(1)],
    "n_jobs": [2, -1],
    "noise": ["numpy", "opendp"],
    "sampling": ["all", "disjoint", "bootstrap"],
    "sampling_ratio": [2.0, "cross_validated"],
}
"""Values that some estimators take; where choices are declared, these are taken instead."""

WILD = [None, -1, 10**7, math.nan, "wild", object(), [], np.arange(3)]


def list_values(make, name):
    declared = list_declared(make.func).get(name)
    choices = declared.limits.get("choices", ()) if declared else ()
    return [*choices, *OTHER_VALUES.get(name, [1, 0.25, True]), *WILD]


@every_and_own
def test_what_is_set_after_a_fit_changes_no_prediction(make):
    X, y = rows_for(make)
    model = small(make).fit(X, y)
    X = X.head(9)
    before, parameters = predict(model, X), model.get_params(deep=False)
    for name, given in parameters.items():
        for value in list_values(make, name):
            model.set_params(**{name: value})
            assert predict(model, X) == before, f"{name}={value!r}"
        model.set_params(**{name: given})
    model.set_params(**dict.fromkeys(parameters, math.nan))
    assert predict(model, X) == before == predict(pickle.loads(pickle.dumps(model)), X)


class Shift(fitting.FittedAtOnce):
    """Somebody's own estimator: each method that predicts returns what the parameter is as it reads it."""

    def __init__(self, shift=0):
        self.shift = shift

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X + self.shift

    predict_proba = predict_log_proba = decision_function = predict


@pytest.mark.parametrize("name", ["predict", "predict_proba", "predict_log_proba", "decision_function"])
def test_each_method_that_predicts_does_so_by_the_parameters_of_the_fit(name):
    with pytest.raises(NotFittedError):
        getattr(Shift(2), name)(1)
    assert getattr(Shift(2).fit(None, None).set_params(shift=5), name)(1) == 3


# Fits that fail.


def assert_not_fitted(model, X):
    assert not [name for name in vars(model) if name.endswith("_")]
    for name in ("predict", "predict_proba", "release"):
        if method := getattr(model, name, None):
            with pytest.raises(NotFittedError):
                method(*([] if name == "release" else [X]))


def fit(model, X, y):
    return model.fit_resample(X, y) if hasattr(model, "fit_resample") else model.fit(X, y)


def refusals(make, X, y):
    """What is refused when a parameter is checked, or the table, or one of its cells."""
    yield {"epsilon" if has(make, "epsilon") else "scale": -1}, X, y
    yield {}, X[:0], y[:0]
    yield {}, X[:, 1:], y
    yield {}, X, y[1:]
    yield {}, X, None
    yield {}, np.where(np.arange(X.size).reshape(X.shape) == X.shape[1] * 30, "strange", X), y
    yield {}, X, np.where(np.arange(len(y)) == 30, "strange", y.astype(object))


@every_that_fits
@pytest.mark.parametrize("other", [WIDER, NARROWER], ids=["wider", "narrower"])
def test_a_fit_that_is_refused_leaves_nothing(make, other):
    X, y = rows_for(make)
    fitted, domain = small(make), other_domain(make, other)
    fit(fitted, X, y)
    others, target = other_rows(make, domain)
    for given, *table in refusals(make, others, target):
        model = copy(fitted).set_params(**{"domain": domain, **given})
        with pytest.raises((ValueError, TypeError)):
            fit(model, *table)
        assert_not_fitted(model, X)
        assert not hasattr(model, "n_features_in_")
    if make.func.reads_numbers or other is WIDER:
        fit(model.set_params(**fitted.get_params() | {"domain": domain}), others, target)
        fit(fresh := small(make, domain=domain), others, target)
        assert fingerprint_model(model) == fingerprint_model(fresh)


def test_a_summary_of_other_rows_leaves_a_regression_as_it_is():
    make = next(make for make in REGRESSORS if make.func is algorithms.DPBARegressor)
    X, y = rows_for(make)
    model = small(make).fit(X, y)
    before, domain = fingerprint_model(model), other_domain(make, WIDER)
    summary = copy(model).set_params(domain=domain).summarise(*other_rows(make, domain))
    assert fingerprint_model(model) == before
    with pytest.raises(ParameterError, match="another domain"):
        model.fit_summary(summary)
    assert_not_fitted(model, X)


def test_a_forest_that_is_prepared_for_other_rows_is_fitted_no_more():
    X, y = rows()
    forest = small(partial(algorithms.EDPRFClassifier)).fit(X, y).set_params(domain=NARROWER)
    forest.prepare(*other_rows(algorithms.EDPRFClassifier, NARROWER))
    with pytest.raises(NotFittedError):
        forest.predict(other_rows(algorithms.EDPRFClassifier, NARROWER)[0])


def test_c45_forgets_its_tree_with_a_fit_that_fails():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    tree = C45Classifier().fit(X, y)
    with pytest.raises(ValueError):
        tree.fit(X[:, :1], np.linspace(0, 1, 20))
    assert_not_fitted(tree, X)


BY_THE_CLOCK = "call threads.end_with_the_others"  # kernels call it four times a second, in one fit and not in the next
OURS, FITTING = os.fspath(Path(algorithms.__file__).parent), fitting.__file__


@cache
def name_ours(file):
    """Return the module of a file of `algorithms`; nothing of another: they are asked for in each of many calls."""
    return Path(file).stem if file.startswith(OURS) else ""


class Places:
    """Where functions of `algorithms` begin while something runs, and where those of `fitting` end; may stop there."""

    def __init__(self, stop=None):
        self.found, self._stop = {}, stop

    def __enter__(self):
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def _note(self, frame, event, _):
        if event not in ("call", "return"):  # most are calls of functions in C
            return
        code = frame.f_code
        module = name_ours(code.co_filename)
        if module and (event == "call" or code.co_filename == FITTING):
            place = f"{event} {module}.{code.co_qualname}"
            if place == BY_THE_CLOCK:
                return
            self.found[place] = None
            if place == self._stop:
                raise KeyboardInterrupt(place)


@pytest.mark.long
@pytest.mark.parametrize("make", [*ONE_OF_EACH, OWN, *SAMPLERS], ids=label)
def test_a_fit_that_is_interrupted_at_any_place_leaves_nothing(make):
    """Or it leaves all of the former fit, where this one has not begun, or all of this one, where it has ended."""
    X, y = rows_for(make)
    flat = {"max_depth": 2} if has(make, "max_depth") else {}
    fitted, domain = small(make, n_estimators=2, **flat), other_domain(make, WIDER)
    fit(fitted, X, y)
    others, target = other_rows(make, domain, 12)
    for _ in range(2):  # what is asked for once is remembered
        with Places() as places:
            fit(complete := copy(fitted).set_params(domain=domain), others, target)
    states = fingerprint_model(fitted), fingerprint_model(complete)
    for place in places.found:
        model = copy(fitted).set_params(domain=domain)
        with pytest.raises(KeyboardInterrupt), Places(stop=place):
            fit(model, others, target)
        if " fitting." not in place or fingerprint_model(model) not in states:
            assert_not_fitted(model, X)
    assert len(places.found) > 30


# Noise of one's own.


def fit_without_seed(make):
    """A fingerprint of all that a fit without a seed gives."""
    fitted = fit(small(make, random_state=None, epsilon=1.0), *rows_for(make))
    return hashlib.sha256(pickle.dumps(fitted) if make in SAMPLERS else fingerprint_model(fitted)).hexdigest()


def fit_all(connection):
    """Send a fingerprint of every estimator, fitted without a seed."""
    found = {}
    for make in [*MAKERS, OWN, *SAMPLERS]:
        found[label(make)] = fit_without_seed(make)
    connection.send(found)


@pytest.fixture(scope="module")
def of_forks():
    """What three forked processes have fitted."""
    context = multiprocessing.get_context("fork")
    ends = [context.Pipe(duplex=False) for _ in range(3)]
    processes = [context.Process(target=fit_all, args=(sender,), daemon=True) for _, sender in ends]
    for process, (_, sender) in zip(processes, ends, strict=True):
        process.start()
        sender.close()  # so that a process that dies is the end of what comes, and is not waited for
    found = [receiver.recv() for receiver, _ in ends]
    for process in processes:
        process.join()
    return found


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork")
@every_that_fits
def test_without_a_seed_forked_processes_share_no_noise(make, of_forks):
    assert len({found[label(make)] for found in of_forks}) == 3


@every_that_fits
def test_without_a_seed_a_fit_does_not_follow_the_global_state(make):
    found = set()
    for _ in range(2):
        np.random.seed(0)  # noqa: NPY002 - as other code of a user may do
        found.add(fit_without_seed(make))
    assert len(found) == 2


@pytest.mark.parametrize("state", [np.random, check_random_state(None)], ids=["module", "state"])
def test_the_global_state_is_no_seed(state):
    with pytest.raises(ParameterError, match="numpy's global state, which forked processes share: None draws anew"):
        small(partial(algorithms.RDTClassifier), random_state=state).fit(*rows())
