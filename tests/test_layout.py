"""The house: rooms in the order of the pipeline, no circle of imports, no crowded folder, unique names of classes."""

import ast
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from experiments.config.paths import ROOT

ORDER = [
    "dp_replica",
    "algorithms",
    "documents",
    "datasets",
    "experiments.errors",
    "experiments.edge",
    "experiments.composition",
    "experiments.stats",
    "experiments.processes",
    "experiments.trace",
    "experiments.config",
    "experiments.metrics",
    "experiments.skeletons",
    "experiments.cells",
    "experiments.store",
    "experiments.run",
    "experiments.peers",
    "experiments.statements",
    "experiments.judge",
    "experiments.comparisons",
    "experiments.questions",
    "experiments.calibration",
    "experiments.regression_check",
    "experiments.audit",
    "experiments.catalogue",
    "experiments.speed",
    "plots",
    "hydra_plugins",
    "experiments.request",
    "experiments.python_api",
    "experiments.commands",
    "experiments.command_line",
    "experiments.describe",
    "experiments.__main__",
]
"""Each imports only itself and what stands before it. Nobody imports commands."""

PACKAGES = ("dp_replica", "algorithms", "documents", "datasets", "experiments", "plots", "hydra_plugins")
LARGEST_FOLDER = 12
REGISTRIES = {"datasets/readers", "experiments/commands", "experiments/statements", "experiments/questions/claims"}
"""Folders with one file for each thing of a kind, which nobody has to read together."""


def name_module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_module(path): path for package in PACKAGES for path in (ROOT / package).rglob("*.py")}


@cache
def parse_module(name):
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


@cache
def list_imports(name):
    """Return the modules of the project that a module imports, anywhere and for types alone, too."""
    imported = set()
    for node in ast.walk(parse_module(name)):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}: imports are absolute"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            imported |= {full if full in MODULES else node.module for full in names}
    return {module for module in imported if module in MODULES and module != name}


def find_floor(module):
    floors = [i for i, room in enumerate(ORDER) if module == room or module.startswith(f"{room}.")]
    assert floors or module == "experiments", f"{module} stands in no room: add it to ORDER"
    return floors[-1] if floors else -1


def test_a_module_imports_only_what_stands_before_its_room():
    pairs = [(name, module) for name in sorted(MODULES) for module in list_imports(name)]
    above = [f"{name} imports {module}" for name, module in pairs if find_floor(module) > find_floor(name)]
    assert above == [], "what a module needs of a room above its own is moved down"


def test_reading_all_papers_loads_neither_an_upper_room_nor_a_large_library():
    """Counts what is imported at run time, by whatever name: papers are data, and need no room above their own."""
    code = "import sys; from experiments.config.papers import read_paper\n"
    code += "from experiments.config.paths import BENCHMARKS, list_papers\n"
    code += "[read_paper(name) for name in (*list_papers(), *BENCHMARKS)]; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert sorted(loaded & {"pandas", "scipy.stats", "sklearn", "matplotlib", "hydra"}) == []
    loaded &= set(MODULES)
    assert "experiments.config.kinds.claims" in loaded and len(loaded) > 15
    assert sorted(name for name in loaded if find_floor(name) > ORDER.index("experiments.config")) == []


def test_each_room_loads_only_what_stands_before_it():
    """As the test of import statements, but counts imports by a text, as well, when a room's modules are loaded."""
    code = "import importlib, json, sys\nrooms = json.load(sys.stdin)\nfor room, modules in rooms:\n"
    code += "    [importlib.import_module(name) for name in modules]\n    print(room, *sys.modules)\n"
    rooms = [(room, [name for name in sorted(MODULES) if ORDER[find_floor(name)] == room]) for room in ORDER[:-1]]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, input=json.dumps(rooms), capture_output=True, text=True, check=True
    )
    above = {}
    for line in done.stdout.splitlines():
        room, *loaded = line.split()
        above[room] = [name for name in loaded if name in MODULES and find_floor(name) > ORDER.index(room)]
    assert len(above) == len(ORDER) - 1
    assert {room: modules for room, modules in above.items() if modules} == {}


def test_only_what_is_public_of_a_library_is_imported():
    words = {(module, word) for module in MODULES for word in list_imports_of_libraries(module)}
    private = [pair for pair in words if INNER.search(pair[1])]
    assert private == [] and len(words) > 500


INNER = re.compile(r"(numba|pandas|numpy|scipy|matplotlib)\.core\b|llvmlite|pandas\._libs|(^|\.)_(?!_future__)")


def test_nothing_private_of_a_library_is_used_and_nothing_of_it_changed():
    """Neither by an import, nor as an attribute; Python's own library is another matter."""
    used, changed = [], []
    for module in MODULES:
        tree, libraries = parse_module(module), set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
                origins = [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
                if not {(origin or "").partition(".")[0] for origin in origins} & {
                    *PACKAGES,
                    *sys.stdlib_module_names,
                    "",
                }:
                    libraries |= set(names)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in libraries:
                word = f"{module}: {node.value.id}.{node.attr}"
                if re.match("_(?!_)", node.attr):
                    used.append(word)
                if isinstance(node.ctx, ast.Store):
                    changed.append(word)
    assert used == []
    assert changed == []


def list_imports_of_libraries(name):
    """Return the full names of all that a module imports which is not of the project."""
    words = set()
    for node in ast.walk(parse_module(name)):
        if isinstance(node, ast.Import):
            words |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            words |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {word for word in words if word.partition(".")[0] not in PACKAGES}


def test_nobody_imports_a_command():
    users = [
        name
        for name in MODULES
        if not name.startswith(("experiments.commands", "experiments.command_line", "experiments.__main__"))
        and any(module.startswith("experiments.commands") for module in list_imports(name))
    ]
    assert users == []


def test_there_is_no_circle_of_imports():
    graph = {name: list_imports(name) for name in MODULES}
    while leaves := [name for name, imports in graph.items() if not imports]:
        graph = {name: imports - set(leaves) for name, imports in graph.items() if name not in leaves}
    assert graph == {}, "these modules, or what they import, import each other in a circle"


def test_no_folder_is_crowded():
    counts = Counter(
        path.parent.relative_to(ROOT).as_posix() for package in PACKAGES for path in (ROOT / package).rglob("*.py")
    )
    assert {folder: n for folder, n in counts.items() if n > LARGEST_FOLDER and folder not in REGISTRIES} == {}


def test_a_class_name_is_unique():
    places = defaultdict(list)
    for name in MODULES:
        for node in parse_module(name).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(name)
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


def test_every_package_says_what_is_in_it():
    silent = [
        folder.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for folder in {path.parent for path in (ROOT / package).rglob("*.py")}
        if not (folder / "__init__.py").is_file()
        or not ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
    ]
    assert [folder for folder in silent if folder != "hydra_plugins"] == []  # Hydra wants a folder without __init__.py


def test_the_map_of_the_tests_names_every_file_once():
    folder = ROOT / "tests"
    named = re.findall(r"`([\w*]+)`", (folder / "README.md").read_text(encoding="utf-8"))
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", "conftest"}
    assert [name for name in named if not any(fnmatchcase(file, name) for file in files)] == ["test_"]
    assert {name: n for name in files if (n := sum(fnmatchcase(name, pattern) for pattern in named)) != 1} == {}
