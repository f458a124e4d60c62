"""The worker processes in ``.venv-peers``: how they are started, asked and ended, and what is installed there.

Each thread that asks has a worker of its own, kept for its lifetime, as the peers take seconds to import. A worker ends
with the pipe to it: when the thread, or this process, is gone in whatever way.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import numpy as np
from packaging.requirements import Requirement

from experiments.config.paths import ROOT
from experiments.errors import BadInput
from experiments.peers import worker

_LOCK = ROOT / "requirements-peers.lock"
_ONE_CORE = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}

_own = threading.local()


class PeerError(RuntimeError):
    """A peer could not do what it was asked for, or its process died."""


def explain_missing() -> str | None:
    """Return why no peer can be run here, in one line; None if they can."""
    if Path(worker_command()[0]).exists():
        return None
    return "the environment of diffprivlib and interpret, .venv-peers, is missing; run `make peers`"


def worker_command() -> list[str]:
    """Return the command that starts a worker; ``-I`` keeps this folder and the caller's settings out of it."""
    return [str(ROOT / ".venv-peers" / "bin" / "python"), "-I", worker.__file__, *read_pinned_versions()]


@cache
def read_pinned_versions() -> dict[str, str]:
    """Return what ``make peers`` installs: versions by package, as the lock pins them for this Python.

    Examples
    --------
    >>> read_pinned_versions()["diffprivlib"]
    '0.6.6'
    """
    lines = re.findall(r"^[\w.-]+==.*?(?= \\$)", _LOCK.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = [Requirement(line) for line in lines]
    return {one.name: str(one.specifier).removeprefix("==") for one in found if not one.marker or one.marker.evaluate()}


def ask_worker(words: Mapping, **arrays: np.ndarray) -> tuple[dict, dict[str, np.ndarray]]:
    """Ask this thread's worker, and wait for what it says.

    Parameters
    ----------
    words : mapping
        ``do`` (``fit`` or ``predict``), for a fit ``model`` and ``parameters``; see `worker.answer_request`.
    **arrays : array
        Rows, and the fitted model that is asked.

    Returns
    -------
    tuple of dict and dict
        Words and arrays.

    Raises
    ------
    BadInput
        If the environment is missing or not what the lock pins.
    PeerError
        If the peer refuses what it is asked, or its process dies.
    """
    mine = getattr(_own, "worker", None)
    if mine is None or not mine.is_usable():
        mine = _own.worker = _Worker()
    said, found = mine.ask(words, **arrays)
    if "error" in said:
        raise PeerError(f"{words.get('model', 'the peer')}: {said['error']}")
    return said, found


class _Worker:
    """A process that runs ``worker.py``; a mishap while it is asked ends it: no late answer may meet a new question."""

    def __init__(self):
        if reason := explain_missing():
            raise BadInput(reason)
        self._parent = os.getpid()
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._complaints}
        self._process = subprocess.Popen(worker_command(), env=os.environ | _ONE_CORE, **pipes)
        self._end = weakref.finalize(self, _end, self._process, self._parent)
        with self._watched():
            said, _ = worker.receive_frame(self._process.stdout)
            _check_versions(said["versions"])

    def ask(self, words: Mapping, **arrays: np.ndarray) -> tuple[dict, dict[str, np.ndarray]]:
        with self._watched():
            worker.send_frame(self._process.stdin, words, **arrays)
            return worker.receive_frame(self._process.stdout)

    def is_usable(self) -> bool:
        """Return whether it runs, and was started by this process and not by one that this was forked from."""
        return self._parent == os.getpid() and self._end.alive

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, OSError) as error:
            reason = self._last_words()
            self._end()
            raise PeerError(f"its process died ({reason}); if that happens again, run `make clean peers`") from error
        except BaseException:
            self._end()
            raise

    def _last_words(self) -> str:
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "it closed the pipe"
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return last or (f"signal {-code}" if code < 0 else f"exit code {code}")


def _check_versions(installed: Mapping[str, str | None]) -> None:
    for name, found in installed.items():
        if found != read_pinned_versions()[name]:
            there = f"{name} {found}" if found else f"no {name}"
            raise BadInput(
                f".venv-peers has {there}, but {_LOCK.name} pins {read_pinned_versions()[name]}; run `make peers`"
            )


def _end(process: subprocess.Popen, parent: int) -> None:
    if os.getpid() != parent:
        return
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what was not sent yet has nobody to go to
            pipe.close()
