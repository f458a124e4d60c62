"""What a command line says of a sweep beside its settings: its name, its output, and which repeat alone is run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from experiments.commands.row_output import read_output
from experiments.errors import BadInput

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
