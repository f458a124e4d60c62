"""Thrifty against its parts and their product by hand, what it spends, and that it takes what suits the classes."""

import json
import math

import numpy as np
import pytest

from algorithms import (
    Continuous,
    Domain,
    Nominal,
    ReleaseError,
    ThriftyBayesClassifier,
    ThriftyClassifier,
    ThriftyForestClassifier,
)
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.combined.thrifty_classifier import divide_budget
from algorithms.released.document import from_json
from algorithms.released.product import ReleasedProduct
from tests.made_up_releases import sealed
from tests.reference_trees import DOMAIN, N_CLASSES, SEED, TABLES, table

MANY, FEW = N_CLASSES, N_CLASSES + 1
"""Numbers of classes from which there are many: for the table of three classes, at once and not yet."""


def made(epsilon, many_classes=MANY, domain=DOMAIN, **parameters):
    return ThriftyClassifier(epsilon, many_classes=many_classes, domain=domain, random_state=SEED, **parameters)


@TABLES
@pytest.mark.parametrize("epsilon", [0.3, 8.0, math.inf])
def test_with_few_classes_it_is_the_thrifty_forest(seed, epsilon):
    X, y = table(seed)
    model = made(epsilon, FEW).fit(X, y)
    forest = ThriftyForestClassifier(epsilon, domain=DOMAIN, random_state=model.forest_.random_state).fit(X, y)
    assert model.bayes_ is None and model.privacy_ == forest.privacy_
    assert [tree.tobytes() for tree in model.forest_.trees_] == [tree.tobytes() for tree in forest.trees_]
    assert (model.predict_proba(X) == forest.predict_proba(X)).all() and (model.predict(X) == forest.predict(X)).all()


@TABLES
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_with_many_classes_and_little_budget_it_is_thrifty_bayes(seed, epsilon):
    X, y = table(seed)
    model = made(epsilon).fit(X, y)
    bayes = ThriftyBayesClassifier(epsilon, domain=DOMAIN, random_state=model.bayes_.random_state).fit(X, y)
    assert model.forest_ is None and model.privacy_ == bayes.privacy_
    assert (model.predict_proba(X) == bayes.predict_proba(X)).all() and (model.predict(X) == bayes.predict(X)).all()


@TABLES
@pytest.mark.parametrize("epsilon", [1.2, 2.0, 30.0])
def test_with_more_budget_both_are_multiplied(seed, epsilon):
    X, y = table(seed, n=300)
    model = made(epsilon).fit(X, y)
    forest, bayes = model.forest_.predict_proba(X), model.bayes_.predict_proba(X)
    sizes = np.exp(model.bayes_.log_sizes_)
    for row, shares in enumerate(model.predict_proba(X)):
        products = [forest[row, c] * (bayes[row, c] / sizes[c]) ** min(1 / epsilon, 1) for c in range(N_CLASSES)]
        assert shares == pytest.approx([product / sum(products) for product in products], rel=1e-9)
        assert model.classes_[np.argmax(shares)] == model.predict(X[row : row + 1])[0]
    assert (forest > 0).all() and (forest.max(axis=1) < 1).all(), "a tree that votes alone would rule out classes"


def test_without_noise_more_budget_leaves_naive_bayes_behind():
    assert divide_budget(math.inf, 10, 6) == (0.0, math.inf, 0.0)
    weights = [divide_budget(epsilon, 10, 6).weight for epsilon in (0.1, 1.0, 2.0, 10.0, 100.0)]
    assert weights == [1.0, 1.0, 0.5, 0.1, 0.01]


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 1.0000001, 1.7, 3.3, 7.77, 100.0, 12345.6])
def test_the_parts_spend_the_budget(epsilon):
    X, y = table(0)
    parts = divide_budget(epsilon, N_CLASSES, MANY)
    assert parts.bayes_epsilon + parts.forest_epsilon == pytest.approx(epsilon, rel=1e-12)
    model = made(epsilon).fit(X, y)
    spent = sum(part.privacy_.accounted_epsilon for part in (model.bayes_, model.forest_) if part is not None)
    assert model.privacy_.accounted(ADDED_OR_REMOVED) == pytest.approx(spent) == pytest.approx(epsilon, rel=1e-12)
    assert model.privacy_.accounted(REPLACED) == pytest.approx(2 * epsilon, rel=1e-12)
    assert model.privacy_.keeps_claim and not model.privacy_.faults


def test_declared_classes_decide_and_not_those_of_the_rows():
    X, y = table(0)
    of_one = np.full(len(y), y[0])
    assert made(2.0).fit(X, of_one).bayes_ is not None and made(2.0, FEW).fit(X, y).bayes_ is None


@pytest.mark.parametrize(("fitted", "later"), [(0.5, 50.0), (2.0, 50.0), (50.0, 0.5)])
@pytest.mark.parametrize("many_classes", [MANY, FEW])
def test_a_fitted_model_predicts_alike_whatever_its_parameters_are_set_to(fitted, later, many_classes):
    X, y = table(0)
    model = made(fitted, many_classes).fit(X, y)
    before = model.predict_proba(X)
    for part in filter(None, (model, model.bayes_, model.forest_)):
        part.set_params(epsilon=later)
    assert (model.predict_proba(X) == before).all()


def test_parts_have_seeds_of_their_own():
    X, y = table(0)
    model, again, other = made(2.0).fit(X, y), made(2.0).fit(X, y), made(2.0).set_params(random_state=1).fit(X, y)
    assert model.bayes_.random_state != model.forest_.random_state
    assert (model.predict_proba(X) == again.predict_proba(X)).all()
    assert (model.predict_proba(X) != other.predict_proba(X)).any()


@pytest.mark.parametrize(("epsilon", "kind"), [(0.5, "naive_bayes"), (2.0, "product"), (40.0, "product")])
def test_what_leaves_predicts_what_the_model_predicts(epsilon, kind):
    pytest.importorskip("opendp")
    X, y = table(1, n=300)
    model = made(epsilon, noise="opendp").set_params(random_state=None).fit(X, y)
    assert model.bayes_.random_state is None, "32 bits of a seed could be tried"
    left = model.release()
    assert kind == left.KIND and left.origin.privacy == model.privacy_.as_dict()
    for release in (left, from_json(left.to_json())):
        np.testing.assert_allclose(release.predict_proba(X), model.predict_proba(X), rtol=1e-9)
        assert (release.predict(X) == model.predict(X)).all()


def test_a_release_that_cannot_predict_is_refused():
    pytest.importorskip("opendp")
    X, y = table(1, n=300)
    left = made(2.0, noise="opendp").set_params(random_state=None).fit(X, y).release()
    text, weight = left.to_json(), f'"weight": {left.weight}'
    assert isinstance(from_json(text), ReleasedProduct) and text.count(weight) == 1
    for broken in (text.replace(weight, '"weight": 7.0'), text.replace('"counts"', '"votes"')):
        with pytest.raises(ReleaseError, match=r"this release is damaged: contents\.(weight|forest)"):
            from_json(sealed(json.loads(broken)))


def test_values_beyond_the_bounds_are_counted_once():
    X, y = table(0)
    X = np.array(X, dtype=float)
    X[0, 0] = 1e9
    alone = ThriftyBayesClassifier(0.5, domain=DOMAIN, random_state=0).fit(X, y).clipped_
    assert made(2.0).fit(X, y).clipped_ == alone and sum(alone.values()) == 1


# What it is good for.


def draw_signals(rng, n):
    """Twelve classes, of each of which four columns say a little, each by itself: nothing for a tree."""
    y = rng.integers(0, 12, n)
    said = [y * (j + 1) % 12 for j in range(4)]
    return np.column_stack([np.where(rng.random(n) < 0.6, each, rng.integers(0, 12, n)) for each in said]), y


def draw_interactions(rng, n):
    """Nine classes that only two columns together decide: nothing for naive Bayes."""
    X = rng.integers(0, 3, (n, 4))
    return X, (X[:, 0] + X[:, 1]) % 3 * 3 + (X[:, 2] + X[:, 3]) % 3


def mean_accuracy(estimator, draw, epsilon):
    found = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = draw(rng, 4000)
        columns = [Nominal(f"x{j}", tuple(range(int(X.max()) + 1))) for j in range(4)]
        domain = Domain(tuple(columns), Nominal("y", tuple(range(int(y.max()) + 1))))
        model = estimator(epsilon, domain=domain, random_state=seed).fit(X[:3000], y[:3000])
        found.append((model.predict(X[3000:]) == y[3000:]).mean())
    return np.mean(found)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_it_learns_many_classes_that_a_tree_does_not(epsilon):
    forest = mean_accuracy(ThriftyForestClassifier, draw_signals, epsilon)
    assert mean_accuracy(ThriftyClassifier, draw_signals, epsilon) > forest + 0.05


def test_it_learns_with_more_budget_what_naive_bayes_does_not():
    assert mean_accuracy(ThriftyBayesClassifier, draw_interactions, 10.0) < 0.5
    assert mean_accuracy(ThriftyClassifier, draw_interactions, 10.0) > 0.9


def test_a_target_of_numbers_is_refused():
    with pytest.raises(ValueError, match="must declare its class labels"):
        made(1.0, domain=Domain(DOMAIN.features, Continuous("y", 0, 1))).fit(*table(0))
