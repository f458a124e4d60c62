"""What ``import dp_replica as dr`` gives: runs, results, papers and audits from Python, as a notebook needs them.

Each function does what a command of the same name does, by the same code, store and checks: what one of them has run
the other finds. Bad input is a `BadInput`, whose message is the line that the command prints.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from documents.yaml_files import DocumentError
from experiments.errors import BadInput

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def refuses_bad_input(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Let a function raise one error, `BadInput`, for all that a user can do wrong, in a YAML file too."""

    @wraps(function)
    def call(*arguments: _Given.args, **given: _Given.kwargs) -> _Result:
        try:
            return function(*arguments, **given)
        except DocumentError as error:
            raise BadInput(str(error).strip()) from error

    return call
