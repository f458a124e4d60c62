"""Identity, key and seed of a cell; the split; the code behind a cell."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, precision_score, recall_score

import datasets
from experiments import estimators, versions
from experiments.cells import Cell, checked_epsilon, checked_protocol
from experiments.errors import BadInput
from experiments.protocol import run, split_rows
from experiments.settings import expand

CELL = Cell("car", "random_forest", {"n_estimators": 5, "max_depth": None}, 0.5, 3)


def test_identity_and_seed_never_change():
    # Pinned: if this fails, every published number changes.
    assert CELL.identity == (
        '{"algorithm":"random_forest","dataset":"car","epsilon":0.5,"params":{"max_depth":null,"n_estimators":5},'
        '"protocol":{"evaluate_on":"test","test_size":0.3},"repeat":3}'
    )
    assert CELL.seed == 2161553131


def test_order_of_parameters_does_not_matter():
    assert replace(CELL, params={"max_depth": None, "n_estimators": 5}).key == CELL.key


@pytest.mark.parametrize(
    "change",
    [
        {"dataset": "nursery"},
        {"algorithm": "extra_trees"},
        {"params": {}},
        {"epsilon": math.inf},
        {"repeat": 4},
        {"protocol": checked_protocol({"evaluate_on": "train"})},
    ],
)
def test_everything_that_is_asked_for_changes_key_and_seed(change):
    other = replace(CELL, **change)
    assert other.key != CELL.key and other.seed != CELL.seed
    assert (other.setting_key == CELL.setting_key) == ("repeat" in change)


@pytest.mark.parametrize("name", ["data_version", "code_version", "libraries"])
def test_data_code_and_versions_change_the_key_but_not_the_seed(monkeypatch, name):
    before = CELL.key
    versions.behind.cache_clear()
    monkeypatch.setattr(versions, name, lambda *_: {"numpy": "another"} if name == "libraries" else "another")
    after = replace(CELL)
    assert after.key != before and after.seed == CELL.seed
    versions.behind.cache_clear()


def test_a_docstring_is_not_code_but_a_number_is():
    source = 'def f(x):\n    """Words."""\n    return x + 1\n'
    assert versions.code_without_words(source) == versions.code_without_words("def f(x):\n\n    return (x + 1)  # why")
    assert versions.code_without_words(source) != versions.code_without_words(source.replace("1", "2"))


def test_code_behind_an_algorithm_holds_its_imports_and_not_its_siblings():
    found = versions._imported([estimators.locate(estimators.target("rfdpp_gini")).__module__, "experiments.protocol"])
    assert {"algorithms.mechanisms", "algorithms.domain", "experiments.protocol"} <= found
    assert not {"algorithms", "algorithms.forests.diffprfs", "experiments.runner", "experiments.store"} & found


def test_every_class_keeps_a_row_on_both_sides():
    nursery = datasets.load("nursery")  # its class `recommend` has two rows
    for repeat in range(20):
        train, test = split_rows(nursery, repeat, 0.3)
        assert sorted([*train, *test]) == list(range(12960))
        assert set(nursery.target[train]) == set(nursery.target[test]) == set(nursery.target)
        share = nursery.target[test].value_counts() / nursery.target.value_counts()
        assert np.allclose(share.drop("recommend"), 0.3, atol=0.002)


def test_the_split_is_paired_over_algorithms_and_new_in_each_repeat():
    car = datasets.load("car")
    assert np.array_equal(split_rows(car, 1, 0.3)[1], split_rows(car, 1, 0.3)[1])
    assert not np.array_equal(split_rows(car, 1, 0.3)[1], split_rows(car, 2, 0.3)[1])


def test_an_official_split_is_used_in_every_repeat():
    class Official:
        target, n_train = list(range(10)), 7

    assert [rows.tolist() for rows in split_rows(Official, 5, 0.3)] == [list(range(7)), [7, 8, 9]]


def test_metrics_agree_with_scikit_learn():
    data = datasets.load("car")
    train, test = split_rows(data, 0, 0.3)
    matrix, _ = data.domain.encode(data.frame)
    forest = estimators.make("random_forest", {"n_estimators": 3, "max_depth": 4}, random_state=0)
    cell = Cell("car", "random_forest", {"n_estimators": 3, "max_depth": 4}, 1.0, 0)
    forest.set_params(random_state=cell.seed)
    target = data.target.to_numpy().astype(str)
    predicted = forest.fit(matrix[train], target[train]).predict(matrix[test])
    metrics = run(cell).metrics
    assert metrics["accuracy"] == accuracy_score(target[test], predicted)
    for label in data.domain.target.categories:
        assert metrics[f"recall_{label}"] == recall_score(target[test], predicted, labels=[label], average="micro")
        precision = precision_score(target[test], predicted, labels=[label], average="micro", zero_division=np.nan)
        assert metrics[f"precision_{label}"] == pytest.approx(precision, nan_ok=True)


def test_training_rows_can_be_asked_for():
    cell = replace(CELL, protocol=checked_protocol({"evaluate_on": "train"}))
    assert run(cell).metrics["accuracy"] > run(replace(cell, protocol=checked_protocol({}))).metrics["accuracy"]


def test_a_private_forest_says_what_it_paid():
    privacy = run(Cell("car", "rfdpp_gini", {"n_estimators": 2, "max_depth": 2}, 1.0, 0)).details["privacy"]
    assert privacy["claimed_epsilon"] == 1.0 and privacy["accounted_epsilon"] == math.inf and not privacy["is_sound"]
    assert privacy["neighbours"] == "one record added or removed"
    assert "exact nominal splits" in {fault["name"] for fault in privacy["faults"]}
    assert all(fault["why"] and fault["source"] for fault in privacy["faults"])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"dataset": ["carr"]}, "unknown data set 'carr'; did you mean 'car'"),
        ({"algorithm": ["majorty"]}, "unknown algorithm 'majorty'; did you mean 'majority'"),
        ({"params.n_estimator": [3]}, "no parameter 'n_estimator'; did you mean 'n_estimators'"),
        ({"params.epsilon": [3]}, "use epsilon="),
        ({"params.max_depth": [0]}, "max_depth must be at least 1"),
        ({"params.max_features": [7]}, "max_features must be at most 6"),
        ({"epsilon": [0]}, "epsilon must be a positive number"),
        ({"epsilon": ["much"]}, "epsilon must be a positive number"),
        ({"protocol.test_size": [1.0]}, "test_size must lie between 0 and 1"),
        ({"protocol.test_sice": [0.5]}, "did you mean 'test_size'"),
        ({"protocol.evaluate_on": ["both"]}, "test or train"),
        ({"dataset": ["wine_quality"]}, "regression"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_runs(values, message):
    with pytest.raises(BadInput, match=message):
        expand({"dataset": ["car"], "algorithm": ["rfdpp_gini"], "epsilon": [1.0]} | values, repeats=1)


def test_epsilon_must_be_a_positive_number():
    assert checked_epsilon(math.inf) == math.inf
    for wrong in (0, -1, math.nan, True, None, "x"):
        with pytest.raises(BadInput):
            checked_epsilon(wrong)
