"""Faults of algorithms as a reader is shown them: how grave each is, and which line of code confesses it."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from types import ModuleType

from algorithms.accounting import faults
from algorithms.accounting.faults import Fault
from experiments.catalogue.places import Place
from experiments.config import estimators


class Gravity(StrEnum):
    """What a fault does to privacy, the gravest first."""

    UNBOUNDED = "no ε bounds what one record changes"
    EXCEEDED = "one record can cost more than the ε that is set aside for it"
    UNKNOWN = "nobody has worked out how much it costs"
    UNPROVEN = "how much noise there is follows from the rows, which no proof covers"
    HARMLESS = "it costs accuracy, not privacy"


_GRAVITY = {
    Gravity.UNBOUNDED: (
        *("exact stop condition", "exact purity test", "exact Gini threshold", "exact final comparison"),
        *("exact nominal splits", "exact choices", "exact leaves", "exact labels", "copied rows"),
        *("cuts from the rows", "interval ends from the rows", "height from the rows", "ratio from the rows"),
        *("scale from the rows", "sensitivity of a leaf's own rows", "inferred domain"),
    ),
    Gravity.EXCEEDED: (
        *("bootstrap", "budget spent more than once", "sensitivity too small", "target in its own unit"),
        *("sensitivity of a noisy count", "rows dealt out by position", "a record that changes its class"),
        *("budget of the means", "sensitivity of squares"),
    ),
    Gravity.UNPROVEN: ("sensitivity from the rows", "budget from the rows"),
    Gravity.HARMLESS: ("unused count",),
}
"""By the names of faults. An exact comparison, a cut or a label that is a value of the rows makes something possible on
one table that is impossible on its neighbour. The others add noise, and too little of it."""
_BY_NAME = {name: gravity for gravity, names in _GRAVITY.items() for name in names}


def find_gravity(fault: str) -> Gravity:
    """Return what a fault does to privacy, by its name; of one of a user's own nobody knows.

    Examples
    --------
    >>> find_gravity("unused count").value, find_gravity("mine").value
    ('it costs accuracy, not privacy', 'nobody has worked out how much it costs')
    """
    return _BY_NAME.get(fault, Gravity.UNKNOWN)


def list_confessions(algorithm: str, fault: Fault) -> list[Place]:
    """Return the lines of an algorithm's code that add a fault to its account; none if today's code does not.

    BadInput if there is no such algorithm.

    Examples
    --------
    >>> [str(place).partition(":")[0] for place in list_confessions("rdt", faults.RDT_HEIGHT_FROM_ROWS)]
    ['algorithms/forests/rdt.py']
    """
    cls = estimators.import_class(estimators.find_target(algorithm))
    for module in dict.fromkeys(base.__module__ for base in cls.__mro__ if base is not object):
        names = set(_list_names(sys.modules[module], fault))
        file = inspect.getsourcefile(sys.modules[module]) if names else None
        if file and (lines := _list_uses(Path(file), names)):
            return [Place(Path(file), line) for line in lines]
    return []


def _list_names(module: ModuleType, fault: Fault) -> Iterator[str]:
    """Yield what a module calls a fault: a name of its own or of the list of faults, or a function that makes it."""
    for scope in (module, faults) if faults in vars(module).values() else (module,):
        for name, value in vars(scope).items():
            is_maker = inspect.isfunction(value) and [*inspect.signature(value).parameters] == ["source"]
            if value == fault or (is_maker and value(fault.source) == fault):
                yield name


def _list_uses(file: Path, names: set[str]) -> list[int]:
    """Return the lines of a file that use one of some names: neither those that import it nor those that define it."""
    lines = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name in names and isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]  # both have it
            lines.add(node.lineno)  # type: ignore[attr-defined]
    return sorted(lines)
