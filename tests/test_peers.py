"""Peers: what they are told, the process that they run in, and, where their environments are there, what they do.

The process is tested with a stub, so that nothing here needs the packages of the peers but the tests that say so.
"""

import gc
import json
import math
import pickle
import subprocess
import sys
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from algorithms import Continuous, Domain, Nominal, ParameterError
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.base import PrivateClassifier
from datasets import catalogue
from experiments.cells import code_version, study_cells
from experiments.cells.cell import Cell
from experiments.cells.grid import expand_grid
from experiments.config import estimators
from experiments.config.papers import read_paper
from experiments.errors import BadInput
from experiments.peers import (
    DiffprivlibForestClassifier,
    DiffprivlibLinearRegression,
    DiffprivlibLogisticRegression,
    DiffprivlibNaiveBayes,
    DiffprivlibTreeClassifier,
    DPEBMClassifier,
    DPEBMRegressor,
    DPSGDClassifier,
    DPSGDRegressor,
    MSTClassifier,
    MSTRegressor,
    process,
    worker,
)
from experiments.peers.from_private_pgm import MOST_BOOSTED
from experiments.run.executors.executor import Executor
from experiments.run.run_studies import run_and_collect
from tests.waiting import HANG

FEATURES = (Continuous("age", 20, 120), Nominal("job", ("a", "b", "c")), Continuous("debt", -1, 1))
CLASSES = Domain(FEATURES, Nominal("rich", ("yes", "no")))
NUMBERS = Domain(FEATURES, Continuous("wealth", -50, 50))

SMALL = {
    DiffprivlibForestClassifier: {"n_estimators": 3, "max_depth": 3},
    DiffprivlibLinearRegression: {},
    DiffprivlibLogisticRegression: {},
    DiffprivlibNaiveBayes: {},
    DiffprivlibTreeClassifier: {"max_depth": 3},
    DPEBMClassifier: {"max_rounds": 10},
    DPEBMRegressor: {"max_rounds": 10},
    DPSGDClassifier: {"n_steps": 5, "n_hidden": 4},
    DPSGDRegressor: {"n_steps": 5, "n_hidden": 4},
    MSTClassifier: {"n_bins": 4},
    MSTRegressor: {"n_bins": 4},
}
every = pytest.mark.parametrize("cls", SMALL)


def needs(environment):
    reason = process.explain_missing(environment)
    return pytest.mark.skipif(bool(reason), reason=f"{reason}")


needs_peers, needs_jax = needs(process.PEERS), needs(process.JAX)
every_installed = pytest.mark.parametrize("cls", [pytest.param(cls, marks=needs(cls.environment)) for cls in SMALL])


def is_classifier(cls):
    return issubclass(cls, PrivateClassifier)


def rows(cls, n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.integers(20, 121, n), "job": rng.choice(["a", "c"], n), "debt": rng.uniform(-1, 1, n)})
    y = np.array(X["age"] - 70 + 5.0 * (X["job"] == "c") - 3 * X["debt"])
    return (X, np.where(y > 0, "yes", "no")) if is_classifier(cls) else (X, y.clip(-50, 50))


def small(cls, **parameters):
    domain = CLASSES if is_classifier(cls) else NUMBERS
    return cls(**({"epsilon": 1.0, "domain": domain, "random_state": 3} | SMALL[cls] | parameters))


# What the peers are told.


@pytest.fixture
def told(monkeypatch):
    """What the worker is asked, instead of a worker."""
    asked = []

    def ask(environment, words, **arrays):
        asked.append((words, arrays))
        return {"fit_seconds": 0.5}, {"model": np.zeros(3, dtype=np.uint8), "predicted": np.array([1, 0, 1])}

    monkeypatch.setattr(process, "ask_worker", ask)
    return asked


ODD = pd.DataFrame({"age": [20, 70, 500], "job": ["a", "b", "c"], "debt": [-1.0, 0.0, 0.5]})


@pytest.mark.parametrize(
    "cls",
    [DiffprivlibForestClassifier, DiffprivlibTreeClassifier, DiffprivlibNaiveBayes, DiffprivlibLinearRegression],
)
def test_diffprivlib_gets_rows_in_the_unit_cube_whatever_the_rows(cls, told):
    y = ["no", "yes", "no"] if is_classifier(cls) else [-50, 0, 99]
    model = small(cls).fit(ODD, y)
    words, arrays = told[0]
    assert arrays["X"].tolist() == [[0, 0, 0], [0.5, 0.5, 0.5], [1, 1, 0.75]]
    assert arrays["y"].tolist() == ([0, 1, 0] if is_classifier(cls) else [0, 0.5, 1])
    assert words["parameters"].get("n_classes") == (2 if is_classifier(cls) else None)
    assert model.fit_seconds_ == 0.5
    found = model.predict(ODD)
    assert told[1][1]["X"].tolist() == arrays["X"].tolist() and told[1][1]["model"].tolist() == [0, 0, 0]
    assert found.tolist() == (["yes", "no", "yes"] if is_classifier(cls) else [50, -50, 50])


@pytest.mark.parametrize("cls", [DPSGDClassifier, DPSGDRegressor])
def test_a_network_gets_a_column_of_each_category_and_the_constants_of_its_training(cls, told):
    small(cls).fit(ODD, ["no", "yes", "no"] if is_classifier(cls) else [-50, 0, 99])
    words, arrays = told[0]
    assert arrays["X"].tolist() == [[-1, 1, 0, 0, -1], [0, 0, 1, 0, 0], [1, 0, 0, 1, 0.5]]
    constants = {"delta": 1e-7, "sampling": 0.1, "learning_rate": 0.03, "clip": 1.0, "n_hidden": 4, "n_steps": 5}
    expected = {"epsilon": 1.0, "n_classes": 2 if is_classifier(cls) else None, "seed": words["parameters"]["seed"]}
    assert words == {"do": "fit", "model": "dp_sgd", "parameters": expected | constants}


@pytest.mark.parametrize("cls", [MSTClassifier, MSTRegressor])
def test_mst_gets_cells_between_the_declared_bounds_and_how_many_there_are(cls, told):
    small(cls).fit(ODD, ["no", "yes", "no"] if is_classifier(cls) else [-50, 0, 99])
    words, arrays = told[0]
    assert arrays["X"].tolist() == [[0, 0, 0], [2, 1, 2], [3, 2, 3]]
    assert arrays["y"].tolist() == ([0, 1, 0] if is_classifier(cls) else [0, 2, 3])
    expected = {"epsilon": 1.0, "delta": 1e-7, "seed": words["parameters"]["seed"], "learner": "tree"}
    expected |= {"sizes": [4, 3, 4, 2 if is_classifier(cls) else 4], "is_nominal": [False, True, False]}
    assert words == {"do": "fit", "model": "mst", "parameters": expected | {"is_class": is_classifier(cls)}}


@pytest.mark.parametrize(("neighbours", "asked"), [(REPLACED, 0.7), (ADDED_OR_REMOVED, 1.4)])
def test_logistic_regression_gets_rows_in_the_unit_ball_and_what_epsilon_is_meant_for(neighbours, asked, told):
    corner = pd.DataFrame({"age": [20, 500], "job": ["a", "c"], "debt": [-1.0, 1.0]})
    model = small(DiffprivlibLogisticRegression, epsilon=0.7, neighbours=neighbours).fit(corner, ["no", "yes"])
    words, arrays = told[0]
    assert words["parameters"]["epsilon"] == asked
    assert arrays["X"] * 2 == pytest.approx(np.array([[-1, 1, 0, 0, -1, 1], [1, 0, 0, 1, 1, 1]]))
    assert np.linalg.norm(arrays["X"], axis=1).max() <= 1.25**0.5
    assert model.privacy_.keeps_claim and model.privacy_.accounted_epsilon == 0.7
    assert model.privacy_.accounted(REPLACED) == 2 * model.privacy_.accounted(ADDED_OR_REMOVED) == asked


@pytest.mark.parametrize("cls", [DPEBMClassifier, DPEBMRegressor])
def test_dp_ebm_gets_categories_by_their_position_and_how_many_there_are(cls, told):
    small(cls).fit(ODD, ["no", "yes", "no"] if cls is DPEBMClassifier else [-50, 0, 99])
    words, arrays = told[0]
    assert arrays["X"].tolist() == [[0, 0, 0], [0.5, 1, 0.5], [1, 2, 0.75]]
    expected = {"epsilon": 1.0, "delta": 1e-7, "max_rounds": 10, "n_categories": [0, 3, 0]}
    expected |= {"n_classes": 2 if cls is DPEBMClassifier else None, "seed": words["parameters"]["seed"]}
    assert words == {"do": "fit", "model": "dp_ebm", "parameters": expected}


@every
def test_the_seed_follows_from_the_random_state(cls, told):
    for seed in (3, 3, 4, np.random.RandomState(3)):
        small(cls, random_state=seed).fit(*rows(cls))
    seeds = [words["parameters"]["seed"] for words, _ in told]
    assert seeds[0] == seeds[1] == seeds[3] != seeds[2] and all(0 <= seed < 2**31 for seed in seeds)


@pytest.mark.parametrize(
    ("cls", "wrong", "message"),
    [
        (DiffprivlibForestClassifier, {"max_depth": 17}, "max_depth must be at most 16"),
        (DiffprivlibForestClassifier, {"n_estimators": 0}, "n_estimators must be at least 1"),
        (DiffprivlibLinearRegression, {"epsilon": 0}, "epsilon must be a positive number"),
        (DPEBMClassifier, {"epsilon": math.inf}, "epsilon must be finite: DP-EBM has no run without noise"),
        (DPEBMRegressor, {"delta": 1.0}, "delta must be below 1"),
        (DPEBMRegressor, {"max_rounds": 1.5}, "max_rounds must be a whole number"),
        (DiffprivlibTreeClassifier, {"max_depth": 0}, "max_depth must be at least 1"),
        (DiffprivlibLogisticRegression, {"neighbours": "all"}, "neighbours must be"),
        (DPSGDClassifier, {"epsilon": math.inf}, "epsilon must be finite: the noise of DP-SGD is calibrated to it"),
        (DPSGDRegressor, {"sampling": 1}, "sampling must be below 1"),
        (MSTClassifier, {"epsilon": math.inf}, "epsilon must be finite: MST divides it between what it measures"),
        (MSTRegressor, {"learner": "forest"}, "learner must be"),
    ],
)
def test_bad_parameters_are_refused_before_the_peer_is_asked(cls, wrong, message, told):
    with pytest.raises(ParameterError, match=message):
        small(cls, **wrong).fit(*rows(cls))
    assert not told


def test_one_class_is_refused_by_its_name_with_a_way_out(told):
    one = Domain((Continuous("x", 0, 1),), Nominal("y", ("only",)))
    with pytest.raises(ParameterError, match=r"needs two classes, .* one class of 'y': declare the others, too"):
        DiffprivlibLogisticRegression(domain=one, random_state=0).fit([[0.5], [0.6]], ["only", "only"])
    assert not told


@pytest.mark.parametrize("cls", [MSTClassifier, MSTRegressor])
def test_boosted_trees_refuse_a_column_of_more_categories_than_they_take_before_mst_runs(cls, told):
    target = Nominal("y", ("no", "yes")) if is_classifier(cls) else Continuous("y", 0, 1)
    X, y = [["1", 0.5]] * 4, ["no", "yes"] * 2 if is_classifier(cls) else [0, 1] * 2

    def fit(n, learner):
        names = [str(i) for i in range(n)]
        domain = Domain((Nominal("city", names), Continuous("x", 0, 1)), target)
        frame = pd.DataFrame(X, columns=["city", "x"])
        cls(1.0, learner=learner, domain=domain, random_state=0).fit(frame, y)

    message = r"^learner='boosting' .* at most 255 categories, 'city' has 256: take learner='tree'$"
    with pytest.raises(ParameterError, match=message):
        fit(256, "boosting")
    assert not told
    fit(255, "boosting")
    fit(256, "tree")
    assert len(told) == 2


def test_as_many_categories_as_boosted_trees_take_are_not_too_many_for_scikit_learn():
    codes = np.arange(MOST_BOOSTED + 1.0)[:, np.newaxis]
    HistGradientBoostingRegressor(categorical_features=[True], max_iter=1).fit(codes[:-1], codes[:-1, 0])
    with pytest.raises(ValueError, match="cardinality"):
        HistGradientBoostingRegressor(categorical_features=[True], max_iter=1).fit(codes, codes[:, 0])


def test_more_than_two_classes_are_refused_before_anything_runs():
    with pytest.raises(BadInput, match=r"'dp_ebm' on 'car': Only binary .* 'class' has 4: take a method for more"):
        expand_grid({"dataset": ["car"], "algorithm": ["dp_ebm"], "epsilon": [1.0]}, repeats=1)


def test_what_the_peers_keep_of_their_promise(told):
    forest = small(DiffprivlibForestClassifier).fit(*rows(DiffprivlibForestClassifier)).privacy_
    assert (forest.claimed_epsilon, forest.accounted_epsilon, forest.keeps_claim) == (1.0, 2.0, False)
    assert forest.accounted("one record added or removed") == 5.0  # of three trees
    linear = small(DiffprivlibLinearRegression).fit(*rows(DiffprivlibLinearRegression)).privacy_
    assert math.isinf(linear.accounted_epsilon) and linear.noisy_epsilon == pytest.approx(5 / 4)
    bayes = small(DiffprivlibNaiveBayes).fit(*rows(DiffprivlibNaiveBayes)).privacy_
    assert (bayes.accounted_epsilon, bayes.keeps_claim) == (pytest.approx(2), False)
    assert math.isinf(bayes.accounted(ADDED_OR_REMOVED))
    assert forest.neighbours == linear.neighbours == bayes.neighbours == REPLACED
    tree = small(DiffprivlibTreeClassifier).fit(*rows(DiffprivlibTreeClassifier)).privacy_
    assert (tree.neighbours, tree.accounted_epsilon, tree.keeps_claim) == (ADDED_OR_REMOVED, 1.0, True)
    assert tree.accounted(REPLACED) == 2.0


@pytest.mark.parametrize("cls", [cls for cls in SMALL if "delta" in small(cls).get_params()])
def test_what_has_a_delta_has_no_account(cls, told):
    assert not hasattr(small(cls).fit(*rows(cls)), "privacy_")
    assert small(cls).delta == 1e-7


# The process.

STUB = """
import importlib.util, os, signal, sys, time, warnings
spec = importlib.util.spec_from_file_location("worker", {worker!r})
worker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(worker)


class Mean:
    def __init__(self, how="", **ignored):
        self.how = how

    def fit(self, X, y):
        if self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how == "crash":
            print("Fatal: all is lost", file=sys.stderr, flush=True)
            os._exit(3)
        if self.how == "refuse":
            raise ValueError("not with\\n these rows")
        if self.how == "print":
            print("a progress bar", flush=True)
            os.write(1, b"another")
        if self.how == "sleep":
            print("asleep", file=sys.stderr, flush=True)
            time.sleep(600)
        if self.how.startswith("warn "):
            warnings.warn(self.how[5:], RuntimeWarning if "overflow" in self.how else UserWarning)
        self.mean = y.mean()

    def predict(self, X):
        return [self.mean if self.how != "pid" else os.getpid()] * len(X)


worker.serve_requests(sys.argv[1:], {{"mean": lambda X, y, **given: (Mean(**given), {{"X": X, "y": y}})}})
"""


@pytest.fixture
def stub(monkeypatch, tmp_path):
    """Workers that run a stub; returns the command."""
    path = tmp_path / "stub.py"
    path.write_text(STUB.format(worker=worker.__file__), encoding="utf-8")
    command = [sys.executable, "-I", str(path)]
    monkeypatch.setattr(process, "_of_thread", threading.local())
    monkeypatch.setattr(process, "build_worker_command", lambda environment: command)
    return command


X, Y = np.zeros((3, 2)), np.array([1.0, 2.0, 6.0])


def fit(how="", **given):
    words = {"do": "fit", "model": "mean", "parameters": {"how": how} | given}
    return process.ask_worker(process.PEERS, words, X=X, y=Y)


def predict(model):
    return process.ask_worker(process.PEERS, {"do": "predict"}, X=X, model=model)[1]["predicted"]


def test_a_model_travels_as_bytes_and_outlives_its_worker(stub):
    said, found = fit(epsilon=math.inf)
    assert said["fit_seconds"] >= 0
    first = process._of_thread.workers["peers"]
    assert predict(found["model"]).tolist() == [3, 3, 3] and process._of_thread.workers["peers"] is first
    del process._of_thread.workers["peers"]
    assert predict(found["model"]).tolist() == [3, 3, 3]


def test_what_a_peer_prints_is_no_answer(stub):
    assert predict(fit("print")[1]["model"]).tolist() == [3, 3, 3]


def test_an_error_is_one_line_and_the_worker_goes_on(stub):
    before = predict(fit("pid")[1]["model"])
    with pytest.raises(process.PeerError, match=r"^mean: ValueError: not with these rows$"):
        fit("refuse")
    assert (predict(fit("pid")[1]["model"]) == before).all()


@pytest.mark.parametrize(("how", "reason"), [("kill", "signal 9"), ("crash", "Fatal: all is lost")])
def test_a_worker_that_dies_is_said_to_be_dead_and_replaced(stub, how, reason):
    with pytest.raises(process.PeerError, match=rf"its process died \({reason}\); .*`make clean peers`$"):
        fit(how)
    assert predict(fit()[1]["model"]).tolist() == [3, 3, 3]


def test_an_interrupt_ends_the_worker_lest_its_late_answer_meet_another_question(stub, monkeypatch):
    fit()

    def interrupted(stream):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(worker, "receive_frame", interrupted)
        fit()
    assert predict(fit()[1]["model"]).tolist() == [3, 3, 3]


def test_warnings_that_something_leaks_are_errors(stub):
    leak = "Possible privacy violation: assuming min/max values per feature are public info."
    with pytest.raises(process.PeerError, match="UserWarning: Possible privacy violation"):
        fit(f"warn {leak}")
    fit("warn Privacy violation: using a fixed random_state of 3 will cause deterministic noise additions.")
    fit("warn overflow encountered in matmul")


def test_a_worker_ends_with_the_pipe_even_while_it_fits(stub):
    child = subprocess.Popen(stub, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with child:
        words = {"do": "fit", "model": "mean", "parameters": {"how": "sleep"}}
        worker.receive_frame(child.stdout)
        worker.send_frame(child.stdin, words, X=X, y=Y)
        assert child.stderr.readline() == b"asleep\n"
        child.stdin.close()
        assert child.wait(timeout=HANG) == 0


def test_each_thread_has_a_worker_which_ends_with_it(stub):
    found, together = [], threading.Barrier(2)

    def work():
        together.wait()
        found.append((predict(fit("pid")[1]["model"])[0], process._of_thread.workers["peers"]._process))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    assert len({pid for pid, _ in found}) == 2
    assert [one.poll() for _, one in found] == [-9, -9]


def test_a_missing_environment_names_the_way_out(monkeypatch, tmp_path):
    monkeypatch.setattr(process, "_of_thread", threading.local())
    monkeypatch.setattr(process, "build_worker_command", lambda environment: ["/nowhere/python"])
    with pytest.raises(BadInput, match=r"^the environment .* is missing; run `make peers`$"):
        small(DPEBMRegressor).fit(*rows(DPEBMRegressor))
    with pytest.raises(
        BadInput, match=r"^the environment of jax-privacy and private-pgm, .* is missing; run `make peers-jax`$"
    ):
        small(DPSGDRegressor).fit(*rows(DPSGDRegressor))
    cells = [
        Cell("car", name, estimators.merge_parameters(name), 1.0, 0) for name in ("diffprivlib_forest", "majority")
    ]
    outcome, records = run_and_collect(cells, tmp_path, Executor("loky", 1))
    assert (
        list(outcome.skipped.items()) == [(process.explain_missing(), cells[:1])]
        and "make peers" in process.explain_missing()
    )
    assert outcome.done == len(records) == 1 and not outcome.failures


@pytest.mark.parametrize(("package", "found"), [("numpy", f"numpy {np.__version__}"), ("no-such", "no no-such")])
def test_an_environment_of_other_versions_is_refused(stub, monkeypatch, package, found):
    stub.append(package)
    monkeypatch.setattr(process, "read_pinned_versions", lambda environment: {package: "0.1"})
    with pytest.raises(BadInput, match=rf"^\.venv-peers has {found}, but .*\.lock pins 0\.1; run `make peers`$"):
        fit()


def test_the_versions_of_a_peer_are_part_of_the_key_and_not_of_the_seed(monkeypatch):
    cell = Cell("car", "diffprivlib_forest", {}, 1.0, 0)
    ours = Cell("car", "rdt", {}, 1.0, 0)
    keys = cell.key, ours.key
    code_version._list_code_versions.cache_clear()
    monkeypatch.setattr(process, "read_pinned_versions", lambda environment: {"diffprivlib": "9"})
    again = Cell("car", "diffprivlib_forest", {}, 1.0, 0)
    assert again.key != keys[0] and again.seed == cell.seed
    assert Cell("car", "rdt", {}, 1.0, 0).key == keys[1]
    code_version._list_code_versions.cache_clear()


def test_the_code_of_the_worker_is_part_of_the_key():
    module = estimators.import_class(estimators.find_target("dp_ebm")).__module__
    found = code_version._collect_imports([module])
    assert {f"experiments.peers.{name}" for name in ("worker", "models_in_peers", "models_in_jax")} <= set(found)


# The benchmark.


def test_the_benchmark_leaves_out_no_combination_but_those_it_says():
    paper = read_paper("benchmark")
    many, two, numbers = (paper.studies[name] for name in ("classification", "binary", "regression"))
    is_binary = {name: len(catalogue.read_entry(name).domain.target.categories) == 2 for name in many.dataset}
    assert set(two.dataset) == {name for name in is_binary if is_binary[name]}
    assert set(two.algorithm) - set(many.algorithm) == {"dp_ebm"}
    assert set(many.algorithm) < set(two.algorithm)
    assert {"diffprivlib_linear_regression", "dp_ebm_regressor"} < set(numbers.algorithm)
    exhibits = [
        exhibit for exhibit in (*paper.tables, *paper.figures) if getattr(exhibit, "study", "") == "classification"
    ]
    assert len(exhibits) > 4
    silent = [exhibit.id for exhibit in exhibits if "DP-EBM" not in exhibit.title]
    assert silent == [], "what has no room for DP-EBM must say so"
    cells = study_cells.cells_of_studies(paper, repeats=1)
    shared = {cell.key for cell in cells["classification"]} & {cell.key for cell in cells["binary"]}
    assert len(shared) == len(two.dataset) * len(many.algorithm) * len(two.epsilon)


# The peers themselves.


CHECKED = [cls for cls in SMALL if not cls.lacks() and "MST" not in cls.__name__]  # a fit of MST takes ten seconds


@pytest.mark.filterwarnings("ignore::algorithms.PrivacyLeakWarning")
@parametrize_with_checks([cls(**SMALL[cls]) for cls in CHECKED])
def test_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@every_installed
@pytest.mark.long
def test_the_same_random_state_gives_the_same_model(cls):
    X, y = rows(cls)
    first = small(cls).fit(X, y)
    found = first.predict(X)
    assert set(found) <= {"yes", "no"} if is_classifier(cls) else np.isfinite(found).all()
    process._of_thread.workers[cls.environment.name]._end()
    again = pickle.loads(pickle.dumps(small(cls).fit(X, y)))
    assert (again.predict(X) == found).all()
    if cls is not DiffprivlibTreeClassifier:  # a pickled tree of scikit-learn has bytes between its fields
        assert again.model_ == first.model_
    assert small(cls, random_state=4).fit(X, y).model_ != first.model_


@every_installed
def test_nothing_is_taken_from_the_rows_that_the_domain_does_not_declare(cls):
    """One row, and columns without a difference: what a peer had to look up there, it would warn of: an error."""
    X, y = rows(cls)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small(cls).fit(X.iloc[:1], y[:1]).predict(X)
        small(cls).fit(X.assign(age=20, job="a"), y).predict(X)


@needs_peers
def test_without_noise_diffprivlib_finds_the_least_squares():
    X, y = rows(DiffprivlibLinearRegression, 500)
    matrix, _ = NUMBERS.encode(X)
    expected = LinearRegression().fit(matrix, y).predict(matrix)
    found = small(DiffprivlibLinearRegression, epsilon=math.inf).fit(X, y).predict(X)
    assert found == pytest.approx(expected, abs=0.1)


@needs_peers
@pytest.mark.parametrize("cls", [DPEBMClassifier, DPEBMRegressor])
def test_dp_ebm_learns_where_the_budget_is_large(cls):
    model = small(cls, epsilon=1000.0, max_rounds=100).fit(*rows(cls, 3000))
    assert model.score(*rows(cls, 500, seed=1)) > (0.9 if cls is DPEBMClassifier else 0.5)


@pytest.mark.parametrize(
    ("cls", "settings", "reached"),
    [
        pytest.param(DiffprivlibTreeClassifier, {"max_depth": 8}, 0.8, marks=needs_peers),
        pytest.param(DiffprivlibNaiveBayes, {}, 0.9, marks=needs_peers),
        pytest.param(DiffprivlibLogisticRegression, {}, 0.9, marks=needs_peers),
        pytest.param(DPSGDClassifier, {"n_steps": 60}, 0.9, marks=needs_jax),
        pytest.param(DPSGDRegressor, {"n_steps": 60}, 0.5, marks=needs_jax),
        pytest.param(MSTClassifier, {"n_bins": 16}, 0.85, marks=needs_jax),
        pytest.param(MSTRegressor, {"n_bins": 16, "learner": "boosting"}, 0.5, marks=needs_jax),
    ],
)
def test_a_peer_learns_where_the_budget_is_large(cls, settings, reached):
    model = small(cls, epsilon=100.0, **settings).fit(*rows(cls, 3000))
    assert model.score(*rows(cls, 500, seed=1)) > reached


@pytest.mark.parametrize(
    "cls",
    [
        pytest.param(cls, marks=needs(cls.environment))
        for cls in (DiffprivlibTreeClassifier, DiffprivlibNaiveBayes, DiffprivlibLogisticRegression, DPSGDClassifier)
    ],
)
def test_three_classes_of_which_one_has_no_rows(cls):
    X, y = rows(cls, 3000)
    domain = Domain(FEATURES, Nominal("rich", ("maybe", "no", "yes")))
    settings = {"n_steps": 60} if cls is DPSGDClassifier else {}
    model = small(cls, domain=domain, epsilon=100.0, **settings).fit(X, y)
    assert list(model.classes_) == ["maybe", "no", "yes"] and model.score(X, y) > 0.7


@needs_peers
@pytest.mark.parametrize(
    "cls",
    [
        DiffprivlibForestClassifier,
        DiffprivlibTreeClassifier,
        DiffprivlibNaiveBayes,
        DiffprivlibLogisticRegression,
        DPEBMClassifier,
    ],
)
def test_probabilities_are_of_the_declared_classes_and_say_what_is_predicted(cls):
    X, y = rows(cls, 3000)
    model = small(cls, epsilon=100.0).fit(X, y)
    shares = model.predict_proba(X)
    assert shares.shape == (3000, 2)
    assert shares.sum(axis=1) == pytest.approx(1)
    said = np.abs(shares[:, 0] - shares[:, 1]) > 1e-9  # where two are equal, either may be predicted
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(X))[said].all()
    assert roc_auc_score(y, shares[:, 1]) > 0.7


def in_their_environment(code, environment=process.PEERS):
    """Run code there, after ``worker`` and ``models`` were loaded; return what it prints, which is JSON."""
    lines = f"""
import importlib.util, json, math, sys
import numpy as np
spec = importlib.util.spec_from_file_location("worker", {worker.__file__!r})
worker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(worker)
worker.load_models({environment.models!r})
models = sys.modules["models"]
{code}
"""
    python = process.build_worker_command(environment)[0]
    done = subprocess.run([python, "-I", "-c", lines], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_peers
@pytest.mark.long
def test_a_record_that_is_replaced_costs_diffprivlibs_forest_two_epsilon():
    """Fifteen hundred trees of one forest, each with the same six rows and a cut between 0 and 1.

    Leaf 0 has two rows of class 0 and one of class 1, as has leaf 1; then one row of class 0 moves from leaf 0 to
    leaf 1 and becomes one of class 1. Permute-and-flip draws the lesser of two labels whose counts differ by u with the
    chance ½ exp(-ε u), so both leaves take the label 1 with ¼ exp(-2ε) before and ¼ after.
    """
    epsilon, n_trees = 0.5, 1500
    found = in_their_environment(f"""
def share(x, y):
    model, rows = models.make_diffprivlib_forest(
        np.tile(np.array(x, float)[:, None], ({n_trees}, 1)), np.tile(y, {n_trees}),
        epsilon={epsilon}, seed=0, n_estimators={n_trees}, max_depth=1, n_classes=2,
    )
    model.fit(**rows)
    return sum(tree.predict([[0.0], [1.0]]).sum() == 2 for tree in model.estimators_) / {n_trees}

print(json.dumps([
    float(share([0, 0, 0, 1, 1, 1], [0, 0, 1, 0, 0, 1])),
    float(share([1, 0, 0, 1, 1, 1], [1, 0, 1, 0, 0, 1])),
]))
""")
    expected = [math.exp(-2 * epsilon) / 4, 1 / 4]
    for share, chance in zip(found, expected, strict=True):
        assert share == pytest.approx(chance, abs=4 * math.sqrt(chance / n_trees))
    error = math.sqrt(found[1] / n_trees + math.exp(2 * epsilon) * found[0] / n_trees)
    assert found[1] - math.exp(epsilon) * found[0] > 4 * error, "it keeps the epsilon that it is asked for"


@needs_peers
@pytest.mark.long
def test_a_record_that_is_removed_moves_others_from_tree_to_tree_of_diffprivlibs_forest():
    n_trees = 5
    n_changes = in_their_environment(f"""
from diffprivlib.models import forest
real, dealt = forest._parallel_build_trees, []

def recorded(**given):
    dealt[-1].append(set(given["X"][:, 0].tolist()))
    return real(**given)

forest._parallel_build_trees = recorded
for first in (0, 1):  # all rows, and without the first
    dealt.append([])
    X = np.arange(first, 40)[:, None] / 64
    model, rows = models.make_diffprivlib_forest(
        X, np.zeros(len(X), int), epsilon=1.0, seed=0, n_estimators={n_trees}, max_depth=1, n_classes=2
    )
    model.fit(**rows)
print(json.dumps(sum(len(one ^ other) for one, other in zip(*dealt))))
""")
    model = small(DiffprivlibForestClassifier, n_estimators=n_trees).fit(*rows(DiffprivlibForestClassifier))
    assert n_changes == 2 * n_trees - 1 == model.privacy_.accounted("one record added or removed")


@needs_peers
@pytest.mark.long
def test_diffprivlibs_regression_pays_too_little_noise_and_too_much_budget():
    asked, squares = in_their_environment("""
from diffprivlib.models import linear_regression as module
from diffprivlib import tools
spent, squares = [], []

def recording(cls):
    class Recorded(cls):
        def __init__(self, **given):
            super().__init__(**given)
            spent.append(given["epsilon"])
            if cls is LaplaceFolded:
                squares.append(given["sensitivity"])
    return Recorded

LaplaceFolded = module.LaplaceFolded
module.LaplaceFolded = recording(LaplaceFolded)
module.Laplace = recording(module.Laplace)
tools.utils.LaplaceTruncated = recording(tools.utils.LaplaceTruncated)
X = np.random.default_rng(0).random((1000, 3)) * [0.1, 1, 1]
model, rows = models.make_diffprivlib_linear(X, X[:, 0], epsilon=1.0, seed=0)
model.fit(**rows)
print(json.dumps([math.fsum(spent), squares[1:]]))
""")
    model = small(DiffprivlibLinearRegression).fit(*rows(DiffprivlibLinearRegression))
    assert asked == pytest.approx(model.privacy_.noisy_epsilon) == 5 / 4
    # the first attribute lies in [0, 1] with a mean near 0.05: once centred, its square may be as large as 0.95²
    assert squares[0] < 0.1 < 0.9 < 0.95**2


@needs_peers
@pytest.mark.long
def test_a_class_of_diffprivlibs_naive_bayes_takes_all_of_epsilon_and_the_counts_show_the_number_of_rows():
    spent, totals = in_their_environment("""
from diffprivlib.models import naive_bayes as module
spent, totals = [], []

def recording(cls):
    class Recorded(cls):
        def __init__(self, **given):
            super().__init__(**given)
            spent.append(given["epsilon"])
    return Recorded

for name in ("GeometricTruncated", "LaplaceTruncated", "LaplaceBoundedDomain"):
    setattr(module, name, recording(getattr(module, name)))
rng = np.random.default_rng(0)
for n in (50, 51):
    model, rows = models.make_diffprivlib_bayes(
        rng.random((n, 4)), rng.integers(0, 2, n), epsilon=0.9, seed=n, n_classes=2
    )
    model.fit(**rows)
    totals.append(int(model.class_count_.sum()))
print(json.dumps([spent[: len(spent) // 2], totals]))
""")
    of_counts, of_both_classes = spent[0], spent[1:]
    assert of_counts == pytest.approx(0.3) and sum(of_both_classes) == pytest.approx(2 * 0.6)
    assert totals == [50 + 2, 51 + 2]  # with the public rows, one of each class
    privacy = small(DiffprivlibNaiveBayes, epsilon=0.9).fit(*rows(DiffprivlibNaiveBayes)).privacy_
    assert privacy.accounted(REPLACED) == pytest.approx(2 * of_counts + sum(of_both_classes))


@needs_peers
@pytest.mark.long
def test_one_more_row_costs_a_leaf_of_diffprivlibs_tree_no_more_than_epsilon():
    """A leaf with two rows of either class takes each label with ½; one more of class 0 leaves class 1 ½ exp(-ε)."""
    epsilon, n_trees = 0.5, 1500
    shares = in_their_environment(f"""
def share(y):
    labels = []
    for seed in range({n_trees}):
        model, rows = models.make_diffprivlib_tree(
            np.zeros((len(y), 1)), np.array(y), epsilon={epsilon}, seed=seed, max_depth=1, n_classes=2
        )
        labels.append(model.fit(**rows).predict([[0.0]])[0])
    return float(np.mean(labels))

print(json.dumps([share([0, 0, 1, 1]), share([0, 0, 0, 1, 1])]))
""")
    for share, chance in zip(shares, [1 / 2, math.exp(-epsilon) / 2], strict=True):
        assert share == pytest.approx(chance, abs=4 * math.sqrt(chance / n_trees))


@needs_peers
@pytest.mark.long
def test_the_noise_of_diffprivlibs_logistic_regression_is_that_of_the_proof():
    """The noise's norm is Gamma(d, 2 / ε') with ε' = ε - 2 ln(1 + ¼), as rows have norm 1 and n Λ = 1 / C = 1."""
    asked, mean = in_their_environment("""
from diffprivlib.models import logistic_regression as module
made, real = [], module.Vector

class Recorded(real):
    def __init__(self, **given):
        made.append({name: given[name] for name in ("epsilon", "function_sensitivity", "data_sensitivity", "alpha")})
        super().__init__(**given)

module.Vector = Recorded
rng = np.random.default_rng(0)
model, rows = models.make_diffprivlib_logistic(rng.random((50, 3)), np.arange(50) % 3, epsilon=3.0, seed=0, n_classes=3)
model.fit(**rows)
flat = lambda weights: (0.0, np.zeros(5))
noise = [real(**made[0], dimension=5, n=1, random_state=i).randomise(flat)(np.zeros(5))[1] for i in range(4000)]
print(json.dumps([made, float(np.linalg.norm(noise, axis=1).mean())]))
""")
    of_one_class = {"epsilon": 1.0, "function_sensitivity": 0.25, "data_sensitivity": 1.0, "alpha": 1.0}
    assert asked == [of_one_class] * 3
    scale = 2 / (1 - 2 * math.log(1.25))
    assert mean == pytest.approx(5 * scale, abs=4 * scale * math.sqrt(5 / 4000))


@needs_jax
def test_the_noise_of_dp_sgd_is_enough_by_another_accountant_and_not_much_more():
    """Rényi divergences, where the peer takes loss distributions; they find a little more than there is."""
    accounting = pytest.importorskip("dp_accounting")
    sampling, n_steps, delta = 0.1, 100, 1e-7
    noise = in_their_environment(f"print(models.calibrate_noise(1.0, {delta}, {sampling}, {n_steps}))", process.JAX)
    step = accounting.PoissonSampledDpEvent(sampling, accounting.GaussianDpEvent(noise))
    accountant = accounting.rdp.RdpAccountant(neighboring_relation=accounting.NeighboringRelation.ADD_OR_REMOVE_ONE)
    accountant.compose(step, n_steps)
    assert 1.0 < accountant.get_epsilon(delta) < 1.15


@needs_jax
def test_a_record_moves_the_sum_of_gradients_by_the_unit_of_the_noise_at_most():
    """Steps are of rows as they come and of one row that is left out; the noise's scale is that of the plan."""
    largest, spread, expected = in_their_environment(
        """
import jax
network = models.Network(1.0, 1e-7, 0, 3, n_hidden=4, n_steps=10, sampling=0.5, learning_rate=0.1, clip=0.5)
rng = np.random.default_rng(0)
X, y = 100 * rng.normal(size=(40, 6)).astype(np.float32), rng.integers(0, 3, 40)
weights = network._first_weights(rng, 6)
weights["second"] += 1
plan = network._plan()
gradient = plan.clipped_grad(network._measure_loss, batch_argnums=(1, 2))
flat = lambda parts: np.concatenate([np.asarray(part).ravel() for part in jax.tree.leaves(parts)])
everybody = np.zeros(40, bool)
whole = flat(gradient(weights, X, y, is_padding_example=everybody))
without = [flat(gradient(weights, X, y, is_padding_example=np.arange(40) == i)) for i in range(40)]
moved = [np.linalg.norm(whole - rest) for rest in without]
zeros = jax.tree.map(np.zeros_like, weights)
state, noise = plan.noise_addition_transform.init(zeros), []
for _ in range(100):
    noisy, state = plan.noise_addition_transform.update(zeros, state)
    noise.append(flat(noisy))
expected = models.calibrate_noise(1.0, 1e-7, 0.5, 10)
print(json.dumps([float(max(moved)), float(np.std(noise)), expected]))
""",
        process.JAX,
    )
    assert 0.5 < largest <= 1 + 1e-5
    assert spread == pytest.approx(expected, rel=0.05)


@needs_jax
def test_what_mst_measures_and_chooses_costs_its_rho():
    """The scales of all noise, and of all choices, as they are asked for; by the accountant of another package."""
    accounting = pytest.importorskip("dp_accounting")
    epsilon, delta = 1.0, 1e-7
    rho, deviations, choices, n_columns = in_their_environment(
        f"""
class Recorded(np.random.Generator):
    deviations, choices = [], []
    def normal(self, mean, sigma, size):
        self.deviations.append(float(sigma))
        return np.zeros(size)
    def gumbel(self, size):
        self.choices.append(size)
        return np.zeros(size)

rows = np.random.default_rng(0).integers(0, 3, (3000, 5))
rows[:, 4] = rows[:, 2]
models.draw_like_mst(rows, [3] * 5, {epsilon}, {delta}, 0)  # all that draws while it is imported has done so
np.random.default_rng = lambda seed: Recorded(np.random.PCG64(seed))
real, seen = models._choose_pairs, []
models._choose_pairs = lambda data, fitted, rho, rng: seen.append(real(data, fitted, rho, rng)) or seen[-1]
drawn = models.draw_like_mst(rows, [3] * 5, {epsilon}, {delta}, 0)
assert seen[0][0] == (2, 4) and len(drawn) == 3000 and (drawn[:, 2] == drawn[:, 4]).mean() > 0.9
print(json.dumps([models.calibrate_rho({epsilon}, {delta}), Recorded.deviations, len(Recorded.choices), 5]))
""",
        process.JAX,
    )
    assert len(deviations) == n_columns + n_columns - 1 and choices == n_columns - 1
    assert sum(1 / (2 * sigma**2) for sigma in deviations) == pytest.approx(2 / 3 * rho)
    accountant = accounting.rdp.RdpAccountant(neighboring_relation=accounting.NeighboringRelation.ADD_OR_REMOVE_ONE)
    accountant.compose(accounting.GaussianDpEvent(1 / math.sqrt(2 * rho)))
    assert 0.99 * epsilon < accountant.get_epsilon(delta) <= epsilon + 1e-6


@needs_peers
@pytest.mark.long
def test_which_categories_and_classes_occur_does_not_show_in_dp_ebm():
    found = in_their_environment("""
from interpret.utils import _preprocessor
listed, real = [], _preprocessor.private_categorical_binning

def recorded(column, *rest):
    listed.append(np.unique(column).tolist())
    return real(column, *rest)

_preprocessor.private_categorical_binning = recorded
classes = []
for n in (1, 4):  # of one category and one class only, or of all of them
    X = np.array([[i % n, i % 2 / 2] for i in range(60)], float)
    model, rows = models.make_dp_ebm(
        X, np.arange(60) % min(n, 2), epsilon=1.0, delta=1e-6, seed=0, max_rounds=3, n_categories=[4, 0], n_classes=2
    )
    with worker.leak_warnings_as_errors():
        model.fit(**rows)
    classes.append(model.classes_.tolist())
print(json.dumps([listed, classes]))
""")
    assert found == [[[1, 2, 3, 4]] * 2, [[0, 1]] * 2]


@needs_peers
def test_bounds_that_are_not_given_are_an_error():
    (message,) = in_their_environment("""
class Careless:
    def fit(self, X, y):
        from diffprivlib.models import LinearRegression
        LinearRegression().fit(X, y)

import diffprivlib.models
try:
    worker.answer_request(
        {"do": "fit", "model": "careless", "parameters": {}},
        {"X": np.random.random((9, 2)), "y": np.random.random(9)},
        {"careless": lambda X, y: (Careless(), {"X": X, "y": y})},
    )
except Warning as warning:
    print(json.dumps([type(warning).__name__]))
""")
    assert message == "PrivacyLeakWarning"
