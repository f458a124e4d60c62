"""The list of mutants is about the source as it stands; what notices them is `make mutants`."""

import ast
import builtins
import re
from pathlib import Path

import pytest

from experiments.config import estimators
from tests.mutants import CONTROL, WIDTH, Mutant, campaign, mutated
from tests.mutants.campaign import COMMANDS, NOTHING, OF_PYTHON, Noticed
from tests.mutants.every import KERNEL_MUTANTS, MUTANTS, WIDTH_MUTANTS
from tests.mutants.in_kernels import TESTS, WIDTHS, list_switched
from tests.mutants.layers import ASKED_FIRST, PRIVACY_TESTS, PROJECT, UNSEEN_BY_BLACK_BOX

FILES = sorted({mutant.file for mutant in MUTANTS})
OF_PYTHON_SOURCES = [mutant for mutant in (*MUTANTS, *WIDTH_MUTANTS) if not mutant.is_compiled]
WIDTHS_IN_CPP = [mutant for mutant in WIDTH_MUTANTS if mutant.is_compiled]
every_file = pytest.mark.parametrize("file", sorted({mutant.file for mutant in OF_PYTHON_SOURCES}))


@every_file
def test_every_text_stands_there_once_and_what_stands_there_instead_can_be_read(file):
    source = (PROJECT / file).read_text(encoding="utf-8")
    for mutant in (one for one in OF_PYTHON_SOURCES if one.file == file):
        changed = mutated(mutant, source)
        assert changed != source and ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source)), mutant.name


def names_in(source):
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


@every_file
def test_a_mutant_uses_no_name_that_its_file_does_not_have(file):
    """It would raise where it runs, and everything would notice that."""
    source = (PROJECT / file).read_text(encoding="utf-8")
    tree = ast.parse(source)
    defined = {getattr(node, "name", None) for node in ast.walk(tree)} | {*dir(builtins), *names_in(source)}
    defined |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            defined |= {alias.asname or alias.name for alias in node.names}
    for mutant in (mutant for mutant in OF_PYTHON_SOURCES if mutant.file == file):
        nodes = list(ast.walk(ast.parse(mutated(mutant, source))))
        stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
        assert names_in(mutated(mutant, source)) <= defined | stored | arguments, mutant.name


def test_a_text_that_has_moved_on_is_refused():
    with pytest.raises(ValueError, match=r"stands 0 times in a\.py"):
        mutated(Mutant("gone", CONTROL, "a.py", "x", "y", "Nothing.", ("rdt",)), "z")
    with pytest.raises(ValueError, match="stands 2 times"):
        mutated(Mutant("twice", CONTROL, "a.py", "x", "y", "Nothing.", ("rdt",)), "x = x")


def test_names_are_unique_and_algorithms_are_configured():
    every = [*MUTANTS, *KERNEL_MUTANTS, *WIDTH_MUTANTS]
    assert len({mutant.name for mutant in every}) == len(every)
    for mutant in every:
        assert mutant.algorithms and set(mutant.algorithms) <= set(estimators.list_algorithms()), mutant.name
        assert mutant.breaks.endswith(".") and len(mutant.breaks) < 120, mutant.name


def test_nearly_all_of_them_change_privacy_and_some_are_controls():
    harmful = [mutant for mutant in MUTANTS if mutant.changes_privacy]
    assert len(harmful) >= 130 and 0.9 <= len(harmful) / len(MUTANTS) < 1
    assert len({mutant.kind for mutant in MUTANTS}) == 11
    page = (PROJECT / "docs" / "audit.md").read_text(encoding="utf-8")
    assert f"puts {len(MUTANTS)} mistakes" in page and f" {len(harmful)} change privacy" in page
    assert f" {len(KERNEL_MUTANTS)} in C++" in page and all(mutant.changes_privacy for mutant in KERNEL_MUTANTS)


def test_those_of_large_tables_cost_accuracy_alone():
    assert {mutant.kind for mutant in WIDTH_MUTANTS} == {WIDTH} and len(WIDTH_MUTANTS) >= 30
    page = (PROJECT / "docs" / "audit.md").read_text(encoding="utf-8")
    assert f" all {len(WIDTH_MUTANTS)} " in page


def test_every_file_that_privacy_rests_on_has_mutants():
    files = {path.relative_to(PROJECT).as_posix() for path in (PROJECT / "algorithms").rglob("*.py")}
    names = {Path(file).stem for file in FILES}
    assert {*FILES, *UNSEEN_BY_BLACK_BOX} <= files
    assert {"mechanisms", "opendp_noise", "depth", "forest", "lazy", "scores", "budget", "moments"} <= names
    assert {"objective", "dp_marginals", "thrifty_bayes", "base", "events", "privacy", "trust"} <= names
    assert {"columns", "rows", "features", "clipping"} <= names
    grown = {path.stem for path in (PROJECT / "algorithms/forests").glob("*.py") if "def grow" in path.read_text()}
    assert grown <= names


DRAWS = r"\b(laplace|laplace_vector|laplace_of|exponential|permute_and_flip|sup_norm_vector|label_leaf|draw_label)\("


def test_every_file_in_cpp_that_draws_noise_has_mutants():
    files = [path for path in (PROJECT / "algorithms").rglob("*.h") if path.parent.name not in ("native", "audit")]
    drawing = {path.relative_to(PROJECT).as_posix() for path in files if re.search(DRAWS, path.read_text("utf-8"))}
    assert drawing - {"algorithms/forests/engine/intervals.h"} <= {mutant.file for mutant in KERNEL_MUTANTS}  # printed


@pytest.mark.parametrize("mutant", [*KERNEL_MUTANTS, *WIDTHS_IN_CPP], ids=lambda mutant: mutant.name)
def test_every_text_of_cpp_stands_there_once(mutant):
    source = (PROJECT / mutant.file).read_text(encoding="utf-8")
    assert mutant.is_compiled and mutated(mutant, source) != source


def test_all_mutants_of_cpp_can_stand_in_one_copy():
    for each in (KERNEL_MUTANTS, WIDTHS_IN_CPP):
        assert list_switched(each, PROJECT).keys() == {mutant.file for mutant in each}


def test_the_tests_that_are_asked_are_there():
    for test in {*TESTS, WIDTHS, *PRIVACY_TESTS, *(one for first in ASKED_FIRST.values() for one in first)}:
        file, _, name = test.partition("::")
        assert not name or f"def {name}(" in (PROJECT / file).read_text(encoding="utf-8")
        assert (PROJECT / file).is_file()


# What is counted.


def noticed(name, changes_privacy=True, **said):
    return Noticed(name, "a kind", "a.py", changes_privacy, **said)


def test_a_layer_is_asked_where_a_command_that_has_it_has_not_noticed_yet(monkeypatch):
    asked = []
    answers = {"replay": "", "privacy_tests": "a test", "black_box": ""}
    monkeypatch.setattr(campaign, "_ask", lambda layer, copy, mutant: asked.append(layer) or answers[layer])
    one = campaign.shown(MUTANTS[0], ("black_box", "replay", "privacy_tests", "all_tests"))
    assert asked == ["replay", "privacy_tests", "black_box"]  # all tests have one that noticed it
    assert (one.replay, one.privacy_tests, one.black_box, one.all_tests) == (NOTHING, "a test", NOTHING, "")
    assert one.is_noticed_by(COMMANDS["make test"]) and not one.is_noticed_by(COMMANDS["make audit"])
    assert one.is_decided_by(COMMANDS["make audit"]) and not one.is_decided_by(COMMANDS["make check"])
    answers["replay"] = "claim"
    again = campaign.shown(MUTANTS[0], ("replay",), one)
    assert (again.replay, again.privacy_tests) == ("claim", "a test")


def test_shares_are_of_those_that_were_asked_and_survivors_are_named(tmp_path):
    found = [
        noticed("seen", replay="claim", bands=NOTHING),
        noticed("overlooked", replay=NOTHING, privacy_tests=NOTHING, all_tests="digits"),
        noticed("wasteful", changes_privacy=False, replay=NOTHING, privacy_tests=NOTHING),
    ]
    said = campaign.told(found)
    assert "of 2 that change privacy" in said and "of 1 controls" in said
    lines = {line[:40].strip(): line[40:].strip() for line in said.splitlines()}
    assert lines["make test"].startswith("2 of 2 (100%)") and lines["make check"].startswith("0 of 2, 1 not asked")
    assert "overlooked (a.py); all tests: digits" in said and "seen (a.py)" not in said
    assert campaign.share_that_names_privacy(found) == 0.5
    campaign.write(found, tmp_path / "mutants.csv")
    assert list(campaign.read(tmp_path / "mutants.csv").values()) == found
    overlooked = [noticed("too short", changes_privacy=False, widths=said) for said in ("a test", NOTHING)]
    assert campaign.told_of_layer(overlooked, "widths").endswith("1 of 2 (50%)\n  not noticed: too short (a.py)")
    assert set(OF_PYTHON) == {layer for those in COMMANDS.values() for layer in those}
