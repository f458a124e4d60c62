"""Identity, key and seed of a cell; the split; the code behind a cell."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from omegaconf import OmegaConf
from sklearn.metrics import accuracy_score, mean_squared_error, precision_score, r2_score, recall_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold

import datasets
from algorithms import ASNClassifier, source_walk
from algorithms.encoding.features import Continuous
from documents.yaml_files import DocumentError
from experiments.cells import code_version
from experiments.cells.cell import Cell, read_epsilon
from experiments.cells.grid import expand_grid
from experiments.cells.study_cells import cells_of_studies
from experiments.config import estimators, paths, substitutes
from experiments.config.paper import parse_paper
from experiments.config.papers import prepare_paper, read_paper
from experiments.config.protocol import DEFAULT_PROTOCOL, read_protocol
from experiments.config.setting import is_same_value
from experiments.errors import BadInput
from experiments.metrics.find import list_measured
from experiments.metrics.scores import score_numbers
from experiments.questions.paper_questions import resolve_paper
from experiments.run.evaluate import evaluate_cell
from experiments.run.splits import domain_of, split_rows
from experiments.store.long_table import long_table
from experiments.store.record import Measured, Record
from experiments.store.study_rows import count_cells, match_column
from tests.papers import make_paper

CELL = Cell("car", "rdt", {"n_estimators": 5, "max_depth": None}, 0.5, 3)


def test_common_noise_is_one_seed_for_all_algorithms_of_a_repeat():
    common = read_protocol({"common_noise": True})
    first = replace(CELL, protocol=common)
    for alike in ({"algorithm": "extra_trees"}, {"params": {}}):
        other = replace(first, **alike)
        assert other.seed == first.seed and other.key != first.key
    for change in ({"dataset": "nursery"}, {"epsilon": 1.0}, {"repeat": 4}, {"protocol": DEFAULT_PROTOCOL}):
        assert replace(first, **change).seed != first.seed
    assert "common_noise" not in CELL.identity and replace(first, protocol=DEFAULT_PROTOCOL).seed == CELL.seed


def test_algorithms_with_common_noise_differ_by_its_scale_alone():
    """DPBA with the share that FM gives M, 14/16 of d = 14 monomials, is FM, noise and all."""
    protocol = read_protocol({"common_noise": True})
    fm = Cell("ccpp", "fm", {"degree": 2, "scaling": "box"}, 1.0, 0, protocol)
    dpba = Cell("ccpp", "dpba", {"degree": 2, "scaling": "box", "beta": None, "share": 14 / 16}, 1.0, 0, protocol)
    drawn = [evaluate_cell(cell).metrics["r2"] for cell in (fm, dpba)]
    assert drawn[0] == pytest.approx(drawn[1], rel=1e-6)
    alone = evaluate_cell(replace(dpba, protocol=DEFAULT_PROTOCOL)).metrics["r2"]
    assert alone != pytest.approx(drawn[1], rel=1e-3)


def test_balanced_rows_have_as_many_of_each_class_and_are_drawn_anew():
    car = datasets.load("car")
    seen = []
    for repeat in range(2):
        train, test = split_rows(car, repeat, read_protocol({"rows": "balanced"}))
        both = np.concatenate([train, test])
        assert len(set(both)) == len(both)
        assert set(car.target.iloc[both].value_counts()) == {car.target.value_counts().min()}
        assert (np.diff(train) > 0).all() and (np.diff(test) > 0).all()
        seen.append(set(both))
    assert seen[0] != seen[1]


def test_numbers_of_rows_are_drawn_anew_from_all_rows():
    car = datasets.load("car")
    sizes = {"train_rows": 600, "test_rows": 300}
    splits = [split_rows(car, repeat, read_protocol(sizes)) for repeat in (0, 1)]
    for train, test in splits:
        assert (len(train), len(test), len({*train, *test})) == (600, 300, 900)
    assert set(splits[0][1]) != set(splits[1][1])


def test_numbers_of_rows_of_each_class_leave_out_all_other_classes():
    car, sizes = (
        datasets.load("car"),
        {"train_rows": {"unacc": 1000, "acc": 300}, "test_rows": {"acc": 84, "unacc": 210}},
    )
    train, test = split_rows(car, 2, read_protocol(sizes))
    assert car.target.iloc[train].value_counts().to_dict() == {"unacc": 1000, "acc": 300}
    assert car.target.iloc[test].value_counts().to_dict() == {"unacc": 210, "acc": 84}
    assert not set(train) & set(test)
    cell = Cell("car", "rfdpp_gini", {"n_estimators": 2, "max_depth": 2}, 1.0, 0, read_protocol(sizes))
    metrics = evaluate_cell(cell).metrics
    assert metrics["recall_unacc"] >= 0 and np.isnan(metrics["recall_good"])
    with pytest.raises(ValueError, match="class 'acc' has 384 rows, of which the protocol asks for 400"):
        split_rows(car, 0, read_protocol({"train_rows": {"acc": 200}, "test_rows": {"acc": 200}}))


def test_what_released_rows_leak_is_measured_where_the_protocol_asks():
    sizes = {"train_rows": {"unacc": 200, "acc": 100}, "test_rows": {"unacc": 100, "acc": 50}}
    plain, asked = (read_protocol(sizes | more) for more in ({}, {"leakage": True}))
    still = {"bandwidth": 0.0, "sampling_ratio": 2.0}
    assert "relinked" not in evaluate_cell(Cell("car", "cpppw", still, math.inf, 0, plain)).metrics
    metrics = evaluate_cell(Cell("car", "cpppw", still, math.inf, 0, asked)).metrics
    assert metrics["relinked"] == 1 and metrics["membership_auc"] > 0.9 and metrics["interval_50"] == 0
    assert metrics["sampling_ratio"] == 2
    assert set(metrics) <= set(list_measured("car"))


def test_a_split_in_order_tests_on_the_last_rows():
    train, test = split_rows(datasets.load("car"), 3, read_protocol({"test_size": 0.25, "split": "in_order"}))
    assert train.tolist() == list(range(1296)) and test.tolist() == list(range(1296, 1728))


def test_identity_and_seed_never_change():
    # Pinned: if this fails, every published number changes.
    assert CELL.identity == (
        '{"algorithm":"rdt","dataset":"car","epsilon":0.5,"params":{"max_depth":null,"n_estimators":5},'
        '"protocol":{"evaluate_on":"test","test_size":0.3},"repeat":3}'
    )
    assert CELL.seed == 1919973336


def test_what_takes_no_epsilon_is_the_same_model_at_every_epsilon():
    forest = replace(CELL, algorithm="random_forest")
    assert forest.seed == replace(forest, epsilon=math.inf).seed != replace(forest, repeat=4).seed
    assert CELL.seed != replace(CELL, epsilon=math.inf).seed


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
        {"protocol": read_protocol({"evaluate_on": "train"})},
    ],
)
def test_everything_that_is_asked_for_changes_key_and_seed(change):
    other = replace(CELL, **change)
    assert other.key != CELL.key and other.seed != CELL.seed
    assert (other.setting_key == CELL.setting_key) == ("repeat" in change)


@pytest.mark.parametrize("name", ["data_version", "code_version", "list_libraries"])
def test_data_code_and_versions_change_the_key_but_not_the_seed(monkeypatch, name):
    before = CELL.key
    code_version._list_code_versions.cache_clear()
    monkeypatch.setattr(code_version, name, lambda *_: {"numpy": "another"} if name == "list_libraries" else "another")
    after = replace(CELL)
    assert after.key != before and after.seed == CELL.seed
    code_version._list_code_versions.cache_clear()


def test_a_docstring_is_not_code_but_a_number_is():
    source = 'def f(x):\n    """Words."""\n    return x + 1\n'
    assert source_walk.code_without_words(source) == source_walk.code_without_words(
        "def f(x):\n\n    return (x + 1)  # why"
    )
    assert source_walk.code_without_words(source) != source_walk.code_without_words(source.replace("1", "2"))


def test_code_behind_an_algorithm_holds_its_imports_and_not_its_siblings():
    roots = [estimators.import_class(estimators.find_target("rfdpp_gini")).__module__, "experiments.run.evaluate"]
    found = code_version._collect_imports(roots)
    assert {"algorithms.mechanisms", "algorithms.encoding.domain", "experiments.run.evaluate"} <= found
    assert (
        not {"algorithms", "algorithms.forests.diffprfs", "experiments.run.runner", "experiments.store.database"}
        & found
    )


def test_every_class_keeps_a_row_on_both_sides():
    nursery = datasets.load("nursery")  # its class `recommend` has two rows
    for repeat in range(20):
        train, test = split_rows(nursery, repeat, DEFAULT_PROTOCOL)
        assert sorted([*train, *test]) == list(range(12960))
        assert set(nursery.target[train]) == set(nursery.target[test]) == set(nursery.target)
        share = nursery.target[test].value_counts() / nursery.target.value_counts()
        assert np.allclose(share.drop("recommend"), 0.3, atol=0.002)


def test_the_split_is_paired_over_algorithms_and_new_in_each_repeat():
    car = datasets.load("car")
    assert np.array_equal(split_rows(car, 1, DEFAULT_PROTOCOL)[1], split_rows(car, 1, DEFAULT_PROTOCOL)[1])
    assert not np.array_equal(split_rows(car, 1, DEFAULT_PROTOCOL)[1], split_rows(car, 2, DEFAULT_PROTOCOL)[1])


def test_an_official_split_is_used_in_every_repeat():
    class Official:
        target, n_train = list(range(10)), 7

    assert [rows.tolist() for rows in split_rows(Official, 5, DEFAULT_PROTOCOL)] == [list(range(7)), [7, 8, 9]]


def test_metrics_agree_with_scikit_learn():
    data = datasets.load("car")
    train, test = split_rows(data, 0, DEFAULT_PROTOCOL)
    matrix, _ = data.domain.encode(data.frame)
    forest = estimators.make_estimator("random_forest", {"n_estimators": 3, "max_depth": 4}, random_state=0)
    cell = Cell("car", "random_forest", {"n_estimators": 3, "max_depth": 4}, 1.0, 0)
    forest.set_params(random_state=cell.seed)
    target = data.target.to_numpy().astype(str)
    predicted = forest.fit(matrix[train], target[train]).predict(matrix[test])
    metrics = evaluate_cell(cell).metrics
    assert metrics["accuracy"] == accuracy_score(target[test], predicted)
    for label in data.domain.target.categories:
        assert metrics[f"recall_{label}"] == recall_score(target[test], predicted, labels=[label], average="micro")
        precision = precision_score(target[test], predicted, labels=[label], average="micro", zero_division=np.nan)
        assert metrics[f"precision_{label}"] == pytest.approx(precision, nan_ok=True)


def test_errors_of_a_regression_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    target = rng.uniform(410, 490, 50)
    predicted = target + rng.normal(0, 5, 50)
    data = SimpleNamespace(domain=SimpleNamespace(target=Continuous("PE", 400, 500)))
    metrics = score_numbers(data.domain.target, target, predicted)
    assert list(metrics) == ["mse", "unit_mse", "r2"]
    assert metrics["mse"] == pytest.approx(mean_squared_error(target, predicted))
    assert metrics["unit_mse"] == pytest.approx(mean_squared_error((target - 400) / 100, (predicted - 400) / 100))
    assert metrics["r2"] == pytest.approx(r2_score(target, predicted))


def test_training_rows_can_be_asked_for():
    cell = replace(CELL, protocol=read_protocol({"evaluate_on": "train"}))
    assert (
        evaluate_cell(cell).metrics["accuracy"]
        > evaluate_cell(replace(cell, protocol=read_protocol({}))).metrics["accuracy"]
    )


def test_folds_are_predicted_by_models_that_have_not_seen_them():
    """Cross-validation by hand, of a model without randomness; every setting of a repeat has the same folds."""
    sizes = {"train_rows": {"unacc": 200, "acc": 100}, "test_rows": {"unacc": 100, "acc": 50}}
    cell = Cell("car", "original_rows", {"sigma": 0.0}, math.inf, 3, read_protocol(sizes | {"evaluate_on": "folds"}))
    data = datasets.load("car")
    train, _ = split_rows(data, 3, cell.protocol)
    X, y = data.frame.iloc[train], data.target.to_numpy().astype(str)[train]
    predicted = np.empty_like(y)
    for seen, left_out in StratifiedKFold(10, shuffle=True, random_state=3).split(X, y):
        model = ASNClassifier(sigma=0.0, domain=domain_of(data.domain, cell.protocol)).fit(X.iloc[seen], y[seen])
        predicted[left_out] = model.predict(X.iloc[left_out])
    assert evaluate_cell(cell).metrics["accuracy"] == pytest.approx((predicted == y).mean())


@pytest.mark.parametrize("name", ["decision_tree", "rdt"])
def test_probabilities_of_folds_are_those_of_models_that_have_not_seen_them(name):
    """By hand, of a model that takes a matrix and of one that takes columns with declared classes."""
    sizes = {"train_rows": {"unacc": 200, "acc": 100}, "test_rows": {"unacc": 100, "acc": 50}}
    protocol = read_protocol(sizes | {"evaluate_on": "folds"})
    cell = Cell("car", name, {}, math.inf, 3, protocol, metrics=("roc_auc",))
    data = datasets.load("car")
    train, _ = split_rows(data, 3, protocol)
    y, domain = data.target.to_numpy().astype(str)[train], domain_of(data.domain, protocol)
    X = data.frame.iloc[train].reset_index(drop=True) if name == "rdt" else data.domain.encode(data.frame)[0][train]
    shares = np.empty(len(y))
    for seen, left_out in StratifiedKFold(10, shuffle=True, random_state=3).split(y, y):
        rows, others = (X.iloc[left_out], X.iloc[seen]) if name == "rdt" else (X[left_out], X[seen])
        model = estimators.make_estimator(name, {}, epsilon=math.inf, domain=domain, random_state=cell.seed).fit(
            others, y[seen]
        )
        shares[left_out] = model.predict_proba(rows)[:, list(model.classes_).index("acc")]
    assert evaluate_cell(cell).metrics["roc_auc"] == pytest.approx(roc_auc_score(y == "acc", shares))


def test_a_private_forest_says_what_it_paid():
    privacy = evaluate_cell(Cell("car", "rfdpp_gini", {"n_estimators": 2, "max_depth": 2}, 1.0, 0)).details["privacy"]
    assert privacy["claimed_epsilon"] == 1.0 and privacy["accounted_epsilon"] == math.inf and not privacy["keeps_claim"]
    assert privacy["neighbours"] == "one record added or removed"
    assert privacy["accounted"] == {"one record added or removed": math.inf, "one record replaced": math.inf}
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
        ({"protocol.test_size": [1.0]}, r"protocol\.test_size: input should be less than 1"),
        ({"protocol.test_sice": [0.5]}, "did you mean 'test_size'"),
        ({"protocol.evaluate_on": ["both"]}, "input should be 'test', 'train' or 'folds'"),
        ({"dataset": ["wine_quality"]}, "regression"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_runs(values, message):
    with pytest.raises(BadInput, match=message):
        expand_grid({"dataset": ["car"], "algorithm": ["rfdpp_gini"], "epsilon": [1.0]} | values, repeats=1)


def test_epsilon_must_be_a_positive_number():
    assert read_epsilon(math.inf) == math.inf
    for wrong in (0, -1, math.nan, True, None, "x"):
        with pytest.raises(BadInput):
            read_epsilon(wrong)


PAIRS = """
repeats: 2
algorithms: {random_forest: {n_estimators: 3, min_samples_leaf: 2}}
studies:
  pairs:
    dataset: [car, nursery]
    algorithm: [random_forest, majority]
    epsilon: [0.5, 1, .inf]
    depends:
      n_estimators: {epsilon: {0.5: 10, 1.0: 5, .inf: 7}}
      max_depth: {dataset: {nursery: 4, car: 8}}
  lone:
    dataset: [car]
    algorithm: [random_forest, majority]
    epsilon: [0.5]
"""


def parse_keys(text):
    """Return a paper made of YAML as Hydra reads it, which has its own opinion on keys that are numbers."""
    return make_paper(**OmegaConf.to_container(OmegaConf.create(text), resolve=True))


def test_dependent_parameters_follow_their_axis():
    cells = cells_of_studies(parse_keys(PAIRS))["pairs"]
    assert len(cells) == 2 * 2 * 3 * 2
    for cell in cells:
        trees, depth = {0.5: 10, 1.0: 5, math.inf: 7}[cell.epsilon], {"car": 8, "nursery": 4}[cell.dataset]
        forest = {"n_estimators": trees, "max_depth": depth, "min_samples_leaf": 2}
        own = {} if cell.algorithm == "majority" else forest
        assert cell.params == estimators.merge_parameters(cell.algorithm) | own


def test_a_dependent_parameter_may_follow_another_parameter():
    study = {"dataset": ["car"], "algorithm": ["random_forest"], "epsilon": [1.0], "params": {"max_depth": [3, 5]}}
    study |= {"depends": {"n_estimators": {"params.max_depth": {3: 30, 5.0: 50}}}}
    cells = cells_of_studies(make_paper(repeats=1, studies={"s": study}))["s"]
    assert [(cell.params["max_depth"], cell.params["n_estimators"]) for cell in cells] == [(3, 30), (5, 50)]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.5: 10, ", "", "depends.n_estimators: epsilon = 0.5 must be named once"),
        ("0.5: 10, ", "0.5: 10, 2: 3, ", "depends.n_estimators: epsilon = 2 is not run by the study"),
        ("{epsilon: {", "{epsilom: {", "no axis 'epsilom' to follow; did you mean 'epsilon'"),
        ("{epsilon: {0.5: 10, 1.0: 5, .inf: 7}}", "{}", "depends.n_estimators: write {axis: {value: given, ...}}"),
        ("max_depth:", "depth:", "no algorithm of the study has a parameter 'depth'; did you mean 'max_depth'"),
        ("max_depth: {dataset", "random_state: {dataset", "random_state cannot be set as a parameter"),
        (
            "    depends:",
            "    params: {max_depth: 3}\n    depends:",
            "depends.max_depth: max_depth is an axis in params",
        ),
    ],
)
def test_a_study_that_depends_on_nothing_is_refused(old, new, message):
    assert old in PAIRS
    with pytest.raises(BadInput, match=message) as refusal:
        cells_of_studies(parse_keys(PAIRS.replace(old, new, 1)))
    assert str(refusal.value).startswith("study '") and "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "{epsilon: {0.5: 10, 1.0: 5, .inf: 7}}",
            "5",
            "studies.pairs.depends.n_estimators: write a mapping of keys to values, got 5",
        ),
        ("epsilon: [0.5, 1, .inf]", "epsilon: [0.5, 1, 1.0, .inf]", "studies.pairs: epsilon names a value twice"),
        ("  pairs:", "  a+b:", "studies: study 'a.b': choose a name without"),
        ("    dataset: [car, nursery]\n", "", "studies.pairs: the key 'dataset' is missing"),
        ("    algorithm: [random_forest, majority]\n", "", "studies.pairs: the key 'algorithm' is missing"),
        ("    depends:", "    depend:", "studies.pairs: unknown key 'depend'; did you mean 'depends'"),
    ],
)
def test_a_study_that_lacks_a_key_or_has_a_wrong_one_is_refused(old, new, message):
    assert old in PAIRS
    with pytest.raises(DocumentError, match=message) as refusal:
        parse_keys(PAIRS.replace(old, new, 1))
    assert "\n" not in str(refusal.value)


def test_a_paper_without_studies_is_refused():
    with pytest.raises(DocumentError, match="studies: the paper has no studies"):
        make_paper(studies={})


def test_cells_that_share_their_parameters_keep_their_own_epsilon_and_protocol_in_the_long_table():
    one = Cell("car", "majority", {}, 1.0, 0)
    cells = [one, replace(one, epsilon=2.0), replace(one, protocol=one.protocol.replaced(test_size=0.5))]
    table = long_table({"study": cells}, {}).set_index("key").loc[[cell.key for cell in cells]]
    assert table["epsilon"].tolist() == [1.0, 2.0, 1.0]
    assert (table["protocol.test_size"] == 0.5).tolist() == [False, False, True]


def test_cells_that_studies_share_count_once():
    paper = parse_keys(PAIRS)
    cells = cells_of_studies(paper)  # those of `majority` are the same in both, those of the forest are not
    distinct = {cell.key for study in cells.values() for cell in study}
    assert len(distinct) == 24 + 2
    done = {key: Record("done", Measured({"accuracy": 0.5}, 0.0)) for key in sorted(distinct)[:20]}
    table = long_table(cells, done)
    assert count_cells(paper, table) == (20, 26)
    assert count_cells(paper, table[table["study"] != "pairs+lone"])[1] == 28  # lost rows are asked for by each study
    assert count_cells(paper, table.iloc[:0]) == (0, 28)


@pytest.mark.parametrize(
    ("gone", "used"),
    [(set(), {}), ({"ihepc"}, {"ihepc": "ihepc_2007h1"}), ({"ihepc", "ihepc_2007h1"}, {}), ({"ihepc_2007h1"}, {})],
)
def test_a_substitute_runs_only_where_it_is_needed_and_there(gone, used, monkeypatch):
    monkeypatch.setattr(substitutes, "explain_missing", lambda names: dict.fromkeys(gone & names, "gone"))
    contents = {"instead": {"ihepc": "ihepc_2007h1"}, "labels": {"ihepc": "IHEPC", "ihepc_2007h1": "IHEPC (part)"}}
    study = {
        "dataset": ["ihepc"],
        "algorithm": ["fm"],
        "epsilon": [1],
        "depends": {"degree": {"dataset": {"ihepc": 2}}},
    }
    claim = {"id": "c", "kind": "printed", "numbers": ["n"], "text": "On IHEPC, not IHEPCs.", "own": True}
    contents |= {"number": 0, "title": "T", "repeats": 3, "studies": {"s": study}, "claims": [claim]}
    paper = prepare_paper(parse_paper(contents), 2)
    assert paper.used_instead == used and (paper.repeats, paper.repeats_asked) == (2, 3)
    assert {cell.dataset for cell in cells_of_studies(paper)["s"]} == {used.get("ihepc", "ihepc")}
    assert paper.claims[0].text == ("On IHEPC (part), not IHEPCs." if used else "On IHEPC, not IHEPCs.")
    assert paper.claims[0].numbers == ("n",) and paper.instead == contents["instead"]
    assert len(substitutes.describe_substitutes(paper.labels, paper.used_instead)) == len(used)


@pytest.mark.parametrize(
    ("instead", "message"), [({"ihepc": "ihepd"}, "unknown data set 'ihepd'"), ({"car": "nursery"}, "cannot stand in")]
)
def test_a_substitute_must_have_the_same_columns(instead, message):
    with pytest.raises(BadInput, match=message):
        substitutes.find_substitutes(instead)


def test_substitutes_are_named_by_pairs():
    with pytest.raises(DocumentError, match="instead: write a mapping of keys to values, got 'car'"):
        make_paper(instead="car")


VALUES = (None, math.nan, True, False, 0, 1, 1.0, 3, 0.1, 0.1 + 1e-17, 0.10001, math.inf, -math.inf, np.int64(3))
WORDS = ("", "0.1", "1", "1.0", "True", "inf", "nan", "None", "rdt", np.str_("rdt"))


@pytest.mark.parametrize("one", VALUES + WORDS, ids=repr)
def test_two_values_are_the_same_where_a_column_of_the_one_matches_the_other(one):
    column = pd.Series([one], dtype=object)
    for other in VALUES + WORDS:
        assert is_same_value(one, other) == match_column(column, other)[0], other


@pytest.mark.long
@pytest.mark.parametrize("path", sorted(paths.PAPERS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_paper_can_be_published_as_far_as_can_be_told_before_it_runs(path):
    resolve_paper(read_paper(path.stem).replaced(repeats=2))


def test_a_table_of_no_kind_is_refused_before_anything_runs():
    with pytest.raises(DocumentError, match=r"tables\.0: kind 'girdle' is not known; did you mean 'grid'\?"):
        make_paper(tables=[{"id": "table-1", "title": "T", "kind": "girdle"}])
