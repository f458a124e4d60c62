"""Compilation to machine code, cached on disk under a name that changes with the sources.

Numba's own cache looks only at the file of the function that is loaded: an edit in a file that it calls would go
unnoticed and old machine code would run. Here the folder of the cache carries a hash of all sources of this package.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numba

from algorithms.installation import IS_CHECKOUT, ROOT, find_user_cache

_PACKAGE = Path(__file__).resolve().parent


def _source_hash() -> str:
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


_CACHE_NAME = f"numba-{_source_hash()}"
_CACHE = ROOT / ".cache" if IS_CHECKOUT else find_user_cache()  # others may own the folder of an installed package


def compiled(function: Callable, **options) -> Callable:
    """Compile a function with Numba on first use and keep the machine code on disk for every later process.

    The global interpreter lock is released inside, so that trees can grow in threads. Where the environment sets
    ``NUMBA_CACHE_DIR``, the cache lies in there; ``NUMBA_DISABLE_JIT=1`` runs the plain Python function.
    """
    given = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(Path(given or _CACHE) / _CACHE_NAME)
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    finally:  # other users of Numba in this process keep their own setting
        numba.config.CACHE_DIR = given


def inlined(function: Callable) -> Callable:
    """Compile like `compiled`, into the body of every caller."""
    return compiled(function, forceinline=True)
