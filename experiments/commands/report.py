"""``do=report``: one report on all papers."""

from __future__ import annotations

from experiments.config.paths import BENCHMARKS, list_own_papers, list_papers
from experiments.request import SweepRequest


def run_command(request: SweepRequest) -> int:
    """Write the report and say what to open; returns the exit code."""
    from plots.pages.report import build_report  # matplotlib is slow to import and is needed only here

    names = request.list_choices("paper") or [*list_papers(), *BENCHMARKS, *list_own_papers()]
    print(f"open {build_report(request.results_folder, names)}")
    return 0
