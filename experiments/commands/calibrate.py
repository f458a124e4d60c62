"""``do=calibrate``: how often are verdicts wrong, and how many runs do they take? Simulated by the judge itself."""

from __future__ import annotations

from algorithms.installation import resolve_path
from algorithms.whole_files import write_text
from experiments.errors import BadInput, print_to_stderr, require_checkout
from experiments.request import SweepRequest

_LEAST = 400
"""Simulated settings of which a tenth, as are drawn for collapses, make one claim of the largest, of 40 settings."""


def run_command(request: SweepRequest) -> int:
    """Simulate, print the tables, and write them; returns the exit code."""
    require_checkout("calibrate")
    simulations = request.config["simulations"]
    if not isinstance(simulations, int) or simulations < _LEAST:
        raise BadInput(f"simulations={simulations} must be a whole number of at least {_LEAST}")
    path = resolve_path(str(request.config["file"]))
    if not path.parent.is_dir():
        raise BadInput(f"file={path}: its folder is not there")
    from experiments.calibration.page import write_page  # after these checks, as what judges is slow to import
    from experiments.run.executors.executor import make_executor
    from experiments.run.executors.task_runner import TaskRunner

    parts = []
    for part in write_page(simulations, TaskRunner(make_executor(request.config["executor"])).run):
        print(part, flush=True)
        parts.append(part)
    write_text(path, "\n".join(parts))
    print_to_stderr(f"  {path}")
    return 0
