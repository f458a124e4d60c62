"""``do=reference``: publish complete runs of committed code in ``results/reference``, and write all generated pages.

No page is written where the finding of a paper says what its published run does not bear out.
"""

from __future__ import annotations

from collections.abc import Sequence

from algorithms.whole_files import write_text
from experiments.catalogue.sources import SOURCES_FILE, format_sources_page
from experiments.config.paths import BENCHMARKS, find_own_file, find_reference, list_papers
from experiments.errors import BadInput, print_to_stderr, require_checkout
from experiments.request import SweepRequest
from experiments.skeletons.schema import format_generated


def run_command(request: SweepRequest) -> int:
    """Publish what is named, or everything, and write the pages; returns the exit code."""
    names = request.list_choices("paper")
    if names and all(map(find_own_file, names)):
        return _publish_own(names, request)
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
        if find_own_file(name):
            raise BadInput(f"paper {name!r} is your own: publish it by itself, without ours")
    for name in papers:
        publish_run(name, request.results_folder)
    if with_audit:
        publish_audit(request.results_folder)
    if drifts := list_drifts():
        print_to_stderr("\n".join(f"error: {drift}" for drift in drifts))
        return 2
    rewrite_pages()
    for path, text in (format_generated() | {SOURCES_FILE: format_sources_page()}).items():
        write_text(path, text)
    return 0


def _publish_own(names: Sequence[str], request: SweepRequest) -> int:
    """Keep the summaries of complete runs of a user's own papers beside these; returns the exit code."""
    from plots.pages.reference_pages import publish_run  # matplotlib is slow to import

    if request.config["audit"] or request.config["pages_only"]:
        raise BadInput("audit and pages_only are of this project's own pages: leave them out beside a paper of yours")
    for name in names:
        publish_run(name, request.results_folder)
        print(find_reference(name) / f"paper-{name}")
    return 0
