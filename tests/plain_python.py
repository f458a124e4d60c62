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
    process = start_process()
    request = {
        "module": f"tests.{module}",
        "function": function,
        "words": words,
        "asked": asked,
        "environment": make_environment(NUMBA_DISABLE_JIT="1", **settings),
    }
    print(json.dumps(request), file=process.stdin, flush=True)
    status, printed = json.loads(process.stdout.readline())
    if status:
        raise RuntimeError(f"{module}.{function} failed in plain Python: what it said is on standard error")
    return json.loads(printed)


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
        with tempfile.TemporaryFile() as file:
            child = os.fork()
            if not child:
                answer(json.loads(line), file)
            _, status = os.waitpid(child, 0)
            file.seek(0)
            print(json.dumps([status, file.read().decode()]), flush=True)


def answer(request, file):
    """Call a function and end this process; what it prints goes to a file."""
    os.dup2(file.fileno(), sys.stdout.fileno())
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
        os._exit(status)
