"""What the code tells a user to type: a target of the Makefile in a checkout, the program where it is installed."""

import ast
import re
import runpy

import pytest

from algorithms import installation
from experiments.config.paths import CONF, ROOT

PACKAGES = runpy.run_path(str(ROOT / "setup.py"))["PACKAGES"]
TARGETS = re.findall(r"^([a-z-]+?)(?:-%)?:", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
MAKES = re.compile(rf"\bmake (?:{'|'.join(sorted(TARGETS, key=len, reverse=True))})\b|\bmake $")
OF_A_CHECKOUT = re.compile(r"\bmake |\bcheckout\b|\bMakefile\b|\bdocs/|\bconf/")
WRITES_PAGES = {
    "experiments/audit/table_templates.py": "writes conf/audit_pairs.yaml",
    "experiments/calibration/page.py": "writes docs/calibration.md",
    "experiments/catalogue/sources.py": "writes docs/sources.md",
    "experiments/skeletons/schema.py": "writes pages of docs/",
    "plots/pages/reference_pages.py": "writes results/reference and the README",
}
"""What writes files of the project, in a checkout alone: these speak of its targets."""
CHANGES_THE_PROJECT = {"bands", "calibrate", "hunt", "reference"}
"""Commands that are refused where they are installed."""


def list_sentences(path):
    """Return the texts of a module that are no docstrings, with their lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    said_nowhere = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said_nowhere:
            yield node.lineno, node.value


def list_modules():
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return {path.relative_to(ROOT).as_posix(): path for path in paths}


def test_no_sentence_names_a_target_but_through_the_function_that_knows_where_it_is():
    found = {}
    for name, path in list_modules().items():
        for line, sentence in list_sentences(path):
            if MAKES.search(sentence) and name not in WRITES_PAGES:
                found[f"{name}:{line}"] = sentence
    assert found == {}, "say it by algorithms.installation.name_command: where it is installed there is no Makefile"


def test_what_may_name_targets_still_does():
    modules = list_modules()
    for name in WRITES_PAGES:
        assert any(MAKES.search(sentence) for _, sentence in list_sentences(modules[name])), name


@pytest.mark.parametrize(
    ("sentence", "is_found"),
    [
        ("run `make peers-jax`", True),
        ("make ", True),
        ("make its folder writable", False),
        ("make bands PAPER=2", True),
    ],
)
def test_a_target_is_told_from_a_verb(sentence, is_found):
    assert bool(MAKES.search(sentence)) is is_found


def test_a_command_is_named_as_it_is_typed(monkeypatch):
    name_command = installation.name_command
    assert name_command("report") == "make report"
    assert name_command("bands", paper=2) == "make bands PAPER=2"
    monkeypatch.setattr(installation, "IS_CHECKOUT", False)
    monkeypatch.setattr(installation, "PROGRAM", "dp-replica")
    assert name_command("report") == "dp-replica do=report"
    assert name_command("bands", paper=2) == "dp-replica do=bands paper=2"
    assert name_command("reproduce-paper-2") == "dp-replica paper=2"
    assert name_command("benchmark-heavy", repeats=1) == "dp-replica paper=benchmark-heavy repeats=1"


def test_an_installed_help_speaks_of_no_checkout():
    move_names = runpy.run_path(str(ROOT / "setup.py"))["move_names"]
    for path in sorted((CONF / "do").glob("*.yaml")):
        if path.stem not in CHANGES_THE_PROJECT:
            template = move_names(path.read_text(encoding="utf-8")).partition("template:")[2]
            assert OF_A_CHECKOUT.findall(template) == [], path.name
            assert "python -m experiments" not in template, path.name


def test_what_is_said_of_algorithms_and_begun_for_users_speaks_of_no_checkout():
    texts = [*(CONF / "algorithm").glob("*.yaml"), *(ROOT / "experiments" / "skeletons").glob("*.yaml")]
    assert {
        path.name: found for path in texts if (found := OF_A_CHECKOUT.findall(path.read_text(encoding="utf-8")))
    } == {}
