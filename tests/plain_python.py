"""Functions of tests that run in a process of their own, without compilation, and print what they found as JSON.

To import what they need takes two seconds of a processor, most of them longer than the function. So one process imports
it, and is divided for each function: what one leaves behind, the next does not find.
"""

import atexit
import io
import json
import os
import subprocess
import sys
import tempfile
import traceback
from functools import cache
from importlib import import_module
from pathlib import Path

from experiments.processes import make_environment, resume_collection

ROOT = Path(__file__).resolve().parents[1]
NEEDED_BY_MOST = ("pytest", "scipy.stats", "experiments.audit.audit_tasks")


def found_by(module, function, *words, asked=None, **settings):
    """Return what a function of a test module prints, given command-line words and JSON on its standard input."""
    found, said = found_and_said_by(module, function, *words, asked=asked, **settings)
    sys.stderr.write(said)
    return found


def found_and_said_by(module, function, *words, asked=None, **settings):
    """Return the same, and what stood on its standard error."""
    process = start_process()
    request = {
        "module": f"tests.{module}",
        "function": function,
        "words": words,
        "asked": asked,
        "environment": make_environment(NUMBA_DISABLE_JIT="1", **settings),
    }
    print(json.dumps(request), file=process.stdin, flush=True)
    status, printed, said = json.loads(process.stdout.readline())
    if status:
        raise RuntimeError(f"{module}.{function} failed in plain Python:\n{said}")
    return json.loads(printed), said


@cache
def start_process():
    """Start the process that is divided; it ends with this one, when nobody can ask any more."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from tests import plain_python; plain_python.serve()"],
        env=make_environment(NUMBA_DISABLE_JIT="1"),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(process.communicate)
    return process


def serve():
    """Answer each request, a line on standard input, by another: how a child of this process ended, and its words."""
    for module in NEEDED_BY_MOST:
        import_module(module)
    resume_collection()
    for line in sys.stdin:
        with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as said:
            child = os.fork()
            if not child:
                answer(json.loads(line), printed, said)
            _, status = os.waitpid(child, 0)
            print(json.dumps([status, *map(read_from_start, (printed, said))]), flush=True)


def read_from_start(file):
    file.seek(0)
    return file.read().decode()


def answer(request, printed, said):
    """Call a function and end this process; what stands on its standard output and error goes to files."""
    os.dup2(printed.fileno(), sys.stdout.fileno())
    os.dup2(said.fileno(), sys.stderr.fileno())
    os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
    sys.stdin, sys.argv = io.StringIO(json.dumps(request["asked"])), ["-c", *request["words"]]
    os.environ.clear()
    os.environ.update(request["environment"])
    status = 1
    try:
        getattr(import_module(request["module"]), request["function"])()
        sys.stdout.flush()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)
