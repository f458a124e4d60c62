"""The pages for contributors hold: their examples, put into the project, run, and the suite tests them as it stands."""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
MACHINE_CODE = PROJECT / ".cache" / "numba"
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
    "requirements-peers.lock",
    "requirements-peers-jax.lock",
)


@pytest.fixture
def project(tmp_path):
    """The project somewhere else, with the examples of the pages in it: an algorithm and a paper.

    Machine code that there is comes along: it is found by the code that it is made of.
    """
    for name in CODE:
        source = PROJECT / name
        copy = shutil.copytree if source.is_dir() else shutil.copyfile
        copy(source, tmp_path / name)
    if MACHINE_CODE.is_dir():
        being_written = shutil.ignore_patterns("*.tmp.*", "tmp*", "lock")
        shutil.copytree(MACHINE_CODE, tmp_path / MACHINE_CODE.relative_to(PROJECT), ignore=being_written)
    (tmp_path / "algorithms" / "coin.py").write_text(example("extending.md", "python"), encoding="utf-8")
    (tmp_path / "conf" / "algorithm" / "coin.yaml").write_text(example("extending.md", "yaml"), encoding="utf-8")
    (tmp_path / "conf" / "paper" / "small.yaml").write_text(example("papers.md", "yaml"), encoding="utf-8")
    return tmp_path


def example(page, language):
    """The only block of a language on a page of docs."""
    text = (PROJECT / "docs" / page).read_text(encoding="utf-8")
    (block,) = re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)
    return block


def run(project, *words):
    return subprocess.run([sys.executable, "-m", *words], cwd=project, capture_output=True, text=True, check=False)


def test_an_algorithm_is_one_file_and_one_yaml(project):
    done = run(project, "experiments", "dataset=car", "algorithm=coin", "epsilon=1", "repeats=2", "executor.jobs=1")
    assert done.returncode == 0, done.stderr
    accuracy = next(line for line in map(json.loads, done.stdout.splitlines()) if line["metric"] == "accuracy")
    assert accuracy["algorithm"] == "coin" and accuracy["n"] == 2

    files = ("tests/test_estimators.py", "tests/test_audit_replay.py")
    tested = run(project, "pytest", "-p", "no:cacheprovider", "-rp", "-k", "coin", *files)
    assert tested.returncode == 0, tested.stdout
    passed = Counter(re.findall(r"^PASSED ([^:]+)::", tested.stdout, flags=re.MULTILINE))
    assert passed[files[0]] > 50 and passed[files[1]] == 2, tested.stdout


def test_the_suite_catches_a_bad_one(project):
    coin = project / "algorithms" / "coin.py"
    coin.write_text(
        coin.read_text().replace("epsilon = check_epsilon(self.epsilon)", "epsilon = float(self.epsilon or 1)")
    )
    tested = run(
        project, "pytest", "-p", "no:cacheprovider", "-k", "Coin and bad_parameters", "tests/test_estimators.py"
    )
    assert tested.returncode == 1, tested.stdout


def test_a_paper_is_one_yaml(project):
    planned = run(
        project, "experiments", "paper=small", "repeats=2", "dry_run=true"
    )  # checks the paper, compiles nothing
    assert planned.returncode == 0, planned.stderr
    assert "24 cells" in planned.stderr  # 4 depths, 3 ε, 2 repeats
    paper = project / "conf" / "paper" / "small.yaml"
    paper.write_text(paper.read_text(encoding="utf-8").replace("along: epsilon", "along: epsilom"), encoding="utf-8")
    refused = run(project, "experiments", "paper=small", "dry_run=true")
    assert refused.returncode == 2 and "epsilom" in refused.stderr
