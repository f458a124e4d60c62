"""``do=reference``: publish complete runs of committed code in ``results/reference``, and write all generated pages.

No page is written where the finding of a paper says what its published run does not bear out.
"""

from __future__ import annotations

from algorithms.whole_files import write_text
from experiments.config.paths import BENCHMARKS, list_own_papers, list_papers
from experiments.errors import BadInput, print_to_stderr, require_checkout
from experiments.request import SweepRequest
from experiments.skeletons.schema import format_generated


def run_command(request: SweepRequest) -> int:
    """Publish what is named, or everything, and write the pages; returns the exit code."""
    require_checkout("reference")
    from plots.pages.reference_pages import (
        list_drifts,
        publish_audit,
        publish_run,
        rewrite_pages,  # matplotlib is slow to import
    )

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
    if drifts := list_drifts():
        print_to_stderr("\n".join(f"error: {drift}" for drift in drifts))
        return 2
    rewrite_pages()
    for path, text in format_generated().items():
        write_text(path, text)
    return 0
