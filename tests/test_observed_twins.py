"""What the audit's loops see in C++ and in Python: the same digits, of trees, forests and coefficients."""

from typing import NamedTuple

import numpy as np
import pytest

from algorithms import (
    DPBARegressor,
    FunctionalMechanismRegressor,
    RDTClassifier,
    RFDPPGiniClassifier,
    native,
)
from algorithms.forests import rdt
from algorithms.forests.engine.tree import AMONG, BELOW, BY_VALUE, EQUALS, LEAF, node_type
from algorithms.forests.forest import SAMPLINGS
from experiments.audit import neighbouring_tables
from experiments.audit.observe import observed_forests, observed_numbers
from experiments.audit.observe.observed_forests import SAMPLINGS_IN_CPP, SIDES, ForestOnTable
from experiments.audit.observe.observed_numbers import RegressionOnTable
from experiments.audit.observe.trainings import RandomStream, begin_training

pytestmark = [
    pytest.mark.skipif(native.is_plain(), reason="there is no C++ to compare with"),
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),
]


class AnyPlan(NamedTuple):
    max_depth: int


class AnyTable(NamedTuple):
    n_codes: np.ndarray
    is_continuous: np.ndarray
    n_classes: int


def random_table(rng):
    k = rng.integers(1, 6)
    return AnyTable(rng.integers(2, 5, size=k), rng.random(k) < 0.5, int(rng.integers(1, 4)))


def random_tree(rng, table, max_depth):
    """A tree with questions of all kinds; a leaf may be a key, and then as many levels are below it as there can be.

    Keys do not go together with categories that go left, so that a tree has one or the other.
    """
    has_keys, nodes, unused = rng.random() < 0.5, [np.zeros(1, node_type)[0]], [set(range(len(table.n_codes)))]
    for i, node in enumerate(nodes):  # which grow meanwhile
        node["feature"], node["child"], node["cut"] = -1, -1, np.nan
        node["value"], node["noisy_count"] = rng.random(2)
        features = sorted(unused[i])
        if node["depth"] == max_depth or not features or rng.random() < 0.2:
            node["label"] = rng.integers(table.n_classes)
            if has_keys and rng.random() < 0.7:
                node["key"], node["label"] = rng.integers(1, 2**63), max_depth - node["depth"]
            continue
        feature = rng.choice(features)
        n_codes = table.n_codes[feature]
        nominal = BY_VALUE if has_keys else rng.choice([EQUALS, BY_VALUE, AMONG])
        node["decides"] = BELOW if table.is_continuous[feature] else nominal
        node["feature"], node["child"] = feature, len(nodes)
        node["cut"] = rng.integers(2**n_codes if node["decides"] == AMONG else n_codes)
        uses_up = {feature} if node["decides"] == BY_VALUE else set()
        for _ in range(n_codes if node["decides"] == BY_VALUE else 2):
            nodes.append(np.zeros(1, node_type)[0])
            nodes[-1]["depth"] = node["depth"] + 1
            unused.append(unused[i] - uses_up)
    return np.array(nodes, dtype=node_type).view(np.recarray)


def noted_by(note, nodes, max_depth, table, probes, n_differing):
    codes = np.zeros(len(SIDES), dtype=np.int64)
    numbers = np.full(n_differing * (max_depth + 2), np.nan)
    note(nodes, AnyPlan(max_depth), table, probes, np.empty(0, dtype=np.int64), codes, numbers)
    return codes, numbers


def test_trees_of_all_kinds_are_seen_alike():
    rng, n_with = np.random.default_rng(3), dict.fromkeys((LEAF, BELOW, EQUALS, BY_VALUE, AMONG, "key"), 0)
    for _ in range(400):
        table, max_depth = random_table(rng), int(rng.integers(0, 5))
        nodes = random_tree(rng, table, max_depth)
        probes = np.ascontiguousarray(rng.integers(0, table.n_codes, size=(rng.integers(2, 6), len(table.n_codes)))) / 1
        asked = nodes, max_depth, table, probes, int(rng.integers(0, 3))
        note = observed_forests.note_tree
        (codes, numbers), (in_python, its_numbers) = (noted_by(how, *asked) for how in (note, note.__wrapped__))
        assert np.array_equal(codes, in_python)
        assert np.array_equal(numbers, its_numbers, equal_nan=True)
        for decides in np.unique(nodes["decides"]):
            n_with[decides] += 1
        n_with["key"] += (nodes["key"] != 0).any()
    assert min(n_with.values()) > 40


@pytest.mark.parametrize("sampling", SAMPLINGS_IN_CPP)
@pytest.mark.parametrize("nominal_split", ["one_vs_rest", "per_value", "two_groups"])
@pytest.mark.parametrize("name", ["first in order", "a replaced label"])
def test_forests_are_seen_alike(name, nominal_split, sampling):
    settings = {"n_estimators": 3, "max_depth": 3, "max_features": 1, "sampling": sampling}
    assert_seen_alike(RFDPPGiniClassifier(2.0, nominal_split=nominal_split, **settings), name)


@pytest.mark.parametrize("max_depth", [None, 1, 4])
def test_random_forests_are_seen_alike(max_depth):
    assert_seen_alike(RDTClassifier(1.0, n_estimators=3, max_depth=max_depth), "a replaced label")


def test_leaves_of_random_trees_have_the_same_keys():
    rng, forest = np.random.default_rng(8), RDTClassifier(1.0, n_estimators=1, max_depth=4)
    pair = neighbouring_tables.CLASSIFICATION_PAIRS[0]
    observer = ForestOnTable(forest, pair, pair.table, 5)
    (plan,), root = observer._grow.args, rng.integers(2**63)
    keys = rdt.leaf_keys(plan, root, observer._probes)
    assert np.array_equal(keys, rdt.leaf_keys.__wrapped__(plan, root, observer._probes)) and len(set(keys)) > 1


def assert_seen_alike(forest, name):
    pair = next(pair for pair in neighbouring_tables.CLASSIFICATION_PAIRS if pair.name == name)
    observer = ForestOnTable(forest, pair, pair.table, 5)
    seen = observer.observe(7, 30)
    assert native.has_twin(observer._grow.func)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(observed_forests, "has_twin", lambda function: False)
        in_python = observer.observe(7, 30)
    assert_equal(seen, in_python)


@pytest.mark.parametrize("variant", ["paper", "sound"])
@pytest.mark.parametrize("regressor", [FunctionalMechanismRegressor, DPBARegressor])
def test_coefficients_are_seen_alike(regressor, variant, monkeypatch):
    pair = neighbouring_tables.MOMENT_PAIRS[0]
    observer = RegressionOnTable(regressor(1.5, variant=variant), pair, pair.table, 5)
    seen = observer.observe(7, 200)
    add_noise = observer._budget.add_noise
    assert native.has_twin(add_noise)
    monkeypatch.setattr(observed_numbers, "has_twin", lambda function: False)
    monkeypatch.setattr(type(observer._budget), "add_noise", staticmethod(add_noise.__wrapped__))
    assert_equal(seen, observer.observe(7, 200))


def assert_equal(one, other):
    for mine, others in zip(one, other, strict=True):
        assert mine.keys() == others.keys()
        assert all(np.array_equal(mine[side], others[side], equal_nan=True) for side in mine)


@pytest.mark.parametrize("training", [0, 1, 2**40])
def test_a_training_begins_alike(training):
    rng, state, rest = RandomStream(12345).parts
    rng.integers(0, 5, dtype=np.uint32)  # half of a number is left
    assert rest[0] != 0
    begin_training(state, rest, np.uint64(12345), training)
    drawn, begun = rng.random(3), state.copy()
    begin_training.__wrapped__(state, rest, np.uint64(12345), training)
    assert rest[0] == 0 and not np.array_equal(begun, state)
    assert np.array_equal(rng.random(3), drawn)


def test_samplings_in_cpp_are_of_the_forests():
    assert set(SAMPLINGS_IN_CPP) <= set(SAMPLINGS)
