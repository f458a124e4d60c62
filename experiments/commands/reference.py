"""``do=reference``: publish complete runs of committed code in ``results/reference``, and write all generated pages."""

from __future__ import annotations

from experiments.config.papers import BENCHMARKS, list_own_papers, list_papers
from experiments.config.request import SweepRequest
from experiments.config.schema import write_key_pages
from experiments.errors import BadInput, require_checkout


def run_command(request: SweepRequest) -> int:
    """Publish what is named, or everything, and write the pages; returns the exit code."""
    require_checkout("reference")
    from plots.pages.reference_pages import publish_audit, publish_run, rewrite_pages  # matplotlib is slow to import

    papers, with_audit = request.list_choices("paper"), request.config["audit"]
    if not papers and not with_audit and not request.config["pages_only"]:
        papers, with_audit = [*list_papers(), *BENCHMARKS], True
    for name in papers:
        if name in list_own_papers():
            raise BadInput(f"paper {name!r} is your own: do=reference publishes ours; its results are yours to keep")
    for name in papers:
        publish_run(name, request.results_folder)
    if with_audit:
        publish_audit(request.results_folder)
    rewrite_pages()
    write_key_pages()
    return 0
