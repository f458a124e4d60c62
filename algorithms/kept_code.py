"""Compiled code on disk, for every later process: it changes with the code that it is made of.

Numba's own cache looks only at the file of the function that is loaded: an edit in a file that it calls would go
unnoticed, and a new docstring in its own would compile it again. Here compiled code is kept under a hash of the code of
its module and of all that this imports, directly or not.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from numba.core import caching
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import is_jitted

from algorithms.installation import IS_CHECKOUT, ROOT, find_temporary_cache, find_user_cache, name_in_checkout
from algorithms.source_walk import collect_modules, find_algorithm_source, list_imports, read_code

try:
    import fcntl
except ImportError:  # not on Windows, where two processes may compile the same
    fcntl = None

_PACKAGE = Path(__file__).resolve().parent
_VERSIONS = "versions.json"


class _Locator(caching._CacheLocator):
    """Where the compiled code of a function lies."""

    def __init__(self, py_func: Callable, folder: Path):
        self._py_file, self._folder = py_func.__code__.co_filename, folder
        self._module = name_in_checkout(py_func.__module__)

    def get_cache_path(self):
        return str(self._folder / self._module)

    def get_source_stamp(self):
        return _find_version(self._module, self._py_file, self._folder)

    def get_disambiguator(self):
        return self.get_source_stamp()  # other code, another file: branches that share a folder keep out of each other


class CacheContents(caching.CompileResultCacheImpl):
    """What is kept of a compiled function."""

    def __init__(self, py_func: Callable, folder: Path):
        self._lineno, self._locator = py_func.__code__.co_firstlineno, _Locator(py_func, folder)
        self._filename_base = self.get_filename_base(py_func.__qualname__, sys.abiflags)


class KeptCode(caching.FunctionCache):
    """The compiled code of a function on disk."""

    def __init__(self, py_func: Callable, folder: Path, options: list[str], contents: type[CacheContents]):
        self.folder, self._options = folder, (contents.__name__, *options)
        self._impl_class = lambda py_func: contents(py_func, folder)
        super().__init__(py_func)

    def holds(self, sig, target_context) -> bool:
        """Tell whether the code for some types has been made."""
        target_context.refresh()
        return self._index_key(sig, target_context.codegen()) in self._cache_file._load_index()

    def _index_key(self, sig, codegen):
        names = list_held_functions(self._py_func)  # Numba would tell them by a number that each process draws
        if names is None:
            return *super()._index_key(sig, codegen), self._options
        return sig, codegen.magic_tuple(), names, self._options


def list_held_functions(py_func: Callable) -> tuple[str, ...] | None:
    """Return the names of the compiled functions of which alone a closure consists; None of any other function.

    Examples
    --------
    >>> from algorithms.mechanisms import laplace
    >>> def hold(function):
    ...     return lambda value: function(value)
    >>> list_held_functions(hold(laplace)), list_held_functions(hold(3)), list_held_functions(hold)
    (('algorithms.mechanisms.laplace',), None, None)
    """
    held = [cell.cell_contents for cell in py_func.__closure__ or ()]
    if not held or not all(map(is_jitted, held)):
        return None
    return tuple(f"{name_in_checkout(each.__module__)}.{each.__qualname__}" for each in held)


def has_no_version(py_func: Callable) -> bool:
    """Return whether a function has no file, or holds others of which its version would know nothing."""
    if not Path(py_func.__code__.co_filename).is_file():
        return True
    own = name_in_checkout(py_func.__module__)
    for name in list_held_functions(py_func) or ():
        module = name.rpartition(".")[0]  # no module, of what is made within a function
        if module != own and find_algorithm_source(module) is None:
            return True
    return False


@functools.cache
def find_folder(given: str) -> Path | None:
    """Return the first folder that can be written: as given, beside the package, the user's own, a temporary one."""
    checkout = [lambda: ROOT / ".cache"] if IS_CHECKOUT else []  # others may own the folder of an installed package
    for find_place in [lambda: Path(given)] if given else [*checkout, find_user_cache, find_temporary_cache]:
        folder = find_place() / "numba"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        return folder
    return None


def _find_version(module: str, file: str, folder: Path) -> str:
    """Return a hash of the code that the compiled functions of a module are made of."""
    if find_algorithm_source(module) is None:
        siblings = sorted(Path(file).parent.glob("*.py"))  # not of this package: what it imports may be there
        return _shorten(_hash_sources(), *map(Path.read_bytes, siblings))
    versions = _read_versions(folder)
    if module not in versions:
        versions[module] = _hash_code(module)
        _keep_versions(folder, versions)
    return versions[module]


@functools.cache
def _read_versions(folder: Path) -> dict[str, str]:
    """Return the versions of modules that are known: to look through all code takes longer than to start Python."""
    try:
        found = json.loads((folder / _VERSIONS).read_text(encoding="utf-8"))
        if found["sources"] == _hash_sources().decode():
            return found["versions"]
    except (OSError, ValueError, KeyError):
        pass
    return {}


def _keep_versions(folder: Path, versions: dict[str, str]) -> None:
    """Write the versions for later processes; what another one writes at the same time is found anew."""
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as file:
        json.dump({"sources": _hash_sources().decode(), "versions": versions}, file)
    os.replace(file.name, folder / _VERSIONS)


def _hash_code(module: str) -> str:
    texts = []
    for name in sorted(collect_modules([module], _list_imports)):
        texts.append(f"{name}\0{read_code(find_algorithm_source(name))}\0".encode())
    return _shorten(*texts)


@functools.cache
def _list_imports(module: str) -> list[str]:
    """Return the modules of ``algorithms`` that one of them imports."""
    pairs = list_imports(find_algorithm_source(module), module, find_algorithm_source)
    return [name for _, name in pairs if find_algorithm_source(name)]


@functools.cache
def _hash_sources() -> bytes:
    return _shorten(*map(Path.read_bytes, _list_sources())).encode()


def _list_sources() -> list[Path]:
    return sorted(_PACKAGE.rglob("*.py"))


def _shorten(*texts: bytes) -> str:
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:16]


@contextmanager
def without_collecting() -> Iterator[None]:
    """Look for no garbage meanwhile: that took a sixth of the time to compile."""
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_collecting:
            if not gc.get_freeze_count():  # else these would be collected again, too
                gc.freeze()
                gc.unfreeze()  # to the oldest objects: to look through what was made takes a quarter of a second
            gc.enable()


@contextmanager
def compile_alone(py_func: Callable, folder: Path) -> Iterator[None]:
    """Let one process of the machine compile a function at a time, and others compile other functions meanwhile.

    Who compiles a function may wait for what that calls, never for what calls it: so no two wait for each other, unless
    functions call each other in a circle, which Linux tells. A lock goes with its process, however that ends.
    """
    name = f"{name_in_checkout(py_func.__module__)}.{py_func.__qualname__}"
    with global_compiler_lock:
        if fcntl is None or name in _being_compiled:  # for other types
            yield
            return
        place = 1, int(_shorten(name.encode())[1:], 16)  # a byte of the file, of which nothing is written
        with _open_locks(folder) as locks:
            fcntl.lockf(locks, fcntl.LOCK_EX, *place)
            _being_compiled.append(name)
            try:
                yield
            finally:
                _being_compiled.pop()
                fcntl.lockf(locks, fcntl.LOCK_UN, *place)


@contextmanager
def _open_locks(folder: Path) -> Iterator[IO[str]]:
    """Open the file of all locks until the outermost function is compiled.

    To close it earlier would end them all; a fork of this process may close what it has not opened.
    """
    if _locks:
        yield _locks[0]
        return
    with (folder / "lock").open("w") as locks:
        _locks.append(locks)
        try:
            yield locks
        finally:
            _locks.clear()


_being_compiled: list[str] = []
"""The functions that are being compiled: one calls for the next."""
_locks: list[IO[str]] = []
"""The file of the locks, while something is being compiled."""


@functools.cache
def announce_once(folder: Path) -> None:
    """Say on stderr that this process compiles."""
    print(
        f"compiling machine code, once: the first fit of a kind takes some seconds longer (kept in {folder})",
        file=sys.stderr,
    )
