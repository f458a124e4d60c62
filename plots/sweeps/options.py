"""How a sweep is to be run and answered, as the command line says it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from experiments.errors import BadInput, suggest_name
from plots.sweeps.sweep_folder import read_name

_OUTPUTS = ("table", "json", "csv")
_OF_SWEEPS = ("name", "output", "repeat")


@dataclass(frozen=True)
class SweepOptions:
    """How a sweep is run and answered."""

    name: str | None  #: of its folder; None for a name from what varies
    output: str  #: what goes to stdout: ``table``, ``json`` or ``csv``
    repeat: int | None  #: the only repeat that is run of each setting

    @classmethod
    def read(cls, config: Mapping[str, Any]) -> SweepOptions:
        """Read the settings of the command; raises a BadInput if a value cannot be."""
        output, repeat = config["output"], config["repeat"]
        if output is None:
            output = "table" if sys.stdout.isatty() else "json"
        if output not in _OUTPUTS:
            raise BadInput(f"output must be table, json or csv; {suggest_name(str(output), _OUTPUTS)}")
        if repeat is not None and (isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 0):
            raise BadInput(f"repeat must be a whole number from 0: which one to run; got {repeat!r}")
        return cls(read_name(config["name"]), output, repeat)


def refuse_options_of_sweeps(config: Mapping[str, Any]) -> None:
    """Refuse beside a paper what is about a sweep; raises a BadInput with the first such setting."""
    for name in _OF_SWEEPS:
        if config[name] is not None:
            raise BadInput(f"{name} cannot be given beside paper=...: it is for sweeps")


def read_stop_on_error(config: Mapping[str, Any]) -> bool:
    """Return whether to stop at the first failure; raises a BadInput if it is neither true nor false."""
    if not isinstance(config["stop_on_error"], bool):
        raise BadInput(f"stop_on_error must be true or false, got {config['stop_on_error']!r}")
    return config["stop_on_error"]
