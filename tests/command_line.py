"""The command line in this process, which spares the start of another."""

import gc
import logging
import os
import signal
import sys
from contextlib import contextmanager
from unittest import mock

import pytest

from experiments.command_line import main


def exit_code(*words, program="experiments/__main__.py"):
    """Run a command line and return its exit code; what it prints is left to pytest's capturing."""
    with (
        mock.patch.object(sys, "argv", [program, *map(str, words)]),
        mock.patch.object(signal, "signal"),
        mock.patch.dict(os.environ),
        logging_as_it_was(),
        collector_as_it_was(),
        pytest.raises(SystemExit) as ended,
    ):
        main()
        sys.exit(0)  # what prints a configuration returns
    return ended.value.code or 0


@contextmanager
def logging_as_it_was():
    """Undo what Hydra sets of logging for the life of a process."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


@contextmanager
def collector_as_it_was():
    """Undo what a command sets of the garbage collector for the life of a process."""
    thresholds = gc.get_threshold()
    try:
        yield
    finally:
        gc.enable()
        gc.set_threshold(*thresholds)
