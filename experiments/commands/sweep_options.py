"""What a command line says of a sweep beside its settings: its name, its output, and which repeat alone is run."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from algorithms.installation import resolve_path
from experiments.errors import BadInput, require_utf_8, suggest_name

_OUTPUTS = ("table", "json", "csv")
_OF_SWEEPS = ("name", "output", "repeat")
_LONGEST_NAME = 100


@dataclass(frozen=True)
class SweepOptions:
    """How a sweep is run and answered."""

    name: str | None  #: of its folder; None for a name from what varies
    output: str  #: what goes to stdout: ``table``, ``json`` or ``csv``
    repeat: int | None  #: the only repeat that is run of each setting

    @classmethod
    def read(cls, config: Mapping[str, Any]) -> SweepOptions:
        """Read the settings of the command; raises a BadInput if a value cannot be."""
        output, repeat = read_output(config["output"]), config["repeat"]
        if repeat is not None and (isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 0):
            raise BadInput(f"repeat must be a whole number from 0: which one to run; got {repeat!r}")
        return cls(read_name(config["name"]), output, repeat)


def read_output(given: Any) -> str:
    """Return how results go to stdout: as they are asked for, else as a table in a terminal and as JSON elsewhere."""
    output = given if given is not None else "table" if sys.stdout.isatty() else "json"
    if output not in _OUTPUTS:
        raise BadInput(f"output must be table, json or csv; {suggest_name(str(output), _OUTPUTS)}")
    return str(output)


def read_page(config: Mapping[str, Any]) -> Path | None:
    """Return the file of a page that results go to, None if none is asked for; BadInput beside another output."""
    if config["page"] is None:
        return None
    if config["output"] is not None:
        raise BadInput("output and page are two places for the same rows: give one of them")
    require_utf_8(file := resolve_path(str(config["page"])))
    return file


def refuse_options_of_sweeps(config: Mapping[str, Any]) -> None:
    """Refuse beside a paper what is about a sweep; raises a BadInput with the first such setting."""
    for name in _OF_SWEEPS:
        if config[name] is not None:
            raise BadInput(f"{name} cannot be given beside paper=...: it is for sweeps")


def read_name(given: Any) -> str | None:
    """Return the name that was given to a sweep, None if it was given none; a BadInput if some folder cannot have it.

    Examples
    --------
    >>> read_name(47), read_name(None)
    ('47', None)
    >>> read_name("../elsewhere")
    Traceback (most recent call last):
    experiments.errors.BadInput: name='../elsewhere': choose letters, digits, '_', '-' and '.', not '.' first
    """
    if given is None:
        return None
    name = str(given) if isinstance(given, int | str) and not isinstance(given, bool) else ""
    if not re.fullmatch(r"[\w+-][\w.+-]*", name) or len(name) > _LONGEST_NAME:
        raise BadInput(f"name={given!r}: choose letters, digits, '_', '-' and '.', not '.' first")
    return name
