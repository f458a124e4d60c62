"""The code and data behind a cell, as hashes that nobody has to remember to change.

The version of an algorithm is a hash over the syntax trees of the module that defines it, of the protocol, and of every
module of this project that these import, directly or not, with the kernels in C++ that stand beside it. Comments,
layout and docstrings do not count. The code of a user is hashed likewise, wherever it lies; of libraries the version
counts (`module_sources` tells them apart).
"""

from __future__ import annotations

import hashlib
import itertools
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path

from algorithms.installation import name_in_checkout
from algorithms.source_walk import collect_modules, list_imports, read_code
from datasets import catalogue
from experiments.cells.module_sources import describe_package, find_source, is_of_project, list_versions
from experiments.config import estimators
from experiments.metrics.own import find_own, import_function

LIBRARIES = ("numpy", "pandas", "scipy", "scikit-learn")


def describe_version(dataset: str, algorithm: str) -> str:
    """Return all that determines a cell's value and is not said in its identity, as text to be hashed."""
    return "\n".join([data_version(dataset), *_list_code_versions(algorithm)])


@cache
def _list_code_versions(algorithm: str) -> list[str]:
    code = code_version(estimators.find_target(algorithm))
    lines = [code]
    lines += map("epsilon {}".format, estimators.own_epsilon(algorithm).values())
    lines += list_libraries().values()
    lines += map("{0[0]}=={0[1]}".format, estimators.list_packages(algorithm).items())
    return lines


def data_version(dataset: str) -> str:
    """Return the fingerprint of a data set's rows, its split and its public domain, without reading a row."""
    return _find_data_version(dataset, catalogue.find_version(dataset))


@cache
def _find_data_version(dataset: str, version: tuple) -> str:
    entry = catalogue.read_entry(dataset)
    return f"{entry.fingerprint} {entry.n_train} {hashlib.sha256(repr(entry.domain).encode()).hexdigest()}"


@cache
def code_version(target: str) -> str:
    """Return the version of the code behind an estimator, of which the import path is given, as a hash.

    Of an estimator from elsewhere it has also the version of its package.
    """
    module = name_in_checkout(estimators.import_class(target).__module__)
    roots, elsewhere = ["experiments.run.evaluate"], ""
    if find_source(module):
        roots.append(module)
    if not is_of_project(module):
        elsewhere = f" {target} {describe_package(module.partition('.')[0])}"
    modules = _collect_imports(roots)
    return " ".join([_hash_code(modules) + elsewhere, *_list_versions_behind(modules)])


def list_own_versions(metrics: Iterable[str]) -> dict[str, str]:
    """Return the versions of those metrics that are somebody's own, by name: what is stored of another is stale."""
    versions = {}
    for name in metrics:
        if own := find_own(name):
            versions[name] = _describe_metric(own.target, own.model_dump_json())
    return versions


@cache
def _describe_metric(target: str, contents: str) -> str:
    """Return the version of a metric's function and of what its file says, as a hash."""
    module = getattr(import_function(target), "__module__", target.rpartition(".")[0])
    words = [target, contents]
    if find_source(module):
        modules = _collect_imports([module])
        words += [_hash_code(modules), *_list_versions_behind(modules)]
    else:
        words.append(describe_package(module.partition(".")[0]))
    return hashlib.sha256("\0".join(words).encode()).hexdigest()


def _hash_code(modules: set[str]) -> str:
    digest = hashlib.sha256()
    for name in sorted(modules):
        digest.update(f"{name}\0{read_code(_require_path(name))}\0".encode())
    return digest.hexdigest()


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
    >>> imports_module("sklearn.dummy.DummyClassifier", "algorithms.mechanisms")
    False
    """
    origin = name_in_checkout(estimators.import_class(target).__module__)
    return find_source(origin) is not None and module in _collect_imports([origin])


def list_own_modules(target: str) -> frozenset[str]:
    """Return the modules of a user that an estimator's code is made of; none of an estimator of this project.

    Examples
    --------
    >>> list_own_modules("algorithms.RDTClassifier"), list_own_modules("sklearn.dummy.DummyClassifier")
    (frozenset(), frozenset({'sklearn.dummy'}))
    """
    module = estimators.import_class(target).__module__
    if is_of_project(name_in_checkout(module)):
        return frozenset()
    imported = _collect_imports([module]) if find_source(module) else set()
    return frozenset({module, *itertools.filterfalse(is_of_project, imported)})


@cache
def list_libraries() -> dict[str, str]:
    """Return the versions of Python (minor) and of the libraries that compute, by name."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    versions = {"python": f"python {python}"}
    for name in LIBRARIES:
        versions[name] = f"{name} {version(name)}"
    return versions


def _collect_imports(roots: list[str]) -> set[str]:
    """Return the modules whose code is hashed that some modules import, directly or not, and themselves."""
    return collect_modules(roots, _list_imports)


def _list_imports(name: str) -> list[str]:
    """Return the modules that one module imports, of those that are hashed: code of a user imports ours and its own."""
    is_hashed = is_of_project if is_of_project(name) else find_source
    return list(filter(is_hashed, _list_all_imports(name)))


@cache
def _list_all_imports(name: str) -> list[str]:
    pairs = list_imports(_require_path(name), name, find_source)
    modules = [defining for _, defining in pairs]
    if not is_of_project(name):
        modules += [origin for origin, _ in pairs if not is_of_project(origin)]
        for module in [name, *modules]:  # the packages that a module lies in are run, too; ours only pass names on
            modules += [] if is_of_project(module) else _list_packages_above(module)
    return modules


def _list_packages_above(module: str) -> list[str]:
    """Return the packages that a module lies in."""
    parts = module.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts))]


def _require_path(module: str) -> Path:
    path = find_source(module)
    if path is None:
        raise ModuleNotFoundError(f"{module} has no source that could be read")
    return path
