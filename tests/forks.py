"""Processes that begin where the imports end: forked, each for a command, from one that has imported what they need.

A command takes less time than its imports. What is forked has its own memory, folder, environment and streams, and ends
like a process that was started; one in which a module is new, or changed since, must not have imported it before.
"""

import gc
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from types import SimpleNamespace

HANG = 600
COMMANDS = (
    "experiments.command_line",
    "experiments.commands.report",
    "experiments.commands.reproduce",
    "experiments.run.evaluate",
    "plots.pages.index_page",
    "plots.pages.paper_results",
)
"""Modules that commands need, as a checkout calls them."""


class Origin:
    """A process to fork from.

    Parameters
    ----------
    modules : iterable of str
        What it imports.
    folder : Path
        Where it looks for modules first, as ``python -m`` does in the current directory.
    python : str or Path
        The interpreter.
    environment : mapping, optional
        Its variables; those of this process if left out.
    """

    def __init__(self, modules, folder, python=sys.executable, environment=None):
        command = [str(python), __file__, *modules]
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen(command, cwd=folder, env=environment, **streams)
        self._folder = folder
        self._environment = dict(os.environ if environment is None else environment)

    def run_module(self, module, *words, folder=None, **variables):
        """Run a module as ``python -m`` does, and return its exit code and what it wrote."""
        return self._run({"module": module, "words": [module, *map(str, words)], "asked": ""}, folder, variables)

    def run_code(self, code, program, *words, asked="", **variables):
        """Run lines of Python as a program of this name, with a text on its standard input."""
        return self._run({"code": code, "words": list(map(str, [program, *words])), "asked": asked}, None, variables)

    def _run(self, request, folder, variables):
        request |= {"folder": str(folder or self._folder), "environment": self._environment | variables}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the process to fork from has ended"
        return SimpleNamespace(**json.loads(answer))

    def close(self):
        """End it."""
        self._process.communicate()


def serve(modules):
    """Answer requests, a line each; returns in a forked process only, when that is ready to run what was asked for."""
    sys.path[0] = os.getcwd()
    answers = os.fdopen(os.dup(1), "w")
    for module in modules:
        __import__(module)
    gc.collect()
    gc.freeze()  # what a collector looks at would be copied in each fork
    for line in sys.stdin:
        request = json.loads(line)
        with ExitStack() as stack:
            given, *written = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
            given.write(request["asked"].encode())
            given.seek(0)
            child = os.fork()
            if not child:
                _become(request, given, *written)
                return request
            signal.signal(signal.SIGALRM, lambda *_, child=child: os.kill(child, signal.SIGKILL))
            signal.alarm(HANG)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            signal.alarm(0)
            texts = []
            for stream in written:
                stream.seek(0)
                texts.append(stream.read().decode())
        answers.write(json.dumps({"returncode": code, "stdout": texts[0], "stderr": texts[1]}) + "\n")
        answers.flush()
    os._exit(0)


def _become(request, *streams):
    """Make this process what its request says, with these files as standard input, output and error."""
    for number, stream in enumerate(streams):
        os.dup2(stream.fileno(), number)
    sys.stdin = os.fdopen(0, closefd=False)  # the one there was has read ahead in the requests
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.path[0] = request["folder"]
    sys.path[1:1] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    sys.argv = request["words"]


if __name__ == "__main__":
    asked = serve(sys.argv[1:])
    if "module" in asked:
        runpy.run_module(asked["module"], run_name="__main__", alter_sys=True)
    else:
        exec(asked["code"], {"__name__": "__main__"})
