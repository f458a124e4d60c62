"""The pages for contributors hold: their examples, put into the project, run, and the suite tests them as it stands."""

import json
import os
import re
import shutil
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest

from experiments.skeletons.writing import TEMPLATES
from tests import forks

pytestmark = pytest.mark.system
PROJECT = Path(__file__).resolve().parents[1]
CODE = (
    "algorithms",
    "datasets",
    "documents",
    "experiments",
    "hydra_plugins",
    "plots",
    "conf",
    "tests",
    "pyproject.toml",
    "CITATION.cff",
    "requirements-peers.lock",
    "requirements-peers-jax.lock",
)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The project somewhere else, with what the pages name in it: the skeleton of an algorithm, and a paper."""
    folder = tmp_path_factory.mktemp("project")
    for name in CODE:
        source = PROJECT / name
        copy = shutil.copytree if source.is_dir() else shutil.copyfile
        copy(source, folder / name)
    shutil.copyfile(TEMPLATES / "algorithm.py", folder / "algorithms" / "my_method.py")
    (folder / "conf" / "algorithm" / "my_method.yaml").write_text(example("extending.md", "yaml"), encoding="utf-8")
    (folder / "conf" / "paper" / "small.yaml").write_text(example("papers.md", "yaml"), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def run(project):
    """Run a module of it, or pytest, in a process forked from one that has imported neither of the examples."""
    origin = forks.Origin((*forks.COMMANDS, "hypothesis", "pytest"), project, environment=dict(os.environ))
    yield origin.run_module
    origin.close()


@contextmanager
def changed(path, old, new):
    """A file with other words, for a while."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    yield
    path.write_text(text, encoding="utf-8")


def example(page, language):
    """The only block of a language on a page of docs."""
    text = (PROJECT / "docs" / page).read_text(encoding="utf-8")
    (block,) = re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)
    return block


def test_an_algorithm_is_one_file_and_one_yaml(run):
    done = run("experiments", "dataset=car", "algorithm=my_method", "epsilon=1", "repeats=2", "executor.jobs=1")
    assert done.returncode == 0, done.stderr
    accuracy = next(line for line in map(json.loads, done.stdout.splitlines()) if line["metric"] == "accuracy")
    assert accuracy["algorithm"] == "my_method" and accuracy["n"] == 2

    files = ("tests/test_estimators.py", "tests/test_audit_replay.py")
    tested = run("pytest", "-p", "no:cacheprovider", "-rp", "-k", "my_method or NoisyBayes", *files)
    assert tested.returncode == 0, tested.stdout
    passed = Counter(re.findall(r"^PASSED ([^:]+)::", tested.stdout, flags=re.MULTILINE))
    assert passed[files[0]] > 50 and passed[files[1]] == 2, tested.stdout


def test_the_suite_catches_a_bad_one(project, run):
    right, wrong = "epsilon, n_bins = check_epsilon(self.epsilon)", "epsilon, n_bins = float(self.epsilon or 1)"
    words = ("-k", "NoisyBayes and bad_parameters")
    with changed(project / "algorithms" / "my_method.py", right, wrong):
        tested = run("pytest", "-p", "no:cacheprovider", *words, "tests/test_estimators.py")
    assert tested.returncode == 1, tested.stdout


def test_a_paper_is_one_yaml(project, run):
    planned = run("experiments", "paper=small", "repeats=2", "dry_run=true")  # checks the paper, compiles nothing
    assert planned.returncode == 0, planned.stderr
    assert "24 cells" in planned.stderr  # 4 depths, 3 ε, 2 repeats
    with changed(project / "conf" / "paper" / "small.yaml", "along: epsilon", "along: epsilom"):
        refused = run("experiments", "paper=small", "dry_run=true")
    assert refused.returncode == 2 and "epsilom" in refused.stderr
