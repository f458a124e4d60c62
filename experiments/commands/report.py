"""``do=report``: one report on all papers."""

from __future__ import annotations

from experiments.config.papers import paper_names
from experiments.config.request import SweepRequest


def run_command(request: SweepRequest) -> int:
    """Write the report and say what to open; returns the exit code."""
    from plots.pages.index_page import build  # matplotlib is slow to import and is needed only here

    names = request.list_choices("paper") or [*paper_names(), "benchmark"]
    print(f"open {build(request.results_folder, names)}")
    return 0
