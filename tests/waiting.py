"""Tests wait for conditions, not for times: a busy machine is slow, and only a hang takes ten minutes."""

import time

HANG = 600.0


def wait_for(condition):
    """Return once a condition holds."""
    deadline = time.monotonic() + HANG
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
