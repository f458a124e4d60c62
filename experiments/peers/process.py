"""The worker processes in the environments of the peers: start, ask and end them, and check what is installed there.

Each thread that asks has a worker of its own in each environment, kept for its lifetime, as the peers take seconds to
import. A worker ends with the pipe to it: when the thread, or this process, is gone in whatever way.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from packaging.requirements import Requirement

from algorithms.installation import IS_CHECKOUT, ROOT, resolve_path
from experiments.errors import BadInput
from experiments.peers import models_in_jax, models_in_peers, worker
from experiments.processes import ONE_THREAD

_ONE_CORE = ONE_THREAD | {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}

_of_thread = threading.local()


class PeerError(RuntimeError):
    """A peer could not do what it was asked for, or its process died."""


@dataclass(frozen=True)
class Environment:
    """An environment of peers."""

    name: str  #: of its folder, its lock and its target in the Makefile
    packages: str  #: what is in it, as a sentence has it
    models: str  #: the file with its models, which its workers load

    @property
    def folder(self) -> str:
        """The folder, below the project's or the current one."""
        return f".venv-{self.name}"

    @property
    def lock(self) -> Path:
        """What is installed there."""
        return ROOT / f"requirements-{self.name}.lock"


PEERS = Environment("peers", "diffprivlib and interpret", models_in_peers.__file__)
JAX = Environment("peers-jax", "jax-privacy and private-pgm", models_in_jax.__file__)


def explain_missing(environment: Environment = PEERS) -> str | None:
    """Return why no peer of an environment can be run here, in one line; None if they can."""
    if Path(build_worker_command(environment)[0]).exists():
        return None
    return f"the environment of {environment.packages}, {environment.folder}, is missing; {_name_way_out(environment)}"


def _name_way_out(environment: Environment, anew: bool = False) -> str:
    if IS_CHECKOUT:
        return f"run `make {'clean ' if anew else ''}{environment.name}`"
    folder, lock = environment.folder, shlex.quote(str(environment.lock))
    make_folder = f"python -m venv {'--clear ' if anew else ''}{folder}"
    return f"run `{make_folder} && {folder}/bin/python -m pip install --require-hashes -r {lock}`"


def build_worker_command(environment: Environment = PEERS) -> list[str]:
    """Return the command that starts a worker; ``-I`` keeps this folder and the caller's settings out of it."""
    python = resolve_path(environment.folder) / "bin" / "python"
    return [str(python), "-I", worker.__file__, environment.models, *read_pinned_versions(environment)]


@cache
def read_pinned_versions(environment: Environment = PEERS) -> dict[str, str]:
    """Return what is installed in an environment: versions by package, as the lock pins them for this Python.

    Examples
    --------
    >>> read_pinned_versions()["diffprivlib"]
    '0.6.6'
    """
    lines = re.findall(r"^[\w.-]+==.*?(?= \\$)", environment.lock.read_text(encoding="utf-8"), flags=re.MULTILINE)
    versions = {}
    for requirement in map(Requirement, lines):
        if not requirement.marker or requirement.marker.evaluate():
            versions[requirement.name] = str(requirement.specifier).removeprefix("==")
    return versions


def ask_worker(environment: Environment, words: Mapping, **arrays: np.ndarray) -> tuple[dict, dict[str, np.ndarray]]:
    """Ask this thread's worker in an environment, and return the words and arrays of its answer.

    The words are ``do`` (``fit`` or ``predict``), for a fit ``model`` and ``parameters``; the arrays are rows, and the
    fitted model that is asked. See `worker.answer_request`. It is BadInput if the environment is missing or not what
    the lock pins, and a PeerError if the peer refuses what it is asked, or its process dies.
    """
    workers = vars(_of_thread).setdefault("workers", {})
    own_worker = workers.get(environment.name)
    if own_worker is None or not own_worker.is_usable():
        own_worker = workers[environment.name] = _Worker(environment)
    answer, answer_arrays = own_worker.exchange(words, **arrays)
    if "error" in answer:
        raise PeerError(f"{words.get('model', 'the peer')}: {answer['error']}")
    return answer, answer_arrays


class _Worker:
    """A process that runs ``worker.py``; a mishap while it is asked ends it: no late answer may meet a new question."""

    def __init__(self, environment: Environment):
        if reason := explain_missing(environment):
            raise BadInput(reason)
        self._environment = environment
        self._parent = os.getpid()
        self._error_output = tempfile.TemporaryFile()  # noqa: SIM115
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._error_output}
        command = build_worker_command(environment)
        self._process = subprocess.Popen(command, env=os.environ | _ONE_CORE, **pipes)
        self._end = weakref.finalize(self, _end_process, self._process, self._parent)
        with self._ending_on_failure():
            greeting, _ = worker.receive_frame(self._process.stdout)
            _check_versions(environment, greeting["versions"])

    def exchange(self, words: Mapping, **arrays: np.ndarray) -> tuple[dict, dict[str, np.ndarray]]:
        with self._ending_on_failure():
            worker.send_frame(self._process.stdin, words, **arrays)
            return worker.receive_frame(self._process.stdout)

    def is_usable(self) -> bool:
        """Return whether it runs, and was started by this process and not by one that this was forked from."""
        return self._parent == os.getpid() and self._end.alive

    @contextmanager
    def _ending_on_failure(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, OSError) as error:
            reason = self._find_reason()
            self._end()
            raise PeerError(
                f"its process died ({reason}); if that happens again, {_name_way_out(self._environment, anew=True)}"
            ) from error
        except BaseException:
            self._end()
            raise

    def _find_reason(self) -> str:
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "it closed the pipe"
        self._error_output.seek(0)
        lines = self._error_output.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return last or (f"signal {-code}" if code < 0 else f"exit code {code}")


def _check_versions(environment: Environment, installed: Mapping[str, str | None]) -> None:
    pinned = read_pinned_versions(environment)
    for name, version in installed.items():
        if version != pinned[name]:
            present = f"{name} {version}" if version else f"no {name}"
            where = f"{environment.folder} has {present}, but {environment.lock.name} pins {pinned[name]}"
            raise BadInput(f"{where}; {_name_way_out(environment)}")


def _end_process(process: subprocess.Popen, parent: int) -> None:
    if os.getpid() != parent:
        return
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what was not sent yet has nobody to go to
            pipe.close()
