"""Which results are current: what a stored cell or an audit is of may have changed since.

A stored cell is current if it would be found today: what its key is made of has not changed, nor has a version of a
metric of somebody's own, nor a file that its code was seen to read (`inputs`). An audit is of an algorithm's code and
settings: it speaks of what has the same `version_of_algorithm`, and of nothing else. Comments, docstrings and layout
change no version.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from algorithms.installation import name_in_checkout
from algorithms.source_walk import collect_modules, list_imports, read_code
from datasets import DataUnavailable
from experiments.cells import inputs
from experiments.cells.cell import Cell, format_canonical
from experiments.cells.code_version import code_version, describe_version, list_own_modules, list_own_versions
from experiments.cells.module_sources import find_source, is_of_project
from experiments.config import estimators
from experiments.config.protocol import Protocol

_QUOTES = re.compile(r"[\"'\\]")
"""Versions of Python quote the same text in other ways when they write code out; an audit is of the code."""


def version_of_cell(dataset: str, algorithm: str) -> str:
    """Return the version of what stands behind a cell, its data, code and libraries, as 12 hexadecimal digits."""
    return hashlib.sha256(describe_version(dataset, algorithm).encode()).hexdigest()[:12]


def version_of_algorithm(name: str, params: Mapping[str, Any]) -> str:
    """Return the version of an algorithm with some parameters: a hash of its code, and one of its settings.

    Its code is all that it imports, kernels in C++ too; where it is somebody's own, the versions of packages that it
    imports count as well. Neither Python nor the libraries that all results rest on do, so that the version is the same
    in a checkout and in a wheel, on every machine.

    Examples
    --------
    >>> code, settings = version_of_algorithm("rdt", {"variant": "paper"}).split("-")
    >>> len(code), len(settings), version_of_algorithm("rdt", {}).startswith(f"{code}-")
    (12, 8, True)
    """
    target = estimators.find_target(name)
    settings = format_canonical([params, estimators.own_epsilon(name), estimators.list_packages(name)])
    return f"{_hash_code(target)[:12]}-{hashlib.sha256(settings.encode()).hexdigest()[:8]}"


class Standing(StrEnum):
    """What an audit says of an algorithm that was run; nothing but of the same code and settings."""

    CURRENT = "audited"
    IN_PART = "audited with some of its settings alone"  #: a break counts, as such models were run, too
    OTHER_SETTINGS = "not audited with these settings"
    CHANGED = "not audited since it changed"
    UNKNOWN = "audited before audits noted their code"

    @property
    def counts(self) -> bool:
        """Whether what attacks measured is of a model like one that was run."""
        return self in (Standing.CURRENT, Standing.IN_PART)


def compare_versions(audited: str, run: Collection[str]) -> Standing:
    """Return what an audit of one version says of the versions that were run.

    Examples
    --------
    >>> [compare_versions("a-1", run).value for run in (["a-1"], ["a-1", "a-2"], ["a-2"])]
    ['audited', 'audited with some of its settings alone', 'not audited with these settings']
    >>> compare_versions("a-1", ["b-1"]).value, compare_versions("", ["b-1"]).value
    ('not audited since it changed', 'audited before audits noted their code')
    """
    if not audited or not all(run):
        return Standing.UNKNOWN
    if audited in run:
        return Standing.CURRENT if len(set(run)) == 1 else Standing.IN_PART
    codes = {version.partition("-")[0] for version in run}
    return Standing.OTHER_SETTINGS if audited.partition("-")[0] in codes else Standing.CHANGED


@cache
def _hash_code(target: str) -> str:
    digest = hashlib.sha256(name_in_checkout(target).encode())
    for module in sorted(_collect_code(target)):
        digest.update(f"{module}\0{_QUOTES.sub('', read_code(_require_source(module)))}\0".encode())
    if list_own_modules(target):
        _, _, packages = code_version(target).partition(" ")  # behind the hash it names those that somebody's code has
        digest.update(packages.encode())
    return digest.hexdigest()


def _collect_code(target: str) -> set[str]:
    """Return the modules that an estimator is made of: the user's, and ours that these import."""
    modules = list_own_modules(target)
    if not modules:
        return collect_modules([name_in_checkout(estimators.import_class(target).__module__)], _list_ours)
    found = {module for module in modules if find_source(module)}
    return found | collect_modules(chain.from_iterable(map(_list_ours, found)), _list_ours)


@cache
def _list_ours(module: str) -> list[str]:
    """Return the modules of this project that one imports."""
    pairs = list_imports(_require_source(module), module, find_source)
    return [defining for _, defining in pairs if is_of_project(defining)]


def _require_source(module: str) -> Path:
    source = find_source(module)
    assert source is not None, f"{module} has no source"
    return source


@dataclass(frozen=True)
class StoredSetting:
    """What cells of a store have in common, and what it is of today."""

    cell: Cell | None  #: of this setting; None if it cannot be run today
    version: str | None  #: that its cells would have today

    @classmethod
    def find(cls, asked: Mapping[str, Any], epsilon: float) -> StoredSetting:
        """Look up what was asked for: ``dataset``, ``algorithm``, ``params`` and ``protocol``."""
        try:
            protocol = Protocol(**asked["protocol"])
            cell = Cell(asked["dataset"], asked["algorithm"], asked["params"], epsilon, 0, protocol)
            version, _ = version_of_cell(cell.dataset, cell.algorithm), cell.key
        except (ValueError, ImportError, OSError, DataUnavailable):  # its data or its code is not there any more
            return cls(None, None)
        return cls(cell, version)

    def is_current(self, key: str, repeat: int, details: Mapping[str, Any]) -> bool:
        """Return whether a stored cell of this setting would be found today, and is still right."""
        if self.cell is None or self.cell.repeats([repeat])[0].key != key:
            return False
        versions = details.get("own_metrics", {})
        return list_own_versions(versions) == versions and not has_outdated_files(self.cell, details)


def can_be_outdated(cell: Cell) -> bool:
    """Return whether the code behind a cell may read files that its key knows nothing of: that of users alone."""
    return inputs.can_read_files(cell.algorithm, cell.metrics)


def has_outdated_files(cell: Cell, details: Mapping[str, Any]) -> bool:
    """Return whether a file that the code behind a stored cell had read has changed."""
    return inputs.have_changed(cell.algorithm, details.get("read", {}))
