"""Compilation to machine code, once for each machine: it is kept on disk, and changes with the code that it is made of.

Numba's own cache looks only at the file of the function that is loaded: an edit in a file that it calls would go
unnoticed, and a new docstring in its own would compile it again. Here machine code is kept under a hash of the code of
its module and of all that this imports, directly or not.

What other compiled functions call has no way in from Python: to take arguments apart and to put results together costs
about as much to compile as the rest.
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

import numba
from numba import types
from numba.core import caching, cgutils, sigutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.extending import lower_builtin, register_jitable, type_callable

from algorithms.installation import IS_CHECKOUT, ROOT, find_user_cache, name_in_checkout
from algorithms.source_walk import collect_modules, find_algorithm_source, list_imports, read_code

try:
    import fcntl
except ImportError:  # not on Windows, where two processes may compile the same
    fcntl = None

_PACKAGE = Path(__file__).resolve().parent
_NO_WAY_IN = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def compiled(function: Callable, **options) -> Callable:
    """Compile a function with Numba on first use and keep the machine code on disk for every later process.

    The global interpreter lock is released inside, so that trees can grow in threads. Where the environment sets
    ``NUMBA_CACHE_DIR``, the cache lies in there; ``NUMBA_DISABLE_JIT=1`` runs the plain Python function.
    """
    if numba.config.DISABLE_JIT:
        return function
    return _Kernel(function, targetoptions={"nopython": True, "nogil": True, "error_model": "numpy", **options})


def inlined(function: Callable) -> Callable:
    """Compile like `compiled`, as a part of the function that calls it: written out there, before types are found.

    For what one function calls at one place, which apart from it would be compiled twice, by itself and in there; for a
    line or two, which LLVM may leave a call; and for what is called for each feature of each node.
    """
    return compiled(function, inline="always")


def reordered(function: Callable) -> Callable:
    """Compile like `compiled`, but let sums be taken in parts: the last digits differ from Python's, but not by run."""
    return compiled(function, fastmath={"reassoc", "contract"})


def compilable(function: Callable) -> Callable:
    """Let compiled functions call a function that Python runs as it is: short ones are not worth to be compiled."""
    return register_jitable(function)


def uncounted(value):
    """Return arrays whose uses compiled code does not count: the value must not outlive what holds them.

    Wherever compiled code takes an array out of a tuple, or hands it on, it counts a reference: up to two fifths of the
    time in which a tree grows. This is for the arguments of a function, which its caller holds, and for a variable that
    is used again later (compiled code lets go of a variable after its last use). What is returned must not leave the
    function. In plain Python it is the value itself.

    Parameters
    ----------
    value : array, Generator, or tuple of these and others
        What is used often.
    """
    return value


@type_callable(uncounted)
def _type_uncounted(context):
    return lambda value: value


@lower_builtin(uncounted, types.Any)
def _lower_uncounted(context, builder, signature, arguments):
    return _drop_owners(context, builder, signature.return_type, arguments[0])


def _drop_owners(context, builder, kind, value):
    if isinstance(kind, types.BaseTuple):
        parts = zip(kind.types, cgutils.unpack_tuple(builder, value), strict=True)
        return context.make_tuple(builder, kind, [_drop_owners(context, builder, *part) for part in parts])
    if isinstance(kind, types.Array | types.NumPyRandomGeneratorType):
        struct = cgutils.create_struct_proxy(kind)(context, builder, value)
        struct.meminfo = cgutils.get_null_value(struct.meminfo.type)  # where references are counted
        return struct._getvalue()
    return value


class _KeptFunction(CPUDispatcher):
    """A function whose machine code is kept; one process of the machine compiles at a time, and others wait for it."""

    def __init__(self, py_func, locals=None, targetoptions=None, **rest):
        super().__init__(py_func, locals or {}, targetoptions, **rest)
        folder = _find_folder(numba.config.CACHE_DIR)
        if folder is not None:
            self._cache = _KernelCache(py_func, folder, sorted(targetoptions))

    def compile(self, sig):
        """Take the machine code from memory, from disk, or make it."""
        arguments, _ = sigutils.normalize_signature(sig)
        if tuple(arguments) in self.overloads or not isinstance(self._cache, _KernelCache):
            return super().compile(sig)
        if self._cache.holds(sig, self.targetctx):
            return super().compile(sig)
        with _compile_alone(self._cache.folder), _without_collecting():
            if not self._cache.holds(sig, self.targetctx):  # another process may have been first
                _announce_once(self._cache.folder)
            return super().compile(sig)


class _Kernel(_KeptFunction):
    """A function that Python calls, with a twin for compiled functions."""

    def __init__(self, py_func, locals=None, targetoptions=None, **rest):
        super().__init__(py_func, locals or {}, targetoptions, **rest)
        self._twin = _KeptFunction(py_func, locals, targetoptions | _NO_WAY_IN, **rest)

    def get_call_template(self, args, kws):
        """Return what a compiled function needs to know to call this one: not that a number is a certain one."""
        any_number = {name: types.unliteral(kind) for name, kind in kws.items()}
        return self._twin.get_call_template(tuple(map(types.unliteral, args)), any_number)

    def get_overload(self, sig):
        """Return what a compiled function calls."""
        return self._twin.get_overload(sig)


class _KernelLocator(caching._CacheLocator):
    """Where the machine code of a function lies."""

    def __init__(self, py_func: Callable, folder: Path):
        self._py_file, self._folder = py_func.__code__.co_filename, folder
        self._module = name_in_checkout(py_func.__module__)

    def get_cache_path(self):
        return str(self._folder / self._module)

    def get_source_stamp(self):
        return _find_version(self._module, self._py_file, self._folder)

    def get_disambiguator(self):
        return self.get_source_stamp()  # other code, another file: branches that share a folder keep out of each other


class _KernelCacheContents(caching.CompileResultCacheImpl):
    """What is kept of a compiled function."""

    def __init__(self, py_func: Callable, locator: _KernelLocator):
        self._lineno, self._locator = py_func.__code__.co_firstlineno, locator
        self._filename_base = self.get_filename_base(py_func.__qualname__, sys.abiflags)


class _KernelCache(caching.FunctionCache):
    """The machine code of a function on disk."""

    def __init__(self, py_func: Callable, folder: Path, options: list[str]):
        self.folder, self._options = folder, tuple(options)
        self._impl_class = lambda py_func: _KernelCacheContents(py_func, _KernelLocator(py_func, folder))
        super().__init__(py_func)

    def holds(self, sig, target_context) -> bool:
        """Tell whether the machine code for some types has been made."""
        target_context.refresh()
        return self._index_key(sig, target_context.codegen()) in self._cache_file._load_index()

    def _index_key(self, sig, codegen):
        return *super()._index_key(sig, codegen), self._options


@functools.cache
def _find_folder(given: str) -> Path | None:
    """Return the first folder that can be written: as given, beside the package, the user's own; else None."""
    checkout = [ROOT / ".cache"] if IS_CHECKOUT else []  # others may own the folder of an installed package
    for place in [Path(given)] if given else [*checkout, find_user_cache()]:
        folder = place / "numba"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        return folder
    return None


def _find_version(module: str, file: str, folder: Path) -> str:
    """Return a hash of the code that the compiled functions of a module are made of."""
    versions = _read_versions(folder)
    if module in versions:
        return versions[module]
    siblings = sorted(Path(file).parent.glob("*.py"))  # not of this package: what it imports may be there
    return _shorten(_hash_sources(), *map(Path.read_bytes, siblings))


@functools.cache
def _read_versions(folder: Path) -> dict[str, str]:
    """Return the version of each module of this package; to look through all code takes longer than to start Python."""
    kept, sources = folder / "versions.json", _hash_sources().decode()
    try:
        found = json.loads(kept.read_text(encoding="utf-8"))
        if found["sources"] == sources:
            return found["versions"]
    except (OSError, ValueError, KeyError):
        pass
    names = [".".join(path.relative_to(_PACKAGE.parent).with_suffix("").parts) for path in _list_sources()]
    versions = {name: _hash_code(name) for name in names if not name.endswith(".__init__")}
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as file:
        json.dump({"sources": sources, "versions": versions}, file)
    os.replace(file.name, kept)
    return versions


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
def _without_collecting() -> Iterator[None]:
    """Look for no garbage meanwhile: that took a sixth of the time to compile."""
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_collecting:
            gc.enable()


@contextmanager
def _compile_alone(folder: Path) -> Iterator[None]:
    """Let one process of the machine compile at a time; the lock goes with its process, however that ends."""
    with global_compiler_lock, (folder / "lock").open("w") as lock:
        if fcntl is not None and not _depth:
            fcntl.flock(lock, fcntl.LOCK_EX)
        _depth.append(1)
        try:
            yield
        finally:
            _depth.pop()


_depth: list[int] = []
"""How many functions are being compiled: one calls for the next."""


@functools.cache
def _announce_once(folder: Path) -> None:
    print(
        f"compiling machine code, once: the first fit of a kind takes some seconds longer (kept in {folder})",
        file=sys.stderr,
    )
