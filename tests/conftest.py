"""What holds for all tests."""

import gc


def pytest_collection_finish(session):
    """Look for garbage seldom, and not among what was imported: it took a tenth of the time."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
