"""``do=speed``: speed and memory beside others, at ten million rows, too, or what the harness costs as sweeps grow."""

from __future__ import annotations

from importlib import import_module

from algorithms.installation import PREFIX
from experiments.errors import BadInput, suggest_name
from experiments.request import SweepRequest
from experiments.speed.measurement import print_tables

_SUITES = {"ratios": "ratios", "scaling": "scaling", "large": "large_tables"}


def run_command(request: SweepRequest) -> int:
    """Measure and print a suite; returns the exit code."""
    suite = str(request.config["part"])
    if suite not in _SUITES:
        raise BadInput(f"part={suite} cannot be measured; {suggest_name(suite, _SUITES)}")
    print_tables(
        import_module(f"{PREFIX}experiments.speed.{_SUITES[suite]}").TABLES
    )  # what a suite needs takes seconds to import
    return 0
