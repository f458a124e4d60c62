"""Thrifty against its parts and their product by hand, what it spends, and that it takes what suits the classes."""

import json
import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from algorithms import (
    Continuous,
    Domain,
    Nominal,
    ReleaseError,
    ThriftyBayesClassifier,
    ThriftyClassifier,
    ThriftyForestClassifier,
    ThriftyMeansClassifier,
    ThriftyPairsClassifier,
    ThriftyTreeClassifier,
)
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.combined import thrifty_classifier
from algorithms.combined.thrifty_classifier import WEIGHTS, choose_first, count_hits, divide_budget
from algorithms.forests.engine.predictor import find_leaves
from algorithms.released.document import from_json
from algorithms.released.product import ReleasedProduct, multiply_shares
from experiments.audit.laws import permute_and_flip_law
from tests.made_up_releases import sealed
from tests.reference_trees import DOMAIN, N_CLASSES, SEED, TABLES, table

MANY, FEW = N_CLASSES, N_CLASSES + 1
"""Numbers of classes from which there are many: for the table of three classes, at once and not yet."""

NUMBER, LIGHT, WORD = Continuous("x", 0, 1), Nominal("a", (0, 1)), Nominal("b", ("u", "v", "w"))
MEANS, PAIRS, BAYES = ThriftyMeansClassifier, ThriftyPairsClassifier, ThriftyBayesClassifier


def made(epsilon, many_classes=MANY, domain=DOMAIN, **parameters):
    return ThriftyClassifier(epsilon, many_classes=many_classes, domain=domain, random_state=SEED, **parameters)


# Tables whose columns are of one kind: what comes first then.

KINDS = {
    MEANS: Domain([Nominal(f"f{j}", (0, 1)) for j in range(6)], Nominal("y", range(N_CLASSES))),
    PAIRS: Domain([Nominal(f"f{j}", range(3)) for j in range(6)], Nominal("y", range(N_CLASSES))),
    BAYES: Domain([Nominal(f"f{j}", range(3)) for j in range(30)], Nominal("y", range(N_CLASSES))),
}
of_each_kind = pytest.mark.parametrize("first", KINDS, ids=lambda first: first.__name__)


def rows_of(first, seed=0, n=300):
    """Return rows of such a table, each of whose columns depends on the class."""
    rng, domain = np.random.default_rng(seed), KINDS[first]
    y = rng.choice(N_CLASSES, n, p=[0.5, 0.3, 0.2])
    sizes = [len(column.categories) for column in domain.features]
    X = [np.where(rng.random(n) < 0.5, (y + f) % v, rng.integers(v, size=n)) for f, v in enumerate(sizes)]
    return np.column_stack(X), y, domain


# What comes first, by what is public.


@pytest.mark.parametrize(
    ("columns", "n_classes", "epsilon", "first"),
    [
        ([LIGHT] * 7, 2, 1.0, None),  # too few classes
        ([WORD] * 7, 2, 1.0, None),
        ([WORD] * 7, 3, 1.0, PAIRS),  # half as many are many where no column is of numbers
        ([LIGHT] * 7, 3, 1.0, MEANS),
        ([NUMBER] * 60, 5, 1.0, None),
        ([*[WORD] * 6, NUMBER], 5, 0.1, None),
        ([NUMBER] * 7, 6, 0.249, BAYES),  # too little to spend for a forest
        ([NUMBER] * 7, 6, 0.25, None),
        ([LIGHT] * 7, 6, 1.0, MEANS),
        ([LIGHT] * 7, 6, 1e-3, MEANS),
        ([LIGHT] * 100, 6, 100.0, MEANS),
        ([LIGHT] * 7, 6, math.inf, None),
        ([Nominal("c", ("only",)), LIGHT], 6, 1.0, MEANS),
        ([NUMBER] * 44, 6, 1.0, None),
        ([NUMBER] * 45, 6, 1.0, MEANS),
        ([*[NUMBER] * 44, WORD], 6, 1.0, None),  # 45 columns, but not of numbers
        ([*[NUMBER] * 45, *[WORD] * 100], 6, 1.0, MEANS),
        ([*[LIGHT] * 28, WORD], 6, 1.0, PAIRS),
        ([WORD] * 29, 6, 1.0, PAIRS),
        ([WORD] * 30, 6, 1.0, BAYES),
        ([WORD] * 29, 6, 0.5, PAIRS),
        ([WORD] * 29, 6, 0.499, BAYES),
        ([WORD] * 29, 6, 1.999, PAIRS),
        ([WORD] * 29, 6, 2.0, PAIRS),  # the half of it is 1
        ([WORD] * 29, 6, math.inf, None),
        ([*[WORD] * 6, NUMBER], 11, 1.0, None),  # mixed columns
        ([*[WORD] * 6, NUMBER], 12, 1.0, BAYES),
        ([*[LIGHT] * 6, NUMBER], 11, 1.0, None),
        ([*[LIGHT] * 6, NUMBER], 12, 1.0, BAYES),
        ([NUMBER] * 44, 11, 1.0, None),
        ([NUMBER] * 44, 12, 1.0, BAYES),
        ([NUMBER] * 45, 12, 1.0, MEANS),
        ([LIGHT] * 7, 12, 1.0, MEANS),
        ([WORD] * 7, 12, 1.0, PAIRS),
    ],
)
def test_classes_columns_and_epsilon_decide_what_comes_first(columns, n_classes, epsilon, first):
    assert choose_first(columns, n_classes, 6, epsilon) is first
    assert choose_first(columns[::-1], n_classes, 6, epsilon) is first
    if first is not None:
        assert choose_first(columns, n_classes, 2 * n_classes + 1, epsilon) is None


@pytest.mark.parametrize("for_pairs", [0.5, 0.9, 1.3])
def test_pairs_follow_from_what_they_may_spend(for_pairs, monkeypatch):
    """Where the budget is halved, from 2 on, it is the half that counts."""
    monkeypatch.setattr(thrifty_classifier, "FOR_PAIRS", for_pairs)
    for epsilon in (0.3, 0.5, 0.89, 0.9, 1.0, 1.29, 1.3, 1.999, 2.0, 2.5, 2.6, 3.0, 4.0, 50.0):
        share = epsilon if epsilon < 2 else min(epsilon / 2, 2)
        assert choose_first([WORD] * 7, 6, 6, epsilon) is (PAIRS if share >= for_pairs else BAYES)


@of_each_kind
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_the_rows_do_not_decide_what_comes_first(first, epsilon):
    """Nor whether there is a forest."""
    X, y, domain = rows_of(first)
    for rows, labels in ((X, y), (X[:1], y[:1]), (X * 0, y * 0)):
        model = made(epsilon, domain=domain).fit(rows, labels)
        assert type(model.first_) is first and (model.forest_ is None) == (epsilon < 2)


@TABLES
@pytest.mark.parametrize("epsilon", [0.3, 8.0, math.inf])
def test_with_few_classes_it_is_the_thrifty_forest(seed, epsilon):
    X, y = table(seed)
    model = made(epsilon, FEW).fit(X, y)
    forest = ThriftyForestClassifier(epsilon, domain=DOMAIN, random_state=model.forest_.random_state).fit(X, y)
    assert model.first_ is None and model.weight_ == 0.0 and model.privacy_ == forest.privacy_
    assert [tree.tobytes() for tree in model.forest_.trees_] == [tree.tobytes() for tree in forest.trees_]
    assert (model.predict_proba(X) == forest.predict_proba(X)).all() and (model.predict(X) == forest.predict(X)).all()


@of_each_kind
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 1.999])
def test_with_many_classes_and_little_budget_it_is_what_comes_first(first, epsilon):
    X, y, domain = rows_of(first)
    model = made(epsilon, domain=domain).fit(X, y)
    first = ThriftyBayesClassifier if first is PAIRS and epsilon < 0.5 else first
    alone = first(epsilon, domain=domain, random_state=model.first_.random_state).fit(X, y)
    assert model.forest_ is None and model.weight_ == math.inf and model.privacy_ == alone.privacy_
    assert (model.predict_proba(X) == alone.predict_proba(X)).all() and (model.predict(X) == alone.predict(X)).all()


@of_each_kind
@pytest.mark.parametrize("epsilon", [2.0, 30.0])
@pytest.mark.parametrize("weight", range(len(WEIGHTS)), ids=[f"weight {weight}" for weight in WEIGHTS])
def test_with_more_budget_both_are_multiplied(first, epsilon, weight, monkeypatch):
    X, y, domain = rows_of(first, n=60)
    monkeypatch.setattr(thrifty_classifier, "permute_and_flip", lambda *_: weight)
    model, weight = made(epsilon, domain=domain).fit(X, y), WEIGHTS[weight]
    forest, before = model.forest_.predict_proba(X), model.first_.predict_proba(X)
    sizes, predicted = np.exp(model.first_.log_sizes_), model.predict(X)
    assert model.weight_ == weight and type(model.first_) is first
    for row, shares in enumerate(model.predict_proba(X)):
        if math.isinf(weight):
            expected = before[row]
        else:
            products = [forest[row, c] * (before[row, c] / sizes[c]) ** weight for c in range(N_CLASSES)]
            expected = [product / sum(products) for product in products]
        assert shares == pytest.approx(expected, rel=1e-9)
        assert model.classes_[np.argmax(shares)] == predicted[row]
    assert (forest > 0).all() and (forest.max(axis=1) < 1).all(), "a tree that votes would rule out classes"


# What it spends.

BUDGETS = (1e-100, 0.01, 0.4999, 0.5, 1.0, 1.7, math.nextafter(2, 0), 2.0, 3.3, 4.0, 4.1, 7.77, 100.0, 12345.6, 1e100)


@pytest.mark.parametrize("epsilon", [*BUDGETS, math.inf])
def test_a_budget_is_divided_without_rest(epsilon):
    assert divide_budget(epsilon, False) == (0.0, epsilon, 0.0)
    if epsilon < math.inf:  # without noise nothing comes first
        parts = divide_budget(epsilon, True)
        assert sum(parts) == pytest.approx(epsilon, rel=1e-12) and min(parts) >= 0 and parts.first_epsilon > 0
        assert (parts.forest_epsilon > 0) == (parts.vote_epsilon > 0) == (epsilon >= 2)
        assert epsilon < 2 or parts == pytest.approx(
            (min(epsilon / 2, 2), epsilon - min(epsilon / 2, 2) - epsilon / 20, epsilon / 20)
        )


@of_each_kind
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 1.7, 2.0, 3.3, 7.77, 100.0, 12345.6])
def test_the_parts_spend_the_budget(first, epsilon, monkeypatch):
    drawn, draw = [], thrifty_classifier.permute_and_flip

    def recording(quality, sensitivity, epsilon, rng, monotone):
        drawn.append((len(quality), sensitivity, epsilon, monotone))
        return draw(quality, sensitivity, epsilon, rng, monotone)

    monkeypatch.setattr(thrifty_classifier, "permute_and_flip", recording)
    X, y, domain = rows_of(first, n=60)
    model = made(epsilon, domain=domain).fit(X, y)
    assert drawn == ([(len(WEIGHTS), 1.0, pytest.approx(epsilon / 20, rel=1e-12), True)] if epsilon >= 2 else [])
    spent = sum(part.privacy_.accounted_epsilon for part in (model.first_, model.forest_) if part is not None)
    spent += sum(cost for _, _, cost, _ in drawn)
    assert model.privacy_.accounted(ADDED_OR_REMOVED) == pytest.approx(spent) == pytest.approx(epsilon, rel=1e-12)
    assert model.privacy_.accounted(REPLACED) == pytest.approx(2 * epsilon, rel=1e-12)
    assert model.privacy_.keeps_claim and not model.privacy_.faults


# The weight: a vote of the records.


def parts_of(first=PAIRS, epsilon=2.0):
    """Return the parts as they are fitted to one table, and rows of another."""
    X, y, domain = rows_of(first)
    model = made(epsilon, domain=domain).fit(X, y)
    return model, *rows_of(first, seed=1, n=200)[:2]


def rounds_of(model, X, y):
    """Return what is said of rows of a forest that has not counted them."""
    return [(model.forest_.share_rows_left_out(X.astype(float), y), model.first_.predict_proba(X), y)]


@of_each_kind
def test_hits_are_counted_for_each_weight_as_by_hand(first):
    model, X, y = parts_of(first)
    hits = count_hits([(model.forest_.predict_proba(X), model.first_.predict_proba(X), y)], model.first_.log_sizes_)
    for weight, n in zip(WEIGHTS, hits, strict=True):
        model.weight_ = weight
        assert n == (model.predict(X) == y).sum()


@of_each_kind
def test_a_record_is_scored_as_one_that_its_leaves_have_not_counted(first, monkeypatch):
    """By hand, from what was released: one less of its class in the leaf of each tree, and no class without a share."""
    seen = []
    monkeypatch.setattr(thrifty_classifier, "permute_and_flip", lambda hits, *_: seen.append(hits) or 3)
    X, y, domain = rows_of(first, n=80)
    model, hits = made(30.0, domain=domain).fit(X, y), np.zeros(len(WEIGHTS))
    before, sizes = model.first_.predict_proba(X), np.exp(model.first_.log_sizes_)
    for row, own in enumerate(y):
        shares = np.zeros(N_CLASSES)
        for nodes in model.forest_.trees_:
            leaf = nodes[find_leaves(nodes, X[row : row + 1].astype(float))[0]]
            counts = [leaf["value"] * nodes["value"][leaf["child"] + c] for c in range(N_CLASSES)]
            counts[own] = max(counts[own] - 1, 1 / N_CLASSES)
            shares += np.array(counts) / sum(counts)
        for i, weight in enumerate(WEIGHTS):
            products = before[row] if math.isinf(weight) else shares * (before[row] / sizes) ** weight
            hits[i] += int(np.argmax(products)) == own
    assert np.array_equal(seen[0], hits) and len(set(hits)) > 1
    assert hits[0] < (model.forest_.predict(X) == y).sum(), "a row that votes for its own leaf"


@of_each_kind
def test_a_record_more_raises_hits_by_0_to_1_given_the_parts(first):
    model, X, y = parts_of(first)
    sizes, seen = model.first_.log_sizes_, set()
    all_hits = count_hits(rounds_of(model, X, y), sizes)
    for i in range(len(X)):
        others = np.arange(len(X)) != i
        moved = all_hits - count_hits(rounds_of(model, X[others], y[others]), sizes)
        seen.add(tuple(moved.tolist()))
    assert {each for moved in seen for each in moved} == {0.0, 1.0} and len(seen) > 2


@of_each_kind
def test_a_row_has_the_same_bits_whatever_rows_stand_beside_it(first):
    """Otherwise a record more could move the hits of others."""
    model, X, y = parts_of(first)
    sizes = model.first_.log_sizes_
    *together, _ = rounds_of(model, X, y)[0]
    for rows in ([0], [5, 3, 9], list(range(1, 200)), list(range(0, 200, 7))):
        *apart, _ = rounds_of(model, X[rows], y[rows])[0]
        for one, other in zip(apart, together, strict=True):
            assert np.array_equal(one, other[rows])
        for weight in WEIGHTS:
            assert np.array_equal(
                multiply_shares(*apart, sizes, weight), multiply_shares(*together, sizes, weight)[rows]
            )


def test_hits_do_not_depend_on_how_rows_are_divided():
    model, X, y = parts_of()
    forest, first, labels = rounds_of(model, X, y)[0]
    sizes = model.first_.log_sizes_
    blocks = [(forest[part], first[part], labels[part]) for part in np.split(np.arange(200), [7, 8, 99])]
    assert np.array_equal(count_hits(blocks, sizes), count_hits([(forest, first, labels)], sizes))


def test_the_vote_follows_the_law_of_permute_and_flip_on_the_training_rows():
    X, y, domain = rows_of(MEANS, n=40)
    model = made(2.0, domain=domain).fit(X, y)
    rows, parts = made(2.0, domain=domain).training_rows(X, y), divide_budget(2.0, True)
    hits = count_hits(rounds_of(model, X, y), model.first_.log_sizes_)
    assert len(set(hits.tolist())) > 2
    law = np.exp(permute_and_flip_law(hits[np.newaxis], 0.5, parts.vote_epsilon)[0])
    rng, n = np.random.default_rng(0), 1500
    drawn = Counter(model._draw_weight(rows, parts, rng) for _ in range(n))
    assert stats.chisquare([drawn[weight] for weight in WEIGHTS], law * n).pvalue > 1e-4


def test_a_vote_costs_its_part_and_hardly_less():
    """By the closed-form law: one record more, which some weights give its class, and others do not."""
    rng, epsilon, dearest = np.random.default_rng(0), 0.1, 0.0
    for _ in range(300):
        hits, moved = rng.integers(0, 60, len(WEIGHTS)).astype(float), rng.integers(2, size=len(WEIGHTS))
        laws = permute_and_flip_law(np.array([hits, hits + moved]), 0.5, epsilon)
        dearest = max(dearest, np.abs(laws[0] - laws[1]).max())
    assert 0.8 * epsilon < dearest <= epsilon * (1 + 1e-9)


def test_nothing_but_parts_and_choice_decides_what_is_predicted(monkeypatch):
    """Given both parts, and the answer of the choice, the rows do not matter."""
    model, X, _ = parts_of()
    found = []
    for seed in (0, 1):
        rows, labels, domain = rows_of(PAIRS, seed)
        other = made(2.0, domain=domain)
        monkeypatch.setattr(other, "_fit_part", lambda part, *_: model.first_ if type(part) is PAIRS else model.forest_)
        monkeypatch.setattr(thrifty_classifier, "permute_and_flip", lambda *_: 3)
        found.append((other.fit(rows, labels).predict_proba(X).tobytes(), other.privacy_))
    assert found[0] == found[1]


def test_declared_classes_decide_and_not_those_of_the_rows():
    X, y, domain = rows_of(PAIRS)
    of_one = np.full(len(y), y[0])
    few = made(2.0, 2 * FEW, domain=domain)
    assert made(2.0, domain=domain).fit(X, of_one).first_ is not None and few.fit(X, y).first_ is None


@pytest.mark.parametrize(("fitted", "later"), [(0.5, 50.0), (2.0, 50.0), (50.0, 0.5)])
@pytest.mark.parametrize("many_classes", [MANY, FEW])
def test_a_fitted_model_predicts_alike_whatever_its_parameters_are_set_to(fitted, later, many_classes):
    X, y, domain = rows_of(PAIRS)
    model = made(fitted, many_classes, domain=domain).fit(X, y)
    before = model.predict_proba(X)
    for part in filter(None, (model, model.first_, model.forest_)):
        part.set_params(epsilon=later)
    assert (model.predict_proba(X) == before).all()


def test_parts_and_the_vote_have_seeds_of_their_own(monkeypatch):
    X, y, domain = rows_of(PAIRS)
    monkeypatch.setattr(thrifty_classifier, "permute_and_flip", lambda *rest: streams.append(rest[3].random()) or 2)
    streams = []
    model, again = (made(2.0, domain=domain).fit(X, y) for _ in range(2))
    other = made(2.0, domain=domain).set_params(random_state=1).fit(X, y)
    assert model.first_.random_state != model.forest_.random_state
    seeds = [part.generator(part.seed()).random() for part in (model.first_, model.forest_)]
    assert len({*seeds, *streams}) == 4 and streams[0] == streams[1]
    assert (model.predict_proba(X) == again.predict_proba(X)).all()
    assert (model.predict_proba(X) != other.predict_proba(X)).any()


@of_each_kind
@pytest.mark.parametrize("weight", [0, 2, 6], ids=["forest", "both", "first"])
def test_what_leaves_predicts_what_the_model_predicts(first, weight, monkeypatch):
    pytest.importorskip("opendp")
    X, y, domain = rows_of(first)
    monkeypatch.setattr(thrifty_classifier, "permute_and_flip", lambda *_: weight)
    model = made(2.0, domain=domain, noise="opendp").set_params(random_state=None).fit(X, y)
    assert model.first_.random_state is None, "32 bits of a seed could be tried"
    left = model.release()
    alone = {MEANS: "class_means", PAIRS: "naive_bayes:pairs", BAYES: "naive_bayes"}[first]
    both = {MEANS: "product:means", PAIRS: "product:pairs", BAYES: "product"}[first]
    assert {0: "forest", 2: both, 6: alone}[weight] == left.KIND and left.origin.privacy == model.privacy_.as_dict()
    for release in (left, from_json(left.to_json())):
        np.testing.assert_allclose(release.predict_proba(X), model.predict_proba(X), rtol=1e-9)
        assert (release.predict(X) == model.predict(X)).all()


@of_each_kind
def test_a_release_that_cannot_predict_is_refused(first, monkeypatch):
    pytest.importorskip("opendp")
    X, y, domain = rows_of(first)
    monkeypatch.setattr(thrifty_classifier, "permute_and_flip", lambda *_: 3)
    left = made(2.0, domain=domain, noise="opendp").set_params(random_state=None).fit(X, y).release()
    text, weight = left.to_json(), '"weight": 0.25'
    assert isinstance(from_json(text), ReleasedProduct) and text.count(weight) == 1
    broken = [text.replace(weight, f'"weight": {wrong}') for wrong in ("7.0", "0.0", "Infinity", "null")]
    broken += [text.replace('"counts"', '"votes"'), text.replace(f'"{left.NAME}": ', '"another": ')]
    for each in broken:
        with pytest.raises(ReleaseError, match=r"this release is (damaged: contents|no JSON)"):
            from_json(sealed(json.loads(each)))


def test_values_beyond_the_bounds_are_counted_once():
    X, y = table(0)
    X = np.array(X, dtype=float)
    X[0, 0] = 1e9
    of_classes = Domain(DOMAIN.features, Nominal("y", range(12)))
    alone = ThriftyBayesClassifier(0.5, domain=of_classes, random_state=0).fit(X, y).clipped_
    model = made(2.0, domain=of_classes).fit(X, y)
    assert type(model.first_) is BAYES and model.clipped_ == alone and sum(alone.values()) == 1


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
        if X.dtype == float:
            columns = [Continuous(f"x{j}", 0, 1) for j in range(X.shape[1])]
        else:
            columns = [Nominal(f"x{j}", range(int(X.max()) + 1)) for j in range(X.shape[1])]
        domain = Domain(columns, Nominal("y", tuple(range(int(y.max()) + 1))))
        model = estimator(epsilon, domain=domain, random_state=seed).fit(X[:3000], y[:3000])
        found.append((model.predict(X[3000:]) == y[3000:]).mean())
    return np.mean(found)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_it_learns_many_classes_that_a_tree_does_not(epsilon):
    forest = mean_accuracy(ThriftyForestClassifier, draw_signals, epsilon)
    assert mean_accuracy(ThriftyClassifier, draw_signals, epsilon) > forest + 0.05


def test_it_learns_with_more_budget_what_naive_first_does_not():
    assert mean_accuracy(ThriftyBayesClassifier, draw_interactions, 10.0) < 0.5
    assert mean_accuracy(ThriftyClassifier, draw_interactions, 10.0) > 0.9


def draw_lights(rng, n):
    """Ten classes of twelve lights, a tenth of which are broken."""
    patterns = np.random.default_rng(7).integers(0, 2, (10, 12))
    y = rng.integers(0, 10, n)
    return np.where(rng.random((n, 12)) < 0.1, 1 - patterns[y], patterns[y]), y


def draw_words(rng, n):
    """Eight classes, of each of which a pair of columns says one bit, and a wrong one is in one row of ten."""
    y, X = rng.integers(0, 8, n), rng.integers(0, 4, (n, 6))
    for bit in range(3):
        said = np.where(rng.random(n) < 0.1, 1 - (y >> bit) % 2, (y >> bit) % 2)
        X[:, 2 * bit] = (2 * rng.integers(0, 2, n) + said + X[:, 2 * bit + 1]) % 4
    return X, y


def draw_shades(rng, n):
    """Seven classes of fifty columns of numbers that say little each."""
    centers = np.random.default_rng(7).uniform(0.3, 0.7, (7, 50))
    y = rng.integers(0, 7, n)
    return np.clip(centers[y] + rng.normal(0, 0.2, (n, 50)), 0, 1), y


LADDER = (0.1, 0.3, 0.6, 1.0, 1.9, 2.0, 3.0, 4.0, 5.0, 10.0, 30.0, 100.0)


@pytest.mark.parametrize(
    ("draw", "lost"),
    [
        (draw_lights, 0.03),
        (draw_shades, 0.03),
        (draw_interactions, 0.03),
        (draw_words, 0.03),  # of which a forest learns nothing but the rows by heart
        (draw_signals, 0.09),  # where pairs begin, and where a forest is paid for: each column says all by itself
    ],
)
@pytest.mark.long
def test_more_budget_is_never_much_worse(draw, lost):
    """From where the forest is paid for on, too; what it costs where the rules do not fit a table is bounded."""
    accuracies = np.array([mean_accuracy(ThriftyClassifier, draw, epsilon) for epsilon in LADDER])
    best = np.maximum.accumulate(accuracies)
    assert (accuracies > best - lost).all() and best[-1] > 0.7, accuracies


@pytest.mark.parametrize(("draw", "epsilon"), [(draw_lights, 0.3), (draw_words, 1.0), (draw_shades, 1.0)])
def test_what_comes_first_is_ahead_of_a_forest(draw, epsilon):
    forest = mean_accuracy(ThriftyForestClassifier, draw, epsilon)
    assert mean_accuracy(ThriftyClassifier, draw, epsilon) > forest + 0.1


def test_shares_rank_rows_of_two_classes_far_better_than_votes_do():
    """By the area under the curve."""
    domain, areas = Domain([NUMBER, Continuous("z", 0, 1), WORD], Nominal("y", (0, 1))), []
    for estimator in (ThriftyClassifier, ThriftyTreeClassifier):
        found = []
        for seed in range(5):
            rng = np.random.default_rng(seed)
            X = np.column_stack([rng.random((4000, 2)), rng.integers(0, 3, 4000)])
            y = (rng.random(4000) < X[:, 0]).astype(int)
            rows = [[x, z, "uvw"[int(word)]] for x, z, word in X.tolist()]
            model = estimator(1.0, domain=domain, random_state=seed).fit(rows[:2000], y[:2000])
            shares = model.predict_proba(rows[2000:])
            assert shares.sum(axis=1) == pytest.approx(np.ones(2000), rel=1e-12)
            found.append(roc_auc_score(y[2000:], shares[:, 1]))
        areas.append(np.mean(found))
    assert areas[0] > areas[1] + 0.05


def test_a_target_of_numbers_is_refused():
    with pytest.raises(ValueError, match="must declare its class labels"):
        made(1.0, domain=Domain(DOMAIN.features, Continuous("y", 0, 1))).fit(*table(0))
