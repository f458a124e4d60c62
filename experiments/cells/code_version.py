"""The code and data behind a cell, as hashes that nobody has to remember to change.

The version of an algorithm is a hash over the syntax trees of the module that defines it, of the protocol, and of every
module of this project that these import, directly or not. Comments, layout and docstrings do not count. The code of a
user is hashed likewise, wherever it lies; of libraries the version counts (`module_sources` tells them apart).
"""

from __future__ import annotations

import ast
import hashlib
import sys
from functools import cache
from importlib import import_module
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path

from algorithms.installation import PREFIX, name_in_checkout
from datasets import catalogue
from experiments.cells.module_sources import describe_package, find_source, is_of_project, list_versions
from experiments.config import estimators

LIBRARIES = ("numpy", "pandas", "scipy", "scikit-learn", "numba")


@cache
def describe_version(dataset: str, algorithm: str) -> str:
    """Return all that determines a cell's value and is not said in its identity, as text to be hashed."""
    code = code_version(estimators.find_target(algorithm))
    lines = [data_version(dataset), code]
    lines += map("epsilon {}".format, estimators.own_epsilon(algorithm).values())
    lines += list_libraries().values()
    lines += map("{0[0]}=={0[1]}".format, estimators.list_packages(algorithm).items())
    return "\n".join(lines)


@cache
def data_version(dataset: str) -> str:
    """Return the fingerprint of a data set's rows, its split and its public domain, without reading a row."""
    entry = catalogue.read_entry(dataset)
    return f"{entry.fingerprint} {entry.n_train} {hashlib.sha256(repr(entry.domain).encode()).hexdigest()}"


@cache
def code_version(target: str) -> str:
    """Return the version of the code behind an estimator.

    Parameters
    ----------
    target : str
        Import path of its class.

    Returns
    -------
    str
        A hash; for an estimator from elsewhere also the version of its package.
    """
    module = name_in_checkout(estimators.import_class(target).__module__)
    roots, elsewhere = ["experiments.run.evaluate"], ""
    if find_source(module):
        roots.append(module)
    if not is_of_project(module):
        elsewhere = f" {target} {describe_package(module.partition('.')[0])}"
    digest = hashlib.sha256()
    modules = _collect_imports(roots)
    for name in sorted(modules):
        digest.update(f"{name}\0{_read_code(name)}\0".encode())
    return " ".join([digest.hexdigest() + elsewhere, *_list_versions_behind(modules)])


def _list_versions_behind(modules: set[str]) -> list[str]:
    """Return the libraries, with their versions, that code of a user imports; all keys have those of `LIBRARIES`."""
    imported: set[str] = set()
    for name in modules:
        if not is_of_project(name):
            imported |= {module.partition(".")[0] for module in _list_all_imports(name) if not find_source(module)}
    versions: dict[str, str] = {}
    for package in imported - sys.stdlib_module_names:
        versions |= list_versions(package)
    return sorted(f"{name}=={found}" for name, found in versions.items() if name not in LIBRARIES)


def imports_module(target: str, module: str) -> bool:
    """Return whether the code of an estimator imports a module of this project, directly or not.

    Examples
    --------
    >>> imports_module("algorithms.RDTClassifier", "algorithms.mechanisms")
    True
    >>> imports_module("sklearn.dummy.DummyClassifier", "algorithms.mechanisms")
    False
    """
    origin = name_in_checkout(estimators.import_class(target).__module__)
    return find_source(origin) is not None and module in _collect_imports([origin])


@cache
def list_libraries() -> dict[str, str]:
    """Return the versions of Python (minor) and of the libraries that compute, by name."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    versions = {"python": f"python {python}"}
    for name in LIBRARIES:
        versions[name] = f"{name} {version(name)}"
    return versions


def _collect_imports(roots: list[str]) -> set[str]:
    """Return the modules of this project that some modules import, directly or not, and themselves."""
    modules: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in modules:
            modules.add(name)
            waiting += _list_imports(name)
    return modules


def _list_imports(name: str) -> list[str]:
    """Return the modules that one module imports, of those that are hashed: code of a user imports ours and its own."""
    is_hashed = is_of_project if is_of_project(name) else find_source
    return list(filter(is_hashed, _list_all_imports(name)))


@cache
def _list_all_imports(name: str) -> list[str]:
    modules: list[str] = []
    for node in ast.walk(_parse_module(name)):
        if isinstance(node, ast.Import):
            modules += map(attrgetter("name"), node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = _resolve_module(name, node)
            modules += [_find_defining(origin, alias.name) for alias in node.names]
            modules += [] if is_of_project(origin) else [origin]
    if not is_of_project(name):
        for module in [name, *modules]:  # the packages that a module lies in are run, too; ours only pass names on
            modules += [] if is_of_project(module) else _list_packages_above(module)
    return modules


def _list_packages_above(module: str) -> list[str]:
    """Return the packages that a module lies in.

    Examples
    --------
    >>> _list_packages_above("mine.trees.leaf")
    ['mine', 'mine.trees']
    """
    parts = module.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts))]


def _find_defining(module: str, name: str) -> str:
    """Return the module that ``from module import name`` gets its code from.

    A package that only passes names on would otherwise tie every algorithm to all others.
    """
    if not find_source(module):
        return module
    if find_source(f"{module}.{name}"):
        return f"{module}.{name}"
    for node in _parse_module(module).body:
        if isinstance(node, ast.ImportFrom) and name in {alias.asname or alias.name for alias in node.names}:
            return _find_defining(_resolve_module(module, node), name)
    is_package = _is_package(module)  # it may look names up when somebody asks for them
    if not is_package:
        return module
    package = import_module(f"{PREFIX}{module}" if is_of_project(module) else module)
    return name_in_checkout(getattr(getattr(package, name), "__module__", module))


def _resolve_module(module: str, node: ast.ImportFrom) -> str:
    """Return the absolute name of the module that an import statement names."""
    if not node.level:
        return node.module or ""  # only a relative import may leave it out
    is_package = _is_package(module)
    parent = module.split(".")[: None if is_package and node.level == 1 else is_package - node.level]
    return ".".join([*parent, *([node.module] if node.module else [])])


def _is_package(module: str) -> bool:
    return _require_path(module).name == "__init__.py"


def _require_path(module: str) -> Path:
    path = find_source(module)
    if path is None:
        raise ModuleNotFoundError(f"{module} has no source that could be read")
    return path


@cache
def _parse_module(module: str) -> ast.Module:
    tree = ast.parse(_require_path(module).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            _name_as_in_checkout(node)
    return tree


@cache
def _read_code(module: str) -> str:
    return code_without_words(ast.unparse(_parse_module(module)))


def _name_as_in_checkout(node: ast.ImportFrom | ast.Import) -> None:
    """Undo what `setup.py` does to an import, so that cells have the same keys wherever this is installed."""
    if isinstance(node, ast.ImportFrom):
        node.module = node.module and name_in_checkout(node.module)
        return
    for alias in node.names:
        alias.name = name_in_checkout(alias.name)
        alias.asname = None if alias.asname == alias.name else alias.asname


def code_without_words(source: str) -> str:
    """Return the code of a module without docstrings, comments and layout.

    Examples
    --------
    >>> code_without_words("def f(x):\\n    'Double.'\\n    return 2 * x  # fast")
    'def f(x):\\n    return 2 * x'
    """
    tree = ast.parse(source)
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)
