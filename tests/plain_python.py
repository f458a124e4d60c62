"""Functions of tests that run in a process of their own, without kernels, and print what they found as JSON."""

import json
import sys
from functools import cache

from algorithms.native import PLAIN
from experiments.config.paths import ROOT
from experiments.processes import make_environment
from tests import forks

NEEDED_BY_MOST = ("pytest", "scipy.stats", "experiments.audit.audit_tasks")


def found_by(module, function, *words, asked=None, **settings):
    """Return what a function of a test module prints, given command-line words and JSON on its standard input."""
    found, said = found_and_said_by(module, function, *words, asked=asked, **settings)
    sys.stderr.write(said)
    return found


def found_and_said_by(module, function, *words, asked=None, **settings):
    """Return the same, and what stood on its standard error."""
    code = "from experiments.processes import resume_collection; resume_collection(); "
    code += f"from tests import {module}; {module}.{function}()"
    done = find_origin().run_code(code, "-c", *words, asked=json.dumps(asked), **settings)
    if done.returncode:
        raise RuntimeError(f"{module}.{function} failed in plain Python:\n{done.stderr}")
    return json.loads(done.stdout), done.stderr


@cache
def find_origin():
    """Return what forks from the process that all workers of a test run share."""
    return forks.Client(find_place(), ROOT, make_environment(**{PLAIN: "1"}))


def start_server(place):
    """Start that process."""
    forks.start_server(place, NEEDED_BY_MOST, ROOT, environment=make_environment(**{PLAIN: "1"}))


def find_place():
    """Return the folder of the test run that tells where it listens; `conftest.py` says which."""
    raise AssertionError("this is for tests that pytest runs")
