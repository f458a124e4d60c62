"""Files that somebody's code reads while it is imported or run, as far as Python sees that.

A key covers the modules that code imports by a statement. A model's weights beside a module, or a module that is
imported by a name as text, are known only when they are opened: Python then tells an audit hook, and the stack says
whose code it was. Each result keeps what its code had read in its process; when such a file has changed, the cell runs
again. Not seen are files that compiled code opens by itself or that another process reads, folders that are listed,
variables of the environment, the network and the clock.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
import sysconfig
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.util import source_from_cache
from pathlib import Path
from typing import Any

from algorithms.installation import ROOT
from algorithms.source_walk import code_without_words
from documents.file_state import State, find_state
from experiments.cells.code_version import list_own_modules
from experiments.cells.module_sources import find_place, find_source
from experiments.config import estimators
from experiments.edge import PACKAGES
from experiments.metrics.own import find_own

_OF_PYTHON = {str(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
_OF_THE_MACHINE = ("/dev", "/etc", "/proc", "/sys", "/usr/lib", "/usr/share")
_FOREIGN = [*(str(ROOT / name) for name in (*PACKAGES, "conf")), *_OF_PYTHON, *_OF_THE_MACHINE]
_LEFT_OUT = tuple(os.path.join(folder, "") for folder in _FOREIGN)
"""Folders whose files are no inputs: of ours and of packages the code or the version counts already."""
_CHANGED = "changed since it was read"

_opened: defaultdict[str, dict[str, State | None]] = defaultdict(dict)
"""By the file of the code on the stack: what was opened to be read, and the state that it had."""
_written: defaultdict[str, set[str]] = defaultdict(set)
"""Likewise what was opened to be written: a cache or a log of the code itself is no input."""


def _note_opening(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open":
        with suppress(Exception):  # of an audit hook it would end up in whoever opens a file
            path, _, flags = arguments
            _note_file(os.path.abspath(os.fsdecode(path)), flags)


def _note_file(path: str, flags: int) -> None:
    if path.startswith(_LEFT_OUT):
        return
    is_written = flags & (os.O_WRONLY | os.O_RDWR)
    if path.endswith(".pyc"):
        path = source_from_cache(path)
    for opener in _list_openers():
        if is_written:
            _written[opener].add(path)
        elif path not in _opened[opener]:
            _opened[opener][path] = find_state(Path(path))


def _list_openers() -> set[str]:
    openers, frame = set(), inspect.currentframe()
    while frame := frame and frame.f_back:
        openers.add(frame.f_code.co_filename)
    return {os.path.abspath(name) for name in openers if not name.startswith(("<", *_LEFT_OUT))}


sys.addaudithook(_note_opening)
# On import: modules of users are imported, and may read files, before any cell is run.


def list_read(algorithm: str, metrics: Iterable[str] = ()) -> dict[str, str]:
    """Return the files that somebody's code has read in this process, each with a hash of its contents.

    Parameters
    ----------
    algorithm : str
        Its name in the catalogue; one of ours reads none.
    metrics : iterable of str
        Names of metrics that were measured, of which some may be somebody's own.

    Returns
    -------
    dict of str to str
        By the path from the folder that the algorithm's code is imported from, or by the whole path of what does not
        lie in it. Modules that are imported by a statement are left out: the key covers them.
    """
    sources = set(_list_sources(algorithm, metrics))
    if not sources:
        return {}
    folder, kept = _find_folder(algorithm), {}
    for path, state in sorted(_collect_opened(sources).items()):
        if state is not None and os.path.isfile(path):
            is_as_read = find_state(Path(path)) == state
            kept[_name_file(path, folder)] = hash_file(path) if is_as_read else _CHANGED
    return kept


def _collect_opened(sources: Collection[str]) -> dict[str, State | None]:
    """Return what some files of code have opened to be read, and files of code that they opened likewise."""
    waiting, read, written = list(sources), dict[str, State | None](), set(sources)
    while waiting:
        opener = waiting.pop()
        written |= _written.get(opener, set())
        for path, state in _opened.get(opener, {}).items():
            if path not in read:
                read[path] = state
                waiting += [path] if path.endswith(".py") else []
    return {path: state for path, state in read.items() if path not in written}


def have_changed(algorithm: str, read: Mapping[str, str]) -> bool:
    """Return whether a file that `list_read` gave is not what it was."""
    folder = _find_folder(algorithm) if read else ""
    return any(hash_file(os.path.join(folder, name)) != known for name, known in read.items())


def can_read_files(algorithm: str, metrics: Iterable[str] = ()) -> bool:
    """Return whether any code behind a cell is somebody's own, which may read files.

    Examples
    --------
    >>> can_read_files("rdt"), can_read_files("majority")
    (False, False)
    """
    return any(_list_sources(algorithm, metrics))


def hash_file(path: str) -> str:
    """Return a hash of what a file holds, of Python its code without words; nothing if it cannot be read."""
    state = find_state(Path(path))
    return "" if state is None else _hash_contents(path, state)


@cache
def _hash_contents(path: str, state: State) -> str:
    """Return the hash of a file in one of its states."""
    try:
        if path.endswith(".py"):
            return hashlib.sha256(code_without_words(Path(path).read_text(encoding="utf-8")).encode()).hexdigest()
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError, SyntaxError):
        return ""


def _list_sources(algorithm: str, metrics: Iterable[str]) -> Iterator[str]:
    """Yield the files of the code that is somebody's own, as far as statements import it."""
    modules = set(list_own_modules(estimators.find_target(algorithm)))
    for name in metrics:
        if metric := find_own(name):
            modules.add(metric.target.rpartition(".")[0])
    for module in sorted(modules):
        if source := find_source(module):
            yield os.path.abspath(source)


def _find_folder(algorithm: str) -> str:
    module = estimators.import_class(estimators.find_target(algorithm)).__module__
    return str(find_place(module.partition(".")[0]) or "")


def _name_file(path: str, folder: str) -> str:
    is_inside = folder and path.startswith(os.path.join(folder, ""))
    return os.path.relpath(path, folder) if is_inside else path
