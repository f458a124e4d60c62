"""``do=reference``: publish complete runs of committed code in ``results/reference`` and the README."""

from __future__ import annotations

from experiments.config.papers import paper_names
from experiments.config.request import SweepRequest


def run_command(request: SweepRequest) -> int:
    """Publish what is named, or everything; returns the exit code."""
    from plots.reference import publish_audit, publish_reference  # matplotlib is slow to import

    papers, with_audit = request.list_choices("paper"), request.config["audit"]
    if not papers and not with_audit:
        papers, with_audit = [*paper_names(), "benchmark"], True
    for name in papers:
        publish_reference(name, request.results_folder)
    if with_audit:
        publish_audit(request.results_folder)
    return 0
