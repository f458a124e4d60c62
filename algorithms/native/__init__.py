"""Kernels in C++, and the functions in Python that they stand in for.

What a forest does for each row or node is written twice. In Python it reads like the paper; the audit replays that, and
watches it line by line. In C++, in the file of the same name that ends in ``.h``, it runs. Tests hold the two together:
the same digits, on thousands of random tables (``tests/test_twins.py``).

In a checkout the C++ is compiled again where it has changed since. Where that cannot be done, without a compiler or the
right to write there, and with ``DPREPLICA_PLAIN=1``, the Python runs: 40 to 700 times slower, on 2,000 rows of Adult,
with the same digits.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from algorithms.installation import IS_CHECKOUT, ROOT, can_be_written, name_in_checkout
from algorithms.native.build import BUILT_FROM, HERE, build_kernels, is_built

try:
    import fcntl
except ImportError:  # not on Windows, where two processes may compile the same
    fcntl = None

PLAIN = "DPREPLICA_PLAIN"
"""Variable of the environment by which the Python runs."""


def compiled(function: Callable) -> Callable:
    """Have a function done by its twin in C++, where that is compiled.

    The global interpreter lock is released inside, so that trees can grow in threads.

    Raises
    ------
    LookupError
        If there are kernels, but none of this name.
    """
    if not _load_twins():
        return function
    twin = _load_twins()[name_twin(function)]

    @functools.wraps(function)
    def run_twin(*arguments):
        return twin(*arguments)

    return run_twin


def name_twin(function: Callable) -> str:
    """Return the name of a function's twin, whether it has one or not.

    Examples
    --------
    >>> name_twin(name_twin)
    'native.name_twin'
    """
    return f"{name_in_checkout(function.__module__).removeprefix('algorithms.')}.{function.__qualname__}"


def has_twin(function: Callable) -> bool:
    """Tell whether this process has a function in C++, too."""
    return name_twin(function) in _load_twins()


def is_plain() -> bool:
    """Tell whether this process runs the Python."""
    return not _load_twins()


@functools.cache
def _load_twins() -> Mapping[str, Callable]:
    """Return the kernels by the names of their twins, or none where Python runs."""
    if os.environ.get(PLAIN, "0") != "0":
        return {}
    try:
        if IS_CHECKOUT:
            _compile_what_changed()
        from algorithms.native import kernels
    except (ImportError, OSError, RuntimeError) as error:
        print(f"The kernels are not compiled: plain Python runs, some hundred times slower ({error})", file=sys.stderr)
        return {}
    return kernels.twins


def _compile_what_changed() -> None:
    """Compile the kernels unless that has been done with just this code.

    Raises
    ------
    ImportError, OSError, RuntimeError
        If that cannot be done, whatever kernels there are of other code: results would be kept as those of this code.
    """
    if is_built():
        return
    if not can_be_written(HERE):
        raise PermissionError(f"nothing in {HERE} was built of just this code, and nothing can be written there")
    with _alone():
        if is_built():  # another process was first
            return
        print("Compiling the kernels, which takes up to a minute", file=sys.stderr, flush=True)
        BUILT_FROM.unlink(missing_ok=True)  # who interrupts this leaves what nobody knows the code of
        BUILT_FROM.write_text(build_kernels(HERE, ROOT / ".cache" / "kernels"), encoding="utf-8")
    if not is_built():
        raise RuntimeError("their code was edited while they were compiled: start again")


@contextmanager
def _alone() -> Iterator[None]:
    """Let one process of the machine compile at a time."""
    folder = ROOT / ".cache"
    folder.mkdir(exist_ok=True)
    with (folder / "kernels.lock").open("w") as lock:
        if fcntl is not None:
            fcntl.lockf(lock, fcntl.LOCK_EX)
        yield  # to close the file ends the lock, and so does the end of the process
