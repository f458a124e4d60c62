"""What every estimator of ``algorithms`` must keep: scikit-learn's contract, determinism, clear errors, honest privacy.

The estimators are those of ``algorithms`` that a file of ``conf/algorithm`` names: a new one is tested here without a
line being added.
"""

import functools
import inspect
import math
import pickle
import threading
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from joblib import cpu_count
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import algorithms
from algorithms import Continuous, Domain, DomainError, Nominal, ParameterError, PrivacyLeakWarning
from algorithms.base import PrivateEstimator
from algorithms.forests.engine.tree import BY_VALUE
from algorithms.forests.forest import PrivateForest, TwoVariants
from algorithms.parameters import LEAST_EPSILON, MOST_EPSILON, list_readings
from experiments.config import estimators

DOMAIN = Domain(
    (Continuous("age", 0, 100), Nominal("sex", ("f", "m")), Nominal("job", ("a", "b", "c", "never seen"))),
    Nominal("rich", ("no", "very", "yes")),
)
NUMBERS = Domain(DOMAIN.features, Continuous("wealth", 0, 160))
NAMES = DOMAIN.names


def found():
    """Every estimator class, in every variant that it has."""
    for path in sorted({estimators.find_target(name) for name in estimators.list_algorithms()}):
        if path.startswith("algorithms."):
            cls = estimators.import_class(path)
            if "variant" in inspect.signature(cls).parameters:
                yield from (functools.partial(cls, variant=variant) for variant in ("paper", "sound"))
            else:
                yield functools.partial(cls)


MAKERS = list(found())
CLASSIFIERS = [make for make in MAKERS if is_classifier(make())]
REGRESSORS = [make for make in MAKERS if is_regressor(make())]
FORESTS = [make for make in MAKERS if isinstance(make(), PrivateForest)]


NOMINAL_ALONE = (algorithms.DPGDFClassifier,)
"""They leave numbers out, and refuse a table that has no other columns, such as those of scikit-learn's checks."""
SEE_NUMBERS = [make for make in MAKERS if make.func not in NOMINAL_ALONE]


@functools.cache
def list_parameters(make):
    return frozenset(inspect.signature(make).parameters)


def has(make, *parameters):
    return list_parameters(make).issuperset(parameters)


def label(make):
    return "-".join([make.func.__name__, *make.keywords.values()])


SOUND_REGRESSIONS = [make for make in REGRESSORS if has(make, "repair") and make.keywords["variant"] == "sound"]

every = pytest.mark.parametrize("make", MAKERS, ids=label)
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


def rows(n=60, seed=0):
    """Rows and their class."""
    frame, y = draw_rows(n, seed)
    return frame.copy(), y.copy()


@functools.cache
def draw_rows(n, seed):
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, n)
    frame = pd.DataFrame({"age": age, "sex": rng.choice(["f", "m"], n), "job": rng.choice(["a", "b", "c"], n)})
    return frame, np.where(wealth(frame) > 60, "yes", "no")


def wealth(frame):
    return np.array(frame["age"] + 30.0 * (frame["job"] == "a"))


def rows_for(make, n=60, seed=0):
    """Rows and what the estimator is to predict, a class or a number."""
    X, y = rows(n, seed)
    return X, wealth(X) if make in REGRESSORS else y


def domain_for(make):
    return NUMBERS if make in REGRESSORS else DOMAIN


def small(make, **parameters):
    """An estimator with the parameters given, and small ones for the rest; ``n_trees`` where it has trees.

    What claims no epsilon goes without the one given.
    """
    trees = parameters.pop("n_trees", 4)
    if not has(make, "epsilon"):
        parameters.pop("epsilon", None)
    usual = {"epsilon": 50.0, "n_estimators": trees, "domain": domain_for(make), "random_state": 3}
    return make(**({name: value for name, value in usual.items() if has(make, name)} | parameters))


def fingerprint(model):
    """Everything learnt from the rows, also by the parts of a model, but for the counts of clipped values."""
    learnt = {name: value for name, value in vars(model).items() if name.endswith("_") and name not in DIAGNOSTIC}
    parts = {name: fingerprint(value) for name, value in learnt.items() if isinstance(value, PrivateEstimator)}
    return pickle.dumps(learnt | parts)


DIAGNOSTIC = ("clipped_", "feature_names_in_")


def test_there_is_something_to_test():
    assert len(CLASSIFIERS) >= 7 and len(REGRESSORS) >= 4
    assert len(CLASSIFIERS) + len(REGRESSORS) == len(MAKERS)


@pytest.mark.filterwarnings("ignore::algorithms.PrivacyLeakWarning")
@parametrize_with_checks([make() for make in SEE_NUMBERS])
def test_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@every_classifier
def test_labels_come_back_as_declared(make):
    X, y = rows()
    model = small(make).fit(X, y)
    assert model.classes_.tolist() == ["no", "very", "yes"]
    assert set(model.predict(X)) <= {"no", "very", "yes"}
    if not hasattr(model, "predict_proba"):
        return
    shares = model.predict_proba(X)
    assert shares.shape == (60, 3) and np.allclose(shares.sum(axis=1), 1)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(X)).all()


@pytest.mark.parametrize("make", [make for make in FORESTS if make in SEE_NUMBERS], ids=label)
def test_without_noise_something_is_learnt(make):
    model = small(make, epsilon=math.inf, n_trees=15, max_depth=8).fit(*rows_for(make, 2000))
    assert model.score(*rows_for(make, 200, seed=1)) > 0.85


@every_classifier
def test_the_order_of_the_declared_labels_changes_no_prediction(make):
    X, y = rows()
    turned = Domain(DOMAIN.features, Nominal("rich", DOMAIN.target.categories[::-1]))
    assert (small(make, domain=turned).fit(X, y).predict(X) == small(make).fit(X, y).predict(X)).all()


@every
def test_the_same_random_state_gives_the_same_model_whatever_the_number_of_threads(make):
    X, y = rows_for(make)
    first = fingerprint(small(make).fit(X, y))
    assert fingerprint(small(make).fit(X, y)) == first
    if has(make, "n_jobs"):
        assert fingerprint(small(make, n_jobs=2).fit(X, y)) == first
    assert fingerprint(small(make, random_state=4).fit(X, y)) != first


@every_many
def test_every_tree_has_random_numbers_of_its_own(make):
    trees = small(make, epsilon=1.0).fit(*rows_for(make)).trees_
    assert len({pickle.dumps(tree) for tree in trees}) == 4


@every_many
def test_a_million_threads_are_one_for_each_tree_and_core_at_most(make, monkeypatch):
    X, y = rows_for(make)
    expected, begun = fingerprint(small(make).fit(X, y)), []
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda thread: begun.append(thread) or start(thread))
    assert fingerprint(small(make, n_jobs=10**6).fit(X, y)) == expected
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
    small(make, n_trees=600).fit(*rows_for(make))
    assert len(set(drawn)) == len(drawn) == 600


@every
def test_the_order_and_number_of_other_columns_do_not_matter(make):
    X, y = rows_for(make)
    model = small(make).fit(X, y)
    assert fingerprint(small(make).fit(X[NAMES[::-1]], y)) == fingerprint(model)
    assert fingerprint(small(make).fit(X.to_numpy(), y)) == fingerprint(model)


@every
def test_the_rows_of_the_caller_stay_as_they_are(make):
    X, y = rows_for(make)
    X.loc[0, "age"] = 1000
    before = X.copy(), y.copy()
    small(make).fit(X, y).predict(X)
    pd.testing.assert_frame_equal(X, before[0])
    assert (y == before[1]).all()


@every
def test_budgets_are_neither_kept_nor_mixed(make):
    X, y = rows_for(make)
    model = small(make, epsilon=50.0).fit(X, y)
    booked = model.privacy_.ledger
    assert not hasattr(clone(model), "privacy_")
    assert model.fit(X, y).privacy_.ledger == booked, "a second fit starts a new ledger"
    if has(make, "epsilon"):
        model.set_params(epsilon=1.0).fit(X, y)
        assert model.privacy_.claimed_epsilon == 1.0 and model.privacy_.ledger != booked
    copy = pickle.loads(pickle.dumps(model))
    assert copy.privacy_ == model.privacy_
    assert (copy.predict(X) == model.predict(X)).all()
    assert len(cross_val_score(model, X, y, cv=3, error_score="raise")) == 3
    assert model.privacy_ == copy.privacy_


@every
def test_what_is_claimed_of_the_model(make):
    X, y = rows_for(make)
    privacy = small(make, epsilon=2.5).fit(X, y).privacy_
    assert privacy.claimed_epsilon == (2.5 if has(make, "epsilon") else math.inf)
    assert privacy.faults or has(make, "epsilon"), "what claims no epsilon must say why"
    assert privacy.neighbours
    assert privacy.accounted_epsilon > 0
    if make.keywords.get("variant") == "sound":
        assert privacy.keeps_claim and not privacy.faults
        assert privacy.accounted_epsilon <= 2.5 * (1 + 1e-12)
    if privacy.accounted_epsilon > 2.5 * (1 + 1e-9):
        assert privacy.faults, "what costs more than is claimed must say why"
    assert all(fault.name and fault.why and fault.source for fault in privacy.faults)
    assert all(f"fault: {fault.name}: {fault.why} ({fault.source})" in str(privacy) for fault in privacy.faults)


@every
def test_a_missing_domain_is_inferred_with_a_warning_and_never_private(make):
    X, y = rows_for(make)
    with pytest.warns(PrivacyLeakWarning, match="not private"):
        model = small(make, domain=None).fit(X, y)
    assert math.isinf(model.privacy_.accounted_epsilon) and not model.privacy_.keeps_claim
    assert "inferred domain" in {fault.name for fault in model.privacy_.faults}
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyLeakWarning)
        model = model.set_params(domain=domain_for(make)).fit(X, y)
    assert "inferred domain" not in {fault.name for fault in model.privacy_.faults}


@every
def test_a_declared_category_that_was_never_seen_is_predicted(make):
    X, y = rows_for(make)
    stranger = X.assign(job="never seen")
    assert len(small(make).fit(X, y).predict(stranger)) == len(X)


@every
def test_values_outside_the_bounds_are_clipped_and_counted(make):
    X, y = rows_for(make)
    X.loc[[0, 1, 2], "age"] = [-5, 1000, 100]
    model = small(make).fit(X, y)
    assert model.clipped_ == {"age": 2}
    inside = X.assign(age=X["age"].clip(0, 100))
    assert fingerprint(small(make).fit(inside, y)) == fingerprint(model)
    assert (model.predict(X) == model.predict(inside)).all()


BAD_VALUES = {
    "an unknown category": ("job", "d", r"column 'job' has values outside its declared categories: \['d'\]"),
    "a missing number": ("age", math.nan, r"column 'age' has 1 missing values \(NaN\)"),
    "a missing category": ("sex", None, "column 'sex'"),
    "text for a number": ("age", "old", "column 'age' must be numeric"),
}


@every
@pytest.mark.parametrize("column, value, message", BAD_VALUES.values(), ids=BAD_VALUES)
def test_bad_values_are_refused_at_fit_and_predict(make, column, value, message):
    X, y = rows_for(make)
    bad = X.astype(object)
    bad.loc[7, column] = value
    model = small(make).fit(X, y)
    for call in (lambda: small(make).fit(bad, y), lambda: model.predict(bad)):
        with pytest.raises(DomainError, match=message) as caught:
            call()
        assert "\n" not in str(caught.value)


@every_classifier
def test_a_label_outside_the_domain_is_refused(make):
    X, y = rows()
    with pytest.raises(DomainError, match=r"'rich' has values outside .*'maybe'"):
        small(make).fit(X, np.where(np.arange(len(y)) == 5, "maybe", y))


@every_classifier
@pytest.mark.parametrize(
    "domain", [Domain(DOMAIN.features), Domain(DOMAIN.features, Continuous("rich", 0, 1)), "adult"]
)
def test_a_domain_without_labels_is_refused(make, domain):
    with pytest.raises(DomainError, match="must declare its class labels"):
        small(make, domain=domain).fit(*rows())


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


@every
@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_every_container_gives_the_model_of_the_plain_frame(make, container):
    X, y = rows_for(make)
    model, same = small(make).fit(X, y), small(make).fit(container(X), list(y))
    assert fingerprint(same) == fingerprint(model)
    if hasattr(model, "predict"):
        assert same.predict(container(X)).tolist() == model.predict(X).tolist()


TARGETS = {
    "list": list,
    "polars": lambda y: OfArrow.Column(pd.Series(y)),
    "frame of polars": lambda y: OfPolars(pd.DataFrame({"y": y})),
    "nullable": lambda y: pd.Series(y).convert_dtypes(),
    "object": lambda y: pd.Series(y).astype(object),
}


@every
@pytest.mark.parametrize("container", TARGETS.values(), ids=TARGETS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_every_container_of_the_target_gives_the_same_model(make, container):
    X, y = rows_for(make)
    assert fingerprint(small(make).fit(X, container(y))) == fingerprint(small(make).fit(X, y))


@every
@pytest.mark.filterwarnings("ignore::algorithms.PrivacyLeakWarning")
@pytest.mark.parametrize("container", ["polars", "pyarrow", "nullable"])
def test_a_domain_is_inferred_of_every_container_alike(make, container):
    X, y = rows_for(make)
    found = [small(make, domain=None).fit(table, y).domain_ for table in (X, CONTAINERS[container](X))]
    assert found[0] == found[1]


@every_classifier
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
    X, _ = rows()
    with pytest.raises(ValueError, match=r"^Unknown label type: continuous") as caught:
        small(make, domain=None).fit(X, wealth(X) + 0.5)
    assert "\n" not in str(caught.value)
    with pytest.raises(DomainError, match=r"^column 'rich' has values outside its declared categories: .*'no', 'very'"):
        small(make).fit(X, wealth(X) + 0.5)


# Regressors.


@every_regressor
@pytest.mark.filterwarnings("ignore::algorithms.PrivacyLeakWarning")
@pytest.mark.parametrize("container", [list, np.array, pd.Series, pd.Categorical])
def test_a_target_of_words_is_refused_by_a_regressor(make, container):
    X, y = rows()
    with pytest.raises(ValueError, match=r"needs a target of numbers, got \['no', 'yes'\]: use a classifier for class"):
        small(make, domain=None).fit(X, container(y))


@every_regressor
@pytest.mark.parametrize("domain", [Domain(DOMAIN.features), DOMAIN, "ccpp"])
def test_a_domain_without_bounds_of_the_target_is_refused(make, domain):
    with pytest.raises(DomainError, match="must declare the bounds of its target"):
        small(make, domain=domain).fit(*rows_for(make))


@every_regressor
def test_targets_outside_the_bounds_are_clipped_and_counted(make):
    X, y = rows_for(make)
    X.loc[3, "age"] = 101
    y[[0, 1, 2]] = [-5, 1000, 160]
    model = small(make).fit(X, y)
    assert model.clipped_ == {"age": 1, "wealth": 2}
    assert fingerprint(small(make).fit(X, y.clip(0, 160))) == fingerprint(model)


@every_regressor
@pytest.mark.parametrize("value, message", [(math.nan, r"has 1 missing values \(NaN\)"), ("rich", "must be numeric")])
def test_a_target_that_is_no_number_is_refused(make, value, message):
    X, y = rows_for(make)
    bad = y.astype(object)
    bad[7] = value
    with pytest.raises(DomainError, match=f"column 'wealth' {message}"):
        small(make).fit(X, bad)


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
    domain = TWO_CLASSES if printed in CLASSIFIERS else domain_for(printed)
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


@every
@pytest.mark.parametrize("epsilon", [0.1, 50.0, math.inf])
def test_one_row(make, epsilon):
    model = small(make, epsilon=epsilon).fit(*rows_for(make, 1))
    assert len(model.predict(rows(5)[0])) == 5


@pytest.mark.parametrize("make", [make for make in MAKERS if has(make, "epsilon")], ids=label)
@pytest.mark.parametrize("noise", ["numpy", "opendp"])
@pytest.mark.parametrize("epsilon", [LEAST_EPSILON, MOST_EPSILON])
def test_the_smallest_and_the_largest_budget_give_finite_predictions_or_one_line(make, noise, epsilon):
    """Rows of a small budget are too many to draw, and OpenDP's noise of the maximum norm needs more."""
    is_drawn = make.func is algorithms.DPMarginalsClassifier or (make in SOUND_REGRESSIONS and noise == "opendp")
    flat = {"max_depth": 2} if has(make, "max_depth") else {}
    model, (X, y) = small(make, epsilon=epsilon, noise=noise, n_trees=2, **flat), rows_for(make, 20)
    if is_drawn and epsilon < 1:
        with pytest.raises(ParameterError, match=r"^epsilon must be larger"):
            for _ in range(20):  # noise for releases has no seed, and where all of it is negative no rows are drawn
                model.fit(X, y)
        return
    model.fit(X, y)
    predicted = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)
    assert predicted.dtype.kind in "OU" or np.isfinite(predicted).all()


@every_classifier
@pytest.mark.parametrize("epsilon", [50.0, math.inf])
def test_constant_columns_and_one_class_only(make, epsilon):
    X = pd.DataFrame({"age": [50] * 20, "sex": ["f"] * 20, "job": ["a"] * 20})
    model = small(make, epsilon=epsilon, n_trees=15 if math.isinf(epsilon) else 4).fit(X, ["very"] * 20)
    if math.isinf(epsilon):
        assert set(model.predict(X)) == {"very"}
    with pytest.warns(PrivacyLeakWarning):
        assert len(small(make, epsilon=epsilon, domain=None).fit(X, ["very"] * 20).predict(X)) == 20


@every_regressor
@pytest.mark.parametrize("epsilon", [0.1, 50.0, math.inf])
def test_constant_columns_and_one_target_only(make, epsilon):
    X = pd.DataFrame({"age": [50] * 20, "sex": ["f"] * 20, "job": ["a"] * 20})
    predicted = small(make, epsilon=epsilon).fit(X, np.full(20, 40.0)).predict(X)
    assert np.isfinite(predicted).all() and len(set(predicted)) == 1
    if make in FORESTS and math.isinf(epsilon):
        assert predicted == pytest.approx(40)
    with pytest.warns(PrivacyLeakWarning):
        assert len(small(make, epsilon=epsilon, domain=None).fit(X, np.full(20, 40.0)).predict(X)) == 20


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
