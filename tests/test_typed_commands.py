"""What the code tells a user to type works in a checkout and where it is installed: there is no Makefile there."""

import ast
import re
import runpy

import pytest

from experiments.config.paths import CONF, ROOT

PACKAGES = runpy.run_path(str(ROOT / "setup.py"))["PACKAGES"]
TARGETS = re.findall(r"^([a-z-]+?)(?:-%)?:", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
MAKES = re.compile(rf"\bmake (?:{'|'.join(sorted(TARGETS, key=len, reverse=True))})\b|\bmake $")
OF_A_CHECKOUT = re.compile(r"\bmake |\bcheckout\b|\bMakefile\b|\bdocs/|\bconf/")
NAMES_TARGETS = {
    "experiments/audit/table_templates.py": "writes conf/audit_pairs.yaml",
    "experiments/peers/process.py": "says in a checkout how the environments of peers are made",
    "experiments/calibration/page.py": "writes docs/calibration.md",
    "experiments/catalogue/sources.py": "writes docs/sources.md",
    "experiments/skeletons/schema.py": "writes pages of docs/",
    "plots/pages/reference_pages.py": "writes results/reference and the README",
}
"""What runs in a checkout alone, or asks whether it does: these speak of its targets."""
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


def test_no_sentence_names_a_target():
    found = {}
    for name, path in list_modules().items():
        for line, sentence in list_sentences(path):
            if MAKES.search(sentence) and name not in NAMES_TARGETS:
                found[f"{name}:{line}"] = sentence
    assert found == {}, "say what the program is told: where it is installed there is no Makefile"


def test_what_may_name_targets_still_does():
    modules = list_modules()
    for name in NAMES_TARGETS:
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


def test_an_installed_help_speaks_of_no_checkout():
    move_names = runpy.run_path(str(ROOT / "setup.py"))["move_names"]
    for path in sorted((CONF / "do").glob("*.yaml")):
        if path.stem not in CHANGES_THE_PROJECT:
            template = move_names(path.read_text(encoding="utf-8")).partition("template:")[2]
            assert OF_A_CHECKOUT.findall(template) == [], path.name


def test_what_is_said_of_algorithms_and_begun_for_users_speaks_of_no_checkout():
    texts = [*(CONF / "algorithm").glob("*.yaml"), *(ROOT / "experiments" / "skeletons").glob("*.yaml")]
    assert {
        path.name: found for path in texts if (found := OF_A_CHECKOUT.findall(path.read_text(encoding="utf-8")))
    } == {}
