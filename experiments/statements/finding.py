"""What came out of an exact statement, and how a paper's file names one."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from experiments import statements
from experiments.errors import BadInput, suggest_name


class Finding(NamedTuple):
    """Whether an exact statement holds, and why."""

    #: Whether it holds in every case that was tried.
    holds: bool
    #: The number that it comes down to, or the counterexample.
    reason: str


def find_function(name: str, given: Mapping[str, Any]) -> Callable[..., Any]:
    """Return the function ``module.function`` of `experiments.statements`, checked to take what is given.

    BadInput if there is no such public function, or it does not take these arguments.

    Examples
    --------
    >>> find_function("pfdpdt_budget.split_epsilon", {"level": 1, "max_depth": 1})(level=1, max_depth=1)
    Fraction(1, 1)
    """
    module_name, _, function_name = name.partition(".")
    modules = [module.name for module in pkgutil.iter_modules(statements.__path__) if module.name != "finding"]
    if module_name not in modules:
        raise BadInput(f"no statements {module_name!r}; {suggest_name(module_name, modules)}")
    module = import_module(f"{statements.__name__}.{module_name}")
    functions = {}
    for key, value in vars(module).items():
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not key.startswith("_"):
            functions[key] = value
    if function_name not in functions:
        raise BadInput(f"no statement {name!r}; {suggest_name(function_name, functions)}")
    try:
        inspect.signature(functions[function_name]).bind(**given)
    except TypeError as error:
        raise BadInput(f"statement {name!r}: {error}") from None
    return functions[function_name]
