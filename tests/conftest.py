"""What holds for all tests."""

import atexit
import gc
import os
from functools import partial

import pytest

from experiments.config.paths import ROOT
from experiments.processes import limit_threads
from tests import forks, plain_python
from tests.shared_folders import once_for_all_workers

limit_threads()  # before a test module imports numpy; the suite runs on several processes


@pytest.fixture(scope="session")
def commands(tmp_path_factory):
    """What forks commands of this checkout."""
    environment = dict(os.environ)
    start = partial(forks.start_server, modules=forks.COMMANDS + forks.LIBRARIES, folder=ROOT, environment=environment)
    return forks.Client(once_for_all_workers(tmp_path_factory, "commands", start), ROOT, environment)


@pytest.fixture(scope="session")
def published(tmp_path_factory):
    """The report of a fresh clone, built once for all who look at it."""
    from tests.published_report import build_published  # what draws is slow to import, and most files need none of it

    return build_published(tmp_path_factory)


@pytest.fixture
def without_pdf(monkeypatch):
    """Figures are drawn in no PDF, whose fonts take longer than all else of it."""
    from plots import style  # likewise

    draw, others = style.render_figure, tuple(ending for ending in style.ENDINGS if ending != "pdf")
    monkeypatch.setattr(style, "render_figure", lambda name, make, endings=others: draw(name, make, endings))


@pytest.fixture(scope="module")
def browser():
    """The system's browser, see `tests.browser`."""
    from tests.browser import started_browser  # likewise

    with started_browser() as started:
        yield started


@pytest.fixture(scope="session", autouse=True)
def plain_origin(tmp_path_factory):
    """One process for all that forks what runs in plain Python."""
    plain_python.find_place = partial(once_for_all_workers, tmp_path_factory, "plain", plain_python.start_server)


def pytest_collection_finish(session):
    """Look for garbage less often, and not among what was imported: it took a tenth of the time.

    When Python ends, it looks there, too, as DuckDB prints a page of what is left of it; not before, as pytest looks
    five times.
    """
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    atexit.register(gc.unfreeze)
