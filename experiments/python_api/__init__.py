"""What ``import dp_replica as dr`` gives: runs, results, papers and audits from Python, as a notebook needs them.

Each function does what a command of the same name does, by the same code, store and checks: what one of them has run
the other finds. Bad input is a `BadInput`, whose message is the line that the command prints.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from algorithms.encoding.cells import DomainError
from algorithms.parameters import ParameterError
from documents.yaml_files import DocumentError
from experiments.errors import BadInput

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def refuses_bad_input(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Let a function raise `BadInput` for all that a user writes wrong, in a YAML file or of an estimator, too."""

    @wraps(function)
    def call(*arguments: _Given.args, **given: _Given.kwargs) -> _Result:
        try:
            return function(*arguments, **given)
        except (DocumentError, ParameterError, DomainError) as error:
            raise BadInput(str(error).strip()) from error

    return call


def read_path(given: Any, what: str) -> Path:
    """Return a path that a user gives; BadInput for what is none, such as None where a variable is not set.

    Examples
    --------
    >>> read_path(None, "results")
    Traceback (most recent call last):
    experiments.errors.BadInput: results must be a path, as text or a Path, got None
    """
    if not isinstance(given, str | Path) or "\0" in str(given):
        raise BadInput(f"{what} must be a path, as text or a Path, got {given!r}")
    return Path(given).expanduser()


def check_flags(**given: Any) -> None:
    """Refuse a setting that is neither True nor False: text that says no would count as yes.

    Examples
    --------
    >>> check_flags(anew="no")
    Traceback (most recent call last):
    experiments.errors.BadInput: anew must be True or False, got 'no'
    """
    for name, value in given.items():
        if not isinstance(value, bool):
            raise BadInput(f"{name} must be True or False, got {value!r}")
