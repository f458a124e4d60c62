"""Functions of tests that run in a process of their own, without compilation, and print what they found as JSON."""

import json
import subprocess
import sys
from pathlib import Path

from experiments.processes import make_environment

ROOT = Path(__file__).resolve().parents[1]


def found_by(module, function, *words, asked=None, **settings):
    """Return what a function of a test module prints, given command-line words and JSON on its standard input."""
    code = f"from tests import {module}; from experiments.processes import resume_collection; resume_collection(); "
    done = subprocess.run(
        [sys.executable, "-c", f"{code}{module}.{function}()", *words],
        input=json.dumps(asked),
        env=make_environment(NUMBA_DISABLE_JIT="1", **settings),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)
