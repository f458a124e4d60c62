"""Write the files that somebody begins with, and never over one that is there."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import dp_replica
from algorithms.whole_files import write_text
from documents import search_path
from experiments.config.paths import CONF
from experiments.errors import BadInput, suggest_name
from experiments.metrics.find import find_metric
from experiments.metrics.metric import Metric

TEMPLATES = Path(__file__).parent
FILES = {
    "algorithm": {"algorithm.py": "NAME.py", "algorithm.yaml": "algorithm/NAME.yaml"},
    "dataset": {"dataset.csv": "NAME.csv", "dataset.yaml": "dataset/NAME.yaml"},
    "metric": {"metric.py": "NAME.py", "metric.yaml": "metric/NAME.yaml"},
    "paper": {"paper.csv": "paper/NAME.csv", "paper.yaml": "paper/NAME.yaml"},
    "notebooks": {f"notebooks/{path.name}": path.name for path in sorted(TEMPLATES.glob("notebooks/*.ipynb"))},
    "project": {
        "project/paper.yaml": "paper/NAME.yaml",
        "project/paper.csv": "paper/NAME.csv",
        "project/README.md": "README.md",
        "project/requirements.txt": "requirements.txt",
        "project/conftest.txt": "conftest.py",
        "project/test.txt": "tests/test_NAME.py",
        "project/gitignore": ".gitignore",
        "project/workflow.yml": ".github/workflows/check.yml",
        "project/Dockerfile": "Dockerfile",
        "project/dockerignore": ".dockerignore",
        "project/devcontainer.json": ".devcontainer/devcontainer.json",
    },
}
"""Of each kind its templates, and where they go in the folder of the user."""

_MODULES = ("algorithm", "metric", "project")
"""Kinds whose name is that of a module, too."""
_IN_A_PROJECT = {"algorithm": "NAME", "dataset": "NAME_people", "paper": "NAME"}
"""What a project has, and how it is called; of the paper the project has its own template."""


def write_skeleton(what: str, name: str, folder: Path) -> list[Path]:
    """Write an algorithm, a data set, a metric or a paper, or all that a project has, which runs as it is.

    They go into the folder that ``--config-dir`` names, made if need be. BadInput if there is no such kind, the name
    cannot be used or is taken, or a file is there. Returns the files.
    """
    if what not in FILES:
        raise BadInput(f"what={what} cannot be begun; {suggest_name(what, FILES)}")
    check_name(what, name)
    written = _fill_templates(what, name, folder)
    if what == "project":
        for kind in ("algorithm", "dataset"):
            written |= _fill_templates(kind, _IN_A_PROJECT[kind].replace("NAME", name), folder)
    check_absent(list(written))
    for path, text in written.items():
        write_new_file(path, text)
    return list(written)


def _fill_templates(kind: str, name: str, folder: Path) -> dict[Path, str]:
    """Return the text of each file of a kind."""
    filled = {}
    for template, place in FILES[kind].items():
        text = (TEMPLATES / template).read_text(encoding="utf-8").replace("VERSION", dp_replica.__version__)
        filled[folder / place.replace("NAME", name)] = text.replace("NAME", name)
    return filled


def check_name(what: str, name: str) -> None:
    """Refuse a name that cannot be typed on a command line or imported, or that is taken.

    Examples
    --------
    >>> check_name("dataset", "car")
    Traceback (most recent call last):
    experiments.errors.BadInput: name=car: there is a dataset of that name; choose another
    """
    pattern, letters = r"\w[\w-]*", "letters, digits, _ and -"
    if what in _MODULES:
        pattern, letters = "[a-z_][a-z_0-9]*", "small letters, digits and _, a letter first"
    if not re.fullmatch(pattern, name):
        raise BadInput(f"name={name} cannot be the name of the {what}: use {letters}")
    if what in _MODULES and find_spec(name) is not None:
        raise BadInput(f"name={name}: Python has a module {name} and would import that one; choose another name")
    if what == "metric" and find_metric(name) != Metric(name):
        raise BadInput(f"name={name}: there is a metric of that name; choose another")
    kinds = _IN_A_PROJECT if what == "project" else {} if what == "notebooks" else {what: "NAME"}
    for kind, pattern in kinds.items():
        if (file := pattern.replace("NAME", name)) in search_path.list_files(CONF / kind):
            named = "of that name" if file == name else repr(file)
            raise BadInput(f"name={name}: there is a {kind} {named}; choose another")


def check_absent(paths: list[Path]) -> None:
    """Refuse to write where something is: BadInput names the first file that is there."""
    for path in paths:
        if path.exists():
            raise BadInput(f"{path} exists, and nothing is overwritten: choose another name or folder, or move it")


def write_new_file(path: Path, text: str) -> None:
    """Write a file that is not there yet, and the folders above it; BadInput if it is there, or cannot be written."""
    check_absent([path])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    except OSError as error:
        raise BadInput(f"{path} cannot be written ({error.strerror})") from error
