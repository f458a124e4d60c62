"""Skeletons: what ``new`` writes runs as it is, keeps its promise, and never takes the place of anything."""

import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from algorithms import Continuous, Domain, Nominal
from datasets import dataset
from documents import search_path
from experiments.config.paths import ROOT
from experiments.skeletons.algorithm import NoisyBayesClassifier
from experiments.skeletons.writing import FILES, TEMPLATES, write_skeleton
from tests.command_line import exit_code

pytestmark = pytest.mark.long

WORKFLOW = ".github/workflows/check.yml"


def begin(what, name, folder, capsys):
    """Begin something, and return the words of the command that it names."""
    assert exit_code("new", what, name, f"to={folder}") == 0
    *files, command = capsys.readouterr().out.splitlines()
    assert files == [str(folder / place.replace("NAME", name)) for place in FILES[what].values()]
    return shlex.split(command)[1:]


@pytest.mark.parametrize("what", sorted(set(FILES) - {"project", "notebooks"}))
def test_a_skeleton_runs_as_it_is(what, tmp_path, capsys, monkeypatch, without_pdf):
    monkeypatch.setattr(sys, "path", [*sys.path])
    name = f"trial_{what}"
    command = begin(what, name, tmp_path / "mine", capsys)
    how = ["repeats=2", *(["most_repeats=2"] if what == "paper" else [])]
    assert exit_code(*command, *how, "executor.jobs=1", f"results={tmp_path / 'results'}") == 0
    printed = capsys.readouterr()
    assert "ε holds only if" not in printed.err
    if what == "paper":
        assert len(pd.read_csv(next(tmp_path.rglob("numbers.csv")))) == 3
    else:
        assert name in printed.out


def test_the_notebooks_are_the_examples_of_the_gallery(tmp_path, capsys):
    """`make notebooks` writes them. What they show is made when the site is built."""
    convert = runpy.run_path(str(ROOT / "docs" / "notebooks.py"))["convert"]
    assert exit_code("new", "notebooks", "lessons", f"to={tmp_path}") == 0
    written = {path.stem: path.read_text(encoding="utf-8") for path in (tmp_path / "lessons").iterdir()}
    assert written == {path.stem: convert(path) for path in (ROOT / "docs" / "gallery").glob("*.py")}
    cells = [cell for text in written.values() for cell in json.loads(text)["cells"]]
    assert {cell["cell_type"] for cell in cells} == {"code", "markdown"} and len(written) >= 6
    assert not any(cell.get("outputs") for cell in cells)
    assert not [line for cell in cells for line in cell["source"] if ":doc:" in line]


@pytest.mark.long
def test_a_project_runs_keeps_its_bands_and_its_results_and_passes_its_test(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    folder, run = tmp_path / "trial_project", ["executor.jobs=1", f"results={tmp_path / 'results'}"]
    assert exit_code("new", "project", "trial_project", f"to={tmp_path}") == 0
    *files, command = capsys.readouterr().out.splitlines()
    assert shlex.split(command)[1:] == ["--config-dir", str(folder), "paper=trial_project"]
    assert set(map(str, filter(Path.is_file, folder.rglob("*")))) == set(files)
    assert not [path for path in files if re.search("NAME|VERSION", Path(path).read_text(encoding="utf-8"))]
    for path in (folder / ".github/workflows/check.yml", folder / ".devcontainer/devcontainer.json"):
        yaml.safe_load(path.read_text(encoding="utf-8"))
    here = ["--config-dir", folder]
    assert exit_code(*here, "paper=trial_project", *run) == 0
    assert "Do its claims hold?" in capsys.readouterr().out
    assert exit_code(*here, "check", "paper=trial_project", *run) == 2
    assert " bands paper=trial_project writes them" in capsys.readouterr().err
    assert exit_code(*here, "bands", "paper=trial_project", *run) == 0
    assert exit_code(*here, "check", "paper=trial_project", *run) == 0
    assert "4 of 4 bands hold" in capsys.readouterr().out
    assert "not committed" in exit_code(*here, "reference", "paper=trial_project", run[1])
    for words in ("init -q", "add -A", "-c user.name=a -c user.email=a@b commit -qm x"):
        subprocess.run(["git", *words.split()], cwd=folder, check=True)
    assert exit_code(*here, "paper=trial_project", *run) == 0
    assert exit_code(*here, "reference", "paper=trial_project", run[1]) == 0
    assert (folder / "reference" / "paper-trial_project" / "numbers.csv").is_file()
    shutil.rmtree(tmp_path / "results" / "paper-trial_project")
    assert exit_code(*here, "report", "paper=trial_project", run[1]) == 0
    page = tmp_path / "results" / "report" / "paper-trial_project.html"
    assert "The published run" in page.read_text(encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib"]
    tests += ["-k", "not attack"]  # half a minute; `test_installed` attacks the same skeleton with fewer trainings
    done = subprocess.run(tests, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project that was begun, and is looked at."""
    folder = tmp_path_factory.mktemp("begun")
    write_skeleton("project", "look", folder)
    return folder


def test_a_project_has_one_python_everywhere_for_which_there_are_wheels(project):
    dockerfile, workflow = ((project / path).read_text(encoding="utf-8") for path in ("Dockerfile", WORKFLOW))
    (version,) = re.findall(r"^FROM python:(\S+)-slim$", dockerfile, flags=re.MULTILINE)
    assert re.findall(r'python-version: "(.*)"', workflow) == [version]
    assert f"have {version}" in (project / "requirements.txt").read_text(encoding="utf-8")
    gate = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    assert version in gate["jobs"]["wheels"]["strategy"]["matrix"]["python"]
    python, wheel = (step["with"] for step in gate["jobs"]["image"]["steps"] if "with" in step)
    assert (python["python-version"], wheel["name"]) == (version, f"wheel-{version}")
    facts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert version in SpecifierSet(facts["requires-python"])
    lines = (project / "requirements.txt").read_text(encoding="utf-8").splitlines()
    known = [facts["name"], *(Requirement(text).name for text in facts["optional-dependencies"]["dev"])]
    assert {line for line in lines if not line.startswith("#")} <= set(known)


def test_an_image_of_a_project_has_all_files_before_it_installs_and_runs_them(project):
    steps = re.findall(r"^([A-Z]+) (.*)$", (project / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert [step for step, _ in steps] == ["FROM", "WORKDIR", "COPY", "RUN", "CMD"]
    words = dict(steps)
    assert words["COPY"] == ". ." and words["RUN"].endswith(" -r requirements.txt")
    assert f':{words["WORKDIR"]}/results" look' in (project / "Dockerfile").read_text(encoding="utf-8")
    container = project / ".devcontainer" / "devcontainer.json"
    build = json.loads(container.read_text(encoding="utf-8"))["build"]
    assert (container.parent / build["dockerfile"]).resolve() == (project / "Dockerfile").resolve()
    assert (container.parent / build["context"]).resolve() == project.resolve()


def test_every_command_that_a_project_names_is_one(project, capsys):
    """Of the image, the workflow and the README: what they do is run by the test of a whole project."""
    texts = [(project / path).read_text(encoding="utf-8") for path in ("Dockerfile", WORKFLOW, "README.md")]
    (image,) = re.findall(r"^CMD (.*)$", texts[0], flags=re.MULTILINE)
    commands = [json.loads(image)]
    commands += [shlex.split(line, comments=True) for line in re.findall(r"dp-replica --.*", "\n".join(texts[1:]))]
    assert len(commands) >= 9
    for program, *words in commands:
        assert program == "dp-replica" and words[:2] == ["--config-dir", "."]
        assert words[3:] in (["paper=look"], ["algorithm=look"])
        assert exit_code("--config-dir", project, *words[2:], "--help") == 0
        assert words[2] == "run" or f"dp-replica {words[2]}" in capsys.readouterr().out


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_project_whose_code_has_a_fault_fails_its_check(tmp_path, capsys, monkeypatch, commands):
    monkeypatch.setattr(sys, "path", [*sys.path])
    run = ["--config-dir", tmp_path / "cut", "paper=cut", "executor.jobs=1", f"results={tmp_path / 'results'}"]
    assert exit_code("new", "project", "cut", f"to={tmp_path}") == 0
    edit(tmp_path / "cut" / "paper" / "cut.yaml", "accepted: 200 ", "accepted: 80 ")  # of fewer runs bands are wider
    assert exit_code("bands", *run) == 0
    edit(tmp_path / "cut" / "cut.py", "scores.argmax", "scores.argmin")
    done = commands.run_module("experiments", "check", *run)  # this process has the module as it was
    assert done.returncode == 1 and "accuracy" in done.stdout, done.stderr


def test_nothing_is_written_over(tmp_path, capsys):
    begin("dataset", "trial", tmp_path, capsys)
    (tmp_path / "dataset" / "trial.yaml").unlink()
    (tmp_path / "trial.csv").write_text("mine", encoding="utf-8")
    assert exit_code("new", "dataset", "trial", f"to={tmp_path}") == 2
    assert f"{tmp_path}/trial.csv exists, and nothing is overwritten" in capsys.readouterr().err
    assert (tmp_path / "trial.csv").read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "dataset" / "trial.yaml").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["new"], "name what to begin, and give it a name: new algorithm|dataset|metric|paper|notebooks|project NAME"),
        (["new", "paper"], "name what to begin, and give it a name"),
        (["new", "papre", "mine"], "what=papre cannot be begun; did you mean 'paper'?"),
        (["new", "paper", "my paper"], "name=my paper cannot be the name of the paper: use letters"),
        (["new", "algorithm", "My-one"], "name=My-one cannot be the name of the algorithm: use small letters"),
        (["new", "algorithm", "numpy"], "Python has a module numpy and would import that one"),
        (["new", "algorithm", "rdt"], "there is a algorithm of that name"),
        (["new", "paper", "2"], "there is a paper of that name"),
        (["new", "paper", "a", "b"], "new does not take the word 'b'"),
        (["do=new", "what=dataset", "name=car"], "there is a dataset of that name"),
    ],
)
def test_what_cannot_be_begun_is_refused_in_one_line(words, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert exit_code(*words) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and len(printed.err.splitlines()) == 1 and message in printed.err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert exit_code("new", "paper", "trial", f"to={tmp_path / 'file'}") == 2
    assert "cannot be written (" in capsys.readouterr().err


def test_every_template_is_written_somewhere():
    used = {name for files in FILES.values() for name in files}
    code = {"__init__.py", "schema.py", "writing.py"}
    files = {path.relative_to(TEMPLATES).as_posix() for path in TEMPLATES.rglob("*") if path.is_file()}
    assert used | code == {name for name in files if "__pycache__" not in name}


def test_the_rows_of_the_skeleton_are_within_its_domain(tmp_path, capsys, monkeypatch):
    begin("dataset", "trial", tmp_path, capsys)
    monkeypatch.setenv(search_path.VARIABLE, str(tmp_path))
    loaded = dataset.load("trial")
    problems = loaded.domain.rows(loaded.frame, loaded.target).problems()
    assert (problems.clipped, problems.left_out, len(loaded.frame)) == ({}, 0, 240)


def test_the_algorithm_spends_what_it_claims_and_learns_without_noise():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.random(400), "job": rng.choice(["cook", "clerk"], 400)})
    labels = np.where((frame["x"] > 0.5) & (frame["job"] == "cook"), "yes", "no")
    domain = Domain((Continuous("x", 0, 1), Nominal("job", ("clerk", "cook"))), Nominal("y", ("no", "yes")))
    model = NoisyBayesClassifier(2.0, domain=domain, random_state=0).fit(frame, labels)
    assert model.privacy_.accounted_epsilon == pytest.approx(2.0) and model.privacy_.keeps_claim
    assert [table.shape for table in model.value_counts_] == [(2, 10), (2, 2)]
    exact = NoisyBayesClassifier(np.inf, domain=domain).fit(frame, labels)
    assert exact.class_counts_.tolist() == [sum(labels == "no"), sum(labels == "yes")]
    assert exact.value_counts_[1].sum() == 400 and exact.score(frame, labels) > 0.8
    pytest.importorskip("opendp")
    secure = NoisyBayesClassifier(2.0, domain=domain, noise="opendp").fit(frame, labels)
    assert secure.release().numbers["class_counts"].tolist() == secure.class_counts_.tolist()


def test_what_contradicts_itself_in_a_paper_is_named_with_its_line(tmp_path, capsys):
    own = tmp_path / "own"
    assert exit_code("new", "paper", "mine", f"to={own}") == 0
    paper, printed = own / "paper" / "mine.yaml", own / "paper" / "mine.csv"
    text = paper.read_text(encoding="utf-8").replace("    study: comparison\n", "    study: comparisn\n")
    paper.write_text(text.replace("own: [rdt]", "own: [rtd]"), encoding="utf-8")
    capsys.readouterr()
    assert exit_code("--config-dir", own, "paper=mine", "dry_run=true") == 2
    head, *errors = capsys.readouterr().err.splitlines()
    assert head == "error: 4 errors:"
    lines = text.splitlines()
    for start, key, error in zip(
        ("  - id: table-1", "  - id: figure-1", "  - id: above-majority", "own: "),
        ("table-1", "figure-1", "claim 'above-majority'", "own"),
        errors,
        strict=True,
    ):
        place = next(place for place, line in enumerate(lines, 1) if line.startswith(start))
        assert error.startswith(f"  {paper}:{place}: {key}: ") and ("comparisn" in error or "rtd" in error)
    paper.write_text(text.replace("comparisn", "comparison"), encoding="utf-8")
    numbers = printed.read_text(encoding="utf-8").replace("rdt,1.0,", "rdt,1.5,")
    printed.write_text(numbers, encoding="utf-8")
    for words in (["run", "dry_run=true"], ["decide"], ["verify"]):
        assert exit_code(*words, "--config-dir", own, "paper=mine") == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"error: {printed}:3: printed number 'rdt-eps1.0' is no setting of table-1")
