"""What every estimator of ``algorithms`` keeps: scikit-learn's contract, that of private estimators, clear errors.

The estimators are those of ``algorithms`` that a file of ``conf/algorithm`` names: a new one is tested here without a
line being added.
"""

import math
import pickle
import threading
from functools import cache, partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from joblib import cpu_count
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import algorithms
from algorithms import Continuous, Domain, DomainError, Nominal, ParameterError, parametrize_with_private_checks
from algorithms.checks import (
    AMOUNTS,
    CLASSES,
    FEATURES,
    choose_domain,
    draw_table,
    draw_table_for,
    fingerprint_model,
    has_parameters,
    make_small,
)
from algorithms.combined import thrifty_regressor
from algorithms.forests import thrifty_forest
from algorithms.forests.engine.tree import BY_VALUE
from algorithms.forests.forest import PrivateForest, TwoVariants
from algorithms.parameters import LEAST_EPSILON, MOST_EPSILON, list_readings
from experiments.config import estimators

DOMAIN, NUMBERS = Domain(FEATURES, CLASSES), Domain(FEATURES, AMOUNTS)

OURS = {path for path in map(estimators.find_target, estimators.list_algorithms()) if path.startswith("algorithms.")}
MAKERS = [partial(cls, **given) for cls in map(estimators.import_class, sorted(OURS)) for given in cls.list_variants()]
"""Every estimator class, in every variant that it has."""
CLASSIFIERS = [make for make in MAKERS if is_classifier(make())]
REGRESSORS = [make for make in MAKERS if is_regressor(make())]
FORESTS = [make for make in MAKERS if isinstance(make(), PrivateForest)]
SEE_NUMBERS = [make for make in MAKERS if make.func.reads_numbers]
"""The others refuse a table that has no other columns, such as those of scikit-learn's checks."""
ONE_OF_EACH = list({make.func: make for make in MAKERS}.values())
"""One variant of each class, the sound one: tables are read, and scikit-learn's contract is kept, by the class's code.

That each variant keeps seeds, pickles, rows and accounts is what the contract of private estimators says of it."""


def has(make, *parameters):
    return has_parameters(make(), *parameters)


def label(make):
    return "-".join([make.func.__name__, *make.keywords.values()])


def rows(n=60, seed=0):
    """Rows and their class."""
    return draw_table(n, seed)[:2]


def rows_for(make, n=60, seed=0):
    """Rows and what the estimator is to predict, a class or a number."""
    return draw_table_for(make(), n, seed)


def small(make, **parameters):
    """An estimator with the parameters given, those that it has, and small ones for the rest."""
    return make_small(make(), **parameters)


SOUND_REGRESSIONS = [make for make in REGRESSORS if has(make, "repair") and make.keywords["variant"] == "sound"]

every = pytest.mark.parametrize("make", MAKERS, ids=label)
every_class = pytest.mark.parametrize("make", ONE_OF_EACH, ids=label)
every_classifier = pytest.mark.parametrize("make", CLASSIFIERS, ids=label)
every_regressor = pytest.mark.parametrize("make", REGRESSORS, ids=label)
every_forest = pytest.mark.parametrize("make", FORESTS, ids=label)
every_many = pytest.mark.parametrize("make", [m for m in FORESTS if has(m, "n_estimators")], ids=label)
every_sound = pytest.mark.parametrize(
    "make", [m for m in MAKERS if m.keywords.get("variant") == "sound" and has(m, "sampling")], ids=label
)
"""The sound variants that choose how rows are sampled."""


def is_two_variants(make):
    """Whether it is the sound one of the forests that share the rules of ``TwoVariants``; eDPRF has its own."""
    return make.keywords.get("variant") == "sound" and issubclass(make.func, TwoVariants)


@pytest.mark.filterwarnings("ignore::algorithms.PrivacyLeakWarning")
@parametrize_with_checks([make() for make in ONE_OF_EACH if make in SEE_NUMBERS])
def test_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@parametrize_with_private_checks([make() for make in MAKERS])
def test_the_contract_of_private_estimators(estimator, check):
    check(estimator)


def test_every_estimator_that_is_offered_has_a_file():
    assert {estimators.import_class(path) for path in OURS} >= set(algorithms.all_estimators()) and len(MAKERS) >= 38


@every
def test_a_model_can_be_cross_validated_and_keeps_its_account(make):
    X, y = rows_for(make)
    model = small(make).fit(X, y)
    booked = model.privacy_
    assert len(cross_val_score(model, X, y, cv=3, error_score="raise")) == 3 and model.privacy_ == booked


@pytest.mark.parametrize("make", [make for make in FORESTS if make in SEE_NUMBERS], ids=label)
def test_without_noise_something_is_learnt(make):
    model = small(make, epsilon=math.inf, n_estimators=15, max_depth=8).fit(*rows_for(make, 2000))
    assert model.score(*rows_for(make, 200, seed=1)) > 0.85


@every_many
def test_every_tree_has_random_numbers_of_its_own(make):
    trees = small(make, epsilon=1.0).fit(*rows_for(make)).trees_
    assert len({pickle.dumps(tree) for tree in trees}) == 4


@every_many
def test_a_million_threads_are_one_for_each_tree_and_core_at_most(make, monkeypatch):
    X, y = rows_for(make)
    expected, begun = fingerprint_model(small(make).fit(X, y)), []
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda thread: begun.append(thread) or start(thread))
    assert fingerprint_model(small(make, n_jobs=10**6).fit(X, y)) == expected
    assert len(begun) <= 2 * (min(cpu_count(), 4) - 1)  # for columns, then for trees, beside this one


@every_many
def test_no_two_of_many_trees_draw_alike(make, monkeypatch):
    """By the first number that each draws; what is grown is the first tree, again and again."""
    bind, drawn = make.func._bind_grower, []

    def bind_recording(self, table):
        grow, grown = bind(self, table), []

        def record_and_grow(table, rows, rng):
            drawn.append(rng.random())
            grown[:] = grown or [grow(table, rows, rng)]
            return grown[0]

        return record_and_grow

    monkeypatch.setattr(make.func, "_bind_grower", bind_recording)
    small(make, n_estimators=600).fit(*rows_for(make))
    assert len(set(drawn)) == len(drawn) == 600


class OfPolars:
    """What is used of a frame of polars."""

    def __init__(self, frame):
        self.columns, self._frame = list(frame.columns), frame

    def __len__(self):
        return len(self._frame)

    def __array__(self, dtype=None, copy=None):
        return self._frame.to_numpy()

    def get_column(self, name):
        return OfArrow.Column(self._frame[name])


class OfArrow:
    """What is used of a table of pyarrow, whose ``columns`` have no names."""

    class Column:
        def __init__(self, cells):
            self._cells = cells

        def __len__(self):
            return len(self._cells)

        def __array__(self, dtype=None, copy=None):
            return np.asarray(self._cells, dtype)

    def __init__(self, frame):
        self.column_names, self._frame = list(frame.columns), frame
        self.columns = [self.Column(frame[name]) for name in frame]

    def __len__(self):
        return len(self._frame)

    def column(self, name):
        return self.Column(self._frame[name])


CONTAINERS = {
    "polars": OfPolars,
    "polars in another order": lambda X: OfPolars(X[["job", "age", "sex"]]),
    "pyarrow": OfArrow,
    "pyarrow in another order": lambda X: OfArrow(X[["job", "age", "sex"]]),
    "nullable": lambda X: X.astype({"age": "Int64", "sex": "string", "job": "string"}),
    "nullable floats": lambda X: X.astype({"age": "Float64", "sex": "category", "job": object}),
    "categories": lambda X: X.astype("category"),
}


@cache
def fit_plain(make):
    """The model of rows in a frame, and of a target in an array."""
    return small(make).fit(*rows_for(make))


@every_class
@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_every_container_gives_the_model_of_the_plain_frame(make, container):
    X, y = rows_for(make)
    model, same = fit_plain(make), small(make).fit(container(X), list(y))
    assert fingerprint_model(same) == fingerprint_model(model)
    if hasattr(model, "predict"):
        assert same.predict(container(X)).tolist() == model.predict(X).tolist()


TARGETS = {
    "list": list,
    "polars": lambda y: OfArrow.Column(pd.Series(y)),
    "frame of polars": lambda y: OfPolars(pd.DataFrame({"y": y})),
    "nullable": lambda y: pd.Series(y).convert_dtypes(),
    "object": lambda y: pd.Series(y).astype(object),
}


@every_class
@pytest.mark.parametrize("container", TARGETS.values(), ids=TARGETS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_every_container_of_the_target_gives_the_same_model(make, container):
    X, y = rows_for(make)
    assert fingerprint_model(small(make).fit(X, container(y))) == fingerprint_model(fit_plain(make))


@every_class
@pytest.mark.filterwarnings("ignore::algorithms.PrivacyLeakWarning")
@pytest.mark.parametrize("container", ["polars", "pyarrow", "nullable"])
def test_a_domain_is_inferred_of_every_container_alike(make, container):
    X, y = rows_for(make)
    found = [small(make, domain=None).fit(table, y).domain_ for table in (X, CONTAINERS[container](X))]
    assert found[0] == found[1]


@pytest.mark.parametrize("make", [make for make in ONE_OF_EACH if make in CLASSIFIERS], ids=label)
@pytest.mark.filterwarnings("ignore::algorithms.PrivacyLeakWarning")
@pytest.mark.parametrize(("plain", "nullable"), [("int64", "Int64"), ("bool", "boolean"), ("float64", "Float64")])
def test_labels_of_a_nullable_column_are_those_of_a_plain_one(make, plain, nullable):
    X, y = rows_for(make)
    labels = pd.Series(y == "yes").astype(plain)
    models = [small(make, domain=None).fit(X, target) for target in (labels, labels.astype(nullable))]
    assert models[0].classes_.dtype == models[1].classes_.dtype == np.dtype(plain)
    assert models[0].predict(X).tolist() == models[1].predict(X).tolist()


def test_a_plan_of_a_table_is_refused():
    plan = SimpleNamespace(collect_schema=None, columns=["x"])
    with pytest.raises(TypeError, match=r"rows must be there: use X.collect\(\)"):
        DOMAIN.encode(plan)


@every_classifier
@pytest.mark.filterwarnings("ignore::algorithms.PrivacyLeakWarning")
def test_a_continuous_target_is_refused_by_a_classifier(make):
    X, _, amounts = draw_table()
    with pytest.raises(ValueError, match=r"^Unknown label type: continuous") as caught:
        small(make, domain=None).fit(X, amounts + 0.5)
    assert "\n" not in str(caught.value)
    with pytest.raises(DomainError, match=r"^column 'rich' has values outside its declared categories: .*'no', 'very'"):
        small(make).fit(X, amounts + 0.5)


# Regressors.


@every_regressor
@pytest.mark.filterwarnings("ignore::algorithms.PrivacyLeakWarning")
@pytest.mark.parametrize("container", [list, np.array, pd.Series, pd.Categorical])
def test_a_target_of_words_is_refused_by_a_regressor(make, container):
    X, y = rows()
    with pytest.raises(ValueError, match=r"needs a target of numbers, got \['no', 'yes'\]: use a classifier for class"):
        small(make, domain=None).fit(X, container(y))


@every_regressor
def test_predictions_are_in_the_unit_of_the_target(make):
    """In another unit, with bounds to fit, the same model predicts the same in that unit."""
    X, y = rows_for(make)
    predicted = small(make).fit(X, y).predict(X)
    assert predicted.shape == (60,) and predicted.dtype == np.float64 and np.isfinite(predicted).all()
    other = Domain(DOMAIN.features, Continuous("debt", -8 * 160, 0))
    assert small(make, domain=other).fit(X, 8 * (y - 160)).predict(X) == pytest.approx(8 * (predicted - 160))
    if make in FORESTS:
        assert ((predicted >= 0) & (predicted <= 160)).all()


# Parameters.

BAD_PARAMETERS = {
    "epsilon": [0, -1.0, math.nan, "1", None, 1e-320, 1e-300, 0.9e-100, 1.1e100, 1.7e308, 10**400],
    "n_estimators": [0, -3, 2.5, "many", None],
    "max_depth": [0, -1, 1.5, "deep", 31, True],
    "max_features": [0, 4, 1.5, "log2", True],
    "variant": ["papre", None],
    "criterion": ["ginni", 0],
    "stop_below": ["go"],
    "calls": ["three", None],
    "continuous": ["both"],
    "interval_weight": [1],
    "nominal_split": ["binary", None],
    "nominal_noise": ["laplace", None],
    "min_samples": [-1.0, math.nan, "few", True],
    "min_gini": [-0.1, 1.1, math.nan, "0", None],
    "votes": ["hard", None],
    "tree_budget": ["halved"],
    "level_budget": [""],
    "leaf": ["none", None],
    "count_share": ["hafl", 0.5, None],
    "levels": ["root", None],
    "share_of": ["tree", None],
    "gain_sensitivity": ["ln", None],
    "cut": ["values", None],
    "variance_sensitivity": [0, -1.0, math.nan, math.inf, "2", None, True],
    "error_threshold": [-0.01, math.nan, math.inf, "0", None, False],
    "author_code": ["yes", 1, None],
    "sampling": ["bootstraps"],
    "n_bins": [1, 2.0, None],
    "many_classes": [1, 2.5, "six", None, True],
    "degree": [0, -1, 1.5, "2", None, True],
    "scaling": ["boxes", None],
    "sensitivity": ["constant", 2.0],
    "target_scaling": ["own", None],
    "ridge": ["largest", None],
    "least_share": [0, 1e-17, -0.1, 0.6, math.nan, "small", None],
    "split": ["equal", None],
    "splits": ["histogram", None],
    "cuts": ["equal", None],
    "unwritten": ["one", None],
    "mechanism": ["laplace", None],
    "n_merged": [0, -5, 2.5, "five", None, True],
    "max_error": [0, -0.01, math.nan, math.inf, "1", None, True],
    "repair": ["trimmed", None, "trim+ridge"],
    "fit_intercept": ["yes", 1, None],
    "gamma": [0, -0.5, 1.01, math.nan, "half", None],
    "sensitive": [["salary"], [], (), "age", 1, [["age"]], [0]],
    "beta": [0, -1, 18.1, math.inf, "value4", None],
    "share": [0, 1, -0.5, math.nan, "best", True],
    "classifier": ["decision tree", "c4.5", None],
    "classifier_scale": ["standardised", 1],
    "sampling_ratio": [0.9, -1, math.nan, math.inf, "1.6", None, True],
    "bandwidth": [-0.1, math.nan, math.inf, "wide", None, True],
    "n_jobs": [0, 1.5, "two", True],
    "noise": ["gaussian", 1, None],
    "sigma": [-0.1, math.nan, math.inf, "wide", None, True],
    "scale": ["standardised", 1],
}


@every
def test_bad_parameters_are_named_in_one_line(make):
    X, y = rows_for(make)
    for name, values in BAD_PARAMETERS.items():
        for value in values if has(make, name) else ():
            if value is None and make().get_params()[name] is None:  # which chooses it
                continue
            with pytest.raises(ParameterError, match=rf"^{name} must be ") as caught:
                small(make, **{name: value}).fit(X, y)
            assert "\n" not in str(caught.value) and repr(value).strip("'") in str(caught.value)


@pytest.mark.parametrize(("given", "meant"), [("papre", "paper"), ("soud", "sound")])
def test_a_misspelt_choice_suggests_the_nearest(given, meant):
    with pytest.raises(ParameterError, match=f"did you mean '{meant}'"):
        small(algorithms.RFDPPGiniClassifier, variant=given).fit(*rows())


@every_sound
def test_the_sound_variant_refuses_the_bootstrap(make):
    with pytest.raises(ParameterError, match="sampling must be one of"):
        small(make, sampling="bootstrap").fit(*rows_for(make))


OTHER_READINGS = {
    algorithms.DiffPETsClassifier: {
        "leaf": "class_counts",
        "levels": "below_root",
        "share_of": "level",
        "criterion": "information_gain",
        "gain_sensitivity": "binary",
        "cut": "record",
    },
    algorithms.DiffPETsRegressor: {
        "leaf": "mean",
        "criterion": "mean",
        "variance_sensitivity": 1.0,
        "error_threshold": 0.1,
        "levels": "below_root",
        "share_of": "level",
        "cut": "record",
    },
    algorithms.DiffPRFsClassifier: {"stop_below": "zero"},
    algorithms.DiffPRFClassifier: {"stop_below": "zero", "author_code": True},
    algorithms.RFDPPGiniClassifier: {
        "continuous": "per_feature",
        "calls": "two",
        "criterion": "max",
        "nominal_split": "per_value",
        "nominal_noise": "counts",
        "interval_weight": "relative",
        "min_samples": 5.0,
        "min_gini": 0.1,
        "votes": "shares",
        "tree_budget": "whole",
        "level_budget": "whole",
        "leaf": "exact",
    },
    algorithms.PFDPDTClassifier: {"level_budget": "uniform", "count_share": "half"},
    algorithms.PrivaTreeClassifier: {"splits": "histograms", "cuts": "quantiles"},
    algorithms.BDPTClassifier: {"unwritten": "zero"},
    algorithms.DPGDFClassifier: {"mechanism": "exponential"},
    algorithms.EDPRFClassifier: {"level_budget": "uniform", "count_share": "by_class"},
    algorithms.FunctionalMechanismRegressor: {"sensitivity": "with_constant", "target_scaling": "none"},
    algorithms.DPCRegressor: {"ridge": "smaller", "target_scaling": "none"},
    algorithms.DPBARegressor: {"target_scaling": "none"},
}
NEEDED = {"count_share": {"leaf": "noisy_counts"}}
"""What else a reading needs, as it is about that."""


TWO_CLASSES = Domain(DOMAIN.features, Nominal("rich", ["no", "yes"]))


@pytest.mark.parametrize("cls", OTHER_READINGS)
def test_the_sound_variant_has_no_readings(cls):
    printed, sound = (m for m in MAKERS if m.func is cls)
    domain = TWO_CLASSES if printed in CLASSIFIERS else choose_domain(printed())
    assert set(OTHER_READINGS[cls]) == set(list_readings(cls))
    for name, value in OTHER_READINGS[cls].items():
        with pytest.raises(ParameterError, match=rf"^{name}=.* is a reading of the text; 'sound' has none, only .*$"):
            small(sound, domain=domain, **{name: value}).fit(*rows_for(sound))
        small(printed, domain=domain, **{name: value}, **NEEDED.get(name, {})).fit(*rows_for(printed))


@pytest.mark.parametrize("make", [m for m in MAKERS if is_two_variants(m)], ids=label)
def test_the_sound_variant_refuses_a_depth_at_which_every_node_is_too_many(make):
    with pytest.raises(ParameterError, match=r"^max_depth must be at most 16 .*got 17$"):
        small(make, max_depth=17).fit(*rows_for(make))


# Tables with hardly anything in them.


FLAT_FOREST = partial(algorithms.ThriftyForestRegressor, max_depth=2)
"""The part of a thrifty regressor that a large budget lets grow to 24 levels, which takes OpenDP's noise seconds."""


@pytest.mark.parametrize("make", [make for make in MAKERS if has(make, "epsilon")], ids=label)
@pytest.mark.parametrize("noise", ["numpy", "opendp"])
@pytest.mark.parametrize("epsilon", [LEAST_EPSILON, MOST_EPSILON])
def test_the_smallest_and_the_largest_budget_give_finite_predictions_or_one_line(make, noise, epsilon, monkeypatch):
    """Rows of a small budget are too many to draw, and OpenDP's noise of the maximum norm needs more."""
    monkeypatch.setattr(thrifty_forest, "MOST_TREES", 2)  # of a forest that is part of another estimator, too
    if noise == "opendp":
        monkeypatch.setattr(thrifty_regressor, "ThriftyForestRegressor", FLAT_FOREST)
    is_of_maximum = make in SOUND_REGRESSIONS or make.func is algorithms.ThriftyMeansClassifier
    is_drawn = make.func is algorithms.DPMarginalsClassifier or (is_of_maximum and noise == "opendp")
    flat = {"max_depth": 2} if has(make, "max_depth") else {}
    model, (X, y) = small(make, epsilon=epsilon, noise=noise, n_estimators=2, **flat), rows_for(make, 20)
    if is_drawn and epsilon < 1:
        with pytest.raises(ParameterError, match=r"^epsilon must be larger"):
            for _ in range(20):  # noise for releases has no seed, and where all of it is negative no rows are drawn
                model.fit(X, y)
        return
    model.fit(X, y)
    predicted = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)
    assert predicted.dtype.kind in "OU" or np.isfinite(predicted).all()


@every_classifier
def test_a_class_of_two_rows(make):
    X, y = rows()
    y = y.astype(object)
    y[[10, 20]] = "very"
    assert set(small(make).fit(X, y).predict(X)) <= {"no", "very", "yes"}


@every_many
def test_more_trees_than_rows(make):
    X, y = rows_for(make, 5)
    for sampling in ("disjoint", "all") if has(make, "sampling") else (None,):
        parameters = {"sampling": sampling} if sampling else {}
        model = small(make, n_estimators=12, **parameters).fit(X, y)
        assert len(model.trees_) == 12 and len(model.predict(X)) == 5


@every_sound
def test_nothing_but_declared_values_is_in_a_sound_model(make):
    """No cut is a value of the rows: it is one of a few public numbers, or drawn from the declared range."""
    X, y = rows_for(make)
    X = X.assign(age=X["age"] + 0.123)
    model = small(make, **({"n_bins": 4} if has(make, "n_bins") else {})).fit(X, y)
    for nodes in model.trees_:
        nodes = nodes[nodes["decides"] != BY_VALUE]  # which cut nowhere
        cuts = nodes["cut"][nodes["feature"] == 0]
        assert not set(cuts) & set(X["age"])
        assert set(cuts) <= {0.0, 1.0, 2.0} if model._n_bins() else ((cuts > 0) & (cuts < 100)).all()
        for feature, n_categories in ((1, 2), (2, 4)):
            assert set(nodes["cut"][nodes["feature"] == feature]) <= set(range(n_categories))


@every_sound
def test_a_record_changes_only_its_own_tree_where_trees_are_disjoint(make):
    """One record less: the other trees keep their rows, their random numbers and so every node."""
    X, y = rows_for(make)
    sharp = small(make, epsilon=math.inf, sampling="disjoint")
    more, fewer = sharp.fit(X, y).trees_, clone(sharp).fit(X.iloc[:-1], y[:-1]).trees_
    n_equal = sum(one.tobytes() == other.tobytes() for one, other in zip(more, fewer, strict=True))
    assert n_equal >= 3
