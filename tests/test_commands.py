"""All commands speak one language: each has a help, its own settings, and an answer to a misspelt one."""

import re
from importlib import import_module

import pytest

from documents.search_path import name_command_word
from experiments.commands import hunt
from experiments.composition import list_settings
from experiments.config.paths import BENCHMARKS, CONF, ROOT, list_papers
from experiments.speed.measurement import Measurement
from tests.command_line import exit_code

COMMANDS = sorted(path.stem for path in (CONF / "do").glob("*.yaml"))
MISSPELT = {"paper": "papr=2", "results": "result=x", "executor.jobs": "executor.job=2", "do": "dot=check"}
OF_OTHERS = {"trainings": "trainings=3", "protocol.rows": "protocol.rows=all", "file": "file=x", "paper": "paper=2"}


def test_there_is_a_module_for_every_command():
    assert len(COMMANDS) == 22
    for name in COMMANDS:
        assert callable(import_module(f"experiments.commands.{name}").run_command), name


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_every_setting(command, capsys):
    assert exit_code(f"do={command}", "--help") == 0
    text = capsys.readouterr().out
    parts = {"executor.backend", "executor.address", "executor.time_limit", "executor"}  # of a group, by choosing which
    for name in set(list_settings(command)) - parts - {"do"}:
        assert re.search(rf"^.* {re.escape(name)}=", text, flags=re.MULTILINE), name
    assert " dp-replica " in text


def give_each_its_turn(names, command):
    """Return one of some names, by the place of a command, so that all commands together try all of them."""
    return sorted(names)[COMMANDS.index(command) % len(names)]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_misspelt_setting_is_answered_with_the_nearest(command, capsys):
    name = give_each_its_turn(set(list_settings(command)) & set(MISSPELT), command)
    assert exit_code(f"do={command}", MISSPELT[name]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{name_command_word(command)} has nothing called" in line and f"did you mean {name!r}?" in line


@pytest.mark.parametrize("command", COMMANDS)
def test_a_setting_of_another_command_is_refused(command, capsys):
    name = give_each_its_turn(set(OF_OTHERS) - set(list_settings(command)), command)
    assert exit_code(f"do={command}", OF_OTHERS[name]) == 2
    assert f"{name_command_word(command)} has nothing called {name!r} to set" in capsys.readouterr().err


@pytest.mark.parametrize(("wrong", "choose"), [(MISSPELT, set.intersection), (OF_OTHERS, set.difference)])
def test_every_wrong_setting_has_its_turn(wrong, choose):
    tried = {give_each_its_turn(choose(set(wrong), list_settings(command)), command) for command in COMMANDS}
    assert tried == set(wrong)


def test_an_unknown_command_is_answered_with_the_nearest(capsys):
    assert exit_code("do=chek", "paper=2") == 2
    assert capsys.readouterr().err == "error: unknown do 'chek'; did you mean 'check'?\n"


@pytest.mark.parametrize("command", ["check", "bands", "readings"])
def test_a_paper_that_is_not_there_is_answered_with_those_that_are(command, capsys):
    assert exit_code(f"do={command}", "paper=2,17") == 2
    assert capsys.readouterr().err == "error: unknown paper '17'; did you mean '1'?\n"
    assert exit_code(f"do={command}", "paper=2", "paper.repeats=1") == 2
    assert (
        f"paper.repeats cannot be changed: {name_command_word(command)} takes what the file" in capsys.readouterr().err
    )


def test_the_bands_of_an_algorithm_that_is_not_watched_are_refused(capsys):
    assert exit_code("do=bands", "paper=2", "algorithm=dpba") == 2
    assert "no number of 'dpba' is watched" in capsys.readouterr().err


def test_pairs_are_hunted_for_the_algorithms_that_are_named(monkeypatch, capsys):
    hunted, kept = [], []

    def hunt_pairs(algorithms, jobs):
        hunted.append((algorithms, jobs))
        return iter([{"algorithm": name} for name in algorithms])

    monkeypatch.setattr(hunt, "hunt_pairs", hunt_pairs)
    monkeypatch.setattr(hunt, "keep_entries", kept.extend)
    assert exit_code("do=hunt", "algorithm=rdt,diffpets_sound", "executor.jobs=2") == 0
    assert exit_code("do=hunt", 'algorithm=choice("PFDPDTClassifier sound")') == 0
    assert hunted == [(["rdt", "diffpets_sound"], 2), (["PFDPDTClassifier sound"], -1)]
    assert [entry["algorithm"] for entry in kept] == ["rdt", "diffpets_sound", "PFDPDTClassifier sound"]
    assert capsys.readouterr().out.count("audit_pairs.yaml") == 2


def test_what_is_named_is_published(tmp_path, monkeypatch):
    published = []
    monkeypatch.setattr("plots.pages.reference_pages.publish_run", lambda name, results: published.append(name))
    monkeypatch.setattr("plots.pages.reference_pages.publish_audit", lambda results: published.append("audit"))
    monkeypatch.setattr("plots.pages.reference_pages.list_drifts", list)
    monkeypatch.setattr("plots.pages.reference_pages.rewrite_pages", lambda: published.append("pages"))
    for words in (["paper=2,benchmark"], ["audit=true"], ["paper=1", "audit=true"], []):
        assert exit_code("do=reference", f"results={tmp_path}", *words) == 0
    everything = [*list_papers(), *BENCHMARKS, "audit"]
    assert published == ["2", "benchmark", "pages", "audit", "pages", "1", "audit", "pages", *everything, "pages"]


def test_a_run_that_is_not_there_cannot_be_published(tmp_path, capsys):
    assert "holds no finished run" in exit_code("do=reference", "paper=2", f"results={tmp_path}")


@pytest.mark.parametrize("suite", ["ratios", "scaling"])
def test_a_suite_of_the_speed_is_measured(suite, monkeypatch, capsys):
    monkeypatch.setattr(f"experiments.speed.{suite}.TABLES", {f"of {suite}": [lambda: [Measurement(suite, 1.5, 2)]]})
    assert exit_code("do=speed", f"part={suite}") == 0
    title, *lines = capsys.readouterr().out.strip().splitlines()
    assert title.strip() == f"of {suite}" and any(f"{suite} " in line and "1.5" in line for line in lines)
    assert exit_code("do=speed", "part=scalin") == 2
    assert capsys.readouterr().err == "error: part=scalin cannot be measured; did you mean 'scaling'?\n"


def test_what_make_tells_commands_they_know():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    by_words = {"reproduce", "export", "new", "describe", "judge", "compare"}
    assert set(re.findall(r"\bdo=([a-z]+)", makefile)) == set(COMMANDS) - by_words
    settings = set(re.findall(r"\$\(if \$\([A-Z]+\),([a-z._]+)=\$", makefile.replace("$(if $(ONLY),only=$(ONLY))", "")))
    known = {name for command in COMMANDS for name in list_settings(command)}
    assert settings - {"layers"} <= known and {"paper", "executor.jobs", "results"} <= settings
