"""The report of a fresh clone, built once for all who look at it, and the runs that it shows, each read once."""

from functools import cache

from experiments.config.paths import REFERENCE
from plots.pages.reference_pages import read_published
from plots.pages.report import build_report
from tests.shared_folders import once_for_all_workers


def build_published(tmp_path_factory):
    """Return the folder of the report on all papers, from what was published alone."""

    def build(folder):
        build_report(folder, published_papers())

    return once_for_all_workers(tmp_path_factory, "published", build) / "report"


def published_papers():
    """Return the names of the papers that have a published run."""
    return sorted(path.name.removeprefix("paper-") for path in REFERENCE.glob("paper-*"))


@cache
def published_run(name):
    """Return a published run; to read all takes some seconds, which those who only collect tests do without."""
    return read_published(REFERENCE / f"paper-{name}")


def published_runs():
    """Return all of them by name."""
    return {name: published_run(name) for name in published_papers()}
