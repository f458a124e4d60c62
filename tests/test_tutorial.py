"""The tutorial holds: its commands run in their order, and its pictures are small."""

import re
import shlex

import pytest

from documents import search_path
from experiments.audit import audit_tasks
from experiments.config.paths import ROOT
from tests.command_line import exit_code

DOCS = ROOT / "docs"
TUTORIAL = (DOCS / "tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", TUTORIAL, flags=re.DOTALL | re.MULTILINE)
COMMANDS = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]
LARGEST_PICTURE = 60_000
FEW = 40  # trainings, in which nothing is found either; what more of them find is in test_audit_of_own


def block(language):
    return next(text for name, text in BLOCKS if name == language)


@pytest.mark.long
def test_every_command_of_a_folder_of_ones_own_runs_in_its_order(tmp_path, monkeypatch, capsys, without_pdf):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(search_path.VARIABLE, "")
    monkeypatch.setitem(audit_tasks.FEWEST, "trainings", FEW)
    monkeypatch.syspath_prepend(str(tmp_path / "mine"))
    (tmp_path / "mine" / "algorithm").mkdir(parents=True)
    (tmp_path / "mine" / "noisy_majority.py").write_text(block("python"), encoding="utf-8")
    (tmp_path / "mine" / "algorithm" / "noisy_majority.yaml").write_text(block("yaml"), encoding="utf-8")
    printed = ""
    for line in COMMANDS:
        program, *words = shlex.split(line)
        assert program == "dp-replica"
        how = [] if words[0] in ("new", "describe") else [f"results={tmp_path / 'results'}", "executor.jobs=1"]
        how += [f"trainings={FEW}"] if words[0] == "audit" else []
        how += ["output=table"] if any(word.startswith("dataset=") for word in words) else []
        assert exit_code(*words, *how) == 0, line
        printed += capsys.readouterr().out
    rows = [line.rstrip() for line in printed.splitlines() if re.search(r"\d ± \d", line)]
    assert len(rows) == 3 and [row for row in rows if row not in TUTORIAL] == []
    assert "noisy_majority  1       inf" in printed
    (columns,) = [line.split() for line in TUTORIAL.splitlines() if line.startswith("algorithm  ") and "claims" in line]
    assert columns in [line.split() for line in printed.splitlines()]


def test_the_mistake_that_the_audit_finds_can_be_made():
    assert "`0.25 / self.epsilon`" in TUTORIAL and "1 / self.epsilon" in block("python")


def test_its_pictures_are_small():
    pictures = [path for path in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", TUTORIAL) if path.startswith("pictures/")]
    assert pictures
    assert {path for path in pictures if (DOCS / path).stat().st_size > LARGEST_PICTURE} == set()
