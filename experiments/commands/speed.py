"""``do=speed``: speed and memory beside others, at ten million rows, too, or what the harness costs as sweeps grow."""

from __future__ import annotations

from importlib import import_module

from algorithms.installation import PREFIX
from experiments.errors import BadInput, suggest_name
from experiments.request import SweepRequest
from experiments.speed.measurement import print_tables

_PARTS = {"ratios": "ratios", "scaling": "scaling", "large": "large_tables"}


def run_command(request: SweepRequest) -> int:
    """Measure and print a part; returns the exit code."""
    part = str(request.config["part"])
    if part not in _PARTS:
        raise BadInput(f"part={part} cannot be measured; {suggest_name(part, _PARTS)}")
    print_tables(
        import_module(f"{PREFIX}experiments.speed.{_PARTS[part]}").TABLES
    )  # what a part needs takes seconds to import
    return 0
