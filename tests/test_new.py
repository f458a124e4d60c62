"""Skeletons: what ``new`` writes runs as it is, keeps its promise, and never takes the place of anything."""

import shlex
import sys

import numpy as np
import pandas as pd
import pytest

from algorithms import Continuous, Domain, Nominal
from datasets import dataset
from documents import search_path
from experiments.skeletons.algorithm import NoisyBayesClassifier
from experiments.skeletons.writing import FILES, TEMPLATES
from tests.command_line import exit_code


def begin(what, name, folder, capsys):
    """Begin something, and return the words of the command that it names."""
    assert exit_code("new", what, name, f"to={folder}") == 0
    *files, command = capsys.readouterr().out.splitlines()
    assert files == [str(folder / place.replace("NAME", name)) for place in FILES[what].values()]
    return shlex.split(command)[3:]


@pytest.mark.parametrize("what", FILES)
def test_a_skeleton_runs_as_it_is(what, tmp_path, capsys, monkeypatch):
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


def test_nothing_is_written_over(tmp_path, capsys):
    begin("dataset", "trial", tmp_path, capsys)
    (tmp_path / "dataset" / "trial.yaml").unlink()
    (tmp_path / "trial.csv").write_text("mine", encoding="utf-8")
    assert exit_code("new", "dataset", "trial", f"to={tmp_path}") == 2
    assert f"{tmp_path}/trial.csv is there, and nothing is written over" in capsys.readouterr().err
    assert (tmp_path / "trial.csv").read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "dataset" / "trial.yaml").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["new"], "say what is new, and its name: new algorithm|dataset|metric|paper NAME"),
        (["new", "paper"], "say what is new, and its name"),
        (["new", "papre", "mine"], "what=papre cannot be begun; did you mean 'paper'?"),
        (["new", "paper", "my paper"], "name=my paper cannot be the name of the paper: use letters"),
        (["new", "algorithm", "My-one"], "name=My-one cannot be the name of the algorithm: use small letters"),
        (["new", "algorithm", "numpy"], "Python has a module of that name"),
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
    assert used | code == {path.name for path in TEMPLATES.iterdir() if path.is_file()}


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
    assert exit_code("--config-dir", own, "paper=mine", "dry_run=true") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {printed}:3: printed number 'rdt-eps1.0' is no setting of table-1")
