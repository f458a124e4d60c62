"""CONTRIBUTING.md tells the truth: its example, put into the project, runs and is tested by the suite as it stands."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
CODE = (
    "algorithms",
    "datasets",
    "experiments",
    "hydra_plugins",
    "plots",
    "conf",
    "tests",
    "pyproject.toml",
    "requirements-peers.lock",
)


@pytest.fixture
def project(tmp_path):
    """The project somewhere else, with the two files of the example in it."""
    for name in CODE:
        source = PROJECT / name
        copy = shutil.copytree if source.is_dir() else shutil.copyfile
        copy(source, tmp_path / name)
    text = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (python,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    (yaml,) = re.findall(r"```yaml\n(.*?)```", text, flags=re.DOTALL)
    (tmp_path / "algorithms" / "coin.py").write_text(python, encoding="utf-8")
    (tmp_path / "conf" / "algorithm" / "coin.yaml").write_text(yaml, encoding="utf-8")
    return tmp_path


def run(project, *words):
    return subprocess.run([sys.executable, "-m", *words], cwd=project, capture_output=True, text=True, check=False)


def test_an_algorithm_is_one_file_and_one_yaml(project):
    done = run(project, "experiments", "dataset=car", "algorithm=coin", "epsilon=1", "repeats=2", "executor.jobs=1")
    assert done.returncode == 0, done.stderr
    accuracy = next(line for line in map(json.loads, done.stdout.splitlines()) if line["metric"] == "accuracy")
    assert accuracy["algorithm"] == "coin" and accuracy["n"] == 2

    tested = run(project, "pytest", "-p", "no:cacheprovider", "-k", "Coin", "tests/test_estimators.py")
    assert tested.returncode == 0, tested.stdout
    assert int(re.search(r"(\d+) passed", tested.stdout)[1]) > 50, tested.stdout
    replayed = run(project, "pytest", "-p", "no:cacheprovider", "-k", "coin", "tests/test_audit_replay.py")
    assert replayed.returncode == 0 and "2 passed" in replayed.stdout, replayed.stdout


def test_the_suite_catches_a_bad_one(project):
    coin = project / "algorithms" / "coin.py"
    coin.write_text(
        coin.read_text().replace("epsilon = check_epsilon(self.epsilon)", "epsilon = float(self.epsilon or 1)")
    )
    tested = run(
        project, "pytest", "-p", "no:cacheprovider", "-k", "Coin and bad_parameters", "tests/test_estimators.py"
    )
    assert tested.returncode == 1, tested.stdout
