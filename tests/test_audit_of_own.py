"""The audit of an outsider's algorithms: one verdict of each, with its reason and its line."""

import json
import re
import subprocess
import sys

import pandas as pd
import pytest

from algorithms import source_walk
from documents import search_path
from experiments.audit import audit_tasks, neighbouring_tables
from experiments.audit.audit_tasks import TRAININGS, AuditPlan, BlackBox, list_notices, plan_tasks
from experiments.audit.outcomes import OUTCOMES, WAY_OUT, Unaudited
from experiments.cells import code_version, current
from experiments.cells.current import Standing
from experiments.config.paths import ROOT
from experiments.processes import make_environment
from plots import audits
from tests.command_line import exit_code
from tests.waiting import HANG

pytestmark = pytest.mark.long

RIGHT = '''"""Counts by class and by the categories of the last column."""

import numpy as np

from algorithms.accounting.events import Sequential, Spent
from algorithms.base import PrivateClassifier
from algorithms.mechanisms import laplace_vector
from algorithms.released.numbers import ReleasedNumbers


class Counts(PrivateClassifier):
    """Two tables of counts, with half of the budget each."""

    def __init__(self, epsilon=1.0, *, domain=None, noise="numpy", random_state=None):
        self.epsilon = epsilon
        self.domain = domain
        self.noise = noise
        self.random_state = random_state

    def fit(self, X, y):
        """Count with noise."""
        matrix, labels = self.read_training_rows(X, y)
        rng = self.generator(self.seed())
        n_values = len(self.domain_.features[-1].categories)
        counts = np.bincount(labels, minlength=len(self.classes_))
        values = np.bincount(matrix[:, -1].astype(int), minlength=n_values)
        share = self.epsilon / 2
        spent = Spent("laplace", "a table of counts", share, 1.0)
        self.counts_ = laplace_vector(counts, 1.0, share, rng)
        self.values_ = laplace_vector(values, 1.0, share, rng)
        self.privacy_ = self.account(self.epsilon, Sequential("fit", (spent, spent)))
        return self

    def predict(self, X):
        """Predict the largest class."""
        return np.full(len(self.read_rows(X)), self.classes_[np.argmax(self.counts_)])

    def _released(self, origin):
        """Return both tables."""
        return ReleasedNumbers(origin, {"counts": self.counts_.copy(), "values": self.values_.copy()})
'''
REGRESSOR = '''"""A noisy mean."""

import numpy as np

from algorithms.accounting.events import Sequential, Spent
from algorithms.base import PrivateRegressor
from algorithms.mechanisms import laplace


class Mean(PrivateRegressor):
    """The mean of the target."""

    def __init__(self, epsilon=1.0, *, domain=None, random_state=None):
        self.epsilon = epsilon
        self.domain = domain
        self.random_state = random_state

    def fit(self, X, y):
        """Sum with noise."""
        _, target = self.read_training_rows(X, y)
        rng = self.generator(self.seed())
        share = self.epsilon / 2
        spent = Spent("laplace", "a sum", share, 1.0)
        total = laplace(float(target.sum()), 1.0, share, rng)
        self.mean_ = min(max(total / max(laplace(float(len(target)), 1.0, share, rng), 1.0), 0.0), 1.0)
        self.privacy_ = self.account(self.epsilon, Sequential("fit", (spent, spent)))
        return self

    def predict(self, X):
        """Predict the mean."""
        return self.in_unit_of_target(np.full(len(self.read_rows(X)), self.mean_))
'''
PLAIN = '''"""Counts, with nothing of the project but its mechanism."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from algorithms.mechanisms import laplace_vector


class Counts(ClassifierMixin, BaseEstimator):
    """Counts by class."""

    def __init__(self, epsilon=1.0, random_state=None):
        self.epsilon = epsilon
        self.random_state = random_state

    def fit(self, X, y):
        """Count the classes that are there."""
        self.classes_, counts = np.unique(y, return_counts=True)
        self.counts_ = laplace_vector(counts, 1.0, self.epsilon, np.random.default_rng(self.random_state))
        return self

    def predict(self, X):
        """Predict the largest class."""
        return np.full(len(X), self.classes_[np.argmax(self.counts_)])
'''
PARTS = '''"""Noise in a module of its own."""

from algorithms.mechanisms import laplace_vector


def add_noise(counts, share, rng):
    """Add half of the noise that is needed."""
    return laplace_vector(counts, 0.5, share, rng)
'''
COUNTS = "self.counts_ = laplace_vector(counts, 1.0, share, rng)"
VALUES = "self.values_ = laplace_vector(values, 1.0, share, rng)"
SEEDED = "rng = self.generator(self.seed())"
SHARE = "share = self.epsilon / 2\n"
NO_RELEASE = ', noise="numpy"', "        self.noise = noise\n"


BINARY = '''    def __sklearn_tags__(self):
        """Return that it takes two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
'''
FEW = 100


def change(text, *pairs):
    """Return a text with parts of it replaced, each of which stands in it once."""
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def refuse(n):
    """Return the change that makes a fit raise where there are fewer rows."""
    return SEEDED, f"{SEEDED}\n        if len(labels) < {n}:\n            raise ValueError('too few rows')"


def without_epsilon(text):
    return change(
        text, ("epsilon=1.0, ", ""), ("        self.epsilon = epsilon\n", ""), ("self.epsilon, np", "1.0, np")
    )


ZOO = {  # what is written; the verdict and its reason, of which LINE stands for the line with the mark
    "right": (RIGHT, "withstood: nothing above 0."),
    "halved": (
        change(RIGHT, (VALUES, "self.values_ = laplace_vector(values, 0.5, share, rng)  # MARK")),
        "broken: noise for a change of 0.5, where a record makes one of 1, LINE",
    ),
    "halved_elsewhere": (
        change(
            RIGHT,
            ("import laplace_vector", "import laplace_vector\nfrom audited_parts import add_noise"),
            (VALUES, "self.values_ = add_noise(values, share, rng)"),
        ),
        "broken: noise for a change of 0.5, where a record makes one of 1, audited_parts.py:8",
    ),
    "of_numpy": (
        change(
            RIGHT,
            (VALUES, "drawn = rng.laplace(0, 1 / share, n_values)  # MARK\n        self.values_ = values + drawn"),
        ),
        "broken: noise outside of the mechanisms, LINE",
    ),
    "leaking": (
        change(RIGHT, (VALUES, "exact = values.astype(float)\n        self.values_ = exact  # MARK")),
        "broken: a value leaves without noise, LINE",
    ),
    "twice": (
        change(RIGHT, (COUNTS, "self.counts_ = laplace_vector(counts, 1.0, 3 * share, rng)  # MARK")),
        "broken: a record costs 2 times the ε that is claimed, LINE",
    ),
    "admits_twice": (change(RIGHT, (SHARE, "share = self.epsilon\n")), "unproven: nothing above "),
    "crashing": (change(RIGHT, refuse(9)), "broken: measured ε ≥ "),
    "crashing_always": (
        change(RIGHT, refuse(1000)),
        "not audited: it cannot be fitted to any pair of tables (ValueError: too few rows)",
    ),
    "crashing_on_some": (
        change(RIGHT, refuse(10)),
        "withstood: nothing above ",
    ),
    "binary": (
        change(
            RIGHT,
            (SEEDED, f"{SEEDED}\n        if len(self.classes_) != 2:\n            raise ValueError('two classes')"),
            ("    def predict(", f"{BINARY}\n    def predict("),
        ),
        "withstood: nothing above ",
    ),
    "binary_unsaid": (
        change(
            RIGHT,
            (SEEDED, f"{SEEDED}\n        if len(self.classes_) != 2:\n            raise ValueError('two classes')"),
        ),
        "withstood: nothing above ",
    ),
    "unseeded": (
        change(RIGHT, (SEEDED, "rng = np.random.default_rng()"), (NO_RELEASE[0], ""), (NO_RELEASE[1], "")),
        "withstood: nothing above ",
    ),
    "unseeded_of_numpy": (
        change(
            RIGHT,
            (VALUES, "self.values_ = values + np.random.default_rng().laplace(0, 1 / share, n_values)  # MARK"),
        ),
        "broken: noise outside of the mechanisms, LINE",
    ),
    "bare": (
        change(PLAIN, ("        self.counts_ =", "        # MARK is the next line\n        self.counts_ =")),
        "broken: what is asked of the mechanisms depends on the rows, NEXT",
    ),
    "only_claims": (
        change(
            PLAIN,
            ("from algorithms.mechanisms import laplace_vector\n", ""),
            ("laplace_vector(counts, 1.0, self.epsilon, np.random.default_rng(self.random_state))", "counts"),
        ),
        "not audited: it only claims an ε.",
    ),
    "regressor": (REGRESSOR, "withstood: nothing above "),
}
NOTHING_CLAIMED = {
    "silent": without_epsilon(PLAIN)
    .replace("from algorithms.mechanisms import laplace_vector\n", "")
    .replace("laplace_vector(counts, 1.0, 1.0, np.random.default_rng(self.random_state))", "counts"),
    "open": without_epsilon(PLAIN) + "\n    def released_(self):\n        return [self.counts_]\n",
}


def place_of(name, words):
    """Return the words with the place of the marked line, or of the one behind it."""
    lines = ZOO[name][0].splitlines()
    marked = next((i for i, line in enumerate(lines, start=1) if "MARK" in line), 0)
    file = f"audited_{name}.py"
    return words.replace("LINE", f"{file}:{marked}").replace("NEXT", f"{file}:{marked + 1}")


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("zoo")
    (folder / "algorithm").mkdir()
    (folder / "audited_parts.py").write_text(PARTS, encoding="utf-8")
    texts = {name: text for name, (text, _) in ZOO.items()} | NOTHING_CLAIMED
    for name, text in texts.items():
        kind = "Mean" if name == "regressor" else "Counts"
        (folder / f"audited_{name}.py").write_text(text, encoding="utf-8")
        (folder / "algorithm" / f"{name}.yaml").write_text(f"_target_: audited_{name}.{kind}\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path])
        for variable in search_path.describe_environment():
            patch.setenv(variable, "")
        search_path.use_folders([folder])
        yield folder


def few_pairs(patch):
    """Leave two pairs of tables of each kind: of 8 and 9 rows, and of 12 and 13 with forests of three trees."""
    named = {pair.name: pair for pair in neighbouring_tables.CLASSIFICATION_PAIRS}
    pairs = named["alone in its leaf"], named["the only one of its class"]
    patch.setattr(neighbouring_tables, "CLASSIFICATION_PAIRS", pairs)
    patch.setattr(neighbouring_tables, "REGRESSION_PAIRS", neighbouring_tables.REGRESSION_PAIRS[:1])


@pytest.fixture(scope="module")
def audited(zoo, tmp_path_factory):
    """The command's exit code and its files, of all of them together."""
    results = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        few_pairs(patch)
        patch.setitem(audit_tasks.FEWEST, "trainings", FEW)
        patch.setattr(audit_tasks, "attack_in_processes", lambda subjects, epsilon, jobs: iter(()))  # test_release_path
        words = f"algorithm={','.join(ZOO)}", f"trainings={FEW}", "executor.jobs=1", f"results={results}"
        code = exit_code("--config-dir", zoo, "do=audit", *words)
    (file,) = (results / "audit").glob("audit-*.json")
    found = json.loads(file.read_text(encoding="utf-8"))
    return code, results, found, pd.read_csv(file.with_suffix(".csv"))


def say(verdict):
    return f"{OUTCOMES[verdict['verdict']]}: {verdict['reason']}"


@pytest.mark.parametrize("name", ZOO)
def test_each_algorithm_has_the_verdict_that_it_deserves_with_its_reason(name, audited):
    code, _, found, _ = audited
    (verdict,) = (one for one in found["verdicts"] if one["algorithm"] == name)
    assert say(verdict).startswith(place_of(name, ZOO[name][1])), verdict
    assert code == 1


def test_what_an_algorithm_cannot_be_put_through_is_in_its_reason(audited):
    reasons = {one["algorithm"]: one["reason"] for one in audited[2]["verdicts"]}
    cannot = "it cannot be fitted to 1 of 2 pairs of tables (ValueError: too few rows)"
    assert reasons["crashing_on_some"].endswith(f" in {FEW} trainings, where 1 is claimed; {cannot}")
    two = "if it takes two classes alone, scikit-learn's tag multi_class = False leaves out tables with more"
    assert f"1 of 2 pairs of tables (ValueError: two classes); {two}" in reasons["binary_unsaid"]
    assert [name for name, reason in reasons.items() if two in reason] == ["binary_unsaid"]
    assert reasons["admits_twice"].endswith("; its own account says 2 where 1 is claimed")
    assert f"where 1 is claimed, on “alone in its leaf”, {FEW} trainings" in reasons["crashing"]


def test_all_rows_of_an_algorithm_say_one_thing_in_files_and_on_pages(audited):
    _, results, found, frame = audited
    assert set(frame["algorithm"]) == set(ZOO) and "measured" not in frame.columns
    bounds = audits.read_bounds(results)
    own = bounds[bounds["algorithm"].isin(ZOO)]
    assert set(own["standing"]) == {Standing.CURRENT} and set(own["version"]) == set(found["versions"].values())
    assert re.fullmatch(r"an audit of \d{4}-\d\d-\d\d", " ".join(set(own["audit"])))
    for verdict in found["verdicts"]:
        rows = frame[frame["algorithm"] == verdict["algorithm"]]
        assert set(zip(rows["verdict"], rows["reason"], strict=True)) == {(verdict["verdict"], verdict["reason"])}
        first, *others = audits.list_bounds(bounds, verdict["algorithm"])
        assert first["bound"] == say(verdict)
        assert all(one["bound"].startswith("ε ≥ ") for one in others)


def test_an_audit_says_nothing_of_code_that_changed_since_until_it_is_what_it_was(audited, zoo):
    path = zoo / "audited_right.py"
    source, changed = path.read_text(encoding="utf-8"), []
    weaker = change(source, (COUNTS, COUNTS.replace("share", "100 * share")))
    for text in (f"{source}\n# words alone\n", weaker, source):
        path.write_text(text, encoding="utf-8")
        forget_code()
        bounds = audits.read_bounds(audited[1])
        changed.append(set(bounds.loc[bounds["standing"] == Standing.CHANGED, "algorithm"]))
    assert changed == [set(), {"right"}, set()]


def forget_code():
    """Look at files of code as a new process would."""
    for function in (code_version.code_version, code_version._list_all_imports, current._hash_code, current._list_ours):
        function.cache_clear()
    for function in (source_walk._parse_file, source_walk.read_code):
        function.cache_clear()


def test_there_are_as_many_trainings_as_were_asked_for(audited):
    """Of those that have no loop of their own, too, and on the pair that asks for three trees."""
    measured = [row for row in audited[2]["bounds"] if row["layer"] == "black box"]
    assert {row["n"] for row in measured} == {FEW} and len({row["where"] for row in measured}) == 2


def test_fewer_trainings_are_said_before_they_start(zoo):
    plan = AuditPlan(("right", "rdt"))
    own, ours = (task for task in plan_tasks(plan) if isinstance(task, BlackBox))
    assert (own.n, ours.n) == (TRAININGS // 100, TRAININGS)
    said = "1,000 trainings of right on each table, not 100,000, as they take longer: trainings=N for more"
    assert list_notices(plan, [own, ours]) == [said]
    asked = AuditPlan(("right",), trainings=20_000)
    assert [task.n for task in plan_tasks(asked) if isinstance(task, BlackBox)] == [20_000]
    assert list_notices(asked, plan_tasks(asked)) == []


@pytest.mark.parametrize("name", NOTHING_CLAIMED)
def test_what_claims_nothing_is_refused_in_one_line(name, zoo, tmp_path, capsys):
    assert exit_code("--config-dir", zoo, "do=audit", f"algorithm={name}", f"results={tmp_path / 'results'}") == 2
    assert capsys.readouterr().err == (
        f"error: algorithm {name!r} cannot be audited: it claims no ε, neither by a parameter epsilon nor in privacy_\n"
    )
    assert not (tmp_path / "results").exists()


def test_a_release_that_never_comes_is_said_and_costs_no_other_layer(zoo, monkeypatch, tmp_path, capsys):
    few_pairs(monkeypatch)
    monkeypatch.setitem(audit_tasks.FEWEST, "trainings", FEW)
    failed = [Unaudited("right", WAY_OUT, "KeyError: 'x'")] * 2
    monkeypatch.setattr(audit_tasks, "attack_in_processes", lambda subjects, epsilon, jobs: iter(failed))
    words = "algorithm=right", f"trainings={FEW}", "executor.jobs=1", f"results={tmp_path}"
    assert exit_code("--config-dir", zoo, "do=audit", *words) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("right  withstood: nothing above ")
    assert first.endswith("; no release came from 2 kinds of tables (KeyError: 'x')")


def test_tables_with_more_classes_than_an_algorithm_takes_are_left_out_and_fail_no_audit(
    zoo, monkeypatch, tmp_path, capsys
):
    few_pairs(monkeypatch)
    monkeypatch.setitem(audit_tasks.FEWEST, "trainings", FEW)
    monkeypatch.setattr(audit_tasks, "attack_in_processes", lambda subjects, epsilon, jobs: iter(()))
    words = "algorithm=binary", f"trainings={FEW}", "executor.jobs=1", f"results={tmp_path}"
    assert exit_code("--config-dir", zoo, "do=audit", *words) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("binary  withstood: nothing above ")
    assert "; 1 of 2 pairs of tables were left out, with more classes than the two that it says it takes" in first
    assert first.endswith("; it was not replayed, as replays have more classes than the two that it says it takes")


BLOCKED = '''"""Nothing of OpenDP can be imported, in no process."""

import sys


class Blocker:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "opendp":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Blocker)
'''
AUDIT_ONE_PAIR = f"""
import runpy, sys
from experiments.audit import audit_tasks, neighbouring_tables
audit_tasks.FEWEST["trainings"] = {FEW}
neighbouring_tables.CLASSIFICATION_PAIRS = neighbouring_tables.CLASSIFICATION_PAIRS[:1]
sys.argv = ["experiments/__main__.py", *sys.argv[1:]]
runpy.run_path("experiments/__main__.py", run_name="__main__")
"""


def test_without_opendp_it_audits_what_it_can_and_says_first_what_it_cannot(zoo, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(BLOCKED, encoding="utf-8")
    words = "do=audit", "algorithm=right", f"trainings={FEW}", "executor.jobs=1", f"results={tmp_path / 'r'}"
    done = subprocess.run(
        [sys.executable, "-c", AUDIT_ONE_PAIR, "--config-dir", str(zoo), *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=make_environment(PYTHONPATH=str(tmp_path)),
        timeout=HANG,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == (
        'not audited: real releases of right, as OpenDP is not installed: pip install "dp-replica[secure]"'
    )
    withstood = done.stdout.splitlines()[0]
    assert withstood.startswith("right  withstood: nothing above 0.")
    assert withstood.endswith(
        " trainings, where 1 is claimed; real releases were not attacked, as OpenDP is not installed"
    )
