"""Which lines of code confess a fault: those that add it to the account of an algorithm."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

from algorithms.accounting import faults
from algorithms.accounting.faults import Fault
from experiments.catalogue.places import Place
from experiments.config import estimators


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
        names = list(_list_names(sys.modules[module], fault))
        file = inspect.getsourcefile(sys.modules[module]) if names else None
        if file:
            lines = {line for name in names for line in _list_uses(Path(file)).get(name, ())}
            if lines:
                return [Place(Path(file), line) for line in sorted(lines)]
    return []


def _list_names(module: ModuleType, fault: Fault) -> Iterator[str]:
    """Yield what a module calls a fault: a name of its own or of the list of faults, or a function that makes it."""
    for scope in (module, faults) if faults in vars(module).values() else (module,):
        for name, value in vars(scope).items():
            is_maker = inspect.isfunction(value) and [*inspect.signature(value).parameters] == ["source"]
            if value == fault or (is_maker and value(fault.source) == fault):
                yield name


@cache
def _list_uses(file: Path) -> Mapping[str, frozenset[int]]:
    """Return the lines of a file that use a name, by the name: none that imports or defines it."""
    uses: dict[str, set[int]] = {}
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            uses.setdefault(node.id if isinstance(node, ast.Name) else node.attr, set()).add(node.lineno)
    return {name: frozenset(lines) for name, lines in uses.items()}
