"""Compilation to machine code, once for each machine: it is kept on disk (`algorithms.kept_code`).

What other compiled functions call has no way in from Python: to take arguments apart and to put results together costs
about as much to compile as the rest. Nor is it made into machine code by itself: Numba takes its LLVM code into each
function that calls it, and only what Python calls is optimised and made into machine code, with all that it calls. So
it is with what Numba itself has written in Python, as `np.empty` or `max`, where our functions call it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial

import llvmlite.binding
import numba
from numba import types
from numba.core import cgutils, sigutils
from numba.core.bytecode import FunctionIdentity
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import Compiler, Flags
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.target_extension import jit_registry
from numba.extending import lower_builtin, register_jitable, type_callable

from algorithms.kept_code import (
    CacheContents,
    KeptCode,
    announce_once,
    compile_alone,
    find_folder,
    has_no_version,
    without_collecting,
)

# Numba names LLVM code by the function and a number, which it counts up in each process: functions of the same name, as
# those that numba makes for `rng.random` and `rng.integers`, of which two processes kept code under one number, would
# take each other's place where a third function calls both. Forks of a process would even count on alike.
FunctionIdentity._unique_ids = iter(partial(secrets.randbits, 60), None)

# Of kernels, too: `_KernelCompiler` makes their way in.
_NO_WAY_IN = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def compiled(function: Callable, **options) -> Callable:
    """Compile a function with Numba on first use and keep the machine code on disk for every later process.

    The global interpreter lock is released inside, so that trees can grow in threads. Where the environment sets
    ``NUMBA_CACHE_DIR``, the cache lies in there; ``NUMBA_DISABLE_JIT=1`` runs the plain Python function.
    """
    if numba.config.DISABLE_JIT:
        return function
    return _Kernel(function, {}, {"nopython": True, "nogil": True, "error_model": "numpy", **_NO_WAY_IN, **options})


def inlined(function: Callable) -> Callable:
    """Compile like `compiled`, as a part of the function that calls it: written out there, before types are found.

    For what is called for each node, feature or row, at one place or in a line or two: LLVM would leave some of it a
    call, which makes a forest grow up to an eighth slower.
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
    """A function whose compiled code is kept; one process of the machine compiles it, and others wait for that."""

    _contents = CacheContents

    def __init__(self, py_func, locals, targetoptions, **rest):
        super().__init__(py_func, locals, targetoptions, **rest)
        folder = find_folder(numba.config.CACHE_DIR)
        if folder is not None and not has_no_version(py_func):
            self._cache = KeptCode(py_func, folder, sorted(targetoptions), self._contents)

    def compile(self, sig):
        """Take the compiled code from memory, from disk, or make it."""
        arguments, _ = sigutils.normalize_signature(sig)
        if tuple(arguments) in self.overloads or not isinstance(self._cache, KeptCode):
            return super().compile(sig)
        if self._cache.holds(sig, self.targetctx):
            return super().compile(sig)
        with compile_alone(self.py_func, self._cache.folder), without_collecting(), _numba_compiles_callees():
            if not self._cache.holds(sig, self.targetctx):  # another process may have been first
                announce_once(self._cache.folder)
            return super().compile(sig)


class _Kernel(_KeptFunction):
    """A function that Python calls, with a twin for compiled functions."""

    def __init__(self, py_func, locals, targetoptions):
        super().__init__(py_func, locals, targetoptions, pipeline_class=_KernelCompiler)
        self._twin = _Callee(py_func, locals, targetoptions, pipeline_class=_CalleeCompiler)

    def get_call_template(self, args, kws):
        """Return what a compiled function needs to know to call this one: not that a number is a certain one."""
        any_number = {name: types.unliteral(kind) for name, kind in kws.items()}
        return self._twin.get_call_template(tuple(map(types.unliteral, args)), any_number)

    def get_overload(self, sig):
        """Return what a compiled function calls."""
        return self._twin.get_overload(sig)


class _QuicklyComparedFlags(Flags):
    """Numba's options: it compares them at every call that it resolves, and would list all thirty each time."""

    __slots__ = ()

    def __eq__(self, other):
        return (isinstance(other, Flags) and self._values == other._values) or super().__eq__(other)

    def __hash__(self):
        return _HASH_OF_FLAGS


_HASH_OF_FLAGS = hash(Flags())
"""That of all flags, of which Numba hashes the names."""


class _QuickCompiler(Compiler):
    """Compiles as Numba does, with options that are compared quickly."""

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        flags = _QuicklyComparedFlags(flags)
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)


class _KernelCompiler(_QuickCompiler):
    """Compiles a way in from Python, too, without a word in the options.

    Numba keeps what it compiles of its own for callers with the same options: so kernels and callees share it.
    """

    def define_pipelines(self):
        """Return the passes, the last of which looks at the flags."""
        self.state.flags.no_cpython_wrapper = False
        return super().define_pipelines()


class _CalleeLibrary(JITCodeLibrary):
    """The LLVM code of a function that compiled functions call: callers optimise it, as a part of themselves."""

    def _optimize_final_module(self):
        pass

    def _finalize_specific(self):
        pass

    def serialize_using_object_code(self):
        """Return what is kept: there is no machine code."""
        return self.serialize_using_bitcode()


class _CalleeCodegen(JITCPUCodegen):
    """Makes no machine code."""

    _library_class = _CalleeLibrary

    def _add_module(self, module):
        pass

    def set_env(self, env_name, env):
        """Give all callers Numba's environment of a callee: the Python objects that it needs, as to raise an error."""
        context = cpu_target.target_context
        codegen = context.codegen()
        if not codegen._engine.is_symbol_defined(env_name):
            place = codegen._create_empty_module(env_name)
            context.declare_env_global(place, env_name)
            codegen._add_module(llvmlite.binding.parse_assembly(str(place)))
        codegen.set_env(env_name, env)


@cache
def _find_callee_codegen() -> _CalleeCodegen:
    return _CalleeCodegen("callees")


class _CalleeCompiler(_QuickCompiler):
    """Compiles as far as LLVM code."""

    def define_pipelines(self):
        """Return the passes, which put their code into the library that is given here."""
        self.state.flags.no_cpython_wrapper = self.state.flags.no_cfunc_wrapper = True  # Numba's functions ask for them
        self.state.library = _find_callee_codegen().create_library(self.state.func_id.func_qualname)
        return super().define_pipelines()


class _CalleeContents(CacheContents):
    """What is kept of a function that compiled functions call."""

    def rebuild(self, target_context, payload):
        """Return the LLVM code, from which nothing is made until a function calls it."""
        return super().rebuild(target_context.subtarget(_internal_codegen=_find_callee_codegen()), payload)


class _Callee(_KeptFunction):
    """A function that compiled functions call."""

    _contents = _CalleeContents


class _NumbaCallee(CPUDispatcher):
    """A function of Numba's that compiled functions call."""

    def __init__(self, py_func, **options):
        options = {"nopython": True, **options}
        super().__init__(py_func, targetoptions=options, pipeline_class=_CalleeCompiler)


@contextmanager
def _numba_compiles_callees() -> Iterator[None]:
    """Let Numba compile its own functions as far as LLVM code meanwhile; no other thread compiles at that time."""
    is_outermost = "generic" not in jit_registry  # one of our functions calls for another
    if is_outermost:
        jit_registry["generic"] = lambda **options: partial(_NumbaCallee, **options)
    try:
        yield
    finally:
        if is_outermost:
            del jit_registry["generic"]
