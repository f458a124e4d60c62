"""Cross-validation as a protocol: every row is tested once, classes are spread, groups stay together, time goes on."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score

import datasets
from algorithms import Continuous, Domain, Nominal, RDTClassifier
from datasets import catalogue
from experiments.cells.cell import Cell
from experiments.cells.grid import expand_grid
from experiments.config import estimators
from experiments.config.paper import Paper
from experiments.config.protocol import read_protocol
from experiments.errors import BadInput
from experiments.metrics.find import find_metric
from experiments.questions.group_claim import has_random_split
from experiments.questions.preflight import check_metrics
from experiments.run.copies import describe_split, measure_copies
from experiments.run.evaluate import average_folds, evaluate_cell
from experiments.run.splits import domain_of, list_splits, split_rows, take_ranges
from experiments.store.record import Measured
from tests.command_line import exit_code


def list_sides(name, repeat=0, **protocol):
    return list_splits(datasets.load(name), repeat, read_protocol(protocol))


def make_cell(dataset="car", algorithm="majority", repeat=0, metrics=(), **protocol):
    return Cell(dataset, algorithm, {}, math.inf, repeat, read_protocol(protocol), metrics)


def test_every_row_is_tested_once_and_classes_are_spread_evenly():
    sides = list_sides("car", folds=5)
    target = datasets.load("car").target.to_numpy()
    assert sorted(np.concatenate([test for _, test in sides])) == list(range(1728))
    for train, test in sides:
        assert not set(train) & set(test)
        assert len(train) + len(test) == 1728
        assert abs((target[test] == "unacc").sum() - 1210 / 5) < 1
        assert abs((target[test] == "vgood").sum() - 65 / 5) < 1


def test_folds_are_the_same_for_every_algorithm_and_drawn_anew_in_each_repeat():
    first, again, other = (list_sides("car", repeat, folds=5) for repeat in (0, 0, 1))
    assert [test.tolist() for _, test in first] == [test.tolist() for _, test in again]
    assert [test.tolist() for _, test in first] != [test.tolist() for _, test in other]


def test_folds_in_order_test_on_rows_after_the_training_rows_and_never_change():
    sides = list_sides("daily_demand", folds=4, split="in_order")
    assert all(train.max() < test.min() for train, test in sides)
    assert [test.tolist() for _, test in sides] == [
        test.tolist() for _, test in list_sides("daily_demand", 7, folds=4, split="in_order")
    ]
    assert read_protocol({"folds": 4, "split": "in_order"}).is_fixed(False)
    assert not read_protocol({"folds": 4}).is_fixed(True)


@pytest.mark.parametrize("options", [{"folds": 3}, {}, {"folds": 2, "rows": "balanced"}])
def test_rows_of_one_group_are_on_one_side_and_the_column_is_no_feature(options):
    data, protocol = datasets.load("car"), read_protocol({"groups": "doors", **options})
    doors = data.frame["doors"].to_numpy()
    for repeat in range(3):
        for train, test in list_splits(data, repeat, protocol):
            assert len(train) and len(test)
            assert not set(doors[train]) & set(doors[test])
    assert [feature.name for feature in domain_of(data.domain, protocol).features] == [
        "buying",
        "maint",
        "persons",
        "lug_boot",
        "safety",
    ]


def test_a_split_by_groups_takes_the_share_of_groups_and_the_algorithm_never_sees_the_column(monkeypatch):
    seen = []
    fit = RDTClassifier.fit
    monkeypatch.setattr(RDTClassifier, "fit", lambda self, X, y: seen.append(list(X.columns)) or fit(self, X, y))
    measured = evaluate_cell(
        Cell(
            "car",
            "rdt",
            {"n_estimators": 3, "max_depth": 3},
            1.0,
            0,
            read_protocol({"groups": "doors", "test_size": 0.25}),
        )
    )
    assert all(columns == ["buying", "maint", "persons", "lug_boot", "safety"] for columns in seen)
    assert 0 < measured.metrics["accuracy"] < 1


def test_ranges_of_the_training_rows_are_what_algorithms_are_told_and_every_account_says_so(monkeypatch):
    told = []
    fit = RDTClassifier.fit
    monkeypatch.setattr(RDTClassifier, "fit", lambda self, X, y: told.append((self.domain, X)) or fit(self, X, y))
    shape = {"n_estimators": 3, "max_depth": 3}
    cells = [Cell("pima", "rdt", shape, 1.0, 0, read_protocol({"ranges": r})) for r in ("declared", "training_rows")]
    declared, taken = map(evaluate_cell, cells)
    domain, rows = told[-1]
    for feature in domain.features:
        assert (feature.lower, feature.upper) == (rows[feature.name].min(), rows[feature.name].max())
    faults = [run.details["privacy"]["data_faults"] for run in (declared, taken)]
    assert "age" not in faults[0][0]["why"] and "and 4 more columns" in faults[1][0]["why"]
    assert domain.bounds_from_rows[-1] == "age" and told[0][0].features[-1].upper == 100
    assert "ranges" not in cells[0].identity and '"ranges":"training_rows"' in cells[1].identity


def test_a_column_with_one_value_keeps_its_declared_range():
    domain = Domain([Continuous("x", 0, 9), Continuous("z", 0, 9)], Nominal("y", (0, 1)))
    taken = take_ranges(domain, np.array([[2.0, 5.0], [3.0, 5.0]]))
    assert taken.features == (Continuous("x", 2, 3), Continuous("z", 0, 9)) and taken.bounds_from_rows == ("x",)


def test_a_cell_gives_the_mean_over_its_folds_and_its_standard_error_as_scikit_learn_has_them():
    measured = evaluate_cell(make_cell(algorithm="linear_regression", dataset="daily_demand", folds=5)).metrics
    data = datasets.load("daily_demand")
    sides = list_sides("daily_demand", folds=5)
    matrix, _ = data.domain.encode(data.frame)
    scores = cross_val_score(LinearRegression(), matrix, data.target.to_numpy(dtype=float), cv=sides, scoring="r2")
    assert measured["r2"] == pytest.approx(scores.mean())
    assert measured["r2_se"] == pytest.approx(scores.std(ddof=1) / math.sqrt(5))


def test_shares_of_the_majority_are_those_of_each_fold():
    measured = evaluate_cell(make_cell(folds=4)).metrics
    target = datasets.load("car").target.to_numpy()
    shares = [(target[test] == "unacc").mean() for _, test in list_sides("car", folds=4)]
    assert measured["accuracy"] == pytest.approx(np.mean(shares))
    assert measured["accuracy_se"] == pytest.approx(np.std(shares, ddof=1) / 2)
    assert measured["recall_unacc"] == 1.0
    assert math.isnan(measured["precision_acc"])  # no fold predicts it


def test_each_fold_has_noise_of_its_own(monkeypatch):
    seeds, make = [], estimators.make_estimator
    monkeypatch.setattr(
        estimators,
        "make_estimator",
        lambda *a, random_state, **k: seeds.append(random_state) or make(*a, random_state=random_state, **k),
    )
    evaluate_cell(make_cell(folds=3))
    evaluate_cell(make_cell(folds=3))
    assert len(set(seeds[:3])) == 3
    assert seeds[:3] == seeds[3:]


def test_the_account_of_a_cell_is_the_largest_of_its_folds():
    runs = [Measured({"accuracy": value}, 1.0, {"privacy": {"accounted_epsilon": value}}) for value in (0.5, 0.75)]
    assert average_folds(runs).details["privacy"]["accounted_epsilon"] == 0.75


def test_no_metric_of_a_class_is_the_standard_error_of_another():
    runs = [Measured({"recall_sv": value, "recall_sv_se": value}, 1.0) for value in (0.2, 0.4)]
    with pytest.raises(BadInput, match="recall_sv_se would be a metric and the standard error of recall_sv"):
        average_folds(runs)


def test_metrics_that_are_asked_for_have_a_standard_error_too_and_say_why_they_are_undefined():
    measured = evaluate_cell(
        make_cell(dataset="nursery", algorithm="random_forest", metrics=("f1_macro", "roc_auc_ovr"), folds=3)
    )
    assert 0 < measured.metrics["f1_macro_se"] < 0.1
    assert math.isnan(measured.metrics["roc_auc_ovr"])  # two rows of "recommend": a fold has none
    assert "roc_auc_ovr" in measured.details["undefined"]
    assert (find_metric("f1_macro_se").is_in_per_cent, find_metric("f1_macro_se").is_error) == (True, True)


def test_groups_of_an_official_split_are_refused_but_not_its_folds(monkeypatch):
    entry = catalogue.read_entry("adult")
    assert entry.n_train is not None
    column = entry.domain.features[0].name
    grid = {"dataset": ["adult"], "algorithm": ["majority"], "epsilon": [1.0]}
    with pytest.raises(BadInput, match="'adult' has an official split"):
        expand_grid(grid, 1, protocol={"groups": column})
    ((cell,),) = expand_grid(grid, 1, protocol={"groups": column, "folds": 5})
    assert cell.protocol.folds == 5


def test_papers_may_compare_a_mean_over_folds_and_its_standard_error_with_print():
    study = {"dataset": "car", "algorithm": "majority", "protocol": {"folds": 5}, "metrics": ["f1_macro"]}
    paper = Paper(number=0, title="T", studies={"grid": study, "plain": {"dataset": "car", "algorithm": "majority"}})
    check_metrics(paper, "table 't'", "grid", {}, ["accuracy", "accuracy_se", "f1_macro_se"])
    with pytest.raises(BadInput, match="accuracy_se"):
        check_metrics(paper, "table 't'", "plain", {}, ["accuracy_se"])
    assert has_random_split(paper.studies["plain"], "car")
    assert not has_random_split(paper.studies["grid"], "car")


def test_folds_are_told_in_words_and_copies_counted_over_them():
    assert describe_split(datasets.load("car"), read_protocol({"folds": 5})) == "5 folds"
    assert describe_split(datasets.load("car"), read_protocol({"folds": 5, "groups": "doors"})) == "5 folds by doors"
    assert (
        describe_split(datasets.load("car"), read_protocol({"groups": "doors"}))
        == "30 % test rows, drawn at random by doors"
    )
    assert measure_copies(datasets.load("car"), read_protocol({"folds": 5}), 1) == 0.0


class Official:
    """Six rows, of which the last two are the test rows of whoever published them."""

    frame = pd.DataFrame({"a": list("xxyyzz")})
    target = pd.Series(list("pppqqq"))
    domain = Domain((Nominal("a", ("x", "y", "z")),), Nominal("t", ("p", "q")))
    n_train = 4
    task = "classification"
    fingerprint = "official"


def test_folds_of_an_official_split_are_of_all_rows():
    assert split_rows(Official, 0, read_protocol({}))[1].tolist() == [4, 5]
    tested = [test.tolist() for _, test in list_splits(Official, 0, read_protocol({"folds": 3}))]
    assert sorted(row for rows in tested for row in rows) == list(range(6))
    assert all({Official.target[row] for row in rows} == {"p", "q"} for rows in tested)


PAPER = """
number: folds
title: "A paper that cross-validates"
reported: folds.csv
repeats: 20
most_repeats: 40
studies:
  grid: {dataset: car, algorithm: [random_forest, majority],
    depends: {n_estimators: {algorithm: {random_forest: 2, majority: 2}}},
    protocol: {folds: 3}, metrics: [f1_macro, roc_auc_ovr]}
tables:
  - {id: table-1, title: "F1", kind: grid, study: grid, rows: dataset, columns: algorithm, metric: f1_macro}
figures:
  - {id: figure-1, title: "AUC", study: grid, x: dataset, lines: algorithm, metric: roc_auc_ovr}
claims:
  - {id: above, text: "The forest is better.", says: "It is better.", source: "page 1", kind: above,
     study: grid, better: random_forest, worse: majority, within: [dataset], metric: f1_macro}
"""
PRINTED = """\
id,table,dataset,algorithm,epsilon,metric,statistic,value,decimals,source
f1,table-1,car,majority,inf,f1_macro,mean,0.2059,2,Table 1
auc,table-1,car,majority,inf,roc_auc_ovr,mean,0.50,2,Table 1
error,table-1,car,majority,inf,accuracy_se,mean,0.0006,2,Table 1
wrong,table-1,car,majority,inf,accuracy_se,mean,0.0100,2,Table 1
"""


@pytest.mark.long
def test_a_paper_of_folds_and_scikit_learns_metrics_gets_verdicts_a_table_and_a_figure(tmp_path, without_pdf):
    (tmp_path / "own" / "paper").mkdir(parents=True)
    (tmp_path / "own" / "paper" / "folds.yaml").write_text(PAPER)
    (tmp_path / "own" / "paper" / "folds.csv").write_text(PRINTED)
    words = ["--config-dir", tmp_path / "own", "paper=folds", f"results={tmp_path / 'results'}", "executor.jobs=1"]
    assert exit_code(*words) == 0
    folder = tmp_path / "results" / "paper-folds"
    verdicts = pd.read_csv(folder / "numbers.csv").set_index("id")["verdict"]
    assert verdicts.to_dict() == {"f1": "reproduced", "auc": "reproduced", "error": "reproduced", "wrong": "refuted"}
    (claim,) = json.loads((folder / "claims.json").read_text())["claims"]
    assert claim["verdict"] == "reproduced"
    cells = pd.read_csv(folder / "cells.csv").query("repeat < 20").groupby("algorithm").mean(numeric_only=True)
    table = pd.read_csv(folder / "tables" / "table-1.csv").set_index("algorithm")
    assert table["mean"].to_dict() == pytest.approx(cells["f1_macro"].to_dict())
    figure = pd.read_csv(folder / "figures" / "figure-1.csv").set_index("algorithm")
    assert figure["mean"].to_dict() == pytest.approx(cells["roc_auc_ovr"].to_dict())
