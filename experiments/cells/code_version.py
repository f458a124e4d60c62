"""The code and data behind a cell, as hashes that nobody has to remember to change.

The version of an algorithm is a hash over the syntax trees of the module that defines it, of the protocol, and of every
module of this project that these import, directly or not. Comments, layout and docstrings do not count.
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

from datasets import catalogue
from experiments.config import estimators
from experiments.config.paths import ROOT

# Not `datasets`: whatever its code does, the fingerprint of the table and the public domain stand for it.
_PACKAGES = ("algorithms", "experiments")

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
    module = estimators.import_class(target).__module__
    package = module.partition(".")[0]
    roots, elsewhere = ["experiments.run.evaluate", module], ""
    if package not in _PACKAGES:
        roots, elsewhere = roots[:1], f" {package} {getattr(import_module(package), '__version__', 'unknown')}"
    digest = hashlib.sha256()
    for name in sorted(_collect_imports(roots)):
        digest.update(f"{name}\0{_read_code(name)}\0".encode())
    return digest.hexdigest() + elsewhere


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


@cache
def _list_imports(name: str) -> list[str]:
    """Return the modules of this project that one module imports."""
    modules: list[str] = []
    for node in ast.walk(_parse_module(name)):
        if isinstance(node, ast.Import):
            modules += map(attrgetter("name"), node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = _resolve_module(name, node)
            modules += [_find_defining(origin, alias.name) for alias in node.names]
    return [module for module in modules if module.partition(".")[0] in _PACKAGES]


def _find_defining(module: str, name: str) -> str:
    """Return the module that ``from module import name`` gets its code from.

    A package that only passes names on would otherwise tie every algorithm to all others.
    """
    if module.partition(".")[0] not in _PACKAGES:
        return module
    if _find_path(f"{module}.{name}"):
        return f"{module}.{name}"
    for node in _parse_module(module).body:
        if isinstance(node, ast.ImportFrom) and name in {alias.asname or alias.name for alias in node.names}:
            return _find_defining(_resolve_module(module, node), name)
    is_package = _is_package(module)  # it may look names up when somebody asks for them
    return getattr(getattr(import_module(module), name), "__module__", module) if is_package else module


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
    path = _find_path(module)
    if path is None:
        raise ModuleNotFoundError(f"{module} is no module of this project")
    return path


def _find_path(module: str) -> Path | None:
    base = ROOT.joinpath(*module.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def _parse_module(module: str) -> ast.Module:
    return ast.parse(_require_path(module).read_text(encoding="utf-8"))


@cache
def _read_code(module: str) -> str:
    return code_without_words(_require_path(module).read_text(encoding="utf-8"))


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
