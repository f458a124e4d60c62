"""A number that is too large is refused wherever an ε is read: as infinity it would mean no noise, in silence.

So is one beyond what noise can keep, which would end in numbers that are none.
"""

import math

import pytest

from algorithms import RDTClassifier
from algorithms.parameters import ParameterError
from experiments.cells.cell import read_epsilon
from experiments.errors import BadInput
from tests.command_line import exit_code


@pytest.mark.parametrize(
    "words",
    [
        ["dataset=car", "algorithm=rdt", "epsilon=1e400"],
        ["dataset=car", "algorithm=rdt", "epsilon=1,1e400"],
        ["dataset=car", "algorithm=rdt", "epsilon=[1,1e400]"],
        ["dataset=car", "algorithm=rdt", "epsilon='1e400'"],
        ["do=audit", "algorithm=rdt", "epsilon=1e400"],
    ],
)
def test_a_command_line_is_refused_in_one_line(words, tmp_path, capsys):
    assert exit_code(*words, f"results={tmp_path / 'results'}") == 2
    assert capsys.readouterr().err == (
        "error: epsilon: 1e400 is larger than any number that can be held: write inf if no limit is meant\n"
    )
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("word", ["1e-300", "1.7e308"])
@pytest.mark.parametrize("command", [["dataset=car"], ["do=audit"]], ids=["run", "audit"])
def test_a_budget_beyond_what_noise_can_keep_is_refused_in_one_line(word, command, tmp_path, capsys):
    assert exit_code(*command, "algorithm=rdt", f"epsilon={word}", f"results={tmp_path / 'results'}") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ") and "epsilon must be from 1e-100 to 1e+100 (or inf for no noise), got " in line
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("number", ["1e400", "1.0e+400", "-1e999", "1" + "0" * 400])
def test_a_text_is_refused(number):
    with pytest.raises(BadInput, match="is larger than any number"):
        read_epsilon(number)
    assert [read_epsilon(word) for word in ("inf", "Infinity", "1e100")] == [math.inf, math.inf, 1e100]


def test_a_file_is_refused_with_its_line(tmp_path, capsys):
    (tmp_path / "algorithm").mkdir()
    file = tmp_path / "algorithm" / "large.yaml"
    file.write_text("_target_: algorithms.RDTClassifier\nepsilon: 1e400\n", encoding="utf-8")
    assert exit_code("--config-dir", tmp_path, "dataset=car", "algorithm=large", f"results={tmp_path / 'results'}") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "1e400 is larger than any number" in line and "line 2" in line


def test_a_paper_is_refused_with_its_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert exit_code("new", "paper", "large") == 0
    file = tmp_path / "paper" / "large.yaml"
    text = file.read_text(encoding="utf-8")
    (written,) = (line for line in text.splitlines() if line.strip().startswith("epsilon: ["))
    file.write_text(text.replace(written, "    epsilon: [0.5, 1e400]"), encoding="utf-8")
    capsys.readouterr()
    assert exit_code("--config-dir", tmp_path, "paper=large", f"results={tmp_path / 'results'}") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "paper/large.yaml cannot be read: 1e400 is larger than any number" in line
    assert not (tmp_path / "results").exists()


def test_an_estimator_takes_no_text_for_its_epsilon():
    with pytest.raises(ParameterError, match="positive number"):
        RDTClassifier(epsilon="1e400").fit([[0], [1]], [0, 1])
