"""The report of a fresh clone, built once for all who look at it."""

from plots.pages.report import REFERENCE, build_report
from tests.shared_folders import once_for_all_workers


def build_published(tmp_path_factory):
    """Return the folder of the report on all papers, from what was published alone."""

    def build(folder):
        build_report(folder, published_papers())

    return once_for_all_workers(tmp_path_factory, "published", build) / "report"


def published_papers():
    """Return the names of the papers that have a published run."""
    return sorted(path.name.removeprefix("paper-") for path in REFERENCE.glob("paper-*"))
