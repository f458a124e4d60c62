"""Algorithms and papers of a user's own folder: found, run, kept, judged, audited, refused in one line."""

import json
import os
import pickle
import re
import subprocess
import sys
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from algorithms import source_walk
from algorithms.accounting.events import REPLACED, Spent
from algorithms.accounting.privacy import Privacy
from documents import search_path
from documents.yaml_files import DocumentError
from experiments.audit import private_as_claimed
from experiments.audit.attacks.black_box import audit_pairs, list_pairs
from experiments.audit.audit_tasks import AuditPlan, choose_subjects, run_audit
from experiments.audit.neighbouring_tables import CLASSIFICATION_PAIRS
from experiments.audit.observe.any_estimator import read_arrays
from experiments.audit.outcomes import VIOLATED
from experiments.audit.replay.replay_audit import replay_in_processes
from experiments.cells import code_version, module_sources
from experiments.cells.cell import Cell
from experiments.cells.current import Standing
from experiments.cells.grid import expand_grid
from experiments.commands import audit, decide
from experiments.config import estimators, kinds
from experiments.config.papers import read_paper
from experiments.config.paths import CONF, ROOT, list_own_papers, list_papers, name_paper_command
from experiments.config.study import PaperError
from experiments.errors import BadInput
from experiments.judge import claim_answers
from experiments.judge.tasks import run_here
from experiments.python_api import paper_runs
from experiments.questions.paper_questions import resolve_claims, resolve_paper
from experiments.regression_check.bands import find_folder, list_watched_papers
from experiments.run.evaluate import evaluate_cell
from experiments.run.executors import task_runner
from experiments.run.executors.executor import Executor, make_executor
from experiments.run.executors.task_runner import TaskRunner
from experiments.run.run_studies import run_and_collect
from experiments.store.accounts import is_claim_only, read_account
from experiments.store.long_table import long_table
from experiments.store.results import Results
from plots import audits, privacy
from plots.exhibits.views import view
from plots.tables.grid import GridView
from tests.command_line import exit_code
from tests.papers import judge_claims, make_paper
from tests.waiting import HANG

pytestmark = pytest.mark.long

NOISY = '''"""Noisy majority."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from {parts} import count_classes


class NoisyMajority(ClassifierMixin, BaseEstimator):
    """Predict the class with the largest noisy count."""

    def __init__(self, epsilon=1.0, *, share=1.0, domain=None, random_state=None):
        self.epsilon = epsilon
        self.share = share
        self.domain = domain
        self.random_state = random_state

    def fit(self, X, y):
        """Count the classes, and add Laplace noise of scale share / epsilon."""
        self.classes_ = np.array(self.domain.target.categories)
        counts = count_classes(self.classes_, y)
        rng = np.random.default_rng(self.random_state)
        self.noisy_counts_ = counts + rng.laplace(0, self.share / self.epsilon, len(counts))
        return self

    def predict(self, X):
        """Predict one class for every row."""
        return np.full(len(X), self.classes_[np.argmax(self.noisy_counts_)])


class OpenMajority(NoisyMajority):
    """The same, which says what it would publish."""

    def released_(self):
        """Return the noisy counts."""
        return {{"noisy_counts": self.noisy_counts_}}
'''
PARTS = '''"""Counts."""

import numpy as np


def count_classes(classes, y):
    """Count each class."""
    return np.array([np.sum(np.asarray(y) == label) for label in classes])
'''
OUR_NOISE = '''"""Noisy majority, with the mechanism of the project."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from algorithms.mechanisms import laplace_vector


class ByOurNoise(ClassifierMixin, BaseEstimator):
    """Predict the class with the largest noisy count."""

    def __init__(self, epsilon=1.0, *, told=1.0, domain=None, random_state=None):
        self.epsilon = epsilon
        self.told = told
        self.domain = domain
        self.random_state = random_state

    def fit(self, X, y):
        """Count each class twice over, and tell the mechanism how far one record moves the counts."""
        self.classes_ = np.array(self.domain.target.categories)
        counts = np.array([np.sum(np.asarray(y) == label) for label in self.classes_])
        self.counts_ = laplace_vector(counts, self.told, self.epsilon, np.random.default_rng(self.random_state))
        return self

    def predict(self, X):
        """Predict one class for every row."""
        return np.full(len(X), self.classes_[np.argmax(self.counts_)])
'''
PAPER = """\
number: mine
title: Mine
repeats: 2
most_repeats: 4
reported: printed.csv
studies:
  floor: {dataset: [car], algorithm: [NAME, majority], epsilon: [1.0]}
tables:
  - {id: accuracy, kind: grid, title: Accuracy, study: floor, metric: accuracy, rows: algorithm, columns: epsilon}
claims:
  - {id: no-better, text: Mine is no worse than the majority., says: It is no worse., source: page 1, kind: not_worse,
     study: floor, metric: accuracy, better: NAME, worse: majority, margin: 0.05, within: []}
"""
PRINTED = """\
id,table,dataset,algorithm,epsilon,metric,statistic,value,decimals,source
n1,accuracy,car,NAME,1.0,accuracy,mean,0.70,2,Table 1
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder that is added to the catalogue, with two modules whose names no other test uses."""
    folder = tmp_path / "own"
    for group in search_path.GROUPS:
        (folder / group).mkdir(parents=True)
    name = tmp_path.name
    (folder / f"{name}.py").write_text(NOISY.format(parts=f"{name}_parts"), encoding="utf-8")
    (folder / f"{name}_parts.py").write_text(PARTS, encoding="utf-8")
    (folder / f"{name}_ours.py").write_text(OUR_NOISE, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [*sys.path])
    for variable in search_path.describe_environment():
        monkeypatch.setenv(variable, "")
    write(folder, "mine", f"_target_: {name}.NoisyMajority\n")
    search_path.use_folders([folder])
    yield SimpleNamespace(folder=folder, module=name)
    for function in (module_sources.find_source, module_sources.find_place, code_version._list_code_versions):
        function.cache_clear()


def write(folder, name, text, group="algorithm"):
    (folder / group / f"{name}.yaml").write_text(text, encoding="utf-8")


def tables_of(folder):
    write(folder, "mine", PAPER.replace("NAME", "mine"), "paper")
    (folder / "paper" / "printed.csv").write_text(PRINTED.replace("NAME", "mine"), encoding="utf-8")


# -------------------------------------------------------------------------------------------- the catalogue


def test_added_folders_are_looked_into_after_ours(own):
    assert search_path.find_file(CONF / "algorithm", "rdt") == CONF / "algorithm" / "rdt.yaml"
    assert search_path.find_file(CONF / "algorithm", "mine") == own.folder / "algorithm" / "mine.yaml"
    assert {"mine", "rdt"} <= set(estimators.list_algorithms())
    assert estimators.is_built_in("rdt") and not estimators.is_built_in("mine")
    with pytest.raises(BadInput, match="unknown algorithm 'mien'; did you mean 'mine'"):
        estimators.merge_parameters("mien")


def test_a_name_in_two_folders_is_refused_unless_it_is_one_file(own):
    write(own.folder, "rdt", "_target_: mine.Mine\n")
    with pytest.raises(DocumentError, match=r"^algorithm 'rdt' stands in conf/algorithm/rdt.yaml and in .*; rename yo"):
        search_path.use_folders([own.folder])
    with pytest.raises(DocumentError, match="stands in"):
        search_path.find_file(CONF / "algorithm", "rdt")
    (own.folder / "algorithm" / "rdt.yaml").unlink()
    (own.folder / "algorithm" / "rdt.yaml").symlink_to(CONF / "algorithm" / "rdt.yaml")
    search_path.use_folders([own.folder, own.folder])
    assert search_path.list_added() == (own.folder,)


def test_the_environment_names_the_folders_for_good(own, monkeypatch, capsys, tmp_path):
    words = ("dataset=car", "algorithm=mine", "dry_run=true", f"results={tmp_path / 'results'}")
    assert exit_code(*words) == 0
    assert "car      mine" in capsys.readouterr().err
    monkeypatch.setenv(search_path.VARIABLE, str(tmp_path / "nowhere"))
    assert exit_code(*words) == 2
    assert capsys.readouterr().err.endswith("nowhere is no folder; leave it out, or make it\n")


def test_a_failed_setting_is_named_with_a_command_that_finds_it(own):
    assert search_path.name_program() == f"dp-replica --config-dir {own.folder}"
    tables_of(own.folder)
    assert name_paper_command("run", "mine") == f"{search_path.name_program()} run paper=mine"


def test_a_command_names_the_folders_that_were_added(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folders, program in (
        (["."], "dp-replica --config-dir ."),
        (["my work"], "dp-replica --config-dir 'my work'"),
        (["/a", "/b"], f"{search_path.VARIABLE}=/a:/b dp-replica"),
    ):
        monkeypatch.setenv(search_path.VARIABLE, os.pathsep.join(folders))
        assert search_path.name_program() == program


def test_results_of_a_folder_that_is_not_named_say_so(own, tmp_path, commands):
    results = f"results={tmp_path / 'results'}"
    assert exit_code("dataset=car", "algorithm=mine", "repeats=1", "executor.jobs=1", results) == 0
    done = commands.run_module("experiments", "results", results, **{search_path.VARIABLE: ""})
    assert done.returncode == 1
    assert "; unknown here: mine; --config-dir FOLDER adds a folder of your own" in done.stderr


def test_an_own_paper_is_listed_and_keeps_to_its_own_folder(own, capsys):
    tables_of(own.folder)
    assert list_own_papers() == ["mine"] and "mine" not in list_papers()
    assert find_folder("mine") == own.folder / "bands" and "mine" not in list_watched_papers()
    assert "paper-mine holds no finished run" in exit_code("do=reference", "paper=mine", f"results={own.folder}")
    assert exit_code("do=reference", "paper=2,mine") == 2
    assert "paper 'mine' is your own" in capsys.readouterr().err
    assert read_paper("mine").reported == str(own.folder / "paper" / "printed.csv")
    assert read_paper("2").reported == "results/reported/paper-2.csv"


# ---------------------------------------------------------------------------------------------- keys of cells


def version_of(target):
    """Return the version of an estimator's code as a new process would."""
    for function in (code_version.code_version, code_version._list_all_imports):
        function.cache_clear()
    for function in (source_walk._parse_file, source_walk.read_code):
        function.cache_clear()
    return code_version.code_version(target)


def test_own_code_is_hashed_with_what_it_imports(own):
    target = estimators.find_target("mine")
    first, seed = version_of(target), Cell("car", "mine", {}, 1.0, 0).seed
    path = own.folder / f"{own.module}.py"
    path.write_text(path.read_text() + "\n# a comment\n")
    assert version_of(target) == first
    parts = own.folder / f"{own.module}_parts.py"
    parts.write_text(PARTS.replace("np.sum", "2 * np.sum"))
    second = version_of(target)
    path.write_text(path.read_text().replace("rng.laplace(0", "rng.laplace(1"))
    third = version_of(target)
    assert len({first, second, third}) == 3
    assert Cell("car", "mine", {}, 1.0, 0).seed == seed


def test_own_code_is_hashed_with_our_mechanisms_and_its_other_libraries(own):
    target = f"{own.module}_ours.ByOurNoise"
    assert code_version.imports_module(target, "algorithms.mechanisms")
    assert not code_version.imports_module(estimators.find_target("mine"), "algorithms.mechanisms")
    path = own.folder / f"{own.module}_ours.py"
    path.write_text(f"import joblib\n{path.read_text()}")
    assert " joblib==" in version_of(target) and "numpy==" not in version_of(target)


def test_another_class_of_the_same_file_is_another_key(own):
    assert version_of(f"{own.module}.NoisyMajority") != version_of(f"{own.module}.OpenMajority")


def test_of_a_library_the_version_counts_and_of_one_installed_from_a_folder_the_code(tmp_path, monkeypatch):
    place = tmp_path / "site-packages"
    (place / "own_installed-1.dist-info").mkdir(parents=True)
    (place / "own_installed.py").write_text("")
    (place / "own_installed-1.dist-info" / "RECORD").write_text("own_installed.py,,\n")
    monkeypatch.syspath_prepend(place)
    assert module_sources.find_place("own_installed") is None
    (place / "own_installed-1.dist-info" / "direct_url.json").write_text('{"url": "file:///x", "dir_info": {}}')
    for function in (module_sources.find_place, module_sources._list_installed_from_folders):
        function.cache_clear()
    assert module_sources.find_place("own_installed") == place


# ---------------------------------------------------------------------------------------------- estimators


def test_a_classifier_of_scikit_learn_without_epsilon_runs(own):
    write(own.folder, "neighbours", "_target_: sklearn.neighbors.KNeighborsClassifier\nn_neighbors: 3\n")
    measured = evaluate_cell(Cell("car", "neighbours", {"n_neighbors": 3}, 1.0, 0))
    assert measured.metrics["accuracy"] > 0.8 and "privacy" not in measured.details


def test_the_epsilon_of_scikit_learn_is_no_budget(own):
    write(own.folder, "svr", "_target_: sklearn.svm.SVR\n")
    write(own.folder, "wide", "_target_: sklearn.svm.SVR\nepsilon: 3\n")
    assert not estimators.takes_epsilon("svr")
    assert estimators.make_estimator("svr", {}, epsilon=9.0).epsilon == 0.1
    assert estimators.make_estimator("wide", {}, epsilon=9.0).epsilon == 3


def test_an_epsilon_without_an_account_is_a_claim_only(own):
    cells = {"floor": [Cell("car", "mine", {}, 1.0, 0)]}
    assert evaluate_cell(Cell("car", "mine", {}, float("inf"), 0)).details == {}
    executor = Executor(jobs=1)
    outcome, records = run_and_collect(cells["floor"], own.folder.parent / "results", executor)
    assert outcome.done == 1
    (row,) = private_as_claimed.sum_up_privacy(long_table(cells, records))
    paper = make_paper()
    assert privacy.describe_privacy(paper, row, audits.read_bounds(own.folder.parent))["sound"] == "claims only"
    assert row["keeps_claim"] is None


class Accounted(ClassifierMixin, BaseEstimator):
    def __init__(self, privacy=None):
        self.privacy = privacy

    def fit(self, X, y):
        self.privacy_ = self.privacy
        return self

    def predict(self, X):
        return np.zeros(len(X))


def test_any_account_is_read_as_far_as_it_goes():
    ours = Privacy(0.5, Spent("laplace", "a count", 0.5, 1.0))
    assert read_account(Accounted(ours).fit([[0]], [0])) is ours
    claim = read_account(Accounted(SimpleNamespace(claimed_epsilon=2, neighbours=REPLACED)).fit([[0]], [0]))
    assert (claim.claimed_epsilon, claim.neighbours, claim.accounted_epsilon) == (2, REPLACED, float("inf"))
    assert is_claim_only(claim) and not is_claim_only(ours) and not claim.keeps_claim
    for privacy_, words in (
        (SimpleNamespace(epsilon=2), "claimed_epsilon must be a positive number, got None"),
        (SimpleNamespace(claimed_epsilon=2, neighbours="twins"), "neighbours must be one of .* got 'twins'"),
    ):
        with pytest.raises(BadInput, match=words):
            read_account(Accounted(privacy_).fit([[0]], [0]))


@pytest.mark.parametrize(
    ("method", "body", "error"),
    [
        ("fit", "raise KeyError('rows')", "KeyError: 'rows'"),
        ("fit", "raise SystemExit(3)", "SystemExit: 3"),
        ("predict", "return X", r"predict gave an array of shape \(519, 6\) for 519 rows"),
        ("predict", "return None", r"predict gave an array of shape \(\) for 519 rows"),
    ],
)
def test_an_estimator_that_fails_costs_its_own_cells_alone(own, method, body, error):
    bodies = {"fit": "return self", "predict": "return ['acc'] * len(X)", method: body}
    module = f"{own.module}_failing"
    lines = [
        "from sklearn.base import BaseEstimator, ClassifierMixin",
        "class Failing(ClassifierMixin, BaseEstimator):",
    ]
    lines += [
        f"    def fit(self, X, y):\n        {bodies['fit']}",
        f"    def predict(self, X):\n        {bodies['predict']}",
    ]
    (own.folder / f"{module}.py").write_text("\n".join(lines))
    write(own.folder, "failing", f"_target_: {module}.Failing\n")
    cells = [Cell("car", name, estimators.merge_parameters(name), 1.0, 0) for name in ("failing", "majority")]
    outcome, _ = run_and_collect(cells, own.folder.parent / "results", Executor(jobs=1))
    ((cell, found),) = outcome.failures
    assert outcome.done == 1 and cell.algorithm == "failing"
    assert re.fullmatch(error, found)


# ---------------------------------------------------------------------------------------------------- audit


def test_what_an_estimator_releases_is_attacked(own):
    open_majority = estimators.import_class(f"{own.module}.OpenMajority")
    assert list_pairs(open_majority()) == CLASSIFICATION_PAIRS
    assert not list_pairs(estimators.import_class(f"{own.module}.NoisyMajority")())
    pairs = CLASSIFICATION_PAIRS[:1]
    verdicts = {}
    for share in (1.0, 0.5):
        (finding,) = audit_pairs(lambda pair, share=share: open_majority(share=share), pairs, 1_000)
        verdicts[share] = finding.verdict
    assert verdicts[0.5] == VIOLATED != verdicts[1.0]


def test_released_arrays_are_a_list_or_a_mapping():
    assert list(map(len, read_arrays([[1, 2], np.zeros(3)]))) == [2, 3]
    with pytest.raises(BadInput, match="a list or a mapping of arrays, got str"):
        read_arrays("abc")


def test_noise_of_our_mechanisms_is_replayed(own):
    write(own.folder, "ours", f"_target_: {own.module}_ours.ByOurNoise\n")
    write(own.folder, "half", f"_target_: {own.module}_ours.ByOurNoise\ntold: 0.5\n")
    subjects = choose_subjects(AuditPlan(("ours", "half", "mine")))
    assert [subject.can_be_replayed for subject in subjects] == [True, True, False]
    assert [subject.is_claim_only for subject in subjects] == [False, False, True]
    ours, half = replay_in_processes(subjects[:2])
    assert not ours.failures and ours.n_calls == 1 and ours.claimed_epsilon == 50
    assert {"claim", "sensitivity"} <= half.broken_rules


def test_what_offers_nothing_is_reported_as_a_claim(own, capsys, monkeypatch):
    ran = []
    monkeypatch.setattr(audit, "run_audit", lambda plan: ran.append(run_audit(plan)) or ran[0])
    assert exit_code("do=audit", "algorithm=mine", "executor.jobs=1", f"results={own.folder.parent / 'results'}") == 0
    ((found, missing),) = ran
    assert found.claims_only == ["mine"] and not (found.bounds or missing or found.is_alarming)
    assert capsys.readouterr().out.startswith("mine  not audited: it only claims an ε. Give it released_()")


def test_the_audit_of_an_own_algorithm_stands_beside_that_of_ours(tmp_path):
    (tmp_path / "audit").mkdir()
    row = {"algorithm": "mine", "layer": "black box", "claimed": 1.0, "bound": 2.0, "verdict": "violated"}
    pd.DataFrame([row | {"where": "w", "event": "e"}]).to_csv(tmp_path / "audit" / "summary-mine.csv", index=False)
    bounds = audits.read_bounds(tmp_path)
    assert {"mine", "rdt"} <= set(bounds["algorithm"])
    assert audits.list_bounds(bounds, "mine")[0]["bound"] == Standing.UNKNOWN, (
        "it was made before audits noted versions"
    )


# ------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("share: 3\n", "{file}: _target_, the import path of the estimator's class, is missing"),
        ("- 3\n", "{file}: _target_, the import path of the estimator's class, is missing"),
        (
            "_target_: {module}.NoisyMajority\nshrae: 3\n",
            "{file}: algorithm 'bad' has no parameter 'shrae'; did you mean",
        ),
        ("_target_: {module}.NoisyMajority\ndomain: x\n", "algorithm 'bad': domain cannot be set as a parameter"),
        (
            "_target_: no_such_module.Class\n",
            "{file}: _target_: no_such_module.Class cannot be imported (ModuleNotFound",
        ),
        ("_target_: {module}.NoClass\n", "{file}: _target_: {module}.NoClass cannot be imported (AttributeError: "),
        ("_target_: {module}_broken.X\n", "{file}: _target_: {module}_broken.X cannot be imported (SyntaxError: "),
        (
            "_target_: {module}.count_classes\n",
            "{file}: _target_: {module}.count_classes is no estimator: write a class",
        ),
        ("_target_: [\n", "{file} cannot be read: "),
    ],
)
def test_a_bad_file_of_an_algorithm_is_refused_in_one_line(own, text, error):
    (own.folder / f"{own.module}_broken.py").write_text("def (")
    file = own.folder / "algorithm" / "bad.yaml"
    file.write_text(text.format(module=own.module))
    with pytest.raises(BadInput) as refused:
        expand_grid({"dataset": ["car"], "algorithm": ["bad"], "epsilon": [1.0]}, 1)
    assert str(refused.value).startswith(error.format(file=file, module=own.module))
    assert "\n" not in str(refused.value)


def test_a_constructor_that_raises_is_refused_in_one_line(own):
    code = "class Bad(ClassifierMixin, BaseEstimator):\n    def __init__(self): raise KeyError('x')\n"
    code += "    def fit(self, X, y): pass\n    def predict(self, X): pass\n"
    (own.folder / f"{own.module}_bad.py").write_text(f"from sklearn.base import BaseEstimator, ClassifierMixin\n{code}")
    write(own.folder, "bad", f"_target_: {own.module}_bad.Bad\n")
    with pytest.raises(BadInput, match=r"^algorithm 'bad' on 'car': KeyError: 'x'$"):
        expand_grid({"dataset": ["car"], "algorithm": ["bad"], "epsilon": [1.0]}, 1)


def test_an_executor_of_an_unknown_key_is_refused():
    with pytest.raises(BadInput, match=r"^executor has no key 'job'; did you mean 'jobs'"):
        make_executor({"backend": "loky", "job": 1})


@pytest.mark.parametrize(
    ("make", "words", "error"),
    [
        (None, ["dataset=car", "algorithm=mine"], "--config-dir: there is no folder {folder}"),
        (
            [],
            ["dataset=car", "algorithm=mine"],
            "{folder} has none of the folders algorithm, dataset, executor, metric, paper;",
        ),
        (["algorithm/mine.yaml"], ["dataset=car", "algorithm=mien"], "unknown algorithm 'mien'; did you mean 'mine'?"),
        (
            ["algorithm/mine.yaml"],
            ["dataset=car", "algorithm=mine"],
            "algorithm/mine.yaml: _target_, the import path of",
        ),
        (
            ["algorithm/rdt.yaml"],
            ["dataset=car", "algorithm=rdt"],
            "algorithm 'rdt' stands in conf/algorithm/rdt.yaml and",
        ),
        (["paper/mine.yaml"], ["paper=mien"], "unknown paper 'mien'; did you mean 'mine'?"),
        (["paper/mine.yaml"], ["paper=mine"], "paper/mine.yaml: the key 'number' is missing"),
        (["paper/2.yaml"], ["do=report"], "paper '2' stands in conf/paper/2.yaml and in"),
        (["executor/mine.yaml"], ["dataset=car", "algorithm=rdt", "executor=mine"], "executor has no key 'colour'"),
    ],
)
def test_a_bad_folder_is_refused_in_one_line(make, words, error, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "path", [*sys.path])
    folder = tmp_path / "own"
    for name in make or ():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text("colour: red\n")
    if make is not None:
        folder.mkdir(exist_ok=True)
    assert exit_code("--config-dir", folder, *words, f"results={tmp_path / 'results'}") == 2
    stdout, stderr = capsys.readouterr()
    assert stdout == "" and error.format(folder=folder) in stderr
    assert stderr.startswith("error: ") and ("errors:" in stderr or len(stderr.splitlines()) == 1)


# ------------------------------------------------------------------------------------------------- own kinds

BLOCKS = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs" / "claims.md").read_text("utf-8"), re.DOTALL | re.M)
(TIMES,) = [block for block in BLOCKS if "TimesClaim" in block]
STUDY = {"dataset": ["car"], "algorithm": ["rdt", "majority"], "epsilon": [0.5, 1.0]}
TWICE = {"id": "twice", "text": "T", "kind": "times", "study": "s", "better": "rdt", "worse": "majority"}
TWICE |= {"within": ["epsilon"], "metric": "accuracy"}


def make_kind(folder, name="times", text=TIMES, section="claims"):
    (folder / section).mkdir(exist_ok=True)
    (folder / section / f"{name}.py").write_text(text)


def judge_times(factor, run_tasks=run_here):
    """Return the verdict on a claim that 0.8 is so many times 0.3, in two settings."""
    rows = [
        {"study": "s", "dataset": "car", "algorithm": algorithm, "epsilon": epsilon, "repeat": repeat}
        | {"accuracy": level + 0.001 * (repeat % 3), "status": "done"}
        for algorithm, level in (("rdt", 0.8), ("majority", 0.3))
        for epsilon in STUDY["epsilon"]
        for repeat in range(20)
    ]
    claims = resolve_claims(make_paper(studies={"s": STUDY}, claims=[TWICE | {"factor": factor}]))
    (answer,) = claim_answers.judge_claims(claims, Results(pd.DataFrame(rows)), run_tasks=run_tasks)
    return answer.verdict


def test_a_kind_of_claim_of_ones_own_uses_its_own_key(own):
    make_kind(own.folder)
    assert "times" in kinds.list_kinds("claims")
    assert [judge_times(factor) for factor in (2.0, 3.0)] == ["reproduced", "refuted"]
    with pytest.raises(DocumentError, match=r"claims\.0: the key 'factor' is missing"):
        make_paper(studies={"s": STUDY}, claims=[TWICE])
    with pytest.raises(DocumentError, match="did you mean 'factor'"):
        make_paper(studies={"s": STUDY}, claims=[TWICE | {"facto": 2.0}])


def test_a_kind_that_takes_what_it_extends_from_where_that_stood_before_is_judged_alike(own):
    before = TIMES.replace("experiments.config.kinds.claims", "experiments.questions.group_claim")
    assert before != TIMES
    make_kind(own.folder, text=before)
    assert [judge_times(factor) for factor in (2.0, 3.0)] == ["reproduced", "refuted"]


def test_a_kind_that_extends_one_of_ours_is_judged_and_shown_like_it(own):
    """In a process of its own, where nobody has imported the rule or the view of the kind that it extends."""
    mine = "from typing import Literal\nfrom experiments.config.kinds.{0} import {1}\n\n\n"
    mine += "class Mine({1}):\n    kind: Literal['mine']\n"
    make_kind(own.folder, "mine", mine.format("claims", "MeetsClaim"))
    make_kind(own.folder, "mine", mine.format("exhibits", "GridTable"), "tables")
    code = f"""
from experiments.questions.claims import find_rule
from plots.exhibits.views import view
from tests.papers import judge_claims, make_paper
claim = {{"id": "c", "text": "T", "kind": "mine", "study": "s", "algorithm": "rdt", "to": "majority", "margin": 0.1}}
table = {{"id": "t", "title": "T", "kind": "mine", "study": "s", "metric": "accuracy", "rows": "dataset"}}
claims, tables = [claim | {{"within": [], "metric": "mse"}}], [table | {{"columns": "epsilon"}}]
paper = make_paper(studies={{"s": {STUDY}}}, claims=claims, tables=tables)
print(type(find_rule(paper.claims[0])).__name__, type(view(paper, paper.tables[0])).__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=HANG)
    assert done.stdout == "MeetsRule GridView\n", done.stderr


def test_a_kind_has_its_rule_beside_it_or_is_refused_without_one(own):
    mine = "from typing import Literal\nfrom experiments.config.kinds.claims import Claim\n"
    mine += "from experiments.judge.question import ComputedQuestion\nfrom experiments.judge.verdict import Verdict\n"
    mine += "from experiments.questions.rule import Rule\n\n\nclass MineClaim(Claim):\n    kind: Literal['mine']\n"
    rule = "\n\nclass MineRule(Rule[MineClaim], of=MineClaim):\n    def resolve(self, paper, numbers):\n"
    rule += "        return ComputedQuestion.known(Verdict.REPRODUCED, 'it is so')\n"
    claims = [{"id": "it", "text": "T", "kind": "mine"}]
    make_kind(own.folder, "mine", mine)
    with pytest.raises(BadInput, match="the kind 'mine' has no rule: let MineClaim extend a class that has one"):
        resolve_claims(make_paper(claims=claims))
    other = own.folder.parent / "other"
    other.mkdir()
    make_kind(other, "mine", mine + rule)
    search_path.use_folders([other])
    assert [answer.reason for answer in judge_claims(make_paper(claims=claims), pd.DataFrame())] == ["it is so"]


def test_a_kind_whose_runs_are_not_judged_each_by_itself_is_refused_before_any_run(own):
    make_kind(own.folder, text=TIMES.replace("self.factor * worse", "self.factor * worse.mean()"))
    paper = make_paper(studies={"s": STUDY}, claims=[TWICE | {"factor": 2.0}])
    with pytest.raises(PaperError, match=r"^claim 'twice': list_contrasts of its kind, tried on made-up runs, "):
        resolve_paper(paper)


def test_a_claim_of_ones_own_kind_travels_to_other_processes(own, monkeypatch):
    make_kind(own.folder)
    monkeypatch.setattr(task_runner, "_SECONDS_HERE", 0)
    assert judge_times(2.0, TaskRunner(Executor(jobs=2)).answer) == "reproduced"
    claims = resolve_claims(make_paper(studies={"s": STUDY}, claims=[TWICE | {"factor": 2.0}]))
    (own.folder / "claims.pickle").write_bytes(pickle.dumps(claims))
    code = f"import pickle; print(pickle.load(open({str(own.folder / 'claims.pickle')!r}, 'rb'))[0].question.test.rule)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=HANG)
    assert "factor=2.0" in done.stdout, done.stderr


def test_a_table_and_a_figure_of_ones_own_are_found_likewise(own):
    grid = "from typing import Literal\nfrom experiments.config.kinds.exhibits import GridTable\n\n\n"
    grid += "class Mine(GridTable):\n    kind: Literal['mine']\n"
    make_kind(own.folder, "mine", grid, "tables")
    assert kinds.find_kind("tables", "mine").__name__ == "Mine"
    item = {"id": "t", "title": "T", "kind": "mine", "study": "s", "metric": "accuracy"}
    paper = make_paper(studies={"s": STUDY}, tables=[item | {"rows": "algorithm", "columns": "epsilon"}])
    assert isinstance(view(paper, paper.tables[0]), GridView), "a kind that is like one of ours is shown like it"
    with pytest.raises(ValueError, match="kind 'mine' is not known"):
        kinds.find_kind("figures", "mine")


def test_kinds_of_a_folder_that_is_no_longer_added_are_unknown(own):
    make_kind(own.folder)
    first = kinds.find_kind("claims", "times")
    other = own.folder.parent / "other"
    other.mkdir()
    make_kind(other, text=TIMES.replace("some times", "so many times"))
    search_path.use_folders([other])
    assert kinds.find_kind("claims", "times") is not first
    search_path.use_folders([])
    with pytest.raises(ValueError, match="kind 'times' is not known"):
        kinds.find_kind("claims", "times")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "above",
            TIMES,
            r"the kind 'above' of claims stands in .*kinds/claims\.py and in .*own/claims/above\.py; rename",
        ),
        (
            "times",
            "import nowhere",
            r"claims/times\.py cannot be imported \(ModuleNotFoundError: No module named 'nowhere'",
        ),
        ("times", "X = 1", r"claims/times\.py has no class with a field kind"),
    ],
)
def test_a_kind_that_cannot_be_used_is_refused_with_its_file(own, name, text, said):
    make_kind(own.folder, name, text)
    with pytest.raises(ValueError, match=said):
        make_paper(studies={"s": STUDY}, claims=[TWICE | {"factor": 2.0}])


# --------------------------------------------------------------------------------- all of it, in processes


def start(folder, *words, **variables):
    """Run a command from a folder that is no checkout."""
    command = [sys.executable, "-m", "experiments", *words]
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | variables
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=HANG)


def test_the_algorithm_of_the_tutorial_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "path", [*sys.path])
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    (tmp_path / "mine" / "algorithm").mkdir(parents=True)
    for language, name in (("yaml", "algorithm/noisy_majority.yaml"), ("python", "noisy_majority.py")):
        (block,) = re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
        (tmp_path / "mine" / name).write_text(block)
    words = (
        "dataset=car",
        "algorithm=noisy_majority",
        "repeats=1",
        "executor.jobs=1",
        f"results={tmp_path / 'results'}",
    )
    assert exit_code("--config-dir", tmp_path / "mine", *words) == 0
    accuracy = next(line for line in map(json.loads, capsys.readouterr().out.splitlines()) if line["n"])
    assert accuracy["metric"] == "accuracy" and 0.6 < accuracy["mean"] < 0.8


def test_from_an_empty_folder_to_verdicts_and_nothing_twice(tmp_path, commands):
    def run(*words):
        return commands.run_module("experiments", *words, folder=tmp_path, PYTHONPATH=str(ROOT))

    for group in ("algorithm", "paper"):
        (tmp_path / "own" / group).mkdir(parents=True)
    write(tmp_path / "own", "mine", "_target_: mine_code.NoisyMajority\n")
    (tmp_path / "own" / "mine_code.py").write_text(NOISY.format(parts="mine_parts"))
    (tmp_path / "mine_parts.py").write_text(PARTS)  # beside it: the current directory
    tables_of(tmp_path / "own")
    words = ("--config-dir", "own", "paper=mine", f"results={tmp_path / 'results'}", "executor.jobs=1")
    first = run(*words)
    assert first.returncode == 0 and first.stdout.startswith("Mine\n") and "Mine" not in first.stderr, first.stderr
    folder = tmp_path / "results" / "paper-mine"
    claims = json.loads((folder / "claims.json").read_text())
    assert claims["paper"] == "mine" and claims["cells"] == claims["cells_expected"] == 4
    assert pd.read_csv(folder / "numbers.csv")["verdict"].tolist() != ["not run"]
    assert "claims only" in (folder / "report.html").read_text()

    again = run(*words)
    assert again.returncode == 0 and " 0 to run" in again.stderr and "cells run in" not in again.stderr
    (tmp_path / "mine_parts.py").write_text(PARTS.replace("np.sum", "1 * np.sum"))
    edited = run(*words)
    assert edited.returncode == 0 and "cells run in" in edited.stderr and "reused" in edited.stderr

    report = run("--config-dir", "own", "do=report", "paper=mine", f"results={tmp_path / 'results'}")
    assert report.returncode == 0 and "Mine" in (tmp_path / "results" / "report" / "index.html").read_text()


def test_papers_of_one_command_give_what_each_gives_alone(tmp_path, commands):
    (tmp_path / "own" / "paper").mkdir(parents=True)
    for name in ("first", "second", "third"):
        text = f"number: {name}\ntitle: The {name}\nrepeats: 3\nstudies:\n"
        text += "  all: {dataset: [car], algorithm: [majority, nothing]}\ntables: []\n"
        (tmp_path / "own" / "paper" / f"{name}.yaml").write_text(text)
    words = ("--config-dir", "own", "most_repeats=3")

    def run(*others):
        return commands.run_module("experiments", *words, *others, folder=tmp_path, PYTHONPATH=str(ROOT))

    together = run("paper=first,second,third", "executor.jobs=2", f"results={tmp_path / 'together'}")
    assert together.returncode == 0, together.stderr
    headings = [together.stdout.index(f"The {name}\n") for name in ("first", "second", "third")]
    assert headings == sorted(headings)
    for name in ("first", "second", "third"):
        alone = run(f"paper={name}", "executor.jobs=1", f"results={tmp_path / 'alone'}")
        assert alone.returncode == 0, alone.stderr
        for file in ("cells.csv", "claims.json", "numbers.csv", "paper.yaml"):
            made, expected = (tmp_path / folder / f"paper-{name}" / file for folder in ("together", "alone"))
            assert made.read_bytes() == expected.read_bytes(), file


def write_paper(folder, name, *changes):
    """Write the paper again with a name of its own, and changes of its text."""
    text = PAPER.replace("number: mine", f"number: {name}").replace("reported: printed.csv\n", "")
    for old, new in (("[NAME, majority]", "[mine, majority]"), ("NAME", "mine"), *changes):
        text = text.replace(old, new)
    write(folder, name, text, "paper")


DYING = """\
_target_: {module}_dies.die
task: classification
better: higher
low: 0
high: 1
margin: 0.01
"""


@pytest.mark.parametrize("names", [("plain", "more", "dying"), ("dying", "more", "plain")])
def test_a_metric_of_one_paper_costs_no_other_a_cell_and_is_in_no_other_table(own, tmp_path, names):
    (own.folder / f"{own.module}_dies.py").write_text('import os\n\n\ndef die(*_):\n    """Die."""\n    os._exit(3)\n')
    write(own.folder, "dies", DYING.format(module=own.module), "metric")
    metrics = {"plain": "[]", "more": "[f1_macro]", "dying": "[dies]"}
    for name in names:
        write_paper(own.folder, name, ("epsilon: [1.0]}", f"epsilon: [1.0], metrics: {metrics[name]}}}"))

    def run(names, folder):
        return exit_code(f"paper={','.join(names)}", "executor.jobs=1", f"results={tmp_path / folder}")

    assert run(names, "together") == 1
    for name in names:
        assert run([name], name) == (name == "dying")
        made, alone = (tmp_path / folder / f"paper-{name}" / "cells.csv" for folder in ("together", name))
        assert made.read_bytes() == alone.read_bytes(), name


@pytest.mark.parametrize("command", ["run", "decide"])
def test_a_paper_whose_rule_raises_keeps_no_other_from_its_end(own, tmp_path, capsys, command):
    before = "        worse, better = values.T\n"
    rule = "        if (values == 0.6994219653179191).any():  # which made-up runs never are\n            1 / 0\n"
    assert before in TIMES
    make_kind(own.folder, text=TIMES.replace(before, before + rule))
    more = ("most_repeats: 4", "most_repeats: 20")
    write_paper(own.folder, "bad", more, ("kind: not_worse", "kind: times, factor: 1.0"), (", margin: 0.05", ""))
    write_paper(own.folder, "good", more)
    words = "paper=bad,good", "executor.jobs=1", f"results={tmp_path / 'results'}"
    with pytest.raises(ZeroDivisionError):
        exit_code(command, *words)
    stdout, stderr = capsys.readouterr()
    assert "paper bad is left out: ZeroDivisionError" in stderr
    if command == "decide":
        assert [json.loads(line)["paper"] for line in stdout.splitlines()] == ["good"]
    else:
        assert (tmp_path / "results" / "paper-good" / "report.html").is_file()
        assert not list((tmp_path / "results" / "paper-bad").iterdir())


def test_a_paper_whose_answers_cannot_be_given_keeps_no_other_from_its_own(own, tmp_path, capsys, monkeypatch):
    answers = [ZeroDivisionError("a mistake"), mock.DEFAULT]
    monkeypatch.setattr(decide, "judge_numbers", mock.Mock(wraps=decide.judge_numbers, side_effect=answers))
    for name in ("bad", "good"):
        write_paper(own.folder, name)
    with pytest.raises(ZeroDivisionError):
        exit_code("decide", "paper=bad,good", "executor.jobs=1", f"results={tmp_path / 'results'}")
    stdout, stderr = capsys.readouterr()
    assert stderr == "paper bad is left out: ZeroDivisionError: a mistake\n"
    assert [json.loads(line)["paper"] for line in stdout.splitlines()] == ["good"]


def test_a_paper_that_cannot_be_written_keeps_no_other_from_its_end(own, tmp_path, capsys, monkeypatch):
    write_results = paper_runs.write_results

    def write_good(paper, *arguments, **keys):
        if paper.number == "bad":
            raise OSError(28, "No space left on device", "cells.csv")
        return write_results(paper, *arguments, **keys)

    monkeypatch.setattr(paper_runs, "write_results", write_good)
    write_paper(own.folder, "bad")
    above = ("kind: not_worse", "kind: above"), (", margin: 0.05", ""), ("most_repeats: 4", "most_repeats: 40")
    write_paper(own.folder, "good", *above, ("mine", "rdt"), ("epsilon: [1.0]", "epsilon: [0.5]"))
    assert exit_code("paper=bad,good", "executor.jobs=1", f"results={tmp_path / 'results'}") == 2
    stderr = capsys.readouterr().err
    assert "paper good, still open" in stderr, "it is run after the other was to be written"
    assert "paper bad is left out: OSError" in stderr and stderr.endswith("choose another folder with results=FOLDER\n")
    assert (tmp_path / "results" / "paper-good" / "report.html").is_file()


@pytest.mark.parametrize(("executor", "jobs"), [("local", 2), ("threads", 2), ("dask", 1)])
def test_every_executor_sees_the_same_folder(tmp_path, executor, jobs, commands):
    if executor == "dask":
        pytest.importorskip("distributed")
    (tmp_path / "own" / "algorithm").mkdir(parents=True)
    write(tmp_path / "own", "mine", "_target_: mine_code.NoisyMajority\n")
    (tmp_path / "own" / "mine_code.py").write_text(NOISY.format(parts="mine_parts"))
    (tmp_path / "own" / "mine_parts.py").write_text(PARTS)
    words = ("dataset=car", "algorithm=mine", "repeats=3", f"executor={executor}", f"executor.jobs={jobs}")
    words = ("--config-dir", "own", *words, f"results={tmp_path / 'results'}")
    if executor == "local":  # the usual one, from its beginning
        done = start(tmp_path, *words)
    else:
        done = commands.run_module("experiments", *words, folder=tmp_path, PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stderr
    accuracy = next(line for line in map(json.loads, done.stdout.splitlines()) if line["metric"] == "accuracy")
    assert accuracy["n"] == 3 and 0.6 < accuracy["mean"] < 0.8


def test_a_search_path_of_an_installed_package_adds_to_the_catalogue(tmp_path, commands):
    package = tmp_path / "site" / "their_package"
    (package / "conf" / "algorithm").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "code.py").write_text(NOISY.format(parts="their_package.parts"))
    (package / "parts.py").write_text(PARTS)
    (package / "conf" / "algorithm" / "theirs.yaml").write_text("_target_: their_package.code.NoisyMajority\n")
    (tmp_path / "site" / "hydra_plugins").mkdir()
    (tmp_path / "site" / "hydra_plugins" / "their_plugin.py").write_text(
        "from hydra.plugins.search_path_plugin import SearchPathPlugin\n"
        "class Theirs(SearchPathPlugin):\n"
        "    def manipulate_search_path(self, search_path):\n"
        "        search_path.append('theirs', 'pkg://their_package.conf')\n"
    )
    path = os.pathsep.join([str(ROOT), str(tmp_path / "site")])
    words = ("dataset=car", "algorithm=theirs", "repeats=1", "executor.jobs=1", f"results={tmp_path / 'results'}")
    done = commands.run_module("experiments", *words, folder=tmp_path, PYTHONPATH=path)
    assert done.returncode == 0 and '"algorithm": "theirs"' in done.stdout, done.stderr
    assert "theirs" in start(tmp_path, "--help", PYTHONPATH=path).stdout
