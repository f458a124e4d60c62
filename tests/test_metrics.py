"""Metrics by scikit-learn's names: the numbers that scikit-learn gives, refusals before anything runs, asking again."""

import json
import math
import textwrap

import numpy as np
import pytest
from sklearn import metrics as theirs
from sklearn.metrics import get_scorer

import datasets
from documents import search_path
from experiments.catalogue.metrics import describe_metric
from experiments.cells.cell import Cell
from experiments.cells.grid import expand_grid
from experiments.cells.study_cells import cells_of_studies
from experiments.config import estimators
from experiments.config.paper import Paper
from experiments.config.protocol import DEFAULT_PROTOCOL
from experiments.errors import BadInput
from experiments.metrics import own as own_metrics
from experiments.metrics.find import ask_needs, find_metric, list_available, select_extra
from experiments.metrics.metric import Metric, MetricRange
from experiments.metrics.scores import score_asked
from experiments.metrics.scoring import FittedClassifier, FittedRegressor
from experiments.questions.group_claim import find_margin
from experiments.questions.preflight import check_metrics
from experiments.run.dry_run import describe_plan
from experiments.run.evaluate import evaluate_cell
from experiments.run.executors.executor import Executor
from experiments.run.more_metrics import keep_asked
from experiments.run.runner import run_cells
from experiments.run.splits import split_rows
from experiments.store.database import Store
from experiments.store.record import Measured, Record
from tests.command_line import exit_code

PARAMS = {"n_estimators": 5, "max_depth": 4}
OF_CLASSES = (
    "balanced_accuracy",
    "f1_macro",
    "f1_weighted",
    "matthews_corrcoef",
    "neg_log_loss",
    "roc_auc_ovr",
    "jaccard_micro",
)
OF_NUMBERS = (
    "rmse",
    "mae",
    "median_absolute_error",
    "explained_variance",
    "neg_mean_absolute_error",
    "max_error",
    "mape",
)


def fit_by_hand(cell):
    """Return scikit-learn's own model of a cell with the rows that it is tested on, as text and numbers."""
    data = datasets.load(cell.dataset)
    train, test = split_rows(data, cell.repeat, DEFAULT_PROTOCOL)
    matrix, _ = data.domain.encode(data.frame)
    target = data.target.to_numpy()
    model = estimators.make_estimator(
        cell.algorithm, cell.params, epsilon=math.inf, domain=data.domain, random_state=cell.seed
    )
    return model.fit(matrix[train], target[train]), matrix[test], target[test]


@pytest.mark.parametrize(
    ("dataset", "algorithm", "names"),
    [("car", "extra_trees", OF_CLASSES), ("daily_demand", "extra_trees_regressor", OF_NUMBERS[3:5])],
)
def test_metrics_are_those_that_scikit_learns_scorers_give_of_the_same_model(dataset, algorithm, names):
    cell = Cell(dataset, algorithm, estimators.merge_parameters(algorithm, PARAMS), math.inf, 1, metrics=tuple(names))
    model, rows, actual = fit_by_hand(cell)
    measured = evaluate_cell(cell).metrics
    for name in names:
        assert measured[name] == pytest.approx(get_scorer(name)(model, rows, actual), rel=1e-12), name


def test_errors_by_their_own_names_are_those_of_sklearn_metrics():
    rng = np.random.default_rng(3)
    actual, predicted = rng.uniform(1, 2, 40), rng.uniform(1, 2, 40)
    found, reasons = score_asked(OF_NUMBERS, FittedRegressor(predicted), actual)
    errors = actual - predicted
    assert found["rmse"] == pytest.approx(math.sqrt(np.mean(errors**2)))
    assert found["mae"] == pytest.approx(np.mean(np.abs(errors)))
    assert found["mae"] == -found["neg_mean_absolute_error"]
    assert found["median_absolute_error"] == pytest.approx(np.median(np.abs(errors)))
    assert found["max_error"] == pytest.approx(np.abs(errors).max())
    assert found["mape"] == pytest.approx(np.mean(np.abs(errors) / actual))
    assert found["explained_variance"] == pytest.approx(1 - errors.var() / actual.var())
    assert reasons == {}


def test_the_positive_class_is_the_last_of_the_alphabet_whatever_order_the_domain_declares():
    actual, predicted = np.array(["no", "no", "yes", "yes", "yes"]), np.array(["no", "yes", "yes", "yes", "no"])
    declared = np.array(["yes", "no"])
    shares = np.array([[0.1, 0.9], [0.6, 0.4], [0.9, 0.1], [0.55, 0.45], [0.2, 0.8]])
    said = FittedClassifier(declared, predicted, shares)
    found, _ = score_asked(["f1", "recall", "roc_auc", "log_loss"], said, actual)
    assert found["f1"] == theirs.f1_score(actual, predicted, pos_label="yes") == pytest.approx(2 / 3)
    assert found["recall"] == pytest.approx(2 / 3)
    assert found["roc_auc"] == pytest.approx(4 / 6)  # of six pairs of a yes and a no, four in the right order
    assert found["log_loss"] == pytest.approx(-np.log([0.9, 0.4, 0.9, 0.55, 0.2]).mean())


def test_classes_without_a_test_row_count_in_the_log_loss_and_make_an_auc_undefined():
    actual = np.array(["a", "b", "a"])
    shares = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.5, 0.25, 0.25]])
    said = FittedClassifier(np.array(["a", "b", "c"]), np.array(["a", "b", "a"]), shares)
    found, reasons = score_asked(["log_loss", "roc_auc_ovr"], said, actual)
    assert found["log_loss"] == pytest.approx(-np.log([0.7, 0.6, 0.5]).mean())
    assert math.isnan(found["roc_auc_ovr"])
    assert "classes" in reasons["roc_auc_ovr"]


def test_what_a_metric_needs_is_found_by_asking_its_scorer():
    needs = {name: ask_needs(name) for name in list_available("classification")}
    with_shares = {name for name, need in needs.items() if need.probabilities}
    assert {
        "neg_log_loss",
        "roc_auc",
        "roc_auc_ovo",
        "neg_brier_score",
        "average_precision",
        "top_k_accuracy",
    } <= with_shares
    assert not {"f1_macro", "balanced_accuracy", "matthews_corrcoef", "precision"} & with_shares
    of_two = {name for name, need in needs.items() if need.two_classes}
    assert {"f1", "precision", "recall", "jaccard", "roc_auc", "positive_likelihood_ratio"} <= of_two
    assert not {"f1_macro", "roc_auc_ovr", "average_precision"} & of_two


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_name_is_one_of_scikit_learns_and_has_a_range_that_holds_its_values(task):
    rng = np.random.default_rng(5)
    if task == "regression":
        actual, said = rng.uniform(1, 2, 30), FittedRegressor(rng.uniform(1, 2, 30))
    else:
        classes = np.array(["a", "b"])
        shares = rng.dirichlet([1, 1], 30)
        actual = classes[rng.integers(0, 2, 30)]
        said = FittedClassifier(classes, classes[shares.argmax(axis=1)], shares)
    found, reasons = score_asked(list_available(task), said, actual)
    assert reasons == {}
    for name, value in found.items():
        low, high = find_metric(name).range
        assert low <= value <= high, name


def test_every_scorer_of_scikit_learn_that_speaks_of_one_label_for_a_row_is_known():
    of_clusters = {"adjusted_mutual_info_score", "adjusted_rand_score", "completeness_score", "fowlkes_mallows_score"}
    of_clusters |= {
        "homogeneity_score",
        "mutual_info_score",
        "normalized_mutual_info_score",
        "rand_score",
        "v_measure_score",
    }
    of_several = {name for name in theirs.get_scorer_names() if name.endswith("_samples")}
    known = {*list_available("classification"), *list_available("regression"), "accuracy", "r2"}
    assert set(theirs.get_scorer_names()) - of_clusters - of_several <= known


def test_directions_and_margins_follow_from_the_metric():
    assert [find_metric(name).is_error for name in ("log_loss", "neg_log_loss", "rmse", "f1_macro")] == [
        True,
        False,
        True,
        False,
    ]
    assert find_metric("matthews_corrcoef").range == MetricRange(-1.0, 1.0)
    assert find_metric("explained_variance").margin.floor == 0.0
    assert find_metric("mae").margin.is_share
    assert find_metric("something_else") == Metric("something_else")
    paper = Paper(
        number=0, title="T", studies={"s": {"dataset": "car", "algorithm": "rdt"}}, resolution={"roc_auc_ovr": 0.02}
    )
    assert (find_margin(paper, "roc_auc_ovr").size, find_margin(paper, "roc_auc_ovo").size) == (0.02, 0.01)


@pytest.mark.parametrize(
    ("grid", "metrics", "says"),
    [
        (
            {"dataset": "car", "algorithm": "majority"},
            ["f1_makro"],
            "'car' has no metric 'f1_makro'; did you mean 'f1_macro'?",
        ),
        (
            {"dataset": "car", "algorithm": "majority"},
            ["rmse"],
            "'car' has no metric 'rmse'; it is one of a regression",
        ),
        (
            {"dataset": "car", "algorithm": "majority"},
            ["f1"],
            "'f1' is defined for two classes, and 'car' has 4; take f1_macro",
        ),
        ({"dataset": "car", "algorithm": "pfdpdt"}, ["accuracy_se"], "set protocol.folds=5"),
        (
            {"dataset": "car", "algorithm": "dp_sgd"},
            ["neg_log_loss"],
            "needs probabilities, and algorithm",
        ),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_runs(grid, metrics, says):
    with pytest.raises(BadInput) as refused:
        expand_grid(
            {"dataset": [grid["dataset"]], "algorithm": [grid["algorithm"]], "epsilon": [1.0]}, 1, metrics=metrics
        )
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_paper_asks_for_metrics_in_its_studies():
    study = {"dataset": "car", "algorithm": "majority", "metrics": ["f1_macro"]}
    paper = Paper(number=0, title="T", studies={"grid": study, "bare": {"dataset": "car", "algorithm": "majority"}})
    assert {cell.metrics for cell in cells_of_studies(paper, 1)["grid"]} == {("f1_macro",)}
    check_metrics(paper, "table 't'", "grid", {}, ["f1_macro", "recall_acc"])
    with pytest.raises(
        BadInput, match=r"study 'bare' does not measure 'f1_macro'; add it there: metrics: \[f1_macro\]"
    ):
        check_metrics(paper, "table 't'", "bare", {}, ["f1_macro"])
    with pytest.raises(BadInput, match="car has no metric 'f1_makro'"):
        check_metrics(paper, "table 't'", "grid", {}, ["f1_makro"])


def list_cells(metrics=(), repeats=2, algorithm="majority"):
    (cells,) = expand_grid({"dataset": ["car"], "algorithm": [algorithm], "epsilon": [1.0]}, repeats, metrics=metrics)
    return cells


def list_forests(metrics=(), repeats=2):
    return list_cells(metrics, repeats, "random_forest")


def test_one_more_metric_runs_the_cells_again_that_lack_it_and_the_others_keep_their_digits(tmp_path):
    here = Executor(jobs=1)
    with Store(tmp_path / "store.sqlite") as store:
        run_cells(list_forests(), store, here)
        plain = store.get({cell.key for cell in list_forests()})
        assert (run_cells(list_forests(["f1_macro"], 3), store, here).done, len(store.done())) == (3, 3)
        assert run_cells(list_forests(["f1_macro"], 3), store, here).reused == 3
        plan = describe_plan(list_forests(["jaccard_macro"], 3), tmp_path / "store.sqlite", here)
        assert "3 cells: 0 in" in plan and "3 to run" in plan
        assert run_cells(list_forests(["jaccard_macro"], 1), store, here).done == 1
        found = store.get({cell.key for cell in list_forests(repeats=3)})
    for key, record in plain.items():
        assert record.measured.metrics.items() <= found[key].measured.metrics.items()
    first = list_forests(["f1_macro"], 1)[0]
    assert found[first.key].measured.metrics["f1_macro"] == evaluate_cell(first).metrics["f1_macro"]
    has_both = ["jaccard_macro" in found[cell.key].measured.metrics for cell in list_forests(repeats=3)]
    assert has_both == [True, False, False]


def test_two_studies_that_ask_one_cell_for_different_metrics_run_it_once(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        cells = [*list_cells(["f1_macro"], 1), *list_cells(["balanced_accuracy"], 1), *list_cells((), 1)]
        assert run_cells(cells, store, Executor(jobs=1)).done == 1
        (record,) = store.get({cells[0].key}).values()
    assert {"f1_macro", "balanced_accuracy"} <= record.measured.metrics.keys()


def test_a_record_keeps_what_is_asked_and_what_is_always_measured():
    (cell,) = list_cells(["f1_macro"], 1)
    asked = ["accuracy", "recall_acc", "f1_macro", "accuracy_se", "f1_macro_se", "noise_scale_counts"]
    of_others = ["jaccard_macro", "jaccard_macro_se", "theirs", "theirs_se"]
    measured = Measured(dict.fromkeys([*asked, *of_others], 0.5), 0.1, {"own_metrics": {"theirs": "version"}})
    kept = keep_asked([cell], {cell.key: Record("done", measured)})
    assert list(kept[cell.key].measured.metrics) == asked


@pytest.fixture
def folder_of_own(tmp_path, monkeypatch):
    """A folder of the catalogue with a metric, an estimator without a seed, and one that fails at its second fit."""
    (tmp_path / "metric").mkdir()
    (tmp_path / "algorithm").mkdir()
    (tmp_path / "metric" / "rarest.yaml").write_text(
        "_target_: metric_of_a_test.find_recall\ntask: classification\nbetter: higher\nlow: 0\nhigh: 1\nmargin: 0.02\n"
        "per_cent: true\nparameters: {label: vgood}\n"
    )
    (tmp_path / "metric_of_a_test.py").write_text(
        textwrap.dedent("""
        def find_recall(actual, predicted, label):
            return float((predicted[actual == label] == label).mean())
        """)
    )
    (tmp_path / "algorithm" / "unseeded.yaml").write_text("_target_: estimators_of_a_test.Unseeded\n")
    (tmp_path / "algorithm" / "failing.yaml").write_text("_target_: estimators_of_a_test.Failing\n")
    (tmp_path / "estimators_of_a_test.py").write_text(
        textwrap.dedent("""
        import numpy as np
        from sklearn.base import BaseEstimator, ClassifierMixin

        class Unseeded(ClassifierMixin, BaseEstimator):
            def fit(self, X, y):
                self.classes_ = np.unique(y)
                return self

            def predict(self, X):
                return np.random.default_rng().choice(self.classes_, len(X))

        class Failing(Unseeded):
            fits = 0

            def fit(self, X, y):
                Failing.fits += 1
                if Failing.fits > 1:
                    raise ValueError("no more")
                return super().fit(X, y)
        """)
    )
    monkeypatch.setenv("DPREPLICA_CATALOGUE", "")
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    search_path.use_folders([tmp_path])
    yield tmp_path
    search_path.use_folders([])
    own_metrics.import_function.cache_clear()
    for module in ("metric_of_a_test", "estimators_of_a_test"):
        __import__("sys").modules.pop(module, None)


def test_a_metric_of_ones_own_is_measured_with_what_its_file_says_of_it(folder_of_own):
    assert select_extra("car", ["rarest"]) == ("rarest",)
    found = find_metric("rarest")
    assert (found.range, found.margin.size, found.is_error, found.is_in_per_cent) == (
        MetricRange(0, 1),
        0.02,
        False,
        True,
    )
    cell = list_cells(["rarest"], 1, "random_forest")[0]
    measured = evaluate_cell(cell)
    assert measured.metrics["rarest"] == measured.metrics["recall_vgood"]
    assert set(measured.details["own_metrics"]) == {"rarest"}


def test_any_function_of_a_library_may_be_a_metric(folder_of_own):
    (folder_of_own / "metric" / "f2.yaml").write_text(
        "_target_: sklearn.metrics.fbeta_score\ntask: classification\nbetter: higher\nlow: 0\nhigh: 1\nmargin: 0.01\n"
        "parameters: {beta: 2, average: macro}\n"
    )
    cell = list_cells(["f2"], 1, "random_forest")[0]
    data = datasets.load("car")
    train, test = split_rows(data, 0, DEFAULT_PROTOCOL)
    target = data.target.to_numpy()
    model = estimators.make_estimator("random_forest", cell.params, epsilon=1.0, domain=None, random_state=cell.seed)
    matrix, _ = data.domain.encode(data.frame)
    predicted = model.fit(matrix[train], target[train]).predict(matrix[test])
    expected = theirs.fbeta_score(target[test], predicted, beta=2, average="macro")
    assert evaluate_cell(cell).metrics["f2"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("better: higher", "the key 'better' is missing"),
        ("margin: 0.02", "the key 'margin' is missing"),
        ("low: 0", "the key 'low' is missing"),
        ("_target_: metric_of_a_test.find_recall", "_target_, the import path of the metric's function, is missing"),
    ],
)
def test_a_file_of_a_metric_that_says_too_little_is_refused_in_one_line(folder_of_own, change, says):
    file = folder_of_own / "metric" / "rarest.yaml"
    file.write_text(file.read_text().replace(f"{change}\n", ""))
    with pytest.raises(ValueError, match=says):
        select_extra("car", ["rarest"])


def test_a_stored_value_of_a_metric_whose_code_has_changed_is_measured_anew(folder_of_own, tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        cells = list_cells(["rarest"], 1)
        run_cells(cells, store, Executor(jobs=1))
        assert run_cells(cells, store, Executor(jobs=1)).reused == 1
        file = folder_of_own / "metric" / "rarest.yaml"
        file.write_text(file.read_text().replace("label: vgood", "label: unacc"))
        assert run_cells(cells, store, Executor(jobs=1)).done == 1
        (record,) = store.get({cells[0].key}).values()
    assert record.measured.metrics["rarest"] == 1.0  # the majority is unacc


def test_an_algorithm_that_does_not_keep_to_its_seed_is_named_when_it_is_run_again(folder_of_own, tmp_path, capsys):
    with Store(tmp_path / "store.sqlite") as store:
        run_cells(list_cells((), 2, "unseeded"), store, Executor(jobs=1))
        assert "seed" not in capsys.readouterr().err
        run_cells(list_cells(["f1_macro"], 2, "unseeded"), store, Executor(jobs=1))
    assert "unseeded does not keep to its seed: run again, 2 of its cells gave other metrics" in capsys.readouterr().err


def test_a_cell_that_fails_when_it_is_run_again_keeps_what_it_had(folder_of_own, tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        cells = list_cells((), 1, "failing")
        assert run_cells(cells, store, Executor(jobs=1)).done == 1
        outcome = run_cells(list_cells(["f1_macro"], 1, "failing"), store, Executor(jobs=1))
        assert [error for _, error in outcome.failures] == ["ValueError: no more"]
        assert store.get({cells[0].key})[cells[0].key].measured.metrics["accuracy"] > 0


@pytest.mark.parametrize(
    "name", [*list_available("classification"), *list_available("regression"), "accuracy", "r2_se"]
)
def test_every_metric_is_described_on_a_screen(name):
    lines = describe_metric(name).splitlines()
    assert lines[0].startswith(f"{name}: ")
    assert max(map(len, lines)) <= 80
    labels = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert {"Whose", "Range", "Margin", "Run"} <= set(labels)


def test_metrics_are_listed_by_task_and_described_by_name(folder_of_own, capsys):
    assert exit_code("--config-dir", folder_of_own, "list", "metrics", "task=classification", "output=json") == 0
    rows = {row["name"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert {"accuracy", "f1_macro", "log_loss", "rarest"} <= rows.keys()
    assert rows["rarest"]["group"] == "own" and "rmse" not in rows
    assert exit_code("--config-dir", folder_of_own, "describe", "metric=rarest,rmse") == 0
    shown = capsys.readouterr().out
    assert "yours: metric_of_a_test.find_recall, of classes" in shown and "from 0; less is better" in shown
    assert exit_code("describe", "metric=rnse") == 2
    assert capsys.readouterr().err.splitlines() == ["error: there is no metric 'rnse'; did you mean 'rmse'?"]


def test_output_has_what_was_asked_for_and_nothing_that_another_command_asked_for(tmp_path, capsys):
    words = ["dataset=car", "algorithm=majority", "repeats=2", "output=json", "executor.jobs=1", f"results={tmp_path}"]
    assert exit_code(*words, "metrics=f1_macro,recall_acc") == 0
    assert [json.loads(line)["metric"] for line in capsys.readouterr().out.splitlines()] == ["f1_macro", "recall_acc"]
    assert exit_code(*words) == 0
    assert [json.loads(line)["metric"] for line in capsys.readouterr().out.splitlines()] == ["accuracy", "fit_seconds"]
    assert exit_code(*words, "metrics=accuracy", "protocol.folds=3") == 0
    assert [json.loads(line)["metric"] for line in capsys.readouterr().out.splitlines()] == ["accuracy", "accuracy_se"]


def test_why_a_metric_is_undefined_is_said_once(tmp_path, capsys):
    words = ["dataset=nursery", "algorithm=majority", "repeats=2", "executor.jobs=1", f"results={tmp_path}"]
    assert exit_code(*words, "metrics=roc_auc_ovr", "protocol.folds=3") == 0
    lines = capsys.readouterr().err.splitlines()
    (line,) = [line for line in lines if "roc_auc_ovr" in line]
    assert line.startswith("nursery: roc_auc_ovr is undefined in some runs: ValueError: Number of classes in y_true")
