"""Which results are current: what a stored cell or an audit is of may have changed since.

A stored cell is current if it would be found today: what its key is made of has not changed, nor has a version of a
metric of somebody's own, nor a file that its code was seen to read (`inputs`). An audit is of an algorithm's code and
settings: it speaks of what has the same `version_of_algorithm`, and of nothing else. Comments, docstrings and layout
change no version.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from algorithms.installation import name_in_checkout
from algorithms.source_walk import collect_modules, list_imports, read_code
from datasets import DataUnavailable
from experiments.cells import inputs
from experiments.cells.cell import PROTOCOL, Cell, format_canonical
from experiments.cells.code_version import code_version, describe_version, list_own_modules, list_own_versions
from experiments.cells.module_sources import find_source, is_of_project
from experiments.config import estimators

_QUOTES = re.compile(r"[\"'\\]")
"""Versions of Python quote the same text in other ways when they write code out; an audit is of the code."""


def version_of_cell(dataset: str, algorithm: str) -> str:
    """Return the version of what stands behind a cell, its data, code and libraries, as 12 hexadecimal digits."""
    return hashlib.sha256(describe_version(dataset, algorithm).encode()).hexdigest()[:12]


def version_of_algorithm(name: str, params: Mapping[str, Any]) -> str:
    """Return the version of an algorithm with some parameters, as 12 hexadecimal digits.

    It is a hash over the code of the algorithm and of all that it imports, kernels in C++ too, over its settings and,
    where code is somebody's own, over the versions of the packages that it imports. Neither Python nor the libraries
    that all results rest on count, so that it is the same in a checkout and in a wheel, on every machine.
    """
    target = estimators.find_target(name)
    settings = format_canonical([name_in_checkout(target), params, estimators.own_epsilon(name)])
    packages = format_canonical(estimators.list_packages(name))
    return hashlib.sha256("\0".join([_hash_code(target), settings, packages]).encode()).hexdigest()[:12]


@cache
def _hash_code(target: str) -> str:
    digest = hashlib.sha256()
    for module in sorted(_collect_code(target)):
        digest.update(f"{module}\0{_QUOTES.sub('', read_code(_require_source(module)))}\0".encode())
    if list_own_modules(target):
        _, _, packages = code_version(target).partition(" ")  # behind the hash it names those that somebody's code has
        digest.update(packages.encode())
    return digest.hexdigest()


def _collect_code(target: str) -> set[str]:
    """Return the modules that an estimator is made of: the user's, and ours that these import."""
    own = {module for module in list_own_modules(target) if find_source(module)}
    ours = chain.from_iterable(map(_list_ours, own))
    if not list_own_modules(target):
        ours = iter([name_in_checkout(estimators.import_class(target).__module__)])
    return own | collect_modules(ours, _list_ours)


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
        cell = Cell(asked["dataset"], asked["algorithm"], asked["params"], epsilon, 0, PROTOCOL | asked["protocol"])
        try:
            version, _ = version_of_cell(cell.dataset, cell.algorithm), cell.key
        except (ValueError, ImportError, OSError, DataUnavailable):  # its data or its code is not there any more
            return cls(None, None)
        return cls(cell, version)

    def is_current(self, key: str, repeat: int, details: Mapping[str, Any]) -> bool:
        """Return whether a stored cell of this setting would be found today, and is still right."""
        if self.cell is None or self.cell.repeats([repeat])[0].key != key:
            return False
        own = details.get("own_metrics", {})
        return list_own_versions(own) == own and not has_outdated_files(self.cell, details)


def can_be_outdated(cell: Cell) -> bool:
    """Return whether the code behind a cell may read files that its key knows nothing of: that of users alone."""
    return inputs.can_read_files(cell.algorithm, cell.metrics)


def has_outdated_files(cell: Cell, details: Mapping[str, Any]) -> bool:
    """Return whether a file that the code behind a stored cell had read has changed."""
    return inputs.have_changed(cell.algorithm, details.get("read", {}))
