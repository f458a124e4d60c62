"""What holds for all tests."""

import gc

from experiments.processes import limit_threads

limit_threads()  # before a test module imports numpy; the suite runs on several processes


def pytest_collection_finish(session):
    """Look for garbage less often, and not among what was imported: it took a tenth of the time."""
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
