"""The command line in this process, which spares the start of another."""

import os
import signal
import sys
from unittest import mock

import pytest

from experiments.commands.main import main


def exit_code(*words, program="experiments/__main__.py"):
    """Run a command line and return its exit code; what it prints is left to pytest's capturing."""
    with (
        mock.patch.object(sys, "argv", [program, *map(str, words)]),
        mock.patch.object(signal, "signal"),
        mock.patch.dict(os.environ),
        pytest.raises(SystemExit) as ended,
    ):
        main()
        sys.exit(0)  # what prints a configuration returns
    return ended.value.code or 0
