"""Processes that begin where the imports end: forked, each for a command, from one that has imported what they need.

A command takes less time than its imports. What is forked has its own memory, folder, environment and streams, and ends
like a process that was started; one in which a module is new, or changed since, must not have imported it before.
"""

import atexit
import gc
import json
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace

HANG = 600
COMMANDS = (
    "experiments.command_line",
    "experiments.commands.report",
    "experiments.commands.reproduce",
    "experiments.python_api.paper_runs",
    "experiments.commands.sweep_runs",
    "experiments.run.evaluate",
    "plots.pages.report",
    "plots.pages.paper_results",
)
"""Modules that commands need, as a checkout calls them."""
LIBRARIES = ("matplotlib.backends.backend_pdf", "matplotlib.backends.backend_svg", "sklearn.ensemble")
"""What these import of others only where something is drawn or trained, which most commands do."""
_ADDRESS = "address"


def start_server(place, modules, folder, python=sys.executable, environment=None):
    """Start a process to fork from, which ends with the test run, and tell in a folder where it listens."""
    in_worker = "PYTEST_XDIST_WORKER" in os.environ  # it may end before others that use the server
    words = [tempfile.mkdtemp(), str(os.getppid() if in_worker else os.getpid()), *modules]
    command = [str(python), __file__, *words]
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert process.stdout.readline(), "the process to fork from did not start"
    (Path(place) / _ADDRESS).write_text(words[0])
    return process


class Client:
    """Forks from a process that was started by `start_server`, perhaps in another worker of the test run.

    Parameters
    ----------
    place : str or Path
        The folder that tells where it listens.
    folder : Path
        The current directory of what is forked.
    environment : mapping, optional
        The variables of what is forked; those of this process if left out.
    """

    def __init__(self, place, folder, environment=None):
        self._address = _find_socket((Path(place) / _ADDRESS).read_text())
        self._folder = folder
        self._environment = dict(os.environ if environment is None else environment)

    def run_module(self, module, *words, **settings):
        """Run a module as ``python -m`` does, and return its exit code and what it wrote."""
        return self.start_module(module, *words, **settings).wait()

    def start_module(self, module, *words, folder=None, **variables):
        """Start a module as ``python -m`` does, in a process group of its own."""
        return self._start({"module": module, "words": [module, *map(str, words)]}, "", folder, variables)

    def run_code(self, code, program, *words, **settings):
        """Run lines of Python as a program of this name, and return its exit code and what it wrote."""
        return self.start_code(code, program, *words, **settings).wait()

    def start_code(self, code, program, *words, asked="", folder=None, **variables):
        """Start lines of Python as a program of this name, with a text on its standard input."""
        return self._start({"code": code, "words": list(map(str, [program, *words]))}, asked, folder, variables)

    def _start(self, request, asked, folder, variables):
        request |= {"folder": str(folder or self._folder), "environment": self._environment | variables}
        return Started(self._address, request, asked)


class Origin(Client):
    """The same, with a process of its own to fork from.

    Parameters
    ----------
    modules : iterable of str
        What that imports.
    folder : Path
        Where it looks for modules first, as ``python -m`` does in the current directory.
    python : str or Path
        The interpreter.
    environment : mapping, optional
        Its variables; those of this process if left out.
    """

    def __init__(self, modules, folder, python=sys.executable, environment=None):
        with tempfile.TemporaryDirectory() as place:
            self._process = start_server(place, modules, folder, python, environment)
            super().__init__(place, folder, environment)

    def close(self):
        """End it."""
        self._process.kill()
        self._process.communicate()
        shutil.rmtree(Path(self._address).parent)


class Started:
    """A process that was forked.

    Parameters
    ----------
    address : str
        Of the process to fork from.
    request : dict
        What shall run.
    asked : str
        Its standard input.
    """

    def __init__(self, address, request, asked):
        self._closing = ExitStack()
        self._streams = [self._closing.enter_context(tempfile.TemporaryFile()) for _ in range(3)]  # noqa: SIM115
        self._streams[0].write(asked.encode())
        self._streams[0].seek(0)
        connection = self._closing.enter_context(socket.socket(socket.AF_UNIX))
        connection.connect(address)
        socket.send_fds(connection, [b"\n"], [stream.fileno() for stream in self._streams])
        connection.sendall((json.dumps(request) + "\n").encode())
        self._answers = self._closing.enter_context(connection.makefile())
        self.pid, self._done = int(self._answers.readline()), None

    def read_stderr(self):
        """Return what it has written so far on its standard error."""
        return self._read(self._streams[2])

    def poll(self):
        """Return whether it has ended."""
        return self._done is not None or bool(select.select([self._answers], [], [], 0)[0])

    def wait(self):
        """Return its exit code and what it wrote, once it has ended; after ten minutes it is ended."""
        if self._done is None:
            if not select.select([self._answers], [], [], HANG)[0]:
                self.send_signal(signal.SIGKILL)
            code = int(self._answers.readline())
            self._done = SimpleNamespace(
                returncode=code, stdout=self._read(self._streams[1]), stderr=self._read(self._streams[2])
            )
            self._closing.close()
        return self._done

    def send_signal(self, number, to_group=False):
        """Send it a signal, or all processes of its group; none if it has ended."""
        with suppress(ProcessLookupError):
            (os.killpg if to_group else os.kill)(self.pid, number)

    @staticmethod
    def _read(stream):
        """Read from the beginning, and leave the place where the process writes, which is the same, as it is."""
        return os.pread(stream.fileno(), os.fstat(stream.fileno()).st_size, 0).decode()


def _find_socket(folder):
    return str(Path(folder) / "socket")


def serve(folder, watched, modules):
    """Fork for each request as long as a process runs; returns in what is forked, when that is ready to run."""
    sys.path[0] = os.getcwd()
    for module in modules:
        __import__(module)
    _read_code()
    gc.collect()
    gc.freeze()  # what a collector looks at would be copied in each fork
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait for what they have forked
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(_find_socket(folder))
        listener.listen()
        listener.settimeout(1)
        os.write(1, b"ready\n")
        while _is_running(watched):
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            if not os.fork():
                listener.close()
                return _answer(connection)
            connection.close()
    shutil.rmtree(folder)
    os._exit(0)


def _read_code():
    """Read the code that keys of cells are made of, where something is run: each command would parse it anew."""
    for module in [module for name, module in sys.modules.items() if name.endswith("experiments.cells.code_version")]:
        walk = sys.modules[module.collect_modules.__module__]
        module.code_version(f"{walk.PREFIX}algorithms.RDTClassifier")
        for path in walk.find_algorithm_source("algorithms").parent.rglob("*.py"):
            walk.read_code(path)


def _is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def _answer(connection):
    """Fork what is asked for, say its number, and its exit code once it has ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    connection.setblocking(True)
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    with connection.makefile() as lines:
        request = json.loads(lines.readline())
    child = os.fork()
    if not child:
        connection.close()
        _become(request, streams)
        return request
    connection.sendall(f"{child}\n".encode())
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    connection.sendall(f"{code}\n".encode())
    os._exit(0)


def _become(request, streams):
    """Make this process what its request says, with these files as standard input, output and error."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores Ctrl-C
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and what nohup starts this
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.path[0] = request["folder"]
    sys.path[1:1] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    sys.argv = request["words"]


def run(request, codes):
    """Run what was asked for, and note its exit code, if it is a number."""
    try:
        if "module" in request:
            runpy.run_module(request["module"], run_name="__main__", alter_sys=True)
        else:
            exec(request["code"], {"__name__": "__main__"})
        codes.append(0)
    except SystemExit as ended:
        codes += [ended.code or 0] if isinstance(ended.code, int | None) else []
        raise


def end_at_once(codes):
    """End this process as `experiments.edge` does, with a code that is known: else Python ends it, and says why.

    Python would take apart all that was imported. In memory that is shared with the process to fork from, each piece is
    copied first, which took longer than most commands.
    """
    with suppress(OSError, ValueError):  # streams that are full, broken or closed
        for code in codes:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


if __name__ == "__main__":
    codes = []
    atexit.register(end_at_once, codes)  # before anything else is imported: what was registered first is called last
    run(serve(sys.argv[1], int(sys.argv[2]), sys.argv[3:]), codes)
