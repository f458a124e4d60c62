"""What holds for all tests."""

import gc
import os

import pytest

from experiments.config.paths import ROOT
from experiments.processes import limit_threads
from tests import forks

limit_threads()  # before a test module imports numpy; the suite runs on several processes


@pytest.fixture(scope="session")
def commands():
    """A process from which commands of this checkout are forked; they run as Python, which is faster once."""
    origin = forks.Origin(forks.COMMANDS, ROOT, environment=os.environ | {"NUMBA_DISABLE_JIT": "1"})
    yield origin
    origin.close()


def pytest_collection_finish(session):
    """Look for garbage less often, and not among what was imported: it took a tenth of the time."""
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
