"""Commands in which a chosen call of the operating system fails, once: their calls are those of ``failing_calls.c``."""

import mmap
import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from algorithms.installation import ROOT
from tests.forks import COMMANDS, LIBRARIES, Origin

SOURCE = Path(__file__).with_name("failing_calls.c")
_HEAD = struct.Struct("<qqq")  # calls so far, the one that fails, its error: as in the source


class Faulty:
    """Forks commands below one of whose folders a call may fail.

    Parameters
    ----------
    place : Path
        A folder for what is compiled and shared.
    """

    def __init__(self, place):
        library, plan = place / "failing_calls.so", place / "plan"
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            pytest.skip("there is no C compiler")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
        plan.write_bytes(bytes(mmap.PAGESIZE))
        with plan.open("r+b") as file:
            self._plan = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        environment = os.environ | {"LD_PRELOAD": str(library), "FAULT_PLAN": str(plan)}
        self._origin = Origin(COMMANDS + LIBRARIES, ROOT, environment=environment)

    def run(self, folder, *words, fails=0, error=0):
        """Run a command; returns its end, and how many calls it made below a folder. Call 0 is none of them."""
        self._plan[:] = (_HEAD.pack(0, fails, error) + os.fsencode(folder)).ljust(mmap.PAGESIZE, b"\0")
        done = self._origin.run_module("experiments", *words)
        n_calls, _, _ = _HEAD.unpack_from(self._plan)
        self._plan[:] = bytes(mmap.PAGESIZE)
        return done, n_calls

    def close(self):
        """End what commands are forked from."""
        self._origin.close()
